"""The loop over time of adaptive dynamics: step the hybrid body, and choose its active joints anew now and then."""

from __future__ import annotations

from typing import NamedTuple

from .._jit import kernel
from ..typing import Array
from . import layout as at
from . import nodes as to
from .aba import accelerate, eliminate_joints
from .acts import CREEP, Acts, joint_acts
from .hybrid import flatten, joint_momenta, map_acts
from .kinematics import place_links, velocity_links, write_axes
from .manifold import difference
from .region import choose_by_acceleration, choose_by_velocity, forces_inside, linear_pass, refresh, rigidify
from .spatial import prepare_links
from .steppers import SEMI_IMPLICIT, Body, Work
from .steppers import advance as step_body


class Forest(NamedTuple):
    """The assembly tree and everything its nodes hold; see `nodes.py`."""

    tree: Array
    units: Array
    roots: Array
    leaves: Array
    unit_of_link: Array
    acceleration_weights: Array
    velocity_weights: Array
    scale: Array
    nodes: Array
    metrics: Array
    passive: Array
    marks: Array
    groups: Array
    sizes: Array
    lists: Array
    keys: Array
    items: Array
    room: Array


class Small(NamedTuple):
    """Room for the hybrid body of any size: its links, state, forces, and the scratch to step it."""

    flat: Array
    chain: Array
    q_of: Array
    v_of: Array
    q: Array
    v: Array
    links: Array
    axes: Array
    armature: Array
    tau: Array
    diagonal: Array
    stretch: Array
    a: Array
    stages: Array
    stiffness: Array
    damping: Array
    friction: Array
    rest: Array
    feed: Array
    springs: Array
    spring_links: Array
    kept: Array
    wrenches: Array
    wrench_links: Array
    act_poses: Array
    pair: Array
    unit_wrenches: Array
    full_tau: Array
    full_diagonal: Array
    momentum: Array
    nothing: Array


class Plan(NamedTuple):
    """How the active joints are chosen: budgets, errors, and every how many steps."""

    acceleration_joints: int
    velocity_joints: int
    acceleration_error: float
    velocity_error: float
    every: int


@kernel
def start(body, acts, forest, small, q, v, h, marked):
    """Compute what every node answers, with all joints active unless they are `marked`; a singular unit or -1."""
    tree, units, nodes, metrics, room = forest.tree, forest.units, forest.nodes, forest.metrics, forest.room
    for k in range(v.shape[0]):
        small.full_tau[k] = 0.0
    for unit in range(units.shape[0]):
        joint_at_rest(unit, units, body.topology, acts, body.armature, q, h, small)
    for node in range(tree.shape[0]):
        if tree[node, to.KIND] == to.LEAF:
            forest.marks[node, to.ACTIVE] = 0
            continue
        if not marked:
            forest.marks[node, to.ACTIVE] = 1
        if not rigidify(
            node, tree, units, body.topology, body.constants, small.full_diagonal, q, small.full_tau,
            forest.acceleration_weights, nodes, metrics, forest.passive, room,
        ):  # fmt: skip
            return max(tree[node, to.UNIT], 0)
    become(body, acts, forest, small, q, v)
    return -1


@kernel
def joint_at_rest(unit, units, topology, acts, armature, q, h, small):
    """Write the force and effective rotor inertia of a joint that does not move."""
    for i in range(units[unit, to.FIRST], units[unit, to.LAST] + 1):
        if acts.stiffness.shape[0] > 0:
            difference(topology[i : i + 1], acts.rest, q, small.stretch)
        for k in range(topology[i, at.V], topology[i, at.V] + topology[i, at.DOF]):
            small.full_tau[k] = acts.feed[k]
            small.full_diagonal[k] = armature[k]
            if acts.damping.shape[0] > 0:
                small.full_diagonal[k] += h * (acts.damping[k] + acts.friction[k] / CREEP)
            if acts.stiffness.shape[0] > 0:
                small.full_tau[k] -= acts.stiffness[k] * small.stretch[k]
                small.full_diagonal[k] += h * h * acts.stiffness[k]


@kernel
def become(body, acts, forest, small, q, v):
    """Make the hybrid body of the nodes that are marked active, in the state q, v."""
    sizes = forest.sizes
    flatten(
        forest.tree, forest.units, body.topology, body.constants, forest.passive, forest.marks, forest.roots,
        forest.groups, sizes, forest.lists, small.flat, small.chain, small.q_of, small.v_of,
    )  # fmt: skip
    map_acts(
        acts.springs, acts.spring_links, acts.wrenches, acts.wrench_links, forest.unit_of_link, forest.leaves,
        forest.tree, forest.marks, forest.groups, forest.nodes, forest.passive, sizes, small.springs,
        small.spring_links, small.kept, small.wrenches, small.wrench_links, small.act_poses,
    )  # fmt: skip
    qs, vs, q_of, v_of = small.q, small.v, small.q_of, small.v_of
    rest, feed, armature = small.rest, small.feed, small.armature
    for k in range(sizes[to.COORDINATES]):
        qs[k] = q[q_of[k]]
        rest[k] = acts.rest[q_of[k]]
    for k in range(sizes[to.VELOCITIES]):
        vs[k] = v[v_of[k]]
        feed[k] = acts.feed[v_of[k]]
        armature[k] = body.armature[v_of[k]]
    if acts.stiffness.shape[0] > 0:
        for k in range(sizes[to.VELOCITIES]):
            small.stiffness[k] = acts.stiffness[v_of[k]]
    if acts.damping.shape[0] > 0:
        for k in range(sizes[to.VELOCITIES]):
            small.damping[k] = acts.damping[v_of[k]]
            small.friction[k] = acts.friction[v_of[k]]


@kernel
def spread(forest, small, q, v):
    """Write the state of the hybrid body into the full one."""
    qs, vs, q_of, v_of = small.q, small.v, small.q_of, small.v_of
    for k in range(forest.sizes[to.COORDINATES]):
        q[q_of[k]] = qs[k]
    for k in range(forest.sizes[to.VELOCITIES]):
        v[v_of[k]] = vs[k]


@kernel
def small_body(forest, small):
    """Return the arrays of the hybrid body, cut to its size."""
    n, nv = forest.sizes[to.LINKS], forest.sizes[to.VELOCITIES]
    nothing = small.spring_links[:0, 0]
    return Body(small.flat[:n], small.chain[:n], small.armature[:nv], nothing, small.chain[:0])


@kernel
def small_acts(acts, forest, small):
    """Return what acts on the hybrid body."""
    nq, nv = forest.sizes[to.COORDINATES], forest.sizes[to.VELOCITIES]
    springy = nv if acts.stiffness.shape[0] > 0 else 0
    damped = nv if acts.damping.shape[0] > 0 else 0
    pulls = forest.sizes[to.PULLS]
    pushes = acts.wrenches.shape[0]
    return Acts(
        small.stiffness[:springy], small.damping[:damped], small.friction[:damped], small.rest[:nq], small.feed[:nv],
        small.springs[:pulls], small.spring_links[:pulls], small.wrenches[:pushes], small.wrench_links[:pushes],
        small.nothing[:0],
    )  # fmt: skip


@kernel
def small_work(forest, small, rows):
    """Return the scratch of the hybrid body, cut to its size."""
    n, nq, nv = forest.sizes[to.LINKS], forest.sizes[to.COORDINATES], forest.sizes[to.VELOCITIES]
    stages = small.stages[: rows * (nq + nv)].reshape((rows, nq + nv))
    return Work(
        small.links[:n], small.axes[:nv], small.tau[:nv], small.diagonal[:nv], small.stretch[:nv], small.a[:nv], stages
    )


@kernel
def choose_accelerations(body, acts, forest, small, plan, q, v, time, gravity, h):
    """Mark active, besides those that are, the joints that would accelerate most; returns the error left.

    Sections 5.3.1 and 6 of the paper: the body is seen in its fully articulated state, but computed only where
    something moves or acts.
    """
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
    for k in range(nv):
        small.full_tau[small.v_of[k]] = work.tau[k]
        small.full_diagonal[small.v_of[k]] = work.diagonal[k]
    forest.sizes[to.FORCES] = 0
    if acts.springs.shape[0] > 0 or acts.wrenches.shape[0] > 0:
        forces_inside(
            small.springs, small.spring_links, small.wrenches, small.wrench_links, small.kept, small.act_poses,
            acts.spring_links, acts.wrench_links, time, work.links, small.pair, forest.unit_of_link, forest.leaves,
            forest.tree, forest.marks, forest.sizes, forest.lists, small.unit_wrenches,
        )  # fmt: skip
    else:
        forest.sizes[to.COUNTER] += 1
    tree, units, nodes, metrics, room = forest.tree, forest.units, forest.nodes, forest.metrics, forest.room
    topology, constants, weights = body.topology, body.constants, forest.acceleration_weights
    for k in range(forest.sizes[to.ACTIVES] - 1, -1, -1):
        refresh(
            forest.lists[0, k], tree, units, topology, constants, small.full_diagonal, q, weights, nodes, metrics, room
        )
    linear_pass(
        tree, units, topology, constants, v, small.full_tau, gravity, weights, nodes, metrics, forest.passive,
        forest.marks, forest.groups, forest.roots, forest.sizes, forest.lists, work.links, small.unit_wrenches, q, room,
    )  # fmt: skip
    return choose_by_acceleration(
        tree, units, small.full_tau, weights, forest.scale, nodes, metrics, forest.passive, forest.marks, forest.roots,
        forest.sizes, forest.keys, forest.items, plan.acceleration_joints, plan.acceleration_error, small.momentum,
        room,
    )  # fmt: skip


@kernel
def widen(forest):
    """Make the nodes of the last choice active besides those that are."""
    now = forest.sizes[to.COUNTER]
    tree, marks, items = forest.tree, forest.marks, forest.items
    count = 0
    for root in forest.roots:
        if marks[root, to.CHOSEN] == now:
            items[count] = root
            count += 1
    while count > 0:
        count -= 1
        node = items[count]
        marks[node, to.ACTIVE] = 1
        for child in (tree[node, to.LEFT], tree[node, to.RIGHT]):
            if child >= 0 and marks[child, to.CHOSEN] == now:
                items[count] = child
                count += 1


@kernel
def narrow(body, acts, forest, small, plan, q, v, h):
    """Keep the joints that move most active and bring the others to rest (sections 5.4 of the paper).

    The joints that stay keep their generalised momentum: M_AA v_A' = (M v)_A, the orthogonal projection in the kinetic
    metric, so that the kinetic energy cannot grow. Returns a singular unit or -1.
    """
    tree, units, marks, sizes, lists = forest.tree, forest.units, forest.marks, forest.sizes, forest.lists
    now = choose_by_velocity(
        tree, units, v, forest.velocity_weights, forest.scale, forest.passive, marks, forest.roots, sizes, lists,
        forest.keys, forest.items, plan.velocity_joints, plan.velocity_error,
    )  # fmt: skip
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
    for k in range(nv):
        small.momentum[small.v_of[k]] = small.a[k]
    for k in range(sizes[to.ACTIVES]):
        node = lists[0, k]
        if marks[node, to.CHOSEN] != now:
            unit = tree[node, to.UNIT]
            if unit >= 0:
                for m in range(units[unit, to.COUNT]):
                    v[units[unit, to.FREEDOM + m]] = 0.0
    for k in range(sizes[to.ACTIVES] - 1, -1, -1):
        node = lists[0, k]
        if marks[node, to.CHOSEN] != now:
            marks[node, to.ACTIVE] = 0
            if tree[node, to.UNIT] >= 0:
                joint_at_rest(tree[node, to.UNIT], units, body.topology, acts, body.armature, q, h, small)
            if not rigidify(
                node, tree, units, body.topology, body.constants, small.full_diagonal, q, small.full_tau,
                forest.acceleration_weights, forest.nodes, forest.metrics, forest.passive, forest.room,
            ):  # fmt: skip
                return max(tree[node, to.UNIT], 0)
    become(body, acts, forest, small, q, v)
    n, nq, nv = sizes[to.LINKS], sizes[to.COORDINATES], sizes[to.VELOCITIES]
    if n == 0:
        return -1
    for k in range(nv):
        small.tau[k] = small.momentum[small.v_of[k]]
        small.v[k] = 0.0
    prepare_links(small.flat[:n], small.chain[:n], small.q[:nq], small.v[:nv], small.links[:n], small.axes[:nv])
    bad = eliminate_joints(small.flat[:n], small.armature[:nv], small.tau[:nv], small.links[:n], small.axes[:nv])
    if bad >= 0:
        return forest.unit_of_link[0]
    accelerate(small.flat[:n], (0.0, 0.0, 0.0), small.links[:n], small.axes[:nv], small.a[:nv])
    for k in range(nv):
        small.v[k] = small.a[k]
        v[small.v_of[k]] = small.a[k]
    return -1


@kernel
def advance(
    body, acts, forest, small, plan, q, v, begin, first, dt, steps, gravity, integrator, control, record, every, totals
):
    """Take `steps` steps; arguments and result as in `steppers.advance`.

    `totals` adds up the joints that were simulated in all steps, and the updates; its third is the last error left.
    """
    h = dt if integrator == SEMI_IMPLICIT else 0.0
    rows = done = 0
    nq, nv = q.shape[0], v.shape[0]
    stage_rows = 10 if integrator == 3 else 4 if integrator == 2 else 1
    while done < steps:
        now = first + done
        updating = now % plan.every == 0
        run = 1 if updating else min(steps - done, plan.every - now % plan.every)
        if every > 0:
            run = min(run, every - now % every)
        if updating:
            spread(forest, small, q, v)
            totals[2] = choose_accelerations(body, acts, forest, small, plan, q, v, begin + now * dt, gravity, h)
            widen(forest)
            become(body, acts, forest, small, q, v)
            totals[1] += 1.0
        nqs, nvs = forest.sizes[to.COORDINATES], forest.sizes[to.VELOCITIES]
        fault = -1
        taken = run
        if nvs > 0:
            hybrid, inner = small_body(forest, small), small_acts(acts, forest, small)
            work = small_work(forest, small, stage_rows)
            taken, _, fault = step_body(
                hybrid, inner, small.q[:nqs], small.v[:nvs], begin, now, dt, run, gravity, integrator, control, work,
                small.nothing, 0,
            )  # fmt: skip
        totals[0] += taken * forest.sizes[to.JOINTS]
        done += taken
        if updating or fault != -1 or done == steps or (every > 0 and (first + done) % every == 0):
            spread(forest, small, q, v)
        if fault != -1:
            if fault >= 0:
                fault = small.v_of[fault]
            return done, rows, fault
        if updating:
            bad = narrow(body, acts, forest, small, plan, q, v, h)
            if bad >= 0:
                return done, rows, -2 - forest.units[bad, to.LAST]
        if every > 0 and (first + done) % every == 0:
            for k in range(nq):
                record[rows, k] = q[k]
            for k in range(nv):
                record[rows, nq + k] = v[k]
            rows += 1
    return done, rows, -1
