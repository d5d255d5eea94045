"""What bounds the joints: limits, dry friction, motors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arguments import as_number
from ..errors import ArgumentError
from ..kernels import conditions as c
from ..kernels import layout as at
from ..model.model import Model

__all__ = ["JointFriction", "JointLimits", "Motor"]

Rows = list[tuple[list[int], list[float]]]


@dataclass(frozen=True)
class JointLimits:
    """Joints stop at their limits, hard and without penalty; `joints` are names (None: all that have limits).

    `limits` are (lower, upper), numbers or one per degree of freedom in the order of `joints`; None: those of the
    model. Those of a spherical joint bound the parts of its rotation vector. `cones` bound the swing of spherical
    joints: {joint: (axis in the joint's frame, largest angle)}. `restitution` is the share of the velocity that a stop
    gives back.
    """

    joints: Sequence[str] | str | None = None
    limits: Any = None
    restitution: float = 0.0
    cones: Mapping[str, tuple[Any, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        value = as_number(self.restitution, "restitution of JointLimits")
        if not 0 <= value <= 1:
            raise ArgumentError(f"restitution of JointLimits is {value}: it must be between 0 and 1")

    def bounds(self, model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (degrees of freedom, lower, upper) of what is limited."""
        dofs = model.dof_indices(names_of(model, self.joints))
        if self.limits is None:
            low, high = (side[dofs] for side in model.limits)
        else:
            if len(self.limits) != 2:
                raise ArgumentError("limits of JointLimits are a pair: (lower, upper)")
            low, high = (per_freedom(value, len(dofs), "a limit of JointLimits") for value in self.limits)
        if not (low <= high).all():
            k = int(np.flatnonzero(~(low <= high))[0])
            raise ArgumentError(f"JointLimits: the lower limit {low[k]:g} is above the upper one {high[k]:g}")
        some = np.isfinite(low) | np.isfinite(high)
        return dofs[some], low[some], high[some]

    def rows(self, model: Model) -> Rows:
        """Return the rows of the kernels' table."""
        found: Rows = []
        for dof, low, high in zip(*self.bounds(model), strict=True):
            link, offset = link_of(model, int(dof))
            kind = int(model.topology[link, at.KIND])
            if kind == at.FREE:
                continue
            turn = c.TURN if kind == at.SPHERICAL else c.PLAIN
            found.append(([link, offset, turn], [low, high, float(self.restitution), 0.0, 0.0, 0.0]))
        for name, (axis, angle) in self.cones.items():
            link, _ = link_of(model, model.v_slice(name).start)
            if model.topology[link, at.KIND] != at.SPHERICAL:
                raise ArgumentError(f"joint {name!r} is not spherical: only those have cones; give limits=")
            unit = np.asarray(axis, dtype=float)
            size = float(np.linalg.norm(unit)) if unit.shape == (3,) else 0.0
            if not (size > 0 and np.isfinite(size) and 0 < as_number(angle, "the angle of a cone") < np.pi):
                raise ArgumentError(f"the cone of joint {name!r} is {(axis, angle)!r}: give an axis and 0 < angle < pi")
            found.append(([link, 0, c.CONE], [-np.inf, float(angle), float(self.restitution), *(unit / size)]))
        return found


@dataclass(frozen=True)
class JointFriction:
    """Dry friction: each joint resists motion with at most `torque` [N m or N], and sticks where that is enough."""

    joints: Sequence[str] | str | None = None
    torque: Any = 1.0

    def rows(self, model: Model) -> Rows:
        """Return the rows of the kernels' table."""
        return _drives(model, self.joints, 0.0, self.torque, "JointFriction")


@dataclass(frozen=True)
class Motor:
    """Each joint is driven at `speed` [rad/s or m/s] by a motor of at most `effort` (None: the model's)."""

    joints: Sequence[str] | str | None = None
    speed: Any = 0.0
    effort: Any = None

    def rows(self, model: Model) -> Rows:
        """Return the rows of the kernels' table."""
        effort = self.effort
        if effort is None:
            effort = model.dofs[model.dof_indices(names_of(model, self.joints)), at.EFFORT]
        return _drives(model, self.joints, self.speed, effort, "Motor")


def _drives(model: Model, joints: Any, speed: Any, effort: Any, what: str) -> Rows:
    dofs = model.dof_indices(names_of(model, joints))
    speeds = per_freedom(speed, len(dofs), f"speed of {what}")
    efforts = per_freedom(effort, len(dofs), f"effort of {what}")
    if not np.isfinite(speeds).all() or (efforts < 0).any():
        raise ArgumentError(f"{what}: speeds must be finite, and efforts not negative")
    found: Rows = []
    for dof, rate, most in zip(dofs, speeds, efforts, strict=True):
        link, offset = link_of(model, int(dof))
        if most > 0:
            found.append(([link, offset, c.SPEED], [float(rate), float(most), 0.0, 1.0]))
    return found


def names_of(model: Model, joints: Sequence[str] | str | None) -> tuple[str, ...]:
    """Return joints by name; all that move where none is named."""
    return model.joint_names if joints is None else (joints,) if isinstance(joints, str) else tuple(joints)


def link_of(model: Model, dof: int) -> tuple[int, int]:
    """Return the link that a degree of freedom moves, and its place within the joint."""
    link = int(model.body_links[model.joint_bodies[model.v_joints[dof]]])
    return link, dof - int(model.topology[link, at.V])


def per_freedom(value: Any, n: int, what: str) -> np.ndarray:
    """Return a number, or one for each degree of freedom, as `n` numbers; infinite is allowed, NaN is not."""
    try:
        array = np.broadcast_to(np.asarray(value, dtype=float), (n,)).copy()
    except (TypeError, ValueError):
        raise ArgumentError(f"{what} has the shape {np.shape(value)}: give a number, or {n} of them") from None
    if np.isnan(array).any():
        raise ArgumentError(f"{what} is NaN")
    return array
