"""Projected Gauss-Seidel: each constraint in turn is put on its curve with all others held, in sweeps to and fro.

Rows of one constraint that have no limits are solved together (a block of up to six), the others one by one. The impulses
of the last step are the start. Bodies keep the change of their velocities, so that a row costs what its two bodies cost
(Catto 2005).
"""

from __future__ import annotations

import math

from .._jit import kernel
from . import soft_layout as at
from .soft_bodies import times
from .soft_newton import change_velocities, is_bounded, row_errors
from .soft_targets import load_piece, set_cone
from .soft_tree import dot6


@kernel
def prepare_sweeps(bodies, joints, rows, links, inverse, blocks):
    """Write M^-1 J' of all rows, and of each block of rows without limits the Cholesky factor of A + beta."""
    for j in range(joints.shape[0]):
        first, count = joints[j, at.FIRST], joints[j, at.COUNT]
        whole = 1
        for r in range(first, first + count):
            if links[r, at.ON] == 0 or is_bounded(rows, links, r):
                whole = 0
            if links[r, at.ON] == 0:
                continue
            for side in range(2):
                body = links[r, at.BODY_A] if side == 0 else links[r, at.BODY_B]
                c = 6 * side
                if body >= 0:
                    inverse[r, c], inverse[r, c + 1], inverse[r, c + 2] = times(
                        bodies, body, at.WORLD_INVERSE, rows[r, c], rows[r, c + 1], rows[r, c + 2]
                    )
                    for k in range(3, 6):
                        inverse[r, c + k] = rows[r, c + k] * bodies[body, at.INVERSE_MASS]
            s = 0.0
            if links[r, at.BODY_A] >= 0:
                s += dot6(rows, r, 0, inverse, r, 0)
            if links[r, at.BODY_B] >= 0:
                s += dot6(rows, r, 6, inverse, r, 6)
            blocks[r, 7] = s
        if whole == 1:
            for x in range(count):
                r = first + x
                for y in range(x + 1):
                    s = rows[r, at.BETA] if x == y else 0.0
                    if links[r, at.BODY_A] >= 0:
                        s += dot6(rows, r, 0, inverse, first + y, 0)
                    if links[r, at.BODY_B] >= 0:
                        s += dot6(rows, r, 6, inverse, first + y, 6)
                    for k in range(y):
                        s -= blocks[r, k] * blocks[first + y, k]
                    if y < x:
                        blocks[r, y] = s * blocks[first + y, y]
                    elif s > 1e-13 * (blocks[r, 7] + rows[r, at.BETA]):
                        blocks[r, x] = 1.0 / math.sqrt(s)
                    else:
                        whole = 0
                        break
                if whole == 0:
                    break
        for r in range(first, first + count):
            blocks[r, 6] = whole


@kernel
def push_row(bodies, links, inverse, r, dp):
    """Add the effect of an impulse of row r to the velocities of its bodies."""
    a, b = links[r, at.BODY_A], links[r, at.BODY_B]
    C = at.CHANGE
    if a >= 0:
        for k in range(6):
            bodies[a, C + k] += dp * inverse[r, k]
    if b >= 0:
        for k in range(6):
            bodies[b, C + k] += dp * inverse[r, 6 + k]


@kernel
def row_speed(bodies, rows, links, r):
    """Return J v' of a row as the bodies move now."""
    s = rows[r, at.GOT]
    a, b = links[r, at.BODY_A], links[r, at.BODY_B]
    if a >= 0:
        s += dot6(bodies, a, at.CHANGE, rows, r, 0)
    if b >= 0:
        s += dot6(bodies, b, at.CHANGE, rows, r, 6)
    return s


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
def sweep(bodies, joints, rows, links, pieces, inverse, blocks, backward):
    """Put every constraint on its curve once, in order or against it."""
    n = joints.shape[0]
    for place in range(n):
        j = n - 1 - place if backward else place
        first, count = joints[j, at.FIRST], joints[j, at.COUNT]
        if links[first, at.ROLE] == at.NOBODY:
            continue
        if blocks[first, 6] == 1.0:
            for x in range(count):
                r = first + x
                s = rows[r, at.W] - rows[r, at.BETA] * rows[r, at.PUSH] - row_speed(bodies, rows, links, r)
                for k in range(x):
                    s -= blocks[r, k] * rows[first + k, at.TRY]
                rows[r, at.TRY] = s * blocks[r, x]
            for x in range(count - 1, -1, -1):
                r = first + x
                s = rows[r, at.TRY]
                for k in range(x + 1, count):
                    s -= blocks[first + k, x] * rows[first + k, at.TRY]
                s *= blocks[r, x]
                rows[r, at.TRY] = s
                rows[r, at.PUSH] += s
                push_row(bodies, links, inverse, r, s)
            continue
        for r in range(first, first + count):
            if links[r, at.ON] == 1:
                if links[r, at.NORMAL] >= 0:
                    set_cone(rows, links, r)
                p = meet_curve(rows, links, pieces, r, row_speed(bodies, rows, links, r), blocks[r, 7])
                dp = p - rows[r, at.PUSH]
                if dp != 0.0:
                    rows[r, at.PUSH] = p
                    push_row(bodies, links, inverse, r, dp)


@kernel
def settle_sweeps(bodies, joints, rows, links, pieces, inverse, blocks, numbers):
    """Take all sweeps; the residual of what is left is written to `numbers`. Always FINE, unless not finite."""
    for r in range(rows.shape[0]):
        if links[r, at.ROLE] == at.NOBODY:
            rows[r, at.PUSH] = 0.0
    prepare_sweeps(bodies, joints, rows, links, inverse, blocks)
    change_velocities(bodies, rows, links)
    for turn in range(int(numbers[at.SWEEPS])):
        sweep(bodies, joints, rows, links, pieces, inverse, blocks, turn % 2 == 1)
    change_velocities(bodies, rows, links)
    worst, scale = row_errors(rows, links)
    numbers[at.RESIDUAL], numbers[at.SCALE] = worst, scale
    if not worst < math.inf:
        numbers[at.PLACE] = -1.0
        return at.NOT_FINITE
    return at.FINE
