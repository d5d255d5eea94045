"""`kinetree analyze`: from a recorded movement to a folder of results and a report."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from ..errors import ArgumentError
from . import BAD_INPUT
from .common import JsonOption, console, print_facts, print_json, progress

SHOWN = (
    "verdict", "frames", "mass_kg", "height_m", "markerset", "marker_rms_m", "marker_max_m", "ground_forces",
    "peak_ground_force_N", "residual_share_of_peak", "positive_work_J", "integrated_torque_N_m_s", "cost_of_transport",
    "seconds",
)  # fmt: skip


def analyze(
    trial: Annotated[
        str | None, typer.Argument(metavar="TRIAL", help="A .c3d, .trc, .bvh or .amc file; none is the embedded walk.")
    ] = None,
    forces: Annotated[Path | None, typer.Option(help="Ground forces: a .mot or .sto file.")] = None,
    mass: Annotated[float | None, typer.Option(help="The person's mass, in kg.")] = None,
    height: Annotated[float | None, typer.Option(help="The person's stature, in m.")] = None,
    sex: Annotated[str | None, typer.Option(help="male or female, for the segments' masses.")] = None,
    markerset: Annotated[str, typer.Option(help="auto, cmu, plugin_gait, phasespace or a .toml file.")] = "auto",
    model: Annotated[Path | None, typer.Option(help="An OpenSim model in place of the 48-DOF human.")] = None,
    ground: Annotated[str, typer.Option(help="Where forces come from: auto, plates, contact or none.")] = "auto",
    cutoff: Annotated[float, typer.Option(help="Of the filter, in Hz.")] = 6.0,
    up: Annotated[str | None, typer.Option(help="The file's upward axis, where it is not recognised.")] = None,
    subject: Annotated[str | None, typer.Option(help="Whose markers, where there are several people.")] = None,
    skeleton: Annotated[Path | None, typer.Option(help="The .asf file of an .amc motion.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The folder for all that it makes.")] = Path(
        "analysis"
    ),
    show: Annotated[bool, typer.Option("--show", help="Open the report in the browser.")] = False,
    json: JsonOption = False,
) -> None:
    """Analyse a recorded movement: angles, torques, powers, ground forces, steps, residuals, and a report.

    [bold]Examples[/bold]

      kinetree analyze walk.c3d --height 1.75

      kinetree analyze walk.trc --forces grf.mot --mass 72 --out results

      kinetree analyze walk.trc --forces grf.mot --model scaled.osim
    """
    from ..human.analysis import analyse
    from .warm import warm_up

    if out.exists() and not out.is_dir():
        raise ArgumentError(f"--out is {str(out)!r}, which is a file: give a folder")
    warm_up(["human movement"], only_cold=True)
    began = perf_counter()
    with progress("analysing") as bar:
        who: dict[str, Any] = (
            {} if trial is None else {"height": height, "sex": sex, "markerset": markerset, "model": model}
        )
        how: dict[str, Any] = (
            {} if trial is None else {"forces": forces, "up": up, "subject": subject, "skeleton": skeleton}
        )
        done = analyse(trial, mass=mass, cutoff=cutoff, ground=ground, out=out, progress=bar, **who, **how)
    facts = done.summary() | {"seconds": perf_counter() - began, "files": [str(file) for file in done.files]}
    if json:
        print_json(facts)
    else:
        print_facts({name: facts.get(name) for name in SHOWN})
        for line in facts.get("verdict_lines", []):
            print(f"  {line}")
        console().print("\nlook at:", soft_wrap=True)
        for file in facts["files"]:
            print(f"  {file}")
    if done.failed:
        message = (
            f"kinetree: {done.failed} failed: {done.error}; what was reached before is in {out}, marked as partial"
        )
        console().print(message, soft_wrap=True, markup=False)
        raise typer.Exit(BAD_INPUT)
    if show:
        webbrowser.open((out / "report.html").resolve().as_uri())
