"""Where the picture is taken from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import ArgumentError

FROM = (1.0, -1.6, 0.75)  # from the front, the right and above


@dataclass(frozen=True, eq=False)
class Camera:
    """An eye that looks at a target [m, world axes]; `fov` is the full vertical angle of view [deg].

    >>> from kinetree.render import Camera
    >>> Camera(eye=(3, -3, 2), target=(0, 0, 1)).orbit(90).eye.round(6).tolist()
    [3.0, 3.0, 2.0]
    """

    eye: Any
    target: Any
    up: Any = (0.0, 0.0, 1.0)
    fov: float = 45.0

    def __post_init__(self) -> None:
        """Check, and keep everything as float arrays of shape (3,)."""
        for name in ("eye", "target", "up"):
            object.__setattr__(self, name, _vector(f"the camera's {name}", getattr(self, name)))
        if not 1e-3 <= self.fov <= 170:
            raise ArgumentError(f"the camera's fov is {self.fov!r}: it must be an angle between 0.001 and 170 degrees")
        if not np.linalg.norm(self.target - self.eye) > 0:
            raise ArgumentError(f"the camera's eye and target are both at {self.eye.tolist()}: move one of them")
        if not np.linalg.norm(self.up) > 0:
            raise ArgumentError("the camera's up is zero: give the direction that shall point up in the picture")

    @property
    def rotation(self) -> np.ndarray:
        """Rotation from world to view axes; its rows point right, down and forward, shape (3, 3)."""
        forward = (self.target - self.eye) / np.linalg.norm(self.target - self.eye)
        right = np.cross(forward, self.up / np.linalg.norm(self.up))
        if np.linalg.norm(right) < 1e-9:  # straight along up: any right will do, the same one every time
            right = np.cross(forward, np.eye(3)[np.argmin(np.abs(forward))])
        right /= np.linalg.norm(right)
        return np.array([right, np.cross(forward, right), forward])

    @property
    def distance(self) -> float:
        """Distance from the eye to the target [m]."""
        return float(np.linalg.norm(self.target - self.eye))

    @classmethod
    def framing(
        cls,
        points: Any,
        *,
        direction: Sequence[float] = FROM,
        up: Sequence[float] = (0.0, 0.0, 1.0),
        fov: float = 40.0,
        aspect: float = 4 / 3,
        margin: float = 0.07,
    ) -> Camera:
        """Place a camera so that all points just fit into the picture.

        `points` has shape (n, 3) [m]; two points, the lower and the upper corner, stand for the box between them.
        `direction` points from the model to the camera, `aspect` is width over height, and `margin` is the share of
        the picture that stays free on each side. The fit is exact: two sides of the picture touch the points.
        """
        points = np.atleast_2d(np.array(points, dtype=float))
        if points.ndim != 2 or points.shape[1:] != (3,) or not np.isfinite(points).all():
            raise ArgumentError("the points to frame must be finite numbers of shape (n, 3), with n at least 1")
        if not 0 <= margin < 0.5 or not aspect > 0:
            raise ArgumentError(f"margin {margin!r} must be in 0..0.5 and aspect {aspect!r} positive")
        if len(points) == 2:
            points = np.array([points[[a, b, c], [0, 1, 2]] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
        way = _vector("the direction of the camera", direction)
        if not np.linalg.norm(way) > 0:
            raise ArgumentError("the direction of the camera is zero: give a direction from the model to the camera")
        middle = (points.min(0) + points.max(0)) / 2
        trial = cls(middle + way / np.linalg.norm(way), middle, up, fov)
        turn = trial.rotation
        local = (points - middle) @ turn.T
        size = max(float(np.linalg.norm(np.ptp(local, axis=0))), 1e-3)
        slope = np.tan(np.radians(fov) / 2) * (1 - 2 * margin)
        eye = np.zeros(3)
        depths = []
        for i, tangent in ((0, slope * aspect), (1, slope)):
            # |x - eye_x| <= tangent (z - eye_z) for all points: two supporting lines, which cross at the eye.
            high = np.max(local[:, i] - tangent * local[:, 2])
            low = np.min(local[:, i] + tangent * local[:, 2])
            eye[i] = (high + low) / 2
            depths.append((low - high) / (2 * tangent))
        eye[2] = min(*depths, float(local[:, 2].min()) - 0.25 * size)
        for i in (0, 1):  # where there is room to spare, share it out evenly (Newton's method on the two margins)
            for _ in range(12):
                slopes = (local[:, i] - eye[i]) / (local[:, 2] - eye[2])
                a, b = int(np.argmin(slopes)), int(np.argmax(slopes))
                gain = 1 / (local[a, 2] - eye[2]) + 1 / (local[b, 2] - eye[2])
                eye[i] += (slopes[a] + slopes[b]) / gain
        target = np.array([eye[0], eye[1], max(0.0, eye[2] + 0.5 * size)])
        return cls(middle + eye @ turn, middle + target @ turn, up, fov)

    def orbit(self, degrees: float, *, raised: float = 0.0) -> Camera:
        """Go round the target, counter-clockwise seen from above, and `raised` degrees up."""
        axis = self.up / np.linalg.norm(self.up)
        arm = _turned(self.eye - self.target, axis, np.radians(degrees))
        if raised:
            side = np.cross(arm, axis)
            if np.linalg.norm(side) > 1e-9:
                arm = _turned(arm, side / np.linalg.norm(side), np.radians(raised))
        return replace(self, eye=self.target + arm)

    def zoom(self, factor: float) -> Camera:
        """Move the eye so that the target looks `factor` times as large."""
        if not factor > 0:
            raise ArgumentError(f"the factor of a zoom is {factor!r}: it must be positive")
        return replace(self, eye=self.target + (self.eye - self.target) / factor)

    def orbiting(self, period: float) -> Callable[[float], Camera]:
        """Return a camera for `render_trajectory` that goes round the target once every `period` seconds."""
        if not period:
            raise ArgumentError("the period of an orbiting camera is zero: give the seconds for a full turn")
        return lambda time: self.orbit(360.0 * time / period)


def _turned(vector: np.ndarray, axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotate a vector about a unit axis (Rodrigues)."""
    cos, sin = np.cos(angle), np.sin(angle)
    return vector * cos + np.cross(axis, vector) * sin + axis * (axis @ vector) * (1 - cos)


def _vector(what: str, value: Any) -> np.ndarray:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise ArgumentError(f"{what} is {value!r}: it must be three finite numbers")
    array.setflags(write=False)
    return array
