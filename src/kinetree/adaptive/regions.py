"""What every node of the assembly tree is at this moment (Redon 2005, section 4.1 and figure 3).

A node is *active* if its joint is simulated; the active nodes of a tree are none or contain its root. All others, the
leaves among them, are *rigid*, and those of them below an active one are the *rigid front*. The *force update* region
are the inner nodes whose joint has a force that changes, or inside which an external force acts. Active and force
update together are the *update* region, and the rest is *passive*, with a *passive front* below the update region.

A joint force that stays the same while its joint is frozen (a spring, a PD, a limit, a constant torque) is part of what
a passive node remembers, and does not put any node into the force update region.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..kernels import nodes as to
from .assembly_tree import AssemblyTree


@dataclass(frozen=True, eq=False, repr=False)
class Regions:
    """The regions of an assembly tree: a boolean for every node. Arrays cannot be written to."""

    assembly: AssemblyTree
    active: np.ndarray
    """The joint of the node is simulated."""
    rigid: np.ndarray
    """Nothing moves inside the node."""
    rigid_front: np.ndarray
    """Rigid, below an active node: the bodies that the hybrid body consists of."""
    force_update: np.ndarray
    """An inner node whose joint has a changing force, or inside which an external force acts."""
    update: np.ndarray
    """Active or force update: what must be computed at every update."""
    passive: np.ndarray
    """Neither: what keeps its numbers."""
    passive_front: np.ndarray
    """Passive, below the update region: where its numbers are needed."""

    def __post_init__(self) -> None:
        """Make every array read-only."""
        for name in REGIONS:
            getattr(self, name).setflags(write=False)

    def counts(self) -> dict[str, int]:
        """Return how many nodes each region has, and how many `nodes` there are."""
        return {"nodes": len(self.active)} | {name: int(getattr(self, name).sum()) for name in REGIONS}

    def __repr__(self) -> str:
        """Return the sizes in one line."""
        return f"<Regions: {', '.join(f'{count} {name}' for name, count in self.counts().items())}>"


REGIONS = tuple(item.name for item in fields(Regions) if item.name != "assembly")


def classify(assembly: AssemblyTree, active: Any, *, forced_units: Any = None, forced_joints: Any = None) -> Regions:
    """Return the regions of a tree whose `active` nodes are given, shape [nnodes].

    `forced_units` says of each unit whether an external force acts on it, `forced_joints` of each unit whether the
    force in its joint changes while the joint is frozen, shapes [nunits]; None: of none.
    """
    tree, units = assembly.tree, assembly.units
    on = _mask(active, len(tree), "active")
    parent = tree[:, to.PARENT]
    inner = tree[:, to.KIND] != to.LEAF
    below = parent >= 0  # a root has nothing above it
    wrong = on & ~(inner & np.where(below, on[parent], True))
    if wrong.any():
        node = int(np.flatnonzero(wrong)[0])
        reason = f"its parent {parent[node]} is not" if inner[node] else "a leaf has no joint"
        raise ArgumentError(f"node {node} is active, but {reason}: the active nodes must contain all above them")
    forced = np.zeros(len(tree), dtype=bool)
    if forced_units is not None:
        pushed = _mask(forced_units, len(units), "forced_units")
        # of a body's shares the first carries what acts on the body
        forced |= ~inner & (assembly.share > 0) & pushed[tree[:, to.UNIT]]
    if forced_joints is not None:
        forced[units[_mask(forced_joints, len(units), "forced_joints"), to.JOINT]] = True
    front = np.flatnonzero(forced)
    while len(front):  # level by level; every node is met once
        front = parent[front]
        front = np.unique(front[(front >= 0) & ~forced[front]])
        forced[front] = True
    forced &= inner
    update = on | forced
    return Regions(
        assembly,
        active=on,
        rigid=~on,
        rigid_front=~on & below & on[parent],
        force_update=forced,
        update=update,
        passive=~update,
        passive_front=~update & below & update[parent],
    )


def units_of_links(assembly: AssemblyTree, links: Any) -> np.ndarray:
    """Return whether each unit is one of those that the `links` are part of (-1 is the world), shape [nunits]."""
    found = np.zeros(len(assembly.units), dtype=bool)
    links = np.asarray(links, dtype=np.int64).ravel()
    found[assembly.unit_of_link[links[links >= 0]]] = True
    return found


def _mask(value: Any, length: int, name: str) -> np.ndarray:
    array = np.asarray(value)
    if array.shape != (length,) or array.dtype.kind not in "bi":
        raise ArgumentError(f"{name} is {array.dtype} of shape {array.shape}: give {length} booleans")
    return array != 0
