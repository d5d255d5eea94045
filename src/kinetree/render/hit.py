"""Where a ray meets a primitive, in closed form.

A ray is o + t d with d not normalised. Each function returns the nearest t beyond `near`, or infinity, and the face.
Surfaces are seen from outside only: an eye inside a body looks through it.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import leaf
from . import layout as at


@leaf
def hit_ball(ox, oy, oz, dx, dy, dz, radius, near):
    """Meet a ball about the origin: t of |o + t d| = radius."""
    a = dx * dx + dy * dy + dz * dz
    b = ox * dx + oy * dy + oz * dz
    # The discriminant from the distance of the line to the centre: no cancellation for a small ball far away.
    s = b / a
    px, py, pz = ox - s * dx, oy - s * dy, oz - s * dz
    h = radius * radius - (px * px + py * py + pz * pz)
    if h < 0.0:
        return np.inf
    t = -s - math.sqrt(h / a)
    return t if t > near else np.inf


@leaf
def hit_capsule(shapes, k, ox, oy, oz, dx, dy, dz, near):
    """Meet a capsule: the infinite cylinder first, a half ball where that hit lies beyond an end of the axis."""
    ax, ay, az = shapes[k, at.AXIS], shapes[k, at.AXIS + 1], shapes[k, at.AXIS + 2]
    radius, length2 = shapes[k, at.RADIUS], shapes[k, at.LENGTH2]
    px, py, pz = ox - shapes[k, at.CENTER], oy - shapes[k, at.CENTER + 1], oz - shapes[k, at.CENTER + 2]
    dd = dx * dx + dy * dy + dz * dz
    ad = ax * dx + ay * dy + az * dz
    ap = ax * px + ay * py + az * pz
    pd = px * dx + py * dy + pz * dz
    a = length2 * dd - ad * ad
    if a > 1e-12 * length2 * dd:
        b = length2 * pd - ap * ad
        c = length2 * (px * px + py * py + pz * pz - radius * radius) - ap * ap
        h = b * b - a * c
        if h < 0.0:
            return np.inf
        t = (-b - math.sqrt(h)) / a
        along = ap + t * ad
        if 0.0 < along < length2:
            return t if t > near else np.inf
    else:
        along = -ad
    if along > 0.0:
        px, py, pz = px - ax, py - ay, pz - az
    return hit_ball(px, py, pz, dx, dy, dz, radius, near)


@leaf
def hit_box(shapes, k, ox, oy, oz, dx, dy, dz, near):
    """Meet a box by its three slabs; returns t and the face entered: 1 + 2 axis + (1 if on the positive side)."""
    px, py, pz = ox - shapes[k, at.CENTER], oy - shapes[k, at.CENTER + 1], oz - shapes[k, at.CENTER + 2]
    enter, leave, face = -np.inf, np.inf, 0
    for i in range(3):
        rx, ry, rz = shapes[k, at.ROWS + 3 * i], shapes[k, at.ROWS + 3 * i + 1], shapes[k, at.ROWS + 3 * i + 2]
        half = shapes[k, at.HALF + i]
        p = rx * px + ry * py + rz * pz
        d = rx * dx + ry * dy + rz * dz
        if d == 0.0:
            if abs(p) > half:
                return np.inf, 0
            continue
        inverse = 1.0 / d
        middle, reach = -p * inverse, abs(half * inverse)
        if middle - reach > enter:
            enter = middle - reach
            face = 1 + 2 * i + (1 if d < 0.0 else 0)
        leave = min(leave, middle + reach)
    if enter > leave or not enter > near:
        return np.inf, 0
    return enter, face


@leaf
def hit(kinds, shapes, k, u, v, perspective, near):
    """Meet primitive `k` with the ray of a view through (u, v): depth and face."""
    ox, oy = u * (1.0 - perspective), v * (1.0 - perspective)
    dx, dy = u * perspective, v * perspective
    if kinds[k] == at.CAPSULE:
        return hit_capsule(shapes, k, ox, oy, 0.0, dx, dy, 1.0, near), 0
    if kinds[k] == at.SPHERE:
        ox, oy, oz = ox - shapes[k, at.CENTER], oy - shapes[k, at.CENTER + 1], -shapes[k, at.CENTER + 2]
        return hit_ball(ox, oy, oz, dx, dy, 1.0, shapes[k, at.RADIUS], near), 0
    return hit_box(shapes, k, ox, oy, 0.0, dx, dy, 1.0, near)


@leaf
def normal_at(kinds, shapes, key, x, y, z):
    """Outward unit normal of the surface that `key` names at the point (x, y, z) of it, in view axes."""
    k, face = key // at.FACES, key % at.FACES
    if kinds[k] == at.BOX:
        i = (face - 1) // 2
        sign = 1.0 if (face - 1) % 2 == 1 else -1.0
        row = at.ROWS + 3 * i
        return sign * shapes[k, row], sign * shapes[k, row + 1], sign * shapes[k, row + 2]
    px, py, pz = x - shapes[k, at.CENTER], y - shapes[k, at.CENTER + 1], z - shapes[k, at.CENTER + 2]
    if kinds[k] == at.CAPSULE:
        ax, ay, az = shapes[k, at.AXIS], shapes[k, at.AXIS + 1], shapes[k, at.AXIS + 2]
        s = min(max((ax * px + ay * py + az * pz) / shapes[k, at.LENGTH2], 0.0), 1.0)
        px, py, pz = px - s * ax, py - s * ay, pz - s * az
    r = 1.0 / math.sqrt(px * px + py * py + pz * pz + 1e-300)
    return px * r, py * r, pz * r
