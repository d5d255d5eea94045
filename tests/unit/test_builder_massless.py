"""Massless links are allowed exactly where the mathematics allows them: where the mass matrix is regular."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ModelError
from oracle.mechanics import mass_matrix
from oracle.trees import random_joint

KINDS = ("revolute", "prismatic", "helical", "universal", "spherical", "planar", "free", "fixed")
TREES = 80
SOLID = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}


def random_tree(seed):
    """Return a builder of a random tree in which half of the bodies have no mass, and some are points or needles."""
    rng = np.random.default_rng(seed)
    builder = kt.ModelBuilder()
    n = int(rng.integers(1, 7))
    for i in range(n):
        parent = f"b{int(rng.integers(max(0, i - 2), i))}" if i and rng.random() < 0.9 else None
        kinds = KINDS if rng.random() < 0.4 else ("revolute", "universal", "prismatic", "fixed")
        at_same_place = rng.random() < 0.5
        position = np.zeros(3) if at_same_place else rng.normal(size=3)
        what = rng.choice(["none", "solid", "point", "needle"], p=[0.45, 0.35, 0.1, 0.1])
        own = {
            "none": {},
            "solid": {"mass": 1.0, "com": rng.normal(size=3), "inertia": (1.0, 1.5, 2.0)},
            "point": {"mass": 1.0, "com": rng.normal(size=3)},
            "needle": {"mass": 1.0, "inertia": (1.0, 1.0, 0.0)},
        }[what]
        joint = random_joint(str(rng.choice(kinds)), rng)
        builder.body(f"b{i}", parent=parent, joint=joint, placement=(None, position), **own)
    return builder


def mass_matrix_is_singular(builder, monkeypatch):
    """Build without the check, and look at the mass matrix at two random configurations."""
    with monkeypatch.context() as patch:
        patch.setattr("kinetree.model.compile.check_massless", lambda *_: None)
        model = builder.build()
    if model.nv == 0:
        return False
    worst = []
    for seed in (11, 12):
        matrix = mass_matrix(model, model.random_state(seed)[0])
        size = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
        if (np.diag(matrix) < 1e-13).any():
            worst.append(0.0)
            continue
        worst.append(float(np.linalg.eigvalsh(matrix / np.outer(size, size))[0]))
    return max(worst) < 1e-10


def test_refused_are_exactly_the_singular_models(monkeypatch):
    """A random model is refused if and only if the mass matrix of the plain twin is singular."""
    counts = {True: 0, False: 0}
    for seed in range(TREES):
        builder = random_tree(seed)
        singular = mass_matrix_is_singular(builder, monkeypatch)
        complaint = ""
        try:
            builder.build()
        except ModelError as error:
            complaint = str(error)
        refused = "resists its joint" in complaint
        assert refused or not complaint, complaint
        assert refused == singular, f"seed {seed}: refused is {refused}, but singular is {singular}"
        counts[singular] += 1
    print(f"of {TREES} random trees {counts[True]} are singular")
    assert min(counts.values()) > TREES // 8, counts


@pytest.mark.parametrize(
    ("what", "build"),
    [
        ("two hinges that make a universal joint", lambda b: b.body("a", joint=kt.Revolute("x")).body(
            "b", parent="a", joint=kt.Revolute("y"), **SOLID)),
        ("three hinges that make a ball", lambda b: b.body("a", joint=kt.Revolute("z")).body(
            "b", parent="a", joint=kt.Revolute("y")).body("c", parent="b", joint=kt.Revolute("z"), **SOLID)),
        ("a cross table", lambda b: b.body("a", joint=kt.Prismatic("x")).body(
            "b", parent="a", joint=kt.Prismatic("y"), mass=1.0)),
        ("a rotor without mass", lambda b: b.body("a", joint=kt.Revolute("x"), armature=0.1).body(
            "b", parent="a", joint=kt.Revolute("x"), **SOLID)),
        ("a rotor at the end", lambda b: b.body("a", joint=kt.Revolute("x"), armature=0.1)),
        ("a mass that is welded on", lambda b: b.body("a", joint=kt.Revolute("x")).body("b", parent="a", **SOLID)),
        ("a mass point on a rod", lambda b: b.body("a", joint=kt.Revolute("x"), mass=1.0, com=(0, 0, 1))),
        ("parallel hinges apart", lambda b: b.body("a", joint=kt.Revolute("x")).body(
            "b", parent="a", joint=kt.Revolute("x"), placement=(0, 0, 1), **SOLID)),
        ("carried on two sides", lambda b: b.body("a", joint=kt.Free()).body(
            "b", parent="a", joint=kt.Revolute("x"), **SOLID).body(
            "c", parent="a", joint=kt.Revolute("y"), placement=(1, 0, 0), **SOLID)),
    ],
)  # fmt: skip
def test_massless_links_that_make_sense_are_allowed(what, build):
    """Chains of simple joints that stand for a compound one, and rotors, need no mass in between."""
    model = build(kt.ModelBuilder()).build()
    matrix = mass_matrix(model, model.random_state(5)[0])
    assert np.linalg.eigvalsh(matrix)[0] > 1e-3, what


@pytest.mark.slow_python
def test_long_chains_of_massless_links_are_judged_in_bounded_time():
    """Long chains without mass are refused, and as many mass points behind a massless hinge allowed."""
    n = 10_000
    nothing, points = kt.ModelBuilder(), kt.ModelBuilder().body("hinge", joint=kt.Revolute("z"))
    for i in range(n):
        nothing.body(f"b{i}", parent=f"b{i - 1}" if i else None, joint=kt.Revolute("x"))
        points.body(
            f"b{i}", parent=f"b{i - 1}" if i else "hinge", joint=kt.Revolute("xy"[i % 2]), placement=(0.1, 0, -0.1),
            mass=1.0, com=(0.1, 0, -0.1),
        )  # fmt: skip
    with pytest.raises(ModelError, match=f"'b{n - 1}' has no mass"):
        nothing.build()
    assert points.build().nv == n + 1
