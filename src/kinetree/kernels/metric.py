"""The acceleration metric of a node without the accelerations of its joints (Redon 2005, Theorems 1 and 2).

    A(C) = f1' Psi1 f1 + 2 f1' Psi12 f2 + f2' Psi2 f2 + f1' p1 + f2' p2 + eta
    G = Psi2A + Psi1B     N = U' A U     P = Phi12A   Q = Phi12B   R = Psi12A   S = Psi12B
    H = R - P W G         E = S - G W Q
    Psi1C  = Psi1A - P W H' - R W P' + P N P'
    Psi2C  = Psi2B - Q' W E - S' W Q + Q' N Q
    Psi12C = R W Q + P W E - P N Q
    Z   = 2 U' A R + W (p2A - p1B) - 2 W G gamma
    p1C = p1A - Phi12A Z - 2 Psi12A gamma       p2C = p2B + Phi12B' Z + 2 Psi12B' gamma
    eta = etaA + etaB + R' A R + gamma' G gamma - gamma' (p2A - p1B)

The papers' Y = N + W G W is never formed: P W and W Q are there already, and take four products instead of eight.
Everything of A's tail is moved to the frame of B's head first, as in `dca.py`. A leaf has no joint: all are zero.
"""

from __future__ import annotations

from .._jit import kernel, leaf
from . import nodes as to
from .blocks import (
    clear,
    columns_to_child,
    copy,
    motion_to_child,
    product,
    symmetric_less_abt,
    symmetric_less_atb,
    symmetric_to_child,
    times,
    times_transposed,
    wrench_to_parent,
)


@kernel
def metric_quadratic(node, tree, units, weights, nodes, metrics, room):
    """Compute Psi1, Psi12 and Psi2 of a node from its children's; right after `dca.meet` and `dca.combine` of it."""
    kind, a, b, unit = tree[node, to.KIND], tree[node, to.LEFT], tree[node, to.RIGHT], tree[node, to.UNIT]
    if kind == to.ROOT:
        return
    G, nearY, N = to.ROOM_G, to.ROOM_NEAR, to.ROOM_N
    if kind == to.MERGE:
        copy(36, metrics, a, to.Y12, room, 0, nearY)
        copy(36, metrics, a, to.Y2, room, 0, G)
    else:
        columns_to_child(nodes, node, to.POSE, metrics, a, to.Y12, 6, room, 0, nearY)
        symmetric_to_child(nodes, node, to.POSE, metrics, a, to.Y2, room, 0, G)
    for r in range(6):
        for c in range(r + 1):
            room[0, G + 6 * r + c] += metrics[b, to.Y1 + 6 * r + c]
            room[0, G + 6 * c + r] = room[0, G + 6 * r + c]
    PW, WQ, H, E = to.ROOM_B, to.ROOM_C, to.ROOM_M, to.ROOM_D
    product(room, 0, PW, room, 0, G, room, 0, H)
    for r in range(36):
        room[0, H + r] = room[0, nearY + r] - room[0, H + r]
    symmetric_less_abt(metrics, a, to.Y1, room, 0, PW, room, 0, H, metrics, node, to.Y1)
    symmetric_less_abt(metrics, node, to.Y1, room, 0, nearY, room, 0, PW, metrics, node, to.Y1)
    if kind == to.COMPRESS:
        product(room, 0, G, room, 0, WQ, room, 0, E)
        for r in range(36):
            room[0, E + r] = metrics[b, to.Y12 + r] - room[0, E + r]
        product(room, 0, nearY, room, 0, WQ, metrics, node, to.Y12)
        product(room, 0, PW, room, 0, E, room, 0, N)
        for r in range(36):
            metrics[node, to.Y12 + r] += room[0, N + r]
        symmetric_less_atb(metrics, b, to.Y2, room, 0, WQ, room, 0, E, metrics, node, to.Y2)
        symmetric_less_atb(metrics, node, to.Y2, metrics, b, to.Y12, room, 0, WQ, metrics, node, to.Y2)
    if unit >= 0:
        _add_joint(node, tree, units, weights, nodes, metrics, room)
    if kind != to.COMPRESS:
        copy(36, metrics, node, to.Y1, metrics, node, to.Y12)
        copy(36, metrics, node, to.Y1, metrics, node, to.Y2)


@leaf
def _add_joint(node, tree, units, weights, nodes, metrics, room):
    """Add what the node's own joint does, N = U' A U seen from the handles: P N P', -P N Q and Q' N Q."""
    kind, b, unit = tree[node, to.KIND], tree[node, to.RIGHT], tree[node, to.UNIT]
    PU, QU, count = to.ROOM_S, to.ROOM_E, units[unit, to.COUNT]
    for k in range(count):
        times(room, 0, to.ROOM_A, nodes, node, to.U + 6 * k, room, 0, PU + 6 * k)
        if kind == to.COMPRESS:
            times_transposed(nodes, b, to.P12, nodes, node, to.U + 6 * k, room, 0, QU + 6 * k)
    for k in range(count):
        for m in range(count):
            weight = weights[unit, 6 * k + m]
            if weight == 0.0:
                continue
            p, q = PU + 6 * m, QU + 6 * m
            for r in range(6):
                x, y = weight * room[0, PU + 6 * k + r], weight * room[0, QU + 6 * k + r]
                for c in range(6):
                    metrics[node, to.Y1 + 6 * r + c] += x * room[0, p + c]
                if kind == to.COMPRESS:
                    for c in range(6):
                        metrics[node, to.Y12 + 6 * r + c] -= x * room[0, q + c]
                        metrics[node, to.Y2 + 6 * r + c] += y * room[0, q + c]


@kernel
def metric_linear(node, tree, units, weights, nodes, metrics, room):
    """Compute p1, p2 and eta of a node from its children's; right after `dca.join_linear` of it."""
    kind, a, b, unit = tree[node, to.KIND], tree[node, to.LEFT], tree[node, to.RIGHT], tree[node, to.UNIT]
    jump, pushed, Z, other = to.ROOM_X, to.ROOM_Y, to.ROOM_Z, to.ROOM_S  # jump = p2A - p1B, pushed = G gamma
    gamma, moved = to.GAMMA, to.ROOM_S + 6
    times(metrics, b, to.Y1, nodes, node, gamma, room, 0, pushed)
    eta = metrics[b, to.ETA]
    if kind == to.ROOT:
        clear(6, room, 0, jump)
    else:
        eta += metrics[a, to.ETA]
        copy(6, metrics, a, to.LINEAR2, room, 0, jump)
        copy(6, nodes, node, gamma, room, 0, moved)  # gamma in the frame of A's tail
        if kind != to.MERGE:
            motion_to_child(nodes, node, to.POSE, room, 0, jump)
            wrench_to_parent(nodes, node, to.POSE, room, 0, moved)
        times(metrics, a, to.Y2, room, 0, moved, room, 0, other)
        if kind != to.MERGE:
            motion_to_child(nodes, node, to.POSE, room, 0, other)
        for r in range(6):
            room[0, pushed + r] += room[0, other + r]
    for r in range(6):
        room[0, jump + r] -= metrics[b, to.LINEAR1 + r]
        room[0, other + r] = room[0, jump + r] - 2.0 * room[0, pushed + r]
        eta += nodes[node, gamma + r] * (room[0, pushed + r] - room[0, jump + r])
    times(nodes, node, to.W, room, 0, other, room, 0, Z)
    if unit >= 0:
        for k in range(units[unit, to.COUNT]):
            for m in range(units[unit, to.COUNT]):
                x = weights[unit, 6 * k + m] * nodes[node, to.RATE + m]
                eta += x * nodes[node, to.RATE + k]
                for r in range(6):
                    room[0, Z + r] += 2.0 * x * nodes[node, to.U + 6 * k + r]
    metrics[node, to.ETA] = eta
    if kind == to.ROOT:
        return
    if kind == to.COMPRESS:
        times_transposed(metrics, b, to.Y12, nodes, node, gamma, metrics, node, to.LINEAR2)
        times_transposed(nodes, b, to.P12, room, 0, Z, room, 0, other)
        for r in range(6):
            metrics[node, to.LINEAR2 + r] = (
                metrics[b, to.LINEAR2 + r] + room[0, other + r] + 2.0 * metrics[node, to.LINEAR2 + r]
            )
    if kind != to.MERGE:
        wrench_to_parent(nodes, node, to.POSE, room, 0, Z)
    times(metrics, a, to.Y12, room, 0, moved, metrics, node, to.LINEAR1)
    times(nodes, a, to.P12, room, 0, Z, room, 0, other)
    for r in range(6):
        metrics[node, to.LINEAR1 + r] = (
            metrics[a, to.LINEAR1 + r] - room[0, other + r] - 2.0 * metrics[node, to.LINEAR1 + r]
        )
    if kind != to.COMPRESS:
        copy(6, metrics, node, to.LINEAR1, metrics, node, to.LINEAR2)


@leaf
def metric_value(node, tree, nodes, metrics):
    """Return A(node) for the wrenches F1 and F2 that act on it; never negative."""
    total = metrics[node, to.ETA]
    if tree[node, to.KIND] == to.COMPRESS:
        for r in range(6):
            f1, f2 = nodes[node, to.F1 + r], nodes[node, to.F2 + r]
            total += f1 * metrics[node, to.LINEAR1 + r] + f2 * metrics[node, to.LINEAR2 + r]
            for c in range(6):
                g1, g2 = nodes[node, to.F1 + c], nodes[node, to.F2 + c]
                total += f1 * metrics[node, to.Y1 + 6 * r + c] * g1 + f2 * metrics[node, to.Y2 + 6 * r + c] * g2
                total += 2.0 * f1 * metrics[node, to.Y12 + 6 * r + c] * g2
    else:
        for r in range(6):
            f1 = nodes[node, to.F1 + r] + nodes[node, to.F2 + r]
            total += f1 * metrics[node, to.LINEAR1 + r]
            for c in range(6):
                g1 = nodes[node, to.F1 + c] + nodes[node, to.F2 + c]
                total += f1 * metrics[node, to.Y1 + 6 * r + c] * g1
    return max(total, 0.0)
