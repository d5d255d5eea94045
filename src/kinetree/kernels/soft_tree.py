"""The rows without limits, and those between their limits, solved in O(bodies): the sparsity of the tree of bodies.

    [ M  -J' ] [dv]   [ sum of the impulses that stand at limits ]
    [ J  beta] [ p] = [ w - J v_free                             ]

Bodies are eliminated from the leaves to the roots, each before the rows that join it to its parent (Baraff 1996): a
body's block H = L L' is positive definite, and so is the block beta + Y' Y = G G' of its rows, Y = L^-1 J_child', for
any softness down to none. To the parent goes Z' Z, Z = G^-1 J_parent. Rows of one body that are soft enough are springs
that stiffen its block by J' J / beta; a marker costs that and no more.
"""

from __future__ import annotations

import math

from .._jit import kernel, leaf
from . import soft_layout as at

STIFF = 1e-6  # beta times mass, below which a row is eliminated after its body, and not as a spring
FLAT = 1e-13  # part of a pivot that must be left
LEAST = 1e-16  # part of a body's pivot that is left at least


@leaf
def dot6(a, i, ca, b, j, cb):
    """Return the product of six entries each of two arrays' rows."""
    return (
        a[i, ca] * b[j, cb] + a[i, ca + 1] * b[j, cb + 1] + a[i, ca + 2] * b[j, cb + 2]
        + a[i, ca + 3] * b[j, cb + 3] + a[i, ca + 4] * b[j, cb + 4] + a[i, ca + 5] * b[j, cb + 5]
    )


@leaf
def add6(a, i, ca, b, j, cb, s):
    """Add s times six entries of row j of b to row i of a."""
    for k in range(6):
        a[i, ca + k] += s * b[j, cb + k]


@leaf
def add_square(nodes, i, rows, r, c, s):
    """Add s x x' to the lower half of a node's block."""
    for k in range(6):
        x = s * rows[r, c + k]
        for m in range(k + 1):
            nodes[i, 6 * k + m] += x * rows[r, c + m]


@kernel
def factor_tree(bodies, rows, links, tree, members, chosen, nodes, corners, numbers):
    """Factor the system of all rows that are on the slope of a piece; returns a status (PLACE: the row that failed)."""
    for i in range(bodies.shape[0]):
        if bodies[i, at.INVERSE_MASS] == 0.0:
            continue
        I = at.WORLD_INERTIA
        for k in range(36):
            nodes[i, k] = 0.0
        nodes[i, 0] = bodies[i, I]
        nodes[i, 6], nodes[i, 7] = bodies[i, I + 1], bodies[i, I + 3]
        nodes[i, 12], nodes[i, 13], nodes[i, 14] = bodies[i, I + 2], bodies[i, I + 4], bodies[i, I + 5]
        nodes[i, 21] = nodes[i, 28] = nodes[i, 35] = bodies[i, at.MASS]
    for place in range(tree.shape[0]):
        i = tree[place, at.ORDER]
        if i < 0:
            break
        first = tree[i, at.UNARY_AT]
        count = 0
        mass = bodies[i, at.MASS]
        for m in range(first, tree[i, at.UNARY_END]):
            r = members[m]
            if links[r, at.ON] == 0 or links[r, at.SIDE] != 0:
                continue
            if rows[r, at.BETA] * mass > STIFF:
                links[r, at.HARD] = 0
                add_square(nodes, i, rows, r, 6 if links[r, at.ROLE] == at.UNARY_TURNED else 0, 1.0 / rows[r, at.BETA])
            else:
                links[r, at.HARD] = 1
                chosen[first + count] = r
                count += 1
        for m in range(tree[i, at.EDGE_AT], tree[i, at.EDGE_END]):
            r = members[m]
            if links[r, at.ON] == 1 and links[r, at.SIDE] == 0:
                links[r, at.HARD] = 1
                chosen[first + count] = r
                count += 1
        tree[i, at.DUALS] = count
        for k in range(6):
            for m in range(k):
                s = nodes[i, 6 * k + m]
                for n in range(m):
                    s -= nodes[i, 6 * k + n] * nodes[i, 6 * m + n]
                nodes[i, 6 * k + m] = s * nodes[i, 7 * m]
            whole = nodes[i, 7 * k]
            s = whole
            for n in range(k):
                s -= nodes[i, 6 * k + n] * nodes[i, 6 * k + n]
            if not s > LEAST * whole:
                s = LEAST * whole  # it holds mass: only rounding can say otherwise
            if not s > 0.0:
                numbers[at.PLACE] = -1.0
                return at.NOT_FINITE
            nodes[i, 7 * k] = 1.0 / math.sqrt(s)
        parent = tree[i, at.PARENT]
        for q in range(count):
            r = chosen[first + q]
            role = links[r, at.ROLE]
            turned = role == at.UNARY_TURNED or role == at.EDGE_TURNED
            child, other = (6, 0) if turned else (0, 6)
            for k in range(6):
                s = rows[r, child + k]
                for m in range(k):
                    s -= nodes[i, 6 * k + m] * rows[r, at.Y + m]
                rows[r, at.Y + k] = s * nodes[i, 7 * k]
            edge = role >= at.EDGE
            for k in range(6):
                rows[r, at.Z + k] = rows[r, other + k] if edge else 0.0
            whole = dot6(rows, r, at.Y, rows, r, at.Y) + rows[r, at.BETA]
            left = whole
            for s in range(q):
                d = dot6(rows, r, at.Y, rows, chosen[first + s], at.Y)
                for n in range(s):
                    d -= corners[first + q, n] * corners[first + s, n]
                d *= corners[first + s, s]
                corners[first + q, s] = d
                left -= d * d
                if edge:
                    add6(rows, r, at.Z, rows, chosen[first + s], at.Z, -d)
            if not left > FLAT * whole:
                left = rows[r, at.BETA]  # no pivot of a soft row is below its softness, but for rounding
                if not left > 0.0:
                    numbers[at.PLACE] = r
                    return at.SINGULAR
            left = 1.0 / math.sqrt(left)
            corners[first + q, q] = left
            if edge:
                for k in range(6):
                    rows[r, at.Z + k] *= left
                add_square(nodes, parent, rows, r, at.Z, 1.0)
    return at.FINE


@kernel
def solve_tree(rows, links, tree, members, chosen, nodes, corners, c):
    """Solve with the right-hand sides `nodes[G]` (momenta) and `rows[c]` (velocities).

    The change of the bodies' velocities is left in `nodes[V]`, the impulses in `rows[TRY]`.
    """
    count = 0
    for place in range(tree.shape[0]):
        i = tree[place, at.ORDER]
        if i < 0:
            break
        count += 1
        first = tree[i, at.UNARY_AT]
        for m in range(first, tree[i, at.UNARY_END]):
            r = members[m]
            if links[r, at.ON] == 1 and links[r, at.SIDE] == 0 and links[r, at.HARD] == 0:
                turned = 6 if links[r, at.ROLE] == at.UNARY_TURNED else 0
                add6(nodes, i, at.G, rows, r, turned, rows[r, c] / rows[r, at.BETA])
        for k in range(6):
            s = nodes[i, at.G + k]
            for m in range(k):
                s -= nodes[i, 6 * k + m] * nodes[i, at.G + m]
            nodes[i, at.G + k] = s * nodes[i, 7 * k]
        for q in range(tree[i, at.DUALS]):
            r = chosen[first + q]
            t = rows[r, c] - dot6(rows, r, at.Y, nodes, i, at.G)
            for s in range(q):
                t -= corners[first + q, s] * rows[chosen[first + s], at.TRY]
            t *= corners[first + q, q]
            rows[r, at.TRY] = t
            if links[r, at.ROLE] >= at.EDGE:
                add6(nodes, tree[i, at.PARENT], at.G, rows, r, at.Z, t)
    for place in range(count - 1, -1, -1):
        i = tree[place, at.ORDER]
        first = tree[i, at.UNARY_AT]
        duals = tree[i, at.DUALS]
        parent = tree[i, at.PARENT]
        for k in range(6):
            nodes[i, at.V + k] = nodes[i, at.G + k]
        for q in range(duals - 1, -1, -1):
            r = chosen[first + q]
            t = rows[r, at.TRY]
            if links[r, at.ROLE] >= at.EDGE:
                t -= dot6(rows, r, at.Z, nodes, parent, at.V)
            for s in range(q + 1, duals):
                t -= corners[first + s, q] * rows[chosen[first + s], at.TRY]
            t *= corners[first + q, q]
            rows[r, at.TRY] = t
            add6(nodes, i, at.V, rows, r, at.Y, t)
        for k in range(5, -1, -1):
            s = nodes[i, at.V + k]
            for m in range(k + 1, 6):
                s -= nodes[i, 6 * m + k] * nodes[i, at.V + m]
            nodes[i, at.V + k] = s * nodes[i, 7 * k]
        for m in range(first, tree[i, at.UNARY_END]):
            r = members[m]
            if links[r, at.ON] == 1 and links[r, at.SIDE] == 0 and links[r, at.HARD] == 0:
                turned = 6 if links[r, at.ROLE] == at.UNARY_TURNED else 0
                rows[r, at.TRY] = (rows[r, c] - dot6(rows, r, turned, nodes, i, at.V)) / rows[r, at.BETA]
