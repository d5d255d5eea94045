"""The soft world in plain NumPy: one step, from positions of bodies and violations of constraints alone.

Jacobians are central differences of the violations; the impulses minimise 1/2 p' (A + beta) p + (y_free - w)' p
between their limits, by `scipy.optimize.lsq_linear`. Nothing is shared with the kernels but the definition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation

Pose = tuple[Rotation, np.ndarray]


@dataclass
class OracleBody:
    """A rigid body: mass [kg], inertia about the centre of mass in body axes, rotation, centre, velocities."""

    mass: float
    inertia: np.ndarray
    rotation: Rotation
    centre: np.ndarray
    omega: np.ndarray
    velocity: np.ndarray


@dataclass
class OracleRow:
    """phi(list of poses) with its softness and limits; `rate` is what the row is asked for besides."""

    phi: Callable[[list[Pose]], float]
    erp: float
    cfm: float
    lo: float = -np.inf
    hi: float = np.inf
    rate: float = 0.0


def jacobian(row: OracleRow, bodies: list[OracleBody], step: float = 1e-6) -> np.ndarray:
    """Return d phi / d(rotations in world axes, translations) of all bodies, shape (6 n,)."""
    out = np.zeros(6 * len(bodies))
    for i in range(len(bodies)):
        for k in range(6):
            values = []
            for sign in (1, -1):
                poses = [(b.rotation, b.centre) for b in bodies]
                nudge = np.zeros(6)
                nudge[k] = sign * step
                turn, place = poses[i]
                poses[i] = (Rotation.from_rotvec(nudge[:3]) * turn, place + nudge[3:])
                values.append(row.phi(poses))
            out[6 * i + k] = (values[0] - values[1]) / (2 * step)
    return out


def step(
    bodies: list[OracleBody], rows: list[OracleRow], h: float, gravity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the velocities after a step, (n, 6) [angular; linear], and the rows' forces; no gyroscopic torques."""
    n = len(bodies)
    inverse = np.zeros((6 * n, 6 * n))
    free = np.zeros(6 * n)
    for i, b in enumerate(bodies):
        r = b.rotation.as_matrix()
        inverse[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.linalg.inv(r @ b.inertia @ r.T)
        inverse[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = np.eye(3) / b.mass
        free[6 * i : 6 * i + 3], free[6 * i + 3 : 6 * i + 6] = b.omega, b.velocity + h * gravity
    if not rows:
        return free.reshape(n, 6), np.zeros(0)
    J = np.array([jacobian(row, bodies) for row in rows])
    poses = [(b.rotation, b.centre) for b in bodies]
    w = np.array([row.rate - row.erp * row.phi(poses) / h for row in rows])
    A = J @ inverse @ J.T + np.diag([row.cfm / h for row in rows])
    root = np.linalg.cholesky(0.5 * (A + A.T))
    target = np.linalg.solve(root, w - J @ free)
    limits = np.array([[row.lo, row.hi] for row in rows]) * h
    found = lsq_linear(root.T, target, (limits[:, 0], limits[:, 1]), method="bvls", tol=1e-15, max_iter=1000)
    return (free + inverse @ J.T @ found.x).reshape(n, 6), found.x / h


def anchors_apart(
    a: int, point_a: np.ndarray, b: int | None, point_b: np.ndarray, axis: int
) -> Callable[[list[Pose]], float]:
    """Return the violation of one row of a ball joint: the gap between two anchors along a world axis."""

    def phi(poses: list[Pose]) -> float:
        mine = poses[a][0].apply(point_a) + poses[a][1]
        theirs = point_b if b is None else poses[b][0].apply(point_b) + poses[b][1]
        return float((mine - theirs)[axis])

    return phi
