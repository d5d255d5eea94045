"""Constraints by definition: Jacobians row by row, K = J M^-1 J', and the conditions of an LCP one by one."""

from __future__ import annotations

import numpy as np

import kinetree as kt

from .mechanics import jacobian, mass_matrix

C = kt.constraints


def rows_of(model: kt.Model, q: np.ndarray, constraint: object) -> list[np.ndarray]:
    """Return the Jacobian rows of an acceleration constraint."""
    if isinstance(constraint, C.JointAcceleration):
        names = (constraint.joints,) if isinstance(constraint.joints, str) else constraint.joints
        return [np.eye(model.nv)[k] for k in model.dof_indices(names)]
    if isinstance(constraint, C.Coupling):
        row = np.zeros(model.nv)
        for name, value in constraint.coefficients.items():
            row[model.dof_indices((name,))] += value
        return [row]
    if isinstance(constraint, C.OrientationAcceleration):
        J = jacobian(model, q, model.body_index(constraint.body))[:3]
        if constraint.other is not None:
            J = J - jacobian(model, q, model.body_index(constraint.other))[:3]
        return list(J)
    assert isinstance(constraint, C.PointAcceleration)
    J = jacobian(model, q, model.body_index(constraint.body), np.asarray(constraint.point, dtype=float))[3:]
    if constraint.other is not None:
        point = np.asarray(constraint.other_point, dtype=float)
        J = J - jacobian(model, q, model.body_index(constraint.other), point)[3:]
    if constraint.direction is None:
        return list(J)
    unit = np.asarray(constraint.direction, dtype=float)
    return [unit / np.linalg.norm(unit) @ J]


def stack(model: kt.Model, q: np.ndarray, constraints: list[object]) -> np.ndarray:
    """Return the Jacobian of all constraints."""
    return np.array([row for item in constraints for row in rows_of(model, q, item)])


def constraint_matrix(model: kt.Model, q: np.ndarray, constraints: list[object]) -> np.ndarray:
    """Return J M^-1 J' with dense matrices."""
    J = stack(model, q, constraints)
    return J @ np.linalg.solve(mass_matrix(model, q), J.T)


def violation(A: np.ndarray, b: np.ndarray, lo: np.ndarray, hi: np.ndarray, x: np.ndarray) -> float:
    """Return how far x is from lo <= x <= hi complementary to w = A x + b, condition by condition."""
    worst = 0.0
    for k, w in enumerate(A @ x + b):
        worst = max(worst, lo[k] - x[k], x[k] - hi[k])
        room_up, room_down = hi[k] - x[k], x[k] - lo[k]
        worst = max(worst, min(max(w, 0.0), room_down), min(max(-w, 0.0), room_up))
    return worst
