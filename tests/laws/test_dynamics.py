"""Accelerations and forces: against the oracle and against each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
import oracle

EXACT = 1e-12  # relative to the largest entry
GRAVITY = np.array([0.3, -0.7, -9.81])
seeds = st.integers(0, 10**6)
sizes = st.integers(1, 14)
methods = st.sampled_from(["aba", "crba"])


def setup(seed, n, **options):
    """Return a random model with a random motion and random wrenches."""
    model = oracle.random_model(seed, n, **options)
    return model, *oracle.random_motion(model, seed), oracle.random_wrenches(model, seed)


def force_scale(model, q, v, a):
    """Return the size of the forces that cancel in inverse dynamics: an error is relative to these."""
    return 10.0 + model.total_mass * (10.0 + np.abs(oracle.body_accelerations(model, q, v, a)).max())


@given(seeds, sizes)
def test_inverse_dynamics(seed, n):
    """RNEA gives the joint forces of d'Alembert's principle, with wrenches, a tilted gravity and armature."""
    model, q, v, a, _, external = setup(seed, n)
    ours = kt.inverse_dynamics(model, q, v, a, external=external, gravity=GRAVITY)
    expected = oracle.inverse_dynamics(model, q, v, a, external, GRAVITY)
    oracle.assert_close(ours, expected, EXACT, "joint forces", force_scale(model, q, v, a))


@given(seeds, sizes)
def test_mass_matrix(seed, n):
    """CRBA gives the sum of J' I J, symmetric and positive definite, and v'Mv/2 is the kinetic energy."""
    model, q, v, *_ = setup(seed, n)
    matrix = kt.mass_matrix(model, q)
    expected = oracle.mass_matrix(model, q)
    oracle.assert_close(matrix, expected, EXACT, "mass matrix")
    assert np.array_equal(matrix, matrix.T), "the mass matrix is not symmetric to the last digit"
    if model.nv:
        lowest = np.linalg.eigvalsh(matrix)[0]
        assert lowest > 0, f"the mass matrix has the eigenvalue {lowest}"
    kinetic, potential = kt.energy(model, q, v, gravity=GRAVITY)
    oracle.assert_close(kinetic, v @ matrix @ v / 2, EXACT, "kinetic energy", 1e-3 + kinetic)
    oracle.assert_close(potential, oracle.energy(model, q, v, GRAVITY)[1], EXACT, "potential energy", 100.0 * n)


@given(seeds, sizes, methods)
def test_forward_dynamics_solves_the_equations_of_motion(seed, n, method):
    """M a = tau - h holds with the oracle's M and h, and a is the dense solution as far as M is well conditioned."""
    model, q, v, _, tau, external = setup(seed, n)
    ours = kt.forward_dynamics(model, q, v, tau, external=external, gravity=GRAVITY, method=method)
    matrix = oracle.mass_matrix(model, q)
    bias = oracle.inverse_dynamics(model, q, v, np.zeros(model.nv), external, GRAVITY)
    size = force_scale(model, q, v, ours) + (np.abs(matrix) @ np.abs(ours)).max(initial=0.0)
    oracle.assert_close(matrix @ ours, tau - bias, EXACT, f"M a by {method}", size)
    if model.nv:
        dense = np.linalg.solve(matrix, tau - bias)
        condition = np.linalg.cond(matrix)
        oracle.assert_close(
            ours, dense, 1e-15 * condition + EXACT, f"a by {method}", np.abs(dense).max(initial=0.0) + 1.0
        )


@given(seeds, sizes, methods)
def test_inverse_of_forward_is_the_identity(seed, n, method):
    """RNEA(ABA(tau)) = tau."""
    model, q, v, _, tau, external = setup(seed, n)
    a = kt.forward_dynamics(model, q, v, tau, external=external, gravity=GRAVITY, method=method)
    back = kt.inverse_dynamics(model, q, v, a, external=external, gravity=GRAVITY)
    oracle.assert_close(back, tau, EXACT, f"RNEA of {method}", force_scale(model, q, v, a))


@given(seeds, sizes)
def test_no_forces_is_zero_forces(seed, n):
    """Leaving tau and external out means zeros, and gravity is -9.81 along z unless said otherwise."""
    model, q, v, *_ = setup(seed, n)
    zero = kt.forward_dynamics(
        model, q, v, np.zeros(model.nv), external=np.zeros((n, 6)), gravity=(0.0, 0.0, -9.81), method="aba"
    )
    assert np.array_equal(kt.forward_dynamics(model, q, v), zero)


@given(seeds, sizes, methods)
def test_wrenches_are_joint_forces(seed, n, method):
    """A wrench on a body does what J' times the wrench does as joint forces."""
    model, q, v, _, tau, external = setup(seed, n)
    moved = sum(kt.jacobian(model, q, body).T @ external[body] for body in range(n))
    with_wrench = kt.forward_dynamics(model, q, v, tau, external=external, method=method)
    with_torque = kt.forward_dynamics(model, q, v, tau + moved, method=method)
    condition = np.linalg.cond(oracle.mass_matrix(model, q)) if model.nv else 1.0
    scale = 1.0 + np.abs(with_wrench).max(initial=0.0)
    oracle.assert_close(with_torque, with_wrench, 1e-15 * condition + EXACT, "accelerations", scale)


@given(seeds, sizes)
def test_gravity_is_an_accelerated_world(seed, n):
    """Inverse dynamics under gravity g is that without gravity when everything is accelerated by -g."""
    model, q, v, a, _, _ = setup(seed, n, first="free", roots=0.0, armature=0.0)
    axes = model.placements[0, :9].reshape(3, 3)  # the root's linear velocity is in its joint frame's axes
    lifted = a.copy()
    lifted[3:6] -= axes.T @ GRAVITY
    with_gravity = kt.inverse_dynamics(model, q, v, a, gravity=GRAVITY)
    without = kt.inverse_dynamics(model, q, v, lifted, gravity=(0, 0, 0))
    oracle.assert_close(with_gravity, without, EXACT, "joint forces", force_scale(model, q, v, a))


@given(seeds, st.integers(2, 12))
def test_power_balance(seed, n):
    """The energy changes at the rate at which joint forces and wrenches work."""
    model, q, v, _, tau, external = setup(seed, n)
    a = kt.forward_dynamics(model, q, v, tau, external=external)
    power = tau @ v + np.sum(external * kt.body_velocities(model, q, v))
    # dE/dt along the motion: v'M a is exact; the rest of T and V by central differences
    h = 1e-6

    def total(dt):
        return sum(kt.energy(model, kt.integrate(model, q, v + dt / 2 * a, dt), v + dt * a))

    scale = 1.0 + sum(map(abs, kt.energy(model, q, v))) * (
        1.0 + np.abs(v).max(initial=0.0) + np.abs(a).max(initial=0.0)
    )
    oracle.assert_close((total(h) - total(-h)) / (2 * h), power, 1e-7, "power", scale)


@given(seeds, sizes)
def test_armature_adds_to_the_diagonal(seed, n):
    """A rotor's inertia resists its own degree of freedom and nothing else."""
    model, q, v, a, _, _ = setup(seed, n, armature=0.0, massless=0.0)
    builder = kt.ModelBuilder()
    rng = np.random.default_rng(seed)
    rotors = rng.uniform(0.0, 2.0, model.nv)
    for body in model.description().bodies:
        index = model.body_index(body.name)
        own = rotors[model.v_starts[index] : model.v_starts[index + 1]]
        builder.body(
            body.name, parent=body.parent, joint=body.joint, placement=body.placement, mass=body.mass, com=body.com,
            inertia=body.inertia, armature=own if own.size else 0.0,
        )  # fmt: skip
    geared = builder.build()
    size = 10.0 + np.abs(kt.mass_matrix(model, q)).max(initial=0.0)
    oracle.assert_close(kt.mass_matrix(geared, q), kt.mass_matrix(model, q) + np.diag(rotors), EXACT, "M", size)
    expected = kt.inverse_dynamics(model, q, v, a) + rotors * a
    oracle.assert_close(kt.inverse_dynamics(geared, q, v, a), expected, EXACT, "tau", force_scale(model, q, v, a))
    tau = kt.inverse_dynamics(geared, q, v, a)
    back = kt.inverse_dynamics(geared, q, v, kt.forward_dynamics(geared, q, v, tau))
    oracle.assert_close(back, tau, EXACT, "RNEA of ABA", force_scale(model, q, v, a) + np.abs(rotors * a).sum())


@pytest.mark.parametrize("kind", oracle.MOVING)
def test_every_kind_of_joint_at_the_root_and_at_the_tip(kind):
    """Each joint kind alone, as a root and as the last joint of a chain, agrees with the oracle."""
    for seed in range(3):
        for model in (
            oracle.random_model(seed, 4, (*oracle.ONE_AXIS, "fixed"), first=kind, roots=0.0),
            oracle.random_model(seed, 4, (kind,), roots=0.0, branching=0.0),
        ):
            q, v, _, tau = oracle.random_motion(model, seed)
            dense = oracle.forward_dynamics(model, q, v, tau)
            condition = np.linalg.cond(oracle.mass_matrix(model, q))
            for method in ("aba", "crba"):
                ours = kt.forward_dynamics(model, q, v, tau, method=method)
                oracle.assert_close(ours, dense, EXACT + 1e-15 * condition, f"{kind} by {method}, seed {seed}")


def test_a_model_without_motion_has_empty_answers():
    """Bodies that are all welded to the world have no degrees of freedom, and nothing breaks."""
    model = oracle.random_model(0, 3, ("fixed",))
    q = v = np.zeros(0)
    assert kt.forward_dynamics(model, q, v).shape == (0,)
    assert kt.inverse_dynamics(model, q, v, v).shape == (0,)
    assert kt.mass_matrix(model, q).shape == (0, 0)
    assert kt.jacobian(model, q, 1).shape == (6, 0)
    oracle.assert_close(kt.body_poses(model, q), oracle.body_poses(model, q), 1e-14, "poses")
    oracle.assert_close(kt.energy(model, q, v), oracle.energy(model, q, v), 1e-14, "energies")
