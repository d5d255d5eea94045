"""Contacts: what collides with what, how rough and how elastic it is, and shapes that no body can carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..arguments import as_finite, as_number
from ..errors import ArgumentError, ModelError
from ..kernels import geometry as geo
from ..kernels import layout as at
from ..kernels.geometry import Geometry
from ..model.model import Model
from ..model.shapes import Box, Capsule, Plane, Shape, Sphere, as_pose

__all__ = ["Contacts", "HeightField", "Hull"]


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of `points` (n, 3) [m], with its `placement` in the body's frame or in the world."""

    points: Any
    placement: Any = None
    parts: Any = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=float)
        if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4 or not np.isfinite(points).all():
            raise ModelError(f"the points of a Hull have the shape {points.shape}: give at least four finite points")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "placement", as_pose(self.placement, "the placement of a Hull"))
        object.__setattr__(self, "parts", _hull_parts(points))


@dataclass(frozen=True, eq=False)
class HeightField:
    """Ground of `heights` (nx, ny) [m] at points `spacing` (dx, dy) apart, about the middle of its `placement`."""

    heights: Any
    spacing: Any
    placement: Any = None

    def __post_init__(self) -> None:
        heights = np.array(self.heights, dtype=float)
        if heights.ndim != 2 or min(heights.shape) < 2 or not np.isfinite(heights).all():
            raise ModelError(
                f"the heights of a HeightField have the shape {heights.shape}: give at least 2 x 2 numbers"
            )
        spacing = np.broadcast_to(np.asarray(self.spacing, dtype=float), (2,)).copy()
        if not (np.isfinite(spacing).all() and (spacing > 0).all()):
            raise ModelError(f"the spacing of a HeightField is {self.spacing!r}: give positive lengths")
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "spacing", spacing)
        object.__setattr__(self, "placement", as_pose(self.placement, "the placement of a HeightField"))


@dataclass(frozen=True, eq=False)
class Contacts:
    """Bodies do not pass through the ground, through `world`, nor (if `between`) through each other.

    `friction` is Coulomb's coefficient and `restitution` the share of the normal velocity that an impact gives back;
    both may be mappings from names of bodies, with "world" for all that stands still (others have 0.8 and 0). Between
    two bodies holds the geometric mean of the coefficients, and the larger restitution.

    `ground` is a floor at height 0 or at the height given, unless the model has a plane of its own. `world` are shapes
    that stand still and `hulls` convex hulls on bodies, by their names. With `self_collision` the limbs of one tree
    collide too, but neighbours and what overlaps in the neutral pose do not, nor do the pairs of bodies in `exclude`.

    `friction_model` is "cone"; "pyramid", one limit for each tangent; or "direction", where friction acts against the
    sliding alone, and along the last direction of sliding where it sticks (as the paper does).
    """

    friction: float | Mapping[str, float] = 0.8
    restitution: float | Mapping[str, float] = 0.0
    ground: bool | float = True
    self_collision: bool = False
    between: bool = True
    world: Sequence[Any] = ()
    hulls: Mapping[str, Sequence[Hull]] = field(default_factory=dict)
    exclude: Sequence[tuple[str, str]] = ()
    friction_model: Literal["cone", "pyramid", "direction"] = "cone"

    def __post_init__(self) -> None:
        for name, most in (("friction", np.inf), ("restitution", 1.0)):
            given = getattr(self, name)
            values = given.values() if isinstance(given, Mapping) else (given,)
            for value in values:
                number = as_number(value, f"{name} of Contacts")
                if not (0 <= number <= most and np.isfinite(number)):
                    raise ArgumentError(f"{name} of Contacts is {value}: it must be between 0 and {most:g}")
        if self.friction_model not in ("cone", "pyramid", "direction"):
            raise ArgumentError(f"friction_model is {self.friction_model!r}: use 'cone', 'pyramid' or 'direction'")
        for shape in self.world:
            if not isinstance(shape, (Shape, Hull, HeightField)):
                raise ArgumentError(f"{shape!r} in world= is no shape: use kinetree's shapes, Hull or HeightField")
        if not isinstance(self.ground, (bool, np.bool_)) and not np.isfinite(as_number(self.ground, "ground")):
            raise ArgumentError(f"ground is {self.ground!r}: use True, False or a height [m]")


class _Collector:
    """Gathers shapes as rows of the kernels' arrays."""

    def __init__(self) -> None:
        self.ints: list[list[int]] = []
        self.floats: list[np.ndarray] = []
        self.bodies: list[int] = []
        self.vertices: list[np.ndarray] = []
        self.faces: list[np.ndarray] = []
        self.loops: list[np.ndarray] = []
        self.edges: list[np.ndarray] = []
        self.heights: list[np.ndarray] = []
        self.counts = {"vertices": 0, "faces": 0, "edges": 0, "heights": 0}

    def add(self, kind: int, sizes: Any, pose: np.ndarray, link: int, tree: int, body: int, parts: Any = None) -> None:
        """Add a shape at `pose` (12) in its link; `parts` are the corners and faces of a hull, or heights."""
        row, own = [0] * geo.SHAPE_INTS, np.zeros(geo.SHAPE_FLOATS)
        row[geo.LINK], row[geo.KIND], row[geo.TREE] = link, kind, tree
        own[geo.POSE : geo.POSE + 12] = pose
        own[geo.SIZE : geo.SIZE + len(sizes)] = sizes
        if kind == geo.BOX:
            parts = _box_parts(np.asarray(sizes))
        if kind in (geo.BOX, geo.HULL):
            points, faces, loops, edges = parts
            row[geo.VERTS], row[geo.NVERTS] = self._extend("vertices", points)
            row[geo.FACES], row[geo.NFACES] = self._extend("faces", faces)
            row[geo.EDGES], row[geo.NEDGES] = self._extend("edges", edges)
            self.loops.append(loops)
            own[geo.REACH] = np.linalg.norm(points, axis=1).max()
        elif kind == geo.HEIGHTS:
            row[geo.VERTS], _ = self._extend("heights", parts.ravel())
            row[geo.NVERTS], row[geo.NFACES] = parts.shape
            own[geo.SIZE + 2] = parts.max()
        elif kind in (geo.SPHERE, geo.CAPSULE):
            own[geo.REACH] = sizes[0] + (0.5 * sizes[1] if kind == geo.CAPSULE else 0.0)
        self.ints.append(row)
        self.floats.append(own)
        self.bodies.append(body)

    def _extend(self, name: str, rows: np.ndarray) -> tuple[int, int]:
        first = self.counts[name]
        getattr(self, name).append(rows)
        self.counts[name] += len(rows)
        return first, len(rows)

    def geometry(self, excluded: np.ndarray) -> Geometry:
        ints: Any = np.array(self.ints, dtype=np.int64).reshape(-1, geo.SHAPE_INTS)
        fixed: Any = np.isin(ints[:, geo.KIND], (geo.PLANE, geo.HEIGHTS))
        still: Any = np.flatnonzero(fixed)
        movers: Any = np.flatnonzero(~fixed)
        return Geometry(
            ints, np.array(self.floats).reshape(-1, geo.SHAPE_FLOATS), _stack(self.vertices, (0, 3)),
            _stack(self.faces, (0, 4)), _stack(self.loops, (0, geo.LOOP), np.int64),
            _stack(self.edges, (0, 3), np.int64), _stack(self.heights, (0,)), excluded, still, movers,
        )  # fmt: skip


def _stack(parts: list[np.ndarray], empty: tuple[int, ...], dtype: Any = float) -> np.ndarray:
    return np.ascontiguousarray(np.concatenate(parts) if parts else np.zeros(empty), dtype=dtype)


def compose(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the pose b in the frame a as one, each rotation (row-major) and position, (12)."""
    turn = a[:9].reshape(3, 3)
    return np.concatenate(((turn @ b[:9].reshape(3, 3)).ravel(), turn @ b[9:] + a[9:]))


def as_row(placement: Any) -> np.ndarray:
    """Return a placement (rotation, position) as twelve numbers."""
    return np.concatenate((np.asarray(placement[0]).ravel(), placement[1]))


def build_geometry(model: Model, contacts: Contacts | None) -> tuple[Geometry, np.ndarray]:
    """Return the shapes of a model and its world, and the body of each (-1: the world), the world's first."""
    found = _Collector()
    if contacts is None:
        return found.geometry(np.zeros(0, dtype=np.int64)), np.zeros(0, dtype=np.int64)
    for shape in contacts.world:
        _add_world(found, shape)
    still = _links(model) < 0
    planes = (model.shape_kinds == geo.PLANE) & still
    if contacts.ground is not False and not (contacts.ground is True and planes.any()):
        height = 0.0 if contacts.ground is True else float(contacts.ground)
        found.add(geo.PLANE, (), as_row((np.eye(3), np.array([0.0, 0.0, height]))), -1, -1, -1)
    for k in np.argsort(~still, kind="stable"):
        _add_own(found, model, int(k))
    for name, hulls in contacts.hulls.items():
        body = model.body_index(name)
        for hull in hulls:
            pose = compose(model.body_poses_in_link[body], as_row(hull.placement))
            link = int(model.body_links[body])
            tree = -1 if link < 0 else int(model.topology[link, at.TREE])
            found.add(geo.HULL, (), pose, link, tree, body, hull.parts)
    bodies = np.array(found.bodies, dtype=np.int64)
    _surfaces(found, model, bodies, contacts)
    return found.geometry(_excluded(found, model, bodies, contacts)), bodies


def _links(model: Model) -> np.ndarray:
    links = np.full(len(model.shape_bodies), -1, dtype=np.int64)
    own = model.shape_bodies >= 0
    links[own] = model.body_links[model.shape_bodies[own]]
    return links


def _add_own(found: _Collector, model: Model, k: int) -> None:
    body, kind = int(model.shape_bodies[k]), int(model.shape_kinds[k])
    pose, link = model.shape_placements[k], -1
    if body >= 0:
        link = int(model.body_links[body])
        pose = compose(model.body_poses_in_link[body], pose)
    tree = -1 if link < 0 else int(model.topology[link, at.TREE])
    found.add(kind, model.shape_sizes[k], pose, link, tree, body if link >= 0 else -1)


def _add_world(found: _Collector, shape: Any) -> None:
    pose = as_row(shape.placement)
    if isinstance(shape, Hull):
        found.add(geo.HULL, (), pose, -1, -1, -1, shape.parts)
    elif isinstance(shape, HeightField):
        found.add(geo.HEIGHTS, shape.spacing, pose, -1, -1, -1, shape.heights)
    else:
        kinds: dict[type, int] = {Box: geo.BOX, Sphere: geo.SPHERE, Capsule: geo.CAPSULE, Plane: geo.PLANE}
        found.add(kinds[type(shape)], shape.sizes, pose, -1, -1, -1)


def _surfaces(found: _Collector, model: Model, bodies: np.ndarray, contacts: Contacts) -> None:
    for column, given, usual in ((geo.MU, contacts.friction, 0.8), (geo.BOUNCE, contacts.restitution, 0.0)):
        if not isinstance(given, Mapping):
            for row in found.floats:
                row[column] = float(given)
            continue
        by_body = {-1 if name == "world" else model.body_index(name): float(value) for name, value in given.items()}
        for body, row in zip(bodies, found.floats, strict=True):
            row[column] = by_body.get(int(body), usual)


def _excluded(found: _Collector, model: Model, bodies: np.ndarray, contacts: Contacts) -> np.ndarray:
    """Return the keys of the pairs that do not collide: neighbours in a tree, and those that the user names."""
    n = len(bodies)
    by_link: dict[int, list[int]] = {}
    by_body: dict[int, list[int]] = {}
    for k, row in enumerate(found.ints):
        by_body.setdefault(int(bodies[k]), []).append(k)
        if row[geo.LINK] >= 0:
            by_link.setdefault(row[geo.LINK], []).append(k)
    keys: set[int] = set()
    for link, own in by_link.items():
        up = int(model.topology[link, at.PARENT])
        while up >= 0 and up not in by_link:
            up = int(model.topology[up, at.PARENT])
        others = by_link.get(up, [])
        keys |= {min(a, b) * n + max(a, b) for a in own for b in others}
    for pair in contacts.exclude:
        if len(pair) != 2:
            raise ArgumentError(f"exclude of Contacts has {pair!r}: give pairs of names of bodies")
        a, b = (model.body_index(name) for name in pair)
        keys |= {min(i, j) * n + max(i, j) for i in by_body.get(a, ()) for j in by_body.get(b, ())}
    return np.array(sorted(keys), dtype=np.int64)


def _box_parts(size: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return corners, faces, loops and edges of a box; the first edge of each direction is marked."""
    half = size / 2
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    faces: list[list[float]] = []
    loops = np.zeros((6, geo.LOOP), dtype=np.int64)
    for axis in range(3):
        for side in (-1.0, 1.0):
            normal = np.zeros(3)
            normal[axis] = side
            corners = np.flatnonzero(signs[:, axis] == side)
            loops[len(faces)] = _loop(signs * half, corners, normal)
            faces.append([*normal, half[axis]])
    edges = []
    for axis in range(3):
        step = 4 >> axis
        firsts = [k for k in range(8) if signs[k, axis] < 0]
        edges += [[k, k + step, int(k == firsts[0])] for k in firsts]
    return signs * half, np.array(faces), loops, np.array(edges, dtype=np.int64)


def _loop(points: np.ndarray, corners: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return the corners of a face in counterclockwise order, after their number."""
    if len(corners) > geo.MANY // 2:
        raise ModelError(f"a face of a Hull has {len(corners)} corners: at most {geo.MANY // 2} are possible")
    centre = points[corners].mean(axis=0)
    first = points[corners[0]] - centre
    first -= (first @ normal) * normal
    second = np.cross(normal, first)
    angles = np.arctan2((points[corners] - centre) @ second, (points[corners] - centre) @ first)
    row = np.zeros(geo.LOOP, dtype=np.int64)
    row[0] = len(corners)
    row[1 : 1 + len(corners)] = corners[np.argsort(angles)]
    return row


def _hull_parts(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return corners, faces (coplanar triangles as one), loops and edges of a convex hull."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except QhullError:
        raise ModelError("the points of a Hull are all in one plane: a hull needs a volume") from None
    corners = points[hull.vertices]
    planes: list[np.ndarray] = []
    for equation in hull.equations:
        if not any(np.abs(equation - other).max() < 1e-9 + 1e-6 * np.abs(equation).max() for other in planes):
            planes.append(equation)
    faces = np.array([[*plane[:3], -plane[3]] for plane in planes])
    size = float(np.ptp(corners, axis=0).max())
    loops = np.zeros((len(planes), geo.LOOP), dtype=np.int64)
    for k, plane in enumerate(planes):
        on = np.flatnonzero(np.abs(corners @ plane[:3] + plane[3]) < 1e-6 * size)
        loops[k] = _loop(corners, on, plane[:3])
    pairs: set[tuple[int, int]] = set()
    for row in loops:
        own = row[1 : 1 + row[0]]
        pairs |= {(int(min(a, b)), int(max(a, b))) for a, b in zip(own, np.roll(own, -1), strict=True)}
    edges: list[list[int]] = []
    seen: list[np.ndarray] = []
    for a, b in sorted(pairs):
        direction = (corners[b] - corners[a]) / np.linalg.norm(corners[b] - corners[a])
        new = not any(abs(abs(direction @ other) - 1) < 1e-9 for other in seen)
        if new:
            seen.append(direction)
        edges.append([a, b, int(new)])
    return as_finite(corners, corners.shape, "the corners of a Hull"), faces, loops, np.array(edges, dtype=np.int64)
