"""URDF files against Pinocchio and their own text: masses, poses, mass matrix; and what is reported."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import FileFormatError, ModelError

pytest.importorskip("mujoco", reason="mujoco is not installed (extra 'io')")

ROBOTS = ("panda", "ur5_robot", "talos_full_v2", "simple_humanoid")
SOLID = (
    '<inertial><origin xyz="0.1 0 0.2" rpy="0.3 0 0"/><mass value="2"/>'
    '<inertia ixx="0.2" iyy="0.3" izz="0.4" ixy="0" ixz="0" iyz="0.01"/></inertial>'
)


def robot(joint: str, *, link: str = SOLID, extra: str = "") -> str:
    """Return a robot of two links."""
    return f"""<robot name="r">
      <link name="base">{SOLID}</link>
      <link name="tip">{link}</link>
      <joint name="j" {joint}<parent link="base"/><child link="tip"/><origin xyz="1 2 3" rpy="0.1 -0.2 0.3"/></joint>
      {extra}</robot>"""


def write(folder: Path, text: str, name: str = "robot.urdf") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ROBOTS)
def test_masses_link_by_link(shared_data: Path, name: str) -> None:
    """Every link is a body with the mass, centre and inertia that the text says; the base is not lost."""
    path = shared_data / "models" / f"{name}.urdf"
    model = kt.load(path)
    links = ElementTree.parse(path).getroot().findall("link")
    links = [link for link in links if link.get("name") != "world"]  # that one is the world itself
    assert sorted(link.get("name") for link in links) == sorted(model.names)
    for link in links:
        body = model.names.index(link.get("name"))
        inertial = link.find("inertial")
        mass = 0.0 if inertial is None else float(inertial.find("mass").get("value"))
        assert model.masses[body] == mass, link.get("name")
        if mass > 0:
            origin = inertial.find("origin")
            com = [0.0] * 3 if origin is None else [float(word) for word in origin.get("xyz", "0 0 0").split()]
            assert np.allclose(model.coms[body], com, rtol=1e-15, atol=1e-15)
            tensor = inertial.find("inertia")
            moments = [float(tensor.get(key)) for key in ("ixx", "iyy", "izz")]
            # the trace does not depend on the axes of the inertia
            assert np.trace(model.inertias[body]) == pytest.approx(sum(moments), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ROBOTS)
def test_dynamics_agree_with_pinocchio(shared_data: Path, name: str, floating: bool) -> None:
    """Frames of all links, the mass matrix and the bias forces are Pinocchio's, with a fixed and a floating base."""
    pin = pytest.importorskip("pinocchio", reason="pinocchio is not installed (extra 'bench')")
    path = shared_data / "models" / f"{name}.urdf"
    model = kt.load(path, floating=floating)
    peer = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if floating else []))
    data = peer.createData()
    for seed in range(3):
        q, v = model.random_state(seed)
        peer_q, turn, peer_v0 = pin.neutral(peer), np.zeros((peer.nv, model.nv)), np.zeros(peer.nv)
        for index in range(1, peer.njoints):
            joint, own = peer.joints[index], q[model.q_slice(peer.names[index])]
            start = model.v_slice(peer.names[index]).start
            if joint.nv == 6:
                peer_q[joint.idx_q : joint.idx_q + 7] = [*own[4:], *own[1:4], own[0]]
                rotation = pin.Quaternion(*own[:4]).matrix()
                turn[joint.idx_v : joint.idx_v + 3, start + 3 : start + 6] = rotation.T
                turn[joint.idx_v + 3 : joint.idx_v + 6, start : start + 3] = np.eye(3)
                # its linear velocity is in body axes: at zero acceleration here, it changes by v x omega there
                peer_v0[joint.idx_v : joint.idx_v + 3] = np.cross(
                    rotation.T @ v[start + 3 : start + 6], v[start : start + 3]
                )
            else:
                angle = [np.cos(own[0]), np.sin(own[0])] if joint.nq == 2 else own
                peer_q[joint.idx_q : joint.idx_q + joint.nq] = angle
                turn[joint.idx_v, start] = 1.0
        pin.framesForwardKinematics(peer, data, peer_q)
        for body, pose in zip(model.names, kt.body_poses(model, q), strict=True):
            frame = peer.getFrameId(body, pin.FrameType.BODY)
            assert np.allclose(pose, data.oMf[frame].homogeneous, rtol=0, atol=1e-12), body
        upper = np.triu(pin.crba(peer, data, peer_q))
        matrix = turn.T @ (upper + np.triu(upper, 1).T) @ turn
        assert np.abs(kt.mass_matrix(model, q) - matrix).max() < 1e-10 * np.abs(matrix).max()
        bias = turn.T @ pin.rnea(peer, data, peer_q, turn @ v, peer_v0)
        ours = kt.inverse_dynamics(model, q, v, np.zeros(model.nv))
        assert np.abs(ours - bias).max() < 1e-10 * np.abs(bias).max()


def test_joint_values_are_kept(tmp_path: Path) -> None:
    """Limits, effort, damping and friction arrive; the file's joint and link names stay."""
    text = robot('type="revolute"><limit lower="-0.5" upper="1.5" effort="7" velocity="3"/><axis xyz="0 2 0"/>'
                 '<dynamics damping="0.3" friction="0.2"/>')  # fmt: skip
    model = kt.load(write(tmp_path, text))
    assert model.names == ("base", "tip")
    assert model.joint_names == ("j",)
    (body,) = [body for body in model.description().bodies if body.name == "tip"]
    assert isinstance(body.joint, kt.Revolute)
    assert body.joint.axis == (0, 1, 0)
    assert [float(x[0]) for x in (*body.limits, body.effort, body.damping, body.friction)] == [-0.5, 1.5, 7, 0.3, 0.2]
    assert "velocity limits are not represented: j" in model.warnings
    assert model.masses.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("kind", "joint", "nv"),
    [
        ("revolute", kt.Revolute, 1),
        ("continuous", kt.Revolute, 1),
        ("prismatic", kt.Prismatic, 1),
        ("fixed", kt.Fixed, 0),
        ("floating", kt.Free, 6),
        ("planar", kt.Planar, 3),
    ],
)
def test_every_joint_type(tmp_path: Path, kind: str, joint: type, nv: int) -> None:
    """All six joint types of the format are read, and the link is in its place at zero."""
    axis = '<axis xyz="0 0.6 0.8"/>'
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>' if kind in ("revolute", "prismatic") else ""
    model = kt.load(write(tmp_path, robot(f'type="{kind}">{axis}{limit}')))
    kinds = {body.joint_name: type(body.joint) for body in model.description().bodies}
    assert kinds["j"] is joint
    assert model.nv == nv
    pose = kt.body_poses(model, model.neutral())[model.names.index("tip")]
    roll, pitch, yaw = 0.1, -0.2, 0.3
    c, s = np.cos, np.sin
    turn_z = np.array([[c(yaw), -s(yaw), 0], [s(yaw), c(yaw), 0], [0, 0, 1]])
    turn_y = np.array([[c(pitch), 0, s(pitch)], [0, 1, 0], [-s(pitch), 0, c(pitch)]])
    turn_x = np.array([[1, 0, 0], [0, c(roll), -s(roll)], [0, s(roll), c(roll)]])
    assert np.allclose(pose[:3, :3], turn_z @ turn_y @ turn_x, rtol=0, atol=1e-15)
    assert pose[:3, 3] == pytest.approx([1, 2, 3], rel=1e-14)


def test_planar_joint_moves_across_its_axis(tmp_path: Path) -> None:
    """A planar joint turns about its axis and slides at right angles to it."""
    model = kt.load(write(tmp_path, robot('type="planar"><axis xyz="0 0.6 0.8"/>')))
    tip = model.names.index("tip")
    still = kt.body_poses(model, np.zeros(3))[tip]
    axis = still[:3, :3] @ [0, 0.6, 0.8]
    slid = kt.body_poses(model, np.array([0, 0.3, 0.4]))[tip]
    shift = slid[:3, 3] - still[:3, 3]
    assert np.linalg.norm(shift) == pytest.approx(0.5, rel=1e-14)
    assert abs(shift @ axis) < 1e-15
    turned = kt.body_poses(model, np.array([0.7, 0, 0]))[tip]
    assert np.allclose(turned[:3, :3] @ still[:3, :3].T @ axis, axis, rtol=0, atol=1e-15)


def test_massless_links_and_missing_meshes(tmp_path: Path) -> None:
    """Links without <inertial> are massless, meshes are left out by name without a look for their files."""
    drawn = '<visual><geometry><mesh filename="package://nowhere/x.stl"/></geometry></visual>'
    joint = '<joint name="k" type="continuous"><parent link="tip"/><child link="end"/></joint>'
    extra = f'<link name="end">{SOLID}</link>{joint}'
    model = kt.load(write(tmp_path, robot('type="continuous"><axis xyz="0 1 0"/>', link=drawn, extra=extra)))
    assert dict(zip(model.names, model.masses, strict=True)) == {"base": 2, "tip": 0, "end": 2}
    assert "<mesh> shapes are left out (masses come from <inertial>): tip" in model.warnings
    with pytest.raises(ModelError, match="tip"):
        kt.load(write(tmp_path, robot('type="continuous">', link=drawn)))


def test_shapes_and_colors(tmp_path: Path) -> None:
    """Collision shapes are taken, with the color of the same visual shape; sizes are full sizes."""
    box = '<geometry><box size="0.1 0.2 0.3"/></geometry>'
    drawn = (
        f'{SOLID}<visual><origin xyz="0 0 1"/>{box}<material name="m"><color rgba="1 0 0.5 1"/></material></visual>'
        f'<collision><origin xyz="0 0 1"/>{box}</collision>'
        '<collision><geometry><sphere radius="0.4"/></geometry></collision>'
        '<visual><geometry><capsule radius="0.1" length="0.5"/></geometry></visual>'
    )
    model = kt.load(write(tmp_path, robot('type="continuous">', link=drawn)))
    (body,) = [body for body in model.description().bodies if body.name == "tip"]
    by_kind = {type(shape): shape for shape in body.shapes}
    assert set(by_kind) == {kt.Box, kt.Sphere}
    assert by_kind[kt.Box].size == pytest.approx((0.1, 0.2, 0.3), rel=1e-15)
    assert by_kind[kt.Box].color == (1.0, 0.0, 0.5)
    assert by_kind[kt.Box].placement[1].tolist() == [0, 0, 1]
    assert by_kind[kt.Sphere].radius == 0.4
    assert "visual shapes that are left out because the link has collision shapes: tip" in model.warnings


def test_left_out_things_are_named(tmp_path: Path) -> None:
    """Mimic joints, transmissions and simulator settings are reported by name, and refused strictly."""
    text = robot(
        'type="continuous"><mimic joint="other"/><safety_controller k_velocity="1"/>',
        extra='<transmission name="drive"/><gazebo reference="tip"/>',
    )
    path = write(tmp_path, text)
    listed = "\n".join(kt.load(path).warnings)
    for word in ("mimic", "'other': j", "drive", "<gazebo> elements are not represented: tip", "<safety_controller>"):
        assert word in listed
    with pytest.raises(FileFormatError, match="drive"):
        kt.load(path, strict=True)


def test_content_decides(tmp_path: Path) -> None:
    """The suffix does not matter."""
    assert kt.load(write(tmp_path, robot('type="continuous">'), "robot.xml")).names == ("base", "tip")


def test_a_long_chain_is_read(tmp_path: Path) -> None:
    """A chain of 3,000 links has no limit of depth, and comes out in the file's order."""
    n = 3000
    links = "".join(f'<link name="l{i}">{SOLID}</link>' for i in range(n))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i in range(n - 1)
    )
    model = kt.load(write(tmp_path, f'<robot name="chain">{links}{joints}</robot>'))
    assert model.nv == n - 1
    assert model.names == tuple(f"l{i}" for i in range(n))
    assert model.parents.tolist() == list(range(-1, n - 1))


def test_options_of_other_formats_are_refused(tmp_path: Path) -> None:
    """A reader's option that a format does not have is an error, not ignored."""
    with pytest.raises(kt.errors.ArgumentError, match="scale"):
        kt.load(write(tmp_path, robot('type="continuous">')), scale=2.0)
