"""Forests on several threads move as on one, and stop at the same step."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, DivergedError
from kinetree.kernels import layout as at
from kinetree.parallel import acts_inside, count_threads, cut_forest, joined, together

pytestmark = pytest.mark.no_bounds


JOINTS = (
    kt.Free(), kt.Revolute((0, 1, 0)), kt.Spherical(), kt.Prismatic((1, 0, 0)), kt.Universal((1, 0, 0), (0, 1, 0)),
)  # fmt: skip


def forest(trees=5, seed=0):
    """Return trees of several joints, the last of them shorter, level by level, so that their numbers interleave."""
    rng = np.random.default_rng(seed)
    builder = kt.ModelBuilder("forest")
    for level, joint in enumerate(JOINTS):
        for tree in range(trees if level < 3 else trees - 1):
            parent = f"{tree}.{level - 1}" if level else None
            place, mass = (None, rng.normal(scale=0.3, size=3)), rng.uniform(1, 2)
            builder.body(
                f"{tree}.{level}", parent=parent, joint=joint, placement=place, mass=mass, inertia=0.1 * np.eye(3)
            )
    return builder.build()


def forces(model):
    """Springs, dampers, stops and drives, on trees and between two bodies of one tree."""
    joint = model.joint_names[model.nbodies // 3]
    return [
        kt.forces.JointDamping(None, 0.3),
        kt.forces.JointSpring(None, 2.0),
        kt.forces.Spring("0.3", (0, 0, 0.1), (1, 0, 0), 5.0, 0.1),
        kt.forces.Spring("2.3", (0, 0, 0.1), (0, 0, 0), 5.0, 0.1, other="2.1"),
        kt.forces.JointStops(joint, limits=(-0.1, 0.1)),
    ]


def test_parts_cover_the_forest():
    """Every link, coordinate and velocity is in exactly one part; trees stay whole; parents stay before children."""
    model = forest(7)
    for count in (1, 2, 3, 7):
        parts = cut_forest(model, count)
        assert 1 <= len(parts) <= count
        assert [p.first for p in parts] == [0, *(p.last for p in parts[:-1])]
        assert parts[-1].last == model.njoints
        assert sorted(np.concatenate([p.q for p in parts])) == list(range(model.nq))
        assert sorted(np.concatenate([p.v for p in parts])) == list(range(model.nv))
        for part in parts:
            assert (part.topology[:, at.PARENT] < np.arange(len(part.topology))).all()
            assert part.topology[0, at.PARENT] == -1
        sizes = [p.last - p.first for p in parts]
        assert max(sizes) - min(sizes) <= 2 * 5, sizes


@pytest.mark.parametrize("integrator", ["semi_implicit", "euler", "rk4"])
def test_threads_do_not_change_the_motion(integrator):
    """One thread and three: the same states and records, with forces that come and go."""
    model = forest()
    q, v = model.random_state(3)
    ends = []
    for threads in (1, 3):
        simulation = kt.Simulation(
            model, q, v, dt=1e-3, integrator=integrator, method=kt.Full(threads=threads), forces=forces(model)
        )
        push = simulation.apply("3.1", force=(0, 0, 5), point=(0, 0, 0.1))
        simulation.apply("4.0", torque=(0, 1, 0), until=0.02)
        first = simulation.run(0.03, record_every=4)
        push.remove()
        second = simulation.run(0.01, record_every=1)
        ends.append(np.concatenate((first.q.ravel(), first.v.ravel(), second.q.ravel(), second.v.ravel())))
    assert np.isfinite(ends[0]).all()
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-12, atol=1e-12)  # rounding of one last digit, 40 steps


def test_a_tree_that_diverges_stops_all_at_the_same_step():
    """The body and the time are those of one thread, and so is the last good state of every tree."""
    model = forest()
    faults = []
    for threads in (1, 4):
        simulation = kt.Simulation(
            model, dt=0.1, integrator="euler", method=kt.Full(threads=threads), gravity=(0, 0, 0)
        )
        v = np.zeros(model.nv)
        v[model.dof_indices([name for name in model.joint_names if name.startswith("1.2")])] = 1e5
        simulation.v = v
        with pytest.raises(DivergedError) as caught:
            simulation.run(5.0, record_every=2)
        faults.append((caught.value.time, caught.value.body, simulation.recorded.q))
    assert faults[0][:2] == faults[1][:2]
    np.testing.assert_allclose(faults[0][2], faults[1][2], rtol=1e-9)


def test_a_spring_between_trees_keeps_them_on_one_thread():
    model = forest()
    method = kt.Full(threads=5)
    spring = kt.forces.Spring("0.1", (0, 0, 0), (0, 0, 0), 50.0, 0.1, other="3.1")
    tied = kt.Simulation(model, dt=1e-3, method=method, forces=[spring])
    alone = kt.Simulation(model, dt=1e-3, method=kt.Full(threads=1), forces=[spring])
    for simulation in (tied, alone):
        simulation.step(20)
    np.testing.assert_array_equal(tied.q, alone.q)
    parts = cut_forest(model, 5)
    assert joined(tied._acts, parts)
    assert not joined(kt.Simulation(model, forces=forces(model))._acts, parts)


def test_forces_are_cut_with_the_trees():
    """Each wrench and spring acts in exactly one part."""
    model = forest()
    simulation = kt.Simulation(model, forces=forces(model))
    for name in ("0.0", "2.1", "4.0"):
        simulation.apply(name, force=(1, 0, 0))
    acts, parts = simulation._acts, cut_forest(model, 3)
    cut = [acts_inside(acts, part, renumber=True) for part in parts]
    assert sum(len(c.wrenches) for c in cut) == 3
    assert sum(len(c.springs) for c in cut) == 2
    for part, own in zip(parts, cut, strict=True):
        assert (own.wrench_links[:, 0] < part.last - part.first).all()
        assert (own.wrench_links[:, 0] >= 0).all()


def test_how_many_threads():
    """Small bodies and single trees take one; what is asked for is capped by the trees."""
    assert count_threads(forest(5), None) == 1
    assert count_threads(forest(5), 3) == 3
    assert count_threads(forest(3), 64) == 3
    assert count_threads(kt.models.pendulum(5000), 8) == 1
    assert count_threads(kt.models.pendulum(5000), None) == 1
    for bad in (0, -1, 1.5, True, "two"):
        with pytest.raises(ArgumentError, match="whole number, at least 1"):
            kt.Full(threads=bad)


def test_tasks_run_together_and_errors_come_back():
    """As many threads as tasks at least overlap; an error is raised after all have ended."""
    met = threading.Barrier(2, timeout=30)
    assert together([lambda: met.wait() >= 0, lambda: met.wait() >= 0]) == [True, True]
    ended = []

    def fails():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        together([lambda: ended.append(1), fails])
    assert ended == [1]


# --- adaptive, one queue for all


def crowd(method, seed=2, **options):
    """Return a forest with forces, thrown; its methods differ in the number of threads only."""
    model = forest(6, seed)
    q, v = model.random_state(seed)
    simulation = kt.Simulation(model, q, v, dt=1e-3, method=method, forces=forces(model), **options)
    simulation.apply("3.1", force=(0, 0, 5), point=(0, 0, 0.1), until=0.05)
    return simulation


ADAPTIVE = [
    {"joints": 12},
    {"joints": 8, "acceleration_joints": 20, "update_every": 7},
    {"error": 3.0, "update_every": 5},
    {"joints": 14, "weights": {"2.1": 5.0}, "update_every": 1},
]


def named(model, options):
    """Return options whose weights name joints of the model by their bodies."""
    if "weights" not in options:
        return options
    return options | {"weights": {model.joint_names[model.nbodies // 2]: 5.0}}


@pytest.mark.parametrize("options", ADAPTIVE, ids=lambda options: ", ".join(map(str, options.values())))
def test_one_queue_chooses_for_all_threads(options):
    """The same joints at every choice, the same motion, counts and records, with forces that come and go."""
    options = named(forest(6, 2), options)
    ends = []
    for threads in (1, 2, 4):
        simulation = crowd(kt.Adaptive(**options, threads=threads))
        first = simulation.run(0.033, record_every=4)
        actives = [simulation.active]
        push = simulation.apply("5.2", force=(1, 2, 3), torque=(0.1, 0, 0), frame="body")
        simulation.step(13)
        push.remove()
        second = simulation.run(0.02, record_every=3)
        actives.append(simulation.active)
        response = simulation.response("3.2", force=(1, 0, 0))
        counts = {k: v for k, v in simulation.stats.items() if "seconds" not in k}
        ends.append((first, second, actives, counts, response, str(simulation.regions)))
    for other in ends[1:]:
        for ours, theirs in zip(ends[0][:2], other[:2], strict=True):
            np.testing.assert_array_equal(ours.times, theirs.times)
            np.testing.assert_allclose(ours.q, theirs.q, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(ours.v, theirs.v, rtol=1e-10, atol=1e-10)
        assert ends[0][2] == other[2]
        for key, value in ends[0][3].items():
            # the error is the root of a difference that may be all rounding
            assert other[3][key] == pytest.approx(value, rel=1e-9, abs=1e-5 if "error" in key else 0), key
        np.testing.assert_allclose(ends[0][4], other[4], rtol=1e-9, atol=1e-12)
        assert ends[0][5] == other[5]


def test_a_crowd_is_saved_and_continues(tmp_path):
    """What several threads did continues on several threads to the bit."""
    whole = crowd(kt.Adaptive(joints=10, threads=3))
    whole.step(25)
    saved = whole.save(tmp_path / "crowd.npz")
    again = kt.Simulation.restore(saved)
    assert again.active == whole.active
    for simulation in (whole, again):
        simulation.step(30)
    np.testing.assert_array_equal(whole.q, again.q)
    np.testing.assert_array_equal(whole.v, again.v)


def test_a_crowd_that_diverges_stops_at_the_last_good_step():
    """In a step in which joints are chosen and between two: time and state are those of one thread."""
    model = forest(6, 2)
    for every in (1, 50):
        faults = []
        for threads in (1, 4):
            method = kt.Adaptive(joints=12, update_every=every, threads=threads)
            simulation = kt.Simulation(model, dt=1e-3, method=method)
            simulation.step(4)
            before = simulation.q.copy()
            simulation.apply("1.0", torque=(1e16, 0, 0))  # a root, which always moves
            with pytest.raises(DivergedError) as caught:
                simulation.run(1.0)
            faults.append(caught.value.time)
            np.testing.assert_array_equal(simulation.q, before)
        assert faults == [pytest.approx(4e-3)] * 2


def test_a_spring_between_trees_keeps_a_crowd_together():
    """Trees that a spring joins are stepped on one thread; when they are free again, on all."""
    spring = kt.forces.Spring("0.1", (0, 0, 0), (0, 0, 0), 50.0, 0.1, other="5.1")
    ends = []
    for threads in (1, 3):
        model = forest(6, 2)
        q, v = model.random_state(1)
        simulation = kt.Simulation(
            model, q, v, dt=1e-3, method=kt.Adaptive(joints=12, threads=threads), forces=[spring]
        )
        simulation.step(45)
        ends.append(simulation.q.copy())
    np.testing.assert_array_equal(*ends)
