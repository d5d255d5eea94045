"""The table of adaptive dynamics: speed, growth and quality, as in the paper that it reproduces."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from . import adaptive_quality as quality
from . import adaptive_speed as speed
from .core import Row

Part = tuple[str, Callable[[], list[Row]]]


def parts(*, quick: bool, data: Path | None) -> list[Part]:
    """Return what is measured, in order; no files are needed."""
    return [
        ("table 1", lambda: speed.table(quick=quick)),
        ("growth", lambda: speed.growth(quick=quick)),
        ("equilibrium", lambda: quality.rests(quick=quick)),
        ("error against budget", lambda: quality.curves(quick=quick)),
        ("simplification", lambda: quality.figure_5_rows(quick=quick)),
    ]
