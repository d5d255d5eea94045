"""Accuracy: the same answers as other engines, wherever the body is and however long."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import dynamics
from ..errors import KinetreeError, MissingExtraError
from ..model.library import chain, pendulum
from ..model.model import Model
from .bodies import KINDS, ROBOTS, RobotFile, random_tree
from .core import Row, at_most, not_measured, relative_error
from .peers.drake import DrakeTwin
from .peers.mujoco import MujocoTwin
from .peers.pinocchio import PinocchioTwin

AGREE = 1e-10  # relative to the largest entry: what "the same" means between engines
PRECISE = 1e-9
MUJOCO_KINDS = tuple(kind for kind in KINDS if kind not in ("helical", "free"))  # free joints only at its roots
JACOBIANS = 40  # bodies of a model whose Jacobians are compared, spread over all
NEARLY_STRAIGHT = 0.3  # rad and rad/s, for long chains: stretched out, so that accelerations stay ordinary


def agreement(model: Model, twin: Any, *, states: int = 3, scale: float | None = None) -> dict[str, float]:
    """Return the largest relative difference of each quantity over random states; `scale` is that of nearly neutral."""
    worst = dict.fromkeys(("forward", "inverse", "mass matrix", "energy", "Jacobian"), 0.0)

    def note(name: str, ours: Any, theirs: Any, size: float | None = None) -> None:
        worst[name] = max(worst[name], relative_error(ours, theirs, size))

    known = [body for body in range(model.nbodies) if twin.knows(body)]
    bodies = known[:: max(1, len(known) // JACOBIANS)]
    for seed in range(states):
        rng = np.random.default_rng(seed)
        q, v = model.random_state(seed)
        if scale is not None:
            q, v = rng.normal(scale=scale, size=model.nq), rng.normal(scale=scale, size=model.nv)
        a, tau = rng.normal(size=model.nv), rng.normal(size=model.nv)
        note("forward", dynamics.forward_dynamics(model, q, v, tau), twin.forward_dynamics(q, v, tau))
        note("inverse", dynamics.inverse_dynamics(model, q, v, a), twin.inverse_dynamics(q, v, a))
        note("mass matrix", dynamics.mass_matrix(model, q), twin.mass_matrix(q))
        kinetic, potential = dynamics.energy(model, q, v)
        note("energy", (kinetic, potential), twin.energy(q, v), abs(kinetic) + abs(potential))
        for body in bodies:
            note("Jacobian", dynamics.jacobian(model, q, body), twin.jacobian(q, body), 1.0)
    return worst


def compare(label: str, model: Model, make: Callable[[], Any], *, how: str, **options: Any) -> Row:
    """Return the row that compares `model` with the twin that `make` builds."""
    try:
        twin = make()
    except MissingExtraError as error:
        return not_measured("accuracy", label, f"not installed: {error}")
    worst = agreement(model, twin, **options)
    detail = ", ".join(f"{name} {value:.1e}" for name, value in worst.items())
    return at_most("accuracy", label, max(worst.values()), AGREE, "", f"{how}; {detail}")


def compare_file(robot: RobotFile, data: Path | None, *, quick: bool = False) -> list[Row]:
    """Compare a robot with Pinocchio and MuJoCo, each of which reads the file itself where it can."""
    path = robot.path(data)
    labels = [f"{robot.label}: {peer}" for peer in ("Pinocchio", "MuJoCo")]
    if path is None:
        return [not_measured("accuracy", label, f"the file {robot.file} is absent: see --data") for label in labels]
    try:
        model = robot.load(path)
    except (KinetreeError, OSError) as error:
        return [not_measured("accuracy", label, f"{robot.file} cannot be loaded: {error}") for label in labels]
    urdf, states = path.suffix == ".urdf", 1 if quick else 5
    if quick and robot.large:
        why = "left out by --quick: Pinocchio takes half a minute to allocate its data for this many joints"
        first = not_measured("accuracy", labels[0], why)
    else:
        first = compare(
            labels[0], model, lambda: PinocchioTwin.from_urdf(model, path) if urdf else PinocchioTwin(model),
            how="Pinocchio reads the file" if urdf else "rebuilt in Pinocchio", states=states,
        )  # fmt: skip
    return [
        first,
        compare(
            labels[1], model, lambda: MujocoTwin(model) if urdf else MujocoTwin.from_file(model, path),
            how="rebuilt in MuJoCo" if urdf else "MuJoCo reads the file", states=states,
        ),
    ]  # fmt: skip


def files(data: Path | None, *, quick: bool) -> list[Row]:
    """Compare all the robots."""
    return [row for robot in ROBOTS for row in compare_file(robot, data, quick=quick)]


def trees(*, quick: bool) -> list[Row]:
    """Compare random trees of every joint, and a long chain with Drake."""
    rows = []
    for label, twin, kinds, first in (
        ("Pinocchio", PinocchioTwin, KINDS, None),
        ("MuJoCo", MujocoTwin, MUJOCO_KINDS, "free"),
    ):
        count = 2 if quick else 8
        found = []
        for seed in range(count):
            model = random_tree(seed, 16, kinds, first=first)
            found.append(compare("", model, partial(twin, model), how="", states=2))
        worst = max(found, key=lambda row: -1.0 if row.measured is None else row.measured)
        name = f"random trees of every joint: {label}"
        if worst.measured is None:
            rows.append(not_measured("accuracy", name, worst.detail))
        else:
            how = f"worst of {count} trees of 16 bodies{worst.detail}"
            rows.append(at_most("accuracy", name, worst.measured, AGREE, "", how))
    n = 50 if quick else 200
    long = _wild_chain(n)
    rows.append(
        compare(
            f"chain of {n} links: Drake", long, lambda: DrakeTwin(long), how="rebuilt in Drake", states=1,
            scale=NEARLY_STRAIGHT,
        )
    )  # fmt: skip
    return rows


def _wild_chain(n: int) -> Model:
    """Return a chain of `n` unlike bodies on revolute joints about random axes."""
    from ..model.compile import compile_model
    from ..model.description import Body, Description

    bodies = []
    for i, body in enumerate(random_tree(4, n, ("revolute",)).description().bodies):
        bodies.append(
            Body(body.name, f"b{i - 1}" if i else None, body.joint, body.placement, body.mass, body.com, body.inertia)
        )
    return compile_model(Description(tuple(bodies), f"wild chain {n}"))


def place_and_length(*, quick: bool) -> list[Row]:
    """Precision that depends neither on the place of a body nor on the length of a chain."""
    worst = 0.0
    for seed in range(2 if quick else 10):
        model = random_tree(seed, 20, tuple(k for k in KINDS if k != "free"), first="free")
        q, v = model.random_state(seed)
        near = dynamics.forward_dynamics(model, q, v)
        far = q.copy()
        far[4:7] += (1e4, -1e4, 1e4)
        worst = max(worst, relative_error(dynamics.forward_dynamics(model, far, v), near))
    rows = [
        at_most("precision", "accelerations 10 km from the origin", worst, PRECISE, "", "free random trees, 20 bodies")
    ]
    n = 1000 if quick else 10_000
    for model in (pendulum(n), chain(n)):
        rng = np.random.default_rng(0)
        q, v = np.zeros(n), rng.normal(scale=0.01, size=n)
        q[0 if model.joint(0).axis[1] else 1] = np.pi / 2  # type: ignore[attr-defined]
        tau = rng.normal(size=n)
        a = dynamics.forward_dynamics(model, q, v, tau)
        back = dynamics.inverse_dynamics(model, q, v, a)
        load = dynamics.inverse_dynamics(model, q, v, np.zeros(n))
        size = float(np.abs(load).max())
        own = float(np.abs(back - tau).max())
        detail = f"horizontal, {n // 10:,} m; relative to the largest load {size:.2g} N m; {own:.1e} N m absolute"
        rows.append(at_most("precision", f"RNEA of ABA, {model.name} links", own / size, PRECISE, "", detail))
    return rows
