"""What a soft-constraint world is built of: bodies, joints, markers, motors, ranges, residuals and contacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from ..arguments import as_finite, as_number, as_vector
from ..errors import ArgumentError, ModelError, unknown_name
from ..kernels import soft_layout as at
from ..model.description import mass_properties
from ..model.shapes import Plane, Shape, as_pose
from ..typing import ArrayLike
from .bodies import GYROSCOPIC, Body, quaternion_of, symmetric
from .constraints import Constraint
from .contact import Ground, ball_on_plane, ground_contacts, pair_contacts
from .joints import JOINTS, add_angles, add_joint_rows
from .tables import Tables
from .targets import Target

if TYPE_CHECKING:
    from .world import World


class Assembly:
    """The part of a `World` that bodies and constraints are added by."""

    tables: Tables

    def __init__(self) -> None:
        """Hold nothing."""
        self._bodies: dict[str, Body] = {}
        self._constraints: dict[str, Constraint] = {}
        self._grounds: list[Ground] = []
        self._markers: list[Constraint] = []

    @property
    def _world(self) -> World:
        return cast("World", self)

    # --- bodies

    def add_body(
        self,
        name: str,
        *,
        shapes: Sequence[Shape] = (),
        mass: float | None = None,
        com: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
        pose: Any = None,
        velocity: ArrayLike | None = None,
        kinematic: bool = False,
        gyroscopic: Literal["conserving", "implicit", "explicit", "off"] = "conserving",
        collide: bool = True,
    ) -> Body:
        """Add a rigid body; what is not given of `mass`, `com` and `inertia` comes from the shapes at their density.

        `pose` is that of the body's frame, as anything that shapes take; `velocity` [angular; linear of the origin]. A
        kinematic body has infinite mass and moves with its velocity. Shapes touch every ground if `collide`.
        `gyroscopic` torques: "conserving" keeps angular momentum and energy of a free body (Buss 2000), "implicit"
        is what other engines do, which loses energy, "explicit" the plain term, which gains it.
        """
        if name in self._bodies:
            raise ModelError(f"there is a body {name!r} already: give another name")
        if gyroscopic not in GYROSCOPIC:
            raise ArgumentError(f"gyroscopic is {gyroscopic!r}: use one of {', '.join(map(repr, GYROSCOPIC))}")
        row = np.zeros(at.BODY)
        row[at.GYRO] = GYROSCOPIC[gyroscopic]
        centre = np.zeros(3) if com is None else as_vector(com, f"the com of body {name!r}")
        if not kinematic:
            m, centre, matrix = mass_properties(name, mass, com, inertia, shapes)
            if not (np.isfinite(m) and m > 0):
                raise ModelError(
                    f"body {name!r} has a mass of {m}: give a positive mass, or shapes with volume, or kinematic=True"
                )
            matrix = 0.5 * (matrix + matrix.T)
            if not (np.isfinite(matrix).all() and np.linalg.eigvalsh(matrix).min() > 0):
                raise ModelError(
                    f"body {name!r} has the inertia {matrix.tolist()}: it must be positive definite; give inertia=, or "
                    f"shapes"
                )
            row[at.MASS], row[at.INVERSE_MASS] = m, 1.0 / m
            row[at.INERTIA : at.INERTIA + 6] = symmetric(matrix)
            row[at.INVERSE_INERTIA : at.INVERSE_INERTIA + 6] = symmetric(np.linalg.inv(matrix))
        turn, place = as_pose(pose, f"the pose of body {name!r}")
        if not (np.isfinite(place).all() and np.abs(turn @ turn.T - np.eye(3)).max() < 1e-6):
            raise ModelError(f"the pose of body {name!r} is no rotation and finite position")
        state = np.zeros(at.STATE)
        state[:3] = place + turn @ centre
        state[at.QUATERNION : at.QUATERNION + 4] = quaternion_of(turn)
        body = Body(self._world, self.tables.add("state", state), name, np.asarray(centre, float), tuple(shapes))
        self.tables.add("bodies", row)
        self._bodies[name] = body
        if velocity is not None:
            body.velocity = velocity
        if collide and not kinematic:
            for ground in self._grounds:
                ground_contacts(self._world, ground, body)
        body.collides = collide
        return body

    def body(self, name: str | Body) -> Body:
        """Return a body by name."""
        if isinstance(name, Body):
            if name.world is not self:
                raise ArgumentError(f"{name!r} is of another world")
            return name
        if name not in self._bodies:
            raise unknown_name("body", name, self._bodies)
        return self._bodies[name]

    @property
    def bodies(self) -> tuple[Body, ...]:
        """All bodies, in the order in which they were added."""
        return tuple(dict.fromkeys(self._bodies.values()))

    # --- constraints

    def constraint(self, name: str | Constraint) -> Constraint:
        """Return a constraint by name."""
        if isinstance(name, Constraint):
            return name
        if name not in self._constraints:
            raise unknown_name("constraint", name, self._constraints)
        return self._constraints[name]

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """All constraints, in the order in which they were added."""
        return tuple(self._constraints.values())

    def add_joint(
        self,
        name: str,
        kind: Literal["ball", "hinge", "universal", "fixed", "slider", "distance", "planar", "screw"],
        child: str | Body,
        parent: str | Body | None = None,
        *,
        anchor: ArrayLike | None = None,
        points: tuple[ArrayLike, ArrayLike] | None = None,
        axis: ArrayLike | str = "z",
        axis2: ArrayLike | str | None = None,
        turns: tuple[ArrayLike, ArrayLike] | None = None,
        length: float | None = None,
        pitch: float = 0.0,
        erp: ArrayLike | None = None,
        cfm: ArrayLike | None = None,
        stiffness: ArrayLike | None = None,
        damping: ArrayLike | None = None,
        limits: tuple[ArrayLike, ArrayLike] = (-np.inf, np.inf),
        target: Target | Sequence[Target | None] | None = None,
    ) -> Constraint:
        """Join `child` to `parent` (None: the world), as they stand now.

        `anchor` is a point of the world (None: the child's origin), or `points` gives the same point in the frames of
        child and parent, which need not coincide now. `axis` (and `axis2` of a universal joint) is in world axes, or
        `turns` gives the rotation of the joint's frame in child and parent: z is the axis of a hinge, slider, screw or
        plane, x in the parent and y in the child those of a universal joint. `length` of a distance [m] (None: as
        now), `pitch` of a screw [m/rad]. Softness by erp and cfm, or stiffness and damping, of all rows or each.
        """
        if kind not in JOINTS:
            raise ArgumentError(f"kind is {kind!r}: use one of {', '.join(map(repr, JOINTS))}")
        return add_joint_rows(
            self._world, name, kind, self.body(child), None if parent is None else self.body(parent), anchor=anchor,
            points=points, axis=axis, axis2=axis2, turns=turns, length=length, pitch=pitch,
            soft=(erp, cfm, stiffness, damping), limits=limits, target=target,
        )  # fmt: skip

    def add_marker(
        self,
        name: str,
        body: str | Body,
        point: ArrayLike = (0, 0, 0),
        *,
        position: ArrayLike | None = None,
        erp: ArrayLike | None = None,
        cfm: ArrayLike | None = None,
        stiffness: ArrayLike | None = None,
        damping: ArrayLike | None = None,
        limit: ArrayLike = np.inf,
        target: Target | Sequence[Target | None] | None = None,
    ) -> Constraint:
        """Attach a point of a body to a marker: a point of infinite mass at `position` (None: where the point is now).

        Move it by `marker.anchor = ...` (and `anchor_velocity`), or give `run` all its frames. Rows: x, y, z of the
        world.
        """
        b = self.body(body)
        local = as_vector(point, f"the point of marker {name!r}")
        where = b.point_in_world(local) if position is None else as_vector(position, f"the position of marker {name!r}")
        limit = np.asarray(limit, dtype=float)
        marker = add_joint_rows(
            self._world, name, "ball", b, None, anchor=None, points=(local, where), axis="z", axis2=None, turns=None,
            length=None, pitch=0.0, soft=(erp, cfm, stiffness, damping), limits=(-limit, limit), target=target,
            title="marker",
        )  # fmt: skip
        self._markers.append(marker)
        return marker

    def add_motor(
        self,
        name: str,
        joint: str | Constraint,
        *,
        angles: Literal["vector", "euler"] = "vector",
        goal: ArrayLike | None = None,
        goal_rate: ArrayLike = 0.0,
        erp: ArrayLike | None = None,
        cfm: ArrayLike | None = None,
        stiffness: ArrayLike | None = None,
        damping: ArrayLike | None = None,
        limit: ArrayLike = np.inf,
        target: Target | Sequence[Target | None] | None = None,
    ) -> Constraint:
        """Drive a joint to a goal with limited force: muscle stiffness.

        Rows: the angle of a hinge, the two of a universal joint, the displacement of a slider; of a ball joint the
        three components of the rotation vector in the parent's joint frame ("vector", the goal a quaternion) or the
        three angles about x, y', z'' ("euler"). `goal` None: the angles at which the joint was made. With erp=0 it
        drives the velocity to `goal_rate`. `limit` is the largest force or torque of each row.
        """
        limit = np.asarray(limit, dtype=float)
        if np.isnan(limit).any() or (limit < 0).any():
            raise ArgumentError(f"the limit of motor {name!r} is {limit.tolist()}: it must not be negative")
        return add_angles(
            self._world, name, self.constraint(joint), "motor", angles, goal, goal_rate, (erp, cfm, stiffness, damping),
            (-limit, limit), target,
        )  # fmt: skip

    def add_range(
        self,
        name: str,
        joint: str | Constraint,
        lo: ArrayLike,
        hi: ArrayLike,
        *,
        erp: ArrayLike | None = None,
        cfm: ArrayLike | None = None,
        stiffness: ArrayLike | None = None,
        damping: ArrayLike | None = None,
        limit: ArrayLike = np.inf,
    ) -> Constraint:
        """Keep the angles of a joint between `lo` and `hi` [rad]: rows that do nothing within, and are springs beyond.

        Of a ball joint the angles are those about x, y', z''.
        """
        count = {"hinge": 1, "slider": 1, "universal": 2, "ball": 3}.get(self.constraint(joint).kind, 1)
        low, high = (np.broadcast_to(np.asarray(x, dtype=float), (count,)) for x in (lo, hi))
        if not (low <= high).all():
            raise ArgumentError(f"the range {name!r} has lo = {low.tolist()} above hi = {high.tolist()}: swap them")
        limit = np.asarray(limit, dtype=float)
        return add_angles(
            self._world, name, self.constraint(joint), "range", "euler", np.zeros(count), 0.0,
            (erp, cfm, stiffness, damping),
            (-limit, limit), [Target(deadzone=(float(a), float(b))) for a, b in zip(low, high, strict=True)],
        )  # fmt: skip

    def add_residual(
        self,
        name: str,
        body: str | Body,
        parent: str | Body | None = None,
        *,
        pose: Any = None,
        axes: Sequence[bool] = (True,) * 6,
        erp: ArrayLike | None = None,
        cfm: ArrayLike | None = None,
        stiffness: ArrayLike | None = None,
        damping: ArrayLike | None = None,
        limit: ArrayLike = np.inf,
        target: Target | Sequence[Target | None] | None = None,
    ) -> Constraint:
        """Hold a body at a pose in the world (or in `parent`) by six rows: rotations about its axes, shifts along them.

        `axes` says which of them act (`enabled_rows` switches them later), `limit` how strongly. Move the pose by
        `drive_pose`.
        """
        b = self.body(body)
        p = None if parent is None else self.body(parent)
        limit = np.broadcast_to(np.asarray(limit, dtype=float), (6,))
        turn, place = (b.rotation, b.position) if pose is None else as_pose(pose, f"the pose of {name!r}")
        if pose is None and p is not None:
            turn, place = p.rotation.T @ turn, p.rotation.T @ (place - p.position)
        residual = add_joint_rows(
            self._world, name, "pose", b, p, anchor=None, points=(np.zeros(3), place), axis="z", axis2=None,
            turns=(np.eye(3), turn), length=None, pitch=0.0, soft=(erp, cfm, stiffness, damping),
            limits=(-limit, limit), target=target, title="residual",
        )  # fmt: skip
        if len(axes) != 6:
            raise ArgumentError(f"the axes of {name!r} are {axes!r}: give six yes or no: three rotations, three shifts")
        residual.enabled_rows = residual.enabled_rows & np.asarray(axes, dtype=bool)
        return residual

    def drive_pose(self, residual: str | Constraint, pose: Any, velocity: ArrayLike = (0, 0, 0, 0, 0, 0)) -> None:
        """Move the pose that a residual holds, and say how fast it moves [angular; linear], in the world's axes."""
        c = self.constraint(residual)
        if c.kind != "residual":
            raise ArgumentError(f"constraint {c.name!r} is a {c.kind}: only a residual holds a pose")
        turn, place = as_pose(pose, f"the pose of {c.name!r}")
        twist = as_finite(velocity, (6,), "velocity")
        frame = self.tables["frames"][c.index]
        frame[at.TURN_B : at.TURN_B + 9] = turn.ravel()
        frame[at.ANCHOR_B : at.ANCHOR_B + 3] = place - (0 if c.parent is None else c.parent.com)
        frame[at.SPIN_B : at.SPIN_B + 3], frame[at.RATE_B : at.RATE_B + 3] = twist[:3], twist[3:]

    # --- contacts

    def add_ground(
        self,
        name: str = "ground",
        *,
        plane: Plane | None = None,
        friction: float = 0.8,
        friction_force: float | None = None,
        erp: float | None = None,
        cfm: float | None = None,
        stiffness: float | None = None,
        damping: float | None = None,
        margin: float = 0.05,
    ) -> Ground:
        """Add a plane (None: z = 0) that all shapes of all bodies touch: spheres, capsules' ends, boxes' corners.

        Friction is a pyramid of the coefficient `friction`, or limited by `friction_force` [N] whatever the normal one.
        Rows exist while a point is nearer than `margin` [m]; they push only if the point would be below the plane at
        the step's end.
        """
        ground = Ground(
            name,
            plane or Plane(),
            friction,
            friction_force,
            (erp, cfm, stiffness, damping),
            as_number(margin, "margin"),
        )
        self._grounds.append(ground)
        for body in self.bodies:
            if body.collides and not body.is_kinematic:
                ground_contacts(self._world, ground, body)
        return ground

    def add_contact(
        self,
        name: str,
        body: str | Body,
        point: ArrayLike,
        other: str | Body | None = None,
        *,
        radius: float = 0.0,
        plane: Any = None,
        friction: float = 0.8,
        friction_force: float | None = None,
        erp: float | None = None,
        cfm: float | None = None,
        stiffness: float | None = None,
        damping: float | None = None,
        margin: float = 0.05,
    ) -> Constraint:
        """Let a ball about a point of a body touch the plane z = 0 of the frame `plane` in the world or in `other`."""
        ground = Ground(
            name,
            Plane(placement=plane),
            friction,
            friction_force,
            (erp, cfm, stiffness, damping),
            as_number(margin, "margin"),
        )
        o = None if other is None else self.body(other)
        return ball_on_plane(self._world, name, ground, self.body(body), as_vector(point, "point"), radius, o)

    def add_collision(self, body: str | Body, other: str | Body, **options: Any) -> list[Constraint]:
        """Let the spheres and capsules of two bodies touch; options as those of `add_ground`, without the plane."""
        return pair_contacts(self._world, self.body(body), self.body(other), **options)
