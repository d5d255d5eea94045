"""The joints that connect a body to its parent, as the user writes them.

Conventions (one table for the whole project, in `docs/concepts.md`): rotations come before translations, in `q`
as in `v`. A `Free` joint has `q = [quaternion w,x,y,z; position]` and `v = [angular velocity in the body's axes;
velocity of the body's origin in the axes of the joint's frame in the parent]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from .numbers import as_number, as_numbers

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}

Axis = str | Sequence[float]


def unit_axis(axis: Axis, what: str) -> tuple[float, float, float]:
    """Return `axis` ('x', '-y' or three numbers) as a unit vector."""
    if isinstance(axis, str):
        sign = -1.0 if axis.startswith("-") else 1.0
        if axis.lstrip("+-") not in AXES:
            raise ModelError(f"{what} {axis!r} is not an axis: use 'x', 'y', 'z', '-x', ... or three numbers")
        x, y, z = AXES[axis.lstrip("+-")]
        return sign * x, sign * y, sign * z
    values = as_numbers(axis, what)
    if values.shape != (3,):
        raise ModelError(f"{what} has shape {values.shape}, not (3,)")
    length = float(np.linalg.norm(values))
    if not np.isfinite(length) or length < 1e-12:
        raise ModelError(f"{what} is {axis!r}: it must be finite and not zero")
    if abs(length - 1) > 1e-15:  # a unit vector stays as it is, to the last digit
        values = values / length
    x, y, z = values.tolist()
    return x, y, z


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint: its numbers of coordinates and velocities, and its place in the kernels' table of kinds."""

    kind: ClassVar[int] = -1
    nq: ClassVar[int] = 0
    nv: ClassVar[int] = 0

    @property
    def name(self) -> str:
        """The kind of joint in lower case, such as `revolute`."""
        return type(self).__name__.lower()

    def parameters(self) -> dict[str, Any]:
        """The values that `type(joint)(**parameters)` needs."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class _OneAxis(Joint):
    axis: Axis = "z"
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis, f"the axis of a {type(self).__name__} joint"))


@dataclass(frozen=True, slots=True)
class Revolute(_OneAxis):
    """Rotation by `q` [rad] about `axis` (given in the joint's frame)."""

    kind: ClassVar[int] = 0


@dataclass(frozen=True, slots=True)
class Prismatic(_OneAxis):
    """Translation by `q` [m] along `axis`."""

    kind: ClassVar[int] = 1


@dataclass(frozen=True, slots=True)
class Helical(_OneAxis):
    """A screw: rotation by `q` [rad] about `axis` and translation by `pitch * q` along it; `pitch` in m/rad."""

    pitch: float = 0.0
    kind: ClassVar[int] = 2

    def __post_init__(self) -> None:
        _OneAxis.__post_init__(self)
        object.__setattr__(self, "pitch", as_number(self.pitch, "the pitch of a Helical joint"))
        if not np.isfinite(self.pitch):
            raise ModelError(f"the pitch of a Helical joint is {self.pitch}: it must be finite")


@dataclass(frozen=True, slots=True)
class Universal(Joint):
    """Rotation about `first` (fixed in the parent), then about `second` (fixed in the body)."""

    first: Axis = "x"
    second: Axis = "y"
    kind: ClassVar[int] = 3
    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2

    def __post_init__(self) -> None:
        first = unit_axis(self.first, "the first axis of a Universal joint")
        second = unit_axis(self.second, "the second axis of a Universal joint")
        if np.linalg.norm(np.cross(first, second)) < 1e-6:
            raise ModelError(f"the two axes of a Universal joint are parallel: {first} and {second}")
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "second", second)


@dataclass(frozen=True, slots=True)
class Spherical(Joint):
    """Any rotation: `q` is a unit quaternion (w, x, y, z), `v` the relative angular velocity in body axes."""

    kind: ClassVar[int] = 4
    nq: ClassVar[int] = 4
    nv: ClassVar[int] = 3


@dataclass(frozen=True, slots=True)
class Planar(Joint):
    """Motion in the x-y plane of the joint's frame: `q = [angle, x, y]`, `v` its rate."""

    kind: ClassVar[int] = 5
    nq: ClassVar[int] = 3
    nv: ClassVar[int] = 3


@dataclass(frozen=True, slots=True)
class Free(Joint):
    """Six degrees of freedom: `q = [quaternion; position]`, `v = [angular, body axes; linear, joint-frame axes]`."""

    kind: ClassVar[int] = 6
    nq: ClassVar[int] = 7
    nv: ClassVar[int] = 6


@dataclass(frozen=True, slots=True)
class Fixed(Joint):
    """No motion: the body is welded to its parent."""

    kind: ClassVar[int] = 7


JOINT_KINDS: dict[int, type[Joint]] = {
    joint.kind: joint for joint in (Revolute, Prismatic, Helical, Universal, Spherical, Planar, Free, Fixed)
}
