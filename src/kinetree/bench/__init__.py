"""The tables of speed and accuracy: `kinetree bench NAME`.

Each table is a module with `parts(quick=..., data=...)`, the list of (label, function that returns rows).
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from ..errors import ArgumentError
from .core import Progress, Report, Row, run_parts

TABLES = {
    "full": "kinetree.bench.full",
    "adaptive": "kinetree.bench.adaptive",
    "crowd": "kinetree.bench.crowd",
    "quasistatics": "kinetree.bench.quasistatics",
    "constraints": "kinetree.bench.constraints",
    "soft": "kinetree.bench.soft",
    "human": "kinetree.bench.human",
}

__all__ = ["TABLES", "Report", "Row", "run"]


def run(
    name: str,
    *,
    quick: bool = False,
    data: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Measure the table `name` on this machine.

    `quick` takes smaller sizes and fewer repetitions. `data` is the folder of the robots' files (Panda, UR5, ...); None
    means the environment's `KINETREE_TEST_DATA`, or `../shared/data` beside the project; rows whose file is absent say
    so. `progress` is called with the fraction done and the name of what comes next.
    """
    check(name, data)
    parts = import_module(TABLES[name]).parts(quick=quick, data=data_folder(data))
    return run_parts(name, parts, quick=quick, progress=progress)


def check(name: str, data: str | os.PathLike[str] | None = None) -> None:
    """Raise an `ArgumentError` where there is no such table or folder, before anything is measured."""
    if name not in TABLES:
        raise ArgumentError(f"there is no table {name!r}: use one of {', '.join(TABLES)}")
    data_folder(data)


def data_folder(given: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the folder of real files, or None where there is none; a folder that was named must exist."""
    wanted = given or os.environ.get("KINETREE_TEST_DATA")
    if wanted:
        folder = Path(wanted)
        if not folder.is_dir():
            raise ArgumentError(
                f"the folder of models {str(folder)!r} does not exist: check --data, KINETREE_TEST_DATA"
            )
        return folder
    for base in (Path.cwd(), Path(__file__).resolve().parents[3]):
        if (base.parent / "shared" / "data").is_dir():
            return base.parent / "shared" / "data"
    return None
