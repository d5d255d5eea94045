"""Hybrid bodies: an articulated body in which some joints do not move, flattened into a small one that moves alike.

The active nodes are a part of the assembly tree that contains its root. Every rigid node below them is one body; the
active joints connect these. Between two choices of the active joints that small body is stepped by the ordinary
articulated-body algorithm, and a force on a body costs one constant transform.
"""

from __future__ import annotations

from .._jit import kernel, leaf
from . import acts as act
from . import layout as at
from . import nodes as to
from .blocks import compose, copy
from .kinematics import velocity_links, write_axes
from .spatial import prepare_links


@kernel
def flatten(tree, units, topology, constants, passive, marks, roots, groups, sizes, lists, flat, chain, q_of, v_of):
    """Write the links of the hybrid body of the active nodes into `flat` and `chain` (topology and constants).

    `groups` (nunits, 2) tells of each head of a rigid node the link that it became, and when; `lists` (3, nnodes) takes
    the active nodes (parents first), the rigid nodes below them, and a stack; `q_of` and `v_of` the full indices of the
    small body's coordinates and velocities.
    """
    sizes[to.COUNTER] += 1
    now = sizes[to.COUNTER]
    links = nq = nv = actives = fronts = joints = 0
    for root in roots:
        if marks[root, to.ACTIVE] == 0:
            continue
        top = 0
        lists[2, 0] = root
        while top >= 0:
            node = lists[2, top]
            top -= 1
            if marks[node, to.ACTIVE] == 1:
                lists[0, actives] = node
                actives += 1
                if tree[node, to.UNIT] >= 0:
                    joints += 1
                top += 1
                lists[2, top] = tree[node, to.RIGHT]
                if tree[node, to.LEFT] >= 0:
                    top += 1
                    lists[2, top] = tree[node, to.LEFT]
                continue
            lists[1, fronts] = node
            fronts += 1
            unit = tree[node, to.HEAD]
            if groups[unit, 1] == now:  # another share of a body that is there already
                g = groups[unit, 0]
                for k in range(10):
                    chain[g, at.MASS + k] += passive[node, to.BODY + k]
                continue
            front = holder(unit, tree, units, marks)
            link = -1 if front < 0 else groups[tree[front, to.HEAD], 0]
            for i in range(units[unit, to.FIRST], units[unit, to.LAST] + 1):
                for k in range(at.TOPOLOGY):
                    flat[links, k] = topology[i, k]
                for k in range(at.CONSTANTS):
                    chain[links, k] = constants[i, k]
                if i == units[unit, to.FIRST] and front >= 0 and units[unit, to.UP] != tree[front, to.HEAD]:
                    compose(passive, front, to.TAIL_POSE, constants, i, 0, chain, links, 0)
                flat[links, at.PARENT], flat[links, at.Q], flat[links, at.V], flat[links, to.LINK] = link, nq, nv, i
                count = topology[i, at.DOF]
                for k in range(count):
                    v_of[nv + k] = topology[i, at.V] + k
                nv += count
                if topology[i, at.KIND] == at.SPHERICAL or topology[i, at.KIND] == at.FREE:
                    count += 1
                for k in range(count):
                    q_of[nq + k] = topology[i, at.Q] + k
                nq += count
                link = links
                links += 1
            for k in range(10):
                chain[link, at.MASS + k] = passive[node, to.BODY + k]
            groups[unit, 0], groups[unit, 1] = link, now
    sizes[to.LINKS], sizes[to.COORDINATES], sizes[to.VELOCITIES] = links, nq, nv
    sizes[to.ACTIVES], sizes[to.FRONTS], sizes[to.JOINTS] = actives, fronts, joints


@leaf
def holder(unit, tree, units, marks):
    """Return the rigid node that holds the body which the joint of `unit` hangs on, -1 for the world."""
    joint = units[unit, to.JOINT]
    node = -1
    if tree[joint, to.KIND] != to.ROOT:
        node = tree[joint, to.LEFT]
        while marks[node, to.ACTIVE] == 1:
            node = tree[node, to.RIGHT] if tree[node, to.KIND] == to.COMPRESS else tree[node, to.LEFT]
    return node


@kernel
def place_in_group(unit, leaves, tree, marks, groups, nodes, passive, out, k, s):
    """Write the pose of a unit in its rigid group into the block (out, k, s); returns the group's link, or -1.

    -1 is a body that stands still with the world, and the pose is that in the world.
    """
    node = leaves[unit]
    copy(12, passive, node, to.TAIL_POSE, out, k, s)  # the identity
    up = tree[node, to.PARENT]
    while marks[up, to.ACTIVE] == 0 and tree[up, to.KIND] != to.ROOT:
        if tree[up, to.RIGHT] == node:
            compose(passive, up, to.RIGHT_POSE, out, k, s, out, k, s)
        node = up
        up = tree[node, to.PARENT]
    if marks[up, to.ACTIVE] == 0:
        compose(nodes, up, to.POSE, out, k, s, out, k, s)
        return -1
    return groups[tree[node, to.HEAD], 0]


@kernel
def map_acts(
    springs, spring_links, wrenches, wrench_links, unit_of_link, leaves, tree, marks, groups, nodes, passive, sizes,
    flat_springs, flat_spring_links, kept, flat_wrenches, flat_wrench_links, act_poses,
):  # fmt: skip
    """Rewrite springs and wrenches for the links of the hybrid body; `act_poses` takes the poses of what they hold.

    Springs that hold on to nothing that moves come last. `kept` says of each which one it was, and whether its ends
    changed places. Rows of `act_poses`: first the wrenches, then two for each spring as given, in the order of its ends
    as they are now.
    """
    for k in range(wrenches.shape[0]):
        for c in range(act.WRENCHES):
            flat_wrenches[k, c] = wrenches[k, c]
        flat_wrench_links[k, 1] = wrench_links[k, 1]
        link = wrench_links[k, 0]
        if link >= 0:
            link = place_in_group(unit_of_link[link], leaves, tree, marks, groups, nodes, passive, act_poses, k, 0)
            _move_point(act_poses, k, flat_wrenches, k, act.POINT)
            if wrench_links[k, 1] == 1:
                _turn(act_poses, k, flat_wrenches, k, act.TORQUE)
                _turn(act_poses, k, flat_wrenches, k, act.PUSH)
        flat_wrench_links[k, 0] = link
    pulls, still = 0, springs.shape[0]
    for k in range(springs.shape[0]):
        poses = wrenches.shape[0] + 2 * k
        a, b = spring_links[k, 0], spring_links[k, 1]
        a = place_in_group(unit_of_link[a], leaves, tree, marks, groups, nodes, passive, act_poses, poses, 0)
        if b >= 0:
            b = place_in_group(unit_of_link[b], leaves, tree, marks, groups, nodes, passive, act_poses, poses + 1, 0)
        if a < 0 and b < 0:
            still -= 1
            row = still
        else:
            row = pulls
            pulls += 1
        for c in range(act.SPRINGS):
            flat_springs[row, c] = springs[k, c]
        _move_point(act_poses, poses, flat_springs, row, act.POINT_A)
        if spring_links[k, 1] >= 0:
            _move_point(act_poses, poses + 1, flat_springs, row, act.POINT_B)
        swapped = a < 0 and b >= 0
        if swapped:  # the first end is the one that moves
            a, b = b, a
            for c in range(3):
                x = flat_springs[row, act.POINT_A + c]
                flat_springs[row, act.POINT_A + c] = flat_springs[row, act.POINT_B + c]
                flat_springs[row, act.POINT_B + c] = x
            for c in range(12):
                x = act_poses[poses, c]
                act_poses[poses, c] = act_poses[poses + 1, c]
                act_poses[poses + 1, c] = x
        flat_spring_links[row, 0], flat_spring_links[row, 1] = a, b
        kept[row, 0], kept[row, 1] = k, swapped
    sizes[to.PULLS] = pulls


@leaf
def _move_point(pose, i, x, j, q):
    """Move a point from the frame at `pose` to the one that it is given in, in place."""
    _turn(pose, i, x, j, q)
    for c in range(3):
        x[j, q + c] += pose[i, 9 + c]


@leaf
def _turn(pose, i, x, j, q):
    x0, x1, x2 = x[j, q], x[j, q + 1], x[j, q + 2]
    for c in range(3):
        x[j, q + c] = pose[i, 3 * c] * x0 + pose[i, 3 * c + 1] * x1 + pose[i, 3 * c + 2] * x2


@kernel
def joint_momenta(flat, chain, armature, q, v, links, axes, out):
    """Write the generalised momentum M v of the hybrid body into `out`: S' of the momentum of all beyond each joint."""
    prepare_links(flat, chain, q, v, links, axes)
    write_axes(flat, links, axes)
    velocity_links(flat, v, links, axes)
    P = at.FORCE
    for i in range(flat.shape[0]):
        wx, wy, wz = links[i, at.OMEGA], links[i, at.OMEGA + 1], links[i, at.OMEGA + 2]
        vx, vy, vz = links[i, at.VELOCITY], links[i, at.VELOCITY + 1], links[i, at.VELOCITY + 2]
        m, A = chain[i, at.MASS], at.INERTIA_A
        hx, hy, hz = links[i, at.INERTIA_B + 7], links[i, at.INERTIA_B + 2], links[i, at.INERTIA_B + 3]
        jx = links[i, A] * wx + links[i, A + 1] * wy + links[i, A + 2] * wz
        jy = links[i, A + 1] * wx + links[i, A + 3] * wy + links[i, A + 4] * wz
        jz = links[i, A + 2] * wx + links[i, A + 4] * wy + links[i, A + 5] * wz
        links[i, P], links[i, P + 1] = jx + hy * vz - hz * vy, jy + hz * vx - hx * vz
        links[i, P + 2] = jz + hx * vy - hy * vx
        links[i, P + 3], links[i, P + 4] = m * vx + wy * hz - wz * hy, m * vy + wz * hx - wx * hz
        links[i, P + 5] = m * vz + wx * hy - wy * hx
    for i in range(flat.shape[0] - 1, -1, -1):
        for k in range(flat[i, at.V], flat[i, at.V] + flat[i, at.DOF]):
            dot = armature[k] * v[k]
            for r in range(6):
                dot += axes[k, at.S + r] * links[i, P + r]
            out[k] = dot
        pa = flat[i, at.PARENT]
        if pa >= 0:
            x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
            fx, fy, fz = links[i, P + 3], links[i, P + 4], links[i, P + 5]
            links[pa, P] += links[i, P] + y * fz - z * fy
            links[pa, P + 1] += links[i, P + 1] + z * fx - x * fz
            links[pa, P + 2] += links[i, P + 2] + x * fy - y * fx
            links[pa, P + 3] += fx
            links[pa, P + 4] += fy
            links[pa, P + 5] += fz


@kernel
def unit_wrench(pair, end, poses, row, out, unit):
    """Add what acts on row `end` of `pair` to the wrench on a unit, in the unit's frame.

    `pair` holds links with FORCE only due to one act; the pose of the unit in the link is row `row` of `poses`.
    """
    a, F = pair[end], at.FORCE
    gx = -(a[0] * a[F] + a[3] * a[F + 1] + a[6] * a[F + 2])
    gy = -(a[1] * a[F] + a[4] * a[F + 1] + a[7] * a[F + 2])
    gz = -(a[2] * a[F] + a[5] * a[F + 1] + a[8] * a[F + 2])
    fx = -(a[0] * a[F + 3] + a[3] * a[F + 4] + a[6] * a[F + 5])
    fy = -(a[1] * a[F + 3] + a[4] * a[F + 4] + a[7] * a[F + 5])
    fz = -(a[2] * a[F + 3] + a[5] * a[F + 4] + a[8] * a[F + 5])
    p = poses[row]
    gx, gy, gz = gx - p[10] * fz + p[11] * fy, gy - p[11] * fx + p[9] * fz, gz - p[9] * fy + p[10] * fx
    for c in range(3):
        out[unit, c] += p[c] * gx + p[3 + c] * gy + p[6 + c] * gz
        out[unit, 3 + c] += p[c] * fx + p[3 + c] * fy + p[6 + c] * fz
