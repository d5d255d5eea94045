"""The constraint matrix by three routes, accelerations that are wanted, and impacts of one instant."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, ConvergenceError
from oracle.constraints import constraint_matrix, stack
from oracle.mechanics import mass_matrix
from oracle.trees import random_model

C = kt.constraints


def some_constraints(model, seed):
    """Return constraints of every kind on random parts of a model, on two of its trees where it has several."""
    rng = np.random.default_rng(seed)
    moving = [name for name in model.names if model.body_links[model.body_index(name)] >= 0]
    a, b, c = (str(name) for name in rng.choice(moving, 3, replace=False))
    first, last = model.joint_names[0], model.joint_names[-1]
    return [
        C.JointAcceleration(first, 0.3),
        C.JointAcceleration(last),
        C.Coupling({first: 2.0, last: -1.0}, 0.1),
        C.PointAcceleration(a, rng.normal(size=3), rng.normal(size=3), 0.7),
        C.PointAcceleration(b, rng.normal(size=3)),
        C.PointAcceleration(a, rng.normal(size=3), other=c, other_point=rng.normal(size=3)),
        C.OrientationAcceleration(b, other=c),
        C.OrientationAcceleration(a),
    ]


@pytest.mark.parametrize("seed", range(6))
def test_three_routes_agree_with_dense_matrices(seed):
    """K = J M^-1 J' to 1e-10 on random trees of every joint, with branches and several roots."""
    model = random_model(seed, 10, roots=0.3)
    q, _ = model.random_state(seed)
    constraints = some_constraints(model, seed)
    expected = constraint_matrix(model, q, constraints)
    for route in ("forces", "deltas", "paths"):
        K = C.constraint_matrix(model, q, constraints, route=route)
        error = float(np.abs(K - expected).max() / np.abs(expected).max())
        assert error < 1e-10, (route, error)


@pytest.mark.parametrize("seed", range(4))
def test_accelerations_are_what_was_wanted(seed):
    """The rows are satisfied, and the difference to free motion is M^-1 J' f."""
    model = random_model(seed, 10, first="free", kinds=("revolute", "universal", "spherical", "prismatic"), roots=0.0)
    q, v = model.random_state(seed)
    rng = np.random.default_rng(seed)
    wanted = rng.normal(size=3)
    constraints = [
        C.PointAcceleration(model.names[-1], (0.1, 0.2, 0.3), value=wanted),
        C.JointAcceleration(model.joint_names[2], 1.5),
    ]
    found = C.solve_accelerations(model, q, v, constraints)
    J = stack(model, q, constraints)
    free = kt.forward_dynamics(model, q, v)
    expected = free + np.linalg.solve(mass_matrix(model, q), J.T @ found.forces)
    assert np.abs(found.a - expected).max() < 1e-9 * np.abs(expected).max()
    # the point's acceleration by differences of its velocity along the motion
    h = 1e-5
    places = []
    for t in (-h, 0.0, h):
        q1 = kt.integrate(model, q, v * 1.0 + 0.5 * t * found.a, t)
        pose = kt.body_poses(model, q1)[model.nbodies - 1]
        places.append(pose[:3, :3] @ (0.1, 0.2, 0.3) + pose[:3, 3])
    second = (places[0] - 2 * places[1] + places[2]) / h**2
    assert np.abs(second - wanted).max() < 1e-3 * (1 + np.abs(v).max() ** 3), (second, wanted)  # differences: 1e-5


def test_efforts_make_inequalities():
    """A motor that cannot bring the acceleration about gives all that it has."""
    model = kt.models.pendulum(1)
    free = kt.forward_dynamics(model, [0.3], [0.0])
    found = C.solve_accelerations(model, [0.3], [0.0], [C.JointAcceleration(model.joint_names[0], 1e6, effort=2.0)])
    assert found.forces == pytest.approx([2.0])
    assert found.a[0] > free[0]


def test_contradictions_and_immovable_parts_are_named():
    """One freedom cannot have two accelerations, and a welded body none."""
    model = kt.models.pendulum(2)
    joint, q = model.joint_names[0], np.zeros(2)
    both = [C.JointAcceleration(joint, 1.0), C.JointAcceleration(joint, 2.0)]
    with pytest.raises(ConvergenceError, match="cannot all be satisfied"):
        C.solve_accelerations(model, q, q, both)
    nearest = C.solve_accelerations(model, q, q, both, strict=False)
    assert nearest.a[0] == pytest.approx(1.5)
    assert np.allclose(C.solve_accelerations(model, q, q, both[:1] * 2).a[0], 1.0)  # twice the same is no contradiction
    fixed = kt.ModelBuilder().body("base").body("arm", parent="base", joint=kt.Revolute("x"), mass=1, inertia=(1, 1, 1))
    with pytest.raises(ConvergenceError, match="cannot"):
        C.solve_accelerations(fixed.build(), [0.0], [0.0], [C.PointAcceleration("base", value=1.0)])
    with pytest.raises(ArgumentError, match="direction"):
        C.solve_accelerations(model, q, q, [C.PointAcceleration(model.names[0], direction=(0, 0, 0))])
    with pytest.raises(ArgumentError, match="route"):
        C.constraint_matrix(model, q, both, route="guess")


def two_balls(radius=0.1):
    builder = kt.ModelBuilder()
    for name, density in (("a", 1000.0), ("b", 3000.0)):
        builder.body(name, joint=kt.Free(), shapes=[kt.Sphere(radius=radius, density=density)])
    return builder.build()


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_impact_of_two_bodies_keeps_momentum(e):
    """Closed form of a central impact: relative velocity -e times, momentum kept, (1 - e^2) of the energy lost."""
    model = two_balls()
    q = model.neutral()
    q[4:7], q[11:14] = (0.2, 0, 0), (0, 0, 0)
    v = np.zeros(12)
    v[3], v[9] = -2.0, 1.0
    hit = C.resolve_impact(model, q, v, [C.Impact("a", (-0.1, 0, 0), (1, 0, 0), e, other="b", other_point=(0.1, 0, 0))])
    assert hit.v[3] - hit.v[9] == pytest.approx(3.0 * e, abs=1e-12)
    before, after = kt.momentum(model, q, v), kt.momentum(model, q, hit.v)
    assert np.abs(before - after).max() < 1e-12 * np.abs(before).max()
    ma, mb = model.masses
    reduced = ma * mb / (ma + mb)
    assert hit.lost == pytest.approx(0.5 * reduced * 9.0 * (1 - e * e), abs=1e-9)


def test_impact_of_a_jointed_body_never_adds_energy():
    """Random limbs strike with friction and much restitution: Newton's law alone would add energy now and then."""
    for seed in range(8):
        model = random_model(seed, 8, first="free", roots=0.0)
        q, v = model.random_state(seed)
        moving = [n for n in model.names if model.body_links[model.body_index(n)] >= 0]
        hits = [C.Impact(name, (0.1, 0, 0.2), (0, 0.3, 1), 1.0, 0.8) for name in moving[:3]]
        found = C.resolve_impact(model, q, v, hits)
        assert found.lost > -1e-9, (seed, found.lost)
        assert (found.impulses[:, 0] >= 0).all()
        assert (np.linalg.norm(found.impulses[:, 1:], axis=1) <= 0.8 * found.impulses[:, 0] + 1e-9).all()
    with pytest.raises(ArgumentError, match="zero"):
        C.resolve_impact(model, q, v, [C.Impact(moving[0], (0, 0, 0), (0, 0, 0))])
    with pytest.raises(ArgumentError, match="restitution"):
        C.resolve_impact(model, q, v, [C.Impact(moving[0], (0, 0, 0), (0, 0, 1), 2.0)])
