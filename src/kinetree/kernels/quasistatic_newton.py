"""Newton's step to a static equilibrium in time linear in the joints: (M / h^2 + H) dx = F, eliminated along the tree.

A small displacement of link i is x_i = (theta, p): its rotation exp(theta) and the way of its origin, world axes. Let
f = (m, F) be the wrench that the joint hands on to the link at rest, which is the gradient of the potential energy of
all that hangs on it, A (6 x 6, symmetric) the second derivatives of that energy, r the way from the parent's origin to
the own one, and s, u the angular and linear part of S dq. To second order, on a parent displaced by (theta, p),

    theta_i = theta + s + theta x s / 2 (+ s1 x s2 / 2 for a universal joint)
    p_i     = p + theta x r + u + theta x (theta x r) / 2 + theta x u

so that the energy is that of X x + S dq under A, and of the wrench on what is of second order:

    D = S' A S + k        C = S' A X + [(s x m) / 2 + u x F; 0]'       rhs = F - S' b
    A_parent += X' A X + G(F, r) - C' D^-1 C        b_parent += X' b + C' D^-1 rhs        dq = D^-1 (rhs - C x)
    G(F, r) = (F r' + r F') / 2 - (F . r) 1         about the rotation

D is factored as L Delta L'. By the law of inertia, as many modes are unstable as Delta has negative entries.

Far from an equilibrium H may be anything. `convex` leaves out what is not positive: the part of C that comes of the
wrench, and |F| |r| (1 - n n') with n = r / |r| takes the place of G, which is the same for what hangs down.
"""

from __future__ import annotations

import math

from .._jit import kernel, leaf
from . import acts as of
from . import layout as at

# room of a link: float64 (nlinks, ROOM)
A = 0  # 36: second derivatives, row-major
B = 36  # 6: b
X = 42  # 6: displacement
ROOM = 48

# room of a degree of freedom: float64 (nv, ROWS)
C = 0  # 6
L = 6  # 6: row of L, with Delta on its diagonal
RHS = 12
FORCE_S = 13  # 6: A S
ROWS = 20

SINGULAR = 1e-15  # a pivot that is this small a part of what it is a sum of is nothing but rounding


@kernel
def factor(
    topology, acts, body_links, body_poses, armature, stretch, free, time, rate, convex, inner, links, axes, room, rows
):  # fmt: skip
    """Factor M rate + H at the configuration that `static_force` was called for; returns the number of negative pivots.

    `rate` is 1 / h^2, `free` (nv) has zeros where a limit holds a freedom. -1 is returned where a pivot is zero.
    Springs between two links are left out but for their pull, and those to the world too unless `inner`: see `ends`.
    """
    _own(topology, acts, body_links, body_poses, time, rate, convex, inner, links, room)
    negative = 0
    for i in range(topology.shape[0] - 1, -1, -1):
        pa, k, dof = topology[i, at.PARENT], topology[i, at.V], topology[i, at.DOF]
        f, x, y, z = links[i, at.FORCE : at.FORCE + 6], links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
        for n in range(k, k + dof):
            s, row = axes[n, at.S : at.S + 6], rows[n]
            for a in range(6):
                dot = 0.0
                for b in range(6):
                    dot += room[i, A + 6 * a + b] * s[b]
                row[FORCE_S + a] = dot
            w0, w1, w2 = row[FORCE_S + 3], row[FORCE_S + 4], row[FORCE_S + 5]
            row[C] = row[FORCE_S] + y * w2 - z * w1
            row[C + 1] = row[FORCE_S + 1] + z * w0 - x * w2
            row[C + 2] = row[FORCE_S + 2] + x * w1 - y * w0
            row[C + 3], row[C + 4], row[C + 5] = w0, w1, w2
            if not convex:
                row[C] += 0.5 * (s[1] * f[2] - s[2] * f[1]) + s[4] * f[5] - s[5] * f[4]
                row[C + 1] += 0.5 * (s[2] * f[0] - s[0] * f[2]) + s[5] * f[3] - s[3] * f[5]
                row[C + 2] += 0.5 * (s[0] * f[1] - s[1] * f[0]) + s[3] * f[4] - s[4] * f[3]
            for m in range(k, n + 1):
                dot = 0.0
                for a in range(6):
                    dot += axes[m, at.S + a] * row[FORCE_S + a]
                row[L + m - k] = dot
        _joint(topology[i, at.KIND], acts, armature, stretch, rate, convex, k, dof, f, axes, rows)
        for n in range(k, k + dof):
            if free[n] == 0:
                for a in range(6):
                    rows[n, C + a] = 0.0
                for m in range(k, n):
                    rows[n, L + m - k] = 0.0
                for m in range(n, k + dof):
                    rows[m, L + n - k] = 0.0
                rows[n, L + n - k] = 1.0
        for n in range(k, k + dof):  # D = L Delta L'
            size = abs(rows[n, L + n - k])
            for m in range(k, n + 1):
                dot = rows[n, L + m - k]
                for o in range(k, m):
                    dot -= rows[n, L + o - k] * rows[m, L + o - k] * rows[o, L + o - k]
                rows[n, L + m - k] = dot / rows[m, L + m - k] if m < n else dot
            pivot = rows[n, L + n - k]
            if not abs(pivot) > SINGULAR * size:
                return -1
            if pivot < 0.0:
                negative += 1
        if pa >= 0:
            _hand_on(i, pa, k, dof, convex, links, room, rows)
    return negative


@kernel
def solve(topology, free, links, axes, room, rows, right, out):
    """Write the solution for the right-hand side `right` (nv) into `out`, after `factor`; zero for what is held."""
    for i in range(topology.shape[0]):
        for a in range(6):
            room[i, B + a] = 0.0
    for i in range(topology.shape[0] - 1, -1, -1):
        pa, k, dof = topology[i, at.PARENT], topology[i, at.V], topology[i, at.DOF]
        b = room[i, B : B + 6]
        for n in range(k, k + dof):
            s = axes[n, at.S : at.S + 6]
            dot = right[n] - s[0] * b[0] - s[1] * b[1] - s[2] * b[2] - s[3] * b[3] - s[4] * b[4] - s[5] * b[5]
            rows[n, RHS] = dot if free[n] != 0 else 0.0
        if pa >= 0:
            _back(k, dof, rows, rows[:, RHS], out)
            up = room[pa, B : B + 6]
            _carry(links[i], b, up)
            for n in range(k, k + dof):
                for a in range(6):
                    up[a] += rows[n, C + a] * out[n]
    for i in range(topology.shape[0]):
        pa, k, dof = topology[i, at.PARENT], topology[i, at.V], topology[i, at.DOF]
        x = room[i, X : X + 6]
        for a in range(6):
            x[a] = room[pa, X + a] if pa >= 0 else 0.0
        for n in range(k, k + dof):
            for a in range(6):
                rows[n, RHS] -= rows[n, C + a] * x[a]
        _back(k, dof, rows, rows[:, RHS], out)
        rx, ry, rz = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
        x[3] += x[1] * rz - x[2] * ry
        x[4] += x[2] * rx - x[0] * rz
        x[5] += x[0] * ry - x[1] * rx
        for n in range(k, k + dof):
            for a in range(6):
                x[a] += axes[n, at.S + a] * out[n]


@kernel
def ends(topology, springs, spring_links, k, direction, free, links, axes, room, out):
    """Write into `out` (nv) how the ends of spring k part along `direction` (x, y, z) for each freedom."""
    for i in range(topology.shape[0]):
        for a in range(6):
            room[i, B + a] = 0.0
    for end in range(2 if spring_links[k, 1] >= 0 else 1):
        i, sign = spring_links[k, end], 1.0 - 2.0 * end
        x, y, z = _arm(springs[k, 3 * end : 3 * end + 3], links[i])
        b, u, v, w = room[i, B : B + 6], sign * direction[0], sign * direction[1], sign * direction[2]
        b[0], b[1], b[2] = b[0] + y * w - z * v, b[1] + z * u - x * w, b[2] + x * v - y * u
        b[3], b[4], b[5] = b[3] + u, b[4] + v, b[5] + w
    for i in range(topology.shape[0] - 1, -1, -1):
        pa, b = topology[i, at.PARENT], room[i, B : B + 6]
        for n in range(topology[i, at.V], topology[i, at.V] + topology[i, at.DOF]):
            s = axes[n, at.S : at.S + 6]
            dot = s[0] * b[0] + s[1] * b[1] + s[2] * b[2] + s[3] * b[3] + s[4] * b[4] + s[5] * b[5]
            out[n] = dot if free[n] != 0 else 0.0
        if pa >= 0:
            _carry(links[i], b, room[pa, B : B + 6])


@kernel
def spring_pull(springs, spring_links, k, links, out):
    """Write into `out` (11) how spring k pulls its first end to its second.

    0 to 2: the direction; 3: stiffness across it, k (1 - rest / length) [N/m]; 4: along it; 5 to 7: the force [N];
    8 to 10: the way [m].
    """
    place = springs[k]
    i, j = spring_links[k, 0], spring_links[k, 1]
    x, y, z = _arm(place[of.POINT_A : of.POINT_A + 3], links[i])
    ux, uy, uz = place[of.POINT_B], place[of.POINT_B + 1], place[of.POINT_B + 2]
    if j >= 0:
        ux, uy, uz = _arm(place[of.POINT_B : of.POINT_B + 3], links[j])
        ux, uy, uz = ux + links[j, at.POSITION], uy + links[j, at.POSITION + 1], uz + links[j, at.POSITION + 2]
    ux, uy, uz = ux - x - links[i, at.POSITION], uy - y - links[i, at.POSITION + 1], uz - z - links[i, at.POSITION + 2]
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    stiff, rest = place[of.SPRING_K], place[of.SPRING_LENGTH]
    across = stiff * (1.0 - rest / length) if rest > 0.0 and length > 0.0 else stiff
    scale = 1.0 / length if length > 0.0 else 0.0
    out[0], out[1], out[2], out[3], out[4] = ux * scale, uy * scale, uz * scale, across, stiff
    out[5], out[6], out[7] = across * ux, across * uy, across * uz
    out[8], out[9], out[10] = ux, uy, uz


@leaf
def _arm(point, row):
    """Return a point of a link relative to its origin, world axes."""
    x, y, z = point[0], point[1], point[2]
    return (
        row[0] * x + row[1] * y + row[2] * z,
        row[3] * x + row[4] * y + row[5] * z,
        row[6] * x + row[7] * y + row[8] * z,
    )


@leaf
def _carry(row, b, up):
    """Add a wrench at the origin of a link to that at its parent's."""
    x, y, z = row[at.ARM], row[at.ARM + 1], row[at.ARM + 2]
    up[0] += b[0] + y * b[5] - z * b[4]
    up[1] += b[1] + z * b[3] - x * b[5]
    up[2] += b[2] + x * b[4] - y * b[3]
    up[3] += b[3]
    up[4] += b[4]
    up[5] += b[5]


@leaf
def _back(k, dof, rows, right, out):
    """Solve L Delta L' y = right for the freedoms k to k + dof of a joint; y is written to `out`."""
    for n in range(k, k + dof):
        dot = right[n]
        for m in range(k, n):
            dot -= rows[n, L + m - k] * out[m]
        out[n] = dot
    for n in range(k + dof - 1, k - 1, -1):
        out[n] /= rows[n, L + n - k]
        for m in range(n + 1, k + dof):
            out[n] -= rows[m, L + n - k] * out[m]


@kernel
def _turn(convex, fx, fy, fz, x, y, z, row):
    """Add G of the force F at the arm r to the second derivatives in the room of a link, or what stands for it."""
    dot = fx * x + fy * y + fz * z
    if convex:
        square = x * x + y * y + z * z
        if square == 0.0:
            return
        dot = -math.sqrt((fx * fx + fy * fy + fz * fz) * square)
        scale = dot / square
        fx, fy, fz = scale * x, scale * y, scale * z
    row[A] += fx * x - dot
    row[A + 7] += fy * y - dot
    row[A + 14] += fz * z - dot
    xy, xz, yz = 0.5 * (fx * y + fy * x), 0.5 * (fx * z + fz * x), 0.5 * (fy * z + fz * y)
    row[A + 1], row[A + 2], row[A + 8] = row[A + 1] + xy, row[A + 2] + xz, row[A + 8] + yz
    row[A + 6], row[A + 12], row[A + 13] = row[A + 6] + xy, row[A + 12] + xz, row[A + 13] + yz


@kernel
def _own(topology, acts, body_links, body_poses, time, rate, convex, inner, links, room):
    """Write A of each link by itself: inertia times `rate`, weight, wrenches, springs to the world."""
    for i in range(topology.shape[0]):
        row, link = room[i], links[i]
        p = 0
        for a in range(3):
            for b in range(3):
                row[A + 6 * a + 3 + b] = row[A + 6 * (3 + b) + a] = rate * link[at.INERTIA_B + 3 * a + b]
            for b in range(a, 3):
                row[A + 6 * a + b] = row[A + 6 * b + a] = rate * link[at.INERTIA_A + p]
                row[A + 21 + 6 * a + b] = row[A + 21 + 6 * b + a] = rate * link[at.INERTIA_M + p]
                p += 1
        # its weight m g at the centre: ACCELERATION is -g, and m times the arm stands in the inertia
        gx, gy, gz = link[at.ACCELERATION + 3], link[at.ACCELERATION + 4], link[at.ACCELERATION + 5]
        _turn(convex, gx, gy, gz, link[at.INERTIA_B + 7], link[at.INERTIA_B + 2], link[at.INERTIA_B + 3], row)
    for body in range(acts.external.shape[0]):
        i, e = body_links[body], acts.external[body]
        if i >= 0:
            x, y, z = _arm(body_poses[body, 9:12], links[i])
            _turn(convex, -e[3], -e[4], -e[5], x, y, z, room[i])
    for k in range(acts.wrenches.shape[0]):
        i, e = acts.wrench_links[k, 0], acts.wrenches[k]
        if i >= 0 and time < e[of.UNTIL] and acts.wrench_links[k, 1] == 0:
            x, y, z = _arm(e[of.POINT : of.POINT + 3], links[i])
            _turn(convex, -e[of.PUSH], -e[of.PUSH + 1], -e[of.PUSH + 2], x, y, z, room[i])
    for k in range(acts.springs.shape[0]):
        pull, e = room[0, B : B + 11], acts.springs[k]  # free here
        spring_pull(acts.springs, acts.spring_links, k, links, pull)
        fx, fy, fz = pull[5], pull[6], pull[7]
        i, j = acts.spring_links[k, 0], acts.spring_links[k, 1]
        x, y, z = _arm(e[of.POINT_A : of.POINT_A + 3], links[i])
        _turn(convex, -fx, -fy, -fz, x, y, z, room[i])
        if j >= 0:
            ux, uy, uz = _arm(e[of.POINT_B : of.POINT_B + 3], links[j])
            _turn(convex, fx, fy, fz, ux, uy, uz, room[j])
        if j >= 0 or not inner:
            continue
        across, along = pull[3], pull[4]
        if convex:
            across = max(across, 0.0)
        for a in range(3):  # J' K J with J = (-[r] 1), a column and a row at a time
            ka0, ka1, ka2 = (along - across) * pull[a] * pull[0], (along - across) * pull[a] * pull[1], 0.0
            ka2 = (along - across) * pull[a] * pull[2]
            if a == 0:
                ka0 += across
            elif a == 1:
                ka1 += across
            else:
                ka2 += across
            j0, j1, j2 = y * ka2 - z * ka1, z * ka0 - x * ka2, x * ka1 - y * ka0  # [r] K, column a
            row = room[i]
            row[A + 3 + a], row[A + 9 + a], row[A + 15 + a] = (
                row[A + 3 + a] + j0, row[A + 9 + a] + j1, row[A + 15 + a] + j2,
            )  # fmt: skip
            row[A + 18 + 6 * a] += j0
            row[A + 19 + 6 * a] += j1
            row[A + 20 + 6 * a] += j2
            row[A + 21 + 6 * a] += ka0
            row[A + 22 + 6 * a] += ka1
            row[A + 23 + 6 * a] += ka2
            t0 = t1 = t2 = 0.0  # row a of [r]': [r] K [r]' is the sum of j t'
            if a == 0:
                t1, t2 = z, -y
            elif a == 1:
                t0, t2 = -z, x
            else:
                t0, t1 = y, -x
            row[A] += j0 * t0
            row[A + 1] += j0 * t1
            row[A + 2] += j0 * t2
            row[A + 6] += j1 * t0
            row[A + 7] += j1 * t1
            row[A + 8] += j1 * t2
            row[A + 12] += j2 * t0
            row[A + 13] += j2 * t1
            row[A + 14] += j2 * t2


@kernel
def _joint(kind, acts, armature, stretch, rate, convex, k, dof, f, axes, rows):
    """Add to D what a joint does by itself: rotor, spring, stop, and that the axes of a universal joint turn."""
    springs = acts.stiffness.shape[0] > 0
    for n in range(k, k + dof):
        rows[n, L + n - k] += rate * armature[n]
        if springs:
            rows[n, L + n - k] += acts.stiffness[n]
        if acts.stops.shape[0] > 0 and (stretch[n] > acts.stops[n, of.HIGH] or stretch[n] < acts.stops[n, of.LOW]):
            rows[n, L + n - k] += acts.stops[n, of.STOP_K]
    if convex:
        return
    if kind == at.UNIVERSAL:
        s, t = axes[k, at.S : at.S + 3], axes[k + 1, at.S : at.S + 3]
        dot = f[0] * (s[1] * t[2] - s[2] * t[1]) + f[1] * (s[2] * t[0] - s[0] * t[2])
        rows[k + 1, L] += 0.5 * (dot + f[2] * (s[0] * t[1] - s[1] * t[0]))
    elif springs and (kind == at.SPHERICAL or kind == at.FREE):
        # the derivative of the rotation vector y, 1 + [y] / 2 + c [y]^2, symmetric with its stiffness before it
        square = stretch[k] * stretch[k] + stretch[k + 1] * stretch[k + 1] + stretch[k + 2] * stretch[k + 2]
        half = 0.5 * math.sqrt(square)
        c = 1.0 / 12.0 + square / 720.0
        if half > 0.05:
            c = (1.0 - half * math.cos(half) / math.sin(half)) / square
        for n in range(3):
            rows[k + n, L + n] += c * acts.stiffness[k + n] * (stretch[k + n] * stretch[k + n] - square)
            for m in range(n):
                mean = 0.5 * c * stretch[k + n] * stretch[k + m]
                rows[k + n, L + m] += mean * (acts.stiffness[k + n] + acts.stiffness[k + m])
                skew = stretch[k + 3 - n - m] if n - m == 1 else -stretch[k + 1]
                rows[k + n, L + m] += 0.25 * skew * (acts.stiffness[k + n] - acts.stiffness[k + m])


@kernel
def _hand_on(i, pa, k, dof, convex, links, room, rows):
    """Add X' A X + G - C' D^-1 C of link i to its parent; A of the link is moved to the parent's origin on the way."""
    own, up = room[i], room[pa]
    x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
    f = links[i, at.FORCE : at.FORCE + 6]
    _turn(convex, f[3], f[4], f[5], x, y, z, up)
    for c in range(6):  # X' A: rows
        w0, w1, w2 = own[A + 18 + c], own[A + 24 + c], own[A + 30 + c]
        own[A + c] += y * w2 - z * w1
        own[A + 6 + c] += z * w0 - x * w2
        own[A + 12 + c] += x * w1 - y * w0
    for c in range(6):  # (X' A) X: columns
        r = A + 6 * c
        w0, w1, w2 = own[r + 3], own[r + 4], own[r + 5]
        own[r] += y * w2 - z * w1
        own[r + 1] += z * w0 - x * w2
        own[r + 2] += x * w1 - y * w0
    for n in range(k, k + dof):  # C <- L^-1 C, and back afterwards
        for m in range(k, n):
            for a in range(6):
                rows[n, C + a] -= rows[n, L + m - k] * rows[m, C + a]
        inverse = 1.0 / rows[n, L + n - k]
        for a in range(6):
            for b in range(6):
                own[A + 6 * a + b] -= rows[n, C + a] * inverse * rows[n, C + b]
    for n in range(k + dof - 1, k - 1, -1):
        for m in range(k, n):
            for a in range(6):
                rows[n, C + a] += rows[n, L + m - k] * rows[m, C + a]
    for a in range(6):
        for b in range(6):
            up[A + 6 * a + b] += 0.5 * (own[A + 6 * a + b] + own[A + 6 * b + a])
