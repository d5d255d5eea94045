"""Choosing the active joints anew, in order: accelerations, a step together, velocities, and rest for the others.

Redon 2005, section 5. The semi-implicit step is taken apart: the joints that may move are pushed off (v += h a), those
that are not to move give their momentum away, and only then positions follow. A joint that was rigid before and is
rejected has then not moved at all, and what its node answers is still true.
"""

from __future__ import annotations

from .._jit import part
from . import nodes as to
from .aba import accelerate, eliminate_joints
from .acts import joint_acts
from .forest import become, joint_at_rest, small_acts, small_body, small_work
from .hybrid import joint_momenta
from .kinematics import place_links, velocity_links, write_axes
from .region import (
    choose_by_acceleration,
    choose_by_velocity,
    forces_inside,
    rigidify,
    speeds,
    upward_pass,
)
from .spatial import prepare_links
from .steppers import accelerations, diverged


@part
def see_whole(body, acts, forest, small, q, v, time, gravity, h):
    """Compute what the fully articulated body answers, only where something moves or acts (section 6 of the paper)."""
    hybrid, inner = small_body(forest, small), small_acts(acts, forest, small)
    work = small_work(forest, small, 1)
    nq, nv = forest.sizes[to.COORDINATES], forest.sizes[to.VELOCITIES]
    prepare_links(hybrid.topology, hybrid.constants, small.q[:nq], small.v[:nv], work.links, work.axes)
    if inner.springs.shape[0] > 0:
        write_axes(hybrid.topology, work.links, work.axes)
        place_links(hybrid.topology, work.links)
        velocity_links(hybrid.topology, small.v[:nv], work.links, work.axes)
    joint_acts(
        hybrid.topology, inner, hybrid.armature, small.q[:nq], small.v[:nv], h, work.stretch, work.tau, work.diagonal
    )
    v_of, tau, diagonal, full_tau, full_diagonal = (
        small.v_of, work.tau, work.diagonal, small.full_tau, small.full_diagonal
    )  # fmt: skip
    for k in range(nv):
        full_tau[v_of[k]] = tau[k]
        full_diagonal[v_of[k]] = diagonal[k]
    forest.sizes[to.FORCES] = 0
    if acts.springs.shape[0] > 0 or acts.wrenches.shape[0] > 0:
        forces_inside(
            small.springs, small.spring_links, small.wrenches, small.wrench_links, small.kept, small.act_poses,
            acts.spring_links, acts.wrench_links, time, work.links, small.pair, forest.unit_of_link, forest.leaves,
            forest.tree, forest.marks, forest.sizes, forest.lists, small.unit_wrenches,
        )  # fmt: skip
    else:
        forest.sizes[to.COUNTER] += 1
    upward_pass(
        forest.tree, forest.units, body.topology, body.constants, v, full_tau, full_diagonal, gravity,
        forest.acceleration_weights, forest.nodes, forest.metrics, forest.passive, forest.marks, forest.groups,
        forest.roots, forest.sizes, forest.lists, work.links, small.unit_wrenches, q, forest.room,
    )  # fmt: skip


@part
def choose_accelerations(body, acts, forest, small, plan, q, v, time, gravity, h):
    """Mark active, besides those that are, the joints that would accelerate most; returns the error left."""
    see_whole(body, acts, forest, small, q, v, time, gravity, h)
    return choose_by_acceleration(
        forest.tree, forest.units, small.full_tau, forest.acceleration_weights, forest.scale, forest.nodes,
        forest.metrics, forest.passive, forest.marks, forest.roots, forest.sizes, forest.keys, forest.items,
        plan.acceleration_joints, plan.acceleration_error, small.momentum, forest.room,
    )  # fmt: skip


@part
def widen(forest):
    """Make the nodes of the last choice active besides those that are; returns how many were not."""
    now = forest.sizes[to.COUNTER]
    forest.sizes[to.WIDENED] = now
    tree, marks, stack, roots = forest.tree, forest.marks, forest.lists[2], forest.roots
    count = joined = 0
    for root in roots:
        if marks[root, to.CHOSEN] == now:
            stack[count] = root
            count += 1
    while count > 0:
        count -= 1
        node = stack[count]
        if marks[node, to.ACTIVE] == 0:
            marks[node, to.ACTIVE] = 1
            marks[node, to.JOINED] = now
            joined += 1
        for child in (tree[node, to.LEFT], tree[node, to.RIGHT]):
            if child >= 0 and marks[child, to.CHOSEN] == now:
                stack[count] = child
                count += 1
    return joined


@part
def push_off(acts, forest, small, time, dt, gravity):
    """Add h a to the velocities of the hybrid body; returns -1, or as `steppers.advance` what is wrong."""
    hybrid, inner, work = small_body(forest, small), small_acts(acts, forest, small), small_work(forest, small, 1)
    q, v = small.q[: forest.sizes[to.COORDINATES]], small.v[: forest.sizes[to.VELOCITIES]]
    plain = inner.damping.shape[0] == 0 and inner.stiffness.shape[0] == 0 and inner.stops.shape[0] == 0
    alone = inner.springs.shape[0] == 0 and inner.wrenches.shape[0] == 0
    a = work.a
    bad = accelerations(
        hybrid.topology, hybrid.constants, hybrid.armature, hybrid.body_links, hybrid.body_poses_in_link, inner,
        inner.external, inner.feed, plain, alone, q, v, time, gravity, dt, work.links, work.axes, work.tau,
        work.diagonal, work.stretch, a,
    )  # fmt: skip
    if bad >= 0:
        return -2 - bad
    for k in range(v.shape[0]):
        v[k] += dt * a[k]
    return diverged(v)


@part
def push_chosen(forest, small, v, dt):
    """Add h a to the velocities of the joints that were chosen, with the accelerations found by the choice itself.

    Returns a freedom of the hybrid body that diverged, and then changes nothing, or -1.
    """
    tree, units, marks, lists, v_of = forest.tree, forest.units, forest.marks, forest.lists, small.v_of
    now = forest.sizes[to.WIDENED]
    vs, before, found = small.v[: forest.sizes[to.VELOCITIES]], small.a, small.momentum
    for k in range(forest.sizes[to.ACTIVES]):
        node = lists[0, k]
        unit = tree[node, to.UNIT]
        if marks[node, to.CHOSEN] == now and unit >= 0:
            for m in range(units[unit, to.COUNT]):
                v[units[unit, to.FREEDOM + m]] += dt * found[units[unit, to.FREEDOM + m]]
    for k in range(vs.shape[0]):
        before[k] = vs[k]
        vs[k] = v[v_of[k]]
    fault = diverged(vs)
    if fault >= 0:
        for k in range(vs.shape[0]):
            v[v_of[k]] = before[k]
    return fault


@part
def narrow(body, acts, forest, small, plan, q, v, h, moved):
    """Keep the joints that move most active and bring the others to rest (section 5.4 of the paper).

    `moved` says that also joints which were rigid before have changed their positions. Returns a singular unit or -1.
    """
    speeds(
        forest.tree, forest.units, v, forest.velocity_weights, forest.scale, forest.passive, forest.marks,
        forest.sizes, forest.lists,
    )  # fmt: skip
    now = choose_by_velocity(
        forest.tree, forest.units, forest.passive, forest.marks, forest.roots, forest.sizes, forest.keys, forest.items,
        plan.velocity_joints, plan.velocity_error,
    )  # fmt: skip
    return settle(body, acts, forest, small, now, q, v, h, moved)


@part
def settle(body, acts, forest, small, now, q, v, h, moved):
    """Bring the active joints to rest that choice number `now` left out; returns a singular unit or -1.

    The joints that stay keep their generalised momentum: M_AA v_A' = (M v)_A, the orthogonal projection in the kinetic
    metric, so that the kinetic energy cannot grow.
    """
    tree, units, marks, sizes, lists = forest.tree, forest.units, forest.marks, forest.sizes, forest.lists
    leaving = 0
    for k in range(sizes[to.ACTIVES]):
        if marks[lists[0, k], to.CHOSEN] != now:
            leaving += 1
    if leaving == 0:
        return -1
    n, nq, nv = sizes[to.LINKS], sizes[to.COORDINATES], sizes[to.VELOCITIES]
    joint_momenta(
        small.flat[:n], small.chain[:n], small.armature[:nv], small.q[:nq], small.v[:nv], small.links[:n],
        small.axes[:nv], small.a[:nv],
    )  # fmt: skip
    momentum, v_of, a = small.momentum, small.v_of, small.a
    for k in range(nv):
        momentum[v_of[k]] = a[k]
    for k in range(sizes[to.ACTIVES] - 1, -1, -1):
        node = lists[0, k]
        if marks[node, to.CHOSEN] == now:
            continue
        marks[node, to.ACTIVE] = 0
        unit = tree[node, to.UNIT]
        if unit >= 0:
            for m in range(units[unit, to.COUNT]):
                v[units[unit, to.FREEDOM + m]] = 0.0
        if moved or marks[node, to.JOINED] != sizes[to.WIDENED]:
            if unit >= 0:
                joint_at_rest(unit, units, body.topology, acts, body.armature, q, h, small)
            if not rigidify(
                node, tree, units, body.topology, body.constants, small.full_diagonal, q, small.full_tau,
                forest.acceleration_weights, forest.nodes, forest.metrics, forest.passive, forest.room,
            ):  # fmt: skip
                return max(unit, 0)
    become(body, acts, forest, small, q, v)
    n, nq, nv = sizes[to.LINKS], sizes[to.COORDINATES], sizes[to.VELOCITIES]
    if n == 0:
        return -1
    qs, vs, tau = small.q[:nq], small.v[:nv], small.tau[:nv]
    flat, links, axes = small.flat[:n], small.links[:n], small.axes[:nv]
    for k in range(nv):
        tau[k] = momentum[v_of[k]]
        vs[k] = 0.0
    prepare_links(flat, small.chain[:n], qs, vs, links, axes)
    bad = eliminate_joints(flat, small.armature[:nv], tau, links, axes)
    if bad >= 0:
        return forest.unit_of_link[flat[bad, to.LINK]]
    accelerate(flat, (0.0, 0.0, 0.0), links, axes, vs)
    for k in range(nv):
        v[v_of[k]] = vs[k]
    return -1
