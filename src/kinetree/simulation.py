"""Model + state + forces -> motion."""

from __future__ import annotations

import json
import os
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np

from . import forces as _forces
from .adaptive.quasistatic_relax import Equilibrium, settle
from .arguments import GRAVITY, as_array, as_count, as_finite, as_gravity, as_number, as_vector, check_state
from .errors import ArgumentError, DivergedError, FileFormatError, KinetreeError, SingularError
from .files import DAMAGE, read_archive, write_archive
from .forces import Applied, Callback, build_acts, read_callback, with_applied
from .full import Full, Method, Outcome
from .kernels import layout as at
from .kernels import nodes as to
from .kernels.paths import pose_of_link
from .model.archive import model_from_arrays, model_to_arrays
from .model.model import Model
from .recorder import Progress, Recorder, reporter
from .trajectory import Trajectory
from .typing import Array, ArrayLike

FRAME = 1 / 60  # s between recorded frames where the user does not say
CHUNK = 0.05  # s of computing between two looks at progress and interrupts

__all__ = ["Full", "Simulation"]


class Simulation:
    """A model in motion.

    >>> import kinetree as kt
    >>> sim = kt.Simulation(kt.models.pendulum(10), dt=1e-3)
    >>> trajectory = sim.run(0.5)
    >>> trajectory.times[-1]
    0.5

    `q` and `v` are the start (None: neutral and at rest). The model's own damping, friction and joint springs act, plus
    `forces` and whatever `apply` adds; its limits through `constraints.JointLimits` or `forces.JointStops`, its efforts
    through `constraints.Motor`. `constraints` are those of `kinetree.constraints`: contacts, limits, loops, motions to
    follow; they need "semi_implicit" and `Full()` or `Adaptive(...)`. The integrators
    are "semi_implicit" (first order, robust; joint springs and dampers are implicit and stable at any gain), "euler",
    "rk4", and "rk45", which refines its steps within each `dt` to keep the error below `tolerance`.
    """

    def __init__(
        self,
        model: Model,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        *,
        dt: float = 1e-3,
        gravity: ArrayLike = GRAVITY,
        method: Method | None = None,
        integrator: Literal["semi_implicit", "euler", "rk4", "rk45"] = "semi_implicit",
        constraints: Sequence[Any] = (),
        forces: Sequence[Any] = (),
        tolerance: float = 1e-8,
        seed: int = 0,
    ) -> None:
        """Check the arguments and allocate the scratch; nothing moves yet."""
        if not isinstance(model, Model):
            raise ArgumentError(f"the model is {model!r}: give a Model, of kinetree.load, kinetree.models or a builder")
        self._model = model
        self.dt = as_number(dt, "dt")
        if not (np.isfinite(self.dt) and self.dt > 0):
            raise ArgumentError(f"dt is {dt}: a time step must be positive")
        self.gravity = as_gravity(gravity)
        self.method = Full() if method is None else method
        if isinstance(self.method, type) or not hasattr(self.method, "stepper"):
            raise ArgumentError(f"method is {method!r}: use kinetree.Full(), Adaptive(...), Quasistatic(...)")
        self.integrator = integrator
        self.tolerance = as_number(tolerance, "tolerance")
        self.rng = np.random.default_rng(as_count(seed, "seed"))
        self._q, self._v = np.zeros(model.nq), np.zeros(model.nv)
        self.q = model.neutral() if q is None else q
        self.v = np.zeros(model.nv) if v is None else v
        self._start = 0.0
        self._steps = 0
        self._forces = tuple(forces)
        self._applied: list[Applied] = []
        self._constraints = tuple(constraints)
        self._stepper: Any
        if self._constraints:
            from .constraints.make import make_stepper  # its kernels take a while to load

            self._stepper = make_stepper(model, self.method, integrator, self.tolerance, self._constraints, self._q)
        else:
            self._stepper = self.method.stepper(model, integrator, self.tolerance)
        self._acts = build_acts(model, self._forces, ())
        for force in self._forces:
            if isinstance(force, _forces.Gravity):
                self.gravity = as_gravity(force.vector)
        self._recorded: Trajectory | None = None

    # --- state

    @property
    def model(self) -> Model:
        """What moves. A body with other joints or masses is another model: make another simulation of it."""
        return self._model

    @property
    def q(self) -> Array:
        """The configuration [nq]; assigning copies."""
        return self._q

    @q.setter
    def q(self, value: ArrayLike) -> None:
        array = as_array(value, (self.model.nq,), "q")
        check_state(self.model, array)
        self._q[:] = array

    @property
    def v(self) -> Array:
        """The joint velocities [nv]; assigning copies."""
        return self._v

    @v.setter
    def v(self, value: ArrayLike) -> None:
        array = as_array(value, (self.model.nv,), "v")
        check_state(self.model, self._q, array)
        self._v[:] = array

    @property
    def time(self) -> float:
        """The simulated time [s]."""
        return self._start + self._steps * self.dt

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the joints that are simulated now."""
        return self._stepper.active

    @property
    def stats(self) -> dict[str, Any]:
        """What was computed so far: steps, joints, seconds."""
        return self._stepper.stats

    @property
    def regions(self) -> Any:
        """What every node of the assembly tree is now: active, rigid, passive, ... (see `adaptive.regions`).

        None where the method has no assembly tree. `kinetree.report.draw_assembly_tree(simulation, path)` draws it.
        """
        return self._stepper.regions(self.time)

    @property
    def recorded(self) -> Trajectory | None:
        """What the last `run` recorded, also where it was interrupted or diverged."""
        return self._recorded

    @property
    def forces(self) -> tuple[Any, ...]:
        """The forces that were given."""
        return self._forces

    @property
    def constraints(self) -> tuple[Any, ...]:
        """The constraints that were given."""
        return self._constraints

    @property
    def contacts(self) -> tuple[Any, ...]:
        """What touches now, or is about to, with the forces of the last step (`constraints.Contact`)."""
        return getattr(self._stepper, "contacts", ())

    @property
    def at_limits(self) -> tuple[str, ...]:
        """Names of the joints that a limit holds now (of those under `constraints.JointLimits`)."""
        return getattr(self._stepper, "at_limits", ())

    def energy(self) -> tuple[float, float]:
        """Return kinetic and potential energy [J]."""
        from .dynamics import energy

        return energy(self.model, self._q, self._v, gravity=self.gravity)

    def pose(self, body: str | int) -> Array:
        """Return the pose of one body in the world as a homogeneous matrix [4, 4], without those of all others.

        With `Quasistatic` this goes up one path of the assembly tree, otherwise over the bodies that carry this one.
        """
        number = self.model.body_index(body)
        own, link = self.model.body_poses_in_link[number], int(self.model.body_links[number])
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = own[:9].reshape(3, 3), own[9:]
        if link < 0:
            return pose
        of_link = np.eye(4)
        ask = getattr(self._stepper, "pose", None)
        row = None if ask is None else ask(link, self._acts, self._q)
        if row is None:
            out = np.empty((1, 12))
            pose_of_link(link, self.model.topology, self.model.constants, self._q, np.zeros((1, to.ROOM)), out)
            row = out[0]
        of_link[:3, :3], of_link[:3, 3] = row[:9].reshape(3, 3), row[9:]
        return of_link @ pose

    # --- forces

    def apply(
        self,
        body: str | int,
        *,
        force: ArrayLike = (0.0, 0.0, 0.0),
        torque: ArrayLike = (0.0, 0.0, 0.0),
        point: ArrayLike = (0.0, 0.0, 0.0),
        frame: Literal["world", "body"] = "world",
        until: float | None = None,
    ) -> Applied:
        """Apply a `force` [N] at `point` (in the body) and a `torque` [N m] from now on, or `until` a time [s].

        `frame` names the axes of force and torque; the returned handle has `remove()`.
        """
        last = np.inf if until is None else as_number(until, "until")
        if np.isnan(last):
            raise ArgumentError("until is NaN: give a time, or None for ever")
        item = self._applied_to(body, force, torque, point, frame, last)
        self._applied = [*(a for a in self._applied if a.until > self.time), item]
        self._acts = with_applied(self._acts, self.model, self._applied)
        return item

    def _applied_to(
        self, body: str | int, force: ArrayLike, torque: ArrayLike, point: ArrayLike, frame: str, until: float
    ) -> Applied:
        if frame not in ("world", "body"):
            raise ArgumentError(f"frame is {frame!r}: use 'world' or 'body'")
        return Applied(
            self.model.body_index(body), as_vector(force, "force"), as_vector(torque, "torque"),
            as_vector(point, "point"), frame, until, self._remove,
        )  # fmt: skip

    def _remove(self, item: Applied) -> None:
        self._applied = [other for other in self._applied if other is not item]
        self._acts = with_applied(self._acts, self.model, self._applied)

    def response(
        self,
        body: str | int | None = None,
        *,
        force: ArrayLike = (0.0, 0.0, 0.0),
        torque: ArrayLike = (0.0, 0.0, 0.0),
        point: ArrayLike = (0.0, 0.0, 0.0),
        frame: Literal["world", "body"] = "world",
        joint_forces: ArrayLike | None = None,
    ) -> Array:
        """Return the joint accelerations [nv] that a force on a body and `joint_forces` [nv] cause by themselves.

        Arguments as for `apply`. The body is as it is now, but at rest and without gravity or other forces: M a = J' f.
        With `Adaptive`, joints that do not move now do not answer; `jacobian(model, q, body, point=...) @ a` is how a
        point accelerates.
        """
        model = self.model
        pushes = [] if body is None else [self._applied_to(body, force, torque, point, frame, np.inf)]
        nothing = np.zeros(model.nv) if joint_forces is None else as_array(joint_forces, (model.nv,), "joint_forces")
        acts = with_applied(build_acts(model, (), ()), model, pushes)
        return self._stepper.response(acts, as_finite(nothing, (model.nv,), "joint_forces"), self._q, self._v)

    # --- motion

    def step(self, n: int = 1) -> None:
        """Take `n` steps of `dt`."""
        self._raise_fault(self._advance(as_count(n, "the number of steps"), np.zeros((0, 0)), 0))

    def run(self, seconds: float, *, record_every: int | None = None, progress: Progress = False) -> Trajectory:
        """Simulate for `seconds` and return the motion, first and last state included.

        `record_every` counts steps; None records about 60 frames a second. `progress` is True for a line on the
        terminal, or a function that is called with the fraction done. An interrupt or a divergence loses nothing:
        `recorded` holds the motion up to then.
        """
        duration = as_number(seconds, "the time to simulate")
        if not (np.isfinite(duration) and duration >= 0):
            raise ArgumentError(f"run({seconds}): the time to simulate must be finite and not negative")
        steps = round(duration / self.dt)
        every = max(1, round(FRAME / self.dt)) if record_every is None else as_count(record_every, "record_every", 1)
        recorder = Recorder(self.model, every, self._start, self.dt, self._q, self._v, self._steps)
        report = reporter(progress)
        done, chunk = 0, min(steps, 16)
        try:
            while done < steps:
                chunk = min(chunk, steps - done)
                began = clock.perf_counter()
                rows = np.empty((chunk // every + 1, self.model.nq + self.model.nv))
                first = self._steps
                outcome = self._advance(chunk, rows, every)
                done += outcome.steps
                recorder.add(rows[: outcome.rows], first)
                self._raise_fault(outcome, recorder)
                report(done / steps)
                elapsed = max(clock.perf_counter() - began, 1e-9)
                chunk = max(1, min(4 * chunk, int(chunk * CHUNK / elapsed)))
        finally:
            self._recorded = recorder.finish(self._q, self._v, self._steps)
        report(1.0)
        return self._recorded

    def relax(
        self,
        *,
        limits: bool = True,
        tolerance: float = 1e-8,
        most: int = 500,
        must_converge: bool = True,
        progress: Callable[[int, float], Any] | None = None,
    ) -> Equilibrium:
        """Move to the static equilibrium under all forces as they act now; arguments and result as of `kinetree.relax`.

        The velocities are zero afterwards, and no time has passed.
        """
        if any(isinstance(force, Callback) for force in self._forces):
            raise ArgumentError("relax() needs forces that it can compute anew at any configuration: no Callback")
        found = settle(
            self.model, self._q, self._acts, self.gravity, now=self.time, limits=limits, tolerance=tolerance, most=most,
            must_converge=must_converge, progress=progress,
        )  # fmt: skip
        self._q[:], self._v[:] = found.q, 0.0
        return found

    def _advance(self, steps: int, record: Array, every: int) -> Outcome:
        callbacks = [force for force in self._forces if isinstance(force, Callback)]
        if not callbacks:
            return self._advance_acts(self._acts, steps, record, every)
        rows = 0
        for done in range(steps):
            outcome = self._advance_acts(self._with_callbacks(callbacks), 1, record[rows:], every)
            rows += outcome.rows
            if outcome.fault != -1:
                return Outcome(done, rows, outcome.fault)
        return Outcome(steps, rows, -1)

    def _advance_acts(self, acts: Any, steps: int, record: Array, every: int) -> Outcome:
        outcome = self._stepper.advance(
            acts, self._q, self._v, self._start, self._steps, self.dt, steps, self.gravity, record, every
        )
        self._steps += outcome.steps
        return outcome

    def _with_callbacks(self, callbacks: Sequence[Callback]) -> Any:
        acts = self._acts
        for callback in callbacks:
            tau, wrenches = read_callback(self.model, callback.function(self))
            if tau is not None:
                acts = acts._replace(feed=acts.feed + tau)
            if wrenches is not None:
                before = acts.external if len(acts.external) else np.zeros_like(wrenches)
                acts = acts._replace(external=before + wrenches)
        return acts

    def _raise_fault(self, outcome: Outcome, recorder: Recorder | None = None) -> None:
        if outcome.fault == -1:
            return
        model = self.model
        if outcome.fault <= -2:
            body = int(model.topology[-2 - outcome.fault, at.BODY])
            raise SingularError(
                f"at {self.time:.6g} s joint {model.body_joint_names[body]!r} has no inertia to move: give its body a "
                "mass, or the joint an armature"
            )
        fastest = int(np.argmax(np.abs(self._v))) if model.nv else outcome.fault
        worst = fastest if np.abs(self._v[fastest]) > 0 else outcome.fault
        body = int(np.searchsorted(model.v_starts, worst, side="right")) - 1
        joint, speed = model.body_joint_names[body], self._v[worst]
        raise DivergedError(
            self.time,
            model.names[body],
            f"the motion diverged in the step after {self.time:.6g} s; fastest was joint {joint!r} of body "
            f"{model.names[body]!r} with {speed:.3g} rad/s or m/s. The state is that of the last good step. A smaller "
            f"dt than {self.dt:g} s, softer springs or integrator='rk45' usually help",
            recorder.finish(self._q, self._v, self._steps) if recorder else None,
        )

    # --- files

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the whole simulation to a `.npz`, from which `restore` continues to the bit.

        Callbacks are code and cannot be saved, nor can a method that asks a camera or functions: pass them to `restore`
        again.
        """
        code = getattr(self.method, "has_code", False)
        saved = {
            "dt": self.dt, "gravity": self.gravity, "integrator": self.integrator, "tolerance": self.tolerance,
            "start": self._start, "steps": self._steps, "rng": self.rng.bit_generator.state,
            "method": [type(self.method).__name__, None if code else _options(self.method)],
            "forces": [_force_to_text(force) for force in self._forces],
            "constraints": [_constraint_to_text(item, self.model) for item in self._constraints],
            "applied": [
                [a.body, a.force.tolist(), a.torque.tolist(), a.point.tolist(), a.frame, a.until] for a in self._applied
            ],
        }  # fmt: skip
        text = np.frombuffer(json.dumps(saved, default=lambda number: number.tolist()).encode(), dtype=np.uint8)
        stepper = {f"stepper.{key}": value for key, value in self._stepper.snapshot().items()}
        states = {"q": self._q, "v": self._v, "simulation": text}
        return write_archive(path, "simulation", states | stepper | model_to_arrays(self.model))

    @classmethod
    def restore(
        cls, path: str | os.PathLike[str], *, callbacks: Sequence[Callback] = (), method: Method | None = None
    ) -> Simulation:
        """Read what `save` wrote; `callbacks` take the places of those that were in use, in their order.

        `method` takes the place of one that asks a camera or functions of yours.
        """
        arrays = read_archive(path, "simulation")
        try:
            return cls._from_arrays(arrays, list(callbacks), method)
        except KinetreeError as error:
            raise FileFormatError(path, "", str(error)) from None
        except DAMAGE as error:
            raise FileFormatError(path, "", f"this simulation is damaged ({error}): save it again") from None

    @classmethod
    def _from_arrays(cls, arrays: dict[str, Any], callbacks: list[Callback], method: Method | None) -> Simulation:
        saved = json.loads(bytes(arrays["simulation"]).decode())
        wanted = sum(item[0] == "Callback" for item in saved["forces"])
        if wanted != len(callbacks):
            raise ArgumentError(f"it was saved with {wanted} callbacks, but restore() got {len(callbacks)}: pass them")
        forces = [callbacks.pop(0) if kind == "Callback" else _FORCES[kind](**v) for kind, v in saved["forces"]]
        kind, options = saved["method"]
        if method is None and options is None:
            raise ArgumentError(f"its {kind} asks a camera or functions, which no file holds: pass restore(method=...)")
        if method is not None and type(method).__name__ != kind:
            raise ArgumentError(f"it was saved with {kind}, not {type(method).__name__}: pass one alike")
        method = getattr(import_module(_METHODS[kind]), kind)(**options) if method is None else method
        simulation = cls(
            model_from_arrays(arrays), arrays["q"], arrays["v"], dt=saved["dt"], gravity=saved["gravity"],
            method=method, integrator=saved["integrator"], tolerance=saved["tolerance"], forces=forces,
            constraints=[_constraint_from_text(item) for item in saved.get("constraints", [])],
        )  # fmt: skip
        simulation._start, simulation._steps = float(as_finite(saved["start"], (), "start")), int(saved["steps"])
        simulation.rng.bit_generator.state = saved["rng"]
        for body, force, torque, point, frame, until in saved["applied"]:
            simulation.apply(body, force=force, torque=torque, point=point, frame=frame, until=until)
        prefix = "stepper."
        simulation._stepper.resume({k[len(prefix) :]: v for k, v in arrays.items() if k.startswith(prefix)})
        return simulation

    def __repr__(self) -> str:
        """Return model, method and time in one line."""
        return f"<Simulation at {self.time:g} s: {self.model!r}, {self.method!r}, {self.integrator}, dt={self.dt:g}>"


_METHODS = {
    "Full": "kinetree.full",
    "Adaptive": "kinetree.adaptive.method",
    "Quasistatic": "kinetree.adaptive.quasistatic",
}
_FORCES = {
    name: getattr(_forces, name)
    for name in ("Gravity", "Spring", "JointSpring", "JointStops", "JointDamping", "JointPD", "JointTorque")
}


def _options(method: Any) -> dict[str, Any]:
    return {item.name: getattr(method, item.name) for item in fields(method)}


def _force_to_text(force: Any) -> list[Any]:
    if isinstance(force, Callback) or not is_dataclass(force):
        return ["Callback", {}]
    values = {key: np.asarray(v).tolist() if isinstance(v, np.ndarray) else v for key, v in vars(force).items()}
    return [type(force).__name__, values]


def _constraint_to_text(constraint: Any, model: Model) -> list[Any]:
    from .constraints.archive import to_text

    return to_text(constraint, model)


def _constraint_from_text(saved: list[Any]) -> Any:
    from .constraints.archive import from_text

    return from_text(saved)
