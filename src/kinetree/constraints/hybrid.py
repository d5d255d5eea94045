"""Constraints on a hybrid body: solved on its active joints, which are chosen with the constraint forces in view."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..adaptive.dca import refuse_massless
from ..adaptive.method import Adaptive
from ..adaptive.stepper import AdaptiveStepper
from ..errors import ArgumentError, SingularError
from ..full import Outcome
from ..kernels import acts as act
from ..kernels import constrain
from ..kernels import geometry as geo
from ..kernels import layout as at
from ..kernels import nodes as to
from ..kernels import step_room as k
from ..kernels.acts import Acts
from ..kernels.conditions import Tables
from ..kernels.forest import spread
from ..kernels.hybrid_choice import CHOOSE, SETTLE, decide, map_tables
from ..kernels.step_room import Bench
from ..kernels.steppers import Body
from ..model.model import Model
from ..typing import Array
from .stepper import ConstrainedStepper

_NONE: Any = np.zeros(0, dtype=np.int64)


class HybridStepper(ConstrainedStepper):
    """Advances one simulation of which only some joints move, under constraints."""

    def __init__(
        self, model: Model, integrator: str, tolerance: float, method: Adaptive, constraints: Sequence[Any], q: Array
    ) -> None:
        """Build the assembly tree, compile the constraints and allocate everything."""
        if method.guaranteed:
            raise ArgumentError(
                "Adaptive(guaranteed=True) bounds an error that constraint forces depend on: leave it out"
            )
        super().__init__(model, integrator, tolerance, constraints, q)
        self.inner = AdaptiveStepper(model, integrator, tolerance, method)
        held = self.geometry.ints[:, geo.LINK]
        refuse_massless(self.inner.assembly, model.topology[held[held >= 0], at.BODY])
        full = self.compiled.tables
        self.small_tables = Tables(*(array.copy() for array in full))
        self.small_geometry = self.geometry._replace(ints=self.geometry.ints.copy(), floats=self.geometry.floats.copy())
        most = max(len(self.geometry.ints), len(full.loop_ints), model.njoints, 1)
        self._inverse, self._column = np.full(most, -1, dtype=np.int64), np.zeros(most, dtype=np.int64)
        self._cut: tuple[Body, Acts, Bench] | None = None

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
        """Take `steps` steps in place, choosing the joints anew every `update_every` steps."""
        began = time.perf_counter()
        self._prepare(q, v)
        done = rows = 0
        fault = -1
        period, inner, totals = self.inner.period, self.inner, self.inner.totals
        g = tuple(gravity)
        known = self._known is not None and np.array_equal(q, self._known[0]) and np.array_equal(v, self._known[1])
        if not known or not inner.loads.ready or inner.loads._given is not acts:
            inner._prepare(acts, q, v, dt)
            self._cut = None
        while done < steps and fault == -1:
            now = first + done
            updating = now % period == 0
            if updating:
                inner._known = (q.copy(), v.copy())
                before = start + (now - 0.5) * dt
                inner._prepare(self._with_forces(acts, before + 0.25 * dt, dt), q, v, dt)
                inner._attend(q, v, start + now * dt)
                totals[1] += 1.0
                totals[2] = self._decide(CHOOSE, q, v, before, dt, g)
                self._cut = None
            run = 1 if updating else min(steps - done, period - now % period)
            if every > 0:
                run = min(run, every - now % every)
            fault = self._coast(acts, q, v, start, now, dt, run, g)
            while fault == k.NO_ROOM:  # the joints are chosen: only the steps are taken again
                self._grow()
                fault = self._coast(acts, q, v, start, now, dt, run, g)
            if fault != -1:
                break
            totals[0] += run * inner.forest.sizes[to.JOINTS]
            spread(inner.forest, inner.loads.small, q, v)
            if updating:
                bad = int(self._decide(SETTLE, q, v, start + now * dt, dt, g))
                if bad >= 0:
                    link = inner.assembly.units[bad, to.LAST]
                    joint = self.model.body_joint_names[self.model.topology[link, at.BODY]]
                    raise SingularError(f"joint {joint!r} has no inertia to move in this configuration")
                self._cut = None
            done += run
            if every > 0 and run > 0 and (first + done) % every == 0:
                record[rows, : len(q)], record[rows, len(q) :] = q, v
                rows += 1
            inner._block += (time.perf_counter() - began, run)
            self.seconds += time.perf_counter() - began
            began = time.perf_counter()
        self._known, self._dt = (q.copy(), v.copy()), dt
        inner._known = self._known
        inner.steps += done
        self.steps += done
        return Outcome(done, rows, fault)

    def _decide(self, what: int, q: Array, v: Array, now: float, dt: float, g: tuple[float, ...]) -> float:
        inner = self.inner
        return decide(
            what, self.body, inner.loads.acts, inner.forest, inner.loads.small, inner._plan(dt), q, v, now, g, dt
        )

    def _coast(
        self, acts: Acts, q: Array, v: Array, start: float, now: int, dt: float, run: int, g: tuple[float, ...]
    ) -> int:
        """Take `run` steps of the hybrid body as it is; returns -1 or a fault of the full body."""
        inner = self.inner
        small, sizes = inner.loads.small, inner.forest.sizes
        nq, nv = int(sizes[to.COORDINATES]), int(sizes[to.VELOCITIES])
        if nv == 0:
            return -1
        if self._cut is None:
            self._cut = self._make_cut(acts, nq, nv)
        body, own, bench = self._cut
        aims = self._aims(q, start + now * dt, dt, run)
        self.small_tables.drives[:] = self.compiled.tables.drives
        if len(aims):
            aims = np.ascontiguousarray(aims[:, small.q_of[:nq]])
        else:
            aims = np.zeros((0, nq))
        begun_q, begun_v = small.q[:nq].copy(), small.v[:nv].copy()
        _, _, fault = constrain.advance(
            body, own, self.small_tables, self.small_geometry, self.places, self.rows, self.store, small.q[:nq],
            small.v[:nv], aims, start, now, dt, run, g, self.options, bench, np.zeros((0, 0)), 0,
        )  # fmt: skip
        if fault == -1:
            return -1
        small.q[:nq], small.v[:nv] = begun_q, begun_v
        if fault == k.NO_ROOM:
            return k.NO_ROOM
        return int(small.v_of[fault]) if fault >= 0 else -2 - int(small.flat[-2 - fault, to.LINK])

    def _make_cut(self, acts: Acts, nq: int, nv: int) -> tuple[Body, Acts, Bench]:
        """Map the constraints on the hybrid body, and cut the scratch to its size."""
        inner = self.inner
        small, sizes = inner.loads.small, inner.forest.sizes
        n = int(sizes[to.LINKS])
        map_tables(
            self.geometry.ints, self.geometry.floats, self.compiled.tables, inner.forest, small, self._inverse,
            self.small_geometry.ints, self.small_geometry.floats, self.small_tables, self._column,
        )  # fmt: skip
        springy = nv if len(acts.stiffness) else 0
        damped = nv if len(acts.damping) else 0
        stopped = nv if len(acts.stops) else 0
        pulls = int(sizes[to.PULLS])
        own = Acts(
            small.stiffness[:springy], small.damping[:damped], small.friction[:damped], small.stops[:stopped],
            small.rest[:nq], small.feed[:nv], small.springs[:pulls], small.spring_links[:pulls],
            small.wrenches[: len(inner.loads.acts.wrenches)], small.wrench_links[: len(inner.loads.acts.wrenches)],
            small.nothing[:0],
        )  # fmt: skip
        body = Body(small.flat[:n], small.chain[:n], small.armature[:nv], _NONE, small.chain[:0])
        b = self.scratch
        vectors = {
            name: getattr(b, name)[:nv]
            for name in ("roots", "tau", "diagonal", "stretch", "a", "free", "dv", "trial", "y", "z", "move")
        }
        bench = b._replace(
            links=np.ascontiguousarray(b.links[:, :n]), axes=np.ascontiguousarray(b.axes[:, :nv]), spins=b.spins[:n],
            other=b.other[:n], q=b.q[:nq], before=b.before[: nq + nv], aims=np.ascontiguousarray(b.aims[:, :nq]),
            **vectors,
        )  # fmt: skip
        return body, own, bench

    def _with_forces(self, acts: Acts, until: float, dt: float) -> Acts:
        """Return the forces with those of the contacts of the last step, for the choice of the joints only."""
        now = int(self.store.numbers[0])
        count = int(self.store.numbers[1 + now])
        contacts, ints = self.store.contacts[now][:count], self.store.contact_ints[now][:count]
        if not count:
            return acts
        axes = contacts[:, [*range(3, 6), *range(7, 13)]].reshape(-1, 3, 3)
        push = np.einsum("ni,nij->nj", contacts[:, geo.IMPULSE : geo.IMPULSE + 3], axes) / dt
        rows, links = [], []
        for sign, side in ((1.0, geo.A), (-1.0, geo.B)):
            shapes = ints[:, side]
            own = self.geometry.ints[shapes, geo.LINK]
            some = np.flatnonzero((own >= 0) & (np.abs(push).max(axis=1) > 0))
            poses, floats = self.places.poses[shapes[some]], self.geometry.floats[shapes[some]]
            turn = poses[:, :9].reshape(-1, 3, 3)
            local = np.einsum("nji,nj->ni", turn, contacts[some, :3] - poses[:, 9:])
            table = np.zeros((len(some), act.WRENCHES))
            table[:, act.PUSH : act.PUSH + 3] = sign * push[some]
            table[:, act.POINT : act.POINT + 3] = (
                np.einsum("nij,nj->ni", floats[:, :9].reshape(-1, 3, 3), local) + floats[:, 9:12]
            )
            table[:, act.UNTIL] = until
            rows.append(table)
            links.append(np.stack((own[some], np.zeros(len(some), dtype=np.int64)), axis=1))
        return acts._replace(
            wrenches=np.concatenate((acts.wrenches, *rows)), wrench_links=np.concatenate((acts.wrench_links, *links))
        )

    # --- what it tells

    @property
    def active(self) -> tuple[str, ...]:
        """Names of the joints that are simulated now."""
        return self.inner.active

    @property
    def stats(self) -> dict[str, Any]:
        """What was computed so far, of the method and of the constraints."""
        own = super().stats
        theirs = self.inner.stats
        return own | theirs | {"seconds": self.seconds, "seconds_per_step": own["seconds_per_step"]}

    def regions(self, now: float) -> Any:
        """Return what every node of the assembly tree is now."""
        return self.inner.regions(now)

    def response(self, acts: Acts, tau: Array, q: Array, v: Array) -> Array:
        """Return what forces do to the hybrid body at rest."""
        return self.inner.response(acts, tau, q, v)

    def snapshot(self) -> dict[str, Array]:
        """Return what must be saved: the forces of the last step, and which nodes are active."""
        return super().snapshot() | {f"adaptive.{key}": value for key, value in self.inner.snapshot().items()}

    def resume(self, saved: dict[str, Array]) -> None:
        """Take over what `snapshot` returned."""
        super().resume(saved)
        self.inner.resume({key[9:]: value for key, value in saved.items() if key.startswith("adaptive.")})
