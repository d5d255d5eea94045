"""A rigid body of a soft-constraint world, as the user sees it: about the origin of its own frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import as_finite, as_vector
from ..errors import ArgumentError
from ..kernels import soft_layout as at
from ..model.shapes import Shape, as_pose
from ..typing import Array, ArrayLike

if TYPE_CHECKING:
    from .world import World

GYROSCOPIC = {
    "off": at.GYRO_OFF,
    "explicit": at.GYRO_EXPLICIT,
    "implicit": at.GYRO_IMPLICIT,
    "conserving": at.GYRO_CONSERVING,
}


def rotation_of(quaternion: Array) -> Array:
    """Return the matrix of a unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of(rotation: Array) -> Array:
    """Return the unit quaternion (w, x, y, z), w >= 0, of a rotation matrix."""
    m = rotation
    square = np.array([m[0, 0] + m[1, 1] + m[2, 2], m[0, 0], m[1, 1], m[2, 2]])
    k = int(square.argmax())
    if k == 0:
        q = np.array([1 + square[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
    else:
        a, b, c = k - 1, k % 3, (k + 1) % 3
        q = np.zeros(4)
        q[0] = m[c, b] - m[b, c]
        q[1 + a] = 1 + m[a, a] - m[b, b] - m[c, c]
        q[1 + b], q[1 + c] = m[a, b] + m[b, a], m[a, c] + m[c, a]
    q /= np.linalg.norm(q)
    return q if q[0] >= 0 else -q


def symmetric(matrix: Array) -> Array:
    """Return the six numbers of a symmetric matrix, xx xy xz yy yz zz."""
    return matrix[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]


class Body:
    """A view of one body; numbers are read from the world and written to it."""

    def __init__(self, world: World, index: int, name: str, com: Array, shapes: tuple[Shape, ...]) -> None:
        """Used by `World.add_body`."""
        self.world, self.index, self.name, self.com, self.shapes = world, index, name, com, shapes
        self.collides = True

    def __repr__(self) -> str:
        """Name it."""
        return f"<Body {self.name!r}>"

    @property
    def _state(self) -> Array:
        return self.world.tables["state"][self.index]

    @property
    def _constants(self) -> Array:
        return self.world.tables["bodies"][self.index]

    @property
    def mass(self) -> float:
        """Mass [kg]; infinite where the body is kinematic."""
        inverse = float(self._constants[at.INVERSE_MASS])
        return 1.0 / inverse if inverse > 0 else np.inf

    @property
    def is_kinematic(self) -> bool:
        """Whether the body moves as it is told and no force changes that."""
        return bool(self._constants[at.INVERSE_MASS] == 0)

    @property
    def inertia(self) -> Array:
        """Inertia about the centre of mass, body axes, shape (3, 3) [kg m2]."""
        xx, xy, xz, yy, yz, zz = self._constants[at.INERTIA : at.INERTIA + 6]
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    @property
    def quaternion(self) -> Array:
        """Orientation (w, x, y, z)."""
        return self._state[at.QUATERNION : at.QUATERNION + 4].copy()

    @property
    def rotation(self) -> Array:
        """Orientation as a matrix, body axes to world axes."""
        return rotation_of(self._state[at.QUATERNION : at.QUATERNION + 4])

    @property
    def position(self) -> Array:
        """The origin of the body's frame in the world [m]."""
        return self._state[:3] - self.rotation @ self.com

    @property
    def center(self) -> Array:
        """The centre of mass in the world [m]."""
        return self._state[:3].copy()

    @property
    def pose(self) -> tuple[Array, Array]:
        """Rotation matrix and position of the origin; assigning takes whatever `add_body` does."""
        return self.rotation, self.position

    @pose.setter
    def pose(self, value: Any) -> None:
        turn, place = as_pose(value, f"the pose of body {self.name!r}")
        self._state[at.QUATERNION : at.QUATERNION + 4] = quaternion_of(turn)
        self._state[:3] = place + turn @ self.com

    @property
    def velocity(self) -> Array:
        """[angular velocity; velocity of the origin], world axes [rad/s, m/s]; assigning sets both."""
        omega, v = self._state[at.OMEGA : at.OMEGA + 3], self._state[at.VELOCITY :]
        return np.concatenate((omega, v - np.cross(omega, self.rotation @ self.com)))

    @velocity.setter
    def velocity(self, value: ArrayLike) -> None:
        twist = as_finite(value, (6,), f"the velocity of body {self.name!r}")
        self._state[at.OMEGA : at.OMEGA + 3] = twist[:3]
        self._state[at.VELOCITY :] = twist[3:] + np.cross(twist[:3], self.rotation @ self.com)

    def point_in_world(self, point: ArrayLike) -> Array:
        """Return where a point of the body's frame is in the world [m]."""
        return self.position + self.rotation @ as_vector(point, "point")

    def point_in_body(self, point: ArrayLike) -> Array:
        """Return the coordinates of a point of the world in the body's frame [m]."""
        return self.rotation.T @ (as_vector(point, "point") - self.position)

    def apply(
        self, *, force: ArrayLike = (0, 0, 0), torque: ArrayLike = (0, 0, 0), point: ArrayLike | None = None,
        frame: str = "world",
    ) -> None:  # fmt: skip
        """Add a force [N] at `point` and a torque [N m] for the next call of `step` or `run`.

        `frame` ("world" or "body") is that of all three; without a point the force acts on the centre of mass.
        """
        f, t = as_vector(force, "force"), as_vector(torque, "torque")
        if frame == "body":
            f, t = self.rotation @ f, self.rotation @ t
        elif frame != "world":
            raise ArgumentError(f"frame is {frame!r}: use 'world' or 'body'")
        if point is not None:
            p = as_vector(point, "point")
            p = self.point_in_world(p) if frame == "body" else p
            t = t + np.cross(p - self._state[:3], f)
        self._constants[at.WRENCH : at.WRENCH + 3] += t
        self._constants[at.WRENCH + 3 : at.WRENCH + 6] += f
