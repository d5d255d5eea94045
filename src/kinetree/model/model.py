"""The model: a frozen struct of arrays, compiled from a description."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from .._late import call
from ..errors import ArgumentError, unknown_name
from ..kernels import layout as at
from .coordinates import CoordinateMap
from .description import Body, Description
from .joints import JOINT_KINDS, Joint, Universal
from .shapes import SHAPE_KINDS, Shape


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """Rigid bodies and the joints between them. Made by `ModelBuilder.build()`, `kinetree.load()` or `kinetree.models`.

    Bodies are numbered with parents before children; body `i` hangs on `parents[i]` (-1: the world) by its joint.
    `njoints` counts the joints that move; a welded body has none. Arrays cannot be written to.
    """

    name: str
    names: tuple[str, ...]
    """Names of the bodies, shape [nbodies]."""
    parents: np.ndarray
    """Body index of the parent, -1 for the world, shape [nbodies]."""
    body_joint_names: tuple[str, ...]
    """Name of each body's joint, the welds too, shape [nbodies]."""
    joint_kinds: np.ndarray
    """Kind of each body's joint as in `kernels/layout.py`, shape [nbodies]."""
    joint_axes: np.ndarray
    """First axis, second axis and pitch of each body's joint, shape [nbodies, 7]."""
    placements: np.ndarray
    """Rotation (row-major) and position of each joint in the parent body, shape [nbodies, 12]."""
    masses: np.ndarray
    """Mass of each body [kg], shape [nbodies]."""
    coms: np.ndarray
    """Centre of mass in body axes [m], shape [nbodies, 3]."""
    inertias: np.ndarray
    """Inertia about the centre of mass in body axes [kg m2], shape [nbodies, 3, 3]."""
    q_starts: np.ndarray
    """First coordinate of each body's joint, and nq at the end, shape [nbodies + 1]."""
    v_starts: np.ndarray
    """First velocity of each body's joint, and nv at the end, shape [nbodies + 1]."""
    shape_bodies: np.ndarray
    """The body of each shape, shape [nshapes]."""
    shape_kinds: np.ndarray
    """0 box, 1 sphere, 2 capsule, 3 plane, shape [nshapes]."""
    shape_sizes: np.ndarray
    """Box: edge lengths; sphere: radius; capsule: radius, length [m], shape [nshapes, 3]."""
    shape_placements: np.ndarray
    """Rotation (row-major) and position of each shape in its body, shape [nshapes, 12]."""
    shape_colors: np.ndarray
    """RGB in 0..1, NaN where not given, shape [nshapes, 3]."""
    shape_densities: np.ndarray
    """Density [kg/m3], shape [nshapes]."""
    marker_names: tuple[str, ...]
    """Names of the points that are marked on bodies, shape [nmarkers]."""
    marker_bodies: np.ndarray
    """The body of each marker, shape [nmarkers]."""
    marker_offsets: np.ndarray
    """Its position in the body [m], shape [nmarkers, 3]."""
    warnings: tuple[str, ...]
    """What the source of the model said that the model does not represent."""
    topology: np.ndarray
    """The links, as in `kernels/layout.py`, shape [njoints, 8]."""
    constants: np.ndarray
    """Their constants, shape [njoints, 32]."""
    dofs: np.ndarray
    """What each degree of freedom does by itself, shape [nv, 8]."""
    body_links: np.ndarray
    """The link that each body is part of, -1 for the world, shape [nbodies]."""
    body_poses_in_link: np.ndarray
    """Rotation (row-major) and position of each body in its link, shape [nbodies, 12]."""
    coordinate_names: tuple[str, ...] = ()
    """Names of the coordinates that the joints follow (OpenSim's); empty where a joint is moved by `q` alone."""
    coordinate_rows: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    """Who follows which coordinate by which pieces, as in `kernels/coordinates.py`, shape [ncoordinates + nv, 3]."""
    coordinate_pieces: np.ndarray = field(default_factory=lambda: np.zeros((0, 10)))
    """Pieces of the functions that they follow, shape [npieces, 10]."""
    coordinate_values: np.ndarray = field(default_factory=lambda: np.zeros((0, 4)))
    """Default, lower and upper limit of each coordinate, and whether it is a rotation, shape [ncoordinates, 4]."""
    _pool: list[Any] = field(default_factory=list, compare=False)

    def __post_init__(self) -> None:
        """Make every array read-only."""
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    # --- sizes and names

    @cached_property
    def nbodies(self) -> int:
        """Number of bodies (the world is none)."""
        return len(self.names)

    @cached_property
    def njoints(self) -> int:
        """Number of joints that move."""
        return self.topology.shape[0]

    @cached_property
    def nq(self) -> int:
        """Number of coordinates in `q`."""
        return int(self.q_starts[-1])

    @cached_property
    def nv(self) -> int:
        """Number of velocities in `v`."""
        return int(self.v_starts[-1])

    @property
    def total_mass(self) -> float:
        """Mass of all bodies [kg]."""
        return float(self.masses.sum())

    @cached_property
    def joint_bodies(self) -> np.ndarray:
        """The bodies whose joints move, in the order of `joint_names`, shape [njoints]."""
        return np.flatnonzero(self.joint_kinds != at.FIXED)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints that move, in the order in which they stand in `q` and `v`."""
        return tuple(self.body_joint_names[body] for body in self.joint_bodies)

    @cached_property
    def _body_index(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}

    @cached_property
    def _joint_index(self) -> dict[str, int]:
        return {name: int(body) for name, body in zip(self.joint_names, self.joint_bodies, strict=True)}

    def body_index(self, body: str | int) -> int:
        """Return the number of a body given by name (or number); an unknown name is an error with the nearest names."""
        if isinstance(body, str):
            if body not in self._body_index:
                raise unknown_name("body", body, self.names)
            return self._body_index[body]
        if not 0 <= int(body) < self.nbodies:
            raise ArgumentError(f"body {body} is out of range: the model has {self.nbodies} bodies")
        return int(body)

    def joint_body(self, joint: str) -> int:
        """Return the number of the body that the moving joint of this name carries."""
        if joint not in self._joint_index:
            raise unknown_name("moving joint", joint, self.joint_names)
        return self._joint_index[joint]

    def q_slice(self, joint: str) -> slice:
        """Where the coordinates of a joint stand in `q`."""
        body = self.joint_body(joint)
        return slice(int(self.q_starts[body]), int(self.q_starts[body + 1]))

    def v_slice(self, joint: str) -> slice:
        """Where the velocities of a joint stand in `v`."""
        body = self.joint_body(joint)
        return slice(int(self.v_starts[body]), int(self.v_starts[body + 1]))

    def dof_indices(self, joints: Iterable[str]) -> np.ndarray:
        """Indices in `v` of all degrees of freedom of the named joints, in that order."""
        slices = [self.v_slice(joint) for joint in joints]
        return np.concatenate([np.arange(s.start, s.stop) for s in slices] or [np.zeros(0, dtype=int)])

    @cached_property
    def v_joints(self) -> np.ndarray:
        """The joint (index in `joint_names`) of each degree of freedom, shape [nv]."""
        return np.repeat(np.arange(self.njoints), np.diff(self.v_starts)[self.joint_bodies])

    @property
    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper limit of each degree of freedom, infinite where there is none, shapes [nv]."""
        return self.dofs[:, at.LOWER], self.dofs[:, at.UPPER]

    def joint(self, body: int) -> Joint:
        """The joint of body number `body`, as the user would write it."""
        kind = JOINT_KINDS[int(self.joint_kinds[body])]
        axes = self.joint_axes[body]
        if kind is Universal:
            return Universal(axes[:3].tolist(), axes[3:6].tolist())
        values: dict[str, Any] = {}
        if self.joint_kinds[body] in (at.REVOLUTE, at.PRISMATIC, at.HELICAL):
            values["axis"] = axes[:3].tolist()
        if self.joint_kinds[body] == at.HELICAL:
            values["pitch"] = float(axes[6])
        return kind(**values)

    # --- states

    def neutral(self) -> np.ndarray:
        """Return the configuration in which every coordinate is 0 and every quaternion the identity, shape [nq]."""
        q = np.zeros(self.nq)
        quaternions = (self.joint_kinds == at.SPHERICAL) | (self.joint_kinds == at.FREE)
        q[self.q_starts[:-1][quaternions]] = 1.0
        return q

    def random_state(self, seed: int | None = 0) -> tuple[np.ndarray, np.ndarray]:
        """Return a random configuration and velocity.

        Angles are uniform in ±pi (within finite limits where a joint has them), rotations uniform, translations and
        velocities normal with a deviation of 1.
        """
        rng = np.random.default_rng(seed)
        q, v = self.neutral(), rng.normal(size=self.nv)
        starts = self.q_starts[:-1]
        for kind in np.unique(self.joint_kinds):
            bodies = np.flatnonzero(self.joint_kinds == kind)
            at_q = starts[bodies]
            if kind in (at.REVOLUTE, at.HELICAL, at.UNIVERSAL):
                for k in range(2 if kind == at.UNIVERSAL else 1):
                    low, high = (limit[self.v_starts[bodies] + k] for limit in self.limits)
                    low, high = np.where(np.isfinite(low), low, -np.pi), np.where(np.isfinite(high), high, np.pi)
                    q[at_q + k] = low + (high - low) * rng.random(len(bodies))
            elif kind in (at.SPHERICAL, at.FREE):
                turns = rng.normal(size=(len(bodies), 4))
                turns /= np.linalg.norm(turns, axis=1, keepdims=True)
                q[at_q[:, None] + np.arange(4)] = turns
                if kind == at.FREE:
                    q[at_q[:, None] + np.arange(4, 7)] = rng.normal(size=(len(bodies), 3))
            elif kind == at.PRISMATIC:
                low, high = (limit[self.v_starts[bodies]] for limit in self.limits)
                both = np.isfinite(low) & np.isfinite(high)
                inside = np.where(both, low, 0) + np.where(both, high - low, 0) * rng.random(len(bodies))
                q[at_q] = np.where(both, inside, rng.normal(size=len(bodies)))
            elif kind == at.PLANAR:
                q[at_q] = rng.uniform(-np.pi, np.pi, len(bodies))
                q[at_q[:, None] + np.arange(1, 3)] = rng.normal(size=(len(bodies), 2))
        return q, v

    # --- other forms of the same model

    def description(self) -> Description:
        """Return the model as the bodies that a builder would take: to change something and build again."""
        shapes: dict[int, list[Shape]] = {}
        for k, body in enumerate(self.shape_bodies):
            shapes.setdefault(int(body), []).append(self._shape(k))
        markers: dict[int, dict[str, np.ndarray]] = {}
        for name, body, offset in zip(self.marker_names, self.marker_bodies, self.marker_offsets, strict=True):
            markers.setdefault(int(body), {})[name] = offset.copy()
        bodies = []
        for i, name in enumerate(self.names):
            own = self.dofs[self.v_starts[i] : self.v_starts[i + 1]]
            columns: dict[str, Any] = {}
            if own.size:
                names = ("armature", "damping", "friction", "stiffness", "rest")
                columns = {key: own[:, k].copy() for k, key in enumerate(names)}
                columns |= {"effort": own[:, at.EFFORT].copy()}
                columns |= {"limits": (own[:, at.LOWER].copy(), own[:, at.UPPER].copy())}
            placement = (self.placements[i, :9].reshape(3, 3).copy(), self.placements[i, 9:].copy())
            bodies.append(
                Body(
                    name, None if self.parents[i] < 0 else self.names[self.parents[i]], self.joint(i), placement,
                    float(self.masses[i]), self.coms[i].copy(), self.inertias[i].copy(), tuple(shapes.get(i, ())),
                    markers.get(i, {}), self.body_joint_names[i], **columns,
                )
            )  # fmt: skip
        return Description(bodies, self.name, self.warnings, self.coordinates)

    @property
    def coordinates(self) -> CoordinateMap | None:
        """What moves the joints, where they follow coordinates; None where `q` is all there is."""
        if not self.coordinate_names:
            return None
        tables = (self.coordinate_rows, self.coordinate_pieces, self.coordinate_values)
        return CoordinateMap.unpack(self.coordinate_names, *tables, self.joint_names)

    def subset(self, joints: Sequence[str], q: np.ndarray | None = None) -> Model:
        """Return the model that moves by the named joints only; all others are welded as they stand at `q`."""
        return call("kinetree.model.compile:weld_all_but", self, joints, q)

    def _shape(self, k: int) -> Shape:
        kind, sizes = int(self.shape_kinds[k]), self.shape_sizes[k]
        keys = {0: ("size",), 1: ("radius",), 2: ("radius", "length"), 3: ()}[kind]
        values = {"size": sizes.tolist()} if kind == 0 else dict(zip(keys, sizes.tolist(), strict=False))
        color = None if np.isnan(self.shape_colors[k, 0]) else tuple(self.shape_colors[k].tolist())
        place = (self.shape_placements[k, :9].reshape(3, 3).copy(), self.shape_placements[k, 9:].copy())
        density = float(self.shape_densities[k])
        return SHAPE_KINDS[kind](**values, placement=place, color=color, density=density)

    def describe(self) -> str:
        """Return a readable account: sizes, mass, the tree of bodies with joints and limits, warnings."""
        return call("kinetree.model.describe:describe", self)

    def __repr__(self) -> str:
        """Return the sizes in one line."""
        label = f" {self.name!r}" if self.name else ""
        return f"<Model{label}: {self.nbodies} bodies, {self.njoints} joints, nq={self.nq}, nv={self.nv}>"

    def __eq__(self, other: object) -> bool:
        """Compare by value."""
        if not isinstance(other, Model):
            return NotImplemented
        return all(
            np.array_equal(a, b, equal_nan=a.dtype.kind == "f") if isinstance(a, np.ndarray) else a == b
            for a, b in ((getattr(self, item.name), getattr(other, item.name)) for item in fields(self) if item.compare)
        )

    def __hash__(self) -> int:
        """Hash by names and sizes."""
        return hash((self.name, self.nq, self.nv, self.names[:8], self.total_mass))

    def __reduce__(self) -> Any:
        """Pickle the arrays, not the scratch."""
        return Model, tuple(getattr(self, item.name) for item in fields(self) if item.compare)
