"""Adaptive dynamics as a method of simulation: a budget, an error or a time in, the joints that live out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..full import Full, Stepper
from ..model.model import Model
from ..parallel import check_threads
from .stepper import AdaptiveStepper
from .view import View


@dataclass(frozen=True)
class Adaptive:
    """Simulate the joints that matter most: a number of them, or as many as an error or a time allows.

    `joints` is the most that may move (free roots always do, and count; hinges in a row without mass between
    them count as one), `error` the norm of the joint accelerations that may be neglected [rad/s2, m/s2], and
    `seconds_per_step` the time that a step may take on this machine [s]; give one of them, or several, of which the
    strictest holds. Every `update_every` steps the joints are chosen anew, by their accelerations
    (`acceleration_joints` of them, `joints` if None), then by their velocities.

    `weights` maps names of joints to how much they count: a number, a symmetric positive definite matrix, or a function
    of the joint's position that returns either (`velocity_weights`: in the second choice, if that is to be another).
    A `view` weighs them by what a camera sees.

    `guaranteed=True` bounds the error of every step: the accelerations that are left out have at most the norm
    `error`, all others are exact. The joints are then chosen at every step, and none comes to rest again.

    The trees of a forest share one budget, and are stepped side by side on as many `threads` as there are cores (None),
    or as many as given ("semi_implicit"; trees that a spring joins, and guaranteed errors, take one).
    """

    joints: int | None = None
    error: float | None = None
    update_every: int = 20
    acceleration_joints: int | None = None
    weights: Mapping[str, Any] | None = None
    velocity_weights: Mapping[str, Any] | None = None
    view: View | None = None
    seconds_per_step: float | None = None
    guaranteed: bool = False
    threads: int | None = None

    def __post_init__(self) -> None:
        """Name what cannot be a budget."""
        check_threads(self.threads, "Adaptive")
        if self.joints is None and self.error is None and self.seconds_per_step is None:
            raise ArgumentError(
                "Adaptive() needs a budget: joints=, the number that may move, error=, or seconds_per_step="
            )
        for name in ("joints", "acceleration_joints"):
            value = getattr(self, name)
            if value is not None and not (_is_number(value) and int(value) == value and value >= 0):
                raise ArgumentError(f"Adaptive({name}={value!r}): a number of joints is whole and not negative")
        if self.error is not None and not (_is_number(self.error) and self.error >= 0):
            raise ArgumentError(f"Adaptive(error={self.error!r}): an error is finite and not negative")
        time = self.seconds_per_step
        if time is not None and not (_is_number(time) and time > 0):
            raise ArgumentError(f"Adaptive(seconds_per_step={time!r}): a budget of time is finite and above zero")
        every = self.update_every
        if not (_is_number(every) and int(every) == every and every >= 1):
            raise ArgumentError(f"Adaptive(update_every={every!r}): give a whole number of steps, at least 1")
        for name in ("weights", "velocity_weights"):
            if getattr(self, name) is not None and not isinstance(getattr(self, name), Mapping):
                raise ArgumentError(f"Adaptive({name}={getattr(self, name)!r}): give a dictionary from names of joints")
        if self.view is not None and not isinstance(self.view, View):
            raise ArgumentError(f"Adaptive(view={self.view!r}): give a kinetree.View(camera)")
        if self.guaranteed and (self.error is None or self.joints is not None or time is not None):
            raise ArgumentError(
                "Adaptive(guaranteed=True) bounds an error: give error=, and neither joints= nor seconds_per_step="
            )

    def stepper(self, model: Model, integrator: str, tolerance: float) -> Stepper:
        """Allocate what stepping `model` needs; with all joints allowed and nothing else asked, the full method."""
        for name in ("joints", "acceleration_joints"):
            value = getattr(self, name)
            if value is not None and value > model.njoints:
                raise ArgumentError(f"Adaptive({name}={value}): the model has {model.njoints} joints that move")
        if self.guaranteed and integrator not in ("semi_implicit", "euler"):
            raise ArgumentError(
                f"Adaptive(guaranteed=True) bounds the error of one acceleration a step, but {integrator!r} takes "
                "several: use 'semi_implicit' or 'euler'"
            )
        if self.error is None and self.seconds_per_step is None and self.joints == model.njoints:
            return Full(threads=self.threads).stepper(model, integrator, tolerance)
        return AdaptiveStepper(model, integrator, tolerance, self)

    @property
    def has_code(self) -> bool:
        """Whether it asks functions or a camera of the user's, which no file can hold."""
        given = [*(self.weights or {}).values(), *(self.velocity_weights or {}).values()]
        return self.view is not None or any(callable(value) for value in given)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and bool(np.isfinite(value))
