"""Pictures and films without a display: a ray-caster for boxes, balls, capsules and a floor.

`render_image` draws a model at a configuration, `render_trajectory` a motion, and `Renderer` any `Scene`.
"""

from __future__ import annotations

from .camera import Camera
from .film import RenderCancelledError, render_trajectory
from .image import write_png
from .light import Light
from .palette import body_colors
from .renderer import Renderer
from .scene import Scene
from .still import render_image

__all__ = [
    "Camera",
    "Light",
    "RenderCancelledError",
    "Renderer",
    "Scene",
    "body_colors",
    "render_image",
    "render_trajectory",
    "write_png",
]
