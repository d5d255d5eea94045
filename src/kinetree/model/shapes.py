"""Shapes: what a body looks like, collides as, and, with a density, weighs. Sizes in metres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from .numbers import as_number, as_numbers

LARGEST = 1e9  # m, of a shape: its volume and inertia must be numbers
DENSITY = 1000.0  # kg/m3, of water: what a shape weighs where nobody says


@dataclass(frozen=True, eq=False)
class Shape:
    """A solid with its `placement` in the body's frame (anything that `as_pose` reads) and an RGB `color` in 0..1."""

    placement: Any = field(default=None, kw_only=True)
    color: tuple[float, float, float] | None = field(default=None, kw_only=True)
    density: float = field(default=DENSITY, kw_only=True)
    kind: ClassVar[int] = -1
    lengths: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Refuse sizes and densities that are not positive; keep the placement as (rotation, position)."""
        name = type(self).__name__
        object.__setattr__(self, "placement", as_pose(self.placement, f"the placement of a {name}"))
        for key in self.lengths:
            object.__setattr__(self, key, as_number(getattr(self, key), f"the {key} of a {name}"))
        if not all(0 < size < LARGEST for size in self.sizes):
            raise ModelError(f"a {name} has sizes {self.sizes}: each must be positive (and below {LARGEST:g} m)")
        object.__setattr__(self, "density", as_number(self.density, f"the density of a {name}"))
        if not 0 < self.density < np.inf:
            raise ModelError(f"a {name} has a density of {self.density}: it must be positive and finite")
        if self.color is not None:
            color = as_numbers(self.color, f"the color of a {name}")
            if color.shape != (3,) or not np.isfinite(color).all():
                raise ModelError(f"the color of a {name} is {self.color!r}: give red, green and blue in 0..1")
            object.__setattr__(self, "color", tuple(color.tolist()))

    @property
    def sizes(self) -> tuple[float, ...]:
        """The sizes of the shape, at most three."""
        return ()

    @property
    def volume(self) -> float:
        """Volume [m3]."""
        return 0.0

    def unit_inertia(self) -> np.ndarray:
        """Rotational inertia about the shape's centre for a mass of 1 kg, in the shape's axes [m2], shape (3, 3)."""
        return np.zeros((3, 3))

    def __eq__(self, other: object) -> bool:
        """Compare by value."""
        return (
            type(self) is type(other)
            and isinstance(other, Shape)
            and (self.sizes, self.color, self.density) == (other.sizes, other.color, other.density)
            and all(np.array_equal(a, b) for a, b in zip(self.placement, other.placement, strict=True))
        )

    def __hash__(self) -> int:
        """Hash by kind and size."""
        return hash((self.kind, self.sizes))


@dataclass(frozen=True, eq=False)
class Box(Shape):
    """A box with full edge lengths `size = (x, y, z)`."""

    size: Sequence[float] = (1.0, 1.0, 1.0)
    kind: ClassVar[int] = 0

    def __post_init__(self) -> None:
        size = as_numbers(self.size, "the size of a Box")
        if size.shape != (3,):
            raise ModelError(f"the size of a Box is {self.size!r}: it must be three lengths")
        object.__setattr__(self, "size", tuple(size.tolist()))
        super().__post_init__()

    @property
    def sizes(self) -> tuple[float, ...]:
        return tuple(self.size)

    @property
    def volume(self) -> float:
        return float(np.prod(self.size))

    def unit_inertia(self) -> np.ndarray:
        x, y, z = (s * s for s in self.size)
        return np.diag([y + z, x + z, x + y]) / 12


@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """A ball."""

    radius: float = 0.5
    kind: ClassVar[int] = 1
    lengths: ClassVar[tuple[str, ...]] = ("radius",)

    @property
    def sizes(self) -> tuple[float, ...]:
        return (float(self.radius),)

    @property
    def volume(self) -> float:
        return 4 / 3 * np.pi * self.radius**3

    def unit_inertia(self) -> np.ndarray:
        return np.eye(3) * 0.4 * self.radius**2


@dataclass(frozen=True, eq=False)
class Capsule(Shape):
    """A cylinder of `length` along the shape's z axis with a half ball of `radius` at each end."""

    radius: float = 0.1
    length: float = 1.0
    kind: ClassVar[int] = 2
    lengths: ClassVar[tuple[str, ...]] = ("radius", "length")

    @classmethod
    def between(cls, start: Sequence[float], end: Sequence[float], radius: float, **options: Any) -> Capsule:
        """Make the capsule whose half balls are centred on `start` and `end` (points of the body)."""
        a, b = np.asarray(start, float), np.asarray(end, float)
        length = float(np.linalg.norm(b - a))
        if length < 1e-12:
            raise ModelError(f"a Capsule from {tuple(a)} to {tuple(b)} has no length: use a Sphere")
        return cls(radius=radius, length=length, placement=(rotation_of_z((b - a) / length), (a + b) / 2), **options)

    @property
    def sizes(self) -> tuple[float, ...]:
        return float(self.radius), float(self.length)

    @property
    def volume(self) -> float:
        return np.pi * self.radius**2 * (self.length + 4 / 3 * self.radius)

    def unit_inertia(self) -> np.ndarray:
        r, h = self.radius, self.length
        cylinder, ball = h / (h + 4 / 3 * r), 4 / 3 * r / (h + 4 / 3 * r)
        along = cylinder * r**2 / 2 + ball * 0.4 * r**2
        across = cylinder * (r**2 / 4 + h**2 / 12) + ball * (0.4 * r**2 + h**2 / 4 + 3 / 8 * h * r)
        return np.diag([across, across, along])


@dataclass(frozen=True, eq=False)
class Plane(Shape):
    """A half space: everything below the shape's x-y plane. It has no mass."""

    kind: ClassVar[int] = 3


SHAPE_KINDS: dict[int, type[Shape]] = {shape.kind: shape for shape in (Box, Sphere, Capsule, Plane)}


def as_pose(value: Any, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Read a pose as (rotation (3, 3), position (3,)).

    `value` may be None, a position (3,), a 4x4 matrix, or a pair of a rotation (None, 3x3 or quaternion w,x,y,z) and a
    position (or None).
    """
    if value is None:
        return np.eye(3), np.zeros(3)
    if isinstance(value, (tuple, list)) and len(value) == 2:
        rotation, position = value
        place = np.zeros(3) if position is None else as_numbers(position, what)
        turn = np.eye(3) if rotation is None else as_numbers(rotation, what)
    else:
        array = as_numbers(value, what)
        if array.shape == (4, 4):
            turn, place = array[:3, :3].copy(), array[:3, 3].copy()
        else:
            turn, place = np.eye(3), array
    if place.shape != (3,):
        raise ModelError(f"{what} has a position of shape {place.shape}, not (3,)")
    if turn.shape == (4,):
        turn = _rotation_of_quaternion(turn, what)
    elif turn.shape != (3, 3):
        raise ModelError(f"{what} has a rotation of shape {turn.shape}: use a 3x3 matrix or a quaternion w,x,y,z")
    return turn, place


def _rotation_of_quaternion(quaternion: np.ndarray, what: str) -> np.ndarray:
    length = float(np.linalg.norm(quaternion))
    if not abs(length - 1) < 1e-6:
        raise ModelError(f"{what} has the quaternion {quaternion.tolist()} of length {length:.9g}: normalise it")
    w, x, y, z = quaternion / length
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def rotation_of_z(direction: np.ndarray) -> np.ndarray:
    """Return a rotation whose third column is the unit vector `direction`; exact for the coordinate axes."""
    x, y, z = direction
    sign = 1.0 if z >= 0 else -1.0  # Duff et al., Building an orthonormal basis, revisited (2017)
    a = -1.0 / (sign + z)
    b = x * y * a
    return np.array([[1 + sign * x * x * a, b, x], [sign * b, sign + y * y * a, y], [-sign * x, -y, z]])
