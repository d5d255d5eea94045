"""The bodies of the benchmarks have the sizes of the papers, plausible masses and shapes, and build quickly."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, UnknownNameError
from kinetree.model.library import from_spec, names, usage
from oracle.compare import assert_close
from oracle.mechanics import mass_matrix
from oracle.motion import body_poses


@pytest.mark.parametrize(
    ("model", "nbodies", "nv"),
    [
        (lambda: kt.models.pendulum(300), 300, 300),
        (lambda: kt.models.chain(50), 50, 50),
        (lambda: kt.models.chain(50, spherical=True), 50, 150),
        (lambda: kt.models.bicycle_chain(), 30, 30),
        (lambda: kt.models.millipede(), 13_000, 12_999 + 6),
        (lambda: kt.models.millipede(floating=False), 13_000, 12_999),
        (lambda: kt.models.molecule(2000), 2000, 2000),
        (lambda: kt.models.humanoid(), 89, 95),
        (lambda: kt.models.crowd(), 17_800, 19_000),
    ],
)
def test_sizes_are_those_of_the_papers(model, nbodies, nv):
    """Redon, Galoppo and Lin 2005: 200 figures with 17,800 bodies and 19,000 DOF; Redon and Lin 2006: 13,000 links."""
    built = model()
    assert (built.nbodies, built.nv) == (nbodies, nv)
    assert (built.masses > 0).all()
    assert len(np.unique(built.shape_bodies)) == nbodies, "every body has a shape"
    assert np.isfinite(built.shape_colors).all()
    assert not built.warnings


def test_a_pendulum_is_made_of_uniform_rods():
    """The mass matrix of two rods is that of the textbook, and a rod turns about its joint with m l^2 / 3."""
    one = kt.models.pendulum(1, length=0.5, mass=2.0)
    assert_close(mass_matrix(one, np.zeros(1)), [[2.0 * 0.5**2 / 3]], 1e-14, "one rod")
    m, length = 0.7, 0.3
    for angle in (0.0, 0.4, 2.0):
        c = np.cos(angle)
        expected = m * length**2 * np.array([[5 / 3 + c, 1 / 3 + c / 2], [1 / 3 + c / 2, 1 / 3]])
        two = kt.models.pendulum(2, length=length, mass=m)
        assert_close(mass_matrix(two, np.array([0.3, angle])), expected, 1e-13, f"two rods at {angle}")


def test_a_pendulum_hangs_straight_down():
    """At q = 0 every joint is a link's length below the one before."""
    model = kt.models.pendulum(5)
    places = body_poses(model, model.neutral())[:, :3, 3]
    assert_close(places, [[0, 0, -0.1 * k] for k in range(5)], 1e-14, "joints")


@pytest.mark.parametrize("seed", range(5))
def test_humans_have_human_proportions(seed):
    """Weight, stature, centre of mass and the feet's height are those of adults."""
    model = kt.models.humanoid(seed=seed)
    assert 40 < model.total_mass < 120
    poses = body_poses(model, model.neutral())
    radii = model.shape_sizes[:, 0]
    ends = []
    for k, body in enumerate(model.shape_bodies):
        own = model.shape_placements[k]
        half = own[:9].reshape(3, 3)[:, 2] * model.shape_sizes[k, 1] / 2
        ends += [(poses[body] @ [*(own[9:] + side), 1])[2] for side in (-half, half)]
    low, high = min(np.array(ends) - np.repeat(radii, 2)), max(np.array(ends) + np.repeat(radii, 2))
    places = np.einsum("nij,nj->ni", poses[:, :3, :3], model.coms) + poses[:, :3, 3]
    com = model.masses @ places / model.total_mass
    print(f"seed {seed}: {model.total_mass:.1f} kg, {high:.2f} m, soles at {low:.3f} m, centre at {com[2]:.2f} m")
    assert 1.45 < high < 2.05
    assert -0.02 < low < 0.02
    assert 0.5 < com[2] / high < 0.62  # adults: 0.55 to 0.57
    assert abs(com[1]) < 1e-9  # symmetric


def test_the_average_human():
    """Seed 0 is an adult of 1.75 m and 75 kg; height and mass can be given."""
    assert kt.models.humanoid().total_mass == pytest.approx(75.0)
    assert kt.models.humanoid(height=1.6, mass=50.0).total_mass == pytest.approx(50.0)
    assert kt.models.humanoid(floating=False).nv == 89


@pytest.mark.parametrize("joints", [24, 40, 71, 94])
def test_humans_can_be_coarser(joints):
    """Any number of degrees of freedom from 24 to 95 can be had; the bodies and their masses stay."""
    model = kt.models.humanoid(joints)
    assert (model.nbodies, model.nv) == (89, joints)
    assert_close(model.masses, kt.models.humanoid().masses, 1e-14, "masses")


def test_left_and_right_are_mirror_images():
    """The same angles on both sides give mirrored poses, whatever the axes."""
    model = kt.models.humanoid()
    q = model.neutral()
    rng = np.random.default_rng(4)
    for joint in model.joint_names:
        if joint.startswith("left_") and model.q_slice(joint).stop - model.q_slice(joint).start < 4:
            angles = rng.uniform(-0.5, 0.5, model.q_slice(joint).stop - model.q_slice(joint).start)
            q[model.q_slice(joint)] = angles
            q[model.q_slice(joint.replace("left_", "right_"))] = angles
    poses = body_poses(model, q)
    for name in model.names:
        if name.startswith("left_"):
            left = poses[model.body_index(name), :3, 3]
            right = poses[model.body_index(name.replace("left_", "right_")), :3, 3]
            assert_close(left, right * [1, -1, 1], 1e-12, name)


def test_a_crowd_is_a_forest_of_different_people():
    """Each figure is a tree of its own, at least half a metre from the next; they are not all the same."""
    model = kt.models.crowd(9, seed=2)
    assert (model.parents < 0).sum() == 9
    roots = np.flatnonzero(model.parents < 0)
    places = model.placements[roots, 9:11]
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2) + 10 * np.eye(9)
    assert gaps.min() > 0.5
    weights = {round(model.masses[root : root + 89].sum(), 3) for root in roots}
    assert len(weights) > 3
    assert model.names[89] == "1/pelvis"


def test_a_molecule_branches_as_carbon_does():
    """At most three bonds lead on from an atom, at tetrahedral angles, and it is a random tree, not a chain."""
    model = kt.models.molecule(500, seed=3)
    bonds = np.bincount(model.parents[1:], minlength=500)
    assert bonds.max() <= 3
    assert (bonds == 0).sum() > 20
    poses = body_poses(model, model.random_state(0)[0])
    child = 17
    along, before = poses[child, :3, 2], poses[model.parents[child], :3, 2]
    assert along @ before == pytest.approx(1 / 3)  # the angle between the bonds is acos(-1/3)


def test_the_same_seed_gives_the_same_model():
    """Random models are equal for equal seeds, and differ for others."""
    for make in (lambda seed: kt.models.molecule(60, seed=seed), lambda seed: kt.models.crowd(2, seed=seed)):
        assert make(5) == make(5)
        assert make(5) != make(6)


def test_the_feet_of_the_millipede_stand_on_the_floor():
    """At q = 0 the last leg links end at about the height 0, half of them on either side."""
    model = kt.models.millipede(legs=8, leg_links=10, spine=24)
    poses = body_poses(model, model.neutral())
    feet = [poses[model.body_index(f"leg{k}_9")] for k in range(8)]
    tips = np.array([foot[:3, 3] - 0.03 * foot[:3, 2] for foot in feet])
    assert np.abs(tips[:, 2]).max() < 0.01
    assert (tips[:, 1] > 0.1).sum() == 4
    assert (tips[:, 1] < -0.1).sum() == 4


@pytest.mark.parametrize("name", names())
def test_every_model_has_a_name_and_says_what_it_takes(name):
    """The list of names, the functions and the usage agree, and each has a docstring."""
    assert getattr(kt.models, name).__doc__
    assert usage()[name].startswith("(")


def test_models_by_name():
    """A spec gives the same model as the call."""
    assert from_spec("pendulum:3") == kt.models.pendulum(3)
    assert from_spec("humanoid") == kt.models.humanoid()
    assert from_spec("chain:4,spherical=true,length=0.2") == kt.models.chain(4, spherical=True, length=0.2)
    assert from_spec("bicycle-chain: 5") == kt.models.bicycle_chain(5)
    assert from_spec("millipede:2,3,4") == kt.models.millipede(2, 3, 4)
    assert from_spec("molecule:1_000,seed=2") == kt.models.molecule(1000, seed=2)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("pendulm:3", "did you mean 'pendulum'"),
        ("elephant", "it has bicycle_chain, chain"),
        ("pendulum:0", "at least 1"),
        ("pendulum:-1", "at least 1"),
        ("pendulum:2.5", "whole number"),
        ("pendulum:three", "not a number"),
        ("pendulum:3,size=2", "unexpected keyword argument 'size'"),
        ("pendulum:3,n=2", "multiple values"),
        ("pendulum:length=1,3", "plain values first"),
        ("pendulum:__import__('os')", "not a number"),
        ("pendulum:length=nan", "not a number"),
        ("pendulum:mass=1e999", "finite"),
        ("pendulum:mass=-1", "above zero"),
        ("molecule:5,seed=-1", "seed is -1"),
        ("humanoid:96", "24 to 95"),
        ("humanoid:23", "24 to 95"),
        ("humanoid:damping=-1", "damping"),
        ("humanoid:height=0", "height"),
        ("crowd:3,spacing=0", "spacing"),
        ("millipede:legs=-1", "at least 0"),
    ],
)
def test_bad_specs_are_refused(spec, says):
    """A wrong name, value or argument is one clear error."""
    with pytest.raises((ArgumentError, UnknownNameError), match=says):
        from_spec(spec)


def test_memory_is_linear_and_small():
    """The arrays and names of a model and the scratch of its algorithms take at most 6 kB a joint."""
    from kinetree.dynamics import Workspace

    n = 20_000
    model = kt.models.molecule(n)
    arrays = [getattr(model, field.name) for field in dataclasses.fields(model)]
    size = sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
    size += sum(sys.getsizeof(name) + 8 for name in model.names)  # joints are named by the same texts
    size += sum(array.nbytes for array in Workspace.of(model))
    print(f"{size / n:.0f} bytes a joint")
    assert size / n < 6000
