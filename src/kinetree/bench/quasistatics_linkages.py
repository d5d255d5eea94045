"""The bicycle chain and the millipede of Redon and Lin (2006): figures 1 and 6."""

from __future__ import annotations

import math
from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from ..adaptive.quasistatic import Quasistatic
from ..dynamics import body_poses
from ..full import Full, Method
from ..model import library
from ..model.model import Model
from ..simulation import Simulation
from ..typing import Array
from .core import Row, at_least, at_most, information

CHAIN, MILLIPEDE = "figure 1: bicycle chain", "figure 6: millipede"
LINKS, CHAIN_STEPS, CHAIN_BITS = 30, 10_000, (1, 3, 6, 9, 12)
PULL, PITCH = (-0.3, 0.0, 0.5), 0.0127  # N on the end of the last link, m
LEGS, LEG_LINKS, SPINE, STEPS = 1000, 10, 3000, 4000
BITS = (0, 1, 2, 3, 5, 7, 9, 11, 13, 15, 17, 19)
BEYOND = (25, 31, 37, 43, 49)  # bits below what the paper tries, down to rounding, for the crossing
PUSH = (1e-3, 2e-3, 1e-3)  # N on the foot of a leg in the middle
DT = 1e-3
BURSTS = 10
SLOWEST = 1.2  # times the full method, at any threshold
FULL_SHARE = 0.05  # of the steps: how many a full method is timed for


class Pulled(NamedTuple):
    """Where a bicycle chain is after it was pulled."""

    bits: int | None
    """-log2 of the threshold; None for all joints."""
    q: Array
    end: Array
    joints: float


def pulled(steps: int = CHAIN_STEPS) -> list[Pulled]:
    """Pull at the last link of a bicycle chain, with all joints and at several thresholds."""
    model = library.bicycle_chain(LINKS)
    found = []
    for bits in (None, *CHAIN_BITS):
        error = 0.0 if bits is None else 2.0**-bits
        simulation = Simulation(model, dt=DT, gravity=(0, 0, 0), method=Quasistatic(error, hand_over=1.0))
        simulation.apply(f"link{LINKS - 1}", force=PULL, point=(PITCH, 0, 0))
        simulation.step(steps)
        pose = simulation.pose(f"link{LINKS - 1}")
        end = pose[:3, :3] @ (PITCH, 0, 0) + pose[:3, 3]
        found.append(Pulled(bits, simulation.q.copy(), end, float(simulation.stats["joints_per_step"])))
    return found


def chain_rows(*, quick: bool) -> list[Row]:
    """Where the end of the chain is after 10,000 steps, compared with all joints."""
    steps = CHAIN_STEPS // 20 if quick else CHAIN_STEPS
    exact, *others = pulled(steps)
    start = np.array([LINKS * PITCH, 0.0, 0.0])
    moved = float(np.linalg.norm(exact.end - start))
    rows = [information(CHAIN, "the end has moved", 1e3 * moved, "mm", f"{steps:,} steps, all {LINKS} joints")]
    gaps = [float(np.linalg.norm(item.end - exact.end)) / moved for item in others]
    for item, gap in zip(others, gaps, strict=True):
        detail = f"of its way; {item.joints:.1f} of {LINKS} joints a step"
        rows.append(information(CHAIN, f"2^-{item.bits}: the end is off by", gap, "", detail))
    name = "the finest threshold against the coarsest: off by"
    return [*rows, at_most(CHAIN, name, gaps[-1] / gaps[0], 0.01, "", "a finer threshold follows more closely")]


class Timed(NamedTuple):
    """A threshold on the millipede."""

    bits: int
    seconds: float
    joints: float


def pushed(model: Model, method: Method) -> Simulation:
    """Return a millipede that is pushed at one foot."""
    simulation = Simulation(model, dt=DT, gravity=(0, 0, 0), method=method)
    leg = sum(name.startswith("leg") and name.endswith("_0") for name in model.names) // 2
    last = max(int(name.split("_")[1]) for name in model.names if name.startswith(f"leg{leg}_"))
    simulation.apply(f"leg{leg}_{last}", force=PUSH, point=(0, 0, -0.03))
    return simulation


def sweep(model: Model, bits: Sequence[int], steps: int, share: float | None) -> tuple[list[Timed], float]:
    """Time every threshold and all joints in turns; returns the thresholds and the seconds of a step of all joints."""
    runs = {b: pushed(model, Quasistatic(2.0**-b, hand_over=share)) for b in bits}
    full = pushed(model, Full())
    still = np.zeros(model.nv)
    best, all_joints = dict.fromkeys(bits, math.inf), math.inf
    burst = max(1, steps // BURSTS)
    few = max(1, round(FULL_SHARE * burst))
    for simulation in runs.values():
        simulation.step(2)
    full.step(2)
    for _ in range(BURSTS):
        for b, simulation in runs.items():
            began = perf_counter()
            simulation.step(burst)
            best[b] = min(best[b], (perf_counter() - began) / burst)
        full.v = still
        began = perf_counter()
        full.step(few)
        all_joints = min(all_joints, (perf_counter() - began) / few)
    return [Timed(b, best[b], float(runs[b].stats["joints_per_step"])) for b in bits], all_joints


def millipede_rows(*, quick: bool) -> list[Row]:
    """Time and number of computed accelerations at every threshold, and where all joints would be quicker."""
    model = library.millipede(60, 6, 180) if quick else library.millipede(LEGS, LEG_LINKS, SPINE)
    timed, full = sweep(model, BITS, STEPS // 40 if quick else STEPS, None)
    rows = []
    for item in timed:
        detail = f"{item.joints:.1f} of {model.njoints:,} joints a step; all of them: {1e6 * full:.4g} us"
        rows.append(information(MILLIPEDE, f"2^-{item.bits}: a step", 1e6 * item.seconds, "us", detail))
    slowest = max(timed, key=lambda item: item.seconds)
    detail = f"at 2^-{slowest.bits}; the paper's is slower than all joints below 1e-4"
    rows.append(
        at_most(MILLIPEDE, "the slowest threshold against all joints", slowest.seconds / full, SLOWEST, "times", detail)
    )
    alone, full = sweep(model, BEYOND, max(BURSTS, STEPS // 400), 1.0)
    slower = [item for item in (*timed, *alone) if item.seconds > full]
    listed = ", ".join(f"2^-{item.bits}: {1e6 * item.seconds:.3g} us, {item.joints:.0f} joints" for item in alone)
    crossing = 2.0 ** -slower[0].bits if slower else 0.0
    name = "the tree alone is slower than all joints from a threshold of"
    rows.append(
        at_most(MILLIPEDE, name, crossing, 1e-4, "", f"without a hand-over: {listed}; all: {1e6 * full:.4g} us")
    )
    counts = [item.joints for item in timed]
    rows.append(
        at_least(MILLIPEDE, "joints at 2^-19 over those at 2^-3", counts[-1] / counts[BITS.index(3)], 1.0, "times")
    )
    return rows


def end_of_chain(model: Model, q: Array) -> Array:
    """Return the origins of all links of a chain, and its end, in the plane of motion (x, z)."""
    poses = body_poses(model, q)
    end = poses[-1, :3, :3] @ (PITCH, 0, 0) + poses[-1, :3, 3]
    return np.vstack((poses[:, :3, 3], end))[:, [0, 2]]
