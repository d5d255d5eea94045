"""Contacts between two shapes, each in closed form where there is one; the others come from `convex.py`.

A contact is emitted where the gap is below `margin`. See `geometry.py` for the signs.
"""

from __future__ import annotations

import math

from .._jit import kernel, leaf
from . import geometry as geo
from .convex import convex_pair
from .geometry import any_tangent, emit
from .terrain import on_heights

PARALLEL = 0.02  # sine of the angle below which two capsules touch along a line


@kernel
def collide(a, b, g, p, margin):
    """Write the contacts of the shapes a and b into `p.found`; returns how many.

    Round shapes against each other and against planes have kernels of their own, which whoever has the time calls.
    """
    kb = g.ints[b, geo.KIND]
    if kb == geo.PLANE:
        return _corners_on_plane(a, b, g, p, margin)
    if kb == geo.HEIGHTS:
        return on_heights(a, b, g, p, margin)
    return convex_pair(a, b, g, p, margin)


@kernel
def round_on_plane(a, b, ints, floats, poses, found, margin):
    """Write the contacts of a sphere or capsule on a plane: one for each end; returns how many."""
    nx, ny, nz = poses[b, 2], poses[b, 5], poses[b, 8]
    height = nx * (poses[a, 9] - poses[b, 9]) + ny * (poses[a, 10] - poses[b, 10]) + nz * (poses[a, 11] - poses[b, 11])
    count, radius = 0, floats[a, geo.SIZE]
    capsule = ints[a, geo.KIND] == geo.CAPSULE
    half = 0.5 * floats[a, geo.SIZE + 1] if capsule else 0.0
    ux, uy, uz = half * poses[a, 2], half * poses[a, 5], half * poses[a, 8]
    up = nx * ux + ny * uy + nz * uz
    for end in range(2 if capsule else 1):
        s = 1.0 if end == 0 else -1.0
        gap = height + s * up - radius
        if gap < margin:
            d = radius + 0.5 * gap
            count = emit(
                found, count, poses[a, 9] + s * ux - d * nx, poses[a, 10] + s * uy - d * ny,
                poses[a, 11] + s * uz - d * nz, nx, ny, nz, gap,
            )  # fmt: skip
    return count


@kernel
def _corners_on_plane(a, b, g, p, margin):
    poses, found, vertices = p.poses, p.found, g.vertices
    nx, ny, nz = poses[b, 2], poses[b, 5], poses[b, 8]
    count, first = 0, g.ints[a, geo.VERTS]
    for k in range(first, first + g.ints[a, geo.NVERTS]):
        v0, v1, v2 = vertices[k, 0], vertices[k, 1], vertices[k, 2]
        x = poses[a, 9] + poses[a, 0] * v0 + poses[a, 1] * v1 + poses[a, 2] * v2
        y = poses[a, 10] + poses[a, 3] * v0 + poses[a, 4] * v1 + poses[a, 5] * v2
        z = poses[a, 11] + poses[a, 6] * v0 + poses[a, 7] * v1 + poses[a, 8] * v2
        gap = nx * (x - poses[b, 9]) + ny * (y - poses[b, 10]) + nz * (z - poses[b, 11])
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
def round_pair(a, b, ints, floats, poses, found, margin):
    """Spheres and capsules: the closest points of two segments, or two pairs of them where these are parallel."""
    ra, rb = floats[a, geo.SIZE], floats[b, geo.SIZE]
    ha = 0.5 * floats[a, geo.SIZE + 1] if ints[a, geo.KIND] == geo.CAPSULE else 0.0
    hb = 0.5 * floats[b, geo.SIZE + 1] if ints[b, geo.KIND] == geo.CAPSULE else 0.0
    ax, ay, az = poses[a, 9], poses[a, 10], poses[a, 11]
    bx, by, bz = poses[b, 9], poses[b, 10], poses[b, 11]
    ux, uy, uz = ha * poses[a, 2], ha * poses[a, 5], ha * poses[a, 8]
    wx, wy, wz = hb * poses[b, 2], hb * poses[b, 5], hb * poses[b, 8]
    uu, ww, uw = ha * ha, hb * hb, ux * wx + uy * wy + uz * wz
    if ha > 0.0 and hb > 0.0 and uu * ww - uw * uw < PARALLEL * PARALLEL * uu * ww:
        # the stretch of a that lies beside b, in units of u
        along = (ux * (bx - ax) + uy * (by - ay) + uz * (bz - az)) / uu
        size = abs(uw) / uu
        low, high = max(-1.0, along - size), min(1.0, along + size)
        if high - low > 0.1:
            count = 0
            for end in range(2):
                s = low if end == 0 else high
                x, y, z = ax + s * ux, ay + s * uy, az + s * uz
                r = min(1.0, max(-1.0, (wx * (x - bx) + wy * (y - by) + wz * (z - bz)) / ww))
                count = _two_balls(found, count, x, y, z, ra, bx + r * wx, by + r * wy, bz + r * wz, rb, margin)
            return count
    d0, d1, d2 = ax - bx, ay - by, az - bz
    ud, wd = ux * d0 + uy * d1 + uz * d2, wx * d0 + wy * d1 + wz * d2
    det = uu * ww - uw * uw
    s = min(1.0, max(-1.0, (uw * wd - ww * ud) / det)) if det > 1e-12 * uu * ww else 0.0
    if hb == 0.0 and ha > 0.0:
        s = min(1.0, max(-1.0, -ud / uu))
    t = (uw * s + wd) / ww if ww > 0.0 else 0.0
    if t < -1.0 or t > 1.0:
        t = min(1.0, max(-1.0, t))
        s = min(1.0, max(-1.0, (uw * t - ud) / uu)) if uu > 0.0 else 0.0
    return _two_balls(
        found, 0, ax + s * ux, ay + s * uy, az + s * uz, ra, bx + t * wx, by + t * wy, bz + t * wz, rb, margin
    )


@leaf
def _two_balls(found, count, x, y, z, ra, bx, by, bz, rb, margin):
    nx, ny, nz = x - bx, y - by, z - bz
    square = nx * nx + ny * ny + nz * nz
    reach = ra + rb + margin
    if square >= reach * reach:
        return count
    size = math.sqrt(square)
    if size > 1e-12:
        nx, ny, nz = nx / size, ny / size, nz / size
    else:  # one inside the other's middle: any direction leads out
        nx, ny, nz = 0.0, 0.0, 1.0
    gap = size - ra - rb
    d = ra + 0.5 * gap
    return emit(found, count, x - d * nx, y - d * ny, z - d * nz, nx, ny, nz, gap)


@leaf
def first_tangent(contacts, n):
    """Write two tangents of contact n from scratch."""
    tx, ty, tz = any_tangent(contacts[n, geo.NORMAL], contacts[n, geo.NORMAL + 1], contacts[n, geo.NORMAL + 2])
    contacts[n, geo.T1], contacts[n, geo.T1 + 1], contacts[n, geo.T1 + 2] = tx, ty, tz
    second_tangent(contacts, n)


@leaf
def second_tangent(contacts, n):
    """Write the second tangent, normal x first."""
    nx, ny, nz = contacts[n, geo.NORMAL], contacts[n, geo.NORMAL + 1], contacts[n, geo.NORMAL + 2]
    tx, ty, tz = contacts[n, geo.T1], contacts[n, geo.T1 + 1], contacts[n, geo.T1 + 2]
    contacts[n, geo.T2] = ny * tz - nz * ty
    contacts[n, geo.T2 + 1] = nz * tx - nx * tz
    contacts[n, geo.T2 + 2] = nx * ty - ny * tx
