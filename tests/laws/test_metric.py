"""The acceleration metric of a node is the sum over its joints of qdd' A qdd (Redon 2005, Theorem 1)."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from sweeps import Sweep, adaptive_model

import kinetree as kt
from kinetree.kernels import nodes as to

# Relative to the metric of the whole tree that a node stands in, or to that of its parts before they cancel. Rounding
# is multiplied by the conditioning of trees of up to 30 bodies: the worst of 400 random ones is 5e-10.
SAME = 1e-8
# A negative eigenvalue of a symmetric matrix over its largest one; the worst of 400 trees is 3e-12.
NEGATIVE = 1e-10

BUSY = {"seed": 4, "n": 30, "branching": 1.0, "roots": 0.1}  # has nodes of every kind
ALONE = {"seed": 6, "n": 1, "branching": 0.0, "roots": 0.0}
trees = given(
    seed=st.integers(0, 10_000),
    n=st.integers(4, 30),
    branching=st.sampled_from([0.0, 0.3, 1.0]),
    roots=st.sampled_from([0.0, 0.1]),
)


def joined(seed, n, branching, roots):
    """Return a random forest with all its coefficients."""
    model = adaptive_model(seed, n, branching, roots)
    sweep = Sweep(model, seed)
    sweep.join()
    return sweep


def block(metrics, node, start):
    """Return a 6 x 6 block of a node's metric."""
    return metrics[node, start : start + 36].reshape(6, 6)


def form(sweep, node):
    """Return the metric of a node as the matrix of a quadratic form in (wrench on head, wrench on tail, 1)."""
    m = sweep.metrics
    if sweep.tree[node, to.KIND] != to.COMPRESS:
        p = m[node, to.LINEAR1 : to.LINEAR1 + 6][:, None] / 2
        return np.block([[block(m, node, to.Y1), p], [p.T, m[node, to.ETA]]])
    y12 = block(m, node, to.Y12)
    p = m[node, to.LINEAR1 : to.LINEAR1 + 12][:, None] / 2
    psi = np.block([[block(m, node, to.Y1), y12], [y12.T, block(m, node, to.Y2)]])
    return np.block([[psi, p], [p.T, m[node, to.ETA]]])


def test_a_busy_tree_has_nodes_of_every_kind():
    """The example that every law is tried on has hubs that are split and merged, and several trees."""
    sweep = joined(**BUSY)
    kinds = np.bincount(sweep.tree[:, to.KIND], minlength=5)
    assert (kinds > 0).all(), kinds
    assert kinds[to.ROOT] > 1, kinds
    joints = {str(kind) for kind in sweep.model.joint_kinds}
    assert len(joints) == 8, joints


@trees
@example(**BUSY)
@example(**ALONE)
def test_the_metric_of_every_node_is_the_sum_over_its_joints(seed, n, branching, roots):
    """At the accelerations of the articulated-body algorithm, which knows nothing of the assembly tree."""
    s = joined(seed, n, branching, roots)
    qdd = kt.forward_dynamics(s.model, s.q, s.v, s.tau, external=s.external, gravity=s.gravity)
    expected = s.sums(s.weigh(qdd))
    actual = np.array([s.value(node) for node in range(len(s.tree))])
    roots = s.work.assembly.roots
    np.testing.assert_allclose(expected[roots].sum(), s.weigh(qdd).sum(), rtol=1e-12, err_msg="roots have all joints")
    whole = np.bincount(s.tree[roots, to.ROOT_OF], expected[roots])
    error = np.abs(actual - expected) / whole[s.tree[:, to.ROOT_OF]]
    worst = int(error.argmax())
    assert error[worst] < SAME, f"node {s.tree[worst]}: {actual[worst]} and not {expected[worst]}, {error[worst]:.2e}"


@trees
@example(**BUSY)
@example(**ALONE)
def test_the_metric_holds_for_any_wrenches_on_a_node_that_is_cut_out(seed, n, branching, roots):
    """Psi, p and eta are those of a function of the wrenches, not only right at the wrenches of the motion."""
    s = joined(seed, n, branching, roots)
    rng = np.random.default_rng(seed)
    inner = np.flatnonzero((s.tree[:, to.KIND] != to.LEAF) & (s.tree[:, to.KIND] != to.ROOT))
    for node in rng.permutation(inner)[:8]:
        head, tail = 10.0 ** rng.uniform(-1, 2) * rng.normal(size=(2, 6))
        actual, qdd = s.push(node, head, tail)
        expected = s.sums(s.weigh(qdd))[node]
        matrix = form(s, node)
        pushes = np.concatenate((head, tail)) if s.tree[node, to.KIND] == to.COMPRESS else head + tail
        scale = pushes @ matrix[:-1, :-1] @ pushes + matrix[-1, -1]  # with the wrenches alone, and without them
        assert abs(actual - expected) < SAME * scale, f"node {s.tree[node]}: {actual} and not {expected}"


@trees
@example(**BUSY)
@example(**ALONE)
def test_the_metric_is_a_form_that_is_never_negative(seed, n, branching, roots):
    """Psi is symmetric and positive semidefinite, and so is the whole form with p and eta: it is a sum of squares."""
    s = joined(seed, n, branching, roots)
    for node, kind in enumerate(s.tree[:, to.KIND]):
        if kind == to.ROOT:
            assert s.metrics[node, to.ETA] >= 0
            continue
        matrix = form(s, node)
        if kind == to.LEAF:
            assert not matrix.any(), "a leaf has no joint"
            continue
        size = np.ones(len(matrix))
        if matrix[-1, -1] > 0:  # neither wrenches nor constant are lost beside the other
            size[-1] = np.sqrt(max(np.trace(matrix[:-1, :-1]), 1e-300) / matrix[-1, -1])
        matrix = matrix * np.outer(size, size)
        assert np.abs(matrix - matrix.T).max() <= 1e-14 * np.abs(matrix).max(), f"node {s.tree[node]}"
        for part, what in ((matrix[:-1, :-1], "Psi"), (matrix, "form")):
            values = np.linalg.eigvalsh(part)
            assert values[0] >= -NEGATIVE * max(values[-1], 1e-300), f"{what} of node {s.tree[node]}: {values}"


def test_a_metric_is_linear_in_its_weights():
    """The metric of a sum of weights is the sum of the metrics; without weights it is zero."""
    s = joined(**BUSY)
    both, one = s.weights.copy(), np.zeros_like(s.weights)
    one[::2] = both[::2]
    total = s.metrics[:, : to.VALUE].copy()
    parts = []
    for weights in (one, both - one, np.zeros_like(both)):
        s.weights[:] = weights
        s.join()
        parts.append(s.metrics[:, : to.VALUE].copy())
    assert not parts[2].any()
    scale = np.abs(total).max(axis=0) + 1e-300
    assert (np.abs(parts[0] + parts[1] - total) / scale).max() < 1e-11
