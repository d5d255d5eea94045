"""What the bodies of the library share: colours, inertias of simple solids, and checks of counts."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ..compile import compile_model
from ..description import Body, Description
from ..model import Model

Color = tuple[float, float, float]

STEEL: Color = (0.62, 0.65, 0.70)
DARK: Color = (0.22, 0.24, 0.28)
BLUE: Color = (0.16, 0.42, 0.72)
TEAL: Color = (0.10, 0.58, 0.58)
AMBER: Color = (0.95, 0.63, 0.14)
RED: Color = (0.80, 0.24, 0.20)
WHITE: Color = (0.92, 0.92, 0.90)

NO_TURN = np.eye(3)
ORIGIN = np.zeros(3)


MOST = 10_000_000
"""Bodies that a model of the library may have: ten times more would not fit into memory on most machines."""


def count(value: Any, what: str, least: int = 1, most: int = MOST) -> int:
    """Return `value` as an integer of at least `least` and at most `most`, or say which argument is wrong."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{what} is {value!r}: it must be a whole number of at least {least}") from None
    if number < least:
        raise ArgumentError(f"{what} is {number}: it must be at least {least}")
    if number > most:
        raise ArgumentError(f"{what} is {number}: more than {most} would need more memory than there is")
    return number


def positive(value: Any, what: str) -> float:
    """Return `value` as a finite number above zero, or say which argument is wrong."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) and number > 0):
        raise ArgumentError(f"{what} is {value!r}: it must be a finite number above zero")
    return number


def not_negative(value: Any, what: str) -> float:
    """Return `value` as a finite number that is not negative, or say which argument is wrong."""
    return 0.0 if value == 0 else positive(value, what)


def rod_inertia(mass: float, length: float, radius: float) -> np.ndarray:
    """Inertia of a thin uniform rod along z about its centre; its thickness counts only about its own axis [kg m2]."""
    across = mass * length**2 / 12
    return np.diag([across, across, mass * radius**2 / 2])


def palette(k: int, n: int) -> Color:
    """Return colour `k` of `n`, from deep blue over teal to amber."""
    t = 0.0 if n < 2 else k / (n - 1)
    low, high, part = (BLUE, TEAL, 2 * t) if t < 0.5 else (TEAL, AMBER, 2 * t - 1)
    r, g, b = (round(a + (c - a) * part, 4) for a, c in zip(low, high, strict=True))
    return r, g, b


def assemble(name: str, bodies: Iterable[Body]) -> Model:
    """Compile the bodies of a library model."""
    return compile_model(Description(tuple(bodies), name))
