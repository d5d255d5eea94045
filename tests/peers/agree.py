"""What two engines must agree on for one model."""

from __future__ import annotations

from typing import Any

import numpy as np

import kinetree as kt
import oracle

TOLERANCE = 1e-10  # relative to the largest entry


def assert_agree(model: kt.Model, twin: Any, seed: int, rotors: bool = True) -> None:
    """Compare mass matrix, inverse and forward dynamics, energies and Jacobians in a random state with wrenches.

    `rotors` says whether the twin's kinetic energy counts rotor inertia.
    """
    q, v, a, tau = oracle.random_motion(model, seed)
    known = np.array([number >= 0 for number in getattr(twin, "bodies", np.zeros(model.nbodies))])
    external = oracle.random_wrenches(model, seed) * known[:, None]
    oracle.assert_close(kt.mass_matrix(model, q), twin.mass_matrix(q), TOLERANCE, "mass matrix")
    theirs = twin.inverse_dynamics(q, v, a, external)
    oracle.assert_close(kt.inverse_dynamics(model, q, v, a, external=external), theirs, TOLERANCE, "joint forces")
    theirs = twin.forward_dynamics(q, v, tau, external)
    for method in ("aba", "crba"):
        ours = kt.forward_dynamics(model, q, v, tau, external=external, method=method)
        oracle.assert_close(ours, theirs, TOLERANCE, f"accelerations by {method}")
    kinetic, potential = kt.energy(model, q, v)
    if not rotors:
        kinetic -= 0.5 * model.dofs[:, 0] @ v**2
    their_kinetic, their_potential = twin.energy(q, v)
    oracle.assert_close(kinetic, their_kinetic, TOLERANCE, "kinetic energy", kinetic)
    oracle.assert_close(potential, their_potential, TOLERANCE, "potential energy", abs(potential) + kinetic)
    for body in np.flatnonzero(known):
        ours, theirs = kt.jacobian(model, q, body), twin.jacobian(q, int(body))
        oracle.assert_close(ours, theirs, TOLERANCE, f"Jacobian of {model.names[body]}", 1.0)
