"""Films of a motion."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, FileFormatError, KinetreeError, missing_extra
from ..files import whole_file
from .camera import Camera
from .image import checked_target, write_png
from .light import Light
from .renderer import Renderer
from .scene import Scene
from .still import floor_height

if TYPE_CHECKING:
    from ..trajectory import Trajectory

SUFFIXES = (".mp4", ".gif", ".png")
GLANCES = 60  # frames that are looked at to find how far a motion reaches
NUMBER = re.compile(r"%0?\d*d")


class RenderCancelledError(KinetreeError):
    """A film that was given up because `cancel` said so; nothing of it is left behind."""


def render_trajectory(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    *,
    fps: float = 30,
    camera: Camera | Callable[[float], Camera] | None = None,
    width: int = 640,
    height: int = 480,
    ground: bool | float | None = True,
    colors: Any = None,
    background: Any = None,
    light: Light | None = None,
    speed: float = 1.0,
    progress: bool | Callable[[float], Any] = False,
    cancel: Callable[[], bool] | None = None,
) -> Path:
    """Draw a motion into `path` and return that.

    The suffix decides: `.mp4` or `.gif` is a film (extra `render`), `.png` a picture of the last state, and a name with
    a number in it, such as `frame%04d.png`, a sequence of pictures. `camera` may be a function of the time [s], such as
    `Camera.orbiting`; None frames the whole motion. `colors` (nbodies, 3) may be a function of the time, too.
    `speed` 0.5 is slow motion: states between two frames are interpolated. `progress` is True for a line on the error
    stream, or a function of the share that is done, and `cancel` a function that is asked before every frame. A
    film appears under its name when it is whole; one that fails, is cancelled or interrupted leaves nothing behind.
    """
    target = Path(path)
    numbered = target.suffix.lower() == ".png" and NUMBER.search(target.name) is not None
    _check(trajectory, target, fps, speed, width, height)
    checked_target(target)
    times = np.asarray(trajectory.times, dtype=float)
    if target.suffix.lower() == ".png" and not numbered:
        moments = times[-1:]
    else:
        moments = np.minimum(times[0] + np.arange(_count(times, fps, speed)) * speed / fps, times[-1])
    renderer = Renderer(width, height, light=light, background=background)
    scene = Scene.of(trajectory.model, None if callable(colors) else colors)
    outline = _reach(trajectory, scene, times, moments)
    floor = floor_height(ground, scene, np.array([outline.min(0), outline.max(0)]))
    if camera is None:
        camera = Camera.framing(outline, aspect=width / height)
    report = _reporter(progress)

    def pictures() -> Iterator[np.ndarray]:
        for k, moment in enumerate(moments):
            if cancel is not None and cancel():
                raise RenderCancelledError(f"{target}: drawing was cancelled after {k} of {len(moments)} frames")
            scene.place(_poses(trajectory, times, float(moment), speed / fps))
            if callable(colors):
                scene.recolor(colors(float(moment)), trajectory.model.nbodies)
            view = camera(float(moment)) if callable(camera) else camera
            yield renderer.draw(scene, view, ground=floor)
            report((k + 1) / len(moments))

    if numbered:
        for k, picture in enumerate(pictures()):
            write_png(target.with_name(_numbered(target.name, k)), picture)
    elif target.suffix.lower() == ".png":
        for picture in pictures():
            write_png(target, picture)
    else:
        _write_film(target, pictures(), fps, (width, height))
    return target


def _numbered(name: str, k: int) -> str:
    return NUMBER.sub(lambda match: match[0] % k, name, count=1)


def _check(trajectory: Trajectory, target: Path, fps: float, speed: float, width: int, height: int) -> None:
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        raise ArgumentError(f"{target}: a motion is drawn as {', '.join(SUFFIXES)}, not {suffix!r}: change the suffix")
    for name, value in (("fps", fps), ("speed", speed)):
        if not (np.isfinite(value) and value > 0):
            raise ArgumentError(f"{name} is {value!r}: it must be a positive number")
    if suffix == ".mp4" and (width % 2 or height % 2):
        raise ArgumentError(f"an .mp4 film of {width} x {height} pixels cannot be: both numbers must be even")
    if len(trajectory.times) == 0:
        raise ArgumentError("the trajectory is empty: there is nothing to draw")


def _count(times: np.ndarray, fps: float, speed: float) -> int:
    return int(np.floor((times[-1] - times[0]) / speed * fps + 1e-6)) + 1


def _poses(trajectory: Trajectory, times: np.ndarray, moment: float, step: float) -> np.ndarray:
    """Poses of the bodies at a moment: of the nearest record where these are as dense as the frames, else between."""
    after = min(int(np.searchsorted(times, moment)), len(times) - 1)
    before = max(after - 1, 0)
    nearest = before if moment - times[before] < times[after] - moment else after
    if abs(times[nearest] - moment) <= 1e-6 * step or times[after] - times[before] < 0.5 * step:
        return trajectory.body_poses(nearest)
    from ..dynamics import body_poses

    return body_poses(trajectory.model, trajectory.at(moment)[0])


def _reach(trajectory: Trajectory, scene: Scene, times: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """Points at the outside of the scene over the motion, from glances at it, shape (n, 3)."""
    points = []
    for moment in moments[np.unique(np.linspace(0, len(moments) - 1, GLANCES).astype(int))]:
        scene.place(trajectory.body_poses(int(np.argmin(np.abs(times - moment)))))
        points.append(scene.outline())
    return np.concatenate(points)


def _write_film(target: Path, pictures: Iterator[np.ndarray], fps: float, size: tuple[int, int]) -> None:
    try:
        from imageio_ffmpeg import write_frames
    except ImportError:
        raise missing_extra("imageio-ffmpeg", "render", f"a film ({target.suffix})") from None
    options: dict[str, Any] = {"codec": "libx264", "quality": 7, "pix_fmt_out": "yuv420p"}
    if target.suffix.lower() == ".gif":
        # A palette of its own for every film: the common one of GIF shows bands in the sky.
        own_palette = "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=bayer:bayer_scale=4"
        options = {"codec": "gif", "pix_fmt_out": "pal8", "output_params": ["-filter_complex", own_palette]}
    with whole_file(target) as partial:
        writer = write_frames(str(partial), size, fps=fps, macro_block_size=1, ffmpeg_log_level="error", **options)
        with closing(writer):
            try:
                writer.send(None)
                for picture in pictures:
                    writer.send(picture)
            except (BrokenPipeError, OSError) as error:
                raise FileFormatError(target, "", f"the encoder failed: {str(error).strip() or error!r}") from error
        if not partial.exists() or partial.stat().st_size == 0:
            raise FileFormatError(target, "", "the encoder wrote nothing: is the disk full?")


def _reporter(progress: bool | Callable[[float], Any]) -> Callable[[float], Any]:
    if callable(progress):
        return progress
    if not progress:
        return lambda share: None

    def show(share: float) -> None:
        sys.stderr.write(f"\rdrawing {share:4.0%}" + ("\n" if share >= 1 else ""))
        sys.stderr.flush()

    return show
