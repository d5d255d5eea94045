"""Small dense linear algebra without allocation."""

from __future__ import annotations

import math

from .._jit import kernel, leaf


@leaf
def invert_pivots(a, row, column, n, tiny):
    """Replace the symmetric n x n block of `a` at (row, column), of which only the lower half is read, by its inverse.

    False where a pivot is below `tiny`. It is a Cholesky factorisation that divides once a pivot. A NaN is passed
    through, so that whoever reads the result sees it.
    """
    for j in range(n):
        d = a[row + j, column + j]
        for k in range(j):
            d -= a[row + j, column + k] * a[row + j, column + k]
        if d <= tiny:
            return False
        inverse = 1.0 / math.sqrt(d)
        a[row + j, column + j] = inverse
        for i in range(j + 1, n):
            s = a[row + i, column + j]
            for k in range(j):
                s -= a[row + i, column + k] * a[row + j, column + k]
            a[row + i, column + j] = s * inverse
    for j in range(n):  # L^-1 in place; its diagonal is there already
        for i in range(j + 1, n):
            s = 0.0
            for k in range(j, i):
                s -= a[row + i, column + k] * a[row + k, column + j]
            a[row + i, column + j] = s * a[row + i, column + i]
    for i in range(n):  # L^-T L^-1: row i of the result needs columns i and beyond only
        for j in range(i, n):
            s = 0.0
            for k in range(j, n):
                s += a[row + k, column + i] * a[row + k, column + j]
            a[row + i, column + j] = s
    for i in range(n):
        for j in range(i):
            a[row + i, column + j] = a[row + j, column + i]
    return True


@kernel
def all_finite(x):
    """Return whether every entry of the vector `x` is finite."""
    total = 0.0
    for k in range(x.shape[0]):
        total += 0.0 * x[k]
    return total == 0.0
