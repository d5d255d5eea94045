"""Static equilibria: no joint force is left, the body went downhill to it, and limits hold what pushes on them."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree._jit import ENABLED
from kinetree.adaptive.quasistatic_relax import _Descent
from kinetree.errors import ArgumentError, ConvergenceError
from kinetree.forces import build_acts
from oracle.trees import random_model, random_wrenches

DOWN = (0.0, 0.0, -9.81)


def test_the_force_at_rest_is_inverse_dynamics_at_rest():
    """Of any tree and joint, with wrenches: two ways to the same numbers."""
    for seed in range(20 if ENABLED else 3):
        model = random_model(seed, 12, massless=0.0)
        q, _ = model.random_state(seed)
        external, tau = random_wrenches(model, seed), np.random.default_rng(seed).normal(size=model.nv)
        acts = build_acts(model, (), ())._replace(external=external, feed=tau)
        found = _Descent(model, q, acts, DOWN, 0.0, limits=False).F
        still = np.zeros(model.nv)
        expected = tau - kt.inverse_dynamics(model, q, still, still, external=external)
        assert np.abs(found - expected).max(initial=0.0) <= 1e-12 * np.abs(expected).max(initial=1.0)


def test_a_pendulum_hangs_down():
    """From any bend; standing upright it is at rest, too, but that is said not to be stable."""
    model = kt.models.pendulum(12 if ENABLED else 4)
    found = kt.relax(model, np.full(model.nq, 0.3))
    assert found.converged
    assert found.stable
    assert np.abs(np.sin(np.cumsum(found.q))).max() < 1e-6
    upright = np.zeros(model.nq)
    upright[0] = np.pi
    assert not kt.relax(model, upright).stable
    upright[0] -= 1e-3
    assert kt.relax(model, upright).stable
    assert found.history[0] > found.history[-1] == found.residual


def test_a_spring_and_a_weight_find_their_balance():
    """One hinge with a spring k and a weight: k x = m g l cos x; the answer of a root finder."""
    builder = kt.ModelBuilder()
    builder.body("arm", joint=kt.Revolute("y"), mass=2.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    model = builder.build()
    found = kt.relax(model, forces=[kt.forces.JointSpring(None, stiffness=30.0)])
    from scipy.optimize import brentq

    expected = brentq(lambda x: 30.0 * x - 2.0 * 9.81 * 0.5 * np.cos(x), -3, 3)
    assert found.q[0] == pytest.approx(expected, abs=1e-9)


def test_a_loop_that_a_stiff_spring_closes_is_a_triangle():
    """Two bars of 1 m whose end is pinned at a distance of 1.2 m: the law of cosines, but for what the spring gives."""
    builder = kt.ModelBuilder()
    for name, parent in (("a", None), ("b", "a")):
        builder.body(name, parent=parent, joint=kt.Revolute("y"), placement=(None, (1.0 if parent else 0.0, 0, 0)),
                     mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))  # fmt: skip
    loop = kt.forces.Spring("b", (1, 0, 0), (1.2, 0, 0), 1e6)
    found = kt.relax(builder.build(), np.array([0.3, 0.1]), forces=[loop])
    assert found.q[0] == pytest.approx(np.arccos(0.6), abs=1e-4)  # hangs down: a turn about y lowers x
    assert found.q[1] == pytest.approx(-2 * np.arccos(0.6), abs=1e-4)


def test_limits_hold_what_pushes_on_them():
    """An arm that may not fall further than its limit rests there; its force is not counted as left."""
    builder = kt.ModelBuilder()
    builder.body("arm", joint=kt.Revolute("y"), mass=1.0, com=(0.5, 0, 0), inertia=(0.1,) * 3, limits=(-0.4, 0.4),
                 joint_name="shoulder")  # fmt: skip
    builder.body("hand", parent="arm", joint=kt.Revolute("y"), placement=(None, (1, 0, 0)), mass=0.2, com=(0.1, 0, 0),
                 inertia=(0.01,) * 3)  # fmt: skip
    model = builder.build()
    found = kt.relax(model)
    assert found.at_limits == ("shoulder",)
    assert found.q == pytest.approx([0.4, np.pi / 2 - 0.4], abs=1e-7)
    free = kt.relax(model, limits=False)
    assert free.at_limits == ()
    assert free.q == pytest.approx([np.pi / 2, 0], abs=1e-7)
    outside = kt.relax(model, np.array([2.0, 0.0]))
    assert outside.q[0] == pytest.approx(0.4)


def test_a_simulation_relaxes_under_what_acts_on_it_now():
    """Forces that were applied count; the state moves there, at rest, and no time passes."""
    model = kt.models.pendulum(4)
    simulation = kt.Simulation(model, np.full(4, 0.2), np.ones(4), method=kt.Full())
    simulation.apply("link3", force=(5.0, 0, 0), point=(0, 0, -1.0))
    found = simulation.relax()
    assert simulation.time == 0
    assert not simulation.v.any()
    np.testing.assert_array_equal(simulation.q, found.q)
    simulation.step(100)
    assert np.abs(simulation.q - found.q).max() < 1e-6


def test_the_tree_finds_what_the_matrix_finds(monkeypatch):
    """The way for large bodies ends where the way for small ones does."""
    model = kt.models.molecule(60 if ENABLED else 12, branching=0.1)
    q = model.random_state(0)[0]
    springs = [kt.forces.JointSpring(None, stiffness=1.0, rest=q)]
    dense = kt.relax(model, q, forces=springs, gravity=(0, 0, -0.05))
    monkeypatch.setattr("kinetree.adaptive.quasistatic_relax.DENSE", 10)
    other = kt.relax(model, q, forces=springs, gravity=(0, 0, -0.05))
    assert (dense.stable, other.stable) == (True, None)
    assert np.abs(dense.q - other.q).max() < 1e-6
    pendulum = kt.models.pendulum(20 if ENABLED else 11)
    found = kt.relax(pendulum, np.full(pendulum.nq, 0.1), tolerance=1e-6)
    assert np.abs(np.sin(np.cumsum(found.q))).max() < 1e-4


def test_many_steps_of_quasi_statics_end_at_the_equilibrium():
    """Steps by the tree, however coarse, and `relax` agree on where a chain with springs comes to rest."""
    model = kt.models.pendulum(5)
    springs = [kt.forces.JointSpring(None, stiffness=20.0)]
    rest = kt.relax(model, forces=[*springs, kt.forces.JointTorque(None, 1.0)])
    simulation = kt.Simulation(model, dt=0.02, forces=[*springs, kt.forces.JointTorque(None, 1.0)],
                               method=kt.Quasistatic(0.3, hand_over=1.0))  # fmt: skip
    simulation.step(3000 if ENABLED else 200)
    assert np.abs(simulation.q - rest.q).max() < (1e-6 if ENABLED else 0.2)


def test_what_nothing_holds_is_an_error_that_says_so():
    """A free body falls for ever; the state so far is not lost."""
    builder = kt.ModelBuilder()
    builder.body("stone", joint=kt.Free(), mass=1.0, inertia=(1, 1, 1))
    model = builder.build()
    with pytest.raises(ConvergenceError, match=r"'stone'.*Is every free body held") as caught:
        kt.relax(model, most=5)
    assert not caught.value.equilibrium.converged
    assert "not converged" in repr(kt.relax(model, most=2, must_converge=False))
    seen = []
    kt.relax(kt.models.pendulum(2), [0.1, 0.1], progress=lambda step, left: seen.append((step, left)))
    assert seen[-1][1] < 1e-8


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"forces": [kt.forces.Callback(lambda _: None)]}, "no Callback"),
        ({"tolerance": 0.0}, "tolerance is 0.0"),
        ({"tolerance": float("nan")}, "tolerance is nan"),
        ({"tau": [np.nan]}, "tau"),
        ({"q": [1.0, 2.0]}, "q has shape"),
        ({"most": -1}, "most"),
        ({"forces": ["gravity"]}, "is not a force"),
    ],
)
def test_bad_input_is_named(change, words):
    """Each argument by itself."""
    with pytest.raises(ArgumentError, match=words):
        kt.relax(kt.models.pendulum(1), **change)
    with pytest.raises(ArgumentError, match="the model is"):
        kt.relax("pendulum")
