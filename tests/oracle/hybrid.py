"""Bodies of which some joints stand still, by dense algebra: accelerations, and what happens when joints stop.

A frozen joint is one whose columns are missing from the equations of motion. When joints stop, impulses act on them
alone: `stop_by_impulses` finds these impulses, as Redon 2005 does, and `stop_by_momentum` finds the same velocities
from what the impulses cannot change.
"""

from __future__ import annotations

import numpy as np

import kinetree as kt

from .mechanics import GRAVITY


def hybrid_accelerations(
    model: kt.Model,
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray,
    active: np.ndarray,
    external: np.ndarray | None = None,
    gravity: np.ndarray = GRAVITY,
) -> np.ndarray:
    """Return the accelerations of a hybrid body, zero where joints are frozen: M_AA a_A = (tau - h)_A.

    `active` (nv,) says which degrees of freedom move; the others must have no velocity.
    """
    active = np.asarray(active, dtype=bool)
    if np.any(np.asarray(v)[~active]):
        raise ValueError("a frozen joint has a velocity")
    left = tau - kt.inverse_dynamics(model, q, v, np.zeros(model.nv), external=external, gravity=gravity)
    matrix = kt.mass_matrix(model, q)
    result = np.zeros(model.nv)
    result[active] = np.linalg.solve(matrix[np.ix_(active, active)], left[active])
    return result


def stop_by_impulses(matrix: np.ndarray, v: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Return the velocities after all joints that are not `active` stopped: K^R Q = -v_R, v' = v + M^-1 E Q.

    Q are the impulses on the joints R that stop, and K^R = (M^-1)_RR says how fast they make those joints. `matrix` is
    the mass matrix of the body, or the part of it that belongs to the joints that may move at all.
    """
    stopped = ~np.asarray(active, dtype=bool)
    inverse = np.linalg.inv(matrix)
    impulses = np.linalg.solve(inverse[np.ix_(stopped, stopped)], -v[stopped])
    return v + inverse[:, stopped] @ impulses


def stop_by_momentum(matrix: np.ndarray, v: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Return the same velocities from the momentum of the active joints, which stays: M_AA v_A' = (M v)_A."""
    active = np.asarray(active, dtype=bool)
    result = np.zeros(len(v))
    result[active] = np.linalg.solve(matrix[np.ix_(active, active)], (matrix @ v)[active])
    return result


def kinetic_energy(matrix: np.ndarray, v: np.ndarray) -> float:
    """Return v' M v / 2."""
    return float(0.5 * v @ matrix @ v)
