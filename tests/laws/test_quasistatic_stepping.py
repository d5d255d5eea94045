"""Quasi-static steps by the lazy tree are those of all joints from rest, whatever comes, changes and goes."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree._jit import ENABLED
from kinetree.adaptive.quasistatic_room import LazyTree
from kinetree.kernels import nodes as to
from kinetree.kernels import quasistatic_rows as row
from oracle.quasistatic import accelerations_at_rest
from oracle.trees import random_model

# Rounding of accelerations times dt^2, over 50 steps; the worst of 150 random bodies is 8e-14 rad.
SAME = 1e-10
DT = 0.01
TREES = 40 if ENABLED else 2


def body(seed, n=25):
    """Return a random body with branches, several roots and joints of all kinds, and a configuration of it."""
    rng = np.random.default_rng(seed)
    branching, roots = float(rng.choice([0.0, 0.3, 1.0])), float(rng.choice([0.0, 0.1]))
    model = random_model(seed, int(rng.integers(2, n)), massless=0.0, branching=branching, roots=roots)
    return model, model.random_state(seed)[0], rng


def some_forces(model, rng):
    """Return springs, dampers and stops in joints and springs between bodies, some of the time."""
    forces = []
    scalar = [name for name, body in zip(model.joint_names, model.joint_bodies, strict=True)
              if model.joint_kinds[body] not in (4, 6)]  # fmt: skip
    if scalar and rng.random() < 0.5:
        forces.append(kt.forces.JointSpring(scalar, stiffness=3.0))
    if rng.random() < 0.5:
        forces.append(kt.forces.JointDamping(None, 2.0))
    if scalar and rng.random() < 0.3:
        forces.append(kt.forces.JointStops(scalar, 50.0, 1.0, (-0.1, 0.1)))
    moving = np.flatnonzero(model.body_links >= 0)
    if len(moving) and rng.random() < 0.7:
        first, second = rng.choice(moving, 2)
        near, far = rng.normal(size=(2, 3)) * 0.1
        forces.append(kt.forces.Spring(int(first), near, far, 20.0, other=int(second) if second != first else None))
    return forces


class Pair:
    """The same body by all joints and by quasi-statics, pushed alike."""

    def __init__(self, model, q, methods, **options):
        self.model = model
        self.all = kt.Simulation(model, q, **options)
        self.others = [kt.Simulation(model, q, method=method, **options) for method in methods]
        self.handles = []

    def every(self):
        """All simulations."""
        return [self.all, *self.others]

    def disturb(self, rng):
        """Let a force come or go, or move a joint by hand, some of the time."""
        if rng.random() < 0.4:
            on, push = int(rng.integers(self.model.nbodies)), rng.normal(size=(3, 3))
            axes = "world" if rng.random() < 0.5 else "body"
            until = None if rng.random() < 0.5 else self.all.time + DT * rng.integers(1, 6)
            self.handles.append([
                s.apply(on, force=push[0], torque=push[1], point=push[2], frame=axes, until=until)
                for s in self.every()
            ])  # fmt: skip
        if self.handles and rng.random() < 0.2:
            for handle in self.handles.pop(int(rng.integers(len(self.handles)))):
                handle.remove()
        if rng.random() < 0.1:
            by = rng.normal(size=self.model.nv) * (rng.random(self.model.nv) < 0.2)
            q = kt.integrate(self.model, self.all.q, by, 0.1)
            for simulation in self.every():
                simulation.q = q

    def step(self, n):
        """Step; the full body forgets its velocities after every step."""
        for _ in range(n):
            self.all.step(1)
            self.all.v = np.zeros(self.model.nv)
        for simulation in self.others:
            simulation.step(n)

    def gap(self):
        """Return how far the others are from all joints."""
        return max(np.abs(kt.difference(self.model, s.q, self.all.q)).max(initial=0.0) for s in self.others)


def test_a_threshold_of_zero_is_a_full_step_from_rest_at_every_step():
    """By the tree, and by all joints, with springs, stops, forces that come and go, and joints moved by hand."""
    worst = 0.0
    for seed in range(TREES):
        model, q, rng = body(seed)
        gravity = (0, 0, -9.81) if rng.random() < 0.3 else (0, 0, 0)
        methods = [kt.Quasistatic(0.0, hand_over=1.0), kt.Quasistatic(0.0)]
        pair = Pair(model, q, methods, dt=DT, gravity=gravity, forces=some_forces(model, rng))
        for _ in range(20 if ENABLED else 4):
            pair.disturb(rng)
            pair.step(int(rng.integers(1, 5)))
            worst = max(worst, pair.gap())
            assert pair.gap() < SAME, (seed, pair.gap())
        assert not pair.others[0].v.any()
        assert pair.others[0].stats["full_steps"] == 0
    print(f"worst gap {worst:.1e}")


def test_joint_forces_and_wrenches_of_a_callback_may_change_at_every_step():
    """Some of them, at some steps; by the tree and by all joints they do what they do to a full step from rest."""
    for seed in range(TREES // 2):
        model, q, rng = body(seed + 100)
        drawn = []
        for _ in range(8):
            tau = rng.normal(size=model.nv) * (rng.random(model.nv) < 0.3)
            wrenches = rng.normal(size=(model.nbodies, 6)) * (rng.random((model.nbodies, 1)) < 0.2)
            drawn.append((None if rng.random() < 0.3 else tau, None if rng.random() < 0.3 else wrenches))

        def pushing(simulation, drawn=drawn):
            return drawn[round(simulation.time / DT) % len(drawn)]

        forces = [kt.forces.Callback(pushing)]
        methods = [kt.Quasistatic(0.0, hand_over=1.0), kt.Quasistatic(0.0)]
        pair = Pair(model, q, methods, dt=DT, gravity=(0, 0, 0), forces=forces)
        for _ in range(3 * len(drawn) if ENABLED else 4):
            pair.step(1)
            assert pair.gap() < SAME, (seed, pair.gap())


def test_what_is_updated_lazily_is_to_the_bit_what_is_computed_anew():
    """After any events all coefficients are those of a tree that is built from the present state."""
    for seed in range(TREES):
        model, q, rng = body(seed)
        pair = Pair(model, q, [kt.Quasistatic(0.05, hand_over=1.0)], dt=DT, forces=some_forces(model, rng))
        simulation = pair.others[0]
        for _ in range(8 if ENABLED else 3):
            pair.disturb(rng)
            pair.step(int(rng.integers(1, 4)))
        old = simulation._stepper.tree
        old.prepare(simulation._acts, simulation.q, DT, simulation.gravity, simulation.time)
        old.settle(simulation.q)
        new = LazyTree(model)
        new.prepare(simulation._acts, simulation.q, DT, simulation.gravity, simulation.time)
        new.settle(simulation.q)
        for name, columns in (("nodes", to.F1), ("metrics", to.VALUE), ("frames", row.WORLD), ("tau", None)):
            a, b = getattr(old.lazy, name), getattr(new.lazy, name)
            a, b = (a, b) if columns is None else (a[:, :columns], b[:, :columns])
            np.testing.assert_array_equal(a, b, err_msg=f"{name} of seed {seed}")


@pytest.mark.slow_python
def test_a_step_writes_nothing_but_the_nodes_on_its_paths():
    """Between two steps of a molecule of 3,000 joints only the rows change that are counted, each computed once."""
    model = kt.models.molecule(3000, branching=0.03)
    q = model.random_state(0)[0]
    simulation = kt.Simulation(model, q, dt=1e-3, gravity=(0, 0, 0), method=kt.Quasistatic(2.0**-11, hand_over=1.0))
    simulation.apply(1500, force=(1e-3, 0, 0), point=(0, 0, 0.15))
    simulation.step(3)
    lazy = simulation._stepper.tree.lazy
    before = {name: getattr(lazy, name).copy() for name in ("nodes", "metrics", "frames", "a", "tau", "wrenches")}
    counted, q_before = simulation.stats["updated_nodes"], simulation.q.copy()
    simulation.step(1)
    updated = simulation.stats["updated_nodes"] - counted
    height = simulation._stepper.assembly.height
    computed = len(simulation.active)
    assert computed <= updated <= computed + 2 * height
    for name, was in before.items():
        now = getattr(lazy, name)
        changed = (now != was).reshape(len(now), -1).any(axis=1).sum()
        assert changed <= 3 * updated + 2, f"{changed} rows of {name} changed, {updated} nodes were updated"
    assert (simulation.q != q_before).sum() <= computed


@pytest.mark.slow_python
def test_many_forces_share_the_nodes_above_them():
    """N forces on neighbours update about N nodes and a path; far apart, N log(n / N)."""
    model = kt.models.molecule(4000, branching=0.03)
    counts = {}
    for label, bodies in (("near", range(1000, 1064)), ("far", range(0, 4000, 63))):
        simulation = kt.Simulation(model, dt=1e-3, gravity=(0, 0, 0), method=kt.Quasistatic(1e6, "absolute", 1.0))
        for number in bodies:
            simulation.apply(number, force=(0, 0, 1e-3), frame="body")
        simulation.step(1)
        tree = simulation._stepper.tree
        counts[label] = int(tree.lazy.counts[row.FORCED_NODES])
        assert simulation.active == ()
    height = simulation._stepper.assembly.height
    assert counts["near"] <= 64 * 4 + height
    assert counts["near"] < counts["far"] <= 64 * (np.log2(2 * 4000 / 64) + 6)


def test_a_step_from_rest_is_dt_squared_times_the_accelerations():
    """Without springs or dampers, of every joint that was computed; all others stand still."""
    for seed in range(10 if ENABLED else 2):
        model, q, rng = body(seed)
        tau = rng.normal(size=model.nv)
        force = kt.forces.Callback(lambda _, tau=tau: tau)
        simulation = kt.Simulation(model, q, dt=1e-4, forces=[force], method=kt.Quasistatic(0.1, hand_over=1.0))
        simulation.step(1)
        exact = accelerations_at_rest(model, q, tau, np.zeros((model.nbodies, 6)), np.array((0, 0, -9.81)))
        moved = kt.difference(model, q, simulation.q) / 1e-8
        computed = simulation._stepper.active_mask[model.v_joints]
        assert np.abs(moved[~computed]).max(initial=0.0) < 1e-7  # rounding of quaternions over 1e-8
        gap = np.abs(moved - exact)[computed].max(initial=0.0)
        assert gap <= 1e-6 * np.abs(exact).max(), gap  # a difference of positions, of the order of 1, over 1e-8


def test_poses_are_found_along_one_path():
    """Of any body, at any moment, also massless ones inside a joint, by quasi-statics and by all joints."""
    for seed in range(8 if ENABLED else 2):
        model = random_model(seed, 15, branching=0.0, roots=0.0, massless=0.3)
        q = model.random_state(seed)[0]
        for method in (kt.Quasistatic(0.1, hand_over=1.0), kt.Quasistatic(0.0), kt.Full()):
            simulation = kt.Simulation(model, q, dt=1e-3, method=method)
            for _ in range(2):
                poses = kt.body_poses(model, simulation.q)
                found = np.array([simulation.pose(k) for k in range(model.nbodies)])
                assert np.abs(found - poses).max() < 1e-12
                simulation.step(2)


def test_a_saved_simulation_continues_to_the_bit(tmp_path):
    """By the tree and after a hand-over, with a force that ends on the way."""
    for seed, method in ((1, kt.Quasistatic(0.1, hand_over=1.0)), (2, kt.Quasistatic(0.0)), (4, kt.Quasistatic(0.2))):
        model, q, rng = body(seed)
        simulation = kt.Simulation(model, q, dt=DT, method=method, forces=some_forces(model, rng))
        simulation.apply(model.nbodies - 1, force=(1.0, 0.5, 0.0), point=(0.1, 0, 0), until=9 * DT)
        simulation.step(6)
        restored = kt.Simulation.restore(simulation.save(tmp_path / f"{seed}.npz"))
        assert restored.stats["steps"] == 6
        simulation.step(10)
        restored.step(10)
        np.testing.assert_array_equal(simulation.q, restored.q)
        assert simulation.stats["computed_joints"] == restored.stats["computed_joints"]


@pytest.mark.slow_python
def test_it_hands_over_when_most_joints_are_needed_and_comes_back():
    """A force on every body needs all joints; when they are gone but one, the tree takes over again."""
    model = kt.models.molecule(1500, branching=0.03)
    simulation = kt.Simulation(model, dt=1e-3, gravity=(0, 0, 0), method=kt.Quasistatic(2.0**-4))
    simulation.apply(700, force=(1e-3, 0, 1e-3), point=(0.05, 0, 0))
    simulation.step(10)
    assert simulation.stats["full_steps"] == 0
    rng = np.random.default_rng(0)
    many = [simulation.apply(k, force=1e-3 * rng.normal(size=3), point=(0.05, 0, 0)) for k in range(0, 1500, 8)]
    simulation.step(10)
    stats = simulation.stats
    assert (stats["hand_overs"], stats["full_steps"]) == (1, 10)
    assert stats["bound"] == 0
    assert len(simulation.active) == model.njoints
    for item in many:
        item.remove()
    simulation.step(5000)
    assert simulation.stats["full_steps"] < 2000
    assert len(simulation.active) < model.njoints
    regions = simulation.regions
    assert regions.active.sum() >= len(simulation.active)


@pytest.mark.slow_python
def test_loops_are_closed_by_springs():
    """A chain of four links whose end is pulled to a pin of the world: the gap closes, and all joints agree."""
    builder = kt.ModelBuilder()
    for k in range(4):
        builder.body(f"l{k}", parent=f"l{k - 1}" if k else None, joint=kt.Revolute("y"),
                     placement=(None, (0.2 if k else 0.0, 0, 0)), mass=0.3, com=(0.1, 0, 0),
                     inertia=(1e-4, 1e-3, 1e-3))  # fmt: skip
    model = builder.build()
    loop = kt.forces.Spring("l3", (0.2, 0, 0), (0.4, 0, 0), 500.0)
    q = np.array([-0.5, 0.5, 0.5, 0.5])
    ends = []
    for method in (kt.Quasistatic(1e-3, hand_over=1.0), kt.Quasistatic(0.0)):
        simulation = kt.Simulation(model, q, dt=0.01, gravity=(0, 0, 0), method=method, forces=[loop])
        simulation.step(3000)
        pose = simulation.pose("l3")
        ends.append(pose[:3, :3] @ (0.2, 0, 0) + pose[:3, 3])
    assert np.abs(np.array(ends) - (0.4, 0, 0)).max() < 1e-3, ends
