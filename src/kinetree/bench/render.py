"""How fast pictures are drawn."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

WANTED = 15.0  # frames per second for a crowd of about 18 000 bodies


def render_speed(*, people: int = 200, width: int = 640, height: int = 480, frames: int = 30) -> list[dict[str, Any]]:
    """Draw a crowd of humanoids (89 bodies each) from three sides; returns one row of figures for each.

    A frame is everything from the configuration to the finished picture: poses of the bodies, culling, visibility,
    light, shadow and antialiasing. Times are wall time; `ms` is the median, `ms_slowest` the slowest of ten frames.
    """
    from ..dynamics import body_poses
    from ..model import library
    from ..render import Camera, Renderer, Scene

    model = library.crowd(people, seed=0)
    q = model.neutral()
    scene = Scene.of(model)
    scene.place(body_poses(model, q))
    whole = Camera.framing(scene.outline(), aspect=width / height)
    above = Camera.framing(scene.outline(), aspect=width / height, direction=(0.05, -0.1, 1.0), margin=0.0)
    views = {"whole crowd": whole, "from above": above, "from within": whole.zoom(3.0)}
    renderer = Renderer(width, height)
    rows = []
    for view, camera in views.items():
        renderer.draw(scene, camera, ground=0.0)  # compiles, or loads what is compiled
        times = []
        for k in range(frames):
            began = perf_counter()
            scene.place(body_poses(model, q))
            renderer.draw(scene, camera.orbit(0.5 * k), ground=0.0)
            times.append(perf_counter() - began)
        median = float(np.median(times))
        rows.append(
            {
                "case": f"draw {len(scene)} bodies, {view}, {width} x {height}",
                "ms": 1e3 * median,
                "ms_slowest": 1e3 * float(np.quantile(times, 0.9)),
                "frames_per_second": 1 / median,
                "wanted": WANTED,
                "reached": 1 / median >= WANTED,
            }
        )
    return rows
