"""The rows of every constraint: Jacobians are the derivatives of violations, and violations are what they should be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.kernels import soft_layout as at
from kinetree.soft.bodies import quaternion_of
from oracle import soft as oracle

KINDS = ("ball", "hinge", "universal", "fixed", "slider", "distance", "planar", "screw")
MOTORS = ("hinge", "universal", "slider", "ball", "euler")


def two_bodies(seed=0, *, gravity=(0, 0, 0), dt=1 / 60):
    """Two boxes somewhere, moving."""
    rng = np.random.default_rng(seed)
    world = kt.soft.World(dt=dt, gravity=gravity)
    bodies = []
    for name in "ab":
        turn = Rotation.random(random_state=rng.integers(1 << 30)).as_matrix()
        bodies.append(
            world.add_body(
                name, shapes=[kt.Box(size=(0.2, 0.3, 0.5))], com=0.1 * rng.normal(size=3),
                pose=(turn, rng.normal(size=3)),
                velocity=rng.normal(size=6), gyroscopic="off",
            )
        )  # fmt: skip
    return world, bodies[0], bodies[1], rng


def constraint_of(world, a, b, kind, rng):
    """Add a constraint; `euler` is a motor of a ball joint."""
    options = {"anchor": 0.5 * (a.center + b.center), "axis": rng.normal(size=3), "axis2": rng.normal(size=3)}
    if kind == "screw":
        options["pitch"] = 0.2
    if kind == "distance":
        del options["anchor"]
        options["points"] = (0.1 * rng.normal(size=3), 0.1 * rng.normal(size=3))
    return world.add_joint("joint", "ball" if kind == "euler" else kind, a, b, **options)


def violations(world, constraint):
    """Return phi of all rows as the bodies stand, without moving them."""
    world.solver = "pgs"
    state, frames = world.state(), world.tables["frames"].copy()
    world.step()
    phi, jac = constraint.violation, world.tables["rows"][constraint.rows, :12].copy()
    world.set_state(state)
    world.tables["frames"][:] = frames
    return phi, jac


def nudged(body, turn, shift):
    """Turn a body about its centre of mass and shift it."""
    state = body.world.tables["state"][body.index]
    state[:3] += shift
    state[3:7] = quaternion_of(Rotation.from_rotvec(turn).as_matrix() @ body.rotation)


def differences(world, constraint, bodies, wrap=False):
    """Return the central differences of phi by rotations and shifts of both bodies, (rows, 12)."""
    out = np.zeros((constraint.count, 12))
    for i, body in enumerate(bodies):
        for k in range(6):
            ends = []
            for sign in (1, -1):
                state = world.state()
                step = np.zeros(6)
                step[k] = sign * 1e-6
                nudged(body, step[:3], step[3:])
                ends.append(violations(world, constraint)[0])
                world.set_state(state)
            gap = ends[0] - ends[1]
            out[:, 6 * i + k] = (gap + np.pi) % (2 * np.pi) - np.pi if wrap else gap
    return out / 2e-6


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_jacobians_of_joints_are_derivatives(kind, seed):
    """J = d phi / dx where the joint holds, after the joint has moved by its own freedom."""
    world, a, b, rng = two_bodies(seed)
    joint = constraint_of(world, a, b, kind, rng)
    if kind != "distance":
        # let it turn and slide by what it allows: a few steps with hard rows
        joint.soften(erp=0.5, cfm=1e-10)
        world.step(20)
        for body in (a, b):
            body.velocity = np.zeros(6)
        for _ in range(60):
            world.step()
            for body in (a, b):
                body.velocity = 0 * body.velocity
    phi, jac = violations(world, joint)
    if kind != "distance":
        assert np.abs(phi).max() < 1e-8, phi
    found = differences(world, joint, (a, b))
    # central differences of 1e-6: 1e-16 / 1e-6 and the third derivative times 1e-12
    np.testing.assert_allclose(jac, found, atol=2e-7)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", MOTORS)
def test_jacobians_of_motors_are_derivatives_of_their_angles(kind, seed):
    """J v is the rate of the angle wherever the joint stands (a ball's rotation vector only near its goal)."""
    world, a, b, rng = two_bodies(seed)
    joint = constraint_of(world, a, b, kind, rng)
    motor = world.add_motor("motor", joint, stiffness=1.0, angles="euler" if kind == "euler" else "vector")
    if kind in ("hinge", "universal", "slider"):
        joint.soften(erp=0.5, cfm=1e-10)
        world.step(20)
        for _ in range(60):
            for body in (a, b):
                body.velocity = np.zeros(6)
            world.step()
    elif kind == "euler":
        nudged(a, 0.4 * rng.normal(size=3), np.zeros(3))
    _, jac = violations(world, motor)
    np.testing.assert_allclose(jac, differences(world, motor, (a, b), wrap=kind != "slider"), atol=2e-7)


def test_angles_are_those_of_the_rotations():
    """A hinge's angle, a universal joint's two and a ball's Euler angles and rotation vector, from known rotations."""
    world = kt.soft.World(gravity=(0, 0, 0))
    parent = world.add_body(
        "parent", shapes=[kt.Sphere()], pose=(Rotation.random(random_state=1).as_matrix(), (0, 0, 0))
    )
    held = parent.rotation
    expected = {}
    for kind, axis, axis2 in (("hinge", "z", None), ("universal", "x", "y"), ("ball", "z", None)):
        child = world.add_body(kind, shapes=[kt.Sphere()], pose=(held, (0, 0, 0)))
        turn = Rotation.from_euler(
            "XYZ", {"hinge": (0, 0, 0.7), "universal": (0.5, -1.2, 0), "ball": (0.3, 0.9, -2.0)}[kind]
        )
        joint = world.add_joint(
            f"{kind} joint", kind, child, parent, anchor=(0, 0, 0),
            axis=held[:, "xyz".index(axis)], axis2=None if axis2 is None else held[:, "xyz".index(axis2)],
            **({"turns": (np.eye(3), np.eye(3))} if kind == "ball" else {}),
        )  # fmt: skip
        motor = world.add_motor(f"{kind} motor", joint, stiffness=1e-9, angles="euler")
        child.pose = (held @ turn.as_matrix(), (0, 0, 0))
        expected[motor] = {"hinge": [0.7], "universal": [0.5, -1.2], "ball": [0.3, 0.9, -2.0]}[kind]
        if kind == "ball":
            vector = world.add_motor("vector", joint, stiffness=1e-9)
            expected[vector] = turn.as_rotvec()
    world.step()
    for motor, angles in expected.items():
        np.testing.assert_allclose(motor.violation, angles, atol=1e-12, err_msg=motor.name)


def test_half_turns_have_a_rotation_vector():
    """The error of an orientation is found for any axis, up to and at half a turn."""
    for seed in range(20):
        axis = np.random.default_rng(seed).normal(size=3)
        axis /= np.linalg.norm(axis)
        for angle in (1e-12, 1e-6, 1.0, np.pi - 1e-9, np.pi):
            world = kt.soft.World(gravity=(0, 0, 0), solver="pgs")
            body = world.add_body("b", shapes=[kt.Sphere()])
            hold = world.add_residual("hold", body)
            body.pose = (Rotation.from_rotvec(angle * axis).as_matrix(), (0, 0, 0))
            world.step()
            found = hold.violation[:3]
            assert np.linalg.norm(found) == pytest.approx(angle, abs=1e-9)
            assert abs(found @ axis) == pytest.approx(angle, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a_step_is_the_oracles(seed):
    """A chain of three bodies with limits on some rows: velocities and forces of the NumPy twin."""
    rng = np.random.default_rng(seed)
    h, g = 1 / 60, np.array([0, 0, -9.81])
    world = kt.soft.World(dt=h, gravity=g)
    bodies, twins, rows, own = [], [], [], []
    for k in range(3):
        turn = Rotation.random(random_state=int(rng.integers(1 << 30)))
        body = world.add_body(
            f"b{k}", mass=float(rng.uniform(0.5, 3)), inertia=rng.uniform(0.02, 0.05, size=3),
            pose=(turn.as_matrix(), (0.4 * k, 0, 0)), velocity=rng.normal(size=6), gyroscopic="off",
        )  # fmt: skip
        bodies.append(body)
        twins.append(
            oracle.OracleBody(body.mass, body.inertia, turn, body.center, body.velocity[:3], body.velocity[3:])
        )
        point, other = 0.2 * rng.normal(size=3), 0.2 * rng.normal(size=3)
        limit = float(rng.uniform(0.5, 20)) if k else np.inf
        soft = {"erp": float(rng.uniform(0.1, 0.9)), "cfm": float(10 ** rng.uniform(-4, -2))}
        own.append(
            world.add_joint(
                f"j{k}",
                "ball",
                body,
                bodies[k - 1] if k else None,
                points=(point, other),
                limits=(-limit, limit),
                **soft,
            )
        )
        for axis in range(3):
            phi = oracle.anchors_apart(k, point, k - 1 if k else None, other, axis)
            rows.append(oracle.OracleRow(phi, soft["erp"], soft["cfm"], -limit, limit))
    velocities, forces = oracle.step(twins, rows, h, g)
    world.step()
    # the oracle's Jacobian is good to 1e-10
    np.testing.assert_allclose(world.state()[:, 7:13], velocities, atol=1e-7)
    np.testing.assert_allclose(np.concatenate([j.force for j in own]), forces, atol=1e-5)
    assert any((j.at_limit != 0).any() for j in own), "some row is at its limit"


def test_the_universal_joint_holds_any_angle_of_its_axes():
    """Two axes that are not at right angles keep their angle."""
    world = kt.soft.World(dt=1e-3, gravity=(0, 0, 0))
    body = world.add_body("b", shapes=[kt.Box(size=(0.1, 0.2, 0.3))], velocity=(1, 2, 3, 0, 0, 0))
    joint = world.add_joint("u", "universal", body, axis=(1, 0, 0), axis2=(0.5, 1, 0), erp=0.5, cfm=1e-9)
    world.step(500)
    frame = world.tables["frames"][joint.index]
    second = body.rotation @ frame[at.TURN_A : at.TURN_A + 9].reshape(3, 3)[:, 1]
    assert second[0] == pytest.approx(0.5 / np.hypot(0.5, 1), abs=1e-5)
    assert np.linalg.norm(body.velocity[:3]) > 0.5
