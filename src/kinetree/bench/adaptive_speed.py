"""Speed of adaptive dynamics: table 1 of Redon, Galoppo and Lin (2005), and how the cost grows with the body."""

from __future__ import annotations

import gc
import math
import tracemalloc
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..adaptive.method import Adaptive
from ..errors import MissingExtraError
from ..full import Full, Method
from ..model.library import pendulum
from ..model.model import Model
from ..simulation import Simulation
from .core import Row, at_least, at_most, exponent, information, not_measured
from .peers.pinocchio import PinocchioTwin

TABLE, GROWTH = "table 1", "growth"
LINKS = 300
BUDGETS = (1, 50, 100, 150, 200, 250)
PAPER = {  # milliseconds, by the number of forces: the budgets above, then divide and conquer
    1: (0.02, 0.51, 1.71, 2.97, 4.04, 5.40, 5.89),
    5: (0.07, 0.49, 1.54, 3.21, 4.34, 5.19, 5.89),
    10: (0.16, 0.73, 1.47, 3.03, 4.22, 5.16, 5.88),
    20: (0.40, 0.90, 1.60, 3.00, 4.72, 5.56, 5.90),
    50: (0.98, 1.40, 2.16, 3.58, 4.99, 5.59, 5.92),
    250: (1.83, 2.30, 2.97, 4.28, 5.43, 6.31, 6.04),
}
BEYOND = 1.5  # times the paper's speed-up, but for the smallest budget and one force
EVERY = 20  # steps from one choice of the joints to the next, as in the paper
DT = 1e-4
OVER_ABA = {(1, 1): 60.0, (50, 1): 3.0}
SLOWEST, YARDSTICK, OVER_PINOCCHIO = 0.65, 6.0, 150.0
SHORT = 20  # steps of a full method that are timed at once: a few milliseconds, between two interruptions
TURNS = 8  # bursts in a row from the same state
FORCE = 1e-3  # N: what the forces do to the motion does not matter here
BEND = 0.02  # rad: a hanging pendulum that is bent a little at every joint
NEAR = 20  # joints and
FEW = 5  # forces, for growth
EXPONENT, LINEAR = 0.2, 1.05


class Burst(NamedTuple):
    """Something to time: `ready` brings it to its state, `go` takes `steps` steps from there."""

    ready: Callable[[], Any]
    go: Callable[[], Any]
    steps: int


def wanted(budget: int, forces: int) -> float:
    """Return the speed-up over divide and conquer that a cell must reach."""
    row = PAPER[forces]
    paper = row[-1] / row[BUDGETS.index(budget)]
    return 294.0 if (budget, forces) == (1, 1) else BEYOND * paper


def pushed(model: Model, forces: int, method: Method) -> Burst:
    """Return bursts of a bent pendulum with small forces on links that are spread over it.

    Before each the state is the same, and two choices of the joints have been made since; neither counts.
    """
    q = BEND * np.random.default_rng(0).normal(size=model.nq)
    simulation = Simulation(model, q, dt=DT, method=method)
    angles = np.random.default_rng(1).uniform(0, 2 * np.pi, forces)
    for k, angle in enumerate(angles):
        link = (2 * k + 1) * model.nbodies // (2 * forces)
        simulation.apply(link, force=(FORCE * np.cos(angle), 0, FORCE * np.sin(angle)), point=(0, 0, -0.1))
    still = np.zeros(model.nv)

    def ready() -> None:
        simulation.q, simulation.v = q, still
        simulation.step(2 * EVERY)

    steps = SHORT
    if isinstance(method, Adaptive):  # whole periods, so that a choice counts as often as it is made
        steps = 5 * EVERY if (method.joints or 0) > NEAR else 50 * EVERY  # so many that the call itself does not count
    return Burst(ready, lambda: simulation.step(steps), steps)


def interleave(bursts: Mapping[Any, Burst], rounds: int) -> dict[Any, float]:
    """Return the best time of a step of each [s]; everyone has a turn in every round."""
    best = dict.fromkeys(bursts, math.inf)
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, burst in bursts.items():
                burst.ready()
                for _ in range(TURNS):
                    began = perf_counter()
                    burst.go()
                    best[name] = min(best[name], (perf_counter() - began) / burst.steps)
    finally:
        if collecting:
            gc.enable()
    return best


def table(*, quick: bool) -> list[Row]:
    """Time every cell of the table beside divide and conquer, the articulated-body algorithm and Pinocchio's."""
    model = pendulum(LINKS)
    bursts: dict[Any, Burst] = {}
    for forces in PAPER:
        bursts["dca", forces] = pushed(model, forces, Full("dca"))
        bursts["aba", forces] = pushed(model, forces, Full())
        for budget in BUDGETS:
            bursts[budget, forces] = pushed(model, forces, _budget(budget))
    absent = None
    try:
        bursts["pinocchio", 1] = _pinocchio(PinocchioTwin(model))
    except MissingExtraError as error:
        absent = f"not installed: {error}"
    best = interleave(bursts, 3 if quick else 12)
    return cells(best) + over_others(best, absent) + [all_joints(model)]


def _budget(joints: int) -> Adaptive:
    return Adaptive(joints=joints, acceleration_joints=joints, update_every=EVERY)


def _pinocchio(twin: PinocchioTwin) -> Burst:
    q = twin.configuration(BEND * np.random.default_rng(0).normal(size=twin.ours.nq))
    aba, model, data, zero = twin.pin.aba, twin.model, twin.data, np.zeros(twin.model.nv)

    def go() -> None:
        for _ in range(SHORT):
            aba(model, data, q, zero, zero)

    return Burst(lambda: aba(model, data, q, zero, zero), go, SHORT)


def cells(best: Mapping[Any, float]) -> list[Row]:
    """Return the speed-up over divide and conquer of every cell, and how honest that yardstick is."""
    rows = []
    for forces, paper in PAPER.items():
        full = best["dca", forces]
        for budget, theirs in zip(BUDGETS, paper[:-1], strict=True):
            own = best[budget, forces]
            detail = (
                f"{own * 1e6:.3g} us against {full * 1e6:.3g} us a step; the paper's {paper[-1] / theirs:.3g} times"
            )
            name = f"{budget} of {LINKS} joints, {forces} forces: over DCA"
            rows.append(at_least(TABLE, name, full / own, wanted(budget, forces), "times", detail))
    dca, aba = best["dca", 1], best["aba", 1]
    detail = f"{dca * 1e6:.3g} us against {aba * 1e6:.3g} us a step with one force"
    rows.append(at_most(TABLE, "our DCA against our ABA", dca / aba, YARDSTICK, "times", detail))
    return rows


def over_others(best: Mapping[Any, float], absent: str | None) -> list[Row]:
    """Return the speed-up over our own articulated-body algorithm and over Pinocchio's."""
    rows = []
    for (budget, forces), target in OVER_ABA.items():
        own, aba = best[budget, forces], best["aba", forces]
        detail = f"{own * 1e6:.3g} us against {aba * 1e6:.3g} us a step"
        name = f"{budget} of {LINKS} joints, {forces} forces: over ABA"
        rows.append(at_least(TABLE, name, aba / own, target, "times", detail))
    ratios = {(b, f): best["aba", f] / best[b, f] for f in PAPER for b in BUDGETS}
    budget, forces = min(ratios, key=lambda cell: ratios[cell])
    name = "the slowest cell: over ABA"
    detail = f"{budget} joints, {forces} forces; {best[budget, forces] * 1e6:.3g} us a step"
    rows.append(at_least(TABLE, name, ratios[budget, forces], SLOWEST, "times", detail))
    for f in PAPER:
        listed = ", ".join(f"{b}: {ratios[b, f]:.2f}" for b in BUDGETS)
        slowest = min(ratios[b, f] for b in BUDGETS)
        rows.append(information(TABLE, f"{f} forces: over ABA, slowest", slowest, "times", f"by joints: {listed}"))
    name = f"1 of {LINKS} joints, 1 forces: over Pinocchio's ABA"
    if absent is not None:
        return [*rows, not_measured(TABLE, name, absent)]
    own, theirs = best[1, 1], best["pinocchio", 1]
    detail = f"{own * 1e6:.3g} us a step against {theirs * 1e6:.4g} us for a call of pinocchio.aba, without the force"
    return [*rows, at_least(TABLE, name, theirs / own, OVER_PINOCCHIO, "times", detail)]


def all_joints(model: Model) -> Row:
    """With all joints allowed the method is the full algorithm, to the bit."""
    ends = []
    for method in (Full(), Adaptive(joints=model.njoints)):
        simulation = Simulation(model, np.full(model.nq, BEND), dt=DT, method=method)
        simulation.step(EVERY)
        ends.append(np.concatenate((simulation.q, simulation.v)))
    gap = float(np.abs(ends[0] - ends[1]).max())
    name = f"all {model.njoints} joints: apart from ABA"
    return at_most(TABLE, name, gap, 0.0, "", f"largest difference of the states after {EVERY} steps")


def growth(*, quick: bool) -> list[Row]:
    """Time of a step and memory at a fixed budget, from 300 to 30,000 joints."""
    sizes: tuple[int, ...] = (300, 1000, 3000) if quick else (300, 1000, 3000, 10_000, 30_000)
    method = Adaptive(joints=NEAR, acceleration_joints=NEAR, update_every=EVERY)
    best = interleave({n: pushed(pendulum(n), FEW, method) for n in sizes}, 3 if quick else 8)
    seconds = [best[n] for n in sizes]
    listed = ", ".join(f"{n:,}: {1e6 * s:.3g} us" for n, s in zip(sizes, seconds, strict=True))
    name = f"{NEAR} joints, {FEW} forces: exponent of the time in the size"
    rows = [at_most(GROWTH, name, exponent(sizes, seconds), EXPONENT, "", f"a step at {listed}")]
    sizes = (300, 1000, 3000) if quick else (1000, 3000, 10_000, 30_000)
    kept = [memory(n, method) for n in sizes]
    each = [k / n / 1e3 for k, n in zip(kept, sizes, strict=True)]
    listed = ", ".join(f"{n:,}: {value:.2f} kB" for n, value in zip(sizes, each, strict=True))
    detail = f"a joint at {listed}; model and simulation, all allocations of Python and NumPy"
    return [
        *rows,
        at_most(GROWTH, "exponent of the memory in the size", exponent(sizes, kept), LINEAR, "", detail),
        information(GROWTH, f"memory of a joint at {sizes[-1]:,}", each[-1], "kB", "model and simulation"),
    ]


def memory(n: int, method: Method) -> int:
    """Return the bytes that a pendulum and its simulation keep after a step."""
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        model = pendulum(n)
        simulation = Simulation(model, BEND * np.random.default_rng(0).normal(size=n), dt=DT, method=method)
        simulation.step()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
