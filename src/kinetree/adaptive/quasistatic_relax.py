"""To static equilibrium: implicit quasi-static steps whose length is controlled, until no joint force is left.

A quasi-static step of length h moves a body by h^2 M^-1 F, with F the joint forces at rest. Taken implicitly it is

    (M + h^2 H) dx = h^2 F        with H = -dF/dx,

a short step along the accelerations while h is small, and Newton's step when it is large. h follows from how much of
the work that was foretold, F dx - dx H dx / 2, the forces have done; a step in which they have done none is not taken.
So the body goes downhill, to an equilibrium that is stable, and near it the error is squared with every step.

It is solved along the tree (`quasistatic_newton`). Where the matrix is not positive, a small body takes the stiffness
of every mode as positive, a large one (or one that stiff springs hold up) takes what of H is convex.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from ..arguments import GRAVITY, as_array, as_count, as_finite, as_gravity, as_number, check_state
from ..dynamics import Workspace, inverse_dynamics, mass_matrix
from ..errors import ArgumentError, ConvergenceError
from ..forces import Callback, build_acts
from ..forces import Gravity as GravityForce
from ..kernels import layout as at
from ..kernels import manifold
from ..kernels.acts import Acts
from ..kernels.quasistatic_static import static_force
from ..kernels.steppers import Body, Work
from ..model.model import Model
from ..typing import Array, ArrayLike
from .quasistatic_newton import TreeNewton

DENSE = 400  # degrees of freedom up to which H is built and solved as a matrix; above, along the tree
FAR = 0.5  # rad, m: no joint moves further in one step
GOOD, POOR, NONE = 0.75, 0.25, 0.05  # part of the foretold work that was done: go on faster, slower, not at all
FASTER, SLOWER = 10.0, 0.1  # what is done to h^2 then
LONGEST = 1e20  # s2: a step so long that it is Newton's
SMALLEST = 1e-30  # s2: a step so short that nothing moves any more
BENDS = 3  # how often a step is bent before h is made shorter
NUDGE = 1e-6  # rad, m: for differences of F


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """Where a body rests, and how that was found."""

    q: Array
    """The configuration [nq]."""
    converged: bool
    residual: float
    """Largest joint force that is left [N m, N], but for those that limits take up."""
    joint: str
    """Where it is left."""
    stable: bool | None
    """Whether the body comes back when it is disturbed; None for more than 400 degrees of freedom."""
    at_limits: tuple[str, ...]
    """Joints that a limit holds."""
    steps: int
    rejected: int
    """Steps that were not taken, since the forces would have done no work."""
    evaluations: int
    """How often the forces of the body were computed."""
    seconds: float
    history: tuple[float, ...]
    """The residual at the start and after each step."""

    def __repr__(self) -> str:
        """Return the outcome in one line."""
        how = "converged" if self.converged else "not converged"
        kind = {True: ", stable", False: ", unstable", None: ""}[self.stable]
        return f"<Equilibrium: {how}{kind}, {self.steps} steps, largest joint force left {self.residual:.3g}>"


def relax(
    model: Model,
    q: ArrayLike | None = None,
    *,
    forces: Sequence[Any] = (),
    tau: ArrayLike | None = None,
    external: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY,
    limits: bool = True,
    tolerance: float = 1e-8,
    most: int = 500,
    must_converge: bool = True,
    progress: Callable[[int, float], Any] | None = None,
) -> Equilibrium:
    """Return the static equilibrium that a body comes to from `q` (None: neutral) when nothing carries it past.

    `forces` of `kinetree.forces` act (springs close loops), joint forces `tau` [nv], `external` wrenches (nbodies, 6)
    in world axes about each body's origin, and gravity. With `limits` the joints stay within those of the model. It has
    converged when no joint force is larger than `tolerance` [N m, N]; after `most` steps without that a
    `ConvergenceError` says where forces are left, and has the `equilibrium` so far (or this is returned, if not
    `must_converge`). `progress` is called with the number of steps and the residual.
    """
    if not isinstance(model, Model):
        raise ArgumentError(f"the model is {model!r}: give a Model, of kinetree.load, kinetree.models or a builder")
    start = model.neutral() if q is None else as_array(q, (model.nq,), "q")
    check_state(model, start)
    acts = build_acts(model, forces, ())
    pull = as_gravity(gravity)
    for force in forces:
        if isinstance(force, Callback):
            raise ArgumentError("relax() needs forces that it can compute anew at any configuration: no Callback")
        if isinstance(force, GravityForce):
            pull = as_gravity(force.vector)
    if tau is not None:
        acts = acts._replace(feed=acts.feed + as_finite(tau, (model.nv,), "tau"))
    if external is not None:
        acts = acts._replace(external=as_finite(external, (model.nbodies, 6), "external").copy())
    return settle(
        model, start, acts, pull, limits=limits, tolerance=tolerance, most=most, must_converge=must_converge,
        progress=progress,
    )  # fmt: skip


def settle(
    model: Model,
    q: Array,
    acts: Acts,
    gravity: tuple[float, float, float],
    *,
    now: float = 0.0,
    limits: bool = True,
    tolerance: float = 1e-8,
    most: int = 500,
    must_converge: bool = True,
    progress: Callable[[int, float], Any] | None = None,
) -> Equilibrium:
    """Relax under forces that are compiled already, as they act at the time `now`; see `relax`."""
    small = as_number(tolerance, "tolerance")
    if not (math.isfinite(small) and small > 0):
        raise ArgumentError(f"tolerance is {tolerance}: give a joint force above zero [N m, N]")
    descent = _Descent(model, q, acts, gravity, now, limits)
    return descent.run(small, as_count(most, "most"), must_converge, progress)


class _Descent:
    """One way down."""

    def __init__(
        self, model: Model, q: Array, acts: Acts, gravity: tuple[float, float, float], now: float, limits: bool
    ) -> None:
        self.model, self.acts, self.gravity, self.now = model, acts, gravity, now
        scratch, nv = Workspace.of(model), model.nv
        self.body = Body(model.topology, model.constants, scratch.armature, model.body_links, model.body_poses_in_link)
        self.work = Work(
            scratch.links, scratch.axes, np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros((0, 0))
        )
        self.still = np.zeros(nv)
        self.evaluations = 0
        self.place = _coordinates(model)
        self.low, self.high = np.full(nv, -np.inf), np.full(nv, np.inf)
        if limits:
            bound = self.place >= 0
            self.low[bound], self.high[bound] = model.dofs[bound, at.LOWER], model.dofs[bound, at.UPPER]
        self.q = self._inside(q.copy())
        self.F = self.force(self.q)
        self.h2 = 1e-2
        self.rejected = 0
        self.newton: TreeNewton | None = None
        self.convex = False
        self.stuck = False  # whether a stiff spring has made a step by the matrix a poor one
        self.uneven = bool(acts.external[:, :3].any() or acts.wrenches[:, :3].any() or acts.wrench_links[:, 1].any())

    def force(self, q: Array) -> Array:
        """Return the joint forces at rest [nv]."""
        self.evaluations += 1
        out = np.empty(self.model.nv)
        static_force(self.body, self.acts, q, self.still, self.now, self.gravity, self.work, out)
        return out

    def free(self) -> np.ndarray:
        """Return which freedoms no limit holds against their force."""
        x = np.where(self.place >= 0, self.q[np.maximum(self.place, 0)], 0.0) if self.model.nq else self.still
        return ~(((x <= self.low) & (self.F < 0)) | ((x >= self.high) & (self.F > 0)))

    def _inside(self, q: Array) -> Array:
        scalar = self.place >= 0
        at_q = self.place[scalar]
        q[at_q] = np.clip(q[at_q], self.low[scalar], self.high[scalar])
        return q

    def moved(self, start: Array, dx: Array) -> tuple[Array, Array]:
        """Return the configuration after a step from `start`, within the limits, and the step that it really was."""
        q = np.empty(self.model.nq)
        manifold.integrate(self.model.topology, start, dx, 1.0, q)
        scalar = self.place >= 0
        before = q[self.place[scalar]].copy()
        q = self._inside(q)
        dx = dx.copy()
        dx[scalar] += q[self.place[scalar]] - before
        return q, dx

    def run(
        self, tolerance: float, most: int, must_converge: bool, progress: Callable[[int, float], Any] | None
    ) -> Equilibrium:
        """Go down until no force is left, or `most` steps are taken."""
        began = time.perf_counter()
        free = self.free()
        history = [_largest(self.F, free)]
        steps = 0
        while history[-1] > tolerance and steps < most and self.h2 > SMALLEST:
            if not math.isfinite(history[-1]):
                break
            steps += 1
            self._step(free)
            free = self.free()
            history.append(_largest(self.F, free))
            if progress is not None:
                progress(steps, history[-1])
        left = np.where(free, np.abs(self.F), 0.0)
        names, owners = self.model.joint_names, self.model.v_joints
        joint = names[int(owners[int(np.nanargmax(left))])] if len(left) and np.isfinite(left).any() else ""
        held = tuple(names[k] for k in np.unique(owners[~free]))
        found = Equilibrium(
            self.q, history[-1] <= tolerance, history[-1], joint, self._is_stable(free), held, steps, self.rejected,
            self.evaluations, time.perf_counter() - began, tuple(history),
        )  # fmt: skip
        if must_converge and not found.converged:
            error = ConvergenceError(
                f"no static equilibrium within {steps} steps: joint {joint!r} is left with {found.residual:.3g} N m or "
                f"N (tolerance {tolerance:g}). Is every free body held by something? Otherwise allow more steps "
                "(most=), or take the state so far from the error's `equilibrium`"
            )
            error.equilibrium = found  # type: ignore[attr-defined]
            raise error
        return found

    def _step(self, free: np.ndarray) -> None:
        """Take one step, as long as the forces do about the work that was foretold; or only make h shorter."""
        dx, foretold = self._direction(free)
        longest = np.abs(dx).max(initial=0.0)
        if longest > FAR:
            share = FAR / longest
            dx = dx * share
            foretold *= share * (2.0 - share)  # of a quadratic whose top is at 1
        q, dx = self.moved(self.q, dx)
        F = self.force(q)
        done = 0.5 * float((self.F + F) @ dx)
        part = _part(done, foretold, F)
        if self.newton is not None and foretold > 0.0:
            if part < GOOD and len(self.acts.springs):
                q, F, done = self._bend(self.newton, q, dx)
            elif part > GOOD and self.convex:
                q, F, done = self._stretch(q, dx, F, done)
            part = _part(done, foretold, F)
        elif part < POOR and len(self.acts.springs):
            self.stuck = True
        before, after = float(np.linalg.norm(self.F[free])), float(np.linalg.norm(F[free]))
        if part > NONE or (after < 0.5 * before and math.isfinite(after) and done > -1e-12 * before):
            self.q, self.F = q, F
        else:
            self.rejected += 1
        if part > GOOD and longest <= FAR:
            self.h2 = min(self.h2 * FASTER, LONGEST)
        elif part < POOR:
            self.h2 *= SLOWER

    def _stretch(self, q: Array, dx: Array, F: Array, done: float) -> tuple[Array, Array, float]:
        """Make a step twice as long as long as the forces go on to do more work: what is convex is often too stiff."""
        while 2.0 * np.abs(dx).max() <= FAR:
            further, more = self.moved(q, dx)
            ahead = self.force(further)
            work = 0.5 * float((F + ahead) @ more)
            if not (work > 0.0 and float(ahead @ dx) > 0.0):
                break
            q, F, done, dx = further, ahead, done + work, 2.0 * dx
        return q, F, done

    def _bend(self, newton: TreeNewton, q: Array, dx: Array) -> tuple[Array, Array, float]:
        """Bend a step that did too little work: take back what is of second order in how it stretches the springs.

        Returns where that ends, the force there and the work done: that of the springs by their energies, that of all
        else by Simpson's rule.
        """
        self.force(self.q)
        start, before = newton.stretches()
        wanted = start + newton.apart @ dx
        done = self._soft_work(self.q, dx)
        F = self.force(q)
        now, energy = newton.stretches()
        for _ in range(BENDS):
            further = newton.undo(now - wanted)
            if not np.abs(further).max(initial=0.0) <= FAR:
                break
            end, further = self.moved(q, further)
            done += self._soft_work(q, further)
            q, F = end, self.force(end)
            now, energy = newton.stretches()
        return q, F, done + before - energy

    def _soft_work(self, q: Array, dx: Array) -> float:
        """Return the work of all but the springs on the way dx from q."""
        acts = self.acts
        self.acts = acts._replace(springs=acts.springs[:0], spring_links=acts.spring_links[:0])
        total, place = 0.0, np.empty(self.model.nq)
        for share, weight in ((0.0, 1.0), (0.5, 4.0), (1.0, 1.0)):
            manifold.integrate(self.model.topology, q, dx, share, place)
            total += weight * float(self.force(place) @ dx) / 6.0
        self.acts = acts
        return total

    def _direction(self, free: np.ndarray) -> tuple[Array, float]:
        """Return a step and the work foretold: along the tree, or by the matrix where it is small and has to be."""
        small = self.model.nv <= DENSE
        if not (small and self.uneven):
            self.newton = TreeNewton(self.model, self.body, self.acts, self.work, self.now)
            self.force(self.q)  # the links stand where the last trial was
            F = np.where(free, self.F, 0.0)
            for convex in (False, True) if self.stuck or not small else (False,):
                self.convex = convex
                x = self.newton.step(F, free, 1.0 / self.h2, convex)
                if x is not None:
                    inertia = inverse_dynamics(self.model, self.q, self.still, x, gravity=(0.0, 0.0, 0.0))
                    return x, 0.5 * float(F @ x + x @ inertia / self.h2)
        self.newton = None
        return self._dense(free) if small else (np.zeros(self.model.nv), 0.0)

    def _stiffness(self) -> Array:
        """Return H by central differences."""
        nv = self.model.nv
        H = np.empty((nv, nv))
        step, q = np.zeros(nv), np.empty(self.model.nq)
        for k in range(nv):
            step[k] = NUDGE
            manifold.integrate(self.model.topology, self.q, step, 1.0, q)
            ahead = self.force(q)
            manifold.integrate(self.model.topology, self.q, step, -1.0, q)
            H[:, k] = (self.force(q) - ahead) / (2 * NUDGE)
            step[k] = 0.0
        return H

    def _dense(self, free: np.ndarray) -> tuple[Array, float]:
        """Solve (M / h^2 + |H|) dx = F on the free joints, with |H| the stiffness along every mode, taken positive.

        The modes are those of H v = l M v. So the body goes down along modes that are unstable, too.
        """
        on = np.ix_(free, free)
        H, M, F = self._stiffness()[on], mass_matrix(self.model, self.q)[on], self.F[free]
        dx = np.zeros(self.model.nv)
        if not len(F):
            return dx, 0.0
        even = 0.5 * (H + H.T)
        stiffness, modes = scipy.linalg.eigh(even, M + 1e-14 * np.trace(M) * np.eye(len(M)), check_finite=False)
        if stiffness[0] > 0 and self.h2 * stiffness[0] > 1.0:  # forces that have no potential make H uneven
            x = scipy.linalg.solve(M / self.h2 + H, F, check_finite=False)
        else:
            x = modes @ ((modes.T @ F) / (1.0 / self.h2 + np.abs(stiffness)))
        dx[free] = x
        return dx, float(F @ x - 0.5 * x @ (even @ x))

    def _is_stable(self, free: np.ndarray) -> bool | None:
        """Whether H is positive definite on the free joints, to the accuracy of its differences."""
        if self.model.nv > DENSE or not np.isfinite(self.F).all():
            return None
        on = np.ix_(free, free)
        H = self._stiffness()[on]
        if not len(H):
            return True
        values = np.linalg.eigvalsh(0.5 * (H + H.T))
        return bool(values[0] > -1e-7 * max(abs(values[0]), abs(values[-1]), 1e-300))


def _coordinates(model: Model) -> np.ndarray:
    """Return for every freedom the coordinate that it changes, -1 for those of a quaternion."""
    place = np.full(model.nv, -1, dtype=np.int64)
    for row in model.topology:
        if row[at.KIND] in (at.SPHERICAL, at.FREE):
            continue
        for k in range(row[at.DOF]):
            place[row[at.V] + k] = row[at.Q] + k
    return place


def _part(done: float, foretold: float, F: Array) -> float:
    """Return which part of the work foretold was done; -1 where that means nothing."""
    return done / foretold if foretold > 0 and math.isfinite(done) and np.isfinite(F).all() else -1.0


def _largest(F: Array, free: np.ndarray) -> float:
    return float(np.abs(F[free]).max(initial=0.0)) if np.isfinite(F).all() else math.inf
