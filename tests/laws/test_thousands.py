"""Thousands of small random bodies, chains and bushes: divide and conquer, metrics of all nodes, joints that stop."""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import Sweep, adaptive_model

import kinetree as kt
from kinetree.kernels import nodes as to
from oracle.hybrid import kinetic_energy, stop_by_impulses

pytestmark = [pytest.mark.slow_python, pytest.mark.no_bounds]

BODIES, GROUPS = 3000, 12
SAME = 1e-10  # rounding times the condition of the mass matrix of a random body; the worst of 3,000 is 4e-11


def group(number):
    """Return the seeds of a group, so that the groups can run side by side."""
    return range(number, BODIES, GROUPS)


def body(seed):
    """Return a chain or a bush of two to nine bodies of any joints, on one root or several."""
    return adaptive_model(seed, 2 + seed % 8, branching=(0.0, 0.4, 1.0)[seed % 3], roots=0.1 * (seed % 2))


@pytest.mark.parametrize("number", range(GROUPS))
def test_divide_and_conquer_and_the_metric_of_every_node(number):
    """The accelerations are those of the articulated-body algorithm, and each metric is the sum over its joints."""
    worst = np.zeros(2)
    for seed in group(number):
        model = body(seed)
        sweep = Sweep(model, seed)
        sweep.join()
        truth = kt.forward_dynamics(
            model, sweep.q, sweep.v, sweep.tau, external=sweep.external, gravity=sweep.gravity, method="aba"
        )
        gap = np.abs(sweep.out - truth).max() / np.abs(truth).max()
        sums = sweep.sums(sweep.weigh(sweep.out))
        values = np.array([sweep.value(n) if k != to.LEAF else 0.0 for n, k in enumerate(sweep.tree[:, to.KIND])])
        away = np.abs(values - sums).max() / sums.max()
        assert gap < SAME, (seed, gap)
        assert away < SAME, (seed, away)
        worst = np.maximum(worst, (gap, away))
    print(f"DCA against ABA {worst[0]:.1e}, metrics {worst[1]:.1e}")


@pytest.mark.parametrize("number", range(GROUPS))
def test_joints_that_stop(number):
    """Coming to rest is what the paper's impulses on the joints that stop do, and never adds kinetic energy."""
    worst = 0.0
    stopped = 0
    for seed in group(number):
        model = body(seed)
        q, v = model.random_state(seed)
        roots = int((model.parents < 0).sum())
        full = kt.Simulation(model, q, v, dt=1e-3)
        most = max(roots, model.njoints // 2)
        if most == model.njoints:
            continue
        method = kt.Adaptive(joints=most, acceleration_joints=model.njoints)
        simulation = kt.Simulation(model, q, v, dt=1e-3, method=method)
        full.step()
        simulation.step()
        moves = np.zeros(model.nv, dtype=bool)
        moves[model.dof_indices(simulation.active)] = True
        mass = kt.mass_matrix(model, q)
        wanted = stop_by_impulses(mass, full.v, moves)
        gap = np.abs(simulation.v - wanted).max() / np.abs(full.v).max()
        assert gap < SAME, (seed, gap)
        before, after = kinetic_energy(mass, full.v), kinetic_energy(mass, simulation.v)
        assert after <= before * (1 + 1e-12), (seed, before, after)
        worst, stopped = max(worst, gap), stopped + (~moves).any()
    assert stopped > 50
    print(f"{stopped} bodies, {worst:.1e}")
