"""A planar pendulum of n rods, the body of the first tests of Redon, Galoppo and Lin (2005), figure 5."""

from __future__ import annotations

import numpy as np

from ..description import Body
from ..joints import Revolute
from ..model import Model
from ..shapes import Capsule
from .parts import NO_TURN, ORIGIN, assemble, count, palette, positive, rod_inertia

SHADES = 24


def pendulum(n: int = 1, *, length: float = 0.1, mass: float = 0.1) -> Model:
    """Return `n` uniform thin rods that hang below each other along -z, on revolute joints about y.

    Each rod has `length` [m] and `mass` [kg]; its moment about its joint is `mass * length**2 / 3`, as in textbooks.
    At q = 0 the pendulum hangs straight down. Bodies are named `link0`, `link1`, ...
    """
    n = count(n, "n of kinetree.models.pendulum")
    length, mass = positive(length, "length"), positive(mass, "mass")
    radius = 0.12 * length
    joint, com = Revolute("y"), np.array([0.0, 0.0, -length / 2])
    inertia = rod_inertia(mass, length, radius)
    below = (NO_TURN, np.array([0.0, 0.0, -length]))
    start, end = (0.0, 0.0, -radius), (0.0, 0.0, radius - length)
    shades = min(n, SHADES)
    rods = [(Capsule.between(start, end, radius, color=palette(k, shades)),) for k in range(shades)]
    bodies = (
        Body(
            f"link{i}", f"link{i - 1}" if i else None, joint, below if i else (NO_TURN, ORIGIN), mass, com, inertia,
            rods[i * shades // n],
        )
        for i in range(n)
    )  # fmt: skip
    return assemble(f"pendulum {n}", bodies)
