"""Shadows: percentage-closer filtering on bodies, and a pyramid of blurred masks on the ground.

The light sees the scene along parallel rays; its depth map comes from the same kernel as the picture. Whatever casts a
shadow on the ground is above it, so a mask of where the map is not empty *is* the ground's shadow, and it can be
blurred beforehand: level n of the pyramid is the mask blurred over 2^n of its texels. A lookup picks the level by the
height of the caster, so that a shadow is sharp where a body touches the ground and soft below a high one.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel, leaf, parallel, prange
from . import layout as at


@parallel
def mask_of_floor(depths, view, mask):
    """Write the finest mask, one texel for 2 x 2 of the light's map.

    Column 0 is the share of the four where a body is between light and floor, column 1 their mean distance to it,
    times that share.
    """
    for line in prange(mask.shape[0]):
        y = np.int64(line)  # the index of a prange is unsigned: differences with it would become floats
        for x in range(mask.shape[1]):
            covered, total = 0.0, 0.0
            for j in range(2 * y, 2 * y + 2):
                v = (j + 0.5 - view[at.CY]) * view[at.SCALE]
                for i in range(2 * x, 2 * x + 2):
                    u = (i + 0.5 - view[at.CX]) * view[at.SCALE]
                    floor = (view[at.HEIGHT] - view[at.GROUND] * u - view[at.GROUND + 1] * v) / view[at.GROUND + 2]
                    distance = floor - depths[j, i]
                    if distance > 0.0:  # false for an empty texel and where there is no floor
                        covered += 0.25
                        total += 0.25 * distance
            mask[y, x, 0] = covered
            mask[y, x, 1] = total


@kernel
def halve(fine, coarse):
    """Blur with (1 3 3 1)/8 in both directions and keep every second texel."""
    size = fine.shape[0]
    for y in range(coarse.shape[0]):
        for x in range(coarse.shape[1]):
            a, b = 0.0, 0.0
            for j in range(max(0, 1 - 2 * y), min(4, size + 1 - 2 * y)):
                wy = 0.375 if 0 < j < 3 else 0.125
                for i in range(max(0, 1 - 2 * x), min(4, size + 1 - 2 * x)):
                    w = wy * (0.375 if 0 < i < 3 else 0.125)
                    a += w * fine[2 * y - 1 + j, 2 * x - 1 + i, 0]
                    b += w * fine[2 * y - 1 + j, 2 * x - 1 + i, 1]
            coarse[y, x, 0] = a
            coarse[y, x, 1] = b


@leaf
def _sample(pyramid, size, level, x, y):
    """Bilinear value of one level at the coordinates (x, y) in texels of the light's map."""
    start = 0
    for _ in range(level):
        start += size * size
        size //= 2
    shrink = 0.5 / (1 << level)
    x, y = x * shrink - 0.5, y * shrink - 0.5
    if x <= 0.0 or y <= 0.0 or x >= size - 1.0 or y >= size - 1.0:
        return 0.0, 0.0
    i, j = int(x), int(y)
    fx, fy = x - i, y - j
    p = start + j * size + i
    w00, w10, w01, w11 = (1.0 - fx) * (1.0 - fy), fx * (1.0 - fy), (1.0 - fx) * fy, fx * fy
    a = w00 * pyramid[p, 0] + w10 * pyramid[p + 1, 0] + w01 * pyramid[p + size, 0] + w11 * pyramid[p + size + 1, 0]
    b = w00 * pyramid[p, 1] + w10 * pyramid[p + 1, 1] + w01 * pyramid[p + size, 1] + w11 * pyramid[p + size + 1, 1]
    return a, b


@leaf
def floor_shadow(shadow, pyramid, size, levels, x, y):
    """Share of the light that is blocked at a point of the floor, and how closely something stands above it.

    `size` is that of the finest mask.
    """
    search = min(4, levels - 1)
    covered, distance = _sample(pyramid, size, search, x, y)
    if covered <= 1e-4:
        return 0.0, 0.0
    distance /= covered
    # What is close by counts for more, so that a thin leg keeps its shadow beside that of a wide trunk.
    close, close_distance = _sample(pyramid, size, search - min(3, search), x, y)
    distance += close_distance - close * distance
    texel = shadow[at.TEXEL]
    # The kernel of a level is about 1.6 times as wide as its texel, which is 2 of the map.
    level = math.log2(max(0.3 * distance * shadow[at.PENUMBRA] / texel, 1.0))
    level = min(level, levels - 1.001)
    low = int(level)
    blend = level - low
    a, _ = _sample(pyramid, size, low, x, y)
    b, _ = _sample(pyramid, size, low + 1, x, y)
    return a + (b - a) * blend, covered * math.exp(-distance / (24.0 * texel))


@leaf
def body_shadow(shadow, depths, x, y, depth):
    """Share of the light that is blocked at a point of a body: 3 x 3 bilinear comparisons with the light's map."""
    size = depths.shape[0]
    x, y = x - 0.5, y - 0.5
    if x < 1.0 or y < 1.0 or x >= size - 2.0 or y >= size - 2.0:
        return 0.0
    i, j = int(x), int(y)
    fx, fy = x - i, y - j
    depth -= 1.2 * shadow[at.TEXEL]
    blocked = 0.0
    for dy in range(4):
        wy = 1.0 - fy if dy == 0 else (fy if dy == 3 else 1.0)
        row = 0.0
        for dx in range(4):
            wx = 1.0 - fx if dx == 0 else (fx if dx == 3 else 1.0)
            row += wx if depths[j - 1 + dy, i - 1 + dx] < depth else 0.0
        blocked += wy * row
    return blocked * (1.0 / 9.0)
