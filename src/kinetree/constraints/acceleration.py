"""The constraint forces of one instant: accelerations that are to be (Kokkevis 2004, section 4), and impacts (5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ..arguments import GRAVITY, as_array, as_finite, as_gravity, as_number, as_vector, check_state
from ..dynamics import Workspace, body_accelerations, body_poses, body_velocities, forward_dynamics
from ..errors import ArgumentError, ConvergenceError, SingularError
from ..kernels import deltas
from ..kernels import layout as at
from ..kernels.weave import ROOTS
from ..model.model import Model
from ..typing import Array, ArrayLike
from .lcp import Friction, Solution, solve
from .limits import names_of, per_freedom
from .loop import PointAcceleration
from .motion import JointAcceleration

__all__ = [
    "Coupling", "Impact", "OrientationAcceleration", "constraint_matrix", "resolve_impact", "solve_accelerations",
]  # fmt: skip

Route = Literal["paths", "deltas", "forces"]


@dataclass(frozen=True)
class Coupling:
    """Any linear function of the joint accelerations: the sum of `coefficients[joint] * a[joint]` is `value`.

    A joint of several degrees of freedom has a coefficient for each.
    """

    coefficients: Mapping[str, Any]
    value: float = 0.0


@dataclass(frozen=True)
class OrientationAcceleration:
    """A body's angular acceleration is `value` (3) [rad/s2] in world axes, or that against `other` is."""

    body: str | int
    value: Any = (0.0, 0.0, 0.0)
    other: str | int | None = None


@dataclass(frozen=True)
class Impact:
    """A point of a body strikes another body or the world; `normal` is in the world and points towards `body`.

    `point` and `other_point` are in the bodies' frames (`other` None: the world).
    """

    body: str | int
    point: Any
    normal: Any
    restitution: float = 0.0
    friction: float = 0.0
    other: str | int | None = None
    other_point: Any = (0.0, 0.0, 0.0)


Constraint = JointAcceleration | PointAcceleration | OrientationAcceleration | Coupling


class Accelerations(NamedTuple):
    """What `solve_accelerations` found: accelerations [nv], constraint forces, and the joint forces they amount to."""

    a: Array
    forces: Array
    joint_forces: Array
    solution: Solution


class _Rows:
    """Constraint rows as the kernels take them: wrenches about the links' origins, and joint forces."""

    def __init__(self, model: Model, q: Array, v: Array) -> None:
        self.model = model
        self.poses, self.velocities = body_poses(model, q), body_velocities(model, q, v)
        self.links: list[tuple[int, int]] = []
        self.wrenches: list[np.ndarray] = []
        self.first = [0]
        self.dofs: list[int] = []
        self.values: list[float] = []
        self.wanted: list[float] = []
        self.lo: list[float] = []
        self.hi: list[float] = []
        self.terms: list[list[tuple[float, int, np.ndarray]]] = []
        self.angular: list[tuple[bool, np.ndarray]] = []

    def close(self, links: tuple[int, int], wrench: Any, wanted: float, limit: float = np.inf) -> None:
        self.links.append(links)
        self.wrenches.append(np.asarray(wrench, dtype=float))
        self.first.append(len(self.dofs))
        self.wanted.append(wanted)
        self.lo.append(-limit)
        self.hi.append(limit)

    def wrench(self, body: int, place: Array, direction: Array, *, angular: bool) -> tuple[int, Array]:
        """Return the link and the wrench about its origin of a unit force (or torque) at a place of the world."""
        model = self.model
        link = -1 if body < 0 else int(model.body_links[body])
        if link < 0:
            return -1, np.zeros(6)
        if angular:
            return link, np.concatenate((direction, np.zeros(3)))
        own = model.body_poses_in_link[body]
        turn = self.poses[body][:3, :3] @ own[:9].reshape(3, 3).T
        origin = self.poses[body][:3, 3] - turn @ own[9:]
        return link, np.concatenate((np.cross(place - origin, direction), direction))

    def add_points(self, ends: Sequence[tuple[int, Array]], direction: Array, wanted: float, *, angular: bool) -> None:
        """Add the row of the difference of two points' (or bodies') accelerations along a direction."""
        wrenches, links, terms = [], [], []
        for sign, (body, point) in zip((1.0, -1.0), ends, strict=False):
            place = point if body < 0 else self.poses[body][:3, :3] @ point + self.poses[body][:3, 3]
            link, wrench = self.wrench(body, place, direction, angular=angular)
            links.append(link)
            wrenches.append(sign * wrench)
            if body >= 0:
                terms.append((sign, body, place))
        while len(links) < 2:
            links.append(-1)
            wrenches.append(np.zeros(6))
        self.terms.append(terms)
        self.angular.append((angular, direction))
        self.close((links[0], links[1]), np.concatenate(wrenches), wanted)

    def arrays(self) -> tuple[Any, ...]:
        m = len(self.links)
        return (
            np.array(self.links, dtype=np.int64).reshape(m, 2), np.array(self.wrenches).reshape(m, 12),
            np.array(self.first, dtype=np.int64), np.array(self.dofs, dtype=np.int64), np.array(self.values),
        )  # fmt: skip

    def accelerations(self, a: Array, moved: Array) -> Array:
        """Return the value of every row for joint accelerations `a` and body accelerations `moved`."""
        out = np.zeros(len(self.links))
        for row, (terms, (angular, direction)) in enumerate(zip(self.terms, self.angular, strict=True)):
            for sign, body, place in terms:
                spin, linear = moved[body, :3], moved[body, 3:]
                omega, arm = self.velocities[body, :3], place - self.poses[body][:3, 3]
                point = linear + np.cross(spin, arm) + np.cross(omega, np.cross(omega, arm))
                out[row] += sign * direction @ (spin if angular else point)
            for k in range(self.first[row], self.first[row + 1]):
                out[row] += self.values[k] * a[self.dofs[k]]
        return out


def _compile(model: Model, q: Array, v: Array, constraints: Sequence[Any]) -> _Rows:
    rows = _Rows(model, q, v)
    for item in constraints:
        if isinstance(item, JointAcceleration):
            dofs = model.dof_indices(names_of(model, item.joints))
            values = per_freedom(item.value, len(dofs), "value of a JointAcceleration")
            efforts = per_freedom(item.effort, len(dofs), "effort of a JointAcceleration")
            for dof, value, effort in zip(dofs, values, efforts, strict=True):
                _add_joint(rows, [int(dof)], [1.0], float(value), float(effort))
        elif isinstance(item, Coupling):
            terms: list[int] = []
            weights: list[float] = []
            for name, given in item.coefficients.items():
                own = model.dof_indices((name,))
                terms += own.tolist()
                weights += per_freedom(given, len(own), "a coefficient of a Coupling").tolist()
            if not terms or not np.isfinite(weights).all() or not np.any(weights):
                raise ArgumentError("a Coupling has no joint with a coefficient: name at least one")
            _add_joint(rows, terms, weights, as_number(item.value, "value of a Coupling"), np.inf)
        elif isinstance(item, PointAcceleration):
            ends = [(model.body_index(item.body), as_vector(item.point, "point of a PointAcceleration"))]
            if item.other is not None:
                ends.append((model.body_index(item.other), as_vector(item.other_point, "other_point")))
            for direction, value in item.directions():
                rows.add_points(ends, direction, value, angular=item.angular)
        elif isinstance(item, OrientationAcceleration):
            bodies = [item.body] if item.other is None else [item.body, item.other]
            for unit, value in zip(
                np.eye(3), as_vector(item.value, "value of an OrientationAcceleration"), strict=True
            ):
                rows.add_points([(model.body_index(b), np.zeros(3)) for b in bodies], unit, float(value), angular=True)
        else:
            raise ArgumentError(f"{item!r} is no acceleration constraint: use those of kinetree.constraints")
    if not np.isfinite(rows.wanted).all():
        raise ArgumentError("an acceleration that is wanted is not finite")
    return rows


def _add_joint(rows: _Rows, dofs: Sequence[int], weights: Sequence[float], value: float, effort: float) -> None:
    rows.dofs += dofs
    rows.values += weights
    rows.terms.append([])
    rows.angular.append((False, np.zeros(3)))
    rows.close((-1, -1), np.zeros(12), value, effort)


def constraint_matrix(
    model: Model, q: ArrayLike, constraints: Sequence[Constraint], *, route: Route = "paths"
) -> Array:
    """Return K (m, m): K[j, i] is what a unit force of constraint i does to the acceleration of constraint j.

    The routes agree: "forces" runs the whole articulated-body algorithm for every row (section 4.2 of the paper),
    "deltas" passes each test force in and out (4.3), "paths" multiplies only over the joints that two rows share.
    """
    q = as_array(q, (model.nq,), "q")
    check_state(model, q)
    rows = _compile(model, q, np.zeros(model.nv), constraints)
    return _matrix(model, q, rows, route)


def _matrix(model: Model, q: Array, rows: _Rows, route: str) -> Array:
    nv, n, m = model.nv, model.njoints, len(rows.links)
    K, work = np.zeros((m, m)), Workspace.of(model)
    links, wrenches, first, dofs, values = rows.arrays()
    still, tau, a, left, none = np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv), (0.0, 0.0, 0.0)
    if route == "forces":
        bad = deltas.by_test_forces(
            model.topology, model.constants, work.armature, q, still, tau, none, links, wrenches, first, dofs, values,
            work.links, work.axes, left, a, np.zeros(m), K,
        )  # fmt: skip
        _check(model, bad)
        return K
    if route not in ("deltas", "paths"):
        raise ArgumentError(f"route is {route!r}: use 'paths', 'deltas' or 'forces'")
    roots = np.zeros((nv, ROOTS))
    bad = deltas.factor(
        model.topology, model.constants, work.armature, q, still, tau, none, work.links, work.axes, left, a, roots
    )
    _check(model, bad)
    if route == "deltas":
        deltas.by_deltas(
            model.topology, work.links, work.axes, links, wrenches, first, dofs, values, np.zeros(nv), np.zeros((n, 6)),
            np.zeros((n, 6)), a, K,
        )  # fmt: skip
        return K
    deltas.by_paths(
        model.topology, work.links, roots, links, wrenches, first, dofs, values, _link_of(model),
        np.full(n, -1, dtype=np.int64), np.zeros(6), np.zeros(6), np.zeros(m + 1, dtype=np.int64),
        np.zeros(m * nv, dtype=np.int64), np.zeros(m * nv), np.zeros(nv), K,
    )  # fmt: skip
    return K


def _link_of(model: Model) -> np.ndarray:
    found = np.zeros(model.nv, dtype=np.int64)
    for i, (first, count) in enumerate(model.topology[:, [at.V, at.DOF]]):
        found[first : first + count] = i
    return found


def _check(model: Model, bad: int) -> None:
    if bad >= 0:
        joint = model.body_joint_names[model.topology[bad, at.BODY]]
        raise SingularError(f"joint {joint!r} has no inertia to move: give its body a mass, or the joint an armature")


def solve_accelerations(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    constraints: Sequence[Constraint],
    tau: ArrayLike | None = None,
    *,
    external: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY,
    route: Route = "paths",
    strict: bool = True,
) -> Accelerations:
    """Return the accelerations under constraint forces that bring about what `constraints` ask for, all at once.

    Rows that no force can satisfy (contradictions, parts that do not move) are a ConvergenceError that names them, or,
    unless `strict`, satisfied as nearly as can be (least squares). Rows that follow from others share the force.
    Limited efforts make inequalities of the rows.
    """
    q, v = as_array(q, (model.nq,), "q"), as_array(v, (model.nv,), "v")
    check_state(model, q, v)
    g = as_gravity(gravity)
    force = np.zeros(model.nv) if tau is None else as_finite(tau, (model.nv,), "tau")
    rows = _compile(model, q, v, constraints)
    a0 = forward_dynamics(model, q, v, force, external=external, gravity=g)
    K = _matrix(model, q, rows, route)
    b = rows.accelerations(a0, body_accelerations(model, q, v, a0)) - np.array(rows.wanted)
    lo, hi = np.array(rows.lo), np.array(rows.hi)
    scale = max(float(np.abs(b).max(initial=0.0)), 1e-9)
    if np.isinf(lo).all():
        f = -np.linalg.lstsq(K, b, rcond=1e-11)[0] if len(b) else np.zeros(0)
        w = K @ f + b
        worst = float(np.abs(w).max(initial=0.0))
        found = Solution(f, w, worst, 0, worst <= 1e-7 * scale, "rows contradict each other or cannot be moved")
    else:
        found = solve(K, b, lo, hi, method="dantzig", tolerance=1e-8 * scale)
    if strict and not found.converged:
        row = int(np.argmax(np.abs(found.w))) if np.isinf(lo).all() else 0
        raise ConvergenceError(
            f"the constraints cannot all be satisfied ({found.message}); row {row} is off by {found.residual:.3g}: "
            "remove what contradicts it, or give strict=False for the nearest accelerations"
        )
    joint_forces = _joint_forces(model, q, rows, found.x)
    a = forward_dynamics(model, q, v, force + joint_forces, external=external, gravity=g)
    return Accelerations(a, found.x, joint_forces, found)


def _joint_forces(model: Model, q: Array, rows: _Rows, f: Array) -> Array:
    """Return J' f: the joint forces that the constraint forces amount to."""
    from ..dynamics import jacobian

    total = np.zeros(model.nv)
    for row, x in enumerate(f):
        angular, direction = rows.angular[row]
        for sign, body, place in rows.terms[row]:
            pose = rows.poses[body]
            J = jacobian(model, q, body, point=pose[:3, :3].T @ (place - pose[:3, 3]))
            total += sign * x * direction @ (J[:3] if angular else J[3:])
        for k in range(rows.first[row], rows.first[row + 1]):
            total[rows.dofs[k]] += x * rows.values[k]
    return total


class Struck(NamedTuple):
    """What `resolve_impact` found: velocities [nv], impulses (n, 3) along normal and tangents, energy lost [J]."""

    v: Array
    impulses: Array
    lost: float
    solution: Solution


def resolve_impact(model: Model, q: ArrayLike, v: ArrayLike, impacts: Sequence[Impact]) -> Struck:
    """Return the velocities after simultaneous impacts (section 5): v_n' = -restitution v_n, and Coulomb's friction.

    Impulses act where points approach; those that separate are left alone. With friction, Newton's law of restitution
    can ask for more energy than there was: the restitution is then lowered until there is not.
    """
    from ..dynamics import energy

    q, v = as_array(q, (model.nq,), "q"), as_array(v, (model.nv,), "v")
    check_state(model, q, v)
    rows = _Rows(model, q, v)
    friction: list[Friction] = []
    elastic = np.zeros(3 * len(impacts))
    for k, item in enumerate(impacts):
        normal = as_vector(item.normal, "normal of an Impact")
        size = float(np.linalg.norm(normal))
        e, mu = as_number(item.restitution, "restitution"), as_number(item.friction, "friction")
        if size == 0:
            raise ArgumentError(f"normal of impact {k} is zero: give the direction that leads out of the other body")
        if not (0 <= e <= 1 and 0 <= mu < np.inf):
            raise ArgumentError(f"impact {k} has restitution {e} and friction {mu}: 0 to 1, and not negative")
        ends = [(model.body_index(item.body), as_vector(item.point, "point of an Impact"))]
        if item.other is not None:
            ends.append((model.body_index(item.other), as_vector(item.other_point, "other_point of an Impact")))
        normal = normal / size
        first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
        first /= np.linalg.norm(first)
        for direction in (normal, first, np.cross(normal, first)):
            rows.add_points(ends, direction, 0.0, angular=False)
        elastic[3 * k] = e
        friction.append(Friction(3 * k, (3 * k + 1, 3 * k + 2), mu))
    K = _matrix(model, q, rows, "paths")
    J = np.array([_joint_forces(model, q, rows, unit) for unit in np.eye(len(K))]).reshape(len(K), model.nv)
    before = J @ v
    while True:
        b = before + elastic * np.minimum(before, 0.0)
        found = solve(K, b, 0.0, np.inf, friction=friction, tolerance=1e-12, iterations=20000)
        work = float(found.x @ (before + 0.5 * K @ found.x))
        if work <= 1e-12 * max(float(before @ before), 1.0) or not elastic.any():
            break
        elastic *= 0.9 if elastic.max(initial=0.0) > 1e-3 else 0.0
    push = _joint_forces(model, q, rows, found.x)
    after = v + forward_dynamics(model, q, np.zeros(model.nv), push, gravity=(0.0, 0.0, 0.0))
    lost = energy(model, q, v)[0] - energy(model, q, after)[0]
    return Struck(after, found.x.reshape(-1, 3), lost, found)
