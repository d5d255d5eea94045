"""The approximate acceleration of a body at rest by itself: one call, or refinement after refinement."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..arguments import GRAVITY, as_array, as_count, as_finite, as_gravity, as_number, check_state
from ..errors import ArgumentError
from ..forces import build_acts
from ..kernels import nodes as to
from ..kernels import quasistatic_rows as row
from ..kernels import quasistatic_search as _search
from ..model.model import Model
from ..typing import Array, ArrayLike
from .quasistatic import check_bound
from .quasistatic_room import MEASURES, LazyTree
from .quasistatic_stepper import joints_of_units


@dataclass(frozen=True, eq=False)
class Approximation:
    """An approximate acceleration: exact where it was computed, zero elsewhere."""

    accelerations: Array
    """Of every degree of freedom [nv]."""
    computed: np.ndarray
    """Whether each joint was computed, in the order of `model.joint_names`."""
    bound: float
    """What the error of `measure` is at most."""
    measure: str
    seconds: float
    """Time that the search took, without the coefficients of the tree."""

    @property
    def joints(self) -> int:
        """How many joints were computed."""
        return int(self.computed.sum())

    def __repr__(self) -> str:
        """Return count and bound in one line."""
        return (
            f"<Approximation: {self.joints} of {len(self.computed)} joints, {self.measure} error <= {self.bound:.3g}>"
        )


@dataclass(frozen=True)
class Refined:
    """Where a refinement stands after a joint more."""

    joints: int
    """Joints computed so far."""
    newest: tuple[str, ...]
    """Names of those that the last refinement computed."""
    bound: float
    """What the error of the measure is at most if this is the end."""
    seconds: float
    """Time since the first refinement began [s]."""
    _values: Array

    @property
    def accelerations(self) -> Array:
        """The approximation so far [nv], a copy."""
        return self._values.copy()

    def acceleration(self, freedom: int) -> float:
        """Return one acceleration as it stands, 0 where its joint is not computed; without a copy of all."""
        return float(self._values[freedom])


class Refinement:
    """Progressive refinement of the accelerations at rest: an iterator that computes `by` joints more at a time.

    >>> import kinetree as kt
    >>> refinement = kt.Refinement(kt.models.pendulum(100), kt.models.pendulum(100).neutral() + 0.1)
    >>> for now in refinement:
    ...     if now.bound < 0.1 or now.seconds > 0.01:
    ...         break
    """

    def __init__(
        self,
        model: Model,
        q: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        external: ArrayLike | None = None,
        gravity: ArrayLike = GRAVITY,
        measure: str = "relative_joint",
        by: int = 1,
    ) -> None:
        """Compute the coefficients of the tree; arguments as for `quasistatic_acceleration`."""
        check_bound(0.0, measure, "Refinement")
        self.model, self.measure, self.by = model, measure, as_count(by, "by", 1)
        self._tree = _prepared(model, q, tau, external, gravity)
        self._values = np.zeros(model.nv)
        self._joints = self._taken = 0
        self._began: float | None = None
        lazy = self._tree.lazy
        _search.begin_search(
            lazy.tree, lazy.roots, lazy.nodes, lazy.metrics, lazy.frames, lazy.keys, lazy.items, lazy.queue, lazy.counts
        )

    def __iter__(self) -> Iterator[Refined]:
        """Go on from where it stands."""
        return self

    def __next__(self) -> Refined:
        """Compute `by` joints more; it ends when nothing is left."""
        if self.bound == 0.0:
            raise StopIteration
        if self._began is None:
            self._began = time.perf_counter()
        new = self._search(-1.0, self._joints + self.by)
        units, model = self._tree.assembly.units, self.model
        names = model.joint_names
        newest = tuple(names[k] for k in np.flatnonzero(joints_of_units(model, units, new))) if len(new) else ()
        return Refined(self._joints, newest, self.bound, self.seconds, self._values)

    @property
    def bound(self) -> float:
        """What the error is at most now."""
        lazy = self._tree.lazy
        count = int(lazy.counts[row.WAITING])
        return float(_search.bound_of(MEASURES[self.measure], count, lazy.keys, lazy.queue, lazy.counts))

    @property
    def seconds(self) -> float:
        """Time since the first refinement began [s]."""
        return 0.0 if self._began is None else time.perf_counter() - self._began

    def run(
        self,
        *,
        error: float = 0.0,
        joints: int | None = None,
        deadline: float | None = None,
        interest: Callable[[Refined], float] | None = None,
        settled: float = 1e-3,
        patience: int = 10,
    ) -> Approximation:
        """Refine until one of these holds, and return the approximation.

        The bound is at most `error`; `joints` are computed; `deadline` seconds have passed; the number that `interest`
        returns of each `Refined` has changed by less than `settled` (relative) in `patience` refinements in a row.
        """
        check_bound(error, self.measure, "run")
        limit = math.inf if deadline is None else as_number(deadline, "deadline")
        if math.isnan(limit) or limit < 0:
            raise ArgumentError(f"run(deadline={deadline!r}): give a number of seconds")
        most = self.model.njoints if joints is None else as_count(joints, "joints")
        if interest is None and limit == math.inf:
            self._began = time.perf_counter() if self._began is None else self._began
            self._search(float(min(error, 1e150)), max(most, self._joints))
            return self.approximation()
        calm, before = 0, math.nan
        while self.bound > error and self._joints < most and self.seconds <= limit and calm < patience:
            try:
                now = next(self)
            except StopIteration:  # pragma: no cover - the bound is 0 then
                break
            if interest is not None:
                value = float(interest(now))
                calm = calm + 1 if abs(value - before) <= settled * abs(value) else 0
                before = value
        return self.approximation()

    def approximation(self) -> Approximation:
        """Return what is known now."""
        tree = self._tree
        mask = joints_of_units(self.model, tree.assembly.units, tree.computed_units)
        return Approximation(self._values.copy(), mask, self.bound, self.measure, self.seconds)

    def _search(self, error: float, most: int) -> np.ndarray:
        """Go on searching; returns the units found."""
        lazy = self._tree.lazy
        _search.search(
            lazy.tree, lazy.units, lazy.nodes, lazy.metrics, lazy.frames, lazy.keys, lazy.items, lazy.popped, lazy.a,
            lazy.queue, lazy.counts, MEASURES[self.measure], error, most, lazy.room,
        )  # fmt: skip
        end = int(lazy.counts[row.POPPED])
        found = lazy.tree[lazy.popped[self._taken : end], to.UNIT]
        found = found[found >= 0]
        self._taken, self._joints = end, int(lazy.counts[row.JOINTS])
        for k in range(6):
            has = lazy.units[found[lazy.units[found, to.COUNT] > k], to.FREEDOM + k]
            self._values[has] = lazy.a[has]
        return found


def quasistatic_acceleration(
    model: Model,
    q: ArrayLike,
    tau: ArrayLike | None = None,
    *,
    external: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY,
    error: float = 2.0**-7,
    measure: str = "relative_joint",
) -> Approximation:
    """Return the accelerations of a body at rest, of as few joints as the bound `error` of `measure` allows.

    Joint forces `tau` [nv], `external` wrenches (nbodies, 6) in world axes about each body's origin, and gravity act;
    see `Quasistatic` for the measures. What is computed is exact, the other accelerations are zero.
    """
    check_bound(error, measure, "quasistatic_acceleration")
    return Refinement(model, q, tau, external=external, gravity=gravity, measure=measure).run(error=error)


def _prepared(
    model: Model, q: ArrayLike, tau: ArrayLike | None, external: ArrayLike | None, gravity: ArrayLike
) -> LazyTree:
    """Return the tree of a model with all coefficients."""
    if not isinstance(model, Model):
        raise ArgumentError(f"the model is {model!r}: give a Model, of kinetree.load, kinetree.models or a builder")
    configuration = as_array(q, (model.nq,), "q")
    check_state(model, configuration)
    acts = build_acts(model, (), ())
    nothing = np.zeros(0)
    feed = np.zeros(model.nv) if tau is None else as_finite(tau, (model.nv,), "tau")
    wrenches = np.zeros((0, 6)) if external is None else as_finite(external, (model.nbodies, 6), "external")
    acts = acts._replace(
        stiffness=nothing, damping=nothing, friction=nothing, feed=feed.copy(), external=wrenches.copy()
    )  # fmt: skip
    tree = LazyTree(model)
    tree.prepare(acts, configuration, 0.0, as_gravity(gravity), 0.0)
    tree.settle(configuration)
    return tree
