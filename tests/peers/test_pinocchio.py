"""Pinocchio and kinetree agree on random trees of every kind of joint."""

import numpy as np
import pytest

import kinetree as kt
import oracle

pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'kinetree[bench]'")

from pinocchio_twin import Twin

TOLERANCE = 1e-10  # relative to the largest entry
WITH_ROTORS = tuple(kind for kind in oracle.KINDS if kind not in ("free", "planar"))  # see Twin


def cases():
    for seed in range(20):
        yield pytest.param(oracle.random_model(seed, 4 + seed, massless=0.0, armature=0.0), id=f"all kinds {seed}")
    for seed in range(8):
        yield pytest.param(oracle.random_model(seed, 14, WITH_ROTORS, massless=0.3), id=f"rotors {seed}")
    for kind in oracle.MOVING:
        yield pytest.param(oracle.random_model(1, 6, (kind,), armature=0.0), id=kind)


@pytest.mark.parametrize("model", list(cases()))
def test_random_trees(model):
    """Forward and inverse dynamics, mass matrix, energies and Jacobians agree to 1e-10."""
    twin = Twin(model)
    for seed in range(3):
        q, v, a, tau = oracle.random_motion(model, seed)
        external = oracle.random_wrenches(model, seed)
        matrix = twin.mass_matrix(q)
        oracle.assert_close(kt.mass_matrix(model, q), matrix, TOLERANCE, "mass matrix")
        theirs = twin.inverse_dynamics(q, v, a, external)
        oracle.assert_close(kt.inverse_dynamics(model, q, v, a, external=external), theirs, TOLERANCE, "joint forces")
        theirs = twin.forward_dynamics(q, v, tau, external)
        # where the matrix is nearly singular, both engines' answers are only as good as their last digits
        tolerance = max(TOLERANCE, 1e-15 * np.linalg.cond(matrix))
        for method in ("aba", "crba"):
            ours = kt.forward_dynamics(model, q, v, tau, external=external, method=method)
            oracle.assert_close(ours, theirs, tolerance, f"accelerations by {method}")
        kinetic, potential = kt.energy(model, q, v)
        their_kinetic, their_potential = twin.energy(q, v)
        kinetic -= 0.5 * model.dofs[:, 0] @ v**2  # the twin counts the bodies only
        oracle.assert_close(kinetic, their_kinetic, TOLERANCE, "kinetic energy", kinetic)
        oracle.assert_close(potential, their_potential, TOLERANCE, "potential energy", abs(potential) + kinetic)
        for body in range(model.nbodies):
            oracle.assert_close(kt.jacobian(model, q, body), twin.jacobian(q, body), TOLERANCE, "Jacobian", 1.0)
