"""Divide and conquer: the assembly tree is balanced, and joins to the same accelerations as the other algorithms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.adaptive.assembly_tree import build_tree
from kinetree.kernels import nodes as to
from oracle.trees import random_model

# Both algorithms are backward stable; what is left is rounding times the conditioning of trees of up to 40 bodies.
SAME = 1e-10


def both(model: kt.Model, seed: int, external: bool = True) -> float:
    """Return by how much ABA and DCA differ, relative to the largest acceleration."""
    rng = np.random.default_rng(seed)
    q, v = model.random_state(seed)
    tau = rng.normal(size=model.nv)
    wrenches = rng.normal(size=(model.nbodies, 6))
    wrenches[model.masses == 0] = 0
    options = {"external": wrenches if external else None, "gravity": rng.normal(size=3) * 10}
    aba = kt.forward_dynamics(model, q, v, tau, **options)
    dca = kt.forward_dynamics(model, q, v, tau, method="dca", **options)
    return float(np.abs(aba - dca).max() / max(1.0, np.abs(aba).max()))


@given(seed=st.integers(0, 10_000), n=st.integers(1, 40), branching=st.floats(0, 1), roots=st.floats(0, 0.2))
def test_dca_equals_aba_on_random_trees_of_every_joint(seed, n, branching, roots):
    """Joining pair by pair and sweeping link by link are two ways to solve the same equations."""
    model = random_model(seed, n, branching=branching, roots=roots, massless=0.0, armature=0.3)
    error = both(model, seed)
    assert error < SAME, f"differs by {error:.2e}"


def test_massless_links_are_one_joint_with_several_axes():
    """Three hinges in a row without mass between them are one joint of three axes for divide and conquer."""
    builder = kt.ModelBuilder().body("a", joint=kt.Free(), mass=2, com=(0.1, 0.2, 0), inertia=(0.3, 0.2, 0.25))
    parent = "a"
    for k, axis in enumerate("xyz"):
        builder.body(f"m{k}", parent=parent, joint=kt.Revolute(axis), placement=(None, (0.1, 0, 0.2)))
        parent = f"m{k}"
    builder.body("b", parent=parent, joint=kt.Fixed(), mass=1, com=(0.1, 0, 0.3), inertia=(0.1, 0.2, 0.15))
    model = builder.build()
    assert len(build_tree(model).units) == 2
    assert both(model, 1, external=False) < SAME


@pytest.mark.parametrize("n", [10, 1000])
def test_a_star_is_not_deep(n):
    """A hub with very many arms is split into shares, so that the tree stays of logarithmic height."""
    builder = kt.ModelBuilder().body("hub", joint=kt.Free(), mass=1, inertia=(1, 1, 1))
    for k in range(n):
        place = (None, (np.cos(k), np.sin(k), 0))
        builder.body(f"arm{k}", parent="hub", joint=kt.Revolute("y"), placement=place, mass=1, com=(0.1, 0, 0),
                     inertia=(1, 1, 1))  # fmt: skip
    model = builder.build()
    height = build_tree(model).height
    assert height <= 3 * np.log2(n + 1) + 2, height
    assert both(model, 3) < SAME


@pytest.mark.parametrize("spec", ["pendulum:300", "chain:1000", "molecule:5000", "humanoid", "crowd:5"])
def test_trees_are_balanced(spec):
    """The height is at most 3 log2 n where every body has a bounded number of children."""
    from kinetree.model.library import from_spec

    model = from_spec(spec)
    assembly = build_tree(model)
    bodies = np.bincount(assembly.tree[assembly.tree[:, to.KIND] == to.LEAF, to.ROOT_OF]).max()
    assert assembly.height <= 3 * np.log2(bodies), (assembly.height, bodies)
    children = assembly.tree[:, [to.LEFT, to.RIGHT]]
    nodes = np.arange(len(children))
    assert (children < nodes[:, None]).all(), "children stand before their parents"
    share = np.zeros(len(assembly.units))
    leaves = assembly.tree[:, to.KIND] == to.LEAF
    np.add.at(share, assembly.tree[leaves, to.UNIT], np.abs(assembly.share[leaves]))
    np.testing.assert_allclose(share, 1, rtol=1e-12, err_msg="the shares of a body are the whole body")


def test_bodies_without_inverse_inertia_are_refused_by_name():
    """A point mass can turn freely about itself, so its inverse inertia does not exist."""
    model = kt.ModelBuilder().body("bob", joint=kt.Revolute("y"), mass=1, com=(0, 0, -1)).build()
    q, v = model.random_state(0)
    with pytest.raises(kt.errors.ModelError, match=r"'bob'.*singular"):
        kt.forward_dynamics(model, q, v, method="dca")


def test_a_model_without_joints_has_no_accelerations():
    """A body that is welded to the world has an assembly tree without nodes."""
    model = kt.ModelBuilder().body("rock", mass=1, inertia=(1, 1, 1)).build()
    assembly = build_tree(model)
    assert len(assembly.tree) == len(assembly.roots) == assembly.height == 0
    assert kt.forward_dynamics(model, [], [], method="dca").shape == (0,)
