"""Where bodies are and how they move: against the oracle, and by the laws of groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
import oracle

EXACT = 1e-12  # a dozen matrix products on numbers near 1, relative to the largest entry
seeds = st.integers(0, 10**6)
sizes = st.integers(1, 14)


def quaternion_starts(model):
    """Return where the quaternions stand in q."""
    kinds = [type(model.joint(body)).__name__ for body in range(model.nbodies)]
    return [int(model.q_starts[body]) for body, kind in enumerate(kinds) if kind in ("Spherical", "Free")]


@given(seeds, sizes)
def test_poses_velocities_and_accelerations(seed, n):
    """Poses and their derivatives are what the product rule on 4x4 matrices gives."""
    model = oracle.random_model(seed, n)
    q, v, a, _ = oracle.random_motion(model, seed)
    oracle.assert_close(kt.body_poses(model, q), oracle.body_poses(model, q), EXACT, "poses")
    oracle.assert_close(
        kt.body_velocities(model, q, v), oracle.body_velocities(model, q, v), EXACT, "velocities", 1.0 + 10 * n
    )
    expected = oracle.body_accelerations(model, q, v, a)
    oracle.assert_close(
        kt.body_accelerations(model, q, v, a), expected, EXACT, "accelerations", 1.0 + np.abs(expected).max(initial=0.0)
    )


@given(seeds, sizes)
def test_velocities_are_central_differences_of_poses(seed, n):
    """A small step with `integrate` moves every body with its velocity."""
    model = oracle.random_model(seed, n)
    q, v, _, _ = oracle.random_motion(model, seed)
    h = 1e-5
    before, after = (kt.body_poses(model, kt.integrate(model, q, v, dt)) for dt in (-h, h))
    poses, velocities = kt.body_poses(model, q), kt.body_velocities(model, q, v)
    spin = np.einsum("nij,nkj->nik", (after - before)[:, :3, :3] / (2 * h), poses[:, :3, :3])
    turned = np.stack((spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]), axis=1)
    scale = 1.0 + np.abs(velocities).max(initial=0.0) ** 3  # the third derivative, which a central difference leaves
    oracle.assert_close(turned, velocities[:, :3], 1e-9, "angular velocities", scale)
    oracle.assert_close((after - before)[:, :3, 3] / (2 * h), velocities[:, 3:], 1e-9, "velocities", scale)


@given(seeds, sizes, st.sampled_from(["world", "body"]))
def test_jacobian(seed, n, frame):
    """The Jacobian of a point is the oracle's, column by column, and J v is the velocity of that point."""
    model = oracle.random_model(seed, n)
    q, v, _, _ = oracle.random_motion(model, seed)
    rng = np.random.default_rng(seed)
    body, point = int(rng.integers(n)), rng.normal(size=3)
    ours = kt.jacobian(model, q, body, point=point, frame=frame)
    assert ours.shape == (6, model.nv)
    oracle.assert_close(ours, oracle.jacobian(model, q, body, point, frame), EXACT, "Jacobian", 10.0)
    by_name = kt.jacobian(model, q, model.names[body], point=point, frame=frame)
    assert np.array_equal(ours, by_name)
    if frame == "world":
        at_origin = kt.jacobian(model, q, body) @ v
        oracle.assert_close(at_origin, kt.body_velocities(model, q, v)[body], EXACT, "J v", 1.0 + 10 * n)


@given(seeds, sizes)
def test_centre_of_mass_and_momentum(seed, n):
    """Centre of mass and momentum are sums over the bodies; linear momentum is mass times velocity of the centre."""
    model = oracle.random_model(seed, n, massless=0.1)
    q, v, _, _ = oracle.random_motion(model, seed)
    about = np.random.default_rng(seed).normal(size=3)
    oracle.assert_close(kt.center_of_mass(model, q), oracle.center_of_mass(model, q), EXACT, "centre of mass", 1.0 + n)
    ours, expected = kt.momentum(model, q, v, about=about), oracle.momentum(model, q, v, about)
    oracle.assert_close(ours, expected, EXACT, "momentum", 1.0 + np.abs(expected).max(initial=0.0))
    h = 1e-5
    before, after = (kt.center_of_mass(model, kt.integrate(model, q, v, dt)) for dt in (-h, h))
    scale = 1.0 + np.abs(ours).max(initial=0.0) ** 3
    oracle.assert_close(ours[3:], model.total_mass * (after - before) / (2 * h), 1e-9, "m v", scale)


@given(seeds, sizes, st.floats(-2, 2))
def test_integrate_is_the_exponential(seed, n, dt):
    """`integrate` leads to the pose that the matrix exponential gives, with unit quaternions."""
    model = oracle.random_model(seed, n)
    q, v, _, _ = oracle.random_motion(model, seed)
    moved = kt.integrate(model, q, v, dt)
    expected = oracle.body_poses(model, oracle.integrate(model, q, v, dt))
    oracle.assert_close(
        kt.body_poses(model, moved), expected, EXACT, "poses after integrate", 1.0 + np.abs(expected).max(initial=0.0)
    )
    for start in quaternion_starts(model):
        oracle.assert_close(np.linalg.norm(moved[start : start + 4]), 1.0, 1e-14, "length of a quaternion")


@given(seeds, sizes, st.floats(-1, 1), st.floats(-1, 1))
def test_integrate_and_difference_obey_the_group_axioms(seed, n, s, t):
    """Nothing moves in no time; s then t is s + t; back and forth is nothing; difference undoes integrate."""
    model = oracle.random_model(seed, n)
    q, v, _, _ = oracle.random_motion(model, seed)
    oracle.assert_close(kt.integrate(model, q, v, 0.0), q, 1e-15, "no time", 1.0)  # quaternions are normalised again

    def same(a, b, what):
        oracle.assert_close(kt.body_poses(model, a), kt.body_poses(model, b), EXACT, what, 10.0 * n)

    stepwise = kt.integrate(model, kt.integrate(model, q, v, s), v, t)
    same(stepwise, kt.integrate(model, q, v, s + t), "s then t")
    same(kt.integrate(model, kt.integrate(model, q, v, s), v, -s), q, "there and back")
    other = model.random_state(seed + 1)[0]
    moved = kt.difference(model, q, other)
    same(kt.integrate(model, q, moved, 1.0), other, "integrate(q0, difference)")
    oracle.assert_close(moved, oracle.difference(model, q, other), 1e-9, "difference", 5.0)  # acos near pi
    small = v / max(1.0, np.abs(v).max(initial=0.0))  # below half a turn, where the logarithm is unique
    oracle.assert_close(kt.difference(model, q, kt.integrate(model, q, small, 1.0)), small, EXACT, "difference", 1.0)
    oracle.assert_close(kt.difference(model, q, q), np.zeros(model.nv), EXACT, "difference of q and q", 1.0)


@given(seeds, st.floats(-300, -1))
def test_difference_keeps_the_digits_of_small_steps(seed, exponent):
    """A step of 10^-300 comes back with all its digits where no large number stands beside it."""
    model = oracle.random_model(seed, 3, ("spherical",), first="spherical")
    v = np.random.default_rng(seed).normal(size=model.nv) * 10.0**exponent
    q = model.neutral()
    oracle.assert_close(kt.difference(model, q, kt.integrate(model, q, v, 1.0)), v, 1e-14, "small step")


@given(seeds)
def test_a_quaternion_and_its_negative_are_one_configuration(seed):
    """Nothing changes when the sign of every quaternion does."""
    model = oracle.random_model(seed, 8, ("spherical", "free", "revolute"), first="free")
    q, v, _, tau = oracle.random_motion(model, seed)
    flipped = q.copy()
    for start in quaternion_starts(model):
        flipped[start : start + 4] *= -1
    assert np.array_equal(kt.body_poses(model, q), kt.body_poses(model, flipped))
    assert np.array_equal(kt.forward_dynamics(model, q, v, tau), kt.forward_dynamics(model, flipped, v, tau))
    oracle.assert_close(kt.difference(model, q, flipped), np.zeros(model.nv), EXACT, "difference to the negative", 1.0)
    moved = kt.integrate(model, q, v, 0.3), kt.integrate(model, flipped, v, 0.3)
    assert np.array_equal(kt.body_poses(model, moved[0]), kt.body_poses(model, moved[1]))


def test_half_a_turn_has_a_difference():
    """The rotation by pi, where the logarithm is not unique, is still a difference that leads there."""
    model = kt.ModelBuilder().body("ball", joint=kt.Spherical, mass=1, inertia=(1, 1, 1)).build()
    for axis in (*np.eye(3), np.array([0.6, 0.0, 0.8])):
        away = np.concatenate(([0.0], axis))
        moved = kt.difference(model, model.neutral(), away)
        oracle.assert_close(np.linalg.norm(moved), np.pi, 1e-14, "half a turn")
        arrived = kt.body_poses(model, kt.integrate(model, model.neutral(), moved, 1.0))
        oracle.assert_close(arrived, kt.body_poses(model, away), 1e-14, "pose after half a turn")


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_one_body_of_every_kind_of_joint(kind):
    """A single joint with a random placement stands where the oracle says."""
    model = oracle.random_model(5, 1, (kind,))
    q, v, a, _ = oracle.random_motion(model, 5)
    oracle.assert_close(kt.body_poses(model, q), oracle.body_poses(model, q), 1e-14, kind, 3.0)
    oracle.assert_close(kt.body_velocities(model, q, v), oracle.body_velocities(model, q, v), 1e-14, kind, 3.0)
    accelerations = oracle.body_accelerations(model, q, v, a)
    oracle.assert_close(kt.body_accelerations(model, q, v, a), accelerations, 1e-14, kind, 10.0)


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1.0, 1e2, 1e5, 1e9, 1e15])
@pytest.mark.parametrize("joint", [kt.Revolute("z"), kt.Helical("z"), kt.Planar(), kt.Universal("z", "x")])
def test_angles_of_any_size(joint, scale):
    """Sines and cosines are right to the last digits for small angles, at multiples of pi/4, and after many turns."""
    model = kt.ModelBuilder().body("b", joint=joint, mass=1, com=(0.1, 0, 0), inertia=(1, 1, 1)).build()
    angles = np.concatenate((np.random.default_rng(0).uniform(-1, 1, 500), np.arange(-16, 17) * np.pi / 4)) * scale
    worst = 0.0
    for angle in angles:
        q = np.zeros(model.nq)
        q[0] = angle
        turn = kt.body_poses(model, q)[0, :3, :3]
        c, s = np.cos(angle), np.sin(angle)
        worst = max(worst, np.abs(turn - [[c, -s, 0], [s, c, 0], [0, 0, 1]]).max())
        worst = max(worst, abs(turn[1, 0] - s) / max(abs(s), 1e-300) if abs(angle) < 0.5 else 0.0)
    assert worst < 1e-15, f"a rotation by angles up to {16 * scale:g} is off by {worst:.3g}"
