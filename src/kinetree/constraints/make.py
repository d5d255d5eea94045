"""From a method of simulation and constraints to a stepper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..adaptive.method import Adaptive
from ..errors import ArgumentError
from ..full import Full
from ..model.model import Model
from ..typing import Array
from .stepper import ConstrainedStepper


def make_stepper(
    model: Model, method: Any, integrator: str, tolerance: float, constraints: Sequence[Any], q: Array
) -> Any:
    """Return the stepper of a simulation under constraints."""
    if isinstance(method, Full) and method.algorithm == "aba":
        return ConstrainedStepper(model, integrator, tolerance, constraints, q)
    if isinstance(method, Adaptive):
        from .hybrid import HybridStepper

        return HybridStepper(model, integrator, tolerance, method, constraints, q)
    raise ArgumentError(f"constraints work with Full() and Adaptive(...), not with method={method!r}")
