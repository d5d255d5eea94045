"""Ground forces without plates: from the movement and the contact of the feet with the ground."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dynamics import body_poses, center_of_mass
from ..errors import ArgumentError
from ..kernels import contact as _contact
from ..model.library.human48 import STATURE
from ..typing import Array
from .motion import Motion
from .plates import SIDES, GroundForces
from .subject import Subject

FRICTION = 1.0
NEAR, SLOW = 0.025, 0.35  # m, m/s: where a point's stiffness has fallen to 1/e
STIFF = 1.0  # of a point on the ground, beside a wrench whose every newton counts
SWEEPS = 300
# right foot, in fractions of the stature: body, x (outward), y (forward), z
SOLE: tuple[tuple[str, float, float, float], ...] = (
    ("heel", 0.016, -0.028, -0.040), ("heel", -0.016, -0.028, -0.040), ("heel", 0.026, 0.030, -0.040),
    ("toes", 0.028, -0.002, -0.013), ("toes", -0.024, 0.004, -0.013), ("toes", 0.016, 0.026, -0.013),
    ("toes", -0.018, 0.034, -0.013),
)  # fmt: skip
# OpenSim's foot: body, x (forward), y (up), z (to the right) [m]
OSIM_SOLE: tuple[tuple[str, float, float, float], ...] = (
    ("calcn", -0.01, 0.0, 0.02), ("calcn", -0.01, 0.0, -0.02), ("calcn", 0.10, 0.0, 0.03),
    ("toes", 0.0, -0.01, 0.04), ("toes", 0.01, -0.01, -0.03), ("toes", 0.055, -0.01, 0.02),
    ("toes", 0.06, -0.01, -0.02),
)  # fmt: skip


def sole_points(subject: Subject) -> tuple[np.ndarray, Array, np.ndarray]:
    """Return bodies, places [k, 3] in them [m] and sides (0 right, 1 left) of the points that can touch the ground."""
    names = subject.model.names
    bodies: list[int] = []
    places: list[tuple[float, float, float]] = []
    sides: list[int] = []
    height = subject.height or STATURE
    for k, side in enumerate(SIDES):
        for body, x, y, z in SOLE:
            name = f"{side}_{body}"
            if name in names:
                bodies.append(names.index(name))
                places.append(((x if k == 0 else -x) * height, y * height, z * height))
                sides.append(k)
        for body, x, y, z in OSIM_SOLE:
            name = f"{body}_{side[0]}"
            if name in names:
                bodies.append(names.index(name))
                places.append((x, y, z if k == 0 else -z))
                sides.append(k)
    if not bodies:
        raise ArgumentError("the model has no feet that are known: give forces='plates' or 'none'")
    return np.array(bodies), np.array(places), np.array(sides)


def contact_forces(
    subject: Subject,
    motion: Motion,
    *,
    gravity: Any,
    friction: float = FRICTION,
    ground: float | None = None,
    residual_weight: float = 1.0,
) -> GroundForces:
    """Return what the ground must do to the feet for the movement to come about.

    Args:
        subject: Whose feet.
        motion: What they did.
        gravity: m/s2.
        friction: Coefficient of friction.
        ground: Height of the ground [m]; found from where each point comes lowest if not given.
        residual_weight: How much a newton metre that is left over about the horizontal axes counts beside a newton.
    """
    from .inverse import frame_torques

    if not friction > 0:
        raise ArgumentError(f"friction is {friction!r}: it must be positive")
    bodies, places, sides = sole_points(subject)
    points = sole_paths(subject, motion, bodies, places)
    heights = above_ground(points, ground)
    speed = np.linalg.norm(np.gradient(points, motion.times, axis=0), axis=2)
    close = np.exp(-((np.maximum(heights, 0.0) / NEAR) ** 2) - (speed / SLOW / 3) ** 2)
    stiffness = np.where(close > 1e-2, STIFF * close**2, 0.0)
    _, wanted = frame_torques(subject, motion, None, gravity)
    weights = np.array([residual_weight, residual_weight, residual_weight, 1.0, 1.0, 1.0]) * 100.0
    forces, left = np.zeros(points.shape), np.zeros((motion.frames, 6))
    on_ground = points.copy()
    on_ground[..., 2] -= heights
    centre = np.array([center_of_mass(subject.model, q) for q in motion.q])
    arm = centre[:, None] - on_ground
    slopes = np.ascontiguousarray(arm[..., :2] / np.maximum(arm[..., 2:], 0.2))
    _contact.contact_frames(on_ground, stiffness, slopes, wanted, weights, float(friction), SWEEPS, forces, left)
    force, moment = np.zeros((motion.frames, 2, 3)), np.zeros((motion.frames, 2, 3))
    links = np.full((motion.frames, 2), -1, dtype=np.int64)
    feet = subject.feet()
    for k, side in enumerate(SIDES):
        own = sides == k
        force[:, k] = forces[:, own].sum(1)
        moment[:, k] = np.cross(on_ground[:, own], forces[:, own]).sum(1)
        if feet[side]:
            links[:, k] = subject.model.body_links[feet[side][0]]
    return GroundForces(force, moment, links, "contact")


def sole_paths(subject: Subject, motion: Motion, bodies: np.ndarray, places: Array) -> Array:
    """Return the paths of points on bodies [m], shape [n, k, 3]."""
    out = np.zeros((motion.frames, len(bodies), 3))
    for t in range(motion.frames):
        poses = body_poses(subject.model, motion.q[t])[bodies]
        out[t] = np.einsum("kij,kj->ki", poses[:, :3, :3], places) + poses[:, :3, 3]
    return out


def above_ground(points: Array, ground: float | None) -> Array:
    """Return how far each point is above where it touches the ground [m], shape [n, k]."""
    heights = points[..., 2]
    if ground is not None:
        return heights - ground
    lowest = np.quantile(heights, 0.03, axis=0)
    level = float(np.median(lowest))
    own = np.clip(lowest, level - 0.04, level + 0.04)  # a sole is not flat, but no point is 4 cm off the others
    return heights - own
