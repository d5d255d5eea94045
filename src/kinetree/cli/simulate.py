"""`kinetree simulate`: let a model move, and keep the motion."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ArgumentError, DivergedError
from . import INTERRUPTED
from .common import (
    JsonOption,
    ModelArgument,
    console,
    load_model,
    parse_gravity,
    print_facts,
    print_json,
    progress,
    writable,
)

if TYPE_CHECKING:
    from ..simulation import Simulation
    from ..trajectory import Trajectory

TABLES = (".npz", ".parquet", ".csv")
PICTURES = (".mp4", ".gif", ".png")


def simulate(
    model: ModelArgument,
    seconds: Annotated[float, typer.Option(help="How long to simulate, in s.")] = 1.0,
    dt: Annotated[float, typer.Option(help="Time step, in s.")] = 1e-3,
    integrator: Annotated[str, typer.Option(help="semi_implicit, euler, rk4 or rk45.")] = "semi_implicit",
    record_every: Annotated[
        int | None, typer.Option(help="Steps from one record to the next; 60 a second if not given.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Save the motion: .npz, .parquet or .csv.")
    ] = None,
    render: Annotated[Path | None, typer.Option(help="Draw the motion: .mp4, .gif or .png.")] = None,
    gravity: Annotated[str, typer.Option(help="x,y,z in m/s2, or one number downwards.")] = "0,0,-9.81",
    damping: Annotated[float, typer.Option(help="Damping of every joint, in N m s/rad or N s/m.")] = 0.0,
    seed: Annotated[
        int | None, typer.Option(help="Start from this random pose, at rest; if not given, from the neutral one.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Simulate a MODEL. Ctrl-C stops it and keeps what was recorded, as NAME.partial.npz.

    [bold]Examples[/bold]

      kinetree simulate chain:20 --seed 1 --seconds 5 --damping 0.005 --output swing.npz

      kinetree simulate robot.urdf --damping 0.1 --render fall.mp4

      kinetree simulate molecule:50000 --gravity 0 --json
    """
    if not 0 <= seconds < float("inf"):
        raise ArgumentError(f"--seconds is {seconds}: it must be finite and not negative")
    if record_every is not None and record_every < 1:
        raise ArgumentError(f"--record-every is {record_every}: it must be at least 1")
    if output is not None:
        writable(output, TABLES, "--output")
    if render is not None:
        writable(render, PICTURES, "--render")
    simulation = _prepare(load_model(model), dt, integrator, parse_gravity(gravity), damping, seed)
    began = perf_counter()
    code, trouble = 0, ""
    try:
        with progress("simulating") as report:
            simulation.run(seconds, record_every=record_every, progress=report)
    except KeyboardInterrupt:
        code, trouble = INTERRUPTED, f"interrupted at {simulation.time:.6g} s"
    except DivergedError as error:
        code, trouble = 2, str(error)
    wall = perf_counter() - began
    trajectory = simulation.recorded
    files: list[Path] = []
    if trajectory is not None and output is not None:
        files.append(trajectory.save(output if code == 0 else _partial(output)))
    facts = _facts(simulation, trajectory, wall)
    if trajectory is not None and render is not None and code == 0:
        files.append(draw(trajectory, render))
    facts |= {"files": [str(file) for file in files], "partial": code != 0}
    if json:
        print_json(facts)
    else:
        print_facts(facts | {"files": ", ".join(facts["files"]) or None, "partial": trouble or None})
    if code:
        console().print(f"kinetree: {trouble}; {_kept(files, trajectory)}", soft_wrap=True, markup=False)
        raise typer.Exit(code)
    if facts["max_speed"] == 0 and seconds > 0:
        console().print("nothing moved: this pose is at rest; --seed 1 starts from a random one", soft_wrap=True)


def draw(trajectory: Trajectory, path: Path, **options: Any) -> Path:
    """Draw a motion into a file, with progress; `options` are those of `kinetree.render.render_trajectory`."""
    from .warm import warm_up

    warm_up(["pictures"], only_cold=True)
    with progress("drawing") as report:
        trajectory.render(path, progress=report, **options)
    return path


def _prepare(
    model: Any, dt: float, integrator: str, gravity: tuple[float, float, float], damping: float, seed: int | None
) -> Simulation:
    from .. import forces
    from ..simulation import Simulation
    from .warm import warm_up

    if not (0 <= damping < float("inf")):
        raise ArgumentError(f"--damping is {damping}: it must be finite and not negative")
    if seed is not None and seed < 0:
        raise ArgumentError(f"--seed is {seed}: it must not be negative")
    q = None if seed is None else model.random_state(seed)[0]
    acting = [forces.JointDamping(damping=damping)] if damping and model.nv else []
    simulation = Simulation(
        model, q, dt=dt, gravity=gravity, integrator=integrator, forces=acting, seed=seed or 0  # type: ignore[arg-type]
    )  # fmt: skip
    warm_up(["simulation"], only_cold=True)
    return simulation


def _facts(simulation: Simulation, trajectory: Trajectory | None, wall: float) -> dict[str, Any]:
    import numpy as np

    model = simulation.model
    facts: dict[str, Any] = {
        "model": model.name, "bodies": model.nbodies, "degrees_of_freedom": model.nv,
        "integrator": simulation.integrator, "dt": simulation.dt, "time": simulation.time,
        "steps": round(simulation.time / simulation.dt), "wall_seconds": wall,
        "times_real_time": simulation.time / wall if wall > 0 else 0.0,
    }  # fmt: skip
    if trajectory is not None and len(trajectory):
        first, last = _end_energies(simulation, trajectory)
        facts |= {
            "frames": len(trajectory),
            "kinetic_energy_start": float(first[0]), "potential_energy_start": float(first[1]),
            "kinetic_energy_end": float(last[0]), "potential_energy_end": float(last[1]),
            "energy_change": float(sum(last) - sum(first)),
        }  # fmt: skip
    speeds = np.abs(simulation.v) if trajectory is None or not len(trajectory) else np.abs(trajectory.v)
    facts["max_speed"] = float(speeds.max(initial=0.0))
    return facts


def _end_energies(simulation: Simulation, trajectory: Trajectory) -> list[tuple[float, float]]:
    from ..dynamics import energy

    return [energy(simulation.model, trajectory.q[k], trajectory.v[k], gravity=simulation.gravity) for k in (0, -1)]


def _partial(path: Path) -> Path:
    return path.with_suffix(f".partial{path.suffix}")


def _kept(files: list[Path], trajectory: Trajectory | None) -> str:
    if files:
        return f"what was recorded is in {files[0]}"
    frames = 0 if trajectory is None else len(trajectory)
    return f"{frames} frames had been recorded; --output keeps them"
