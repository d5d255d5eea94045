"""The checks of the five steps: angles played back, and torques played back, with and without feedback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..kernels import layout as at
from ..kernels import playback as _playback
from ..kernels.manifold import difference
from ..typing import Array
from .contact import sole_paths
from .motion import Motion
from .result import Result
from .subject import Subject, check_subject

FREQUENCY = 20.0  # rad/s, of the feedback's pull back to the recorded path
LOST = 1e3  # rad or m: beyond that a simulation is over


@dataclass(frozen=True, eq=False)
class Replay:
    """A movement played back from its angles and velocities.

    `q` [n, nq] is carried from frame to frame by the velocities alone, `error` [n, nv] is how far that is from what was
    recorded, and `marker_error` [n, m] how far the markers of the recorded angles are from those measured [m].
    """

    q: Array
    error: Array
    marker_error: Array

    @property
    def drift(self) -> float:
        """Largest error of an angle after the whole movement [rad]."""
        return float(np.abs(self.error[:, 6:]).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class Simulated:
    """A movement made by torques.

    `q` [n, nq] where the body went, `error` [n, nv] from what was recorded, `tau` [n, nv] what acted, and `stopped` [s]
    when it had to be stopped since it had left all bounds (None: it did not).
    """

    times: Array
    q: Array
    v: Array
    error: Array
    tau: Array
    stopped: float | None

    @property
    def joint_rms(self) -> Array:
        """Root mean square of the joints' errors in every frame [rad], shape [n]."""
        return np.sqrt((self.error[:, 6:] ** 2).mean(1))

    @property
    def root_error(self) -> Array:
        """Distance of the root from its recorded place [m], shape [n]."""
        return np.linalg.norm(self.error[:, 3:6], axis=1)


def replay(subject: Subject | Any, motion: Motion) -> Replay:
    """Play back angles and velocities, to check that they belong together: the paper's forward kinematics."""
    subject = check_subject(subject)
    model = subject.model
    q = motion.q.copy()
    error = np.zeros((motion.frames, model.nv))
    _playback.carry(model.topology, motion.times, motion.q, motion.v, q, error)
    placed = sole_paths(subject, motion, subject.bodies, subject.offsets)
    gap = np.linalg.norm(placed - motion.targets, axis=2) if motion.targets.shape == placed.shape else np.zeros((0, 0))
    return Replay(q, error, gap)


def forward(
    subject: Subject | Any,
    result: Result,
    *,
    closed_loop: bool = True,
    substeps: int = 10,
    frequency: float = FREQUENCY,
) -> Simulated:
    """Play back the torques of a result, the ground's forces and residuals as they were: the paper's forward dynamics.

    With `closed_loop`, feedback pulls every joint and the root back to the recorded path as critically damped springs
    of `frequency` [rad/s] do, with torques that suit the posture in which the body is. Without, small errors add up and
    the body falls out of the movement, as the paper found.
    """
    subject = check_subject(subject)
    if subject.mapped:
        raise ArgumentError("the joints of an OpenSim model are coupled: torques are played back on the 48-DOF human")
    if substeps < 1 or not frequency >= 0:
        raise ArgumentError(f"substeps is {substeps!r} and frequency {frequency!r}: give at least 1 and 0")
    model, motion = subject.model, result.motion
    n = motion.frames
    q, v, tau = np.zeros((n, model.nq)), np.zeros((n, model.nv)), np.zeros((n, model.nv))
    gain = frequency if closed_loop else 0.0
    done = _playback.play(
        model.topology, model.constants, np.ascontiguousarray(model.dofs[:, at.ARMATURE]), motion.times,
        np.ascontiguousarray(motion.q), np.ascontiguousarray(motion.v), np.ascontiguousarray(motion.a),
        np.ascontiguousarray(result.tau), np.ascontiguousarray(result.ground.wrenches()),
        np.ascontiguousarray(result.ground.links), tuple(float(g) for g in subject.gravity), int(substeps), float(gain),
        LOST, np.zeros((model.njoints, at.LINKS)), np.zeros((model.nv, at.AXES)),
        np.zeros((8, max(model.nq, model.nv))), q, v, tau,
    )  # fmt: skip
    error = np.zeros((n, model.nv))
    for t in range(done):
        difference(model.topology, motion.q[t], q[t], error[t])
    stopped = None if done == n else float(motion.times[done - 1])
    return Simulated(motion.times[:done], q[:done], v[:done], error[:done], tau[:done], stopped)
