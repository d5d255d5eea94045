"""A bicycle chain, the first benchmark of Redon and Lin (2006).

An efficient, error-bounded approximation algorithm for simulating quasi-statics of complex linkages, section 6.1.
"""

from __future__ import annotations

import numpy as np

from ..description import Body, mass_properties
from ..joints import Revolute
from ..model import Model
from ..shapes import Box, Capsule, Shape
from .parts import AMBER, DARK, NO_TURN, ORIGIN, STEEL, assemble, count, not_negative, positive

STEEL_DENSITY = 7850.0  # kg/m3


def bicycle_chain(links: int = 30, *, pitch: float = 0.0127, damping: float = 1e-4) -> Model:
    """Return a bicycle chain of `links` links, laid out along +x from a pin at the origin; all axes are along y.

    Narrow and wide links alternate as in a real chain of half an inch `pitch` [m]. `damping` is that of the greased
    pins [N m s/rad]. Bodies are named `link0`, `link1`, ...
    """
    links, pitch = count(links, "links of kinetree.models.bicycle_chain"), positive(pitch, "pitch")
    damping = not_negative(damping, "damping")
    kinds = []
    for k, gap in enumerate((0.22, 0.36)):
        shapes = _plates(pitch, gap, STEEL if k else DARK)
        kinds.append((shapes, *mass_properties("link", None, None, None, shapes)))
    joint, ahead = Revolute("y"), (NO_TURN, np.array([pitch, 0.0, 0.0]))
    bodies = []
    for i in range(links):
        shapes, mass, com, inertia = kinds[i % 2]
        place = ahead if i else (NO_TURN, ORIGIN)
        parent = f"link{i - 1}" if i else None
        bodies.append(Body(f"link{i}", parent, joint, place, mass, com, inertia, shapes, damping=damping))
    return assemble(f"bicycle chain {links}", bodies)


def _plates(pitch: float, gap: float, color: tuple[float, float, float]) -> tuple[Shape, ...]:
    """Two plates at a distance of `gap` pitches from the middle, and the roller about the first pin."""
    plates: list[Shape] = []
    for side in (-gap * pitch, gap * pitch):
        size = (1.4 * pitch, 0.09 * pitch, 0.6 * pitch)
        middle = (None, (pitch / 2, side, 0.0))
        plates.append(Box(size, placement=middle, color=color, density=STEEL_DENSITY))
    pin, reach = 0.22 * pitch, (gap - 0.2) * pitch
    roller = Capsule.between((0, -reach, 0), (0, reach, 0), pin, color=AMBER, density=STEEL_DENSITY)
    return (*plates, roller)
