"""What must hold for any linkage: the bounds, the hand-over, the growth of a step, and what building costs."""

from __future__ import annotations

import gc
import math
import tracemalloc
from time import perf_counter

import numpy as np

from ..adaptive.quasistatic import Quasistatic
from ..adaptive.quasistatic_call import Refinement
from ..adaptive.quasistatic_room import MEASURES
from ..dynamics import forward_dynamics
from ..full import Full
from ..model.library import chain, millipede, molecule
from ..model.model import Model
from ..simulation import Simulation
from ..typing import Array
from .core import Row, at_least, at_most, information, side_by_side

BOUNDS, HAND_OVER, GROWTH, BUILDING = "bounds", "hand-over", "growth", "building"
CASES, SMALL = 400, 60  # bodies at random, of so many joints
EXACT, ABOVE = 1e-10, 1e-9  # of the largest acceleration; by how much rounding may lift an error above its bound
DT = 1e-3
SLOWEST = 1.2
SIZES = (1000, 3000, 10_000, 30_000, 100_000, 200_000)
BRANCHING, BITS, PLACES = 0.03, 11, 9
EXPONENT = 0.15  # of a power law through a logarithm from 1,000 to 200,000
BIG, SECONDS, KILOBYTE = 50_000, 5.0, 1000.0
REPEAT, BURSTS = 40, 25  # steps in a burst, and bursts
LEAST, TURNS, SECONDS_EACH = 14_000, 30, 0.7  # joints that a burst goes over (of large bodies: one step), and bursts


def bounds(*, quick: bool) -> list[Row]:
    """The true error over its bound at random thresholds of all measures, and how exact is what is computed."""
    worst = dict.fromkeys(MEASURES, 0.0)
    inexact, checks = 0.0, 0
    for seed in range(40 if quick else CASES):
        rng = np.random.default_rng(seed)
        model = molecule(int(rng.integers(2, SMALL)), seed=seed, branching=float(rng.uniform(0, 0.4)))
        q = model.random_state(seed)[0]
        external = rng.normal(size=(model.nbodies, 6)) * (rng.random((model.nbodies, 1)) < 0.2)
        true = forward_dynamics(model, q, np.zeros(model.nv), external=external, gravity=(0, 0, 0))
        for measure in MEASURES:
            refinement = Refinement(model, q, external=external, gravity=(0, 0, 0), measure=measure)
            for bits in rng.integers(0, 30, 3):
                scale = np.abs(true).max() if measure.startswith("absolute") else 1.0
                found = refinement.run(error=float(scale * 2.0**-bits))
                left = np.where(found.computed, 0.0, true)
                inexact = max(inexact, _ratio(np.abs(found.accelerations - true + left).max(), np.abs(true).max()))
                worst[measure] = max(worst[measure], _ratio(_error(measure, left, true), found.bound))
                checks += 1
    rows = [
        at_most(BOUNDS, f"{measure}: true error over its bound", ratio, 1 + ABOVE, "", f"the worst of {checks // 4}")
        for measure, ratio in worst.items()
    ]
    return [*rows, at_most(BOUNDS, "what is computed: relative error", inexact, EXACT, "", f"the worst of {checks}")]


def _error(measure: str, left: Array, true: Array) -> float:
    """Return the error of a measure; every joint has one axis."""
    norm = np.linalg.norm if measure in ("absolute", "relative") else lambda x: np.abs(x).max()
    error = float(norm(left))
    return error if measure.startswith("absolute") else _ratio(error, float(norm(true)))


def _ratio(a: float, b: float) -> float:
    return 0.0 if a == 0 else math.inf if b == 0 else float(a / b)


def hand_over(*, quick: bool) -> list[Row]:
    """A step against all joints, where nearly all joints are needed, and where few are."""
    bodies = {
        "molecule of 1,000 with a force on every tenth": (molecule(1000), 100),
        "chain of 100": (chain(100), 3),
        "millipede of 780": (millipede(60, 6, 420), 2),
    }
    if not quick:
        bodies["molecule of 50,000 with 1,000 forces"] = (molecule(BIG), 1000)
    rows = []
    for name, (model, forces) in bodies.items():
        worst, listed = 0.0, []
        for error in (0.0, 2.0**-19, 2.0**-11, 2.0**-7, 2.0**-3):
            ratio = _against_all(model, forces, error)
            listed.append(f"{error:.2g}: {ratio:.2f}")
            worst = max(worst, ratio)
        rows.append(at_most(HAND_OVER, f"{name}: the slowest threshold", worst, SLOWEST, "times", "; ".join(listed)))
    return rows


def _against_all(model: Model, forces: int, error: float) -> float:
    q, still = model.random_state(0)[0], np.zeros(model.nv)
    pair = [Simulation(model, q, dt=DT, gravity=(0, 0, 0), method=m) for m in (Quasistatic(error), Full())]
    rng = np.random.default_rng(0)
    for body in rng.choice(model.nbodies, forces, replace=False):
        force = 1e-4 * rng.normal(size=3)
        for simulation in pair:
            simulation.apply(int(body), force=force, point=(0.01, 0, 0))
    steps = max(1, LEAST // model.njoints)

    def go() -> None:
        pair[1].v = still
        pair[1].step(steps)

    # about a millisecond each, so that many bursts fit between two interruptions by other programs
    best = side_by_side({"own": lambda: pair[0].step(steps), "all": go}, seconds=SECONDS_EACH, rounds=TURNS)
    return best["own"] / best["all"]


def growth(*, quick: bool) -> list[Row]:
    """Time of a step with one force, from 1,000 to 200,000 joints: the middle of several places of the force."""
    sizes = SIZES[:3] if quick else SIZES
    seconds, nodes = [], []
    for n in sizes:
        model = molecule(n, seed=0, branching=BRANCHING)
        simulation = Simulation(model, model.random_state(0)[0], dt=DT, gravity=(0, 0, 0), method=_one(1.0))
        rng = np.random.default_rng(1)
        times, counts = [], []
        for body in rng.integers(0, n, PLACES):
            force = simulation.apply(int(body), force=1e-3 * rng.normal(size=3), point=(0, 0, 0.15))
            simulation.step(5)
            before = simulation.stats["updated_nodes"]
            best = math.inf
            for _ in range(BURSTS):
                began = perf_counter()
                simulation.step(REPEAT)
                best = min(best, (perf_counter() - began) / REPEAT)
            counts.append((simulation.stats["updated_nodes"] - before) / (BURSTS * REPEAT))
            times.append(best)
            force.remove()
        seconds.append(float(np.median(times)))
        nodes.append(float(np.median(counts)))
    listed = ", ".join(f"{n:,}: {1e6 * s:.3g} us, {c:.0f} nodes" for n, s, c in zip(sizes, seconds, nodes, strict=True))
    logs = np.log(sizes)
    slope, base = np.polyfit(logs, seconds, 1)
    power = float(np.polyfit(logs, np.log(seconds), 1)[0])
    count = float(np.polyfit(logs, np.log(nodes), 1)[0])
    fit = f"{1e6 * base:.3g} us + {1e6 * slope * math.log(2):.3g} us log2 N; a step at {listed}"
    return [
        at_most(GROWTH, "one force: exponent of the time in the size", power, EXPONENT, "", fit),
        at_most(
            GROWTH, "one force: exponent of the updated nodes in the size", count, EXPONENT, "", "in the same runs"
        ),
        information(
            GROWTH, "one force: time for a doubling of the size", 1e6 * slope * math.log(2), "us", "of a + b log2 N"
        ),
    ]


def _one(share: float) -> Quasistatic:
    return Quasistatic(2.0**-BITS, hand_over=share)


def building(*, quick: bool) -> list[Row]:
    """Seconds until a big linkage has made its first step, and what it keeps beside the coefficients."""
    n = BIG // 10 if quick else BIG
    model = molecule(n)
    q = model.random_state(0)[0]

    def build() -> Simulation:
        simulation = Simulation(model, q, dt=DT, gravity=(0, 0, 0), method=_one(1.0))
        simulation.apply(n // 2, force=(1e-3, 0, 0))
        simulation.step()
        return simulation

    build()
    gc.collect()
    began = perf_counter()
    simulation = build()
    seconds = perf_counter() - began
    del simulation
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        simulation = build()
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    tree = simulation._stepper.tree
    lazy = tree.lazy
    coefficients = lazy.nodes.nbytes + lazy.metrics.nbytes
    each = (kept - coefficients) / len(lazy.tree)
    detail = f"beside {coefficients / len(lazy.tree) / 1000:.2f} kB of coefficients; {len(lazy.tree):,} nodes"
    return [
        at_most(BUILDING, f"{n:,} joints: tree, coefficients and first step", seconds, SECONDS, "s"),
        at_most(BUILDING, f"{n:,} joints: memory of a node", each, KILOBYTE, "bytes", detail),
        at_least(BUILDING, f"{n:,} joints: nodes of the tree", len(lazy.tree), n, "", "leaves and joints"),
    ]
