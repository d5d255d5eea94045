"""Steps by divide and conquer are the steps of the articulated-body algorithm, forces and failures included."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.errors import ArgumentError, DivergedError, ModelError
from oracle.trees import random_model

# Rounding times the conditioning of the trees, as for the accelerations; five steps do not add to it.
SAME = 1e-10


def forces(model, seed):
    """Return one force of every kind that acts inside or between the bodies of `model`."""
    rng = np.random.default_rng(seed)
    one, other = (int(i) for i in rng.choice(np.flatnonzero(model.body_links >= 0), 2))
    listed = [
        kt.forces.Spring(one, rng.normal(size=3), rng.normal(size=3), 20.0, 0.5),
        kt.forces.JointDamping(None, 0.3),
        kt.forces.JointPD(None, kp=4.0, kd=0.2),
        kt.forces.JointTorque(None, 0.3),
    ]
    if one != other:
        listed.append(kt.forces.Spring(one, rng.normal(size=3), rng.normal(size=3), 20.0, 0.5, 0.1, other))
    return listed


def pair(model, q, v, **options):
    """Return two simulations of the same, one stepped by each algorithm."""
    return [kt.Simulation(model, q, v, method=kt.Full(name), **options) for name in ("aba", "dca")]


def gap(aba, dca):
    """Return by how much the velocities of two simulations differ, relative to the largest."""
    return float(np.abs(aba.v - dca.v).max(initial=0) / max(1.0, np.abs(aba.v).max(initial=0)))


@pytest.mark.parametrize("integrator", ["semi_implicit", "euler"])
@given(seed=st.integers(0, 10_000), n=st.integers(2, 25), branching=st.floats(0, 1), roots=st.floats(0, 0.2))
def test_steps_equal_those_of_the_articulated_body_algorithm(integrator, seed, n, branching, roots):
    """Five steps of random trees of every joint, with every kind of force, end in the same state."""
    model = random_model(seed, n, branching=branching, roots=roots, massless=0.0, armature=0.3)
    if not (model.body_links >= 0).any():
        return
    q, v = model.random_state(seed)
    aba, dca = pair(model, q, v, dt=1e-3, integrator=integrator, forces=forces(model, seed))
    rng = np.random.default_rng(seed)
    for body in rng.choice(model.nbodies, 3):
        push, torque, point = rng.normal(size=(3, 3))
        for simulation in (aba, dca):
            simulation.apply(int(body), force=push, torque=torque, point=point, frame="body")
            simulation.apply(int(body), force=torque, until=2.5e-3)
    for simulation in (aba, dca):
        simulation.step(5)
    error = gap(aba, dca)
    away = np.abs(kt.difference(model, aba.q, dca.q)).max(initial=0)
    assert error < SAME, f"velocities differ by {error:.2e}"
    assert away < SAME, f"places differ by {away:.2e}"


def test_wrenches_and_joint_forces_of_a_callback_act():
    """What a function returns each step reaches the units of the assembly tree."""
    model = random_model(3, 12, massless=0.0)
    q, v = model.random_state(3)
    rng = np.random.default_rng(3)
    wrenches, tau = rng.normal(size=(model.nbodies, 6)), rng.normal(size=model.nv)
    push = kt.forces.Callback(lambda simulation: (tau, wrenches))
    aba, dca = pair(model, q, v, dt=1e-3, forces=[push])
    quiet = kt.Simulation(model, q, v, dt=1e-3)
    for simulation in (aba, dca, quiet):
        simulation.step(4)
    assert gap(aba, dca) < SAME
    assert gap(aba, quiet) > 1e-3, "the forces are felt"


def test_a_run_records_and_restores_to_the_bit(tmp_path):
    """Recorded rows are the states of single steps; a saved simulation goes on as if it had not been saved."""
    model = random_model(8, 10, massless=0.0)
    q, v = model.random_state(8)
    make = {"dt": 1e-3, "method": kt.Full("dca"), "forces": [kt.forces.JointDamping(None, 0.1)]}
    whole, single = kt.Simulation(model, q, v, **make), kt.Simulation(model, q, v, **make)
    trajectory = whole.run(0.02, record_every=5)
    for k in range(4):
        single.step(5)
        np.testing.assert_array_equal(trajectory.q[k + 1], single.q)
        np.testing.assert_array_equal(trajectory.v[k + 1], single.v)
    restored = kt.Simulation.restore(whole.save(tmp_path / "a.npz"))
    assert restored.method == kt.Full("dca")
    for simulation in (whole, restored):
        simulation.step(20)
    np.testing.assert_array_equal(whole.q, restored.q)
    np.testing.assert_array_equal(whole.v, restored.v)
    assert whole.stats["steps"] == 40
    assert whole.stats["computed_joints"] == 40 * model.njoints
    assert whole.active == model.joint_names


def test_a_motion_that_diverges_stops_at_its_last_good_state():
    """A damper that is far too strong for explicit steps makes the motion diverge, with the same report."""
    model = kt.models.chain(4)
    states = []
    strong = [kt.forces.JointDamping(None, 50.0)]
    for simulation in pair(model, None, np.ones(4), dt=1e-2, integrator="euler", forces=strong):
        with pytest.raises(DivergedError) as caught:
            simulation.step(200)
        assert np.isfinite(simulation.v).all()
        states.append((caught.value.time, simulation.time))
    assert states[0] == states[1]


def test_what_divide_and_conquer_cannot_do_is_said():
    """Higher orders, bodies without inverse inertia and forces on massless bodies are refused by name."""
    chain = kt.models.chain(3)
    for integrator in ("rk4", "rk45"):
        with pytest.raises(ArgumentError, match=rf"'{integrator}': use 'semi_implicit' or 'euler', or Full\('aba'\)"):
            kt.Simulation(chain, method=kt.Full("dca"), integrator=integrator)
    with pytest.raises(ArgumentError, match="integrator is 'leapfrog'"):
        kt.Simulation(chain, method=kt.Full("dca"), integrator="leapfrog")
    point = kt.ModelBuilder().body("bob", joint=kt.Revolute("y"), mass=1, com=(0, 0, -1)).build()
    with pytest.raises(ModelError, match=r"'bob'.*singular"):
        kt.Simulation(point, method=kt.Full("dca"))
    builder = kt.ModelBuilder().body("gimbal", joint=kt.Revolute("x"))
    builder.body("arm", parent="gimbal", joint=kt.Revolute("y"), mass=1, com=(0, 0, -1), inertia=(1, 1, 1))
    simulation = kt.Simulation(builder.build(), method=kt.Full("dca"))
    handle = simulation.apply("gimbal", force=(1, 0, 0))
    with pytest.raises(ArgumentError, match="'gimbal', which has no mass"):
        simulation.step()
    handle.remove()
    simulation.step()
    assert simulation.stats["steps"] == 1


def test_a_model_without_joints_steps():
    """A body that is welded to the world stays where it is."""
    model = kt.ModelBuilder().body("rock", mass=1, inertia=(1, 1, 1)).build()
    simulation = kt.Simulation(model, method=kt.Full("dca"))
    simulation.step(3)
    assert simulation.time == pytest.approx(0.003)
