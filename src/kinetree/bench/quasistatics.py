"""The table of error-bounded quasi-statics: the three linkages of Redon and Lin (2006), and what must hold for any."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from . import quasistatics_costs as costs
from . import quasistatics_linkages as linkages
from . import quasistatics_molecule as molecule
from .core import Row

Part = tuple[str, Callable[[], list[Row]]]


def parts(*, quick: bool, data: Path | None) -> list[Part]:
    """Return what is measured, in order; no files are needed."""
    return [
        ("bicycle chain", lambda: linkages.chain_rows(quick=quick)),
        ("millipede", lambda: linkages.millipede_rows(quick=quick)),
        ("molecule", lambda: molecule.table(quick=quick)),
        ("bounds", lambda: costs.bounds(quick=quick)),
        ("hand-over", lambda: costs.hand_over(quick=quick)),
        ("growth", lambda: costs.growth(quick=quick)),
        ("building", lambda: costs.building(quick=quick)),
    ]
