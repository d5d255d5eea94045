"""C3D files: what is written is read, plates of all four types give the same wrench, lies are caught in time."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from kinetree.errors import FileFormatError
from kinetree.human import Trial
from kinetree.io.c3d import read_c3d, write_c3d
from kinetree.io.plates import plates_of
from kinetree.io.recording import Event

pytest.importorskip("ezc3d")


def some_points(frames=20, markers=9):
    rng = np.random.default_rng(2)
    return rng.normal(size=(frames, markers, 3)) * 0.1 + [0.5, -0.2, 1.0]


def test_a_c3d_is_read_as_it_was_written(tmp_path):
    """Points, gaps, events and analog channels, to the file's single precision."""
    points = some_points()
    points[5, 3] = np.nan
    channels = {f"ch{k}": np.random.default_rng(k).normal(size=40) for k in range(3)}
    labels = [f"M{k}" for k in range(9)]
    path = write_c3d(
        tmp_path / "a.c3d", labels, 100.0, points, events=[Event("Foot Strike", "Left", 0.07)], analog=channels,
        analog_rate=200.0,
    )  # fmt: skip
    found = read_c3d(path)
    assert found.labels == labels
    assert found.rate == 100.0
    np.testing.assert_allclose(found.positions, points, atol=1e-6, equal_nan=True)
    assert found.events[0].label == "Foot Strike"
    assert found.events[0].time == pytest.approx(0.07)
    np.testing.assert_allclose(found.analog["ch2"], channels["ch2"], atol=1e-6)
    assert Trial.read(path).frames == 20


def test_more_than_255_points_and_channels(tmp_path):
    """A parameter holds no more than 255 labels; the others are in LABELS2."""
    points = some_points(6, 300)
    channels = {f"ch{k}": np.arange(6.0) for k in range(270)}
    path = write_c3d(
        tmp_path / "many.c3d", [f"M{k}" for k in range(300)], 50.0, points, analog=channels, analog_rate=50.0
    )
    found = read_c3d(path)
    assert found.positions.shape == (6, 300, 3)
    assert len(found.analog) == 270
    np.testing.assert_allclose(found.positions, points, atol=1e-6)


def test_no_points_is_an_error(tmp_path):
    """A file of analog channels alone has nothing to follow."""
    path = write_c3d(
        tmp_path / "none.c3d", [], 100.0, np.zeros((4, 0, 3)), analog={"a": np.arange(4.0)}, analog_rate=100.0
    )
    with pytest.raises(FileFormatError, match="nothing was measured"):
        read_c3d(path)


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7, 0.95])
def test_a_truncated_file_is_named(tmp_path, share):
    """Cut anywhere, it is an error that names the file, and often the frame."""
    path = write_c3d(tmp_path / "whole.c3d", [f"M{k}" for k in range(9)], 100.0, some_points(200))
    data = path.read_bytes()
    cut = tmp_path / "cut.c3d"
    cut.write_bytes(data[: int(share * len(data))])
    with pytest.raises(FileFormatError, match=r"cut\.c3d"):
        read_c3d(cut)


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        (1, b"\x51", "not a C3D"),
        (0, b"\xff", "parameters begin"),
        (2, struct.pack("<H", 4000), "POINT:USED"),
        (8, struct.pack("<H", 60000), "truncated"),
        (16, struct.pack("<H", 60000), "data begin"),
    ],
)
def test_a_lying_header_is_caught(tmp_path, place, value, says):
    """Counts and places that the file has no room for."""
    path = write_c3d(tmp_path / "lie.c3d", [f"M{k}" for k in range(9)], 100.0, some_points())
    data = bytearray(path.read_bytes())
    data[place : place + len(value)] = value
    path.write_bytes(bytes(data))
    with pytest.raises(FileFormatError, match=says):
        read_c3d(path)


def test_damaged_bytes_never_hang_or_end_the_process(tmp_path):
    """Random bytes in header and parameters: read, or a named error, within seconds."""
    rng = np.random.default_rng(3)
    labels = [f"M{k}" for k in range(9)]
    path = write_c3d(tmp_path / "a.c3d", labels, 100.0, some_points(), analog={"a": np.arange(40.0)}, analog_rate=200.0)
    whole, refused = path.read_bytes(), 0
    for _ in range(120):
        data = bytearray(whole)
        for place in rng.integers(0, min(len(data), 3000), rng.integers(1, 5)):
            data[place] = int(rng.integers(0, 256))
        path.write_bytes(bytes(data))
        try:
            read_c3d(path)
        except FileFormatError:
            refused += 1
    assert refused > 10


def test_rubbish_is_not_a_c3d(tmp_path):
    """Short files, and files of something else."""
    path = tmp_path / "r.c3d"
    path.write_bytes(b"\x02\x50" + b"\0" * 100)
    with pytest.raises(FileFormatError, match="102 bytes"):
        read_c3d(path)
    path.write_bytes(np.random.default_rng(0).bytes(5000))
    with pytest.raises(FileFormatError, match=r"r\.c3d"):
        read_c3d(path)


def parameters_of(kind, channels, units, origin):
    """Return the parameters of one plate whose corners turn its axes by a right angle about the vertical."""
    corners = np.array([[300.0, 200, 0], [300, 800, 0], [700, 800, 0], [700, 200, 0]]).T[:, :, None]
    group = {
        "USED": {"value": [1]}, "TYPE": {"value": [kind]}, "CHANNEL": {"value": np.arange(1, channels + 1)[:, None]},
        "CORNERS": {"value": corners}, "ORIGIN": {"value": np.array(origin)[:, None]}, "ZERO": {"value": [0, 0]},
        "CAL_MATRIX": {"value": np.eye(6)[:, :, None]},
    }  # fmt: skip
    return {"FORCE_PLATFORM": group, "ANALOG": {"UNITS": {"value": units}}}, corners[:, :, 0].T / 1000


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_all_types_of_plates_give_the_same_wrench(kind):
    """A force at a point of the surface with a torque about the vertical, through each type's own channels."""
    force, spot, torque = np.array([30.0, -50.0, 800.0]), np.array([0.06, -0.04]), 4.0  # plate axes, z down
    a, b, depth = 0.12, 0.2, 0.04
    x, y = spot
    about = np.array([y * force[2], -x * force[2], x * force[1] - y * force[0] + torque])
    if kind == 1:
        signals = np.array([*force, 1000 * x, 1000 * y, 1000 * torque])
        units, origin = ["N"] * 3 + ["mm", "mm", "Nmm"], [0.0, 0.0, 0.0]
    elif kind == 3:
        # moment about the transducers' plane, then shares of the four corners that make it
        low = about + np.cross([0, 0, -depth], force)
        fx, fy, fz = force
        total, mx, my = fz, low[0] / b, low[1] / a
        z = np.linalg.lstsq(np.array([[1, 1, 1, 1], [1, 1, -1, -1], [-1, 1, 1, -1.0]]), [total, mx, my], rcond=None)[0]
        half = low[2] / 2
        signals = np.array(
            [fx / 2 - half / (2 * b), fx / 2 + half / (2 * b), fy / 2 + half / (2 * a), fy / 2 - half / (2 * a), *z]
        )
        units, origin = ["N"] * 8, [1000 * a, 1000 * b, -1000 * depth]
    else:
        low = about - np.cross(force, [0.002, -0.001, -depth])
        signals = np.array([*force, *(1000 * low)])
        units, origin = ["N"] * 3 + ["Nmm"] * 3, [2.0, -1.0, -1000 * depth]
    parameters, corners = parameters_of(kind, len(signals), units, origin)
    notes: list[str] = []
    (plate,) = plates_of("a.c3d", parameters, np.tile(signals[:, None], (1, 3)), 0.0, 100.0, notes)
    centre = corners.mean(0)
    axis_x = (corners[0] - corners[1]) / np.linalg.norm(corners[0] - corners[1])
    axis_y = (corners[0] - corners[3]) / np.linalg.norm(corners[0] - corners[3])
    turn = np.column_stack((axis_x, axis_y, np.cross(axis_x, axis_y)))
    moment = plate.torque[0] + np.cross(plate.point[0] - centre, plate.force[0])
    np.testing.assert_allclose(plate.force[0], -turn @ force, atol=1e-9)
    np.testing.assert_allclose(moment, -turn @ about, atol=1e-9)


def test_plates_that_lie_are_named():
    """A channel that does not exist, an unknown type, no channels at all."""
    parameters, _ = parameters_of(2, 6, ["N"] * 6, [0, 0, -40])
    with pytest.raises(FileFormatError, match="CHANNEL"):
        plates_of("a.c3d", parameters, np.zeros((3, 5)), 0.0, 100.0, [])
    notes: list[str] = []
    assert plates_of("a.c3d", parameters, np.zeros((0, 0)), 0.0, 100.0, notes) == []
    assert "left out" in notes[0]
    parameters["FORCE_PLATFORM"]["TYPE"]["value"] = [9]
    assert plates_of("a.c3d", parameters, np.zeros((6, 5)), 0.0, 100.0, notes) == []


def test_real_plates_equal_what_others_computed(shared_data):
    """The treadmill's plates and their wrenches as another program exported them, to the digits of its table."""
    from kinetree.io.mot import read_table

    for walk in ("walking2", "walking5"):
        trial = Trial.read(shared_data / f"treadmill_c3d/{walk}.c3d")
        table = read_table(shared_data / f"treadmill_c3d/std_{walk}_grfs.sto")
        for k, plate in enumerate(trial.plates, 1):
            frames = np.searchsorted(plate.times, table.times - 1e-9)
            force, point, torque = (np.column_stack([table.column(f"{q}{k}_{a}") for a in (1, 2, 3)]) for q in "fpm")
            np.testing.assert_allclose(plate.force[frames], force, atol=1e-7)
            about = torque / 1000 + np.cross(point / 1000 - plate.point[frames], force)
            np.testing.assert_allclose(plate.torque[frames], about, atol=1e-7)
