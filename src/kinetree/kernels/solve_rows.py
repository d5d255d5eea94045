"""Projected Gauss-Seidel on sparse rows, with all equalities solved together and directly in every sweep.

Nothing is as large as the matrix K = W W': y = W' f is kept up to date, a row's residual is bias + w . y.
"""

from __future__ import annotations

import math

from .._jit import kernel, leaf
from .conditions import (
    AHEAD,
    AWAY,
    BIAS,
    BOX,
    COL,
    CONTACT,
    CROSS,
    DIAG,
    EQUAL,
    HI,
    LO,
    MOVE,
    NCOL,
    ROW,
    TYPE,
    VAL,
    WAS,
    F,
)  # fmt: skip

CONE, PYRAMID, DIRECTION = 0, 1, 2  # of friction: true cone; each tangent by itself; the first tangent alone
DEAD = 1e-13  # 1/kg: a row that no impulse can move


@kernel
def equal_block(rows, listed, factor, z):
    """Factor K of the equalities, those left out that follow from others; returns how many there are.

    `listed` (most) takes their groups, the lower triangle of `factor` their Cholesky factor; a pivot of 0 marks a row
    that is left out. `z` (nv) must hold zeros. More equalities than fit into `factor` are left to the sweeps: 0.
    """
    count = 0
    for k in range(rows.sizes[0]):
        if rows.groups[k, TYPE] == EQUAL:
            if count < listed.shape[0]:
                listed[count] = k
            count += 1
    if count > listed.shape[0]:
        return 0
    groups, cols, vals = rows.groups, rows.cols, rows.vals
    for m in range(count):
        k = listed[m]
        for c in range(groups[k, NCOL]):
            z[cols[groups[k, COL] + c]] = vals[groups[k, VAL] + c]
        for n in range(m + 1):
            i = listed[n]
            s = 0.0
            for c in range(groups[i, NCOL]):
                s += vals[groups[i, VAL] + c] * z[cols[groups[i, COL] + c]]
            factor[m, n] = s
        for c in range(groups[k, NCOL]):
            z[cols[groups[k, COL] + c]] = 0.0
    for m in range(count):
        whole = factor[m, m]
        for n in range(m + 1):
            s = factor[m, n]
            for c in range(n):
                s -= factor[m, c] * factor[n, c]
            if n < m:
                factor[m, n] = s / factor[n, n] if factor[n, n] > 0.0 else 0.0
            elif s > 1e-10 * whole and s > DEAD:
                factor[m, m] = math.sqrt(s)
            else:
                factor[m, m] = 0.0
    return count


@kernel
def solve_equal(rows, listed, count, factor, right, y):
    """Add impulses to the equalities so that all of them hold; returns the largest residual that there was."""
    worst, groups, table, cols, vals = 0.0, rows.groups, rows.rows, rows.cols, rows.vals
    for m in range(count):
        k = listed[m]
        col, val, s = groups[k, COL], groups[k, VAL], table[groups[k, ROW], BIAS]
        for c in range(groups[k, NCOL]):
            s += vals[val + c] * y[cols[col + c]]
        right[m] = -s
        if factor[m, m] > 0.0:
            worst = max(worst, abs(s))
    spread_equal(rows, listed, count, factor, right, y, F)
    return worst


@kernel
def spread_equal(rows, listed, count, factor, right, y, column):
    """Solve with the factor and add the result to `y`, and to a column of the rows; `right` is used up."""
    for m in range(count):
        if factor[m, m] == 0.0:
            right[m] = 0.0
            continue
        s = right[m]
        for c in range(m):
            s -= factor[m, c] * right[c]
        right[m] = s / factor[m, m]
    for m in range(count - 1, -1, -1):
        if factor[m, m] == 0.0:
            continue
        s = right[m]
        for c in range(m + 1, count):
            s -= factor[c, m] * right[c]
        right[m] = s / factor[m, m]
    groups, table, cols, vals = rows.groups, rows.rows, rows.cols, rows.vals
    for m in range(count):
        if right[m] != 0.0:
            k = listed[m]
            col, val = groups[k, COL], groups[k, VAL]
            table[groups[k, ROW], column] += right[m]
            for c in range(groups[k, NCOL]):
                y[cols[col + c]] += vals[val + c] * right[m]


@kernel
def warm_start(rows, y):
    """Write y = W' f of the impulses that the rows begin with."""
    groups, table, cols, vals = rows.groups, rows.rows, rows.cols, rows.vals
    for k in range(y.shape[0]):
        y[k] = 0.0
    for k in range(rows.sizes[0]):
        count, col, val, r = groups[k, NCOL], groups[k, COL], groups[k, VAL], groups[k, ROW]
        for m in range(3 if groups[k, TYPE] == CONTACT else 1):
            f = table[r + m, F]
            if f != 0.0:
                for c in range(count):
                    y[cols[col + c]] += vals[val + m * count + c] * f


@kernel
def sweep_rows(rows, y, equals, friction):
    """Improve the impulses of contacts and bounded rows once, in order; returns the largest change of a velocity."""
    worst = 0.0
    groups, table, cols, vals = rows.groups, rows.rows, rows.cols, rows.vals
    for k in range(rows.sizes[0]):
        kind, count, col, val, r = groups[k, TYPE], groups[k, NCOL], groups[k, COL], groups[k, VAL], groups[k, ROW]
        if kind == CONTACT:
            d = table[r, DIAG]
            if d < DEAD:
                continue
            s0, s1, s2 = table[r, BIAS], table[r + 1, BIAS], table[r + 2, BIAS]
            v1, v2 = val + count, val + 2 * count
            for c in range(count):
                part = y[cols[col + c]]
                s0 += vals[val + c] * part
                s1 += vals[v1 + c] * part
                s2 += vals[v2 + c] * part
            f0 = table[r, F]
            new0 = max(f0 - s0 / d, 0.0)
            c0 = new0 - f0
            c1 = c2 = 0.0
            limit = table[r, LO] * new0
            f1, f2 = table[r + 1, F], table[r + 2, F]
            if limit > 0.0 or f1 != 0.0 or f2 != 0.0:
                d1, d2, cross = table[r + 1, DIAG], table[r + 2, DIAG], table[r, CROSS + 2]
                s1 += table[r, CROSS] * c0
                s2 += table[r, CROSS + 1] * c0
                if friction == CONE:
                    det = d1 * d2 - cross * cross
                    if det > 1e-9 * d1 * d2 and det > 0.0:
                        new1, new2 = f1 - (d2 * s1 - cross * s2) / det, f2 - (d1 * s2 - cross * s1) / det
                    else:
                        new1, new2 = f1 - s1 / max(d1, DEAD), f2
                    square = new1 * new1 + new2 * new2
                    if square > limit * limit:
                        big = max(d1, d2) + abs(cross)
                        new1, new2 = f1 - s1 / big, f2 - s2 / big
                        square = new1 * new1 + new2 * new2
                        if square > limit * limit:
                            scale = limit / math.sqrt(square)
                            new1, new2 = scale * new1, scale * new2
                else:
                    new1 = min(limit, max(-limit, f1 - s1 / d1)) if d1 > DEAD else 0.0
                    s2 += cross * (new1 - f1)
                    new2 = min(limit, max(-limit, f2 - s2 / d2)) if d2 > DEAD and friction == PYRAMID else 0.0
                c1, c2 = new1 - f1, new2 - f2
                table[r + 1, F], table[r + 2, F] = new1, new2
                worst = max(worst, abs(c1) * d1, abs(c2) * d2)
            if c0 != 0.0 or c1 != 0.0 or c2 != 0.0:
                table[r, F] = new0
                worst = max(worst, abs(c0) * d)
                for c in range(count):
                    y[cols[col + c]] += vals[val + c] * c0 + vals[v1 + c] * c1 + vals[v2 + c] * c2
        elif kind == BOX or equals == 0:
            worst = max(worst, _bounded(table, cols, vals, y, count, col, val, r))
    return worst


@leaf
def _bounded(table, cols, vals, y, count, col, val, r):
    d = table[r, DIAG]
    if d < DEAD:
        return 0.0
    s = table[r, BIAS]
    for c in range(count):
        s += vals[val + c] * y[cols[col + c]]
    f = table[r, F]
    new = min(table[r, HI], max(table[r, LO], f - s / d))
    change = new - f
    if change != 0.0:
        table[r, F] = new
        for c in range(count):
            y[cols[col + c]] += vals[val + c] * change
    return abs(change) * d


@kernel
def solve_rows(rows, y, before, ahead, listed, equals, factor, right, friction, sweeps, tolerance, out):
    """Solve all rows from the impulses they hold; `out` takes the sweeps and the last change of a velocity.

    Between sweeps the impulses go on along a conjugate direction (Silcowitz, Niebe, Erleben 2010), which is what makes
    tall stacks converge; a sweep that is worse than the one before begins anew. `before` and `ahead` (nv) are scratch.
    """
    table, n = rows.rows, rows.sizes[1]
    warm_start(rows, y)
    only = equals == rows.sizes[0]
    change, done, last = 0.0, 0, 0.0
    while done < sweeps:
        for k in range(n):
            table[k, WAS] = table[k, F]
        for k in range(y.shape[0]):
            before[k] = y[k]
        if equals > 0:
            change = solve_equal(rows, listed, equals, factor, right, y)
            if only:
                done, change = 1, 0.0
                break
        change = max(change if done > 0 and equals > 0 else 0.0, sweep_rows(rows, y, equals, friction))
        done += 1
        if change <= tolerance or done == sweeps:
            break
        square = 0.0
        for k in range(n):
            d = table[k, F] - table[k, WAS]
            square += table[k, DIAG] * d * d
        part = square / last if last > 0.0 else 2.0
        last = square
        if part > 1.0:
            for k in range(n):
                table[k, AHEAD] = table[k, F] - table[k, WAS]
            for k in range(y.shape[0]):
                ahead[k] = y[k] - before[k]
            continue
        for k in range(n):
            step = part * table[k, AHEAD]
            table[k, AHEAD] = step + table[k, F] - table[k, WAS]
            table[k, F] += step
        for k in range(y.shape[0]):
            step = part * ahead[k]
            ahead[k] = step + y[k] - before[k]
            y[k] += step
    if equals > 0 and not only:
        solve_equal(rows, listed, equals, factor, right, y)
    out[0], out[1] = done, change


@kernel
def release(rows):
    """Make bounded rows of the equalities whose impulse is beyond what it may be; returns whether there are any."""
    groups, table, found = rows.groups, rows.rows, False
    for k in range(rows.sizes[0]):
        r = groups[k, ROW]
        if groups[k, TYPE] == EQUAL and not table[r, LO] <= table[r, F] <= table[r, HI]:
            groups[k, TYPE] = BOX
            table[r, F] = min(table[r, HI], max(table[r, LO], table[r, F]))
            found = True
    return found


@kernel
def project_positions(rows, y, listed, equals, factor, right, slop, sweeps, tolerance):
    """Write into `y` the smallest move (in the metric of mass) that takes contacts and limits out of each other.

    Up to `slop` may stay; whatever has room left may use it up, and closed loops stay closed. AWAY tells how far each
    row is from its limit.
    """
    groups, table, cols, vals, count_of = rows.groups, rows.rows, rows.cols, rows.vals, rows.sizes[0]
    for k in range(y.shape[0]):
        y[k] = 0.0
    for k in range(count_of):
        table[groups[k, ROW], MOVE] = 0.0
    for _ in range(sweeps):
        worst = 0.0
        if equals > 0:
            for m in range(equals):
                k = listed[m]
                col, val, s = groups[k, COL], groups[k, VAL], 0.0
                for c in range(groups[k, NCOL]):
                    s += vals[val + c] * y[cols[col + c]]
                right[m] = -s
            spread_equal(rows, listed, equals, factor, right, y, MOVE)
        for k in range(count_of):
            kind, r = groups[k, TYPE], groups[k, ROW]
            away = table[r, AWAY]
            if kind == EQUAL or away == math.inf or table[r, DIAG] < DEAD:
                continue
            count, col, val = groups[k, NCOL], groups[k, COL], groups[k, VAL]
            s = away + slop if away < -slop else max(away, 0.0)
            for c in range(count):
                s += vals[val + c] * y[cols[col + c]]
            f = table[r, MOVE]
            new = max(f - s / table[r, DIAG], 0.0)
            if new != f:
                table[r, MOVE] = new
                worst = max(worst, abs(new - f) * table[r, DIAG])
                for c in range(count):
                    y[cols[col + c]] += vals[val + c] * (new - f)
        if worst <= tolerance:
            break
