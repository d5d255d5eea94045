"""Read what a user gives as numbers, or say in one line what it was."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError


def as_numbers(value: Any, what: str) -> np.ndarray:
    """Return a new float array of `value`; what cannot be read as one is a `ModelError` about `what`."""
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError):
        text = " ".join(repr(value).split())
        shown = text if len(text) <= 80 else text[:77] + "..."
        raise ModelError(f"{what} is {shown}: give numbers") from None


def as_number(value: Any, what: str) -> float:
    """Return `value` as one float; what cannot be read as one is a `ModelError` about `what`."""
    array = as_numbers(value, what)
    if array.shape != ():
        raise ModelError(f"{what} has shape {array.shape}: give one number")
    return float(array)
