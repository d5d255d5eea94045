"""The soft-constraint world: bodies in maximal coordinates, and constraints that are all implicit springs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from ..arguments import GRAVITY, as_count, as_finite, as_gravity, as_number, as_vector
from ..errors import ArgumentError
from ..kernels import soft_layout as at
from ..typing import Array, ArrayLike
from . import energy as _energy
from .assembly import Assembly
from .constraints import Constraint
from .solver import SOLVERS, Recording, run_world
from .tables import Tables

ERP, CFM = 0.2, 1e-5  # what other engines have; a row's own come before it


class World(Assembly):
    """Rigid bodies and soft constraints, stepped by semi-implicit Euler at `dt`.

    >>> import kinetree as kt
    >>> world = kt.soft.World(dt=1 / 60)
    >>> bob = world.add_body("bob", shapes=[kt.Sphere(radius=0.1)], pose=(0, 0, -1))
    >>> _ = world.add_joint("pivot", "ball", bob, anchor=(0, 0, 0))
    >>> world.step(60)

    `erp` and `cfm` are the defaults of all rows. `solver` is "structured" (the tree's sparsity and a guess of the set
    of rows at limits; exact), "dantzig" (dense pivoting; exact, slow with many rows) or "pgs" (projected Gauss-Seidel,
    `iterations` sweeps). No row corrects a violation faster than `correction_limit` [m/s, rad/s]: what is torn far
    apart comes together in more steps than one, and cannot gain speed without end.
    """

    def __init__(
        self,
        *,
        dt: float = 1 / 60,
        gravity: ArrayLike = GRAVITY,
        solver: Literal["structured", "dantzig", "pgs"] = "structured",
        erp: float = ERP,
        cfm: float = CFM,
        iterations: int = 20,
        correction_limit: float = 1e4,
    ) -> None:
        """Make an empty world."""
        super().__init__()
        self._dt = as_number(dt, "dt")
        if not (np.isfinite(self._dt) and self._dt > 0):
            raise ArgumentError(f"dt is {dt!r}: a time step must be positive")
        self.tables = Tables()
        self.tables.numbers[at.STEP_LENGTH] = self._dt
        self.tables.numbers[at.GRAVITY : at.GRAVITY + 3] = as_gravity(gravity)
        self.tables.numbers[at.ITERATIONS] = 60
        self.tables.numbers[at.CONES] = 30
        self.tables.numbers[at.SWEEPS] = as_count(iterations, "iterations", 1)
        quickest = as_number(correction_limit, "correction_limit")
        if not quickest > 0:
            raise ArgumentError(f"correction_limit is {correction_limit!r}: it must be positive")
        self.tables.numbers[at.QUICKEST] = quickest
        self.solver = solver
        self.defaults = (float(erp), float(cfm))
        if not (0 <= erp <= 1 and 0 <= cfm < np.inf):
            raise ArgumentError(f"erp = {erp!r} and cfm = {cfm!r}: erp is 0 to 1, and cfm finite and not negative")

    def __repr__(self) -> str:
        """Count what is in it."""
        rows = self.tables.count("rows")
        bodies, constraints = len(self.bodies), len(self._constraints)
        return f"<World: {bodies} bodies, {constraints} constraints, {rows} rows, dt = {self.dt:g} s>"

    # --- numbers of the world

    @property
    def dt(self) -> float:
        """The time step [s]; fixed, since erp and cfm of springs depend on it."""
        return self._dt

    @property
    def time(self) -> float:
        """The simulated time [s]."""
        return float(self.tables.numbers[at.TIME])

    @property
    def gravity(self) -> Array:
        """Gravity [m/s2]; assigning changes it."""
        return self.tables.numbers[at.GRAVITY : at.GRAVITY + 3].copy()

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self.tables.numbers[at.GRAVITY : at.GRAVITY + 3] = as_gravity(value)

    @property
    def solver(self) -> str:
        """The name of the solver; assigning changes it."""
        return SOLVERS[int(self.tables.numbers[at.SOLVER])]

    @solver.setter
    def solver(self, value: str) -> None:
        if value not in SOLVERS:
            raise ArgumentError(f"solver is {value!r}: use one of {', '.join(map(repr, SOLVERS))}")
        self.tables.numbers[at.SOLVER] = SOLVERS.index(value)

    @property
    def stats(self) -> dict[str, float]:
        """What the last step took: factorisations, rounds of friction, pivots; and how good it is.

        `residual` is the largest w - J v' - beta p of a row [m/s, rad/s], `friction_gap` by how much limits of friction
        are off mu times the normal force [N], `helped` the sum of the forces with which rows helped others.
        """
        n = self.tables.numbers
        return {
            "factorizations": float(n[at.FACTORS]), "friction_rounds": float(n[at.ROUNDS]),
            "pivots": float(n[at.PIVOTS]), "residual": float(n[at.RESIDUAL]), "helped": float(n[at.HELPED]),
            "friction_gap": float(n[at.CONE_GAP]),
        }  # fmt: skip

    # --- motion

    def step(self, n: int = 1) -> None:
        """Take `n` steps. A step that cannot be taken raises an error that names the rows, and changes nothing."""
        run_world(self, as_count(n, "n"), 1, {}, None, None, record=False)

    def run(
        self,
        frames: int,
        *,
        substeps: int = 1,
        markers: ArrayLike | None = None,
        goals: Mapping[str | Constraint, ArrayLike] | None = None,
        wrenches: ArrayLike | None = None,
    ) -> Recording:
        """Take `frames` frames of `substeps` steps in one compiled loop, and record states and forces after each.

        `markers` (frames, markers, 3) are the places of all markers, in the order in which they were added; NaN lets
        a marker go for that frame. `goals` maps motors to their goals, (frames, goal's size). `wrenches` (frames,
        bodies, 6) are [torque about the centre of mass; force] of the user, in world axes.
        """
        count = as_count(frames, "frames", 1)
        drives = {} if goals is None else {self.constraint(key): value for key, value in goals.items()}
        return run_world(self, count, as_count(substeps, "substeps", 1), drives, markers, wrenches, record=True)

    @property
    def markers(self) -> tuple[Constraint, ...]:
        """All markers, in the order in which they were added."""
        return tuple(self._markers)

    def energy(self) -> tuple[float, float]:
        """Return kinetic and potential energy (of gravity) [J]."""
        return _energy.mechanical(self.tables)

    def momentum(self, point: ArrayLike = (0, 0, 0)) -> Array:
        """Return [angular momentum about `point`; linear momentum], world axes."""
        return _energy.momentum(self.tables, as_vector(point, "point"))

    def ledger(self) -> dict[str, float]:
        """Return the energies put in since the world began [J]: by kind of constraint, gravity, user, gyroscopic."""
        return _energy.ledger(self)

    def state(self) -> Array:
        """Return a copy of the state: (nbodies, 13) of centre of mass, quaternion, angular and linear velocity."""
        return self.tables["state"].copy()

    def set_state(self, state: ArrayLike) -> None:
        """Put the bodies where `state` says, as `state()` returns it."""
        self.tables["state"][:] = as_finite(state, self.tables["state"].shape, "state")
