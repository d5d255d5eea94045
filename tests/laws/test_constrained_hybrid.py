"""Constraints on hybrid bodies."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError

C = kt.constraints
pytestmark = [pytest.mark.slow_python, pytest.mark.no_bounds]


def falling(method, constraints=None, seconds=1.0):
    model = kt.models.humanoid(30)
    q = model.neutral()
    q[6] = 0.3
    sim = kt.Simulation(model, q, dt=1 / 240, method=method, constraints=constraints or [C.Contacts(), C.JointLimits()])
    sim.run(seconds)
    return model, sim


def test_with_all_joints_active_it_is_the_full_body():
    """The same contacts, limits and forces: the hybrid body of all joints moves as the full one, to rounding."""
    _, full = falling(kt.Full(), seconds=0.5)
    model, _ = falling(kt.Full(), seconds=0.01)
    most = model.njoints - 1  # with all of them Adaptive is Full itself; here no more than these are free to move
    _, hybrid = falling(kt.Adaptive(error=0.0), seconds=0.5)
    assert len(hybrid.active) >= most
    assert np.abs(full.q - hybrid.q).max() < 1e-6
    assert full.stats["contacts"] == hybrid.stats["contacts"]


def test_few_joints_come_to_rest_on_the_ground():
    """Six of the joints: the floor bears the whole weight, nothing sinks in, and only active joints are solved."""
    model, sim = falling(kt.Adaptive(joints=6), seconds=3.0)
    assert len(sim.active) <= 6
    assert sum(c.force[2] for c in sim.contacts) == pytest.approx(model.total_mass * 9.81, rel=0.02)
    assert sim.stats["deepest"] < 1e-3
    assert np.abs(sim.v[:6]).max() < 1e-2  # a joint that has its turn may still be sinking


def test_joints_near_a_contact_are_woken():
    """A chain lies still with all joints asleep; what holds it up at one end makes it bend there."""
    model = kt.models.chain(8)
    target = C.PointAttachment(model.names[-1])
    sim = kt.Simulation(model, dt=1 / 240, method=kt.Adaptive(joints=3), constraints=[target])
    sim.run(0.5)
    assert sim.stats["largest_drift"] < 1e-8
    with pytest.raises(ArgumentError, match="guaranteed"):
        kt.Simulation(model, method=kt.Adaptive(error=1.0, guaranteed=True), constraints=[C.Contacts()])


def test_hybrid_simulations_continue_to_the_bit(tmp_path):
    """Which joints are active is saved with the forces of the contacts."""
    _, sim = falling(kt.Adaptive(joints=6), seconds=0.5)
    again = kt.Simulation.restore(sim.save(tmp_path / "hybrid.npz"))
    sim.step(20)
    again.step(20)
    assert np.abs(sim.q - again.q).max() < 1e-9
