"""The account of a model says what is in it, and stays readable for long models."""

from __future__ import annotations

import json

import kinetree as kt
from kinetree.model.describe import LONGEST, body_rows, remarks, summary

SOLID = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}


def arm():
    """Return a small arm with limits, a screw and a weld."""
    return (
        kt.ModelBuilder("arm")
        .body("upper", joint=kt.Revolute("-y"), limits=(-1.5707963267948966, 0), **SOLID)
        .body("lower", parent="upper", joint=kt.Prismatic((0, 3, 4)), limits=(0, 0.5), joint_name="slide", **SOLID)
        .body("screw", parent="lower", joint=kt.Helical("z", pitch=0.01), **SOLID)
        .body("tip", parent="screw", mass=0.5, inertia=(0.1, 0.1, 0.1))
        .body("wrist", parent="tip", joint=kt.Universal("x", "y"), limits=((-1, -2), (1, 2)), **SOLID)
        .build()
    )


def test_an_arm_in_words():
    """Sizes, masses, axes, limits with units, and the names of joints that differ from their bodies'."""
    text = arm().describe()
    for words in (
        "arm: 5 bodies in 1 tree, 4 moving joints, 5 degrees of freedom",
        "total mass 4.5 kg",
        "upper: revolute about -y, -90 to 0 deg, 1 kg",
        "lower: prismatic along (0, 0.6, 0.8) 'slide', 0 to 0.5 m, 1 kg",
        "screw: helical about z, 0.01 m/rad, 1 kg",
        "tip: fixed, 0.5 kg",
        "wrist: universal about x and y, -57.3 to 57.3; -114.6 to 114.6 deg, 1 kg",
    ):
        assert words in text, f"{words!r} is not in:\n{text}"
    assert "warnings" not in text


def test_branches_are_indented_and_rows_are_not():
    """Children of a branching body stand one level deeper; a row of only children stands below each other."""
    text = kt.models.humanoid().describe()
    assert "\npelvis: free" in text
    assert "\n  lumbar1: " in text
    assert "\n  lumbar2: " in text
    assert "\n    left_clavicle: " in text


def test_long_models_are_shortened():
    """However long, wide or deep a model is, its account has a bounded number of lines and says what is left out."""
    for model, words in (
        (kt.models.pendulum(5000), "... 4995 more in a row"),
        (kt.models.crowd(30), "... 2500 of 2670 bodies are not shown"),
        (kt.models.molecule(5000), "bodies are not shown"),
        (kt.models.millipede(legs=40, leg_links=2, spine=1), "... and 28 more branches of spine0"),
    ):
        lines = model.describe().splitlines()
        assert len(lines) < LONGEST + 30
        assert any(words.rsplit(" of ", 1)[-1] in line for line in lines), f"{words!r} is not in {lines[-3:]}"


def test_many_trees_are_counted():
    """A forest of more than a dozen trees shows the first dozen and counts the rest."""
    builder = kt.ModelBuilder()
    for i in range(20):
        builder.body(f"ball{i}", joint=kt.Free(), **SOLID)
    text = builder.build().describe()
    assert "20 bodies in 20 trees" in text
    assert "... and 8 more trees" in text


def test_remarks_name_what_may_have_been_overlooked():
    """Massless bodies and a neutral position outside of the limits are warned of, by name."""
    model = (
        kt.ModelBuilder()
        .body("ghost", joint=kt.Revolute("x"))
        .body("solid", parent="ghost", joint=kt.Revolute("y"), limits=(0.5, 1.0), **SOLID)
        .build()
    )
    found = remarks(model)
    assert len(found) == 2
    assert "'ghost' has no mass" in found[0]
    assert "outside the limits of 'solid'" in found[1]
    assert all(f"- {remark}" in model.describe() for remark in found)


def test_the_warnings_of_a_file_are_repeated():
    """What a loader could not represent stands in the account."""
    builder = kt.ModelBuilder()
    builder.body("a", joint=kt.Revolute("x"), **SOLID)
    builder.warnings.append("tendon 't1' is not represented")
    assert "- tendon 't1' is not represented" in builder.build().describe()


def test_the_summary_is_plain_data():
    """Summary and rows can be written as JSON without NaN or infinity, and agree with the model."""
    model = arm()
    facts = json.loads(json.dumps(summary(model), allow_nan=False))
    assert facts["joint_kinds"] == {"revolute": 1, "prismatic": 1, "helical": 1, "universal": 1, "fixed": 1}
    assert (facts["nq"], facts["nv"], facts["depth"]) == (5, 5, 5)
    rows = json.loads(json.dumps(body_rows(model), allow_nan=False))
    assert [row["name"] for row in rows] == list(model.names)
    assert rows[0]["parent"] is None
    assert rows[0]["upper"] == [0.0]
    assert rows[2]["lower"] == [None]
    assert rows[2]["pitch"] == 0.01
