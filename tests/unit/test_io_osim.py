"""OpenSim models: joints as chains, functions as pieces, couplers, markers, and what is left out."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import FileFormatError
from kinetree.human import Motion, Subject
from kinetree.kernels.coordinates import place_coordinates, three
from kinetree.model.archive import model_from_arrays, model_to_arrays
from kinetree.model.coordinates import Function

SQUARE = "<PolynomialFunction><coefficients>0.3 0 0</coefficients></PolynomialFunction>"
SPLINE = "<SimmSpline><x>-1 0 0.5 1 2</x><y>0.1 0 0.2 0.1 -0.3</y></SimmSpline>"

HALF = f"<MultiplierFunction><function>{SPLINE}</function><scale>0.5</scale></MultiplierFunction>"


def body(name, mass=1.0):
    return (
        f'<Body name="{name}"><mass>{mass}</mass><mass_center>0 -0.1 0</mass_center>'
        "<inertia>0.02 0.01 0.02 0 0 0</inertia></Body>"
    )


def frames(parent, child, place="0 0 0", turn="0 0 0"):
    return (
        f'<frames><PhysicalOffsetFrame name="p"><socket_parent>/bodyset/{parent}</socket_parent>'
        f"<translation>{place}</translation><orientation>{turn}</orientation></PhysicalOffsetFrame>"
        f'<PhysicalOffsetFrame name="c"><socket_parent>/bodyset/{child}</socket_parent>'
        "<translation>0 0.2 0</translation><orientation>0 0.3 0</orientation></PhysicalOffsetFrame></frames>"
        "<socket_parent_frame>p</socket_parent_frame><socket_child_frame>c</socket_child_frame>"
    )


def coordinate(name, extra=""):
    inside = f"<default_value>0.1</default_value><range>-2 2</range><clamped>true</clamped>{extra}"
    return f'<Coordinate name="{name}">{inside}</Coordinate>'


def axis(name, coordinates, direction, function):
    inside = f"<coordinates>{coordinates}</coordinates><axis>{direction}</axis>{function}"
    return f'<TransformAxis name="{name}">{inside}</TransformAxis>'


LINE = '<LinearFunction name="function"><coefficients>1 0</coefficients></LinearFunction>'
KNEE = (
    '<CustomJoint name="knee">' + frames("thigh", "shank", "0 -0.4 0")
    + f"<coordinates>{coordinate('bend')}</coordinates><SpatialTransform>"
    + axis("rotation1", "bend", "0 0 1", LINE)
    + axis("rotation2", "", "0 1 0", "<Constant><value>0.2</value></Constant>")
    + axis("rotation3", "bend", "1 0 0", SQUARE)
    + axis("translation1", "bend", "1 0 0", HALF)
    + axis("translation2", "bend", "0 1 0", SPLINE)
    + axis("translation3", "", "0 0 1", "<Constant><value>0.01</value></Constant>")
    + "</SpatialTransform></CustomJoint>"
)  # fmt: skip
HIP = (
    '<PinJoint name="hip">'
    + frames("ground", "thigh").replace("/bodyset/ground", "/ground")
    + f"<coordinates>{coordinate('hip_angle')}</coordinates></PinJoint>"
)
PATELLA = (
    '<PinJoint name="cap">'
    + frames("thigh", "patella", "0 -0.4 0")
    + f"<coordinates>{coordinate('beta')}</coordinates></PinJoint>"
)
COUPLER = (
    '<ConstraintSet><objects><CoordinateCouplerConstraint name="c"><isEnforced>true</isEnforced>'
    "<coupled_coordinates_function>"
    "<LinearFunction><coefficients>0.5 0.1</coefficients></LinearFunction></coupled_coordinates_function>"
    "<independent_coordinate_names>bend</independent_coordinate_names>"
    "<dependent_coordinate_name>beta</dependent_coordinate_name>"
    "<scale_factor>2</scale_factor></CoordinateCouplerConstraint></objects></ConstraintSet>"
)


def model_text(joints=HIP + KNEE + PATELLA, bodies=("thigh", "shank", "patella"), more=COUPLER):
    return (
        '<OpenSimDocument Version="40000"><Model name="leg"><BodySet><objects>' + "".join(map(body, bodies))
        + f"</objects></BodySet><JointSet><objects>{joints}</objects></JointSet>{more}"
        '<MarkerSet><objects><Marker name="TIP"><socket_parent_frame>/bodyset/shank</socket_parent_frame>'
        "<location>0 -0.5 0.1</location></Marker></objects></MarkerSet>"
        '<ForceSet><objects><Millard2012EquilibriumMuscle name="rectus"/></objects></ForceSet>'
        "</Model></OpenSimDocument>"
    )  # fmt: skip


@pytest.fixture
def leg(tmp_path):
    path = tmp_path / "leg.osim"
    path.write_text(model_text())
    return kt.load(path)


def turn(axis_of, angle):
    a = np.asarray(axis_of, float)
    k = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    return np.eye(4) + np.block(
        [[np.sin(angle) * k + (1 - np.cos(angle)) * k @ k, np.zeros((3, 1))], [np.zeros((1, 4))]]
    )


def shift(*place):
    out = np.eye(4)
    out[:3, 3] = place
    return out


def test_a_custom_joint_is_where_opensim_puts_it(leg):
    """The pose of the shank by OpenSim's own formula: translations in the parent's frame, then body-fixed rotations."""
    assert leg.coordinate_names == ("hip_angle", "bend", "beta")
    bend, hip = 0.7, -0.4
    q = configuration(leg, {"hip_angle": hip, "bend": bend})
    after = shift(0, 0.2, 0) @ turn((0, 1, 0), 0.3)
    thigh = turn((1, 0, 0), np.pi / 2) @ turn((0, 0, 1), hip) @ np.linalg.inv(after)
    spline = spline_oracle(np.array([-1, 0, 0.5, 1, 2]), np.array([0.1, 0, 0.2, 0.1, -0.3]), bend)
    knee = (
        shift(0.5 * spline, spline, 0.01)
        @ turn((0, 0, 1), bend)
        @ turn((0, 1, 0), 0.2)
        @ turn((1, 0, 0), 0.3 * bend**2)
    )
    shank = thigh @ shift(0, -0.4, 0) @ knee @ np.linalg.inv(after)
    poses = kt.body_poses(leg, q)
    np.testing.assert_allclose(poses[leg.names.index("thigh")], thigh, atol=1e-12)
    np.testing.assert_allclose(poses[leg.names.index("shank")], shank, atol=1e-12)


def configuration(model, values):
    u = np.array([values.get(name, 0.0) for name in model.coordinate_names])
    q, s = np.zeros(model.nv), np.zeros((3, model.nv))
    a, b = np.zeros(model.nv, dtype=np.int64), np.zeros(model.nv, dtype=np.int64)
    place_coordinates(model.coordinate_rows, model.coordinate_pieces, u, q, a, s[0], s[1], b, s[2])
    return q


def spline_oracle(x, y, at):
    """Solve for the second derivatives with the ends' third derivatives from cubics through four points."""
    n = len(x)
    first = np.polyfit(x[:4] - x[0], y[:4], 3)[0] * 6
    last = np.polyfit(x[-4:] - x[-1], y[-4:], 3)[0] * 6
    matrix, right = np.zeros((n, n)), np.zeros(n)
    for k in range(1, n - 1):
        h0, h1 = x[k] - x[k - 1], x[k + 1] - x[k]
        matrix[k, k - 1 : k + 2] = h0 / 6, (h0 + h1) / 3, h1 / 6
        right[k] = (y[k + 1] - y[k]) / h1 - (y[k] - y[k - 1]) / h0
    matrix[0, :2], right[0] = (-1, 1), first * (x[1] - x[0])
    matrix[-1, -2:], right[-1] = (-1, 1), last * (x[-1] - x[-2])
    m = np.linalg.solve(matrix, right)
    k = int(np.clip(np.searchsorted(x, at) - 1, 0, n - 2))
    h, a, b = x[k + 1] - x[k], x[k + 1] - at, at - x[k]
    return (
        m[k] * a**3 / (6 * h)
        + m[k + 1] * b**3 / (6 * h)
        + (y[k] / h - m[k] * h / 6) * a
        + (y[k + 1] / h - m[k + 1] * h / 6) * b
    )


def test_a_coupled_coordinate_follows(leg):
    """Beta = 2 (bend / 2 + 0.1)."""
    q = configuration(leg, {"bend": 0.6})
    assert q[leg.joint_names.index("beta")] == pytest.approx(0.8)


def test_slopes_are_those_of_differences():
    """Value, slope and second derivative of the pieces agree with finite differences, beyond the ends too."""
    rng = np.random.default_rng(0)
    rows = np.zeros((3, 10))
    rows[:, 0], rows[:, 1], rows[:, 2:7] = [-np.inf, 0.0, 1.0], [0.0, 0.0, 1.0], rng.normal(size=(3, 5))
    for x in (-0.7, 0.4, 1.6):
        f, d, c = three(rows, 0, 3, x)
        h = 1e-5
        up, down = three(rows, 0, 3, x + h), three(rows, 0, 3, x - h)
        assert d == pytest.approx((up[0] - down[0]) / (2 * h), rel=1e-7)
        assert c == pytest.approx((up[1] - down[1]) / (2 * h), rel=1e-7)
        assert Function(rows)(x) == pytest.approx(f)


def test_motion_along_coordinates(leg):
    """q, v and a through the functions are the derivatives of the path, and the power is the same in both."""
    subject = Subject.of(leg)
    times = np.linspace(0, 1, 401)
    values = {"hip_angle": 0.3 * np.sin(3 * times), "bend": 0.8 + 0.5 * np.cos(4 * times)}
    motion = Motion.of_coordinates(subject, times, values)
    inside = slice(20, -20)
    np.testing.assert_allclose(motion.v[inside], np.gradient(motion.q, times, axis=0)[inside], atol=2e-3)
    np.testing.assert_allclose(motion.a[inside], np.gradient(motion.v, times, axis=0)[inside], atol=2e-2)
    result = kt.human.inverse_dynamics(subject, motion, forces="none")
    by_joints = np.einsum("nk,nk->n", result.tau, motion.v)
    both = np.hstack((result.torque, result.residual))
    names = [*result.names, *result.residual_names]
    rates = np.column_stack([motion.du[:, leg.coordinate_names.index(name)] for name in names])
    np.testing.assert_allclose(np.einsum("nk,nk->n", both, rates), by_joints, atol=1e-9)


def test_it_survives_pickle_and_archive(leg):
    """The couplings are part of the model's value."""
    assert pickle.loads(pickle.dumps(leg)) == leg
    assert model_from_arrays(model_to_arrays(leg)) == leg
    assert any("muscles are not represented: rectus" in line for line in leg.warnings)
    assert leg.marker_names == ("TIP",)


@pytest.mark.parametrize(
    "kind", ["PinJoint", "SliderJoint", "UniversalJoint", "BallJoint", "FreeJoint", "PlanarJoint", "WeldJoint"]
)
def test_simple_joints(tmp_path, kind):
    """Each has its coordinates, in order."""
    count = {
        "PinJoint": 1,
        "SliderJoint": 1,
        "UniversalJoint": 2,
        "BallJoint": 3,
        "FreeJoint": 6,
        "PlanarJoint": 3,
        "WeldJoint": 0,
    }[kind]
    listed = "".join(coordinate(f"c{k}") for k in range(count))
    joint = f'<{kind} name="j">' + frames("thigh", "shank") + f"<coordinates>{listed}</coordinates></{kind}>"
    path = tmp_path / "m.osim"
    path.write_text(model_text(HIP + joint, ("thigh", "shank"), ""))
    model = kt.load(path)
    assert model.nv == 1 + count
    assert model.total_mass == pytest.approx(2.0)


def test_a_locked_coordinate_is_a_weld(tmp_path):
    """It stays at its default value, and that is said."""
    path = tmp_path / "m.osim"
    path.write_text(model_text().replace(coordinate("hip_angle"), coordinate("hip_angle", "<locked>true</locked>")))
    model = kt.load(path)
    assert "hip_angle" not in model.coordinate_names
    assert any("hip_angle" in line for line in model.warnings)


def test_an_old_model_with_joints_inside_bodies(tmp_path):
    """Version 3: a body holds its joint, ground is a body."""
    joint = (
        '<Joint><CustomJoint name="pelvis_j"><parent_body>ground</parent_body>'
        "<location_in_parent>0 1 0</location_in_parent>"
        "<orientation_in_parent>0 0 0</orientation_in_parent><location>0 0 0</location><orientation>0 0 0</orientation>"
        f"<CoordinateSet><objects>{coordinate('tilt')}</objects></CoordinateSet><SpatialTransform>"
        + axis("rotation1", "tilt", "0 0 1", LINE) + "</SpatialTransform></CustomJoint></Joint>"
    )  # fmt: skip
    inside = body("pelvis").replace("</Body>", joint + "</Body>")
    text = (
        '<OpenSimDocument Version="30000"><Model name="old"><BodySet><objects>' + body("ground", 0) + inside
        + "</objects></BodySet></Model></OpenSimDocument>"
    )  # fmt: skip
    path = tmp_path / "old.osim"
    path.write_text(text)
    model = kt.load(path)
    assert model.coordinate_names == ("tilt",)
    assert kt.body_poses(model, np.zeros(1))[-1][2, 3] == pytest.approx(1.0), "y up became z up"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.replace("SimmSpline", "StrangeSpline"), "StrangeSpline is not read"),
        (lambda t: t.replace("<axis>1 0 0</axis>", "<axis>1 0</axis>"), "3 finite numbers"),
        (lambda t: t.replace("/bodyset/thigh</socket_parent>", "/bodyset/nobody</socket_parent>"), "nobody"),
        (lambda t: t.replace("<mass>1.0</mass>", "<mass>heavy</mass>"), "not made of numbers"),
        (
            lambda t: t.replace(
                "<coordinates>bend</coordinates><axis>0 0 1</axis>",
                "<coordinates>bend hip_angle</coordinates><axis>0 0 1</axis>",
            ),
            "one coordinate",
        ),
        (lambda t: t.replace("<Model name", "<Other name").replace("</Model>", "</Other>"), "no <Model>"),
        (lambda t: t.replace(PATELLA, ""), "no joint carries"),
        (lambda t: t.replace("PinJoint", "EllipsoidJoint"), "EllipsoidJoint is not read"),
    ],
)
def test_broken_models_are_named_by_line(tmp_path, change, says):
    """Each fault names the element."""
    path = tmp_path / "bad.osim"
    path.write_text(change(model_text()))
    with pytest.raises(FileFormatError, match=says):
        kt.load(path)
