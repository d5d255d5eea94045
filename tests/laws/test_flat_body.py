"""A hybrid body is flattened into a small articulated body that moves like it."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from sweeps import Sweep, adaptive_model

import kinetree as kt
import oracle
from kinetree.kernels import aba, hybrid
from kinetree.kernels import layout as at
from kinetree.kernels import nodes as to
from oracle.hybrid import hybrid_accelerations, stop_by_momentum

# Rounding times the condition of trees of up to 30 bodies; the worst of 400 random ones is 4e-11.
SAME = 1e-9

BUSY = {"seed": 4, "n": 30, "branching": 1.0, "roots": 0.1, "share": 0.8}  # has nodes of every kind
bodies = given(
    seed=st.integers(0, 10_000),
    n=st.integers(4, 30),
    branching=st.sampled_from([0.0, 0.3, 1.0]),
    roots=st.sampled_from([0.0, 0.1]),
    share=st.sampled_from([0.5, 0.8, 0.95, 1.0]),
)


class Flat:
    """The small body of a random choice of active nodes: each node below an active one is active by chance."""

    def __init__(self, sweep, rng, share, within=None):
        model, tree, n = sweep.model, sweep.tree, len(sweep.tree)
        self.sweep = sweep
        self.marks = np.zeros((n, to.MARKS), dtype=np.int64)
        self.active = np.zeros(model.nv, dtype=bool)
        for node in range(n - 1, -1, -1):
            up, unit = tree[node, to.PARENT], tree[node, to.UNIT]
            open_ = (up < 0 or self.marks[up, to.ACTIVE]) and (within is None or within.marks[node, to.ACTIVE])
            if tree[node, to.KIND] != to.LEAF and open_ and rng.random() < share:
                self.marks[node, to.ACTIVE] = 1
                if unit >= 0:
                    row = sweep.units[unit]
                    self.active[row[to.FREEDOM : to.FREEDOM + row[to.COUNT]]] = True
        flat = np.zeros((model.njoints, at.TOPOLOGY), dtype=np.int64)
        chain = np.zeros((model.njoints, at.CONSTANTS))
        q_of, v_of = np.zeros(model.nq, dtype=np.int64), np.zeros(model.nv, dtype=np.int64)
        sizes, lists = np.zeros(to.SIZES, dtype=np.int64), np.zeros((3, n), dtype=np.int64)
        groups = np.zeros((len(sweep.units), 2), dtype=np.int64)
        hybrid.flatten(
            tree, sweep.units, model.topology, model.constants, sweep.passive, self.marks, sweep.work.assembly.roots,
            groups, sizes, lists, flat, chain, q_of, v_of,
        )  # fmt: skip
        links, self.q_of, self.v_of = sizes[to.LINKS], q_of[: sizes[to.COORDINATES]], v_of[: sizes[to.VELOCITIES]]
        self.flat, self.chain = flat[:links], chain[:links]
        self.armature = np.ascontiguousarray(model.dofs[self.v_of, at.ARMATURE])
        self.links, self.axes = np.zeros((links, at.LINKS)), np.zeros((len(self.v_of), at.AXES))

    def accelerations(self, v, tau, gravity):
        """Return the accelerations of the small body, from full velocities and joint forces."""
        model, out = self.sweep.model, np.zeros(len(self.v_of))
        bad = aba.checked_aba(
            self.flat, self.chain, self.armature, self.sweep.q[self.q_of], v[self.v_of], tau[self.v_of],
            np.zeros((0, 6)), model.body_links, model.body_poses_in_link, gravity, self.links, self.axes, out,
        )  # fmt: skip
        assert bad == -1
        return out

    def momenta(self, v):
        """Return the generalised momenta of the small body at full length, zero where joints are frozen."""
        out, whole = np.zeros(len(self.v_of)), np.zeros(self.sweep.model.nv)
        hybrid.joint_momenta(
            self.flat, self.chain, self.armature, self.sweep.q[self.q_of], v[self.v_of], self.links, self.axes, out
        )
        whole[self.v_of] = out
        return whole


def draw(seed, n, branching, roots):
    """Return a random forest with the inertia of all its nodes."""
    sweep = Sweep(adaptive_model(seed, n, branching, roots), seed, pushed=False)
    sweep.join(stiff=True)
    return sweep


@bodies
@example(**BUSY)
def test_a_flattened_body_accelerates_like_the_full_one_with_frozen_joints(seed, n, branching, roots, share):
    """It has the freedoms of the active joints, and solves their equations of motion alone."""
    s = draw(seed, n, branching, roots)
    small = Flat(s, np.random.default_rng(seed), share)
    assert sorted(small.v_of) == np.flatnonzero(small.active).tolist()
    v = np.where(small.active, s.v, 0.0)
    actual = small.accelerations(v, s.tau, tuple(s.gravity.tolist()))
    expected = hybrid_accelerations(s.model, s.q, v, s.tau, small.active, gravity=s.gravity)
    oracle.assert_close(actual, expected[small.v_of], SAME, "accelerations")


@bodies
@example(**BUSY)
def test_joints_stop_by_one_solve_of_the_smaller_body(seed, n, branching, roots, share):
    """Momenta are those of the mass matrix, and as joint forces on the body at rest they give the new velocities."""
    s = draw(seed, n, branching, roots)
    rng = np.random.default_rng(seed)
    before = Flat(s, rng, share)
    after = Flat(s, rng, share, within=before)
    v = np.where(before.active, s.v, 0.0)
    matrix = kt.mass_matrix(s.model, s.q)
    momenta = before.momenta(v)
    oracle.assert_close(momenta, np.where(before.active, matrix @ v, 0.0), SAME, "momenta")
    actual = after.accelerations(np.zeros_like(v), momenta, (0.0, 0.0, 0.0))
    expected = stop_by_momentum(matrix, v, after.active)
    oracle.assert_close(actual, expected[after.v_of], SAME, "velocities", max(np.abs(v).max(), 1e-3))
