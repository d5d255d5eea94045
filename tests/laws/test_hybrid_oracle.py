"""What the oracle of hybrid bodies says: two ways to stop joints are one, and stopping never gains energy."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import kinetree as kt
import oracle
from oracle.hybrid import hybrid_accelerations, kinetic_energy, stop_by_impulses, stop_by_momentum

# Rounding times the condition of mass matrices of up to 25 bodies; the worst of 400 random ones is 3e-12.
SAME = 1e-9

bodies = given(seed=st.integers(0, 10_000), n=st.integers(1, 25), share=st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))
ALL = {"seed": 3, "n": 25, "share": 0.5}


def draw(seed, n, share):
    """Return a random body in motion, and which of its freedoms are active: about `share` of its joints."""
    first = oracle.MOVING[seed % len(oracle.MOVING)]
    model = oracle.random_model(seed, n, massless=0.0, armature=0.3, first=first)
    rng = np.random.default_rng(seed)
    active = np.zeros(model.nv, dtype=bool)
    for name in model.joint_names:
        active[model.dof_indices([name])] = rng.random() < share
    return model, *oracle.random_motion(model, seed), active


def joined_rigidly(model, q, active):
    """Return the model with frozen joints welded where they are, its q, and the freedoms that it keeps."""
    poses, builder, kept = kt.body_poses(model, q), kt.ModelBuilder(), []
    at_q = []
    for body in model.description().bodies:
        index, joint, placement = model.body_index(body.name), body.joint, body.placement
        own = np.arange(model.v_starts[index], model.v_starts[index + 1])
        armature = body.armature
        if len(own) and not active[own].any():
            parent = np.eye(4) if body.parent is None else poses[model.body_index(body.parent)]
            pose = np.linalg.inv(parent) @ poses[index]
            joint, placement, armature = kt.Fixed(), (pose[:3, :3], pose[:3, 3]), 0.0
        else:
            at_q.extend(range(model.q_starts[index], model.q_starts[index + 1]))
            kept.extend(own)
        builder.body(
            body.name, parent=body.parent, joint=joint, placement=placement, mass=body.mass, com=body.com,
            inertia=body.inertia, armature=armature,
        )  # fmt: skip
    return builder.build(), q[at_q], np.array(kept, dtype=int)


@bodies
@example(**ALL)
def test_a_body_with_frozen_joints_moves_like_one_that_is_welded_there(seed, n, share):
    """Missing columns are missing joints: the articulated-body algorithm on a welded body gives the accelerations."""
    model, q, v, _, tau, active = draw(seed, n, share)
    v = np.where(active, v, 0.0)
    external = oracle.random_wrenches(model, seed)
    actual = hybrid_accelerations(model, q, v, tau, active, external)
    assert not actual[~active].any()
    welded, q_welded, kept = joined_rigidly(model, q, active)
    assert sorted(kept) == np.flatnonzero(active).tolist()
    expected = kt.forward_dynamics(welded, q_welded, v[kept], tau[kept], external=external)
    oracle.assert_close(actual[kept], expected, SAME, "accelerations")
    balance = kt.inverse_dynamics(model, q, v, actual, external=external) - tau
    oracle.assert_close(balance[active], np.zeros(active.sum()), SAME, "joint forces", np.abs(tau - balance).max())


@bodies
@example(**ALL)
def test_the_two_ways_to_stop_joints_are_one(seed, n, share):
    """The impulses of the paper and the momentum that they leave alone lead to the same velocities."""
    model, q, v, _, _, active = draw(seed, n, share)
    matrix = kt.mass_matrix(model, q)
    impulses, momentum = stop_by_impulses(matrix, v, active), stop_by_momentum(matrix, v, active)
    oracle.assert_close(impulses, momentum, SAME, "velocities", np.abs(v).max())
    assert not momentum[~active].any()


@bodies
@example(**ALL)
def test_stopping_joints_never_gains_energy(seed, n, share):
    """The new velocities are the nearest in the kinetic metric: what is lost is the energy of the difference."""
    model, q, v, _, _, active = draw(seed, n, share)
    matrix = kt.mass_matrix(model, q)
    before = kinetic_energy(matrix, v)
    assert before == pytest.approx(kt.energy(model, q, v)[0], rel=1e-12)
    for stop in (stop_by_impulses, stop_by_momentum):
        after = stop(matrix, v, active)
        energy = kinetic_energy(matrix, after)
        assert energy <= before * (1 + SAME), stop.__name__
        assert before - energy == pytest.approx(kinetic_energy(matrix, v - after), abs=SAME * before), stop.__name__
    again = stop_by_momentum(matrix, after, active)
    oracle.assert_close(again, after, SAME, "velocities when nothing is left to stop", np.abs(v).max())
    rng = np.random.default_rng(seed)
    for _ in range(5):  # no other velocities of the active joints are nearer
        other = after + active * rng.normal(size=model.nv) * 1e-3
        assert kinetic_energy(matrix, v - other) >= kinetic_energy(matrix, v - after) * (1 - SAME)


@bodies
@example(**ALL)
def test_joints_may_stop_one_after_the_other(seed, n, share):
    """Stopping some joints and then more of them, within what still moves, is stopping all of them at once."""
    model, q, v, _, _, active = draw(seed, n, share)
    matrix = kt.mass_matrix(model, q)
    rng = np.random.default_rng(seed + 1)
    transient = active | (rng.random(model.nv) < 0.5)
    once = stop_by_momentum(matrix, v, active)
    first = stop_by_momentum(matrix, v, transient)
    part = matrix[np.ix_(transient, transient)]
    for stop in (stop_by_impulses, stop_by_momentum):
        twice = np.zeros(model.nv)
        twice[transient] = stop(part, first[transient], active[transient])
        oracle.assert_close(twice, once, SAME, stop.__name__, np.abs(v).max())


def test_a_body_in_space_keeps_its_momentum_when_its_joints_stop():
    """The impulses are inside: linear and angular momentum stay, and the body goes on as one rigid body."""
    kinds = [kind for kind in oracle.MOVING if kind != "free"]
    model = oracle.random_model(8, 12, kinds, roots=0.0, massless=0.0, armature=0.0, first="free")
    q, v = model.random_state(2)
    active = np.arange(model.nv) < 6
    before = kt.momentum(model, q, v)
    after = stop_by_momentum(kt.mass_matrix(model, q), v, active)
    assert np.abs(after - v).max() > 0.1
    oracle.assert_close(kt.momentum(model, q, after), before, 1e-12, "momentum")


def test_a_frozen_joint_with_a_velocity_is_refused():
    """Otherwise its velocity would act on the others, and be lost."""
    model, q, v, _, tau, _ = draw(0, 4, 1.0)
    with pytest.raises(ValueError, match="velocity"):
        hybrid_accelerations(model, q, v, tau, np.zeros(model.nv, dtype=bool))
