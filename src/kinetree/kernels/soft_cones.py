"""Friction that is limited by the normal force: a fixed point of limits, by Newton's method on the rows that slide.

With the limits b of the friction rows held, the step is a convex problem with one solution; its normal impulses give
the limits mu p_n(b) that should have been. For the rows that slide, the way p_n depends on b is linear while no other
row comes to or leaves a limit, and one linear system of their number finds b = mu p_n(b). Rows that stick do not depend
on b at all.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from . import soft_layout as at
from .soft_newton import factor_border, solve_rows
from .soft_tree import factor_tree


@kernel
def cone_gap(rows, links):
    """Return by how much limits of friction differ from mu p_n, where that matters, and the largest impulse."""
    worst, scale = 0.0, 0.0
    for r in range(rows.shape[0]):
        if links[r, at.ON] == 1:
            p = abs(rows[r, at.PUSH])
            scale = max(scale, p)
            if links[r, at.NORMAL] >= 0:
                bound = rows[r, at.MU] * max(rows[links[r, at.NORMAL], at.PUSH], 0.0)
                if links[r, at.SIDE] != 0 or p > bound:
                    worst = max(worst, abs(bound - rows[r, at.UPPER]))
    return worst, scale


@kernel
def limit_rows(rows, links, r, bound):
    """Set the limits of a friction row."""
    rows[r, at.LOWER], rows[r, at.UPPER] = -bound, bound


@kernel
def follow_normals(rows, links):
    """Set all limits of friction to mu p_n."""
    for r in range(rows.shape[0]):
        if links[r, at.ON] == 1 and links[r, at.NORMAL] >= 0:
            limit_rows(rows, links, r, rows[r, at.MU] * max(rows[links[r, at.NORMAL], at.PUSH], 0.0))


@kernel
def find_limits(bodies, rows, links, numbers, solver):
    """Set the limits of friction to where they meet the normal forces, if no row changes its part of its curve.

    Returns False where that cannot be told (singular, or a limit would be negative); then they follow the normals.
    """
    tree, members, chosen, nodes, corners, border, _, _ = solver
    count = 0
    for r in range(rows.shape[0]):
        if links[r, at.ON] == 1 and links[r, at.NORMAL] >= 0 and links[r, at.SIDE] != 0:
            count += 1
    if count == 0:
        return False
    if factor_tree(bodies, rows, links, tree, members, chosen, nodes, corners, numbers) != at.FINE:
        return False
    borders = 0
    if border.shape[0] > 0:
        borders = factor_border(rows, links, solver, numbers)
        if borders < 0:
            return False
    sliding = np.zeros(count, dtype=np.int64)
    count = 0
    for r in range(rows.shape[0]):
        if links[r, at.ON] == 1 and links[r, at.NORMAL] >= 0 and links[r, at.SIDE] != 0:
            sliding[count] = r
            count += 1
    system, right = np.zeros((count, count)), np.zeros(count)
    for y in range(count):
        for r in range(rows.shape[0]):
            rows[r, at.TRY] = 0.0
            rows[r, at.STEP] = 0.0
        rows[sliding[y], at.TRY] = 1.0 if links[sliding[y], at.SIDE] > 0 else -1.0
        solve_rows(rows, links, solver, borders, at.STEP)
        for x in range(count):
            normal = links[sliding[x], at.NORMAL]
            answer = rows[normal, at.TRY] if links[normal, at.SIDE] == 0 else 0.0
            system[x, y] = (1.0 if x == y else 0.0) - rows[sliding[x], at.MU] * answer
    for x in range(count):
        r = sliding[x]
        right[x] = rows[r, at.MU] * max(rows[links[r, at.NORMAL], at.PUSH], 0.0) - rows[r, at.UPPER]
    for k in range(count):  # Gauss with pivoting: the system is not symmetric
        best = k
        for x in range(k + 1, count):
            if abs(system[x, k]) > abs(system[best, k]):
                best = x
        if abs(system[best, k]) < 1e-9:
            return False
        if best != k:
            for y in range(count):
                system[k, y], system[best, y] = system[best, y], system[k, y]
            right[k], right[best] = right[best], right[k]
        for x in range(k + 1, count):
            s = system[x, k] / system[k, k]
            if s != 0.0:
                for y in range(k, count):
                    system[x, y] -= s * system[k, y]
                right[x] -= s * right[k]
    for k in range(count - 1, -1, -1):
        s = right[k]
        for y in range(k + 1, count):
            s -= system[k, y] * right[y]
        right[k] = s / system[k, k]
    fine = True
    follow = np.zeros(count)
    for x in range(count):
        follow[x] = rows[sliding[x], at.UPPER] + right[x]
        if follow[x] < 0.0:
            fine = False
    follow_normals(rows, links)
    if fine:
        for x in range(count):
            limit_rows(rows, links, sliding[x], follow[x])
    return fine
