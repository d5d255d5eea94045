"""A human figure with spine, fingers and toes, of the size used by Redon, Galoppo and Lin (2005): 89 bodies, 95 DOF."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import ArgumentError
from ..description import Body, mass_properties
from ..joints import Fixed
from ..model import Model
from ..shapes import Capsule, as_pose
from .humanoid_table import GROUPS, LIMBS, Limits, Part, Point, parts
from .parts import Color, assemble, count, not_negative, positive

ALL = 95
TISSUE = 1e-4  # kg m2; in fingers and toes, tissue damps far more than their own inertia would ask for
SKINS: tuple[Color, ...] = ((0.93, 0.76, 0.65), (0.80, 0.60, 0.46), (0.60, 0.42, 0.30), (0.42, 0.28, 0.20))
CLOTHES: tuple[Color, ...] = (
    (0.16, 0.42, 0.72), (0.80, 0.24, 0.20), (0.10, 0.58, 0.58), (0.95, 0.63, 0.14), (0.45, 0.30, 0.60),
    (0.30, 0.55, 0.25),
)  # fmt: skip
TROUSERS: tuple[Color, ...] = ((0.20, 0.22, 0.30), (0.45, 0.38, 0.30), (0.30, 0.32, 0.34))
SHOE: Color = (0.15, 0.13, 0.12)


def humanoid(
    joints: int = ALL,
    seed: int = 0,
    *,
    height: float | None = None,
    mass: float | None = None,
    floating: bool = True,
    damping: float = 5.0,
) -> Model:
    """Return a human figure of 89 bodies with `joints` degrees of freedom, six of them those of the free pelvis.

    Fewer than 95 are had by welding, in this order: jaw, toes, finger tips to knuckles, spine, ... down to 24. Seed 0
    is an adult of 1.75 m and 75 kg; other seeds vary stature, build and colours, unless `height` [m] and `mass` [kg]
    say so. Without `floating` the pelvis is welded to the world and the count goes down by six. `damping` is about the
    rate [1/s] at which a joint would slow its own body alone, more in fingers and toes; 0 makes the joints ideal.
    """
    bodies = humanoid_bodies(joints, seed, height=height, mass=mass, floating=floating, damping=damping)
    return assemble("humanoid", bodies)


def humanoid_bodies(
    joints: int = ALL,
    seed: int = 0,
    *,
    height: float | None = None,
    mass: float | None = None,
    floating: bool = True,
    damping: float = 5.0,
) -> list[Body]:
    """Return the bodies of `humanoid`, parents first, to be put into a larger model."""
    table = _welded(parts(), count(joints, "joints of kinetree.models.humanoid"))
    rng = np.random.default_rng(count(seed, "seed", 0))
    usual_height = 1.75 if seed == 0 else float(np.clip(rng.normal(1.72, 0.08), 1.5, 1.95))
    height = usual_height if height is None else positive(height, "height")
    index = 75 / 1.75**2 if seed == 0 else float(np.clip(rng.normal(24.5, 2.5), 19, 31))  # kg/m2
    mass = index * height**2 if mass is None else positive(mass, "mass")
    damping = not_negative(damping, "damping")
    girth = np.sqrt(mass / height**2 / (75 / 1.75**2))
    colors = {
        "skin": SKINS[int(rng.integers(len(SKINS))) if seed else 0],
        "cloth": CLOTHES[int(rng.integers(len(CLOTHES))) if seed else 0],
        "trousers": TROUSERS[int(rng.integers(len(TROUSERS))) if seed else 0],
        "shoe": SHOE,
    }
    shapes = [
        Capsule.between(_scaled(p.start, height), _scaled(p.end, height), p.radius * height * girth, color=color)
        for p, color in ((part, colors[part.color]) for part in table)
    ]
    volumes: dict[tuple[str, str], float] = {}
    for part, shape in zip(table, shapes, strict=True):
        volumes[_group(part)] = volumes.get(_group(part), 0.0) + shape.volume
    bodies = []
    for part, shape in zip(table, shapes, strict=True):
        share = mass * GROUPS[part.group] * shape.volume / volumes[_group(part)]
        solid = replace(shape, density=share / shape.volume)
        own_mass, com, inertia = mass_properties(part.name, None, None, None, (solid,))
        joint = Fixed() if part.parent is None and not floating else part.joint
        limits = None if part.limits is None or joint.nv == 0 else _radians(part.limits)
        slow = 0.0 if part.parent is None else damping * (_about_joint(own_mass, com, inertia) + TISSUE)
        bodies.append(
            Body(
                part.name, part.parent, joint, as_pose(_scaled(part.at, height), part.name), own_mass, com, inertia,
                (solid,), limits=limits, damping=slow if joint.nv else 0.0,
            )
        )  # fmt: skip
    return bodies


def _about_joint(mass: float, com: np.ndarray, inertia: np.ndarray) -> float:
    """Return the least moment of a body about any axis through its joint [kg m2]."""
    about_origin = inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))
    return float(np.linalg.eigvalsh(about_origin)[0])


def _group(part: Part) -> tuple[str, str]:
    side = part.name.split("_")[0]
    return (part.group, side) if side in ("left", "right") and part.group in LIMBS else (part.group, "")


def _radians(limits: Limits) -> tuple[np.ndarray, np.ndarray]:
    low, high = limits
    return np.radians(low), np.radians(high)


def _scaled(point: Point, scale: float) -> Point:
    x, y, z = point
    return scale * x, scale * y, scale * z


def _welded(table: list[Part], joints: int) -> list[Part]:
    """Weld joints with one degree of freedom, those of the highest rank first, until `joints` are left."""
    single = [k for k, part in enumerate(table) if part.joint.nv == 1]
    total = sum(part.joint.nv for part in table)
    if not total - len(single) <= joints <= total:
        raise ArgumentError(f"joints is {joints}: the humanoid can have {total - len(single)} to {total}")
    for k in sorted(single, key=lambda k: (-table[k].rank, -k))[: total - joints]:
        table[k] = replace(table[k], joint=Fixed(), limits=None)
    return table
