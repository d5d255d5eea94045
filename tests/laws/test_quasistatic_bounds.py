"""The bound of an approximate acceleration holds: for every measure, threshold, tree and load (Redon and Lin 2006)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import kinetree as kt
from kinetree._jit import ENABLED
from kinetree.adaptive.quasistatic_room import MEASURES
from kinetree.kernels import quasistatic_rows as row
from kinetree.kernels.quasistatic_search import bound_of
from oracle.quasistatic import accelerations_at_rest, errors, joint_norms
from oracle.trees import random_model, random_wrenches

# What is computed is as exact as the task says; the worst of 1,500 trees is 3e-12 of the largest acceleration.
EXACT = 1e-10
# An error may be above its bound by the rounding of the full algorithm itself: relative, and where nothing accelerates
# by a part of the largest acceleration of all. The worst of 700 trees at every refinement is 3e-10.
ABOVE, ROUNDING = 1e-9, 1e-13
TREES = 300 if ENABLED else 5  # each at every one of its refinements, with four measures: more than 10,000 cases


def loaded(seed: int, most: int = 30) -> tuple[kt.Model, dict[str, object], np.ndarray]:
    """Return a random body, arguments that load it here and there, and its exact accelerations."""
    rng = np.random.default_rng(seed)
    branching, roots = float(rng.choice([0.0, 0.3, 1.0])), float(rng.choice([0.0, 0.1]))
    massless = 0.3 if branching == 0 and roots == 0 else 0.0
    model = random_model(seed, int(rng.integers(1, most)), branching=branching, roots=roots, massless=massless)
    q, _ = model.random_state(seed)
    some = rng.random((model.nbodies, 1)) < rng.choice([0.0, 0.05, 0.3, 1.0])
    external = random_wrenches(model, seed) * some
    external[model.masses == 0] = 0
    tau = rng.normal(size=model.nv) * (rng.random(model.nv) < rng.choice([0.0, 0.3]))
    gravity = (0.0, 0.0, -9.81) if rng.random() < 0.3 else (0.0, 0.0, 0.0)
    arguments = {"q": q, "tau": tau, "external": external, "gravity": gravity}
    still = np.zeros(model.nv)
    return model, arguments, kt.forward_dynamics(model, q, still, tau, external=external, gravity=gravity)


def test_the_full_algorithm_is_a_dense_solve():
    """What the bounds are measured against is itself right: the mass matrix and inverse dynamics say the same."""
    for seed in range(40 if ENABLED else 3):
        model, arguments, exact = loaded(seed)
        dense = accelerations_at_rest(model, **arguments)
        largest = np.abs(dense).max(initial=0.0)
        assert np.abs(exact - dense).max(initial=0.0) <= 1e-9 * largest, seed  # a dense solve of 30 bodies' condition


def off(model: kt.Model, arguments: dict[str, object], exact: np.ndarray, found: kt.Approximation) -> float:
    """Return how far the computed accelerations are off; all others must be zero."""
    known = found.computed[model.v_joints]
    gap = np.abs(found.accelerations - np.where(known, exact, 0.0)).max(initial=0.0)
    if gap > EXACT * np.abs(exact).max(initial=0.0):
        # joints in a row without mass cost the articulated-body algorithm digits (a tree of 4,000: 2e-10, where a dense
        # solve and divide and conquer agree to 5e-12): the dense solve knows who is right
        exact = accelerations_at_rest(model, **arguments)
        gap = np.abs(found.accelerations - np.where(known, exact, 0.0)).max(initial=0.0)
    return float(gap)


def bounds_now(refinement: kt.Refinement) -> dict[str, float]:
    """Return the bounds of all four measures at this point of a refinement."""
    lazy = refinement._tree.lazy
    waiting = int(lazy.counts[row.WAITING])
    return {name: float(bound_of(m, waiting, lazy.keys, lazy.queue, lazy.counts)) for name, m in MEASURES.items()}


@pytest.mark.parametrize("trees", [TREES, pytest.param(4000, marks=pytest.mark.slow)])
def test_bounds_hold_at_every_refinement_of_random_trees(trees):
    """From nothing computed to everything: each of the four true errors is at most its bound, in thousands of cases."""
    cases, worst = 0, 0.0
    for seed in range(trees):
        model, arguments, exact = loaded(seed)
        largest = np.abs(exact).max(initial=0.0)
        refinement = kt.Refinement(model, **arguments)
        computed = np.zeros(model.njoints, dtype=bool)
        number = {name: k for k, name in enumerate(model.joint_names)}
        before = dict.fromkeys(MEASURES, np.inf)
        while True:
            true, bound = errors(model, exact, computed), bounds_now(refinement)
            for measure, error in true.items():
                floor = ROUNDING * (largest if measure.startswith("absolute") else 1.0)
                assert error <= bound[measure] * (1 + ABOVE) + floor, (seed, measure, error, bound[measure])
                worst = max(worst, (error - floor) / bound[measure] if bound[measure] else 0.0)
                cases += 1
            # with the sum of squares (or the largest key) the bound only falls, but for the rounding of the keys
            assert bound["absolute"] <= before["absolute"] * (1 + 1e-6) + 1e-6 * largest, (seed, bound, before)
            before = bound
            now = next(refinement, None)
            if now is None:
                break
            computed[[number[name] for name in now.newest]] = True
        gap = off(model, arguments, exact, refinement.approximation())
        assert gap <= EXACT * largest, (seed, gap)
    print(f"{cases} cases, the largest error is {worst:.12f} of its bound")
    assert cases > (10_000 if ENABLED else 100)


@given(
    seed=st.integers(0, 100_000),
    measure=st.sampled_from(list(MEASURES)),
    threshold=st.one_of(st.just(0.0), st.floats(1e-9, 1e3), st.just(float("inf"))),
)
@example(seed=3, measure="relative", threshold=0.0)
@example(seed=3, measure="relative_joint", threshold=1e3)
@example(seed=3, measure="absolute_joint", threshold=float("inf"))
def test_a_threshold_is_kept_and_what_is_computed_is_exact(seed, measure, threshold):
    """The bound is at most the threshold, and the true error at most the bound; joints are exact or zero."""
    model, arguments, exact = loaded(seed, 20)
    found = kt.quasistatic_acceleration(model, **arguments, error=threshold, measure=measure)
    largest = np.abs(exact).max(initial=0.0)
    assert found.bound <= threshold
    error = errors(model, exact, found.computed)[measure]
    floor = ROUNDING * (largest if measure.startswith("absolute") else 1.0)
    assert error <= found.bound * (1 + ABOVE) + floor, (error, found)
    gap = off(model, arguments, exact, found)
    assert gap <= EXACT * largest, f"{gap:.2e} of {largest:.2e}"
    if threshold == 0:
        assert found.bound == 0
        assert (joint_norms(model, exact)[~found.computed] <= ROUNDING * largest).all(), "all that moves is computed"
    if threshold == np.inf:
        assert found.joints == 0


def test_a_threshold_above_everything_computes_nothing_and_says_what_it_missed():
    """Just above the error of computing nothing no joint is computed; a little below, one is at least."""
    for seed in range(3, 23 if ENABLED else 5):
        model, arguments, exact = loaded(seed)
        if not np.abs(exact).max(initial=0.0):
            continue
        none = errors(model, exact, np.zeros(model.njoints, dtype=bool))
        found = kt.quasistatic_acceleration(model, **arguments, measure="absolute", error=none["absolute"] * (1 + 1e-5))
        assert found.joints == 0
        assert found.bound == pytest.approx(none["absolute"], rel=1e-5)
        found = kt.quasistatic_acceleration(model, **arguments, measure="absolute", error=none["absolute"] * (1 - 1e-5))
        assert found.joints > 0
        assert kt.quasistatic_acceleration(model, **arguments, error=1.0).joints == 0


def test_a_body_without_loads_needs_no_joint():
    """Where nothing acts all accelerations are known to be zero, at a threshold of zero too."""
    model = random_model(5, 15, massless=0.0)
    for measure in MEASURES:
        found = kt.quasistatic_acceleration(model, model.neutral(), gravity=(0, 0, 0), error=0.0, measure=measure)
        assert (found.joints, found.bound) == (0, 0.0)
        assert not found.accelerations.any()


def test_a_model_without_joints_is_no_special_case():
    """One body that is welded to the world."""
    builder = kt.ModelBuilder()
    builder.body("block", joint=kt.Fixed(), mass=1.0, inertia=(1, 1, 1))
    found = kt.quasistatic_acceleration(builder.build(), [], error=0.0)
    assert (found.joints, found.bound, len(found.accelerations)) == (0, 0.0, 0)


def test_the_largest_joints_come_first():
    """A pendulum of a hundred links that is pushed at its end: few joints have nearly all of the acceleration."""
    model = kt.models.pendulum(100 if ENABLED else 20)
    q = 0.3 * np.random.default_rng(0).normal(size=model.nq)
    external = np.zeros((model.nbodies, 6))
    external[-1, 3:] = (1.0, 0.0, 0.0)
    found = kt.quasistatic_acceleration(model, q, external=external, gravity=(0, 0, 0), error=0.01, measure="relative")
    assert 0 < found.joints < model.njoints * (0.5 if ENABLED else 1)
    exact = kt.forward_dynamics(model, q, np.zeros(model.nv), external=external, gravity=(0, 0, 0))
    assert np.linalg.norm(exact - found.accelerations) <= 0.01 * np.linalg.norm(exact)


def test_refinement_stops_where_it_is_told():
    """By a bound, a number of joints, a deadline, and when a quantity of interest settles."""
    model = kt.models.pendulum(60 if ENABLED else 15)
    q = np.random.default_rng(0).normal(size=model.nq)
    few = model.njoints // 5
    assert kt.Refinement(model, q).run(joints=few).joints == few
    assert kt.Refinement(model, q).run(deadline=0.0).joints <= 1
    assert kt.Refinement(model, q).run(error=0.25).bound <= 0.25
    jacobian = kt.jacobian(model, q, model.nbodies - 1)[5]
    seen = []

    def lift(now: kt.Refined) -> float:
        seen.append(now.joints)
        return float(jacobian @ now.accelerations)

    found = kt.Refinement(model, q).run(interest=lift, settled=0.05, patience=3)
    assert len(seen) == seen[-1] == found.joints
    exact = jacobian @ kt.forward_dynamics(model, q, np.zeros(model.nv))
    if found.joints == model.njoints:
        assert jacobian @ found.accelerations == pytest.approx(exact)
    steps = [(now.joints, now.newest, now.acceleration(0)) for now in kt.Refinement(model, q, by=4)]
    assert [joints for joints, _, _ in steps][:2] == [4, 8]
    assert sorted(name for _, names, _ in steps for name in names) == sorted(model.joint_names)
    assert steps[-1][2] == pytest.approx(kt.forward_dynamics(model, q, np.zeros(model.nv))[0], rel=1e-9)
