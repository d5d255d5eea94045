"""The same model in both engines: bodies, joints, states carried over and back, and motions that meet."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, ModelError


def every_joint():
    """A free base with a joint of each kind, a weld, offsets and turned placements everywhere."""
    builder = kt.ModelBuilder("all")
    block = {"shapes": [kt.Box(size=(0.1, 0.15, 0.2))]}
    turn = (0.9950041652780258, 0.09983341664682815, 0.0, 0.0)
    builder.body("base", joint=kt.Free(), shapes=[kt.Box(size=(0.3, 0.2, 0.1))], com=(0.02, 0, 0.01))
    builder.body(
        "a", parent="base", joint=kt.Revolute((0.3, 0.2, 1)), placement=(None, (0.2, 0, 0)), com=(0.1, 0, 0.1), **block
    )
    builder.body(
        "u", parent="a", joint=kt.Universal((1, 0, 0.2), (0, 1, 0.3)), placement=(None, (0.1, 0, 0.1)), **block
    )
    builder.body("w", parent="u", joint=kt.Fixed(), placement=(turn, (0, 0.1, 0.1)), **block)
    builder.body("s", parent="w", joint=kt.Spherical(), placement=(turn, (0.1, 0, 0.1)), com=(0, 0.1, 0), **block)
    builder.body(
        "p", parent="s", joint=kt.Prismatic((0, 1, 1)), placement=(None, (0.1, 0, 0.1)), com=(0, 0.1, 0), **block
    )
    builder.body("h", parent="base", joint=kt.Helical((0, 1, 1), pitch=0.05), placement=(turn, (-0.1, 0, 0.1)), **block)
    builder.body("l", parent="base", joint=kt.Planar(), placement=(turn, (-0.1, 0.3, 0.1)), com=(0, 0.1, 0), **block)
    return builder.build()


@pytest.mark.parametrize("seed", range(3))
def test_states_go_over_and_back(seed):
    """Both q and v of the model, to rounding; a weld is one body with two names."""
    model = every_joint()
    q, v = model.random_state(seed)
    world = kt.soft.from_model(model, q, v)
    assert len(world.bodies) == 7
    assert world.body("w") is world.body("u")
    assert sum(b.mass for b in world.bodies) == pytest.approx(model.total_mass)
    there, speed = kt.soft.model_state(world, model)
    np.testing.assert_allclose(kt.difference(model, q, there), 0, atol=1e-13)
    np.testing.assert_allclose(speed, v, atol=1e-13)
    np.testing.assert_allclose(sum(world.energy()), sum(kt.energy(model, q, v)), rtol=1e-12)
    np.testing.assert_allclose(world.momentum(), kt.momentum(model, q, v), rtol=1e-9, atol=1e-11)
    kt.soft.put_model_state(world, model, model.neutral())
    np.testing.assert_allclose(world.body("base").position, 0, atol=1e-15)


def test_joints_are_closed_where_they_start():
    """Every row of every joint is satisfied at any configuration of the model."""
    model = every_joint()
    for seed in range(3):
        world = kt.soft.from_model(model, *model.random_state(seed))
        world.step()
        gaps = kt.soft.joint_gaps(world)
        assert set(gaps) == set(model.joint_names) - {"base"}, gaps
        assert max(gaps.values()) < 1e-14, gaps


@pytest.mark.slow_python
def test_motions_meet_as_the_step_shrinks():
    """First order: half the step, half the distance; joints stay closed."""
    model = every_joint()
    q, v = model.random_state(3)
    runs = [kt.soft.compare(model, q, 0.5 * v, seconds=0.2, frames=4, dt=dt, cfm=1e-10) for dt in (1e-3, 5e-4)]
    far = [float(run.distances.max()) for run in runs]
    assert far[1] < 0.6 * far[0] < 2e-3, far
    assert runs[1].gaps.max() < 1e-5
    np.testing.assert_allclose(runs[1].energies[:, 0], runs[1].energies[:, 1], rtol=1e-3)
    assert "apart" in runs[0].summary()


@pytest.mark.slow_python
def test_the_humanoid_falls_the_same_in_both():
    """A human figure with its joints' dampers, for a tenth of a second: a millimetre in free fall and swing."""
    model = kt.models.humanoid(24)
    run = kt.soft.compare(model, seconds=0.1, frames=2, dt=5e-4, cfm=1e-10)
    assert run.distances.max() < 1e-3, run.summary()


def test_springs_and_ranges_come_along():
    """Springs and dampers of joints are motors, limits are ranges; both act alike in both engines."""
    builder = kt.ModelBuilder("arm")
    rod = kt.Capsule.between((0, 0, 0), (0.3, 0, 0), 0.03)
    builder.body("a", joint=kt.Revolute("y"), shapes=[rod], stiffness=30.0, damping=0.5, rest=0.2, limits=(-0.3, 0.5))
    builder.body("b", parent="a", joint=kt.Spherical(), placement=(None, (0.3, 0, 0)), shapes=[rod], damping=0.1)
    model = builder.build()
    world = kt.soft.from_model(model, ranges=True)
    names = [c.name for c in world.constraints]
    assert names == ["a", "a/spring", "a/range", "b", "b/spring"]
    np.testing.assert_allclose(world.constraint("a/spring").stiffness, 30)
    np.testing.assert_allclose(world.constraint("a/spring").goal, 0.2)
    run = kt.soft.compare(model, seconds=0.4, frames=4, dt=2.5e-4, cfm=1e-10)
    assert run.distances.max() < 2e-3, run.summary()
    world.gravity = (0, 0, -9.81)
    world.step(240)
    assert -0.31 < world.constraint("a").angles[0] < 0.51


def test_what_cannot_be_carried_over_is_named():
    """Armature, bodies without mass or inertia, springs on joints that have no angle rows."""
    rod = kt.Capsule.between((0, 0, 0), (0.3, 0, 0), 0.03)
    cases = {
        "armature": kt.ModelBuilder("m").body("a", joint=kt.Revolute("y"), shapes=[rod], armature=0.1),
        "no mass": kt.ModelBuilder("m")
        .body("a", joint=kt.Revolute("y"))
        .body("b", parent="a", joint=kt.Revolute("x"), shapes=[rod]),
        "no inertia": kt.ModelBuilder("m").body("a", joint=kt.Revolute("y"), mass=1.0, com=(1, 0, 0)),
        "planar and has a spring": kt.ModelBuilder("m").body("a", joint=kt.Planar(), shapes=[rod], damping=(1, 1, 1)),
        "differ by axis": kt.ModelBuilder("m").body("a", joint=kt.Spherical(), shapes=[rod], damping=(1, 2, 1)),
    }  # fmt: skip
    for message, builder in cases.items():
        with pytest.raises(ModelError, match=message):
            kt.soft.from_model(builder.build())
    with pytest.raises(ArgumentError, match="whole number"):
        kt.soft.compare(kt.models.pendulum(2), seconds=0.1, frames=3, dt=1e-3)
