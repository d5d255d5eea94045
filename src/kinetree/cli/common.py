"""What the commands share: reading a model, progress bars, and figures as JSON or as text."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ..errors import ArgumentError, FileFormatError
from ..model.model import Model

ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help="A file, or a library model such as pendulum:300.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the figures as JSON instead.")]


def console() -> Console:
    """Return the console for what a person reads beside the figures: stderr."""
    return Console(stderr=True, highlight=False)


def load_model(text: str) -> Model:
    """Read the model from a file, or build it if `text` names one of the library."""
    from ..model import library

    path = Path(text)
    if path.exists():
        from ..io.load import load

        return load(path)
    name = text.partition(":")[0].replace("-", "_")
    if name in library.names():
        return library.from_spec(text)
    if path.suffix or len(path.parts) > 1:
        raise FileFormatError(text, "", "there is no such file: check the path")
    known = ", ".join(library.names())
    raise ArgumentError(f"{text!r} is neither a file nor a model of the library, which has {known}")


@contextmanager
def progress(label: str) -> Iterator[Callable[..., None]]:
    """Show a bar on stderr; the function that it gives takes the fraction done, 0 to 1, and a new label if it likes."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console()) as bar:
        task = bar.add_task(label, total=1.0)

        def report(fraction: float, what: str = label) -> None:
            bar.update(task, completed=min(max(fraction, 0.0), 1.0), description=what)

        yield report


def print_json(data: Any) -> None:
    """Print data as JSON on stdout; numbers that JSON does not have become null."""
    sys.stdout.write(json.dumps(finite(data), indent=2, allow_nan=False) + "\n")


def finite(data: Any) -> Any:
    """Return data as JSON can hold it: NumPy numbers as Python's, infinities and NaN as None."""
    if isinstance(data, Mapping):
        return {str(key): finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [finite(value) for value in data]
    if hasattr(data, "tolist"):
        return finite(data.tolist())
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data if isinstance(data, (str, int, float, bool, type(None))) else str(data)


def print_facts(facts: Mapping[str, Any]) -> None:
    """Print names and values, one a line, on stdout."""
    width = max((len(name) for name in facts), default=0)
    for name, value in facts.items():
        if value is not None:
            print(f"{name.replace('_', ' '):<{width}}  {cell(value)}")


def cell(value: Any) -> str:
    """Return a value as short text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(cell(item) for item in value)
    return str(value)


def parse_gravity(text: str) -> tuple[float, float, float]:
    """Read `x,y,z` or a single number, the acceleration downwards."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) == 1:
        values = [0.0, 0.0, -abs(values[0]) or 0.0]
    if len(values) != 3 or not all(map(math.isfinite, values)):
        raise ArgumentError(f"--gravity is {text!r}: give x,y,z in m/s2 such as 0,0,-9.81, or one number downwards")
    return values[0], values[1], values[2]


def writable(path: Path, suffixes: Sequence[str], option: str) -> Path:
    """Check early that a file of one of these kinds can be written, before the work is done for nothing."""
    if path.suffix.lower() not in suffixes:
        raise ArgumentError(f"{option} is {str(path)!r}: its name must end in {', '.join(suffixes)}")
    if not path.parent.is_dir():
        raise ArgumentError(f"{option} is {str(path)!r}: the folder {str(path.parent)!r} does not exist; make it first")
    return path
