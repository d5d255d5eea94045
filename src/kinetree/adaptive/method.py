"""Adaptive dynamics as a method of simulation: budgets and errors in, the joints that live out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dynamics import Workspace
from ..errors import ArgumentError, SingularError
from ..full import INTEGRATORS, FullStepper, Outcome
from ..kernels import acts as act
from ..kernels import adaptive as _adaptive
from ..kernels import layout as at
from ..kernels import nodes as to
from ..kernels import passive as _passive
from ..kernels import steppers
from ..kernels.acts import Acts
from ..kernels.forest import Forest, Plan, Small, start
from ..kernels.steppers import Body
from ..model.model import Model
from ..typing import Array
from .assembly_tree import AssemblyTree, build_tree
from .dca import make_nodes, refuse_massless


@dataclass(frozen=True)
class Adaptive:
    """Simulate the joints that matter most: a number of them, or as many as an error asks for.

    `joints` is the most that may move (free roots always do, and count; hinges in a row without mass between
    them count as one), `error` the norm of the joint accelerations that may be neglected [rad/s2, m/s2]; give one or
    both. Every `update_every` steps the joints are chosen anew, by their accelerations (`acceleration_joints` of them,
    `joints` if None), then by their velocities. `weights` maps names of joints to how much they count: a number, or a
    symmetric positive definite matrix.
    """

    joints: int | None = None
    error: float | None = None
    update_every: int = 20
    acceleration_joints: int | None = None
    weights: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.joints is None and self.error is None:
            raise ArgumentError("Adaptive() needs a budget: joints=, the number that may move, or error=")
        for name in ("joints", "acceleration_joints"):
            value = getattr(self, name)
            if value is not None and (int(value) != value or value < 0):
                raise ArgumentError(f"Adaptive({name}={value}): a number of joints is whole and not negative")
        if self.error is not None and not (np.isfinite(self.error) and self.error >= 0):
            raise ArgumentError(f"Adaptive(error={self.error}): an error is finite and not negative")
        if int(self.update_every) != self.update_every or self.update_every < 1:
            raise ArgumentError(f"Adaptive(update_every={self.update_every}): give a whole number of steps, at least 1")

    def stepper(self, model: Model, integrator: str, tolerance: float) -> AdaptiveStepper | FullStepper:
        """Allocate what stepping `model` needs; with all joints allowed and no error that is the full method."""
        for name in ("joints", "acceleration_joints"):
            value = getattr(self, name)
            if value is not None and value > model.njoints:
                raise ArgumentError(f"Adaptive({name}={value}): the model has {model.njoints} joints that move")
        if self.error is None and self.joints == model.njoints:
            return FullStepper(model, integrator, tolerance)
        return AdaptiveStepper(model, integrator, tolerance, self)


class AdaptiveStepper:
    """Advances one simulation on its hybrid body."""

    def __init__(self, model: Model, integrator: str, tolerance: float, method: Adaptive) -> None:
        """Build the assembly tree and allocate everything; nothing is computed before the first step."""
        if integrator not in INTEGRATORS:
            raise ArgumentError(f"integrator is {integrator!r}: use one of {', '.join(map(repr, INTEGRATORS))}")
        self.model, self.method = model, method
        self.integrator = INTEGRATORS[integrator]
        scratch = Workspace.of(model)
        self.body = Body(model.topology, model.constants, scratch.armature, model.body_links, model.body_poses_in_link)
        self.assembly = build_tree(model)
        self.forest = _forest(self.assembly, method.weights)
        self.control = np.array([tolerance, 0.0, 0.0, 0.0])
        self.totals = np.zeros(3)
        self.seconds = 0.0
        self.steps = 0
        self._acts: Acts | None = None
        self._small: Small | None = None
        self._known: tuple[Array, Array] | None = None
        self._resumed = False

    def advance(
        self,
        acts: Acts,
        q: Array,
        v: Array,
        start: float,
        first: int,
        dt: float,
        steps: int,
        gravity: Sequence[float],
        record: Array,
        every: int,
    ) -> Outcome:
        """Take `steps` steps in place; see `kernels.adaptive.advance`."""
        began = time.perf_counter()
        small = self._prepare(acts, q, v, dt)
        done = _adaptive.advance(
            self.body, acts, self.forest, small, self._plan(dt), q, v, start, first, dt, steps, tuple(gravity),
            self.integrator, self.control, record, every, self.totals,
        )  # fmt: skip
        self._known = (q.copy(), v.copy())
        self.seconds += time.perf_counter() - began
        self.steps += done[0]
        return Outcome(*done)

    def _plan(self, dt: float) -> Plan:
        method, n = self.method, self.model.njoints
        joints = n if method.joints is None else int(method.joints)
        accelerations = joints if method.acceleration_joints is None else int(method.acceleration_joints)
        error = -1.0 if method.error is None else float(method.error)
        period = dt * method.update_every
        return Plan(accelerations, joints, error, error * period if error >= 0 else -1.0, int(method.update_every), 0)

    def _prepare(self, acts: Acts, q: Array, v: Array, dt: float) -> Small:
        """Compute everything anew where the user changed the state or the forces; returns the room to step in."""
        if self._small is not None and self._known is not None and acts is self._acts:
            if np.array_equal(q, self._known[0]) and np.array_equal(v, self._known[1]):
                return self._small
        model = self.model
        if len(acts.external):
            raise ArgumentError(
                "wrenches from a callback are not possible with Adaptive: use forces.Spring or Simulation.apply"
            )
        for links in (acts.wrench_links[:, 0], acts.spring_links[:, 0], acts.spring_links[:, 1]):
            bodies = model.topology[links[links >= 0], at.BODY]
            refuse_massless(self.assembly, bodies)
        self._small = _small(model, self.integrator, len(self.assembly.units), acts)
        self._acts = acts
        h = dt if self.integrator == steppers.SEMI_IMPLICIT else 0.0
        bad = start(self.body, acts, self.forest, self._small, q, v, h, self._resumed)
        self._resumed = False
        if bad >= 0:
            joint = model.body_joint_names[model.topology[self.assembly.units[bad, to.LAST], at.BODY]]
            raise SingularError(f"joint {joint!r} has no inertia to move in this configuration")
        return self._small

    @property
    def active_mask(self) -> np.ndarray:
        """Whether each joint, in the order of `model.joint_names`, is simulated now."""
        tree, units, model = self.assembly.tree, self.assembly.units, self.model
        nodes = np.flatnonzero((self.forest.marks[:, to.ACTIVE] == 1) & (tree[:, to.UNIT] >= 0))
        mask = np.zeros(model.nbodies, dtype=bool)
        for unit in tree[nodes, to.UNIT]:
            mask[model.topology[units[unit, to.FIRST] : units[unit, to.LAST] + 1, at.BODY]] = True
        return mask[model.joint_bodies]

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the joints that are simulated now."""
        names, mask = self.model.joint_names, self.active_mask
        return tuple(names[k] for k in np.flatnonzero(mask))

    @property
    def stats(self) -> dict[str, Any]:
        """What was computed so far."""
        return {
            "steps": self.steps,
            "updates": int(self.totals[1]),
            "computed_joints": int(self.totals[0]),
            "active_joints": int(self.forest.sizes[to.JOINTS]),
            "acceleration_error": float(self.totals[2]),
            "seconds": self.seconds,
            "seconds_per_step": self.seconds / self.steps if self.steps else 0.0,
        }

    def snapshot(self) -> dict[str, Array]:
        """Return what must be saved so that the motion continues to the bit: which nodes are active."""
        marks = self.forest.marks[:, to.ACTIVE].copy()
        return {"control": self.control.copy(), "totals": self.totals.copy(), "active": marks}

    def resume(self, saved: dict[str, Array]) -> None:
        """Take over what `snapshot` returned."""
        self.control[:], self.totals[:] = saved["control"], saved["totals"]
        self.forest.marks[:, to.ACTIVE] = saved["active"]
        self._resumed = bool(saved["active"].any())


def _forest(assembly: AssemblyTree, weights: Mapping[str, Any] | None) -> Forest:
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
    matrices = _weights(assembly, weights)
    trees = len(assembly.roots)
    values: list[Any] = [
        assembly.tree, assembly.units, assembly.roots, leaves, assembly.unit_of_link, matrices, matrices,
        np.ones(trees), nodes, metrics, passive, np.zeros((n, to.MARKS), dtype=np.int64),
        np.zeros((m, 2), dtype=np.int64), np.zeros(to.SIZES, dtype=np.int64), np.zeros((3, n), dtype=np.int64),
        np.zeros(n), np.zeros(n, dtype=np.int64), room,
    ]  # fmt: skip
    return Forest(*values)


def _weights(assembly: AssemblyTree, weights: Mapping[str, Any] | None) -> Array:
    model, units = assembly.model, assembly.units
    matrices = np.tile(np.eye(6).ravel(), (len(units), 1))
    for joint, value in (weights or {}).items():
        link = model.body_links[model.joint_body(joint)]
        unit = assembly.unit_of_link[link]
        count = int(units[unit, to.COUNT])
        matrix = np.asarray(value, dtype=float)
        matrix = matrix * np.eye(count) if matrix.ndim == 0 else matrix
        if matrix.shape != (count, count):
            raise ArgumentError(
                f"the weight of joint {joint!r} has shape {matrix.shape}: give a number or a {count} x {count} matrix"
            )
        if not np.isfinite(matrix).all() or np.abs(matrix - matrix.T).max() > 1e-12 * np.abs(matrix).max():
            raise ArgumentError(f"the weight of joint {joint!r} is not a finite symmetric matrix")
        if np.linalg.eigvalsh(matrix)[0] <= 0:
            raise ArgumentError(f"the weight of joint {joint!r} is not positive definite")
        full = np.zeros((6, 6))
        full[:count, :count] = matrix
        matrices[unit] = full.ravel()
    return matrices


def _small(model: Model, integrator: int, units: int, acts: Acts) -> Small:
    n, nq, nv = model.njoints, model.nq, model.nv
    ns, nw = len(acts.springs), len(acts.wrenches)
    rows = steppers.STAGES[integrator]
    whole = [np.zeros(nv) for _ in range(5)]
    values: list[Any] = [
        np.zeros((n, at.TOPOLOGY), dtype=np.int64), np.zeros((n, at.CONSTANTS)), np.zeros(nq, dtype=np.int64),
        np.zeros(nv, dtype=np.int64), np.zeros(nq), np.zeros(nv), np.zeros((n, at.LINKS)), np.zeros((nv, at.AXES)),
        *whole, np.zeros(rows * (nq + nv)), np.zeros(nv), np.zeros(nv), np.zeros(nv),
        np.zeros((nv, act.STOPS)), np.zeros(nq), np.zeros(nv),
        np.zeros((ns, act.SPRINGS)), np.zeros((ns, 2), dtype=np.int64), np.zeros((ns, 2), dtype=np.int64),
        np.zeros((nw, act.WRENCHES)), np.zeros((nw, 2), dtype=np.int64), np.zeros((nw + 2 * ns, 12)),
        np.zeros((2, at.LINKS)), np.zeros((units, 6)), np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros((0, 6)),
    ]  # fmt: skip
    return Small(*values)
