"""Inverse dynamics as the paper does it: muscles of limited force bring the body to each frame's pose, in one step.

What the muscles and the ground cannot do, a residual joint at the waist may, about the axes and up to the limits that
it is given; beyond that, the body leaves the recorded path, and the result says by how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arguments import as_gravity
from ..dynamics import body_poses, body_velocities
from ..errors import ArgumentError
from ..kernels import layout as at
from ..typing import Array
from .angles import matrices
from .motion import Motion
from .plates import SIDES, GroundForces
from .soft_body import FIRM_JOINT_CFM, MUSCLE_CFM, add_soles, configurations, inner_joints, soft_person
from .subject import Subject

# what holds the waist is weak, the sole gives like a shoe, and muscles reach the next frame's pose in one step
WAIST: dict[str, Any] = {"stiffness": 2000.0, "damping": 200.0}  # N m/rad, N m s/rad (and N/m, N s/m along its axes)
SOLE: dict[str, Any] = {"stiffness": 3e4, "damping": 600.0}  # N/m, N s/m
MUSCLE: dict[str, Any] = {"erp": 1.0, "cfm": MUSCLE_CFM}
TILT = (True, True, False, False, False, False)  # pitch and roll: the paper's choice


@dataclass(frozen=True, eq=False)
class SoftTorques:
    """What the soft world needed to repeat a movement.

    `times` [n] of the steps, `tau` [n, nv] joint torques (zero at the root), `residual` [n, 6] of the waist's joint,
    its torques then forces along its own axes, `ground` [n, 2, 3] forces on the feet, `q` [n, nq] where the body went,
    `goal` [n, nq] where it should have gone, and the share of steps in which a muscle was at its limit.
    """

    subject: Subject
    times: Array
    tau: Array
    residual: Array
    ground: Array
    q: Array
    goal: Array
    limited: float

    @property
    def drift(self) -> Array:
        """Distance of the pelvis from where it was recorded [m], shape [n]."""
        return np.linalg.norm(self.q[:, 4:7] - self.goal[:, 4:7], axis=1)

    @property
    def tilt(self) -> Array:
        """Angle of the pelvis from what was recorded [rad], shape [n]."""
        dot = np.abs(np.einsum("ni,ni->n", self.q[:, :4], self.goal[:, :4]))
        return 2 * np.arccos(np.clip(dot, 0.0, 1.0))

    def joint_error(self) -> float:
        """Root mean square of the joint angles' errors [rad], the root left out."""
        from ..kernels.manifold import difference

        out = np.zeros((len(self.q), self.subject.model.nv))
        for t in range(len(self.q)):
            difference(self.subject.model.topology, self.goal[t], self.q[t], out[t])
        return float(np.sqrt((out[:, 6:] ** 2).mean()))


def soft_inverse_dynamics(
    subject: Subject,
    motion: Motion,
    *,
    residual_limit: float | Sequence[float] = 30.0,
    residual_axes: Sequence[bool] = TILT,
    muscle_limit: float = 1000.0,
    friction: float = 0.9,
    forces: GroundForces | None = None,
    substeps: int = 1,
    gravity: Any = None,
) -> SoftTorques:
    """Repeat a movement with muscles, the ground and a residual joint at the pelvis.

    Args:
        subject: Whose movement.
        motion: What `follow` returned; the frames' step is the world's.
        residual_limit: The largest torque [N m] and force [N] of the residual joint, for all or each of its six axes.
        residual_axes: Which of its axes act: three rotations, then three shifts. The paper's: pitch and roll.
        muscle_limit: The largest torque of a muscle about an axis [N m].
        friction: Of the ground.
        forces: Measured ground forces in place of contact.
        substeps: Steps of the world a frame.
        gravity: m/s2; the subject's if not given.
    """
    limits = np.broadcast_to(np.asarray(residual_limit, dtype=float), (6,))
    if not (limits >= 0).all():
        raise ArgumentError(f"residual_limit is {residual_limit!r}: it must not be negative")
    model = subject.model
    dt = float(np.median(np.diff(motion.times))) / substeps
    pull = subject.gravity if gravity is None else as_gravity(gravity)
    # the state that the first two frames give, as the paper starts it
    q0 = motion.q[1]
    v0 = motion.v[1]
    world = soft_person(subject, q0, v0, dt=dt, cfm=FIRM_JOINT_CFM, gravity=pull)
    motors = {}
    for name in inner_joints(subject):
        motors[name] = world.add_motor(f"{name}/muscle", name, limit=muscle_limit, **MUSCLE)
    residual = world.add_residual("residual", model.names[0], axes=residual_axes, limit=limits, **WAIST)
    soles = [] if forces is not None else add_soles(world, subject, motion, friction, **SOLE)
    sides = np.array([0] * (len(soles) // 2) + [1] * (len(soles) - len(soles) // 2))
    if soles:
        from .contact import sole_points

        sides = sole_points(subject)[2]
    feet = subject.feet()
    n = motion.frames - 2
    out = SoftTorques(
        subject, motion.times[2:], np.zeros((n, model.nv)), np.zeros((n, 6)), np.zeros((n, 2, 3)),
        np.zeros((n, model.nq)), motion.q[2:], 0.0,
    )  # fmt: skip
    states = np.zeros((n, *world.state().shape))
    limited = 0
    for t in range(n):
        frame = t + 2
        goal = motion.q[frame]
        for name, motor in motors.items():
            motor.goal = goal[model.q_slice(name)]
        pose = body_poses(model, goal)[0]
        world.drive_pose(residual, (pose[:3, :3], pose[:3, 3]), body_velocities(model, goal, motion.v[frame])[0])
        for _ in range(substeps):
            if forces is not None:
                _push(world, subject, forces, frame, feet)
            world.step()
        states[t] = world.state()
        for name, motor in motors.items():
            out.tau[t, model.v_slice(name)] = _torque(model, name, motor.force, goal)
            limited += bool(np.any(motor.at_limit))
        out.residual[t] = residual.force
        if forces is not None:
            out.ground[t] = forces.force[frame]
        for name, side in zip(soles, sides, strict=True):
            out.ground[t, side] += world.constraint(name).wrench(on="child", frame="world")[3:]
    q = configurations(world, subject, states)
    return SoftTorques(
        subject, out.times, out.tau, out.residual, out.ground, q, out.goal, limited / max(1, n * len(motors))
    )  # fmt: skip


def _torque(model: Any, name: str, force: Array, goal: Array) -> Array:
    """Return a muscle's torque along the joint's own velocities: a ball joint's are in the child's axes."""
    if model.joint_kinds[model.joint_body(name)] != at.SPHERICAL:
        return np.asarray(force)
    return matrices(goal[model.q_slice(name)][None])[0].T @ np.asarray(force)


def _push(world: Any, subject: Subject, forces: GroundForces, frame: int, feet: dict[str, list[int]]) -> None:
    """Apply the measured wrench of a frame to each foot, about the foot's place."""
    for k, side in enumerate(SIDES):
        if feet[side]:
            body = world.body(subject.model.names[feet[side][0]])
            moment = forces.moment[frame, k] - np.cross(body.position, forces.force[frame, k])
            body.apply(force=forces.force[frame, k], torque=moment, point=body.position)
