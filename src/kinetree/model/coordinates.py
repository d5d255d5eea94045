"""Coordinates that a person reads, and the joints that follow them: q = f(u), as OpenSim couples them.

A knee that slides as it bends is several joints with one freedom each, all functions of one coordinate. Every function
is a piecewise polynomial, whatever the file called it; a coordinate may itself be a function of another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..errors import ModelError
from ..kernels import coordinates as at


@dataclass(frozen=True)
class Function:
    """A piecewise polynomial: `pieces` [n, 10], the start of each, its origin x0 and c in sum c_k (x - x0)^k."""

    pieces: np.ndarray

    @classmethod
    def polynomial(cls, *coefficients: float) -> Function:
        """Return the polynomial with these coefficients, the constant first."""
        if len(coefficients) > at.TERMS:
            raise ModelError(
                f"a polynomial of degree {len(coefficients) - 1} is above the degree {at.TERMS - 1} that is kept"
            )
        row = np.zeros(2 + at.TERMS)
        row[0] = -np.inf
        row[2 : 2 + len(coefficients)] = coefficients
        return cls(row[None])

    def scaled(self, factor: float) -> Function:
        """Return `factor` times the function."""
        pieces = self.pieces.copy()
        pieces[:, 2:] *= factor
        return Function(pieces)

    @property
    def constant(self) -> float | None:
        """The value of a function that never changes, else None."""
        if len(self.pieces) == 1 and not self.pieces[0, 3:].any():
            return float(self.pieces[0, 2])
        return None

    def __call__(self, x: float) -> float:
        """Return the value at `x`."""
        return float(at.value(self.pieces, 0, len(self.pieces), float(x)))


@dataclass(frozen=True)
class Coordinate:
    """A coordinate: its `default`, the limits of its range, and, where it follows another one, by which function."""

    name: str
    default: float = 0.0
    limits: tuple[float, float] = (-np.inf, np.inf)
    rotational: bool = True
    follows: str | None = None
    function: Function | None = None


@dataclass(frozen=True)
class CoordinateMap:
    """All coordinates, and for each joint of one freedom the coordinate and the function that move it."""

    coordinates: tuple[Coordinate, ...]
    joints: Mapping[str, tuple[str, Function]] = field(default_factory=dict)

    def pack(self, joint_names: tuple[str, ...]) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, np.ndarray]:
        """Return the names, `rows`, `pieces` and `values` as `kernels/coordinates.py` reads them."""
        index = {own.name: k for k, own in enumerate(self.coordinates)}
        rows: list[tuple[int, int, int]] = []
        pieces: list[np.ndarray] = []

        def add(source: str | None, function: Function | None) -> None:
            if source is None or function is None:
                rows.append((-1, 0, 0))
                return
            if source not in index:
                raise ModelError(f"a function follows the coordinate {source!r}, which does not exist")
            rows.append((index[source], sum(map(len, pieces)), len(function.pieces)))
            pieces.append(function.pieces)

        for own in self.coordinates:
            if own.follows is not None and self.coordinates[index[own.follows]].follows is not None:
                raise ModelError(f"coordinate {own.name!r} follows {own.follows!r}, which follows another one itself")
            add(own.follows, own.function)
        for name in joint_names:
            if name not in self.joints:
                raise ModelError(f"joint {name!r} follows no coordinate")
            add(*self.joints[name])
        values = np.array([(c.default, *c.limits, float(c.rotational)) for c in self.coordinates]).reshape(-1, 4)
        table = np.concatenate(pieces) if pieces else np.zeros((0, 2 + at.TERMS))
        return tuple(index), np.array(rows, dtype=np.int64).reshape(-1, 3), table, values

    @classmethod
    def unpack(
        cls, names: tuple[str, ...], rows: np.ndarray, pieces: np.ndarray, values: np.ndarray, joints: tuple[str, ...]
    ) -> CoordinateMap:
        """Return what `pack` took apart."""

        def read(row: np.ndarray) -> tuple[str | None, Function | None]:
            source, start, count = (int(k) for k in row)
            return (None, None) if source < 0 else (names[source], Function(pieces[start : start + count].copy()))

        coordinates = []
        for name, row, own in zip(names, rows, values, strict=False):
            follows, function = read(row)
            default, lower, upper, rotational = (float(v) for v in own)
            coordinates.append(Coordinate(name, default, (lower, upper), bool(rotational), follows, function))
        moved: dict[str, tuple[str, Function]] = {}
        for name, row in zip(joints, rows[len(names) :], strict=True):
            source, function = read(row)
            assert source is not None
            assert function is not None
            moved[name] = (source, function)
        return cls(tuple(coordinates), moved)
