"""Forward dynamics by divide and conquer: the whole assembly tree up and down once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arguments import as_finite, check_state
from ..dynamics import Workspace
from ..errors import ArgumentError, ModelError, SingularError
from ..kernels import dca as _dca
from ..kernels import layout as at
from ..kernels import nodes as to
from ..kernels.kinematics import move_links
from ..model.model import Model
from ..typing import Array
from .assembly_tree import AssemblyTree, build_tree


class DcaWork(NamedTuple):
    """The assembly tree of a model and the scratch of one computation on it."""

    assembly: AssemblyTree
    nodes: Array
    motion: Array
    wrenches: Array
    room: Array
    scratch: Workspace


def make_nodes(assembly: AssemblyTree, room: Array) -> Array:
    """Allocate the rows of the nodes and write the inverse inertias of the leaves."""
    nodes = np.zeros((len(assembly.tree), to.NODES))
    nodes[:, to.SHARE] = assembly.share
    bad = _dca.inverse_inertias(assembly.tree, assembly.units, assembly.model.constants, nodes, room)
    if bad >= 0:
        model = assembly.model
        body = model.names[model.topology[assembly.units[bad, to.LAST], at.BODY]]
        raise ModelError(
            f"body {body!r} has no rotational inertia about some axis, so it has no inverse inertia: its subassembly "
            "is singular; give it a positive definite inertia (adaptive and divide-and-conquer methods need one)"
        )
    return nodes


def make_work(model: Model) -> DcaWork:
    """Build the tree of `model` and allocate its scratch."""
    assembly = build_tree(model)
    room = np.zeros((1, to.ROOM))
    units = len(assembly.units)
    return DcaWork(
        assembly, make_nodes(assembly, room), np.zeros((units, 3)), np.zeros((units, 6)), room, Workspace.of(model)
    )


def forward_dynamics(
    model: Model, q: Array, v: Array, tau: Array, wrenches: Array, gravity: tuple[float, float, float]
) -> Array:
    """Return the joint accelerations; the arguments are checked arrays, as `kinetree.forward_dynamics` passes them."""
    check_state(model, q, v)
    as_finite(tau, tau.shape, "tau")
    as_finite(wrenches, wrenches.shape, "external")
    work = _borrow(model)
    try:
        assembly, scratch = work.assembly, work.scratch
        work.wrenches[:] = 0.0
        if len(wrenches):
            refuse_massless(assembly, np.flatnonzero(wrenches.any(axis=1)))
            move_links(model.topology, model.constants, q, v, scratch.links, scratch.axes)
            _dca.unit_wrenches(
                wrenches, model.body_links, model.body_poses_in_link, assembly.unit_of_link, assembly.units,
                scratch.links, work.wrenches,
            )  # fmt: skip
        out = np.empty(model.nv)
        bad = _dca.dca(
            assembly.tree, assembly.units, work.wrenches, model.topology, model.constants, scratch.armature, q, v, tau,
            gravity, work.nodes, work.motion, work.room, out,
        )  # fmt: skip
    finally:
        _POOL.setdefault(id(model), []).append((model, work))
    if bad >= 0:
        joint = model.body_joint_names[model.topology[assembly.units[bad, to.LAST], at.BODY]]
        raise SingularError(f"joint {joint!r} has no inertia to move in this configuration")
    return out


def refuse_massless(assembly: AssemblyTree, bodies: np.ndarray) -> None:
    """Refuse forces on massless bodies between two joints: they are part of a joint here, not bodies."""
    model = assembly.model
    links = model.body_links[bodies]
    inside = (links >= 0) & (assembly.units[assembly.unit_of_link[links], to.LAST] != links)
    if inside.any():
        body = model.names[bodies[np.flatnonzero(inside)[0]]]
        raise ArgumentError(
            f"a force acts on body {body!r}, which has no mass and is only a part of the joint of the body it carries: "
            "apply the force to that body, or use the articulated-body algorithm"
        )


_POOL: dict[int, list[Any]] = {}


def _borrow(model: Model) -> DcaWork:
    """Take the scratch of this very model from the pool, or make it."""
    kept = _POOL.get(id(model), [])
    while kept:
        try:
            owner, work = kept.pop()
        except IndexError:
            break
        if owner is model:
            return work
    return make_work(model)
