"""Newton's step along the tree is that of the dense matrix; long chains come to rest in few steps, each O(n)."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree._jit import ENABLED
from kinetree.adaptive import quasistatic_newton, quasistatic_relax
from kinetree.adaptive.quasistatic_newton import TreeNewton
from kinetree.adaptive.quasistatic_relax import _Descent
from kinetree.forces import build_acts
from oracle.static import stiffness
from oracle.trees import random_model, random_wrenches

DOWN = (0.0, 0.0, -9.81)


def a_body_under_all_that_acts(seed: int) -> tuple[kt.Model, _Descent]:
    """Return a random tree with joint springs, wrenches, joint forces, and springs that close loops."""
    model = random_model(seed, 9, massless=0.0)
    rng = np.random.default_rng(seed)
    q, rest = model.random_state(seed)[0], model.random_state(seed + 1)[0]
    moving = [f"b{i}" for i, link in enumerate(model.body_links) if link >= 0]
    a, b = moving[-1], moving[0]
    forces = [
        kt.forces.JointSpring(None, stiffness=3.0, rest=rest),
        kt.forces.Spring(a, rng.normal(size=3), rng.normal(size=3), 20.0),
        kt.forces.Spring(b, rng.normal(size=3), rng.normal(size=3), 30.0, length=0.4),
    ]
    if a != b:
        forces.append(kt.forces.Spring(a, rng.normal(size=3), rng.normal(size=3), 15.0, other=b))
        forces.append(kt.forces.Spring(a, rng.normal(size=3), rng.normal(size=3), 25.0, length=0.3, other=b))
    acts = build_acts(model, forces, ())
    acts = acts._replace(external=random_wrenches(model, seed), feed=rng.normal(size=model.nv))
    acts.stiffness[:] *= rng.uniform(0.5, 2.0, model.nv)
    return model, _Descent(model, q, acts, DOWN, 0.0, limits=False)


def test_the_step_along_the_tree_is_that_of_the_matrix(monkeypatch):
    """Of every kind of joint, loop and force, stable or not: differences of the joint forces give the same H."""
    refused = 0
    for seed in range(30 if ENABLED else 4):
        model, descent = a_body_under_all_that_acts(seed)
        if model.nv == 0:
            continue
        monkeypatch.setattr(quasistatic_newton, "MANY", 64 if seed % 2 else 0)  # 0: all stand in the tree
        free = np.random.default_rng(seed).random(model.nv) < 0.9
        H, M = stiffness(model, descent.force, descent.q), kt.mass_matrix(model, descent.q)
        newton = TreeNewton(model, descent.body, descent.acts, descent.work, 0.0)
        F = np.where(free, descent.force(descent.q), 0.0)
        on = np.ix_(free, free)
        for rate in (1e-3, 10.0, 1e3):
            whole = (rate * M + H)[on]
            found = newton.step(F, free, rate, convex=False)
            positive = np.linalg.eigvalsh(whole)[0] > 0
            assert (found is not None) == positive, (seed, rate)
            if not positive:
                refused += 1
                continue
            expected = np.zeros(model.nv)
            expected[free] = np.linalg.solve(whole, F[free])
            assert np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max(), (seed, rate)
        rough = newton.step(F, free, 1e-3, convex=True)
        assert rough is not None
        assert rough @ F > 0
    assert refused > 0


def bent(n: int) -> np.ndarray:
    """Return a random bend of a chain."""
    return np.random.default_rng(n).uniform(-0.5, 0.5, n)


@pytest.mark.parametrize("n", [1000, 5000] if ENABLED else [30])
def test_a_long_chain_hangs_down_in_few_steps_at_two_evaluations_each(n, monkeypatch):
    """From a random bend, without any spring; what a step computes does not grow with the chain but for its length."""
    monkeypatch.setattr(quasistatic_relax, "DENSE", 10)
    model = kt.models.pendulum(n)
    found = kt.relax(model, bent(n), tolerance=1e-6)
    assert np.abs(np.sin(np.cumsum(found.q))).max() < 1e-6
    assert found.steps <= 60
    assert found.evaluations <= 4 * found.steps + 1  # each visits every link twice, as does each factoring and solving


@pytest.mark.skipif(not ENABLED, reason="5,000 joints, compiled")
def test_a_long_chain_with_joint_springs_comes_to_rest():
    """The forces that are left are those of inverse dynamics and the springs, which nothing here has computed."""
    model = kt.models.pendulum(5000)
    found = kt.relax(model, bent(5000), forces=[kt.forces.JointSpring(None, stiffness=5.0)], tolerance=1e-6)
    still = np.zeros(model.nv)
    left = -5.0 * found.q - kt.inverse_dynamics(model, found.q, still, still)
    assert np.abs(left).max() < 2e-6
    assert found.steps <= 80


@pytest.mark.parametrize("other", [None, "link0"])
def test_a_chain_that_a_stiff_spring_closes_comes_to_rest(other, monkeypatch):
    """A spring of 1e6 N/m at the end of a chain, to the world or back to its first link: the loop is closed."""
    monkeypatch.setattr(quasistatic_relax, "DENSE", 10)
    n = 100 if ENABLED else 12
    model, length = kt.models.bicycle_chain(n), 0.0127
    anchor = (0.0, 0.0, 0.0) if other else (0.47 * n * length, 0.0, 0.0)
    spring = kt.forces.Spring(f"link{n - 1}", (length, 0, 0), anchor, 1e6, other=other)
    found = kt.relax(model, 0.1 * np.sin(np.arange(n)) if other is None else 0.2 * bent(n), forces=[spring])
    assert found.residual < 1e-8
    last = kt.body_poses(model, found.q)[n - 1]
    assert np.abs(last @ [length, 0, 0, 1] - [*anchor, 1]).max() < 1e-4
