"""Nodes that move as one rigid body: their linear coefficients from the angular velocity alone.

The classical bias acceleration of a rigid node cannot depend on its linear velocity (Galilean invariance), so it is
linear in the products s of the angular velocity; the last entry of s is 1 and carries joint forces that stay constant
while the joint does not move. These 6 x 7 and 7 x 7 matrices take the place of the rank-three and rank-four tensors of
Redon 2005, Theorems 3 and 4:

    T = W (B2A + C - B1B) + U' Q e7'        L = U (B1B - B2A - C) + D Q e7'        (C s = omega x (omega x r))
    Delta = 2 U' A L + W (P2A - P1B) - 2 W G T
    B1C = B1A - Phi12A T                    P1C = P1A - Phi12A Delta - 2 Psi12A T
    B2C = B2B + Phi12B' T                   P2C = P2B + Phi12B' Delta + 2 Psi12B' T
    EC  = EA + EB + L' A L + T' G T - T' (P2A - P1B)          (its symmetric part)
"""

from __future__ import annotations

from .._jit import kernel, leaf
from . import layout as at
from . import nodes as to
from .blocks import clear, compose, copy, rows_to_child

# s of the axes of a turned body, as products of rows of the rotation: entry (i, j) of each of the six products
FIRST = (0, 1, 2, 0, 0, 1)
SECOND = (0, 1, 2, 1, 2, 2)


@leaf
def squares(omega, m, w, room):
    """Write s of the angular velocity in the block (omega, m, w) to ROOM_S7."""
    x, y, z = omega[m, w], omega[m, w + 1], omega[m, w + 2]
    s = to.ROOM_S7
    room[0, s], room[0, s + 1], room[0, s + 2] = x * x, y * y, z * z
    room[0, s + 3], room[0, s + 4], room[0, s + 5], room[0, s + 6] = x * y, x * z, y * z, 1.0


@leaf
def times_7(a, i, p, rows, room, out, k, s):
    """Out = A s with s in ROOM_S7, for `rows` rows of 7."""
    z = to.ROOM_S7
    s0, s1, s2, s3 = room[0, z], room[0, z + 1], room[0, z + 2], room[0, z + 3]
    s4, s5 = room[0, z + 4], room[0, z + 5]
    for r in range(rows):
        u = p + 7 * r
        dot = a[i, u] * s0 + a[i, u + 1] * s1 + a[i, u + 2] * s2 + a[i, u + 6]
        out[k, s + r] = dot + a[i, u + 3] * s3 + a[i, u + 4] * s4 + a[i, u + 5] * s5


@kernel
def passive_linear(node, tree, passive, nodes, metrics, room):
    """Write b1, b2, p1, p2 and eta of a rigid node that turns at TURN."""
    squares(nodes, node, to.TURN, room)
    times_7(passive, node, to.BIAS1, 6, room, nodes, node, to.B1)
    times_7(passive, node, to.SLOPE1, 6, room, metrics, node, to.LINEAR1)
    if tree[node, to.KIND] == to.COMPRESS:
        times_7(passive, node, to.BIAS2, 6, room, nodes, node, to.B2)
        times_7(passive, node, to.SLOPE2, 6, room, metrics, node, to.LINEAR2)
    else:
        copy(6, nodes, node, to.B1, nodes, node, to.B2)
        copy(6, metrics, node, to.LINEAR1, metrics, node, to.LINEAR2)
    z = to.ROOM_S7
    s0, s1, s2, s3 = room[0, z], room[0, z + 1], room[0, z + 2], room[0, z + 3]
    s4, s5 = room[0, z + 4], room[0, z + 5]
    eta = 0.0
    for r in range(7):
        u = to.FLOOR + 7 * r
        dot = passive[node, u] * s0 + passive[node, u + 1] * s1 + passive[node, u + 2] * s2 + passive[node, u + 6]
        dot += passive[node, u + 3] * s3 + passive[node, u + 4] * s4 + passive[node, u + 5] * s5
        eta += dot * room[0, z + r]
    metrics[node, to.ETA] = eta


@kernel
def _turn_squares(pose, n, p, room):
    """Write into ROOM_Q the matrix that turns s from the axes that `pose` is given in to those of its own frame."""
    q = to.ROOM_Q
    clear(49, room, 0, q)
    for k in range(6):
        i, j = FIRST[k], SECOND[k]
        for m in range(6):
            a, b = FIRST[m], SECOND[m]  # (E' w)_i (E' w)_j = sum over a, b of E_ai E_bj w_a w_b
            x = pose[n, p + 3 * a + i] * pose[n, p + 3 * b + j]
            if a != b:
                x += pose[n, p + 3 * b + i] * pose[n, p + 3 * a + j]
            room[0, q + 7 * k + m] = x
    room[0, q + 48] = 1.0


@leaf
def _times_turn(a, i, p, rows, room, out, k, s):
    """Out = A Q with Q in ROOM_Q, for `rows` rows of 7."""
    for r in range(rows):
        u, w = p + 7 * r, s + 7 * r
        x0 = x1 = x2 = x3 = x4 = x5 = 0.0
        for m in range(6):
            x, z = a[i, u + m], to.ROOM_Q + 7 * m
            x0, x1, x2 = x0 + x * room[0, z], x1 + x * room[0, z + 1], x2 + x * room[0, z + 2]
            x3, x4, x5 = x3 + x * room[0, z + 3], x4 + x * room[0, z + 4], x5 + x * room[0, z + 5]
        last = a[i, u + 6]
        out[k, w], out[k, w + 1], out[k, w + 2], out[k, w + 3] = x0, x1, x2, x3
        out[k, w + 4], out[k, w + 5], out[k, w + 6] = x4, x5, last


@leaf
def _add_product(sign, a, i, p, room, b, out, k, s):
    """Out += sign A B for a 6 x 6 block and a 6 x 7 one in `room`."""
    for r in range(6):
        _add_row(sign, a, i, p + 6 * r, 1, room, b, out, k, s + 7 * r)


@leaf
def _add_transposed(sign, a, i, p, room, b, out, k, s):
    """Out += sign A' B for a 6 x 6 block and a 6 x 7 one in `room`."""
    for r in range(6):
        _add_row(sign, a, i, p + r, 6, room, b, out, k, s + 7 * r)


@leaf
def _add_row(sign, a, i, p, stride, room, b, out, k, s):
    """Add one row of a product with a 6 x 7 block; all of it is read before any of it is written."""
    x0, x1, x2, x3 = out[k, s], out[k, s + 1], out[k, s + 2], out[k, s + 3]
    x4, x5, x6 = out[k, s + 4], out[k, s + 5], out[k, s + 6]
    for m in range(6):
        x, z = sign * a[i, p + stride * m], b + 7 * m
        x0, x1, x2, x3 = x0 + x * room[0, z], x1 + x * room[0, z + 1], x2 + x * room[0, z + 2], x3 + x * room[0, z + 3]
        x4, x5, x6 = x4 + x * room[0, z + 4], x5 + x * room[0, z + 5], x6 + x * room[0, z + 6]
    out[k, s], out[k, s + 1], out[k, s + 2], out[k, s + 3] = x0, x1, x2, x3
    out[k, s + 4], out[k, s + 5], out[k, s + 6] = x4, x5, x6


@kernel
def passive_leaf(node, tree, units, constants, nodes, metrics, passive):
    """Write the coefficients of a leaf: the bias of a body that turns, and its inertia."""
    unit = tree[node, to.UNIT]
    i, share = units[unit, to.LAST], abs(nodes[node, to.SHARE])
    clear(to.PASSIVE, passive, node, 0)
    clear(to.METRICS, metrics, node, 0)
    passive[node, to.BODY] = share * constants[i, at.MASS]
    for k in range(9):
        passive[node, to.BODY + 1 + k] = share * constants[i, at.MOMENT + k]
    for k in range(3):
        passive[node, to.TAIL_POSE + 4 * k] = 1.0
    b = to.BODY
    hx, hy, hz = passive[node, b + 1], passive[node, b + 2], passive[node, b + 3]
    xx, xy, xz = passive[node, b + 4], passive[node, b + 5], passive[node, b + 6]
    yy, yz, zz = passive[node, b + 7], passive[node, b + 8], passive[node, b + 9]
    # -[omega x J omega; omega x (omega x h)], column by column of s
    force = (
        (0.0, -yz, yz, -xz, xy, yy - zz, 0.0),
        (xz, 0.0, -xz, yz, zz - xx, -xy, 0.0),
        (-xy, xy, 0.0, xx - yy, -yz, xz, 0.0),
        (0.0, hx, hx, -hy, -hz, 0.0, 0.0),
        (hy, 0.0, hy, -hx, 0.0, -hz, 0.0),
        (hz, hz, 0.0, 0.0, -hx, -hy, 0.0),
    )
    for r in range(6):
        for c in range(7):
            dot = 0.0
            for m in range(6):
                dot += nodes[node, to.P1 + 6 * r + m] * force[m][c]
            passive[node, to.BIAS1 + 7 * r + c] = dot
    copy(42, passive, node, to.BIAS1, passive, node, to.BIAS2)


@kernel
def passive_join(node, tree, units, weights, tau, nodes, metrics, passive, room):
    """Compute the coefficients of a node that has become rigid, from its children's; after `metric_quadratic`.

    ROOM_A, ROOM_G and ROOM_NEAR must hold what `dca.meet` and `metric_quadratic` left there for this node.
    """
    kind, a, b, unit = tree[node, to.KIND], tree[node, to.LEFT], tree[node, to.RIGHT], tree[node, to.UNIT]
    T, L, Delta, C7, B7 = to.ROOM_T, to.ROOM_L, to.ROOM_DELTA, to.ROOM_C7, to.ROOM_B7
    join_rigid(node, tree, nodes, passive, room)
    # C7 = B2A + C - B1B and later P2A - P1B, in the frame of B's head, as functions of s in the head's axes
    _turn_squares(passive, node, to.RIGHT_POSE, room)
    _times_turn(passive, b, to.BIAS1, 6, room, room, 0, B7)
    if kind == to.MERGE:
        copy(42, passive, a, to.BIAS2, room, 0, C7)
    else:
        copy(42, passive, a, to.BIAS2, room, 0, Delta)
        _add_transport(node, a, nodes, passive, room)
        rows_to_child(nodes, node, to.POSE, room, 0, Delta, 7, room, 0, C7)
    for r in range(42):
        room[0, C7 + r] -= room[0, B7 + r]
    clear(42, room, 0, T)
    _add_product(1.0, nodes, node, to.W, room, C7, room, 0, T)
    clear(42, room, 0, L)
    if unit >= 0:
        count = units[unit, to.COUNT]
        for k in range(count):
            force = tau[units[unit, to.FREEDOM + k]]
            for r in range(6):
                x = nodes[node, to.U + 6 * k + r]
                room[0, T + 7 * r + 6] += x * force
                for c in range(7):
                    room[0, L + 7 * k + c] -= x * room[0, C7 + 7 * r + c]
            for m in range(count):
                room[0, L + 7 * k + 6] += nodes[node, to.D + 6 * k + m] * tau[units[unit, to.FREEDOM + m]]
    _slopes(node, tree, units, weights, nodes, passive, room)
    copy(42, passive, a, to.BIAS1, passive, node, to.BIAS1)
    copy(42, passive, a, to.SLOPE1, passive, node, to.SLOPE1)
    _add_product(-1.0, room, 0, to.ROOM_A, room, T, passive, node, to.BIAS1)
    _add_product(-1.0, room, 0, to.ROOM_A, room, Delta, passive, node, to.SLOPE1)
    _add_product(-2.0, room, 0, to.ROOM_NEAR, room, T, passive, node, to.SLOPE1)
    if kind == to.COMPRESS:
        _times_turn(passive, b, to.BIAS2, 6, room, passive, node, to.BIAS2)
        _times_turn(passive, b, to.SLOPE2, 6, room, passive, node, to.SLOPE2)
        _add_transposed(1.0, nodes, b, to.P12, room, T, passive, node, to.BIAS2)
        _add_transposed(1.0, nodes, b, to.P12, room, Delta, passive, node, to.SLOPE2)
        _add_transposed(2.0, metrics, b, to.Y12, room, T, passive, node, to.SLOPE2)
    else:
        copy(42, passive, node, to.BIAS1, passive, node, to.BIAS2)
        copy(42, passive, node, to.SLOPE1, passive, node, to.SLOPE2)


@kernel
def _slopes(node, tree, units, weights, nodes, passive, room):
    """Write Delta and the FLOOR of a node: the part of `passive_join` that belongs to the metric."""
    kind, a, b, unit = tree[node, to.KIND], tree[node, to.LEFT], tree[node, to.RIGHT], tree[node, to.UNIT]
    T, L, Delta, C7, B7, Q, E7 = (
        to.ROOM_T, to.ROOM_L, to.ROOM_DELTA, to.ROOM_C7, to.ROOM_B7, to.ROOM_Q, to.ROOM_E7
    )  # fmt: skip
    _times_turn(passive, b, to.SLOPE1, 6, room, room, 0, B7)
    if kind == to.MERGE:
        copy(42, passive, a, to.SLOPE2, room, 0, C7)
    else:
        rows_to_child(nodes, node, to.POSE, passive, a, to.SLOPE2, 7, room, 0, C7)
    for r in range(42):
        room[0, C7 + r] -= room[0, B7 + r]
    # B7 = G T, Delta = 2 U' A L + W (C7 - 2 B7)
    clear(42, room, 0, B7)
    _add_product(1.0, room, 0, to.ROOM_G, room, T, room, 0, B7)
    for r in range(42):
        room[0, B7 + r] = room[0, C7 + r] - 2.0 * room[0, B7 + r]
    clear(42, room, 0, Delta)
    _add_product(1.0, nodes, node, to.W, room, B7, room, 0, Delta)
    # E = EA + Q' EB Q + L' A L + T' (G T - C7), and G T - C7 = -(B7 + C7) / 2
    for r in range(7):
        for c in range(7):
            dot = 0.0
            for m in range(7):
                dot += passive[b, to.FLOOR + 7 * r + m] * room[0, Q + 7 * m + c]
            room[0, E7 + 7 * r + c] = dot
    for r in range(7):
        for c in range(7):
            dot = passive[a, to.FLOOR + 7 * r + c]
            for m in range(7):
                dot += room[0, Q + 7 * m + r] * room[0, E7 + 7 * m + c]
            for m in range(6):
                x = room[0, B7 + 7 * m + c] + room[0, C7 + 7 * m + c]
                y = room[0, B7 + 7 * m + r] + room[0, C7 + 7 * m + r]
                dot -= 0.25 * (room[0, T + 7 * m + r] * x + room[0, T + 7 * m + c] * y)
            passive[node, to.FLOOR + 7 * r + c] = dot
    if unit >= 0:
        for k in range(units[unit, to.COUNT]):
            for m in range(units[unit, to.COUNT]):
                weight = weights[unit, 6 * k + m]
                for r in range(6):
                    x = 2.0 * weight * nodes[node, to.U + 6 * k + r]
                    for c in range(7):
                        room[0, Delta + 7 * r + c] += x * room[0, L + 7 * m + c]
                for r in range(7):
                    x = weight * room[0, L + 7 * k + r]
                    for c in range(7):
                        passive[node, to.FLOOR + 7 * r + c] += x * room[0, L + 7 * m + c]


@kernel
def _add_transport(node, a, nodes, passive, room):
    """Add omega x (omega x r) of the joint, seen from A's tail, to the rows 3 to 5 of ROOM_DELTA.

    s is in the axes of A's head: omega in the tail's axes is E' omega with E the rotation of TAIL_POSE.
    """
    rx, ry, rz = nodes[node, to.POSE + 9], nodes[node, to.POSE + 10], nodes[node, to.POSE + 11]
    p = to.TAIL_POSE
    e0, e1, e2 = passive[a, p], passive[a, p + 1], passive[a, p + 2]
    e3, e4, e5 = passive[a, p + 3], passive[a, p + 4], passive[a, p + 5]
    e6, e7, e8 = passive[a, p + 6], passive[a, p + 7], passive[a, p + 8]
    # in the head's axes: omega (omega . r) - r omega^2, with r turned there; then back to the tail's axes
    x, y, z = e0 * rx + e1 * ry + e2 * rz, e3 * rx + e4 * ry + e5 * rz, e6 * rx + e7 * ry + e8 * rz
    m = (
        (0.0, -x, -x, y, z, 0.0, 0.0),
        (-y, 0.0, -y, x, 0.0, z, 0.0),
        (-z, -z, 0.0, 0.0, x, y, 0.0),
    )
    for c in range(7):
        m0, m1, m2 = m[0][c], m[1][c], m[2][c]
        room[0, to.ROOM_DELTA + 21 + c] += e0 * m0 + e3 * m1 + e6 * m2
        room[0, to.ROOM_DELTA + 28 + c] += e1 * m0 + e4 * m1 + e7 * m2
        room[0, to.ROOM_DELTA + 35 + c] += e2 * m0 + e5 * m1 + e8 * m2


@kernel
def join_rigid(node, tree, nodes, passive, room):
    """Write where right child and tail of a rigid node are in its head's frame, and its rigid inertia."""
    kind, a, b = tree[node, to.KIND], tree[node, to.LEFT], tree[node, to.RIGHT]
    right, tail = to.RIGHT_POSE, to.TAIL_POSE
    if kind == to.MERGE:
        copy(12, passive, a, tail, passive, node, right)  # the identity
    else:
        compose(passive, a, tail, nodes, node, to.POSE, passive, node, right)
    if kind == to.COMPRESS:
        compose(passive, node, right, passive, b, tail, passive, node, tail)
    else:
        copy(12, passive, a, tail, passive, node, tail)
    copy(10, passive, a, to.BODY, passive, node, to.BODY)
    add_inertia(passive, node, right, passive, b, to.BODY, passive, node, to.BODY)


@leaf
def add_inertia(pose, n, p, body, i, b, out, k, s):
    """Add the rigid inertia of a body at `pose` to another, about the origin of the frame that `pose` is given in."""
    e0, e1, e2, e3 = pose[n, p], pose[n, p + 1], pose[n, p + 2], pose[n, p + 3]
    e4, e5, e6, e7, e8 = pose[n, p + 4], pose[n, p + 5], pose[n, p + 6], pose[n, p + 7], pose[n, p + 8]
    x, y, z = pose[n, p + 9], pose[n, p + 10], pose[n, p + 11]
    m, h0, h1, h2 = body[i, b], body[i, b + 1], body[i, b + 2], body[i, b + 3]
    xx, xy, xz, yy, yz, zz = (
        body[i, b + 4], body[i, b + 5], body[i, b + 6], body[i, b + 7], body[i, b + 8], body[i, b + 9]
    )  # fmt: skip
    hx, hy, hz = e0 * h0 + e1 * h1 + e2 * h2, e3 * h0 + e4 * h1 + e5 * h2, e6 * h0 + e7 * h1 + e8 * h2
    t0, t1, t2 = e0 * xx + e1 * xy + e2 * xz, e0 * xy + e1 * yy + e2 * yz, e0 * xz + e1 * yz + e2 * zz
    t3, t4, t5 = e3 * xx + e4 * xy + e5 * xz, e3 * xy + e4 * yy + e5 * yz, e3 * xz + e4 * yz + e5 * zz
    t6, t7, t8 = e6 * xx + e7 * xy + e8 * xz, e6 * xy + e7 * yy + e8 * yz, e6 * xz + e7 * yz + e8 * zz
    # about the new origin: J + m (r.r - r r') + 2 r.h - r h' - h r'
    rh = x * hx + y * hy + z * hz
    rr = x * x + y * y + z * z
    out[k, s] += m
    out[k, s + 1] += hx + m * x
    out[k, s + 2] += hy + m * y
    out[k, s + 3] += hz + m * z
    diagonal = m * rr + 2.0 * rh
    out[k, s + 4] += t0 * e0 + t1 * e1 + t2 * e2 + diagonal - m * x * x - 2.0 * x * hx
    out[k, s + 5] += t0 * e3 + t1 * e4 + t2 * e5 - m * x * y - x * hy - hx * y
    out[k, s + 6] += t0 * e6 + t1 * e7 + t2 * e8 - m * x * z - x * hz - hx * z
    out[k, s + 7] += t3 * e3 + t4 * e4 + t5 * e5 + diagonal - m * y * y - 2.0 * y * hy
    out[k, s + 8] += t3 * e6 + t4 * e7 + t5 * e8 - m * y * z - y * hz - hy * z
    out[k, s + 9] += t6 * e6 + t7 * e7 + t8 * e8 + diagonal - m * z * z - 2.0 * z * hz
