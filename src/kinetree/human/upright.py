"""Which way is up in a recording, and whether its unit of length can be right."""

from __future__ import annotations

import re
import warnings

import numpy as np

from ..io.recording import Plate
from ..typing import Array

HIGH = re.compile(r"hd$|head|c7|shoulder|sho$|acr$|clav|sjc$|strn|sternum|^t10$|neck", re.IGNORECASE)
LOW = re.compile(r"toe|heel|hee$|cal$|calc|mt\d|meta|ank|mal$|foot|ajc$", re.IGNORECASE)
FACTORS = (1e-3, 1e-2, 0.0254, 0.1, 1e3, 1e2)


def upright(labels: list[str], positions: Array, plates: list[Plate], wanted: str | None) -> tuple[Array, str]:
    """Return the rotation [3, 3] from the file's axes to those with z up, and the name of the file's upward axis."""
    name = wanted or _upward(labels, positions, plates)
    sign = -1.0 if name.startswith("-") else 1.0
    axis = "xyz".index(name.lstrip("+-"))
    up = np.zeros(3)
    up[axis] = sign
    forward = {0: (0.0, 1.0, 0.0), 1: (1.0, 0.0, 0.0), 2: (1.0, 0.0, 0.0)}[axis]
    x = np.asarray(forward)
    return np.array([x, np.cross(up, x), up]), name.lstrip("+")


def _upward(labels: list[str], positions: Array, plates: list[Plate]) -> str:
    high = [k for k, label in enumerate(labels) if HIGH.search(label)]
    low = [k for k, label in enumerate(labels) if LOW.search(label) and k not in high]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        if high and low:
            rise = np.nanmedian(np.nanmean(positions[:, high], 1) - np.nanmean(positions[:, low], 1), 0)
        else:
            spread = np.nanmedian(np.nanmax(positions, 1) - np.nanmin(positions, 1), 0)
            total = sum((plate.force.sum(0) for plate in plates), np.zeros(3))
            level = np.nanmedian(positions, (0, 1))
            rise = (
                total
                if np.abs(total).max(initial=0) > 0 and plates and plates[0].kind == 0
                else spread * np.sign(level)
            )
    if not np.isfinite(rise).any() or np.nanmax(np.abs(rise)) == 0:
        return "z"
    axis = int(np.nanargmax(np.abs(rise)))
    return ("-" if rise[axis] < 0 else "") + "xyz"[axis]


def unit_factor(positions: Array) -> float:
    """Return the factor that makes the person of a human size, 1 where that cannot be told or nothing is wrong."""
    if positions.shape[1] < 8:
        return 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        spread = float(np.nanmedian((np.nanmax(positions, 1) - np.nanmin(positions, 1)).max(1)))
    if not np.isfinite(spread) or 0.4 <= spread <= 2.6:
        return 1.0
    for factor in FACTORS:
        if 0.9 <= spread * factor <= 2.3:
            return factor
    return 1.0
