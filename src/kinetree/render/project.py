"""Primitives in the axes of a view, the pixels that each may cover, and the lists of those in each tile."""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel, leaf
from . import layout as at


@leaf
def _slopes(c, z, radius):
    """Least and greatest c/z of the part in front of the origin of a circle about (c, z)."""
    if z > 1.0001 * radius:
        rest = z * z - radius * radius
        reach = radius * math.sqrt(c * c + rest)
        return (c * z - reach) / rest, (c * z + reach) / rest
    distance2 = c * c + z * z
    if distance2 <= 1.0001 * radius * radius:
        return -np.inf, np.inf
    # Beside the eye: the tangents as angles from straight ahead, cut off at the right angles.
    middle, half = math.atan2(c, z), math.asin(radius / math.sqrt(distance2))
    low, high = middle - half, middle + half
    right = 0.5 * math.pi - 1e-6
    least = -np.inf if low < -right else (np.inf if low > right else math.tan(low))
    most = np.inf if high > right else (-np.inf if high < -right else math.tan(high))
    return least, most


@leaf
def _ball_bounds(view, x, y, z, radius):
    """The rectangle in the plane of the picture, in units of u and v, that holds a ball."""
    if view[at.PERSPECTIVE] == 0.0:
        return x - radius, x + radius, y - radius, y + radius
    u0, u1 = _slopes(x, z, radius)
    v0, v1 = _slopes(y, z, radius)
    return u0, u1, v0, v1


@leaf
def _least(view, z):
    """The radius that covers `LEAST` pixels at depth z: thinner bodies would break up into dots."""
    depth = z if view[at.PERSPECTIVE] == 1.0 else 1.0
    return view[at.LEAST] * view[at.SCALE] * max(depth, 0.0)


@leaf
def _turn(view, x, y, z):
    return (
        view[0] * x + view[1] * y + view[2] * z,
        view[3] * x + view[4] * y + view[5] * z,
        view[6] * x + view[7] * y + view[8] * z,
    )


@kernel
def project(kinds, sizes, poses, view, width, height, shapes, rects, nears):
    """Write each primitive in view axes, its rectangle of pixels (x0, y0, x1, y1; empty if unseen) and least depth."""
    for k in range(kinds.shape[0]):
        x, y, z = _turn(
            view, poses[k, 9] - view[at.EYE], poses[k, 10] - view[at.EYE + 1], poses[k, 11] - view[at.EYE + 2]
        )
        near = view[at.NEAR]
        if kinds[k] == at.BOX:
            shapes[k, at.CENTER], shapes[k, at.CENTER + 1], shapes[k, at.CENTER + 2] = x, y, z
            thin = _least(view, z)
            reach = 0.0
            for i in range(3):
                rx, ry, rz = _turn(view, poses[k, i], poses[k, 3 + i], poses[k, 6 + i])
                row = at.ROWS + 3 * i
                shapes[k, row], shapes[k, row + 1], shapes[k, row + 2] = rx, ry, rz
                shapes[k, at.HALF + i] = max(0.5 * sizes[k, i], thin)
                reach += abs(rz) * shapes[k, at.HALF + i]
            u0, u1, v0, v1 = np.inf, -np.inf, np.inf, -np.inf
            front = z - reach
            far = z + reach
            whole = view[at.PERSPECTIVE] == 1.0 and front <= near
            for corner in range(8):
                cx, cy, cz = x, y, z
                for i in range(3):
                    s = shapes[k, at.HALF + i] * (1.0 if (corner >> i) & 1 else -1.0)
                    row = at.ROWS + 3 * i
                    cx += s * shapes[k, row]
                    cy += s * shapes[k, row + 1]
                    cz += s * shapes[k, row + 2]
                scale = 1.0 / max(cz, near) if view[at.PERSPECTIVE] == 1.0 else 1.0
                u0, u1 = min(u0, cx * scale), max(u1, cx * scale)
                v0, v1 = min(v0, cy * scale), max(v1, cy * scale)
            if whole:
                hx, hy, hz = shapes[k, at.HALF], shapes[k, at.HALF + 1], shapes[k, at.HALF + 2]
                u0, u1, v0, v1 = _ball_bounds(view, x, y, z, math.sqrt(hx * hx + hy * hy + hz * hz))
        else:
            radius = max(sizes[k, 0], _least(view, z))
            lx, ly, lz = 0.0, 0.0, 0.0
            if kinds[k] == at.CAPSULE:
                lx, ly, lz = _turn(view, poses[k, 2], poses[k, 5], poses[k, 8])
                lx, ly, lz = lx * sizes[k, 1], ly * sizes[k, 1], lz * sizes[k, 1]
                x, y, z = x - 0.5 * lx, y - 0.5 * ly, z - 0.5 * lz
            shapes[k, at.CENTER], shapes[k, at.CENTER + 1], shapes[k, at.CENTER + 2] = x, y, z
            shapes[k, at.AXIS], shapes[k, at.AXIS + 1], shapes[k, at.AXIS + 2] = lx, ly, lz
            shapes[k, at.RADIUS] = radius
            shapes[k, at.LENGTH2] = lx * lx + ly * ly + lz * lz
            u0, u1, v0, v1 = _ball_bounds(view, x, y, z, radius)
            a0, a1, b0, b1 = _ball_bounds(view, x + lx, y + ly, z + lz, radius)
            u0, u1, v0, v1 = min(u0, a0), max(u1, a1), min(v0, b0), max(v1, b1)
            if view[at.PERSPECTIVE] == 1.0 and min(z, z + lz) <= 0.0:
                # One end behind the eye and on its other side: what is between may be anywhere.
                if x * (x + lx) <= 0.0:
                    u0, u1 = -np.inf, np.inf
                if y * (y + ly) <= 0.0:
                    v0, v1 = -np.inf, np.inf
            front = min(z, z + lz) - radius
            far = max(z, z + lz) + radius
        scale = 1.0 / view[at.SCALE]
        # Only pixels whose centre is inside; the small slack is for rounding.
        x0 = min(max(u0 * scale + view[at.CX] - 0.501, 0.0), float(width))
        x1 = min(max(u1 * scale + view[at.CX] + 0.501, 0.0), float(width))
        y0 = min(max(v0 * scale + view[at.CY] - 0.501, 0.0), float(height))
        y1 = min(max(v1 * scale + view[at.CY] + 0.501, 0.0), float(height))
        rects[k, 0], rects[k, 1] = math.ceil(x0), math.ceil(y0)
        rects[k, 2], rects[k, 3] = math.floor(x1), math.floor(y1)
        if far <= near or kinds[k] == at.PLANE:
            rects[k, 2] = rects[k, 0]
        nears[k] = max(front, near)


@kernel
def count_in_tiles(rects, columns, starts):
    """Write where the list of each tile starts, given that it holds every primitive that may cover it."""
    starts[:] = 0
    for k in range(rects.shape[0]):
        if rects[k, 0] < rects[k, 2] and rects[k, 1] < rects[k, 3]:
            for row in range(rects[k, 1] // at.TILE, (rects[k, 3] - 1) // at.TILE + 1):
                for column in range(rects[k, 0] // at.TILE, (rects[k, 2] - 1) // at.TILE + 1):
                    starts[row * columns + column + 1] += 1
    for i in range(1, starts.shape[0]):
        starts[i] += starts[i - 1]


@kernel
def fill_tiles(rects, order, columns, starts, items):
    """Write the lists of the tiles, each in the order given, and leave `starts` as it was."""
    for k in order:
        if rects[k, 0] < rects[k, 2] and rects[k, 1] < rects[k, 3]:
            for row in range(rects[k, 1] // at.TILE, (rects[k, 3] - 1) // at.TILE + 1):
                for column in range(rects[k, 0] // at.TILE, (rects[k, 2] - 1) // at.TILE + 1):
                    tile = row * columns + column
                    items[starts[tile]] = k
                    starts[tile] += 1
    for tile in range(starts.shape[0] - 1, 0, -1):
        starts[tile] = starts[tile - 1]
    starts[0] = 0
