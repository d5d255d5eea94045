"""What a simulation promises: stability, repeatability, honest failure, and forces that do what they say."""

import numpy as np
import pytest

import kinetree as kt
import oracle
from kinetree.errors import ArgumentError, DivergedError, FileFormatError

INTEGRATORS = ("semi_implicit", "euler", "rk4", "rk45")


def tree(seed=5, n=8, **options):
    """Return a floating tree with balls, hinges and slides, and a state of it."""
    kinds = ("spherical", "revolute", "prismatic", "universal", "helical", "planar", "fixed")
    model = oracle.random_model(seed, n, kinds, roots=0.0, massless=0.0, first="free", **options)
    return model, *model.random_state(seed)


def all_forces(model):
    """Return one of every force that can be saved."""
    hinge = next(n for n, b in zip(model.joint_names, model.joint_bodies) if model.joint(b).nq == 1)
    return [
        kt.forces.Spring(0, (0.1, 0, 0), (0, 0, 1), 30.0, 0.5),
        kt.forces.JointDamping(None, 0.3),
        kt.forces.JointSpring(hinge, 5.0, rest=0.2),
        kt.forces.JointPD([hinge], kp=4.0, kd=0.2, target=[0.1]),
    ]


def push(sim):
    """Apply a lasting and a passing force."""
    sim.apply(0, force=(1, 2, 3), torque=(0.1, 0, 0), point=(0.1, 0.2, 0.3), frame="body")
    sim.apply(sim.model.names[-1], force=(0, 0, -2), until=0.05)
    return sim


def same(one, other):
    """Whether two simulations are at the same state to the bit."""
    return np.array_equal(one.q, other.q) and np.array_equal(one.v, other.v) and one.time == other.time


@pytest.mark.parametrize("gain", [1e3, 1e6, 1e9])
def test_implicit_damping_and_pd_are_stable_at_any_gain(gain):
    """With steps of 10 ms, stiff joint dampers and PD controllers bring the joints to rest where they should be."""
    model, q, v = tree()
    target = model.random_state(99)[0]
    held = [name for name in model.joint_names if name != "b0"]
    at_q = np.concatenate([np.arange(model.q_slice(n).start, model.q_slice(n).stop) for n in held])
    own = model.dof_indices(held)
    pd = kt.forces.JointPD(held, kp=gain, kd=gain / 10, target=target[at_q])
    sim = kt.Simulation(model, q, v, dt=1e-2, gravity=(0, 0, 0), forces=[pd])
    sim.step(300)
    off = kt.difference(model, sim.q, np.concatenate((sim.q[:7], target[7:])))
    print(f"gain {gain:g}: off by {np.abs(off[own]).max():.3g} rad, moving at {np.abs(sim.v[own]).max():.3g} rad/s")
    assert np.abs(off[own]).max() < 0.05
    damped = kt.Simulation(model, q, v, dt=1e-2, gravity=(0, 0, 0), forces=[kt.forces.JointDamping(held, gain)])
    damped.step(10)
    assert np.abs(damped.v[own]).max() < 20 / gain * np.abs(v).max() + 1e-9


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_n_steps_are_n_times_one_step(integrator):
    """step(n) is n times step(1), and run takes the same steps, to the bit."""
    model, q, v = tree()
    options = {"dt": 2e-3, "integrator": integrator, "forces": all_forces(model)}
    whole, single, run = (push(kt.Simulation(model, q, v, **options)) for _ in range(3))
    whole.step(100)
    for _ in range(100):
        single.step()
    trajectory = run.run(0.2, record_every=7)
    assert same(whole, single)
    assert same(whole, run)
    assert np.array_equal(trajectory.q[-1], whole.q)
    assert np.array_equal(trajectory.v[-1], whole.v)
    assert np.array_equal(trajectory.q[0], q)
    oracle.assert_close(trajectory.times, [*(np.arange(0, 100, 7) * 2e-3), 0.2], 1e-15, "times")


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_restored_simulations_continue_to_the_bit(integrator, tmp_path):
    """What is saved in the middle goes on exactly as if it had not been."""
    model, q, v = tree()
    sim = push(
        kt.Simulation(model, q, v, dt=1e-3, integrator=integrator, forces=all_forces(model), gravity=(0.5, 0, -9))
    )
    sim.step(30)
    path = sim.save(tmp_path / "sim.npz")
    other = kt.Simulation.restore(path)
    assert same(sim, other)
    assert other.model == model
    assert other.integrator == integrator
    sim.step(70)
    other.step(70)
    assert same(sim, other)
    later = kt.Simulation.restore(other.save(tmp_path / "again.npz"))
    later.step(10)
    sim.step(10)
    assert same(sim, later)


def test_damaged_files_are_named(tmp_path):
    """A file that is no saved simulation is refused by name."""
    model, q, v = tree()
    path = kt.Simulation(model, q, v).save(tmp_path / "sim.npz")
    data = path.read_bytes()
    for name, content in {"cut.npz": data[: len(data) // 2], "empty.npz": b"", "text.npz": b"hello"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FileFormatError, match=name):
            kt.Simulation.restore(tmp_path / name)
    with pytest.raises(FileFormatError, match=r"none\.npz"):
        kt.Simulation.restore(tmp_path / "none.npz")


@pytest.mark.parametrize("integrator", ["semi_implicit", "euler", "rk4"])
def test_divergence_names_time_and_body(integrator):
    """A spring too stiff for its step is reported at the step where it explodes; the last good state stays."""
    model = (
        kt.ModelBuilder()
        .body("calm", joint=kt.Free, mass=1, inertia=(1, 1, 1))
        .body("wild", joint=kt.Free, mass=1, inertia=(1, 1, 1))
        .build()
    )
    spring = kt.forces.Spring("wild", (0, 0, 0), (0, 0, 5), 1e7, 0.0)
    sim = kt.Simulation(model, dt=0.01, integrator=integrator, forces=[spring])
    with pytest.raises(DivergedError, match="wild") as caught:
        sim.run(10.0, record_every=1)
    error = caught.value
    assert error.body == "wild"
    assert 0 < error.time < 1
    assert error.time == sim.time
    assert error.trajectory.times[-1] == sim.time
    assert np.isfinite(sim.q).all()
    assert np.isfinite(sim.v).all()
    assert np.isfinite(error.trajectory.q).all()
    assert sim.recorded is error.trajectory or sim.recorded == error.trajectory


def test_adaptive_steps_survive_the_stiff_spring():
    """The error-controlled integrator takes the steps that the same spring needs."""
    model = kt.ModelBuilder().body("wild", joint=kt.Free, mass=1, inertia=(1, 1, 1)).build()
    spring = kt.forces.Spring("wild", (0, 0, 0), (0, 0, 5), 1e7, 0.0)
    sim = kt.Simulation(model, dt=0.01, integrator="rk45", forces=[spring], tolerance=1e-10)
    sim.step(1)
    w, rest = np.sqrt(1e7), 5 - 9.81 / 1e7
    oracle.assert_close(sim.q[6], rest - rest * np.cos(w * 0.01), 1e-7, "height", rest)


@pytest.mark.parametrize("frame", ["world", "body"])
def test_applied_forces_are_wrenches(frame):
    """`apply` accelerates like the external wrench that a force at a point amounts to."""
    model, q, v = tree()
    rng = np.random.default_rng(0)
    body = model.nbodies - 2
    force, torque, point = rng.normal(size=(3, 3))
    turn = kt.body_poses(model, q)[body, :3, :3]
    in_world = (turn @ force, turn @ torque) if frame == "body" else (force, torque)
    external = np.zeros((model.nbodies, 6))
    external[body] = [*(in_world[1] + np.cross(turn @ point, in_world[0])), *in_world[0]]
    a = kt.forward_dynamics(model, q, v, external=external)
    sim = kt.Simulation(model, q, v, dt=1e-3, integrator="euler")
    sim.apply(body, force=force, torque=torque, point=point, frame=frame)
    sim.step()
    oracle.assert_close((sim.v - v) / 1e-3, a, 1e-10, "acceleration")


def test_applied_forces_end():
    """A force acts until its time, or until it is removed."""
    model = kt.ModelBuilder().body("cart", joint=kt.Prismatic("x"), mass=2.0).build()
    sim = kt.Simulation(model, dt=1e-2)
    sim.apply("cart", force=(4, 0, 0), until=0.5)
    handle = sim.apply("cart", force=(0, 0, 7))
    sim.step(100)
    oracle.assert_close(sim.v, [1.0], 1e-12, "velocity after half a second of 2 m/s2")
    handle.remove()
    endless = sim.apply("cart", force=(2, 0, 0))
    sim.step(100)
    endless.remove()
    sim.step(100)
    oracle.assert_close(sim.v, [2.0], 1e-12, "velocity after one more second of 1 m/s2")


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_springs_are_wrenches(integrator):
    """A first step with springs between bodies and to the world has the acceleration of their forces by hand."""
    model, q, v = tree()
    a, b = 2, model.nbodies - 1
    springs = [
        kt.forces.Spring(a, (0.1, 0.2, 0.3), (1, 2, 3), 20.0, 0.7),
        kt.forces.Spring(model.names[a], (0.3, 0, 0), (0, 0.2, 0), 15.0, 0.4, 0.5, other=model.names[b]),
        kt.forces.Spring(a, (0.1, -0.3, 0.2), (0.2, 0.1, 0), 25.0, 0.6, other=b),
    ]
    poses, velocities = kt.body_poses(model, q), kt.body_velocities(model, q, v)
    external = np.zeros((model.nbodies, 6))

    def end(body, point):
        arm = poses[body, :3, :3] @ np.array(point)
        return arm, poses[body, :3, 3] + arm, velocities[body, 3:] + np.cross(velocities[body, :3], arm)

    def add(body, arm, force):
        external[body] += [*np.cross(arm, force), *force]

    arm, place, speed = end(a, (0.1, 0.2, 0.3))
    add(a, arm, 20.0 * (np.array([1, 2, 3]) - place) - 0.7 * speed)
    (arm, place, speed), (arm_b, place_b, speed_b) = end(a, (0.3, 0, 0)), end(b, (0, 0.2, 0))
    along = (place_b - place) / np.linalg.norm(place_b - place)
    force = (15.0 * (np.linalg.norm(place_b - place) - 0.5) + 0.4 * along @ (speed_b - speed)) * along
    add(a, arm, force)
    add(b, arm_b, -force)
    (arm, place, _), (arm_b, place_b, _) = end(a, (0.1, -0.3, 0.2)), end(b, (0.2, 0.1, 0))
    add(a, arm, 25.0 * (place_b - place))
    add(b, arm_b, 25.0 * (place - place_b))
    half = (place + place_b) / 2  # where both bodies are damped, each as if it reached there
    arm, arm_b = half - poses[a, :3, 3], half - poses[b, :3, 3]
    slip = velocities[a, 3:] + np.cross(velocities[a, :3], arm)
    slip = slip - velocities[b, 3:] - np.cross(velocities[b, :3], arm_b)
    add(a, arm, -0.6 * slip)
    add(b, arm_b, 0.6 * slip)
    expected = kt.forward_dynamics(model, q, v, external=external)
    dt = 1e-7 if integrator == "rk4" else 1e-3
    sim = kt.Simulation(model, q, v, dt=dt, integrator=integrator, forces=springs)
    sim.step()
    # one step of RK4 is the acceleration up to dt; rounding of v over dt remains
    oracle.assert_close((sim.v - v) / dt, expected, 1e-10 if integrator == "euler" else 1e-4, "acceleration")


@pytest.mark.parametrize("length", [0.0, 0.4])
def test_a_spring_between_two_bodies_in_space_takes_energy_but_no_momentum(length):
    """Its forces on the two are opposite and on one line or at one point: linear and angular momentum are kept."""
    builder = kt.ModelBuilder()
    builder.body("a", joint=kt.Free, mass=1.2, com=(0.1, 0, 0.05), inertia=(0.2, 0.3, 0.25))
    builder.body("b", joint=kt.Free, mass=0.7, com=(0, -0.1, 0), inertia=(0.1, 0.12, 0.15))
    model = builder.build()
    q, v = model.random_state(4)
    k, d, point, anchor = 30.0, 2.0, (0.2, 0.1, -0.1), (0, 0.3, 0.1)
    spring = kt.forces.Spring("a", point, anchor, k, d, length, other="b")
    sim = kt.Simulation(model, q, v, dt=2e-4, integrator="rk4", gravity=(0, 0, 0), forces=[spring])

    def energy():
        poses = kt.body_poses(model, sim.q)
        apart = poses[1] @ (*anchor, 1) - poses[0] @ (*point, 1)
        return kt.energy(model, sim.q, sim.v)[0] + k / 2 * (np.linalg.norm(apart) - length) ** 2

    momentum, energies = kt.momentum(model, q, v), [energy()]
    assert np.abs(momentum).min() > 0.01, "every component has something to lose"
    for _ in range(50):
        sim.step(100)
        energies.append(energy())
    print(f"energy {energies[0]:.3g} -> {energies[-1]:.3g} J")
    # angular momentum is no linear function of the state, so RK4 keeps it up to dt^4: to 4e-12 here
    oracle.assert_close(kt.momentum(model, sim.q, sim.v), momentum, 1e-10, "momentum")
    assert (np.diff(energies) < 0).all(), energies
    assert energies[-1] < 0.8 * energies[0], "the damping takes energy"


def test_joint_forces_of_the_model_and_of_the_simulation_are_the_same():
    """Stiffness, rest and damping of the model act like JointSpring and JointDamping, and only in a simulation."""
    model, q, v = tree(armature=0.0)
    rng = np.random.default_rng(1)
    builder = kt.ModelBuilder()
    names, stiff, damp, rests = [], [], [], []
    for body in model.description().bodies:
        k, d, r = rng.uniform(1, 5, body.joint.nv), rng.uniform(0.1, 1, body.joint.nv), rng.normal(size=body.joint.nv)
        simple = body.joint.nq == body.joint.nv and body.joint.nv > 0
        builder.body(
            body.name, parent=body.parent, joint=body.joint, placement=body.placement, mass=body.mass, com=body.com,
            inertia=body.inertia, **({"stiffness": k, "damping": d, "rest": r} if simple else {}),
        )  # fmt: skip
        if simple:
            names.append(body.name)
            stiff.extend(k)
            damp.extend(d)
            rests.extend(r)
    own = builder.build()
    assert np.array_equal(kt.forward_dynamics(own, q, v), kt.forward_dynamics(model, q, v))
    forces = [kt.forces.JointSpring(names, stiff, rest=rests), kt.forces.JointDamping(names, damp)]
    dofs = model.dof_indices(names)
    tau = np.zeros(model.nv)
    at_q = np.concatenate([np.arange(model.q_slice(n).start, model.q_slice(n).stop) for n in names])
    tau[dofs] = -np.array(stiff) * (q[at_q] - rests) - np.array(damp) * v[dofs]
    for integrator in INTEGRATORS:
        one = kt.Simulation(own, q, v, integrator=integrator)
        two = kt.Simulation(model, q, v, integrator=integrator, forces=forces)
        one.step(20)
        two.step(20)
        oracle.assert_close(one.q, two.q, 1e-13, f"q with {integrator}")
    first = kt.Simulation(own, q, v, integrator="euler", dt=1e-3)
    first.step()
    oracle.assert_close((first.v - v) / 1e-3, kt.forward_dynamics(model, q, v, tau), 1e-10, "acceleration")


def test_a_pd_controller_on_a_ball_turns_it_to_its_target():
    """The torque of a PD controller on a spherical joint is along the shortest way, whatever the quaternion's sign."""
    model = kt.ModelBuilder().body("ball", joint=kt.Spherical, mass=1, inertia=(0.1, 0.2, 0.25)).build()
    target = model.random_state(3)[0]
    for sign in (1, -1):
        pd = kt.forces.JointPD("ball", kp=50.0, kd=5.0, target=sign * target)
        sim = kt.Simulation(model, gravity=(0, 0, 0), forces=[pd], dt=1e-3, integrator="euler")
        sim.step()
        away = kt.difference(model, model.neutral(), target)
        oracle.assert_close(sim.v / 1e-3, 50.0 * away / np.array([0.1, 0.2, 0.25]), 1e-10, "first acceleration")
        sim.step(10_000)
        off = kt.difference(model, sim.q, target)
        assert np.abs(off).max() < 1e-6, f"off the target by {off}"


def test_callbacks_act_like_what_is_built_in():
    """Joint forces and wrenches out of Python give the built-in motion; both may be returned, and nothing."""
    model, q, v = tree()
    wrench = np.random.default_rng(0).normal(size=(model.nbodies, 6))
    torque = np.random.default_rng(1).normal(size=model.nv)
    answers = [lambda s: torque, lambda s: wrench, lambda s: (torque, wrench), lambda s: (None, wrench), lambda s: None]
    expected = [(torque, None), (None, wrench), (torque, wrench), (None, wrench), (None, None)]
    for answer, (tau, external) in zip(answers, expected):
        sim = kt.Simulation(model, q, v, dt=1e-3, integrator="euler", forces=[kt.forces.Callback(answer)])
        sim.step()
        a = kt.forward_dynamics(model, q, v, tau, external=external)
        oracle.assert_close((sim.v - v) / 1e-3, a, 1e-10, "acceleration")
    times = []
    sim = kt.Simulation(model, q, v, forces=[kt.forces.Callback(lambda s: times.append(s.time))])
    sim.step(3)
    oracle.assert_close(times, [0, 1e-3, 2e-3], 1e-15, "times of the calls")
    for bad in (np.zeros(model.nv + 1), np.full(model.nv, np.nan), "push"):
        sim = kt.Simulation(model, q, v, forces=[kt.forces.Callback(lambda s, bad=bad: bad)])
        with pytest.raises(ArgumentError):
            sim.step()


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_trajectories_come_back_equal(suffix, tmp_path):
    """Saved and loaded, a trajectory has the same model, times and states to the bit."""
    if suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'kinetree[tables]'")
    model, q, v = tree()
    trajectory = kt.Simulation(model, q, v).run(0.05, record_every=5)
    path = trajectory.save(tmp_path / f"swing{suffix}")
    other = kt.Trajectory.load(path)
    assert other == trajectory
    assert other.model == model
    assert np.array_equal(other.q, trajectory.q)
    assert np.array_equal(other.v, trajectory.v)
    assert np.array_equal(other.times, trajectory.times)
    oracle.assert_close(other.body_poses(3), oracle.body_poses(model, trajectory.q[3]), 1e-12, "poses of a frame")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"dt": 0.0}, "dt"),
        ({"dt": np.nan}, "dt"),
        ({"integrator": "leapfrog"}, "rk4"),
        ({"gravity": (0, 0)}, "gravity"),
        ({"forces": [3]}, "force"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"forces": [kt.forces.JointDamping(None, -1.0)]}, "negative"),
        ({"forces": [kt.forces.JointPD("nobody")]}, "nobody"),
        ({"forces": [kt.forces.Spring("nobody", (0, 0, 0), (0, 0, 0), 1.0)]}, "nobody"),
    ],
)
def test_wrong_options_are_named(options, word):
    model, q, v = tree()
    with pytest.raises(kt.errors.KinetreeError, match=word):
        kt.Simulation(model, q, v, **options)


def test_wrong_calls_are_named():
    model, q, v = tree()
    sim = kt.Simulation(model, q, v)
    for call in (
        lambda: sim.step(-1),
        lambda: sim.step(1.5),
        lambda: sim.run(np.nan),
        lambda: sim.run(-1.0),
        lambda: sim.run(1.0, record_every=0),
        lambda: sim.apply("nobody", force=(1, 0, 0)),
        lambda: sim.apply(0, force=(1, 0)),
        lambda: sim.apply(0, force=(1, 0, np.nan)),
        lambda: sim.apply(0, force=(1, 0, 0), frame="moon"),
    ):
        with pytest.raises(kt.errors.KinetreeError):
            call()
    assert sim.time == 0.0
    assert np.array_equal(sim.q, q)
