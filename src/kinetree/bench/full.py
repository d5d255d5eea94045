"""The table of exact dynamics: accuracy, speed, growth, motion, waits and pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from . import accuracy, growth, motion, render, speed, start
from .core import Row

Part = tuple[str, Callable[[], list[Row]]]


def parts(*, quick: bool, data: Path | None) -> list[Part]:
    """Return what is measured, in order."""
    return [
        ("accuracy on files", lambda: accuracy.files(data, quick=quick)),
        ("accuracy on trees", lambda: accuracy.trees(quick=quick)),
        ("precision", lambda: accuracy.place_and_length(quick=quick)),
        ("speed", lambda: speed.forward(data, quick=quick)),
        ("speed of a simulation", lambda: speed.simulated_second(quick=quick)),
        ("growth of time", lambda: growth.times(quick=quick)),
        ("memory", lambda: growth.memory(quick=quick)),
        ("orders", lambda: motion.orders(quick=quick)),
        ("energy", lambda: motion.energy(quick=quick)),
        ("momentum", lambda: motion.momentum(quick=quick)),
        ("pictures", lambda: render.render_speed(quick=quick)),
        ("first results", lambda: start.waits(data, quick=quick)),
    ]
