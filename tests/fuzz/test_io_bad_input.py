"""Files that are broken, hostile or not what their name says: a named error, in bounded time and memory."""

from __future__ import annotations

import os
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kinetree as kt
from kinetree.errors import FileFormatError, ModelError
from kinetree.io.motion import read_motion

pytest.importorskip("mujoco", reason="mujoco is not installed (extra 'io')")

SOLID = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
URDF = f"""<?xml version="1.0"?>
<robot name="r">
  <link name="a">{SOLID}</link>
  <link name="b">{SOLID}<visual><geometry><box size="1 2 3"/></geometry></visual></link>
  <joint name="j" type="revolute">
    <parent link="a"/><child link="b"/><origin xyz="0 0 1" rpy="0 0 1"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="3" velocity="4"/>
  </joint>
</robot>
"""
MJCF = """<mujoco model="m">
  <option timestep="0.01"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="a" pos="0 0 1"><freejoint name="f"/><geom name="g" size="0.1"/>
      <body name="b" pos="0 0 1"><joint name="j" axis="0 1 0" range="-10 20"/><geom type="box" size=".1 .2 .3"/></body>
    </body>
  </worldbody>
</mujoco>
"""
ASF = """:version 1.10
:name s
:units
  length 0.45
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
:bonedata
  begin
    name leg
    direction 0 -1 0
    length 20
    axis 0 0 20 XYZ
    dof rx
    limits (-45 90)
  end
:hierarchy
  begin
    root leg
  end
"""
BVH = """HIERARCHY
ROOT hips
{
  OFFSET 0 0 0
  CHANNELS 3 Xposition Yposition Zposition
  JOINT knee
  {
    OFFSET 0 -80 0
    CHANNELS 1 Xrotation
    End Site
    {
      OFFSET 0 -90 0
    }
  }
}
MOTION
Frames: 1
Frame Time: 0.01
10 20 30 0
"""
SAMPLES = {"robot.urdf": URDF, "model.xml": MJCF, "figure.asf": ASF, "walk.bvh": BVH}


def write(folder: Path, content: str | bytes, name: str) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_are_sound(tmp_path: Path, name: str) -> None:
    """What is broken below loads as it stands."""
    assert kt.load(write(tmp_path, SAMPLES[name], name)).nv > 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (bytes(range(256)) * 4, "binary"),
        (b"\x7fELF" + bytes(100), "binary"),
        (b"PK\x03\x04" + bytes(100), "binary"),
        (b"\x02\x50" + bytes(510), "C3D"),
        (b"just some words\n", "not that of a model file.*URDF.*MJCF.*ASF.*BVH"),
        (b"{\"json\": 1}", "not that of a model file"),
        (b"<html><body/></html>", "root element is <html>"),
        (b"<mujocoinclude/>", "load the file that includes it"),
        (b"<robot", "line 1.*not well-formed.*complete"),
        (b"<robot name='r'/>", "no <link>"),
        (b"<mujoco/>", "no <body>"),
        ("<robot name='r'/>".encode("utf-16"), "no <link>"),
        ("<mujoco/>".encode("utf-16"), "UTF-8"),
        (b"<?xml version='1.0' encoding='klingon'?><robot/>", "encoding"),
        (b"\xff\xfe\x00\x00", "well-formed|binary"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["model.urdf", "model.xml", "model.asf", "model"])
def test_content_that_is_no_model(tmp_path: Path, content: bytes, message: str, name: str) -> None:
    """Whatever the name says, content that is no model is refused, and what is supported is listed."""
    path = write(tmp_path, content, name)
    with pytest.raises(FileFormatError, match=message) as caught:
        kt.load(path)
    assert caught.value.path == str(path)


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    """A missing file, a folder, a pipe and an impossible path are named errors, at once."""
    with pytest.raises(FileFormatError, match="no such file"):
        kt.load(tmp_path / "nothing.urdf")
    with pytest.raises(FileFormatError, match="folder"):
        kt.load(tmp_path)
    with pytest.raises(FileFormatError, match="cannot be read"):
        kt.load("a\0b.urdf")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(FileFormatError, match="not a regular file"):
            kt.load(tmp_path / "pipe")
        with pytest.raises(FileFormatError, match="not a regular file"):
            read_motion(tmp_path / "pipe")


def test_no_permission(tmp_path: Path) -> None:
    """A file that may not be read is a named error."""
    path = write(tmp_path, URDF, "robot.urdf")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything (root)")
    with pytest.raises(FileFormatError, match="permission"):
        kt.load(path)


LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10 if i else "ha"}">' for i in range(12))


@pytest.mark.parametrize("root", ["robot", "mujoco"])
@pytest.mark.parametrize(
    "declaration",
    [
        f"<!DOCTYPE x [{LAUGHS}]>",
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x SYSTEM "http://localhost:1/x.dtd">',
        '<!DOCTYPE x [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>',
        "<!DOCTYPE x>",
    ],
    ids=["laughs", "external", "dtd", "parameter", "plain"],
)
def test_entities_are_refused_before_they_expand(tmp_path: Path, root: str, declaration: str) -> None:
    """Entity bombs, external entities and document types are refused at their line, in no time and memory."""
    text = f"<?xml version='1.0'?>\n{declaration}<{root} name='&l11;'>&e;</{root}>"
    path = write(tmp_path, text, "model.xml")
    assert_bounded(lambda: kt.load(path), "line 2.*document types", seconds=2, megabytes=20)


def test_entities_in_an_included_file(tmp_path: Path) -> None:
    """An included file is checked as its includer is."""
    write(tmp_path, "<!DOCTYPE x><mujocoinclude/>", "part.xml")
    path = write(tmp_path, '<mujoco><include file="part.xml"/></mujoco>', "model.xml")
    with pytest.raises(FileFormatError, match=r"part\.xml.*document types"):
        kt.load(path)


def test_a_file_that_includes_itself(tmp_path: Path) -> None:
    """A circle of includes ends with an error."""
    path = write(tmp_path, '<mujoco><worldbody><include file="model.xml"/></worldbody></mujoco>', "model.xml")
    with pytest.raises(FileFormatError):
        kt.load(path)


def assert_bounded(call: Callable[[], object], message: str, *, seconds: float, megabytes: float) -> None:
    tracemalloc.start()
    start = time.perf_counter()
    try:
        with pytest.raises((FileFormatError, ModelError), match=message):
            call()
        took, peak = time.perf_counter() - start, tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()
    assert took < seconds, f"it took {took:.1f} s"
    assert peak < megabytes, f"it took {peak:.0f} MB"


@pytest.mark.parametrize(
    ("head", "opening", "closing", "tail"),
    [
        ("<mujoco><worldbody>", "<body>", "</body>", "</worldbody></mujoco>"),
        ("<mujoco><default>", "<default>", "</default>", "</default></mujoco>"),
        ("<mujoco><worldbody>", "<frame>", "</frame>", "</worldbody></mujoco>"),
        ("<robot>", "<link name='a'>", "</link>", "</robot>"),
        ("", "<robot>", "</robot>", ""),
        ("<mujoco><worldbody>", "<body>", "", ""),
    ],
    ids=["bodies", "defaults", "frames", "links", "roots", "cut off"],
)
def test_deep_nesting_of_elements(tmp_path: Path, head: str, opening: str, closing: str, tail: str) -> None:
    """A hundred thousand elements inside each other are refused at the line, without a crash of the parser's stack."""
    deep = 100_000
    path = write(tmp_path, head + opening * deep + closing * deep + tail, "deep.xml")
    assert_bounded(lambda: kt.load(path), "line 1.*nested", seconds=5, megabytes=50)


def test_deep_bvh_is_read(tmp_path: Path) -> None:
    """Twenty thousand joints inside each other are no problem for a reader without recursion."""
    deep = 20_000
    joints = "".join(f"JOINT j{i} {{ OFFSET 0 -1 0 CHANNELS 1 Xrotation\n" for i in range(deep))
    text = f"HIERARCHY ROOT r {{ OFFSET 0 0 0 CHANNELS 0\n{joints} End Site {{ OFFSET 0 -1 0 }} {'}' * (deep + 1)}"
    start = time.perf_counter()
    assert kt.load(write(tmp_path, text, "deep.bvh"), scale=0.01).njoints == deep + 1
    assert time.perf_counter() - start < 60


def test_deep_mjcf_in_a_thread(tmp_path: Path) -> None:
    """The deepest file that is let through does not overflow the smaller stack of a thread."""
    deep = 496
    bodies = "".join(f'<body name="b{i}" pos="0 0 .1"><geom size=".1"/><joint name="j{i}"/>' for i in range(deep))
    text = f"<mujoco><worldbody>{bodies}{'</body>' * deep}</worldbody></mujoco>"
    path = write(tmp_path, text, "deep.xml")
    result: list[int] = []
    size = threading.stack_size(1 << 20)
    try:
        thread = threading.Thread(target=lambda: result.append(kt.load(path).nv))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
    assert result == [deep]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('value="1"', 'value="nan"', "line 3.*<mass>.*finite"),
        ('value="1"', 'value="-1"', "'a'.*cannot be negative"),
        ('value="1"', 'value="1e999"', "finite"),
        ('value="1"', 'value="${m}"', "not made of numbers"),
        ('value="1"', "", "line 3.*<mass>"),
        ('ixx="1"', 'ixx="inf"', "<inertia>.*finite"),
        ('ixx="1"', 'ixx="-1"', "element 'a'|'a'"),
        ('ixx="1"', 'ixx="9"', "'a'.*A . B >= C"),
        ('xyz="0 0 1" rpy', 'xyz="0 0" rpy', "line 6.*2 numbers, not 3"),
        ('xyz="0 0 1"/>', 'xyz="0 0 0"/>', "axis of joint 'j' is zero"),
        ('lower="-1"', 'lower="2"', "'b'|'j'"),
        ('link name="b"', 'link name="a"', "line 4.*two links.*line 3"),
        ('<parent link="a"', '<parent link="c"', "line 6.*no link 'c'"),
        ('<parent link="a"', '<parent link="b"', "form a cycle"),
        ('<child link="b"/>', "", "line 5.*<child"),
        ('type="revolute"', 'type="hinge"', "line 5.*no URDF joint.*revolute"),
        ('box size="1 2 3"', 'box size="1 -2 3"', "must be positive"),
        ('<link name="b"', "<link", "needs a name"),
        (f'"b">{SOLID}', '"b">', "'b' has no mass"),
        (
            '<joint name="j"',
            '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint><joint name="j"',
            "cycle",
        ),
        (
            "</joint>",
            '</joint><joint name="j2" type="fixed"><parent link="a"/><child link="b"/></joint>',
            "two parents",
        ),
        ("<joint", "<!-- <joint", "not well-formed"),
        ("</robot>", "</robot><robot/>", "line 9.*not well-formed"),
    ],
)
def test_broken_urdf(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Numbers that are none, names that are wrong and trees that are none are told with their line or name."""
    assert old in URDF
    path = write(tmp_path, URDF.replace(old, new, 1), "robot.urdf")
    with pytest.raises((FileFormatError, ModelError), match=message) as caught:
        kt.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('pos="0 0 1"', 'pos="0 nan 1"', "line 5.*'a'.*NaN"),
        ('pos="0 0 1"', 'pos="0 1e999 1"', "line 5.*finite"),
        ('size="0.1"', 'size="-0.1"', "line 5|'g'"),
        ('axis="0 1 0"', 'axis="0 0 0"', "'j'|line 6"),
        ('name="b"', 'name="a"', "'a'"),
        ("<geom name", "<goem name", "line 4.*goem|goem"),
        ('<geom name="g" size="0.1"/>', "", "'b' has no mass"),
        ('name="f"/>', 'name="f"/><joint/>', "line|'a'"),
        ("<option", '<option timestep="x"/><option', "line 2|timestep"),
        ("</mujoco>", "", "not well-formed.*complete"),
    ],
)
def test_broken_mjcf(tmp_path: Path, old: str, new: str, message: str) -> None:
    """What MuJoCo's compiler or our own checks find wrong is told with line or name, and the file's path."""
    assert old in MJCF
    text = MJCF.replace(old, new, 1)
    if "<geom name" in old and not new:
        text = text.replace('<geom type="box" size=".1 .2 .3"/>', "")
    path = write(tmp_path, text, "model.xml")
    with pytest.raises((FileFormatError, ModelError), match=message) as caught:
        kt.load(path)
    assert str(path) in str(caught.value)


def loads_or_says_why(path: Path) -> None:
    """Load a file; any error but a named one fails the test, and so does a model with a NaN."""
    try:
        model = kt.load(path)
    except (FileFormatError, ModelError):
        return
    for values in (model.masses, model.coms, model.inertias, model.placements):
        assert (values == values).all(), "a NaN came through"


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("part", range(1, 20))
def test_truncated_files(tmp_path: Path, name: str, part: int) -> None:
    """A file that is cut off anywhere loads (the motion of a skeleton is not needed) or says why not."""
    text = SAMPLES[name]
    loads_or_says_why(write(tmp_path, text[: len(text) * part // 20], name))


@pytest.mark.parametrize("name", SAMPLES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_words_exchanged_at_random(tmp_path: Path, name: str, data: st.DataObject) -> None:
    """Any word of a file replaced by any other, by numbers of all sizes or by odd text: a model or a named error."""
    text = SAMPLES[name]
    words = text.replace('"', ' " ').split(" ")
    odd = st.sampled_from(
        [*words, "nan", "-1", "0", "1e308", "1e-320", "1e999", "é", "", "%s", "a" * 1000, "<", '"', "{", ")"]
    )
    for _ in range(data.draw(st.integers(1, 3))):
        words[data.draw(st.integers(0, len(words) - 1))] = data.draw(odd)
    loads_or_says_why(write(tmp_path, " ".join(words).replace(' " ', '"'), name))


@pytest.mark.parametrize("name", SAMPLES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1), noise=st.binary(min_size=1, max_size=30), cut=st.integers(0, 30))
def test_bytes_exchanged_at_random(tmp_path: Path, name: str, place: float, noise: bytes, cut: int) -> None:
    """Any bytes in any place of a file: a model or a named error."""
    data = SAMPLES[name].encode()
    start = int(place * len(data))
    loads_or_says_why(write(tmp_path, data[:start] + noise + data[start + cut :], name))
