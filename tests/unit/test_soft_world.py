"""The soft world as a user meets it: names, readings, driven runs, frames of forces, and bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, ConvergenceError, DivergedError, ModelError, UnknownNameError
from kinetree.soft import Target

H = 1 / 60


@pytest.fixture
def arm():
    """Two links in the plane, a motor in the elbow."""
    world = kt.soft.World(dt=H)
    upper = world.add_body("upper", shapes=[kt.Capsule.between((0, 0, 0), (0.3, 0, 0), 0.03)], pose=(0, 0, 1))
    lower = world.add_body("lower", shapes=[kt.Capsule.between((0, 0, 0), (0.3, 0, 0), 0.03)], pose=(0.3, 0, 1))
    world.add_joint("shoulder", "ball", upper, anchor=(0, 0, 1), erp=0.2, cfm=1e-7)
    world.add_joint("elbow", "hinge", lower, upper, anchor=(0.3, 0, 1), axis="y", erp=0.2, cfm=1e-7)
    world.add_motor("biceps", "elbow", stiffness=50.0, damping=2.0, limit=30.0)
    return world


def test_things_have_names(arm):
    """Bodies and constraints are found by name, and said in one line."""
    assert [b.name for b in arm.bodies] == ["upper", "lower"]
    assert arm.constraint("elbow").kind == "hinge"
    assert arm.body(arm.body("upper")) is arm.body("upper")
    assert repr(arm) == "<World: 2 bodies, 3 constraints, 9 rows, dt = 0.0166667 s>"
    assert "elbow" in repr(arm.constraint("elbow"))
    assert "lower" in repr(arm.body("lower"))
    with pytest.raises(UnknownNameError, match="did you mean 'elbow'"):
        arm.constraint("elbo")
    with pytest.raises(UnknownNameError, match="body named 'hand'"):
        arm.body("hand")
    with pytest.raises(ArgumentError, match="of another world"):
        kt.soft.World().body(arm.body("upper"))


def test_forces_balance_in_every_frame(arm):
    """At rest the shoulder carries the arm; wrenches on child and parent are opposite; frames are turned axes."""
    arm.constraint("biceps").soften(erp=0.9, cfm=1e-6)
    arm.constraint("biceps").limits = (-100, 100)
    shoulder = arm.constraint("shoulder")
    arm.add_motor("hold", shoulder, erp=0.9, cfm=1e-6)
    for body in arm.bodies:
        body.velocity = np.zeros(6)
    arm.step(400)
    weight = sum(b.mass for b in arm.bodies) * 9.81
    np.testing.assert_allclose(shoulder.force, (0, 0, weight), atol=1e-4 * weight)
    elbow = arm.constraint("elbow")
    on_child, on_parent = elbow.wrench("child"), elbow.wrench("parent")
    np.testing.assert_allclose(on_child[3:], -on_parent[3:], atol=1e-12)
    np.testing.assert_allclose(on_child[3:], (0, 0, arm.body("lower").mass * 9.81), atol=1e-3 * weight)
    np.testing.assert_allclose(elbow.wrench(about="anchor")[:3], 0, atol=2e-3 * weight)
    turned = elbow.wrench(frame="child")
    np.testing.assert_allclose(arm.body("lower").rotation @ turned[3:], on_child[3:], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(elbow.wrench(frame="parent")), np.linalg.norm(on_child), rtol=1e-12)
    np.testing.assert_allclose(elbow.wrench("parent", about="anchor")[3:], on_parent[3:])
    hold = arm.constraint("hold").wrench()
    moment = sum(b.mass * 9.81 * b.center[0] for b in arm.bodies)
    np.testing.assert_allclose(hold[:3], (0, -moment, 0), atol=1e-3 * moment)
    for bad in ({"on": "x"}, {"frame": "x"}, {"about": "x"}):
        with pytest.raises(ArgumentError):
            elbow.wrench(**bad)
    with pytest.raises(ArgumentError, match="no parent"):
        shoulder.wrench(frame="parent")


def test_the_work_of_a_motor_is_torque_times_angle(arm):
    """Summed over the motion: what the motor put in, by row and by kind."""
    biceps = arm.constraint("biceps")
    biceps.goal = 0.5
    by_hand = 0.0
    for _ in range(60):
        before = arm.constraint("biceps").speed.copy()
        arm.step()
        by_hand += biceps.force[0] * H * 0.5 * (before[0] + biceps.speed[0])
    # J changes between the steps by what the elbow turns
    assert biceps.work[0] == pytest.approx(by_hand, rel=0.05)
    assert arm.ledger()["motor"] == pytest.approx(biceps.work.sum())
    assert set(arm.ledger()) == {"ball", "hinge", "motor", "gravity", "user", "gyroscopic"}


def test_motors_go_where_they_are_told(arm):
    """Position, velocity with erp = 0, and limits."""
    biceps = arm.constraint("biceps")
    arm.gravity = (0, 0, 0)
    biceps.soften(erp=0.5, cfm=1e-6)
    biceps.goal = 0.7
    arm.step(100)
    assert biceps.angles[0] == pytest.approx(0.7, abs=1e-3)
    np.testing.assert_allclose(arm.constraint("elbow").angles[0], biceps.angles[0], atol=1e-9)
    biceps.soften(erp=0.0, cfm=1e-6)
    biceps.goal_rate = 0.4
    arm.step(20)
    assert biceps.speed[0] == pytest.approx(0.4, abs=1e-3)
    biceps.limits = (0.0, 0.0)
    arm.step()
    assert biceps.force[0] == 0
    assert biceps.stiffness.shape == biceps.damping.shape == (1,)


def test_switching_constraints_and_rows():
    """A constraint or a single row off does nothing; on again it acts."""
    world = kt.soft.World(dt=H)
    body = world.add_body("b", shapes=[kt.Sphere()])
    residual = world.add_residual("hold", body, axes=(0, 0, 0, 1, 1, 0))
    assert residual.enabled_rows.tolist() == [False] * 3 + [True, True, False]
    world.step(10)
    assert body.position[2] < -0.05
    residual.enabled_rows = True
    world.step(200)
    assert abs(body.position[2]) < 0.01
    residual.enabled = False
    assert not residual.enabled
    z = body.position[2]
    world.step(30)
    assert body.position[2] < z - 1
    assert not residual.force.any()


def test_a_residual_follows_its_pose():
    """Moved with its velocity, the pose leaves no lag; turned, the body turns with it."""
    world = kt.soft.World(dt=H, gravity=(0, 0, 0), erp=0.5, cfm=1e-6)
    body = world.add_body("b", shapes=[kt.Box(size=(0.1, 0.2, 0.3))], com=(0.1, 0, 0))
    residual = world.add_residual("hold", body)
    world.drive_pose(residual, None, (0, 0, 0.5, 1, 0, 0))
    world.step(60)
    np.testing.assert_allclose(body.position, (1, 0, 0), atol=0.03)
    assert np.arctan2(body.rotation[1, 0], body.rotation[0, 0]) == pytest.approx(0.5, abs=0.01)
    world.drive_pose(residual, (None, (1, 1, 1)))
    world.step(100)
    np.testing.assert_allclose(body.position, (1, 1, 1), atol=1e-3)
    with pytest.raises(ArgumentError, match="only a residual"):
        world.drive_pose(world.add_marker("m", body), None)


def test_a_run_follows_markers_and_goals(arm):
    """One compiled loop: the same as stepping by hand; NaN lets a marker go."""
    twin = pickle.loads(pickle.dumps(arm))
    frames = 40
    for world in (arm, twin):
        world.add_marker("wrist", "lower", (0.3, 0, 0), cfm=1e-5)
    t = np.arange(frames) * H
    path = np.column_stack((0.6 - 0.1 * t, 0.2 * np.sin(3 * t), 1 + 0.1 * t))[:, None, :]
    path[20:25] = np.nan
    goals = np.linspace(0, 0.3, frames)
    record = arm.run(frames, markers=path, goals={"biceps": goals})
    wrist, biceps = twin.constraint("wrist"), twin.constraint("biceps")
    for k in range(frames):
        seen = np.isfinite(path[k, 0, 0])
        wrist.enabled = bool(seen)
        if seen:
            wrist.anchor = path[k, 0]
            after = path[min(k + 1, frames - 1), 0]
            if np.isfinite(after[0]):
                wrist.anchor_velocity = (after - path[k, 0]) / H
        biceps.goal = goals[k]
        twin.step()
        np.testing.assert_allclose(record.states[k], twin.state(), atol=1e-12)
        np.testing.assert_allclose(record.force("wrist")[k], wrist.force, atol=1e-9)
    assert not record.force("wrist")[20:25].any()
    assert record.times[-1] == pytest.approx(frames * H)
    np.testing.assert_allclose(record.positions("lower")[-1], arm.body("lower").center)
    assert arm.markers[0].name == "wrist"


def test_a_run_takes_wrenches_and_substeps(arm):
    """Forces of each frame; smaller steps within frames follow the same markers."""
    pushes = np.zeros((10, 2, 6))
    pushes[:, 1, 5] = 20.0
    record = arm.run(10, substeps=3, wrenches=pushes)
    assert record.times[-1] == pytest.approx(30 * H)
    assert arm.ledger()["user"] != 0
    assert record.forces.shape == (10, 9)


def test_markers_can_be_moved_on_their_bodies(arm):
    """The attachment and the place of a marker are read and written."""
    marker = arm.add_marker("m", "lower", (0.1, 0, 0), position=(1, 2, 3))
    np.testing.assert_allclose(marker.anchor, (1, 2, 3))
    marker.local_point = (0.2, 0, 0.05)
    np.testing.assert_allclose(marker.local_point, (0.2, 0, 0.05))
    np.testing.assert_allclose(marker.point, arm.body("lower").point_in_world((0.2, 0, 0.05)))
    elbow = arm.constraint("elbow")
    np.testing.assert_allclose(elbow.anchor, (0.3, 0, 1))
    elbow.anchor = (0.31, 0, 1)
    np.testing.assert_allclose(elbow.anchor, (0.31, 0, 1))
    assert marker.describe()["child"] == "lower"


def test_ranges_stop_joints():
    """A hinge, a slider, a universal joint and a ball stop at their ranges."""
    for kind, lo, hi in (("hinge", -0.2, 0.3), ("slider", -0.1, 0.1), ("universal", -0.2, 0.2), ("ball", -0.3, 0.3)):
        world = kt.soft.World(dt=1 / 240, gravity=(0, 0, 0), cfm=1e-8)
        body = world.add_body("b", shapes=[kt.Box(size=(0.2, 0.2, 0.2))], velocity=(1, 2, 3, 0, 0, 1))
        joint = world.add_joint("j", kind, body, axis="z" if kind != "universal" else "x", axis2="y")
        stop = world.add_range("stop", joint, lo, hi, cfm=1e-6)
        reached = 0.0
        for _ in range(240):
            world.step()
            angles = stop.angles
            assert (angles > lo - 0.01).all(), (kind, angles)
            assert (angles < hi + 0.01).all(), (kind, angles)
            reached = max(reached, np.abs(angles).max())
        assert reached > 0.9 * min(-lo, hi), kind


def test_targets_can_change():
    """A row's target takes other numbers of the same shape."""
    world = kt.soft.World(dt=H, gravity=(0, 0, 0))
    body = world.add_body("b", mass=1.0, inertia=(1, 1, 1), pose=(0.2, 0, 0))
    row = world.add_marker("m", body, position=(0, 0, 0), target=[Target(deadzone=(-0.5, 0.5)), None, None])
    world.step()
    assert row.force[0] == 0
    row.set_target(Target(deadzone=(-0.1, 0.1)))
    world.step()
    assert row.force[0] < 0
    with pytest.raises(ArgumentError, match="another shape"):
        row.set_target(Target(segments=[(0, 1), (1, 0)]))


def world_with_body(**options):
    world = kt.soft.World(**options)
    world.add_body("b", shapes=[kt.Sphere()])
    return world


@pytest.mark.parametrize(
    ("mistake", "error", "message"),
    [
        (lambda w: w.add_body("c", mass=0.0), ModelError, "'c' has a mass of 0.0: give a positive mass"),
        (lambda w: w.add_body("c", mass=-1.0, inertia=(1, 1, 1)), ModelError, "mass of -1.0"),
        (lambda w: w.add_body("c", mass=1.0, inertia=(1, 0, 1)), ModelError, "positive definite"),
        (lambda w: w.add_body("c", mass=np.nan, inertia=(1, 1, 1)), ModelError, "mass of nan"),
        (lambda w: w.add_body("b", mass=1.0, inertia=(1, 1, 1)), ModelError, "already"),
        (lambda w: w.add_body("c", shapes=[kt.Sphere()], gyroscopic="yes"), ArgumentError, "'conserving'"),
        (lambda w: w.add_body("c", shapes=[kt.Sphere()], pose=(np.nan, 0, 0)), ModelError, "pose"),
        (lambda w: w.add_joint("j", "rope", "b"), ArgumentError, "'distance'"),
        (lambda w: w.add_joint("j", "ball", "b", "b"), ArgumentError, "to itself"),
        (lambda w: w.add_joint("j", "universal", "b", axis="x"), ArgumentError, "axis2="),
        (lambda w: w.add_joint("j", "universal", "b", axis="x", axis2="x"), ArgumentError, "parallel"),
        (lambda w: w.add_joint("j", "ball", "b", limits=(2, 1)), ArgumentError, "lo = 2 above hi = 1"),
        (lambda w: w.add_joint("j", "ball", "b", limits=(1, 2)), ArgumentError, "without 0"),
        (lambda w: w.add_joint("j", "ball", "b", limits=(np.nan, 2)), ArgumentError, "must be a number"),
        (lambda w: w.add_joint("j", "ball", "b", limits=((1, 2), 2)), ArgumentError, "or 3 of them"),
        (lambda w: w.add_joint("j", "ball", "b", erp=1.5), ArgumentError, "erp of 1.5"),
        (lambda w: w.add_joint("j", "ball", "b", cfm=-1.0), ArgumentError, "cfm of -1.0"),
        (lambda w: w.add_joint("j", "ball", "b", stiffness=-1.0), ArgumentError, "negative stiffness"),
        (lambda w: w.add_joint("j", "ball", "b", stiffness=np.inf, damping=np.inf), ArgumentError, "infinite"),
        (lambda w: w.add_joint("j", "ball", "b", stiffness=1.0, cfm=1.0), ArgumentError, "one pair"),
        (lambda w: w.add_joint("j", "ball", "b", anchor=(0, 0, 0), points=2 * ((0, 0, 0),)), ArgumentError, "one of"),
        (lambda w: w.add_joint("j", "hinge", "b", turns=(np.ones((3, 3)), np.eye(3))), ArgumentError, "rotation"),
        (lambda w: w.add_joint("j", "distance", "b", length=-1.0), ArgumentError, "length"),
        (lambda w: w.add_joint("j", "ball", "b", target=[Target(deadzone=(0, 1))]), ArgumentError, "1 targets for 3"),
        (lambda w: w.add_joint("j", "ball", "b", target=3.0), ArgumentError, "give a kinetree.soft.Target"),
        (lambda w: w.add_motor("m", w.add_joint("j", "ball", "b"), limit=-1.0), ArgumentError, "must not be negative"),
        (lambda w: w.add_motor("m", w.add_joint("j", "fixed", "b")), ArgumentError, "only a hinge"),
        (lambda w: w.add_motor("m", w.add_joint("j", "ball", "b"), angles="x"), ArgumentError, "'vector' or 'euler'"),
        (lambda w: w.add_motor("m", w.add_joint("j", "ball", "b"), goal=(1, 1, 0, 0)), ArgumentError, "length 1"),
        (lambda w: w.add_range("r", w.add_joint("j", "hinge", "b"), 1.0, -1.0), ArgumentError, "swap them"),
        (lambda w: w.add_residual("r", "b", axes=(1, 0)), ArgumentError, "six yes or no"),
        (lambda w: w.add_ground(friction=-1.0), ArgumentError, "friction"),
        (lambda w: w.add_ground(friction=np.inf), ArgumentError, "friction"),
        (lambda w: w.add_ground(friction_force=-1.0), ArgumentError, "friction force"),
        (lambda w: w.add_ground(margin=-1.0), ArgumentError, "margin"),
        (lambda w: w.add_contact("c", "b", (0, 0, 0), radius=-1.0), ArgumentError, "radius"),
        (lambda w: w.add_collision("b", w.add_body("c", shapes=[kt.Box()])), ArgumentError, "no spheres or capsules"),
        (lambda w: w.add_marker("m", "b").goal, ArgumentError, "only motors have a goal"),
        (lambda w: setattr(w.add_marker("m", "b"), "anchor", (np.inf, 0, 0)), ArgumentError, "switch it off"),
        (lambda w: (w.add_marker("m", "b"), w.add_marker("m", "b")), ArgumentError, "already"),
        (lambda w: setattr(w, "solver", "lemke"), ArgumentError, "'structured'"),
        (lambda w: w.run(3, markers=np.zeros((3, 2, 3))), ArgumentError, r"\(3, 0, 3\)"),
        (lambda w: w.run(3, wrenches=np.zeros((3, 2, 6))), ArgumentError, "wrenches"),
        (lambda w: w.run(3, goals={w.add_motor("m", w.add_joint("j", "hinge", "b")): [1.0]}), ArgumentError, "of 'm'"),
        (lambda w: w.body("b").apply(force=(1, 0, 0), frame="x"), ArgumentError, "'world' or 'body'"),
        (lambda w: w.set_state(np.full((1, 13), np.nan)), ArgumentError, "finite"),
        (lambda w: kt.soft.World(dt=0.0), ArgumentError, "dt is 0.0"),
        (lambda w: kt.soft.World(erp=2.0), ArgumentError, "erp"),
        (lambda w: kt.soft.World(iterations=0), ArgumentError, "iterations"),
        (lambda w: Target(), ArgumentError, "either segments"),
        (lambda w: Target(segments=[(0, 1)]), ArgumentError, "at least two"),
        (lambda w: Target(segments=[(0, 1), (1, 2)]), ArgumentError, "not monotone between points 0 and 1"),
        (lambda w: Target(segments=[(1, 1), (0, 0)]), ArgumentError, "not monotone"),
        (lambda w: Target(segments=[(0, 1), (1, 0)], beyond=-1.0), ArgumentError, "beyond"),
        (lambda w: Target(segments=[(0, 1), (1, 0)], secondary="x"), ArgumentError, "needs a dead zone"),
        (lambda w: Target(deadzone=(1, 0)), ArgumentError, "lower end"),
        (lambda w: Target(deadzone=(0, 1), damping=-1.0), ArgumentError, "damping"),
        (lambda w: Target(deadzone=(0, 1), help_limit=-1.0), ArgumentError, "help_limit"),
        (lambda w: Target(segments=[(0, 0), (1, 0)]).pieces(), ArgumentError, "does nothing"),
        (lambda w: Target(deadzone=(0, 1)).force(0.0), ArgumentError, "softness of its row"),
    ],
)  # fmt: skip
def test_mistakes_are_named(mistake, error, message):
    """Each wrong argument is an error that says which, and what to do."""
    with pytest.raises(error, match=message):
        mistake(world_with_body())


def test_what_diverges_is_named_and_nothing_moves():
    """Velocities that are not finite: the body, the time, and the state before."""
    world = world_with_body(dt=H)
    world.step(5)
    before = world.state()
    world.body("b").apply(force=(1e300, 0, 0), point=(0, 1e3, 0))
    with pytest.raises(DivergedError, match=r"body 'b' is not finite.*The state is as it was"):
        world.step()
    assert np.array_equal(before, world.state())
    world.step()


def test_what_does_not_settle_is_named():
    """Given too few rounds and pivots, the rows in question are listed."""
    from kinetree.kernels import soft_layout as at
    from kinetree.soft.solver import raise_status

    world = world_with_body()
    world.add_marker("m", "b", limit=1.0)
    world.step()
    with pytest.raises(ConvergenceError, match=r"row 0 of constraint 'm', row 1 of constraint 'm'.*'dantzig'"):
        raise_status(world, at.UNSETTLED)


def test_the_quaternion_of_any_rotation():
    """From matrix to quaternion and back, with the largest component anywhere."""
    from kinetree.soft.bodies import quaternion_of, rotation_of

    rng = np.random.default_rng(0)
    for scale in (1, 3, 100):
        for k in range(4):
            q = rng.normal(size=4)
            q[k] *= scale
            q /= np.linalg.norm(q)
            np.testing.assert_allclose(rotation_of(quaternion_of(rotation_of(q))), rotation_of(q), atol=1e-14)
