"""Targets: what a row does at which displacement, as a falling curve of force over displacement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..kernels import soft_layout as at
from ..typing import Array


@dataclass(frozen=True)
class Target:
    """The characteristic of a row: a spring whose force depends on the displacement piece by piece, a range, a helper.

    `segments` is a list of (displacement, force) points [m or rad, N or N m], force falling as the displacement
    grows: straight lines between them, and beyond the ends lines of stiffness `beyond` (None: that of the first and
    last line). Two points at one displacement are a jump, as of a hard stop; a level part at zero force is a dead zone.
    `damping` acts along all of it.

    `deadzone=(lo, hi)` is a range in which the row does nothing; outside, it is a spring of the row's own softness.

    `secondary` names another constraint's row, (constraint, row). While the displacement is within the dead zone, the
    row lends force to that one when it is at a limit: up to `help_limit`.
    """

    segments: Sequence[tuple[float, float]] | None = None
    deadzone: tuple[float, float] | None = None
    beyond: float | tuple[float, float] | None = None
    damping: float = 0.0
    secondary: Any = None
    help_limit: float = np.inf

    def __post_init__(self) -> None:
        """Refuse curves that do not fall, and ranges that are none."""
        if (self.segments is None) == (self.deadzone is None):
            raise ArgumentError("a Target is either segments=[(displacement, force), ...] or deadzone=(lo, hi)")
        if not (np.isfinite(self.damping) and self.damping >= 0):
            raise ArgumentError(f"the damping of a Target is {self.damping!r}: it must not be negative")
        if self.deadzone is not None:
            lo, hi = (float(x) for x in self.deadzone)
            if not lo <= hi:
                raise ArgumentError(f"the dead zone of a Target is {self.deadzone!r}: the lower end comes first")
            object.__setattr__(self, "deadzone", (lo, hi))
        else:
            self._check_segments()
        if self.secondary is not None and self.deadzone is None:
            raise ArgumentError("a Target with secondary= needs a dead zone: only inside its tolerance can it help")
        if not self.help_limit >= 0:
            raise ArgumentError(f"the help_limit of a Target is {self.help_limit!r}: it must not be negative")

    def _check_segments(self) -> None:
        points = np.asarray(self.segments, dtype=float)
        if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2 or not np.isfinite(points).all():
            raise ArgumentError("the segments of a Target are at least two finite points (displacement, force)")
        dx, df = np.diff(points[:, 0]), np.diff(points[:, 1])
        if (dx < 0).any() or (df > 0).any() or ((dx == 0) & (df == 0)).any():
            k = int(np.flatnonzero((dx < 0) | (df > 0) | ((dx == 0) & (df == 0)))[0])
            raise ArgumentError(
                f"the segments of a Target are not monotone between points {k} and {k + 1}, {points[k].tolist()} and "
                f"{points[k + 1].tolist()}: displacements must grow and forces fall, or the step has no unique solution"
            )
        object.__setattr__(self, "segments", tuple(map(tuple, points.tolist())))
        ends = self._ends(dx, df)
        if not all(k >= 0 for k in ends):
            raise ArgumentError(f"beyond= of a Target is {self.beyond!r}: a stiffness must not be negative")

    def _ends(self, dx: Array, df: Array) -> tuple[float, float]:
        if self.beyond is None:
            with np.errstate(divide="ignore"):
                return float(-df[0] / dx[0]), float(-df[-1] / dx[-1])
        if np.ndim(self.beyond) == 0:
            return float(self.beyond), float(self.beyond)  # type: ignore[arg-type]
        left, right = self.beyond  # type: ignore[misc]
        return float(left), float(right)

    @property
    def shape(self) -> int:
        """The kind of target, as the kernels count."""
        return at.DEADZONE if self.deadzone is not None else at.POLYLINE

    def pieces(self) -> Array:
        """Return the pieces in the order of growing force, as `kernels/soft_layout.py` has them."""
        if self.deadzone is not None:
            zone = np.zeros((2, at.PIECES))
            zone[0, at.P_X1], zone[1, at.P_X1] = self.deadzone[1], self.deadzone[0]
            return zone
        points = np.asarray(self.segments)
        dx, df = np.diff(points[:, 0]), np.diff(points[:, 1])
        left, right = self._ends(dx, df)
        rows = []
        ends = [(np.inf, -np.inf, *points[-1], right)]
        for k in range(len(points) - 2, -1, -1):
            with np.errstate(divide="ignore"):
                ends.append((*points[k + 1], *points[k], -df[k] / dx[k]))
        ends.append((*points[0], -np.inf, np.inf, left))
        for x1, f1, x2, f2, k in ends:
            if k == 0 and self.damping == 0:
                continue  # level: the vertical part between its neighbours
            table = np.zeros(at.PIECES)
            table[at.P_X1], table[at.P_F1], table[at.P_X2], table[at.P_F2], table[at.P_K] = x1, f1, x2, f2, k
            rows.append(table)
        if not rows:
            raise ArgumentError("a Target that is level everywhere does nothing: give its points different forces")
        return np.array(rows)

    def force(self, displacement: Any) -> Array:
        """Return the static force at a displacement (of segments; outside its points along `beyond`)."""
        if self.segments is None:
            raise ArgumentError("the force of a dead zone depends on the softness of its row")
        points = np.asarray(self.segments)
        left, right = self._ends(np.diff(points[:, 0]), np.diff(points[:, 1]))
        x = np.asarray(displacement, dtype=float)
        inside = np.interp(x, points[:, 0], points[:, 1])
        below, above = np.minimum(x - points[0, 0], 0.0), np.maximum(x - points[-1, 0], 0.0)
        with np.errstate(invalid="ignore"):
            return inside - np.where(below < 0, left * below, 0.0) - np.where(above > 0, right * above, 0.0)
