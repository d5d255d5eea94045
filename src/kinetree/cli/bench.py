"""`kinetree bench`: the tables of speed and accuracy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .common import console, finite, print_json, progress, writable


def bench(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which table, such as full.")] = "full",
    json: Annotated[
        Path | None,
        typer.Option(
            "--json", metavar="[FILE]", help="Print the rows as JSON instead; with a FILE, write them there, too."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller sizes and fewer repetitions.")] = False,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FOLDER", help="Where the robots' files are; else KINETREE_TEST_DATA."),
    ] = None,
) -> None:
    """Measure speed and accuracy on this machine, beside the other engines that are installed.

    A figure that misses its target is marked, and the command still ends with 0: it measures.

    [bold]Examples[/bold]

      kinetree bench full

      kinetree bench full --quick --json

      kinetree bench full --quick --json full.json
    """
    from .. import bench as tables
    from ..bench.table import print_report

    to_stdout = json is not None and str(json) == "-"
    if json is not None and not to_stdout:
        writable(json, (".json",), "--json")
    tables.check(name, data)
    with progress(f"bench {name}") as bar:
        report = tables.run(name, quick=quick, data=data, progress=lambda fraction, label: bar(fraction))
    if to_stdout:
        print_json(report.as_dict())
        return
    print_report(report)
    if json is not None:
        from json import dumps

        json.write_text(dumps(finite(report.as_dict()), indent=2, allow_nan=False) + "\n", encoding="utf-8")
        console().print(f"wrote {json}", soft_wrap=True)
