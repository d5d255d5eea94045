"""Verbs on full coordinates: stateless, exact, linear in the number of joints.

Conventions: SI units, world axes with z up; `q` [nq], `v` [nv] and joint forces `tau` [nv] are laid out by
`model.q_starts` and `model.v_starts`; `external` is a wrench [moment; force] on each body in world axes about the
body's origin, shape (nbodies, 6). What a joint does by itself (damping, friction, springs) acts in a `Simulation`, not
here; rotor inertia (armature) is part of the mass matrix and acts here too.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.linalg

from ._late import call
from .arguments import GRAVITY, as_array, as_finite, as_gravity, as_vector, check_state
from .errors import ArgumentError, SingularError, StateError
from .kernels import aba as _aba
from .kernels import bodies as _bodies
from .kernels import crba as _crba
from .kernels import layout as at
from .kernels import manifold as _manifold
from .kernels import rnea as _rnea
from .model.model import Model
from .typing import Array, ArrayLike

_NO_WRENCHES = np.zeros((0, 6))


class Workspace(NamedTuple):
    """Scratch of one computation on one model."""

    links: Array
    axes: Array
    armature: Array
    zeros: Array

    @classmethod
    def of(cls, model: Model) -> Workspace:
        """Allocate the scratch for `model`: 512 bytes a link and 176 a degree of freedom."""
        armature = np.ascontiguousarray(model.dofs[:, at.ARMATURE])
        return cls(np.zeros((model.njoints, at.LINKS)), np.zeros((model.nv, at.AXES)), armature, np.zeros(model.nv))


def _borrow(model: Model) -> Workspace:
    """Take scratch from the model's pool: safe in threads, because popping from a list is atomic.

    Whoever is done appends it to `model._pool` again; where an error comes first it is merely lost.
    """
    try:
        return model._pool.pop()
    except IndexError:
        return Workspace.of(model)


class _Borrowed:
    """Borrow scratch from the model's pool, as a context."""

    __slots__ = ("pool", "work")

    def __init__(self, model: Model) -> None:
        self.pool = model._pool
        self.work = _borrow(model)

    def __enter__(self) -> Workspace:
        return self.work

    def __exit__(self, *_: object) -> None:
        self.pool.append(self.work)


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    *,
    external: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY,
    method: Literal["aba", "dca", "crba"] = "aba",
) -> Array:
    """Return the joint accelerations [nv] under joint forces `tau`, `external` wrenches and gravity.

    `"aba"` is the articulated-body algorithm, linear in the joints; `"dca"` joins the bodies along the assembly tree,
    linear too and the base of the adaptive methods; `"crba"` builds the mass matrix and solves it densely, which is
    slower for all but the smallest models and there as a check.
    """
    nv = model.nv
    q, v = as_array(q, (model.nq,), "q"), as_array(v, (nv,), "v")
    g = as_gravity(gravity)
    wrenches = _NO_WRENCHES if external is None else as_array(external, (model.nbodies, 6), "external")
    if method != "aba":
        force = np.zeros(nv) if tau is None else as_array(tau, (nv,), "tau")
        if method == "dca":
            return call("kinetree.adaptive.dca:forward_dynamics", model, q, v, force, wrenches, g)
        return _solve_densely(model, q, v, force, external, g, method)
    work = _borrow(model)
    force = work.zeros if tau is None else as_array(tau, (nv,), "tau")
    out = np.empty(nv)
    bad = _aba.checked_aba(
        model.topology, model.constants, work.armature, q, v, force, wrenches, model.body_links,
        model.body_poses_in_link, g, work.links, work.axes, out,
    )  # fmt: skip
    model._pool.append(work)
    if bad != -1:
        _explain(model, bad, q, v, force, wrenches)
    return out


def inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    external: ArrayLike | None = None,
    gravity: ArrayLike = GRAVITY,
) -> Array:
    """Return the joint forces [nv] that produce the accelerations `a` (recursive Newton-Euler)."""
    q, v, a = as_array(q, (model.nq,), "q"), as_array(v, (model.nv,), "v"), as_array(a, (model.nv,), "a")
    g = as_gravity(gravity)
    wrenches = _NO_WRENCHES if external is None else as_array(external, (model.nbodies, 6), "external")
    out = np.empty(model.nv)
    with _Borrowed(model) as work:
        bad = _rnea.checked_rnea(
            model.topology, model.constants, work.armature, q, v, a, wrenches, model.body_links,
            model.body_poses_in_link, g, work.links, work.axes, out,
        )  # fmt: skip
    if bad != -1:
        _explain(model, bad, q, v, a, wrenches, name="a")
    return out


def mass_matrix(model: Model, q: ArrayLike) -> Array:
    """Return the mass matrix [nv, nv], rotor inertia included (composite rigid bodies)."""
    q = as_array(q, (model.nq,), "q")
    check_state(model, q)
    out = np.zeros((model.nv, model.nv))
    with _Borrowed(model) as work:
        _crba.crba(
            model.topology, model.constants, work.armature, q, work.zeros, work.links, work.axes, out
        )  # fmt: skip
    return out


def energy(model: Model, q: ArrayLike, v: ArrayLike, *, gravity: ArrayLike = GRAVITY) -> tuple[float, float]:
    """Return kinetic (with the rotors) and gravitational potential energy [J]; potential is 0 at the world's origin."""
    total = _totals(model, q, v)
    potential = -float(np.dot(as_gravity(gravity), total[1:4] + _still_moment(model)))
    return float(total[0]), potential


def momentum(model: Model, q: ArrayLike, v: ArrayLike, *, about: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """Return [angular; linear] momentum of the bodies, world axes, the angular part about the world point `about`."""
    total = _totals(model, q, v)
    point = as_vector(about, "about")
    return np.concatenate((total[7:10] - np.cross(point, total[4:7]), total[4:7]))


def center_of_mass(model: Model, q: ArrayLike) -> Array:
    """Return the centre of mass of all bodies [m], shape (3,)."""
    if model.total_mass == 0:
        raise ArgumentError("the model has no mass, so it has no centre of mass")
    return (_totals(model, q, np.zeros(model.nv))[1:4] + _still_moment(model)) / model.total_mass


def body_poses(model: Model, q: ArrayLike) -> Array:
    """Return the pose of every body in the world as homogeneous matrices, shape (nbodies, 4, 4)."""
    q = as_array(q, (model.nq,), "q")
    check_state(model, q)
    out = np.empty((model.nbodies, 4, 4))
    with _Borrowed(model) as work:
        _bodies.body_poses(
            model.topology, model.constants, q, work.zeros, model.body_links, model.body_poses_in_link, work.links,
            work.axes, out,
        )  # fmt: skip
    return out


def body_velocities(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    """Return [angular velocity; velocity of the origin] of every body, world axes, shape (nbodies, 6)."""
    q, v = _state(model, q, v)
    out = np.empty((model.nbodies, 6))
    with _Borrowed(model) as work:
        _bodies.body_velocities(
            model.topology, model.constants, q, v, model.body_links, model.body_poses_in_link, work.links, work.axes,
            out,
        )  # fmt: skip
    return out


def body_accelerations(model: Model, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Return [angular; linear] acceleration of every body's origin, world axes, shape (nbodies, 6).

    The linear part is the classical acceleration of the point (what an accelerometer would add gravity to).
    """
    q, v = _state(model, q, v)
    a = as_finite(a, (model.nv,), "a")
    out = np.empty((model.nbodies, 6))
    with _Borrowed(model) as work:
        _bodies.body_accelerations(
            model.topology, model.constants, q, v, a, model.body_links, model.body_poses_in_link, work.links,
            work.axes, out,
        )  # fmt: skip
    return out


def jacobian(
    model: Model,
    q: ArrayLike,
    body: str | int,
    *,
    point: ArrayLike = (0.0, 0.0, 0.0),
    frame: Literal["world", "body"] = "world",
) -> Array:
    """Return the matrix [6, nv] that maps `v` to [angular velocity; velocity] of a `point` of `body`.

    `point` is in body axes; `frame` names the axes of the result.
    """
    if frame not in ("world", "body"):
        raise ArgumentError(f"frame is {frame!r}: use 'world' or 'body'")
    number = model.body_index(body)
    q = as_array(q, (model.nq,), "q")
    check_state(model, q)
    own = model.body_poses_in_link[number]
    in_link = own[:9].reshape(3, 3) @ as_vector(point, "point") + own[9:]
    link = int(model.body_links[number])
    out = np.empty((6, model.nv))
    with _Borrowed(model) as work:
        _crba.point_jacobian(
            model.topology, model.constants, q, work.zeros, link, in_link, work.links, work.axes, out
        )  # fmt: skip
        turn = np.eye(3) if link < 0 else work.links[link, :9].reshape(3, 3).copy()
    if frame == "body":
        to_body = (turn @ own[:9].reshape(3, 3)).T
        out[:3], out[3:] = to_body @ out[:3], to_body @ out[3:]
    return out


def integrate(model: Model, q: ArrayLike, v: ArrayLike, dt: float) -> Array:
    """Return the configuration that the constant joint velocities `v` lead to from `q` in the time `dt` [s]."""
    q, v = _state(model, q, v)
    if not np.isfinite(dt):
        raise ArgumentError(f"dt is {dt}: it must be finite")
    out = np.empty(model.nq)
    _manifold.integrate(model.topology, q, v, float(dt), out)
    return out


def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> Array:
    """Return the joint velocities [nv] that lead from `q0` to `q1` in one second, on the shortest way."""
    q0, q1 = as_array(q0, (model.nq,), "q0"), as_array(q1, (model.nq,), "q1")
    check_state(model, q0)
    check_state(model, q1)
    out = np.empty(model.nv)
    _manifold.difference(model.topology, q0, q1, out)
    return out


def _state(model: Model, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    q, v = as_array(q, (model.nq,), "q"), as_array(v, (model.nv,), "v")
    check_state(model, q, v)
    return q, v


def _totals(model: Model, q: ArrayLike, v: ArrayLike) -> Array:
    q, v = _state(model, q, v)
    out = np.empty(11)
    with _Borrowed(model) as work:
        _bodies.totals(model.topology, model.constants, work.armature, q, v, work.links, work.axes, out)
    return out


def _still_moment(model: Model) -> Array:
    """First moment of mass of the bodies that are welded to the world [kg m]."""
    still = np.flatnonzero(model.body_links < 0)
    own = model.body_poses_in_link[still]
    centres = np.einsum("nij,nj->ni", own[:, :9].reshape(-1, 3, 3), model.coms[still]) + own[:, 9:]
    return model.masses[still] @ centres


def _solve_densely(model: Model, q: Array, v: Array, tau: Array, external: Any, gravity: Any, method: str) -> Array:
    if method != "crba":
        raise ArgumentError(f"method is {method!r}: use 'aba', 'dca' or 'crba'")
    bias = inverse_dynamics(model, q, v, np.zeros(model.nv), external=external, gravity=gravity)
    right = as_finite(tau, (model.nv,), "tau") - bias
    try:
        return scipy.linalg.solve(mass_matrix(model, q), right, assume_a="pos", check_finite=False)
    except np.linalg.LinAlgError:
        raise SingularError("the mass matrix is singular here: some joint has no inertia to move") from None


def _explain(model: Model, bad: int, q: Array, v: Array, third: Array, wrenches: Array, *, name: str = "tau") -> None:
    """Raise the error that a kernel's status stands for."""
    check_state(model, q, v)
    as_finite(third, (model.nv,), name)
    as_finite(wrenches, wrenches.shape, "external")
    if bad >= 0:
        joint = model.body_joint_names[int(model.topology[bad, at.BODY])]
        raise SingularError(
            f"joint {joint!r} has no inertia to move in this configuration: give its body a mass, or the joint an "
            "armature"
        )
    raise StateError("the accelerations overflow: the velocities or forces are too large for this model")
