"""A ray-caster to be read: walks along each ray by the distance to the nearest surface until it touches one.

It shares nothing with the library's closed forms: a solid is known only by the distance of a point to it.
"""

from __future__ import annotations

import numpy as np

BOX, SPHERE, CAPSULE = 0, 1, 2


def distance_to(kind, size, pose, points):
    """Signed distance [m] of points (n, 3) to a solid; `pose` is its rotation (row-major) and position."""
    local = (points - pose[9:]) @ pose[:9].reshape(3, 3)
    if kind == SPHERE:
        return np.linalg.norm(local, axis=1) - size[0]
    if kind == CAPSULE:
        radius, length = size[0], size[1]
        on_axis = np.zeros_like(local)
        on_axis[:, 2] = np.clip(local[:, 2], -length / 2, length / 2)
        return np.linalg.norm(local - on_axis, axis=1) - radius
    beyond = np.abs(local) - size / 2
    outside = np.linalg.norm(np.maximum(beyond, 0), axis=1)
    return outside + np.minimum(beyond.max(axis=1), 0)


def rays_of(eye, target, fov, width, height):
    """Directions (height * width, 3) of the rays through the centres of all pixels, row by row, 1 m deep each."""
    forward = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    down = np.cross(forward, right)
    pixel = 2 * np.tan(np.radians(fov) / 2) / height
    x = (np.arange(width) + 0.5 - width / 2) * pixel
    y = (np.arange(height) + 0.5 - height / 2) * pixel
    return (forward + y[:, None, None] * down + x[None, :, None] * right).reshape(-1, 3)


def march(kinds, sizes, poses, eye, directions, *, farthest=100.0, touch=1e-10, steps=2000):
    """Depth of the first surface along each ray and the number of its solid; infinity and -1 where there is none."""
    lengths = np.linalg.norm(directions, axis=1)
    depths = np.full(len(directions), np.inf)
    owners = np.full(len(directions), -1)
    depth = np.zeros(len(directions))
    walking = np.arange(len(directions))
    for _ in range(steps):
        points = eye + depth[walking, None] * directions[walking]
        gaps = np.array([distance_to(k, s, p, points) for k, s, p in zip(kinds, sizes, poses, strict=True)])
        nearest = gaps.argmin(axis=0)
        gap = gaps.min(axis=0)
        touched = gap < touch
        depths[walking[touched]] = depth[walking[touched]]
        owners[walking[touched]] = nearest[touched]
        depth[walking] += gap / lengths[walking]
        walking = walking[~touched & (depth[walking] < farthest)]
        if not len(walking):
            break
    return depths, owners
