"""Default colours. All palettes can be told apart with the common colour blindnesses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..model.model import Model

# M. Okabe and K. Ito, Color Universal Design (2008), yellow left out: it is lost against a bright floor.
OKABE_ITO = np.array([(0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0)]) / 255
# F. Crameri, "batlow" (Scientific colour maps, 2018), eight steps: even in lightness for every eye.
BATLOW = (
    np.array(
        [(1, 25, 89), (16, 63, 96), (28, 90, 98), (60, 109, 86), (104, 123, 62), (157, 137, 43), (210, 147, 67),
         (248, 161, 123), (253, 183, 188), (250, 204, 250)]
    ) / 255
)  # fmt: skip
FEW = 24  # up to so many bodies each has a colour of its own kind; a longer tree is a gradient


def body_colors(model: Model) -> np.ndarray:
    """Return a colour for every body, sRGB in 0..1, shape (nbodies, 3).

    In a forest each tree has a colour, in a small tree each body; a large tree goes through a gradient from the root
    to the tips. Every second body is a little lighter, so that links can be told apart.
    """
    parents = model.parents
    roots = np.arange(len(parents))
    depths = np.zeros(len(parents), dtype=np.int64)
    for i, parent in enumerate(parents.tolist()):  # parents come before their children
        if parent >= 0:
            roots[i] = roots[parent]
            depths[i] = depths[parent] + 1
    trees, tree = np.unique(roots, return_inverse=True)
    if len(trees) > 1:
        colors = OKABE_ITO[tree % len(OKABE_ITO)]
    elif len(parents) <= FEW:
        colors = OKABE_ITO[np.arange(len(parents)) % len(OKABE_ITO)]
    else:
        along = 0.1 + 0.8 * depths / max(int(depths.max()), 1)
        steps = np.linspace(0, 1, len(BATLOW))
        colors = np.stack([np.interp(along, steps, BATLOW[:, i]) for i in range(3)], axis=1)
    lift = np.where(depths % 2 == 1, 0.14, 0.0)[:, None]
    return colors + (1 - colors) * lift


def linear(srgb: np.ndarray) -> np.ndarray:
    """Turn sRGB values in 0..1 into linear light (IEC 61966-2-1)."""
    x = np.clip(srgb, 0.0, 1.0)
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)
