"""The mixed complementarity problem by Baraff's pivoting, dense: the quick solvers' oracle, and their last resort.

Rows are taken up one by one. The impulse of the new row grows (or falls) until it meets its curve, while all before it
stay on theirs: those on a slope change their impulses with it, those on a vertical part only their velocities. Where
one of them comes to the end of its part, it goes over to the next (Baraff 1994; curves of any number of pieces as in
S1, "Solving with Complementarity Conditions"). Rows without limits come first, and never leave the factorisation.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import allocating
from . import soft_layout as at
from .soft_bodies import times
from .soft_newton import change_velocities, is_bounded, row_errors
from .soft_targets import limit_push, load_piece
from .soft_tree import dot6

FLAT = 1e-13


@allocating
def dense_matrix(bodies, rows, links, active, m, inverse, a):
    """Write J M^-1 J' of the active rows to `a`; `inverse` (rows, 12) is scratch for M^-1 J'."""
    for x in range(m):
        r = active[x]
        for side in range(2):
            body = links[r, at.BODY_A] if side == 0 else links[r, at.BODY_B]
            c = 6 * side
            if body < 0:
                for k in range(6):
                    inverse[x, c + k] = 0.0
                continue
            inverse[x, c], inverse[x, c + 1], inverse[x, c + 2] = times(
                bodies, body, at.WORLD_INVERSE, rows[r, c], rows[r, c + 1], rows[r, c + 2]
            )
            for k in range(3, 6):
                inverse[x, c + k] = rows[r, c + k] * bodies[body, at.INVERSE_MASS]
    for x in range(m):
        r = active[x]
        for y in range(x + 1):
            q = active[y]
            s = 0.0
            for side in range(2):
                body = links[q, at.BODY_A] if side == 0 else links[q, at.BODY_B]
                if body < 0:
                    continue
                if body == links[r, at.BODY_A]:
                    s += dot6(inverse, x, 0, rows, q, 6 * side)
                if body == links[r, at.BODY_B]:
                    s += dot6(inverse, x, 6, rows, q, 6 * side)
            a[x, y] = s
            a[y, x] = s


@allocating
def append_row(a, beta, factor, order, n, x):
    """Add row x to the Cholesky factor of the rows order[:n]; returns whether it is independent of them."""
    for k in range(n):
        s = a[x, order[k]]
        for j in range(k):
            s -= factor[n, j] * factor[k, j]
        factor[n, k] = s / factor[k, k]
    whole = a[x, x] + beta[x]
    s = whole
    for j in range(n):
        s -= factor[n, j] * factor[n, j]
    order[n] = x
    if not s > FLAT * whole:
        s = beta[x]  # no pivot of a soft row is below its softness, but for rounding
        if not s > 0.0:
            return False
    factor[n, n] = math.sqrt(s)
    return True


@allocating
def remove_row(a, beta, factor, order, n, x):
    """Take row x out of the factor: what came after it is factored again."""
    place = 0
    while order[place] != x:
        place += 1
    for k in range(place, n - 1):
        append_row(a, beta, factor, order, k, order[k + 1])


@allocating
def solve_factor(factor, n, z):
    """Solve with the factor of the first n rows, in place."""
    for k in range(n):
        s = z[k]
        for j in range(k):
            s -= factor[k, j] * z[j]
        z[k] = s / factor[k, k]
    for k in range(n - 1, -1, -1):
        s = z[k]
        for j in range(k + 1, n):
            s -= factor[j, k] * z[j]
        z[k] = s / factor[k, k]


@allocating
def use_piece(rows, links, pieces, r, x, k, beta):
    """Put a row on a piece, in the dense arrays too."""
    if links[r, at.TARGET] >= 0:
        load_piece(rows, links, pieces, r, k)
    beta[x] = rows[r, at.BETA]


@allocating
def start_of(rows, links, pieces, r):
    """Put the row on the piece, or the limit, where its impulse is 0; returns whether that is a vertical part."""
    count = max(links[r, at.PIECES_OF], 1)
    for k in range(count):
        if links[r, at.TARGET] >= 0:
            load_piece(rows, links, pieces, r, k)
        links[r, at.SIDE] = 0
        if rows[r, at.LOWER] >= 0.0:
            links[r, at.SIDE] = -1
            return True
        if rows[r, at.UPPER] > 0.0:
            return False
    links[r, at.SIDE] = 1
    return True


@allocating
def upper_speed(rows, links, pieces, r):
    """Return the velocity at which a row that stands at a limit leaves it upwards (its impulse then falls)."""
    if links[r, at.SIDE] > 0:
        return rows[r, at.W] - rows[r, at.BETA] * rows[r, at.UPPER]
    k = links[r, at.PIECE]
    if k == 0:
        return math.inf
    t = links[r, at.TARGET] + k - 1
    return pieces[t, at.P_W] - pieces[t, at.P_BETA] * pieces[t, at.P_UPPER]


@allocating
def lower_speed(rows, links, r):
    """Return the velocity at which a row that stands at a limit leaves it downwards (its impulse then grows)."""
    if links[r, at.SIDE] > 0:
        return -math.inf
    return rows[r, at.W] - rows[r, at.BETA] * rows[r, at.LOWER]


@allocating
def settle_dense(bodies, rows, links, pieces, numbers):
    """Find the impulses of all rows by pivoting; returns a status, PLACE the row that failed."""
    n_rows = rows.shape[0]
    active = np.zeros(n_rows, dtype=np.int64)
    m = 0
    for bounded in range(2):  # rows without limits first
        for r in range(n_rows):
            if links[r, at.ON] == 1 and is_bounded(rows, links, r) == (bounded == 1):
                active[m] = r
                m += 1
    a, factor = np.zeros((m, m)), np.zeros((m, m))
    p, y, dp, dy, beta = np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m)
    order, z = np.zeros(m, dtype=np.int64), np.zeros(m)
    dense_matrix(bodies, rows, links, active, m, np.zeros((m, 12)), a)
    n = 0
    for r in range(n_rows):
        rows[r, at.PUSH] = 0.0
    for x in range(m):
        r = active[x]
        y[x] = rows[r, at.GOT]
        beta[x] = rows[r, at.BETA]
    taken = 0
    while taken < m and not is_bounded(rows, links, active[taken]):
        links[active[taken], at.SIDE] = 0
        if not append_row(a, beta, factor, order, n, taken):
            numbers[at.PLACE] = active[taken]
            return at.SINGULAR
        n += 1
        taken += 1
    for k in range(n):
        z[k] = rows[active[k], at.W] - y[k]
    solve_factor(factor, n, z)
    for k in range(n):
        p[k] = z[k]
    for x in range(m):
        for k in range(n):
            y[x] += a[x, k] * p[k]
    pivots = 0
    for x in range(m):
        if not abs(y[x]) < math.inf:
            numbers[at.PLACE] = -1.0
            return at.NOT_FINITE
    for i in range(taken, m):
        r = active[i]
        vertical = start_of(rows, links, pieces, r)
        beta[i] = rows[r, at.BETA]
        if vertical and lower_speed(rows, links, r) <= y[i] <= upper_speed(rows, links, pieces, r):
            continue
        if vertical:
            grows = y[i] < lower_speed(rows, links, r)
            if not grows and links[r, at.SIDE] < 0:
                use_piece(rows, links, pieces, r, i, links[r, at.PIECE] - 1, beta)
            links[r, at.SIDE] = 0
        else:
            grows = y[i] < rows[r, at.W]
        sign = 1.0 if grows else -1.0
        while True:
            pivots += 1
            if pivots > 100 * (m + 10):
                numbers[at.PLACE] = r
                return at.UNSETTLED
            for k in range(n):
                z[k] = -sign * a[order[k], i]
            solve_factor(factor, n, z)
            for x in range(i + 1):
                dp[x] = 0.0
            dp[i] = sign
            for k in range(n):
                dp[order[k]] = z[k]
            for x in range(m):
                s = sign * a[x, i]
                for k in range(n):
                    s += a[x, order[k]] * z[k]
                dy[x] = s
            # how far until row i meets its curve, or the end of its piece
            gap = sign * (rows[r, at.W] - beta[i] * p[i] - y[i])
            rate = max(beta[i] + sign * dy[i], beta[i])
            event, t = 0, math.inf
            if rate > FLAT * a[i, i] or beta[i] > 0.0:
                t = max(gap, 0.0) / rate
            end = rows[r, at.UPPER] - p[i] if grows else p[i] - rows[r, at.LOWER]
            if end < t:
                event, t = 1, end
            other = -1
            for x in range(i):
                q = active[x]
                if links[q, at.SIDE] == 0:
                    if dp[x] > 0.0 and rows[q, at.UPPER] < math.inf:
                        step = (rows[q, at.UPPER] - p[x]) / dp[x]
                    elif dp[x] < 0.0 and rows[q, at.LOWER] > -math.inf:
                        step = (rows[q, at.LOWER] - p[x]) / dp[x]
                    else:
                        continue
                elif dy[x] > 0.0:
                    step = (upper_speed(rows, links, pieces, q) - y[x]) / dy[x]
                elif dy[x] < 0.0:
                    step = (lower_speed(rows, links, q) - y[x]) / dy[x]
                else:
                    continue
                step = max(step, 0.0)
                if step < t:
                    event, t, other = 2, step, x
            if t == math.inf:
                numbers[at.PLACE] = r
                return at.SINGULAR
            p[i] += t * sign
            for k in range(n):
                p[order[k]] += t * z[k]
            for x in range(m):
                y[x] += t * dy[x]
            if event == 0:  # on its curve
                if not append_row(a, beta, factor, order, n, i):
                    numbers[at.PLACE] = r
                    return at.SINGULAR
                n += 1
                break
            if event == 1:
                last = max(links[r, at.PIECES_OF], 1) - 1
                k = links[r, at.PIECE]
                p[i] = rows[r, at.UPPER] if grows else rows[r, at.LOWER]
                if grows and k == last:
                    links[r, at.SIDE] = 1
                    break
                if not grows and k == 0:
                    links[r, at.SIDE] = -1
                    break
                if grows:
                    use_piece(rows, links, pieces, r, i, k + 1, beta)
                    if y[i] >= rows[r, at.W] - beta[i] * p[i]:
                        links[r, at.SIDE] = -1
                        break
                else:
                    use_piece(rows, links, pieces, r, i, k - 1, beta)
                    if y[i] <= rows[r, at.W] - beta[i] * p[i]:
                        use_piece(rows, links, pieces, r, i, k, beta)
                        links[r, at.SIDE] = -1
                        break
            if event == 2:
                q = active[other]
                k = links[q, at.PIECE]
                if links[q, at.SIDE] == 0:
                    remove_row(a, beta, factor, order, n, other)
                    n -= 1
                    if dp[other] > 0.0:
                        p[other] = rows[q, at.UPPER]
                        if k < max(links[q, at.PIECES_OF], 1) - 1:
                            use_piece(rows, links, pieces, q, other, k + 1, beta)
                            links[q, at.SIDE] = -1
                        else:
                            links[q, at.SIDE] = 1
                    else:
                        p[other] = rows[q, at.LOWER]
                        links[q, at.SIDE] = -1
                else:
                    if dy[other] > 0.0 and links[q, at.SIDE] < 0:
                        use_piece(rows, links, pieces, q, other, k - 1, beta)
                    links[q, at.SIDE] = 0
                    if not append_row(a, beta, factor, order, n, other):
                        numbers[at.PLACE] = q
                        return at.SINGULAR
                    n += 1
    numbers[at.PIVOTS] += pivots
    for x in range(m):
        r = active[x]
        rows[r, at.PUSH] = limit_push(rows, links, r) if links[r, at.SIDE] != 0 else p[x]
    before = math.inf
    for _ in range(3):
        change_velocities(bodies, rows, links)
        worst, scale = row_errors(rows, links)
        numbers[at.RESIDUAL], numbers[at.SCALE] = worst, scale
        if worst <= 1e-14 * scale or worst > 0.5 * before:
            break
        before = worst
        for k in range(n):
            z[k] = rows[active[order[k]], at.ERROR]
        solve_factor(factor, n, z)
        for k in range(n):
            rows[active[order[k]], at.PUSH] += z[k]
    change_velocities(bodies, rows, links)
    return at.FINE
