"""A crowd of human figures, the scene of Redon, Galoppo and Lin (2005), figure 1: 200 figures are 19,000 DOF."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..description import Body
from ..model import Model
from .humanoid import ALL, humanoid_bodies
from .parts import MOST, assemble, count, positive

VARIANTS = 12  # different figures in a crowd


def crowd(n: int = 200, seed: int = 0, *, joints: int = ALL, spacing: float = 1.6, damping: float = 5.0) -> Model:
    """Return `n` human figures in one model, a forest of free trees, on a jittered grid and turned at random.

    `joints` and `damping` are those of `humanoid`; `spacing` [m] is that of the grid, centred on the origin. The
    bodies of figure 7 are named `7/pelvis`, ...
    """
    n = count(n, "n of kinetree.models.crowd", most=MOST // 100)
    spacing = positive(spacing, "spacing")
    rng = np.random.default_rng(count(seed, "seed", 0))
    variants = [humanoid_bodies(joints, k, damping=damping) for k in range(min(n, VARIANTS))]
    columns = int(np.ceil(np.sqrt(n)))
    rows = -(-n // columns)
    bodies: list[Body] = []
    for i in range(n):
        x = (i % columns - (columns - 1) / 2 + rng.uniform(-0.25, 0.25)) * spacing
        y = (i // columns - (rows - 1) / 2 + rng.uniform(-0.25, 0.25)) * spacing
        yaw = rng.uniform(-np.pi, np.pi)
        sin, cos = np.sin(yaw), np.cos(yaw)
        turn = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
        for body in variants[int(rng.integers(len(variants)))]:
            if body.parent is None:
                place = (turn, np.array([x, y, body.placement[1][2]]))
                bodies.append(replace(body, name=f"{i}/{body.name}", placement=place))
            else:
                bodies.append(replace(body, name=f"{i}/{body.name}", parent=f"{i}/{body.parent}"))
    return assemble(f"crowd {n}", bodies)
