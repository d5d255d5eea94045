"""Motion capture skeletons: ASF with AMC against the BVH of the same walk, which others converted, and small files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, FileFormatError
from kinetree.io.motion import read_motion

CMU = 0.0254 / 0.45  # metres per unit of CMU's files

# Bones of the ASF file and the joints of the BVH file that they start at. The converter hung shoulders and neck on the
# start of the thorax instead of its end, so that arms and head are compared by their rotation only.
PLACES = {
    "lfemur": "LeftUpLeg", "ltibia": "LeftLeg", "lfoot": "LeftFoot", "ltoes": "LeftToeBase", "rfemur": "RightUpLeg",
    "rtibia": "RightLeg", "rfoot": "RightFoot", "rtoes": "RightToeBase", "upperback": "Spine", "thorax": "Spine1",
}  # fmt: skip
TURNS = PLACES | {"lhumerus": "LeftArm", "lradius": "LeftForeArm", "rhumerus": "RightArm", "rradius": "RightForeArm"}

SMALL_ASF = """:version 1.10
:name stick
:units
  mass 1.0
  length 2.0
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 1 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name thigh
    direction 0 -1 0
    length 20
    axis 0 0 90 XYZ
    dof rx rz
    limits (-45 90)
           (-inf 30)
  end
  begin
    id 2
    name shin
    direction 0 -2 0
    length 10
    axis 0 0 0 XYZ
  end
:hierarchy
  begin
    root thigh
    thigh shin
  end
"""
SMALL_AMC = """:FULLY-SPECIFIED
:DEGREES
1
root 1 2 3 0 0 0
thigh 0 0
2
root 1 2 3 0 90 0
thigh 90 0
"""
SMALL_BVH = """HIERARCHY
ROOT hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT knee
  {
    OFFSET 0 -80 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    End Site
    {
      OFFSET 0 -90 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.01
10 20 30 0 0 0 0 0 0
10 20 30 0 0 0 0 0 90
"""


def write(folder: Path, text: str, name: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("spherical", [False, True])
def test_asf_and_bvh_of_one_walk_agree(shared_data: Path, spherical: bool) -> None:
    """Joint places of the whole walk agree within 10 um, and bones turn alike from frame to frame."""
    folder = shared_data / "cmu"
    walk = read_motion(folder / "02_01_walk.amc", skeleton=folder / "02.asf", spherical=spherical)
    peer = read_motion(folder / "02_01_walk.bvh", scale=CMU, spherical=spherical)
    assert len(walk) == 343
    assert len(peer) == 344  # the converter put a rest pose in front
    starts = None
    for frame in range(0, 343, 9):
        ours = dict(zip(walk.model.names, walk.body_poses(frame), strict=True))
        theirs = dict(zip(peer.model.names, peer.body_poses(frame + 1), strict=True))
        for bone, joint in PLACES.items():
            apart = np.linalg.norm(ours[bone][:3, 3] - theirs[joint][:3, 3])
            assert apart < 1e-5, f"{bone} is {apart:.2e} m off in frame {frame}"  # the BVH has 5 decimals of 56 mm
        turns = {bone: ours[bone][:3, :3] @ theirs[joint][:3, :3].T for bone, joint in TURNS.items()}
        starts = starts or turns
        for bone, turn in turns.items():
            assert np.abs(turn - starts[bone]).max() < 1e-5, f"{bone} turns differently in frame {frame}"


def test_cmu_skeleton_stands_upright(shared_data: Path) -> None:
    """The figure has the size of a person in metres, z up, faces x, and its left is on the side of y."""
    model = kt.load(shared_data / "cmu" / "02.asf", mass=70.0)
    assert model.total_mass == pytest.approx(70.0, rel=1e-12)
    assert model.nv == 62
    place = dict(zip(model.names, kt.body_poses(model, model.neutral())[:, :3, 3], strict=True))
    assert 1.2 < place["head"][2] - place["ltoes"][2] < 1.9
    assert place["lfemur"][1] > 0 > place["rfemur"][1]
    assert place["ltoes"][0] > place["lfoot"][0] + 0.05
    knee = model.joint_body("ltibia_rx")
    low, high = (limit[model.v_starts[knee]] for limit in model.limits)
    assert np.degrees([low, high]) == pytest.approx([-10, 170], rel=1e-12)


@pytest.mark.parametrize("file", ["02.asf", "02_01_walk.bvh", "16_01_jump.bvh"])
@pytest.mark.parametrize("spherical", [False, True])
def test_skeletons_can_be_simulated(shared_data: Path, file: str, spherical: bool) -> None:
    """The masses that bones get make every joint movable: accelerations are finite and return the joint forces."""
    model = kt.load(shared_data / "cmu" / file, spherical=spherical)
    q, v = model.random_state(1)
    tau = np.random.default_rng(2).normal(size=model.nv)
    a = kt.forward_dynamics(model, q, v, tau)
    assert np.isfinite(a).all()
    error = np.abs(kt.inverse_dynamics(model, q, v, a) - tau).max()
    assert error < 1e-6, f"joint forces come back with an error of {error:.2e}"


def test_small_asf(tmp_path: Path) -> None:
    """Units, axes, the order of angles and limits of a skeleton that can be checked by hand."""
    path = write(tmp_path, SMALL_ASF, "stick.asf")
    model = kt.load(path)
    assert model.joint_names == ("root", "thigh_rz", "thigh_rx")
    bodies = {body.joint_name: body for body in model.description().bodies}
    # the bone's own x axis is turned by 90 degrees about the file's z, on to the file's y, which points up
    assert np.allclose(bodies["thigh_rx"].joint.axis, (0, 0, 1), rtol=0, atol=1e-15)
    assert np.allclose(bodies["thigh_rz"].joint.axis, (1, 0, 0), rtol=0, atol=1e-15)
    assert np.degrees(np.ravel(bodies["thigh_rx"].limits)) == pytest.approx([-45, 90])
    assert np.degrees(np.ravel(bodies["thigh_rz"].limits)) == pytest.approx([-np.inf, 30])
    unit = 0.0254 / 2.0
    place = dict(zip(model.names, kt.body_poses(model, model.neutral())[:, :3, 3], strict=True))
    assert place["shin"] == pytest.approx([0, 0, -20 * unit], abs=1e-15)
    scaled = kt.load(path, scale=0.01)
    assert kt.body_poses(scaled, scaled.neutral())[-1, :3, 3] == pytest.approx([0, 0, -0.2], abs=1e-15)


def test_small_amc(tmp_path: Path) -> None:
    """Positions and angles of two frames that can be checked by hand."""
    asf, amc = write(tmp_path, SMALL_ASF, "stick.asf"), write(tmp_path, SMALL_AMC, "stick.amc")
    walk = read_motion(amc, skeleton=asf, scale=0.1, rate=100.0)
    assert walk.times.tolist() == [0.0, 0.01]
    assert walk.q[0, 4:7] == pytest.approx([0.3, 0.1, 0.3])  # z, x, y of the file; the root stands at y = 1
    # a quarter turn about the file's y is one about z here
    assert walk.q[1, :4] == pytest.approx([np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
    assert walk.q[1, walk.model.q_slice("thigh_rx")] == pytest.approx(np.pi / 2)


def test_small_bvh(tmp_path: Path) -> None:
    """The unit is guessed and said, or given; places and angles are those of the file."""
    path = write(tmp_path, SMALL_BVH, "leg.bvh")
    model = kt.load(path)
    assert "0.01" in model.warnings[0]
    assert kt.load(path, scale=0.01, strict=True).warnings == ()
    walk = read_motion(path)
    assert walk.q[0, 4:7] == pytest.approx([0.3, 0.1, 0.2])
    assert walk.q[1, walk.model.q_slice("knee_rx")] == pytest.approx(np.pi / 2)
    knee = kt.body_poses(walk.model, walk.q[0])[walk.model.names.index("knee"), :3, 3]
    assert knee == pytest.approx([0.3, 0.1, 0.2 - 0.8])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("direction 0 -1 0", "direction 0 nan 0", r"line 1[5-7].*finite"),
        ("length 20", "length twenty", "'twenty' is not made of numbers"),
        ("dof rx rz", "dof rx l", "lengths are not supported"),
        ("name shin", "name thigh", "two bones are named 'thigh'"),
        ("thigh shin", "thigh foot", "names 'foot'"),
        ("root thigh", "root thigh\n shin thigh", "'thigh' has two parents"),
        ("    thigh shin\n", "", "'shin' is not in the :hierarchy"),
        ("root thigh\n", "shin thigh\n", "cycle"),
        (":hierarchy", ":hierarchie", "no ASF section"),
        ("(-45 90)", "(-45)", "2 dof and 3 limits"),
        ("axis 0 0 90 XYZ", "axis 0 0 90 XXZ", "not like XYZ"),
        ("length 2.0", "length -2.0", "line 5.*the unit of length must be positive"),
        ("order TX TY TZ", "order TX TX TZ", "the root's order is"),
        ("    length 20\n", "", "bone 'thigh' has no length"),
        ("    name thigh\n", "", "a bone needs a name"),
        ("  end\n  begin\n    id 2", "  begin\n    id 2", "a bone begins before the last one ended"),
        ("length 10", "length -10", "a length that is not negative"),
        ("(-45 90)", "(-45 x)", "the limits of bone 'thigh' are not numbers"),
    ],
)
def test_broken_asf(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Every mistake in an ASF file is an error that says which bone and line."""
    assert old in SMALL_ASF
    path = write(tmp_path, SMALL_ASF.replace(old, new, 1), "stick.asf")
    with pytest.raises((FileFormatError, kt.errors.ModelError), match=message):
        kt.load(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("thigh 90 0\n", "", "no values for bone 'thigh'"),
        ("thigh 90 0", "thigh 90", "line 8.*needs 2 finite numbers"),
        ("thigh 90 0", "thigh nan 0", "needs 2 finite numbers"),
        ("thigh 90 0", "shin 90 0", "no moving bone 'shin'"),
        ("thigh 90 0", "thigh 90 0\nthigh 1 2", "stands twice"),
        ("1\nroot", "root", "no frame number"),
        ("thigh 90 0", "thigh x 0", "needs 2 finite numbers"),
        (SMALL_AMC[SMALL_AMC.index("1\n") :], "", "there are no frames in this file"),
    ],
)
def test_broken_amc(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Every mistake in an AMC file is an error that says which bone, frame and line."""
    asf = write(tmp_path, SMALL_ASF, "stick.asf")
    amc = write(tmp_path, SMALL_AMC.replace(old, new, 1), "stick.amc")
    with pytest.raises(FileFormatError, match=message):
        read_motion(amc, skeleton=asf)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("OFFSET 0 -80 0", "OFFSET 0 x 0", "line 8.*three finite numbers"),
        ("CHANNELS 3", "CHANNELS three", "line 9.*CHANNELS"),
        ("JOINT knee", "JOINT hips", "two joints are named 'hips'"),
        ("Frames: 2", "Frames: 3", "promises 3 frames and has 2"),
        ("Frame Time: 0.01", "Frame Time: 0", "must be positive"),
        ("10 20 30 0 0 0 0 0 90", "10 20 30 0 0 0 0 0", "line 20.*needs 9"),
        ("10 20 30 0 0 0 0 0 90", "10 20 30 0 0 0 0 0 inf", "needs 9 finite"),
        ("Zrotation Yrotation Xrotation\n  JOINT", "Zrotation Zrotation Xrotation\n  JOINT", "twice"),
        ("MOTION", "}\nMOTION", "after the first hierarchy"),
        ("    }\n  }\n}\n", "", "cut off"),
        ("JOINT knee", "JOINT", "line 7.*a joint needs a name"),
        ("Frames: 2", "Frames: two", "MOTION needs 'Frames: n' and 'Frame Time: seconds'"),
        ("10 20 30 0 0 0 0 0 90", "10 20 30 0 0 0 0 0 x", "needs 9 finite"),
        (SMALL_BVH[SMALL_BVH.index("MOTION") :], "", "there is no MOTION in this file"),
    ],
)
def test_broken_bvh(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Every mistake in a BVH file is an error that says where."""
    assert old in SMALL_BVH
    path = write(tmp_path, SMALL_BVH.replace(old, new, 1), "leg.bvh")
    with pytest.raises(FileFormatError, match=message):
        read_motion(path)


def test_arguments_of_motions(tmp_path: Path) -> None:
    """A motion without its skeleton, and options that are not positive, are refused."""
    amc = write(tmp_path, SMALL_AMC, "stick.amc")
    asf = write(tmp_path, SMALL_ASF, "stick.asf")
    with pytest.raises(ArgumentError, match="skeleton="):
        read_motion(amc)
    with pytest.raises(ArgumentError, match="rate"):
        read_motion(amc, skeleton=asf, rate=0)
    with pytest.raises(ArgumentError, match="scale"):
        kt.load(asf, scale=-1)
    with pytest.raises(FileFormatError, match="read_motion"):
        kt.load(amc)
