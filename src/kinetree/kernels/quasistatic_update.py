"""The lazy update of the assembly tree: nodes whose joint moved or which lie above a changed force, each once.

Redon and Lin (2006), section 5. Velocities are zero, so there are no velocity terms: b, p and eta come from forces
alone. A joint's spring, damper and stop are taken at the end of the step, as `acts.joint_acts` does.
"""

from __future__ import annotations

from .._jit import kernel, leaf
from . import acts as act
from . import layout as at
from . import nodes as to
from . import quasistatic_rows as row
from .blocks import clear, compose, copy, project_hinge, times
from .dca import combine, is_hinge, join_linear, meet, project, pull_of_gravity
from .manifold import difference
from .metric import metric_linear, metric_quadratic
from .units import chain_pose, hinge_pose, link_pose


@leaf
def wait(node, how, marks, first):
    """Let a node wait for the next update; `how` is LINEAR or ALL."""
    if marks[node, row.PENDING] == row.NOTHING:
        level = marks[node, row.LEVEL]
        marks[node, row.NEXT] = first[level]
        first[level] = node
        marks[node, row.PENDING] = how
    elif how > marks[node, row.PENDING]:
        marks[node, row.PENDING] = how


@kernel
def wait_upwards(node, how, tree, marks, first):
    """Let a node and all above it wait, up to where they do already."""
    while node >= 0 and marks[node, row.PENDING] < how:
        wait(node, how, marks, first)
        node = tree[node, to.PARENT]


@kernel
def wait_all(marks, first):
    """Let every node wait."""
    for node in range(marks.shape[0]):
        wait(node, row.ALL, marks, first)


@kernel
def joint_forces(unit, units, topology, acts, armature, h, q, stretch, tau, diagonal):
    """Write force and effective rotor inertia of the freedoms of one joint at rest, as `acts.joint_acts` does."""
    springy, stopped = acts.stiffness.shape[0] > 0, acts.stops.shape[0] > 0
    if springy or stopped:
        for i in range(units[unit, to.FIRST], units[unit, to.LAST] + 1):
            difference(topology[i : i + 1], acts.rest, q, stretch)
    for n in range(units[unit, to.COUNT]):
        k = units[unit, to.FREEDOM + n]
        tau[k], diagonal[k] = acts.feed[k], armature[k]
        if acts.damping.shape[0] > 0:
            diagonal[k] += h * (acts.damping[k] + acts.friction[k] / act.CREEP)
        if springy:
            tau[k] -= acts.stiffness[k] * stretch[k]
            diagonal[k] += h * h * acts.stiffness[k]
        if stopped:
            act.stop(acts.stops, k, stretch[k], 0.0, h, tau, diagonal)


@kernel
def collect_forced(tree, leaves, marks, tally, loaded, forced, counts):
    """List the nodes that a force acts inside, by levels from below, each once: their number goes to FORCED_NODES."""
    tally[:] = 0
    for sweep in range(2):  # count, then write
        counts[row.COLLECTION] += 1
        now = counts[row.COLLECTION]
        for k in range(counts[row.LOADED]):
            node = leaves[loaded[k]]
            while node >= 0 and marks[node, row.FORCED] != now:
                marks[node, row.FORCED] = now
                level = marks[node, row.LEVEL]
                if sweep == 1:
                    forced[tally[level]] = node
                tally[level] += 1
                node = tree[node, to.PARENT]
        if sweep == 0:
            total = 0
            for level in range(tally.shape[0]):
                total, tally[level] = total + tally[level], total
            counts[row.FORCED_NODES] = total


@leaf
def frames_of(node, tree, nodes, frames):
    """Write where right child and tail are in the head's frame of a node (equations 10 and 11), after its POSE."""
    kind, a, b = tree[node, to.KIND], tree[node, to.LEFT], tree[node, to.RIGHT]
    if kind == to.ROOT:
        copy(12, nodes, node, to.POSE, frames, node, row.RIGHT)
    elif kind == to.MERGE:  # shares of one body: both are the identity
        copy(12, frames, a, row.TAIL, frames, node, row.RIGHT)
        copy(12, frames, a, row.TAIL, frames, node, row.TAIL)
    else:
        compose(frames, a, row.TAIL, nodes, node, to.POSE, frames, node, row.RIGHT)
        if kind == to.COMPRESS:
            compose(frames, node, row.RIGHT, frames, b, row.TAIL, frames, node, row.TAIL)
        else:
            copy(12, frames, a, row.TAIL, frames, node, row.TAIL)


@kernel
def world_of_unit(unit, tree, leaves, frames, out, k, s):
    """Write where a unit is in the world into the block (out, k, s): one path up the assembly tree, nothing else."""
    node = leaves[unit]
    copy(12, frames, node, row.TAIL, out, k, s)  # the identity
    while tree[node, to.PARENT] >= 0:
        parent = tree[node, to.PARENT]
        if tree[parent, to.RIGHT] == node:
            compose(frames, parent, row.RIGHT, out, k, s, out, k, s)
        node = parent


@kernel
def world_of_link(link, unit, units, topology, constants, q, tree, leaves, frames, room, out):
    """Write the pose (12) of a link in the world into `out` (1, 12); massless links are part of their unit's joint."""
    if units[unit, to.LAST] == link:
        world_of_unit(unit, tree, leaves, frames, out, 0, 0)
        return
    up = units[unit, to.UP]
    if up >= 0:
        world_of_unit(up, tree, leaves, frames, out, 0, 0)
    else:
        clear(12, out, 0, 0)
        out[0, 0] = out[0, 4] = out[0, 8] = 1.0
    for i in range(units[unit, to.FIRST], link + 1):
        link_pose(i, topology, constants, q, room, 0, to.ROOM_OWN, room)
        compose(out, 0, 0, room, 0, to.ROOM_OWN, out, 0, 0)


@leaf
def _turned_back(frames, node, x, y, z):
    """Return a vector in world axes as one in the axes of a forced node's head."""
    w = row.WORLD
    return (
        frames[node, w] * x + frames[node, w + 3] * y + frames[node, w + 6] * z,
        frames[node, w + 1] * x + frames[node, w + 4] * y + frames[node, w + 7] * z,
        frames[node, w + 2] * x + frames[node, w + 5] * y + frames[node, w + 8] * z,
    )


@kernel
def _wrenches_on_units(loads, tree, leaves, frames, loaded, wrenches, pair, marks, first, counts):
    """Write the wrench on every loaded unit; those that another one acts on now wait, with all nodes above."""
    table, of, springs, ends = loads.wrenches, loads.wrench_units, loads.springs, loads.spring_units
    count = counts[row.LOADED]
    for k in range(count):
        unit = loaded[k]
        copy(6, wrenches, unit, 0, wrenches, unit, 6)
        clear(6, wrenches, unit, 0)
    for k in range(of.shape[0]):
        unit = of[k, 0]
        fx, fy, fz = table[k, act.PUSH], table[k, act.PUSH + 1], table[k, act.PUSH + 2]
        tx, ty, tz = table[k, act.TORQUE], table[k, act.TORQUE + 1], table[k, act.TORQUE + 2]
        if of[k, 1] == 0:
            fx, fy, fz = _turned_back(frames, leaves[unit], fx, fy, fz)
            tx, ty, tz = _turned_back(frames, leaves[unit], tx, ty, tz)
        x, y, z = table[k, act.POINT], table[k, act.POINT + 1], table[k, act.POINT + 2]
        wrenches[unit, 0] += tx + y * fz - z * fy
        wrenches[unit, 1] += ty + z * fx - x * fz
        wrenches[unit, 2] += tz + x * fy - y * fx
        wrenches[unit, 3] += fx
        wrenches[unit, 4] += fy
        wrenches[unit, 5] += fz
    for k in range(springs.shape[0]):
        last = 2 if ends[k, 1] >= 0 else 1
        for end in range(last):
            node = leaves[ends[k, end]]
            clear(at.LINKS, pair, end, 0)
            copy(9, frames, node, row.WORLD, pair, end, 0)
            copy(3, frames, node, row.WORLD + 9, pair, end, at.POSITION)
        act.spring(springs[k], 0, 1 if last == 2 else -1, pair)
        for end in range(last):
            unit = ends[k, end]
            for half in range(0, 6, 3):
                f = at.FORCE + half
                x, y, z = _turned_back(frames, leaves[unit], pair[end, f], pair[end, f + 1], pair[end, f + 2])
                wrenches[unit, half] -= x
                wrenches[unit, half + 1] -= y
                wrenches[unit, half + 2] -= z
    for k in range(count):
        unit = loaded[k]
        same = True
        for r in range(6):
            same = same and wrenches[unit, r] == wrenches[unit, 6 + r]
        if not same:
            wait_upwards(leaves[unit], row.LINEAR, tree, marks, first)


@kernel
def update(topology, constants, q, gravity, loads, lazy):
    """Bring all coefficients up to date with `q` and the forces; returns a singular unit, or -1."""
    tree, units, nodes, metrics, frames = lazy.tree, lazy.units, lazy.nodes, lazy.metrics, lazy.frames
    marks, first, forced, counts, room = lazy.marks, lazy.first, lazy.forced, lazy.counts, lazy.room
    weights, wrenches, tau, diagonal = lazy.weights, lazy.wrenches, lazy.tau, lazy.diagonal
    for level in range(1, first.shape[0]):
        node = first[level]
        while node >= 0:
            if marks[node, row.PENDING] == row.ALL:
                unit = tree[node, to.UNIT]
                if unit >= 0:
                    if units[unit, to.HINGE] == 1:
                        hinge_pose(unit, units, topology, constants, q, nodes, node, to.POSE)
                    else:
                        chain_pose(unit, units, topology, constants, q, nodes, node, to.POSE, room)
                frames_of(node, tree, nodes, frames)
            node = marks[node, row.NEXT]
    if counts[row.LOADED] > 0:
        for k in range(counts[row.FORCED_NODES] - 1, -1, -1):
            node = forced[k]
            parent = tree[node, to.PARENT]
            if parent < 0:
                continue
            if tree[parent, to.KIND] == to.ROOT:
                copy(12, frames, parent, row.RIGHT, frames, node, row.WORLD)
            elif tree[parent, to.RIGHT] == node:
                compose(frames, parent, row.WORLD, frames, parent, row.RIGHT, frames, node, row.WORLD)
            else:
                copy(12, frames, parent, row.WORLD, frames, node, row.WORLD)
        _wrenches_on_units(loads, tree, lazy.leaves, frames, lazy.loaded, wrenches, lazy.pair, marks, first, counts)
    updated = 0
    for level in range(first.shape[0]):
        node = first[level]
        first[level] = -1
        while node >= 0:
            kind, unit = tree[node, to.KIND], tree[node, to.UNIT]
            if kind == to.LEAF:
                if nodes[node, to.SHARE] > 0.0:
                    times(nodes, node, to.P1, wrenches, unit, 0, nodes, node, to.B1)
                    copy(6, nodes, node, to.B1, nodes, node, to.B2)
            else:
                if marks[node, row.PENDING] == row.ALL:
                    meet(node, tree, nodes, room)
                    if is_hinge(node, tree, units):
                        rotor = diagonal[units[unit, to.FREEDOM]]
                        good = project_hinge(room, 0, to.ROOM_C, rotor, nodes, node, to.W, to.U, to.D)
                    else:
                        good = project(node, unit, units, topology, constants, diagonal, q, nodes, room)
                    if not good:
                        return max(unit, 0)
                    combine(node, tree, nodes, room)
                    metric_quadratic(node, tree, units, weights, nodes, metrics, room)
                if kind == to.ROOT:
                    clear(6, nodes, node, to.BIAS_C)
                    pull_of_gravity(gravity, node, nodes)
                join_linear(node, tree, units, tau, nodes, room)
                metric_linear(node, tree, units, weights, nodes, metrics, room)
                carried = frames[tree[node, to.RIGHT], row.CARRIED]
                if kind != to.ROOT:
                    carried += frames[tree[node, to.LEFT], row.CARRIED]
                if unit >= 0:
                    for k in range(units[unit, to.COUNT]):
                        carried += nodes[node, to.RATE + k] * nodes[node, to.RATE + k]
                for r in range(6):  # what `metric_linear` left: p2A - p1B and G gamma
                    x = abs(room[0, to.ROOM_X + r]) + abs(room[0, to.ROOM_Y + r])
                    carried += abs(nodes[node, to.GAMMA + r]) * x
                frames[node, row.CARRIED] = carried
                updated += 1
            marks[node, row.PENDING] = row.NOTHING
            node = marks[node, row.NEXT]
    counts[row.UPDATED] = updated
    return -1
