"""The description of a model: what the user or a file says of each body, before it is checked and compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ModelError
from .coordinates import CoordinateMap
from .joints import Fixed, Joint
from .numbers import as_number, as_numbers
from .shapes import Shape, as_pose

WORLD = "world"


@dataclass(frozen=True, slots=True)
class Body:
    """A rigid body, the joint that connects it to its parent, and what is attached to it.

    The body's frame coincides with the joint's moving frame; `com` [m] and `inertia` [kg m2, about the centre of mass]
    are in body axes. `placement` is the pose of the joint's fixed frame in the parent's frame. The values from `limits`
    to `effort` are per degree of freedom of the joint: a number for all of them or a sequence.
    """

    name: str
    parent: str | None = None
    joint: Joint = field(default_factory=Fixed)
    placement: tuple[np.ndarray, np.ndarray] = field(default_factory=lambda: as_pose(None, ""))
    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
    shapes: tuple[Shape, ...] = ()
    markers: Mapping[str, Any] = field(default_factory=dict)
    joint_name: str = ""
    limits: tuple[Any, Any] | None = None
    armature: Any = 0.0
    damping: Any = 0.0
    friction: Any = 0.0
    stiffness: Any = 0.0
    rest: Any = 0.0
    effort: Any = np.inf


@dataclass(frozen=True)
class Description:
    """All bodies of a model in the order they were given (parents may come after their children)."""

    bodies: Sequence[Body]
    name: str = ""
    warnings: tuple[str, ...] = ()
    coordinates: CoordinateMap | None = None


def mass_properties(
    name: str, mass: float | None, com: Any, inertia: Any, shapes: Sequence[Shape]
) -> tuple[float, np.ndarray, np.ndarray]:
    """Complete a body's mass, centre of mass and inertia from its shapes where they are not given.

    `inertia` may be a 3x3 matrix, three principal moments, or six numbers (xx, yy, zz, xy, xz, yz).
    """
    if inertia is not None and (mass is None):
        raise ModelError(f"body {name!r} has an inertia but no mass: give mass=")
    solid = [shape for shape in shapes if shape.volume > 0]
    if solid and (mass is None or com is None or inertia is None):
        shape_mass, shape_com, shape_inertia = _from_shapes(solid)
        scale = 1.0 if mass is None else as_number(mass, f"body {name!r}: mass") / shape_mass
        mass = shape_mass if mass is None else mass
        com = shape_com if com is None else com
        if inertia is None:
            inertia = scale * shape_inertia
    centre = np.zeros(3) if com is None else as_numbers(com, f"body {name!r}: com")
    if centre.shape != (3,):
        raise ModelError(f"body {name!r}: com has shape {centre.shape}, not (3,)")
    return 0.0 if mass is None else as_number(mass, f"body {name!r}: mass"), centre, _inertia_matrix(name, inertia)


def _from_shapes(shapes: Sequence[Shape]) -> tuple[float, np.ndarray, np.ndarray]:
    masses = np.array([shape.density * shape.volume for shape in shapes])
    centres = np.array([shape.placement[1] for shape in shapes])
    total = float(masses.sum())
    com = masses @ centres / total
    inertia = np.zeros((3, 3))
    for shape, mass, centre in zip(shapes, masses, centres, strict=True):
        turn, d = shape.placement[0], centre - com
        inertia += mass * (turn @ shape.unit_inertia() @ turn.T + d @ d * np.eye(3) - np.outer(d, d))
    return total, com, inertia


def _inertia_matrix(name: str, inertia: Any) -> np.ndarray:
    if inertia is None:
        return np.zeros((3, 3))
    values = as_numbers(inertia, f"body {name!r}: inertia")
    if values.shape == (3, 3):
        return values
    if values.shape == (3,):
        return np.diag(values)
    if values.shape == (6,):
        xx, yy, zz, xy, xz, yz = values
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    raise ModelError(
        f"body {name!r}: inertia has shape {values.shape}; use (3, 3), (3,) or (6,) = xx, yy, zz, xy, xz, yz"
    )
