"""The group operations on configurations: each joint moves along the exponential of its velocity."""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import kinetree as kt

from .motion import skew


def _turned(quaternion: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the quaternion (w, x, y, z) of R(quaternion) exp([w]x), by matrices, with w >= 0 or so: sign is free."""
    r = Rotation.from_quat(np.roll(quaternion, -1)).as_matrix() @ expm(skew(w))
    return np.roll(Rotation.from_matrix(r).as_quat(), 1)


def integrate(model: kt.Model, q: np.ndarray, v: np.ndarray, dt: float) -> np.ndarray:
    """Return q moved for `dt` at the constant velocity v; the sign of a quaternion is arbitrary."""
    result = np.empty(model.nq)
    for body in range(model.nbodies):
        own = q[model.q_starts[body] : model.q_starts[body + 1]]
        step = dt * v[model.v_starts[body] : model.v_starts[body + 1]]
        kind = type(model.joint(body)).__name__
        if kind == "Spherical":
            moved = _turned(own, step)
        elif kind == "Free":
            moved = np.concatenate((_turned(own[:4], step[:3]), own[4:] + step[3:]))
        else:
            moved = own + step
        result[model.q_starts[body] : model.q_starts[body + 1]] = moved
    return result


def difference(model: kt.Model, q0: np.ndarray, q1: np.ndarray) -> np.ndarray:
    """Return the velocity that leads from q0 to q1 in unit time."""
    result = np.empty(model.nv)
    for body in range(model.nbodies):
        at_q = slice(model.q_starts[body], model.q_starts[body + 1])
        kind = type(model.joint(body)).__name__
        before, after = q0[at_q], q1[at_q]
        if kind in ("Spherical", "Free"):
            turns = [Rotation.from_quat(np.roll(x[:4], -1)) for x in (before, after)]
            moved = np.concatenate(((turns[0].inv() * turns[1]).as_rotvec(), after[4:] - before[4:]))
        else:
            moved = after - before
        result[model.v_starts[body] : model.v_starts[body + 1]] = moved
    return result
