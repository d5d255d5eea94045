"""The table of constraints: solvers, closed forms, rest and drift, speed against MuJoCo, and piles of rag dolls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from . import constraints_motion as motion
from . import constraints_speed as speed
from .core import Row

Part = tuple[str, Callable[[], list[Row]]]


def parts(*, quick: bool, data: Path | None) -> list[Part]:
    """Return what is measured, in order."""
    return [
        ("three routes", lambda: speed.routes(quick=quick)),
        ("growth", lambda: speed.growth(quick=quick)),
        ("complementarity", lambda: speed.complementarity(quick=quick)),
        ("the humanoid", lambda: speed.humanoid(data, quick=quick)),
        ("50 rag dolls", lambda: speed.pile(quick=quick)),
        ("closed forms", lambda: motion.closed_forms(quick=quick)),
        ("rest", lambda: motion.rest(quick=quick)),
        ("loops", lambda: motion.loops(quick=quick)),
        ("motion control", lambda: motion.control(quick=quick)),
        ("hybrid bodies", lambda: motion.hybrid(quick=quick)),
    ]
