"""Real recordings against what others found in them; without the files these tests say so and skip."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.bench import human as bench
from kinetree.human import Subject, Trial, analyse, fit, follow
from kinetree.human.judging import checks

pytestmark = [pytest.mark.slow_python, pytest.mark.no_bounds]


def shown(rows):
    return "\n".join(f"{row.group}: {row.name} = {row.measured:.4g} {row.unit} (target {row.target})" for row in rows)


def test_opensims_models_and_torques(shared_data):
    """Torques below 1 N m RMS of OpenSim's own, angles and places from markers within 1.5 degrees and 1 cm."""
    rows = bench.opensim_rows(shared_data)
    assert all(row.ok is not False for row in rows), shown(rows)


def test_the_48_dof_human_in_two_walks(shared_data):
    """Marker errors, torques with plates, residuals and ground forces from contact.

    The knee and ankle curves of the CMU reference differ from ours by the way its skeleton slides on its own markers
    (its knees move 4 cm against the knee markers): they correlate above 0.91, the other joints above 0.98.
    """
    rows = bench.human_rows(shared_data)
    reference = [row for row in rows if "reference" in row.name]
    others = [row for row in rows if row not in reference]
    assert all(row.ok is not False for row in others), shown(others)
    for row in reference:
        least = 0.91 if "knee" in row.name or "ankle" in row.name else 0.98
        assert row.measured > least, shown([row])


@pytest.mark.parametrize(
    ("path", "frames", "markers"),
    [("treadmill_c3d/walking2.c3d", 1249, 44), ("odd_trc/dataWithBlanksForMissingMarkers.trc", 464, 40),
     ("odd_trc/exampleFormat.trc", 5, 3), ("cmu/85_02_jump_twist.c3d", 810, 41)],
)  # fmt: skip
def test_odd_files_are_read(shared_data, path, frames, markers):
    """Real traps: gaps, blanks, spellings of NaN, prefixes."""
    trial = Trial.read(shared_data / path)
    assert trial.frames == frames
    assert len(trial.labels) == markers
    assert np.isfinite(trial.positions).any()


def test_the_treadmill_of_which_half_is_missing(shared_data):
    """What is there is analysed, the rest is named, and no NaN comes out."""
    done = analyse(shared_data / "treadmill_c3d/walking2.c3d")
    assert done.partial
    assert done.failed == "", done.error
    assert np.isfinite(done.result.torque).all()
    assert any("the rest is left out" in note for note in done.result.notes)


def test_a_drop_jump_weighs_the_person(shared_data):
    """The mass comes from force over acceleration, not from the mean force of a jump."""
    home = shared_data / "drop_jump"
    subject = fit(Trial.read(home / "DJ1.trc", forces=home / "DJ1_grf.mot"))
    assert 58 < subject.mass < 64
    still = fit(Trial.read(home / "static1.trc", forces=home / "static1_grf.mot"), epochs=4)
    assert still.mass == pytest.approx(60.0, abs=0.5)


def test_an_opensim_model_goes_the_whole_way(shared_data):
    """Markers to verdict on a model of OpenSim, as with the 48-DOF human."""
    home = shared_data / "arnold_subject01"
    done = analyse(
        home / "trials/walk2/markers.trc", forces=home / "trials/walk2/grf.mot", model=home / "subject01.osim"
    )
    assert done.failed == "", done.error
    assert all(check.ok for check in checks(done.result)), checks(done.result)
    subject = Subject.of(kt.load(home / "subject01.osim"))
    motion = follow(subject, Trial.read(home / "trials/walk2/markers.trc"))
    assert motion.marker_rms < 1e-3
