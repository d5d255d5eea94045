"""Closed loops: points, axes and bodies that stay together, and rods between points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..arguments import as_number, as_vector
from ..dynamics import body_poses
from ..errors import ArgumentError
from ..kernels import conditions as c
from ..model.model import Model
from ..model.shapes import rotation_of_z
from .contact import as_row, compose

__all__ = ["Loop", "PointAcceleration", "PointAttachment"]

MASKS = {"point": 0b111000, "hinge": 0b111011, "weld": 0b111111, "orientation": 0b000111, "slider": 0b011111}
LINEAR = {"x": 0b001000, "y": 0b010000, "z": 0b100000}


@dataclass(frozen=True)
class Loop:
    """Two bodies stay together (`body_b` None: the world), with no drift and no springs.

    `kind` is "point", two points that coincide; "hinge", which leaves a turn about `axis`; "slider", a shift along
    `axis`; "weld"; "orientation", which leaves all shifts; or "rod", a constant distance (`length`; None: as it is at
    the start). `point_a` is in body A's frame; `point_b` in B's, where None is the place of `point_a` at the start.
    `axis` is in A's frame. `directions` (such as "xz") keeps a "point" only along axes of B.
    """

    body_a: str | int
    body_b: str | int | None = None
    point_a: Any = (0.0, 0.0, 0.0)
    point_b: Any = None
    kind: Literal["point", "hinge", "slider", "weld", "orientation", "rod"] = "point"
    axis: Any = (0.0, 0.0, 1.0)
    length: float | None = None
    directions: str = "xyz"

    def __post_init__(self) -> None:
        if self.kind not in (*MASKS, "rod"):
            raise ArgumentError(f"kind of a Loop is {self.kind!r}: use {', '.join(map(repr, (*MASKS, 'rod')))}")
        if not self.directions or not set(self.directions) <= set("xyz"):
            raise ArgumentError(f"directions of a Loop are {self.directions!r}: use letters of 'xyz'")
        if self.length is not None and not 0 < as_number(self.length, "length of a Loop") < np.inf:
            raise ArgumentError(f"length of a Loop is {self.length}: it must be positive")

    def row(self, model: Model, q: np.ndarray) -> tuple[list[int], list[float]]:
        """Return the row of the kernels' table; `q` is the start, where frames that are not given coincide."""
        poses = body_poses(model, q)
        a = model.body_index(self.body_a)
        b = -1 if self.body_b is None else model.body_index(self.body_b)
        if b == a:
            raise ArgumentError(f"a Loop connects body {model.names[a]!r} with itself: name another one")
        axis = as_vector(self.axis, "axis of a Loop")
        size = float(np.linalg.norm(axis))
        if size == 0:
            raise ArgumentError("axis of a Loop is zero: give a direction")
        point_a = as_vector(self.point_a, "point_a of a Loop")
        turn_a = rotation_of_z(axis / size) if self.kind in ("hinge", "slider") else np.eye(3)
        if self.kind == "point" and self.directions != "xyz":
            turn_a = poses[a][:3, :3].T @ (np.eye(3) if b < 0 else poses[b][:3, :3])
        frame_a = np.eye(4)
        frame_a[:3, :3], frame_a[:3, 3] = turn_a, point_a
        world_b = np.eye(4) if b < 0 else poses[b]
        frame_b = np.linalg.solve(world_b, poses[a] @ frame_a)
        if self.point_b is not None:
            frame_b[:3, 3] = as_vector(self.point_b, "point_b of a Loop")
        links = [_link(model, a), _link(model, b)]
        if links[0] == links[1]:
            raise ArgumentError(
                f"the Loop on body {model.names[a]!r} connects parts that cannot move against each other: remove it"
            )
        mask = 0b001000 if self.kind == "rod" else MASKS[self.kind]
        if self.kind == "point":
            mask = sum(LINEAR[letter] for letter in set(self.directions))
        kind = c.ROD if self.kind == "rod" else c.FRAMES
        length = self.length
        if length is None:
            length = float(np.linalg.norm((poses[a] @ frame_a)[:3, 3] - (world_b @ frame_b)[:3, 3]))
            if self.kind == "rod" and length < 1e-9:
                raise ArgumentError("a Loop of kind 'rod' has no length: give point_b, or use kind='point'")
        return [*links, mask, kind], [*_in_link(model, a, frame_a), *_in_link(model, b, frame_b), length, 0.0, 0.0, 0.0]


@dataclass(frozen=True)
class PointAttachment:
    """A `point` of a body stays at the world's point `anchor` (None: where it is at the start)."""

    body: str | int
    point: Any = (0.0, 0.0, 0.0)
    anchor: Any = None

    def row(self, model: Model, q: np.ndarray) -> tuple[list[int], list[float]]:
        """Return the row of the kernels' table."""
        return Loop(self.body, None, self.point, self.anchor).row(model, q)


@dataclass(frozen=True)
class PointAcceleration:
    """A `point` of a body accelerates at `value` [m/s2] along the world's `direction`.

    With `other` (and `other_point`), it is the acceleration of the one point against the other. `direction` None means
    all three, and `value` is a vector. With `angular` it is the angular acceleration [rad/s2] of the body.
    """

    body: str | int
    point: Any = (0.0, 0.0, 0.0)
    direction: Any = None
    value: Any = 0.0
    other: str | int | None = None
    other_point: Any = (0.0, 0.0, 0.0)
    angular: bool = False

    def directions(self) -> list[tuple[np.ndarray, float]]:
        """Return unit directions and the acceleration along each."""
        if self.direction is None:
            value = np.asarray(self.value, dtype=float)
            values = as_vector(np.full(3, float(value)) if value.ndim == 0 else value, "value of a PointAcceleration")
            return [(unit, float(v)) for unit, v in zip(np.eye(3), values, strict=True)]
        unit = as_vector(self.direction, "direction of a PointAcceleration")
        size = float(np.linalg.norm(unit))
        if size == 0:
            raise ArgumentError("direction of a PointAcceleration is zero: give a direction, or None for all three")
        along = as_number(self.value, "value of a PointAcceleration")
        if not np.isfinite(along):
            raise ArgumentError(f"value of a PointAcceleration is {along}: it must be finite")
        return [(unit / size, along)]

    def rows(self, model: Model, q: np.ndarray) -> list[tuple[list[int], list[float]]]:
        """Return the rows of the kernels' table."""
        found = []
        a = model.body_index(self.body)
        b = -1 if self.other is None else model.body_index(self.other)
        frame_a, frame_b = np.eye(4), np.eye(4)
        frame_a[:3, 3] = as_vector(self.point, "point of a PointAcceleration")
        frame_b[:3, 3] = as_vector(self.other_point, "other_point of a PointAcceleration")
        for unit, value in self.directions():
            ints = [_link(model, a), _link(model, b), 0b000001 if self.angular else 0b001000, c.PULL]
            found.append((ints, [*_in_link(model, a, frame_a), *_in_link(model, b, frame_b), value, *unit]))
        return found


def _link(model: Model, body: int) -> int:
    return -1 if body < 0 else int(model.body_links[body])


def _in_link(model: Model, body: int, frame: np.ndarray) -> np.ndarray:
    row = as_row((frame[:3, :3], frame[:3, 3]))
    return row if body < 0 else compose(model.body_poses_in_link[body], row)
