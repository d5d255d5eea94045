"""Forces that a simulation applies: between points, in joints, on bodies, or out of a function of the user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .arguments import as_array, as_finite, as_number, as_vector
from .errors import ArgumentError
from .kernels import layout as at
from .kernels import manifold
from .kernels.acts import HIGH, LOW, SPRINGS, STOP_D, STOP_K, STOPS, WRENCHES, Acts
from .model.model import Model
from .typing import Array


@dataclass(frozen=True)
class Gravity:
    """Uniform gravity [m/s2]; given in `forces`, it replaces the simulation's own."""

    vector: Any = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class Spring:
    """A spring of stiffness `k` [N/m] and damping `d` [N s/m] between `point` of `body` and `anchor`.

    `anchor` is a point of the world, or of `other` where that names a body. A `length` of 0 pulls the points together
    and damps their motion in every direction; a positive `length` [m] makes it a rod-like spring.
    """

    body: str | int
    point: Any
    anchor: Any
    k: float
    d: float = 0.0
    length: float = 0.0
    other: str | int | None = None


@dataclass(frozen=True)
class JointSpring:
    """Joint forces `stiffness * (rest - q)`; `joints` are names (None: all), values per joint or per freedom."""

    joints: Sequence[str] | str | None = None
    stiffness: Any = 1.0
    rest: Any = None


@dataclass(frozen=True)
class JointStops:
    """Springs `stiffness` and dampers `damping` that only act where a joint is beyond its limits, and only push back.

    `limits` are (lower, upper), numbers or one per joint; None: those of the model. Balls and free joints have none.
    """

    joints: Sequence[str] | str | None = None
    stiffness: Any = 1e3
    damping: Any = 1.0
    limits: Any = None


@dataclass(frozen=True)
class JointDamping:
    """Joint forces `-damping * v`."""

    joints: Sequence[str] | str | None = None
    damping: Any = 1.0


@dataclass(frozen=True)
class JointPD:
    """Joint forces `kp (target - q) + kd (rate - v)`.

    `target` is given in the coordinates of the joints (a quaternion for a spherical joint), in their order; None: the
    neutral configuration. With the semi-implicit integrator any gains are stable.
    """

    joints: Sequence[str] | str | None = None
    kp: Any = 10.0
    kd: Any = 1.0
    target: Any = None
    rate: Any = 0.0


@dataclass(frozen=True)
class JointTorque:
    """Constant joint forces [N m or N]."""

    joints: Sequence[str] | str | None = None
    torque: Any = 0.0


@dataclass(frozen=True)
class Callback:
    """Forces out of Python, once a step: `function(simulation)` returns joint forces [nv] or wrenches (nbodies, 6).

    For both, return a pair (joint forces or None, wrenches or None). The wrenches are [moment; force] in world axes
    about each body's origin, and hold for the whole step.
    """

    function: Callable[[Any], Any]


@dataclass
class Applied:
    """A force and torque on a body, added by `Simulation.apply`; `remove()` ends it."""

    body: int
    force: Array
    torque: Array
    point: Array
    frame: str
    until: float
    _remove: Callable[[Applied], None] = field(repr=False, compare=False, default=lambda _: None)

    def remove(self) -> None:
        """Stop applying it."""
        self._remove(self)


Force = Gravity | Spring | JointSpring | JointStops | JointDamping | JointPD | JointTorque | Callback


def build_acts(model: Model, forces: Sequence[Any], applied: Sequence[Applied]) -> Acts:
    """Compile forces into the kernels' tables; the model's own damping, friction and joint springs are part of them."""
    joints = _Joints(model)
    springs, stops = [], []
    for force in forces:
        if isinstance(force, Spring):
            springs.append(_spring(model, force))
        elif isinstance(force, JointSpring):
            joints.add(force.joints, "JointSpring", stiffness=force.stiffness, rest=force.rest)
        elif isinstance(force, JointStops):
            stops.append(force)
        elif isinstance(force, JointDamping):
            joints.add(force.joints, "JointDamping", damping=force.damping)
        elif isinstance(force, JointPD):
            joints.add(
                force.joints, "JointPD", stiffness=force.kp, damping=force.kd, rest=force.target, rate=force.rate
            )
        elif isinstance(force, JointTorque):
            joints.add(force.joints, "JointTorque", torque=force.torque)
        elif not isinstance(force, (Callback, Gravity)):
            raise ArgumentError(f"{force!r} is not a force: use the classes of kinetree.forces")
    dry = np.ascontiguousarray(model.dofs[:, at.FRICTION])
    slow = bool(joints.damping.any() or dry.any())
    nothing = np.zeros(0)
    acts = Acts(
        joints.stiffness if joints.stiffness.any() else nothing, joints.damping if slow else nothing,
        dry if slow else nothing, joints.stops(stops), joints.rest, joints.feed,
        *_rows(springs, SPRINGS), *_rows([], WRENCHES), np.zeros((0, 6)),
    )  # fmt: skip
    return with_applied(acts, model, applied)


def with_applied(acts: Acts, model: Model, applied: Sequence[Applied]) -> Acts:
    """Return the tables with other applied forces; all else stays the very same arrays."""
    wrenches, links = _rows([_wrench(model, item) for item in applied], WRENCHES)
    return acts._replace(wrenches=wrenches, wrench_links=links)


def _rows(pairs: list[tuple[list[float], tuple[int, int]]], width: int) -> tuple[Array, np.ndarray]:
    values = np.array([row for row, _ in pairs], dtype=float).reshape(-1, width)
    return values, np.array([links for _, links in pairs], dtype=np.int64).reshape(-1, 2)


class _Joints:
    """Sums what acts in the joints: stiffness, damping, one rest configuration, and a constant feed."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.stiffness = model.dofs[:, at.STIFFNESS].copy()
        self.damping = model.dofs[:, at.DAMPING].copy()
        self.feed = np.zeros(model.nv)
        self.rest = np.empty(model.nq)
        manifold.integrate(
            model.topology, model.neutral(), np.ascontiguousarray(model.dofs[:, at.REST]), 1.0, self.rest
        )

    def add(
        self,
        joints: Sequence[str] | str | None,
        what: str,
        *,
        stiffness: Any = 0.0,
        damping: Any = 0.0,
        rest: Any = None,
        rate: Any = 0.0,
        torque: Any = 0.0,
    ) -> None:
        """Add one force to the sums."""
        model = self.model
        names = _names(model, joints)
        dofs = model.dof_indices(names)
        spring = self._values(stiffness, names, dofs, f"{what} stiffness", positive=True)
        damper = self._values(damping, names, dofs, f"{what} damping", positive=True)
        self.damping[dofs] += damper
        self.feed[dofs] += damper * self._values(rate, names, dofs, f"{what} rate")
        self.feed[dofs] += self._values(torque, names, dofs, f"{what} torque")
        if spring.any():
            self._add_spring(names, dofs, spring, rest, what)

    def _add_spring(self, names: Sequence[str], dofs: np.ndarray, spring: Array, rest: Any, what: str) -> None:
        """Two springs on a coordinate are one with the mean rest; a quaternion can only have one rest."""
        model = self.model
        target = self.rest.copy()
        slices = [model.q_slice(name) for name in names]
        at_q = np.concatenate([np.arange(s.start, s.stop) for s in slices])
        wanted = model.neutral()[at_q] if rest is None else _as_floats(rest, f"{what} target")
        if wanted.ndim == 0:
            wanted = np.full(len(at_q), float(wanted))
        target[at_q] = as_finite(wanted, (len(at_q),), f"{what} target")
        if manifold.bad_quaternion(model.topology, target) >= 0:
            raise ArgumentError(f"the target of a {what} has a quaternion that is not of length 1: normalise it")
        away = np.empty(model.nv)
        manifold.difference(model.topology, self.rest, target, away)
        total = self.stiffness.copy()
        total[dofs] += spring
        share = np.zeros(model.nv)
        share[dofs] = spring
        turning = np.isin(model.joint_kinds[model.joint_bodies][model.v_joints], (at.SPHERICAL, at.FREE))
        if (turning & (self.stiffness > 0) & (share > 0) & (np.abs(away) > 1e-12)).any():
            raise ArgumentError(
                f"the {what} gives a spherical or free joint a second spring with another rest: use one"
            )
        part = np.divide(share, total, out=np.zeros(model.nv), where=total > 0)
        manifold.integrate(model.topology, self.rest, part * away, 1.0, self.rest)
        self.stiffness = total

    def stops(self, forces: Sequence[JointStops]) -> Array:
        """Return the table of the stops, relative to the rest positions; empty where there are none."""
        model = self.model
        table = np.zeros((model.nv, STOPS))
        table[:, LOW], table[:, HIGH] = -np.inf, np.inf
        ball = np.isin(model.joint_kinds[model.joint_bodies][model.v_joints], (at.SPHERICAL, at.FREE))
        zero = np.empty(model.nv)
        manifold.difference(model.topology, model.neutral(), self.rest, zero)
        for force in forces:
            names = _names(model, force.joints)
            dofs = model.dof_indices(names)
            pair = model.dofs[:, [at.LOWER, at.UPPER]][dofs].T if force.limits is None else force.limits
            if len(pair) != 2:
                raise ArgumentError("limits of JointStops are a pair: (lower, upper)")
            low, high = (self._values(value, names, dofs, "JointStops limit", finite=False) for value in pair)
            if not (low <= high).all():
                raise ArgumentError("limits of JointStops: a lower limit is above the upper one")
            table[dofs, LOW], table[dofs, HIGH] = low - zero[dofs], high - zero[dofs]
            table[dofs, STOP_K] = self._values(force.stiffness, names, dofs, "JointStops stiffness", positive=True)
            table[dofs, STOP_D] = self._values(force.damping, names, dofs, "JointStops damping", positive=True)
        table[ball] = (-np.inf, np.inf, 0.0, 0.0)
        return table if forces else np.zeros((0, STOPS))

    def _values(
        self,
        value: Any,
        names: Sequence[str],
        dofs: np.ndarray,
        what: str,
        *,
        positive: bool = False,
        finite: bool = True,
    ) -> Array:
        array = _as_floats(value, what)
        if array.ndim == 0:
            array = np.full(len(dofs), float(array))
        elif array.shape == (len(names),) and len(names) != len(dofs):
            array = np.repeat(array, [self.model.v_slice(name).stop - self.model.v_slice(name).start for name in names])
        if finite:
            array = as_finite(array, (len(dofs),), what)
        elif array.shape != (len(dofs),) or np.isnan(array).any():
            raise ArgumentError(f"{what} has shape {array.shape}: give a number, or one per joint, and no NaN")
        if positive and (array < 0).any():
            raise ArgumentError(f"{what} is negative: that would add energy without end")
        return array


def _names(model: Model, joints: Sequence[str] | str | None) -> tuple[str, ...]:
    return model.joint_names if joints is None else (joints,) if isinstance(joints, str) else tuple(joints)


def _as_floats(value: Any, what: str) -> Array:
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{what} cannot be read as numbers: {error}") from None


def _in_link(model: Model, body: int, point: Array) -> Array:
    own = model.body_poses_in_link[body]
    return own[:9].reshape(3, 3) @ point + own[9:]


def _spring(model: Model, spring: Spring) -> tuple[list[float], tuple[int, int]]:
    body = model.body_index(spring.body)
    sizes = [as_number(getattr(spring, name), f"{name} of a Spring") for name in ("k", "d", "length")]
    if min(sizes) < 0 or not np.isfinite(sizes).all():
        raise ArgumentError(f"{spring!r}: k, d and length must be finite and not negative")
    link, other = int(model.body_links[body]), -1
    near, far = _in_link(model, body, as_vector(spring.point, "point")), as_vector(spring.anchor, "anchor")
    if spring.other is not None:
        second = model.body_index(spring.other)
        other, far = int(model.body_links[second]), _in_link(model, second, far)
    if link < 0:
        link, other, near, far = other, -1, far, near
    if link < 0:
        raise ArgumentError(f"{spring!r} connects two points that cannot move: choose a body that moves")
    return [*near, *far, *sizes], (link, other)


def _wrench(model: Model, applied: Applied) -> tuple[list[float], tuple[int, int]]:
    own = model.body_poses_in_link[applied.body]
    in_body = applied.frame == "body"
    turn = own[:9].reshape(3, 3) if in_body else np.eye(3)
    point = _in_link(model, applied.body, applied.point)
    row = [*(turn @ applied.torque), *(turn @ applied.force), *point, applied.until]
    return row, (int(model.body_links[applied.body]), int(in_body))


def read_callback(model: Model, result: Any) -> tuple[Array | None, Array | None]:
    """Sort what a callback returned into (joint forces, wrenches), and check it."""
    if result is None:
        return None, None
    tau, wrenches = result if isinstance(result, tuple) else (result, None)
    if not isinstance(result, tuple) and np.ndim(result) == 2:
        tau, wrenches = None, result
    if tau is not None:
        tau = as_finite(as_array(tau, (model.nv,), "the joint forces of a callback"), (model.nv,), "joint forces")
    if wrenches is not None:
        wrenches = as_finite(wrenches, (model.nbodies, 6), "the wrenches of a callback")
    return tau, wrenches
