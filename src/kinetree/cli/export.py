"""`kinetree export`: write a model as a file that other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .common import ModelArgument, console, load_model, writable

MODEL_FILES = (".urdf", ".xml")


def export(
    model: ModelArgument,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write: .urdf, or .xml for MJCF.")],
) -> None:
    """Write a MODEL as URDF or MJCF, by the suffix of OUT.

    [bold]Examples[/bold]

      kinetree export humanoid humanoid.xml

      kinetree export chain:20 chain.urdf
    """
    writable(out, MODEL_FILES, "OUT")
    from ..io.save import save

    save(load_model(model), out)
    console().print(f"wrote {out}", soft_wrap=True, markup=False)
