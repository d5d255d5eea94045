"""Films are whole or absent, and as long and large as asked for."""

from __future__ import annotations

import os

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, FileFormatError
from kinetree.render import Camera, RenderCancelledError, render_trajectory


@pytest.fixture(scope="module")
def motion():
    model = kt.models.pendulum(2)
    times = np.linspace(0.0, 0.5, 16)
    return kt.Trajectory(model, times, np.stack((times, -times), axis=1), np.ones((16, 2)))


def frames_of(path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    reader = ffmpeg.read_frames(str(path))
    facts = next(reader)
    width, height = facts["size"]
    return facts, [np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in reader]


@pytest.mark.parametrize(
    ("suffix", "fps", "speed", "count"), [("mp4", 20, 1.0, 11), ("mp4", 20, 0.5, 21), ("gif", 10, 1.0, 6)]
)
def test_a_film_has_the_frames_size_and_rate_asked_for(motion, tmp_path, suffix, fps, speed, count):
    path = tmp_path / f"film.{suffix}"
    shares = []
    made = motion.render(path, fps=fps, speed=speed, width=64, height=48, progress=shares.append)
    assert made == path
    facts, frames = frames_of(path)
    assert len(frames) == count
    assert facts["size"] == (64, 48)
    assert facts["fps"] == pytest.approx(fps)
    assert shares == pytest.approx(np.arange(1, count + 1) / count)
    assert np.abs(frames[0].astype(int) - frames[-1]).max() > 30, "something must move"
    assert os.listdir(tmp_path) == [path.name]


def test_a_png_is_the_last_state_and_a_numbered_png_is_a_sequence(motion, tmp_path):
    image_of = pytest.importorskip("PIL.Image").open
    render_trajectory(motion, tmp_path / "last.png", width=32, height=24)
    render_trajectory(motion, tmp_path / "f%03d.png", fps=10, width=32, height=24)
    assert sorted(os.listdir(tmp_path)) == [*(f"f{i:03d}.png" for i in range(6)), "last.png"]
    last, first, end = (np.asarray(image_of(tmp_path / name)) for name in ("last.png", "f000.png", "f005.png"))
    assert last.shape == (24, 32, 3)
    assert (end != first).any()


def test_camera_and_colors_may_follow_the_time(motion, tmp_path):
    image_of = pytest.importorskip("PIL.Image").open
    camera = Camera.framing(kt.body_poses(motion.model, [0.0, 0.0])[:, :3, 3] - (0, 0, 0.05), direction=(0, -1, 0.1))
    asked = []

    def colors(time):
        asked.append(time)
        return [(1, 0, 0), (0, 0, 1)] if time < 0.2 else [(0, 1, 0), (0, 1, 0)]

    options = {"fps": 4, "width": 48, "height": 36, "camera": camera.orbiting(2.0), "colors": colors}
    render_trajectory(motion, tmp_path / "c%d.png", **options)
    assert asked == pytest.approx([0, 0.25, 0.5])
    reds = [np.asarray(image_of(tmp_path / f"c{i}.png"))[:, :, :2].astype(int) for i in range(3)]
    assert (reds[0][:, :, 0] - reds[0][:, :, 1]).max() > 60
    assert (reds[1][:, :, 0] - reds[1][:, :, 1]).max() < 30


def test_frames_between_two_records_lie_between_them(motion, tmp_path):
    from kinetree.render import film

    times = motion.times
    between = film._poses(motion, times, (times[3] + times[4]) / 2, 0.01)
    exact = kt.body_poses(motion.model, (motion.q[3] + motion.q[4]) / 2)
    np.testing.assert_allclose(between, exact, atol=1e-12)
    np.testing.assert_array_equal(film._poses(motion, times, times[5], 0.01), motion.body_poses(5))


@pytest.mark.parametrize("suffix", ["mp4", "gif"])
def test_a_film_that_is_cancelled_interrupted_or_fails_leaves_nothing(motion, tmp_path, suffix):
    pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / f"film.{suffix}"
    calls = []

    def after_three():
        calls.append(1)
        return len(calls) > 3

    with pytest.raises(RenderCancelledError, match="after 3 of"):
        motion.render(path, width=32, height=24, cancel=after_three)
    assert os.listdir(tmp_path) == []

    def interrupt(share):
        if share > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        motion.render(path, width=32, height=24, progress=interrupt)
    assert os.listdir(tmp_path) == []
    path.write_bytes(b"an older film")
    with pytest.raises(ArgumentError, match="camera"):
        motion.render(path, width=32, height=24, camera=lambda time: None)
    assert path.read_bytes() == b"an older film", "what was there before stays"


def test_what_cannot_be_a_film_is_a_named_error(motion, tmp_path):
    for name in ("film.avi", "film", "film.jpg"):
        with pytest.raises(ArgumentError, match="suffix"):
            motion.render(tmp_path / name)
    with pytest.raises(ArgumentError, match="even"):
        motion.render(tmp_path / "a.mp4", width=33, height=24)
    for option in ({"fps": 0}, {"speed": -1.0}, {"fps": float("nan")}):
        with pytest.raises(ArgumentError, match="positive"):
            motion.render(tmp_path / "a.mp4", **option)
    with pytest.raises(FileFormatError, match="no directory"):
        motion.render(tmp_path / "none" / "a.mp4")
    empty = kt.Trajectory(motion.model, np.zeros(0), np.zeros((0, 2)), np.zeros((0, 2)))
    with pytest.raises(ArgumentError, match="empty"):
        empty.render(tmp_path / "a.mp4")
    assert os.listdir(tmp_path) == []


def test_progress_is_one_line_on_the_error_stream(motion, tmp_path, capsys):
    motion.render(tmp_path / "a.png", width=16, height=12, progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "\rdrawing 100%\n"
