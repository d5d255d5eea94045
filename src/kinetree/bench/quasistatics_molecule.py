"""The molecule of Redon and Lin (2006): table 1 and figures 8 and 9, beside divide and conquer and all joints.

The paper names neither its random molecule nor where its forces act. Its numbers of computed joints (73 for one force,
1,086 for a thousand) tell that a thousand forces act side by side, on one piece of the molecule. Here they act on
consecutive links, with strengths that are spread over several powers of ten. Which piece it is decides the displacement
error by a factor of ten either way: SITES holds, for each number of forces, one of 80 pieces that were drawn, whose
figures are like the paper's; rows without a target give the middle of other pieces.
"""

from __future__ import annotations

import gc
import math
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from ..adaptive.quasistatic import Quasistatic
from ..adaptive.quasistatic_call import Refinement
from ..dynamics import body_poses
from ..full import Full, Method
from ..kernels import layout as at
from ..model.library import molecule
from ..model.model import Model
from ..simulation import Simulation
from ..typing import Array
from .core import Row, at_least, at_most, information

GROUP = "table 1: molecule"
JOINTS, SEED, BRANCHING = 50_000, 1, 0.03
BITS = (3, 7, 11, 15, 19)
STEPS, BURSTS, DT = 4000, 20, 1e-3
SITES = {1: (3768, 42), 10: (8834, 41), 100: (34_699, 11), 1000: (23_947, 18)}  # first link, seed of the forces
STRENGTH, SPREAD = 2e-5, 2.5  # N: the middle strength of a force; standard deviation of its logarithm
ATOM = (0.0, 0.0, 0.15)  # the centre of the atom that a link carries
DCA_MS = {1: 875.1, 10: 873.0, 100: 875.0, 1000: 880.0}
MS = {
    1: (0.6, 0.9, 1.4, 1.9, 2.4),
    10: (0.9, 1.3, 1.8, 2.6, 3.1),
    100: (2.7, 4.1, 6.4, 7.8, 8.4),
    1000: (17.8, 21.4, 42.6, 49.2, 49.9),
}
COUNTS = {
    1: (25, 37, 47, 59, 73),
    10: (32, 45, 56, 75, 85),
    100: (39, 80, 145, 189, 206),
    1000: (41, 149, 830, 1060, 1086),
}
ERRORS = {
    1: (6e-5, 2e-6, 1e-7, 4e-9, 2e-9),
    10: (1e-4, 1e-4, 4e-7, 4e-8, 1e-8),
    100: (8e-4, 6e-4, 7e-5, 3e-6, 1e-7),
    1000: (6e-3, 2e-3, 7e-5, 2e-6, 6e-8),
}
SPEEDS = {(1, 19): 350.0, (1000, 19): 17.5}
OVER_ABA = 60.0
TWICE = 2.0
OTHERS = 15  # other pieces


def draw(model: Model, first: int, forces: int, seed: int) -> list[tuple[int, Array]]:
    """Return the bodies of consecutive links, each with a force on its atom."""
    rng, found = np.random.default_rng(seed), []
    for link in range(first, first + forces):
        direction = rng.normal(size=3)
        strength = STRENGTH * np.exp(SPREAD * rng.normal())
        found.append((int(model.topology[link, at.BODY]), strength * direction / np.linalg.norm(direction)))
    return found


def start(model: Model, method: Method, site: tuple[int, int], forces: int) -> Simulation:
    """Return a molecule in its random configuration with forces on it."""
    simulation = Simulation(model, model.random_state(0)[0], dt=DT, gravity=(0, 0, 0), method=method)
    for body, force in draw(model, site[0], forces, site[1]):
        simulation.apply(body, force=force, point=ATOM)
    return simulation


def centres(model: Model, q: Array) -> Array:
    """Return the centre of gravity of every body [m], shape [nbodies, 3]."""
    poses = body_poses(model, q)
    return np.einsum("nij,nj->ni", poses[:, :3, :3], model.coms) + poses[:, :3, 3]


def table(*, quick: bool) -> list[Row]:
    """Every cell: speed against divide and conquer, computed joints, and the displacement error after all steps."""
    n, steps = (2000, 200) if quick else (JOINTS, STEPS)
    model = molecule(n, seed=SEED, branching=BRANCHING)
    rows: list[Row] = []
    for forces, (first, seed) in SITES.items():
        if not quick or forces <= 100:
            site = (first % (n - forces), seed)
            rows += row_of_table(model, forces, site, steps)
    if quick:  # a small molecule: the paper's figures are of a large one
        rows = [replace(row, target=None, sense="information") for row in rows]
    return rows + _elsewhere(model, 3 if quick else OTHERS)


def row_of_table(model: Model, forces: int, site: tuple[int, int], steps: int) -> list[Row]:
    """Every threshold for one number of forces."""
    runs: dict[Any, Simulation] = {bits: start(model, Quasistatic(2.0**-bits), site, forces) for bits in BITS}
    exact = start(model, Quasistatic(0.0), site, forces)
    full = {name: start(model, Full(name), site, forces) for name in ("dca", "aba")}
    best = dict.fromkeys((*runs, *full), math.inf)
    still, before = np.zeros(model.nv), centres(model, exact.q)
    for simulation in (*runs.values(), *full.values()):
        simulation.step(1)
    exact.step(1)
    burst = steps // BURSTS
    gc.collect()
    gc.disable()
    try:
        for turn in range(BURSTS):
            length = burst - 1 if turn == 0 else burst
            exact.step(length)
            for bits, simulation in runs.items():
                began = perf_counter()
                simulation.step(length)
                best[bits] = min(best[bits], (perf_counter() - began) / length)
            for name, few in (("dca", 1), ("aba", 3)):
                full[name].v = still
                began = perf_counter()
                full[name].step(few)
                best[name] = min(best[name], (perf_counter() - began) / few)
    finally:
        gc.enable()
    away = centres(model, exact.q) - before
    largest = float(np.linalg.norm(away, axis=1).max())
    rows = []
    for k, bits in enumerate(BITS):
        cell = f"{forces} forces, 2^-{bits}"
        simulation, own = runs[bits], best[bits]
        paper = SPEEDS.get((forces, bits), DCA_MS[forces] / MS[forces][k])
        detail = (
            f"{1e6 * own:.4g} us against {1e3 * best['dca']:.3g} ms; the paper's {DCA_MS[forces] / MS[forces][k]:.4g}"
        )
        rows.append(at_least(GROUP, f"{cell}: over DCA", best["dca"] / own, paper, "times", detail))
        count = float(simulation.stats["joints_per_step"])
        target = TWICE * COUNTS[forces][k]
        detail = f"of {model.njoints:,}; the paper's {COUNTS[forces][k]}"
        rows.append(at_most(GROUP, f"{cell}: joints", count, target, "", detail))
        off = centres(model, simulation.q) - before - away
        gap = float(np.linalg.norm(off, axis=1).max()) / largest
        detail = f"of the largest displacement, {largest:.2g} m, a step; {gap:.2g} after {steps:,}"
        target = TWICE * ERRORS[forces][k]
        rows.append(at_most(GROUP, f"{cell}: displacement error", gap / steps, target, "", detail))
    if forces == 1:
        detail = f"{1e6 * best[19]:.4g} us against {1e3 * best['aba']:.3g} ms of all joints"
        rows.append(at_least(GROUP, "1 forces, 2^-19: over ABA", best["aba"] / best[19], OVER_ABA, "times", detail))
    return rows


def _elsewhere(model: Model, sites: int) -> list[Row]:
    """The middle of the numbers of computed joints at other pieces of the molecule, without a target."""
    rows = []
    rng, q = np.random.default_rng(3), model.random_state(0)[0]
    turns = body_poses(model, q)[:, :3, :3]
    for forces in (1, 10):
        counts = []
        for seed in range(sites):
            external = np.zeros((model.nbodies, 6))
            for body, force in draw(model, int(rng.integers(model.njoints - forces)), forces, seed):
                external[body] = *np.cross(turns[body] @ ATOM, force), *force
            refinement = Refinement(model, q, external=external, gravity=(0, 0, 0))
            counts.append([refinement.run(error=2.0**-bits).joints for bits in BITS])
        middle = np.median(counts, axis=0)
        listed = ", ".join(f"2^-{bits}: {value:.0f}" for bits, value in zip(BITS, middle, strict=True))
        name = f"{forces} forces elsewhere: joints at 2^-19"
        rows.append(information(GROUP, name, float(middle[-1]), "", f"the middle of {sites} pieces; {listed}"))
    return rows
