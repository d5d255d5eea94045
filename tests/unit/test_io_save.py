"""Saved models, loaded again and given to other programs: the same coordinates and the same dynamics."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError, FileFormatError, ModelError

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed (extra 'io')")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the peer write its log file where it does not matter."""
    monkeypatch.chdir(tmp_path_factory.mktemp("log"))


# What each format holds. A spherical joint is not in URDF, a planar one not in MJCF, a screw in neither.
KINDS = {
    ".urdf": ("revolute", "prismatic", "universal", "planar", "fixed", "free"),
    ".xml": ("revolute", "prismatic", "universal", "spherical", "fixed", "free"),
}


def random_tree(seed: int, suffix: str, n: int = 14) -> kt.Model:
    """Return a random tree of the joints that a format holds, with massless bodies between, values and limits."""
    rng = np.random.default_rng(seed)
    builder = kt.ModelBuilder(f"tree {seed}")
    heavy: list[str] = []
    bare = 0  # massless bodies in a row; each has one child, which its joint can move
    for i in range(n):
        kind = str(rng.choice(KINDS[suffix] if not bare else ("revolute", "prismatic", "universal", "fixed")))
        parent = f"b{i - 1}" if bare else (str(rng.choice(heavy)) if heavy and rng.random() < 0.9 else None)
        if kind == "free" and suffix == ".xml":
            parent = None
        massless = kind in ("revolute", "prismatic") and bare < 2 and i < n - 1 and rng.random() < 0.4
        bare = bare + 1 if massless else 0
        heavy += [] if massless else [f"b{i}"]
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        place = (
            None if kind == "free" and suffix == ".xml" else (turn * np.sign(np.linalg.det(turn)), rng.normal(size=3))
        )
        joint = {
            "revolute": lambda: kt.Revolute(rng.normal(size=3)),
            "prismatic": lambda: kt.Prismatic(rng.normal(size=3)),
            "universal": lambda: kt.Universal(rng.normal(size=3), rng.normal(size=3)),
        }.get(kind, getattr(kt, kind.capitalize()))()
        values: dict[str, object] = {"joint_name": f"b{i}" if massless else f"j{i}"}
        if kind in ("revolute", "prismatic"):
            values |= {"damping": rng.random(), "friction": rng.random(), "effort": 1 + rng.random()}
            values |= {"limits": [(-1.5, 2.0), (-np.inf, 0.3), (-np.inf, np.inf)][i % 3]}
        if suffix == ".xml" and joint.nv:
            values |= {"armature": rng.random()}
            if joint.nv == 1:
                values |= {"stiffness": rng.random(), "rest": rng.normal()}
        if not massless:
            points = rng.normal(size=(5, 3))
            square = points.T @ points / 5
            values |= {"mass": 1 + rng.random(), "com": rng.normal(size=3)}
            values |= {"inertia": np.trace(square) * np.eye(3) - square}
        builder.body(f"b{i}", parent=parent, joint=joint, placement=place, **values)
    return builder.build()


def order_in(saved: kt.Model, loaded: kt.Model) -> tuple[np.ndarray, np.ndarray]:
    """Return where the coordinates and velocities of `loaded` stand in `saved`, joint by joint."""
    of_q, of_v = [], []
    for name in loaded.joint_names:
        whole = name if name in saved.joint_names else name[:-2]  # a universal joint was split into _1 and _2
        part = slice(None) if whole == name else slice(int(name[-1]) - 1, int(name[-1]))
        of_q.append(np.arange(saved.nq)[saved.q_slice(whole)][part])
        of_v.append(np.arange(saved.nv)[saved.v_slice(whole)][part])
    return np.concatenate(of_q), np.concatenate(of_v)


def compare(saved: kt.Model, loaded: kt.Model, *, same_order: bool) -> None:
    """Hold coordinates, joint values and dynamics of two models against each other."""
    of_q, of_v = order_in(saved, loaded)
    assert sorted(of_q) == list(range(saved.nq))
    assert sorted(of_v) == list(range(saved.nv))
    if same_order:
        assert list(of_q) == sorted(of_q)
    assert np.array_equal(loaded.dofs, saved.dofs[of_v])
    assert loaded.total_mass == pytest.approx(saved.total_mass, rel=1e-14)
    for seed in range(3):
        q, v = saved.random_state(seed)
        a = np.random.default_rng(seed).normal(size=saved.nv)
        # numbers are written exactly; what is left is the round-off of turning rotations into angles or quaternions
        # and inertias into principal moments and back
        for name, ours, theirs in (
            ("mass matrix", kt.mass_matrix(loaded, q[of_q]), kt.mass_matrix(saved, q)[np.ix_(of_v, of_v)]),
            (
                "joint forces",
                kt.inverse_dynamics(loaded, q[of_q], v[of_v], a[of_v]),
                kt.inverse_dynamics(saved, q, v, a)[of_v],
            ),
        ):
            error = np.abs(ours - theirs).max() / np.abs(theirs).max()
            assert error < 1e-12, f"{name} of seed {seed} differs by {error:.2e}"
        poses = dict(zip(saved.names, kt.body_poses(saved, q), strict=True))
        for name, pose in zip(loaded.names, kt.body_poses(loaded, q[of_q]), strict=True):
            if name in poses and saved.masses[saved.names.index(name)] > 0:
                assert np.allclose(pose, poses[name], rtol=1e-12, atol=1e-12), name


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_random_trees_round_trip(tmp_path: Path, suffix: str, seed: int) -> None:
    """Trees of every joint that the format holds come back with equal values and dynamics, and nothing is reported."""
    model = random_tree(seed, suffix)
    path = kt.save(model, tmp_path / f"tree{suffix}")
    loaded = kt.load(path, strict=True)
    compare(model, loaded, same_order=suffix == ".urdf")


@pytest.mark.parametrize("seed", range(4))
def test_mujoco_reads_our_mjcf(tmp_path: Path, seed: int) -> None:
    """MuJoCo loads a saved MJCF and finds the same mass matrix, joint by joint."""
    model = random_tree(seed, ".xml")
    peer = mujoco.MjModel.from_xml_path(str(kt.save(model, tmp_path / "tree.xml")))
    loaded = kt.load(tmp_path / "tree.xml")
    assert [peer.jnt(i).name for i in range(peer.njnt)] == list(loaded.joint_names)
    data = mujoco.MjData(peer)
    of_q, of_v = order_in(model, loaded)
    q = model.random_state(seed)[0]
    matrix_here = kt.mass_matrix(model, q)[np.ix_(of_v, of_v)]
    q = q[of_q]
    turn = np.zeros((peer.nv, loaded.nv))
    for i, name in enumerate(loaded.joint_names):
        own, start = q[loaded.q_slice(name)], int(peer.jnt_qposadr[i])
        vs, dof = loaded.v_slice(name), int(peer.jnt_dofadr[i])
        count = vs.stop - vs.start
        free = peer.jnt_type[i] == mujoco.mjtJoint.mjJNT_FREE
        data.qpos[start : start + len(own)] = np.concatenate((own[4:], own[:4])) if free else own
        turn[dof : dof + count, vs] = np.roll(np.eye(6), 3, axis=0) if free else np.eye(count)
    mujoco.mj_forward(peer, data)
    matrix = np.zeros((peer.nv, peer.nv))
    mujoco.mj_fullM(peer, data, matrix)
    theirs = turn.T @ matrix @ turn
    assert np.abs(matrix_here - theirs).max() < 1e-12 * np.abs(theirs).max()


@pytest.mark.parametrize("seed", range(4))
def test_pinocchio_reads_our_urdf(tmp_path: Path, seed: int) -> None:
    """Pinocchio loads a saved URDF of hinges and slides and finds the same mass matrix and link frames."""
    pin = pytest.importorskip("pinocchio", reason="pinocchio is not installed (extra 'bench')")
    rng = np.random.default_rng(seed)
    builder = kt.ModelBuilder("arm")
    for i in range(8):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        axis = rng.normal(size=3)
        points = rng.normal(size=(5, 3))
        square = points.T @ points
        builder.body(
            f"b{i}", parent=f"b{rng.integers(i)}" if i else None, mass=2.0, com=rng.normal(size=3),
            joint=kt.Revolute(axis) if i % 3 else kt.Prismatic(axis), joint_name=f"j{i}", limits=(-2.0, 2.0),
            placement=(turn * np.sign(np.linalg.det(turn)), rng.normal(size=3)),
            inertia=np.trace(square) * np.eye(3) - square, shapes=[kt.Capsule(0.1, 0.3)],
        )  # fmt: skip
    model = builder.build()
    peer = pin.buildModelFromUrdf(str(kt.save(model, tmp_path / "arm.urdf")))
    data = peer.createData()
    q, _ = model.random_state(seed)
    order = [model.v_slice(name).start for name in list(peer.names)[1:]]
    upper = np.triu(pin.crba(peer, data, q[order]))
    theirs = upper + np.triu(upper, 1).T
    ours = kt.mass_matrix(model, q)[np.ix_(order, order)]
    assert np.abs(ours - theirs).max() < 1e-12 * np.abs(theirs).max()
    pin.framesForwardKinematics(peer, data, q[order])
    for name, pose in zip(model.names, kt.body_poses(model, q), strict=True):
        assert np.allclose(pose, data.oMf[peer.getFrameId(name)].homogeneous, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "name", ["panda.urdf", "talos_full_v2.urdf", "simple_humanoid.urdf", "humanoid.xml", "humanoid100.xml"]
)
@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_published_models_round_trip(shared_data: Path, tmp_path: Path, name: str, suffix: str) -> None:
    """Robots and humanoids, read from one format and written to either, keep bodies, names and dynamics."""
    model = kt.load(shared_data / "models" / name)
    path = tmp_path / f"again{suffix}"
    if name.startswith("humanoid") and suffix == ".urdf":
        with pytest.raises(ModelError, match=r"armature.*save as MJCF"):
            kt.save(model, path)
        assert not path.exists()
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kt.save(model, path)
    loaded = kt.load(path, strict=True)
    assert sorted(loaded.names) == sorted(model.names)
    assert sorted(loaded.joint_names) == sorted(model.joint_names)
    assert len(loaded.shape_kinds) == len(model.shape_kinds)
    compare(model, loaded, same_order=suffix == ".urdf")


def test_shapes_markers_and_colors_survive_in_mjcf(tmp_path: Path) -> None:
    """All four shapes, their colors and densities, and markers come back from MJCF."""
    shapes = [
        kt.Box((0.1, 0.2, 0.3), color=(1, 0, 0), placement=((0.6, 0.8, 0, 0), (1, 2, 3))),
        kt.Sphere(0.4, density=123.0), kt.Capsule(0.1, 0.7),
    ]  # fmt: skip
    builder = kt.ModelBuilder().body("b", joint=kt.Revolute("x"), shapes=shapes, markers={"M": (0.1, 0.2, 0.3)})
    builder.body("floor", shapes=[kt.Plane()])
    loaded = kt.load(kt.save(builder.build(), tmp_path / "b.xml"), strict=True)
    body, floor = loaded.description().bodies
    assert isinstance(floor.shapes[0], kt.Plane)
    for ours, theirs in zip(body.shapes, shapes, strict=True):
        assert type(ours) is type(theirs)
        assert ours.sizes == pytest.approx(theirs.sizes, rel=1e-15)
        assert ours.density == theirs.density
        assert ours.color == theirs.color
        assert np.allclose(ours.placement[0], theirs.placement[0], rtol=0, atol=1e-15)
    assert body.markers["M"].tolist() == [0.1, 0.2, 0.3]


def test_what_urdf_cannot_draw_is_warned_of(tmp_path: Path) -> None:
    """Markers and planes are left out of a URDF with a warning that names them."""
    builder = kt.ModelBuilder().body("b", joint=kt.Revolute("x"), mass=1, inertia=(1, 1, 1), shapes=[kt.Plane()],
                                     markers={"HEEL": (0, 0, 1)})  # fmt: skip
    with pytest.warns(UserWarning, match="not in a URDF") as caught:
        kt.save(builder.build(), tmp_path / "b.urdf")
    said = "\n".join(str(item.message) for item in caught)
    assert "HEEL" in said
    assert "planes are not in a URDF: b" in said
    with pytest.warns(UserWarning, match="planes on moving bodies are not in MJCF: b"):
        kt.save(builder.build(), tmp_path / "b.xml")
    assert kt.load(tmp_path / "b.xml").nv == 1


@pytest.mark.parametrize(
    ("suffix", "joint", "values", "message"),
    [
        (".urdf", kt.Spherical(), {}, "no spherical joint.*'joint'.*MJCF"),
        (".urdf", kt.Helical("x", 0.1), {}, "no helical joint.*'joint'"),
        (".urdf", kt.Revolute("x"), {"armature": 0.1}, "'joint' has an armature"),
        (".urdf", kt.Revolute("x"), {"stiffness": 0.1}, "'joint' has a stiffness"),
        (".urdf", kt.Planar(), {"damping": (1, 2, 3)}, "'joint' has different values of damping"),
        (".urdf", kt.Planar(), {"limits": (-1, 1)}, "'joint' has limits"),
        (".xml", kt.Planar(), {}, "no planar joint.*'joint'.*URDF"),
        (".xml", kt.Helical("x", 0.1), {}, "no helical joint.*'joint'"),
        (".xml", kt.Spherical(), {"limits": (-1, 1)}, "'joint' has limits"),
        (".xml", kt.Spherical(), {"armature": (1, 2, 3)}, "'joint' has different values of armature"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(
    tmp_path: Path, suffix: str, joint: kt.Revolute, values: dict[str, object], message: str
) -> None:
    """A joint or value that the format has no place for is an error with its name, and no file is left."""
    builder = kt.ModelBuilder().body("b", joint=joint, joint_name="joint", mass=1, inertia=(1, 1, 1), **values)
    with pytest.raises(ModelError, match=message):
        kt.save(builder.build(), tmp_path / f"b{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_names_that_need_escapes(tmp_path: Path) -> None:
    """Quotes, brackets, umlauts and line breaks in names survive; control characters and 'world' are refused."""
    odd = "a <b> & \"c\" 'd' é\n→"
    for suffix in (".urdf", ".xml"):
        model = kt.ModelBuilder(odd).body(odd, joint=kt.Revolute("x"), mass=1, inertia=(1, 1, 1)).build()
        loaded = kt.load(kt.save(model, tmp_path / f"odd{suffix}"), strict=True)
        assert (loaded.name, loaded.names, loaded.joint_names) == (odd, (odd,), (odd,))
    good = kt.ModelBuilder().body("good", mass=1, inertia=(1, 1, 1)).description().bodies[0]
    for bad in ("a\x01", "world"):
        with pytest.raises(ModelError, match="rename"):
            kt.save(kt.ModelBuilder().add(replace(good, name=bad)).build(), tmp_path / "bad.urdf")


def _order(model: kt.Model, loaded: kt.Model, starts: str) -> np.ndarray:
    """Return, for each coordinate of `loaded`, the one of `model`; a universal joint `j` is `j_1` and `j_2` there."""
    numbers: list[int] = []
    for name in loaded.joint_names:
        own = name if name in model.joint_names else name[:-2]
        slot = getattr(model, starts)(own)
        one = own != name
        numbers += [slot.start + int(name[-1]) - 1] if one else range(slot.start, slot.stop)
    return np.array(numbers)


@pytest.mark.parametrize("name", ["humanoid", "crowd:2,joints=24", "millipede:legs=4,leg_links=2,spine=6"])
def test_free_bodies_keep_their_places_in_mjcf(tmp_path: Path, name: str) -> None:
    """The free figures of the library come back with poses and dynamics, and in MuJoCo start where they stand."""
    model = kt.models.from_spec(name)
    path = kt.save(model, tmp_path / "free.xml")
    loaded = kt.load(path, strict=True)
    at_q, at_v = _order(model, loaded, "q_slice"), _order(model, loaded, "v_slice")
    assert sorted(at_v) == list(range(model.nv))
    q, v = model.random_state(1)
    numbers = [loaded.body_index(body) for body in model.names]
    assert np.abs(kt.body_poses(loaded, q[at_q])[numbers] - kt.body_poses(model, q)).max() < 1e-12
    a = kt.forward_dynamics(model, q, v)[at_v]
    assert np.abs(kt.forward_dynamics(loaded, q[at_q], v[at_v]) - a).max() < 1e-9 * np.abs(a).max()
    theirs = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(theirs)
    mujoco.mj_kinematics(theirs, data)
    for body, pose in zip(model.names, kt.body_poses(model, model.neutral()), strict=True):
        assert np.abs(data.body(body).xpos - pose[:3, 3]).max() < 1e-12, body


def test_a_deep_tree_goes_to_urdf(tmp_path: Path) -> None:
    """A chain too deep for nested MJCF is refused there with the remedy, and the remedy works."""
    builder = kt.ModelBuilder()
    for i in range(600):
        builder.body(f"b{i}", parent=f"b{i - 1}" if i else None, joint=kt.Revolute("x"), shapes=[kt.Sphere(0.1)])
    model = builder.build()
    with pytest.raises(ModelError, match=r"b496.*URDF"):
        kt.save(model, tmp_path / "deep.xml")
    assert kt.load(kt.save(model, tmp_path / "deep.urdf")).nv == 600


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    """An unknown suffix and a folder that does not exist are named errors; no half-written file is left."""
    model = kt.ModelBuilder().body("b", mass=1, inertia=(1, 1, 1)).build()
    with pytest.raises(ArgumentError, match=r"\.urdf, \.xml, \.mjcf"):
        kt.save(model, tmp_path / "b.stl")
    with pytest.raises(FileFormatError, match="cannot be written"):
        kt.save(model, tmp_path / "nowhere" / "b.urdf")
    (tmp_path / "b.xml").mkdir()
    with pytest.raises(FileFormatError, match="cannot be written"):
        kt.save(model, tmp_path / "b.xml")
    assert [item.name for item in tmp_path.iterdir()] == ["b.xml"]
