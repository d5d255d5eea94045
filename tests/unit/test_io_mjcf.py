"""MJCF files against MuJoCo itself: poses, masses, mass matrix, bias forces; and what is reported by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import FileFormatError, ModelError

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed (extra 'io')")

EVERYTHING = """
<mujoco model="all of it">
  <compiler angle="degree" eulerseq="zyx"/>
  <default>
    <geom density="700"/>
    <default class="light"><geom density="90"/><joint damping="0.25" armature="0.02"/></default>
  </default>
  <asset><material name="red" rgba="0.8 0.1 0.2 1"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" rgba="0.2 0.3 0.4 1"/>
    <site name="origin" pos="0 0 0.5"/>
    <body name="base" pos="0.3 -0.2 1.1" euler="10 20 30">
      <freejoint name="float"/>
      <geom name="trunk" type="box" size="0.1 0.2 0.3" material="red"/>
      <site name="nose" pos="0.1 0.02 0.03"/>
      <frame pos="0 0 0.3" euler="0 0 40">
        <body name="arm" childclass="light" pos="0 0.1 0.05" quat="0.9 0.1 0.2 0.3">
          <joint name="yaw" axis="0 0 1" pos="0.01 0.02 0.03" ref="25" range="-40 60" limited="true"/>
          <joint name="slide" type="slide" axis="1 2 0" ref="0.1" range="-0.3 0.4" limited="true" stiffness="7"
                 springref="0.2"/>
          <joint name="pitch" axis="0 1 1" pos="-0.02 0.01 0.04" stiffness="3" springref="15" frictionloss="0.5"
                 actuatorfrcrange="-9 9"/>
          <geom type="capsule" fromto="0 0 0 0.1 0.2 0.3" size="0.05"/>
          <body name="ball" pos="0.1 0.2 0.3">
            <joint name="socket" type="ball" pos="0 0 0.02"/>
            <geom type="ellipsoid" size="0.05 0.07 0.09"/>
            <body name="lump" pos="0 0.1 0"><geom type="cylinder" size="0.05 0.2"/></body>
          </body>
        </body>
      </frame>
    </body>
    <body name="door" pos="1 0 0">
      <joint pos="0 -0.4 0" axis="0 0 2"/>
      <inertial pos="0.1 0 0.2" mass="3" fullinertia="0.3 0.2 0.4 0.01 0.02 -0.03"/>
    </body>
    <body pos="0 2 0"><geom size="0.1"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the peer write its log file where it does not matter."""
    monkeypatch.chdir(tmp_path_factory.mktemp("log"))


def write(folder: Path, text: str, name: str = "model.xml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


class Twin:
    """A kinetree model and MuJoCo's, with the maps between their states; joints are paired by their order."""

    def __init__(self, path: Path) -> None:
        self.model = kt.load(path)
        self.peer = mujoco.MjModel.from_xml_path(str(path))
        self.data = mujoco.MjData(self.peer)
        self.pairs = list(zip(self.model.joint_names, range(self.peer.njnt), strict=True))
        for ours, index in self.pairs:
            theirs = self.peer.jnt(index).name
            assert not theirs or theirs == ours

    def match(self, q: np.ndarray) -> np.ndarray:
        """Put the peer at `q`; returns T with v_peer = T v."""
        turn = np.zeros((self.peer.nv, self.model.nv))
        for name, index in self.pairs:
            own, to_q = q[self.model.q_slice(name)], int(self.peer.jnt_qposadr[index])
            vs, to_v = self.model.v_slice(name), int(self.peer.jnt_dofadr[index])
            if self.peer.jnt_type[index] == mujoco.mjtJoint.mjJNT_FREE:
                self.data.qpos[to_q : to_q + 7] = np.concatenate((own[4:], own[:4]))
                turn[to_v : to_v + 3, vs.start + 3 : vs.stop] = np.eye(3)
                turn[to_v + 3 : to_v + 6, vs.start : vs.start + 3] = np.eye(3)
            else:
                self.data.qpos[to_q : to_q + len(own)] = own
                turn[to_v : to_v + vs.stop - vs.start, vs] = np.eye(vs.stop - vs.start)
        return turn

    def compare(self, seed: int) -> None:
        """Hold body poses, the mass matrix and the bias forces against MuJoCo's at a random state."""
        q, v = self.model.random_state(seed)
        turn = self.match(q)
        self.data.qvel[:] = turn @ v
        mujoco.mj_forward(self.peer, self.data)
        matrix = np.zeros((self.peer.nv, self.peer.nv))
        mujoco.mj_fullM(self.peer, self.data, matrix)
        poses = kt.body_poses(self.model, q)
        ours = dict(zip(self.model.names, poses, strict=True))
        for body in range(1, self.peer.nbody):
            pose = ours[self.peer.body(body).name or f"body{body}"]
            # 1e-12 m at distances of a few metres: round-off of chains of a dozen products
            assert np.allclose(pose[:3, 3], self.data.xpos[body], rtol=1e-12, atol=1e-12), self.peer.body(body).name
            assert np.allclose(pose[:3, :3], self.data.xmat[body].reshape(3, 3), rtol=0, atol=1e-12)
        error = relative(kt.mass_matrix(self.model, q), turn.T @ matrix @ turn)
        assert error < 1e-10, f"mass matrix differs by {error:.2e}"
        # MuJoCo's velocity of a free joint is linear in the world as ours is, so that no acceleration term differs
        bias = kt.inverse_dynamics(self.model, q, v, np.zeros(self.model.nv))
        error = relative(bias, turn.T @ self.data.qfrc_bias)
        assert error < 1e-10, f"bias forces differ by {error:.2e}"


def test_every_feature_agrees_with_mujoco(tmp_path: Path) -> None:
    """Anchors, references, several joints on a body, frames, classes: poses and dynamics are MuJoCo's."""
    twin = Twin(write(tmp_path, EVERYTHING))
    assert twin.model.total_mass == pytest.approx(float(twin.peer.body_mass.sum()), rel=1e-14)
    for seed in range(5):
        twin.compare(seed)


@pytest.mark.parametrize("file", ["humanoid.xml", "humanoid100.xml"])
def test_published_models_agree_with_mujoco(shared_data: Path, file: str) -> None:
    """The humanoids that MuJoCo ships have MuJoCo's poses, mass matrix and bias forces here."""
    twin = Twin(shared_data / "models" / file)
    assert twin.model.total_mass == pytest.approx(float(twin.peer.body_mass.sum()), rel=1e-13)
    for seed in range(2):
        twin.compare(seed)


def test_joint_values_are_kept_in_radians(tmp_path: Path) -> None:
    """Limits, springs, damping, armature, dry friction and force ranges arrive, and degrees are gone."""
    model = kt.load(write(tmp_path, EVERYTHING))
    by_name = {body.joint_name: body for body in model.description().bodies}
    assert np.allclose(by_name["yaw"].limits, np.radians([[-40], [60]]), rtol=1e-14)
    assert np.allclose(by_name["slide"].limits, [[-0.3], [0.4]])
    assert (by_name["slide"].stiffness[0], by_name["slide"].rest[0]) == (7.0, 0.2)
    pitch = by_name["pitch"]
    assert pitch.rest[0] == pytest.approx(np.radians(15), rel=1e-14)
    assert (pitch.stiffness[0], pitch.friction[0], pitch.effort[0]) == (3.0, 0.5, 9.0)
    assert (pitch.damping[0], pitch.armature[0]) == (0.25, 0.02)
    assert by_name["socket"].damping.tolist() == [0.25] * 3
    assert by_name["socket"].armature.tolist() == [0.02] * 3


def test_shapes_sites_and_names(tmp_path: Path) -> None:
    """Geoms become shapes with full sizes and colors, sites markers; those of the world have a body."""
    model = kt.load(write(tmp_path, EVERYTHING))
    bodies = {body.name: body for body in model.description().bodies}
    (trunk,) = bodies["base"].shapes
    assert isinstance(trunk, kt.Box)
    assert trunk.size == (0.2, 0.4, 0.6)
    assert trunk.color == pytest.approx((0.8, 0.1, 0.2), rel=1e-6)
    assert trunk.density == 700
    (capsule,) = bodies["arm"].shapes
    assert isinstance(capsule, kt.Capsule)
    assert capsule.length == pytest.approx(np.sqrt(0.14), rel=1e-14)
    assert capsule.density == 90
    assert isinstance(bodies["world_shapes"].shapes[0], kt.Plane)
    assert bodies["base"].markers["nose"].tolist() == [0.1, 0.02, 0.03]
    assert set(model.marker_names) == {"origin", "nose"}
    assert {"yaw", "slide", "pitch", "arm"} < set(model.names)
    assert "door" in model.joint_names, "a joint without a name takes that of its body"


def test_left_out_things_are_named(tmp_path: Path) -> None:
    """Actuators, sensors, constraints, keyframes, cameras, approximated and missing shapes are warnings by name."""
    extra = """
      <contact><exclude body1="base" body2="lump"/></contact>
      <equality><joint joint1="yaw" joint2="pitch" name="geared"/></equality>
      <tendon><fixed name="string"><joint joint="yaw" coef="2"/></fixed></tendon>
      <actuator><motor name="motor_yaw" joint="yaw"/></actuator>
      <sensor><jointpos name="encoder" joint="yaw"/></sensor>
      <keyframe><key name="home" qpos="0 0 1 1 0 0 0 0 0 0 1 0 0 0 0"/></keyframe>
      <custom><numeric name="number" data="1"/></custom>
    </mujoco>"""
    text = EVERYTHING.replace("</mujoco>", extra).replace(
        "<worldbody>", '<worldbody><camera name="eye"/><light name="sun"/>'
    )
    model = kt.load(write(tmp_path, text))
    listed = "\n".join(model.warnings)
    for name in (
        "geared",
        "string",
        "motor_yaw",
        "encoder",
        "home",
        "number",
        "eye",
        "sun",
        "base and lump",
        "lump_geom",
    ):
        assert name in listed, f"{name!r} is not reported in:\n{listed}"
    assert "ball_geom" in listed, "the ellipsoid has no shape"
    with pytest.raises(FileFormatError, match="motor_yaw"):
        kt.load(tmp_path / "model.xml", strict=True)


def test_a_plain_file_passes_strictly(tmp_path: Path) -> None:
    """A file of which everything is represented has no warnings."""
    text = '<mujoco><worldbody><body name="a"><joint name="j"/><geom size="0.1"/></body></worldbody></mujoco>'
    assert kt.load(write(tmp_path, text), strict=True).warnings == ()


def test_missing_meshes_do_not_stop_the_load(tmp_path: Path) -> None:
    """A missing mesh costs its shape; where the mass would come from it, that is said, and a given mass is kept."""
    text = """<mujoco><asset><mesh name="skull" file="skull.stl"/></asset><worldbody>
      <body name="kept"><joint name="a"/><inertial pos="0 0 1" mass="2" diaginertia="1 1 1"/>
        <geom name="g1" type="mesh" mesh="skull"/></body>
      <body name="given"><joint name="b"/><geom name="g2" type="mesh" mesh="skull" mass="3"/></body>
      <body name="lost"><joint name="c"/><geom name="g3" type="mesh" mesh="skull"/><geom size="0.1"/></body>
    </worldbody></mujoco>"""
    model = kt.load(write(tmp_path, text))
    masses = dict(zip(model.names, model.masses, strict=True))
    assert masses["kept"] == 2.0
    assert masses["given"] == pytest.approx(3.0)
    assert masses["lost"] == pytest.approx(1000 * 4 / 3 * np.pi * 1e-3)
    listed = "\n".join(model.warnings)
    assert all(name in listed for name in ("g1", "g2", "g3", "skull.stl"))


def test_mass_of_meshes_that_are_there(tmp_path: Path) -> None:
    """A mesh that can be read gives its body mass and inertia, as in MuJoCo."""
    corners = [(x, y, z) for x in (0, 0.2) for y in (0, 0.3) for z in (0, 0.4)]
    sides = ["013", "032", "467", "475", "045", "051", "237", "276", "026", "064", "157", "173"]
    faces = [tuple(map(int, side)) for side in sides]
    (tmp_path / "meshes").mkdir()
    rows = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    write(tmp_path / "meshes", "\n".join(rows), "box.obj")
    text = """<mujoco><compiler meshdir="meshes"/><asset><mesh name="box" file="box.obj"/></asset><worldbody>
      <body name="b"><joint/><geom name="solid" type="mesh" mesh="box"/></body></worldbody></mujoco>"""
    model = kt.load(write(tmp_path, text))
    assert model.total_mass == pytest.approx(24.0, rel=1e-6)  # mesh files hold single precision
    assert model.coms[0] == pytest.approx([0.1, 0.15, 0.2], rel=1e-6)
    assert "solid" in "\n".join(model.warnings)


def test_massless_intermediate_bodies(tmp_path: Path) -> None:
    """A massless body between two joints is fine here, though MuJoCo refuses it; one at the end is refused by name."""
    chain = """<mujoco><worldbody><body name="fork"><joint name="a" axis="1 0 0"/>
      <body name="wheel"><joint name="b" axis="0 1 0"/>{}</body></body></worldbody></mujoco>"""
    model = kt.load(write(tmp_path, chain.format('<geom size="0.1" pos="0 0 1"/>')))
    assert model.masses[0] == 0.0
    with pytest.raises(ModelError, match="wheel"):
        kt.load(write(tmp_path, chain.format("")))


@pytest.mark.parametrize(
    "empty",
    [
        "",
        '<site name="s"/>',
        '<inertial pos="0 0 0" mass="0" diaginertia="0 0 0"/>',
        '<inertial pos="0 0 1" mass="2" diaginertia="0 0 0"/>',
        '<geom name="ghost" size="0.3" mass="0"/>',
    ],
)
@pytest.mark.parametrize("settings", ["", '<compiler settotalmass="7"/>'])
def test_bodies_that_mujoco_does_not_move(tmp_path: Path, empty: str, settings: str) -> None:
    """Bodies without mass or inertia keep none, and the others what they have, on every way to massless."""
    text = f"""<mujoco>{settings}<worldbody><body name="fork" pos="0 0 1"><joint name="a" axis="1 0 0"/>{empty}
      <body name="wheel" pos="0 1 0"><joint name="b" axis="0 1 0" stiffness="2" springref="10"/>
        <geom size="0.1" pos="0 0 1"/></body></body></worldbody></mujoco>"""
    model = kt.load(write(tmp_path, text))
    fork = 2.0 if 'mass="2"' in empty else 0.0
    wheel = 1000 * 4 / 3 * np.pi * 1e-3
    scale = 7 / (fork + wheel) if settings else 1.0
    assert model.names == ("fork", "wheel")
    assert model.masses == pytest.approx([scale * fork, scale * wheel], rel=1e-12)
    assert not model.inertias[0].any()
    assert np.diag(model.inertias[1]) == pytest.approx([scale * wheel * 0.4 * 0.01] * 3, rel=1e-12)
    assert model.dofs[1, 3:5] == pytest.approx([2, np.radians(10)])


def test_floating_on_request(tmp_path: Path) -> None:
    """A welded root floats on request; one that a joint holds is refused by name; one that floats already stays."""
    base = '<mujoco><worldbody><body name="base" pos="0 0 2">{}<geom size="0.1"/></body></worldbody></mujoco>'
    welded = write(tmp_path, base.format(""))
    assert kt.load(welded).nv == 0
    model = kt.load(welded, floating=True)
    assert (model.nv, model.joint_names) == (6, ("root_joint",))
    assert "base" in "\n".join(model.warnings), "the place in the file is not the place at neutral"
    assert kt.load(write(tmp_path, base.format("<freejoint/>")), floating=True).nv == 6
    with pytest.raises(ModelError, match="hinge"):
        kt.load(write(tmp_path, base.format('<joint name="hinge"/>')), floating=True)


def test_settings_that_change_masses_are_reported(tmp_path: Path) -> None:
    """The file's own settotalmass is followed, as MuJoCo does, and said."""
    text = """<mujoco><compiler settotalmass="5"/><worldbody><body name="a"><joint/><geom size="0.1"/></body>
      </worldbody></mujoco>"""
    model = kt.load(write(tmp_path, text))
    assert model.total_mass == pytest.approx(5.0, rel=1e-14)
    assert "settotalmass=5" in "\n".join(model.warnings)


def test_includes_inside_the_folder(tmp_path: Path) -> None:
    """An included file of the same folder is read; one outside is refused with its line."""
    (tmp_path / "sub").mkdir()
    part = '<mujocoinclude><body name="in"><joint/><geom size="0.1"/></body></mujocoinclude>'
    write(tmp_path / "sub", part, "part.xml")
    write(tmp_path, part, "outside.xml")
    text = '<mujoco><worldbody>\n<include file="{}"/></worldbody></mujoco>'
    assert kt.load(write(tmp_path, text.format("sub/part.xml"))).names == ("in",)
    inner = write(tmp_path / "sub", text.format("../outside.xml"))
    with pytest.raises(FileFormatError, match=r"line 2.*outside of the model's folder"):
        kt.load(inner)
    with pytest.raises(FileFormatError, match=r"line 2.*no such file"):
        kt.load(write(tmp_path, text.format("nowhere.xml")))


def test_nothing_is_left_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """MuJoCo writes neither its log file nor to the console, whether a load succeeds, warns or fails."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    kt.load(write(tmp_path / "in", EVERYTHING))
    write(tmp_path / "in", EVERYTHING.replace("<default>", '<visual><map zfar="9"/></visual><default>'), "other.xml")
    attach = """<mujoco><visual><map zfar="5"/></visual><asset><model name="other" file="other.xml"/></asset>
      <worldbody><attach model="other" body="base" prefix="x_"/></worldbody></mujoco>"""
    assert "conflict" in "\n".join(kt.load(write(tmp_path / "in", attach)).warnings)
    broken = '<mujoco><worldbody><body><joint axis="0 0 0"/><geom size=".1"/></body></worldbody></mujoco>'
    with pytest.raises(FileFormatError):
        kt.load(write(tmp_path / "in", broken))
    assert [item.name for item in tmp_path.iterdir()] == ["in"]
    assert capfd.readouterr() == ("", "")
