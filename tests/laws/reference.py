"""Reference motions: the equations of motion of the oracle, solved by SciPy's eighth-order Runge-Kutta method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

import kinetree as kt
import oracle

Acceleration = Callable[[np.ndarray, np.ndarray, float], np.ndarray]


def coordinate_rate(model: kt.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return dq/dt; a quaternion's is q (0, w) / 2."""
    rate = np.empty(model.nq)
    for body in range(model.nbodies):
        at_q, at_v = model.q_starts[body], model.v_starts[body]
        own = v[at_v : model.v_starts[body + 1]]
        if type(model.joint(body)).__name__ in ("Spherical", "Free"):
            scalar, vector, spin = q[at_q], q[at_q + 1 : at_q + 4], own[:3]
            rate[at_q] = -vector @ spin / 2
            rate[at_q + 1 : at_q + 4] = (scalar * spin + np.cross(vector, spin)) / 2
            rate[at_q + 4 : model.q_starts[body + 1]] = own[3:]
        else:
            rate[at_q : model.q_starts[body + 1]] = own
    return rate


def solve(
    model: kt.Model, q: np.ndarray, v: np.ndarray, seconds: float, tau: Acceleration | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the state after `seconds` under gravity and the joint forces tau(q, v, t), to about 1e-12."""

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        q, v = y[: model.nq], y[model.nq :]
        force = np.zeros(model.nv) if tau is None else tau(q, v, t)
        return np.concatenate((coordinate_rate(model, q, v), oracle.forward_dynamics(model, q, v, force)))

    result = solve_ivp(slope, (0.0, seconds), np.concatenate((q, v)), method="DOP853", rtol=3e-14, atol=1e-13)
    assert result.success, result.message
    return result.y[: model.nq, -1], result.y[model.nq :, -1]


def distance(model: kt.Model, state: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> float:
    """Return the largest difference of poses and joint velocities: the sign of a quaternion does not count."""
    poses = np.abs(oracle.body_poses(model, state[0]) - oracle.body_poses(model, other[0])).max()
    return float(max(poses, np.abs(state[1] - other[1]).max(initial=0.0)))
