"""The distance of two convex cores (points, segments, polytopes) after Gilbert, Johnson and Keerthi (1988)."""

from __future__ import annotations

import math

from .._jit import kernel
from . import geometry as geo

TURNS = 32
CLOSE = 1e-9  # of the squared distance: improvements below this end the search


@kernel
def support(s, x, y, z, g, p, out, at):
    """Write the vertex of the core of shape s that is farthest along (x, y, z) to `out[at:at + 3]`."""
    pose = p.poses[s]
    kind = g.ints[s, geo.KIND]
    if kind == geo.SPHERE:
        for c in range(3):
            out[at + c] = pose[9 + c]
        return
    if kind == geo.CAPSULE:
        half = 0.5 * g.floats[s, geo.SIZE + 1]
        if pose[2] * x + pose[5] * y + pose[8] * z < 0.0:
            half = -half
        for c in range(3):
            out[at + c] = pose[9 + c] + half * pose[3 * c + 2]
        return
    lx = pose[0] * x + pose[3] * y + pose[6] * z
    ly = pose[1] * x + pose[4] * y + pose[7] * z
    lz = pose[2] * x + pose[5] * y + pose[8] * z
    first = g.ints[s, geo.VERTS]
    best, most = first, -math.inf
    for k in range(first, first + g.ints[s, geo.NVERTS]):
        d = g.vertices[k, 0] * lx + g.vertices[k, 1] * ly + g.vertices[k, 2] * lz
        if d > most:
            best, most = k, d
    for c in range(3):
        out[at + c] = (
            pose[9 + c] + pose[3 * c] * g.vertices[best, 0] + pose[3 * c + 1] * g.vertices[best, 1]
            + pose[3 * c + 2] * g.vertices[best, 2]
        )  # fmt: skip


@kernel
def distance(a, b, g, p, near):
    """Return the distance of two cores, 0 where they overlap; `near` (2, 3) takes the closest points of A and of B."""
    simplex = p.simplex
    x, y, z = p.poses[a, 9] - p.poses[b, 9], p.poses[a, 10] - p.poses[b, 10], p.poses[a, 11] - p.poses[b, 11]
    if x * x + y * y + z * z < 1e-20:
        x = 1.0
    n = 0
    for turn in range(TURNS):
        row = simplex[n]
        support(a, -x, -y, -z, g, p, row, 3)
        support(b, x, y, z, g, p, row, 6)
        for c in range(3):
            row[c] = row[3 + c] - row[6 + c]
        square = x * x + y * y + z * z
        if n > 0 and square - (x * row[0] + y * row[1] + z * row[2]) <= CLOSE * square:
            break
        twice = False
        for k in range(n):
            if row[0] == simplex[k, 0] and row[1] == simplex[k, 1] and row[2] == simplex[k, 2]:
                twice = True
        if twice:
            break
        n = _nearest(simplex, n + 1, near[0])
        if n == 4:
            return 0.0
        x, y, z = 0.0, 0.0, 0.0
        for k in range(n):
            x += simplex[k, 9] * simplex[k, 0]
            y += simplex[k, 9] * simplex[k, 1]
            z += simplex[k, 9] * simplex[k, 2]
        if x * x + y * y + z * z < 1e-18:
            return 0.0
        if turn > 0 and x * x + y * y + z * z >= square:
            break
    for c in range(3):
        near[0, c] = near[1, c] = 0.0
        for k in range(n):
            near[0, c] += simplex[k, 9] * simplex[k, 3 + c]
            near[1, c] += simplex[k, 9] * simplex[k, 6 + c]
    return math.sqrt(x * x + y * y + z * z)


@kernel
def _nearest(s, n, scratch):
    """Reduce the simplex to the part that is nearest to the origin, with weights in column 9; 4 means inside."""
    if n == 1:
        s[0, 9] = 1.0
        return 1
    if n == 2:
        return _segment(s)
    if n == 3:
        return _triangle(s, 0, 1, 2, scratch, True)
    best, a, b, c, outside = math.inf, 0, 1, 2, False
    for face in range(4):
        i, j, k, m = 0, 1, 2, 3
        if face == 1:
            i, j, k, m = 0, 1, 3, 2
        elif face == 2:
            i, j, k, m = 0, 2, 3, 1
        elif face == 3:
            i, j, k, m = 1, 2, 3, 0
        ux, uy, uz = s[j, 0] - s[i, 0], s[j, 1] - s[i, 1], s[j, 2] - s[i, 2]
        vx, vy, vz = s[k, 0] - s[i, 0], s[k, 1] - s[i, 1], s[k, 2] - s[i, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        other = nx * (s[m, 0] - s[i, 0]) + ny * (s[m, 1] - s[i, 1]) + nz * (s[m, 2] - s[i, 2])
        own = -(nx * s[i, 0] + ny * s[i, 1] + nz * s[i, 2])
        if own * other <= 0.0:
            outside = True
            _triangle(s, i, j, k, scratch, False)
            square = scratch[0]
            if square < best:
                best, a, b, c = square, i, j, k
    if not outside:
        return 4
    return _triangle(s, a, b, c, scratch, True)


@kernel
def _segment(s):
    ux, uy, uz = s[1, 0] - s[0, 0], s[1, 1] - s[0, 1], s[1, 2] - s[0, 2]
    uu = ux * ux + uy * uy + uz * uz
    t = -(ux * s[0, 0] + uy * s[0, 1] + uz * s[0, 2])
    if uu <= 0.0 or t <= 0.0:
        s[0, 9] = 1.0
        return 1
    if t >= uu:
        _keep(s, 0, 1)
        s[0, 9] = 1.0
        return 1
    s[1, 9] = t / uu
    s[0, 9] = 1.0 - t / uu
    return 2


@kernel
def _keep(s, to, source):
    if to != source:
        for c in range(9):
            s[to, c] = s[source, c]


@kernel
def _triangle(s, i, j, k, scratch, reduce):
    """Find the point of a triangle nearest to the origin (Ericson 2005); its squared distance goes to `scratch[0]`."""
    ax, ay, az = s[i, 0], s[i, 1], s[i, 2]
    bx, by, bz = s[j, 0], s[j, 1], s[j, 2]
    cx, cy, cz = s[k, 0], s[k, 1], s[k, 2]
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    d1, d2 = -(ux * ax + uy * ay + uz * az), -(vx * ax + vy * ay + vz * az)
    d3, d4 = -(ux * bx + uy * by + uz * bz), -(vx * bx + vy * by + vz * bz)
    d5, d6 = -(ux * cx + uy * cy + uz * cz), -(vx * cx + vy * cy + vz * cz)
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    wa, wb, wc = 1.0, 0.0, 0.0
    if d1 <= 0.0 and d2 <= 0.0:
        pass
    elif d3 >= 0.0 and d4 <= d3:
        wa, wb = 0.0, 1.0
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        wb = d1 / (d1 - d3) if d1 != d3 else 0.0
        wa = 1.0 - wb
    elif d6 >= 0.0 and d5 <= d6:
        wa, wc = 0.0, 1.0
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        wc = d2 / (d2 - d6) if d2 != d6 else 0.0
        wa = 1.0 - wc
    elif va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        total = (d4 - d3) + (d5 - d6)
        wc = (d4 - d3) / total if total > 0.0 else 0.0
        wa, wb = 0.0, 1.0 - wc
    else:
        total = va + vb + vc
        if total > 0.0:
            wb, wc = vb / total, vc / total
            wa = 1.0 - wb - wc
    x, y, z = wa * ax + wb * bx + wc * cx, wa * ay + wb * by + wc * cy, wa * az + wb * bz + wc * cz
    scratch[0] = x * x + y * y + z * z
    if not reduce:
        return 3
    n = 0
    for turn in range(3):  # i < j < k, so that nothing is overwritten before it is read
        weight, source = wa, i
        if turn == 1:
            weight, source = wb, j
        elif turn == 2:
            weight, source = wc, k
        if weight > 0.0:
            _keep(s, n, source)
            s[n, 9] = weight
            n += 1
    return n
