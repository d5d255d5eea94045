"""The arrays of a constrained simulation, and tables compiled from what the user says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..kernels import conditions as c
from ..kernels import geometry as geo
from ..kernels import layout as at
from ..kernels import step_room as k
from ..kernels.conditions import Rows, Tables
from ..kernels.geometry import Geometry, Places
from ..kernels.step_room import Bench, Store
from ..kernels.weave import ROOTS
from ..model.model import Model
from .contact import Contacts
from .limits import JointFriction, JointLimits, Motor
from .loop import Loop, PointAcceleration, PointAttachment
from .motion import JointAcceleration, MotionTarget
from .solver import Solver

DRIVERS = (JointFriction, Motor, MotionTarget, JointAcceleration)
KINDS = (Contacts, JointLimits, *DRIVERS, Loop, PointAttachment, PointAcceleration, Solver)
MOST_EQUALITIES = 400  # that are solved together and directly; more are left to the sweeps


class Compiled:
    """The constraints of a simulation as tables, with the places of the motions in the table of drives."""

    def __init__(self, model: Model, constraints: Sequence[Any], q: np.ndarray) -> None:
        """Check and compile; `q` is the configuration in which loops without given frames are closed."""
        for item in constraints:
            if not isinstance(item, KINDS):
                raise ArgumentError(f"{item!r} is no constraint: use the classes of kinetree.constraints")
        self.contacts = _one(constraints, Contacts)
        self.solver: Solver = _one(constraints, Solver) or Solver()
        limits: list[Any] = []
        drives: list[Any] = []
        loops: list[Any] = []
        self.motions: list[tuple[MotionTarget, Any, slice]] = []
        self.bounds = np.full((2, model.nv), np.inf) * np.array([[-1.0], [1.0]])
        for item in constraints:
            if isinstance(item, JointLimits):
                limits += item.rows(model)
                dofs, low, high = item.bounds(model)
                self.bounds[0, dofs] = np.maximum(self.bounds[0, dofs], low)
                self.bounds[1, dofs] = np.minimum(self.bounds[1, dofs], high)
            elif isinstance(item, DRIVERS):
                rows = item.rows(model)
                if isinstance(item, MotionTarget):
                    self.motions.append((item, item.curve(model), slice(len(drives), len(drives) + len(rows))))
                drives += rows
            elif isinstance(item, (Loop, PointAttachment)):
                loops.append(item.row(model, q))
            elif isinstance(item, PointAcceleration):
                loops += item.rows(model, q)
        self.tables = Tables(
            *_table(limits, c.LIMIT_INTS, c.LIMITS), *_table(drives, c.DRIVE_INTS, c.DRIVES),
            *_table(loops, c.LOOP_INTS, c.LOOPS),
        )  # fmt: skip
        self.closing = bool((self.tables.loop_ints[:, c.O_KIND] != c.PULL).any())


def _one(constraints: Sequence[Any], kind: type) -> Any:
    found = [item for item in constraints if isinstance(item, kind)]
    if len(found) > 1:
        raise ArgumentError(f"there are {len(found)} {kind.__name__} among the constraints: give one for all bodies")
    return found[0] if found else None


def _table(rows: list[tuple[list[int], list[float]]], ints: int, floats: int) -> tuple[np.ndarray, np.ndarray]:
    return (
        np.array([row[0] for row in rows], dtype=np.int64).reshape(-1, ints),
        np.array([row[1] for row in rows], dtype=float).reshape(-1, floats),
    )


def make_places(geometry: Geometry) -> Places:
    """Return room for the places of the shapes."""
    n = len(geometry.ints)
    return Places(
        np.zeros((n, 12)), np.zeros((n, 7)), geometry.movers.copy(), np.zeros((4, geo.MANY + 8, 3)), np.zeros((5, 10)),
        np.zeros((64, 8)),
    )  # fmt: skip


def make_store(geometry: Geometry, tables: Tables, contacts: int) -> Store:
    """Return room for `contacts` contacts and the memory of all other constraints."""
    n, nl = len(geometry.ints), len(tables.limit_ints)
    return Store(
        np.zeros((2, contacts, geo.CONTACTS)), np.zeros((2, contacts, geo.CONTACT_INTS), dtype=np.int64),
        np.zeros(4, dtype=np.int64), np.full(n, -1, dtype=np.int64), np.zeros(contacts, dtype=np.int64),
        np.zeros((nl, 2)), np.zeros(len(tables.drive_ints)), np.zeros((len(tables.loop_ints), 6)),
        np.zeros(nl, dtype=np.int64), np.zeros((len(tables.loop_ints), 36)), np.zeros(k.CLOCK), np.zeros(k.COUNTS),
    )  # fmt: skip


def make_rows(contacts: int, tables: Tables, columns: int) -> Rows:
    """Return room for the rows of `contacts` contacts and of all else, with `columns` freedoms a row on average."""
    others = 2 * len(tables.limit_ints) + len(tables.drive_ints) + 6 * len(tables.loop_ints)
    return Rows(
        np.zeros((contacts + others, c.GROUPS), dtype=np.int64), np.zeros((3 * contacts + others, c.ROWS)),
        np.zeros((contacts + others) * columns, dtype=np.int64), np.zeros((3 * contacts + others) * columns),
        np.zeros(4, dtype=np.int64),
    )  # fmt: skip


def make_bench(model: Model, tables: Tables) -> Bench:
    """Return the scratch to step a model."""
    nv, nq, n = model.nv, model.nq, model.njoints
    wide = max(nv, 6)
    equalities = min(len(tables.drive_ints) + 6 * len(tables.loop_ints), MOST_EQUALITIES)

    vectors = [np.zeros(nv) for _ in range(9)]
    arrays = [
        np.zeros((2, n, at.LINKS)), np.zeros((2, nv, at.AXES)), np.zeros((nv, ROOTS)), *vectors, np.zeros((n, 6)),
        np.zeros((n, 6)), np.zeros((3, wide)), np.zeros((2, 6)), np.zeros((2, 3, 6)), np.zeros(2),
        np.zeros(equalities, dtype=np.int64), np.zeros((equalities, equalities)), np.zeros(equalities), np.zeros(nq),
        np.zeros(nq + nv), np.zeros((3, nq)), np.zeros(nv),
    ]  # fmt: skip
    return Bench._make(arrays)


def grow(store: Store, rows: Rows, tables: Tables) -> tuple[Store, Rows]:
    """Return twice the room; what the store holds is kept."""
    contacts = 2 * store.contacts.shape[1]
    wide = np.zeros((2, contacts, geo.CONTACTS))
    wide[:, : contacts // 2] = store.contacts
    wide_ints = np.zeros((2, contacts, geo.CONTACT_INTS), dtype=np.int64)
    wide_ints[:, : contacts // 2] = store.contact_ints
    columns = max(2 * (len(rows.cols) // max(len(rows.groups), 1)), 8)
    store.head[:] = -1
    return (
        store._replace(contacts=wide, contact_ints=wide_ints, follow=np.zeros(contacts, dtype=np.int64)),
        make_rows(contacts, tables, columns),
    )
