"""Antialiasing: more rays where neighbouring pixels show different surfaces, and the step from light to sRGB.

A ray beside the centre of an edge pixel is tested against the surfaces that the 3 x 3 pixels around it show, and takes
its colour from the pixel of those that shows the surface it meets: the edges are found anew, the shading is not.
"""

from __future__ import annotations

import numpy as np

from .._jit import leaf, parallel, prange
from . import layout as at
from .hit import hit
from .visible import floor_depth

# Eight rooks: one sample in every eighth of a pixel, across and down, so that near-level edges get eight steps too.
# Where more than two bodies meet, the four of a rotated square have to do.
EIGHT = [(1, -3), (-1, 3), (5, 1), (-3, -5), (-5, 5), (-7, -1), (3, 7), (7, -7)]
FOUR = [(-2, -6), (6, -2), (-6, 2), (2, 6)]
SAMPLES = np.array(EIGHT + FOUR) / 16.0
CLUTTER = 5  # so many bodies within 3 x 3 pixels
TABLE = 4096


def srgb_table() -> np.ndarray:
    """The sRGB byte of each of `TABLE` steps of linear light (IEC 61966-2-1)."""
    x = np.linspace(0.0, 1.0, TABLE)
    return np.round(255 * np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)).astype(np.uint8)


@leaf
def _byte(table, value):
    return table[int(min(max(value, 0.0), 1.0) * (TABLE - 1) + 0.5)]


@leaf
def _face_shown(keys, y0, y1, x0, x1, key):
    """A pixel of the neighbourhood that shows the side of a box that `key` names, or else another of its sides."""
    by, bx = y0, x0
    for j in range(y0, y1):
        for i in range(x0, x1):
            if keys[j, i] == key:
                return j, i
            if keys[j, i] >= 0 and keys[j, i] // at.FACES == key // at.FACES:
                by, bx = j, i
    return by, bx


@parallel
def smooth(kinds, shapes, view, keys, light, table, out):
    """Write the picture in sRGB bytes, with the edges antialiased.

    Where many surfaces meet within 3 x 3 pixels there is no edge to find, only clutter: a small blur is enough there.
    """
    height, width = keys.shape
    perspective, near, scale = view[at.PERSPECTIVE], view[at.NEAR], view[at.SCALE]
    for line in prange(height):
        y = np.int64(line)  # the index of a prange is unsigned: differences with it would become floats
        found = np.empty(12, dtype=np.int64)
        where = np.empty((12, 2), dtype=np.int64)
        y0, y1 = max(y - 1, 0), min(y + 2, height)
        for x in range(width):
            key = keys[y, x]
            x0, x1 = max(x - 1, 0), min(x + 2, width)
            if key == keys[y0, x] and key == keys[y1 - 1, x] and key == keys[y, x0] and key == keys[y, x1 - 1]:
                for i in range(3):
                    out[y, x, i] = _byte(table, light[y, x, i])
                continue
            count = 0
            sky_y, sky_x, floor_y, floor_x = y, x, y, x
            for j in range(y0, y1):
                for i in range(x0, x1):
                    other = keys[j, i]
                    if other == at.SKY:
                        sky_y, sky_x = j, i
                    elif other == at.FLOOR:
                        floor_y, floor_x = j, i
                    else:
                        k = other // at.FACES
                        n = 0
                        while n < count and found[n] != k:
                            n += 1
                        if n == count:
                            found[n] = k
                            where[n, 0] = j
                            where[n, 1] = i
                            count += 1
                        elif j == y and i == x:
                            where[n, 0] = j
                            where[n, 1] = i
            if key == at.SKY:
                sky_y, sky_x = y, x
            elif key == at.FLOOR:
                floor_y, floor_x = y, x
            red, green, blue = 0.0, 0.0, 0.0
            if count >= CLUTTER:
                for j in range(y0, y1):
                    for i in range(x0, x1):
                        w = (2.0 if j == y else 1.0) * (2.0 if i == x else 1.0)
                        red += w * light[j, i, 0]
                        green += w * light[j, i, 1]
                        blue += w * light[j, i, 2]
                w = 1.0 / (((y1 - y0) + 1) * ((x1 - x0) + 1))
            else:
                first, last = (0, 8) if count <= 2 else (8, 12)
                for s in range(first, last):
                    u = (x + 0.5 + SAMPLES[s, 0] - view[at.CX]) * scale
                    v = (y + 0.5 + SAMPLES[s, 1] - view[at.CY]) * scale
                    depth = floor_depth(view, u, v)
                    j, i = floor_y, floor_x
                    if depth == np.inf:
                        j, i = sky_y, sky_x
                    for n in range(count):
                        t, face = hit(kinds, shapes, found[n], u, v, perspective, near)
                        if t < depth:
                            depth = t
                            seen = found[n] * at.FACES + face
                            if face == 0:
                                j, i = where[n, 0], where[n, 1]
                            elif seen == key:
                                j, i = y, x
                            else:
                                j, i = _face_shown(keys, y0, y1, x0, x1, seen)
                    red += light[j, i, 0]
                    green += light[j, i, 1]
                    blue += light[j, i, 2]
                w = 1.0 / (last - first)
            out[y, x, 0] = _byte(table, red * w)
            out[y, x, 1] = _byte(table, green * w)
            out[y, x, 2] = _byte(table, blue * w)
