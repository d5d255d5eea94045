"""Newton's step along the tree is that of the dense matrix; long chains come to rest in few steps, each O(n)."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree._jit import ENABLED
from kinetree.adaptive import quasistatic_relax
from kinetree.adaptive.quasistatic_newton import TreeNewton
from kinetree.adaptive.quasistatic_relax import _Descent
from kinetree.forces import build_acts
from oracle.static import stiffness
from oracle.trees import random_model, random_wrenches

DOWN = (0.0, 0.0, -9.81)


def a_body_under_all_that_acts(seed: int) -> tuple[kt.Model, _Descent]:
    """Return a random tree with joint springs, stops, wrenches, a force at a point, and springs that close loops."""
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


def test_the_step_along_the_tree_is_that_of_the_matrix():
    """Of every kind of joint, loop and force, stable or not: differences of the joint forces give the same H."""
    refused = 0
    for seed in range(30 if ENABLED else 4):
        model, descent = a_body_under_all_that_acts(seed)
        if model.nv == 0:
            continue
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
