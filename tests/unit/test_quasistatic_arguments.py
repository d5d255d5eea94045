"""What quasi-statics refuses, by name, and what it tells of itself."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, DivergedError, ModelError
from oracle.trees import random_model


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"error": -1e-3}, "is a number that is not negative"),
        ({"error": float("nan")}, "is a number that is not negative"),
        ({"error": "small"}, "is a number that is not negative"),
        ({"error": True}, "is a number that is not negative"),
        ({"measure": "maximum"}, "use one of 'absolute', 'relative', 'absolute_joint', 'relative_joint'"),
        ({"hand_over": 1.5}, "a share of the joints from 0 to 1"),
        ({"hand_over": float("nan")}, "a share of the joints from 0 to 1"),
    ],
)
def test_options_that_make_no_sense_are_named(options, words):
    """Each by itself, with what would."""
    with pytest.raises(ArgumentError, match=words):
        kt.Quasistatic(**options)
    if "hand_over" not in options:
        with pytest.raises(ArgumentError, match=words):
            kt.quasistatic_acceleration(kt.models.pendulum(2), [0, 0], **options)
    if "measure" in options:
        with pytest.raises(ArgumentError, match=words):
            kt.Refinement(kt.models.pendulum(2), [0, 0], **options)
    if "error" in options:
        with pytest.raises(ArgumentError, match=words):
            kt.Refinement(kt.models.pendulum(2), [0, 0]).run(**options)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"q": [0.0]}, r"q has shape \(1,\)"),
        ({"q": [np.nan, 0.0]}, "q"),
        ({"q": [0.0, 0.0], "tau": [np.inf, 0.0]}, r"tau\[0\] is inf"),
        ({"q": [0.0, 0.0], "external": np.zeros((1, 6))}, "external has shape"),
        ({"q": [0.0, 0.0], "gravity": (0, 0)}, "gravity"),
    ],
)
def test_states_and_loads_are_checked(arguments, words):
    """By the names that the call gave them."""
    with pytest.raises(ArgumentError, match=words):
        kt.quasistatic_acceleration(kt.models.pendulum(2), **arguments)


def test_what_is_no_model_is_named():
    """And what is no number of joints or seconds."""
    with pytest.raises(ArgumentError, match="the model is None"):
        kt.quasistatic_acceleration(None, [])
    refinement = kt.Refinement(kt.models.pendulum(3), [0.1] * 3)
    with pytest.raises(ArgumentError, match="deadline"):
        refinement.run(deadline=-1.0)
    with pytest.raises(ArgumentError, match="joints"):
        refinement.run(joints=-2)
    with pytest.raises(ArgumentError, match="by"):
        kt.Refinement(kt.models.pendulum(3), [0.1] * 3, by=0)


def test_velocities_and_other_integrators_are_refused():
    """A body at rest has no velocity, and one way to step."""
    model = kt.models.pendulum(2)
    with pytest.raises(ArgumentError, match="at rest at every instant"):
        kt.Simulation(model, [0, 0], [0.0, 1.0], method=kt.Quasistatic()).step()
    for integrator in ("rk4", "rk45", "euler"):
        with pytest.raises(ArgumentError, match="integrator='semi_implicit'"):
            kt.Simulation(model, method=kt.Quasistatic(), integrator=integrator)


def test_forces_on_massless_bodies_are_refused():
    """They are part of a joint here."""
    model = random_model(1, 12, branching=0.0, roots=0.0, massless=1.0)
    light = int(np.flatnonzero(model.masses == 0)[0])
    simulation = kt.Simulation(model, method=kt.Quasistatic(0.1, hand_over=1.0))
    simulation.apply(light, force=(1, 0, 0))
    with pytest.raises(ArgumentError, match=repr(model.names[light])):
        simulation.step()


def test_a_motion_that_diverges_says_where():
    """A force so strong that a step leaves the finite numbers; the state is that of the last good step."""
    for share in (1.0, None):
        simulation = kt.Simulation(kt.models.pendulum(4), dt=1e-3, method=kt.Quasistatic(0.0, hand_over=share))
        simulation.apply("link3", force=(1e20, 0, 0), point=(0, 0, -0.1))
        with pytest.raises(DivergedError):
            simulation.step(3)
        assert not simulation.q.any()


def test_bodies_without_inertia_are_named():
    """A bead that turns about its own axis without inertia, but for its motor: the tree cannot hold it."""
    builder = kt.ModelBuilder()
    builder.body("arm", joint=kt.Revolute("z"), mass=1.0, inertia=(1, 1, 1))
    builder.body("bead", parent="arm", joint=kt.Revolute("z"), mass=1.0, inertia=(1.0, 1.0, 0.0),
                 armature=0.1)  # fmt: skip
    model = builder.build()
    with pytest.raises(ModelError, match="'bead' has no rotational inertia"):
        kt.quasistatic_acceleration(model, [0, 0])
    for share in (1.0, None):
        with pytest.raises(ModelError, match="'bead' has no rotational inertia"):
            kt.Simulation(model, method=kt.Quasistatic(0.0, hand_over=share))


def test_it_tells_what_it_did():
    """Statistics, active joints, regions and responses; one line for each result."""
    model = kt.models.pendulum(12)
    q = np.full(12, 0.1)
    simulation = kt.Simulation(model, q, dt=1e-3, method=kt.Quasistatic(0.2, "relative", hand_over=1.0))
    assert simulation.active == ()
    simulation.step(5)
    stats = simulation.stats
    assert stats["steps"] == 5
    assert 0 < stats["computed_joints"] < 60
    assert 0 < stats["bound"] <= stats["largest_bound"] <= 0.2
    assert stats["hand_overs"] == stats["full_steps"] == 0
    assert 0 < len(simulation.active) < 12
    assert simulation.regions.active.sum() == len(simulation.active)
    exact = kt.Simulation(model, q).response("link11", force=(1, 0, 0))
    np.testing.assert_allclose(
        kt.Simulation(model, q, method=kt.Quasistatic()).response("link11", force=(1, 0, 0)), exact
    )
    found = kt.quasistatic_acceleration(model, q, error=0.2)
    assert repr(found).startswith(f"<Approximation: {found.joints} of 12 joints, relative_joint error <= 0.")
    assert "Quasistatic(error=0.2" in repr(simulation)
    trajectory = kt.Simulation(model, q, dt=1e-3, method=kt.Quasistatic(0.2, hand_over=1.0)).run(0.02, record_every=5)
    assert len(trajectory.times) == 5
    assert not trajectory.v.any()
    full = kt.Simulation(model, q, dt=1e-3, method=kt.Quasistatic(0.0))
    assert full.regions.active.any()
    full.step(2)
    assert full.stats["full_steps"] == 2
    assert full.active == model.joint_names


def test_molecules_may_have_longer_strands():
    """`branching` is a probability; without it the molecule is one strand."""
    assert kt.models.molecule(30, branching=0.0).topology[:, 0].tolist() == list(range(-1, 29))
    for bad in (-0.1, 1.5, float("nan")):
        with pytest.raises(ArgumentError, match="branching"):
            kt.models.molecule(5, branching=bad)
