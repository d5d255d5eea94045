"""Small dense linear algebra without allocation."""

from __future__ import annotations

import math

from .._jit import kernel


@kernel
def cholesky_inverse(a, n, tiny):
    """Replace the leading n x n block of the symmetric `a` by its inverse; False where a pivot is below `tiny`.

    A NaN is passed through, so that whoever reads the result sees it.
    """
    for j in range(n):
        d = a[j, j]
        for k in range(j):
            d -= a[j, k] * a[j, k]
        if d <= tiny:
            return False
        d = math.sqrt(d)
        a[j, j] = d
        for i in range(j + 1, n):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k]
            a[i, j] = s / d
    for j in range(n):  # L^-1 in place
        a[j, j] = 1.0 / a[j, j]
        for i in range(j + 1, n):
            s = 0.0
            for k in range(j, i):
                s -= a[i, k] * a[k, j]
            a[i, j] = s / a[i, i]
    for i in range(n):  # L^-T L^-1, upper triangle
        for j in range(i, n):
            s = 0.0
            for k in range(j, n):
                s += a[k, i] * a[k, j]
            a[i, j] = s
    for i in range(n):
        for j in range(i):
            a[i, j] = a[j, i]
    return True


@kernel
def all_finite(x):
    """Return whether every entry of the vector `x` is finite."""
    total = 0.0
    for k in range(x.shape[0]):
        total += 0.0 * x[k]
    return total == 0.0
