"""The oracle itself is held to account: by differences of poses, by Lagrange's equations and by the double pendulum."""

import numpy as np
import pytest

import kinetree as kt
import oracle
from oracle.motion import angular, point_motion

FINE, COARSE = 1e-5, 1e-4  # steps of first and second differences: truncation and rounding are both small there


def along(model, q, v, a, t):
    """Return the configuration at time t of the motion that starts at q with velocity v and acceleration a."""
    return oracle.integrate(model, q, t * v + t * t / 2 * a, 1.0)


@pytest.mark.parametrize("kind", oracle.MOVING)
def test_velocities_are_central_differences_of_poses(kind):
    """First and second derivatives that the product rule gives match differences of the poses themselves."""
    model = oracle.random_model(7, 4, (kind, "fixed"), first=kind)
    q, v, a, _ = oracle.random_motion(model, 3)

    def pose_at(t):
        return oracle.body_poses(model, along(model, q, v, a, t))

    now = pose_at(0.0)
    slope = (pose_at(FINE) - pose_at(-FINE)) / (2 * FINE)
    curvature = (pose_at(COARSE) - 2 * now + pose_at(-COARSE)) / COARSE**2
    for body, (pose, rate, second) in enumerate(oracle.body_motions(model, q, v, a)):
        oracle.assert_close(pose, now[body], 1e-14, f"{kind} pose of body {body}")
        size = 1.0 + np.abs(second).max()
        oracle.assert_close(slope[body], rate, 1e-8, f"{kind} rate of body {body}", size)
        oracle.assert_close(curvature[body], second, 1e-6, f"{kind} second rate of body {body}", size)


@pytest.mark.parametrize("seed", range(4))
def test_lagranges_equations(seed):
    """Where velocities are rates of coordinates, tau = d/dt dL/dv - dL/dq, with derivatives by differences."""
    kinds = ("revolute", "prismatic", "helical", "universal", "planar", "fixed")
    model = oracle.random_model(seed, 5, kinds)
    q, v, a, _ = oracle.random_motion(model, seed)
    h = 1e-5

    def lagrangian(q, v):
        kinetic, potential = oracle.energy(model, q, v)
        return kinetic - potential

    def slope(function, n):
        return np.array([(function(h * e) - function(-h * e)) / (2 * h) for e in np.eye(n)])

    def impulse(t):  # dL/dv is exact by mass matrix, and L is quadratic in v: differences would be exact too
        return oracle.mass_matrix(model, along(model, q, v, a, t)) @ (v + t * a)

    rate = (impulse(h) - impulse(-h)) / (2 * h)
    force = rate - slope(lambda dq: lagrangian(q + dq, v), model.nq)
    oracle.assert_close(oracle.inverse_dynamics(model, q, v, a), force, 1e-7, "joint forces")
    momenta = slope(lambda dv: lagrangian(q, v + dv), model.nv)
    oracle.assert_close(momenta, impulse(0.0), 1e-7, "generalised momenta")


def test_double_pendulum_equations():
    """Point masses on massless rods give the textbook's mass matrix and bias (Goldstein, chapter 1)."""
    l1, l2, m1, m2, g = 0.7, 0.4, 1.3, 0.6, 9.81
    model = (
        kt.ModelBuilder()
        .body("upper", joint=kt.Revolute("-y"), mass=m1, com=(0, 0, -l1))
        .body("lower", parent="upper", joint=kt.Revolute("-y"), placement=(None, (0, 0, -l1)), mass=m2, com=(0, 0, -l2))
        .build()
    )
    q, v = np.array([0.8, -1.9]), np.array([1.1, 2.3])
    c, s, c2 = np.cos(q[1]), np.sin(q[1]), m2 * l1 * l2
    matrix = [[(m1 + m2) * l1**2 + m2 * l2**2 + 2 * c2 * c, m2 * l2**2 + c2 * c], [m2 * l2**2 + c2 * c, m2 * l2**2]]
    fall = m2 * g * l2 * np.sin(q[0] + q[1])
    bias = [
        -c2 * s * (2 * v[0] * v[1] + v[1] ** 2) + (m1 + m2) * g * l1 * np.sin(q[0]) + fall,
        c2 * s * v[0] ** 2 + fall,
    ]
    oracle.assert_close(oracle.mass_matrix(model, q), matrix, 1e-14, "mass matrix")
    oracle.assert_close(oracle.inverse_dynamics(model, q, v, np.zeros(2)), bias, 1e-14, "bias")


@pytest.mark.parametrize("seed", range(3))
def test_momentum_and_energy_agree_with_the_mass_matrix(seed):
    """Kinetic energy is v'Mv/2, and the momentum of a floating tree is what its free joint's rows of M v say."""
    model = oracle.random_model(seed, 8, roots=0.0, armature=0.0, first="free")
    q, v, _, _ = oracle.random_motion(model, seed)
    matrix = oracle.mass_matrix(model, q)
    oracle.assert_close(oracle.energy(model, q, v)[0], 0.5 * v @ matrix @ v, 1e-13, "kinetic energy")
    pose = oracle.body_motions(model, q)[0][0]
    own = (matrix @ v)[:6]
    joint_axes = model.placements[0, :9].reshape(3, 3)
    turned = np.concatenate((pose[:3, :3] @ own[:3], joint_axes @ own[3:]))
    oracle.assert_close(oracle.momentum(model, q, v, pose[:3, 3]), turned, 1e-13, "momentum about the root")


@pytest.mark.parametrize("kind", oracle.MOVING)
def test_integrate_and_difference_are_inverse(kind):
    """Going from q0 with difference(q0, q1) for one second arrives at the pose of q1."""
    model = oracle.random_model(1, 3, (kind,), first=kind)
    q0, q1 = model.random_state(1)[0], model.random_state(2)[0]
    arrived = oracle.integrate(model, q0, oracle.difference(model, q0, q1), 1.0)
    oracle.assert_close(oracle.body_poses(model, arrived), oracle.body_poses(model, q1), 1e-13, kind)


def test_a_motion_derivative_reads_a_known_rotation():
    """A body that turns about z at a constant rate has that angular velocity, and its points fall towards the axis."""
    model = kt.ModelBuilder().body("arm", joint=kt.Revolute("z"), mass=1, com=(2, 0, 0), inertia=(1, 1, 1)).build()
    motion = oracle.body_motions(model, np.array([0.3]), np.array([1.5]))[0]
    oracle.assert_close(angular(motion)[0], [0, 0, 1.5], 1e-15, "angular velocity")
    oracle.assert_close(angular(motion)[1], [0, 0, 0], 1e-15, "angular acceleration", 1.0)
    place, _, acceleration = point_motion(motion, np.array([2.0, 0, 0]))
    oracle.assert_close(acceleration, -(1.5**2) * place, 1e-15, "centripetal acceleration")
