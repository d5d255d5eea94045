"""What a file of a measured movement holds, in SI units but in the file's own axes: markers, force plates, events."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..typing import Array

LENGTHS = {
    "m": 1.0, "meter": 1.0, "meters": 1.0, "metre": 1.0, "metres": 1.0, "mm": 1e-3, "millimeters": 1e-3,
    "millimetres": 1e-3, "cm": 1e-2, "dm": 0.1, "in": 0.0254, "inch": 0.0254, "inches": 0.0254, "ft": 0.3048,
}  # fmt: skip
"""Metres in a unit of length, by its name in lower case."""


@dataclass(frozen=True)
class Plate:
    """What one force plate says: the wrench on the person, as a force and torque at a point, file's axes.

    `times` [s], shape [n]; `force` [N], `point` [m] and `torque` [N m] about that point, shapes [n, 3]; `corners` [m],
    shape [4, 3], or None. `kind` is the C3D type, 0 where a table gave the forces.
    """

    name: str
    times: Array
    force: Array
    point: Array
    torque: Array
    corners: Array | None = None
    kind: int = 0


@dataclass(frozen=True)
class Event:
    """A moment that somebody marked: such as a `label` "Foot Strike" in the `context` "Left" at `time` [s]."""

    label: str
    context: str
    time: float


@dataclass
class Recording:
    """A recorded movement as its file has it: `positions` [m], shape [n, m, 3], NaN where a marker was not seen."""

    path: str
    labels: list[str]
    times: Array
    positions: Array
    rate: float
    units: str = "m"
    plates: list[Plate] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    analog: dict[str, Array] = field(default_factory=dict)
    analog_rate: float = 0.0
    prefixes: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    @property
    def seen(self) -> Array:
        """Share of the frames in which each marker was seen, shape [m]."""
        if self.positions.size == 0:
            return np.zeros(len(self.labels))
        return np.isfinite(self.positions).all(2).mean(0)
