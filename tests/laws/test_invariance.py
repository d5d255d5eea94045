"""What must not change the physics: place, order, welds, splitting a forest, and the length of a chain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import kinetree as kt
import oracle

EXACT = 1e-12
ROUNDING = 1e-13
FAR = np.array([10e3, -7e3, 4e3])
seeds = st.integers(0, 10**6)


def rebuilt(model, change=lambda index, body: {}, order=None):
    """Return the model built again body by body, with what `change(index, body)` replaces, in another order."""
    builder = kt.ModelBuilder()
    bodies = list(model.description().bodies)
    for index in range(len(bodies)) if order is None else order:
        body = bodies[index]
        values = {
            "name": body.name, "parent": body.parent, "joint": body.joint, "placement": body.placement,
            "mass": body.mass, "com": body.com, "inertia": body.inertia, "armature": body.armature,
        }  # fmt: skip
        values |= change(index, body)
        builder.body(values.pop("name"), **values)
    return builder.build()


@given(seeds)
def test_a_fixed_body_far_away_has_the_same_accelerations(seed):
    """Moving the roots' placements by 10 km changes no acceleration beyond 1e-9, relative."""
    model = oracle.random_model(seed, 10)

    def moved(index, body):
        turn, place = body.placement
        return {"placement": (turn, place + FAR)} if body.parent is None else {}

    q, v, a, tau = oracle.random_motion(model, seed)
    away = rebuilt(model, moved)
    oracle.assert_close(
        kt.forward_dynamics(away, q, v, tau), kt.forward_dynamics(model, q, v, tau), 1e-9, "accelerations"
    )
    oracle.assert_close(kt.inverse_dynamics(away, q, v, a), kt.inverse_dynamics(model, q, v, a), 1e-9, "joint forces")
    oracle.assert_close(kt.mass_matrix(away, q), kt.mass_matrix(model, q), 1e-9, "mass matrix")
    oracle.assert_close(kt.energy(away, q, v)[0], kt.energy(model, q, v)[0], 1e-9, "kinetic energy")


@given(seeds)
def test_a_floating_body_far_away_has_the_same_accelerations(seed):
    """Moving a floating tree by 10 km through its coordinates changes no acceleration beyond 1e-9, relative."""
    model = oracle.random_model(seed, 10, roots=0.0, first="free")
    q, v, _, tau = oracle.random_motion(model, seed)
    away = q.copy()
    away[4:7] += FAR
    here, there = kt.forward_dynamics(model, q, v, tau), kt.forward_dynamics(model, away, v, tau)
    oracle.assert_close(there, here, 1e-9, "accelerations")
    oracle.assert_close(kt.jacobian(model, away, 9), kt.jacobian(model, q, 9), 1e-9, "Jacobian")


@given(seeds)
def test_turning_the_world_turns_nothing_inside(seed):
    """A tree whose roots and gravity are turned together moves alike."""
    model = oracle.random_model(seed, 8)
    turn = Rotation.random(random_state=seed).as_matrix()

    def turned(index, body):
        return {"placement": (turn @ body.placement[0], turn @ body.placement[1])} if body.parent is None else {}

    q, v, _, tau = oracle.random_motion(model, seed)
    gravity = np.array([0.0, 0.0, -9.81])
    here = kt.forward_dynamics(model, q, v, tau, gravity=gravity)
    there = kt.forward_dynamics(rebuilt(model, turned), q, v, tau, gravity=turn @ gravity)
    condition = np.linalg.cond(oracle.mass_matrix(model, q)) if model.nv else 1.0
    oracle.assert_close(there, here, EXACT + 1e-15 * condition, "accelerations", 1.0 + np.abs(here).max(initial=0.0))


@given(seeds)
def test_a_forest_is_its_trees(seed):
    """One call for a forest gives what a call for each of its trees gives, to rounding: loops over links are compiled
    for several at once, so that the last digit depends on the place in the array.
    """
    trees = [oracle.random_model(seed + k, 5, roots=0.0) for k in range(3)]
    builder = kt.ModelBuilder()
    for k, tree in enumerate(trees):
        for body in tree.description().bodies:
            parent = None if body.parent is None else f"{k}/{body.parent}"
            builder.body(
                f"{k}/{body.name}", parent=parent, joint=body.joint, placement=body.placement, mass=body.mass,
                com=body.com, inertia=body.inertia, armature=body.armature,
            )  # fmt: skip
    forest = builder.build()
    motions = [oracle.random_motion(tree, seed + k) for k, tree in enumerate(trees)]
    q, v, a, tau = (np.concatenate(parts) for parts in zip(*motions))
    apart = [kt.forward_dynamics(tree, m[0], m[1], m[3]) for tree, m in zip(trees, motions)]
    oracle.assert_close(kt.forward_dynamics(forest, q, v, tau), np.concatenate(apart), ROUNDING, "accelerations")
    apart = [kt.inverse_dynamics(tree, m[0], m[1], m[2]) for tree, m in zip(trees, motions)]
    oracle.assert_close(kt.inverse_dynamics(forest, q, v, a), np.concatenate(apart), ROUNDING, "joint forces")
    whole = kt.mass_matrix(forest, q)
    for k, tree in enumerate(trees):
        own = slice(sum(t.nv for t in trees[:k]), sum(t.nv for t in trees[: k + 1]))
        oracle.assert_close(whole[own, own], kt.mass_matrix(tree, motions[k][0]), ROUNDING, "mass matrix")
        whole[own, own] = 0
    assert not whole.any(), "trees of a forest are coupled in the mass matrix"


@given(seeds)
def test_the_order_in_which_bodies_are_given_does_not_matter(seed):
    """Shuffled bodies make the same physics, joint by joint."""
    model = oracle.random_model(seed, 9)
    order = np.random.default_rng(seed).permutation(9)
    other = rebuilt(model, order=order)
    q, v, _, tau = oracle.random_motion(model, seed)
    to_q = np.concatenate(
        [np.arange(s.start, s.stop) for s in map(model.q_slice, other.joint_names)] or [np.zeros(0, int)]
    )
    to_v = model.dof_indices(other.joint_names)
    here = kt.forward_dynamics(model, q, v, tau)[to_v]
    there = kt.forward_dynamics(other, q[to_q], v[to_v], tau[to_v])
    condition = np.linalg.cond(oracle.mass_matrix(model, q)) if model.nv else 1.0
    oracle.assert_close(there, here, EXACT + 1e-15 * condition, "accelerations", 1.0 + np.abs(here).max(initial=0.0))
    places = [other.body_index(name) for name in model.names]
    oracle.assert_close(kt.body_poses(other, q[to_q])[places], kt.body_poses(model, q), EXACT, "poses", 10.0)


@given(seeds)
def test_welded_bodies_are_one_body(seed):
    """Two bodies joined by a weld move as one body with the sums of their masses and inertias, by hand."""
    rng = np.random.default_rng(seed)
    turn, offset = Rotation.random(random_state=seed).as_matrix(), rng.normal(size=3)
    masses = rng.uniform(0.5, 2.0, 2)
    inertias = [oracle.trees.random_inertia(rng, m) for m in masses]
    coms = rng.normal(scale=0.3, size=(2, 3))
    tip = {"joint": kt.Revolute((1, 2, 3)), "mass": 0.7, "com": (0.1, 0.2, 0), "inertia": (0.02, 0.03, 0.04)}
    welded = (
        kt.ModelBuilder()
        .body("a", joint=kt.Free, mass=masses[0], com=coms[0], inertia=inertias[0])
        .body("b", parent="a", placement=(turn, offset), mass=masses[1], com=coms[1], inertia=inertias[1])
        .body("tip", parent="b", placement=(turn.T, offset), **tip)
        .build()
    )
    second = turn @ coms[1] + offset
    com = (masses[0] * coms[0] + masses[1] * second) / masses.sum()
    inertia = inertias[0] + turn @ inertias[1] @ turn.T
    for mass, place in zip(masses, (coms[0], second)):
        d = place - com
        inertia = inertia + mass * (d @ d * np.eye(3) - np.outer(d, d))
    merged = (
        kt.ModelBuilder()
        .body("ab", joint=kt.Free, mass=masses.sum(), com=com, inertia=(inertia + inertia.T) / 2)
        .body("tip", parent="ab", placement=(np.eye(3), turn @ offset + offset), **tip)
        .build()
    )
    q, v, a, tau = oracle.random_motion(welded, seed)
    oracle.assert_close(kt.forward_dynamics(welded, q, v, tau), kt.forward_dynamics(merged, q, v, tau), 1e-11, "a")
    oracle.assert_close(kt.inverse_dynamics(welded, q, v, a), kt.inverse_dynamics(merged, q, v, a), EXACT, "tau")
    wrench = rng.normal(size=(3, 6))
    arm = kt.body_poses(welded, q)[1, :3, 3] - kt.body_poses(welded, q)[0, :3, 3]
    on_one = np.array([wrench[0] + wrench[1], wrench[2]])
    on_one[0, :3] += np.cross(arm, wrench[1, 3:])
    ours = kt.forward_dynamics(welded, q, v, tau, external=wrench)
    oracle.assert_close(ours, kt.forward_dynamics(merged, q, v, tau, external=on_one), 1e-11, "a with wrenches")
    subset = rebuilt(welded, lambda i, body: {"joint": kt.Fixed()} if body.name == "tip" else {})
    assert (subset.njoints, subset.nv) == (1, 6)


@pytest.mark.parametrize("kind", ["universal", "planar", "spherical"])
def test_a_joint_is_a_chain_of_simpler_ones(kind):
    """A universal joint is two hinges and a planar one two slides and a hinge; a ball moves like three hinges."""
    body = {"mass": 1.3, "com": (0.1, -0.2, 0.3), "inertia": (0.02, 0.03, 0.04, 0.001, 0.002, 0.003)}
    rng = np.random.default_rng(3)
    if kind == "universal":
        whole = kt.ModelBuilder().body("b", joint=kt.Universal("x", "z"), **body).build()
        parts = (
            kt.ModelBuilder().body("c", joint=kt.Revolute("x")).body("b", parent="c", joint=kt.Revolute("z"), **body)
        )
    elif kind == "planar":
        whole = kt.ModelBuilder().body("b", joint=kt.Planar(), **body).build()
        parts = kt.ModelBuilder().body("x", joint=kt.Prismatic("x")).body("y", parent="x", joint=kt.Prismatic("y"))
        parts.body("b", parent="y", joint=kt.Revolute("z"), **body)
    else:
        whole = kt.ModelBuilder().body("b", joint=kt.Spherical(), **body).build()
        parts = kt.ModelBuilder().body("z", joint=kt.Revolute("z")).body("y", parent="z", joint=kt.Revolute("y"))
        parts.body("b", parent="y", joint=kt.Revolute("x"), **body)
    split = parts.build()
    q, v = rng.normal(size=split.nv), rng.normal(size=split.nv)
    if kind == "spherical":
        turn = Rotation.from_euler("ZYX", q)
        spin = turn.as_matrix().T @ kt.body_velocities(split, q, v)[-1, :3]
        ours = kt.forward_dynamics(whole, np.roll(turn.as_quat(), 1), spin)
        a = kt.forward_dynamics(split, q, v)
        theirs = turn.as_matrix().T @ kt.body_accelerations(split, q, v, a)[-1, :3]
        oracle.assert_close(ours, theirs, 1e-11, "angular acceleration")
        return
    order = [2, 0, 1] if kind == "planar" else [0, 1]  # a planar joint has its angle first
    tau = rng.normal(size=split.nv)
    split_a = kt.forward_dynamics(split, q, v, tau)
    oracle.assert_close(kt.forward_dynamics(whole, q[order], v[order], tau[order]), split_a[order], 1e-11, kind)


@pytest.mark.parametrize("bend", [0.0, 0.3], ids=["straight", "bent"])
@pytest.mark.parametrize("kind", ["revolute", "spherical"])
@pytest.mark.slow_python
def test_rnea_of_aba_is_the_identity_on_ten_thousand_links(kind, bend):
    """On a chain of 10,000 links, 1 km long, joint forces come back to 1e-9 of the largest."""
    n = 10_000
    builder = kt.ModelBuilder()
    for i in range(n):
        joint = kt.Revolute("xyz"[i % 3]) if kind == "revolute" else kt.Spherical()
        builder.body(
            f"b{i}", parent=f"b{i - 1}" if i else None, joint=joint, placement=(None, (0.1 if i else 0.0, 0, 0)),
            mass=0.1, com=(0.05, 0, 0), inertia=(1e-5, 1e-4, 1e-4),
        )  # fmt: skip
    model = builder.build()
    rng = np.random.default_rng(0)
    q = kt.integrate(model, model.neutral(), rng.normal(scale=bend, size=model.nv), 1.0)
    v, tau = rng.normal(scale=bend, size=model.nv), rng.normal(size=model.nv)
    back = kt.inverse_dynamics(model, q, v, kt.forward_dynamics(model, q, v, tau))
    print(f"{kind}, bent by {bend}: RNEA(ABA) off by {np.abs(back - tau).max():.3g} N m")
    oracle.assert_close(back, tau, 1e-9, "RNEA(ABA)")
