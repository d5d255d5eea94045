"""Stepping a hybrid body: what is prepared before a step, asked at every choice of the joints, and told afterwards."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dynamics import Workspace
from ..errors import ArgumentError, SingularError
from ..full import INTEGRATORS, Outcome, answer
from ..kernels import adaptive as _adaptive
from ..kernels import layout as at
from ..kernels import nodes as to
from ..kernels import steppers
from ..kernels.acts import UNTIL, Acts
from ..kernels.forest import Plan, become, rebuild
from ..kernels.hybrid import map_acts
from ..kernels.response import respond
from ..kernels.steppers import Body
from ..model.model import Model
from ..parallel import count_threads
from ..typing import Array
from .assembly_tree import build_tree
from .crew import Crew
from .dca import refuse_massless
from .governor import Governor
from .loads import Loads
from .regions import Regions, classify, units_of_links
from .room import make_forest, resize
from .weights import Weights, root_positions

if TYPE_CHECKING:
    from .method import Adaptive

_NONE = np.zeros(0, dtype=np.int64)


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
        self.weights = [Weights(self.assembly, method.weights, method.view)]
        if method.velocity_weights is not None:
            self.weights.append(Weights(self.assembly, method.velocity_weights, method.view))
        self.forest = make_forest(self.assembly, self.weights[0].matrices, self.weights[-1].matrices)
        self.period = 1 if method.guaranteed else int(method.update_every)
        self.governor: Governor | None = None
        if method.seconds_per_step is not None:
            most = model.njoints if method.joints is None else max(int(method.joints), 1)
            self.governor = Governor(method.seconds_per_step, most)
        self.control = np.array([tolerance, 0.0, 0.0, 0.0])
        self.totals = np.zeros(3)
        self.seconds = 0.0
        self.steps = 0
        self.loads = Loads(model, self.assembly)
        self._block = np.zeros(2)  # seconds and steps since the last choice
        self._settled = False  # whether a choice has been made since everything was computed anew
        self._known: tuple[Array, Array] | None = None
        self._h = -1.0
        self._resumed = False  # whether it is known which joints are active
        self._crew: Crew | None = None
        threads = count_threads(model, method.threads)
        if threads > 1 and self.integrator == steppers.SEMI_IMPLICIT and not method.guaranteed:
            self._crew = Crew(model, self.assembly, self.forest, self.body, threads)
        self._scattered = False  # whether the parts of the crew know the hybrid body, and the whole forest does not

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
        self._prepare(acts, q, v, dt)
        attended = self.governor is not None or self.method.view is not None or bool(self.loads.stale.any())
        attended |= any(item.functions for item in self.weights)
        done = rows = 0
        fault = -1
        while done < steps and fault == -1:
            now = first + done
            run = steps - done
            if attended:
                if now % self.period == 0:
                    self._attend(q, v, start + now * dt)
                run = min(run, self.period - now % self.period)
            taken, written, fault = self._go(q, v, start, now, dt, run, gravity, record[rows:], every)
            done, rows = done + taken, rows + written
            self._block += (time.perf_counter() - began, taken)
            self.seconds += time.perf_counter() - began
            began = time.perf_counter()
        self._known = (q.copy(), v.copy())
        self.steps += done
        return Outcome(done, rows, fault)

    def _go(
        self, q: Array, v: Array, start: float, now: int, dt: float, run: int, gravity: Sequence[float], record: Array,
        every: int,
    ) -> Outcome:  # fmt: skip
        """Take steps on the threads of the crew, if there is one and nothing keeps it together, or else on this one."""
        loads, plan = self.loads, self._plan(dt)
        if self._crew is not None and self._crew.take(loads.acts, loads.small, q, v):
            self._scattered = True
            return self._crew.advance(q, v, start, now, dt, run, gravity, record, every, plan, self.totals)
        return Outcome(*_adaptive.advance(
            self.body, loads.acts, self.forest, loads.small, plan, q, v, start, now, dt, run, tuple(gravity),
            self.integrator, self.control, record, every, self.totals,
        ))  # fmt: skip

    def _gather(self, q: Array, v: Array) -> None:
        """Make the hybrid body of the whole forest again, where only its parts are known."""
        if self._scattered:
            become(self.body, self.loads.acts, self.forest, self.loads.small, q, v)
            self._scattered = False

    def _plan(self, dt: float) -> Plan:
        method, n = self.method, self.model.njoints
        joints = n if method.joints is None else int(method.joints)
        if self.governor is not None:
            joints = min(joints, self.governor.joints)
        accelerations = joints if method.acceleration_joints is None else min(int(method.acceleration_joints), n)
        error = -1.0 if method.error is None else float(method.error)
        period = dt * self.period
        return Plan(
            accelerations, joints, error, error * period if error >= 0 else -1.0, self.period, int(method.guaranteed)
        )

    # --- before a step

    def _prepare(self, acts: Acts, q: Array, v: Array, dt: float) -> None:
        """Compute everything anew where the user changed the state, and what forces ask for where those changed."""
        loads = self.loads
        h = dt if self.integrator == steppers.SEMI_IMPLICIT else 0.0
        same = self._known is not None and h == self._h and loads.alike(acts)
        if same and self._known is not None:
            same = np.array_equal(q, self._known[0]) and np.array_equal(v, self._known[1])
        if same:
            if loads.change(acts, self.forest):
                self._remake(q, v, _NONE, _NONE)
            return
        loads.begin(acts, self.integrator)
        self._h = h
        for item in self.weights:
            item.update(q)
        marked, self._resumed = self._resumed or self.method.guaranteed, False
        if self.method.guaranteed:
            self._wake_what_moves(v)
        units, nodes = np.arange(len(self.assembly.units)), np.arange(len(self.assembly.tree))
        self._remake(q, v, units, nodes, marked=marked)
        self._settled = False

    def _wake_what_moves(self, v: Array) -> None:
        """Make the joints active that have a velocity, and all nodes above them."""
        units = self.assembly.units
        count = units[:, to.COUNT]
        moving = np.zeros(len(units), dtype=bool)
        for k in range(6):
            has = np.flatnonzero(count > k)
            moving[has] |= v[units[has, to.FREEDOM + k]] != 0.0
        self.forest.marks[self._upwards(units[moving, to.JOINT]), to.ACTIVE] = 1

    def _upwards(self, nodes: np.ndarray, until: np.ndarray | None = None) -> np.ndarray:
        """Return the nodes and all above them, children first, but not those that are marked in `until`."""
        parent = self.assembly.tree[:, to.PARENT]
        met = np.zeros(len(parent), dtype=bool) if until is None else until.copy()
        found = []
        front = np.unique(nodes[~met[nodes]])
        while len(front):
            met[front] = True
            found.append(front)
            front = parent[front]
            front = front[front >= 0]
            front = np.unique(front[~met[front]])
        return np.sort(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)

    def _remake(self, q: Array, v: Array, units: np.ndarray, nodes: np.ndarray, *, marked: bool = True) -> None:
        """Make the hybrid body of the active joints (of all unless they are `marked`).

        Before that, compute what `nodes` answer (children first), with the forces of `units` as they are now.
        """
        loads = self.loads
        self._scattered = False
        if self._crew is not None:
            self._crew.ready = False
        bad = rebuild(self.body, loads.acts, self.forest, loads.small, q, v, self._h, marked, units, nodes)
        if bad >= 0:
            joint = self.model.body_joint_names[self.model.topology[self.assembly.units[bad, to.LAST], at.BODY]]
            raise SingularError(f"joint {joint!r} has no inertia to move in this configuration")

    def _attend(self, q: Array, v: Array, now: float) -> None:
        """Before a choice of the joints, ask whatever has a say in it."""
        view, governor, loads = self.method.view, self.governor, self.loads
        if view is not None:
            self.forest.scale[:] = view.scales(self.model, root_positions(self.model, q), now)
        stale = loads.stale.copy()
        for item in self.weights:
            stale[item.update(q)] = True
        loads.stale[:] = False
        asleep = self.forest.marks[:, to.ACTIVE] == 0
        stale &= asleep[self.assembly.units[:, to.JOINT]]
        if stale.any():  # what nodes at rest remember is of another force, position or weight
            units = np.flatnonzero(stale)
            self._remake(q, v, units, self._upwards(self.assembly.units[units, to.JOINT], ~asleep))
        if governor is not None:
            seconds, steps = self._block
            if steps > 0 and self._settled:  # the first choice of all computes every joint
                governor.update(int(self.forest.sizes[to.JOINTS]), seconds / steps)
            self._block[:] = 0.0
        self._settled = True

    # --- what it tells

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

    def regions(self, now: float) -> Regions:
        """Return what every node of the assembly tree is at this moment."""
        acts = self.loads.acts if self.loads.ready else None
        forced = None
        if acts is not None:
            pushed = acts.wrench_links[now < acts.wrenches[:, UNTIL], 0]
            forced = units_of_links(self.assembly, np.concatenate((pushed, acts.spring_links.ravel())))
        return classify(
            self.assembly, self.forest.marks[:, to.ACTIVE], forced_units=forced, forced_joints=self.loads.stale
        )

    @property
    def stats(self) -> dict[str, Any]:
        """What was computed so far."""
        sizes = self.forest.sizes
        stats: dict[str, Any] = {
            "steps": self.steps,
            "updates": int(self.totals[1]),
            "computed_joints": int(self.totals[0]),
            "active_joints": int(sizes[to.JOINTS]),
            "rigid_front": int(sizes[to.FRONTS]),
            "acceleration_error": float(self.totals[2]),
            "seconds": self.seconds,
            "seconds_per_step": self.seconds / self.steps if self.steps else 0.0,
        }
        if self.governor is not None:
            stats |= {"budget_joints": self.governor.joints, "budget_attainable": self.governor.attainable}
        return stats

    def response(self, acts: Acts, tau: Array, q: Array, v: Array) -> Array:
        """Return the joint accelerations [nv] that wrenches and joint forces cause on the hybrid body at rest."""
        if not self.loads.ready:
            raise ArgumentError("which joints move is only known after a step: call step() before response()")
        self._gather(q, v)
        out = np.zeros(self.model.nv)
        forest, small, sizes = self.forest, self.loads.small, self.forest.sizes
        n, nv = int(sizes[to.LINKS]), int(sizes[to.VELOCITIES])
        nw = len(acts.wrenches)
        links = acts.wrench_links[:, 0]
        refuse_massless(self.assembly, self.model.topology[links[links >= 0], at.BODY])
        room = resize(small, acts)
        map_acts(
            acts.springs, acts.spring_links, acts.wrenches, acts.wrench_links, forest.unit_of_link, forest.leaves,
            forest.tree, forest.marks, forest.groups, forest.nodes, forest.passive, np.zeros_like(sizes), room.springs,
            room.spring_links, room.kept, room.wrenches, room.wrench_links, room.act_poses,
        )  # fmt: skip
        found = np.zeros(nv)
        of, coordinates = small.v_of[:nv], small.q_of[: int(sizes[to.COORDINATES])]
        bad = respond(
            small.flat[:n], small.chain[:n], self.body.armature[of], q[coordinates], np.zeros(nv), room.wrenches[:nw],
            room.wrench_links[:nw], tau[of], np.zeros((n, at.LINKS)), np.zeros((nv, at.AXES)), np.zeros(nv), found,
        )  # fmt: skip
        out[of] = found
        return answer(self.model, int(small.flat[bad, to.LINK]) if bad >= 0 else -1, out)

    def snapshot(self) -> dict[str, Array]:
        """Return what must be saved so that the motion continues to the bit: which nodes are active."""
        saved = {"control": self.control.copy(), "totals": self.totals.copy()}
        if self.loads.ready:
            saved["active"] = self.forest.marks[:, to.ACTIVE].copy()
        if self.governor is not None:
            saved["governor"] = self.governor.snapshot()
        return saved

    def resume(self, saved: dict[str, Array]) -> None:
        """Take over what `snapshot` returned."""
        self.control[:], self.totals[:] = saved["control"], saved["totals"]
        if "active" in saved:
            self.forest.marks[:, to.ACTIVE] = saved["active"]
            self._resumed = True
        if self.governor is not None and "governor" in saved:
            self.governor.resume(saved["governor"])
