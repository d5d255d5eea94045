"""Projected Gauss-Seidel: each constraint in turn is put on its curve with all others held, in sweeps to and fro.

Three rows of one joint are solved together while none is at a limit, all others one by one. The impulses of the last
step are the start. Bodies keep the change of their velocities, so that a row costs what its two bodies cost (Catto
2005); points (y = v + w x r) and rotations are taken as they are, without their Jacobians.
"""

from __future__ import annotations

import math

from .._jit import kernel, leaf
from . import soft_layout as at
from .soft_bodies import times
from .soft_newton import change_velocities, row_errors
from .soft_targets import load_piece, set_cone
from .soft_tree import dot6

# the sweeps' own table, float64 (nrows, SWEEP): all that a row needs side by side
BASE = 0  # w - J v_free
SOFT = 1  # beta
P = 2  # impulse
LOW = 3  # its limits
HIGH = 4
OWN = 5  # J M^-1 J'
COUPLED = 6  # 3: row of the inverse of the block of three, A + beta
AXIS = 9  # 3: of a row about an axis; of a point's first row the arm in A, of its second that in B
BLOCK = 12  # of the first row: how the constraint is swept, below
MJ = 13  # 12: M^-1 J' of a single row

SINGLE = 0.0
POINT = 1.0
TURN = 2.0


@leaf
def invert3(a, b, c, d, e, f):
    """Return the inverse of the symmetric matrix (a b c; b d e; c e f), as it is given."""
    g, h, k = d * f - e * e, c * e - b * f, b * e - c * d
    s = 1.0 / (a * g + b * h + c * k)
    return g * s, h * s, k * s, (a * f - c * c) * s, (b * c - a * e) * s, (a * d - b * b) * s


@leaf
def effect(bodies, body, rows, r, c, table):
    """Write M^-1 J' of one side of a row, and return J M^-1 J'."""
    m = MJ + c
    table[r, m], table[r, m + 1], table[r, m + 2] = times(
        bodies, body, at.WORLD_INVERSE, rows[r, c], rows[r, c + 1], rows[r, c + 2]
    )
    for k in range(3, 6):
        table[r, m + k] = rows[r, c + k] * bodies[body, at.INVERSE_MASS]
    return dot6(rows, r, c, table, r, m)


@kernel
def couple(bodies, rows, table, r, a, b):
    """Write the inverse of the block A + beta of three rows; returns whether it is a good one."""
    i0, i1, i2, i4, i5, i8 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for side in range(2):
        body = a if side == 0 else b
        if body < 0:
            continue
        c = 6 * side
        for k in range(3):
            effect(bodies, body, rows, r + k, c, table)
        i0 += dot6(rows, r, c, table, r, MJ + c)
        i1 += dot6(rows, r, c, table, r + 1, MJ + c)
        i2 += dot6(rows, r, c, table, r + 2, MJ + c)
        i4 += dot6(rows, r + 1, c, table, r + 1, MJ + c)
        i5 += dot6(rows, r + 1, c, table, r + 2, MJ + c)
        i8 += dot6(rows, r + 2, c, table, r + 2, MJ + c)
    table[r, OWN], table[r + 1, OWN], table[r + 2, OWN] = i0, i4, i8
    i0, i1, i2, i4, i5, i8 = invert3(i0 + table[r, SOFT], i1, i2, i4 + table[r + 1, SOFT], i5, i8 + table[r + 2, SOFT])
    C = COUPLED
    table[r, C], table[r, C + 1], table[r, C + 2] = i0, i1, i2
    table[r + 1, C], table[r + 1, C + 1], table[r + 1, C + 2] = i1, i4, i5
    table[r + 2, C], table[r + 2, C + 1], table[r + 2, C + 2] = i2, i5, i8
    return i0 > 0.0 and i4 > 0.0 and i8 > 0.0 and i0 + i4 + i8 < 1e12


@kernel
def prepare_sweeps(bodies, joints, rows, links, table):
    """Write the sweeps' own table."""
    for j in range(joints.shape[0]):
        first, count, kind = joints[j, at.FIRST], joints[j, at.COUNT], joints[j, at.KIND]
        a, b = links[first, at.BODY_A], links[first, at.BODY_B]
        block = SINGLE
        if kind == at.BALL:
            block = POINT
        elif kind == at.VECTOR:
            block = TURN
        for r in range(first, first + count):
            if links[r, at.ON] == 0 or links[r, at.TARGET] >= 0:
                block = SINGLE
            if links[r, at.ON] == 0:
                continue
            lower, upper = rows[r, at.LOWER], rows[r, at.UPPER]
            if block == POINT and (lower > -math.inf or upper < math.inf):
                block = SINGLE
            table[r, BASE], table[r, SOFT] = rows[r, at.W] - rows[r, at.GOT], rows[r, at.BETA]
            table[r, LOW], table[r, HIGH] = lower, upper
            p = min(max(rows[r, at.PUSH], lower), upper)
            table[r, P] = p
            rows[r, at.PUSH] = p
        if block != SINGLE and not couple(bodies, rows, table, first, a, b):
            block = SINGLE
        if block == POINT:  # row k of a point is (r x e_k, e_k): the arms are among its entries
            f = first
            table[f, AXIS], table[f, AXIS + 1], table[f, AXIS + 2] = rows[f + 1, 2], -rows[f, 2], rows[f, 1]
            g = f + 1
            table[g, AXIS], table[g, AXIS + 1], table[g, AXIS + 2] = -rows[g, 8], rows[f, 8], -rows[f, 7]
        elif block == TURN:
            for r in range(first, first + 3):
                for k in range(3):
                    table[r, AXIS + k] = rows[r, k]
        else:
            for r in range(first, first + count):
                if links[r, at.ON] == 1:
                    own = 0.0
                    if a >= 0:
                        own += effect(bodies, a, rows, r, 0, table)
                    if b >= 0:
                        own += effect(bodies, b, rows, r, 6, table)
                    table[r, OWN] = own
        table[first, BLOCK] = block


@leaf
def solve_three(table, r, e0, e1, e2):
    """Return the impulses that three rows, short by e, need together."""
    C = COUPLED
    return (
        table[r, C] * e0 + table[r, C + 1] * e1 + table[r, C + 2] * e2,
        table[r + 1, C] * e0 + table[r + 1, C + 1] * e1 + table[r + 1, C + 2] * e2,
        table[r + 2, C] * e0 + table[r + 2, C + 1] * e1 + table[r + 2, C + 2] * e2,
    )


@leaf
def short_rows(table, r):
    """Return w - J v_free - beta p of three rows."""
    return (
        table[r, BASE] - table[r, SOFT] * table[r, P],
        table[r + 1, BASE] - table[r + 1, SOFT] * table[r + 1, P],
        table[r + 2, BASE] - table[r + 2, SOFT] * table[r + 2, P],
    )


@leaf
def push_point(bodies, i, x, y, z, rx, ry, rz):
    """Add the effect of an impulse at an arm from a body's centre."""
    m, C = bodies[i, at.INVERSE_MASS], at.CHANGE
    dx, dy, dz = times(bodies, i, at.WORLD_INVERSE, ry * z - rz * y, rz * x - rx * z, rx * y - ry * x)
    bodies[i, C] += dx
    bodies[i, C + 1] += dy
    bodies[i, C + 2] += dz
    bodies[i, C + 3] += m * x
    bodies[i, C + 4] += m * y
    bodies[i, C + 5] += m * z


@leaf
def sweep_point(bodies, table, r, a, b):
    """Put a point without limits on its curve."""
    e0, e1, e2 = short_rows(table, r)
    C = at.CHANGE
    ax, ay, az = table[r, AXIS], table[r, AXIS + 1], table[r, AXIS + 2]
    bx, by, bz = table[r + 1, AXIS], table[r + 1, AXIS + 1], table[r + 1, AXIS + 2]
    if a >= 0:
        wx, wy, wz = bodies[a, C], bodies[a, C + 1], bodies[a, C + 2]
        e0 -= bodies[a, C + 3] + wy * az - wz * ay
        e1 -= bodies[a, C + 4] + wz * ax - wx * az
        e2 -= bodies[a, C + 5] + wx * ay - wy * ax
    if b >= 0:
        wx, wy, wz = bodies[b, C], bodies[b, C + 1], bodies[b, C + 2]
        e0 += bodies[b, C + 3] + wy * bz - wz * by
        e1 += bodies[b, C + 4] + wz * bx - wx * bz
        e2 += bodies[b, C + 5] + wx * by - wy * bx
    x, y, z = solve_three(table, r, e0, e1, e2)
    table[r, P] += x
    table[r + 1, P] += y
    table[r + 2, P] += z
    if a >= 0:
        push_point(bodies, a, x, y, z, ax, ay, az)
    if b >= 0:
        push_point(bodies, b, -x, -y, -z, bx, by, bz)


@leaf
def push_turn(bodies, i, x, y, z):
    """Add the effect of an angular impulse on a body."""
    C = at.CHANGE
    dx, dy, dz = times(bodies, i, at.WORLD_INVERSE, x, y, z)
    bodies[i, C] += dx
    bodies[i, C + 1] += dy
    bodies[i, C + 2] += dz


@leaf
def sweep_turn(bodies, table, r, a, b):
    """Put three rows about axes on their curves: together, or one by one where a limit is in the way."""
    C = at.CHANGE
    wx, wy, wz = 0.0, 0.0, 0.0
    if a >= 0:
        wx, wy, wz = bodies[a, C], bodies[a, C + 1], bodies[a, C + 2]
    if b >= 0:
        wx, wy, wz = wx - bodies[b, C], wy - bodies[b, C + 1], wz - bodies[b, C + 2]
    e0, e1, e2 = short_rows(table, r)
    e0 -= table[r, AXIS] * wx + table[r, AXIS + 1] * wy + table[r, AXIS + 2] * wz
    e1 -= table[r + 1, AXIS] * wx + table[r + 1, AXIS + 1] * wy + table[r + 1, AXIS + 2] * wz
    e2 -= table[r + 2, AXIS] * wx + table[r + 2, AXIS + 1] * wy + table[r + 2, AXIS + 2] * wz
    x, y, z = solve_three(table, r, e0, e1, e2)
    p0, p1, p2 = table[r, P] + x, table[r + 1, P] + y, table[r + 2, P] + z
    if (
        table[r, LOW] <= p0 <= table[r, HIGH] and table[r + 1, LOW] <= p1 <= table[r + 1, HIGH]
        and table[r + 2, LOW] <= p2 <= table[r + 2, HIGH]
    ):
        table[r, P], table[r + 1, P], table[r + 2, P] = p0, p1, p2
        sx = x * table[r, AXIS] + y * table[r + 1, AXIS] + z * table[r + 2, AXIS]
        sy = x * table[r, AXIS + 1] + y * table[r + 1, AXIS + 1] + z * table[r + 2, AXIS + 1]
        sz = x * table[r, AXIS + 2] + y * table[r + 1, AXIS + 2] + z * table[r + 2, AXIS + 2]
        if a >= 0:
            push_turn(bodies, a, sx, sy, sz)
        if b >= 0:
            push_turn(bodies, b, -sx, -sy, -sz)
    else:
        for q in range(r, r + 3):
            x, y, z = table[q, AXIS], table[q, AXIS + 1], table[q, AXIS + 2]
            short = table[q, BASE] - table[q, SOFT] * table[q, P]
            if a >= 0:
                short -= x * bodies[a, C] + y * bodies[a, C + 1] + z * bodies[a, C + 2]
            if b >= 0:
                short += x * bodies[b, C] + y * bodies[b, C + 1] + z * bodies[b, C + 2]
            p = min(max(table[q, P] + short / (table[q, OWN] + table[q, SOFT]), table[q, LOW]), table[q, HIGH])
            dp = p - table[q, P]
            if dp != 0.0:
                table[q, P] = p
                if a >= 0:
                    push_turn(bodies, a, dp * x, dp * y, dp * z)
                if b >= 0:
                    push_turn(bodies, b, -dp * x, -dp * y, -dp * z)


@kernel
def meet_curve(rows, links, pieces, r, y, own):
    """Return the impulse at which row r is on its curve, its velocity growing by `own` for each unit of impulse."""
    p = rows[r, at.PUSH]
    count = max(links[r, at.PIECES_OF], 1)
    found = p
    for k in range(count):
        if links[r, at.TARGET] >= 0:
            load_piece(rows, links, pieces, r, k)
        links[r, at.SIDE] = 0
        found = (rows[r, at.W] - y + own * p) / (own + rows[r, at.BETA])
        if found < rows[r, at.LOWER]:
            links[r, at.SIDE] = -1
            return rows[r, at.LOWER]
        if found <= rows[r, at.UPPER]:
            return found
        found = rows[r, at.UPPER]
        links[r, at.SIDE] = 1
    return found


@kernel
def sweep_single(bodies, rows, links, pieces, table, r, a, b):
    """Put one row of any kind on its curve."""
    y = rows[r, at.GOT]
    if a >= 0:
        y += dot6(rows, r, at.JA, bodies, a, at.CHANGE)
    if b >= 0:
        y += dot6(rows, r, at.JB, bodies, b, at.CHANGE)
    if links[r, at.NORMAL] >= 0:
        set_cone(rows, links, r)
    p = table[r, P]
    wanted = meet_curve(rows, links, pieces, r, y, table[r, OWN])
    if wanted != p:
        table[r, P] = wanted
        rows[r, at.PUSH] = wanted
        for k in range(6):
            if a >= 0:
                bodies[a, at.CHANGE + k] += (wanted - p) * table[r, MJ + k]
            if b >= 0:
                bodies[b, at.CHANGE + k] += (wanted - p) * table[r, MJ + 6 + k]


@kernel
def sweep(bodies, joints, rows, links, pieces, table, backward):
    """Put every constraint on its curve once, in order or against it."""
    n = joints.shape[0]
    for place in range(n):
        j = n - 1 - place if backward else place
        first = joints[j, at.FIRST]
        a, b = links[first, at.BODY_A], links[first, at.BODY_B]
        block = table[first, BLOCK]
        if block == POINT:
            sweep_point(bodies, table, first, a, b)
        elif block == TURN:
            sweep_turn(bodies, table, first, a, b)
        else:
            for r in range(first, first + joints[j, at.COUNT]):
                if links[r, at.ON] == 1:
                    sweep_single(bodies, rows, links, pieces, table, r, a, b)


@kernel
def settle_sweeps(bodies, joints, rows, links, pieces, table, numbers):
    """Take all sweeps; the residual of what is left is written to `numbers`. Always FINE, unless not finite."""
    prepare_sweeps(bodies, joints, rows, links, table)
    change_velocities(bodies, rows, links)
    for turn in range(int(numbers[at.SWEEPS])):
        sweep(bodies, joints, rows, links, pieces, table, turn % 2 == 1)
    for r in range(rows.shape[0]):
        if links[r, at.ON] == 1:
            p = table[r, P]
            rows[r, at.PUSH] = p
            if links[r, at.TARGET] < 0:
                links[r, at.SIDE] = -1 if p <= rows[r, at.LOWER] else (1 if p >= rows[r, at.UPPER] else 0)
    change_velocities(bodies, rows, links)
    worst, scale = row_errors(rows, links)
    numbers[at.RESIDUAL], numbers[at.SCALE] = worst, scale
    if not worst < math.inf:
        numbers[at.PLACE] = -1.0
        return at.NOT_FINITE
    return at.FINE
