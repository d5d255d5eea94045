"""Projected Gauss-Seidel: each constraint in turn is put on its curve with all others held, in sweeps to and fro.

Three rows of one constraint are solved together while none is at a limit, all others one by one. The impulses
of the last step are the start. Bodies keep the change of their velocities, so that a row costs what its two bodies cost
(Catto 2005).
"""

from __future__ import annotations

import math

from .._jit import kernel, leaf
from . import soft_layout as at
from .soft_bodies import times
from .soft_newton import change_velocities, row_errors
from .soft_targets import load_piece, set_cone
from .soft_tree import dot6

# the sweeps' own table, float64 (nrows, SWEEP)
J = 0  # 12: Jacobian
MJ = 12  # 12: M^-1 J'
BASE = 24  # w - J v_free
SOFT = 25  # beta
P = 26  # impulse
LOW = 27  # its limits
HIGH = 28
COUPLED = 29  # 3: row of the inverse of the block of three
OWN = 32  # J M^-1 J'
WHOLE = 33  # of the first row: whether three rows are solved together

@leaf
def invert3(a, b, c, d, e, f):
    """Return the inverse of the symmetric matrix (a b c; b d e; c e f), as it is given."""
    g, h, k = d * f - e * e, c * e - b * f, b * e - c * d
    s = 1.0 / (a * g + b * h + c * k)
    return g * s, h * s, k * s, (a * f - c * c) * s, (b * c - a * e) * s, (a * d - b * b) * s


@kernel
def product(table, r, q, a, b):
    """Return J_r M^-1 J_q' of two rows of one constraint."""
    s = 0.0
    if a >= 0:
        s += dot6(table, r, J, table, q, MJ)
    if b >= 0:
        s += dot6(table, r, J + 6, table, q, MJ + 6)
    return s


@kernel
def prepare_sweeps(bodies, joints, rows, links, table):
    """Write the sweeps' own table: all that a row needs side by side in memory.

    Three plain rows of one constraint are solved together: the inverse of their block stands in COUPLED.
    """
    for j in range(joints.shape[0]):
        first, count = joints[j, at.FIRST], joints[j, at.COUNT]
        a, b = links[first, at.BODY_A], links[first, at.BODY_B]
        plain = count == 3
        for r in range(first, first + count):
            if links[r, at.ON] == 0 or links[r, at.TARGET] >= 0 or links[r, at.NORMAL] >= 0 or links[r, at.SHAPE] != at.PLAIN:
                plain = False
            if links[r, at.ON] == 0:
                continue
            for k in range(12):
                table[r, J + k] = rows[r, k]
            if a >= 0:
                table[r, MJ], table[r, MJ + 1], table[r, MJ + 2] = times(
                    bodies, a, at.WORLD_INVERSE, rows[r, 0], rows[r, 1], rows[r, 2]
                )
                for k in range(3, 6):
                    table[r, MJ + k] = rows[r, k] * bodies[a, at.INVERSE_MASS]
            if b >= 0:
                table[r, MJ + 6], table[r, MJ + 7], table[r, MJ + 8] = times(
                    bodies, b, at.WORLD_INVERSE, rows[r, 6], rows[r, 7], rows[r, 8]
                )
                for k in range(9, 12):
                    table[r, MJ + k] = rows[r, k] * bodies[b, at.INVERSE_MASS]
            table[r, BASE], table[r, SOFT] = rows[r, at.W] - rows[r, at.GOT], rows[r, at.BETA]
            table[r, LOW], table[r, HIGH] = rows[r, at.LOWER], rows[r, at.UPPER]
            table[r, P] = min(max(rows[r, at.PUSH], rows[r, at.LOWER]), rows[r, at.UPPER])
            rows[r, at.PUSH] = table[r, P]
            table[r, OWN] = product(table, r, r, a, b)
        if plain:
            r = first
            i0, i1, i2, i4, i5, i8 = invert3(
                table[r, OWN] + table[r, SOFT], product(table, r, r + 1, a, b), product(table, r, r + 2, a, b),
                table[r + 1, OWN] + table[r + 1, SOFT], product(table, r + 1, r + 2, a, b),
                table[r + 2, OWN] + table[r + 2, SOFT],
            )
            plain = i0 > 0.0 and i4 > 0.0 and i8 > 0.0 and i0 + i4 + i8 < 1e12
            C = COUPLED
            table[r, C], table[r, C + 1], table[r, C + 2] = i0, i1, i2
            table[r + 1, C], table[r + 1, C + 1], table[r + 1, C + 2] = i1, i4, i5
            table[r + 2, C], table[r + 2, C + 1], table[r + 2, C + 2] = i2, i5, i8
        table[first, WHOLE] = 1.0 if plain else 0.0


@leaf
def short_of(table, r, bodies, a, b):
    """Return by how much a row falls short, w - beta p - J v'."""
    s = table[r, BASE] - table[r, SOFT] * table[r, P]
    if a >= 0:
        s -= dot6(table, r, J, bodies, a, at.CHANGE)
    if b >= 0:
        s -= dot6(table, r, J + 6, bodies, b, at.CHANGE)
    return s


@leaf
def give(bodies, body, table, r, c, x, y, z):
    """Add the effects of the impulses x, y, z of three rows to the velocity of a body."""
    for k in range(6):
        bodies[body, at.CHANGE + k] += x * table[r, c + k] + y * table[r + 1, c + k] + z * table[r + 2, c + k]


@leaf
def sweep_three(bodies, table, r, a, b):
    """Put three plain rows on their curves together; returns False where one of them would be beyond a limit."""
    e0, e1, e2 = (
        short_of(table, r, bodies, a, b), short_of(table, r + 1, bodies, a, b), short_of(table, r + 2, bodies, a, b)
    )
    C = COUPLED
    x = table[r, C] * e0 + table[r, C + 1] * e1 + table[r, C + 2] * e2
    y = table[r + 1, C] * e0 + table[r + 1, C + 1] * e1 + table[r + 1, C + 2] * e2
    z = table[r + 2, C] * e0 + table[r + 2, C + 1] * e1 + table[r + 2, C + 2] * e2
    p0, p1, p2 = table[r, P] + x, table[r + 1, P] + y, table[r + 2, P] + z
    if (
        p0 < table[r, LOW] or p0 > table[r, HIGH] or p1 < table[r + 1, LOW] or p1 > table[r + 1, HIGH]
        or p2 < table[r + 2, LOW] or p2 > table[r + 2, HIGH]
    ):
        return False
    table[r, P], table[r + 1, P], table[r + 2, P] = p0, p1, p2
    if a >= 0:
        give(bodies, a, table, r, MJ, x, y, z)
    if b >= 0:
        give(bodies, b, table, r, MJ + 6, x, y, z)
    return True


@leaf
def push_one(bodies, table, r, a, b, dp):
    """Add the effect of an impulse of one row to the velocities of its bodies."""
    if a >= 0:
        for k in range(6):
            bodies[a, at.CHANGE + k] += dp * table[r, MJ + k]
    if b >= 0:
        for k in range(6):
            bodies[b, at.CHANGE + k] += dp * table[r, MJ + 6 + k]


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
def sweep(bodies, joints, rows, links, pieces, table, backward):
    """Put every constraint on its curve once, in order or against it."""
    n = joints.shape[0]
    for place in range(n):
        j = n - 1 - place if backward else place
        first, count = joints[j, at.FIRST], joints[j, at.COUNT]
        a, b = links[first, at.BODY_A], links[first, at.BODY_B]
        whole = table[first, WHOLE] == 1.0
        if whole and sweep_three(bodies, table, first, a, b):
            continue
        for r in range(first, first + count):
            if links[r, at.ON] == 0:
                continue
            short = short_of(table, r, bodies, a, b)
            p = table[r, P]
            if links[r, at.TARGET] >= 0 or links[r, at.NORMAL] >= 0:
                if links[r, at.NORMAL] >= 0:
                    set_cone(rows, links, r)
                y = table[r, BASE] - table[r, SOFT] * p - short + rows[r, at.GOT]
                wanted = meet_curve(rows, links, pieces, r, y, table[r, OWN])
                rows[r, at.PUSH] = wanted
            else:
                wanted = min(max(p + short / (table[r, OWN] + table[r, SOFT]), table[r, LOW]), table[r, HIGH])
                if links[r, at.SHAPE] == at.GAP:
                    rows[r, at.PUSH] = wanted  # friction looks for it there
            if wanted != p:
                table[r, P] = wanted
                push_one(bodies, table, r, a, b, wanted - p)


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
