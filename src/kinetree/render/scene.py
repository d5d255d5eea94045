"""What is in a picture: primitives with sizes, poses and colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError
from ..model.shapes import rotation_of_z
from . import layout as at
from .palette import body_colors
from .place import extent, place_shapes

if TYPE_CHECKING:
    from ..model.model import Model

IDENTITY = np.concatenate((np.eye(3).ravel(), np.zeros(3)))
GREY = (0.6, 0.6, 0.62)


class Scene:
    """Primitives as arrays, one row each; everything may be changed between two pictures.

    `kinds` int (n,): 0 box, 1 sphere, 2 capsule. `sizes` (n, 3) [m]: box: edge lengths; sphere: radius; capsule:
    radius, length along its z axis. `poses` (n, 12): rotation (row-major) and position [m] in the world. `colors`
    (n, 3): sRGB in 0..1. `owners` int (n,): the body that a primitive belongs to, -1 for none; `placements` (n, 12)
    is its pose in that body. `floor` is the height of a horizontal plane among the shapes [m], or None.
    """

    def __init__(
        self,
        kinds: Any = (),
        sizes: Any = (),
        poses: Any = (),
        colors: Any = None,
        *,
        owners: Any = None,
        placements: Any = None,
        floor: float | None = None,
    ) -> None:
        """Take primitives as arrays; `poses` may also have shape (n, 4, 4)."""
        self.kinds = np.array(kinds, dtype=np.int64).reshape(-1)
        n = len(self.kinds)
        self.sizes = _rows("sizes", sizes, n, 3)
        poses = np.array(poses, dtype=float)
        if poses.ndim == 3 and poses.shape[1:] == (4, 4):
            poses = np.concatenate((poses[:, :3, :3].reshape(-1, 9), poses[:, :3, 3]), axis=1)
        self.poses = _rows("poses", poses, n, 12)
        self.colors = _rows("colors", np.tile(GREY, (n, 1)) if colors is None else colors, n, 3)
        self.owners = np.full(n, -1, dtype=np.int64) if owners is None else np.array(owners, dtype=np.int64)
        self.placements = np.tile(IDENTITY, (n, 1)) if placements is None else _rows("placements", placements, n, 12)
        self.floor = floor
        if n and not np.isin(self.kinds, (at.BOX, at.SPHERE, at.CAPSULE)).all():
            raise ArgumentError("the kinds of a scene's primitives must be 0 (box), 1 (sphere) or 2 (capsule)")

    @classmethod
    def of(cls, model: Model, colors: Any = None) -> Scene:
        """Collect the shapes of a model, with its bodies at the origin; `place` moves them.

        Bodies without any shape get thin capsules from their origin to those of their children. `colors` (nbodies, 3)
        overrides all colours; NaN rows stay as they are.
        """
        from .stand_in import stand_in_shapes

        solid = model.shape_kinds != at.PLANE
        bodies, kinds, sizes, placements = stand_in_shapes(model)
        owners = np.concatenate((model.shape_bodies[solid], bodies))
        given = np.concatenate((model.shape_colors[solid], np.full((len(bodies), 3), np.nan)))
        defaults = body_colors(model)[owners]
        scene = cls(
            np.concatenate((model.shape_kinds[solid], kinds)),
            np.concatenate((model.shape_sizes[solid], sizes)),
            np.tile(IDENTITY, (len(owners), 1)),
            np.where(np.isnan(given), defaults, given),
            owners=owners,
            placements=np.concatenate((model.shape_placements[solid], placements)),
        )
        for k in np.flatnonzero(~solid):
            scene._add_plane(model, int(k))
        scene.plain_colors = scene.colors.copy()
        scene.recolor(colors, model.nbodies)
        return scene

    def _add_plane(self, model: Model, k: int) -> None:
        """Take a level plane that is fixed to the world as the floor; a tilted or moving one becomes a wide plate."""
        body, place = int(model.shape_bodies[k]), model.shape_placements[k]
        chain = [body] if body >= 0 else []
        while chain and model.parents[chain[-1]] >= 0:
            chain.append(int(model.parents[chain[-1]]))
        still = all(model.body_links[i] < 0 for i in chain)
        turn, position = place[:9].reshape(3, 3), place[9:]
        for i in chain:
            fixed = model.placements[i]
            turn = fixed[:9].reshape(3, 3) @ turn
            position = fixed[:9].reshape(3, 3) @ position + fixed[9:]
        if still and turn[2, 2] > 1 - 1e-9 and self.floor is None:
            self.floor = float(position[2])
            return
        wide = 10.0
        centre = place[9:] - place[:9].reshape(3, 3)[:, 2] * 0.005 * wide
        color = np.where(np.isnan(model.shape_colors[k]), GREY, model.shape_colors[k])
        self._append(at.BOX, (wide, wide, 0.01 * wide), np.concatenate((place[:9], centre)), color, body)

    plain_colors: np.ndarray

    def recolor(self, colors: Any, nbodies: int | None = None) -> None:
        """Give every body a colour, sRGB in 0..1, shape (nbodies, 3); None and NaN rows: its own."""
        plain = getattr(self, "plain_colors", self.colors)
        if colors is None:
            self.colors = plain.copy()
            return
        wanted = np.array(colors, dtype=float)
        least = int(self.owners.max(initial=-1)) + 1
        if wanted.ndim != 2 or wanted.shape[1] != 3 or len(wanted) < least or nbodies not in (None, len(wanted)):
            raise ArgumentError(f"colors has the shape {wanted.shape}: it must be ({nbodies or least}, 3), RGB in 0..1")
        if np.isinf(wanted).any() or (wanted < 0).any() or (wanted > 1).any():
            raise ArgumentError("colors must be RGB in 0..1 (divide bytes by 255), NaN for a body's own colour")
        mine = np.where((self.owners >= 0)[:, None], wanted[self.owners], np.nan)
        self.colors = np.where(np.isnan(mine), plain, mine)

    def place(self, body_poses: Any) -> None:
        """Move the primitives with their bodies; `body_poses` (nbodies, 4, 4) are world poses."""
        poses = np.ascontiguousarray(body_poses, dtype=float)
        if poses.ndim != 3 or poses.shape[1:] != (4, 4) or len(poses) <= self.owners.max(initial=-1):
            raise ArgumentError(f"the body poses have the shape {poses.shape}: it must be (nbodies, 4, 4)")
        place_shapes(self.owners, self.placements, poses, self.poses)

    # --- adding things by hand

    def add_box(self, size: Any, pose: Any = None, color: Any = GREY) -> Scene:
        """Add a box with full edges `size` [m]; `pose` is anything that a placement of a shape may be."""
        return self._append(at.BOX, size, _pose(pose), color)

    def add_sphere(self, center: Any, radius: float, color: Any = GREY) -> Scene:
        """Add a ball."""
        return self._append(at.SPHERE, (radius, 0, 0), _pose(center), color)

    def add_capsule(self, start: Any, end: Any, radius: float, color: Any = GREY) -> Scene:
        """Add a capsule whose half balls are centred on `start` and `end`."""
        a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
        length = float(np.linalg.norm(b - a))
        turn = rotation_of_z((b - a) / length) if length > 0 else np.eye(3)
        return self._append(at.CAPSULE, (radius, length, 0), _pose((turn, (a + b) / 2)), color)

    def add_arrow(self, start: Any, vector: Any, radius: float, color: Any = GREY) -> Scene:
        """Add an arrow from `start` along `vector` (for a force or a velocity); its head is a row of balls."""
        a, d = np.asarray(start, dtype=float), np.asarray(vector, dtype=float)
        length = float(np.linalg.norm(d))
        if length == 0:
            return self
        head = min(5 * radius, 0.6 * length)
        self.add_capsule(a, a + d * max(1 - head / length, 1e-9), radius, color)
        for s in np.linspace(0, 1, 25):
            wide = 2.4 * radius * (1 - s) + 0.15 * radius
            self.add_sphere(a + d * (1 - head / length * (1 - s)), wide, color)
        return self

    def _append(self, kind: int, sizes: Any, pose: np.ndarray, color: Any, owner: int = -1) -> Scene:
        size = np.array(sizes, dtype=float)
        if size.shape != (3,) or not np.isfinite(size).all() or (size < 0).any() or size[0] == 0:
            raise ArgumentError(f"a primitive has the sizes {sizes!r}: they must be positive lengths [m]")
        self.kinds = np.append(self.kinds, kind)
        self.sizes = np.vstack((self.sizes, size))
        self.poses = np.vstack((self.poses, pose))
        self.placements = np.vstack((self.placements, pose))
        self.colors = np.vstack((self.colors, _rows("color", [color], 1, 3)))
        self.owners = np.append(self.owners, owner)
        return self

    def __len__(self) -> int:
        """Count the primitives."""
        return len(self.kinds)

    def bounds(self) -> np.ndarray:
        """Return the lower and upper corner of the box, along the world axes, that holds everything [m], (2, 3)."""
        if not len(self):
            return np.array([[-0.5] * 3, [0.5] * 3])
        corners = np.empty((2, 3))
        extent(self.kinds, self.sizes, self.poses, corners)
        return corners

    def outline(self) -> np.ndarray:
        """Return the farthest point of the scene in each of `OUTLINE` directions [m]: enough to frame a camera by."""
        if not len(self):
            return self.bounds()
        turns = self.poses[:, :9].reshape(-1, 3, 3)
        box = (self.kinds == at.BOX)[:, None, None]
        half = 0.5 * turns * self.sizes[:, None, :]  # columns: half edges of boxes
        half[:, :, :2] *= box
        half[:, :, 2] = np.where(box[:, :, 0], half[:, :, 2], 0.0)
        along = 0.5 * turns[:, :, 2] * self.sizes[:, 1:2] * (self.kinds == at.CAPSULE)[:, None]
        radii = np.where(box[:, 0, 0], 0.0, self.sizes[:, 0])
        points = np.empty((len(DIRECTIONS), 3))
        for i, d in enumerate(DIRECTIONS):
            best = int(np.argmax(self.poses[:, 9:] @ d + np.abs(d @ half).sum(1) + np.abs(along @ d) + radii))
            points[i] = self.poses[best, 9:] + half[best] @ np.sign(d @ half[best])
            points[i] += along[best] * np.sign(along[best] @ d) + radii[best] * d
        return points


def _directions(n: int) -> np.ndarray:
    """Spread `n` unit vectors evenly over the sphere (Fibonacci lattice), after the six of the axes."""
    z = 1 - (2 * np.arange(n) + 1) / n
    turn = np.pi * (1 + 5**0.5) * np.arange(n)
    flat = np.sqrt(1 - z * z)
    return np.concatenate((np.eye(3), -np.eye(3), np.stack((flat * np.cos(turn), flat * np.sin(turn), z), axis=1)))


OUTLINE = 150
DIRECTIONS = _directions(OUTLINE - 6)


def _pose(value: Any) -> np.ndarray:
    from ..model.shapes import as_pose

    turn, position = as_pose(value, "the pose of a primitive")
    return np.concatenate((turn.ravel(), position))


def _rows(what: str, values: Any, n: int, width: int) -> np.ndarray:
    array = np.ascontiguousarray(np.array(values, dtype=float).reshape(-1, width) if n else np.zeros((0, width)))
    if array.shape != (n, width):
        raise ArgumentError(f"a scene of {n} primitives got {what} of shape {np.shape(values)}, not ({n}, {width})")
    return array
