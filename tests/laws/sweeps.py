"""Recursions over an assembly tree, node by node, with all that they need and leave behind."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import kinetree as kt
from kinetree.adaptive.dca import DcaWork, make_work
from kinetree.kernels import dca, metric, passive
from kinetree.kernels import nodes as to
from kinetree.kernels.kinematics import move_links
from oracle.trees import MOVING, random_model


def adaptive_model(seed: int, n: int, branching: float, roots: float) -> kt.Model:
    """Return a random model that divide and conquer takes: without branches, some of its links weigh nothing."""
    massless, first = 0.3 if branching == 0 and roots == 0 else 0.0, MOVING[seed % len(MOVING)]
    return random_model(seed, n, branching=branching, roots=roots, massless=massless, armature=0.3, first=first)


@dataclass
class Sweep:
    """A body in motion and the coefficients of the nodes of its assembly tree; seeded at random."""

    model: kt.Model
    seed: int
    pushed: bool = True
    """Whether wrenches act on the bodies."""
    q: np.ndarray = field(init=False)
    v: np.ndarray = field(init=False)
    tau: np.ndarray = field(init=False)
    external: np.ndarray = field(init=False)
    """Wrench on every body, world axes, shape (nbodies, 6)."""
    gravity: np.ndarray = field(init=False)
    weights: np.ndarray = field(init=False)
    """Symmetric positive definite matrix A of every unit, as in `kernels/nodes.py`."""
    work: DcaWork = field(init=False)
    metrics: np.ndarray = field(init=False)
    passive: np.ndarray = field(init=False)
    out: np.ndarray = field(init=False)
    """Accelerations, shape (nv,)."""

    def __post_init__(self) -> None:
        """Draw the motion and allocate."""
        model, rng = self.model, np.random.default_rng(self.seed)
        self.q, self.v = model.random_state(self.seed)
        self.tau, self.gravity = rng.normal(size=model.nv), 10 * rng.normal(size=3)
        self.external = rng.normal(size=(model.nbodies, 6)) if self.pushed else np.zeros((model.nbodies, 6))
        self.external[model.masses == 0] = 0
        self.work = make_work(model)
        self.weights = np.zeros((len(self.units), 36))
        for unit in range(len(self.units)):
            n = self.units[unit, to.COUNT]
            root = rng.normal(size=(n, n))
            block = np.zeros((6, 6))
            block[:n, :n] = root @ root.T + 0.1 * np.eye(n)
            self.weights[unit] = block.ravel()
        self.metrics = np.zeros((len(self.tree), to.METRICS))
        self.passive = np.zeros((len(self.tree), to.PASSIVE))
        self.out = np.zeros(model.nv)

    @property
    def tree(self) -> np.ndarray:
        """The assembly tree."""
        return self.work.assembly.tree

    @property
    def units(self) -> np.ndarray:
        """Its bodies."""
        return self.work.assembly.units

    @property
    def nodes(self) -> np.ndarray:
        """The coefficients of its nodes."""
        return self.work.nodes

    def join(self, *, stiff: bool = False) -> None:
        """Compute accelerations, metrics and, where `stiff`, the coefficients of nodes that move as one body."""
        model, work, room = self.model, self.work, self.work.room
        scratch = work.scratch
        move_links(model.topology, model.constants, self.q, self.v, scratch.links, scratch.axes)
        dca.unit_wrenches(
            self.external, model.body_links, model.body_poses_in_link, work.assembly.unit_of_link, self.units,
            scratch.links, work.wrenches,
        )  # fmt: skip
        bad = dca.dca(
            self.tree, self.units, work.wrenches, model.topology, model.constants, scratch.armature, self.q, self.v,
            self.tau, tuple(self.gravity.tolist()), self.nodes, work.motion, room, self.out,
        )  # fmt: skip
        assert bad == -1
        for node, kind in enumerate(self.tree[:, to.KIND]):
            if kind == to.LEAF:
                if stiff:
                    passive.passive_leaf(
                        node, self.tree, self.units, model.constants, self.nodes, self.metrics, self.passive
                    )
                continue
            dca.meet(node, self.tree, self.nodes, room)
            dca.combine(node, self.tree, self.nodes, room)
            metric.metric_quadratic(node, self.tree, self.units, self.weights, self.nodes, self.metrics, room)
            metric.metric_linear(node, self.tree, self.units, self.weights, self.nodes, self.metrics, room)
            if stiff and kind != to.ROOT:
                passive.passive_join(
                    node, self.tree, self.units, self.weights, self.tau, self.nodes, self.metrics, self.passive, room
                )

    def turn(self) -> None:
        """Overwrite the linear coefficients of all nodes by those of nodes that move as one body."""
        for node in np.flatnonzero(self.tree[:, to.KIND] != to.ROOT):
            self.nodes[node, to.TURN : to.TURN + 3] = self.work.motion[self.tree[node, to.HEAD]]
            passive.passive_linear(node, self.tree, self.passive, self.nodes, self.metrics, self.work.room)

    def value(self, node: int) -> float:
        """Return the metric of a node at the wrenches that act on it."""
        return float(metric.metric_value(node, self.tree, self.nodes, self.metrics))

    def push(self, node: int, head: np.ndarray, tail: np.ndarray) -> tuple[float, np.ndarray]:
        """Let wrenches act on head and tail of a node that is cut out; returns its metric and all accelerations."""
        self.nodes[node, to.F1 : to.F1 + 6], self.nodes[node, to.F2 : to.F2 + 6] = head, tail
        value = self.value(node)
        out = np.zeros(self.model.nv)
        for k in self.below(node):
            if self.tree[k, to.KIND] != to.LEAF:
                dca.substitute(k, self.tree, self.units, self.nodes, out, self.work.room)
        return value, out

    def below(self, node: int) -> list[int]:
        """Return a node and all nodes below it, parents first."""
        found = [node]
        for k in found:
            found.extend(int(child) for child in self.tree[k, [to.LEFT, to.RIGHT]] if child >= 0)
        return found

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of a value of each unit over the joints of each node."""
        total = np.zeros((len(self.tree), *values.shape[1:]))
        for node, (kind, left, right, _, unit) in enumerate(self.tree[:, : to.UNIT + 1]):
            if kind != to.LEAF:
                total[node] = total[right] + (total[left] if left >= 0 else 0) + (values[unit] if unit >= 0 else 0)
        return total

    def weigh(self, acceleration: np.ndarray) -> np.ndarray:
        """Return qdd' A qdd of the joint of every unit."""
        result = np.zeros(len(self.units))
        for unit, row in enumerate(self.units):
            own = acceleration[row[to.FREEDOM : to.FREEDOM + row[to.COUNT]]]
            n = len(own)
            result[unit] = own @ self.weights[unit].reshape(6, 6)[:n, :n] @ own
        return result
