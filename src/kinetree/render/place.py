"""Move shapes with their bodies, and how far they reach."""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel
from . import layout as at


@kernel
def place_shapes(owners, placements, body_poses, poses):
    """Write the world pose of each shape: the pose of its body (4 x 4) times its placement in the body."""
    for k in range(owners.shape[0]):
        body = owners[k]
        if body < 0:
            continue
        for i in range(3):
            for j in range(3):
                poses[k, 3 * i + j] = (
                    body_poses[body, i, 0] * placements[k, j]
                    + body_poses[body, i, 1] * placements[k, 3 + j]
                    + body_poses[body, i, 2] * placements[k, 6 + j]
                )
            poses[k, 9 + i] = (
                body_poses[body, i, 0] * placements[k, 9]
                + body_poses[body, i, 1] * placements[k, 10]
                + body_poses[body, i, 2] * placements[k, 11]
                + body_poses[body, i, 3]
            )


@kernel
def extent(kinds, sizes, poses, corners):
    """Write the lower and the upper corner of the box along the world axes that holds all primitives, (2, 3)."""
    corners[0, :] = np.inf
    corners[1, :] = -np.inf
    for k in range(kinds.shape[0]):
        for i in range(3):
            if kinds[k] == at.BOX:
                reach = 0.0
                for j in range(3):
                    reach += 0.5 * abs(poses[k, 3 * i + j]) * sizes[k, j]
            else:
                reach = sizes[k, 0]
                if kinds[k] == at.CAPSULE:
                    reach += 0.5 * abs(poses[k, 3 * i + 2]) * sizes[k, 1]
            corners[0, i] = min(corners[0, i], poses[k, 9 + i] - reach)
            corners[1, i] = max(corners[1, i], poses[k, 9 + i] + reach)


@kernel
def seen_extent(kinds, sizes, poses, rects, turn, corners):
    """Write the extent, along the rows of `turn`, of balls about the primitives that have pixels, (2, 3)."""
    corners[0, :] = np.inf
    corners[1, :] = -np.inf
    for k in range(kinds.shape[0]):
        if rects[k, 0] >= rects[k, 2] or rects[k, 1] >= rects[k, 3]:
            continue
        reach = sizes[k, 0]
        if kinds[k] == at.CAPSULE:
            reach += 0.5 * sizes[k, 1]
        elif kinds[k] == at.BOX:
            reach = 0.5 * math.sqrt(sizes[k, 0] ** 2 + sizes[k, 1] ** 2 + sizes[k, 2] ** 2)
        for i in range(3):
            place = turn[i, 0] * poses[k, 9] + turn[i, 1] * poses[k, 10] + turn[i, 2] * poses[k, 11]
            corners[0, i] = min(corners[0, i], place - reach)
            corners[1, i] = max(corners[1, i], place + reach)
