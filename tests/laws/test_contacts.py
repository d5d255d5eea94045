"""Contacts in motion: closed forms, rest, conservation, and what must not explode."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from kinetree._jit import ENABLED
from kinetree.errors import ArgumentError, DivergedError, ModelError

C = kt.constraints
slow_python = pytest.mark.slow_python


def free_body(*shapes):
    return kt.ModelBuilder().body("body", joint=kt.Free(), shapes=list(shapes)).build()


def at_height(model, z):
    q = model.neutral()
    q[6] = z
    return q


@pytest.mark.parametrize("e", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_bounces_to_the_height_of_the_closed_form(e, dt):
    """A ball dropped from h rises to e^2 h, within 0.5 %, at any step: the time of impact is found."""
    model = free_body(kt.Sphere(radius=0.1))
    sim = kt.Simulation(model, at_height(model, 1.1), dt=dt, constraints=[C.Contacts(restitution=e)])
    z = sim.run(0.9, record_every=1).q[:, 6] - 0.1
    lowest = int(np.argmin(z[: int(0.6 / dt)]))
    top = float(z[lowest:].max())
    # the top is met within half a step: g dt^2 / 8 lower at most
    assert top == pytest.approx(e * e, rel=0.005, abs=9.81 * dt**2 / 8 + 1e-6), (top, e * e)
    if e > 0:
        assert sim.stats["impacts"] >= 1
        assert sim.stats["backtracks"] >= 1


def on_slope(mu, degrees, seconds, *, speed=0.0, dt=1e-3, model_of_friction="cone"):
    """Return how far a block slides down a slope."""
    model = free_body(kt.Box(size=(0.4, 0.4, 0.1)))
    turn = Rotation.from_euler("y", degrees, degrees=True)
    q, v = model.neutral(), np.zeros(6)
    q[:4], q[4:] = np.roll(turn.as_quat(), 1), turn.apply((0, 0, 0.05))
    v[3:] = turn.apply((speed, 0, 0))
    slope = kt.Plane(placement=(turn.as_matrix(), np.zeros(3)))
    contacts = C.Contacts(friction=mu, ground=False, world=[slope], friction_model=model_of_friction)
    sim = kt.Simulation(model, q, v, dt=dt, constraints=[contacts])
    sim.run(seconds)
    return float(turn.inv().apply(sim.q[4:])[0]), sim


@slow_python
@pytest.mark.parametrize("kind", ["cone", "pyramid", "direction"])
def test_sliding_and_sticking_on_a_slope(kind):
    """Distance g (sin - mu cos) t^2 / 2 and threshold tan = mu, within 0.5 %."""
    mu = 0.4
    critical = np.degrees(np.arctan(mu))
    stays, _ = on_slope(mu, critical * 0.995, 0.5, model_of_friction=kind)
    moves, _ = on_slope(mu, critical * 1.005, 0.5, model_of_friction=kind)
    assert abs(stays) < 1e-6
    assert moves > 1e-4
    slid, sim = on_slope(0.3, 30.0, 0.5, model_of_friction=kind)
    expected = 9.81 * (0.5 - 0.3 * np.sqrt(3) / 2) * 0.5**2 / 2
    assert slid == pytest.approx(expected, rel=0.005)
    assert sum(c.force[2] for c in sim.contacts) > 0


@slow_python
def test_a_sliding_block_stops_where_it_must():
    """v^2 / (2 mu g), within 0.5 %, and then it stands still."""
    distance, sim = on_slope(0.3, 0.0, 1.3, speed=3.0)
    assert distance == pytest.approx(9.0 / (2 * 0.3 * 9.81), rel=0.005)
    assert np.abs(sim.v).max() < 1e-9


@slow_python
def test_a_stack_of_ten_boxes_stands():
    """No box moves by 5 mm, none moves faster than 1 mm/s after it has settled, and the floor bears the weight."""
    builder = kt.ModelBuilder()
    for k in range(10):
        builder.body(f"box{k}", joint=kt.Free(), shapes=[kt.Box(size=(0.2, 0.2, 0.2))])
    model = builder.build()
    q = model.neutral()
    q[6::7] = 0.1 + 0.2 * np.arange(10)
    sim = kt.Simulation(model, q, dt=1 / 120, constraints=[C.Contacts(friction=0.5)])
    sim.run(5.0)
    assert np.abs(sim.q - q).max() < 5e-3
    assert np.abs(sim.v).max() < 1e-3
    weight = sum(c.force[2] for c in sim.contacts if c.body_b is None)
    assert weight == pytest.approx(model.total_mass * 9.81, rel=1e-3)
    assert sim.stats["deepest"] < 1e-3


def test_two_bodies_that_collide_keep_their_momentum():
    """In free space, with friction and spin; without restitution the normal velocity is gone afterwards."""
    model = (
        kt.ModelBuilder()
        .body("a", joint=kt.Free(), shapes=[kt.Sphere(radius=0.1)])
        .body("b", joint=kt.Free(), shapes=[kt.Capsule(radius=0.05, length=0.4)])
        .build()
    )
    q, v = model.neutral(), np.zeros(12)
    q[4:7], q[11:14] = (-0.4, 0.01, 0.03), (0, 0, 0)
    v[:6], v[6:9] = (1.0, 2.0, 3.0, 2.0, 0, 0), (0.5, 0.0, 4.0)
    for e in (0.0, 0.7):
        sim = kt.Simulation(
            model, q, v, dt=1e-3, gravity=(0, 0, 0), constraints=[C.Contacts(friction=0.4, restitution=e, ground=False)]
        )
        before, energy = kt.momentum(model, sim.q, sim.v), sum(sim.energy())
        sim.run(0.4)
        after = kt.momentum(model, sim.q, sim.v)
        assert np.abs(before[3:] - after[3:]).max() < 1e-12
        # the integrator itself turns bodies with an error of order dt; impulses act on both at one point
        assert np.abs(before[:3] - after[:3]).max() < 2e-3 * np.abs(before[:3]).max(), (before, after)
        assert sum(sim.energy()) < energy
        assert not np.allclose(sim.v[3:6], v[3:6])


@pytest.mark.parametrize("depth", [0.02, 0.15])
def test_overlapping_start_positions_are_taken_apart_without_speed(depth):
    """Positions are corrected, velocities are not: nothing flies away."""
    model = free_body(kt.Box(size=(0.4, 0.4, 0.4)))
    sim = kt.Simulation(model, at_height(model, 0.2 - depth), dt=1 / 120, constraints=[C.Contacts()])
    sim.run(0.2)
    assert sim.q[6] == pytest.approx(0.2, abs=1e-3)
    assert np.abs(sim.v).max() < 1e-2
    assert sim.stats["projections"] >= 1


def test_hulls_height_fields_and_boxes_hold_what_lies_on_them():
    """A ball, a capsule and a box come to rest on each kind of ground at the height of their shape."""
    heights = C.HeightField(np.zeros((5, 5)), 0.5)
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-0.2, 0)]
    grounds = [heights, C.Hull(corners), kt.Box(size=(2, 2, 0.2), placement=(0, 0, -0.1)), kt.Plane()]
    capsule = kt.Capsule.between((-0.2, 0, 0), (0.2, 0, 0), 0.1)
    for ground in grounds if ENABLED else grounds[:2]:
        for shape, height in ((kt.Sphere(radius=0.1), 0.1), (capsule, 0.1), (kt.Box(size=(0.3, 0.3, 0.2)), 0.1)):
            model = free_body(shape)
            q = at_height(model, height + 0.01)
            q[4:6] = 0.11, 0.07
            sim = kt.Simulation(model, q, dt=1 / 120, constraints=[C.Contacts(ground=False, world=[ground])])
            sim.run(0.3)
            assert sim.q[6] == pytest.approx(height, abs=2e-4), (ground, shape, sim.q[6])
            assert np.abs(sim.v).max() < 1e-3, (ground, shape, sim.v)


def test_a_hull_on_a_body_replaces_nothing_and_adds_its_own_contacts():
    """A body without shapes stands on the hull that it is given."""
    builder = kt.ModelBuilder().body("rock", joint=kt.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    model = builder.build()
    rock = C.Hull([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    sim = kt.Simulation(model, at_height(model, 0.105), dt=1 / 120, constraints=[C.Contacts(hulls={"rock": [rock]})])
    sim.run(0.2)
    assert sim.q[6] == pytest.approx(0.1, abs=2e-4)
    assert {c.body_a for c in sim.contacts} == {"rock"}
    assert {c.body_b for c in sim.contacts} == {None}


def test_ridges_are_not_missed_between_the_ends_of_a_body():
    """A long box lies across a single peak of a height field: its middle touches, not its corners."""
    heights = np.zeros((9, 9))
    heights[4, 4] = 0.2
    model = free_body(kt.Box(size=(1.5, 0.3, 0.1)))
    sim = kt.Simulation(
        model,
        at_height(model, 0.26),
        dt=1 / 240,
        constraints=[C.Contacts(ground=False, world=[C.HeightField(heights, 0.25)])],
    )
    sim.run(0.1)
    assert sim.q[6] == pytest.approx(0.25, abs=2e-3)


def test_self_collision_and_exclusions():
    """A chain that folds onto itself is stopped by its own links, unless the pair is excluded."""
    builder = kt.ModelBuilder()
    parent = None
    for k in range(3):
        shape = kt.Capsule.between((0.1, 0, 0), (0.4, 0, 0), 0.04)
        place = (None, (0.5 if k else 0.0, 0, 0))
        builder.body(f"l{k}", parent=parent, joint=kt.Revolute("y"), placement=place, shapes=[shape])
        parent = f"l{k}"
    model = builder.build()
    q = np.array([0.0, 2.0, 1.4])
    ends = []
    for contacts in (C.Contacts(ground=False), C.Contacts(ground=False, self_collision=True),
                     C.Contacts(ground=False, self_collision=True, exclude=[("l0", "l2")])):  # fmt: skip
        sim = kt.Simulation(model, q, [0, 0.5, 2.0], dt=1 / 240, gravity=(0, 0, 0), constraints=[contacts])
        met = False
        for _ in range(140):
            sim.step()
            met = met or {(c.body_a, c.body_b) for c in sim.contacts if np.abs(c.force).max() > 0} == {("l2", "l0")}
        ends.append((met, sim.q.copy()))
    assert [met for met, _ in ends] == [False, True, False]
    assert np.allclose(ends[0][1], ends[2][1])


def test_saved_simulations_continue_to_the_bit(tmp_path):
    """Forces of the last step and directions of friction are part of the state."""
    model = free_body(kt.Box(size=(0.3, 0.2, 0.1)))
    turn = Rotation.from_euler("xyz", (0.3, 0.2, 0.1))
    q = at_height(model, 0.3)
    q[:4] = np.roll(turn.as_quat(), 1)
    constraints = [
        C.Contacts(friction={"body": 0.5, "world": 0.7}, world=[kt.Box(size=(1, 1, 0.02))]),
        C.Solver(sweeps=40),
    ]
    sim = kt.Simulation(model, q, [1, 2, 3, 1, 0, 0], dt=1 / 120, constraints=constraints)
    sim.step(40)
    again = kt.Simulation.restore(sim.save(tmp_path / "box.npz"))
    sim.step(20)
    again.step(20)
    assert np.array_equal(sim.q, again.q)
    assert np.array_equal(sim.v, again.v)


def test_a_step_that_cannot_be_completed_leaves_the_state_of_its_start():
    """Absurd forces end in a named error, and the state is the last good one."""
    model = free_body(kt.Sphere(radius=0.1))
    sim = kt.Simulation(model, at_height(model, 0.1), dt=1 / 120, constraints=[C.Contacts()])
    sim.step(3)
    before = sim.q.copy(), sim.v.copy()
    sim.apply("body", force=(1e30, 0, 0))
    with pytest.raises(DivergedError):
        sim.step()
    assert np.array_equal(sim.q, before[0])
    assert np.array_equal(sim.v, before[1])


def test_what_cannot_be_is_named():
    """Arguments of contacts."""
    model = free_body(kt.Sphere(radius=0.1))
    for arguments, words in (
        ({"friction": -1.0}, "friction"), ({"restitution": 1.5}, "restitution"), ({"friction_model": "x"}, "cone"),
        ({"world": [3]}, "shape"), ({"ground": np.nan}, "ground"),
    ):  # fmt: skip
        with pytest.raises(ArgumentError, match=words):
            C.Contacts(**arguments)
    with pytest.raises(ModelError, match="plane"):
        C.Hull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)])
    with pytest.raises(ModelError, match="spacing"):
        C.HeightField(np.zeros((3, 3)), 0.0)
    with pytest.raises(ModelError, match="no body"):
        kt.Simulation(model, constraints=[C.Contacts(exclude=[("body", "ghost")])])
    with pytest.raises(ArgumentError, match="semi-implicit"):
        kt.Simulation(model, integrator="rk4", constraints=[C.Contacts()])
    with pytest.raises(ArgumentError, match="Full"):
        kt.Simulation(model, method=kt.Full("dca"), constraints=[C.Contacts()])
    with pytest.raises(ArgumentError, match="no constraint"):
        kt.Simulation(model, constraints=["contacts"])
    with pytest.raises(ArgumentError, match="give one"):
        kt.Simulation(model, constraints=[C.Contacts(), C.Contacts()])
