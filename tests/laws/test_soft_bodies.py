"""Rigid bodies in maximal coordinates: the free top, the exponential map, masses from shapes, kinematic bodies."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt

H = 1 / 60
TOP = {"shapes": [kt.Box(size=(0.1, 0.25, 0.7))], "mass": 0.4}


def top(gyroscopic="conserving", *, omega=(0.3, 8.0, 0.2), dt=H):
    """A box thrown spinning about its middle axis, without gravity."""
    world = kt.soft.World(dt=dt, gravity=(0, 0, 0))
    return world, world.add_body("top", gyroscopic=gyroscopic, velocity=(*omega, 0.2, 0.1, 0.0), **TOP)


@pytest.mark.parametrize("omega", [(0.3, 8.0, 0.2), (5.0, 1.0, 0.5), (0.01, 8.0, 0.0), (20.0, 30.0, 10.0)])
def test_a_free_top_keeps_momentum_and_energy(omega):
    """Angular momentum and energy of an asymmetric top at 60 Hz stay to rounding for a thousand steps."""
    world, _ = top(omega=omega)
    momentum, energy = world.momentum(), world.energy()[0]
    world.step(1000)
    assert np.abs(world.momentum()[3:] - momentum[3:]).max() < 1e-13
    spin = world.momentum(world.body("top").center)[:3]
    start = world.body("top")
    assert start.mass == pytest.approx(0.4)
    first = top(omega=omega)[0]
    before = first.momentum(first.body("top").center)[:3]
    # a thousand roundings, each of 1e-16
    assert np.abs(spin - before).max() < 1e-12 * np.abs(before).max(), spin - before
    # three corrections of the energy a substep leave 1e-13 of it; where the axis is nearly principal they stop before
    assert abs(world.energy()[0] / energy - 1) < 1e-9, world.energy()[0] / energy - 1


def test_the_other_gyroscopic_torques_are_worse():
    """The plain torque gains energy, the implicit one loses it; both lose the direction of the angular momentum."""
    kept = {}
    for kind in ("conserving", "implicit", "explicit", "off"):
        world, body = top(kind)
        before, energy = world.momentum(body.center)[:3], world.energy()[0]
        world.step(240)
        turned = np.linalg.norm(world.momentum(body.center)[:3] - before) / np.linalg.norm(before)
        kept[kind] = turned, world.energy()[0] / energy - 1
    assert kept["conserving"][0] < 1e-12
    assert abs(kept["conserving"][1]) < 1e-10
    assert kept["implicit"][1] < -1e-2, kept
    assert kept["explicit"][1] > 1e-2, kept
    for kind in ("implicit", "explicit", "off"):
        assert kept[kind][0] > 1e-3, kept


@pytest.mark.slow_python
def test_a_top_turns_over_as_the_exact_one_does():
    """Against RK4 of the same body at a thirtieth of the step: orientation after one second, second order at least."""
    model = kt.ModelBuilder("top").body("top", joint=kt.Free(), **TOP).build()
    errors = []
    for steps in (60, 120):
        world, body = top(dt=1 / steps)
        v = np.concatenate((body.velocity[:3], body.velocity[3:]))
        exact = kt.Simulation(model, v=v, dt=1 / 3600, gravity=(0, 0, 0), integrator="rk4")
        exact.step(3600)
        world.step(steps)
        turn = kt.body_poses(model, exact.q)[0][:3, :3]
        errors.append(np.abs(turn - body.rotation).max())
    assert errors[0] < 2e-3, errors
    assert errors[1] < errors[0] / 3.5, errors


def test_rotation_about_a_principal_axis_is_exact():
    """With a constant angular velocity the exponential map is the rotation by h |w|, also where it is tiny."""
    for speed in (0.0, 1e-9, 1e-5, 1.0, 50.0):
        world, body = top(omega=(0, 0, speed))
        world.step(60)
        angle = speed * 60 * H
        expected = [np.cos(angle / 2), 0, 0, np.sin(angle / 2)]
        q = body.quaternion * np.sign(body.quaternion @ expected or 1)
        np.testing.assert_allclose(q, expected, atol=1e-14)


def test_masses_come_from_shapes():
    """Density times volume; two shapes have their common centre; the inertia is about it."""
    world = kt.soft.World()
    for shape, volume in (
        (kt.Box(size=(0.1, 0.2, 0.3)), 0.006),
        (kt.Sphere(radius=0.1), 4 / 3 * np.pi * 1e-3),
        (kt.Capsule(radius=0.1, length=0.5), np.pi * 0.01 * 0.5 + 4 / 3 * np.pi * 1e-3),
    ):
        body = world.add_body(type(shape).__name__, shapes=[shape])
        assert body.mass == pytest.approx(1000 * volume, rel=1e-12)
    two = world.add_body("two", shapes=[kt.Sphere(radius=0.1, placement=(x, 0, 0)) for x in (-0.2, 0.4)])
    np.testing.assert_allclose(two.com, (0.1, 0, 0), atol=1e-15)
    one = 0.4 * 0.01 * two.mass
    np.testing.assert_allclose(np.diag(two.inertia), (one, one + two.mass * 0.09, one + two.mass * 0.09), rtol=1e-12)
    given = world.add_body("given", mass=2.0, inertia=(1, 2, 2.5, 0.1, 0, 0), com=(0, 0, 0.1), pose=(1, 2, 3))
    np.testing.assert_allclose(given.center, (1, 2, 3.1))
    np.testing.assert_allclose(given.inertia[0], (1, 0.1, 0))


def test_a_kinematic_body_moves_as_it_is_told():
    """Infinite mass: gravity and rows do not change its velocity; a body tied to it follows."""
    world = kt.soft.World(dt=H)
    cart = world.add_body("cart", kinematic=True, velocity=(0, 0, 0.5, 1.0, 0, 0))
    load = world.add_body("load", shapes=[kt.Sphere(radius=0.1)], pose=(0, 0, -1), velocity=(0, 0, 0, 1, 0, 0))
    tie = world.add_joint("tie", "ball", load, cart, anchor=(0, 0, 0))
    world.step(120)
    np.testing.assert_allclose(cart.velocity, (0, 0, 0.5, 1, 0, 0), atol=1e-15)
    np.testing.assert_allclose(cart.position, (2, 0, 0), atol=1e-12)
    assert np.linalg.norm(tie.point - cart.position) < 1e-2
    assert cart.mass == np.inf
    assert world.energy()[0] == pytest.approx(
        0.5 * load.mass * np.sum(load.velocity[3:] ** 2) + 0.5 * load.velocity[:3] @ load.inertia @ load.velocity[:3]
    )


def test_poses_and_velocities_are_of_the_origin():
    """What is put in comes out, for a body whose centre of mass is elsewhere; points go to the world and back."""
    world = kt.soft.World(gravity=(0, 0, 0), dt=1e-4)
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    body = world.add_body(
        "b", mass=1.0, inertia=(1, 1, 1), com=(0.3, 0.1, -0.2), pose=(turn, (1, 2, 3)), velocity=(1, 2, 3, 4, 5, 6)
    )
    np.testing.assert_allclose(body.position, (1, 2, 3), atol=1e-15)
    np.testing.assert_allclose(body.velocity, (1, 2, 3, 4, 5, 6), atol=1e-14)
    np.testing.assert_allclose(body.point_in_world((1, 0, 0)), (1, 3, 3), atol=1e-15)
    np.testing.assert_allclose(body.point_in_body(body.point_in_world((0.5, -1, 2))), (0.5, -1, 2), atol=1e-14)
    before = body.position
    world.step()
    np.testing.assert_allclose((body.position - before) / 1e-4, (4, 5, 6), atol=5e-3)


def test_forces_act_where_they_are_applied():
    """A force at a point turns and pushes; in body axes too; it acts in one call of step only."""
    world = kt.soft.World(gravity=(0, 0, 0), dt=H)
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    body = world.add_body("b", mass=2.0, inertia=(1, 1, 1), pose=(turn, (0, 0, 0)))
    body.apply(force=(0, 0, 3), point=(0, 1, 0))
    body.apply(force=(1, 0, 0), torque=(0, 0, 2), point=(0, 0, 0), frame="body")
    world.step()
    np.testing.assert_allclose(body.velocity, np.array([3, 0, 2, 0, 0.5, 1.5]) * H, atol=1e-15)
    before = body.velocity
    world.step()
    np.testing.assert_allclose(before, body.velocity, atol=1e-16)
    np.testing.assert_allclose(world.ledger()["user"], world.energy()[0], rtol=1e-12)
