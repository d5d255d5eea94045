"""A forest of assembly trees and the hybrid body of its active nodes: what both hold, and one made from the other."""

from __future__ import annotations

from typing import NamedTuple

from .._jit import kernel
from ..typing import Array
from . import layout as at
from . import nodes as to
from .acts import CREEP, STOPS, Acts, stop
from .hybrid import flatten, map_acts
from .manifold import difference
from .region import rigidify
from .steppers import Body, Work


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
    stops: Array
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
    """How the active joints are chosen: budgets, errors, and every how many steps.

    `guaranteed` is 1 where the error of every step is bounded: nothing is computed again, and nothing comes to rest.
    """

    acceleration_joints: int
    velocity_joints: int
    acceleration_error: float
    velocity_error: float
    every: int
    guaranteed: int


@kernel
def rebuild(body, acts, forest, small, q, v, h, marked, units_anew, nodes_anew):
    """Compute what some nodes answer (children first), and make the hybrid body; returns a singular unit or -1.

    The forces of the joints of `units_anew` at rest are read anew. All nodes become active unless they are `marked`.
    """
    tree = forest.tree
    for unit in units_anew:
        joint_at_rest(unit, forest.units, body.topology, acts, body.armature, q, h, small)
    for node in nodes_anew:
        if tree[node, to.KIND] == to.LEAF:
            forest.marks[node, to.ACTIVE] = 0
            continue
        if not marked:
            forest.marks[node, to.ACTIVE] = 1
        if not rigidify(
            node, tree, forest.units, body.topology, body.constants, small.full_diagonal, q, small.full_tau,
            forest.acceleration_weights, forest.nodes, forest.metrics, forest.passive, forest.room,
        ):  # fmt: skip
            return max(tree[node, to.UNIT], 0)
    become(body, acts, forest, small, q, v)
    return -1


@kernel
def joint_at_rest(unit, units, topology, acts, armature, q, h, small):
    """Write the force and effective rotor inertia of a joint that does not move."""
    for i in range(units[unit, to.FIRST], units[unit, to.LAST] + 1):
        if acts.stiffness.shape[0] > 0 or acts.stops.shape[0] > 0:
            difference(topology[i : i + 1], acts.rest, q, small.stretch)
        for k in range(topology[i, at.V], topology[i, at.V] + topology[i, at.DOF]):
            small.full_tau[k] = acts.feed[k]
            small.full_diagonal[k] = armature[k]
            if acts.damping.shape[0] > 0:
                small.full_diagonal[k] += h * (acts.damping[k] + acts.friction[k] / CREEP)
            if acts.stiffness.shape[0] > 0:
                small.full_tau[k] -= acts.stiffness[k] * small.stretch[k]
                small.full_diagonal[k] += h * h * acts.stiffness[k]
            if acts.stops.shape[0] > 0:
                stop(acts.stops, k, small.stretch[k], 0.0, h, small.full_tau, small.full_diagonal)


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
    if acts.stops.shape[0] > 0:
        for k in range(sizes[to.VELOCITIES]):
            for c in range(STOPS):
                small.stops[k, c] = acts.stops[v_of[k], c]
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
    stopped = nv if acts.stops.shape[0] > 0 else 0
    pulls = forest.sizes[to.PULLS]
    pushes = acts.wrenches.shape[0]
    return Acts(
        small.stiffness[:springy], small.damping[:damped], small.friction[:damped], small.stops[:stopped],
        small.rest[:nq], small.feed[:nv],
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
