"""The whole way from markers to report on a dozen frames: small enough for kernels as plain Python."""

from __future__ import annotations

import json

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError
from kinetree.human import Subject, Trial, fit, follow, forward, inverse_dynamics, replay
from kinetree.human.analysis import Analysis, write
from kinetree.human.experiments.swinging import bound_arms
from kinetree.human.judging import verdict
from kinetree.human.live import Live
from kinetree.human.plates import plate_forces
from kinetree.human.save import summary
from kinetree.human.synthetic import marked_human, synthetic_walk

pytestmark = pytest.mark.no_bounds


@pytest.fixture(scope="module")
def steps():
    """A third of a second of the walk, followed by the person who made it, and its torques."""
    trial = synthetic_walk(seconds=0.34, rate=50.0)
    subject = marked_human(1.75, 75.0)
    motion = follow(subject, trial)
    return trial, subject, motion, inverse_dynamics(subject, motion)


def test_a_fit_learns_from_a_few_frames(steps):
    """One round of learning already fits better than 5 cm, and says what it took for the mass and the stature."""
    subject = fit(steps[0].window(0.0, 0.11), mass=75, epochs=1, range_of_motion=True)
    assert subject.report["validation"][0] < 0.05
    assert subject.height == pytest.approx(1.75, abs=0.05)
    assert any("stature is estimated" in note for note in subject.report["notes"])
    assert (subject.prior[6:, 2] < subject.prior[6:, 3]).all()


def test_everything_is_written(steps, tmp_path):
    """Tables, report and summary of a few frames."""
    trial, subject, motion, result = steps
    assert motion.marker_rms < 0.01
    assert result.ground.source == "plates"
    done = Analysis(trial, subject, motion, result)
    files = {file.name for file in write(done, tmp_path / "out")}
    assert {"angles.mot", "torques.sto", "ground.mot", "markers.trc", "all.csv", "all.parquet", "report.html"} <= files
    facts = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert facts["frames"] == motion.frames
    assert summary(result)["mass_kg"] == pytest.approx(75.0)
    assert verdict(result)[0] in ("good", "usable", "poor")
    with pytest.raises(ArgumentError, match="is a file"):
        result.save(tmp_path / "out" / "all.csv")


def test_plates_go_to_their_feet(steps):
    """The plates of the embedded walk are named by side; the sum is the ground's force."""
    trial, _, motion, _ = steps
    ground = plate_forces(motion, None)
    np.testing.assert_allclose(ground.force.sum(1), trial.ground_force(), atol=1e-9)
    spots = ground.pressure()
    assert np.nanmax(np.abs(spots[..., 1])) < 2.0


def test_limits_of_the_residual_are_noted(steps):
    """A limit that no movement keeps is named with its times; wrong ones are refused."""
    _, subject, motion, _ = steps
    result = inverse_dynamics(subject, motion, forces="none", residual_limit=1.0)
    assert any("more than the limit of 1 N m" in note for note in result.notes)
    with pytest.raises(ArgumentError, match="residual_limit"):
        inverse_dynamics(subject, motion, residual_limit=-1.0)


def test_it_is_played_back(steps):
    """Angles by their velocities, torques with feedback."""
    _, subject, motion, result = steps
    assert replay(subject, motion).drift < 0.05
    assert forward(subject, result, substeps=4).joint_rms.max() < 0.1
    with pytest.raises(ArgumentError, match="substeps"):
        forward(subject, result, substeps=0)


def test_bound_arms_are_still(steps):
    """The arms' joints keep one pose, all others theirs."""
    _, subject, motion, _ = steps
    held = bound_arms(subject, motion)
    own = subject.model.q_slice("right_elbow")
    assert np.ptp(held.q[:, own], axis=0).max() < 1e-9
    hip = subject.model.q_slice("right_hip")
    np.testing.assert_allclose(held.q[:, hip], motion.q[:, hip], atol=1e-12)


def test_live_frames(steps):
    """A few frames in, as many out."""
    trial, subject, _, _ = steps
    frames = list(Live(subject, trial).run(realtime=False, seconds=0.06))
    assert len(frames) == 4
    assert np.isfinite(frames[-1].tau).all()


def test_a_chain_with_markers_is_followed():
    """Any model with markers: a pendulum of two rods with a marker at each end."""
    builder = kt.ModelBuilder("two")
    rod = {"joint": kt.Revolute("y"), "mass": 1, "com": (0, 0, -0.5), "inertia": (0.1, 0.1, 0.1)}
    builder.body("a", markers={"A": (0, 0, -1), "B": (0.1, 0, -0.5)}, **rod)
    builder.body("b", parent="a", placement=(None, (0, 0, -1)), markers={"C": (0, 0, -1), "D": (0.1, 0, -0.5)}, **rod)
    model = builder.build()
    subject = Subject.of(model)
    times = np.arange(12) / 50.0
    q = np.column_stack((0.4 * np.sin(5 * times), 0.3 * np.cos(4 * times)))
    positions = np.zeros((12, 4, 3))
    for t in range(12):
        poses = kt.body_poses(model, q[t])
        for k, (body, offset) in enumerate(zip(model.marker_bodies, model.marker_offsets, strict=True)):
            positions[t, k] = poses[body][:3, :3] @ offset + poses[body][:3, 3]
    motion = follow(subject, Trial("two rods", model.marker_names, times, positions, 50.0), cutoff=None)
    np.testing.assert_allclose(motion.q, q, atol=2e-3)
    assert motion.angle_names == ("a_0", "b_0")
    result = inverse_dynamics(subject, motion, forces="none")
    for t in (2, 7):
        alone = kt.inverse_dynamics(model, motion.q[t], motion.v[t], motion.a[t], gravity=subject.gravity)
        np.testing.assert_allclose(result.torque[t], alone, atol=1e-10)
