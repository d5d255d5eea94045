"""The steps of the Open Dynamics Engine, where the formulas are the same; ours are better where they differ."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.bench import soft_scenes as scenes
from kinetree.bench.peers import ode
from kinetree.errors import MissingExtraError

pytestmark = [
    pytest.mark.skipif(not ode.is_there(), reason="no libode (Debian: apt install libode8): nothing to compare with"),
    pytest.mark.slow_python,
    pytest.mark.no_bounds,
]

SCENES = {
    "pendulum": (scenes.pendulum, 60),
    "chain of hinges": (scenes.chain, 60),
    "chain of balls": (lambda: scenes.chain(kind="ball"), 60),
    "sliding box": (scenes.box_on_floor, 60),
    "human with 41 markers": (scenes.human, 6),
    "human with stiff motors": (lambda: scenes.human(limit=np.inf), 6),
}


@pytest.mark.parametrize("name", SCENES)
def test_velocities_and_forces_are_the_same(name):
    """From one state to the next, with the same erp and cfm: 1e-8 of the largest velocity and force, in each step."""
    make, steps = SCENES[name]
    world = make()
    twin = ode.OdeTwin(world)
    try:
        for k in range(steps):
            theirs = twin.step()
            world.step()
            state = twin.state()
            speed = max(np.abs(state[:, 7:13]).max(), 9.81 * world.dt)  # or what gravity adds in a step
            assert np.abs(world.state()[:, 7:13] - state[:, 7:13]).max() < 1e-8 * speed, (name, k)
            ours = {index: world.constraints[index].wrench() for index in theirs}
            scale = max(np.abs(f).max() for f in theirs.values())
            worst = max(np.abs(ours[index] - f).max() for index, f in theirs.items())
            assert worst < 1e-8 * scale, (name, k, worst, scale)
    finally:
        twin.close()


def test_the_implicit_gyroscopic_torque_is_theirs():
    """Asked for, the other engine's own formula gives its own numbers."""
    world = kt.soft.World(dt=1 / 60, gravity=(0, 0, 0))
    world.add_body(
        "top", shapes=[kt.Box(size=(0.1, 0.25, 0.7))], velocity=(0.3, 8, 0.2, 0, 0, 0), gyroscopic="implicit"
    )
    twin = ode.OdeTwin(world, gyroscopic=True)
    for _ in range(120):
        twin.step()
        world.step()
    np.testing.assert_allclose(world.state(), twin.state(), atol=1e-10)
    twin.close()


def test_our_gyroscopic_torque_keeps_what_theirs_loses():
    """A free asymmetric top for ten seconds: energy and angular momentum."""
    world = kt.soft.World(dt=1 / 60, gravity=(0, 0, 0))
    body = world.add_body("top", shapes=[kt.Box(size=(0.1, 0.25, 0.7))], velocity=(0.3, 8, 0.2, 0, 0, 0))
    twin = ode.OdeTwin(world, gyroscopic=True)
    start, energy = world.momentum(body.center)[:3], world.energy()[0]
    for _ in range(600):
        twin.step()
        world.step()
    ours = (
        np.linalg.norm(world.momentum(body.center)[:3] - start) / np.linalg.norm(start),
        abs(world.energy()[0] / energy - 1),
    )
    world.set_state(twin.state())
    theirs = (
        np.linalg.norm(world.momentum(body.center)[:3] - start) / np.linalg.norm(start),
        abs(world.energy()[0] / energy - 1),
    )
    twin.close()
    assert max(ours) < 1e-9, ours
    assert min(theirs) > 1e-2, theirs


def test_its_sweeps_leave_more_than_ours():
    """dWorldQuickStep, twenty sweeps, and twenty of ours through the same motion: the residual of the rows."""
    from kinetree.bench.soft_speed import left_by_quickstep, left_by_sweeps

    assert left_by_sweeps(20) < left_by_quickstep(20)


def test_what_is_missing_is_named(monkeypatch):
    """Without the library the error says what to install."""
    monkeypatch.setattr(ode, "_load", lambda: None)
    assert not ode.is_there()
    with pytest.raises(MissingExtraError, match="apt install libode8"):
        ode.library()
