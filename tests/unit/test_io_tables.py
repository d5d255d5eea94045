"""TRC, MOT and STO files are written and read back, and real files' oddities are read or named."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.errors import ArgumentError, FileFormatError, MarkerError
from kinetree.human import Trial
from kinetree.human.forces import read_forces, recognise
from kinetree.io.mot import read_table, write_table
from kinetree.io.trc import read_trc, write_trc


def some_markers(frames=12, seed=0):
    rng = np.random.default_rng(seed)
    labels = ["LASI", "RASI", "C7", "LTOE", "RTOE", "LHEE", "RHEE", "CLAV", "T10"]
    high = np.array([1.0, 1.0, 1.5, 0.05, 0.05, 0.05, 0.05, 1.45, 1.3])
    positions = 0.05 * rng.normal(size=(frames, len(labels), 3))
    positions[..., 2] = 0.3 * rng.random((frames, len(labels))) * 0.1 + high
    return labels, np.arange(frames) / 100.0, positions


def test_a_trc_is_read_as_it_was_written(tmp_path):
    """Gaps stay gaps, and millimetres become metres."""
    labels, times, positions = some_markers()
    positions[3, 2] = np.nan
    path = write_trc(tmp_path / "a.trc", labels, times, positions, units="mm")
    found = read_trc(path)
    assert found.labels == labels
    assert found.rate == pytest.approx(100.0)
    np.testing.assert_allclose(found.positions, positions, atol=1e-8, equal_nan=True)


@pytest.mark.parametrize("spelling", ["", "NaN", "nan", "NAN", "-", "1.#QNAN"])
def test_missing_markers_in_all_spellings(tmp_path, spelling):
    """Blanks and every spelling of NaN are gaps."""
    cells = "\t".join([spelling] * 3)
    text = (
        "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n100\t100\t2\t2\tm\n"
        f"Frame#\tTime\t\tA\t\tB\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n1\t0.0\t1\t2\t3\t{cells}\n2\t0.01\t1\t2\t3\t4\t5\t6\n"
    )
    path = tmp_path / "gap.trc"
    path.write_text(text)
    found = read_trc(path)
    assert np.isnan(found.positions[0, 1]).all()
    np.testing.assert_allclose(found.positions[1, 1], [4, 5, 6])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.replace("Frame#", "Frames"), "Frame#"),
        (lambda t: t.replace("1\t0.01", "1\t0.x1").replace("2\t0.01", "2\tzero"), "not a number"),
        (lambda t: t.replace("2\t0.01", "2\t0.0"), "does not come after"),
        (lambda t: t.split("1\t0\t")[0], "no frames"),
        (lambda t: t.rstrip("\n") + "\t7\t8\t9\t10\t11\t12\t13\t14\n", "values"),
    ],
)
def test_a_broken_trc_is_named_by_line(tmp_path, change, says):
    """Each fault names the file and where it is."""
    labels, times, positions = some_markers(2)
    path = write_trc(tmp_path / "b.trc", labels, times, positions)
    path.write_text(change(path.read_text()))
    with pytest.raises(FileFormatError, match=says) as caught:
        read_trc(path)
    assert caught.value.path.endswith("b.trc")


def test_a_table_is_read_as_it_was_written(tmp_path):
    """Twelve digits, the unit of angles, and pandas reads the same numbers."""
    import pandas

    times, data = np.linspace(0, 1, 11), np.random.default_rng(1).normal(size=(11, 3))
    path = write_table(tmp_path / "a.mot", ["x", "y", "z"], times, data, name="Coordinates", in_degrees=True)
    found = read_table(path)
    assert found.columns == ("x", "y", "z")
    assert found.in_degrees is True
    assert found.name == "Coordinates"
    np.testing.assert_allclose(found.data, data, rtol=1e-11)
    frame = pandas.read_csv(path, sep="\t", skiprows=6)
    np.testing.assert_allclose(frame[["x", "y", "z"]].to_numpy(), data, rtol=1e-11)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("time\tx\n0\t1\n", "endheader"),
        ("a\nendheader\n", "nothing follows"),
        ("a\nendheader\nt\tx\n0\t1\n", "first label"),
        ("a\nendheader\ntime\tx\n0\t1\t2\n", "3 numbers under 2"),
        ("a\nendheader\ntime\tx\n0\tone\n", "'one' is not a number"),
        ("a\nendheader\ntime\tx\n", "no rows"),
        ("a\nendheader\ntime\tx\nnan\t1\n", "time is not a number"),
    ],
)
def test_a_broken_table_is_named_by_line(tmp_path, text, says):
    """Each fault of a MOT file is said in words."""
    path = tmp_path / "b.sto"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=says):
        read_table(path)


def test_odd_headers_are_read_with_notes(tmp_path):
    """Trailing tabs, a wrong count of rows, repeated labels."""
    path = tmp_path / "odd.sto"
    path.write_text("grf\nnRows=9\nendheader\ntime\tx\tx\t\n0\t1\t2\t\n1\t3\t4\t\n")
    found = read_table(path)
    assert found.columns == ("x", "x_2")
    assert found.in_degrees is None
    assert len(found.notes) == 2


@pytest.mark.parametrize(
    ("names", "plates"),
    [
        ([f"ground_force_{s}_{q}{a}" for s in "rl" for q in "vp" for a in "xyz"]
         + [f"ground_torque_{s}_{a}" for s in "rl" for a in "xyz"], {"r", "l"}),
        ([f"ground_force_{s}_{q}{a}" for s in "12" for q in "vpm" for a in "xyz"], {"1", "2"}),
        ([f"{q}{s}_{a}" for s in "12" for q in "fpm" for a in "123"], {"1", "2"}),
        ([f"1_ground_force_{q}{a}" for q in "vp" for a in "xyz"] + [f"1_ground_torque_{a}" for a in "xyz"], {"1"}),
        ([f"FP1_{q}_{a}" for q in ("force", "cop", "moment") for a in "xyz"], {"fp1"}),
        (["knee_angle_r", "hip_flexion_l", "pelvis_tx", "pelvis_ty", "pelvis_tz"], set()),
    ],
)  # fmt: skip
def test_columns_of_forces_are_recognised(names, plates):
    """Every set of real files names its plates differently."""
    found = recognise(names)
    assert set(found) == plates
    assert all("force" in own for own in found.values())


def test_unknown_columns_are_listed_and_can_be_mapped(tmp_path):
    """A file with names of its own says what it has; a mapping reads it."""
    data = np.random.default_rng(0).normal(size=(5, 6)) + 100
    path = write_table(tmp_path / "own.mot", list("abcdef"), np.arange(5) / 10, data)
    with pytest.raises(FileFormatError, match="a, b, c, d, e, f"):
        read_forces(path)
    plates, _ = read_forces(path, {"left": {"force": ["a", "b", "c"], "point": ["d", "e", "f"]}})
    np.testing.assert_allclose(plates[0].force, data[:, :3])
    with pytest.raises(ArgumentError, match="no column 'q'"):
        read_forces(path, {"left": {"force": ["a", "b", "q"]}})


def test_a_person_of_1800_m_is_shrunk(tmp_path):
    """Millimetres that are called metres are noticed by the size of the person, and said."""
    labels, times, positions = some_markers()
    path = write_trc(tmp_path / "big.trc", labels, times, 1000 * positions, units="m")
    trial = Trial.read(path)
    assert np.nanmax(trial.positions) < 3
    assert any("0.001" in note for note in trial.repairs)


@pytest.mark.parametrize("up", ["x", "y", "z", "-y"])
def test_any_axis_can_be_up(tmp_path, up):
    """The head is above the feet, whatever the file's axes, and writing goes back to them."""
    labels, times, positions = some_markers()
    axis, sign = "xyz".index(up[-1]), -1.0 if up.startswith("-") else 1.0
    order = [(axis + 1) % 3, (axis + 2) % 3, axis]
    turned = np.zeros_like(positions)
    for k, own in enumerate(order):
        turned[..., own] = positions[..., k] * (sign if own == axis else 1.0)
    if sign < 0:
        turned[..., order[0]] *= -1
    trial = Trial.read(write_trc(tmp_path / "t.trc", labels, times, turned))
    assert trial.up == up
    assert np.linalg.det(trial.rotation) == pytest.approx(1.0)
    assert trial.marker("C7")[:, 2].min() > 1.4
    again = read_trc(trial.save(tmp_path / "again.trc"))
    np.testing.assert_allclose(again.positions, turned, atol=1e-8)


def test_labels_are_cleaned(tmp_path):
    """Prefixes go, unlabelled points go, duplicates are joined or the fuller one stays; all of it is said."""
    labels, times, positions = some_markers()
    labels = ["Ann:" + label for label in labels]
    doubled = np.concatenate((positions, positions[:, 2:3], positions[:, :1], positions[:, :1] + 1), axis=1)
    doubled[4, 2] = np.nan
    path = write_trc(tmp_path / "p.trc", [*labels, "Ann:C7", "*7", "Bob:LASI"], times, doubled)
    trial = Trial.read(path)
    assert "C7" in trial.labels
    assert len(trial.labels) == len(labels)
    np.testing.assert_allclose(trial.marker("C7"), positions[:, 2], atol=1e-8)
    text = " ".join(trial.repairs)
    assert "Bob" in text
    assert "without a label" in text
    assert "two markers are labelled 'C7'" in text
    with pytest.raises(ArgumentError, match="Ann"):
        Trial.read(path, subject="Eve")


def test_markers_that_were_never_seen(tmp_path):
    """One is left out with a note; if all are, that is an error."""
    labels, times, positions = some_markers()
    positions[:, 0] = np.nan
    trial = Trial.read(write_trc(tmp_path / "n.trc", labels, times, positions))
    assert "LASI" not in trial.labels
    with pytest.raises(MarkerError, match="none of its 9 markers"):
        Trial.read(write_trc(tmp_path / "m.trc", labels, times, np.full_like(positions, np.nan)))
    with pytest.raises(FileFormatError, match=r"\.c3d, \.trc"):
        Trial.read(tmp_path / "walk.txt")


def test_windows_gaps_and_weights(tmp_path):
    """A trial is cut by time, lists its gaps, and weighs the person."""
    labels, times, positions = some_markers(50)
    positions[10:14, 1] = np.nan
    path = write_trc(tmp_path / "w.trc", labels, times, positions)
    names = [f"ground_force_r_{q}{a}" for q in "vp" for a in "xyz"]
    force = np.tile([0.0, 0.0, 700.0, 0.1, 0.2, 0.0], (50, 1))
    grf = write_table(tmp_path / "g.mot", names, times, force)
    trial = Trial.read(path, forces=grf, mass=40.0)
    assert trial.gaps() == [("RASI", 10, 13)]
    assert trial.weight() == pytest.approx(700.0)
    assert any("far from the mass" in note for note in trial.repairs)
    assert trial.window(0.1, 0.2).frames == 11
    assert "1, 0.9 %" in trial.describe()
    with pytest.raises(ArgumentError, match="nothing was recorded"):
        trial.window(7, 8)
    with pytest.raises(ArgumentError, match="mass"):
        Trial.read(path, mass=-1)
