"""Stepping every joint: the exact method, and the yardstick of the others."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from ._late import call
from .dynamics import Workspace
from .errors import ArgumentError, SingularError
from .kernels import layout as at
from .kernels import steppers
from .kernels.acts import Acts
from .kernels.response import respond
from .kernels.steppers import Body, Work
from .model.model import Model
from .parallel import Part, acts_inside, check_threads, count_threads, cut_forest, joined, together
from .typing import Array

INTEGRATORS = {
    "semi_implicit": steppers.SEMI_IMPLICIT,
    "euler": steppers.EULER,
    "rk4": steppers.RK4,
    "rk45": steppers.RK45,
}


class Outcome(NamedTuple):
    """What a call of `advance` did: steps taken, rows recorded, and what stopped it (-1: nothing)."""

    steps: int
    rows: int
    fault: int


class Stepper(Protocol):
    """What a simulation needs of a method once it is prepared for a model."""

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
        """Take steps in place, recording every `every`-th state."""

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the joints that are simulated now."""

    @property
    def stats(self) -> dict[str, Any]:
        """What was computed so far."""

    def regions(self, now: float) -> Any:
        """Return the regions of the assembly tree at a time [s], or None where there is no such tree."""

    def response(self, acts: Acts, tau: Array, q: Array, v: Array) -> Array:
        """Return the joint accelerations [nv] that applied wrenches and joint forces cause on the body at rest."""

    def snapshot(self) -> dict[str, Array]:
        """Return what must be saved to continue to the bit."""

    def resume(self, saved: dict[str, Array]) -> None:
        """Take over what `snapshot` returned."""


class Method(Protocol):
    """A way to simulate: a small dataclass of options that makes a stepper for a model."""

    def stepper(self, model: Model, integrator: str, tolerance: float) -> Stepper:
        """Allocate what stepping `model` needs."""


@dataclass(frozen=True)
class Full:
    """Simulate all joints by `algorithm`: "aba", the articulated-body algorithm, or "dca", divide and conquer.

    Both solve the same equations. "aba" is quicker on one processor; "dca" is what the adaptive method is built on, and
    steps with "semi_implicit" and "euler" only. The trees of a forest that no spring joins are stepped side by side by
    "aba", on as many `threads` as there are cores (None), or as many as given; "rk45" takes one.
    """

    algorithm: str = "aba"
    threads: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_threads(self.threads, "Full")
        if self.algorithm not in ("aba", "dca"):
            raise ArgumentError(f"Full({self.algorithm!r}): the algorithm must be 'aba' or 'dca'")

    def stepper(self, model: Model, integrator: str, tolerance: float) -> Stepper:
        """Allocate what stepping `model` needs."""
        if self.algorithm == "dca":
            stepper: Stepper = call("kinetree.adaptive.dca_stepper:DcaStepper", model, integrator, tolerance)
            return stepper
        threads = 1 if integrator == "rk45" else count_threads(model, self.threads)
        if threads > 1:
            return ForestStepper(model, integrator, tolerance, threads)
        return FullStepper(model, integrator, tolerance)


def answer(model: Model, bad: int, out: Array) -> Array:
    """Return what `kernels.response.respond` found, or name the link that nothing holds back."""
    if bad >= 0:
        joint = model.body_joint_names[model.topology[bad, at.BODY]]
        raise SingularError(f"joint {joint!r} has no inertia to move: give its body a mass, or the joint an armature")
    return out


class FullStepper:
    """Advances the state of one simulation; holds its scratch and nothing that cannot be rebuilt but `control`."""

    def __init__(self, model: Model, integrator: str, tolerance: float) -> None:
        """Prepare for `integrator`, one of "semi_implicit", "euler", "rk4", "rk45"."""
        if integrator not in INTEGRATORS:
            raise ArgumentError(f"integrator is {integrator!r}: use one of {', '.join(map(repr, INTEGRATORS))}")
        if not 1e-14 <= tolerance <= 1:
            raise ArgumentError(f"tolerance is {tolerance}: it must be between 1e-14 and 1")
        scratch = Workspace.of(model)
        self.model = model
        self.integrator = INTEGRATORS[integrator]
        self.body = Body(model.topology, model.constants, scratch.armature, model.body_links, model.body_poses_in_link)
        nv = model.nv
        stages = np.zeros((steppers.STAGES[self.integrator], model.nq + nv))
        self.work = Work(scratch.links, scratch.axes, np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv), stages)
        self.control = np.array([tolerance, 0.0, 0.0, 0.0])
        self.seconds = 0.0
        self.steps = 0

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
        """Take `steps` steps in place; see `kernels.steppers.advance`."""
        began = time.perf_counter()
        done = steppers.advance(
            self.body, acts, q, v, start, first, dt, steps, tuple(gravity), self.integrator, self.control, self.work,
            record, every,
        )  # fmt: skip
        self.seconds += time.perf_counter() - began
        self.steps += done[0]
        return Outcome(*done)

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the joints that are simulated: all."""
        return self.model.joint_names

    @property
    def stats(self) -> dict[str, Any]:
        """What was computed so far."""
        stats: dict[str, Any] = {
            "steps": self.steps,
            "computed_joints": self.steps * self.model.njoints,
            "seconds": self.seconds,
            "seconds_per_step": self.seconds / self.steps if self.steps else 0.0,
        }
        if self.integrator == steppers.RK45:
            stats |= {"inner_steps": int(self.control[2]), "rejected_steps": int(self.control[3])}
        return stats

    def regions(self, now: float) -> None:
        """All joints are simulated: there are no regions."""
        return

    def response(self, acts: Acts, tau: Array, q: Array, v: Array) -> Array:
        """Return the joint accelerations [nv] that applied wrenches and joint forces cause on the body at rest."""
        body, work, out = self.body, self.work, np.empty(self.model.nv)
        bad = respond(
            body.topology, body.constants, body.armature, q, np.zeros(self.model.nv), acts.wrenches, acts.wrench_links,
            tau, work.links, work.axes, work.tau, out,
        )  # fmt: skip
        return answer(self.model, bad, out)

    def snapshot(self) -> dict[str, Array]:
        """Return what must be saved so that the motion continues to the bit."""
        return {"control": self.control.copy()}

    def resume(self, saved: dict[str, Array]) -> None:
        """Take over what `snapshot` returned."""
        self.control[:] = saved["control"]


class ForestStepper(FullStepper):
    """Advances the trees of a forest side by side: a part of them on each thread."""

    def __init__(self, model: Model, integrator: str, tolerance: float, threads: int) -> None:
        """Prepare for `integrator`, which takes equal steps."""
        super().__init__(model, integrator, tolerance)
        self.parts = [_Part(self, part) for part in cut_forest(model, threads)]
        self._acts: Acts | None = None
        self._joined = False

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
        """Take `steps` steps in place; where a tree diverges, all stop at the step before."""
        if acts is not self._acts:
            self._acts, self._joined = acts, joined(acts, [part.part for part in self.parts])
            for part in self.parts:
                part.take(acts)
        if self._joined or len(acts.external):
            return super().advance(acts, q, v, start, first, dt, steps, gravity, record, every)
        began = time.perf_counter()
        before = q.copy(), v.copy()

        def all_parts(count: int) -> list[Outcome]:
            rest = (q, v, start, first, dt, count, tuple(gravity), record, every)
            return together([partial(part.advance, *rest) for part in self.parts])

        outcomes = all_parts(steps)
        done = min(outcome.steps for outcome in outcomes)
        fault = -1
        if done < steps:
            fault = next(p.in_full(o.fault) for p, o in zip(self.parts, outcomes, strict=True) if o.steps == done)
            q[:], v[:] = before
            outcomes = all_parts(done)
        self.seconds += time.perf_counter() - began
        self.steps += done
        return Outcome(done, outcomes[0].rows, fault)


class _Part:
    """What one thread steps: its links, state and forces, as a body of its own."""

    def __init__(self, whole: FullStepper, part: Part) -> None:
        self.part, self.integrator, self.control = part, whole.integrator, whole.control.copy()
        body, work, links = whole.body, whole.work, slice(part.first, part.last)
        self.body = Body(
            part.topology, body.constants[links], body.armature[part.v], body.body_links[:0],
            body.body_poses_in_link[:0],
        )  # fmt: skip
        nq, nv = len(part.q), len(part.v)
        self.q, self.v = np.zeros(nq), np.zeros(nv)
        stages = np.zeros((steppers.STAGES[whole.integrator], nq + nv))
        self.work = Work(
            work.links[links], np.zeros((nv, at.AXES)), np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv), stages
        )

    def take(self, acts: Acts) -> None:
        """Take over those of the forces that act here."""
        part = self.part
        own = acts_inside(acts, part, renumber=True)
        joints = {
            name: getattr(acts, name)[part.v] if len(getattr(acts, name)) else getattr(acts, name)
            for name in ("stiffness", "damping", "friction", "stops", "feed")
        }
        self.acts = own._replace(rest=acts.rest[part.q], **joints)

    def advance(
        self,
        q: Array,
        v: Array,
        start: float,
        first: int,
        dt: float,
        steps: int,
        gravity: Any,
        record: Array,
        every: int,
    ) -> Outcome:
        """Take steps, and write the state and the record of these trees into those of the forest."""
        part, nq = self.part, len(q)
        np.take(q, part.q, out=self.q)
        np.take(v, part.v, out=self.v)
        rows = np.empty((len(record) if every > 0 else 0, len(part.q) + len(part.v)))
        done = Outcome(*steppers.advance(
            self.body, self.acts, self.q, self.v, start, first, dt, steps, gravity, self.integrator, self.control,
            self.work, rows, every,
        ))  # fmt: skip
        q[part.q], v[part.v] = self.q, self.v
        if done.rows:
            record[: done.rows, part.q] = rows[: done.rows, : len(part.q)]
            record[: done.rows, nq + part.v] = rows[: done.rows, len(part.q) :]
        return done

    def in_full(self, fault: int) -> int:
        """Return a fault of these trees as one of the forest."""
        return int(self.part.v[fault]) if fault >= 0 else fault - self.part.first
