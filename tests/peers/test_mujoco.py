"""MuJoCo and kinetree agree on random trees of every kind of joint that MuJoCo can make."""

import numpy as np
import pytest

import kinetree as kt
import oracle

pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install 'kinetree[io]'")

from mujoco_twin import Twin

TOLERANCE = 1e-10  # relative to the largest entry
INNER = ("revolute", "prismatic", "universal", "spherical", "planar", "fixed")


def cases():
    for seed in range(12):
        model = oracle.random_model(seed, 5 + seed, INNER, massless=0.0, armature=0.0, roots=0.0, first="free")
        yield pytest.param(model, id=f"floating {seed}")
    for seed in range(12):
        yield pytest.param(oracle.random_model(seed, 5 + seed, INNER, massless=0.0), id=f"fixed {seed}")
    for kind in INNER[:-1]:
        yield pytest.param(oracle.random_model(1, 6, (kind,), massless=0.0), id=kind)


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
        ours = kt.forward_dynamics(model, q, v, tau, external=external)
        # where the matrix is nearly singular, both engines' answers are only as good as their last digits
        tolerance = max(TOLERANCE, 1e-15 * np.linalg.cond(matrix))
        oracle.assert_close(ours, theirs, tolerance, "accelerations")
        kinetic, potential = kt.energy(model, q, v)
        their_kinetic, their_potential = twin.energy(q, v)
        oracle.assert_close(kinetic, their_kinetic, TOLERANCE, "kinetic energy", kinetic)
        oracle.assert_close(potential, their_potential, TOLERANCE, "potential energy", abs(potential) + kinetic)
        for body in range(model.nbodies):
            oracle.assert_close(kt.jacobian(model, q, body), twin.jacobian(q, body), TOLERANCE, "Jacobian", 1.0)
