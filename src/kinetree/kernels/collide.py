"""Contacts between two shapes, each in closed form where there is one; the others come from `convex.py`.

A contact is emitted where the gap is below `margin`. See `geometry.py` for the signs.
"""

from __future__ import annotations

import math

from .._jit import kernel
from . import geometry as geo
from .convex import convex_pair
from .geometry import any_tangent, closest_on_segments, emit
from .terrain import on_heights

PARALLEL = 0.02  # sine of the angle below which two capsules touch along a line


@kernel
def collide(a, b, g, p, margin):
    """Write the contacts of the shapes a and b into `p.found`; returns how many."""
    ka, kb = g.ints[a, geo.KIND], g.ints[b, geo.KIND]
    if kb == geo.PLANE:
        return _on_plane(a, b, ka, g, p, margin)
    if kb == geo.HEIGHTS:
        return on_heights(a, b, g, p, margin)
    round_a = ka == geo.SPHERE or ka == geo.CAPSULE
    round_b = kb == geo.SPHERE or kb == geo.CAPSULE
    if round_a and round_b:
        return _round_pair(a, b, g, p, margin)
    return convex_pair(a, b, g, p, margin)


@kernel
def _on_plane(a, b, kind, g, p, margin):
    pa, pb, found = p.poses[a], p.poses[b], p.found
    nx, ny, nz = pb[2], pb[5], pb[8]
    height = nx * (pa[9] - pb[9]) + ny * (pa[10] - pb[10]) + nz * (pa[11] - pb[11])
    count = 0
    if kind == geo.SPHERE or kind == geo.CAPSULE:
        radius = g.floats[a, geo.SIZE]
        half = 0.5 * g.floats[a, geo.SIZE + 1] if kind == geo.CAPSULE else 0.0
        for end in range(2 if kind == geo.CAPSULE else 1):
            s = half if end == 0 else -half
            x, y, z = pa[9] + s * pa[2], pa[10] + s * pa[5], pa[11] + s * pa[8]
            gap = height + s * (nx * pa[2] + ny * pa[5] + nz * pa[8]) - radius
            if gap < margin:
                d = radius + 0.5 * gap
                count = emit(found, count, x - d * nx, y - d * ny, z - d * nz, nx, ny, nz, gap)
        return count
    first = g.ints[a, geo.VERTS]
    for k in range(first, first + g.ints[a, geo.NVERTS]):
        v = g.vertices[k]
        x = pa[9] + pa[0] * v[0] + pa[1] * v[1] + pa[2] * v[2]
        y = pa[10] + pa[3] * v[0] + pa[4] * v[1] + pa[5] * v[2]
        z = pa[11] + pa[6] * v[0] + pa[7] * v[1] + pa[8] * v[2]
        gap = nx * (x - pb[9]) + ny * (y - pb[10]) + nz * (z - pb[11])
        if gap < margin:
            d = 0.5 * gap
            count = emit(found, count, x - d * nx, y - d * ny, z - d * nz, nx, ny, nz, gap)
    return thin_out(found, count)


@kernel
def thin_out(found, count):
    """Keep at most four contacts of a pair: the deepest, and those that span the widest area; returns how many."""
    if count <= 4:
        return count
    best = 0
    for k in range(1, count):
        if found[k, 6] < found[best, 6]:
            best = k
    _swap(found, 0, best)
    best, most = 1, -1.0
    for k in range(1, count):
        d = _distance(found, 0, k)
        if d > most:
            best, most = k, d
    _swap(found, 1, best)
    n = found[0, 3:6]
    for turn in range(2, 4):  # farthest to either side of the line through the first two
        best, most = -1, 1e-12
        for k in range(turn, count):
            ux, uy, uz = found[1, 0] - found[0, 0], found[1, 1] - found[0, 1], found[1, 2] - found[0, 2]
            vx, vy, vz = found[k, 0] - found[0, 0], found[k, 1] - found[0, 1], found[k, 2] - found[0, 2]
            side = n[0] * (uy * vz - uz * vy) + n[1] * (uz * vx - ux * vz) + n[2] * (ux * vy - uy * vx)
            if turn == 3:
                wx, wy, wz = found[2, 0] - found[0, 0], found[2, 1] - found[0, 1], found[2, 2] - found[0, 2]
                other = n[0] * (uy * wz - uz * wy) + n[1] * (uz * wx - ux * wz) + n[2] * (ux * wy - uy * wx)
                side = -side if other > 0.0 else side
            else:
                side = abs(side)
            if side > most:
                best, most = k, side
        if best < 0:
            return turn
        _swap(found, turn, best)
    return 4


@kernel
def _swap(found, a, b):
    for c in range(7):
        x = found[a, c]
        found[a, c] = found[b, c]
        found[b, c] = x


@kernel
def _distance(found, a, b):
    x, y, z = found[a, 0] - found[b, 0], found[a, 1] - found[b, 1], found[a, 2] - found[b, 2]
    return x * x + y * y + z * z


@kernel
def _round_pair(a, b, g, p, margin):
    """Spheres and capsules: the closest points of two segments, or two pairs of them where these are parallel."""
    pa, pb, found, t = p.poses[a], p.poses[b], p.found, p.points[0, 0]
    ra, rb = g.floats[a, geo.SIZE], g.floats[b, geo.SIZE]
    ha = 0.5 * g.floats[a, geo.SIZE + 1] if g.ints[a, geo.KIND] == geo.CAPSULE else 0.0
    hb = 0.5 * g.floats[b, geo.SIZE + 1] if g.ints[b, geo.KIND] == geo.CAPSULE else 0.0
    u, w = p.points[0, 1], p.points[0, 2]
    for c in range(3):
        u[c], w[c] = ha * pa[3 * c + 2], hb * pb[3 * c + 2]
    if ha > 0.0 and hb > 0.0:
        cx, cy, cz = u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]
        if cx * cx + cy * cy + cz * cz < PARALLEL * PARALLEL * ha * ha * hb * hb:
            # the stretch of a that lies beside b, in units of u
            along = (u[0] * (pb[9] - pa[9]) + u[1] * (pb[10] - pa[10]) + u[2] * (pb[11] - pa[11])) / (ha * ha)
            size = abs(u[0] * w[0] + u[1] * w[1] + u[2] * w[2]) / (ha * ha)
            low, high = max(-1.0, along - size), min(1.0, along + size)
            if high - low > 0.1:
                count = 0
                for end in range(2):
                    s = low if end == 0 else high
                    x, y, z = pa[9] + s * u[0], pa[10] + s * u[1], pa[11] + s * u[2]
                    r = (w[0] * (x - pb[9]) + w[1] * (y - pb[10]) + w[2] * (z - pb[11])) / (hb * hb)
                    r = min(1.0, max(-1.0, r))
                    count = _two_balls(
                        found, count, x, y, z, ra, pb[9] + r * w[0], pb[10] + r * w[1], pb[11] + r * w[2], rb, margin
                    )
                return count
    closest_on_segments(pa[9:12], u, pb[9:12], w, t)
    s, r = t[0], t[1]
    return _two_balls(
        found, 0, pa[9] + s * u[0], pa[10] + s * u[1], pa[11] + s * u[2], ra,
        pb[9] + r * w[0], pb[10] + r * w[1], pb[11] + r * w[2], rb, margin,
    )  # fmt: skip


@kernel
def _two_balls(found, count, x, y, z, ra, bx, by, bz, rb, margin):
    nx, ny, nz = x - bx, y - by, z - bz
    size = math.sqrt(nx * nx + ny * ny + nz * nz)
    gap = size - ra - rb
    if gap >= margin:
        return count
    if size > 1e-12:
        nx, ny, nz = nx / size, ny / size, nz / size
    else:  # one inside the other's middle: any direction leads out
        nx, ny, nz = 0.0, 0.0, 1.0
    d = ra + 0.5 * gap
    return emit(found, count, x - d * nx, y - d * ny, z - d * nz, nx, ny, nz, gap)


@kernel
def first_tangent(contact):
    """Write two tangents of a contact from scratch."""
    nx, ny, nz = contact[geo.NORMAL], contact[geo.NORMAL + 1], contact[geo.NORMAL + 2]
    tx, ty, tz = any_tangent(nx, ny, nz)
    contact[geo.T1], contact[geo.T1 + 1], contact[geo.T1 + 2] = tx, ty, tz
    second_tangent(contact)


@kernel
def second_tangent(contact):
    """Write the second tangent, normal x first."""
    nx, ny, nz = contact[geo.NORMAL], contact[geo.NORMAL + 1], contact[geo.NORMAL + 2]
    tx, ty, tz = contact[geo.T1], contact[geo.T1 + 1], contact[geo.T1 + 2]
    contact[geo.T2] = ny * tz - nz * ty
    contact[geo.T2 + 1] = nz * tx - nx * tz
    contact[geo.T2 + 2] = nx * ty - ny * tx
