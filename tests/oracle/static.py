"""The stiffness of a body at rest by differences of its joint forces: slow, and right for any joint and force."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import kinetree as kt

from .manifold import integrate


def stiffness(model: kt.Model, force: Callable[[np.ndarray], np.ndarray], q: np.ndarray) -> np.ndarray:
    """Return H = -dF/dx [nv, nv] by differences of fourth order, its symmetric part."""
    H = np.empty((model.nv, model.nv))
    for k in range(model.nv):
        step = np.zeros(model.nv)
        step[k] = 1e-3
        values = [force(integrate(model, q, n * step, 1.0)) for n in (-2, -1, 1, 2)]
        H[:, k] = -(values[0] - 8 * values[1] + 8 * values[2] - values[3]) / 12e-3
    return 0.5 * (H + H.T)
