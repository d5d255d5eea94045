"""How a constrained step is solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arguments import as_count, as_number
from ..errors import ArgumentError
from ..kernels import step_room as k

FRICTION = {"cone": 0.0, "pyramid": 1.0, "direction": 2.0}


@dataclass(frozen=True)
class Solver:
    """Options of the step; put one among the constraints to change them.

    Projected Gauss-Seidel ends where no velocity changes by more than `tolerance` [m/s, rad/s], or after `sweeps`.
    A step that went more than `depth` [m] into something is taken again, shorter, at most `backtracks` times. Contacts
    deeper than `slop` [m] are taken apart by a correction of positions, loops are closed to `loop_tolerance` [m]. What
    strikes slower than `slow` [m/s] does not bounce.
    """

    tolerance: float = 1e-6
    sweeps: int = 60
    backtracks: int = 8
    depth: float = 5e-4
    slop: float = 5e-5
    slow: float = 0.02
    loop_tolerance: float = 1e-10

    def __post_init__(self) -> None:
        as_count(self.sweeps, "sweeps of a Solver", 1)
        as_count(self.backtracks, "backtracks of a Solver")
        for name in ("tolerance", "depth", "slop", "slow", "loop_tolerance"):
            value = as_number(getattr(self, name), f"{name} of a Solver")
            if not (np.isfinite(value) and value >= 0):
                raise ArgumentError(f"{name} of a Solver is {value}: it must be finite and not negative")

    def options(self, friction_model: str, between: float) -> np.ndarray:
        """Return the array that the kernels read."""
        out = np.zeros(k.OPTIONS)
        out[k.TOLERANCE], out[k.SWEEPS], out[k.BACKTRACKS] = self.tolerance, self.sweeps, self.backtracks
        out[k.FRICTION], out[k.SLOW], out[k.SLOP] = FRICTION[friction_model], self.slow, self.slop
        out[k.DEPTH], out[k.BETWEEN], out[k.LOOP_TOLERANCE] = self.depth, between, self.loop_tolerance
        return out
