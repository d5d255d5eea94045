"""Figure 1: two hundred figures pushed away from the camera, the joints that move in colour; a picture and a film."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import kinetree as kt
from kinetree.bench import crowd as bench
from kinetree.render import Camera, render_image, write_png

ASLEEP, AWAKE = np.array((0.70, 0.72, 0.75)), np.array((0.90, 0.42, 0.10))
SECONDS, FPS = 2.0, 30
MOMENTS = (0.0, 0.4, 1.0, 1.8)


@dataclass
class Recorded:
    """The motion, and for every recorded state how much each body's joint moved of late, 0 to 1."""

    trajectory: kt.Trajectory
    glow: np.ndarray

    def colors(self, time: float) -> np.ndarray:
        """Return the colour of every body at a time [s]."""
        k = min(int(np.searchsorted(self.trajectory.times, time - 1e-9)), len(self.glow) - 1)
        share = self.glow[k][:, None]
        return share * AWAKE + (1 - share) * ASLEEP


def record(model: kt.Model) -> Recorded:
    """Simulate a tenth of the joints, those that the camera sees best."""
    view = kt.View(bench.still_eye(model), by="pixels")
    simulation = bench.pushed(model, bench.budget(model, view=view, every=20))
    every = round(1 / FPS / bench.DT)
    states, glow = [np.concatenate((simulation.q, simulation.v))], [np.zeros(model.nbodies)]
    body = {name: int(k) for name, k in zip(model.joint_names, model.joint_bodies, strict=True)}
    for _ in range(round(SECONDS * FPS)):
        simulation.step(every)
        states.append(np.concatenate((simulation.q, simulation.v)))
        moving = np.zeros(model.nbodies)
        moving[[body[name] for name in simulation.active]] = 1.0
        glow.append(np.maximum(moving, 0.7 * glow[-1]))  # fades, so that the eye can follow
    rows = np.array(states)
    times = np.arange(len(rows)) / FPS
    return Recorded(kt.Trajectory(model, times, rows[:, : model.nq], rows[:, model.nq :]), np.array(glow))


def draw(folder: Path, figures: int = bench.FIGURES) -> list[Path]:
    """Draw the picture and the film into a folder; returns the files."""
    model = kt.models.crowd(figures, seed=0)
    found = record(model)
    eye = bench.still_eye(model)
    camera = Camera(eye=eye.eye, target=eye.target, fov=eye.fov)
    panels = []
    for moment in MOMENTS:
        k = int(np.searchsorted(found.trajectory.times, moment - 1e-9))
        panels.append(
            render_image(
                model,
                found.trajectory.q[k],
                camera=camera,
                width=640,
                height=360,
                ground=0.0,
                colors=found.colors(moment),
            )
        )
    gap = np.full((360, 6, 3), 255, dtype=np.uint8)
    rows = [np.concatenate((panels[k], gap, panels[k + 1]), axis=1) for k in (0, 2)]
    line = np.full((6, rows[0].shape[1], 3), 255, dtype=np.uint8)
    picture, film = folder / "crowd.png", folder / "crowd.mp4"
    write_png(picture, np.concatenate((rows[0], line, rows[1])))
    found.trajectory.render(
        film, camera=camera, fps=FPS, width=640, height=360, ground=0.0, colors=found.colors, progress=True
    )
    return [picture, film]
