"""`kinetree demo`: a pendulum of 300 links, from compiling to the film."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError
from .common import JsonOption, console, print_facts, print_json, progress

if TYPE_CHECKING:
    from ..model.model import Model
    from ..trajectory import Trajectory

LINKS = 300
SECONDS = 4.0
DT = 1e-3
FRAMES_A_SECOND = 30
SWING = 1.2  # rad from hanging, at the start
BEAD = 0.33  # m, radius of a link in the pictures: 30 m of thin rods would be a hair
VIEW = (0.35, -1.0, 0.22)  # from the model to the camera
FLASHES = 9  # states in the picture
WIDTH, HEIGHT = 854, 480
CURL = 0.004  # rad more from each link to the next: a bent chain swings like a whip


def demo(
    headless: Annotated[
        bool, typer.Option("--headless/--no-headless", help="Only write files, or open the film, too.")
    ] = True,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder for all that it makes.")] = Path("out"),
    json: JsonOption = False,
) -> None:
    """Swing a pendulum of 300 links: figures, an energy plot, a picture and a short film, in a folder.

    [bold]Examples[/bold]

      kinetree demo

      kinetree demo --out /tmp/pendulum --no-headless
    """
    if out.exists() and not out.is_dir():
        raise ArgumentError(f"--out is {str(out)!r}, which is a file: give a folder")
    out.mkdir(parents=True, exist_ok=True)
    from .warm import warm_up

    compiled = warm_up(["kinematics and sums", "simulation", "pictures"], only_cold=True)
    trajectory, wall = _swing()
    energies = trajectory.energies()
    total = energies.sum(1)
    scale = float(energies[:, 0].max())
    files = [trajectory.save(out / "pendulum.npz"), _plot(out / "energy.png", trajectory, energies)]
    files += _draw(out, trajectory)
    facts = {
        "links": LINKS,
        "simulated_seconds": SECONDS,
        "steps": round(SECONDS / DT),
        "wall_seconds": wall,
        "times_real_time": SECONDS / wall,
        "microseconds_a_step_and_link": 1e6 * wall / (SECONDS / DT) / LINKS,
        "energy_drift_of_largest_kinetic": float((total - total[0]).max() - (total - total[0]).min()) / scale,
        "compile_seconds": sum(compiled.values()),
        "files": [str(file) for file in files],
    }
    if json:
        print_json(facts)
    else:
        print_facts({name: value for name, value in facts.items() if name != "files"})
        console().print("\nlook at:", soft_wrap=True)
        for file in files:
            print(f"  {file}")
    if not headless:
        webbrowser.open(files[-1].resolve().as_uri())


def _swing() -> tuple[Trajectory, float]:
    """Simulate the pendulum with Runge-Kutta steps; returns the motion and the seconds that it took."""
    import numpy as np

    from ..model import library
    from ..simulation import Simulation

    model = library.pendulum(LINKS)
    q = np.full(LINKS, CURL)
    q[0] = SWING
    simulation = Simulation(model, -q, dt=DT, integrator="rk4")
    began = perf_counter()
    with progress(f"simulating {LINKS} links for {SECONDS:g} s") as report:
        trajectory = simulation.run(SECONDS, record_every=round(1 / FRAMES_A_SECOND / DT), progress=report)
    return trajectory, perf_counter() - began


def _plot(path: Path, trajectory: Trajectory, energies: Any) -> Path:
    from .plot import line_plot

    lines = {"kinetic": energies[:, 0], "potential": energies[:, 1], "total": energies.sum(1)}
    return line_plot(
        path, trajectory.times, lines, title=f"Energy of a pendulum of {LINKS} links", x_label="time [s]",
        y_label="energy [J]",
    )  # fmt: skip


def _draw(out: Path, trajectory: Trajectory) -> list[Path]:
    """Draw a picture of several states at once, as a stroboscope shows a motion, and the film."""
    import numpy as np

    from ..render import Camera, render_image, write_png
    from .simulate import draw

    beads = _as_beads(trajectory)
    spots = np.concatenate([trajectory.body_poses(k)[:, :3, 3] for k in range(0, len(trajectory), 5)])
    around = np.concatenate((spots - BEAD, spots + BEAD))
    camera = Camera.framing(around, direction=VIEW, aspect=WIDTH / HEIGHT)
    picture = out / "pendulum.png"
    model, q = _flashes(beads)
    write_png(picture, render_image(model, q, camera=camera, width=2 * WIDTH, height=2 * HEIGHT))
    return [picture, draw(beads, out / "pendulum.mp4", camera=camera, width=WIDTH, height=HEIGHT)]


def _flashes(trajectory: Trajectory) -> tuple[Model, Any]:
    """Return states of a motion, evenly spread over it, as one model of that many trees and its configuration."""
    from dataclasses import replace

    import numpy as np

    from ..model.builder import ModelBuilder

    frames = np.unique(np.linspace(0, len(trajectory) - 1, FLASHES).round().astype(int))
    builder = ModelBuilder("flashes")
    for frame in frames:
        for body in trajectory.model.description().bodies:
            parent = None if body.parent is None else f"{frame}/{body.parent}"
            joint = f"{frame}/{body.joint_name}"
            builder.add(replace(body, name=f"{frame}/{body.name}", parent=parent, joint_name=joint))
    model = builder.build()
    q = np.empty(model.nq)
    for frame in frames:
        for joint in trajectory.model.joint_names:
            q[model.q_slice(f"{frame}/{joint}")] = trajectory.q[frame, trajectory.model.q_slice(joint)]
    return model, q


def _as_beads(trajectory: Trajectory) -> Trajectory:
    """Return the same motion of a model that is drawn as beads."""
    from dataclasses import replace

    from ..model.builder import ModelBuilder
    from ..model.shapes import Sphere

    builder = ModelBuilder("beads")
    for body in trajectory.model.description().bodies:
        builder.add(replace(body, shapes=(Sphere(BEAD, color=body.shapes[0].color),)))
    return replace(trajectory, model=builder.build())
