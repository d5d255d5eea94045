"""The 48-DOF human has the bodies, joints and freedoms of the paper's figure 10, and a person's masses."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, FileFormatError, MarkerError
from kinetree.human.angles import angle_table, clinical, euler_xyz, matrices
from kinetree.human.markersets import CMU, PLUGIN_GAIT, SETS, UNUSED_LEDS, attachments, landmark_of, recognise

FIGURE_10 = {
    "cervical": 3, "thoracic": 3, "lumbar": 3, "sacral": 3, "clavicle": 3, "shoulder": 3, "elbow": 2, "wrist": 2,
    "hip": 3,    "knee": 2, "ankle": 2, "tarsal": 1,
}  # fmt: skip


def test_it_is_that_of_figure_10():
    """21 bodies, 20 joints and 48 internal degrees of freedom, joint by joint."""
    model = kt.models.human48()
    assert model.nbodies == 21
    assert len(model.joint_names) - 1 == 20
    assert model.nv - 6 == 48
    for joint in model.joint_names[1:]:
        own = model.v_slice(joint)
        assert own.stop - own.start == FIGURE_10[joint.rpartition("_")[2]]


@pytest.mark.parametrize("sex", [None, "male", "female"])
@pytest.mark.parametrize("parameters", ["de_leva", "density"])
def test_masses(sex, parameters):
    """The whole weighs what it should, sides are alike, and the pelvis is not the heaviest by far."""
    model = kt.models.human48(1.7, 68.0, sex, parameters=parameters)
    assert model.total_mass == pytest.approx(68.0)
    for name in model.names:
        if name.startswith("right_"):
            other = model.names.index("left_" + name.removeprefix("right_"))
            assert model.masses[model.names.index(name)] == pytest.approx(model.masses[other])
    thigh = model.masses[model.names.index("right_upper_leg")] / 68.0
    assert 0.08 < thigh < 0.16
    assert model.masses[model.names.index("head")] / 68.0 > 0.03


def test_volume_alone_weighs_an_adult():
    """Uniform densities without a mass: between 50 and 110 kg, as a person of 1.75 m may weigh."""
    model = kt.models.human48(1.75, parameters="density")
    assert 50 < model.total_mass < 110


def test_it_stands_as_tall_as_it_should():
    """From the soles to the top of the head."""
    model = kt.models.human48(1.80)
    poses = kt.body_poses(model, model.neutral())
    top, low = -np.inf, np.inf
    for body, size, place in zip(model.shape_bodies, model.shape_sizes, model.shape_placements, strict=True):
        centre = poses[body][:3, :3] @ place[9:] + poses[body][:3, 3]
        if model.names[body] == "head":
            top = centre[2] + size[2] / 2
        if model.names[body].endswith("heel"):
            low = min(low, centre[2] - size[2] / 2)
    assert top - low == pytest.approx(1.80, abs=0.03)


@pytest.mark.parametrize(
    "bad", [{"height": -1}, {"sex": "x"}, {"parameters": "guess"}, {"anchors": {"tail": [0, 0, 0]}}, {"mass": np.nan}]
)
def test_bad_arguments_are_named(bad):
    """Each says which argument and what to give."""
    with pytest.raises(ArgumentError, match=next(iter(bad))):
        kt.models.human48(**bad)


def test_the_angles_are_independent_and_their_torques_dual():
    """Power by angles and their torques is power by joint velocities."""
    model = kt.models.human48()
    rng = np.random.default_rng(0)
    q = np.tile(model.neutral(), (5, 1))
    v, tau = rng.normal(size=(5, model.nv)), rng.normal(size=(5, model.nv))
    for t in range(5):
        q[t] = kt.integrate(model, q[t], 0.5 * rng.normal(size=model.nv), 1.0)
    angles, torques, rates = clinical(model, q, tau, v)
    assert len(angle_table(model)) == 48 == angles.shape[1]
    inner = np.einsum("nk,nk->n", tau[:, 6:], v[:, 6:])
    np.testing.assert_allclose(np.einsum("nk,nk->n", torques, rates), inner, rtol=1e-10)


def test_both_sides_bend_alike():
    """A mirrored pose has the same clinical angles on the other side."""
    model = kt.models.human48()
    q = model.neutral()
    v = np.zeros(model.nv)
    v[model.v_slice("right_hip")], v[model.v_slice("left_hip")] = (0.4, 0.2, 0.1), (0.4, -0.2, -0.1)
    v[model.v_slice("right_ankle")] = v[model.v_slice("left_ankle")] = (0.2, 0.1)
    q = kt.integrate(model, q, v, 1.0)
    poses = kt.body_poses(model, q)
    right, left = poses[model.names.index("right_toes")], poses[model.names.index("left_toes")]
    np.testing.assert_allclose(right[:3, 3] * [-1, 1, 1], left[:3, 3], atol=1e-12)
    angles = dict(zip([own.name for own in angle_table(model)], clinical(model, q[None])[0][0], strict=True))
    for name, value in angles.items():
        if name.endswith("_r"):
            assert value == pytest.approx(angles[name[:-2] + "_l"], abs=1e-12)
    assert angles["hip_flexion_r"] > 0.3


def test_euler_angles_rebuild_the_rotation():
    """R = Rx(a) Ry(b) Rz(c)."""
    from scipy.spatial.transform import Rotation

    turns = Rotation.random(20, random_state=0)
    quaternions = np.roll(turns.as_quat(), 1, axis=1)
    for turn, own in zip(matrices(quaternions), euler_xyz(matrices(quaternions)), strict=True):
        np.testing.assert_allclose(Rotation.from_euler("XYZ", own).as_matrix(), turn, atol=1e-12)


@pytest.mark.parametrize(
    ("label", "side", "landmark"),
    [
        ("R.ASIS", "r", "ASIS"), ("L_knee", "l", "KNE"), ("RTOE", "r", "TOE"), ("r_sh2", "r", "SHN"), ("C7", "", "C7"),
        ("LFWT", "l", "ASIS"), ("S2", "", "SACR"), ("RMFC", "r", "MKNE"), ("LLMAL", "l", "ANK"),
        ("L_wrist_ulna", "l", "WRB"),
        ("Right_Heel", "r", "HEE"), ("T10", "", "T10"), ("RBAK", "r", "RBAC"), ("RSHO", "r", "SHO"),
    ],
)  # fmt: skip
def test_the_words_of_laboratories_are_known(label, side, landmark):
    """Suits and laboratories name the same landmark differently."""
    assert landmark_of(label) == (side, landmark)


def test_marker_sets_are_recognised(tmp_path):
    """CMU's 41, Plug-in Gait's 39, the paper's 51 of which 41 are used, and a user's own file."""
    names = kt.models.human48().names
    assert recognise(CMU) == "cmu"
    assert len(CMU) == 41
    assert recognise(PLUGIN_GAIT) == "plugin_gait"
    assert len(SETS["phasespace"]) == 51
    assert recognise(SETS["phasespace"]) == "phasespace"
    _, found, unknown = attachments(SETS["phasespace"], "phasespace", names)
    assert len(found) == 41
    assert set(unknown) == set(UNUSED_LEDS)
    own = tmp_path / "own.toml"
    own.write_text("".join(f'[markers.m{k}]\nbody = "pelvis"\nat = [0.0{k}, 0, 0]\nweight = 2\n' for k in range(5)))
    _, found, _ = attachments([f"m{k}" for k in range(5)], own, names)
    assert found["m3"].at == (0.03, 0.0, 0.0)
    with pytest.raises(MarkerError, match="own"):
        attachments(["a", "b", "c"], "auto", names)
    with pytest.raises(ArgumentError, match="markerset"):
        attachments(CMU, "vicon", names)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = ", "TOML"), ("x = 1", "missing"), ('[markers.a]\nbody = "tail"', "body must be"),
        ('[markers.a]\nbody = "head"\nat = [1, 2]', "three fractions"),
        ('[markers.a]\nbody = "head"\nweight = -1', "weight"),
    ],
)  # fmt: skip
def test_a_broken_marker_set_is_named(tmp_path, text, says):
    """Each fault names the marker."""
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=says):
        attachments(["a"], path, kt.models.human48().names)
