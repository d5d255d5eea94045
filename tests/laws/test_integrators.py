"""Orders of convergence, tolerances, and what integrators must conserve."""

import numpy as np
import pytest
from reference import coordinate_rate, distance, solve

import kinetree as kt
import oracle

SECONDS = 0.25
ORDERS = {"semi_implicit": 1, "euler": 1, "rk4": 4}


@pytest.fixture(scope="module")
def problem():
    """A floating tree with balls, hinges and slides that swings, with springs and dampers, and where it will be."""
    kinds = ("spherical", "revolute", "prismatic", "universal", "planar")
    plain = oracle.random_model(11, 5, kinds, roots=0.0, massless=0.0, first="free")
    q, v, _, _ = oracle.random_motion(plain, 3)
    stiffness, damping = 3.0, 0.4
    hinges = [name for name, body in zip(plain.joint_names, plain.joint_bodies) if plain.joint(body).nq == 1]
    assert hinges
    forces = [kt.forces.JointSpring(hinges, stiffness), kt.forces.JointDamping(None, damping)]
    own = plain.dof_indices(hinges)
    at_q = np.array([plain.q_slice(name).start for name in hinges])

    def tau(q, v, t):
        force = -damping * v
        force[own] -= stiffness * q[at_q]
        return force

    return plain, q, v, forces, solve(plain, q, v, SECONDS, tau)


def simulate(problem, integrator, dt, **options):
    model, q, v, forces, _ = problem
    sim = kt.Simulation(model, q, v, dt=dt, integrator=integrator, forces=forces, **options)
    sim.step(round(SECONDS / dt))
    return sim


@pytest.mark.parametrize("integrator", ORDERS)
def test_order_of_convergence(problem, integrator):
    """The error falls with the power of the step that the integrator's order says."""
    model, expected = problem[0], problem[4]
    counts = np.array([40, 80, 160, 320]) if integrator == "rk4" else np.array([400, 800, 1600, 3200])
    errors = []
    for n in counts:
        sim = simulate(problem, integrator, SECONDS / n)
        errors.append(distance(model, (sim.q, sim.v), expected))
    order = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    print(f"{integrator}: order {order:.3f}, errors {errors}")
    assert abs(order - ORDERS[integrator]) < 0.15, (
        f"{integrator} has order {order:.3f}; errors {errors} at {counts} steps"
    )


def test_adaptive_steps_keep_their_tolerance(problem):
    """The error over the whole motion is of the size of the tolerance, whatever dt is, and falls with it."""
    model, expected = problem[0], problem[4]
    for dt in (SECONDS, SECONDS / 7):
        errors = []
        for tolerance in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12):
            sim = simulate(problem, "rk45", dt, tolerance=tolerance)
            errors.append(distance(model, (sim.q, sim.v), expected))
            # the tolerance holds for each step, relative to 1 + |y|; errors of some dozen steps add up and grow
            size = 1.0 + np.abs(np.concatenate(expected)).max()
            assert errors[-1] < 30 * tolerance * size, f"error {errors[-1]:.3g} at tolerance {tolerance:g}, dt {dt:.3g}"
        print(f"dt {dt:.3g}: errors {errors}, {sim.stats}")
        assert errors[-1] < 1e-6 * errors[0], f"the error does not follow the tolerance: {errors}"


def test_one_step_of_each_explicit_scheme(problem):
    """Semi-implicit: the new velocity moves; Euler: the old one does. Without springs to take implicitly."""
    model, q, v, _, _ = problem
    a, dt = kt.forward_dynamics(model, q, v), 1e-2
    later = {
        "semi_implicit": kt.integrate(model, q, v + dt * a, dt),
        "euler": kt.integrate(model, q, v, dt),
    }
    for integrator, expected in later.items():
        sim = kt.Simulation(model, q, v, dt=dt, integrator=integrator)
        sim.step()
        oracle.assert_close(sim.q, expected, 1e-13, f"q of {integrator}")
        oracle.assert_close(sim.v, v + dt * a, 1e-12, f"v of {integrator}")


def test_one_step_of_the_classical_runge_kutta_scheme():
    """A step is Kutta's (1901) with the rates of the oracle, on a model where no normalisation interferes."""
    model = oracle.random_model(2, 4, ("revolute", "prismatic", "universal"), massless=0.0)
    q, v, _, _ = oracle.random_motion(model, 2)
    y, h = np.concatenate((q, v)), 1e-2

    def slope(y):
        q, v = y[: model.nq], y[model.nq :]
        return np.concatenate((coordinate_rate(model, q, v), oracle.forward_dynamics(model, q, v, np.zeros(model.nv))))

    k1 = slope(y)
    k2 = slope(y + h / 2 * k1)
    k3 = slope(y + h / 2 * k2)
    k4 = slope(y + h * k3)
    expected = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    sim = kt.Simulation(model, q, v, dt=h, integrator="rk4")
    sim.step()
    oracle.assert_close(np.concatenate((sim.q, sim.v)), expected, 1e-12, "state after one step")


@pytest.mark.slow_python
def test_energy_of_a_pendulum_of_300_links():
    """Over 10 s of RK4 at 1 ms from 0.8 rad, energy drifts by less than 1e-6 of what there is above rest.

    Released from the horizontal it cracks like a whip, and the step is too long for any Runge-Kutta method of order 4.
    """
    model = kt.models.pendulum(300)
    hanging = kt.energy(model, model.neutral(), np.zeros(model.nv))[1]
    q = model.neutral()
    q[0] = 0.8
    sim = kt.Simulation(model, q, dt=1e-3, integrator="rk4")
    start = sum(sim.energy())
    size = abs(start - hanging)
    drifts = []
    for _ in range(10):
        sim.step(1000)
        drifts.append((sum(sim.energy()) - start) / size)
    worst = np.abs(drifts).max()
    print(f"largest drift {worst:.3g} of {size:.4g} J; fastest joint {np.abs(sim.v).max():.3g} rad/s")
    assert worst < 1e-6, f"energy drifts by {worst:.3g} relative; each second: {drifts}"


@pytest.mark.slow_python
@pytest.mark.parametrize("seed", range(3))
def test_momentum_of_a_floating_tree(seed):
    """Without gravity, linear and angular momentum of a floating tree stay to 1e-10 over a second of RK4."""
    model = oracle.random_model(seed, 8, roots=0.0, massless=0.0, armature=0.0, first="free")
    q, v, _, _ = oracle.random_motion(model, seed)
    start = kt.momentum(model, q, v)
    energy = sum(kt.energy(model, q, v, gravity=(0, 0, 0)))
    sim = kt.Simulation(model, q, v, dt=1e-4, integrator="rk4", gravity=(0, 0, 0))
    for _ in range(5):
        sim.step(2000)
        oracle.assert_close(kt.momentum(model, sim.q, sim.v), start, 1e-10, f"momentum at {sim.time:g} s")
        now = sum(kt.energy(model, sim.q, sim.v, gravity=(0, 0, 0)))
        oracle.assert_close(now, energy, 1e-9, f"energy at {sim.time:g} s")


@pytest.mark.parametrize("integrator", ["semi_implicit", "euler", "rk4", "rk45"])
@pytest.mark.parametrize(("length", "damping"), [(0.0, 0.0), (0.2, 0.5)])
def test_momentum_of_free_bodies_that_pull_each_other(integrator, length, damping):
    """A spring between two bodies, and a damped one along its line, change neither their momentum nor their spin."""
    body = {"mass": 1.5, "com": (0.1, 0, 0), "inertia": (0.1, 0.2, 0.25)}
    model = kt.ModelBuilder().body("a", joint=kt.Free, **body).body("b", joint=kt.Free, **body).build()
    q, v = model.random_state(4)
    spring = kt.forces.Spring("a", (0.1, 0.2, 0.3), (0.3, 0.2, 0.1), 20.0, damping, length, other="b")
    start = kt.momentum(model, q, v)
    precise = integrator.startswith("rk")
    dt = 1e-3 if precise else 1e-4
    sim = kt.Simulation(model, q, v, dt=dt, gravity=(0, 0, 0), integrator=integrator, forces=[spring])
    sim.step(round(0.3 / dt))
    now = kt.momentum(model, sim.q, sim.v)
    tolerance = 1e-9 if precise else 2e-3  # the latter at first order
    oracle.assert_close(now[3:], start[3:], tolerance, "linear momentum")
    oracle.assert_close(now[:3], start[:3], tolerance, "angular momentum")
