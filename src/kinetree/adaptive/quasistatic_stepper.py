"""Stepping a body at rest: by the lazy assembly tree while few joints are needed, by all joints otherwise."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dynamics import Workspace
from ..errors import ArgumentError
from ..full import Outcome, answer
from ..kernels import layout as at
from ..kernels import nodes as to
from ..kernels import quasistatic_flat as _flat
from ..kernels import quasistatic_rows as row
from ..kernels.acts import UNTIL, Acts
from ..kernels.quasistatic_rows import Plan
from ..kernels.response import respond
from ..kernels.steppers import Body, Work
from ..model.model import Model
from ..typing import Array
from .assembly_tree import build_tree
from .quasistatic_room import MEASURES, LazyTree, check_inertias
from .regions import Regions, classify, units_of_links

if TYPE_CHECKING:
    from .quasistatic import Quasistatic

# Where the tree stops being worth it, measured on linkages of 1,000 to 50,000 joints: a joint that is computed costs as
# much as 9 to 20 joints of the articulated-body algorithm, a node above a force as much as two. Coming back costs as
# much as 30 steps of all joints, so it must last, or it is tried more and more rarely.
COST_OF_JOINT = 20.0
COST_OF_FORCE = 2.5
BACK = 0.5  # come back when fewer than this part of the allowed joints are needed
LOOK, SOONEST = 64, 40_000  # steps of all joints between two looks at how many are needed: LOOK + SOONEST / joints
LAST = 500  # steps that a visit to the tree should last
RAREST = 4096


class QuasistaticStepper:
    """Advances one simulation whose velocities are zero."""

    def __init__(self, model: Model, method: Quasistatic) -> None:
        """Build the assembly tree; the coefficients are allocated when they are first needed."""
        self.model, self.method = model, method
        self.assembly = build_tree(model)
        check_inertias(self.assembly)
        scratch = Workspace.of(model)
        nv = model.nv
        self.body = Body(model.topology, model.constants, scratch.armature, model.body_links, model.body_poses_in_link)
        self.work = Work(
            scratch.links, scratch.axes, np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros((0, 0))
        )
        self.still = np.zeros(nv)
        self.tree: LazyTree | None = None
        self.in_tree = False
        self.steps = self.full_steps = self.hand_overs = 0
        self.full_joints = 0
        self.seconds = 0.0
        self._wait = 0  # steps of all joints until the next look
        self._look_every = LOOK + SOONEST // max(model.njoints, 1)
        self._pause = self._look_every
        self._since = 0  # steps since the tree was entered
        self._fresh = False  # whether all accelerations are known as they were a step ago
        self._seen: Array | None = None  # scratch of the look

    # --- stepping

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
        """Take `steps` steps in place."""
        began = time.perf_counter()
        if v.any():
            model = self.model
            joint = model.joint_names[int(model.v_joints[np.flatnonzero(v)[0]])]
            raise ArgumentError(
                f"joint {joint!r} has a velocity, but with Quasistatic() everything is at rest at every instant: set v "
                "to zero"
            )
        done = rows = 0
        fault = -1
        pull = (float(gravity[0]), float(gravity[1]), float(gravity[2]))
        while done < steps and fault == -1:
            now = first + done
            if not self.in_tree and self._wait <= 0:
                self._look(acts, q, start, now, dt, pull)
            if self.in_tree:
                taken, written, fault = self._by_tree(acts, q, start, now, dt, steps - done, pull, record[rows:], every)
            else:
                run = min(steps - done, self._wait)
                taken, written, fault = _flat.advance(
                    self.body, acts, self.still, q, start, now, dt, run, pull, self.work, record[rows:], every
                )
                self._wait -= taken
                self._fresh = taken > 0
                self.full_steps += taken
            done, rows = done + taken, rows + written
        self.steps += done
        self.seconds += time.perf_counter() - began
        return Outcome(done, rows, fault)

    def _by_tree(
        self,
        acts: Acts,
        q: Array,
        start: float,
        now: int,
        dt: float,
        steps: int,
        gravity: tuple[float, ...],
        record: Array,
        every: int,
    ) -> tuple[int, int, int]:
        """Take steps by the tree, up to where a force ends or too many joints are needed."""
        tree = self._tree()
        at_start = start + now * dt
        tree.prepare(acts, q, dt, gravity, at_start)
        tree.plan = self._plan(int(tree.lazy.counts[row.FORCED_NODES]))
        run = steps
        if np.isfinite(tree.ends):
            run = min(run, max(1, int(np.ceil((tree.ends - at_start) / dt - 1e-9))))
            while run > 1 and start + (now + run - 1) * dt >= tree.ends:
                run -= 1
        taken, rows, fault, status = tree.advance(q, now, dt, run, record, every)
        self._since += taken
        if status == row.OVER:
            self.in_tree = False
            self.hand_overs += 1
            self._pause = self._look_every if self._since >= LAST else min(2 * self._pause, RAREST)
            self._wait = self._pause
        return taken, rows, fault

    def _tree(self) -> LazyTree:
        if self.tree is None:
            self.tree = LazyTree(self.model, self.assembly)
        return self.tree

    def _plan(self, forced: int) -> Plan:
        """Return what is asked for, with so many nodes above forces."""
        method, n = self.method, self.model.njoints
        if method.hand_over is None:
            most = max(0, int((n - COST_OF_FORCE * forced) / COST_OF_JOINT))
        else:
            most = n if method.hand_over == 1 else int(method.hand_over * n)
        return Plan(MEASURES[method.measure], float(min(method.error, 1e150)), most)

    def _look(self, acts: Acts, q: Array, start: float, now: int, dt: float, gravity: tuple[float, ...]) -> None:
        """Decide between the tree and all joints, by how many joints are needed at present."""
        self._wait = self._look_every
        if self.method.hand_over == 1:
            self.in_tree = True
            return
        if not self._fresh:
            nothing = np.zeros((0, 0))
            fault = _flat.advance(self.body, acts, self.still, q, start, now, dt, 0, gravity, self.work, nothing, 0)[2]
            if fault != -1:
                return  # the step itself will say so
            self._fresh = True
        assembly, n = self.assembly, len(self.assembly.tree)
        if self._seen is None:
            self._seen = np.zeros((2, n))
        plan = self._plan(self._count_forced(acts))
        most = int(plan.most * (BACK if self.steps or self.hand_overs else 1.0))
        needed = _flat.needed(
            assembly.tree, assembly.units, assembly.roots, self.work.a, 1.0 / dt, self._seen[0], self._seen[1],
            np.empty(n, dtype=np.int64), plan.measure, plan.error, most,
        )  # fmt: skip
        if needed <= most:
            self.in_tree, self._since, self._fresh = True, 0, False

    def _count_forced(self, acts: Acts) -> int:
        """Return how many nodes of the tree forces act inside."""
        tree, model = self.assembly.tree, self.model
        links = np.concatenate((acts.wrench_links[:, 0], acts.spring_links.ravel()))
        if len(acts.external):
            links = np.concatenate((links, model.body_links[acts.external.any(axis=1)]))
        units = units_of_links(self.assembly, links)
        own = (tree[:, to.KIND] == to.LEAF) & (self.assembly.share > 0)
        front = np.flatnonzero(own)[units[tree[own, to.UNIT]]]
        seen = np.zeros(len(tree), dtype=bool)
        while len(front):
            seen[front] = True
            front = tree[front, to.PARENT]
            front = np.unique(front[front >= 0])
            front = front[~seen[front]]
        return int(seen.sum())

    # --- what it tells

    def pose(self, link: int, acts: Acts, q: Array) -> Array | None:
        """Return the pose of a link in the world as 12 numbers, along one path; None where all joints move anyway."""
        if not self.in_tree or self.tree is None or not self.tree.ready:
            return None
        self.tree.follow(q)
        self.tree.settle(q)
        return self.tree.link_pose(link, q)

    @property
    def active_mask(self) -> np.ndarray:
        """Whether each joint, in the order of `model.joint_names`, was computed in the last step."""
        model = self.model
        if not self.in_tree or self.tree is None:
            return np.full(model.njoints, self.steps > 0)
        return joints_of_units(model, self.assembly.units, self.tree.computed_units)

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the joints that were computed in the last step."""
        names = self.model.joint_names
        return tuple(names[k] for k in np.flatnonzero(self.active_mask))

    def regions(self, now: float) -> Regions:
        """Return what every node of the assembly tree was in the last step: active, above a force, passive."""
        n = len(self.assembly.tree)
        active = self.assembly.tree[:, to.KIND] != to.LEAF
        forced = None
        if self.in_tree and self.tree is not None:
            counts, popped = self.tree.lazy.counts, self.tree.lazy.popped
            active = np.zeros(n, dtype=bool)
            active[popped[: counts[row.POPPED]]] = True
            acts = self.tree.acts
            pushed = acts.wrench_links[now < acts.wrenches[:, UNTIL], 0]
            forced = units_of_links(self.assembly, np.concatenate((pushed, acts.spring_links.ravel())))
        return classify(self.assembly, active, forced_units=forced)

    @property
    def stats(self) -> dict[str, Any]:
        """What was computed so far."""
        totals = np.zeros(row.TOTALS) if self.tree is None else self.tree.totals
        computed = int(totals[row.COMPUTED]) + self.full_steps * self.model.njoints
        return {
            "steps": self.steps,
            "computed_joints": computed,
            "joints_per_step": computed / self.steps if self.steps else 0.0,
            "updated_nodes": int(totals[row.NODES_UPDATED]),
            "bound": float(totals[row.LAST_BOUND]) if self.in_tree else 0.0,
            "largest_bound": float(totals[row.WORST]),
            "full_steps": self.full_steps,
            "hand_overs": self.hand_overs,
            "seconds": self.seconds,
            "seconds_per_step": self.seconds / self.steps if self.steps else 0.0,
        }

    def response(self, acts: Acts, tau: Array, q: Array, v: Array) -> Array:
        """Return the joint accelerations [nv] that wrenches and joint forces cause by themselves, of all joints."""
        body, work, out = self.body, self.work, np.empty(self.model.nv)
        bad = respond(
            body.topology, body.constants, body.armature, q, self.still, acts.wrenches, acts.wrench_links, tau,
            work.links, work.axes, work.tau, out,
        )  # fmt: skip
        return answer(self.model, bad, out)

    def snapshot(self) -> dict[str, Array]:
        """Return what must be saved so that the motion continues to the bit."""
        counts = (self.in_tree, self.steps, self.full_steps, self.hand_overs, self._wait, self._pause, self._since)
        totals = np.zeros(row.TOTALS) if self.tree is None else self.tree.totals.copy()
        return {"counts": np.array(counts, dtype=np.int64), "totals": totals}

    def resume(self, saved: dict[str, Array]) -> None:
        """Take over what `snapshot` returned."""
        counts = [int(value) for value in saved["counts"]]
        self.in_tree = bool(counts[0])
        self.steps, self.full_steps, self.hand_overs, self._wait, self._pause, self._since = counts[1:]
        if saved["totals"].any():
            self._tree().totals[:] = saved["totals"]


def joints_of_units(model: Model, units: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Return whether each joint, in the order of `model.joint_names`, is one of those of the units `which`."""
    found = np.zeros(model.nbodies, dtype=bool)
    for unit in which:
        found[model.topology[units[unit, to.FIRST] : units[unit, to.LAST] + 1, at.BODY]] = True
    return found[model.joint_bodies]
