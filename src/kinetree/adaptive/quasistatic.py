"""Error-bounded quasi-statics as a method of simulation: a bound in, the joints that must be computed out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..model.model import Model
from .quasistatic_room import MEASURES
from .quasistatic_stepper import QuasistaticStepper


@dataclass(frozen=True)
class Quasistatic:
    """Move a body that is at rest at every instant, and compute only the joints that an error bound asks for.

    At each step the accelerations at zero velocity are found for the joints that accelerate most, until those left out
    are bounded by `error`; then joints move by `dt**2` times their accelerations and are at rest again. `measure` says
    what the bound is of, with qdd the exact accelerations and the joints left out taken to be zero:

    - "absolute": the norm of all that is left out [rad/s2, m/s2];
    - "relative": that, divided by the norm of all accelerations;
    - "absolute_joint": the largest norm of a joint that is left out;
    - "relative_joint": that, divided by the largest norm of a joint.

    What is computed is exact. Where more than the share `hand_over` of the joints is needed (None: where that begins to
    be slower), all are computed by the articulated-body algorithm, and what that finds says when to come back; 1 never
    hands over.
    """

    error: float = 2.0**-7
    measure: str = "relative_joint"
    hand_over: float | None = None

    def __post_init__(self) -> None:
        """Name what is no bound."""
        check_bound(self.error, self.measure, "Quasistatic")
        share = self.hand_over
        if share is not None and not (_is_number(share) and 0 <= share <= 1):
            raise ArgumentError(f"Quasistatic(hand_over={share!r}): give a share of the joints from 0 to 1, or None")

    def stepper(self, model: Model, integrator: str, tolerance: float) -> QuasistaticStepper:
        """Allocate what stepping `model` needs."""
        if integrator != "semi_implicit":
            raise ArgumentError(
                f"Quasistatic() does not step with {integrator!r}: a body at rest at every instant has one way to "
                "step, integrator='semi_implicit'"
            )
        return QuasistaticStepper(model, self)


def check_bound(error: Any, measure: Any, who: str) -> None:
    """Refuse what is no error or no measure."""
    if measure not in MEASURES:
        raise ArgumentError(f"{who}(measure={measure!r}): use one of {', '.join(map(repr, MEASURES))}")
    good = isinstance(error, (int, float, np.number)) and not isinstance(error, bool)
    if not good or math.isnan(error) or error < 0:
        raise ArgumentError(f"{who}(error={error!r}): a bound is a number that is not negative")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and bool(np.isfinite(value))
