"""The millipede-like robot of 13,000 links of Redon and Lin (2006), section 6.2 and figure 5."""

from __future__ import annotations

import numpy as np

from ..description import Body
from ..joints import Fixed, Free, Revolute
from ..model import Model
from ..shapes import Box, Capsule, rotation_of_z
from .parts import AMBER, BLUE, DARK, MOST, NO_TURN, TEAL, assemble, count, not_negative

SEGMENT = 0.04  # length of a spine link [m]
LIMB = 0.03  # length of a leg link [m]
DENSITY = 1000.0  # kg/m3
ARCH = 0.17  # how far each leg link is bent down against the one before [rad]


def millipede(
    legs: int = 1000, leg_links: int = 10, spine: int = 3000, *, floating: bool = True, damping: float = 5e-5
) -> Model:
    """Return a spine of `spine` links along x, with `legs` legs of `leg_links` links in pairs along it.

    All joints are revolute: the spine bends about z and y in turn, a leg about its own x and y. The first spine link
    is free, or welded to the world if not `floating`. `damping` is that of every other joint [N m s/rad]. Bodies are
    named `spine0`, ... and `leg0_0` (leg 0, link 0), ...
    """
    leg_links = count(leg_links, "leg_links")
    legs = count(legs, "legs of kinetree.models.millipede", 0, MOST // leg_links)
    spine, damping = count(spine, "spine"), not_negative(damping, "damping")
    radius = 0.35 * SEGMENT
    block = (0.9 * SEGMENT, 2 * radius, 1.2 * radius)
    bodies: list[Body] = []
    plates = []
    for color in (BLUE, TEAL):
        shape = Box(block, placement=(SEGMENT / 2, 0.0, 0.0), color=color, density=DENSITY)
        plates.append((shape,))
    mass = DENSITY * plates[0][0].volume
    inertia, com = mass * plates[0][0].unit_inertia(), np.array([SEGMENT / 2, 0.0, 0.0])
    height = LIMB * (float(np.sin(ARCH * np.arange(leg_links)).sum()) + 0.12)  # the feet touch z = 0
    bends = (Revolute("z"), Revolute("y"))
    ahead = (NO_TURN, np.array([SEGMENT, 0.0, 0.0]))
    root = (NO_TURN, np.array([-spine * SEGMENT / 2, 0.0, height]))
    for i in range(spine):
        joint = bends[i % 2] if i else Free() if floating else Fixed()
        parent, place = (f"spine{i - 1}", ahead) if i else (None, root)
        slow = damping if i else 0.0
        bodies.append(Body(f"spine{i}", parent, joint, place, mass, com, inertia, plates[(i // 6) % 2], damping=slow))
    bodies.extend(_legs(legs, leg_links, spine, radius, damping))
    return assemble(f"millipede {spine + legs * leg_links}", bodies)


def _legs(legs: int, leg_links: int, spine: int, radius: float, damping: float) -> list[Body]:
    """Return the links of all legs; a leg runs along its own -z, and starts out sideways."""
    thin = 0.12 * LIMB
    limbs = []
    for color in (AMBER, DARK):
        shape = Capsule.between((0, 0, -thin), (0, 0, thin - LIMB), thin, color=color, density=DENSITY)
        limbs.append((shape,))
    mass, com = DENSITY * limbs[0][0].volume, np.array([0.0, 0.0, -LIMB / 2])
    inertia = mass * limbs[0][0].unit_inertia()
    bends = (Revolute("x"), Revolute("y"))
    pairs = max(1, (legs + 1) // 2)
    bodies = []
    for leg in range(legs):
        side = 1.0 if leg % 2 else -1.0
        sin, cos = np.sin(ARCH * side), np.cos(ARCH * side)
        bend = np.array([[1.0, 0.0, 0.0], [0.0, cos, sin], [0.0, -sin, cos]])
        hip = (rotation_of_z(np.array([0.0, -side, 0.0])), np.array([SEGMENT / 2, side * radius, 0.0]))
        hip[0][:, :2] = np.column_stack(([1.0, 0.0, 0.0], np.cross(hip[0][:, 2], [1.0, 0.0, 0.0])))
        below = (bend, np.array([0.0, 0.0, -LIMB]))
        for k in range(leg_links):
            parent = f"leg{leg}_{k - 1}" if k else f"spine{(leg // 2) * spine // pairs}"
            shapes = limbs[1 if k == leg_links - 1 else 0]
            name, place = f"leg{leg}_{k}", below if k else hip
            bodies.append(Body(name, parent, bends[k % 2], place, mass, com, inertia, shapes, damping=damping))
    return bodies
