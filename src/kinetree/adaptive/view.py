"""Who looks: weights of joints by how much of their motion a camera sees."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from ..errors import ArgumentError
from ..kernels import layout as at
from ..model.model import Model
from ..typing import Array
from .extent import Extent, extent

LEAST = 1e-12  # of any weight: joints that hardly count still have a positive definite metric


class Camera(Protocol):
    """What a view needs of a camera: `kinetree.render.Camera` has it, and so may any object."""

    eye: Any
    """Where it stands [m], world axes."""
    target: Any
    """What it looks at [m]."""
    up: Any
    """What points up in the picture."""
    fov: float
    """The full vertical angle of view [deg]."""


@dataclass(frozen=True, eq=False)
class View:
    """Joints count by what is seen of them, so that those simulated are where somebody looks.

    `camera` is a camera, or a function of the time [s] that returns one. `by="distance"`: the joints of a tree count
    (reference / d)^2, with the distance d of its root from the eye and the distance `reference` [m] at which they count
    1. `by="pixels"`: a joint counts (lever arm x pixels per metre)^2, the pixels that 1 rad moves the farthest thing
    which it moves (for a translation, that 1 m moves it), in a picture of `width` by `height` pixels; an error is then
    one in pixels. What lies outside of the picture counts `outside` times as much, in both; what is nearer than
    `nearest` [m] counts as if it were there.
    """

    camera: Camera | Callable[[float], Camera]
    by: Literal["distance", "pixels"] = "pixels"
    width: int = 1280
    height: int = 720
    outside: float = 0.1
    reference: float = 10.0
    nearest: float = 0.1
    _known: list[tuple[Model, Extent, Array]] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the options, and the camera where it does not move."""
        if self.by not in ("distance", "pixels"):
            raise ArgumentError(f"by is {self.by!r}: use 'distance' or 'pixels'")
        for name in ("width", "height", "outside", "reference", "nearest"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value < math.inf:
                raise ArgumentError(f"{name} of a View is {value!r}: it must be a finite number above zero")
        if self.outside > 1:
            raise ArgumentError(f"outside of a View is {self.outside!r}: what is not seen cannot count more than 1")
        if hasattr(self.camera, "eye") or not callable(self.camera):
            _look(self.camera)

    def scales(self, model: Model, positions: Array, time: float) -> Array:
        """Return how much the joints of each tree of the forest count at a `time` [s], all above 0, shape [ntrees].

        `positions` are those of the origins of the trees' roots [m], shape (ntrees, 3), in the order of the forest.
        With `by="pixels"`, a joint's weight is this times its entry of `joint_factors`, which does not change.
        """
        radii = self.extent(model).radii
        where = np.asarray(positions, dtype=float)
        if where.shape != (len(radii), 3) or not np.isfinite(where).all():
            raise ArgumentError(
                f"positions have shape {where.shape}: give finite numbers of shape ({len(radii)}, 3), one row for the "
                "root of each tree"
            )
        eye, turn, slope = self._frame(time)
        local = turn @ (where - eye).T
        across, down, depth = local
        wide = slope * self.width / self.height
        beside, above = math.hypot(1.0, wide), math.hypot(1.0, slope)
        seen = np.abs(across) <= wide * depth + beside * radii
        seen &= np.abs(down) <= slope * depth + above * radii
        seen &= depth >= -radii
        distance = np.sqrt((local * local).sum(axis=0))
        if self.by == "distance":
            away, unit = distance, self.reference
        else:
            # no root in the picture is less deep than at its corner; others count by their distance
            away, unit = np.maximum(depth, distance / math.hypot(beside, slope)), self.height / (2 * slope)
        ratio = unit / np.maximum(away, self.nearest)
        ratio *= ratio
        ratio *= np.where(seen, 1.0, self.outside)
        return np.maximum(ratio, LEAST, out=ratio)

    def joint_factors(self, model: Model) -> Array:
        """Return what each degree of freedom counts beside its tree's scale, shape [nv]; this never changes.

        1 where distances count; else lever arm^2 of a rotation [m2], 1 for a translation, and arm^2 + pitch^2 for a
        screw.
        """
        return self._measured(model)[2]

    def joint_weights(self, model: Model, positions: Array, time: float) -> Array:
        """Return how much each degree of freedom counts at a `time` [s], shape [nv]: its factor times its scale."""
        _, measured, factors = self._measured(model)
        return factors * self.scales(model, positions, time)[measured.trees]

    def extent(self, model: Model) -> Extent:
        """Return the lever arms and bounding balls of a model, computed once."""
        return self._measured(model)[1]

    def _measured(self, model: Model) -> tuple[Model, Extent, Array]:
        if not (self._known and self._known[0][0] is model):
            measured = extent(model)
            factors = np.ones(model.nv) if self.by == "distance" else _factors(model, measured.arms)
            factors.setflags(write=False)
            self._known[:] = [(model, measured, factors)]
        return self._known[0]

    def _frame(self, time: float) -> _Frame:
        camera = self.camera
        if hasattr(camera, "eye") or not callable(camera):
            return _look(camera)
        return _look(camera(time))


def _factors(model: Model, arms: Array) -> Array:
    """Return the squares of what a unit of each joint velocity moves at most."""
    factors = np.ones(model.nv)
    for kind in np.unique(model.topology[:, at.KIND]):
        links = np.flatnonzero(model.topology[:, at.KIND] == kind)
        turning = {at.PRISMATIC: 0, at.UNIVERSAL: 2, at.SPHERICAL: 3, at.FREE: 3}.get(int(kind), 1)
        square = arms[links] ** 2
        if kind == at.HELICAL:
            square = square + model.constants[links, at.PITCH] ** 2
        for k in range(turning):  # every kind has its rotations first
            factors[model.topology[links, at.V] + k] = square
    return np.maximum(factors, LEAST)


class _Frame(NamedTuple):
    """Where the eye is, the axes (right, down, forward) of the picture as columns, and tan(fov / 2)."""

    eye: Array
    turn: Array
    slope: float


def _look(camera: Any) -> _Frame:
    """Read a camera, in plain numbers: this is done at every update."""
    try:
        ex, ey, ez = map(float, camera.eye)
        tx, ty, tz = map(float, camera.target)
        ux, uy, uz = map(float, camera.up)
        fov = float(camera.fov)
    except (AttributeError, TypeError, ValueError) as error:
        raise ArgumentError(
            f"the camera of a View is {camera!r}: give something with eye, target and up (three numbers each) and fov "
            f"[deg], like kinetree.render.Camera, or a function of the time that returns it ({error})"
        ) from None
    if not (0 < fov < 180 and math.isfinite(ex + ey + ez + tx + ty + tz + ux + uy + uz)):
        raise ArgumentError(
            f"the camera of a View has eye {(ex, ey, ez)}, target {(tx, ty, tz)}, up {(ux, uy, uz)} and fov {fov}: "
            "give finite numbers, and an angle between 0 and 180 degrees"
        )
    fx, fy, fz = tx - ex, ty - ey, tz - ez
    length = math.sqrt(fx * fx + fy * fy + fz * fz)
    if length == 0:
        raise ArgumentError(f"the camera of a View has its eye and target both at {(ex, ey, ez)}: move one of them")
    fx, fy, fz = fx / length, fy / length, fz / length
    up = math.sqrt(ux * ux + uy * uy + uz * uz)
    rx, ry, rz = fy * uz - fz * uy, fz * ux - fx * uz, fx * uy - fy * ux
    if math.sqrt(rx * rx + ry * ry + rz * rz) <= 1e-9 * up:  # straight along up: any right will do, always the same
        ux, uy, uz = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))[_least(abs(fx), abs(fy), abs(fz))]
        rx, ry, rz = fy * uz - fz * uy, fz * ux - fx * uz, fx * uy - fy * ux
    side = math.sqrt(rx * rx + ry * ry + rz * rz)
    rx, ry, rz = rx / side, ry / side, rz / side
    dx, dy, dz = fy * rz - fz * ry, fz * rx - fx * rz, fx * ry - fy * rx
    turn = np.array(((rx, ry, rz), (dx, dy, dz), (fx, fy, fz)))
    return _Frame(np.array((ex, ey, ez)), turn, math.tan(math.radians(fov) / 2))


def _least(x: float, y: float, z: float) -> int:
    return 0 if x <= y and x <= z else 1 if y <= z else 2
