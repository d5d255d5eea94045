"""The speed of constraints: routes to the matrix, steps beside MuJoCo's, piles in real time."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ..constraints import lcp
from ..constraints.acceleration import _compile, _link_of
from ..constraints.contact import Contacts
from ..constraints.limits import JointLimits
from ..constraints.loop import PointAcceleration
from ..constraints.solver import Solver
from ..dynamics import Workspace
from ..io.load import load
from ..kernels import deltas
from ..kernels.weave import ROOTS
from ..model.library import chain
from ..model.library import humanoid as figure
from ..model.model import Model
from ..simulation import Simulation
from .constraints_bodies import rag_dolls, strewn
from .core import Row, at_least, at_most, exponent, information, not_measured, relative_error, side_by_side

ROUTES, GROWTH, LCP, HUMANOID, PILE = "three routes", "growth", "complementarity", "humanoid", "rag dolls"


class _Routes:
    """The three routes to K on one model, ready to be timed."""

    def __init__(self, model: Model, count: int) -> None:
        rng = np.random.default_rng(0)
        self.model = model
        q, _ = model.random_state(0)
        bodies = [name for name in model.names if model.body_links[model.body_index(name)] >= 0]
        chosen = rng.choice(bodies, count, replace=len(bodies) < count)
        wanted = [PointAcceleration(str(name), rng.normal(size=3), rng.normal(size=3)) for name in chosen]
        self.links, self.wrenches12, self.first, self.dofs, self.values = _compile(
            model, q, np.zeros(model.nv), wanted
        ).arrays()
        nv, n, m = model.nv, model.njoints, count
        self.q, self.work, self.K = q, Workspace.of(model), [np.zeros((m, m)) for _ in range(3)]
        self.zero, self.left, self.a, self.roots = np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros((nv, ROOTS))
        self.before, self.share, self.z = np.zeros(m), np.zeros(nv), np.zeros(nv)
        self.wrenches, self.moved = np.zeros((n, 6)), np.zeros((n, 6))
        self.link_of, self.stamp = _link_of(model), np.full(n, -1, dtype=np.int64)
        self.f, self.torque, self.starts = np.zeros(6), np.zeros(6), np.zeros(m + 1, dtype=np.int64)
        self.cols, self.vals = np.zeros(m * nv, dtype=np.int64), np.zeros(m * nv)

    def forces(self) -> None:
        model, work = self.model, self.work
        deltas.by_test_forces(
            model.topology, model.constants, work.armature, self.q, self.zero, self.zero, (0.0, 0.0, 0.0), self.links,
            self.wrenches12, self.first, self.dofs, self.values,
            work.links, work.axes, self.left, self.a, self.before, self.K[0],
        )  # fmt: skip

    def factor(self) -> None:
        model, work = self.model, self.work
        deltas.factor(
            model.topology, model.constants, work.armature, self.q, self.zero, self.zero, (0.0, 0.0, 0.0), work.links,
            work.axes, self.left, self.a, self.roots,
        )  # fmt: skip

    def deltas(self) -> None:
        deltas.by_deltas(
            self.model.topology, self.work.links, self.work.axes, self.links,
            self.wrenches12, self.first, self.dofs, self.values, self.share, self.wrenches, self.moved,
            self.a, self.K[1],
        )  # fmt: skip

    def paths(self) -> None:
        self.stamp[:] = -1
        deltas.by_paths(
            self.model.topology, self.work.links, self.roots, self.links,
            self.wrenches12, self.first, self.dofs, self.values, self.link_of, self.stamp, self.f, self.torque,
            self.starts, self.cols, self.vals, self.z, self.K[2],
        )  # fmt: skip


def routes(*, quick: bool) -> list[Row]:
    """30 constraints on 100 joints: time and agreement of the three routes, given the articulated-body factors."""
    rows = []
    for name, model in (("a figure of 95", figure(95)), ("a chain of 100", chain(100))):
        one = _Routes(model, 30)
        one.forces()
        one.factor()
        one.deltas()
        one.paths()
        spread = max(relative_error(one.K[k], one.K[0]) for k in (1, 2))
        best = side_by_side(
            {"forces": one.forces, "deltas": one.deltas, "paths": one.paths, "factor": one.factor},
            seconds=0.2 if quick else 1.0,
        )
        rows += [
            at_most(ROUTES, f"{name} joints: the routes differ", spread, 1e-10, "relative"),
            information(ROUTES, f"{name} joints: test forces", 1e6 * best["forces"], "us"),
            information(ROUTES, f"{name} joints: deltas", 1e6 * best["deltas"], "us"),
            information(ROUTES, f"{name} joints: shared paths", 1e6 * best["paths"], "us"),
            information(ROUTES, f"{name} joints: the factors that both need", 1e6 * best["factor"], "us"),
            at_least(ROUTES, f"{name} joints: deltas over test forces", best["forces"] / best["deltas"], 3.0, "times"),
            at_least(ROUTES, f"{name} joints: paths over deltas", best["deltas"] / best["paths"], 3.0, "times"),
        ]
    return rows


def growth(*, quick: bool) -> list[Row]:
    """Time against joints for a fixed set of constraints."""
    sizes = [100, 200, 400] if quick else [100, 200, 400, 800, 1600]
    times = []
    for n in sizes:
        one = _Routes(chain(n), 10)

        def both(one: _Routes = one) -> None:
            one.factor()
            one.paths()

        times.append(side_by_side({"paths": both}, seconds=0.1 if quick else 0.3)["paths"])
    return [at_most(GROWTH, "exponent of time in joints, 10 constraints", exponent(sizes, times), 1.15)]


def complementarity(*, quick: bool) -> list[Row]:
    """Random, degenerate and redundant problems."""
    rng = np.random.default_rng(0)
    count = 300 if quick else 3000
    worst = {"dantzig": 0.0, "lemke": 0.0}
    refused = {"dantzig": 0, "lemke": 0}
    for _ in range(count):
        n = int(rng.integers(1, 20))
        G = rng.normal(size=(n, int(rng.integers(1, n + 3))))
        if rng.random() < 0.3:
            G[rng.integers(n)] = G[rng.integers(n)]
        A = G @ G.T
        x = np.abs(rng.normal(size=n)) * (rng.random(n) < 0.6)
        w = np.abs(rng.normal(size=n)) * (x == 0) * (rng.random(n) < 0.7)
        for method in refused:
            found = lcp.solve(A, w - A @ x, method=method)  # type: ignore[arg-type]
            if found.converged:
                worst[method] = max(worst[method], found.residual)
            refused[method] += not found.converged
    rows = []
    for method, residual in worst.items():
        rows.append(at_most(LCP, f"{method}: largest residual", residual, 1e-9, "", f"{count} problems"))
        rows.append(information(LCP, f"{method}: problems that it refused, and said so", refused[method]))
    return rows


def humanoid(data: Path | None, *, quick: bool) -> list[Row]:
    """MuJoCo's humanoid as it falls and lies on the floor: time of a step, and the residual of the solution."""
    path = None if data is None else data / "models" / "humanoid.xml"
    if path is None or not path.is_file():
        return [not_measured(HUMANOID, "time of a step", "no humanoid.xml: give --data")]
    try:
        import mujoco
    except ImportError:
        return [not_measured(HUMANOID, "time of a step", "MuJoCo is not installed")]
    ours = load(path)
    skip = [("waist_lower", "thigh_right"), ("waist_lower", "thigh_left")]
    sim = Simulation(
        ours, dt=0.005,
        constraints=[Contacts(friction=0.7, self_collision=True, exclude=skip), JointLimits()],
    )  # fmt: skip
    q = ours.neutral()
    q[6] = 1.282
    sim.q = q
    theirs: dict[str, Any] = {}
    for name, solver in (("Newton", 2), ("PGS", 0)):
        model = mujoco.MjModel.from_xml_path(str(path))
        model.opt.solver = solver
        theirs[name] = (model, mujoco.MjData(model))
    steps, totals = 600, {"kinetree": 0.0, "Newton": 0.0, "PGS": 0.0}
    sim.step(1)
    for _ in range(steps // 20):
        began = perf_counter()
        sim.step(20)
        totals["kinetree"] += perf_counter() - began
        for name, (model, state) in theirs.items():
            began = perf_counter()
            for _ in range(20):
                mujoco.mj_step(model, state)
            totals[name] += perf_counter() - began
    moving = {name: total / steps for name, total in totals.items()}
    sim.run(3.0)

    def run(name: str) -> Any:
        model, state = theirs[name]
        return lambda: [mujoco.mj_step(model, state) for _ in range(50)]

    before = sim.stats
    lying = side_by_side(
        {"kinetree": lambda: sim.step(50), "Newton": run("Newton"), "PGS": run("PGS")}, seconds=0.3 if quick else 2.0
    )
    model, state = theirs["PGS"]
    mujoco.mj_step(model, state)
    after = sim.stats
    sweeps = (after["sweeps"] - before["sweeps"]) / max(after["steps"] - before["steps"], 1)
    residual = dual_residual(model, state)
    return [
        information(HUMANOID, "contacts, kinetree", len(sim.contacts)),
        information(HUMANOID, "contacts, MuJoCo", state.ncon),
        information(HUMANOID, "step while it lies, kinetree", 2e4 * lying["kinetree"], "us", f"{sweeps:.1f} sweeps"),
        information(HUMANOID, "step while it lies, MuJoCo with Newton", 2e4 * lying["Newton"], "us", "its default"),
        information(HUMANOID, "step while it lies, MuJoCo with PGS", 2e4 * lying["PGS"], "us"),
        at_most(HUMANOID, "while it lies, over MuJoCo with PGS", lying["kinetree"] / lying["PGS"], 1.0, "times"),
        at_most(HUMANOID, "while it lies, over MuJoCo as it comes", lying["kinetree"] / lying["Newton"], 1.0, "times"),
        information(HUMANOID, "step of the first 3 s, kinetree", 1e6 * moving["kinetree"], "us"),
        information(HUMANOID, "step of the first 3 s, MuJoCo with Newton", 1e6 * moving["Newton"], "us"),
        information(HUMANOID, "step of the first 3 s, MuJoCo with PGS", 1e6 * moving["PGS"], "us"),
        information(HUMANOID, "residual left, MuJoCo with PGS", residual, "m/s"),
        information(HUMANOID, "last change of a velocity, kinetree", float(sim._stepper.bench.solved[1]), "m/s"),
    ]


def dual_residual(model: Any, state: Any) -> float:
    """Return the violation of MuJoCo's own dual problem, in the units of velocity."""
    import mujoco

    n = state.nefc
    A = np.zeros((n, n))
    J = np.zeros((n, model.nv))
    if mujoco.mj_isSparse(model):
        mujoco.mju_sparse2dense(J, state.efc_J, state.efc_J_rownnz, state.efc_J_rowadr, state.efc_J_colind)
    else:
        J[:] = state.efc_J.reshape(n, model.nv)
    solved = np.zeros((n, model.nv))
    mujoco.mj_solveM(model, state, solved, J)
    A = J @ solved.T + np.diag(state.efc_R)
    f = np.array(state.efc_force)
    w = A @ f + np.array(state.efc_b)
    d = np.diag(A)
    return float(np.abs(f - np.maximum(f - w / d, 0.0)).__mul__(d).max() * model.opt.timestep)


def pile(*, quick: bool) -> list[Row]:
    """Rag dolls of 20 joints that fall on each other: simulated seconds in a second, at 60 Hz."""
    count = 8 if quick else 50
    model = rag_dolls(count)
    sim = Simulation(
        model, strewn(model), dt=1 / 60, constraints=[Contacts(), JointLimits(), Solver(sweeps=25, backtracks=0)]
    )
    sim.step(1)
    slowest, whole = 0.0, 0.0
    seconds = 2.0 if quick else 6.0
    for _ in range(round(60 * seconds / 6)):
        began = perf_counter()
        sim.step(6)
        took = perf_counter() - began
        whole += took
        slowest = max(slowest, took / 6)
    return [
        at_least(PILE, f"{count} rag dolls of 20 joints: times real time", seconds / whole, 1.0, "times"),
        information(PILE, "slowest of the steps of 1/60 s", 1e3 * slowest, "ms", "mean of 6"),
        information(PILE, "contacts, at most", sim.stats["most_contacts"]),
        information(PILE, "penetration, at most", 1e3 * sim.stats["deepest"], "mm"),
    ]
