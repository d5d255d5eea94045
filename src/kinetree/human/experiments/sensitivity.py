"""How errors of the markers become errors of angles and torques (the paper's figures 3 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...typing import Array
from ..contact import sole_paths
from ..following import CUTOFF, follow
from ..inverse import inverse_dynamics
from ..motion import Motion
from ..subject import Subject
from ..trial import Trial

LEVELS = (0.1e-3, 0.5e-3, 1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 32e-3, 64e-3)  # m
REPEATS = 20


@dataclass(frozen=True)
class Noise:
    """Mean absolute errors: `angle` [rad], `torque` [N m], shape [levels, repeats]; `speed` in times real time."""

    levels: tuple[float, ...]
    angle: Array
    torque: Array
    marker: Array
    speed: Array
    failures: int

    def mean(self, what: str = "angle") -> Array:
        """Return the mean over the repetitions of `angle`, `torque`, `marker` or `speed`, shape [levels]."""
        return np.asarray(getattr(self, what)).mean(1)

    def standard_error(self, what: str = "angle") -> Array:
        """Return the standard error of that mean, shape [levels]."""
        values = np.asarray(getattr(self, what))
        return values.std(1, ddof=1) / np.sqrt(values.shape[1]) if values.shape[1] > 1 else np.zeros(len(values))


def noise(
    subject: Subject,
    motion: Motion,
    *,
    levels: Sequence[float] = LEVELS,
    repeats: int = REPEATS,
    cutoff: float = CUTOFF,
    seed: int = 0,
    **options: Any,
) -> Noise:
    """Perturb the markers of a movement of the model itself, and recover angles and torques.

    The truth is the model's own: `motion` is made dynamically consistent by taking its own markers, angles and torques.
    Every level [m] is repeated with fresh Gaussian errors of all markers along all axes in every frame.
    """
    if repeats < 1 or min(levels) < 0:
        raise ArgumentError(
            f"repeats is {repeats!r} and levels {levels!r}: give at least 1, and levels that are not negative"
        )
    truth = Motion.of_states(subject, motion.times, motion.q, cutoff=cutoff)
    markers = sole_paths(subject, truth, subject.bodies, subject.offsets)
    rate = (len(truth.times) - 1) / (truth.times[-1] - truth.times[0])
    trial = Trial("the model itself", subject.labels, truth.times, markers, float(rate))
    right = inverse_dynamics(subject, truth, forces="contact", cutoff=cutoff)
    rng = np.random.default_rng(seed)
    shape = (len(levels), repeats)
    angle, torque, marker, speed = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape)
    failures = 0
    for i, level in enumerate(levels):
        for k in range(repeats):
            noisy = trial.with_positions(markers + rng.normal(0.0, level, markers.shape))
            began = perf_counter()
            found = follow(subject, noisy, cutoff=cutoff, huber=0.05 + 3 * level, repair=False, **options)
            result = inverse_dynamics(subject, found, forces="contact", cutoff=cutoff)
            speed[i, k] = (truth.times[-1] - truth.times[0]) / (perf_counter() - began)
            gap = np.angle(np.exp(1j * (found.angles - truth.angles)))
            angle[i, k], torque[i, k] = np.abs(gap).mean(), np.abs(result.torque - right.torque).mean()
            marker[i, k] = np.linalg.norm(found.placed - markers, axis=2).mean()
            failures += not (np.isfinite(angle[i, k]) and np.isfinite(torque[i, k]))
    return Noise(tuple(levels), angle, torque, marker, speed, failures)
