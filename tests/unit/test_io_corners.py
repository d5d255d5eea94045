"""Corners of the files of models: what is left out is named, what cannot be is refused, on files of a few lines."""

from __future__ import annotations

import os
import pickle
import re
import socket

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, FileFormatError, ModelError, SingularError, UnknownNameError
from kinetree.io.files import MOST_BYTES, read_bytes

pytest.importorskip("mujoco", reason="MuJoCo is not installed (extra 'io')")

HEAVY = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
BODY = {"mass": 1, "inertia": (1, 1, 1)}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path_factory, monkeypatch):
    """Let MuJoCo write its log file where it does not matter."""
    monkeypatch.chdir(tmp_path_factory.mktemp("log"))


def mjcf(folder, inside, outside=""):
    """Write an MJCF with one body and load it."""
    path = folder / "model.xml"
    path.write_text(f'<mujoco>{outside}<worldbody><body name="a">{HEAVY}{inside}</body></worldbody></mujoco>')
    return path


def urdf(folder, text):
    """Write a URDF."""
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r">{text}</robot>')
    return path


# --- MJCF


@pytest.mark.parametrize(
    ("inside", "outside", "note"),
    [
        ('<joint name="j" type="ball" limited="true" range="0 1"/>', "", "limits of ball joints.*: j"),
        ('<joint name="j" type="ball" stiffness="3"/>', "", "springs of ball and free joints.*: j"),
        ('<joint name="j" actuatorfrcrange="-1 2"/>', "", "force ranges that are not symmetric.*: j"),
        ("<freejoint/>", '<compiler alignfree="true"/>', "compiler settings that are not followed: alignfree=true"),
        ('<geom type="hfield" hfield="h" name="hill"/>',
         '<asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset>', "height or distance fields: hill"),
    ],
)  # fmt: skip
def test_what_an_mjcf_has_and_a_model_has_not_is_named(tmp_path, inside, outside, note):
    """A warning says what was left out and of which joint or shape; strictly, it is an error."""
    path = mjcf(tmp_path, inside, outside)
    assert [line for line in kt.load(path).warnings if re.search(note, line)], kt.load(path).warnings
    with pytest.raises(FileFormatError, match=note):
        kt.load(path, strict=True)


def test_the_smaller_side_of_a_force_range_is_the_effort(tmp_path):
    model = kt.load(mjcf(tmp_path, '<joint name="j" actuatorfrcrange="-1 2"/>'))
    assert model.dofs[0, kt.kernels.layout.EFFORT] == 1


def test_mocap_and_weightless_bodies_are_named(tmp_path):
    """A mocap body stands still, and gravity compensation is left out: both are said by name."""
    path = tmp_path / "model.xml"
    path.write_text(
        f'<mujoco><worldbody><body name="hand" mocap="true">{HEAVY}</body>'
        f'<body name="a" gravcomp="1">{HEAVY}<joint/></body></worldbody></mujoco>'
    )
    model = kt.load(path)
    said = "\n".join(model.warnings)
    assert "mocap bodies stand still: hand" in said
    assert "gravity compensation is not represented: a" in said
    assert model.nv == 1


def test_an_include_needs_a_file(tmp_path):
    path = tmp_path / "model.xml"
    path.write_text("<mujoco><include/></mujoco>")
    with pytest.raises(FileFormatError, match="an <include> needs file="):
        kt.load(path)


# --- URDF


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f'<link name="a">{INERTIAL}{INERTIAL}</link>', r"several <inertial> elements: keep one"),
        ('<link name="a"><inertial><mass value="1"/></inertial></link>', "link 'a' has no <inertia>"),
        ('<link name="a"><inertial><origin/></inertial></link>', "link 'a' has no <mass>"),
        (f'<link name="a">{INERTIAL}</link><link name="b">{INERTIAL}</link>', "2 links have no parent joint.*one root"),
    ],
)
def test_a_urdf_that_is_not_one_tree_of_bodies_is_refused(tmp_path, text, says):
    with pytest.raises(FileFormatError, match=says):
        kt.load(urdf(tmp_path, text))


def test_what_a_urdf_has_and_a_model_has_not_is_named(tmp_path):
    """Textures and limits of floating joints are left out by name."""
    joint = '<joint name="j" type="floating"><parent link="a"/><child link="b"/><limit lower="-1" upper="1"/></joint>'
    material = '<material name="m"><texture filename="wood.png"/></material>'
    text = f'{material}<link name="a">{INERTIAL}</link><link name="b">{INERTIAL}</link>{joint}'
    said = "\n".join(kt.load(urdf(tmp_path, text)).warnings)
    assert "textures are not represented: wood.png" in said
    assert "limits of floating and planar joints are not represented: j" in said


def test_shapes_of_the_world_stand_still(tmp_path):
    """The link `world` is no body, but what it shows is kept on one without mass."""
    floor = '<visual><geometry><box size="1 2 3"/></geometry></visual>'
    joint = '<joint name="j" type="continuous"><parent link="world"/><child link="a"/><axis xyz="0 0 1"/></joint>'
    model = kt.load(urdf(tmp_path, f'<link name="world">{floor}</link><link name="a">{INERTIAL}</link>{joint}'))
    assert (model.names, model.nv, model.total_mass) == (("world_shapes", "a"), 1, 1.0)
    assert model.shape_sizes[0].tolist() == [1, 2, 3]


# --- saving


def one(joint, **more):
    """Return a model of a heavy body on a joint."""
    return kt.ModelBuilder().body("a", joint=joint, **(BODY | more)).build()


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (lambda: one(kt.Planar()), "save as URDF instead"),
        (lambda: one(kt.Helical("x", pitch=0.1)), "replace it by a revolute joint"),
        (lambda: one(kt.Spherical(), effort=3.0), "the spherical joint 'a' has an effort limit"),
        (lambda: one(kt.Spherical(), limits=(-1, 1)), "the spherical joint 'a' has limits or a stiffness"),
        (lambda: one(kt.Spherical(), stiffness=2.0), "the spherical joint 'a' has limits or a stiffness"),
        (lambda: kt.ModelBuilder().body("r", **BODY).body("a", parent="r", joint=kt.Free, **BODY).build(),
         "only a root can be free there"),
    ],
)  # fmt: skip
def test_what_an_mjcf_cannot_hold_is_refused(tmp_path, model, says):
    """The error names the joint and what to do, and no file is left."""
    with pytest.raises(ModelError, match=says):
        kt.save(model(), tmp_path / "model.xml")
    assert not list(tmp_path.iterdir())


def test_a_flat_body_keeps_its_inertia(tmp_path):
    """Principal moments of which one is 0 survive: the frame is written, as MuJoCo takes no full matrix of them."""
    turn = np.array([[0.6, -0.8, 0], [0.8, 0.6, 0], [0, 0, 1]])
    rod = turn @ np.diag([0.0, 2.0, 2.0]) @ turn.T
    model = one(kt.Revolute("z"), inertia=rod, armature=0.1)
    kt.save(model, tmp_path / "model.xml")
    assert kt.load(tmp_path / "model.xml").inertias[0] == pytest.approx(rod, abs=1e-12)


# --- files


def test_what_is_no_file_is_said(tmp_path):
    """Folders, sockets, impossible names, nothing and far too much: each in its own words, at once."""
    (tmp_path / "empty.urdf").write_text(" \n")
    with (tmp_path / "huge.urdf").open("wb") as huge:
        huge.truncate(MOST_BYTES + 1)  # a hole: takes no room
    server = socket.socket(socket.AF_UNIX)
    os.chdir(tmp_path)  # the name of a socket must be short
    server.bind("s.urdf")
    try:
        for name, says in (
            (".", "this is a folder"),
            ("s.urdf", "not a regular file but a device, socket or pipe"),
            ("a\0b", "cannot be read: embedded null byte"),
            ("empty.urdf", "the file is empty"),
            ("huge.urdf", "the file has 512 MB, more than the 512 MB that are read"),
            ("absent.urdf", "there is no such file"),
        ):
            with pytest.raises(FileFormatError, match=says):
                read_bytes(name)
    finally:
        server.close()


def test_reading_a_robot_needs_mujoco(tmp_path, monkeypatch):
    import sys

    path = urdf(tmp_path, f'<link name="a">{INERTIAL}</link>')
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(
        kt.errors.MissingExtraError, match=r"needs mujoco; install it with: pip install 'kinetree\[io\]'"
    ):
        kt.load(path)


# --- shapes, numbers and errors


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: kt.Sphere(0.0), "a sphere has sizes.*each must be positive"),
        (lambda: kt.Sphere([1, 2]), r"the radius of a sphere has shape \(2,\): give one number"),
        (lambda: kt.Sphere("wide"), "the radius of a sphere is 'wide': give numbers"),
        (lambda: kt.Sphere(1, density=-1), "density of -1"),
        (lambda: kt.Sphere(1, color=(1, 2)), r"the color of a sphere is \(1, 2\): give red, green and blue"),
        (lambda: kt.Box((1, 2, np.nan)), "a box has sizes"),
    ],
)
def test_wrong_shapes_are_refused(make, says):
    with pytest.raises(ModelError, match=f"(?i){says}"):
        make()


@pytest.mark.parametrize(
    "error",
    [
        kt.errors.DivergedError(1.5, "leg", "it diverged"),
        FileFormatError("a.urdf", "line 3", "wrong"),
        SingularError("joint"),
        UnknownNameError("no such"),
    ],
)
def test_errors_survive_other_processes(error):
    """What a worker raises arrives with its message and all that it carries."""
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)


def test_unknown_names_are_answered_with_the_nearest_or_the_first():
    model = kt.models.chain(20)
    with pytest.raises(UnknownNameError, match="did you mean 'link1'"):
        model.body_index("lnk1")
    with pytest.raises(UnknownNameError, match=r"it has 'link0', .*'link7' and 12 more"):
        model.body_index("zzz")
    with pytest.raises(UnknownNameError, match="no moving joint named 'x'; it has none"):
        kt.ModelBuilder().body("a", joint=kt.Fixed).build().joint_body("x")
    with pytest.raises(AttributeError, match="module 'kinetree' has no attribute 'Modl'"):
        kt.Modl  # noqa: B018
    assert "Model" in dir(kt)


def test_models_compare_by_value():
    model = kt.models.chain(3)
    assert model == kt.models.chain(3) == pickle.loads(pickle.dumps(model))
    assert hash(model) == hash(kt.models.chain(3))
    assert model != kt.models.chain(4)
    assert model != "chain"


def test_cameras_and_scenes_check_what_they_get():
    from kinetree.render import Camera, Scene

    eye = Camera(eye=(1, 0, 0), target=(0, 0, 0))
    for make, says in (
        (lambda: Camera.framing([[0, 0, np.nan]]), "finite numbers of shape"),
        (lambda: Camera.framing(np.zeros((2, 2))), "finite numbers of shape"),
        (lambda: Camera.framing(np.zeros((1, 3)), margin=0.5), "margin 0.5 must be in"),
        (lambda: Camera.framing(np.eye(3), direction=(0, 0, 0)), "direction of the camera is zero"),
        (lambda: Camera.framing(np.eye(3), direction="up"), "direction of the camera"),
        (lambda: eye.zoom(0), "the factor of a zoom is 0"),
        (lambda: eye.orbiting(0), "the period of an orbiting camera is zero"),
        (lambda: Scene.of(kt.models.chain(2)).place(np.zeros((1, 4, 4))), "the body poses have the shape"),
    ):
        with pytest.raises(ArgumentError, match=says):
            make()
    assert np.linalg.norm(eye.zoom(2).eye) == pytest.approx(0.5)
    assert eye.orbiting(4.0)(2.0).eye == pytest.approx([-1, 0, 0], abs=1e-12)
