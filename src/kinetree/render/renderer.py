"""From a scene and a camera to a picture: sets up the views and calls the kernels in turn."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError
from . import layout as at
from .camera import Camera
from .light import Light, sky_colors
from .palette import linear
from .place import seen_extent
from .project import count_in_tiles, fill_tiles, project
from .scene import Scene
from .shade import shade
from .shadow import halve, mask_of_floor
from .smooth import smooth, srgb_table
from .visible import cast

LARGEST = 16384  # pixels, of a side
SMALLEST_MAP, LARGEST_MAP = 64, 2048  # texels, of a side of the light's map
_ONE_AT_A_TIME = threading.Lock()  # some threading layers of Numba end the process when entered twice


@dataclass
class _Pass:
    """What one view of the scene needs and leaves: primitives in its axes, and depth and key of each pixel."""

    view: np.ndarray
    shapes: np.ndarray
    rects: np.ndarray
    depths: np.ndarray
    keys: np.ndarray


class Renderer:
    """Draws scenes of one picture size; keeps its buffers from one picture to the next.

    After `draw`, `depths` (height, width) are the distances along the view [m] of what each pixel shows, infinite for
    the sky, and `keys` say what that is, as in `render/layout.py`.

    `background`: None (a blue sky), a colour, or a pair of colours (horizon, zenith), sRGB in 0..1.
    """

    def __init__(
        self, width: int = 640, height: int = 480, *, light: Light | None = None, background: Any = None
    ) -> None:
        """Check the sizes and allocate the buffers."""
        for name, value in (("width", width), ("height", height)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= LARGEST:
                raise ArgumentError(f"the {name} of the picture is {value!r}: it must be an integer in 1..{LARGEST}")
        self.width, self.height = int(width), int(height)
        self.light = Light() if light is None else light
        if not isinstance(self.light, Light):
            raise ArgumentError(f"light is {light!r}: give a kinetree.render.Light or None")
        self._horizon, self._zenith = (linear(color) for color in sky_colors(background))
        self.depths = np.empty((self.height, self.width), dtype=np.float32)
        self.keys = np.empty((self.height, self.width), dtype=np.int32)
        self._linear = np.empty((self.height, self.width, 3), dtype=np.float32)
        # The light's map has about as many texels as the picture has pixels, and then some: 1024 for 640 pixels.
        wanted = 2 ** math.ceil(math.log2(1.2 * max(self.width, self.height)))
        self._map = min(max(wanted, SMALLEST_MAP), LARGEST_MAP)
        self._light_depths = np.empty((self._map, self._map), dtype=np.float32)
        self._light_keys = np.empty((self._map, self._map), dtype=np.int32)
        sizes = [self._map >> level for level in range(1, int(math.log2(self._map)) - 2)]
        self._pyramid = np.zeros((sum(size * size for size in sizes), 2), dtype=np.float32)
        starts = np.cumsum([0] + [size * size for size in sizes])
        self._levels = [
            self._pyramid[start : start + size * size].reshape(size, size, 2)
            for start, size in zip(starts, sizes, strict=False)
        ]
        self._table = srgb_table()

    def draw(self, scene: Scene, camera: Camera, *, ground: float | None = None) -> np.ndarray:
        """Return the picture, uint8 (height, width, 3); `ground` is the height of the floor [m], None for none."""
        if not isinstance(camera, Camera):
            raise ArgumentError(f"camera is {camera!r}: give a kinetree.render.Camera")
        if ground is not None and not math.isfinite(ground):
            raise ArgumentError(f"the height of the ground is {ground!r}: it must be a finite number or None")
        for what, values in (("pose", scene.poses), ("size", scene.sizes), ("color", scene.colors)):
            if not np.isfinite(values).all():
                k = int(np.flatnonzero(~np.isfinite(values).all(1))[0])
                whose = f"of body {scene.owners[k]}" if scene.owners[k] >= 0 else "of the scene"
                raise ArgumentError(f"primitive {k} ({whose}) has a {what} that is not finite: {values[k].tolist()}")
        bounds = scene.bounds()
        out = np.empty((self.height, self.width, 3), dtype=np.uint8)
        with _ONE_AT_A_TIME:
            eye = self._see(scene, self._eye_view(camera, ground), self.depths, self.keys)
            sun = self._see(scene, self._sun_view(scene, eye, camera, ground), self._light_depths, self._light_keys)
            mask_of_floor(sun.depths, sun.view, self._levels[0])
            for fine, coarse in zip(self._levels[:-1], self._levels[1:], strict=True):
                halve(fine, coarse)
            style = self._style(scene, camera, bounds)
            shadow = self._shadow(eye.view, sun.view)
            shade(
                scene.kinds, eye.shapes, linear(scene.colors), eye.view, style, shadow, eye.depths, eye.keys,
                sun.depths, self._pyramid, len(self._levels), self._linear,
            )  # fmt: skip
            smooth(scene.kinds, eye.shapes, eye.view, eye.keys, self._linear, self._table, out)
        return out

    def _see(self, scene: Scene, view: np.ndarray, depths: np.ndarray, keys: np.ndarray) -> _Pass:
        """Find the nearest surface in every pixel of a view."""
        height, width = depths.shape
        n = len(scene)
        shapes, rects, nears = np.zeros((n, at.PRIMITIVE)), np.zeros((n, 4), dtype=np.int32), np.zeros(n)
        project(scene.kinds, scene.sizes, scene.poses, view, width, height, shapes, rects, nears)
        columns, rows = -(-width // at.TILE), -(-height // at.TILE)
        starts = np.zeros(columns * rows + 1, dtype=np.int64)
        count_in_tiles(rects, columns, starts)
        items = np.empty(starts[-1], dtype=np.int32)
        fill_tiles(rects, np.argsort(nears), columns, starts, items)
        cast(scene.kinds, shapes, rects, nears, starts, items, view, depths, keys)
        return _Pass(view, shapes, rects, depths, keys)

    def _eye_view(self, camera: Camera, ground: float | None) -> np.ndarray:
        view = np.zeros(at.VIEW)
        turn = camera.rotation
        view[at.TURN : at.EYE] = turn.ravel()
        view[at.EYE : at.EYE + 3] = camera.eye
        view[at.SCALE] = 2 * math.tan(math.radians(camera.fov) / 2) / self.height
        view[at.CX], view[at.CY] = self.width / 2, self.height / 2
        view[at.PERSPECTIVE] = 1.0
        view[at.NEAR] = 1e-4 * camera.distance
        view[at.LEAST] = 0.7
        view[at.GROUND : at.GROUND + 3] = turn[:, 2]
        # From below, the floor would only be in the way.
        view[at.HEIGHT] = math.nan if ground is None or ground > camera.eye[2] else ground - camera.eye[2]
        return view

    def _sun_view(self, scene: Scene, eye: _Pass, camera: Camera, ground: float | None) -> np.ndarray:
        """Fit the light's map to what the eye sees of the scene."""
        toward = self.light.toward
        side = np.cross((0.0, 0.0, 1.0), toward)
        side = np.array((1.0, 0.0, 0.0)) if np.linalg.norm(side) < 1e-9 else side / np.linalg.norm(side)
        turn = np.array([side, np.cross(-toward, side), -toward])
        corners = np.empty((2, 3))
        seen_extent(scene.kinds, scene.sizes, scene.poses, eye.rects, turn, corners)
        if not np.isfinite(corners).all():  # nothing is seen
            corners = turn @ camera.target + np.array([[-1.0], [1.0]])
        low, high = corners - turn @ camera.eye
        # Steps of an eighth of an octave and of whole texels keep the map still while bodies move a little.
        wide = 1.12 * max(float((high - low)[:2].max()), 1e-9)
        wide = 2.0 ** (math.ceil(8 * math.log2(wide)) / 8)
        texel = wide / self._map
        centre = np.round((low + high) / 2 / texel) * texel
        view = np.zeros(at.VIEW)
        view[at.TURN : at.EYE] = turn.ravel()
        view[at.EYE : at.EYE + 3] = camera.eye
        view[at.SCALE] = texel
        view[at.CX], view[at.CY] = self._map / 2 - centre[0] / texel, self._map / 2 - centre[1] / texel
        view[at.NEAR] = -1e30
        view[at.LEAST] = 0.5
        view[at.GROUND : at.GROUND + 3] = turn[:, 2]
        view[at.HEIGHT] = math.nan if ground is None else ground - camera.eye[2]
        return view

    def _shadow(self, eye: np.ndarray, sun: np.ndarray) -> np.ndarray:
        """Pack how points in the axes of the eye's view are found in the light's map (both start at the eye)."""
        shadow = np.zeros(at.SHADOW)
        shadow[:9] = (sun[:9].reshape(3, 3) @ eye[:9].reshape(3, 3).T).ravel()
        shadow[at.TEXEL] = sun[at.SCALE]
        shadow[at.LIGHT_CX], shadow[at.LIGHT_CY] = sun[at.CX], sun[at.CY]
        shadow[at.PENUMBRA] = self.light.softness
        return shadow

    def _style(self, scene: Scene, camera: Camera, bounds: np.ndarray) -> np.ndarray:
        """Pack colours and lengths: light of the sky, floor, and fog that is fitted to the scene's extent."""
        turn, light = camera.rotation, self.light
        size = max(float(np.linalg.norm(bounds[1] - bounds[0])), 1e-6)
        gap = np.maximum(np.maximum(bounds[0] - camera.eye, camera.eye - bounds[1]), 0.0)
        nearest = float(np.linalg.norm(gap))
        distance = max(camera.distance, nearest + 0.5 * size)
        style = np.zeros(at.STYLE)

        def put(where: int, values: Any) -> None:
            style[where : where + 3] = values

        put(at.SUN, turn @ light.toward)
        put(at.SUN_COLOR, np.array((0.86, 0.81, 0.72)) * light.strength)
        put(at.AMBIENT_SKY, np.array((0.36, 0.40, 0.46)) * light.ambient)
        put(at.AMBIENT_GROUND, np.array((0.22, 0.205, 0.19)) * light.ambient)
        put(at.HORIZON, self._horizon)
        put(at.ZENITH, self._zenith)
        put(at.FLOOR_DARK, (0.36, 0.38, 0.41))
        put(at.FLOOR_LIGHT, (0.45, 0.47, 0.495))
        style[at.CELL] = _round_length(0.06 * distance)
        style[at.FLOOR_CLEAR] = distance
        style[at.FLOOR_FADE] = 2.2 * distance
        style[at.FOG_START] = nearest
        style[at.FOG_LENGTH] = 1.8 * size
        style[at.GLOSS] = light.gloss
        style[at.REACH] = 0.06 * size
        return style


def _round_length(length: float) -> float:
    """The nearest of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(length))
    return min((1.0, 2.0, 5.0, 10.0), key=lambda step: abs(math.log(step * power / length))) * power
