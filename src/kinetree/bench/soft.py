"""The table of the soft-constraint world: agreement with another engine, speed, growth, stability, claims."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from . import soft_accuracy, soft_speed, soft_stability
from .core import Row

Part = tuple[str, Callable[[], list[Row]]]


def parts(*, quick: bool, data: Path | None) -> list[Part]:
    """Return what is measured, in order; no files are needed."""
    return [
        ("the same steps", lambda: soft_accuracy.same_steps(quick=quick)),
        ("the free top", lambda: soft_accuracy.free_top(quick=quick)),
        ("both engines of the library", lambda: soft_accuracy.both_engines(quick=quick)),
        ("speed", lambda: soft_speed.speed(quick=quick)),
        ("growth", lambda: soft_speed.growth(quick=quick)),
        ("springs", lambda: soft_stability.springs(quick=quick)),
        ("random scenes", lambda: soft_stability.random_scenes(quick=quick)),
        ("claims", lambda: soft_stability.claims(quick=quick)),
    ]
