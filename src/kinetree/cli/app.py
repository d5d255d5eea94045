"""The table of commands."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from . import INTERRUPTED
from .analyze import analyze
from .bench import bench
from .convert import convert
from .demo import demo
from .doctor import doctor
from .export import export
from .inspect import inspect
from .simulate import simulate
from .warmup import warmup

COMMANDS = (demo, simulate, analyze, inspect, export, convert, bench, warmup, doctor)


def command() -> Any:
    """Return the command `kinetree` with all its commands below it."""
    app = typer.Typer(
        name="kinetree",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for function in COMMANDS:
        app.command(name=function.__name__, no_args_is_help=False)(_interruptible(function))
    return typer.main.get_command(app)


def _interruptible(function: Callable[..., None]) -> Callable[..., None]:
    """Say so where Ctrl-C ended a command that had nothing to save; the option parser would end it in silence."""

    @wraps(function)
    def run(*args: Any, **options: Any) -> None:
        try:
            function(*args, **options)
        except KeyboardInterrupt:
            print("\nkinetree: interrupted", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None

    return run


def _show_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        print(f"kinetree {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks; may stand anywhere on the line.")] = False,
) -> None:
    """Exact, adaptive and error-bounded dynamics of articulated bodies.

    A MODEL is a file (URDF, MJCF, ...) or a body of the library, such as pendulum:300, chain:20,spherical=true,
    humanoid, crowd:200, millipede, bicycle_chain or molecule:50000,seed=3.

    [bold]Examples[/bold]

      kinetree demo

      kinetree inspect humanoid

      kinetree simulate chain:20 --seed 1 --damping 0.005 --render swing.mp4
    """
