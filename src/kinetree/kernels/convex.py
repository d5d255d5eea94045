"""Contacts of convex shapes: separating axes and clipping for polytopes, GJK where one of the two is round."""

from __future__ import annotations

import math

from .._jit import kernel
from . import geometry as geo
from .geometry import closest_on_segments, emit
from .gjk import distance

FLAT = 0.98  # cosine of the angle up to which a capsule lies on a face
EDGE_BIAS = 1e-4  # m by which edges must separate better than faces to be preferred


@kernel
def convex_pair(a, b, g, p, margin):
    """Write the contacts of two convex shapes, at least one of which is a box or a hull."""
    if g.ints[a, geo.NFACES] > 0 and g.ints[b, geo.NFACES] > 0:
        return _polytopes(a, b, g, p, margin)
    near = p.points[0]
    length = distance(a, b, g, p, near)
    radius = _radius(a, g) + _radius(b, g)
    if length - radius >= margin:
        return 0
    if length <= 1e-9:
        return _deep(a, b, g, p, margin)
    x, y, z = near[0, 0], near[0, 1], near[0, 2]
    nx, ny, nz = (x - near[1, 0]) / length, (y - near[1, 1]) / length, (z - near[1, 2]) / length
    count = _lying(a, b, nx, ny, nz, g, p, margin)
    if count > 0:
        return count
    gap = length - radius
    d = _radius(a, g) + 0.5 * gap
    return emit(p.found, 0, x - d * nx, y - d * ny, z - d * nz, nx, ny, nz, gap)


@kernel
def _radius(s, g):
    return 0.0 if g.ints[s, geo.NFACES] > 0 else g.floats[s, geo.SIZE]


@kernel
def _face(s, f, g, p, out):
    """Write the outward normal of a face and a point of it, in the world, to `out` (6)."""
    pose, face = p.poses[s], g.faces[g.ints[s, geo.FACES] + f]
    for c in range(3):
        out[c] = pose[3 * c] * face[0] + pose[3 * c + 1] * face[1] + pose[3 * c + 2] * face[2]
        out[3 + c] = pose[9 + c] + face[3] * out[c]


@kernel
def _vertex(s, k, g, p, out):
    """Write vertex k of a polytope, in the world, to `out` (3)."""
    pose, v = p.poses[s], g.vertices[g.ints[s, geo.VERTS] + k]
    for c in range(3):
        out[c] = pose[9 + c] + pose[3 * c] * v[0] + pose[3 * c + 1] * v[1] + pose[3 * c + 2] * v[2]


@kernel
def lowest(s, x, y, z, g, p):
    """Return the least coordinate of a shape's core along a direction."""
    pose = p.poses[s]
    lx = pose[0] * x + pose[3] * y + pose[6] * z
    ly = pose[1] * x + pose[4] * y + pose[7] * z
    lz = pose[2] * x + pose[5] * y + pose[8] * z
    base = pose[9] * x + pose[10] * y + pose[11] * z
    if g.ints[s, geo.KIND] == geo.SPHERE:
        return base
    if g.ints[s, geo.KIND] == geo.CAPSULE:
        return base - 0.5 * g.floats[s, geo.SIZE + 1] * abs(lz)
    least = math.inf
    first = g.ints[s, geo.VERTS]
    for k in range(first, first + g.ints[s, geo.NVERTS]):
        least = min(least, g.vertices[k, 0] * lx + g.vertices[k, 1] * ly + g.vertices[k, 2] * lz)
    return base + least


@kernel
def _best_face(s, other, g, p, row):
    """Return the face of s whose plane leaves the other core farthest outside, and how far."""
    best, most = 0, -math.inf
    for f in range(g.ints[s, geo.NFACES]):
        _face(s, f, g, p, row)
        out = lowest(other, row[0], row[1], row[2], g, p) - (row[0] * row[3] + row[1] * row[4] + row[2] * row[5])
        if out > most:
            best, most = f, out
    return best, most


@kernel
def _polytopes(a, b, g, p, margin):
    """Separating axes of two polytopes, and the part of one face that lies above the other."""
    row = p.simplex[4]
    face_b, out_b = _best_face(b, a, g, p, row)
    if out_b >= margin:
        return 0
    face_a, out_a = _best_face(a, b, g, p, row)
    if out_a >= margin:
        return 0
    best = max(out_a, out_b)
    edge, sx, sy, sz = -math.inf, 0.0, 0.0, 0.0
    pa, pb = p.poses[a], p.poses[b]
    for i in range(g.ints[a, geo.EDGES], g.ints[a, geo.EDGES] + g.ints[a, geo.NEDGES]):
        if g.edges[i, 2] == 0:
            continue
        _direction(a, i, g, p, p.points[0, 0])
        u = p.points[0, 0]
        for k in range(g.ints[b, geo.EDGES], g.ints[b, geo.EDGES] + g.ints[b, geo.NEDGES]):
            if g.edges[k, 2] == 0:
                continue
            w = p.points[0, 1]
            _direction(b, k, g, p, w)
            x, y, z = u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]
            size = math.sqrt(x * x + y * y + z * z)
            if size < 1e-3:
                continue
            if x * (pa[9] - pb[9]) + y * (pa[10] - pb[10]) + z * (pa[11] - pb[11]) < 0.0:
                size = -size
            x, y, z = x / size, y / size, z / size
            out = lowest(a, x, y, z, g, p) + lowest(b, -x, -y, -z, g, p)
            if out >= margin:
                return 0
            if out > edge:
                edge, sx, sy, sz = out, x, y, z
    if edge > best + EDGE_BIAS + 0.05 * abs(best):
        return _edges(a, b, sx, sy, sz, g, p, edge)
    if out_b >= out_a - EDGE_BIAS:
        return _clip(b, face_b, a, 1.0, g, p, margin)
    return _clip(a, face_a, b, -1.0, g, p, margin)


@kernel
def _direction(s, k, g, p, out):
    """Write the unit direction of an edge, in the world."""
    pose, first = p.poses[s], g.ints[s, geo.VERTS]
    v, w = g.vertices[first + g.edges[k, 0]], g.vertices[first + g.edges[k, 1]]
    x, y, z = w[0] - v[0], w[1] - v[1], w[2] - v[2]
    size = math.sqrt(x * x + y * y + z * z)
    for c in range(3):
        out[c] = (pose[3 * c] * x + pose[3 * c + 1] * y + pose[3 * c + 2] * z) / size


@kernel
def _edges(a, b, nx, ny, nz, g, p, gap):
    """Write the contact of the two edges that face each other along the normal."""
    best_a = best_b = math.inf
    mid, half = p.points[0], p.points[1]
    v, w = p.points[2, 0], p.points[2, 1]
    for side in range(2):
        s = a if side == 0 else b
        sign = 1.0 if side == 0 else -1.0
        best = math.inf
        for k in range(g.ints[s, geo.EDGES], g.ints[s, geo.EDGES] + g.ints[s, geo.NEDGES]):
            _vertex(s, g.edges[k, 0], g, p, v)
            _vertex(s, g.edges[k, 1], g, p, w)
            x, y, z = 0.5 * (w[0] - v[0]), 0.5 * (w[1] - v[1]), 0.5 * (w[2] - v[2])
            # the lowest edge along the normal; one that is perpendicular to it wins over one that only ends there
            low = sign * (nx * (v[0] + x) + ny * (v[1] + y) + nz * (v[2] + z))
            if low < best:
                best = low
                mid[side, 0], mid[side, 1], mid[side, 2] = v[0] + x, v[1] + y, v[2] + z
                half[side, 0], half[side, 1], half[side, 2] = x, y, z
        if side == 0:
            best_a = best
        else:
            best_b = best
    if best_a + best_b == math.inf:
        return 0
    t = p.points[2, 0]
    closest_on_segments(mid[0], half[0], mid[1], half[1], t)
    s, r = t[0], t[1]
    x = 0.5 * (mid[0, 0] + s * half[0, 0] + mid[1, 0] + r * half[1, 0])
    y = 0.5 * (mid[0, 1] + s * half[0, 1] + mid[1, 1] + r * half[1, 1])
    z = 0.5 * (mid[0, 2] + s * half[0, 2] + mid[1, 2] + r * half[1, 2])
    return emit(p.found, 0, x, y, z, nx, ny, nz, gap)


@kernel
def _clip(s, f, other, sign, g, p, margin):
    """Clip the face of `other` that faces face f of s, and write its corners; `sign` 1 where s is shape B."""
    row = p.simplex[4]
    _face(s, f, g, p, row)
    nx, ny, nz = row[0], row[1], row[2]
    height = nx * row[3] + ny * row[4] + nz * row[5]
    best, most = 0, math.inf
    for k in range(g.ints[other, geo.NFACES]):
        _face(other, k, g, p, row)
        along = nx * row[0] + ny * row[1] + nz * row[2]
        if along < most:
            best, most = k, along
    loop = g.loops[g.ints[other, geo.FACES] + best]
    n = loop[0]
    for k in range(n):
        _vertex(other, loop[1 + k], g, p, p.points[2, k])
    now = _clip_sides(s, f, nx, ny, nz, g, p, n)
    count = 0
    for k in range(p_count(p)):
        v = p.points[now, k]
        gap = nx * v[0] + ny * v[1] + nz * v[2] - height
        if gap < margin:
            d = 0.5 * gap
            count = emit(
                p.found, count, v[0] - d * nx, v[1] - d * ny, v[2] - d * nz, sign * nx, sign * ny, sign * nz, gap
            )
    return count


@kernel
def p_count(p):
    """Return the number of corners that `_clip_sides` left."""
    return int(p.simplex[4, 9])


@kernel
def _clip_sides(s, f, nx, ny, nz, g, p, n):
    """Cut the polygon in `points[2]` by the sides of face f; returns where it is then, its size is in `p_count`."""
    loop = g.loops[g.ints[s, geo.FACES] + f]
    corners = loop[0]
    now = 2
    v, w = p.points[1, 0], p.points[1, 1]
    for k in range(corners):
        _vertex(s, loop[1 + k], g, p, v)
        _vertex(s, loop[1 + (k + 1) % corners], g, p, w)
        ex, ey, ez = w[0] - v[0], w[1] - v[1], w[2] - v[2]
        mx, my, mz = ey * nz - ez * ny, ez * nx - ex * nz, ex * ny - ey * nx  # out of the face
        limit = mx * v[0] + my * v[1] + mz * v[2]
        later = 5 - now
        kept = 0
        for i in range(n):
            c, d = p.points[now, i], p.points[now, (i + 1) % n]
            out_c = mx * c[0] + my * c[1] + mz * c[2] - limit
            out_d = mx * d[0] + my * d[1] + mz * d[2] - limit
            if out_c <= 0.0 and kept < geo.MANY:
                for r in range(3):
                    p.points[later, kept, r] = c[r]
                kept += 1
            if out_c * out_d < 0.0 and kept < geo.MANY and not (n == 2 and i == 1):
                t = out_c / (out_c - out_d)
                for r in range(3):
                    p.points[later, kept, r] = c[r] + t * (d[r] - c[r])
                kept += 1
        n = kept
        now = later
        if n == 0:
            break
    p.simplex[4, 9] = n
    return now


@kernel
def _lying(a, b, nx, ny, nz, g, p, margin):
    """Write two contacts where a capsule lies on a face of a polytope along the normal; 0 where it does not."""
    round_, solid, sign = (a, b, 1.0) if g.ints[b, geo.NFACES] > 0 else (b, a, -1.0)
    if g.ints[round_, geo.KIND] != geo.CAPSULE:
        return 0
    row = p.simplex[4]
    best, most = -1, FLAT
    for f in range(g.ints[solid, geo.NFACES]):
        _face(solid, f, g, p, row)
        along = sign * (nx * row[0] + ny * row[1] + nz * row[2])
        if along > most:
            best, most = f, along
    if best < 0:
        return 0
    _face(solid, best, g, p, row)
    mx, my, mz = row[0], row[1], row[2]
    height = mx * row[3] + my * row[4] + mz * row[5]
    pose = p.poses[round_]
    if abs(pose[2] * mx + pose[5] * my + pose[8] * mz) > 0.2:
        return 0
    half, radius = 0.5 * g.floats[round_, geo.SIZE + 1], g.floats[round_, geo.SIZE]
    for c in range(3):
        p.points[2, 0, c] = pose[9 + c] - half * pose[3 * c + 2]
        p.points[2, 1, c] = pose[9 + c] + half * pose[3 * c + 2]
    now = _clip_sides(solid, best, mx, my, mz, g, p, 2)
    n = p_count(p)
    if n < 2:
        return 0
    count = 0
    for k in range(2):
        v = p.points[now, k]
        gap = mx * v[0] + my * v[1] + mz * v[2] - height - radius
        if gap < margin:
            d = radius + 0.5 * gap
            count = emit(
                p.found, count, v[0] - d * mx, v[1] - d * my, v[2] - d * mz, sign * mx, sign * my, sign * mz, gap
            )
    return count


@kernel
def _deep(a, b, g, p, margin):
    """Write the contact of a round shape whose core is inside a polytope: out through the nearest face."""
    round_, solid, sign = (a, b, 1.0) if g.ints[b, geo.NFACES] > 0 else (b, a, -1.0)
    row = p.simplex[4]
    best, most = _best_face(solid, round_, g, p, row)
    _face(solid, best, g, p, row)
    radius = _radius(round_, g)
    gap = most - radius
    pose = p.poses[round_]
    half = 0.5 * g.floats[round_, geo.SIZE + 1] if g.ints[round_, geo.KIND] == geo.CAPSULE else 0.0
    if pose[2] * row[0] + pose[5] * row[1] + pose[8] * row[2] > 0.0:
        half = -half
    d = radius + 0.5 * gap
    return emit(
        p.found, 0, pose[9] + half * pose[2] - d * row[0], pose[10] + half * pose[5] - d * row[1],
        pose[11] + half * pose[8] - d * row[2], sign * row[0], sign * row[1], sign * row[2], gap,
    )  # fmt: skip
