"""Which joints should move: the active region is chosen by the metrics (Redon 2005, sections 5 and 6).

Coefficients of active nodes are computed anew, those of nodes that move as one come from `passive.py`, and nodes inside
which a force acts are computed from the body that it acts on up to the first active one.
"""

from __future__ import annotations

import math

from .._jit import kernel, leaf
from . import acts as act
from . import layout as at
from . import nodes as to
from .blocks import clear, copy, project_hinge, turn_to_child
from .dca import combine, is_hinge, join_linear, leaf_linear, meet, project, pull_of_gravity, substitute
from .hybrid import holder, unit_wrench
from .metric import metric_linear, metric_quadratic, metric_value
from .passive import passive_join, passive_linear
from .queue import drop_first, push
from .units import chain_bias, chain_pose, hinge_bias, hinge_pose


@kernel
def refresh(node, tree, units, topology, constants, diagonal, q, weights, nodes, metrics, room):
    """Compute what a node answers with, and its metric, at the present position of its joint; False if singular."""
    unit = tree[node, to.UNIT]
    if tree[node, to.KIND] != to.MERGE:
        if units[unit, to.HINGE] == 1:
            hinge_pose(unit, units, topology, constants, q, nodes, node, to.POSE)
        else:
            chain_pose(unit, units, topology, constants, q, nodes, node, to.POSE, room)
    meet(node, tree, nodes, room)
    if is_hinge(node, tree, units):
        rotor = diagonal[units[unit, to.FREEDOM]]
        good = project_hinge(room, 0, to.ROOM_C, rotor, nodes, node, to.W, to.U, to.D)
    else:
        good = project(node, unit, units, topology, constants, diagonal, q, nodes, room)
    if good:
        combine(node, tree, nodes, room)
        metric_quadratic(node, tree, units, weights, nodes, metrics, room)
    return good


@kernel
def rigidify(node, tree, units, topology, constants, diagonal, q, tau, weights, nodes, metrics, passive, room):
    """Compute everything of a node that has come to rest in itself, from its children's; False if singular."""
    good = refresh(node, tree, units, topology, constants, diagonal, q, weights, nodes, metrics, room)
    if good and tree[node, to.KIND] != to.ROOT:
        passive_join(node, tree, units, weights, tau, nodes, metrics, passive, room)
    return good


@kernel
def forces_inside(
    flat_springs, flat_spring_links, flat_wrenches, flat_wrench_links, kept, act_poses, spring_links, wrench_links,
    time, links, pair, unit_of_link, leaves, tree, marks, sizes, lists, wrenches,
):  # fmt: skip
    """Find the wrench on every unit that a spring or applied force acts on, and the rigid nodes that it acts inside.

    The tables are those that `hybrid.map_acts` wrote, `links` the moved links of the hybrid body; `spring_links` and
    `wrench_links` are the original ones. The nodes go to the third of the `lists`, sorted.
    """
    sizes[to.COUNTER] += 1
    now = sizes[to.COUNTER]
    count = 0
    nw = flat_wrenches.shape[0]
    for k in range(nw):
        if wrench_links[k, 0] < 0 or time >= flat_wrenches[k, act.UNTIL]:
            continue
        _borrow(links, flat_wrench_links[k, 0], pair, 0)
        act.wrench(flat_wrenches, k, flat_wrench_links[k, 1] == 1, pair, 0)
        unit = unit_of_link[wrench_links[k, 0]]
        count = _mark(unit, leaves, tree, marks, now, lists, count, wrenches)
        unit_wrench(pair, 0, act_poses, k, wrenches, unit)
    for k in range(flat_springs.shape[0]):
        original = kept[k, 0]
        first, second = spring_links[original, 0], spring_links[original, 1]
        if kept[k, 1] == 1:
            first, second = second, first
        _borrow(links, flat_spring_links[k, 0], pair, 0)
        _borrow(links, flat_spring_links[k, 1], pair, 1)
        act.spring(flat_springs[k], 0, 1 if second >= 0 else -1, pair)
        for end in range(2 if second >= 0 else 1):
            unit = unit_of_link[first if end == 0 else second]
            count = _mark(unit, leaves, tree, marks, now, lists, count, wrenches)
            unit_wrench(pair, end, act_poses, nw + 2 * original + end, wrenches, unit)
    sizes[to.FORCES] = count
    _sort(lists, 2, count)


@kernel
def _sort(lists, row, count):
    """Sort the first numbers of a row (Shell, with the gaps of Ciura), which are nearly in order most often."""
    gap = 701
    while gap > 0:
        for k in range(gap, count):
            x, i = lists[row, k], k
            while i >= gap and lists[row, i - gap] > x:
                lists[row, i] = lists[row, i - gap]
                i -= gap
            lists[row, i] = x
        gap = 0 if gap == 1 else max(1, int(gap / 2.3))


@leaf
def _borrow(links, i, pair, end):
    """Copy what a force needs of a link, without the forces on it; a link of -1 stands still in the world's frame."""
    if i >= 0:
        for k in range(at.LINKS):
            pair[end, k] = links[i, k]
    else:
        for k in range(at.LINKS):
            pair[end, k] = 0.0
        pair[end, 0] = pair[end, 4] = pair[end, 8] = 1.0
    for k in range(6):
        pair[end, at.FORCE + k] = 0.0


@kernel
def _mark(unit, leaves, tree, marks, now, lists, count, wrenches):
    """Add a unit's leaf and the rigid nodes above it to the list, once; returns the length of the list."""
    node = leaves[unit]
    if marks[node, to.FORCED] != now:
        clear(6, wrenches, unit, 0)
    while marks[node, to.FORCED] != now and marks[node, to.ACTIVE] == 0 and tree[node, to.KIND] != to.ROOT:
        marks[node, to.FORCED] = now
        lists[2, count] = node
        count += 1
        node = tree[node, to.PARENT]
    return count


@kernel
def upward_pass(
    tree, units, topology, constants, v, tau, diagonal, gravity, weights, nodes, metrics, passive, marks, groups, roots,
    sizes, lists, links, wrenches, q, room,
):  # fmt: skip
    """Compute the linear coefficients of the rigid nodes below the active ones and those a force acts in, then all of
    the active nodes'.

    `links` are the moved links of the hybrid body.
    """
    for k in range(sizes[to.FRONTS]):
        node = lists[1, k]
        g = groups[tree[node, to.HEAD], 0]
        for r in range(3):
            nodes[node, to.TURN + r] = links[g, at.OMEGA + r]
        turn_to_child(links, g, 0, nodes, node, to.TURN)
        passive_linear(node, tree, passive, nodes, metrics, room)
    for root in roots:
        if marks[root, to.ACTIVE] == 0:  # a tree that stands still with the world
            clear(3, nodes, tree[root, to.RIGHT], to.TURN)
            passive_linear(tree[root, to.RIGHT], tree, passive, nodes, metrics, room)
    for k in range(sizes[to.FORCES] - 1, -1, -1):
        turn_children(lists[2, k], tree, nodes, passive)
    for k in range(sizes[to.FORCES]):
        node = lists[2, k]
        if tree[node, to.KIND] == to.LEAF:
            leaf_linear(node, tree, units, constants, wrenches, nodes, room)
            continue
        a, b = tree[node, to.LEFT], tree[node, to.RIGHT]
        if marks[a, to.FORCED] != marks[node, to.FORCED]:
            passive_linear(a, tree, passive, nodes, metrics, room)
        if marks[b, to.FORCED] != marks[node, to.FORCED]:
            passive_linear(b, tree, passive, nodes, metrics, room)
        rigid_bias(node, tree, nodes, passive, room)
        join_linear(node, tree, units, tau, nodes, room)
        metric_linear(node, tree, units, weights, nodes, metrics, room)
    for root in roots:
        if marks[root, to.ACTIVE] == 0:
            clear(6, nodes, root, to.BIAS_C)
            pull_of_gravity(gravity, root, nodes)
            join_linear(root, tree, units, tau, nodes, room)
            metric_linear(root, tree, units, weights, nodes, metrics, room)
    for k in range(sizes[to.ACTIVES] - 1, -1, -1):
        node = lists[0, k]
        refresh(node, tree, units, topology, constants, diagonal, q, weights, nodes, metrics, room)
        unit, omega = tree[node, to.UNIT], to.ROOM_OMEGA
        if tree[node, to.KIND] != to.MERGE:
            clear(3, room, 0, omega)
            front = holder(unit, tree, units, marks)
            if front >= 0:
                copy(3, nodes, front, to.TURN, room, 0, omega)
                if units[unit, to.UP] != tree[front, to.HEAD]:
                    turn_to_child(passive, front, to.TAIL_POSE, room, 0, omega)
            if units[unit, to.HINGE] == 1:
                rate = v[units[unit, to.FREEDOM]]
                hinge_bias(rate, nodes, node, to.POSE, nodes, node, to.BIAS_C, room, 0, omega)
            else:
                chain_bias(unit, units, topology, constants, q, v, nodes, node, to.BIAS_C, room, 0, omega, room)
            if tree[node, to.KIND] == to.ROOT:
                pull_of_gravity(gravity, node, nodes)
        join_linear(node, tree, units, tau, nodes, room)
        metric_linear(node, tree, units, weights, nodes, metrics, room)


@kernel
def turn_children(node, tree, nodes, passive):
    """Write TURN of the children of a rigid node from its own."""
    if tree[node, to.KIND] != to.LEAF:
        a, b = tree[node, to.LEFT], tree[node, to.RIGHT]
        copy(3, nodes, node, to.TURN, nodes, a, to.TURN)
        copy(3, nodes, node, to.TURN, nodes, b, to.TURN)
        turn_to_child(passive, node, to.RIGHT_POSE, nodes, b, to.TURN)


@kernel
def rigid_bias(node, tree, nodes, passive, room):
    """Write c of a joint that does not move, from TURN of the left child."""
    if tree[node, to.KIND] != to.MERGE:
        a = tree[node, to.LEFT]
        copy(3, nodes, a, to.TURN, room, 0, to.ROOM_OMEGA)
        turn_to_child(passive, a, to.TAIL_POSE, room, 0, to.ROOM_OMEGA)
        hinge_bias(0.0, nodes, node, to.POSE, nodes, node, to.BIAS_C, room, 0, to.ROOM_OMEGA)


@kernel
def choose_by_acceleration(
    tree, units, tau, weights, scale, nodes, metrics, passive, marks, roots, sizes, keys, items, most, error, out, room
):
    """Go down from the roots to the joints that accelerate most, and mark them; returns the error that is left.

    Stops after `most` joints, or when the square of the error (weighted by `scale` of each tree) is at most the square
    of `error` (a negative one never stops). Joints that no mark reaches are taken not to accelerate. The accelerations
    found go to `out`.
    """
    sizes[to.COUNTER] += 1
    now = sizes[to.COUNTER]
    count = joints = 0
    left = 0.0
    limit = error * error if error >= 0.0 else -math.inf
    for root in roots:
        clear(12, nodes, root, to.F1)
        value = max(metrics[root, to.ETA], 0.0) * scale[tree[root, to.ROOT_OF]]
        left += value
        floats = units[tree[root, to.UNIT], to.COUNT] == 6
        count = push(keys, items, count, math.inf if floats else value, root)
    while count > 0 and (keys[0] == math.inf or (joints < most and left > limit)):
        node = items[0]
        count = drop_first(keys, items, count)
        marks[node, to.CHOSEN] = now
        unit, kind = tree[node, to.UNIT], tree[node, to.KIND]
        if unit >= 0:
            joints += 1
        a, b = tree[node, to.LEFT], tree[node, to.RIGHT]
        if marks[node, to.ACTIVE] == 0 and kind != to.ROOT:
            turn_children(node, tree, nodes, passive)
            if marks[node, to.FORCED] != sizes[to.COUNTER] - 1:
                passive_linear(a, tree, passive, nodes, metrics, room)
                passive_linear(b, tree, passive, nodes, metrics, room)
                rigid_bias(node, tree, nodes, passive, room)
                join_linear(node, tree, units, tau, nodes, room)
        substitute(node, tree, units, nodes, out, room)
        weight = scale[tree[node, to.ROOT_OF]]
        if unit >= 0:
            for k in range(units[unit, to.COUNT]):
                for m in range(units[unit, to.COUNT]):
                    x = out[units[unit, to.FREEDOM + k]] * out[units[unit, to.FREEDOM + m]]
                    left -= weight * weights[unit, 6 * k + m] * x
        for child in (a, b):
            if child >= 0 and tree[child, to.KIND] != to.LEAF:
                value = weight * metric_value(child, tree, nodes, metrics)
                count = push(keys, items, count, value, child)
    return math.sqrt(max(left, 0.0))


@kernel
def speeds(tree, units, v, weights, scale, passive, marks, sizes, lists):
    """Write the velocity metric of the active nodes, the sum of v' V v over the joints of each (SPEED)."""
    for k in range(sizes[to.ACTIVES] - 1, -1, -1):
        node = lists[0, k]
        unit = tree[node, to.UNIT]
        total = 0.0
        for child in (tree[node, to.LEFT], tree[node, to.RIGHT]):
            if child >= 0 and marks[child, to.ACTIVE] == 1:
                total += passive[child, to.SPEED]
        if unit >= 0:
            weight = scale[tree[node, to.ROOT_OF]]
            for i in range(units[unit, to.COUNT]):
                for j in range(units[unit, to.COUNT]):
                    x = v[units[unit, to.FREEDOM + i]] * v[units[unit, to.FREEDOM + j]]
                    total += weight * weights[unit, 6 * i + j] * x
        passive[node, to.SPEED] = total


@kernel
def choose_by_velocity(tree, units, passive, marks, roots, sizes, keys, items, most, error):
    """Go down from the roots to the active joints that move most, and mark them; returns the number of the choice.

    After `speeds`; it stops as `choose_by_acceleration` does.
    """
    sizes[to.COUNTER] += 1
    now = sizes[to.COUNTER]
    count = joints = 0
    left = 0.0
    limit = error * error if error >= 0.0 else -math.inf
    for root in roots:
        if marks[root, to.ACTIVE] == 1:
            left += passive[root, to.SPEED]
            floats = units[tree[root, to.UNIT], to.COUNT] == 6
            count = push(keys, items, count, math.inf if floats else passive[root, to.SPEED], root)
    while count > 0 and (keys[0] == math.inf or (joints < most and left > limit)):
        node = items[0]
        count = drop_first(keys, items, count)
        marks[node, to.CHOSEN] = now
        left -= passive[node, to.SPEED]
        if tree[node, to.UNIT] >= 0:
            joints += 1
        for child in (tree[node, to.LEFT], tree[node, to.RIGHT]):
            if child >= 0 and marks[child, to.ACTIVE] == 1:
                left += passive[child, to.SPEED]
                count = push(keys, items, count, passive[child, to.SPEED], child)
    return now
