"""Poses of bodies with their first and second time derivatives, by the product rule on 4x4 matrices.

A *jet* is the triple (T, dT/dt, d2T/dt2) of a 4x4 pose.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import kinetree as kt

Jet = tuple[np.ndarray, np.ndarray, np.ndarray]


def skew(w: np.ndarray) -> np.ndarray:
    """Return [w]x, so that [w]x r = w x r."""
    x, y, z = w
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=float)


def unskew(m: np.ndarray) -> np.ndarray:
    """Return the vector of the antisymmetric part of a 3x3 matrix."""
    return np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]) / 2


def product(a: Jet, b: Jet) -> Jet:
    """Return the jet of A(t) B(t): Leibniz' rule."""
    return a[0] @ b[0], a[1] @ b[0] + a[0] @ b[1], a[2] @ b[0] + 2 * a[1] @ b[1] + a[0] @ b[2]


def rotation(axis: np.ndarray, angle: float, rate: float, acceleration: float) -> Jet:
    """Return the jet of a rotation about a fixed axis: R = exp([axis] angle)."""
    s = skew(axis)
    r = expm(s * angle)
    return _in_4x4(r, 1), _in_4x4(s @ r * rate, 0), _in_4x4(s @ s @ r * rate**2 + s @ r * acceleration, 0)


def turning(quaternion: np.ndarray, w: np.ndarray, dw: np.ndarray) -> Jet:
    """Return the jet of R(quaternion) turning with the angular velocity w in its own axes: dR/dt = R [w]x."""
    r = Rotation.from_quat(np.roll(quaternion, -1)).as_matrix()
    return _in_4x4(r, 1), _in_4x4(r @ skew(w), 0), _in_4x4(r @ (skew(w) @ skew(w) + skew(dw)), 0)


def translation(p: np.ndarray, v: np.ndarray, a: np.ndarray) -> Jet:
    """Return the jet of a translation."""
    pose, rate, second = np.eye(4), np.zeros((4, 4)), np.zeros((4, 4))
    pose[:3, 3], rate[:3, 3], second[:3, 3] = p, v, a
    return pose, rate, second


def joint_motion(joint: kt.Revolute, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Jet:
    """Return the jet of a body's pose in its joint's fixed frame, from the joint's own q, v and dv/dt."""
    kind = type(joint).__name__
    if kind == "Fixed":
        return translation(np.zeros(3), np.zeros(3), np.zeros(3))
    if kind == "Revolute":
        return rotation(np.array(joint.axis), q[0], v[0], a[0])
    if kind == "Prismatic":
        axis = np.array(joint.axis)
        return translation(axis * q[0], axis * v[0], axis * a[0])
    if kind == "Helical":
        axis, pitch = np.array(joint.axis), joint.pitch
        screw = translation(pitch * axis * q[0], pitch * axis * v[0], pitch * axis * a[0])
        return product(screw, rotation(axis, q[0], v[0], a[0]))
    if kind == "Universal":
        first = rotation(np.array(joint.first), q[0], v[0], a[0])
        return product(first, rotation(np.array(joint.second), q[1], v[1], a[1]))
    if kind == "Spherical":
        return turning(q, v, a)
    if kind == "Planar":
        in_plane = translation(np.array([*q[1:], 0.0]), np.array([*v[1:], 0.0]), np.array([*a[1:], 0.0]))
        return product(in_plane, rotation(np.array([0.0, 0.0, 1.0]), q[0], v[0], a[0]))
    if kind == "Free":
        return product(translation(q[4:], v[3:], a[3:]), turning(q[:4], v[:3], a[:3]))
    raise ValueError(f"unknown joint {joint!r}")


def body_motions(model: kt.Model, q: np.ndarray, v: np.ndarray | None = None, a: np.ndarray | None = None) -> list[Jet]:
    """Return the jet of every body's pose in the world."""
    v = np.zeros(model.nv) if v is None else v
    a = np.zeros(model.nv) if a is None else a
    motions: list[Jet] = []
    for body, parent in enumerate(model.parents):
        at_q = slice(model.q_starts[body], model.q_starts[body + 1])
        at_v = slice(model.v_starts[body], model.v_starts[body + 1])
        placement = np.eye(4)
        placement[:3, :3] = model.placements[body, :9].reshape(3, 3)
        placement[:3, 3] = model.placements[body, 9:]
        fixed: Jet = (placement, np.zeros((4, 4)), np.zeros((4, 4)))
        motion = product(fixed, joint_motion(model.joint(body), q[at_q], v[at_v], a[at_v]))
        motions.append(motion if parent < 0 else product(motions[parent], motion))
    return motions


def angular(motion: Jet) -> tuple[np.ndarray, np.ndarray]:
    """Return angular velocity and acceleration, world axes: [w] = dR/dt R', d[w]/dt = d2R/dt2 R' + dR/dt dR/dt'."""
    r, dr, ddr = (m[:3, :3] for m in motion)
    return unskew(dr @ r.T), unskew(ddr @ r.T + dr @ dr.T)


def point_motion(motion: Jet, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return position, velocity and acceleration in the world of a point given in the body's frame."""
    x = np.array([*point, 1.0])
    place, velocity, acceleration = ((m @ x)[:3] for m in motion)
    return place, velocity, acceleration


def body_poses(model: kt.Model, q: np.ndarray) -> np.ndarray:
    """Return all poses, shape (nbodies, 4, 4)."""
    return np.array([motion[0] for motion in body_motions(model, q)])


def body_velocities(model: kt.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return [angular velocity; velocity of the origin] of every body, world axes, shape (nbodies, 6)."""
    return np.array([[*angular(m)[0], *m[1][:3, 3]] for m in body_motions(model, q, v)])


def body_accelerations(model: kt.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return [angular acceleration; acceleration of the origin] of every body, world axes, shape (nbodies, 6)."""
    return np.array([[*angular(m)[1], *m[2][:3, 3]] for m in body_motions(model, q, v, a)])


def _in_4x4(rotation_part: np.ndarray, corner: float) -> np.ndarray:
    pose = np.zeros((4, 4))
    pose[:3, :3], pose[3, 3] = rotation_part, corner
    return pose
