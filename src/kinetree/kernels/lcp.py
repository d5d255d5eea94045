"""Dense mixed linear complementarity problems: projected Gauss-Seidel, and Dantzig's pivoting after Baraff (1994).

Find x with lo <= x <= hi and w = A x + b such that w >= 0 where x = lo, w <= 0 where x = hi, and w = 0 between.
"""

from __future__ import annotations

import math

from .._jit import exact, exact_leaf

BOX, NORMAL, TANGENT, PAIR = 0, 1, 2, 3  # what a row is: bounded by numbers, or by the friction of a normal row


@exact_leaf
def clamp(x, lo, hi):
    """Return x within its bounds."""
    if x < lo:
        return lo
    if x > hi:
        return hi
    return x


@exact
def natural_residual(A, b, lo, hi, kinds, normal, mu, x, w):
    """Write w = A x + b, and return the largest violation |x - P(x - w / d)| d of the conditions, d the diagonal of A.

    It is in the units of w. Rows without a diagonal count with d = 1. P is the projection on the bounds, or on the disc
    of friction for a PAIR (two rows in a row, the first of which is the PAIR).
    """
    n = x.shape[0]
    worst = 0.0
    for i in range(n):
        total = b[i]
        for j in range(n):
            total += A[i, j] * x[j]
        w[i] = total
    i = 0
    while i < n:
        d = A[i, i] if A[i, i] > 0.0 else 1.0
        if kinds[i] == PAIR:
            d = max(d, A[i + 1, i + 1])
            limit = mu[i] * max(x[normal[i]], 0.0)
            p, q = x[i] - w[i] / d, x[i + 1] - w[i + 1] / d
            size = math.sqrt(p * p + q * q)
            if size > limit:
                p, q = p * limit / size, q * limit / size
            worst = max(worst, d * abs(x[i] - p), d * abs(x[i + 1] - q))
            i += 2
            continue
        low, high = lo[i], hi[i]
        if kinds[i] == TANGENT:
            high = mu[i] * max(x[normal[i]], 0.0)
            low = -high
        worst = max(worst, d * abs(x[i] - clamp(x[i] - w[i] / d, low, high)))
        i += 1
    return worst


@exact
def pgs(A, b, lo, hi, kinds, normal, mu, x, w, sweeps, tolerance):
    """Improve `x` by projected Gauss-Seidel; returns (sweeps done, residual). See `natural_residual`.

    Stops at `tolerance`, or where the residual no longer falls. Rows without a diagonal stay as they are.
    """
    n = x.shape[0]
    done, residual = 0, natural_residual(A, b, lo, hi, kinds, normal, mu, x, w)
    while done < sweeps and residual > tolerance:
        i = 0
        while i < n:
            if kinds[i] == PAIR:
                d = max(A[i, i], A[i + 1, i + 1])
                if d > 0.0:
                    limit = mu[i] * max(x[normal[i]], 0.0)
                    p, q = b[i], b[i + 1]
                    for j in range(n):
                        p += A[i, j] * x[j]
                        q += A[i + 1, j] * x[j]
                    p, q = x[i] - p / d, x[i + 1] - q / d
                    size = math.sqrt(p * p + q * q)
                    if size > limit:
                        p, q = p * limit / size, q * limit / size
                    x[i], x[i + 1] = p, q
                i += 2
                continue
            d = A[i, i]
            if d > 0.0:
                low, high = lo[i], hi[i]
                if kinds[i] == TANGENT:
                    high = mu[i] * max(x[normal[i]], 0.0)
                    low = -high
                total = b[i]
                for j in range(n):
                    total += A[i, j] * x[j]
                x[i] = clamp(x[i] - total / d, low, high)
            i += 1
        done += 1
        if done % 4 == 0 or done == sweeps:
            residual = natural_residual(A, b, lo, hi, kinds, normal, mu, x, w)
    return done, residual


SOLVED, UNBOUNDED, CYCLED = 0, 1, 2


@exact
def solve_lower(L, n, y):
    """Solve L L' y = y in place with the leading n x n part of a Cholesky factor."""
    for i in range(n):
        s = y[i]
        for k in range(i):
            s -= L[i, k] * y[k]
        y[i] = s / L[i, i]
    for i in range(n - 1, -1, -1):
        s = y[i]
        for k in range(i + 1, n):
            s -= L[k, i] * y[k]
        y[i] = s / L[i, i]


@exact
def _append(A, L, members, n, k):
    """Add row k to the factor of the clamped rows; returns the square of its pivot."""
    for a in range(n):
        s = A[k, members[a]]
        for c in range(a):
            s -= L[n, c] * L[a, c]
        L[n, a] = s / L[a, a]
    d = A[k, k]
    for c in range(n):
        d -= L[n, c] * L[n, c]
    L[n, n] = math.sqrt(max(d, 1e-300))
    members[n] = k
    return d


@exact
def _refactor(A, L, members, n):
    for a in range(n):
        _append(A, L, members, a, members[a])


@exact
def dantzig(A, b, lo, hi, x, w, order, L, members, place, dx, dw, tiny, most):
    """Solve with A symmetric and positive semidefinite by driving one row after another to its condition.

    `order` lists the rows, `place` (n) is 0 for rows that are not treated yet, 1 for clamped rows (w = 0), 2 at the
    lower and 3 at the upper bound, 4 for w = 0 that follows from the clamped rows; `tiny` is what counts as zero in w.
    Returns (status, pivots, row).
    """
    n = x.shape[0]
    clamped = pivots = 0
    for k in range(n):
        place[k] = 0
        x[k] = clamp(0.0, lo[k], hi[k])
    for k in range(n):
        w[k] = b[k]
        for j in range(n):
            w[k] += A[k, j] * x[j]
    for turn in range(n):
        i = order[turn]
        while True:
            if lo[i] == hi[i]:
                place[i] = 2 if w[i] >= 0.0 else 3
                break
            if abs(w[i]) <= tiny:
                w[i] = 0.0
            if (w[i] >= 0.0 and x[i] == lo[i]) or (w[i] <= 0.0 and x[i] == hi[i]):
                place[i] = 2 if x[i] == lo[i] else 3
                break
            pivots += 1
            if pivots > most:
                return CYCLED, pivots, i
            for a in range(clamped):
                dx[a] = A[members[a], i]
            solve_lower(L, clamped, dx)
            slope = A[i, i]
            for a in range(clamped):
                slope -= A[i, members[a]] * dx[a]
            if w[i] == 0.0:
                if slope > 1e-12 * max(A[i, i], 1e-300):
                    _append(A, L, members, clamped, i)
                    clamped += 1
                    place[i] = 1
                else:
                    place[i] = 4  # it follows from the clamped rows: any force will do, and the one that it has is kept
                break
            d = 1.0 if w[i] < 0.0 else -1.0
            for k in range(n):
                s = A[k, i]
                for a in range(clamped):
                    s -= A[k, members[a]] * dx[a]
                dw[k] = d * s
            for a in range(clamped):
                dw[members[a]] = 0.0
            step, blocker, kind = math.inf, -1, 0
            if slope > 1e-12 * max(A[i, i], 1e-300):
                step, blocker, kind = abs(w[i]) / slope, i, 1
            room = (hi[i] - x[i]) if d > 0 else (x[i] - lo[i])
            if room < step:
                step, blocker, kind = room, i, 2
            for a in range(clamped):
                k = members[a]
                speed = -d * dx[a]
                if speed < -1e-14 and (x[k] - lo[k]) / -speed < step:
                    step, blocker, kind = (x[k] - lo[k]) / -speed, a, 3
                elif speed > 1e-14 and (hi[k] - x[k]) / speed < step:
                    step, blocker, kind = (hi[k] - x[k]) / speed, a, 4
            for k in range(n):
                if place[k] == 2 and dw[k] < -1e-11 * max(A[k, k], 1e-300) and w[k] / -dw[k] < step and lo[k] < hi[k]:
                    step, blocker, kind = max(w[k], 0.0) / -dw[k], k, 5
                elif place[k] == 3 and dw[k] > 1e-11 * max(A[k, k], 1e-300) and -w[k] / dw[k] < step and lo[k] < hi[k]:
                    step, blocker, kind = max(-w[k], 0.0) / dw[k], k, 5
                elif place[k] == 4 and abs(dw[k]) > 1e-11 * max(A[k, k], 1e-300):
                    step, blocker, kind = 0.0, k, 5  # what it followed from has left
            if step == math.inf:
                return UNBOUNDED, pivots, i
            x[i] += d * step
            for a in range(clamped):
                x[members[a]] -= d * dx[a] * step
            for k in range(n):
                w[k] += dw[k] * step
            if kind == 1:
                w[i] = 0.0
            elif kind == 2:
                x[i] = hi[i] if d > 0 else lo[i]
                place[i] = 3 if d > 0 else 2
                break
            elif kind == 3 or kind == 4:
                k = members[blocker]
                x[k] = lo[k] if kind == 3 else hi[k]
                place[k] = 2 if kind == 3 else 3
                w[k] = 0.0
                for a in range(blocker, clamped - 1):
                    members[a] = members[a + 1]
                clamped -= 1
                _refactor(A, L, members, clamped)
            else:
                w[blocker] = 0.0
                if _append(A, L, members, clamped, blocker) > 1e-12 * A[blocker, blocker]:
                    clamped += 1
                    place[blocker] = 1
                else:
                    place[blocker] = 4
    return SOLVED, pivots, -1
