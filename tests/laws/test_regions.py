"""The regions of an assembly tree partition it as the paper defines them, on random trees."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.adaptive.assembly_tree import build_tree
from kinetree.adaptive.regions import REGIONS, Regions, classify, units_of_links
from kinetree.errors import ArgumentError
from kinetree.kernels import nodes as to
from oracle.trees import random_model


def random_active(assembly, rng, chance=0.8):
    """Return the marks of a random subtree with the root (of some of the trees of the forest)."""
    tree = assembly.tree
    active = np.zeros(len(tree), dtype=int)
    for node in range(len(tree) - 1, -1, -1):
        above = tree[node, to.PARENT]
        if tree[node, to.KIND] != to.LEAF and (above < 0 or active[above]):
            active[node] = rng.random() < chance
    return active


def random_case(seed):
    """Return a random tree, marks, and which of its units and joints forces act on."""
    rng = np.random.default_rng(seed)
    model = random_model(seed, int(rng.integers(2, 60)), roots=0.15, massless=0.0)
    assembly = build_tree(model)
    m = len(assembly.units)
    return assembly, random_active(assembly, rng), rng.random(m) < 0.1, rng.random(m) < 0.05


def forced_slowly(assembly, pushed, driven):
    """Return the force update region by the words of the paper, one node after the other, children first."""
    tree, forced, force_inside = assembly.tree, [], []
    done = set()
    for row in tree:
        left, right = row[to.LEFT], row[to.RIGHT]
        if row[to.KIND] == to.LEAF:
            # a body's force acts on the first of its shares
            acts = bool(pushed[row[to.UNIT]]) and row[to.UNIT] not in done
            done.add(row[to.UNIT])
            forced.append(False)
            force_inside.append(acts)
            continue
        children = [child for child in (left, right) if child >= 0]
        joint = row[to.UNIT] >= 0 and bool(driven[row[to.UNIT]])
        forced.append(joint or any(forced[c] or force_inside[c] for c in children))
        force_inside.append(any(force_inside[c] for c in children))
    return np.array(forced)


@pytest.mark.parametrize("seed", range(40))
def test_regions_are_as_defined(seed):
    """Each region, said again in other words, node by node."""
    assembly, active, pushed, driven = random_case(seed)
    regions = classify(assembly, active, forced_units=pushed, forced_joints=driven)
    tree = assembly.tree
    np.testing.assert_array_equal(regions.force_update, forced_slowly(assembly, pushed, driven))
    for node, row in enumerate(tree):
        above = row[to.PARENT]
        assert regions.active[node] == (active[node] == 1)
        assert regions.rigid[node] != regions.active[node]
        assert regions.update[node] == (regions.active[node] or regions.force_update[node])
        assert regions.passive[node] != regions.update[node]
        assert regions.rigid_front[node] == (regions.rigid[node] and above >= 0 and regions.active[above])
        assert regions.passive_front[node] == (regions.passive[node] and above >= 0 and regions.update[above])
        if above >= 0:  # both regions are closed upwards
            assert regions.active[above] >= regions.active[node]
            assert regions.update[above] >= regions.update[node]
        if row[to.KIND] == to.LEAF:
            assert regions.rigid[node]
            assert regions.passive[node]
    counts = regions.counts()
    assert counts["nodes"] == counts["active"] + counts["rigid"] == counts["update"] + counts["passive"] == len(tree)
    assert set(counts) == {"nodes", *REGIONS}
    assert f"{counts['rigid_front']} rigid_front" in repr(regions)


@pytest.mark.parametrize("seed", range(20))
def test_fronts_cut_every_way_to_a_body_once(seed):
    """On the way from a body to the root of its tree there is one node of the rigid front, where the tree is active."""
    assembly, active, pushed, driven = random_case(seed)
    regions = classify(assembly, active, forced_units=pushed, forced_joints=driven)
    tree = assembly.tree
    for leaf in np.flatnonzero(tree[:, to.KIND] == to.LEAF):
        way = [leaf]
        while tree[way[-1], to.PARENT] >= 0:
            way.append(tree[way[-1], to.PARENT])
        assert regions.rigid_front[way].sum() == regions.active[way[-1]]
        assert regions.passive_front[way].sum() == regions.update[way[-1]]


@pytest.mark.parametrize("seed", range(20))
def test_the_active_joints_are_the_joints_of_the_hybrid_body(seed):
    """A tree with k active joints has a rigid front of at least k + 1 nodes (shares of one body are several)."""
    assembly, active, _, _ = random_case(seed)
    regions = classify(assembly, active)
    tree = assembly.tree
    for root in assembly.roots:
        if regions.active[root]:
            own = tree[:, to.ROOT_OF] == tree[root, to.ROOT_OF]
            twos = regions.active & own & (tree[:, to.LEFT] >= 0)  # all but the root join two
            assert (regions.rigid_front & own).sum() == twos.sum() + 1


def test_fully_articulated_and_fully_rigid():
    """All joints, or none, and no force: the fronts are the leaves, or there are none."""
    assembly = build_tree(kt.models.humanoid())
    inner = assembly.tree[:, to.KIND] != to.LEAF
    all_move, none_moves = classify(assembly, inner), classify(assembly, np.zeros(len(inner), dtype=int))
    np.testing.assert_array_equal(all_move.rigid_front, ~inner)
    np.testing.assert_array_equal(all_move.passive_front, ~inner)
    assert none_moves.counts() == {
        "nodes": len(inner), "active": 0, "rigid": len(inner), "rigid_front": 0, "force_update": 0, "update": 0,
        "passive": len(inner), "passive_front": 0,
    }  # fmt: skip


def test_constant_joint_forces_of_frozen_joints_update_nothing():
    """Only what is named as changing does; a spring on every joint is not."""
    model = kt.models.pendulum(16)
    assembly = build_tree(model)
    marks = np.zeros(len(assembly.tree), dtype=int)
    marks[assembly.roots] = 1
    constant = classify(assembly, marks, forced_joints=np.zeros(16, dtype=bool))
    assert not constant.force_update.any()
    one = classify(assembly, marks, forced_joints=np.arange(16) == 9)
    way = [assembly.units[9, to.JOINT]]
    while assembly.tree[way[-1], to.PARENT] >= 0:
        way.append(assembly.tree[way[-1], to.PARENT])
    np.testing.assert_array_equal(np.flatnonzero(one.force_update), np.sort(way))


def test_a_force_on_a_hub_of_many_shares_acts_on_one_of_them():
    """The way up from one share is as long as the logarithm of the number of arms."""
    builder = kt.ModelBuilder().body("hub", joint=kt.Free(), mass=1.0, inertia=np.eye(3))
    for k in range(1000):
        builder.body(f"arm{k}", parent="hub", joint=kt.Revolute("z"), mass=1.0, com=(0, 0, 1), inertia=np.eye(3))
    assembly = build_tree(builder.build())
    regions = classify(
        assembly, np.zeros(len(assembly.tree), dtype=int), forced_units=units_of_links(assembly, [0, -1])
    )
    assert 3 <= regions.counts()["force_update"] <= 3 * np.log2(1001)


def test_bad_marks_are_refused():
    """The active nodes contain all above them and no leaf; arrays have the right shape and type."""
    assembly = build_tree(kt.models.pendulum(6))
    n = len(assembly.tree)
    lonely = np.zeros(n, dtype=int)
    lonely[assembly.tree[assembly.roots[0], to.RIGHT]] = 1
    with pytest.raises(ArgumentError, match="is active, but its parent"):
        classify(assembly, lonely)
    with pytest.raises(ArgumentError, match="a leaf has no joint"):
        classify(assembly, np.ones(n, dtype=int))
    with pytest.raises(ArgumentError, match=f"give {n} booleans"):
        classify(assembly, np.zeros(n + 1, dtype=int))
    with pytest.raises(ArgumentError, match="forced_units is float64"):
        classify(assembly, np.zeros(n, dtype=int), forced_units=np.zeros(6))
    regions = classify(assembly, np.zeros(n, dtype=int))
    assert isinstance(regions, Regions)
    with pytest.raises(ValueError, match="read-only"):
        regions.active[0] = True


@pytest.mark.slow_python
def test_a_large_molecule_has_regions():
    """50,000 joints with forces on 500 of their bodies: every node is in exactly one of active and rigid."""
    model = kt.models.molecule(50000, seed=1)
    assembly = build_tree(model)
    rng = np.random.default_rng(0)
    active = random_active(assembly, rng, 0.95)
    pushed = rng.random(len(assembly.units)) < 0.01
    regions = classify(assembly, active, forced_units=pushed, forced_joints=pushed)
    assert len(regions.active) == len(assembly.tree)
    np.testing.assert_array_equal(regions.rigid, ~regions.active)
