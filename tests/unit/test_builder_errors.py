"""What cannot be a model is refused with a `ModelError` that names the culprit and says what to do."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, ModelError, UnknownNameError

NAN, INF = float("nan"), float("inf")
SOLID = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}


def body(name="arm", **options):
    """Return a builder with one good body, but for the options."""
    return kt.ModelBuilder().body(name, **{"joint": kt.Revolute("y"), **SOLID, **options})


# What is wrong, how to do it, and what the message must say.
WRONG = {
    "no bodies": (lambda: kt.ModelBuilder(), r"no bodies"),
    "empty name": (lambda: body(""), r"name is ''"),
    "name of the world": (lambda: body("world"), r"named 'world', which means the world itself"),
    "name that is no text": (lambda: body(7), r"name is 7"),
    "duplicate body": (lambda: body().body("arm", **SOLID), r"bodies are named 'arm'"),
    "duplicate joint": (
        lambda: body(joint_name="elbow").body("hand", joint=kt.Revolute("x"), joint_name="elbow", **SOLID),
        r"joints are named 'elbow'",
    ),
    "duplicate marker": (
        lambda: body(markers={"M": (0, 0, 0)}).body("b", markers={"M": (0, 0, 1)}, **SOLID),
        r"markers are named 'M'",
    ),
    "orphan": (lambda: body(parent="shoulder"), r"'arm' hangs on 'shoulder', which does not exist"),
    "own parent": (lambda: body(parent="arm"), r"'arm' -> 'arm' form a cycle"),
    "cycle": (
        lambda: body("a", parent="b").body("b", parent="c", **SOLID).body("c", parent="a", **SOLID),
        r"'a' -> 'b' -> 'c' -> 'a' form a cycle",
    ),
    "cycle beside a tree": (
        lambda: body("root").body("x", parent="y", **SOLID).body("y", parent="x", **SOLID),
        r"'x' -> 'y' -> 'x' form a cycle",
    ),
    "no joint": (lambda: body(joint="revolute"), r"'arm': joint is 'revolute'"),
    "negative mass": (lambda: body(mass=-1.0), r"'arm' has a mass of -1 kg"),
    "NaN mass": (lambda: body(mass=NAN), r"'arm': .* not finite"),
    "infinite mass": (lambda: body(mass=INF), r"'arm': .* not finite"),
    "NaN com": (lambda: body(com=(0, NAN, 0)), r"'arm': .* not finite"),
    "NaN inertia": (lambda: body(inertia=(1, NAN, 1)), r"'arm': .* not finite"),
    "NaN placement": (lambda: body(placement=(0, 0, NAN)), r"'arm': .* not finite"),
    "inertia without mass": (lambda: body(mass=None), r"'arm' has an inertia but no mass"),
    "negative moment": (lambda: body(inertia=(1, 1, -1)), r"'arm': .* negative principal moment"),
    "triangle inequality": (lambda: body(inertia=(1, 1, 3)), r"'arm' has principal moments .* triangle inequality"),
    "lopsided inertia": (lambda: body(inertia=[[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]), r"'arm': .* not symmetric"),
    "inertia of 2": (lambda: body(inertia=(1, 1)), r"'arm': inertia has shape \(2,\)"),
    "com of 2": (lambda: body(com=(1, 1)), r"'arm': com has shape \(2,\)"),
    "placement of 2": (lambda: body(placement=np.zeros(2)), r"placement of body 'arm' has a position of shape \(2,\)"),
    "long quaternion": (lambda: body(placement=((1, 1, 0, 0), None)), r"body 'arm' has the quaternion .* normalise"),
    "zero quaternion": (lambda: body(placement=((0, 0, 0, 0), None)), r"body 'arm' has the quaternion .* normalise"),
    "NaN quaternion": (lambda: body(placement=((NAN, 0, 0, 0), None)), r"body 'arm' has the quaternion"),
    "rotation of 5": (lambda: body(placement=(np.ones(5), None)), r"'arm' has a rotation of shape \(5,\)"),
    "skewed rotation": (lambda: body(placement=(np.ones((3, 3)), None)), r"'arm': the rotation .* proper rotation"),
    "reflection": (lambda: body(placement=(np.diag([1, 1, -1]), None)), r"'arm': the rotation .* proper rotation"),
    "swapped limits": (lambda: body(limits=(1, -1)), r"'arm': the lower limit is above"),
    "NaN limit": (lambda: body(limits=(NAN, 1)), r"'arm': limits or effort is NaN"),
    "two limits for one": (lambda: body(limits=((0, 0), (1, 1))), r"'arm': limits has shape \(2,\)"),
    "limits of a weld": (lambda: body(joint=None, limits=(0, 1)), r"'arm' is fixed and cannot have limits"),
    "negative damping": (lambda: body(damping=-1), r"'arm': armature, damping, .* not be negative"),
    "NaN armature": (lambda: body(armature=NAN), r"'arm': armature, .* not finite"),
    "infinite friction": (lambda: body(friction=INF), r"'arm': .* not finite"),
    "negative effort": (lambda: body(effort=-1), r"'arm': effort must not be negative"),
    "damping of 2": (lambda: body(damping=(1, 1)), r"'arm': damping has shape \(2,\), but its revolute joint has 1"),
    "marker of 2": (lambda: body(markers={"M": (0, 0)}), r"'arm': marker 'M'"),
    "NaN marker": (lambda: body(markers={"M": (0, 0, NAN)}), r"'arm': marker 'M'"),
    "marker of text": (lambda: body(markers={"M": "here"}), r"'arm': marker 'M'"),
    "mass of text": (lambda: body(mass="heavy"), r"'arm': mass"),
    "limits of text": (lambda: body(limits=("low", "high")), r"'arm': limits"),
    "one limit": (lambda: body(limits=1.0), r"'arm': limits"),
    "placement of text": (lambda: body(placement="there"), r"placement of body 'arm'"),
    "shape of text": (lambda: body(shapes=["box"]), r"'arm': .*shape"),
    "shapes of a number": (lambda: body(shapes=3), r"'arm': .*shape"),
    "markers of a list": (lambda: body(markers=["M"]), r"'arm': markers"),
    "massless leaf": (lambda: kt.ModelBuilder().body("tip", joint=kt.Revolute("x")), r"'tip' has no mass"),
    "mass on the axis": (
        lambda: kt.ModelBuilder().body("needle", joint=kt.Revolute("z"), mass=1, com=(0, 0, 1)),
        r"'needle' has too little inertia",
    ),
    "point that may turn": (lambda: kt.ModelBuilder().body("dot", joint=kt.Free(), mass=1), r"'dot' has too little"),
    "two joints on one axis": (
        lambda: kt.ModelBuilder()
        .body("first", joint=kt.Revolute("x"))
        .body("b", parent="first", joint=kt.Revolute("x"), **SOLID),
        r"'first' has no mass",
    ),
    "four axes through a point": (
        lambda: kt.ModelBuilder()
        .body("one", joint=kt.Revolute("x"))
        .body("two", parent="one", joint=kt.Revolute("z"))
        .body("three", parent="two", joint=kt.Revolute("y"))
        .body("four", parent="three", joint=kt.Revolute("z"), **SOLID),
        r"'one' has no mass",
    ),
    "weightless plane": (
        lambda: kt.ModelBuilder().body("floor", joint=kt.Revolute("x"), shapes=[kt.Plane()]),
        r"'floor' has no mass",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_built_is_refused_by_name(case):
    """Each wrong description raises a `ModelError` whose message names the body and what is wrong with it."""
    build, says = WRONG[case]
    with pytest.raises(ModelError) as caught:
        build().build()
    message = str(caught.value)
    assert re.search(says, message), f"{message!r} does not say {says!r}"
    assert "\n" not in message


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: kt.Revolute("w"), r"'w' is not an axis"),
        (lambda: kt.Revolute((0, 0, 0)), r"must be finite and not zero"),
        (lambda: kt.Prismatic((0, NAN, 0)), r"must be finite and not zero"),
        (lambda: kt.Prismatic((1, 0)), r"shape \(2,\)"),
        (lambda: kt.Helical("x", pitch=INF), r"pitch .* finite"),
        (lambda: kt.Universal("x", "-x"), r"parallel"),
        (lambda: kt.Box((1, 2)), r"three lengths"),
        (lambda: kt.Box((1, 0, 1)), r"must be positive"),
        (lambda: kt.Sphere(-1), r"must be positive"),
        (lambda: kt.Sphere(NAN), r"must be positive"),
        (lambda: kt.Capsule(0.1, 0.0), r"must be positive"),
        (lambda: kt.Capsule.between((0, 0, 0), (0, 0, 0), 0.1), r"no length"),
    ],
)
def test_joints_and_shapes_refuse_what_they_cannot_be(make, says):
    """Axes, pitches and sizes are checked where they are given."""
    with pytest.raises(ModelError, match=says):
        make()


def test_a_quaternion_that_is_nearly_unit_is_accepted():
    """Files hold six or seven digits: rounding there is not an error."""
    half = np.sqrt(0.5)
    model = body(placement=((round(half, 7), round(half, 7), 0, 0), None)).build()
    turn = model.placements[0, :9].reshape(3, 3)
    assert np.abs(turn @ turn.T - np.eye(3)).max() < 1e-14  # it is normalised, not just let through


def test_unknown_names_are_met_with_the_nearest():
    """Asking a model for a name that it does not have says which one may have been meant."""
    model = kt.models.humanoid()
    with pytest.raises(UnknownNameError, match="'left_shank'"):
        model.body_index("left_shnk")
    with pytest.raises(UnknownNameError, match="'left_radius'"):
        model.subset(["left_radus"])
    with pytest.raises(ArgumentError, match="89 bodies"):
        model.body_index(89)


def test_a_long_cycle_is_found_without_recursion():
    """A cycle of 20,000 bodies is named, shortened, in bounded time."""
    builder = kt.ModelBuilder()
    for i in range(20_000):
        builder.body(f"b{i}", parent=f"b{(i + 1) % 20_000}", joint=kt.Revolute("x"), **SOLID)
    with pytest.raises(ModelError, match="'b0' -> 'b1'") as caught:
        builder.build()
    assert len(str(caught.value)) < 300
