"""The table of crowds: figure 1 of Redon, Galoppo and Lin (2005), many figures that share one budget of joints."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Literal

import numpy as np

from ..adaptive.extent import extent
from ..adaptive.governor import Governor
from ..adaptive.method import Adaptive
from ..adaptive.view import View
from ..dynamics import body_poses
from ..forces import JointDamping, JointSpring
from ..full import Full, Method
from ..model import library
from ..model.model import Model
from ..parallel import cores
from ..simulation import Simulation
from ..typing import Array
from .core import Row, at_least, at_most, exponent, information

Part = tuple[str, Callable[[], list[Row]]]

SPEED, GOVERNOR, QUALITY, VIEW = "speed", "time budget", "error by distance", "view"
FIGURES, SHARE = 200, 0.1  # figures, and the part of their joints that moves
FRAME, SUBSTEPS = 1 / 60, 4
DT = FRAME / SUBSTEPS
EVERY, SOUGHT = 60, 0.4  # steps from one choice of the joints to the next, and accelerations sought, of the budget
FASTER, WITHIN = 5.0, 1.2
PUSH, PUSHES, UNTIL = 60.0, 3, 0.25  # N, forces on each figure, s
STIFFNESS, DAMPING = 2.0, 0.5  # of every joint


@dataclass
class Eye:
    """A camera that needs no renderer."""

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)
    fov: float = 45.0


def edge(model: Model) -> float:
    """Return how far the figures reach from the centre of their grid [m]."""
    return float(np.abs(body_poses(model, model.neutral())[:, :2, 3]).max())


def still_eye(model: Model) -> Eye:
    """Return the camera in front of the crowd."""
    far = edge(model)
    return Eye((-far - 5.0, 0.0, 3.0), (0.0, 0.0, 0.8))


def moving_eye(model: Model, seconds: float = 10.0) -> Callable[[float], Eye]:
    """Return a camera that goes once round the crowd in `seconds`, looking at its centre."""
    far = edge(model) + 3.0

    def look(time: float) -> Eye:
        angle = 2 * math.pi * time / seconds
        return Eye((-far * math.cos(angle), far * math.sin(angle), 3.0), (0.0, 0.0, 0.8))

    return look


def pushed(model: Model, method: Method) -> Simulation:
    """Return a crowd in which every figure is pushed away from the still camera, at places of its body by chance."""
    forces = [JointDamping(None, DAMPING), JointSpring(None, STIFFNESS)]
    simulation = Simulation(model, dt=DT, gravity=(0, 0, 0), method=method, forces=forces)
    rng = np.random.default_rng(0)
    roots = np.append(np.flatnonzero(model.parents < 0), model.nbodies)
    for first, last in pairwise(roots):
        for body in rng.integers(first, last, PUSHES):
            force = (PUSH * rng.random(), 0.2 * PUSH * rng.normal(), 0.2 * PUSH * rng.normal())
            simulation.apply(int(body), force=force, until=UNTIL)
    return simulation


def budget(model: Model, *, view: View | None = None, threads: int | None = None, every: int = EVERY) -> Adaptive:
    """Return the adaptive method with its share of the joints."""
    joints = round(SHARE * model.njoints)
    sought = max(round(SOUGHT * joints), int((model.parents < 0).sum()))
    return Adaptive(joints=joints, acceleration_joints=sought, update_every=every, view=view, threads=threads)


def parts(*, quick: bool, data: Path | None) -> list[Part]:
    """Return what is measured, in order; no files are needed."""
    figures = 20 if quick else FIGURES
    return [
        ("crowd at a tenth of its joints", lambda: speed(figures, quick=quick)),
        ("error by distance", lambda: errors(figures, quick=quick)),
        ("time budget", lambda: governed(figures, quick=quick)),
        ("view", lambda: views(quick=quick)),
    ]


def speed(figures: int, *, quick: bool) -> list[Row]:
    """Time a tenth of the joints beside all of them, on one thread and on all cores, in turns."""
    model = library.crowd(figures, seed=0)
    view = View(still_eye(model), by="distance")
    threads = sorted({1, cores()})
    contestants = {(n, "full"): pushed(model, Full(threads=n)) for n in threads}
    contestants |= {(n, "adaptive"): pushed(model, budget(model, view=view, threads=n)) for n in threads}
    contestants |= {(n, "often"): pushed(model, budget(model, view=view, threads=n, every=20)) for n in threads}
    best = in_turns(contestants, 3 if quick else 12)
    rows = []
    for n in threads:
        full, own, often = best[n, "full"], best[n, "adaptive"], best[n, "often"]
        on = "1 thread" if n == 1 else f"{n} threads"
        active = contestants[n, "adaptive"].stats["active_joints"]
        detail = (
            f"{own * 1e3:.3g} ms against {full * 1e3:.3g} ms a step of {DT * 1e3:.3g} ms: {DT / own:.3g} times real "
            f"time against {DT / full:.3g}, {1 / FRAME:.0f} frames a second in {SUBSTEPS} steps each; {active:,} of "
            f"{model.njoints:,} joints ({model.nv:,} degrees of freedom) move, chosen every {EVERY} steps"
        )
        rows.append(at_least(SPEED, f"{figures} figures, {on}: over all joints", full / own, FASTER, "times", detail))
        detail = f"{often * 1e3:.3g} ms a step, {DT / often:.3g} times real time"
        name = f"{figures} figures, {on}, chosen every 20 steps: over all joints"
        rows.append(information(SPEED, name, full / often, "times", detail))
    if len(threads) > 1:
        for kind in ("full", "adaptive"):
            gain = best[1, kind] / best[threads[-1], kind]
            rows.append(information(SPEED, f"{kind}: {threads[-1]} threads over one", gain, "times"))
    return rows


def in_turns(contestants: dict[tuple[int, str], Simulation], rounds: int) -> dict[tuple[int, str], float]:
    """Return the best time of a step of each [s]; each takes whole periods between two choices in every round."""
    best = dict.fromkeys(contestants, math.inf)
    for simulation in contestants.values():
        simulation.step(EVERY)
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, simulation in contestants.items():
                began = perf_counter()
                simulation.step(2 * EVERY)
                best[name] = min(best[name], (perf_counter() - began) / (2 * EVERY))
    finally:
        if collecting:
            gc.enable()
    return best


def errors(figures: int, *, quick: bool) -> list[Row]:
    """Tell how far the bodies of near and far figures are off after a second, beside a budget that does not look."""
    model = library.crowd(figures, seed=0)
    eye = still_eye(model)
    seconds = 0.3 if quick else 1.0
    ends = {}
    for name, method in (
        ("full", Full()),
        ("seen", budget(model, view=View(eye, by="distance"))),
        ("blind", budget(model)),
    ):
        simulation = pushed(model, method)
        simulation.step(round(seconds / DT))
        ends[name] = body_poses(model, simulation.q)[:, :3, 3]
    start = body_poses(model, model.neutral())[:, :3, 3]
    distance = np.linalg.norm(start - eye.eye, axis=1)
    near = distance < np.quantile(distance, 0.2)
    rows = []
    for label, mask in (("the nearest fifth", near), ("the others", ~near)):
        off = {name: shape_error(model, ends[name], ends["full"], mask) for name in ("seen", "blind")}
        detail = (
            f"{off['seen'] * 1e3:.3g} mm against {off['blind'] * 1e3:.3g} mm, each figure moved onto its full motion"
        )
        name = f"{label}: posture error with the view, of that without"
        rows.append(information(QUALITY, name, off["seen"] / max(off["blind"], 1e-12), "times", detail))
    return rows


def shape_error(model: Model, ours: Array, truth: Array, mask: Array) -> float:
    """Return how far bodies are off in the mean [m], with each figure's centre moved onto that of its full motion."""
    first = np.maximum.accumulate(np.where(model.parents < 0, np.arange(model.nbodies), 0))
    number = np.searchsorted(np.unique(first), first)
    counts = np.bincount(number)
    shift = np.stack([np.bincount(number, (truth - ours)[:, k]) / counts for k in range(3)], axis=1)
    return float(np.linalg.norm((ours + shift[number] - truth)[mask], axis=1).mean())


def governed(figures: int, *, quick: bool) -> list[Row]:
    """Hold a budget of time while the camera goes round the crowd."""
    model = library.crowd(figures, seed=0)
    whole = pushed(model, Full())
    whole.step(EVERY)
    began = perf_counter()
    whole.step(2 * EVERY)
    full = (perf_counter() - began) / (2 * EVERY)
    rows = []
    for share in (0.25, 0.5):
        aim = share * full
        view = View(moving_eye(model), by="pixels")
        simulation = pushed(model, Adaptive(seconds_per_step=aim, update_every=EVERY, view=view))
        simulation.step(10 * EVERY)  # until the model of the machine has been learnt
        times = blocks(simulation, 20 if quick else 100)
        over = float(np.quantile(times, 0.95)) / aim
        active = simulation.stats["active_joints"]
        detail = (
            f"budget {aim * 1e3:.3g} ms a step, {share:g} of the full method's; median {np.median(times) * 1e3:.3g} "
            f"ms, worst {times.max() * 1e3:.3g} ms of {len(times)} blocks of {EVERY} steps; {active:,} joints move "
            "at the end"
        )
        name = f"budget of {share:g}: 95th percentile of the blocks, of the budget"
        rows.append(at_most(GOVERNOR, name, over, WITHIN, "times", detail))
        name = f"budget of {share:g}: median of the blocks, of the budget"
        rows.append(
            at_least(GOVERNOR, name, float(np.median(times)) / aim, 2.0 - WITHIN, "times", "the budget is used")
        )
    return rows


def blocks(simulation: Simulation, count: int) -> Array:
    """Return the seconds that a step took, in each of `count` blocks from one choice to the next."""
    times = []
    for _ in range(count):
        began = perf_counter()
        simulation.step(EVERY)
        times.append((perf_counter() - began) / EVERY)
    return np.array(times)


def views(*, quick: bool) -> list[Row]:
    """Time what looking costs: a decision of the view and of the governor, and measuring a large body."""
    model = library.crowd(FIGURES, joints=79, seed=0)
    positions = body_poses(model, model.neutral())[model.parents < 0, :3, 3]
    rows = []
    kinds: tuple[Literal["distance", "pixels"], ...] = ("distance", "pixels")
    for by in kinds:
        view = View(moving_eye(model), by=by)
        view.scales(model, positions, 0.0)
        seconds = least(lambda view=view: view.scales(model, positions, 1.0), 20, 20)  # type: ignore[misc]
        rows.append(at_most(VIEW, f"a look at {FIGURES} figures by {by}", seconds * 1e6, 100.0, "us"))
    governor = Governor(1e-3, 1000)
    seconds = least(lambda: governor.update(900, 0.97e-3), 20, 100)
    rows.append(at_most(VIEW, "a decision of the governor", seconds * 1e6, 50.0, "us"))
    sizes: Sequence[int] = (1000, 3000, 10_000) if quick else (3000, 10_000, 30_000, 100_000)
    for name, build in (("molecule", library.molecule), ("chain", library.chain)):
        bodies = [build(n) for n in sizes]
        found = [least(lambda body=body: extent(body), 3, 1) for body in bodies]  # type: ignore[misc]
        listed = ", ".join(f"{n:,}: {s * 1e3:.3g} ms" for n, s in zip(sizes, found, strict=True))
        rows.append(at_most(VIEW, f"lever arms of a {name}: exponent", exponent(sizes, found), 1.5, "", listed))
    return rows


def least(task: Callable[[], object], rounds: int, repeats: int) -> float:
    """Return the shortest mean time of a call [s] over some rounds."""
    task()
    best = math.inf
    for _ in range(rounds):
        began = perf_counter()
        for _ in range(repeats):
            task()
        best = min(best, (perf_counter() - began) / repeats)
    return best
