"""Speed, beside other engines in one run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from .. import dynamics
from ..errors import KinetreeError, MissingExtraError
from ..model.library import chain
from ..model.model import Model
from ..simulation import Simulation
from .bodies import ROBOTS
from .core import Row, at_least, information, not_measured, side_by_side
from .peers.drake import DrakeTwin
from .peers.mujoco import MujocoTwin
from .peers.pinocchio import PinocchioTwin

GROUP = "speed"
CHAIN_RATIO, ROBOT_RATIO, SECOND_RATIO = 2.5, 1.5, 5.0
SLICE = 50  # steps that are timed at once; the best of each slice counts, so that other programs matter little


def forward(data: Path | None, *, quick: bool) -> list[Row]:
    """Forward dynamics, inverse dynamics and mass matrix as called from Python, against Pinocchio and others."""
    seconds = 0.2 if quick else 1.0
    long = chain(300)
    rows = contest("300-link chain", long, lambda: PinocchioTwin(long), CHAIN_RATIO, seconds, drake=True)
    for robot in ROBOTS:
        if not robot.floating:
            continue
        path = robot.path(data)
        if path is None:
            rows.append(not_measured(GROUP, f"{robot.label}: ABA", f"the file {robot.file} is absent: see --data"))
            continue
        try:
            model = robot.load(path)
        except (KinetreeError, OSError) as error:
            rows.append(not_measured(GROUP, f"{robot.label}: ABA", f"{robot.file} cannot be loaded: {error}"))
            continue
        rows += contest(
            robot.label,
            model,
            partial(PinocchioTwin.from_urdf, model, path),
            ROBOT_RATIO,
            seconds,
        )
    return rows


def contest(
    label: str, model: Model, make: Callable[[], PinocchioTwin], target: float, seconds: float, *, drake: bool = False
) -> list[Row]:
    """Time one model in all engines side by side."""
    q, v = model.random_state(0)
    a, tau = np.ones(model.nv), np.zeros(model.nv)
    forward_dynamics, inverse_dynamics = dynamics.forward_dynamics, dynamics.inverse_dynamics
    mass_matrix = dynamics.mass_matrix
    contestants: dict[str, Callable[[], Any]] = {
        "ABA": lambda: forward_dynamics(model, q, v, tau),
        "RNEA": lambda: inverse_dynamics(model, q, v, a),
        "CRBA": lambda: mass_matrix(model, q),
    }
    absent = []
    try:
        twin = make()
        aba, rnea, crba, theirs, data = twin.pin.aba, twin.pin.rnea, twin.pin.crba, twin.model, twin.data
        their_q, their_v = twin.configuration(q), twin.translation(q, v)[0] @ v
        their_a, their_tau = np.ones(theirs.nv), np.zeros(theirs.nv)
        contestants |= {
            "Pinocchio ABA": lambda: aba(theirs, data, their_q, their_v, their_tau),
            "Pinocchio RNEA": lambda: rnea(theirs, data, their_q, their_v, their_a),
            "Pinocchio CRBA": lambda: crba(theirs, data, their_q),
        }
    except MissingExtraError as error:
        absent.append(not_measured(GROUP, f"{label}: ABA against Pinocchio", f"not installed: {error}"))
    try:
        mujoco = MujocoTwin(model)
        mujoco.set_state(q, v)
        mj_forward, mj_model, mj_data = mujoco.mujoco.mj_forward, mujoco.model, mujoco.data
        contestants["MuJoCo"] = lambda: mj_forward(mj_model, mj_data)
    except MissingExtraError as error:
        absent.append(not_measured(GROUP, f"{label}: against MuJoCo", f"not installed: {error}"))
    if drake:
        try:
            plant = DrakeTwin(model)
            contestants["Drake"] = lambda: plant.forward_dynamics(q, v, tau)
        except MissingExtraError as error:
            absent.append(not_measured(GROUP, f"{label}: against Drake", f"not installed: {error}"))
    best = side_by_side(contestants, seconds=seconds)
    rows = []
    for name in ("ABA", "RNEA", "CRBA"):
        ours, theirs_best = best[name], best.get(f"Pinocchio {name}")
        if theirs_best is None:
            continue
        detail = f"{ours * 1e6:.2f} us against {theirs_best * 1e6:.2f} us, called from Python"
        row_name, ratio = f"{label}: {name} against Pinocchio", theirs_best / ours
        if name == "ABA":
            rows.append(at_least(GROUP, row_name, ratio, target, "times", detail))
        else:
            rows.append(information(GROUP, row_name, ratio, "times", detail))
    for peer, how in (("MuJoCo", "mj_forward"), ("Drake", "time derivatives of a plant")):
        if peer in best:
            detail = f"{best['ABA'] * 1e6:.2f} us against {best[peer] * 1e6:.2f} us, {how}"
            rows.append(information(GROUP, f"{label}: ABA against {peer}", best[peer] / best["ABA"], "times", detail))
    return rows + absent


def simulated_second(*, quick: bool) -> list[Row]:
    """One second of a chain of 100 links at 1 ms, against MuJoCo stepping the same chain without contacts."""
    name = "a simulated second, 100 links: against MuJoCo"
    model, steps = chain(100), 1000
    q, v = 0.1 * np.random.default_rng(0).normal(size=model.nq), np.zeros(model.nv)
    simulation = Simulation(model, q, v, dt=1e-3)
    try:
        twin = MujocoTwin(model)
    except MissingExtraError as error:
        return [not_measured(GROUP, name, f"not installed: {error}")]
    mujoco, theirs, data = twin.mujoco, twin.model, twin.data
    theirs.opt.timestep = 1e-3
    theirs.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    theirs.opt.enableflags = 0  # they need not compute what we do not
    start = twin.configuration(q)

    def loop(count: int) -> None:
        for _ in range(count):
            mujoco.mj_step(theirs, data)

    ways: dict[str, Callable[[int], Any]] = {
        "ours": simulation.step,
        "inside": lambda count: mujoco.mj_step(theirs, data, nstep=count),
        "loop": loop,
    }
    best = {way: np.full(steps // SLICE, np.inf) for way in ways}
    simulation.step(1)
    for _ in range(3 if quick else 20):
        for way, advance in ways.items():
            simulation.q, simulation.v = q, v
            mujoco.mj_resetData(theirs, data)
            data.qpos[:] = start
            for k in range(len(best[way])):
                began = perf_counter()
                advance(SLICE)
                best[way][k] = min(best[way][k], perf_counter() - began)
            if way == "ours":
                end = simulation.q.copy()
    seconds = {way: float(slices.sum()) for way, slices in best.items()}
    difference = float(np.abs(end - data.qpos).max())
    quickest = min(seconds["loop"], seconds["inside"])
    detail = (
        f"{seconds['ours'] * 1e3:.2f} ms against {seconds['inside'] * 1e3:.1f} ms in one call and "
        f"{seconds['loop'] * 1e3:.1f} ms "
        f"in a Python loop; 1 ms, semi-implicit Euler; the angles end {difference:.1e} rad apart"
    )
    return [at_least(GROUP, name, quickest / seconds["ours"], SECOND_RATIO, "times", detail)]
