"""How fast pictures are drawn."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from .core import Row, at_least

GROUP = "pictures"
WANTED = 15.0  # frames per second for a crowd of about 18 000 bodies


def render_speed(*, quick: bool = False, people: int = 200, width: int = 640, height: int = 480) -> list[Row]:
    """Draw a crowd of humanoids (89 bodies each) from three sides; returns the frames per second of each.

    A frame is everything from the configuration to the finished picture: poses of the bodies, culling, visibility,
    light, shadow and antialiasing. The camera moves, and times are wall time, of the median frame.
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
        for k in range(10 if quick else 40):
            began = perf_counter()
            scene.place(body_poses(model, q))
            renderer.draw(scene, camera.orbit(0.5 * k), ground=0.0)
            times.append(perf_counter() - began)
        slow = 1e3 * float(np.quantile(times, 0.9))
        detail = f"{width} x {height}, everything of a frame; nine of ten frames within {slow:.0f} ms"
        name = f"drawing {len(scene)} bodies, {view}"
        rows.append(at_least(GROUP, name, 1 / float(np.median(times)), WANTED, "frames/s", detail))
    return rows
