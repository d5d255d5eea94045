"""Whatever a user describes, it becomes a sound model or a `ModelError`, and nothing else."""

from __future__ import annotations

import dataclasses
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.errors import ArgumentError, ModelError
from kinetree.model.library import from_spec

NUMBERS = st.one_of(
    st.floats(-2, 2), st.floats(allow_nan=True, allow_infinity=True), st.sampled_from([0.0, -1.0, 1e-300, 1e300])
)
FINITE = st.floats(-2, 2)
JUNK = st.one_of(st.none(), st.text(max_size=3), st.booleans(), st.integers(), st.lists(NUMBERS, max_size=10), NUMBERS)


def vectors(numbers=FINITE, size=3):
    """Return lists of numbers of a size."""
    return st.lists(numbers, min_size=size, max_size=size)


AXES = st.one_of(st.sampled_from(["x", "y", "z", "-x"]), vectors())
# Joints are made inside the test, since their constructors may refuse their arguments.
JOINTS = st.one_of(
    st.tuples(st.just(kt.Revolute), AXES), st.tuples(st.just(kt.Prismatic), AXES),
    st.tuples(st.just(kt.Helical), AXES, NUMBERS), st.tuples(st.just(kt.Universal), AXES, AXES),
    st.tuples(st.just(kt.Spherical)), st.tuples(st.just(kt.Planar)), st.tuples(st.just(kt.Free)),
    st.tuples(st.just(kt.Fixed)),
)  # fmt: skip
SHAPES = st.lists(
    st.one_of(
        st.tuples(st.just(kt.Sphere), NUMBERS), st.tuples(st.just(kt.Box), vectors(st.floats(0.01, 1))),
        st.tuples(st.just(kt.Capsule), st.floats(0.01, 1), NUMBERS), st.tuples(st.just(kt.Plane)),
    ),
    max_size=2,
)  # fmt: skip
NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
PLAUSIBLE = st.fixed_dictionaries(
    {"name": NAMES, "joint": JOINTS},
    optional={
        "parent": st.one_of(st.none(), NAMES, st.just("world")),
        "mass": st.one_of(st.floats(0, 5), NUMBERS),
        "com": vectors(),
        "inertia": st.one_of(vectors(st.floats(0.5, 1)), vectors(NUMBERS), vectors(FINITE, 6)),
        "placement": st.one_of(vectors(), st.tuples(st.sampled_from([[1, 0, 0, 0], [0.6, 0.8, 0, 0]]), vectors())),
        "shapes": SHAPES,
        "limits": st.tuples(NUMBERS, NUMBERS),
        "armature": st.floats(0, 1),
        "damping": NUMBERS,
    },
)
KEYS = (
    "parent", "mass", "com", "inertia", "placement", "shapes", "limits", "markers", "joint_name", "armature", "damping",
    "friction", "stiffness", "rest", "effort",
)  # fmt: skip
WILD = st.fixed_dictionaries(
    {"name": st.one_of(NAMES, JUNK), "joint": st.one_of(JOINTS, JUNK)},
    optional=dict.fromkeys(KEYS, JUNK),
)  # fmt: skip


def build(rows):
    """Build what the rows describe."""
    builder = kt.ModelBuilder()
    for row in rows:
        made = dict(row)
        if isinstance(made["joint"], tuple):
            kind, *arguments = made["joint"]
            made["joint"] = kind(*arguments)
        if isinstance(made.get("shapes"), list):
            made["shapes"] = [s[0](*s[1:]) if isinstance(s, tuple) else s for s in made["shapes"]]
        builder.body(made.pop("name"), **made)
    return builder.build()


def check(rows):
    """Build, or get a `ModelError` of one line; what is built is sound."""
    try:
        model = build(rows)
    except ModelError as error:
        message = str(error)
        assert message and "\n" not in message  # noqa: PT018 one property: a message of one line
        return None
    assert model.nbodies == len(rows)
    assert (model.parents < np.arange(model.nbodies)).all()
    for array in (model.placements, model.masses, model.coms, model.inertias, model.constants):
        assert np.isfinite(array).all()
    assert (model.topology[:, 0] < np.arange(model.njoints)).all()
    q, v = model.random_state(0)
    assert np.isfinite(q).all()
    assert np.isfinite(v).all()
    assert model.describe()
    assert pickle.loads(pickle.dumps(model)) == model
    again = kt.ModelBuilder(model.name)
    for body in model.description().bodies:
        again.add(body)
    assert again.build() == model
    return model


@given(st.lists(PLAUSIBLE, min_size=1, max_size=5))
def test_plausible_descriptions_build_or_say_why_not(rows):
    """Descriptions that are nearly right."""
    check(rows)


@given(st.sampled_from(KEYS), JUNK, st.sampled_from([kt.Revolute("x"), kt.Universal(), kt.Free(), kt.Fixed()]))
def test_one_wild_value_in_a_good_body(key, value, joint):
    """A body that is right but for one value of any type."""
    check([{"name": "a", "joint": joint, "mass": 1.0, "inertia": (1, 1, 1), key: value}])


@given(
    st.sampled_from([kt.Revolute, kt.Helical, kt.Universal, kt.Box, kt.Sphere, kt.Capsule, kt.Plane]),
    st.dictionaries(
        st.sampled_from(
            ["axis", "pitch", "first", "second", "size", "radius", "length", "placement", "color", "density"]
        ),
        JUNK,
        max_size=2,
    ),
)
def test_wild_joints_and_shapes(kind, values):
    """Constructors of joints and shapes take what makes sense and refuse the rest."""
    known = {field.name for field in dataclasses.fields(kind)}
    try:
        made = kind(**{key: value for key, value in values.items() if key in known})
    except ModelError:
        return
    assert made == made
    assert isinstance(hash(made), int)
    if isinstance(made, kt.Revolute):
        check([{"name": "a", "joint": made, "mass": 1.0, "inertia": (1, 1, 1)}])
    elif hasattr(made, "volume"):
        check([{"name": "a", "joint": kt.Revolute("x"), "mass": 1.0, "inertia": (1, 1, 1), "shapes": [made]}])
        check([{"name": "a", "joint": kt.Free(), "shapes": [made]}])


@given(st.lists(WILD, min_size=1, max_size=3))
def test_wild_descriptions_build_or_say_why_not(rows):
    """Values of any type in any place."""
    check(rows)


@given(st.lists(st.tuples(st.integers(-1, 29), FINITE, st.sampled_from("xyz")), min_size=1, max_size=30))
def test_any_parents_make_a_forest_or_a_cycle(rows):
    """A model results exactly if following the parents always ends at the world."""
    builder = kt.ModelBuilder()
    parents = [parent if parent < len(rows) else -1 for parent, _, _ in rows]
    for i, ((_, offset, axis), parent) in enumerate(zip(rows, parents, strict=True)):
        builder.body(
            f"b{i}", parent=f"b{parent}" if parent >= 0 else None, joint=kt.Revolute(axis), mass=1.0,
            placement=(offset, 0, 0), inertia=(1, 1, 1),
        )  # fmt: skip

    def ends(i):
        for _ in range(len(parents) + 1):
            if i < 0:
                return True
            i = parents[i]
        return False

    forest = all(ends(i) for i in range(len(parents)))
    if not forest:
        with pytest.raises(ModelError, match="cycle"):
            builder.build()
        return
    model = builder.build()
    for i, parent in enumerate(parents):
        own = model.body_index(f"b{i}")
        assert model.parents[own] == (model.body_index(f"b{parent}") if parent >= 0 else -1)


@given(st.text(max_size=20), st.sampled_from(["", "pendulum:", "chain:", "chain:3,", "humanoid:", "molecule:2,seed="]))
def test_any_spec_is_a_model_or_an_error(text, start):
    """The parser of specs never fails in another way, and never runs what it reads."""
    spec = start + text
    digits = [word for word in "".join(c if c.isdigit() else " " for c in spec).split() if len(word) > 3]
    if digits:
        return  # a model of a million links is legitimate, and no test
    try:
        model = from_spec(spec)
    except (ArgumentError, ModelError) as error:
        assert str(error)  # noqa: PT017 a model is as good
    else:
        assert math.isfinite(model.total_mass)
