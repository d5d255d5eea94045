"""The assembly tree of a body at rest, with all that quasi-statics keeps between two steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError, SingularError
from ..kernels import acts as act
from ..kernels import layout as at
from ..kernels import nodes as to
from ..kernels import quasistatic as _quasistatic
from ..kernels import quasistatic_rows as row
from ..kernels import quasistatic_update as _update
from ..kernels.acts import Acts
from ..kernels.quasistatic_rows import Lazy, Loads, Plan
from ..model.model import Model
from ..typing import Array
from .assembly_tree import AssemblyTree, build_tree
from .dca import make_nodes, refuse_massless

JOINTS = ("stiffness", "damping", "friction", "stops", "rest")
MEASURES = {
    "absolute": row.ABSOLUTE,
    "relative": row.RELATIVE,
    "absolute_joint": row.ABSOLUTE_JOINT,
    "relative_joint": row.RELATIVE_JOINT,
}
_IDENTITY = (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0, 0, 0, 0)


class LazyTree:
    """The coefficients of every node, brought up to date only where a joint moved or a force changed."""

    lazy: Lazy
    acts: Acts

    def __init__(self, model: Model, assembly: AssemblyTree | None = None) -> None:
        """Allocate everything; nothing is computed but the inverse inertias of the bodies."""
        self.model = model
        self.assembly = build_tree(model) if assembly is None else assembly
        if assembly is None:
            check_inertias(self.assembly)
        self.armature = np.ascontiguousarray(model.dofs[:, at.ARMATURE])
        self.lazy = _allocate(self.assembly)
        self.loads = _no_loads()
        self.known = np.full(model.nq, np.nan)
        self.totals = np.zeros(row.TOTALS)
        self.plan = Plan(row.ABSOLUTE, 0.0, model.njoints)
        self.h = -1.0
        self.gravity: tuple[float, ...] = ()
        self.ends = np.inf
        """When the next of the applied forces ends [s]."""
        self._unit_of_freedom = np.zeros(model.nv, dtype=np.int64)
        units = self.assembly.units
        for k in range(6):
            has = np.flatnonzero(units[:, to.COUNT] > k)
            self._unit_of_freedom[units[has, to.FREEDOM + k]] = has
        self._given: Acts | None = None
        self._unit_of_coordinate: np.ndarray | None = None

    # --- what acts, and where everything is

    def prepare(self, acts: Acts, q: Array, h: float, gravity: tuple[float, ...], time: float) -> None:
        """Take over forces and configuration as they are now: what is another than before waits for the update."""
        before = self._given
        anew = before is None or h != self.h or any(getattr(acts, n) is not getattr(before, n) for n in JOINTS)
        if gravity != self.gravity:
            for root in self.assembly.roots:
                self._wait(int(root), row.LINEAR)
        self.h, self.gravity = h, gravity
        lazy = self.lazy
        if acts is not before or time >= self.ends:
            if before is not None and acts.feed is not before.feed and not anew:
                changed = np.unique(self._unit_of_freedom[np.flatnonzero(acts.feed != before.feed)])
                for unit in changed:
                    self._joint(int(unit), acts, q, row.LINEAR)
            self._given = acts
            self._load(acts, time)
        if anew:
            _quasistatic.all_joint_forces(
                self.assembly.units, self.model.topology, acts, self.armature, h, q, lazy.stretch, lazy.tau,
                lazy.diagonal,
            )  # fmt: skip
            _update.wait_all(lazy.marks, lazy.first)
            self.known[:] = q
            return
        self.follow(q)

    @property
    def ready(self) -> bool:
        """Whether forces and configuration are known."""
        return self._given is not None

    def follow(self, q: Array) -> None:
        """Take over a configuration that was changed from outside."""
        moved = np.flatnonzero(q != self.known)
        if len(moved):
            self.known[moved] = q[moved]
            for unit in np.unique(self._units_of_coordinates()[moved]):
                self._joint(int(unit), self.acts, q, row.ALL)

    def _joint(self, unit: int, acts: Acts, q: Array, how: int) -> None:
        lazy, units = self.lazy, self.assembly.units
        _update.joint_forces(
            unit, units, self.model.topology, acts, self.armature, self.h, q, lazy.stretch, lazy.tau, lazy.diagonal
        )
        self._wait(int(units[unit, to.JOINT]), how)

    def _wait(self, node: int, how: int) -> None:
        _update.wait_upwards(node, how, self.lazy.tree, self.lazy.marks, self.lazy.first)

    def _units_of_coordinates(self) -> np.ndarray:
        if self._unit_of_coordinate is None:
            topology = self.model.topology
            self._unit_of_coordinate = np.zeros(self.model.nq, dtype=np.int64)
            for k in range(7):
                has = topology[:, at.DOF] + np.isin(topology[:, at.KIND], (at.SPHERICAL, at.FREE)) > k
                self._unit_of_coordinate[topology[has, at.Q] + k] = self.assembly.unit_of_link[has]
        return self._unit_of_coordinate

    def _load(self, acts: Acts, time: float) -> None:
        """Put what acts on bodies into tables by units, and list the nodes above."""
        self.acts = acts
        self.loads, self.ends = _tables(self.model, self.assembly, acts, time)
        springs = self.loads.spring_units
        loaded = np.unique(np.concatenate((self.loads.wrench_units[:, 0], springs[springs >= 0])))
        lazy = self.lazy
        before = lazy.loaded[: lazy.counts[row.LOADED]]
        if np.array_equal(loaded, before):
            return
        for unit in np.setdiff1d(before, loaded):
            lazy.wrenches[unit] = 0.0
            self._wait(int(lazy.leaves[unit]), row.LINEAR)
        lazy.loaded[: len(loaded)] = loaded
        lazy.counts[row.LOADED] = len(loaded)
        _update.collect_forced(
            lazy.tree, lazy.leaves, lazy.marks, lazy.tally, lazy.loaded, lazy.forced, lazy.counts
        )  # fmt: skip

    # --- computing

    def advance(self, q: Array, first: int, dt: float, steps: int, record: Array, every: int) -> tuple[int, ...]:
        """Take steps; see `kernels.quasistatic.advance`."""
        model = self.model
        outcome: tuple[int, ...] = _quasistatic.advance(
            model.topology, model.constants, self.armature, self.acts, self.loads, self.lazy, self.plan, q, self.known,
            first, dt, steps, self.gravity, record, every, self.totals,
        )  # fmt: skip
        return outcome

    def settle(self, q: Array) -> None:
        """Compute what waits, without a step."""
        fault = self.advance(q, 0, self.h, 0, _NO_ROWS, 0)[2]
        if fault != -1:
            joint = self.model.body_joint_names[self.model.topology[-2 - fault, at.BODY]]
            raise SingularError(
                f"joint {joint!r} has no inertia to move in this configuration: give its body a mass, or the joint an "
                "armature"
            )

    def link_pose(self, link: int, q: Array) -> Array:
        """Return the pose of a link in the world, 9 numbers of rotation and 3 of position, along one path."""
        out = np.empty((1, 12))
        lazy = self.lazy
        _update.world_of_link(
            link, self.assembly.unit_of_link[link], lazy.units, self.model.topology, self.model.constants, q, lazy.tree,
            lazy.leaves, lazy.frames, lazy.room, out,
        )  # fmt: skip
        return out[0]

    @property
    def computed_units(self) -> np.ndarray:
        """The units whose joints the last search computed."""
        units = self.lazy.tree[self.lazy.popped[: self.lazy.counts[row.POPPED]], to.UNIT]
        return units[units >= 0]


_NO_ROWS = np.zeros((0, 0))
NO_INERTIA = 1e-14  # of the largest moment of inertia of a body: less is none


def check_inertias(assembly: AssemblyTree) -> None:
    """Refuse bodies without inertia about some axis, before it depends on the forces whether the tree is used."""
    rows = assembly.model.constants[assembly.units[:, to.LAST]]
    mass, moment = rows[:, at.MASS], rows[:, at.MOMENT : at.MOMENT + 3]
    about = rows[:, at.INERTIA + np.array([0, 1, 2, 1, 3, 4, 2, 4, 5])].reshape(-1, 3, 3)
    centre = moment / mass[:, None]
    square = np.einsum("n,ni,nj->nij", mass, centre, centre)
    own = about - np.trace(square, axis1=1, axis2=2)[:, None, None] * np.eye(3) + square
    values = np.linalg.eigvalsh(own)
    bad = np.flatnonzero(values[:, 0] <= NO_INERTIA * np.abs(np.trace(about, axis1=1, axis2=2)))
    if len(bad):
        model = assembly.model
        body = model.names[model.topology[assembly.units[bad[0], to.LAST], at.BODY]]
        raise ModelError(
            f"body {body!r} has no rotational inertia about some axis, so it has no inverse inertia: give it a "
            "positive definite inertia (quasi-statics needs one, as the other methods by an assembly tree do)"
        )


def _allocate(assembly: AssemblyTree) -> Lazy:
    n, m, nv = len(assembly.tree), len(assembly.units), assembly.model.nv
    room = np.zeros((1, to.ROOM))
    nodes = make_nodes(assembly, room)
    heights = assembly.heights
    marks = np.zeros((n, row.MARKS), dtype=np.int64)
    marks[:, row.LEVEL], marks[:, row.NEXT] = heights, -1
    frames = np.zeros((n, row.FRAMES))
    frames[:, row.TAIL : row.TAIL + 12] = _IDENTITY
    leaves = np.zeros(m, dtype=np.int64)
    own = np.flatnonzero((assembly.tree[:, to.KIND] == to.LEAF) & (assembly.share > 0))
    leaves[assembly.tree[own, to.UNIT]] = own
    levels = int(heights.max(initial=0)) + 1
    # every joint counts one; the same 36 numbers stand for all units
    weights = np.lib.stride_tricks.as_strided(np.eye(6).ravel(), (m, 36), (0, 8))
    values: list[Any] = [
        assembly.tree, assembly.units, assembly.roots, leaves, nodes, np.zeros((n, to.METRICS)), weights, frames, marks,
        np.full(levels, -1), np.zeros(levels, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(m, dtype=np.int64),
        np.zeros((m, 12)), np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(n),
        np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(row.QUEUE),
        np.zeros(row.COUNTS, dtype=np.int64), np.zeros((2, at.LINKS)), room,
    ]  # fmt: skip
    return Lazy(*values)


def _no_loads() -> Loads:
    pairs: Any = np.zeros((0, 2), dtype=np.int64)
    return Loads(np.zeros((0, act.WRENCHES)), pairs, np.zeros((0, act.SPRINGS)), pairs)


def _tables(model: Model, assembly: AssemblyTree, acts: Acts, time: float) -> tuple[Loads, float]:
    """Return what acts on bodies at a time, by units, and the time when that changes by itself."""
    acting = (acts.wrench_links[:, 0] >= 0) & (time < acts.wrenches[:, act.UNTIL])
    wrenches, links = acts.wrenches[acting], acts.wrench_links[acting]
    ends = float(wrenches[:, act.UNTIL].min(initial=np.inf))
    if len(acts.external):
        bodies = np.flatnonzero(acts.external.any(axis=1) & (model.body_links >= 0))
        rows = np.zeros((len(bodies), act.WRENCHES))
        rows[:, act.TORQUE : act.TORQUE + 6] = acts.external[bodies]
        rows[:, act.POINT : act.POINT + 3] = model.body_poses_in_link[bodies, 9:12]
        own = np.stack((model.body_links[bodies], np.zeros(len(bodies), dtype=np.int64)), axis=1)
        wrenches, links = np.concatenate((wrenches, rows)), np.concatenate((links, own))
    for found in (links[:, 0], acts.spring_links[:, 0], acts.spring_links[:, 1]):
        refuse_massless(assembly, model.topology[found[found >= 0], at.BODY])
    of = links.copy()
    of[:, 0] = assembly.unit_of_link[links[:, 0]]
    springs = np.where(acts.spring_links >= 0, assembly.unit_of_link[acts.spring_links], -1)
    return Loads(np.ascontiguousarray(wrenches), of, acts.springs, springs), ends
