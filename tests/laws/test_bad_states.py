"""Arguments that are no state of the model are refused by name; nothing silent, no NaN handed on."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, KinetreeError, StateError, UnknownNameError


@pytest.fixture(scope="module")
def model():
    return (
        kt.ModelBuilder()
        .body("trunk", joint=kt.Free, mass=2, inertia=(1, 1, 1))
        .body(
            "arm",
            parent="trunk",
            joint=kt.Spherical,
            placement=(None, (0, 0, 1)),
            mass=1,
            inertia=(1, 1, 1),
            joint_name="shoulder",
        )
        .body(
            "hand",
            parent="arm",
            joint=kt.Revolute("x"),
            placement=(None, (0, 0, 1)),
            mass=1,
            inertia=(1, 1, 1),
            joint_name="wrist",
        )
        .build()
    )


CALLS = {
    "forward_dynamics": lambda m, q, v: kt.forward_dynamics(m, q, v),
    "inverse_dynamics": lambda m, q, v: kt.inverse_dynamics(m, q, v, np.zeros(m.nv)),
    "energy": lambda m, q, v: kt.energy(m, q, v),
    "momentum": lambda m, q, v: kt.momentum(m, q, v),
    "body_velocities": lambda m, q, v: kt.body_velocities(m, q, v),
    "body_accelerations": lambda m, q, v: kt.body_accelerations(m, q, v, np.zeros(m.nv)),
    "integrate": lambda m, q, v: kt.integrate(m, q, v, 0.1),
    "Simulation": lambda m, q, v: kt.Simulation(m, q, v),
}
ONLY_Q = {
    "mass_matrix": lambda m, q: kt.mass_matrix(m, q),
    "body_poses": lambda m, q: kt.body_poses(m, q),
    "center_of_mass": lambda m, q: kt.center_of_mass(m, q),
    "jacobian": lambda m, q: kt.jacobian(m, q, "hand"),
    "difference": lambda m, q: kt.difference(m, m.neutral(), q),
}


def without_v(call):
    """Let a function of the configuration take a velocity, too."""
    return lambda m, q, v: call(m, q)


ALL = {**CALLS, **{name: without_v(call) for name, call in ONLY_Q.items()}}


@pytest.mark.parametrize("call", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_name_the_joint(model, call, bad):
    q, v = model.random_state(0)
    q[-1] = bad
    with pytest.raises(StateError, match="wrist"):
        call(model, q, v)
    q, v = model.random_state(0)
    q[5] = bad
    with pytest.raises(StateError, match="trunk"):
        call(model, q, v)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_velocities_that_are_not_finite_name_the_joint(model, call):
    q, v = model.random_state(0)
    v[7] = np.nan
    with pytest.raises(StateError, match="shoulder"):
        call(model, q, v)


@pytest.mark.parametrize("call", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("factor", [0.0, 0.5, 1.01])
def test_a_quaternion_that_is_not_a_rotation_names_the_joint(model, call, factor):
    q, v = model.random_state(0)
    q[7:11] *= factor
    with pytest.raises(StateError, match="shoulder"):
        call(model, q, v)


@pytest.mark.parametrize("call", ALL.values(), ids=ALL.keys())
def test_wrong_shapes_say_which_and_what(model, call):
    q, v = model.random_state(0)
    with pytest.raises(ArgumentError, match=r"\bq.*12"):
        call(model, q[:-1], v)
    with pytest.raises(ArgumentError, match=r"\bq"):
        call(model, q[None], v)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_wrong_shapes_of_velocities(model, call):
    q, v = model.random_state(0)
    with pytest.raises(ArgumentError, match=r"\bv.*10"):
        call(model, q, v[:-1])


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"tau": np.zeros(9)}, "tau"),
        ({"tau": np.full(10, np.nan)}, "tau"),
        ({"external": np.zeros((2, 6))}, "external"),
        ({"external": np.full((3, 6), np.inf)}, "external"),
        ({"gravity": (0, -9.81)}, "gravity"),
        ({"gravity": (0, 0, np.nan)}, "gravity"),
        ({"method": "magic"}, "aba"),
    ],
)
def test_other_arguments_are_named(model, options, word):
    q, v = model.random_state(0)
    with pytest.raises(ArgumentError, match=word):
        kt.forward_dynamics(model, q, v, **options)


def test_accelerations_are_checked(model):
    q, v = model.random_state(0)
    for bad in (np.zeros(9), np.full(10, np.nan)):
        with pytest.raises(ArgumentError, match=r"\ba\b"):
            kt.inverse_dynamics(model, q, v, bad)


def test_unknown_bodies_get_the_nearest_name(model):
    with pytest.raises(UnknownNameError, match="hand"):
        kt.jacobian(model, model.neutral(), "hamd")
    for body in (3, -1):
        with pytest.raises(KinetreeError):
            kt.jacobian(model, model.neutral(), body)
    with pytest.raises(ArgumentError, match="frame"):
        kt.jacobian(model, model.neutral(), "hand", frame="wold")
    with pytest.raises(ArgumentError, match="point"):
        kt.jacobian(model, model.neutral(), "hand", point=(0, 0))


def test_a_time_step_must_be_a_number(model):
    q, v = model.random_state(0)
    for dt in (np.nan, np.inf):
        with pytest.raises(ArgumentError, match="dt"):
            kt.integrate(model, q, v, dt)


def test_inputs_are_not_written_to(model):
    q, v = model.random_state(0)
    a, tau, external = np.ones(model.nv), np.ones(model.nv), np.ones((model.nbodies, 6))
    kept = [x.copy() for x in (q, v, a, tau, external)]
    for x in (q, v, a, tau, external):
        x.setflags(write=False)
    kt.forward_dynamics(model, q, v, tau, external=external)
    kt.forward_dynamics(model, q, v, tau, external=external, method="crba")
    kt.inverse_dynamics(model, q, v, a, external=external)
    kt.integrate(model, q, v, 0.1)
    for x, y in zip((q, v, a, tau, external), kept):
        assert np.array_equal(x, y)


def test_lists_and_integers_are_taken(model):
    """Plain Python numbers and strided arrays give what contiguous arrays of float64 give."""
    q, v = model.random_state(0)
    expected = kt.forward_dynamics(model, q, v)
    assert np.array_equal(kt.forward_dynamics(model, q.tolist(), v.tolist()), expected)
    wide = np.zeros((model.nq, 2))
    wide[:, 0] = q
    assert np.array_equal(kt.forward_dynamics(model, wide[:, 0], v), expected)
    neutral = kt.forward_dynamics(model, [1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0], [0] * 10)
    assert np.array_equal(neutral, kt.forward_dynamics(model, model.neutral(), np.zeros(10)))


def test_results_belong_to_the_caller(model):
    """A second call does not write into the result of the first."""
    q, v = model.random_state(0)
    first = kt.forward_dynamics(model, q, v), kt.mass_matrix(model, q), kt.body_poses(model, q)
    kept = [x.copy() for x in first]
    q, v = model.random_state(1)
    kt.forward_dynamics(model, q, v), kt.mass_matrix(model, q), kt.body_poses(model, q)
    for x, y in zip(first, kept):
        assert np.array_equal(x, y)
        x[:] = 0.0
