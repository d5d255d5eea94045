"""A hanging chain of capsules that bends in space."""

from __future__ import annotations

import numpy as np

from ..description import Body
from ..joints import Joint, Revolute, Spherical
from ..model import Model
from ..shapes import Capsule
from .parts import NO_TURN, ORIGIN, assemble, count, palette, positive

SHADES = 24


def chain(n: int = 10, *, spherical: bool = False, length: float = 0.1, mass: float = 0.1) -> Model:
    """Return `n` capsules that hang below each other along -z, on joints whose axes alternate between x and y.

    With `spherical` each joint is a ball instead, and the chain has 3 n degrees of freedom. `length` [m] is from joint
    to joint, `mass` [kg] that of a link. Bodies are named `link0`, `link1`, ...
    """
    n = count(n, "n of kinetree.models.chain")
    length, mass = positive(length, "length"), positive(mass, "mass")
    radius = 0.15 * length
    joints: tuple[Joint, Joint] = (Spherical(), Spherical()) if spherical else (Revolute("x"), Revolute("y"))
    start, end = (0.0, 0.0, -radius), (0.0, 0.0, radius - length)
    shades = min(n, SHADES)
    shapes = [(Capsule.between(start, end, radius, color=palette(k, shades)),) for k in range(shades)]
    com = np.array([0.0, 0.0, -length / 2])
    inertia = mass * shapes[0][0].unit_inertia()  # a capsule that hangs straight has its axes along the body's
    below = (NO_TURN, np.array([0.0, 0.0, -length]))
    bodies = (
        Body(
            f"link{i}", f"link{i - 1}" if i else None, joints[i % 2], below if i else (NO_TURN, ORIGIN), mass, com,
            inertia, shapes[i * shades // n],
        )
        for i in range(n)
    )  # fmt: skip
    return assemble(f"chain {n}", bodies)
