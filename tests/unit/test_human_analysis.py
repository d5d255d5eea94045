"""From a trial to tables, report and figures; live frames; the paper's experiments in small."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kinetree.cli import main
from kinetree.errors import ArgumentError, MarkerError
from kinetree.human import Live, analyse, experiments, fit, follow, soft_inverse_dynamics, synthetic_walk
from kinetree.human.energetics import co_contraction
from kinetree.human.inverse import frame_torques
from kinetree.human.judging import verdict
from kinetree.human.synthetic import marked_human, walking_motion
from kinetree.io.mot import read_table
from kinetree.io.trc import read_trc
from kinetree.report.figures import ticks

pytestmark = [pytest.mark.slow_python, pytest.mark.no_bounds]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The analysis of the embedded walk, written to a folder."""
    return analyse(synthetic_walk(seconds=2.4), mass=75.0, out=tmp_path_factory.mktemp("walk"))


def test_the_embedded_walk_is_analysed_well(done):
    """All limits are kept, strides are found, and nothing is partial."""
    assert verdict(done.result)[0] == "good"
    assert not done.partial
    gait = done.result.gait
    assert gait.walks
    assert gait.measures["stride_time_right_s"] == pytest.approx(1.1, abs=0.03)
    assert 50 < gait.measures["stance_right_percent"] < 70
    assert done.result.residual_share < 0.05


def test_all_files_are_opened_by_others(done):
    """OpenSim's tables and TRC by the readers, CSV and Parquet by pandas, JSON by its module."""
    import pandas

    files = {file.name: file for file in done.files}
    angles = read_table(files["angles.mot"])
    assert angles.in_degrees is True
    hip = done.motion.angle("hip_flexion_r")
    np.testing.assert_allclose(np.radians(angles.column("hip_flexion_r")), hip, atol=1e-10)
    torques = read_table(files["torques.sto"])
    np.testing.assert_allclose(
        torques.column("knee_flexion_l_moment"), done.result.torque_of("knee_flexion_l"), atol=1e-8
    )
    ground = read_table(files["ground.mot"])
    np.testing.assert_allclose(ground.column("ground_force_r_vy"), done.result.ground.force[:, 0, 2], atol=1e-7)
    assert read_trc(files["markers.trc"]).positions.shape[1] == 41
    wide, packed = pandas.read_csv(files["all.csv"]), pandas.read_parquet(files["all.parquet"])
    np.testing.assert_allclose(wide["angle/hip_flexion_r"], hip, atol=1e-8)
    assert list(wide.columns) == list(packed.columns)
    facts = json.loads(files["summary.json"].read_text())
    assert facts["verdict"] == "good"
    page = files["report.html"].read_text()
    assert page.count("<svg") >= 6
    assert "NaN" not in page


def test_tables_have_names_and_units(done):
    """Every result is an xarray dataset with units, and the work adds up."""
    result = done.result
    assert result.angles["hip_flexion_r"].attrs["units"] == "rad"
    assert result.torques["hip_flexion_r"].attrs["units"] == "N m"
    assert result.powers["right_hip"].attrs["units"] == "W"
    assert result.ground_forces["right_force_z"].attrs["units"] == "N"
    assert result.marker_errors["RKNE"].attrs["units"] == "m"
    assert set(result.residuals.data_vars) == {f"{k}_{a}" for k in ("moment", "force") for a in "xyz"}
    np.testing.assert_allclose(result.work["positive"] + result.work["negative"], result.work["net"])
    assert result.energy["kinetic"].min() > 0
    frame = result.to_dataframe()
    assert len(frame) == result.motion.frames
    with pytest.raises(ArgumentError, match="hip_flexion_r"):
        result.torque_of("tail")


def test_energetics_balance(done):
    """The power of all that the movement asks for is the rate of the body's energy."""
    own, result = done.result.energetics, done.result
    free, _ = frame_torques(result.subject, result.motion, None, result.subject.gravity)
    work = np.einsum("nk,nk->n", free, result.motion.v)
    energy = own.kinetic + own.potential
    change = np.gradient(energy, result.times)
    inside = slice(15, -15)
    assert np.abs(work[inside] - change[inside]).max() < 0.05 * np.abs(work[inside]).max()


def test_co_contraction_costs_more():
    """No stiffness costs the torque itself; more stiffness never costs less."""
    times, size = np.linspace(0, 1, 50), np.abs(np.sin(np.linspace(0, 6, 50)))[:, None]
    costs = [co_contraction(size, times, k)[0] for k in (0.0, 3.0, 12.0)]
    assert costs[0] <= costs[1] <= costs[2]
    assert costs[2] == pytest.approx(2.0, rel=0.01)
    with pytest.raises(ArgumentError, match="stiffness"):
        co_contraction(size, times, -1.0)


def test_a_trial_that_cannot_be_finished_keeps_what_was_done(tmp_path):
    """Too few markers for a body: they are written, the summary says partial and why, the command exits with 2."""
    walk = synthetic_walk(seconds=0.5, plates=False).only(["RKNE", "RANK", "RTOE"])
    found = analyse(walk, out=tmp_path / "a")
    assert found.failed == "fitting the body"
    assert isinstance(found.error, MarkerError)
    facts = json.loads((tmp_path / "a" / "summary.json").read_text())
    assert facts["partial"] is True
    assert "markers" in facts["error"]
    path = walk.save(tmp_path / "few.trc")
    assert main(["analyze", str(path), "--out", str(tmp_path / "b")]) == 2
    assert (tmp_path / "b" / "markers.trc").is_file()


def test_a_body_that_leaves_the_view_is_partial(tmp_path):
    """Half of the trial without markers: the other half is analysed, and marked."""
    walk = synthetic_walk(seconds=1.6, plates=False)
    positions = walk.positions.copy()
    positions[:60] = np.nan
    found = analyse(walk.with_positions(positions))
    assert found.partial
    assert found.result.motion.frames == 100
    assert any("frames 60 to 159" in note for note in found.result.notes)


def test_the_command(tmp_path, capsys):
    """`kinetree analyze` without a file analyses the embedded walk; a missing file is one line and exit code 2."""
    assert main(["analyze", "--out", str(tmp_path / "walk"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["verdict"] == "good"
    assert (tmp_path / "walk" / "report.html").is_file()
    assert main(["analyze", str(tmp_path / "no.c3d"), "--out", str(tmp_path / "x")]) == 2
    assert "no such file" in capsys.readouterr().err


def test_live_frames_are_quick_and_survive_losses():
    """Every frame gives a finite pose and torques; late, dropped and blind frames are said."""
    walk = synthetic_walk(seconds=1.0, plates=False)
    subject = fit(walk, epochs=4)
    live = Live(subject, walk)
    frames = list(live.run(realtime=False))
    assert len(frames) == walk.frames
    assert all(np.isfinite(frame.tau).all() and np.isfinite(frame.q).all() for frame in frames)
    exact = follow(subject, walk, cutoff=None)
    late = max(np.abs(a.q[7:] - b[7:]).max() for a, b in zip(frames[5:], exact.q[5:], strict=True))
    assert late < 0.1
    assert frames[-1].cost > 0
    assert live.angles(frames[-1])["knee_flexion_r"] == pytest.approx(exact.angle("knee_flexion_r")[-1], abs=0.05)
    blind = live.push(frames[-1].time + 0.01, np.full((41, 3), np.nan))
    assert blind.held
    assert live.push(frames[-1].time, walk.positions[-1]).late
    assert live.push(frames[-1].time + 0.05, walk.positions[-1]).dropped == 3
    with pytest.raises(ArgumentError, match="shape"):
        live.push(99.0, np.zeros((3, 3)))
    with pytest.raises(ArgumentError, match="no source"):
        next(Live(subject).run())


def test_noise_grows_and_does_not_break():
    """Errors grow with the noise, and even 64 mm are survived."""
    motion = walking_motion(seconds=0.8, rate=60.0)
    found = experiments.noise(motion.subject, motion, levels=(1e-3, 8e-3, 64e-3), repeats=2)
    assert found.failures == 0
    angle = found.mean("angle")
    assert angle[0] < 0.02
    assert angle[0] < angle[1] < angle[2]
    assert (found.standard_error("torque") >= 0).all()


def test_a_stance_shift_moves_the_weight():
    """From the left foot to the right one, within a tenth of the weight of what the lever says."""
    found = experiments.stance_shift(marked_human(1.75, 75.0))
    assert found.error("contact") < 0.10
    assert found.contact[5, 1] > 0.9 * 735
    assert found.contact[-5, 0] > 0.9 * 735


def test_reaching_far_costs_more():
    """The second target is the cheapest, and those that need a step cost more than those that do not."""
    found = experiments.reach(marked_human(1.75, 75.0), repeats=1)
    assert found.ranking[0] == 2
    assert set(found.ranking[:4]) == {1, 2, 3, 4}
    assert experiments.trace(marked_human(1.75, 75.0), seconds=3.0)[1] > 0


def test_the_arms_take_up_the_twist():
    """Bound arms leave more torque about the vertical to the feet."""
    motion = walking_motion(seconds=2.4)
    found = experiments.arm_swing(motion.subject, motion)
    assert found.free_torque_bound > 0
    assert np.isfinite(found.change)
    assert found.spread >= 0


def test_few_markers_still_show_the_legs():
    """Head, hands and feet: knee and ankle curves stay with those of all markers."""
    walk = synthetic_walk(seconds=2.0, plates=False)
    found = experiments.reduced_markers(fit(walk, epochs=4), walk)
    assert len(found.labels) < 25
    assert found.worst(("knee_flexion", "ankle_dorsiflexion")) > 0.9


def test_the_soft_world_follows_and_walks():
    """Markers drag the body along within 2 cm; muscles and the ground carry it with small residual torques."""
    walk = synthetic_walk(seconds=0.8, plates=False)
    subject = marked_human(1.75, 75.0)
    dragged = follow(subject, walk, method="soft")
    assert dragged.marker_rms < 0.02
    jumping = follow(subject, walk, method="soft", moving=False)
    assert jumping.marker_rms > dragged.marker_rms, "the paper's own way lags"
    found = soft_inverse_dynamics(subject, follow(subject, walk), residual_limit=100.0)
    assert np.abs(found.residual[:, :2]).max() <= 100.0 + 1e-6
    assert np.abs(found.residual[:, 2:]).max() == 0.0
    assert found.tilt.max() < 0.3
    assert found.ground[..., 2].sum(1).mean() == pytest.approx(75 * 9.81, rel=0.25)


def test_ticks_are_round():
    """1, 2 or 5 times a power of ten, within the range."""
    assert ticks(0.0, 1.0) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert ticks(-37.0, 95.0) == pytest.approx([0, 50]) or len(ticks(-37.0, 95.0)) >= 2
    assert ticks(1.0, 1.0) == [1.0]
