"""Nodes that move as one rigid body: their coefficients follow from the angular velocity alone."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from sweeps import Sweep, adaptive_model

import kinetree as kt
from kinetree.kernels import nodes as to

# Relative to the largest entry of the same coefficient over the nodes of a forest of up to 30 bodies, both ways being
# sums of the same products in another order; the worst of 400 random forests is 1e-12.
SAME = 1e-10
EXACT = 1e-12  # poses and inertias: a handful of products from node to node

BUSY = {"seed": 4, "n": 30, "branching": 1.0, "roots": 0.1}  # has nodes of every kind
ALONE = {"seed": 6, "n": 1, "branching": 0.0, "roots": 0.0}
trees = given(
    seed=st.integers(0, 10_000),
    n=st.integers(4, 30),
    branching=st.sampled_from([0.0, 0.3, 1.0]),
    roots=st.sampled_from([0.0, 0.1]),
)


def stiff(seed, n, branching, roots):
    """Return a random forest in which only the root joints move."""
    model = adaptive_model(seed, n, branching, roots)
    sweep = Sweep(model, seed, pushed=False)
    moving = np.zeros(model.nv, dtype=bool)
    for row in sweep.units[sweep.units[:, to.UP] < 0]:
        moving[row[to.FREEDOM : to.FREEDOM + row[to.COUNT]]] = True
    sweep.v = np.where(moving, 3 * sweep.v, 0.0)
    sweep.join(stiff=True)
    return sweep


def linear(sweep):
    """Return the linear coefficients of every node, those of the tail only where there is a tail, and eta."""
    inner = sweep.tree[:, to.KIND] != to.ROOT
    long = sweep.tree[:, to.KIND] == to.COMPRESS
    n, m = sweep.nodes, sweep.metrics
    return {
        "b1": n[inner, to.B1 : to.B1 + 6].copy(),
        "b2": n[long, to.B2 : to.B2 + 6].copy(),
        "p1": m[inner, to.LINEAR1 : to.LINEAR1 + 6].copy(),
        "p2": m[long, to.LINEAR2 : to.LINEAR2 + 6].copy(),
        "eta": m[inner, to.ETA].copy(),
    }


def errors(actual, expected):
    """Return the error of each coefficient relative to its largest entry."""
    return {
        key: float(np.abs(actual[key] - expected[key]).max() / max(np.abs(expected[key]).max(), 1e-300))
        for key in expected
        if expected[key].size
    }


def unit_poses(sweep):
    """Return the pose of every unit in the world (4 x 4), from the poses of the bodies."""
    model, result = sweep.model, np.zeros((len(sweep.units), 4, 4))
    poses = kt.body_poses(model, sweep.q)
    for body, link in enumerate(model.body_links):
        if link < 0:
            continue
        unit = sweep.work.assembly.unit_of_link[link]
        if sweep.units[unit, to.LAST] == link:
            result[unit] = poses[body] @ np.linalg.inv(homogeneous(model.body_poses_in_link[body]))
    return result


def homogeneous(row):
    """Return a rotation (row-major) and a position as a 4 x 4 matrix."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = row[:9].reshape(3, 3), row[9:12]
    return pose


def inertia_about(poses, pose, model, bodies, shares):
    """Return mass, first moment and the six entries of J of bodies, in the frame `pose`, by their definitions."""
    total, moment, tensor = 0.0, np.zeros(3), np.zeros((3, 3))
    for body in bodies:
        place = np.linalg.inv(pose) @ poses[body]
        turn, mass = place[:3, :3], shares[body] * model.masses[body]
        c = turn @ model.coms[body] + place[:3, 3]
        total += mass
        moment += mass * c
        tensor += shares[body] * turn @ model.inertias[body] @ turn.T + mass * (c @ c * np.eye(3) - np.outer(c, c))
    return np.array([total, *moment, *tensor[np.triu_indices(3)]])


@trees
@example(**BUSY)
@example(**ALONE)
def test_rigid_nodes_have_the_coefficients_of_the_recursion(seed, n, branching, roots):
    """One pair of matrices gives b, p and eta at any angular velocity, constant joint forces included."""
    s = stiff(seed, n, branching, roots)
    still = s.v.copy()
    for factor in (1.0, 0.0, -2.5):
        s.v = factor * still + (factor == -2.5) * np.sign(still)  # the last one in another direction
        s.join()
        expected = linear(s)
        s.turn()
        worst = errors(linear(s), expected)
        assert max(worst.values()) < SAME, f"at {factor} times the velocity: {worst}"


def test_the_coefficients_do_not_know_of_linear_velocity():
    """By Galilean invariance a rigid node that also flies has the coefficients of one that only turns."""
    builder = kt.ModelBuilder().body("a", joint=kt.Free(), mass=2, com=(0.1, 0.2, 0), inertia=(0.3, 0.2, 0.25))
    builder.body("b", parent="a", joint=kt.Universal("x", "y"), placement=(None, (0.5, 0, 0.1)), mass=1,
                 com=(0, 0.1, 0.3), inertia=(0.1, 0.2, 0.15))  # fmt: skip
    builder.body("c", parent="b", joint=kt.Planar(), placement=(None, (0, 0.2, 0.1)), mass=1.5, com=(0.2, 0, 0),
                 inertia=(0.1, 0.15, 0.2))  # fmt: skip
    s = Sweep(builder.build(), 1, pushed=False)
    s.v[6:] = 0
    s.join()
    turning = linear(s)
    s.v[3:6] = (300.0, -200.0, 100.0)
    s.join()
    worst = errors(linear(s), turning)
    assert max(worst.values()) < EXACT, worst


@trees
@example(**BUSY)
@example(**ALONE)
def test_rigid_nodes_know_where_tail_and_right_child_are(seed, n, branching, roots):
    """TAIL_POSE and RIGHT_POSE are the poses that the bodies have."""
    s = stiff(seed, n, branching, roots)
    poses = unit_poses(s)
    for node in np.flatnonzero(s.tree[:, to.KIND] != to.ROOT):
        row = s.tree[node]
        inverse = np.linalg.inv(poses[row[to.HEAD]])
        places = {to.TAIL_POSE: row[to.TAIL]}
        if row[to.KIND] != to.LEAF:
            places[to.RIGHT_POSE] = s.tree[row[to.RIGHT], to.HEAD]
        for start, unit in places.items():
            actual = homogeneous(s.passive[node, start : start + 12])
            error = np.abs(actual - inverse @ poses[unit]).max()
            scale = max(1.0, np.abs(poses[:, :3, 3]).max())
            assert error < EXACT * scale, f"column {start} of node {row}: {error:.2e}"


@trees
@example(**BUSY)
@example(**ALONE)
def test_rigid_nodes_have_the_inertia_of_their_bodies(seed, n, branching, roots):
    """BODY is the sum of the bodies' masses, first moments and inertias, each moved to the frame of the head."""
    s = stiff(seed, n, branching, roots)
    model, assembly = s.model, s.work.assembly
    poses, frames = kt.body_poses(model, s.q), unit_poses(s)
    unit_of_body = np.where(model.body_links < 0, -1, assembly.unit_of_link[model.body_links])
    for node in np.flatnonzero(s.tree[:, to.KIND] != to.ROOT):
        part = np.zeros(len(s.units))
        for k in s.below(node):
            if s.tree[k, to.KIND] == to.LEAF:
                part[s.tree[k, to.UNIT]] += abs(assembly.share[k])
        bodies = np.flatnonzero(unit_of_body >= 0)
        bodies = bodies[part[unit_of_body[bodies]] > 0]
        shares = dict(zip(bodies, part[unit_of_body[bodies]], strict=True))
        expected = inertia_about(poses, frames[s.tree[node, to.HEAD]], model, bodies, shares)
        actual = s.passive[node, to.BODY : to.BODY + 10]
        for entries in (slice(0, 1), slice(1, 4), slice(4, 10)):
            scale = max(np.abs(expected[entries]).max(), 0.01 * expected[0])
            error = np.abs(actual[entries] - expected[entries]).max() / scale
            assert error < EXACT, f"{entries} of node {s.tree[node]}: {actual} and not {expected}, {error:.2e}"
    whole = s.tree[s.tree[:, to.KIND] == to.ROOT, to.RIGHT]
    carried = model.masses[model.body_links >= 0].sum()
    np.testing.assert_allclose(s.passive[whole, to.BODY].sum(), carried, rtol=EXACT)
