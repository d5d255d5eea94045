"""Which surface is nearest in each pixel: rays against the primitives of the pixel's tile, nearest first."""

from __future__ import annotations

import numpy as np

from .._jit import leaf, parallel, prange
from . import layout as at
from .hit import hit


@leaf
def floor_depth(view, u, v):
    """Depth at which the ray through (u, v) of a perspective view meets the ground, or infinity."""
    slope = view[at.GROUND] * u + view[at.GROUND + 1] * v + view[at.GROUND + 2]
    t = view[at.HEIGHT] / slope
    return t if t > view[at.NEAR] else np.inf  # a NaN height (no ground) compares false


@parallel
def cast(kinds, shapes, rects, nears, starts, items, view, depths, keys):
    """Write depth (infinite for the sky) and key of what each pixel shows at its centre."""
    height, width = depths.shape
    columns = (width + at.TILE - 1) // at.TILE
    rows = (height + at.TILE - 1) // at.TILE
    perspective, near, scale = view[at.PERSPECTIVE], view[at.NEAR], view[at.SCALE]
    for index in prange(rows * columns):
        tile = np.int64(index)  # the index of a prange is unsigned: differences with it would become floats
        left, top = (tile % columns) * at.TILE, (tile // columns) * at.TILE
        right, bottom = min(left + at.TILE, width), min(top + at.TILE, height)
        for y in range(top, bottom):
            v = (y + 0.5 - view[at.CY]) * scale
            for x in range(left, right):
                depth = np.inf
                if perspective == 1.0:
                    depth = floor_depth(view, (x + 0.5 - view[at.CX]) * scale, v)
                depths[y, x] = depth
                keys[y, x] = at.SKY if depth == np.inf else at.FLOOR
        farthest = np.inf
        for j in range(starts[tile], starts[tile + 1]):
            k = items[j]
            if nears[k] >= farthest:
                break
            x0, x1 = max(left, rects[k, 0]), min(right, rects[k, 2])
            y0, y1 = max(top, rects[k, 1]), min(bottom, rects[k, 3])
            for y in range(y0, y1):
                v = (y + 0.5 - view[at.CY]) * scale
                for x in range(x0, x1):
                    if nears[k] < depths[y, x]:
                        t, face = hit(kinds, shapes, k, (x + 0.5 - view[at.CX]) * scale, v, perspective, near)
                        if t < depths[y, x]:
                            depths[y, x] = t
                            keys[y, x] = k * at.FACES + face
            if (j - starts[tile]) % 8 == 7:
                farthest = 0.0
                for y in range(top, bottom):
                    for x in range(left, right):
                        farthest = max(farthest, depths[y, x])
