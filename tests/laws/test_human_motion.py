"""Laws of following, of torques and of ground forces: what was put in comes out, and mechanics balances."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, MarkerError
from kinetree.human import Motion, Subject, Trial, fit, follow, forward, inverse_dynamics, replay
from kinetree.human.contact import sole_paths
from kinetree.human.following import Fitter
from kinetree.human.rates import derivatives
from kinetree.human.synthetic import marked_human, synthetic_walk, walking_motion

pytestmark = [pytest.mark.slow_python, pytest.mark.no_bounds]


@pytest.fixture(scope="module")
def walk() -> Motion:
    """A second of the embedded walk."""
    return walking_motion(seconds=1.2, rate=100.0)


@pytest.fixture(scope="module")
def trial(walk) -> Trial:
    positions = sole_paths(walk.subject, walk, walk.subject.bodies, walk.subject.offsets)
    return Trial("the walk", walk.subject.labels, walk.times, positions, 100.0)


def test_following_its_own_markers_returns_the_movement(walk, trial):
    """Markers of the model itself: angles to half a degree (the weak springs toward rest), no lag."""
    found = follow(walk.subject, trial, cutoff=None)
    gap = np.angle(np.exp(1j * (found.angles - walk.angles)))
    assert found.marker_rms < 2e-3, found.marker_rms
    legs = [k for k, name in enumerate(found.angle_names) if name.startswith(("hip_flex", "knee_flex", "elbow_flex"))]
    assert np.abs(gap[:, legs]).max() < np.radians(1.5), np.degrees(np.abs(gap[:, legs]).max())


def test_a_fit_is_a_minimum_that_a_general_solver_agrees_with(walk, trial):
    """The pose of one frame against scipy's least squares on the same cost, from a poor start."""
    from scipy.optimize import minimize

    subject = walk.subject
    fitter = Fitter(subject, huber=10.0, steps=200, predict=0.0)
    rng = np.random.default_rng(0)
    target = trial.positions[20] + rng.normal(0, 0.01, trial.positions[20].shape)
    start = kt.integrate(subject.model, walk.q[20], 0.05 * rng.normal(size=subject.model.nv), 1.0)
    _, q, _, info = fitter.run(target[None], start)
    model, prior, neutral = subject.model, subject.prior, subject.model.neutral()

    def cost(step: np.ndarray) -> float:
        here = kt.integrate(model, q[0], step, 1.0)
        poses = kt.body_poses(model, here)[subject.bodies]
        placed = np.einsum("mij,mj->mi", poses[:, :3, :3], subject.offsets) + poses[:, :3, 3]
        value = 0.5 * subject.weights @ np.sum((placed - target) ** 2, axis=1)
        x, moved = kt.difference(model, neutral, here), kt.difference(model, start, here)
        beyond = np.where(x < prior[:, 2], x - prior[:, 2], np.where(x > prior[:, 3], x - prior[:, 3], 0.0))
        return float(value + 0.5 * (prior[:, 1] @ x**2 + prior[:, 4] @ beyond**2 + prior[:, 5] @ moved**2))

    assert cost(np.zeros(model.nv)) == pytest.approx(info[0, 1], rel=1e-9)
    better = minimize(cost, np.zeros(model.nv), method="BFGS", options={"maxiter": 60})
    assert better.fun >= info[0, 1] * (1 - 1e-4), (better.fun, info[0, 1])


def test_torques_are_those_of_the_recursion(walk):
    """Every frame's torques equal `kinetree.inverse_dynamics`, ground forces included."""
    subject = walk.subject
    result = inverse_dynamics(subject, walk, forces="contact")
    for t in (0, 40, 90):
        external = np.zeros((21, 6))
        poses = kt.body_poses(subject.model, walk.q[t])
        for k, name in enumerate(("right_heel", "left_heel")):
            body = subject.model.names.index(name)
            external[body, 3:] = result.ground.force[t, k]
            external[body, :3] = result.ground.moment[t, k] - np.cross(poses[body][:3, 3], result.ground.force[t, k])
        alone = kt.inverse_dynamics(
            subject.model, walk.q[t], walk.v[t], walk.a[t], external=external, gravity=subject.gravity
        )
        np.testing.assert_allclose(result.tau[t], alone, atol=1e-8)


def test_ground_and_residual_are_the_change_of_momentum(walk):
    """Sum of all forces on the body = rate of its momentum, linear and angular."""
    subject = walk.subject
    result = inverse_dynamics(subject, walk, forces="contact")
    momentum = np.array([kt.momentum(subject.model, q, v) for q, v in zip(walk.q, walk.v, strict=True)])
    rate, _ = derivatives(walk.times, momentum)
    centre = np.array([kt.center_of_mass(subject.model, q) for q in walk.q])
    weight = subject.mass * np.array(subject.gravity)
    force = result.ground.force.sum(1) + result.residual_force + weight
    np.testing.assert_allclose(force[10:-10], rate[10:-10, 3:], atol=0.02 * np.abs(weight).max())
    root = walk.q[:, 4:7]
    moment = result.ground.moment.sum(1) + result.residual[:, :3] + np.cross(root, result.residual_force)
    moment += np.cross(centre, weight)
    np.testing.assert_allclose(moment[10:-10], rate[10:-10, :3], atol=0.02 * np.abs(weight).max())


def test_estimated_forces_stay_in_their_cones_and_leave_little(walk):
    """No foot pulls, friction holds, and the root is left with little in walking."""
    result = inverse_dynamics(walk.subject, walk, forces="contact", friction=0.8)
    force = result.ground.force
    assert (force[..., 2] >= -1e-9).all()
    assert (np.linalg.norm(force[..., :2], axis=2) <= 0.8 * force[..., 2] + 1e-6).all()
    assert result.residual_share < 0.05
    with pytest.raises(ArgumentError, match="friction"):
        inverse_dynamics(walk.subject, walk, forces="contact", friction=0.0)


def test_torques_played_back_with_feedback_repeat_the_movement_and_without_do_not(walk):
    """The paper: closed loop follows, open loop diverges."""
    result = inverse_dynamics(walk.subject, walk, forces="contact")
    closed = forward(walk.subject, result)
    opened = forward(walk.subject, result, closed_loop=False)
    assert closed.stopped is None
    assert closed.joint_rms.max() < 0.02
    assert opened.stopped is not None or opened.joint_rms[-1] > 20 * closed.joint_rms.max()
    assert opened.joint_rms.max() > 100 * max(opened.joint_rms[1], closed.joint_rms.max() / 100)


def test_velocities_carry_the_angles(walk):
    """Angles and velocities belong together: the sum of steps stays within a tenth of a degree of the recorded path."""
    assert replay(walk.subject, walk).drift < np.radians(0.3)


def test_gaps_jumps_and_swaps_are_survived_and_said(walk, trial):
    """One vanishes, one jumps, two change places: the pose hardly changes, and the notes say what."""
    positions = trial.positions.copy()
    labels = list(trial.labels)
    knee, toe, left = labels.index("RKNE"), labels.index("RTOE"), labels.index("LTOE")
    positions[30:36, knee] = np.nan
    positions[50:52, labels.index("C7")] += 0.6
    small = labels.index("RMT5")
    positions[70:, [toe, small]] = positions[70:, [small, toe]]
    positions[20:80, left] = np.nan
    clean = follow(walk.subject, trial, cutoff=None)
    found = follow(walk.subject, trial.with_positions(positions), cutoff=None)
    gap = np.abs(np.angle(np.exp(1j * (found.angles - clean.angles))))
    assert gap[:, found.angle_names.index("knee_flexion_r")].max() < 0.05
    text = " ".join(found.notes)
    assert "change places" in text
    assert "jumps" in text
    assert "gaps" in text


def test_the_fit_finds_the_size_of_a_person():
    """A person taller than the template by 8 %: lengths of thigh and shank within 2 cm, mass by the plates."""
    trial = synthetic_walk(height=1.89, mass=90.0, seconds=1.5)
    subject = fit(trial)
    assert subject.height == pytest.approx(1.89, abs=0.03)
    assert subject.mass == pytest.approx(90.0, rel=0.04)
    history = subject.report["validation"]
    assert min(history) < history[0]
    names = subject.model.names
    for child, share in (("right_lower_leg", 0.242), ("right_heel", 0.246)):
        length = np.linalg.norm(subject.model.placements[names.index(child), 9:])
        assert length == pytest.approx(share * 1.89, abs=0.02)


def test_what_cannot_be_followed_is_said():
    """Too few markers, a model without markers, unknown forces and methods."""
    subject = marked_human(1.7, 70.0)
    few = Trial("few", ("A", "B"), np.arange(5) / 10, np.zeros((5, 2, 3)), 10.0)
    with pytest.raises(MarkerError, match="at least 3"):
        follow(subject, few)
    with pytest.raises(MarkerError, match="no markers"):
        Subject.of(kt.models.pendulum(3))
    motion = walking_motion(seconds=0.4)
    with pytest.raises(ArgumentError, match="no force plates"):
        inverse_dynamics(motion.subject, motion, forces="plates")
    with pytest.raises(ArgumentError, match="auto"):
        inverse_dynamics(motion.subject, motion, forces="guess")
    with pytest.raises(ArgumentError, match="pose"):
        follow(subject, synthetic_walk(seconds=0.4, plates=False), method="magic")
    with pytest.raises(ArgumentError, match="height"):
        fit(synthetic_walk(seconds=0.4, plates=False), height=12)
