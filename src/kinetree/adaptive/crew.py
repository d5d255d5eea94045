"""A crowd on several threads: parts of a forest that are stepped side by side, while one queue chooses for all.

Everything that belongs to nodes is the whole forest's; each part has the list of its active nodes, its hybrid body and
its scratch. At a choice of the joints the parts look, the queue goes down by acceleration, the parts move, the queue
goes down by velocity, and the parts bring to rest what is not to move (see `kernels/crew.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from .._jit import plain
from ..full import Outcome
from ..kernels import crew, steppers
from ..kernels import nodes as to
from ..kernels.acts import Acts
from ..kernels.forest import Forest, Plan, Small, become, small_acts, small_body, small_work, spread
from ..kernels.region import choose_by_acceleration, choose_by_velocity
from ..kernels.steppers import Body
from ..model.model import Model
from ..parallel import Part, acts_inside, cut_forest, joined, together
from ..typing import Array
from .assembly_tree import AssemblyTree
from .room import make_small, resize


class Crew:
    """Takes semi-implicit steps of a forest on several threads."""

    def __init__(self, model: Model, assembly: AssemblyTree, forest: Forest, body: Body, threads: int) -> None:
        """Cut the forest; room is made when the forces are known."""
        self.model, self.forest, self.body = model, forest, body
        order = np.argsort(assembly.tree[assembly.roots, to.ROOT_OF])
        roots = assembly.roots[order]
        self.members = [_Member(part, forest, roots[slice(*part.trees)]) for part in cut_forest(model, threads)]
        self.ready = False
        """Whether the hybrid bodies of the parts are those of the marked nodes."""
        self._acts: Acts | None = None
        self._small: Small | None = None
        self._joined = False

    def take(self, acts: Acts, small: Small, q: Array, v: Array) -> bool:
        """Take over forces, marks and state; returns False where a spring joins two parts, so that there are none."""
        if acts is not self._acts or small is not self._small:
            self._joined = joined(acts, [member.part for member in self.members])
            for member in self.members:
                member.take(acts, small, self.model)
            self._acts, self._small, self.ready = acts, small, False
        if self._joined:
            return False
        if not self.ready:
            self._agree()
            self._all(lambda member: member.become(self.body, q, v))
            self.ready = True
        return True

    def advance(
        self, q: Array, v: Array, start: float, first: int, dt: float, steps: int, gravity: Sequence[float],
        record: Array, every: int, plan: Plan, totals: Array,
    ) -> Outcome:  # fmt: skip
        """Take `steps` steps, as `kernels.adaptive.advance` does; after `take`."""
        rows = done = 0
        fault = -1
        pull = tuple(gravity)
        while done < steps and fault == -1:
            now = first + done
            updating = now % plan.every == 0
            run = 1 if updating else min(steps - done, plan.every - now % plan.every)
            if every > 0:
                run = min(run, every - now % every)
            if updating:
                fault = self._update(q, v, start + now * dt, dt, pull, plan, totals)
                taken = 1 if fault == -1 else 0
            else:
                taken, fault = self._coast(start, now, dt, run, pull)
                totals[0] += taken * self.forest.sizes[to.JOINTS]
            done += taken
            recording = fault == -1 and every > 0 and (first + done) % every == 0
            if recording or fault != -1 or done == steps:
                self._all(lambda member: spread(member.forest, member.small, q, v))
            if recording:
                record[rows, : len(q)], record[rows, len(q) :] = q, v
                rows += 1
        return Outcome(done, rows, fault)

    # --- steps

    def _update(
        self, q: Array, v: Array, time: float, dt: float, gravity: tuple[float, ...], plan: Plan, totals: Array
    ) -> int:
        """Take one step in which the active joints are chosen anew; returns -1 or a fault, and then nothing moved."""
        forest, body = self.forest, self.body
        small = self.members[0].small
        self._all(lambda m: crew.look(body, m.acts, m.forest, m.small, q, v, time, gravity, dt))
        before = q.copy(), v.copy()
        self._agree()
        totals[1] += 1.0
        totals[2] = choose_by_acceleration(
            forest.tree, forest.units, small.full_tau, forest.acceleration_weights, forest.scale, forest.nodes,
            forest.metrics, forest.passive, forest.marks, forest.roots, forest.sizes, forest.keys, forest.items,
            plan.acceleration_joints, plan.acceleration_error, small.momentum, forest.room,
        )  # fmt: skip
        self._agree()
        moved = self._all(lambda m: crew.move(body, m.acts, m.forest, m.small, q, v, time, dt, gravity))
        totals[0] += sum(joints for _, joints in moved)
        faults = [m.in_full(fault) for m, (fault, _) in zip(self.members, moved, strict=True) if fault != -1]
        if not faults:
            self._agree()
            now = choose_by_velocity(
                forest.tree, forest.units, forest.passive, forest.marks, forest.roots, forest.sizes, forest.keys,
                forest.items, plan.velocity_joints, plan.velocity_error,
            )  # fmt: skip
            self._agree()
            singular = self._all(lambda m: crew.rest(body, m.acts, m.forest, m.small, now, q, v, dt))
            faults = [-2 - int(forest.units[unit, to.LAST]) for unit in singular if unit >= 0]
        self._agree()
        if faults:
            q[:], v[:] = before
            self._all(lambda member: member.become(body, q, v))
            return faults[0]
        for member in self.members:
            member.cut()
        return -1

    def _coast(self, start: float, now: int, dt: float, run: int, gravity: tuple[float, ...]) -> tuple[int, int]:
        """Take `run` steps of the hybrid bodies as they are; where one diverges, all stop at the step before."""
        before = [(member.q.copy(), member.v.copy()) for member in self.members]
        outcomes = self._all(lambda member: member.coast(start, now, dt, run, gravity))
        done = min(taken for taken, _ in outcomes)
        if done == run:
            return run, -1
        fault = next(
            m.in_full(fault) for m, (taken, fault) in zip(self.members, outcomes, strict=True) if taken == done
        )
        for member, (q, v) in zip(self.members, before, strict=True):
            member.q[:], member.v[:] = q, v
        self._all(lambda member: member.coast(start, now, dt, done, gravity))
        return done, fault

    # --- together

    def _all(self, act: Callable[[_Member], Any]) -> list[Any]:
        """Let every member do something, on a thread of its own."""
        return together([partial(act, member) for member in self.members])

    def _agree(self) -> None:
        """Count on from the same number everywhere, and add up what the parts have become."""
        sizes = [self.forest.sizes, *(member.forest.sizes for member in self.members)]
        latest = max(int(own[to.COUNTER]) for own in sizes)
        for own in sizes:
            own[to.COUNTER] = latest
        for column in (to.JOINTS, to.FRONTS):
            self.forest.sizes[column] = sum(int(own[column]) for own in sizes[1:])


class _Member:
    """A part of the forest with all that one thread needs to step it."""

    acts: Acts
    small: Small

    def __init__(self, part: Part, forest: Forest, roots: np.ndarray) -> None:
        self.part = part
        self.forest = forest._replace(
            roots=roots, sizes=np.zeros_like(forest.sizes), lists=np.zeros_like(forest.lists),
            room=np.zeros_like(forest.room),
        )  # fmt: skip
        self.control = np.zeros(4)
        self.small = None  # type: ignore[assignment]

    def take(self, acts: Acts, whole: Small, model: Model) -> None:
        """Take over those of the forces that act here, and what is the whole forest's of its room."""
        part = self.part
        self.acts = acts_inside(acts, part, renumber=False)
        if self.small is None:
            own = make_small(part.last - part.first, len(part.q), len(part.v), steppers.SEMI_IMPLICIT, 0, self.acts)
            self.small = own._replace(stretch=np.zeros(model.nv))
        self.small = resize(self.small, self.acts)._replace(
            full_tau=whole.full_tau, full_diagonal=whole.full_diagonal, momentum=whole.momentum,
            unit_wrenches=whole.unit_wrenches,
        )  # fmt: skip

    def become(self, body: Body, q: Array, v: Array) -> None:
        """Make the hybrid body of the nodes that are marked active."""
        become(body, self.acts, self.forest, self.small, q, v)
        self.cut()

    def cut(self) -> None:
        """Cut the arrays of the hybrid body to its size."""
        sizes = self.forest.sizes
        self.q, self.v = self.small.q[: sizes[to.COORDINATES]], self.small.v[: sizes[to.VELOCITIES]]
        self._inner = plain(small_body)(self.forest, self.small), plain(small_acts)(self.acts, self.forest, self.small)
        self._work = plain(small_work)(self.forest, self.small, steppers.STAGES[steppers.SEMI_IMPLICIT])

    def coast(self, start: float, now: int, dt: float, run: int, gravity: tuple[float, ...]) -> tuple[int, int]:
        """Take steps of the hybrid body as it is; returns the steps taken, and -1 or a fault."""
        if len(self.v) == 0 or run == 0:
            return run, -1
        taken, _, fault = steppers.advance(
            *self._inner, self.q, self.v, start, now, dt, run, gravity, steppers.SEMI_IMPLICIT, self.control,
            self._work, self.small.nothing, 0,
        )  # fmt: skip
        return taken, fault

    def in_full(self, fault: int) -> int:
        """Return a fault of the hybrid body as one of the forest."""
        if fault >= 0:
            return int(self.small.v_of[fault])
        return -2 - int(self.small.flat[-2 - fault, to.LINK])
