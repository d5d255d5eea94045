"""Stepping a constrained body: what is prepared before a step, and what is told of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dynamics import integrate
from ..errors import ArgumentError, ConvergenceError
from ..full import FullStepper, Outcome
from ..kernels import constrain
from ..kernels import geometry as geo
from ..kernels import step_room as k
from ..kernels.acts import Acts
from ..kernels.conditions import L_BOUNCE
from ..kernels.manifold import difference
from ..model.model import Model
from ..typing import Array
from .assemble import close
from .contact import build_geometry
from .room import Compiled, grow, make_bench, make_places, make_rows, make_store

__all__ = ["ConstrainedStepper", "Contact"]

LARGEST = 4_000_000  # contacts: more than this is an explosion of memory
COUNTED = {
    "parts": k.N_PARTS, "backtracks": k.N_BACKTRACKS, "impacts": k.N_IMPACTS, "sweeps": k.N_SWEEPS,
    "unsolved_steps": k.N_UNSOLVED, "projections": k.N_PROJECTED, "limits_reached": k.N_LIMITS,
    "steps_without_events": k.N_GAVE_UP,
}  # fmt: skip
LARGE = {
    "largest_residual": k.M_RESIDUAL, "deepest": k.M_DEPTH, "largest_drift": k.M_LOOP, "most_contacts": k.M_CONTACTS,
}  # fmt: skip


@dataclass(frozen=True)
class Contact:
    """Two bodies that touch, or are about to: `body_b` None is the world.

    `force` [N] acts on A at `point`, `normal` points from B to A; the `gap` [m] is negative where they overlap.
    """

    body_a: str | None
    body_b: str | None
    point: Array
    normal: Array
    gap: float
    force: Array


class ConstrainedStepper(FullStepper):
    """Advances one simulation under constraints."""

    def __init__(self, model: Model, integrator: str, tolerance: float, constraints: Sequence[Any], q: Array) -> None:
        """Compile the constraints and allocate everything."""
        if integrator != "semi_implicit":
            raise ArgumentError(f"constraints are solved in semi-implicit steps: not with integrator={integrator!r}")
        super().__init__(model, integrator, tolerance)
        self.compiled = Compiled(model, constraints, q)
        contacts, solver = self.compiled.contacts, self.compiled.solver
        self.geometry, self.shape_bodies = build_geometry(model, contacts)
        self.places = make_places(self.geometry)
        between = 0.0 if contacts is None else (2.0 if contacts.self_collision else (1.0 if contacts.between else 0.0))
        self.options = solver.options("cone" if contacts is None else contacts.friction_model, between)
        bounces = (self.geometry.floats[:, geo.BOUNCE] > 0).any()
        bounces |= (self.compiled.tables.limits[:, L_BOUNCE] > 0).any()
        self.options[k.ELASTIC] = float(bounces)
        room = 4 * len(self.geometry.ints) + 16
        tables = self.compiled.tables
        self.store = make_store(self.geometry, tables, room)
        self.rows = make_rows(room, tables, max(8, min(2 * _depth(model), 60)))
        self.bench = make_bench(model, tables)
        self.scratch = self.bench
        self._known: tuple[Array, Array] | None = None
        self._dt = 0.0
        if contacts is not None and contacts.self_collision:
            self._exclude_overlaps()

    def _exclude_overlaps(self) -> None:
        """Let limbs of one tree that overlap in the neutral pose pass through each other."""
        model, body = self.model, self.body
        while not constrain.see(
            body, self.geometry, self.places, self.store, self.options, model.neutral(), np.zeros(model.nv), 0, 0.0,
            self.bench,
        ):  # fmt: skip
            self._grow()
        ints = self.geometry.ints
        side = 1 - int(self.store.numbers[0])
        found = slice(0, int(self.store.numbers[1 + side]))
        pairs, gaps = self.store.contact_ints[side][found], self.store.contacts[side][found, geo.GAP]
        a, b = pairs[:, geo.A], pairs[:, geo.B]
        own = (ints[a, geo.TREE] == ints[b, geo.TREE]) & (gaps < 0)
        keys = np.minimum(a, b)[own] * len(ints) + np.maximum(a, b)[own]
        self.geometry = self.geometry._replace(excluded=np.union1d(self.geometry.excluded, keys))
        self.store.numbers[:] = 0

    def advance(
        self,
        acts: Acts,
        q: Array,
        v: Array,
        start: float,
        first: int,
        dt: float,
        steps: int,
        gravity: Sequence[float],
        record: Array,
        every: int,
    ) -> Outcome:
        """Take `steps` steps in place; see `kernels.constrain.advance`."""
        began = time.perf_counter()
        self._prepare(q, v)
        run = steps
        if any(callable(item.weight) for item, _, _ in self.compiled.motions):
            run = 1
        done = rows = 0
        fault = -1
        while done < steps and fault == -1:
            count = min(run, steps - done, 4096)
            now = first + done
            aims = self._aims(q, start + now * dt, dt, count)
            taken, written, fault = self._step(
                acts, q, v, aims, start, now, dt, count, gravity, record[rows:], every
            )  # fmt: skip
            done, rows = done + taken, rows + written
            if fault == k.NO_ROOM:
                self._grow()
                fault = -1
        self._known, self._dt = (q.copy(), v.copy()), dt
        self.steps += done
        self.seconds += time.perf_counter() - began
        return Outcome(done, rows, fault)

    def _step(
        self, acts: Acts, q: Array, v: Array, aims: Array, start: float, first: int, dt: float, steps: int,
        gravity: Sequence[float], record: Array, every: int,
    ) -> tuple[int, int, int]:  # fmt: skip
        done: tuple[int, int, int] = constrain.advance(
            self.body, acts, self.compiled.tables, self.geometry, self.places, self.rows, self.store, q, v, aims, start,
            first, dt, steps, tuple(gravity), self.options, self.bench, record, every,
        )  # fmt: skip
        return done

    def _grow(self) -> None:
        if self.store.contacts.shape[1] > LARGEST:
            raise ConvergenceError("there are more contacts than memory: do shapes overlap without end?")
        self.store, self.rows = grow(self.store, self.rows, self.compiled.tables)

    def _prepare(self, q: Array, v: Array) -> None:
        """Close the loops and look for contacts anew where the user changed the state."""
        known = self._known
        if known is not None and np.array_equal(q, known[0]) and np.array_equal(v, known[1]):
            return
        self.store.clock[k.FRESH] = 0.0
        if self.compiled.closing and (known is None or not np.array_equal(q, known[0])):
            q[:] = close(self.model, q, self.compiled.tables)

    def _aims(self, q: Array, now: float, dt: float, steps: int) -> Array:
        """Return where followed motions are at each step, from one step before `now` on, within the joints' limits."""
        if not self.compiled.motions:
            return np.zeros((0, self.model.nq))
        model = self.model
        moments = now + dt * np.arange(-1, steps + 1)
        aims = np.tile(q, (steps + 2, 1))
        for target, curve, rows in self.compiled.motions:
            aims[:, curve.columns] = curve.at(moments)[:, curve.columns]
            self.compiled.tables.drives[rows, 3] = target.weight_at(now)
        low, high = self.compiled.bounds
        if np.isfinite(low).any() or np.isfinite(high).any():
            zero, away = model.neutral(), np.empty(model.nv)
            for row in aims:
                difference(model.topology, zero, row, away)
                inside = np.clip(away, low, high)
                if not np.array_equal(inside, away):
                    row[:] = integrate(model, zero, inside, 1.0)
        return aims

    # --- what it tells

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """What touches now, or nearly, with the forces of the last step."""
        now = int(self.store.numbers[0])
        count = int(self.store.numbers[1 + now])
        names, found = self.model.names, []
        for row, ints in zip(self.store.contacts[now][:count], self.store.contact_ints[now][:count], strict=True):
            bodies = [int(self.shape_bodies[ints[side]]) for side in (geo.A, geo.B)]
            axes = row[[*range(3, 6), *range(7, 13)]].reshape(3, 3)
            force = row[geo.IMPULSE : geo.IMPULSE + 3] @ axes / (self._dt or 1.0)
            first, second = (None if body < 0 else names[body] for body in bodies)
            found.append(Contact(first, second, row[:3].copy(), row[3:6].copy(), float(row[geo.GAP]), force))
        return tuple(found)

    @property
    def stats(self) -> dict[str, Any]:
        """What was computed so far, and what happened: impacts, backtracks, limits, depths and drifts."""
        counts = self.store.counts
        now = int(self.store.numbers[0])
        told = {name: int(counts[column]) for name, column in COUNTED.items()}
        told |= {name: float(counts[column]) for name, column in LARGE.items()}  # type: ignore[misc]
        return super().stats | told | {"contacts": int(self.store.numbers[1 + now])}

    @property
    def at_limits(self) -> tuple[str, ...]:
        """Names of the joints that are held by a limit now."""
        links = self.compiled.tables.limit_ints[self.store.reached > 0, 0]
        bodies = self.model.topology[links, 7]
        return tuple(dict.fromkeys(self.model.body_joint_names[int(body)] for body in bodies))

    def snapshot(self) -> dict[str, Array]:
        """Return what must be saved so that the motion continues to the bit: the forces of the last step."""
        store, now = self.store, int(self.store.numbers[0])
        count = int(store.numbers[1 + now])
        return super().snapshot() | {
            "contacts": store.contacts[now][:count].copy(), "contact_ints": store.contact_ints[now][:count].copy(),
            "limit_memory": store.limit_memory.copy(), "drive_memory": store.drive_memory.copy(),
            "loop_memory": store.loop_memory.copy(), "reached": store.reached.copy(), "clock": store.clock.copy(),
            "counts": store.counts.copy(), "order": self.places.order.copy(), "loop_table": self.compiled.tables.loops,
        }  # fmt: skip

    def resume(self, saved: dict[str, Array]) -> None:
        """Take over what `snapshot` returned."""
        super().resume(saved)
        count = len(saved["contacts"])
        while self.store.contacts.shape[1] < count:
            self._grow()
        store = self.store
        store.contacts[0, :count], store.contact_ints[0, :count] = saved["contacts"], saved["contact_ints"]
        store.numbers[:] = (0, count, 0, 0)
        for name in ("limit_memory", "drive_memory", "loop_memory", "reached", "clock", "counts"):
            getattr(store, name)[...] = saved[name]
        self.places.order[:] = saved["order"]
        self.compiled.tables.loops[:] = saved["loop_table"]
        self._resumed = True


def _depth(model: Model) -> int:
    depth = np.zeros(model.njoints, dtype=int)
    for i, (parent, dof) in enumerate(zip(model.topology[:, 0], model.topology[:, 4], strict=True)):
        depth[i] = dof + (depth[parent] if parent >= 0 else 0)
    return int(depth.max(initial=0))
