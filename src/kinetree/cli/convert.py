"""`kinetree convert`: the same model or the same motion in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import ArgumentError, FileFormatError
from .common import console, load_model, writable
from .export import MODEL_FILES
from .simulate import TABLES


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A model file, or a trajectory (.npz, .parquet).")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; its suffix says the format.")],
) -> None:
    """Convert a model file (to .urdf or .xml) or a trajectory (to .npz, .parquet or .csv).

    [bold]Examples[/bold]

      kinetree convert robot.urdf robot.xml

      kinetree convert swing.npz swing.csv
    """
    if not source.exists():
        raise FileFormatError(source, "", "there is no such file: check the path")
    writable(out, (*MODEL_FILES, *TABLES), "OUT")
    motion = source.suffix.lower() in (".npz", ".parquet")
    if motion != (out.suffix.lower() in TABLES):
        wanted = TABLES if motion else MODEL_FILES
        raise ArgumentError(f"{source} is a {'trajectory' if motion else 'model'}: OUT must end in {', '.join(wanted)}")
    if motion:
        from ..trajectory import Trajectory

        Trajectory.load(source).save(out)
    else:
        from ..io.save import save

        save(load_model(str(source)), out)
    console().print(f"wrote {out}", soft_wrap=True, markup=False)
