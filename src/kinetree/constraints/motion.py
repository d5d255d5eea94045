"""Motions that joints follow, by accelerations that the constraint forces bring about (Kokkevis 2004, section 8.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arguments import as_finite, as_number
from ..dynamics import difference, integrate
from ..errors import ArgumentError, unknown_name
from ..kernels import conditions as c
from ..kernels import layout as at
from ..model.model import Model
from ..trajectory import Trajectory
from ..typing import Array
from .limits import Rows, link_of, names_of, per_freedom

__all__ = ["JointAcceleration", "MotionTarget"]

SETTLED = (
    3.8897201698674277  # the root of (1 + x) exp(-x) = 0.1: w t where a critically damped error is down to a tenth
)


@dataclass(frozen=True, eq=False)
class MotionTarget:
    """Joints follow a `trajectory`: a Trajectory whose model has joints of these names, or a pair (times, q).

    `q` has a row for each time and the coordinates of `joints` in their order. An error is critically damped and down
    to a tenth after `settle` seconds, whatever the time step: with w = 3.89 / settle the acceleration is
    w^2 (q_d - q) + 2 w (v_d - v) + a_d. (The gains in the paper, 1/settle^2 and sqrt(2)/settle, are 30 % of the way
    then.) `effort` limits the force of each joint [N m or N]; None: no limit, "model": the efforts of the model.

    `weight` blends: 1 follows, 0 is free, between is a mixture of the accelerations; it may be a function of the time.
    Before the first and after the last time the trajectory's end is held, unless it is to `repeat`.
    """

    joints: Sequence[str] | str | None
    trajectory: Any
    settle: float = 0.1
    effort: Any = None
    weight: float | Callable[[float], float] = 1.0
    repeat: bool = False

    def __post_init__(self) -> None:
        settle = as_number(self.settle, "settle of a MotionTarget")
        if not (np.isfinite(settle) and settle > 0):
            raise ArgumentError(f"settle of a MotionTarget is {settle}: it must be a positive time [s]")
        if not callable(self.weight):
            _checked_weight(self.weight)

    def names(self, model: Model) -> tuple[str, ...]:
        """Return the joints that follow."""
        if self.joints is None and isinstance(self.trajectory, Trajectory):
            own = self.trajectory.model.joint_names
            return tuple(name for name in model.joint_names if name in own)
        return names_of(model, self.joints)

    def rows(self, model: Model) -> Rows:
        """Return the rows of the kernels' table."""
        names = self.names(model)
        dofs = model.dof_indices(names)
        efforts: Any = np.inf if self.effort is None else self.effort
        if isinstance(efforts, str):
            if efforts != "model":
                raise ArgumentError(f"effort of a MotionTarget is {self.effort!r}: give numbers, None or 'model'")
            efforts = model.dofs[dofs, at.EFFORT]
        most = per_freedom(efforts, len(dofs), "effort of a MotionTarget")
        if (most < 0).any():
            raise ArgumentError("effort of a MotionTarget is negative: a largest force is at least 0")
        found: Rows = []
        for dof, limit in zip(dofs, most, strict=True):
            link, offset = link_of(model, int(dof))
            found.append(([link, offset, c.FOLLOW], [0.0, float(limit), SETTLED / float(self.settle), 1.0]))
        return found

    def curve(self, model: Model) -> Curve:
        """Return what is to be followed, in the coordinates of `model`."""
        return Curve(model, self)

    def weight_at(self, time: float) -> float:
        """Return the weight at a time."""
        return _checked_weight(self.weight(time) if callable(self.weight) else self.weight)


def _checked_weight(value: Any) -> float:
    number = as_number(value, "weight of a MotionTarget")
    if not 0 <= number <= 1:
        raise ArgumentError(f"weight of a MotionTarget is {number}: it must be between 0 and 1")
    return number


class Curve:
    """The coordinates that a MotionTarget wants at any time."""

    def __init__(self, model: Model, target: MotionTarget) -> None:
        """Pick the joints' columns out of the trajectory."""
        names = target.names(model)
        slices = [model.q_slice(name) for name in names]
        self.columns = np.concatenate([np.arange(s.start, s.stop) for s in slices] or [np.zeros(0, dtype=int)])
        source = target.trajectory
        if isinstance(source, Trajectory):
            theirs = []
            for name, own in zip(names, slices, strict=True):
                if name not in source.model.joint_names:
                    raise unknown_name("moving joint", name, source.model.joint_names)
                s = source.model.q_slice(name)
                if s.stop - s.start != own.stop - own.start:
                    raise ArgumentError(f"joint {name!r} of the trajectory has other coordinates than the model's")
                theirs += list(range(s.start, s.stop))
            times, values = np.asarray(source.times), source.q[:, theirs]
        else:
            times, values = _pair(source, len(self.columns))
        if len(times) == 0:
            raise ArgumentError("the trajectory of a MotionTarget is empty: it has no frames")
        self.model, self.times, self.repeat = model, times, target.repeat
        self.full = np.tile(model.neutral(), (len(times), 1))
        self.full[:, self.columns] = values
        self._steps = np.array(
            [difference(model, a, b) for a, b in zip(self.full[:-1], self.full[1:], strict=True)]
        ).reshape(-1, model.nv)
        self.turns = bool(np.isin(model.joint_kinds, (at.SPHERICAL, at.FREE)).any())

    def at(self, moments: Array) -> Array:
        """Return the coordinates [n, nq] at some times; those of other joints are neutral."""
        times, span = self.times, self.times[-1] - self.times[0]
        inside = np.clip(moments, times[0], times[-1])
        if self.repeat and span > 0:
            inside = times[0] + np.mod(moments - times[0], span)
        after = np.clip(np.searchsorted(times, inside, side="right"), 1, max(len(times) - 1, 1))
        if len(times) == 1:
            return np.repeat(self.full, len(inside), axis=0)
        before = after - 1
        part = (inside - times[before]) / (times[after] - times[before])
        if not self.turns:
            return self.full[before] + part[:, None] * (self.full[after] - self.full[before])
        return np.array(
            [integrate(self.model, self.full[i], self._steps[i], p) for i, p in zip(before, part, strict=True)]
        )


def _pair(source: Any, n: int) -> tuple[Array, Array]:
    try:
        times, values = source
        count = len(times)
    except (TypeError, ValueError):
        raise ArgumentError("the trajectory of a MotionTarget is neither a Trajectory nor a pair (times, q)") from None
    times = as_finite(times, (count,), "times of a MotionTarget")
    shaped = np.asarray(values, dtype=float)
    if shaped.ndim == 1 and n == 1:
        shaped = shaped[:, None]
    if count > 1 and not (np.diff(times) > 0).all():
        raise ArgumentError("the times of a MotionTarget must increase")
    return times, as_finite(shaped, (count, n), "q of a MotionTarget")


@dataclass(frozen=True)
class JointAcceleration:
    """Each degree of freedom of the joints accelerates at `value` [rad/s2 or m/s2], by at most `effort`."""

    joints: Sequence[str] | str
    value: Any = 0.0
    effort: Any = np.inf

    def rows(self, model: Model) -> Rows:
        """Return the rows of the kernels' table."""
        dofs = model.dof_indices(names_of(model, self.joints))
        values = per_freedom(self.value, len(dofs), "value of a JointAcceleration")
        efforts = per_freedom(self.effort, len(dofs), "effort of a JointAcceleration")
        if not np.isfinite(values).all() or (efforts < 0).any():
            raise ArgumentError("JointAcceleration: values must be finite, and efforts not negative")
        found: Rows = []
        for dof, value, most in zip(dofs, values, efforts, strict=True):
            link, offset = link_of(model, int(dof))
            found.append(([link, offset, c.PUSH], [float(value), float(most), 0.0, 1.0]))
        return found
