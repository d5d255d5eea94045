"""A picture of a model at one configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .camera import Camera
from .light import Light
from .renderer import Renderer
from .scene import Scene

if TYPE_CHECKING:
    from ..model.model import Model


def render_image(
    model: Model,
    q: Any = None,
    *,
    camera: Camera | None = None,
    width: int = 640,
    height: int = 480,
    ground: bool | float | None = True,
    colors: Any = None,
    background: Any = None,
    light: Light | None = None,
) -> np.ndarray:
    """Draw a model at configuration `q` (None: neutral); returns uint8, shape (height, width, 3).

    `camera` None frames the whole model. `ground` is a height [m], True to find one (a level plane of the model, else
    0 or just below the lowest point), False or None for no floor. `colors` (nbodies, 3) overrides the colours of the
    bodies, sRGB in 0..1, NaN rows excepted. `background` is None (a blue sky), a colour or two (horizon, zenith).

    >>> import kinetree as kt
    >>> from kinetree.render import render_image
    >>> render_image(kt.models.pendulum(2), width=32, height=24).shape
    (24, 32, 3)
    """
    from ..dynamics import body_poses

    renderer = Renderer(width, height, light=light, background=background)
    scene = Scene.of(model, colors)
    scene.place(body_poses(model, model.neutral() if q is None else q))
    bounds = scene.bounds()
    floor = floor_height(ground, scene, bounds)
    if camera is None:
        camera = Camera.framing(scene.outline(), aspect=width / height)
    return renderer.draw(scene, camera, ground=floor)


def floor_height(ground: bool | float | None, scene: Scene, bounds: np.ndarray) -> float | None:
    """Choose the height of the floor [m] for a scene whose lower and upper corners over time are `bounds`."""
    if ground is None or ground is False:
        return None
    if ground is not True:
        return float(ground)
    if scene.floor is not None:
        return scene.floor
    size, lowest = float(np.linalg.norm(bounds[1] - bounds[0])), float(bounds[0, 2])
    return 0.0 if -0.01 * size <= lowest <= size else lowest - 0.05 * size
