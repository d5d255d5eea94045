"""The divide-and-conquer algorithm (Featherstone 1999) on an assembly tree whose handles are bodies.

Node C joins A and B by the joint of B's head. Phi1, Phi12 and Phi2 answer a wrench on the head and on the tail of a
node with their accelerations. The join happens in the frame of B's head, where a hinge is the constant e3:

    V = (Phi2A + Phi1B)^-1      D = (S' V S + rotor)^-1      W = V - V S D S' V      U = D S' V
    beta = b2A - b1B + c        gamma = W beta + V S D Q     R = D (Q - S' V beta)
    Phi1C = Phi1A - Phi12A W Phi12A'    Phi2C = Phi2B - Phi12B' W Phi12B    Phi12C = Phi12A W Phi12B
    b1C = b1A - Phi12A gamma            b2C = b2B + Phi12B' gamma
    qdd = R - U d      f = W d + gamma      with d = Phi12A' f1 - Phi12B f2

b is the classical acceleration of an origin when no wrench acts on the handles, as in `kinematics.py`. A `MERGE` welds
two shares of one body together: no joint, S = 0. A `ROOT` hangs a tree on the world.
"""

from __future__ import annotations

from .._jit import kernel, leaf
from . import layout as at
from . import nodes as to
from .blocks import (
    clear,
    columns_to_child,
    copy,
    inverse_spd,
    motion_to_child,
    product,
    project_hinge,
    symmetric_less_abt,
    symmetric_less_atb,
    symmetric_to_child,
    times,
    times_transposed,
    wrench_to_parent,
)
from .linalg import invert_pivots
from .units import chain_bias, chain_pose, hinge_bias, hinge_pose, unit_axes


@leaf
def meet(node, tree, nodes, room):
    """Write K = Phi2A + Phi1B to ROOM_C (lower triangle), and Phi12A with its tail in B's head's frame to ROOM_A."""
    kind, a, b = tree[node, to.KIND], tree[node, to.LEFT], tree[node, to.RIGHT]
    near, total = to.ROOM_A, to.ROOM_C
    if kind == to.MERGE:
        copy(36, nodes, a, to.P1, room, 0, near)
        copy(36, nodes, a, to.P1, room, 0, total)
    elif kind == to.ROOT:
        clear(36, room, 0, total)
    else:
        columns_to_child(nodes, node, to.POSE, nodes, a, to.P12, 6, room, 0, near)
        symmetric_to_child(nodes, node, to.POSE, nodes, a, to.P2, room, 0, total)
    for r in range(36):
        room[0, total + r] += nodes[b, to.P1 + r]


@leaf
def combine(node, tree, nodes, room):
    """Write Phi1, Phi12 and Phi2 of a node from its children's, W, and what `meet` left in ROOM_A.

    Leaves Phi12A W in ROOM_B and, for a compress, W Phi12B in ROOM_C.
    """
    kind, a, b = tree[node, to.KIND], tree[node, to.LEFT], tree[node, to.RIGHT]
    if kind != to.ROOT:
        near, other = to.ROOM_A, to.ROOM_C
        product(room, 0, near, nodes, node, to.W, room, 0, to.ROOM_B)
        symmetric_less_abt(nodes, a, to.P1, room, 0, to.ROOM_B, room, 0, near, nodes, node, to.P1)
        if kind == to.COMPRESS:
            product(nodes, node, to.W, nodes, b, to.P12, room, 0, other)
            symmetric_less_atb(nodes, b, to.P2, nodes, b, to.P12, room, 0, other, nodes, node, to.P2)
            product(room, 0, near, room, 0, other, nodes, node, to.P12)
        else:
            copy(36, nodes, node, to.P1, nodes, node, to.P12)
            copy(36, nodes, node, to.P1, nodes, node, to.P2)


@leaf
def is_hinge(node, tree, units):
    """Return whether a node joins by a single hinge."""
    unit = tree[node, to.UNIT]
    return unit >= 0 and units[unit, to.HINGE] == 1


@kernel
def project(node, unit, units, topology, constants, diagonal, q, nodes, room):
    """Write W, U and D of a joint of any kind (or a weld) from K in ROOM_C; False where it has nothing to move."""
    V, W, U, D, S, VS = to.ROOM_D, to.W, to.U, to.D, to.ROOM_S, to.ROOM_E
    if not inverse_spd(room, 0, to.ROOM_C, room, 0, V):
        return False
    if unit < 0:
        copy(36, room, 0, V, nodes, node, W)
        return True
    count = units[unit, to.COUNT]
    unit_axes(unit, units, topology, constants, q, room)
    scale = 0.0
    for k in range(count):
        times(room, 0, V, room, 0, S + 6 * k, room, 0, VS + 6 * k)
    for k in range(count):
        for m in range(count):
            dot = 0.0
            for r in range(6):
                dot += room[0, S + 6 * k + r] * room[0, VS + 6 * m + r]
            nodes[node, D + 6 * k + m] = dot
        nodes[node, D + 7 * k] += diagonal[units[unit, to.FREEDOM + k]]
        scale += nodes[node, D + 7 * k]
    block = nodes[node, D : D + 36].reshape((6, 6))
    if not invert_pivots(block, 0, 0, count, 1e-14 * scale):
        return False
    copy(36, room, 0, V, nodes, node, W)
    for k in range(count):
        for r in range(6):
            dot = 0.0
            for m in range(count):
                dot += nodes[node, D + 6 * k + m] * room[0, VS + 6 * m + r]
            nodes[node, U + 6 * k + r] = dot
        for r in range(6):
            x = room[0, VS + 6 * k + r]
            for c in range(6):
                nodes[node, W + 6 * r + c] -= x * nodes[node, U + 6 * k + c]
    return True


@leaf
def join_linear(node, tree, units, tau, nodes, room):
    """Compute gamma, R, b1 and b2 of a node; BIAS_C holds c (and the world's pull at a root)."""
    kind, a, b, unit = tree[node, to.KIND], tree[node, to.LEFT], tree[node, to.RIGHT], tree[node, to.UNIT]
    beta, pushed, moved = to.ROOM_X, to.ROOM_Y, to.ROOM_Z
    if kind == to.ROOT:
        clear(6, room, 0, beta)
    else:
        copy(6, nodes, a, to.B2, room, 0, beta)
        if kind != to.MERGE:
            motion_to_child(nodes, node, to.POSE, room, 0, beta)
    for r in range(6):
        room[0, beta + r] += nodes[node, to.BIAS_C + r] - nodes[b, to.B1 + r]
    times(nodes, node, to.W, room, 0, beta, nodes, node, to.GAMMA)
    if unit >= 0:
        count = units[unit, to.COUNT]
        for k in range(count):
            rate = 0.0
            for r in range(6):
                rate -= nodes[node, to.U + 6 * k + r] * room[0, beta + r]
            for m in range(count):
                rate += nodes[node, to.D + 6 * k + m] * tau[units[unit, to.FREEDOM + m]]
            nodes[node, to.RATE + k] = rate
            force = tau[units[unit, to.FREEDOM + k]]
            for r in range(6):
                nodes[node, to.GAMMA + r] += nodes[node, to.U + 6 * k + r] * force
    if kind == to.ROOT:
        return
    copy(6, nodes, node, to.GAMMA, room, 0, pushed)
    if kind != to.MERGE:
        wrench_to_parent(nodes, node, to.POSE, room, 0, pushed)
    times(nodes, a, to.P12, room, 0, pushed, room, 0, moved)
    for r in range(6):
        nodes[node, to.B1 + r] = nodes[a, to.B1 + r] - room[0, moved + r]
    if kind == to.COMPRESS:
        times_transposed(nodes, b, to.P12, nodes, node, to.GAMMA, room, 0, moved)
        for r in range(6):
            nodes[node, to.B2 + r] = nodes[b, to.B2 + r] + room[0, moved + r]
    else:
        copy(6, nodes, node, to.B1, nodes, node, to.B2)


@leaf
def substitute(node, tree, units, nodes, out, room):
    """From the wrenches on head and tail of a node (F1, F2) find qdd of its joint and the wrenches on its children."""
    kind, a, b, unit = tree[node, to.KIND], tree[node, to.LEFT], tree[node, to.RIGHT], tree[node, to.UNIT]
    d, other = to.ROOM_X, to.ROOM_Y
    if kind == to.ROOT:
        clear(6, room, 0, d)
    else:
        if kind != to.COMPRESS:  # one body: whatever acts, acts on the head
            for r in range(6):
                nodes[node, to.F1 + r] += nodes[node, to.F2 + r]
                nodes[node, to.F2 + r] = 0.0
        times_transposed(nodes, a, to.P12, nodes, node, to.F1, room, 0, d)
        if kind != to.MERGE:
            motion_to_child(nodes, node, to.POSE, room, 0, d)
        if kind == to.COMPRESS:
            times(nodes, b, to.P12, nodes, node, to.F2, room, 0, other)
            for r in range(6):
                room[0, d + r] -= room[0, other + r]
    times(nodes, node, to.W, room, 0, d, nodes, b, to.F1)
    for r in range(6):
        nodes[b, to.F1 + r] += nodes[node, to.GAMMA + r]
        nodes[b, to.F2 + r] = nodes[node, to.F2 + r]  # zero but for a compress
    if unit >= 0:
        for k in range(units[unit, to.COUNT]):
            rate = nodes[node, to.RATE + k]
            for r in range(6):
                rate -= nodes[node, to.U + 6 * k + r] * room[0, d + r]
            out[units[unit, to.FREEDOM + k]] = rate
    if kind == to.ROOT:
        return
    copy(6, nodes, b, to.F1, room, 0, other)
    if kind != to.MERGE:
        wrench_to_parent(nodes, node, to.POSE, room, 0, other)
    for r in range(6):
        nodes[a, to.F1 + r] = nodes[node, to.F1 + r]
        nodes[a, to.F2 + r] = -room[0, other + r]


@leaf
def leaf_linear(node, tree, units, constants, wrenches, nodes, room):
    """Write b of a leaf: I^-1 (f - p), with p of its share of the body turning at TURN, all in the body's axes."""
    unit = tree[node, to.UNIT]
    i = units[unit, to.LAST]
    share = nodes[node, to.SHARE]
    w = to.ROOM_X
    clear(6, room, 0, w)
    if share > 0.0:
        copy(6, wrenches, unit, 0, room, 0, w)
    share = abs(share)
    x, y, z = nodes[node, to.TURN], nodes[node, to.TURN + 1], nodes[node, to.TURN + 2]
    J, h = at.INERTIA, at.MOMENT
    jx = constants[i, J] * x + constants[i, J + 1] * y + constants[i, J + 2] * z
    jy = constants[i, J + 1] * x + constants[i, J + 3] * y + constants[i, J + 4] * z
    jz = constants[i, J + 2] * x + constants[i, J + 4] * y + constants[i, J + 5] * z
    hx, hy, hz = constants[i, h], constants[i, h + 1], constants[i, h + 2]
    ex, ey, ez = y * hz - z * hy, z * hx - x * hz, x * hy - y * hx
    room[0, w] -= share * (y * jz - z * jy)
    room[0, w + 1] -= share * (z * jx - x * jz)
    room[0, w + 2] -= share * (x * jy - y * jx)
    room[0, w + 3] -= share * (y * ez - z * ey)
    room[0, w + 4] -= share * (z * ex - x * ez)
    room[0, w + 5] -= share * (x * ey - y * ex)
    times(nodes, node, to.P1, room, 0, w, nodes, node, to.B1)
    copy(6, nodes, node, to.B1, nodes, node, to.B2)


@kernel
def dca(tree, units, wrenches, topology, constants, diagonal, q, v, tau, gravity, nodes, motion, room, out):
    """Write the accelerations into `out`; returns -1, or the unit whose joint has nothing to move.

    `wrenches` (nunits, 6) is what acts on each unit, in its own axes about its origin. The leaves' P1 must hold
    their inverse inertias. `motion` (nunits, 3) is scratch: the angular velocity of each unit.
    """
    for unit in range(units.shape[0]):
        up, node = units[unit, to.UP], units[unit, to.JOINT]
        for r in range(3):
            motion[unit, r] = motion[up, r] if up >= 0 else 0.0
        if units[unit, to.HINGE] == 1:
            hinge_pose(unit, units, topology, constants, q, nodes, node, to.POSE)
            rate = v[units[unit, to.FREEDOM]]
            hinge_bias(rate, nodes, node, to.POSE, nodes, node, to.BIAS_C, motion, unit, 0)
        else:
            chain_pose(unit, units, topology, constants, q, nodes, node, to.POSE, room)
            chain_bias(unit, units, topology, constants, q, v, nodes, node, to.BIAS_C, motion, unit, 0, room)
    for node in range(tree.shape[0]):
        unit, kind = tree[node, to.UNIT], tree[node, to.KIND]
        if kind == to.LEAF:
            copy(3, motion, unit, 0, nodes, node, to.TURN)
            leaf_linear(node, tree, units, constants, wrenches, nodes, room)
            continue
        meet(node, tree, nodes, room)
        if is_hinge(node, tree, units):
            rotor = diagonal[units[unit, to.FREEDOM]]
            good = project_hinge(room, 0, to.ROOM_C, rotor, nodes, node, to.W, to.U, to.D)
        else:
            good = project(node, unit, units, topology, constants, diagonal, q, nodes, room)
        if not good:
            return max(unit, 0)
        combine(node, tree, nodes, room)
        if kind == to.ROOT:
            pull_of_gravity(gravity, node, nodes)
        join_linear(node, tree, units, tau, nodes, room)
    for node in range(tree.shape[0] - 1, -1, -1):
        if tree[node, to.KIND] == to.LEAF:
            continue
        if tree[node, to.KIND] == to.ROOT:
            clear(12, nodes, node, to.F1)
        substitute(node, tree, units, nodes, out, room)
    return -1


@kernel
def pull_of_gravity(gravity, node, nodes):
    """Subtract gravity, as the acceleration of the world, from c of a root."""
    gx, gy, gz = gravity
    p = to.POSE
    for r in range(3):
        along = nodes[node, p + r] * gx + nodes[node, p + 3 + r] * gy + nodes[node, p + 6 + r] * gz
        nodes[node, to.BIAS_C + 3 + r] -= along


@kernel
def unit_wrenches(external, body_links, body_poses_in_link, unit_of_link, units, links, out):
    """Sum the wrenches on the bodies (world axes) to one on each unit, in its own axes, after `move_links`."""
    out[:, :] = 0.0
    for body in range(external.shape[0]):
        link = body_links[body]
        if link < 0:
            continue
        unit = unit_of_link[link]
        row = links[units[unit, to.LAST]]
        own = body_poses_in_link[body]
        f = external[body]
        t0 = row[0] * f[0] + row[3] * f[1] + row[6] * f[2]
        t1 = row[1] * f[0] + row[4] * f[1] + row[7] * f[2]
        t2 = row[2] * f[0] + row[5] * f[1] + row[8] * f[2]
        x = row[0] * f[3] + row[3] * f[4] + row[6] * f[5]
        y = row[1] * f[3] + row[4] * f[4] + row[7] * f[5]
        z = row[2] * f[3] + row[5] * f[4] + row[8] * f[5]
        out[unit, 0] += t0 + own[10] * z - own[11] * y
        out[unit, 1] += t1 + own[11] * x - own[9] * z
        out[unit, 2] += t2 + own[9] * y - own[10] * x
        out[unit, 3] += x
        out[unit, 4] += y
        out[unit, 5] += z


@kernel
def inverse_inertias(tree, units, constants, nodes, room):
    """Write the inverse inertia of every leaf, in its body's axes; returns a singular unit or -1."""
    t = to.ROOM_A
    for node in range(tree.shape[0]):
        if tree[node, to.KIND] != to.LEAF:
            continue
        i, part = units[tree[node, to.UNIT], to.LAST], abs(nodes[node, to.SHARE])
        m, J, h = part * constants[i, at.MASS], at.INERTIA, at.MOMENT
        hx, hy, hz = part * constants[i, h], part * constants[i, h + 1], part * constants[i, h + 2]
        xx, xy, xz = part * constants[i, J], part * constants[i, J + 1], part * constants[i, J + 2]
        yy, yz, zz = part * constants[i, J + 3], part * constants[i, J + 4], part * constants[i, J + 5]
        clear(36, room, 0, t)  # the lower triangle is read
        room[0, t], room[0, t + 6], room[0, t + 7] = xx, xy, yy
        room[0, t + 12], room[0, t + 13], room[0, t + 14] = xz, yz, zz
        room[0, t + 19], room[0, t + 20], room[0, t + 24] = hz, -hy, -hz
        room[0, t + 26], room[0, t + 30], room[0, t + 31] = hx, hy, -hx
        room[0, t + 21] = room[0, t + 28] = room[0, t + 35] = m
        if not inverse_spd(room, 0, t, nodes, node, to.P1):
            return tree[node, to.UNIT]
        copy(36, nodes, node, to.P1, nodes, node, to.P12)
        copy(36, nodes, node, to.P1, nodes, node, to.P2)
    return -1
