"""Shapes for bodies that have none, so that every model can be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..model.shapes import rotation_of_z
from . import layout as at

if TYPE_CHECKING:
    from ..model.model import Model

SLENDER = 0.07  # radius over length of a stand-in


def stand_in_shapes(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return bodies, kinds, sizes (n, 3) and placements (n, 12) of stand-ins for the bodies without a shape.

    A thin capsule goes from the origin of a body to each joint that it carries; where it carries none, to twice the
    way to its centre of mass. A body with neither is a small ball.
    """
    bare = np.ones(model.nbodies, dtype=bool)
    bare[model.shape_bodies[model.shape_bodies >= 0]] = False
    children = np.flatnonzero(model.parents >= 0)
    children = children[bare[model.parents[children]]]
    tips = np.flatnonzero(bare)
    tips = tips[~np.isin(tips, model.parents[children])]
    owners = np.concatenate((model.parents[children], tips))
    ends = np.concatenate((model.placements[children, 9:], 2 * model.coms[tips]))
    if not len(owners):
        return owners, owners, np.zeros((0, 3)), np.zeros((0, 12))
    lengths = np.linalg.norm(ends, axis=1)
    typical = float(np.median(lengths[lengths > 1e-9])) if (lengths > 1e-9).any() else 0.1
    long = lengths > 1e-6 * typical
    # One of several joints at the origin of a body that also reaches elsewhere needs no ball of its own.
    reaches = np.zeros(model.nbodies, dtype=bool)
    reaches[owners[long]] = True
    keep = long | ~reaches[owners]
    owners, ends, lengths, long = owners[keep], ends[keep], lengths[keep], long[keep]
    radii = SLENDER * np.where(long, np.minimum(lengths, 2 * typical), typical)
    sizes = np.stack((radii, np.where(long, lengths, 0.0), np.zeros(len(owners))), axis=1)
    placements = np.tile(np.concatenate((np.eye(3).ravel(), np.zeros(3))), (len(owners), 1))
    placements[:, 9:] = np.where(long[:, None], ends / 2, 0.0)
    for k in np.flatnonzero(long):
        placements[k, :9] = rotation_of_z(ends[k] / lengths[k]).ravel()
    return owners, np.where(long, at.CAPSULE, at.SPHERE), sizes, placements
