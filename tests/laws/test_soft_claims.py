"""What the paper claims of soft constraints, and contacts: over-determined systems, shared loads, helpers."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.bench import soft_scenes as scenes

H = 1 / 60


@pytest.mark.slow_python
@pytest.mark.parametrize("solver", ["structured", "dantzig"])
def test_more_constraints_than_freedoms_are_solved(solver):
    """Forty markers pull a body of six freedoms to forty places at once: it settles at their least squares."""
    rng = np.random.default_rng(0)
    world = kt.soft.World(dt=H, gravity=(0, 0, 0), solver=solver)
    body = world.add_body("b", shapes=[kt.Box(size=(0.2, 0.3, 0.4))])
    points, places = 0.2 * rng.normal(size=(40, 3)), []
    for k, point in enumerate(points):
        places.append(point + (1, 0, 0) + 0.02 * rng.normal(size=3))
        world.add_marker(f"m{k}", body, point, position=places[-1], cfm=1e-3)
    world.step(300)
    # the rotation and translation that fit best (Kabsch)
    a, b = points - points.mean(0), np.array(places) - np.mean(places, axis=0)
    u, _, vt = np.linalg.svd(a.T @ b)
    turn = (u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt).T
    np.testing.assert_allclose(body.rotation, turn, atol=1e-5)
    np.testing.assert_allclose(body.position + turn @ points.mean(0), np.mean(places, axis=0), atol=1e-6)


@pytest.mark.parametrize("solver", ["structured", "dantzig", pytest.param("pgs", marks=pytest.mark.slow_python)])
def test_redundant_contacts_share_the_load(solver):
    """Four corners carry a centred box equally; off-centre, as four springs do; without softness there is no answer."""
    for com, shares in (
        ((0, 0, 0), (0.25, 0.25, 0.25, 0.25)),
        ((0.05, 0, 0), (0.25 - 0.0625, 0.25 - 0.0625, 0.25 + 0.0625, 0.25 + 0.0625)),
    ):
        world = kt.soft.World(dt=H, solver=solver, iterations=400)
        box = world.add_body(
            "box", mass=8.0, inertia=(0.1, 0.1, 0.1), com=com, pose=(0, 0, 0.1), shapes=[kt.Box(size=(0.4, 0.3, 0.2))]
        )
        world.add_ground(cfm=1e-4, friction=0.5)
        world.step(200)
        low = [c for c in world.constraints if c.kind == "contact" and c.local_point[2] < 0]
        forces = np.array([c.force[0] for c in low])
        order = np.argsort([c.local_point[0] for c in low])
        np.testing.assert_allclose(forces[order] / (8.0 * 9.81), shares, atol=2e-3)
        assert forces.sum() == pytest.approx(8.0 * 9.81, rel=1e-6)
        assert box.center[2] < 0.1


def test_hard_redundant_rows_are_refused_by_name_and_nothing_moves():
    """Two hard joints that say the same cannot be told apart; the error names one, the state is as it was."""
    for solver in ("structured", "dantzig"):
        world = kt.soft.World(dt=H, solver=solver, cfm=0.0)
        body = world.add_body("b", shapes=[kt.Sphere()], velocity=(0, 0, 0, 1, 0, 0))
        world.add_joint("one", "ball", body, anchor=(0, 0, 1))
        world.step()
        world.add_joint("other", "ball", body, points=((0, 0, 1), (0.1, 0, 1)))
        before = world.state()
        with pytest.raises(
            kt.errors.SingularError, match=r"row \d of constraint '(one|other)'.*The state is as it was"
        ):
            world.step()
        assert np.array_equal(before, world.state())
        world.constraint("other").soften(cfm=1e-6)
        world.step()


@pytest.mark.parametrize("solver", ["structured", "dantzig"])
def test_rows_that_say_the_same_are_solved_while_they_are_soft_at_all(solver):
    """Two joints in one place on a light body, far softer than hard and far below rounding: no pivot is lost."""
    world = kt.soft.World(dt=H, solver=solver)
    body = world.add_body("b", mass=1e-2, inertia=(1e-5, 1e-5, 1e-5), velocity=(1, 2, 3, 0, 0, 0))
    for k in range(3):
        world.add_joint(f"j{k}", "ball", body, anchor=(0, 0, 0.1), cfm=1e-14)
    world.step(30)
    forces = np.array([c.force for c in world.constraints])
    assert np.isfinite(forces).all()
    assert np.linalg.norm(world.constraint("j0").point - (0, 0, 0.1)) < 1e-2


def test_a_hard_joint_is_hard():
    """With cfm = 0 and erp = 1 velocities obey the rows to rounding."""
    world = kt.soft.World(dt=1e-3, cfm=0.0, erp=1.0)
    before = None
    for k in range(5):
        body = world.add_body(f"b{k}", shapes=[kt.Box(size=(0.1, 0.1, 0.3))], pose=(0.3 * k, 0, 0))
        world.add_joint(f"j{k}", "hinge", body, before, anchor=(0.3 * k, 0, 0), axis="y")
        before = body
    world.step(500)
    for joint in world.constraints:
        np.testing.assert_allclose(joint.speed, -joint.violation / 1e-3, atol=1e-9)
    assert max(kt.soft.joint_gaps(world).values()) < 1e-4


@pytest.mark.parametrize("mu", [0.3, 0.7])
def test_friction_holds_up_to_its_angle(mu):
    """A box on a slope stays below the friction angle, and slides with g (sin - mu cos) above it."""
    for angle in (0.9 * np.arctan(mu), 1.3 * np.arctan(mu)):
        world = kt.soft.World(dt=1e-3, gravity=9.81 * np.array([np.sin(angle), 0, -np.cos(angle)]))
        box = world.add_body("box", shapes=[kt.Box(size=(0.4, 0.3, 0.05))], pose=(0, 0, 0.025))
        world.add_ground(friction=mu, cfm=1e-7, erp=0.2)
        world.step(100)
        start = box.velocity[3]
        world.step(500)
        found = (box.velocity[3] - start) / 0.5
        expected = max(9.81 * (np.sin(angle) - mu * np.cos(angle)), 0.0)
        # the two edges share the load unequally, which costs friction nothing
        assert found == pytest.approx(expected, abs=2e-3), (angle, found, expected)
        assert world.stats["friction_gap"] < 1e-6


def test_shapes_touch_and_rest():
    """Spheres, capsules and boxes fall and rest at their own height; a pair of spheres rests on each other."""
    world = kt.soft.World(dt=1 / 120)
    heights = {"ball": 0.1, "rod": 0.05, "box": 0.1}
    world.add_body("ball", shapes=[kt.Sphere(radius=0.1)], pose=(0, 0, 0.3))
    world.add_body("rod", shapes=[kt.Capsule.between((-0.2, 0, 0), (0.2, 0, 0), 0.05)], pose=(1, 0, 0.3))
    world.add_body("box", shapes=[kt.Box(size=(0.2, 0.2, 0.2))], pose=(2, 0, 0.3))
    world.add_body("top", shapes=[kt.Sphere(radius=0.1)], pose=(0, 0, 0.6))
    world.add_ground(cfm=1e-6)
    world.add_collision("top", "ball", cfm=1e-6)
    world.add_collision("ball", "rod")
    world.step(360)
    for name, height in heights.items():
        assert world.body(name).center[2] == pytest.approx(height, abs=2e-3)
    assert world.body("top").center[2] == pytest.approx(0.3, abs=4e-3)


def test_capsules_touch_along_their_length():
    """Two crossed capsules are held apart where they are nearest."""
    world = kt.soft.World(dt=1 / 240, gravity=(0, 0, -9.81))
    world.add_body("bar", kinematic=True, shapes=[kt.Capsule.between((-0.5, 0, 0), (0.5, 0, 0), 0.05)])
    rod = world.add_body("rod", shapes=[kt.Capsule.between((0, -0.3, 0), (0, 0.3, 0), 0.05)], pose=(0.2, 0, 0.2))
    (touch,) = world.add_collision("rod", "bar", cfm=1e-6)
    world.step(240)
    assert rod.center[2] == pytest.approx(0.1, abs=2e-3)
    assert touch.force[0] == pytest.approx(rod.mass * 9.81, rel=1e-3)


def test_a_ball_does_not_fall_through_in_one_step():
    """A contact looks ahead: within its margin the step ends at the plane, not beyond it."""
    world = kt.soft.World(dt=H, gravity=(0, 0, 0))
    ball = world.add_body("ball", shapes=[kt.Sphere(radius=0.1)], pose=(0, 0, 0.14), velocity=(0, 0, 0, 0, 0, -10))
    world.add_ground(cfm=1e-9, margin=0.05)
    world.step()
    assert ball.center[2] == pytest.approx(0.1, abs=1e-6)


def upright(*, helpers, limit, seconds=2.0):
    """Return mean residual torque and the largest tilt of a standing human that is pushed to and fro."""
    world = scenes.standing_human(helpers=helpers, limit=limit)
    residual, torso, pelvis = (world.constraint("residual"), world.body("upper torso"), world.body("pelvis"))
    torques, tilts = [], []
    for k in range(round(seconds / world.dt)):
        t = k * world.dt
        torso.apply(force=(8 * np.sin(np.pi * t), 15 * np.sin(1.4 * np.pi * t), 0))
        world.step()
        torques.append(np.abs(residual.force[:2]).sum())
        tilts.append(np.degrees(np.arccos(min(pelvis.rotation[2, 2], 1.0))))
    return float(np.mean(torques)), max(tilts)


@pytest.mark.slow_python
@pytest.mark.no_bounds
def test_secondary_targets_take_the_load_off_the_residual():
    """A standing human: with ankles that help inside their tolerance, the residual falls by more than nine tenths."""
    alone, tilt = upright(helpers=False, limit=1000.0)
    fallen = upright(helpers=False, limit=1.0)[1]
    helped, kept = upright(helpers=True, limit=1.0)
    assert fallen > 20, "without help a residual of 1 N m lets it fall"
    assert kept < tilt < 3, (kept, tilt)
    assert helped < 0.1 * alone, (helped, alone)


def test_a_helper_lends_what_is_missing_and_no_more():
    """Two wheels on an axle against a limited brake: the helper inside its tolerance closes the gap to the digit."""
    world = kt.soft.World(dt=H, gravity=(0, 0, 0))
    body = world.add_body("b", mass=1.0, inertia=(2, 2, 2), velocity=(0, 0, 3, 0, 0, 0))
    axle = world.add_joint("axle", "hinge", body, axis="z", cfm=1e-9)
    brake = world.add_motor("brake", axle, erp=0.0, cfm=1e-9, limit=5.0)
    zone = kt.soft.Target(deadzone=(-2, 2), secondary=brake, help_limit=1000.0)
    helper = world.add_motor("helper", axle, stiffness=100.0, damping=1.0, target=zone)
    world.step()
    assert brake.force[0] == -5.0
    # the brake is soft: what is left is cfm times its force
    assert abs(body.velocity[2] - 5.0 * 1e-9) < 1e-12
    assert helper.force[0] == pytest.approx(-3 * 2 / H + 5.0, rel=1e-6)
    assert world.stats["helped"] == pytest.approx(abs(helper.force[0]), rel=1e-12)
    world.step()
    assert abs(helper.force[0]) < 1e-6, "no help without need"


def test_a_helper_outside_its_tolerance_does_not_help():
    """Its primary target comes first."""
    world = kt.soft.World(dt=H, gravity=(0, 0, 0))
    body = world.add_body("b", mass=1.0, inertia=(2, 2, 2), velocity=(0, 0, 3, 0, 0, 0))
    axle = world.add_joint("axle", "hinge", body, axis="z", cfm=1e-9)
    brake = world.add_motor("brake", axle, erp=0.0, cfm=1e-9, limit=5.0)
    zone = kt.soft.Target(deadzone=(0.5, 2), secondary=brake)
    helper = world.add_motor("helper", axle, stiffness=100.0, target=zone)
    world.step()
    assert world.stats["helped"] == 0
    assert helper.force[0] > 0, "it drives into its range"


def test_help_has_a_limit():
    """No more than the helper's own limit of help."""
    world = kt.soft.World(dt=H, gravity=(0, 0, 0))
    body = world.add_body("b", mass=1.0, inertia=(2, 2, 2), velocity=(0, 0, 3, 0, 0, 0))
    axle = world.add_joint("axle", "hinge", body, axis="z", cfm=1e-9)
    brake = world.add_motor("brake", axle, erp=0.0, cfm=1e-9, limit=5.0)
    for k, most in enumerate((7.0, 1000.0)):
        zone = kt.soft.Target(deadzone=(-2, 2), secondary=brake, help_limit=most)
        world.add_motor(f"helper {k}", axle, stiffness=100.0, target=zone)
    world.step()
    assert world.constraint("helper 0").force[0] == pytest.approx(-7.0)
    assert abs(body.velocity[2]) < 1e-8, "the other gives the rest"
