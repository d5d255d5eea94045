"""Adaptive dynamics: exact where all is allowed, a dense solve on the joints that move, and never more energy."""

import numpy as np
import pytest

import kinetree as kt
from oracle.trees import random_model

pytestmark = pytest.mark.slow_python


def tree(seed, n=25, **options):
    """Return a random tree whose bodies all have mass, as divide and conquer needs it."""
    return random_model(seed, n, massless=0.0, **options)


def run(model, q, v, steps, method=None, dt=1e-3, **options):
    """Return a simulation after some steps."""
    simulation = kt.Simulation(model, q, v, dt=dt, method=method, **options)
    simulation.step(steps)
    return simulation


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_an_error_of_zero_is_the_full_method(seed, integrator):
    """With every acceleration wanted, all joints move, and as the full method moves them."""
    model = tree(seed, 15)
    q, v = model.random_state(seed)
    full = run(model, q, 0.2 * v, 200, integrator=integrator)
    adaptive = run(model, q, 0.2 * v, 200, kt.Adaptive(error=0.0, update_every=7), integrator=integrator)
    error = np.abs(kt.difference(model, full.q, adaptive.q)).max()
    assert error < 1e-9, f"off by {error:.2e}"


def test_all_joints_allowed_is_the_full_method():
    """A budget of all joints steps the full body, to the bit."""
    model = kt.models.pendulum(20)
    q = np.full(20, 0.1)
    full, adaptive = run(model, q, None, 1000), run(model, q, None, 1000, kt.Adaptive(joints=20))
    np.testing.assert_array_equal(full.q, adaptive.q)


@pytest.mark.parametrize("seed", range(8))
def test_hybrid_accelerations_are_a_dense_solve_without_the_frozen_columns(seed):
    """Between two choices the joints that move obey M_AA a_A = (tau - h)_A, forces on frozen parts included."""
    model = tree(seed, 30, branching=0.4, roots=0.05)
    q, v = model.random_state(seed)
    budget = max(model.njoints // 3, sum(model.topology[:, 0] < 0))
    rng = np.random.default_rng(seed)
    simulation = kt.Simulation(model, q, 0.3 * v, dt=1e-3, method=kt.Adaptive(joints=budget, update_every=10))
    applied = []
    for body in rng.choice(model.nbodies, 6, replace=False):
        force, torque, point = rng.normal(size=(3, 3))
        simulation.apply(int(body), force=force, torque=torque, point=point)
        applied.append((int(body), force, torque, point))
    simulation.step(11)
    before_q, before_v = simulation.q.copy(), simulation.v.copy()
    poses = kt.body_poses(model, before_q)
    external = np.zeros((model.nbodies, 6))
    for body, force, torque, point in applied:
        external[body, :3] += torque + np.cross(poses[body, :3, :3] @ point, force)
        external[body, 3:] += force
    active = model.dof_indices(simulation.active)
    assert 0 < len(active) < model.nv
    frozen = np.setdiff1d(np.arange(model.nv), active)
    np.testing.assert_array_equal(before_v[frozen], 0.0)
    bias = kt.inverse_dynamics(model, before_q, before_v, np.zeros(model.nv), external=external)
    mass = kt.mass_matrix(model, before_q)
    wanted = np.zeros(model.nv)
    wanted[active] = np.linalg.solve(mass[np.ix_(active, active)], -bias[active])
    simulation.step(1)
    found = (simulation.v - before_v) / simulation.dt
    error = np.abs(found - wanted).max() / np.abs(wanted).max()
    assert error < 1e-9, f"off by {error:.2e} of the largest"  # the difference of velocities costs some digits


@pytest.mark.parametrize("seed", range(10))
def test_coming_to_rest_keeps_the_momenta_of_what_moves_on_and_adds_no_energy(seed):
    """At a choice, v_A' solves M_AA v_A' = (M v)_A with v the velocities that the joints so far would have had."""
    model = tree(seed, 20, branching=0.5)
    q, v = model.random_state(seed)
    roots = int(sum(model.topology[:, 0] < 0))
    many, few = min(model.njoints - 1, roots + 10), roots + 2
    # with all joints active at the start all are pushed off as in a full step, then most of them come to rest
    full = run(model, q, v, 1)
    simulation = run(model, q, v, 1, kt.Adaptive(joints=few, acceleration_joints=many))
    active = model.dof_indices(simulation.active)
    mass = kt.mass_matrix(model, q)
    wanted = np.zeros(model.nv)
    wanted[active] = np.linalg.solve(mass[np.ix_(active, active)], (mass @ full.v)[active])
    error = np.abs(simulation.v - wanted).max() / np.abs(wanted).max()
    assert error < 1e-10, f"off by {error:.2e}"
    assert kt.energy(model, q, simulation.v)[0] <= kt.energy(model, q, full.v)[0] * (1 + 1e-12)
    moved = np.abs(kt.difference(model, q, simulation.q) - simulation.dt * simulation.v).max()
    assert moved < 1e-12, f"positions follow the velocities that are left, but for {moved:.2e}"


def test_more_joints_come_closer():
    """The error against the full motion of a bent pendulum falls with the budget."""
    model = kt.models.pendulum(30)
    q = 0.3 * np.random.default_rng(5).normal(size=30)
    where = kt.body_poses(model, run(model, q, None, 800).q)[:, :3, 3]
    errors = []
    for budget in (1, 10, 20, 25, 29):
        simulation = run(model, q, None, 800, kt.Adaptive(joints=budget))
        assert len(simulation.active) <= budget
        errors.append(float(np.abs(kt.body_poses(model, simulation.q)[:, :3, 3] - where).mean()))
    assert errors == sorted(errors, reverse=True), errors


def test_an_error_bounds_what_is_left_at_each_choice():
    """`stats` reports the norm of the accelerations that the last choice neglected."""
    model = kt.models.pendulum(60)
    q = 0.02 * np.random.default_rng(0).normal(size=60)
    simulation = kt.Simulation(model, q, dt=1e-3, method=kt.Adaptive(error=0.5, update_every=5))
    for _ in range(20):
        simulation.step(5)
        assert simulation.stats["acceleration_error"] <= 0.5
    assert simulation.stats["computed_joints"] < 100 * 60


def test_springs_act_on_frozen_parts():
    """A pendulum held by a spring at its middle comes to the same rest with a third of its joints, nearly."""
    model = kt.models.pendulum(12)
    force = [kt.forces.Spring("link6", (0, 0, 0), (0.3, 0, -0.3), 200.0, 5.0), kt.forces.JointDamping(None, 0.05)]
    full = run(model, None, None, 4000, forces=force)
    adaptive = run(model, None, None, 4000, kt.Adaptive(joints=8), forces=force)
    gap = np.abs(kt.body_poses(model, full.q)[:, :3, 3] - kt.body_poses(model, adaptive.q)[:, :3, 3]).mean()
    moved = np.abs(kt.body_poses(model, full.q)[:, :3, 3] - kt.body_poses(model, model.neutral())[:, :3, 3]).mean()
    assert gap < 0.3 * moved, (gap, moved)


@pytest.mark.parametrize("by", ["force", "spring"])
def test_what_stands_still_wakes_when_something_acts_on_it(by):
    """Two pendulums hang at rest, all joints frozen; what pulls at one wakes that one only."""
    builder = kt.ModelBuilder()
    for name in "ab":
        for k in range(10):
            builder.body(f"{name}{k}", parent=f"{name}{k - 1}" if k else None, joint=kt.Revolute("y"),
                         placement=(None, (0, 0, -0.1 if k else 0)), mass=0.1, com=(0, 0, -0.05),
                         inertia=(1e-4, 1e-4, 1e-5))  # fmt: skip
    model = builder.build()
    pull = [kt.forces.Spring("b9", (0, 0, -0.1), (0.5, 0, -1.0), 5.0)] if by == "spring" else []
    simulation = kt.Simulation(model, dt=1e-3, method=kt.Adaptive(error=0.01, update_every=5))
    simulation.step(20)
    assert simulation.active == ()
    simulation = kt.Simulation(model, dt=1e-3, method=kt.Adaptive(error=0.01, update_every=5), forces=pull)
    if by == "force":
        simulation.step(20)
        simulation.apply("b9", force=(1.0, 0, 0))
    simulation.step(20)
    assert simulation.active
    assert all(joint.startswith("b") for joint in simulation.active), simulation.active
    assert np.abs(simulation.q[:10]).max() == 0


def test_saving_continues_to_the_bit(tmp_path):
    """A restored simulation has the same joints active and moves the same."""
    model = tree(3, 25)
    q, v = model.random_state(3)
    method = kt.Adaptive(joints=10, update_every=6, weights={model.joint_names[2]: 3.0})
    simulation = run(model, q, 0.2 * v, 40, method)
    restored = kt.Simulation.restore(simulation.save(tmp_path / "a.npz"))
    assert restored.active == simulation.active
    simulation.step(100)
    restored.step(100)
    np.testing.assert_array_equal(simulation.q, restored.q)
    np.testing.assert_array_equal(simulation.v, restored.v)


def test_heavier_weights_draw_the_budget():
    """Joints that count more are simulated, others are not."""
    model = kt.models.pendulum(40)
    q = 0.05 * np.random.default_rng(1).normal(size=40)
    tip = model.joint_names[30:]
    weighted = run(model, q, None, 20, kt.Adaptive(joints=12, weights=dict.fromkeys(tip, 1e4)))
    plain = run(model, q, None, 20, kt.Adaptive(joints=12))
    assert len(set(weighted.active) & set(tip)) > len(set(plain.active) & set(tip))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "budget"),
        ({"joints": -1}, "not negative"),
        ({"joints": 21}, "20 joints"),
        ({"joints": 2.5}, "whole"),
        ({"error": -1.0}, "not negative"),
        ({"error": float("nan")}, "finite"),
        ({"joints": 5, "update_every": 0}, "at least 1"),
        ({"joints": 5, "weights": {"nobody": 1.0}}, "nobody"),
        ({"joints": 5, "weights": {"link3": -1.0}}, "positive definite"),
        ({"joints": 5, "weights": {"link3": np.eye(2)}}, "shape"),
    ],
)
def test_bad_budgets_are_named(options, words):
    """What cannot be is refused before the first step."""
    with pytest.raises(kt.errors.KinetreeError, match=words):
        kt.Simulation(kt.models.pendulum(20), method=kt.Adaptive(**options))
