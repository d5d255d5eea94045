"""Bodies at rest by dense algebra: all accelerations, what a partial answer misses of them, and one step in time."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.typing import ArrayLike


def accelerations_at_rest(
    model: kt.Model, q: np.ndarray, tau: np.ndarray, external: np.ndarray, gravity: ArrayLike
) -> np.ndarray:
    """Return M^-1 (tau - h) at zero velocity, with M from composite bodies and h from Newton and Euler."""
    still = np.zeros(model.nv)
    left = tau - kt.inverse_dynamics(model, q, still, still, external=external, gravity=gravity)
    return np.linalg.solve(kt.mass_matrix(model, q), left) if model.nv else left


def joint_norms(model: kt.Model, a: np.ndarray) -> np.ndarray:
    """Return the norm of the acceleration of every joint, in the order of `model.joint_names`."""
    return np.sqrt(np.bincount(model.v_joints, np.asarray(a) ** 2, minlength=model.njoints))


def errors(model: kt.Model, a: np.ndarray, computed: np.ndarray) -> dict[str, float]:
    """Return the four errors of Redon and Lin (2006), definition 2, when only the `computed` joints are known."""
    all_norms = joint_norms(model, a)
    missing = all_norms[~computed]
    whole, largest = np.linalg.norm(all_norms), all_norms.max(initial=0.0)
    absolute, of_joint = float(np.linalg.norm(missing)), float(missing.max(initial=0.0))
    return {
        "absolute": absolute,
        "relative": absolute / whole if whole else 0.0,
        "absolute_joint": of_joint,
        "relative_joint": of_joint / largest if largest else 0.0,
    }
