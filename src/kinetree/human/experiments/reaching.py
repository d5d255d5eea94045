"""What it costs to reach for a target, or to trace a path in space (the paper's figure 6).

The paper's recordings are not public: a generator moves the hand on minimum-jerk paths (Flash and Hogan 1985), lets the
rest of the body follow, and takes a step where the target is too far to lean to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...errors import ArgumentError
from ...typing import Array
from ..contact import sole_paths
from ..following import follow
from ..inverse import inverse_dynamics
from ..motion import Motion
from ..subject import Subject
from ..trial import Trial
from .standing import _smooth

# fractions of the stature: to the right, forward, up; the near ones in reach, the far ones a step away
TARGETS = (
    (0.15, 0.30, 0.95), (0.12, 0.28, 0.72), (0.15, 0.34, 0.40), (-0.15, 0.32, 0.95),
    (0.15, 0.70, 0.95), (0.12, 0.70, 0.72), (0.15, 0.74, 0.40), (-0.15, 0.72, 0.95),
)  # fmt: skip
ARM = 0.42  # of the stature, how far forward a hand reaches before the body has to move
HAND = ("right_hand", "right_lower_arm")


@dataclass(frozen=True)
class Reach:
    """The integrated torque of every target's repetitions [N m s], [targets, repeats], and the targets [m]."""

    targets: Array
    cost: Array
    control: Array

    @property
    def ranking(self) -> list[int]:
        """The targets by number, the cheapest first, counted from 1."""
        return [int(k) + 1 for k in np.argsort(self.cost.mean(1))]

    @property
    def separated(self) -> float:
        """How many spreads the far targets (the second half) cost more than the near ones on average."""
        half = len(self.targets) // 2
        near, far = self.cost[:half].mean(), self.cost[half:].mean()
        spread = float(np.sqrt(np.mean(self.cost.std(1) ** 2))) or 1e-9
        return float((far - near) / spread)


def reaching_trial(
    subject: Subject, target: tuple[float, float, float], *, seconds: float = 2.4, rate: float = 60.0, seed: int = 0
) -> Trial:
    """Return the markers of a reach of the right hand to `target` (fractions of the stature) and back."""
    height = subject.height or 1.75

    def path(times: Array, start: Array) -> Array:
        goal = np.array(target) * height
        there = _smooth(times / seconds * 2.2)
        back = _smooth((times / seconds - 0.55) * 2.2)
        return start + (there - back)[:, None] * (goal - start)

    return _hand_trial(subject, path, seconds, rate, seed)


def reach(subject: Subject, *, repeats: int = 10, seed: int = 0) -> Reach:
    """Reach for the eight targets, each several times with some variation in speed; returns what it cost."""
    if repeats < 1:
        raise ArgumentError(f"repeats is {repeats!r}: give at least 1")
    rng = np.random.default_rng(seed)
    cost, control = np.zeros((len(TARGETS), repeats)), np.zeros((len(TARGETS), repeats))
    for i, target in enumerate(TARGETS):
        for k in range(repeats):
            trial = reaching_trial(
                subject, target, seconds=float(2.4 * rng.normal(1.0, 0.04)), seed=int(rng.integers(1 << 30))
            )
            result = _costed(subject, trial)
            cost[i, k], control[i, k] = result
    return Reach(np.array(TARGETS) * (subject.height or 1.75), cost, control)


def trace(subject: Subject, *, size: float = 0.18, seconds: float = 6.0, rate: float = 60.0) -> tuple[Trial, float]:
    """Trace a figure of eight in space with the right hand; returns the trial and its integrated torque [N m s]."""
    height = subject.height or 1.75
    centre = np.array([0.10, 0.32, 0.72]) * height

    def path(times: Array, start: Array) -> Array:
        angle = 2 * np.pi * _smooth((times / seconds - 0.2) / 0.6)
        shape = np.column_stack((np.sin(angle), 0.3 * np.sin(2 * angle), np.sin(2 * angle) / 1.5)) * size * height
        near = _smooth(times / seconds / 0.2) - _smooth((times / seconds - 0.8) / 0.2)
        return start + near[:, None] * (centre + shape - start)

    trial = _hand_trial(subject, path, seconds, rate, 0)
    return trial, _costed(subject, trial)[0]


def _costed(subject: Subject, trial: Trial) -> tuple[float, float]:
    motion = follow(_led(subject), trial, cutoff=5.0, repair=False)
    result = inverse_dynamics(subject, motion, forces="contact", cutoff=5.0)
    return result.energetics.total_effort, float(result.energetics.control.sum())


def _led(subject: Subject) -> Subject:
    """Return the subject whose hand leads, feet stand, and trunk follows weakly."""
    names = [subject.model.names[k] for k in subject.bodies]
    weights = np.array([3.0 if n in HAND else 3.0 if n.endswith(("heel", "toes")) else 0.02 for n in names])
    return replace(subject, weights=weights)


def _hand_trial(
    subject: Subject, path: Callable[[Array, Array], Array], seconds: float, rate: float, seed: int
) -> Trial:
    """Return markers in which the right hand goes along a path, and a step is taken where the path needs it."""
    times = np.arange(max(12, round(seconds * rate))) / rate
    q = subject.model.neutral()
    q[subject.model.q_slice("right_elbow").start] = 0.6
    still = Motion.of_states(subject, times[:3], np.tile(q, (3, 1)))
    markers = sole_paths(subject, still, subject.bodies, subject.offsets)[0]
    markers[:, 2] += -markers[:, 2].min() + 0.02
    names = [subject.model.names[k] for k in subject.bodies]
    hand = [k for k, name in enumerate(names) if name in HAND]
    start = markers[hand].mean(0)
    way = path(times, start) - start
    height = subject.height or 1.75
    forward = np.max(way[:, 1] + start[1]) / height
    step = max(0.0, forward - ARM) * height
    moved = _smooth(times / seconds * 2.2) - _smooth((times / seconds - 0.55) * 2.2)
    out = np.repeat(markers[None], len(times), axis=0)
    wobble = np.random.default_rng(seed).normal(0.0, 2e-4, out.shape)
    for k, name in enumerate(names):
        if name in HAND:
            out[:, k] += way
        elif name.startswith("right") and name.endswith(("heel", "toes", "lower_leg")):
            out[:, k, 1] += step * 1.2 * moved
            out[:, k, 2] += (0.08 if step > 0.02 else 0.0) * np.clip(4 * moved * (1 - moved), 0.0, 1.0)
        elif not name.endswith(("heel", "toes", "lower_leg")):
            out[:, k, 1] += step * 0.8 * moved
    return Trial("a reach", subject.labels, times, out + wobble, rate)
