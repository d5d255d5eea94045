"""Limits, friction, motors, motions to follow, and closed loops."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree.errors import ArgumentError, ConvergenceError, ModelError

C = kt.constraints


def arm(joint, **options):
    """Return a rod on a joint at the origin."""
    return (
        kt.ModelBuilder()
        .body("rod", joint=joint, shapes=[kt.Capsule.between((0, 0, 0), (0.5, 0, 0), 0.03)], **options)
        .build()
    )


def test_a_limit_holds_and_does_not_pull():
    """A swinging arm stops at its limit, rests there, and is let go when it turns back."""
    model = arm(kt.Revolute("y"), limits=(-1.0, 0.5))
    sim = kt.Simulation(model, dt=1 / 120, constraints=[C.JointLimits()])
    sim.run(1.0)
    assert sim.q[0] == pytest.approx(0.5, abs=1e-9)
    assert abs(sim.v[0]) < 1e-9
    assert sim.at_limits == ("rod",)
    sim.v = [-3.0]
    sim.step()
    assert sim.q[0] < 0.5 - 0.02
    assert sim.at_limits == ()


def test_a_limit_gives_back_what_its_restitution_says():
    """Without gravity, the rate after the stop is -e times the one before."""
    model = arm(kt.Revolute("z"), limits=(-1.0, 1.0))
    sim = kt.Simulation(model, v=[2.0], dt=1 / 60, gravity=(0, 0, 0), constraints=[C.JointLimits(restitution=0.5)])
    sim.run(0.9)
    assert sim.v[0] == pytest.approx(-1.0, rel=1e-6)
    assert sim.q[0] <= 1.0


@pytest.mark.parametrize("joint", [kt.Universal("x", "y"), kt.Planar(), kt.Prismatic("z")])
def test_limits_of_other_joints(joint):
    """Each coordinate is bounded."""
    low, high = -0.3 * np.ones(joint.nv), 0.2 * np.ones(joint.nv)
    model = arm(joint, limits=(low, high))
    rng = np.random.default_rng(0)
    sim = kt.Simulation(model, v=rng.normal(size=joint.nv), dt=1 / 120, constraints=[C.JointLimits()])
    q = sim.run(1.0, record_every=1).q
    assert (q > -0.3 - 1e-4).all()
    assert (q < 0.2 + 1e-4).all()
    assert (q.max(axis=0) > 0.19).any() or (q.min(axis=0) < -0.29).any()


def test_limits_and_cones_of_a_ball():
    """The rotation vector stays in its box, the swing in its cone."""
    model = arm(kt.Spherical())
    for constraint in (C.JointLimits(limits=(-0.4, 0.3)), C.JointLimits((), cones={"rod": ((1, 0, 0), 0.35)})):
        sim = kt.Simulation(model, v=[2.0, 1.0, 0.5], dt=1 / 240, constraints=[constraint])
        sim.run(0.8)
        turn = Rotation.from_quat(np.roll(sim.q, -1))
        if constraint.cones:
            swing = np.arccos(turn.apply((1, 0, 0))[0])
            assert swing < 0.35 + 2e-3
            assert swing > 0.3  # gravity holds it there
        else:
            assert (turn.as_rotvec() < 0.3 + 2e-3).all()
            assert (turn.as_rotvec() > -0.4 - 2e-3).all()
    with pytest.raises(ArgumentError, match="spherical"):
        kt.Simulation(kt.models.pendulum(1), constraints=[C.JointLimits(cones={"link0": ((0, 0, 1), 1.0)})])


def test_joint_friction_sticks_and_slides():
    """Below the breakaway torque nothing moves; above it the rate is (tau - friction) t / I."""
    model = arm(kt.Revolute("z"))
    inertia = kt.mass_matrix(model, [0.0])[0, 0]
    for torque, moves in ((0.9, False), (1.5, True)):
        sim = kt.Simulation(
            model,
            dt=1e-3,
            gravity=(0, 0, 0),
            constraints=[C.JointFriction(torque=1.0)],
            forces=[kt.forces.JointTorque(torque=torque)],
        )
        sim.step(100)
        assert sim.v[0] == pytest.approx(0.05 / inertia if moves else 0.0, abs=1e-9)


def test_motors_reach_their_speed_within_their_effort():
    """A motor gives its largest torque until the speed is reached, and then what is needed."""
    model = arm(kt.Revolute("z"))
    inertia = kt.mass_matrix(model, [0.0])[0, 0]
    sim = kt.Simulation(model, dt=1e-3, constraints=[C.Motor(speed=2.0, effort=0.5)])
    sim.step(20)
    assert sim.v[0] == pytest.approx(min(2.0, 0.5 * 0.02 / inertia), rel=1e-9)
    sim.run(1.0)
    assert sim.v[0] == pytest.approx(2.0, abs=1e-9)


@pytest.mark.parametrize("settle", [0.05, 0.4])
@pytest.mark.parametrize("dt", [1 / 60, 1e-3])
def test_motion_control_keeps_its_promise(settle, dt):
    """A tenth of the error is left after the settling time, at any step, and there is no overshoot."""
    model = kt.models.chain(3)
    target = C.MotionTarget(None, ([0.0], np.full((1, 3), 0.5)), settle=settle)
    sim = kt.Simulation(model, dt=dt, constraints=[target])
    motion = sim.run(3 * settle, record_every=1)
    error = (0.5 - motion.q) / 0.5
    i = round(settle / dt)
    # what a step that starts at rest gives away is less than a step
    slack = 2.5 * dt / settle * 0.25 + 2e-3
    assert (error[i] < 0.1 + slack).all(), (error[i], slack)
    assert (error[i] > 0.1 - slack - 0.05).all()
    assert error.min() > -1e-9


def test_motion_control_follows_a_trajectory_with_limited_torque():
    """A recorded swing is followed exactly with strong motors, and not with weak ones; targets stop at limits."""
    model = arm(kt.Revolute("y"), limits=(-1.0, 0.4))
    times = np.linspace(0, 2, 201)
    target = (times, 0.6 * np.sin(3 * times))
    errors = []
    for effort in (None, 100.0, 0.01):
        sim = kt.Simulation(
            model,
            [0.0],
            [1.8],
            dt=1 / 240,
            constraints=[C.MotionTarget("rod", target, settle=0.05, effort=effort), C.JointLimits()],
        )
        motion = sim.run(1.0, record_every=1)
        wanted = np.minimum(0.6 * np.sin(3 * motion.times), 0.4)
        errors.append(float(np.abs(motion.q[:, 0] - wanted).max()))
        assert motion.q.max() < 0.4 + 1e-6
    assert errors[0] < 0.02
    assert errors[1] < 0.02
    assert errors[2] > 0.2
    with pytest.raises(ArgumentError, match="finite"):
        kt.Simulation(model, constraints=[C.MotionTarget("rod", (times, np.full(201, np.nan)))])
    with pytest.raises(ArgumentError, match="settle"):
        C.MotionTarget("rod", target, settle=0)
    with pytest.raises(ArgumentError, match="weight"):
        C.MotionTarget("rod", target, weight=2.0)


def test_blending_between_kinematic_and_simulated():
    """Weight 1 follows, 0 falls, a function of the time hands over; balls follow on their manifold."""
    model = arm(kt.Spherical())
    goal = np.roll(Rotation.from_rotvec((0.2, -0.4, 0.3)).as_quat(), 1)
    ends = []
    for weight in (1.0, 0.0, lambda time: 1.0 if time < 0.3 else 0.0):
        sim = kt.Simulation(
            model, dt=1 / 240, constraints=[C.MotionTarget(None, ([0.0], goal[None]), settle=0.1, weight=weight)]
        )
        sim.run(0.3)
        ends.append(sim.q.copy())
        sim.run(0.3)
        ends.append(sim.q.copy())
    free = kt.Simulation(model, dt=1 / 240)
    free.run(0.3)
    assert np.abs(ends[0] - goal).max() < 2e-3
    assert np.allclose(ends[2], free.q, atol=1e-9)
    assert np.allclose(ends[4], ends[0])
    assert np.abs(ends[5] - goal).max() > 0.05


def four_bar():
    """Return a four-bar linkage: crank 0.2, coupler 0.5, rocker 0.4, ground 0.5 m."""
    heavy = {"mass": 1.0, "inertia": (0.01, 0.01, 0.01)}
    return (
        kt.ModelBuilder()
        .body("crank", joint=kt.Revolute("y"), com=(0.1, 0, 0), **heavy)
        .body(
            "coupler", parent="crank", joint=kt.Revolute("y"), placement=(None, (0.2, 0, 0)), com=(0.25, 0, 0), **heavy
        )
        .body("rocker", joint=kt.Revolute("y"), placement=(None, (0.5, 0, 0)), com=(0.2, 0, 0), **heavy)
        .build()
    )


def rocker_angle(crank):
    """Return the rocker's angle by the law of cosines, the branch with the coupler above."""
    x, z = 0.2 * np.cos(crank) - 0.5, 0.2 * np.sin(crank)
    d = np.hypot(x, z)
    at_pivot = np.arctan2(z, x)
    return at_pivot - np.arccos((0.4**2 + d**2 - 0.5**2) / (2 * 0.4 * d))


def test_four_bar_kinematics():
    """Driven at a constant rate, the rocker is where trigonometry says, and the loop does not drift."""
    model = four_bar()
    loop = C.Loop("coupler", "rocker", (0.5, 0, 0), (0.4, 0, 0))
    sim = kt.Simulation(
        model, [1.5, 0.9, 1.2], dt=1 / 120, constraints=[loop, C.Motor("crank", speed=2.0, effort=np.inf)]
    )
    motion = sim.run(4.0, record_every=1)
    crank, rocker = -motion.q[1:, 0], -motion.q[1:, 2]  # angles about y turn x towards -z
    expected = rocker_angle(crank)
    miss = np.angle(np.exp(1j * (rocker - expected)))
    other = np.angle(
        np.exp(1j * (rocker - (2 * np.arctan2(0.2 * np.sin(crank), 0.2 * np.cos(crank) - 0.5) - expected)))
    )
    assert min(np.abs(miss).max(), np.abs(other).max()) < 1e-8
    assert sim.stats["largest_drift"] < 1e-9
    assert np.diff(motion.q[1:, 0]) * 120 == pytest.approx(2.0, abs=1e-6)


def test_open_loops_are_closed_at_the_start_or_refused():
    """Far from closed, positions are found first; where there are none, the error says by how much."""
    model = four_bar()
    sim = kt.Simulation(model, [1.5, 0.5, 0.8], constraints=[C.Loop("coupler", "rocker", (0.5, 0, 0), (0.4, 0, 0))])
    sim.step()
    assert sim.stats["largest_drift"] < 1e-9
    with pytest.raises(ConvergenceError, match="cannot be closed"):
        kt.Simulation(model, constraints=[C.Loop("coupler", "rocker", (5.0, 0, 0), (0.4, 0, 0))]).step()


def test_loops_of_every_kind_hold():
    """Two free bodies, tied by a rod, a hinge, a weld, an orientation or a slider, tumble without drift."""
    model = (
        kt.ModelBuilder()
        .body("a", joint=kt.Free(), shapes=[kt.Box(size=(0.3, 0.2, 0.1))])
        .body("b", joint=kt.Free(), shapes=[kt.Box(size=(0.1, 0.3, 0.2))])
        .build()
    )
    q = model.neutral()
    q[11:14] = 0.5, 0.1, 0.0
    v = np.random.default_rng(1).normal(size=12)
    freedom = {"point": 9, "hinge": 7, "weld": 6, "orientation": 9, "slider": 7, "rod": 11}
    for kind, left in freedom.items():
        loop = C.Loop("a", "b", (0.2, 0, 0), kind=kind, axis=(0, 1, 1), point_b=(-0.2, 0, 0) if kind == "rod" else None)
        sim = kt.Simulation(model, q, v, dt=1 / 120, gravity=(0, 0, 0), constraints=[loop])
        before = kt.momentum(model, q, v)
        sim.run(0.5)
        assert sim.stats["largest_drift"] < 1e-8, (kind, sim.stats["largest_drift"])
        after = kt.momentum(model, sim.q, sim.v)
        assert np.abs(after[3:] - before[3:]).max() < 1e-10, kind
        rows = sim._stepper.rows
        assert int(rows.sizes[1]) == 12 - left, kind


def test_redundant_loops_and_attachments():
    """The same loop twice, and a point held where it is: the rows that follow from others are left out."""
    model = four_bar()
    loop = C.Loop("coupler", "rocker", (0.5, 0, 0), (0.4, 0, 0))
    constraints = [loop, loop, C.PointAttachment("crank", (0.2, 0, 0))]
    sim = kt.Simulation(model, [1.5, 0.9, 1.2], dt=1 / 120, constraints=constraints)
    sim.step()
    before = sim.q.copy()
    sim.run(1.0)
    assert np.abs(sim.q - before).max() < 1e-8
    for item, words in (
        (C.Loop("crank", "crank"), "itself"), (C.Loop("crank", "nobody"), "no body"),
        (C.Loop("crank", "rocker", axis=(0, 0, 0)), "zero"),
    ):  # fmt: skip
        with pytest.raises((ArgumentError, ModelError), match=words):
            kt.Simulation(model, constraints=[item])
    with pytest.raises(ArgumentError, match="kind"):
        C.Loop("crank", "rocker", kind="glue")


def test_accelerations_in_a_simulation():
    """A joint and a point accelerate as they are told."""
    model = kt.models.chain(3)
    sim = kt.Simulation(model, dt=1e-3, constraints=[C.JointAcceleration(model.joint_names[0], 2.0)])
    sim.step(100)
    assert sim.v[0] == pytest.approx(0.2, abs=1e-9)
    ball = kt.ModelBuilder().body("ball", joint=kt.Free(), shapes=[kt.Sphere(radius=0.1)]).build()
    sim = kt.Simulation(ball, dt=1e-3, constraints=[C.PointAcceleration("ball", direction=(0, 0, 1), value=1.0)])
    sim.step(100)
    assert sim.v[5] == pytest.approx(0.1, abs=1e-9)
