"""`kinetree bench`: the tables of speed and accuracy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .common import console, print_table, writable


def bench(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which table, such as full.")] = "full",
    json: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the rows here, too.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller sizes and fewer repetitions.")] = False,
) -> None:
    """Measure speed and accuracy on this machine, beside the other engines that are installed.

    [bold]Examples[/bold]

      kinetree bench full

      kinetree bench full --quick --json full.json
    """
    from .. import bench as tables

    if json is not None:
        writable(json, (".json",), "--json")
    rows: list[dict[str, Any]] = [dict(row) for row in tables.run(name, quick=quick)]
    print_table(rows, title=f"kinetree bench {name}")
    if json is not None:
        from json import dumps

        from .common import finite

        json.write_text(dumps(finite(rows), indent=2, allow_nan=False) + "\n", encoding="utf-8")
        console().print(f"wrote {json}", soft_wrap=True)
