"""How much each joint counts: numbers and matrices of the user, functions of the joint's position, and what is seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..kernels import layout as at
from ..kernels import nodes as to
from ..model.model import Model
from ..typing import Array
from .assembly_tree import AssemblyTree
from .view import View


class Weights:
    """The weight matrix of every unit, shape [nunits, 36], kept up to date where it depends on positions."""

    def __init__(self, assembly: AssemblyTree, given: Mapping[str, Any] | None, view: View | None) -> None:
        """Read the user's weights (None: the identity); with a view they are weights beside what it sees."""
        self.assembly = assembly
        self.matrices = np.tile(np.eye(6).ravel(), (len(assembly.units), 1))
        self.functions: list[_Function] = []
        self._factors = np.ones(assembly.model.nv) if view is None else view.joint_factors(assembly.model)
        for unit in range(len(assembly.units)) if view is not None else ():
            self._write(unit, np.eye(int(assembly.units[unit, to.COUNT])))
        for joint, value in (given or {}).items():
            unit = self._unit(joint)
            if callable(value):
                self.functions.append(_Function(joint, unit, value, assembly.model.q_slice(joint)))
            else:
                self._write(unit, self._matrix(joint, unit, value))

    def update(self, q: Array) -> list[int]:
        """Ask the functions of the joints that have moved since they were last asked; returns the units of these."""
        moved = []
        for item in self.functions:
            position = q[item.place]
            if item.known is None or not np.array_equal(position, item.known):
                item.known = position.copy()
                argument = float(position[0]) if len(position) == 1 else position.copy()
                self._write(item.unit, self._matrix(item.joint, item.unit, item.function(argument)))
                moved.append(item.unit)
        return moved

    def _unit(self, joint: str) -> int:
        model = self.assembly.model
        return int(self.assembly.unit_of_link[model.body_links[model.joint_body(joint)]])

    def _matrix(self, joint: str, unit: int, value: Any) -> Array:
        count = int(self.assembly.units[unit, to.COUNT])
        try:
            matrix = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise ArgumentError(
                f"the weight of joint {joint!r} is {value!r}: give a number, a matrix, or a function of the position"
            ) from None
        matrix = matrix * np.eye(count) if matrix.ndim == 0 else matrix
        if matrix.shape != (count, count):
            raise ArgumentError(
                f"the weight of joint {joint!r} has shape {matrix.shape}: give a number or a {count} x {count} matrix"
            )
        if not np.isfinite(matrix).all() or np.abs(matrix - matrix.T).max() > 1e-12 * np.abs(matrix).max():
            raise ArgumentError(f"the weight of joint {joint!r} is not a finite symmetric matrix")
        if np.linalg.eigvalsh(matrix)[0] <= 0:
            raise ArgumentError(f"the weight of joint {joint!r} is not positive definite")
        return matrix

    def _write(self, unit: int, matrix: Array) -> None:
        row = self.assembly.units[unit]
        count = int(row[to.COUNT])
        root = np.sqrt(self._factors[row[to.FREEDOM : to.FREEDOM + count]])
        full = np.zeros((6, 6))
        full[:count, :count] = matrix * np.outer(root, root)
        self.matrices[unit] = full.ravel()


class _Function:
    """The weight of a joint as a function of its position."""

    def __init__(self, joint: str, unit: int, function: Callable[[Any], Any], place: slice) -> None:
        self.joint, self.unit, self.function, self.place = joint, unit, function, place
        self.known: Array | None = None


def root_positions(model: Model, q: Array) -> Array:
    """Return where the origins of the roots of the forest are [m], shape [ntrees, 3]."""
    topology, constants = model.topology, model.constants
    roots = np.flatnonzero(topology[:, at.PARENT] < 0)
    where = constants[roots, at.OFFSET : at.OFFSET + 3].copy()
    turns = constants[roots, at.PLACE : at.PLACE + 9].reshape(-1, 3, 3)
    for kind, first, columns in ((at.FREE, 4, (0, 1, 2)), (at.PLANAR, 1, (0, 1)), (at.PRISMATIC, 0, (2,))):
        of = np.flatnonzero(topology[roots, at.KIND] == kind)
        for n, column in enumerate(columns):
            where[of] += turns[of, :, column] * q[topology[roots[of], at.Q] + first + n, None]
    return where
