"""Running a world: the driven numbers of each frame, the compiled loop, and statuses as errors that name rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import as_finite
from ..errors import ArgumentError, ConvergenceError, DivergedError, SingularError
from ..kernels import soft_layout as at
from ..typing import Array

if TYPE_CHECKING:
    from .constraints import Constraint
    from .world import World

SOLVERS = ("structured", "dantzig", "pgs")


@dataclass(frozen=True)
class Recording:
    """What a run recorded after each frame.

    `times` [s]; `states` (frames, bodies, 13): centre of mass, quaternion, angular and linear velocity; `forces`
    (frames, rows) of all rows [N or N m], those of a constraint at `constraint.rows`.
    """

    world: World
    times: Array
    states: Array
    forces: Array

    def force(self, constraint: str | Constraint) -> Array:
        """Return the forces of one constraint, (frames, its rows)."""
        return self.forces[:, self.world.constraint(constraint).rows]

    def positions(self, body: str) -> Array:
        """Return the centre of mass of a body, (frames, 3) [m]."""
        return self.states[:, self.world.body(body).index, :3]


def run_world(
    world: World,
    frames: int,
    substeps: int,
    goals: Mapping[Constraint, Any],
    markers: Any,
    wrenches: Any,
    *,
    record: bool,
) -> Recording:
    """Step through frames in one kernel; see `World.run`."""
    from ..kernels.soft_step import run_steps

    tables = world.tables
    drive_at, drive_values = _drives(world, frames, goals, markers)
    arrays, solver = tables.world(), tables.solver()
    n, m = len(arrays[0]), len(arrays[4])
    pushes = np.zeros((0, n, 6)) if wrenches is None else as_finite(wrenches, (frames, n, 6), "wrenches")
    states = np.zeros((frames if record else 0, n, at.STATE))
    forces = np.zeros((frames if record else 0, m))
    start = world.time
    status, _ = run_steps(
        arrays,
        solver,
        tables.sweeps(),
        tables.scratch,
        drive_at,
        drive_values,
        pushes,
        frames,
        substeps,
        states,
        forces,
    )
    tables["bodies"][:, at.WRENCH : at.WRENCH + 6] = 0.0
    if status != at.FINE:
        raise_status(world, int(status))
    times: Array = np.array([start + world.dt * substeps * k for k in range(1, len(states) + 1)])
    return Recording(world, times, states, forces)


def _drives(world: World, frames: int, goals: Mapping[Constraint, Any], markers: Any) -> tuple[Array, Array]:
    places: list[tuple[int, int]] = []
    values: list[Array] = []
    if markers is not None:
        count = len(world.markers)
        array = np.asarray(markers, dtype=float)
        if array.shape != (frames, count, 3) or np.isinf(array).any():
            raise ArgumentError(f"markers has shape {array.shape}: give finite numbers or NaN, ({frames}, {count}, 3)")
        if np.isnan(array).any():
            array = np.where(np.isnan(array).any(axis=2, keepdims=True), np.nan, array)
        places += [(marker.index, -1 - axis) for marker in world.markers for axis in range(3)]
        values.append(array.reshape(frames, 3 * count))
    for constraint, given in goals.items():
        size = constraint._goal_size
        array = np.asarray(given, dtype=float)
        if array.shape == (frames,):
            array = array[:, None]
        if array.shape != (frames, size) or not np.isfinite(array).all():
            raise ArgumentError(
                f"the goals of {constraint.name!r} have shape {array.shape}: give ({frames}, {size}), finite"
            )
        if constraint.kind == "vector motor":
            array = array / np.linalg.norm(array, axis=1, keepdims=True)
        places += [(constraint.index, at.GOAL + k) for k in range(size)]
        values.append(array)
    if not places:
        return np.zeros((0, 2), dtype=np.int64), np.zeros((1, 0))
    table = values[0] if len(values) == 1 else np.concatenate(values, axis=1)
    return np.array(places, dtype=np.int64), np.ascontiguousarray(table)


def row_name(world: World, row: int) -> str:
    """Return 'row k of constraint NAME'."""
    index = int(world.tables["links"][row, at.OWNER])
    constraint = world.constraints[index]
    return f"row {row - constraint.rows.start} of constraint {constraint.name!r}"


def raise_status(world: World, status: int) -> None:
    """Raise the error of a status of the kernels."""
    place = int(world.tables.numbers[at.PLACE])
    when = f"at {world.time:g} s"
    if status == at.SINGULAR:
        raise SingularError(
            f"{when} the step cannot be solved: {row_name(world, place)} is hard (cfm = 0) and says the same as, or "
            f"contradicts, other hard rows; give it a cfm, or a stiffness. The state is as it was"
        )
    if status == at.NOT_FINITE:
        names = [body.name for body in world.bodies]
        body = names[place] if 0 <= place < len(names) else names[_worst_body(world)]
        raise DivergedError(
            world.time, body, f"{when} the velocity of body {body!r} is not finite: check masses, forces, wrenches and "
            f"goals. The state is as it was",
        )  # fmt: skip
    rows = _unsettled(world)
    raise ConvergenceError(
        f"{when} the step cannot be solved: {', '.join(rows)} do not settle within their limits; soften them (cfm), or "
        f"use solver='dantzig'. The state is as it was"
    )


def _worst_body(world: World) -> int:
    return int(np.abs(np.nan_to_num(world.tables["bodies"][:, at.FREE : at.FREE + 6], nan=np.inf)).max(axis=1).argmax())


def _unsettled(world: World, most: int = 5) -> list[str]:
    rows, links = world.tables["rows"], world.tables["links"]
    push, lower, upper = rows[:, at.PUSH], rows[:, at.LOWER], rows[:, at.UPPER]
    off = (links[:, at.ON] == 1) & ((push < lower) | (push > upper) | ~np.isfinite(push))
    found = np.flatnonzero(off)
    if not len(found):
        found = np.flatnonzero((links[:, at.ON] == 1) & (np.isfinite(lower) | np.isfinite(upper)))
    names = [row_name(world, int(r)) for r in found[:most]]
    return names + ([f"{len(found) - most} more"] if len(found) > most else [])
