"""Motions that can be written down: the simulation follows the formula."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import kinetree as kt
import oracle

G = 9.81
PRECISE = {"integrator": "rk45", "tolerance": 1e-13}


def test_pendulum_period():
    """A mathematical pendulum released at rest passes below after K(k) sqrt(l/g) and is back after four times that."""
    length, angle = 0.7, 2.6
    model = kt.ModelBuilder().body("bob", joint=kt.Revolute("y"), mass=0.4, com=(0, 0, -length)).build()
    quarter = np.sqrt(length / G) * ellipk(np.sin(angle / 2) ** 2)
    sim = kt.Simulation(model, [angle], dt=quarter / 50, **PRECISE)
    sim.step(50)
    below = np.sqrt(2 * G / length * (1 - np.cos(angle)))
    oracle.assert_close(sim.q, [0.0], 1e-10, "angle at a quarter period", 1.0)
    oracle.assert_close(sim.v, [-below], 1e-10, "velocity at a quarter period")
    sim.step(150)
    oracle.assert_close(sim.q, [angle], 1e-9, "angle after a period")
    oracle.assert_close(sim.v, [0.0], 1e-9, "velocity after a period", below)


def test_double_pendulum():
    """Two point masses follow the textbook's equations in absolute angles."""
    l1, l2, m1, m2 = 0.6, 0.5, 1.1, 0.8
    model = (
        kt.ModelBuilder()
        .body("upper", joint=kt.Revolute("-y"), mass=m1, com=(0, 0, -l1))
        .body("lower", parent="upper", joint=kt.Revolute("-y"), placement=(None, (0, 0, -l1)), mass=m2, com=(0, 0, -l2))
        .build()
    )

    def slope(t, y):
        a, b, da, db = y
        d, m = a - b, m1 + m2
        below = 2 * m1 + m2 - m2 * np.cos(2 * d)
        dda = -G * (2 * m1 + m2) * np.sin(a) - m2 * G * np.sin(a - 2 * b)
        dda -= 2 * np.sin(d) * m2 * (db**2 * l2 + da**2 * l1 * np.cos(d))
        ddb = 2 * np.sin(d) * (da**2 * l1 * m + G * m * np.cos(a) + db**2 * l2 * m2 * np.cos(d))
        return [da, db, dda / (l1 * below), ddb / (l2 * below)]

    a, b = 1.2, 2.0  # from the vertical
    expected = solve_ivp(slope, (0, 1.5), [a, b, 0, 0], method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    sim = kt.Simulation(model, [a, b - a], dt=1e-2, **PRECISE)
    sim.step(150)
    ours = [sim.q[0], sim.q[0] + sim.q[1], sim.v[0], sim.v[0] + sim.v[1]]
    oracle.assert_close(ours, expected, 1e-9, "angles and rates")


def test_free_asymmetric_top():
    """A body that turns freely follows Jacobi's elliptic functions (Landau and Lifshitz, Mechanics, section 37)."""
    i1, i2, i3 = 1.0, 2.0, 2.7
    w1, w3 = 0.9, 1.7
    energy2, momentum2 = i1 * w1**2 + i3 * w3**2, (i1 * w1) ** 2 + (i3 * w3) ** 2
    assert momentum2 > energy2 * i2
    rate = np.sqrt((i3 - i2) * (momentum2 - energy2 * i1) / (i1 * i2 * i3))
    k2 = (i2 - i1) * (energy2 * i3 - momentum2) / ((i3 - i2) * (momentum2 - energy2 * i1))
    w2 = np.sqrt((energy2 * i3 - momentum2) / (i2 * (i3 - i2)))
    for joint in (kt.Spherical, kt.Free):
        model = kt.ModelBuilder().body("top", joint=joint, mass=3.0, inertia=(i1, i2, i3)).build()
        v = np.zeros(model.nv)
        v[:3] = w1, 0, w3
        sim = kt.Simulation(model, v=v, gravity=(0, 0, 0), dt=0.05, **PRECISE)
        for _ in range(5):
            sim.step(60)
            sn, cn, dn, _ = ellipj(rate * sim.time, k2)
            oracle.assert_close(sim.v[:3], [w1 * cn, w2 * sn, w3 * dn], 1e-9, f"angular velocity at {sim.time:g} s")
            turn = kt.body_poses(model, sim.q)[0, :3, :3]
            still = turn @ (np.array([i1, i2, i3]) * sim.v[:3])
            oracle.assert_close(still, [i1 * w1, 0, i3 * w3], 1e-9, "angular momentum in space")


@pytest.mark.parametrize("integrator", ["rk4", "rk45"])
def test_projectile(integrator):
    """The centre of mass of a spinning free body flies a parabola, which both methods integrate exactly."""
    com = np.array([0.1, -0.2, 0.3])
    model = kt.ModelBuilder().body("stone", joint=kt.Free, mass=2.0, com=com, inertia=(0.1, 0.2, 0.25)).build()
    q, v = model.random_state(1)
    start, velocity = kt.center_of_mass(model, q), kt.momentum(model, q, v)[3:] / 2.0
    sim = kt.Simulation(model, q, v, dt=1e-3, integrator=integrator, tolerance=1e-12)
    sim.step(1000)
    t = sim.time
    expected = start + velocity * t + np.array([0, 0, -G / 2]) * t**2
    oracle.assert_close(kt.center_of_mass(model, sim.q), expected, 1e-9, "centre of mass")


def test_a_projectile_about_its_centre_needs_no_accuracy():
    """With the origin in the centre of mass and no spin, RK4 gives the parabola to rounding in one large step."""
    model = kt.ModelBuilder().body("stone", joint=kt.Free, mass=2.0, inertia=(0.1, 0.2, 0.25)).build()
    sim = kt.Simulation(model, v=[0, 0, 0, 3, 4, 5], dt=2.0, integrator="rk4")
    sim.step()
    oracle.assert_close(sim.q[4:], [6, 8, 10 - G / 2 * 4], 1e-14, "place")


def test_mass_on_a_spring():
    """A body on a spring to a point of the world swings harmonically in all three directions."""
    mass, k = 1.7, 40.0
    model = kt.ModelBuilder().body("ball", joint=kt.Free, mass=mass, inertia=(1, 1, 1)).build()
    q = model.neutral()
    q[4:] = 0.3, -0.2, 0.5
    spring = kt.forces.Spring("ball", (0, 0, 0), (0, 0, 0.1), k, 0.0)
    sim = kt.Simulation(model, q, [0, 0, 0, 1, 0, 0], dt=0.01, forces=[spring], **PRECISE)
    sim.step(123)
    w, t = np.sqrt(k / mass), sim.time
    rest = np.array([0, 0, 0.1 - mass * G / k])
    expected = rest + (q[4:] - rest) * np.cos(w * t) + np.array([1, 0, 0]) / w * np.sin(w * t)
    oracle.assert_close(sim.q[4:], expected, 1e-10, "place")


@pytest.mark.parametrize("given_by", ["forces", "model"])
def test_damped_oscillator(given_by):
    """A slide with spring and damper decays as exp(-d t / 2 m), whether the model or the simulation brings them."""
    mass, rotor, k, d, x0 = 1.2, 0.3, 25.0, 1.5, 0.4
    own = {"stiffness": k, "damping": d, "rest": 0.1} if given_by == "model" else {}
    forces = [kt.forces.JointSpring("slide", k, rest=0.1), kt.forces.JointDamping("slide", d)] if not own else []
    model = kt.ModelBuilder().body(
        "slide", joint=kt.Prismatic("x"), mass=mass, inertia=(1, 1, 1), armature=rotor, **own
    )
    sim = kt.Simulation(model.build(), [x0], dt=0.01, forces=forces, **PRECISE)
    sim.step(150)
    m = mass + rotor
    decay, t = d / (2 * m), sim.time
    w = np.sqrt(k / m - decay**2)
    expected = 0.1 + (x0 - 0.1) * np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))
    oracle.assert_close(sim.q, [expected], 1e-10, "place")


def test_nut_on_a_screw():
    """A nut on an upright frictionless screw falls with m g p^2 / (I + m p^2), while turning."""
    mass, inertia, pitch = 0.8, 0.003, 0.05
    model = (
        kt.ModelBuilder()
        .body("nut", joint=kt.Helical("z", pitch=pitch), mass=mass, inertia=(inertia, inertia, inertia))
        .build()
    )
    expected = -mass * G * pitch / (inertia + mass * pitch**2)
    oracle.assert_close(kt.forward_dynamics(model, [0.4], [3.0]), [expected], 1e-14, "angular acceleration")
    sim = kt.Simulation(model, [0.0], [2.0], dt=0.1, integrator="rk4")
    sim.step(10)
    oracle.assert_close(sim.q, [2.0 + expected / 2], 1e-13, "angle")
    oracle.assert_close(kt.body_poses(model, sim.q)[0, 2, 3], pitch * sim.q[0], 1e-14, "height")


def test_sliding_block_stops_by_friction():
    """Dry friction F brakes a block of mass m evenly, within v / (F / m), and holds it against less than F."""
    mass, friction, speed = 2.0, 3.0, 1.8
    model = kt.ModelBuilder().body("block", joint=kt.Prismatic("x"), mass=mass, friction=friction).build()
    sim = kt.Simulation(model, [0.0], [speed], dt=1e-4)
    sim.step(round(0.5 / 1e-4))
    oracle.assert_close(sim.v, [speed - friction / mass * 0.5], 1e-3, "velocity while sliding")
    sim.step(round(1.5 / 1e-4))
    oracle.assert_close(sim.q, [speed**2 * mass / (2 * friction)], 1e-3, "braking distance")
    resting = float(sim.q[0])
    sim.apply("block", force=(0.9 * friction, 0, 0))
    sim.step(round(1.0 / 1e-4))
    # friction is a steep damper below 1 mm/s: the block creeps, by less than that
    assert abs(sim.q[0] - resting) < 1.1e-3, f"pushed by 0.9 F, the block moved {sim.q[0] - resting:.3g} m in 1 s"


def test_kepler_needs_a_callback():
    """A force out of Python: a planet on an ellipse is back at its perihelion after Kepler's period."""
    model = kt.ModelBuilder().body("planet", joint=kt.Planar(), mass=1.0, inertia=(1, 1, 1)).build()
    gm, near, eccentricity = 1.0, 1.0, 0.3

    def pull(sim):
        place = sim.q[1:]
        return np.array([0.0, *(-gm * place / np.linalg.norm(place) ** 3)])

    axis = near / (1 - eccentricity)
    period = 2 * np.pi * np.sqrt(axis**3 / gm)
    speed = np.sqrt(gm / near * (1 + eccentricity))
    steps = 4000
    sim = kt.Simulation(
        model, [0, near, 0], [0, 0, speed], dt=period / steps, gravity=(0, 0, 0), forces=[kt.forces.Callback(pull)]
    )
    sim.step(steps)
    # semi-implicit Euler is symplectic here: the ellipse closes to the order of the step, 2 pi / 4000
    assert np.abs(sim.q[1:] - [near, 0]).max() < 5e-3, f"after a period the planet is at {sim.q[1:]}"
