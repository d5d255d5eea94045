"""Coordinates u and the joints that follow them, q = f(u), with the first and second derivatives.

`rows` int64 (nu + nv, 3): for every coordinate, then for every degree of freedom, the coordinate that it follows (-1:
none, it is free), and where its pieces begin and how many there are. `pieces` float64 (n, 2 + TERMS): the start of a
piece, its origin x0, and c in sum c_k (x - x0)^k. `values` float64 (nu, 4): default, limits, rotational.
"""

from __future__ import annotations

from .._jit import kernel

TERMS = 8


@kernel
def value(pieces, start, count, x):
    """Return the function of these pieces at `x`."""
    return three(pieces, start, count, x)[0]


@kernel
def three(pieces, start, count, x):
    """Return a function, its slope and its second derivative at `x`."""
    k = start
    while k + 1 < start + count and x >= pieces[k + 1, 0]:
        k += 1
    t = x - pieces[k, 1]
    f = d = c = 0.0
    for j in range(TERMS + 1, 1, -1):
        c = c * t + 2.0 * d
        d = d * t + f
        f = f * t + pieces[k, j]
    return f, d, c


@kernel
def place_coordinates(rows, pieces, u, q, source, slope, curve, own, share):
    """Write q, and per degree of freedom the free coordinate that it follows, dq/du and d2q/du2.

    `own` and `share` are the coordinate and slope before a coordinate's own dependence on another one: with them joint
    forces add up per coordinate as if none depended on another. Coordinates that follow are overwritten in `u`.
    """
    nu = u.shape[0]
    for c in range(nu):
        if rows[c, 0] >= 0:
            u[c] = three(pieces, rows[c, 1], rows[c, 2], u[rows[c, 0]])[0]
    for k in range(q.shape[0]):
        row = rows[nu + k]
        c = row[0]
        f, d, b = three(pieces, row[1], row[2], u[c])
        q[k], own[k], share[k] = f, c, d
        if rows[c, 0] >= 0:
            s = rows[c, 0]
            _, e, g = three(pieces, rows[c, 1], rows[c, 2], u[s])
            source[k], slope[k], curve[k] = s, d * e, b * e * e + d * g
        else:
            source[k], slope[k], curve[k] = c, d, b


@kernel
def joint_motion(rows, pieces, u, du, ddu, q, v, a, slope):
    """Write q, v and a of every frame from coordinates, rates and accelerations, shapes (n, nu) and (n, nv).

    `slope` (n, nv) is dq/du along the coordinate's own function: what joint forces are summed up with.
    """
    nu = u.shape[1]
    for t in range(u.shape[0]):
        for k in range(q.shape[1]):
            row = rows[nu + k]
            c = row[0]
            f, d, b = three(pieces, row[1], row[2], u[t, c])
            q[t, k] = f
            v[t, k] = d * du[t, c]
            a[t, k] = d * ddu[t, c] + b * du[t, c] * du[t, c]
            slope[t, k] = d


@kernel
def follow_rates(rows, pieces, u, du, ddu):
    """Overwrite coordinates that follow another one, their rates and accelerations, in every frame."""
    for t in range(u.shape[0]):
        for c in range(u.shape[1]):
            s = rows[c, 0]
            if s >= 0:
                f, d, b = three(pieces, rows[c, 1], rows[c, 2], u[t, s])
                u[t, c] = f
                ddu[t, c] = d * ddu[t, s] + b * du[t, s] * du[t, s]
                du[t, c] = d * du[t, s]
