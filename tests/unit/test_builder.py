"""The builder makes frozen models: masses from shapes, order, names, equality, pickles, copies."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.description import Body, Description
from oracle.compare import assert_close
from oracle.motion import body_poses

SOLID = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}


def one_of_each():
    """Return a model with every kind of joint, shapes, markers, limits and a weld."""
    return (
        kt.ModelBuilder("one of each")
        .body("base", joint=kt.Free(), shapes=[kt.Box((0.4, 0.3, 0.2), color=(1, 0, 0))], markers={"M0": (0.1, 0, 0)})
        .body("r", parent="base", joint=kt.Revolute((1, 2, 3)), limits=(-1, 2), armature=0.1, **SOLID)
        .body("p", parent="r", joint=kt.Prismatic("-y"), placement=(None, (0, 0, 1)), damping=0.3, **SOLID)
        .body("h", parent="base", joint=kt.Helical("z", pitch=0.2), friction=0.1, joint_name="screw", **SOLID)
        .body("u", parent="h", joint=kt.Universal("x", (0, 1, 1)), limits=((-1, -2), (1, 2)), **SOLID)
        .body("weld", parent="u", placement=((0, 1, 0, 0), (0.1, 0.2, 0.3)), shapes=[kt.Sphere(0.1, density=500.0)])
        .body("s", parent="weld", joint=kt.Spherical, stiffness=(1, 2, 3), rest=0.1, effort=5, **SOLID)
        .body("pl", joint=kt.Planar(), shapes=[kt.Capsule(0.1, 0.5)], mass=2.0, com=(0, 0, 0.1))
        .build()
    )


def test_the_sizes_are_those_of_the_joints():
    """The sizes nq and nv are sums over the joints; a weld counts as a body, not as a joint."""
    model = one_of_each()
    assert (model.nbodies, model.njoints) == (8, 7)
    assert model.nq == 7 + 1 + 1 + 1 + 2 + 4 + 3
    assert model.nv == 6 + 1 + 1 + 1 + 2 + 3 + 3
    assert model.joint_names == ("base", "r", "p", "screw", "u", "s", "pl")
    assert model.neutral()[0] == 1.0


def test_masses_come_from_shapes():
    """A box of water weighs its volume; a given mass scales the inertia of the shapes."""
    model = one_of_each()
    base, plate = model.body_index("base"), model.body_index("pl")
    assert model.masses[base] == pytest.approx(24.0)
    box = 24.0 / 12 * np.diag([0.3**2 + 0.2**2, 0.4**2 + 0.2**2, 0.4**2 + 0.3**2])
    assert_close(model.inertias[base], box, 1e-14, "inertia of a box")
    assert model.masses[plate] == 2.0
    assert_close(model.inertias[plate], 2.0 * kt.Capsule(0.1, 0.5).unit_inertia(), 1e-14, "scaled inertia")
    assert_close(model.coms[plate], [0, 0, 0.1], 0, "the com that was given")
    assert model.total_mass == pytest.approx(model.masses.sum())


@pytest.mark.parametrize(
    "shape", [kt.Box((0.3, 0.5, 0.9)), kt.Sphere(0.4), kt.Capsule(0.2, 0.7)], ids=lambda s: type(s).__name__
)
def test_inertia_of_a_shape_is_its_integral(shape):
    """A million points, drawn evenly from a box around the shape, have its volume and moments to a per cent."""
    rng = np.random.default_rng(1)
    reach = np.array([0.5, 0.5, 0.6])
    points = rng.uniform(-reach, reach, (1_000_000, 3))
    if isinstance(shape, kt.Box):
        inside = (np.abs(points) < np.array(shape.size) / 2).all(1)
    elif isinstance(shape, kt.Sphere):
        inside = (points**2).sum(1) < shape.radius**2
    else:
        beyond = np.maximum(np.abs(points[:, 2]) - shape.length / 2, 0)
        inside = points[:, 0] ** 2 + points[:, 1] ** 2 + beyond**2 < shape.radius**2
    points = points[inside]
    volume = inside.mean() * np.prod(2 * reach)
    second = points.T @ points / len(points)
    inertia = np.trace(second) * np.eye(3) - second
    # 1e6 points leave a relative deviation of about 2e-3; five of them and it is a wrong formula.
    assert volume == pytest.approx(shape.volume, rel=1e-2)
    assert_close(inertia, shape.unit_inertia(), 1e-2, "moments")


def test_children_may_come_before_their_parents():
    """The order of the calls does not matter for what the model is, and is kept where it can be."""
    rows = [
        Body("hand", "arm", kt.Revolute("x"), mass=1.0, inertia=np.eye(3)),
        Body("arm", None, kt.Revolute("y"), mass=2.0, inertia=np.eye(3)),
        Body("other", None, kt.Revolute("z"), mass=3.0, inertia=np.eye(3)),
    ]
    builder = kt.ModelBuilder()
    for row in rows:
        builder.add(row)
    model = builder.build()
    assert model.names == ("arm", "hand", "other")
    assert model.parents.tolist() == [-1, 0, -1]
    assert model.masses.tolist() == [2.0, 1.0, 3.0]


def test_world_is_no_body():
    """The parent "world" and None mean the same."""
    a = kt.ModelBuilder().body("b", parent="world", joint=kt.Revolute("x"), **SOLID).build()
    b = kt.ModelBuilder().body("b", joint=kt.Revolute("x"), **SOLID).build()
    assert a == b


def test_a_description_builds_the_same_model_again():
    """Model -> description -> model is the identity, for every kind of joint and all that hangs on it."""
    model = one_of_each()
    description = model.description()
    builder = kt.ModelBuilder(description.name)
    for item in description.bodies:
        builder.add(item)
    assert builder.build() == model
    assert isinstance(description, Description)


def test_a_pickle_is_an_equal_model():
    """A model survives pickling, and the copy is frozen and works."""
    model = one_of_each()
    copy = pickle.loads(pickle.dumps(model))
    assert copy == model
    assert copy is not model
    assert hash(copy) == hash(model)
    with pytest.raises(ValueError, match="read-only"):
        copy.masses[0] = 1.0


def test_models_differ_by_value():
    """Any change of a number, a name or a shape makes another model."""
    model = one_of_each()
    description = model.description()
    changes = [
        {"mass": 1.5}, {"com": np.array([0.0, 0.0, 1e-9])}, {"joint_name": "other"}, {"damping": 0.1},
        {"limits": (-1.0, 2.0 + 1e-12)}, {"shapes": (kt.Sphere(0.1),)}, {"joint": kt.Revolute((1, 2, 3.001))},
    ]  # fmt: skip
    for change in changes:
        bodies = list(description.bodies)
        bodies[1] = dataclasses.replace(bodies[1], **change)
        builder = kt.ModelBuilder(description.name)
        for item in bodies:
            builder.add(item)
        assert builder.build() != model, change
    assert model != "a text"


def test_a_model_cannot_be_changed():
    """Neither attributes nor arrays of a model can be written to; the state it hands out can."""
    model = one_of_each()
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.name = "other"
    for field in dataclasses.fields(model):
        value = getattr(model, field.name)
        if isinstance(value, np.ndarray) and value.size:
            with pytest.raises(ValueError, match="read-only"):
                value.flat[0] = 0
    model.neutral()[0] = 2.0
    assert model.neutral()[0] == 1.0


def test_what_was_passed_in_is_copied():
    """Changing an array after the build leaves the model as it was."""
    com, turn = np.array([0.0, 0.0, 1.0]), np.eye(3)
    model = kt.ModelBuilder().body("b", joint=kt.Revolute("x"), com=com, placement=(turn, None), **SOLID).build()
    com[2], turn[0, 0] = 5.0, -1.0
    assert model.coms[0, 2] == 1.0
    assert model.placements[0, 0] == 1.0


def test_random_states_are_within_limits():
    """Angles stay within finite limits, quaternions are unit, and the same seed gives the same state."""
    model = one_of_each()
    low, high = model.limits
    for seed in range(20):
        q, v = model.random_state(seed)
        assert low[model.v_slice("r")][0] <= q[model.q_slice("r")][0] <= high[model.v_slice("r")][0]
        u = model.q_slice("u")
        assert (low[model.v_slice("u")] <= q[u]).all()
        assert (q[u] <= high[model.v_slice("u")]).all()
        assert np.linalg.norm(q[model.q_slice("s")]) == pytest.approx(1)
        assert np.array_equal(q, model.random_state(seed)[0])
        assert np.array_equal(v, model.random_state(seed)[1])


def test_a_subset_stands_where_the_model_stood():
    """Welding all joints but some keeps every body where it was, and the mass."""
    model = one_of_each()
    q, _ = model.random_state(3)
    subset = model.subset(["r", "u"], q)
    assert subset.joint_names == ("r", "u")
    assert subset.nv == 3
    assert subset.total_mass == pytest.approx(model.total_mass)
    own = np.concatenate((q[model.q_slice("r")], q[model.q_slice("u")]))
    assert_close(body_poses(subset, own), body_poses(model, q), 1e-12, "poses")


def test_a_subset_without_a_state_is_taken_at_neutral():
    """None means the neutral configuration; keeping all joints keeps the model."""
    model = one_of_each()
    assert model.subset(model.joint_names) == model
    assert_close(body_poses(model.subset(["p"]), np.zeros(1)), body_poses(model, model.neutral()), 1e-12, "poses")


@pytest.mark.slow_python
def test_a_chain_of_50_000_links_needs_no_recursion():
    """Depth is no limit: building, describing, sorting and pickling a chain given from its end."""
    n = 50_000
    builder = kt.ModelBuilder()
    inertia = np.eye(3)
    for i in reversed(range(n)):
        builder.add(Body(f"b{i}", f"b{i - 1}" if i else None, kt.Revolute("y"), mass=1.0, inertia=inertia))
    model = builder.build()
    assert model.names[:2] == ("b0", "b1")
    assert model.names[-1] == f"b{n - 1}"
    assert (model.parents == np.arange(n) - 1).all()
    assert "50000 bodies deep" in model.describe()
    assert pickle.loads(pickle.dumps(model)) == model
