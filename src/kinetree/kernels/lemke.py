"""Lemke's complementary pivoting: w = M z + q, w >= 0, z >= 0, w z = 0, for any matrix (Cottle, Pang, Stone 1992)."""

from __future__ import annotations

import math

from .._jit import exact

SOLVED, RAY, CYCLED = 0, 1, 2


@exact
def lemke(M, q, z, table, basis, most):
    """Write a solution into `z`; returns (status, pivots). A RAY means that there is none where M is semidefinite.

    `table` is scratch (n, 2 n + 2): columns of w, of z, of the artificial variable, and the right-hand side; `basis`
    (n). Ties of the ratio test are broken lexicographically (by the columns of w), so that no basis comes back.
    """
    n = q.shape[0]
    table[:, :] = 0.0
    enter, leave = 2 * n, -1
    least = 0.0
    for i in range(n):
        table[i, i] = 1.0
        for j in range(n):
            table[i, n + j] = -M[i, j]
        table[i, 2 * n] = -1.0
        table[i, 2 * n + 1] = q[i]
        basis[i] = i
        z[i] = 0.0
        if q[i] < least:
            least, leave = q[i], i
    if leave < 0:
        return SOLVED, 0
    for pivots in range(1, most + 1):
        left = basis[leave]
        scale = 1.0 / table[leave, enter]
        for c in range(2 * n + 2):
            table[leave, c] *= scale
        for i in range(n):
            part = table[i, enter]
            if i != leave and part != 0.0:
                for c in range(2 * n + 2):
                    table[i, c] -= part * table[leave, c]
        basis[leave] = enter
        if left == 2 * n:
            for i in range(n):
                if n <= basis[i] < 2 * n:
                    z[basis[i] - n] = max(table[i, 2 * n + 1], 0.0)
            return SOLVED, pivots
        enter = left + n if left < n else left - n
        leave = _leaving(table, basis, enter, n)
        if leave < 0:
            return RAY, pivots
    return CYCLED, most


@exact
def _leaving(table, basis, enter, n):
    """Return the row of the lexicographically least ratio, the artificial variable first among equals; -1: none."""
    best, row = math.inf, -1
    for i in range(n):
        if table[i, enter] > 1e-11:
            ratio = table[i, 2 * n + 1] / table[i, enter]
            if row < 0 or ratio < best - 1e-12 * (1.0 + abs(best)):
                best, row = ratio, i
            elif ratio <= best + 1e-12 * (1.0 + abs(best)):
                if basis[row] == 2 * n:
                    continue
                if basis[i] == 2 * n or _before(table, i, row, enter, n):
                    row = i
                    best = min(best, ratio)
    return row


@exact
def _before(table, i, k, enter, n):
    for c in range(n):
        a, b = table[i, c] / table[i, enter], table[k, c] / table[k, enter]
        if a != b:
            return a < b
    return False
