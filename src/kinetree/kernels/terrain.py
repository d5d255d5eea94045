"""Contacts with a height field: a grid of heights above the x-y plane of the shape, two triangles to a cell.

Each point of the body that can touch first (the balls of a sphere or capsule, corners of a box or hull) is held against
the triangle above or below it; the grid's own corners are held against the body, which finds ridges under its middle.
"""

from __future__ import annotations

import math

from .._jit import kernel
from . import geometry as geo
from .convex import lowest
from .geometry import emit

BALLS = 5  # along the axis of a capsule


@kernel
def on_heights(a, b, g, p, margin):
    """Write the contacts of shape a on the height field b."""
    kind = g.ints[a, geo.KIND]
    pa, count = p.poses[a], 0
    v = p.points[0, 0]
    if kind == geo.SPHERE or kind == geo.CAPSULE:
        radius = g.floats[a, geo.SIZE]
        half = 0.5 * g.floats[a, geo.SIZE + 1] if kind == geo.CAPSULE else 0.0
        balls = BALLS if kind == geo.CAPSULE else 1
        for k in range(balls):
            s = half * (2.0 * k / (balls - 1) - 1.0) if balls > 1 else 0.0
            for c in range(3):
                v[c] = pa[9 + c] + s * pa[3 * c + 2]
            count = _point(v, radius, b, g, p, margin, count)
    else:
        first = g.ints[a, geo.VERTS]
        for k in range(first, first + g.ints[a, geo.NVERTS]):
            w = g.vertices[k]
            for c in range(3):
                v[c] = pa[9 + c] + pa[3 * c] * w[0] + pa[3 * c + 1] * w[1] + pa[3 * c + 2] * w[2]
            count = _point(v, 0.0, b, g, p, margin, count)
    return _peaks(a, b, g, p, margin, count)


@kernel
def height_at(x, y, b, g):
    """Return (height, slope along x, slope along y) of a height field; -inf outside of it. All in its own axes."""
    rows, columns = g.ints[b, geo.NVERTS], g.ints[b, geo.NFACES]
    dx, dy = g.floats[b, geo.SIZE], g.floats[b, geo.SIZE + 1]
    s, t = x / dx + 0.5 * (rows - 1), y / dy + 0.5 * (columns - 1)
    if not (0.0 <= s <= rows - 1 and 0.0 <= t <= columns - 1):
        return -math.inf, 0.0, 0.0
    i, j = min(int(s), rows - 2), min(int(t), columns - 2)
    s, t = s - i, t - j
    at = g.ints[b, geo.VERTS] + i * columns + j
    h00, h10, h01, h11 = g.heights[at], g.heights[at + columns], g.heights[at + 1], g.heights[at + columns + 1]
    if s >= t:
        u, w = h10 - h00, h11 - h10
    else:
        u, w = h11 - h01, h01 - h00
    return h00 + s * u + t * w, u / dx, w / dy


@kernel
def _point(v, radius, b, g, p, margin, count):
    """Emit the contact of a ball about the point v."""
    pb = p.poses[b]
    x, y, z = v[0] - pb[9], v[1] - pb[10], v[2] - pb[11]
    lx = pb[0] * x + pb[3] * y + pb[6] * z
    ly = pb[1] * x + pb[4] * y + pb[7] * z
    lz = pb[2] * x + pb[5] * y + pb[8] * z
    h, sx, sy = height_at(lx, ly, b, g)
    if h == -math.inf:
        return count
    size = math.sqrt(1.0 + sx * sx + sy * sy)
    gap = (lz - h) / size - radius
    if gap >= margin:
        return count
    mx, my, mz = -sx / size, -sy / size, 1.0 / size
    nx, ny, nz = pb[0] * mx + pb[1] * my + pb[2] * mz, pb[3] * mx + pb[4] * my + pb[5] * mz, (
        pb[6] * mx + pb[7] * my + pb[8] * mz
    )
    d = radius + 0.5 * gap
    return emit(p.found, count, v[0] - d * nx, v[1] - d * ny, v[2] - d * nz, nx, ny, nz, gap)


@kernel
def _peaks(a, b, g, p, margin, count):
    """Emit the contacts of the grid's corners under shape a that are convex; the normal is the field's there."""
    pb, reach = p.poses[b], g.floats[a, geo.REACH] + margin
    x, y, z = p.poses[a, 9] - pb[9], p.poses[a, 10] - pb[10], p.poses[a, 11] - pb[11]
    lx, ly = pb[0] * x + pb[3] * y + pb[6] * z, pb[1] * x + pb[4] * y + pb[7] * z
    rows, columns = g.ints[b, geo.NVERTS], g.ints[b, geo.NFACES]
    dx, dy = g.floats[b, geo.SIZE], g.floats[b, geo.SIZE + 1]
    first_i = max(1, math.ceil((lx - reach) / dx + 0.5 * (rows - 1)))
    last_i = min(rows - 2, math.floor((lx + reach) / dx + 0.5 * (rows - 1)))
    first_j = max(1, math.ceil((ly - reach) / dy + 0.5 * (columns - 1)))
    last_j = min(columns - 2, math.floor((ly + reach) / dy + 0.5 * (columns - 1)))
    start = g.ints[b, geo.VERTS]
    for i in range(first_i, last_i + 1):
        for j in range(first_j, last_j + 1):
            at = start + i * columns + j
            h = g.heights[at]
            sx = 0.5 * (g.heights[at + columns] - g.heights[at - columns]) / dx
            sy = 0.5 * (g.heights[at + 1] - g.heights[at - 1]) / dy
            bend = (g.heights[at + columns] + g.heights[at - columns] - 2.0 * h) / dx
            bend = min(bend, (g.heights[at + 1] + g.heights[at - 1] - 2.0 * h) / dy)
            if bend > -1e-3:
                continue
            size = math.sqrt(1.0 + sx * sx + sy * sy)
            mx, my, mz = -sx / size, -sy / size, 1.0 / size
            nx, ny, nz = pb[0] * mx + pb[1] * my + pb[2] * mz, pb[3] * mx + pb[4] * my + pb[5] * mz, (
                pb[6] * mx + pb[7] * my + pb[8] * mz
            )
            px, py = (i - 0.5 * (rows - 1)) * dx, (j - 0.5 * (columns - 1)) * dy
            wx, wy, wz = pb[9] + pb[0] * px + pb[1] * py + pb[2] * h, pb[10] + pb[3] * px + pb[4] * py + pb[5] * h, (
                pb[11] + pb[6] * px + pb[7] * py + pb[8] * h
            )
            if _beside(a, wx, wy, wz, nx, ny, nz, g, p, margin):
                continue
            gap = _along(a, wx, wy, wz, nx, ny, nz, g, p)
            if gap < margin:
                d = 0.5 * gap
                count = emit(p.found, count, wx + d * nx, wy + d * ny, wz + d * nz, nx, ny, nz, gap)
    return count


@kernel
def _beside(a, x, y, z, nx, ny, nz, g, p, margin):
    """Whether the line through a point along the normal misses shape a, or leaves it on the far side only."""
    pose, kind = p.poses[a], g.ints[a, geo.KIND]
    dx, dy, dz = pose[9] - x, pose[10] - y, pose[11] - z
    up = dx * nx + dy * ny + dz * nz
    if kind == geo.SPHERE:
        r = g.floats[a, geo.SIZE]
        return dx * dx + dy * dy + dz * dz - up * up >= r * r or up < -r
    if kind == geo.CAPSULE:
        return up < -g.floats[a, geo.REACH] or _closest(a, x, y, z, nx, ny, nz, g, p)[1] >= g.floats[a, geo.SIZE]
    low, high = -math.inf, math.inf
    for f in range(g.ints[a, geo.FACES], g.ints[a, geo.FACES] + g.ints[a, geo.NFACES]):
        face = g.faces[f]
        fx = pose[0] * face[0] + pose[1] * face[1] + pose[2] * face[2]
        fy = pose[3] * face[0] + pose[4] * face[1] + pose[5] * face[2]
        fz = pose[6] * face[0] + pose[7] * face[1] + pose[8] * face[2]
        speed = fx * nx + fy * ny + fz * nz
        room = face[3] + fx * dx + fy * dy + fz * dz
        if abs(speed) < 1e-12:
            if room < 0.0:
                return True
        elif speed > 0.0:
            high = min(high, room / speed)
        else:
            low = max(low, room / speed)
    return low >= high or low + high < -2.0 * g.floats[a, geo.REACH]


@kernel
def _closest(a, x, y, z, nx, ny, nz, g, p):
    """Return (parameter on the axis of capsule a, distance) of a line through a point along the normal."""
    pose, half = p.poses[a], 0.5 * g.floats[a, geo.SIZE + 1]
    ux, uy, uz = pose[2], pose[5], pose[8]
    dx, dy, dz = pose[9] - x, pose[10] - y, pose[11] - z
    un, dn, du = ux * nx + uy * ny + uz * nz, dx * nx + dy * ny + dz * nz, dx * ux + dy * uy + dz * uz
    flat = 1.0 - un * un
    s = (un * dn - du) / flat if flat > 1e-9 else 0.0
    s = min(half, max(-half, s))
    ex, ey, ez = dx + s * ux, dy + s * uy, dz + s * uz
    along = ex * nx + ey * ny + ez * nz
    return s, math.sqrt(max(ex * ex + ey * ey + ez * ez - along * along, 0.0))


@kernel
def _along(a, x, y, z, nx, ny, nz, g, p):
    """Return how far shape a is above a point along the normal, negative where the point is inside."""
    pose, kind = p.poses[a], g.ints[a, geo.KIND]
    dx, dy, dz = pose[9] - x, pose[10] - y, pose[11] - z
    if kind == geo.SPHERE:
        return math.sqrt(dx * dx + dy * dy + dz * dz) - g.floats[a, geo.SIZE] if (
            dx * nx + dy * ny + dz * nz > 0.0
        ) else -g.floats[a, geo.SIZE]
    if kind == geo.CAPSULE:
        s = _closest(a, x, y, z, nx, ny, nz, g, p)[0]
        ex, ey, ez = dx + s * pose[2], dy + s * pose[5], dz + s * pose[8]
        return math.sqrt(ex * ex + ey * ey + ez * ez) - g.floats[a, geo.SIZE]
    return lowest(a, nx, ny, nz, g, p) - (nx * x + ny * y + nz * z)
