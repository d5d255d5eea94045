"""The angles that a clinician reads, from the joints of the 48-DOF human, and what joint torques are along them.

A ball joint's rotation is split in the order flexion (x), ab-/adduction (y), axial rotation (z): R = Rx(a) Ry(b) Rz(c).
The torque that belongs to an angle is the torque's component along that angle's axis (generalised force): in the
child's axes R' e_x, Rz(c)' e_y and e_z. Signs are the same movement on both sides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..model.model import Model
from ..typing import Array

# joint without side -> names of the angles about x, y, z and the sign on the right side; on the left, y and z turn over
BALLS: dict[str, tuple[tuple[str, float], ...]] = {
    "sacral": (("flexion", -1.0), ("bending_right", 1.0), ("rotation_left", 1.0)),
    "lumbar": (("flexion", -1.0), ("bending_right", 1.0), ("rotation_left", 1.0)),
    "thoracic": (("flexion", -1.0), ("bending_right", 1.0), ("rotation_left", 1.0)),
    "cervical": (("flexion", -1.0), ("bending_right", 1.0), ("rotation_left", 1.0)),
    "clavicle": (("rotation", 1.0), ("depression", 1.0), ("protraction", 1.0)),
    "shoulder": (("flexion", 1.0), ("adduction", 1.0), ("internal_rotation", 1.0)),
    "hip": (("flexion", 1.0), ("adduction", 1.0), ("internal_rotation", 1.0)),
}
SIMPLE: dict[str, tuple[str, ...]] = {
    "elbow": ("flexion", "pronation"), "wrist": ("flexion", "deviation"), "knee": ("flexion", "rotation"),
    "ankle": ("dorsiflexion", "inversion"), "tarsal": ("extension",),
}  # fmt: skip


class Angle(NamedTuple):
    """One angle: its name, the joint, where it stands in v, which axis of a ball (-1: none), and its sign."""

    name: str
    joint: str
    at: int
    axis: int
    sign: float


def angle_table(model: Model) -> list[Angle]:
    """Return the angles of the 48-DOF human in the order of `v`, the root left out."""
    table: list[Angle] = []
    for joint in model.joint_names:
        side, _, bare = joint.rpartition("_") if joint.startswith(("right_", "left_")) else ("", "", joint)
        start = model.v_slice(joint).start
        tail = f"_{side[0]}" if side else ""
        if bare in BALLS:
            for axis, (name, sign) in enumerate(BALLS[bare]):
                turned = -sign if side == "left" and axis > 0 else sign
                table.append(Angle(f"{bare}_{name}{tail}", joint, start + axis, axis, turned))
        elif bare in SIMPLE:
            table += [Angle(f"{bare}_{name}{tail}", joint, start + k, -1, 1.0) for k, name in enumerate(SIMPLE[bare])]
    return table


def matrices(quaternions: Array) -> Array:
    """Return the rotations of quaternions [n, 4] as matrices [n, 3, 3]."""
    w, x, y, z = quaternions.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def euler_xyz(turns: Array) -> Array:
    """Return a, b, c of R = Rx(a) Ry(b) Rz(c) [rad], shape [n, 3], continuous in time."""
    b = np.arcsin(np.clip(turns[:, 0, 2], -1.0, 1.0))
    a = np.arctan2(-turns[:, 1, 2], turns[:, 2, 2])
    c = np.arctan2(-turns[:, 0, 1], turns[:, 0, 0])
    return np.unwrap(np.column_stack((a, b, c)), axis=0)


def clinical(
    model: Model, q: Array, tau: Array | None = None, v: Array | None = None
) -> tuple[Array, Array | None, Array | None]:
    """Return angles [rad], their torques [N m] and rates [rad/s], shapes [n, nangles], as in `angle_table`."""
    table = angle_table(model)
    angles = np.zeros((len(q), len(table)))
    torques = None if tau is None else np.zeros_like(angles)
    rates = None if v is None else np.zeros_like(angles)
    for k, own in enumerate(table):
        start = model.q_slice(own.joint).start
        if own.axis < 0:
            offset = own.at - model.v_slice(own.joint).start
            angles[:, k] = q[:, start + offset]
            if torques is not None and tau is not None:
                torques[:, k] = tau[:, own.at]
            if rates is not None and v is not None:
                rates[:, k] = v[:, own.at]
            continue
        turns = matrices(q[:, start : start + 4])
        split = euler_xyz(turns)
        angles[:, k] = own.sign * split[:, own.axis]
        first = own.at - own.axis
        axes = _axes_in_child(turns, split)
        if torques is not None and tau is not None:
            torques[:, k] = own.sign * np.einsum("ni,ni->n", axes[:, own.axis], tau[:, first : first + 3])
        if rates is not None and v is not None:
            speed = np.linalg.solve(axes.transpose(0, 2, 1), v[:, first : first + 3, None])[:, own.axis, 0]
            rates[:, k] = own.sign * speed
    return angles, torques, rates


def _axes_in_child(turns: Array, split: Array) -> Array:
    """Return the axes of a, b and c in the child's axes, rows of [n, 3, 3]."""
    axes = np.zeros((len(turns), 3, 3))
    axes[:, 0] = turns[:, 0, :]
    axes[:, 1, 0], axes[:, 1, 1] = np.sin(split[:, 2]), np.cos(split[:, 2])
    axes[:, 2, 2] = 1.0
    return axes
