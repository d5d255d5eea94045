"""What users pass to forces, simulations and dynamics: taken in every documented form, refused by name otherwise."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree import Simulation, forces
from kinetree.errors import ArgumentError, DivergedError, ModelError, SingularError, StateError, UnknownNameError

CHAIN = kt.models.chain(3)


def arm() -> kt.Model:
    """Return a ball joint that carries a hinge that carries a welded tip; and a body welded to the world."""
    return (
        kt.ModelBuilder()
        .body("ball", joint=kt.Spherical, mass=1, com=(0, 0, -0.1), inertia=(1, 1, 1))
        .body("hinge", parent="ball", joint=kt.Revolute("x"), mass=1, com=(0, 0.1, 0), inertia=(1, 1, 1))
        .body("tip", parent="hinge", joint=kt.Fixed, placement=(None, (0, 1, 0)), mass=1)
        .body("post", joint=kt.Fixed, placement=(None, (0, 0, 2)), mass=1)
        .build()
    )


def first_acceleration(model, acting, q=None, v=None):
    """Return the acceleration of the first explicit step without gravity."""
    sim = Simulation(model, q, v, dt=1e-6, gravity=(0, 0, 0), integrator="euler", forces=acting)
    before = sim.v.copy()
    sim.step()
    return (sim.v - before) / 1e-6


# --- forces


def test_joint_forces_take_one_value_one_a_joint_or_one_a_freedom():
    """A number for all, a number for each joint and a number for each freedom mean the same where they are equal."""
    model = arm()
    for torque, wanted in (
        (2.0, [2, 2, 2, 2]),
        ([3.0, 5.0], [3, 3, 3, 5]),
        ([1.0, 2.0, 3.0, 4.0], [1, 2, 3, 4]),
    ):
        a = first_acceleration(model, [forces.JointTorque(torque=torque)])
        assert kt.inverse_dynamics(model, model.neutral(), np.zeros(4), a, gravity=(0, 0, 0)) == pytest.approx(wanted)
    a = first_acceleration(model, [forces.JointTorque("hinge", 5.0)])
    assert kt.inverse_dynamics(model, model.neutral(), np.zeros(4), a, gravity=(0, 0, 0)) == pytest.approx([0, 0, 0, 5])


def test_joint_forces_of_several_add_up():
    """Two springs on a hinge pull like their sum; a PD controller's rate is a velocity that it holds."""
    model = kt.ModelBuilder().body("a", joint=kt.Revolute("x"), mass=1, inertia=(2, 1, 1)).build()
    springs = [forces.JointSpring("a", 3.0, rest=1.0), forces.JointSpring(["a"], 5.0, rest=[-1.0])]
    assert first_acceleration(model, springs, [0.5]) == pytest.approx([(3 * 0.5 - 5 * 1.5) / 2], rel=1e-5)
    pd = forces.JointPD("a", kp=0.0, kd=4.0, rate=2.0)
    assert first_acceleration(model, [pd], None, [0.5]) == pytest.approx([4 * 1.5 / 2], rel=1e-5)
    assert first_acceleration(model, [forces.JointDamping(damping=4.0)], None, [0.5]) == pytest.approx([-1], rel=1e-5)


TURNED = (0.6, 0.8, 0, 0)
WRONG = {
    "a number": (3.0, ArgumentError, "3.0 is not a force: use the classes of kinetree.forces"),
    "unknown joint": (forces.JointSpring("bal"), UnknownNameError, "did you mean 'ball'"),
    "unknown body": (forces.Spring("tup", (0, 0, 0), (0, 0, 0), 1.0), UnknownNameError, "did you mean 'tip'"),
    "body number": (forces.Spring(9, (0, 0, 0), (0, 0, 0), 1.0), ArgumentError, "body 9 is out of range"),
    "unknown other": (forces.Spring("tip", (0, 0, 0), (0, 0, 0), 1.0, other="x"), UnknownNameError, "no body named"),
    "negative k": (forces.Spring("tip", (0, 0, 0), (0, 0, 0), -1.0), ArgumentError, "k, d and length"),
    "NaN d": (forces.Spring("tip", (0, 0, 0), (0, 0, 0), 1.0, np.nan), ArgumentError, "k, d and length"),
    "negative length": (forces.Spring("tip", (0, 0, 0), (0, 0, 0), 1.0, 0.0, -1.0), ArgumentError, "k, d and length"),
    "short point": (forces.Spring("tip", (0, 0), (0, 0, 0), 1.0), ArgumentError, "point has shape"),
    "NaN anchor": (forces.Spring("tip", (0, 0, 0), (0, np.nan, 0), 1.0), ArgumentError, r"anchor\[1\] is nan"),
    "nothing moves": (forces.Spring("post", (0, 0, 0), (0, 0, 0), 1.0), ArgumentError, "two points that cannot move"),
    "negative stiffness": (forces.JointSpring(None, -1.0), ArgumentError, "JointSpring stiffness is negative"),
    "negative damping": (forces.JointDamping(None, -1.0), ArgumentError, "JointDamping damping is negative"),
    "negative kd": (forces.JointPD(None, kd=-1.0), ArgumentError, "JointPD damping is negative"),
    "NaN torque": (forces.JointTorque(None, np.nan), ArgumentError, "JointTorque torque.* is nan"),
    "infinite rate": (forces.JointPD(None, rate=np.inf), ArgumentError, "JointPD rate.* is inf"),
    "too many": (forces.JointTorque(None, np.ones(3)), ArgumentError, "JointTorque torque has shape"),
    "short target": (forces.JointPD("ball", target=[0, 0, 0]), ArgumentError, "JointPD target has shape"),
    "long quaternion": (forces.JointPD("ball", target=[2, 0, 0, 0]), ArgumentError, "not of length 1: normalise it"),
    "NaN gravity": (forces.Gravity((0, np.nan, 0)), ArgumentError, r"gravity\[1\] is nan"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_forces_are_refused_by_name(case):
    force, kind, says = WRONG[case]
    with pytest.raises(kind, match=says):
        Simulation(arm(), forces=[force])


def test_a_ball_joint_has_one_rest():
    """Two springs that pull a quaternion to different places are refused; to the same place they add up."""
    model = arm()
    one, same = forces.JointSpring("ball", 3.0, rest=TURNED), forces.JointSpring("ball", 5.0, rest=TURNED)
    both, sum_ = (
        first_acceleration(model, acting) for acting in ([one, same], [forces.JointSpring("ball", 8.0, TURNED)])
    )
    assert both == pytest.approx(sum_)
    assert np.abs(both).max() > 1
    with pytest.raises(ArgumentError, match="second spring with another rest: use one"):
        Simulation(model, forces=[one, forces.JointSpring("ball", 5.0)])


def test_springs_can_end_at_what_stands_still():
    """A spring between a moving body and a welded one is that to the world at the same point, either way round."""
    model = arm()
    spots = (0.1, 0.2, 0.3), (0.4, 0.5, 2.6)
    world = first_acceleration(model, [forces.Spring("tip", *spots, 7.0)])
    post = np.subtract(spots[1], (0, 0, 2))
    there = first_acceleration(model, [forces.Spring("tip", spots[0], post, 7.0, other="post")])
    back = first_acceleration(model, [forces.Spring("post", post, spots[0], 7.0, other="tip")])
    assert there == pytest.approx(world)
    assert back == pytest.approx(world)
    assert np.abs(world).max() > 0.1


def test_gravity_as_a_force_replaces_the_simulations_own():
    sim = Simulation(CHAIN, gravity=(1, 2, 3), forces=[forces.Gravity((0, 0, -2))])
    assert sim.gravity == (0, 0, -2)
    sim.q, sim.v = [0.1, 0.2, 0.3], [1, 2, 3]
    assert sim.energy() == kt.energy(CHAIN, sim.q, sim.v, gravity=(0, 0, -2))


CALLBACKS = {
    "joint forces": lambda sim: np.array([0.1, 0.2, 0.3]),
    "both": lambda sim: (np.array([0.1, 0.2, 0.3]), np.zeros((3, 6))),
    "only the first": lambda sim: ([0.1, 0.2, 0.3], None),
}


@pytest.mark.parametrize("case", CALLBACKS)
def test_callbacks_return_joint_forces(case):
    a = first_acceleration(CHAIN, [forces.Callback(CALLBACKS[case])])
    assert kt.inverse_dynamics(CHAIN, np.zeros(3), np.zeros(3), a, gravity=(0, 0, 0)) == pytest.approx([0.1, 0.2, 0.3])


def test_callbacks_return_wrenches_or_nothing():
    """Wrenches of two callbacks add up and are those of the dynamics; None is no force."""
    wrenches = np.random.default_rng(0).normal(size=(3, 6))
    wanted = kt.forward_dynamics(CHAIN, np.zeros(3), np.zeros(3), external=3 * wrenches, gravity=(0, 0, 0))
    acting = [forces.Callback(lambda sim: wrenches), forces.Callback(lambda sim: (None, 2 * wrenches))]
    assert first_acceleration(CHAIN, acting) == pytest.approx(wanted, rel=1e-6)
    assert not first_acceleration(CHAIN, [forces.Callback(lambda sim: None)]).any()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([1.0, 2.0], "the joint forces of a callback has shape"),
        ([0, np.nan, 0], r"joint forces\[1\] is nan"),
        (np.zeros((2, 6)), "the wrenches of a callback has shape"),
        ((None, np.full((3, 6), np.inf)), r"the wrenches of a callback\[\(0, 0\)\] is inf"),
        ("push", "joint forces of a callback cannot be read as numbers"),
    ],
)
def test_what_a_callback_returns_is_checked(answer, says):
    """A wrong answer is an error before anything moves."""
    sim = Simulation(CHAIN, forces=[forces.Callback(lambda sim: answer)])
    with pytest.raises(ArgumentError, match=says):
        sim.step()
    assert sim.time == 0
    assert not sim.q.any()


def test_a_callback_that_makes_the_motion_diverge_is_reported():
    """The step at which it happened is the time of the error; what was recorded before is kept."""
    pushing = forces.Callback(lambda sim: np.full(3, 1e300 if sim.time > 0.0049 else 0.0))
    sim = Simulation(CHAIN, forces=[pushing])
    with pytest.raises(DivergedError, match=r"the motion diverged in the step after 0\.005 s") as caught:
        sim.run(1.0, record_every=1)
    assert caught.value.time == pytest.approx(0.005)
    assert len(sim.recorded) == 6
    assert np.isfinite(sim.q).all()


# --- simulation


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"dt": 0.0}, "dt is 0.0: a time step must be positive"),
        ({"dt": np.nan}, "dt is nan"),
        ({"integrator": "leapfrog"}, "integrator is 'leapfrog': use one of 'semi_implicit', 'euler', 'rk4', 'rk45'"),
        ({"tolerance": 0.0}, "tolerance is 0.0: it must be between"),
        ({"gravity": (0, 0)}, "gravity has shape"),
        ({"q": [0, 0]}, r"q has shape \(2,\), but this model needs \(3,\)"),
        ({"v": "fast"}, "v cannot be read as numbers"),
        ({"dt": "short"}, "dt is 'short': give a number"),
        ({"tolerance": "tight", "integrator": "rk45"}, "tolerance is 'tight': give a number"),
        ({"seed": -1}, "seed is -1: it must be a whole number of at least 0"),
        ({"seed": "lucky"}, "seed is 'lucky'"),
        ({"method": "aba"}, r"method is 'aba': use kinetree.Full\(\)"),
        ({"method": kt.Full}, r"use kinetree.Full\(\)"),
        ({"forces": [kt.forces.JointPD(kp="stiff")]}, "JointPD stiffness cannot be read as numbers"),
        ({"forces": [kt.forces.JointPD(target="up")]}, "JointPD target cannot be read as numbers"),
        ({"forces": [kt.forces.Spring("link0", (0, 0, 0), (0, 0, 0), "soft")]}, "k of a Spring is 'soft'"),
    ],
)
def test_wrong_options_are_refused(options, says):
    with pytest.raises(ArgumentError, match=says):
        Simulation(CHAIN, **options)
    with pytest.raises(ArgumentError, match=r"Full\('fast'\): the algorithm must be 'aba' or 'dca'"):
        kt.Full("fast")


def test_a_simulation_takes_a_model():
    with pytest.raises(ArgumentError, match=r"the model is 'arm.urdf': give a Model, of kinetree.load"):
        Simulation("arm.urdf")


def test_wrong_states_name_the_joint():
    """The start and every assignment are checked, and what was there stays."""
    sim = Simulation(arm())
    for name, value, says in (
        ("q", [1, 0, 0, 0, np.nan], r"q\[4\] of joint 'hinge' is nan"),
        ("v", [0, np.inf, 0, 0], r"v\[1\] of joint 'ball' is inf"),
        ("q", [0, 0, 0, 0, 0], "length 0: no turn is 1, 0, 0, 0"),
        ("q", [0.5, 0, 0, 0, 0], "the quaternion of joint 'ball'.*has length 0.5: divide it by that"),
    ):
        with pytest.raises(StateError, match=says):
            setattr(sim, name, value)
        with pytest.raises(StateError, match=says):
            Simulation(arm(), **{name: value})
    assert np.array_equal(sim.q, arm().neutral())


def test_steps_and_times_are_checked():
    sim = Simulation(CHAIN)
    for n in (-1, 1.5, "ten", None, np.inf):
        with pytest.raises(
            ArgumentError, match=rf"the number of steps is {n!r}: it must be a whole number of at least 0"
        ):
            sim.step(n)
    for seconds in (-1.0, np.nan, np.inf):
        with pytest.raises(ArgumentError, match="the time to simulate must be finite and not negative"):
            sim.run(seconds)
    with pytest.raises(ArgumentError, match="the time to simulate is 'long': give a number"):
        sim.run("long")
    for every in (0, 2.5, "often"):
        with pytest.raises(ArgumentError, match=f"record_every is {every!r}: it must be a whole number of at least 1"):
            sim.run(0.1, record_every=every)
    sim.step(0)
    assert len(sim.run(0.0)) == 1
    assert sim.time == 0


def test_what_apply_takes():
    sim = Simulation(arm())
    for options, says in (
        ({"frame": "sky"}, "frame is 'sky': use 'world' or 'body'"),
        ({"until": np.nan}, "until is NaN"),
        ({"until": "noon"}, "until is 'noon': give a number"),
        ({"force": (1, 2)}, "force has shape"),
        ({"torque": (np.inf, 0, 0)}, r"torque\[0\] is inf"),
        ({"point": (0, np.nan, 0)}, r"point\[1\] is nan"),
    ):
        with pytest.raises(ArgumentError, match=says):
            sim.apply("tip", **options)
    with pytest.raises(UnknownNameError, match="did you mean 'tip'"):
        sim.apply("tipp")
    sim.apply("post", force=(0, 0, 1e6))  # a body that stands still takes any force
    free = Simulation(arm())
    for one in (sim, free):
        one.step(3)
    assert np.array_equal(sim.v, free.v)


def test_a_removed_force_is_gone_and_removing_twice_does_no_harm():
    pushed, free = Simulation(CHAIN), Simulation(CHAIN)
    handle = pushed.apply("link1", force=(5, 0, 0))
    handle.remove()
    handle.remove()
    for one in (pushed, free):
        one.step(2)
    assert np.array_equal(pushed.v, free.v)


def test_progress_is_a_function_or_a_line(capsys):
    """A function hears growing fractions up to 1; True writes one line to the error stream; False is silent."""
    heard = []
    Simulation(CHAIN).run(0.1, progress=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 1
    assert heard[0] > 0
    assert capsys.readouterr() == ("", "")
    Simulation(CHAIN).run(0.02, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("\rsimulating 100%\n")


def test_a_simulation_says_what_it_is_and_did():
    acting = (forces.JointDamping(),)
    sim = Simulation(CHAIN, [0.1, 0, 0], integrator="rk45", forces=acting)
    assert sim.forces == acting
    assert sim.active == CHAIN.joint_names
    assert sim.stats["seconds_per_step"] == 0
    sim.step(4)
    assert sim.stats["steps"] == 4
    assert sim.stats["computed_joints"] == 12
    assert sim.stats["inner_steps"] >= 4
    assert sim.stats["rejected_steps"] >= 0
    assert repr(sim) == f"<Simulation at 0.004 s: {CHAIN!r}, Full(algorithm='aba'), rk45, dt=0.001>"
    assert "inner_steps" not in Simulation(CHAIN).stats


# --- dynamics


def gimbal() -> kt.Model:
    """Return three hinges about x, y and z in a row, the first two without mass: locked where the second is at 90°."""
    return (
        kt.ModelBuilder()
        .body("outer", joint=kt.Revolute("x"))
        .body("inner", parent="outer", joint=kt.Revolute("y"))
        .body("top", parent="inner", joint=kt.Revolute("z"), mass=1, inertia=(1, 1, 1))
        .build()
    )


@pytest.mark.parametrize("method", ["aba", "dca", "crba"])
def test_a_locked_gimbal_is_singular(method):
    """Where two axes coincide, every method says that something cannot be moved; elsewhere they agree."""
    model, tau = gimbal(), np.array([0.1, 0.2, 0.3])
    a = kt.forward_dynamics(model, [0.1, 0.2, 0.3], np.zeros(3), tau, method=method)
    assert a == pytest.approx(kt.forward_dynamics(model, [0.1, 0.2, 0.3], np.zeros(3), tau))
    with pytest.raises(SingularError, match="no inertia to move"):
        kt.forward_dynamics(model, [0.0, np.pi / 2, 0.0], np.zeros(3), tau, method=method)


def test_a_simulation_that_meets_a_singular_pose_says_when_and_where():
    sim = Simulation(gimbal(), [0.0, np.pi / 2, 0.0], dt=1e-3)
    with pytest.raises(SingularError, match=r"at 0 s joint '.*' has no inertia to move"):
        sim.step()


@pytest.mark.parametrize("method", ["aba", "dca", "crba"])
def test_dynamics_name_what_is_not_finite(method):
    """NaN in the state, the forces or the wrenches is an error that says which number."""
    q = v = np.zeros(3)
    bad = np.array([0, np.nan, 0])
    for arguments, options, says in (
        ((bad, v), {}, r"q\[1\] of joint 'link1' is nan"),
        ((q, bad), {}, r"v\[1\] of joint 'link1' is nan"),
        ((q, v, bad), {}, r"tau\[1\] is nan"),
        ((q, v), {"external": np.full((3, 6), np.nan)}, r"external\[\(0, 0\)\] is nan"),
        ((q, v), {"gravity": (0, 0, np.nan)}, r"gravity\[2\] is nan"),
        ((q, v), {"external": np.zeros((2, 6))}, "external has shape"),
    ):
        with pytest.raises(ArgumentError, match=says):
            kt.forward_dynamics(CHAIN, *arguments, method=method, **options)


def test_dynamics_name_what_is_wrong():
    q = np.zeros(3)
    with pytest.raises(ArgumentError, match="method is 'magic': use 'aba', 'dca' or 'crba'"):
        kt.forward_dynamics(CHAIN, q, q, method="magic")
    with pytest.raises(StateError, match="overflow: the velocities or forces are too large"):
        kt.forward_dynamics(CHAIN, [0.1, 0.2, 0.3], np.full(3, 1e300))
    with pytest.raises(ArgumentError, match=r"a\[2\] is inf"):
        kt.inverse_dynamics(CHAIN, q, q, [0, 0, np.inf])
    with pytest.raises(ArgumentError, match="frame is 'sky'"):
        kt.jacobian(CHAIN, q, 0, frame="sky")
    with pytest.raises(ArgumentError, match="dt is nan: it must be finite"):
        kt.integrate(CHAIN, q, q, np.nan)
    empty = kt.ModelBuilder().body("a", joint=kt.Fixed).build()
    with pytest.raises(ArgumentError, match="no mass, so it has no centre of mass"):
        kt.center_of_mass(empty, [])


def test_a_jacobian_in_the_bodys_axes_is_the_turned_one():
    """Also for a body that stands still, whose Jacobian is 0."""
    model = arm()
    q, v = model.random_state(3)
    world = kt.jacobian(model, q, "tip", point=(0.1, 0.2, 0.3))
    body = kt.jacobian(model, q, "tip", point=(0.1, 0.2, 0.3), frame="body")
    turn = kt.body_poses(model, q)[2, :3, :3]
    assert np.vstack((turn @ body[:3], turn @ body[3:])) == pytest.approx(world, abs=1e-14)
    assert kt.jacobian(model, q, "tip") @ v == pytest.approx(kt.body_velocities(model, q, v)[2], abs=1e-14)
    assert not kt.jacobian(model, q, "post", frame="body").any()


def test_divide_and_conquer_says_what_it_cannot_have():
    """Massless branches, more than six freedoms between masses, points without extent and pushed links are named."""
    heavy = {"mass": 1, "inertia": (1, 1, 1)}
    fork = kt.ModelBuilder().body("fork", joint=kt.Revolute("x"))
    fork.body("left", parent="fork", joint=kt.Revolute("y"), **heavy)
    fork.body("right", parent="fork", joint=kt.Revolute("z"), **heavy)
    point = kt.ModelBuilder().body("bob", joint=kt.Revolute("x"), mass=1, com=(0, 0, -1))
    for builder, says in (
        (fork, "body 'fork' has no mass but carries 2 bodies"),
        (point, "body 'bob' has no rotational"),
    ):
        model = builder.build()
        with pytest.raises(ModelError, match=says):
            kt.forward_dynamics(model, model.neutral(), np.zeros(model.nv), method="dca")
    model, push = gimbal(), np.zeros((3, 6))
    push[1, 0] = 1.0
    with pytest.raises(ArgumentError, match="a force acts on body 'inner', which has no mass"):
        kt.forward_dynamics(model, [0.1, 0.2, 0.3], np.zeros(3), external=push, method="dca")
