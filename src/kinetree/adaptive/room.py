"""The room that adaptive dynamics works in: a forest of assembly trees, and a hybrid body of any size."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import acts as act
from ..kernels import layout as at
from ..kernels import nodes as to
from ..kernels import passive as _passive
from ..kernels import steppers
from ..kernels.acts import Acts
from ..kernels.forest import Forest, Small
from ..typing import Array
from .assembly_tree import AssemblyTree
from .dca import make_nodes


def make_forest(assembly: AssemblyTree, acceleration_weights: Array, velocity_weights: Array) -> Forest:
    """Allocate what the nodes hold, and write what the leaves answer. Weights are those of the units."""
    n, m = len(assembly.tree), len(assembly.units)
    room = np.zeros((1, to.ROOM))
    nodes = make_nodes(assembly, room)
    metrics, passive = np.zeros((n, to.METRICS)), np.zeros((n, to.PASSIVE))
    constants = assembly.model.constants
    leaves = np.zeros(m, dtype=np.int64)
    for node in np.flatnonzero(assembly.tree[:, to.KIND] == to.LEAF):
        _passive.passive_leaf(node, assembly.tree, assembly.units, constants, nodes, metrics, passive)
        if assembly.share[node] > 0:
            leaves[assembly.tree[node, to.UNIT]] = node
    trees = len(assembly.roots)
    values: list[Any] = [
        assembly.tree, assembly.units, assembly.roots, leaves, assembly.unit_of_link, acceleration_weights,
        velocity_weights,
        np.ones(trees), nodes, metrics, passive, np.zeros((n, to.MARKS), dtype=np.int64),
        np.zeros((m, 2), dtype=np.int64), np.zeros(to.SIZES, dtype=np.int64), np.zeros((3, n), dtype=np.int64),
        np.zeros(n), np.zeros(n, dtype=np.int64), room,
    ]  # fmt: skip
    return Forest(*values)


def make_small(n: int, nq: int, nv: int, integrator: int, units: int, acts: Acts) -> Small:
    """Allocate room for a hybrid body of up to `n` links in which every joint may move."""
    rows = steppers.STAGES[integrator]
    whole = [np.zeros(nv) for _ in range(5)]
    values: list[Any] = [
        np.zeros((n, at.TOPOLOGY), dtype=np.int64), np.zeros((n, at.CONSTANTS)), np.zeros(nq, dtype=np.int64),
        np.zeros(nv, dtype=np.int64), np.zeros(nq), np.zeros(nv), np.zeros((n, at.LINKS)), np.zeros((nv, at.AXES)),
        *whole, np.zeros(rows * (nq + nv)), np.zeros(nv), np.zeros(nv), np.zeros(nv),
        np.zeros((nv, act.STOPS)), np.zeros(nq), np.zeros(nv), *_tables(acts),
        np.zeros((2, at.LINKS)), np.zeros((units, 6)), np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros((0, 6)),
    ]  # fmt: skip
    return Small(*values)


def resize(small: Small, acts: Acts) -> Small:
    """Return the same room with tables for other springs and wrenches."""
    names = ("springs", "spring_links", "kept", "wrenches", "wrench_links", "act_poses")
    return small._replace(**dict(zip(names, _tables(acts), strict=True)))


def _tables(acts: Acts) -> list[Any]:
    ns, nw = len(acts.springs), len(acts.wrenches)
    return [
        np.zeros((ns, act.SPRINGS)), np.zeros((ns, 2), dtype=np.int64), np.zeros((ns, 2), dtype=np.int64),
        np.zeros((nw, act.WRENCHES)), np.zeros((nw, 2), dtype=np.int64), np.zeros((nw + 2 * ns, 12)),
    ]  # fmt: skip
