"""Motions and simulations on disk: they come back as they were, and whatever is wrong with a file is named."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

import kinetree as kt
from kinetree import Simulation, Trajectory
from kinetree.errors import ArgumentError, FileFormatError, KinetreeError, MissingExtraError, StateError

CHAIN = kt.models.chain(3)


def tree() -> kt.Model:
    """Return a small model with every kind of coordinate, shapes, limits and a marker-free fixed body."""
    return (
        kt.ModelBuilder("tree")
        .body("hip", joint=kt.Free, mass=1.0, inertia=(1, 1, 1), shapes=[kt.Sphere(0.1, color=(0.2, 0.4, 0.6))])
        .body("ball", parent="hip", joint=kt.Spherical, mass=1.0, com=(0, 0, 0.1), inertia=(1, 2, 2))
        .body("hinge", parent="ball", joint=kt.Revolute("y"), mass=0.5, limits=(-1.0, 2.0), damping=0.1)
        .body("tip", parent="hinge", joint=kt.Fixed, placement=(None, (0, 0, 1)), mass=0.2)
        .build()
    )


def motion(model: kt.Model, frames: int = 4) -> Trajectory:
    """Return random states at increasing times."""
    states = [model.random_state(seed) for seed in range(frames)]
    return Trajectory(model, 0.1 * np.arange(frames), *(np.array(part) for part in zip(*states, strict=True)))


def text(data: object) -> np.ndarray:
    """Return JSON as the archives hold it."""
    return np.frombuffer(json.dumps(data).encode(), dtype=np.uint8)


def write(path, arrays):
    """Write a changed archive."""
    with path.open("wb") as file:
        np.savez(file, **{name: value for name, value in arrays.items() if value is not None})
    return path


# --- trajectories


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".NPZ"])
def test_a_motion_comes_back_to_the_bit(tmp_path, suffix):
    """Model, times and states survive, free and ball joints, shapes and limits included."""
    before = motion(tree())
    path = before.save(tmp_path / f"motion{suffix}")
    after = Trajectory.load(path)
    assert after == before
    assert after.model == before.model
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name], "nothing half-written is left over"


def test_other_programs_can_read_the_parquet(tmp_path):
    """The columns carry the names of time and joints, and pandas finds the same numbers."""
    pandas = pytest.importorskip("pandas")
    before = motion(tree())
    table = pandas.read_parquet(before.save(tmp_path / "motion.parquet"))
    assert list(table.columns) == list(before.to_dataframe().columns)
    assert list(table.columns)[:2] == ["time", "q.hip.0"]
    assert "q.hinge" in table.columns
    assert np.array_equal(table.to_numpy(), np.column_stack((before.times, before.q, before.v)))


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".csv"])
def test_a_motion_is_not_written_where_it_cannot_be(tmp_path, suffix):
    with pytest.raises(FileFormatError, match="cannot be written"):
        motion(CHAIN).save(tmp_path / "absent" / f"motion{suffix}")
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    """An error in the middle keeps what was there, and no fragment stays."""
    path = motion(CHAIN).save(tmp_path / "motion.npz")
    old = path.read_bytes()

    def full(file, **_):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(FileFormatError, match=r"motion\.npz: cannot be written: No space left"):
        motion(CHAIN, 2).save(path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_unknown_kinds_and_absent_files_are_named(tmp_path):
    with pytest.raises(ArgumentError, match=r"saved as \.npz, \.parquet or \.csv, not '\.txt'"):
        motion(CHAIN).save(tmp_path / "motion.txt")
    with pytest.raises(FileFormatError, match="no such file"):
        Trajectory.load(tmp_path / "absent.parquet")
    with pytest.raises(FileFormatError, match="no such file"):
        Simulation.restore(tmp_path / "absent.npz")


CHANGES = {
    "newer": ({"format": 2}, "newer kinetree"),
    "format of text": ({"format": np.array("x")}, "format"),
    "two formats": ({"format": np.array([1, 1])}, "format"),
    "no format": ({"format": None}, "format"),
    "no kind": ({"kind": None}, "thing of unknown kind, not a trajectory"),
    "a simulation": ({"kind": "simulation"}, "holds a simulation, not a trajectory"),
    "no q": ({"q": None}, "damaged"),
    "NaN": ({"q": np.full((4, 3), np.nan)}, "nan"),
    "times fall": ({"times": np.array([3.0, 2.0, 1.0, 0.0])}, "increase"),
    "one time": ({"times": np.array(1.0)}, "damaged"),
    "texts are a list": ({"model.texts": text([1])}, "damaged"),
    "texts are no text": ({"model.texts": np.frombuffer(b"\xff\xfe", dtype=np.uint8)}, "damaged"),
    "negative mass": ({"model.masses": -np.ones(3)}, "mass"),
    "no such joint": ({"model.joint_kinds": np.array([77, 1, 1])}, "damaged"),
    "parents beyond": ({"model.parents": np.array([5, 5, 5])}, "damaged"),
    "too few": ({"model.joint_kinds": np.zeros(0)}, "damaged"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_is_wrong_in_a_motion_is_said(tmp_path, case):
    """Newer, foreign and damaged archives end in the named error with the path; nothing else escapes."""
    changes, says = CHANGES[case]
    arrays = dict(np.load(motion(CHAIN).save(tmp_path / "good.npz")))
    path = write(tmp_path / "bad.npz", arrays | changes)
    with pytest.raises(FileFormatError, match=says) as caught:
        Trajectory.load(path)
    assert caught.value.path == str(path)


def test_every_field_of_the_model_in_a_file_is_checked(tmp_path):
    """A field that is absent, empty or text is an error with the path, or does not matter: no other exception."""
    arrays = dict(np.load(motion(tree()).save(tmp_path / "good.npz")))
    path, refused = tmp_path / "bad.npz", []
    for name in (name for name in arrays if name.startswith("model.")):
        for value in (None, np.zeros(0), np.array("text")):
            write(path, arrays | {name: value})
            try:
                Trajectory.load(path)
            except FileFormatError as error:
                refused.append(error.path)
    assert set(refused) == {str(path)}
    assert len(refused) > 30, "most fields matter"


def test_files_of_other_programs_are_refused(tmp_path):
    """A bare array, pickled objects, a cut archive and text are no archives; nothing in them is run."""
    whole = motion(CHAIN).save(tmp_path / "good.npz").read_bytes()
    for name, content in {"text": b"hello", "empty": b"", "cut": whole[:-200]}.items():
        (tmp_path / f"{name}.npz").write_bytes(content)
    with (tmp_path / "array.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    write(tmp_path / "objects.npz", {"kind": np.array([{}], dtype=object)})
    for name in ("text", "empty", "cut", "array", "objects"):
        for read in (Trajectory.load, Simulation.restore):
            with pytest.raises(FileFormatError, match=f"{name}.npz: is not a file that kinetree wrote"):
                read(tmp_path / f"{name}.npz")
    with pytest.raises(FileFormatError, match=r"or only a part of one: a trajectory is \.npz$"):
        Trajectory.load(tmp_path / "text.npz")


# --- Parquet


@pytest.fixture
def parquet(tmp_path):
    """Return a function that writes a Parquet file with another note, or other columns, and gives its path."""
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra 'tables')")
    from pyarrow import parquet as pq

    table = pq.read_table(motion(CHAIN).save(tmp_path / "good.parquet"))
    note = json.loads(table.schema.metadata[b"kinetree"])

    def change(change_note=lambda note: note, change_table=lambda table: table):
        new = change_note(note)
        raw = new if isinstance(new, bytes) else json.dumps(new).encode()
        path = tmp_path / "bad.parquet"
        pq.write_table(change_table(table).replace_schema_metadata({b"kinetree": raw}), path)
        return path

    change.arrow = pyarrow
    return change


def _zip(note, edit):
    packed = edit(bytearray(base64.b64decode(note["model"])))
    return note | {"model": base64.b64encode(bytes(packed)).decode()}


def _zeros(packed):
    packed[120:160] = bytes(40)
    return packed


NOTES = {
    "newer": (lambda note: note | {"format": 99}, "newer kinetree"),
    "no model": (lambda note: {"format": 1}, "damaged"),
    "a list": (lambda note: [1], "damaged"),
    "no text": (lambda note: b"\xff", "damaged"),
    "cut model": (lambda note: _zip(note, lambda packed: packed[:300]), "damaged"),
    "flipped bits": (lambda note: _zip(note, _zeros), "damaged"),
    "empty model": (lambda note: note | {"model": ""}, "damaged"),
    "no base64": (lambda note: note | {"model": "abc"}, "damaged"),
    "other bytes": (lambda note: _zip(note, lambda _: b"garbage"), "damaged"),
}


@pytest.mark.parametrize("case", NOTES)
def test_a_damaged_note_is_named(parquet, case):
    """What is wrong with the model in the metadata is an error with the path."""
    change, says = NOTES[case]
    path = parquet(change)
    with pytest.raises(FileFormatError, match=says) as caught:
        Trajectory.load(path)
    assert caught.value.path == str(path)


def test_damaged_columns_are_named(parquet):
    """Columns that are missing, have holes or hold text are refused."""
    column = parquet.arrow.array
    for edit in (
        lambda table: table.select([0, 1]),
        lambda table: table.set_column(1, "q.x", column([None, 1.0, 2.0, 3.0])),
        lambda table: table.set_column(1, "q.x", column(["a", "b", "c", "d"])),
    ):
        with pytest.raises(FileFormatError, match=r"bad\.parquet: this trajectory is damaged"):
            Trajectory.load(parquet(change_table=edit))
    assert len(Trajectory.load(parquet(change_table=lambda table: table.slice(0, 2)))) == 2


def test_tables_of_others_are_refused(parquet, tmp_path):
    """A table without our note, text, and a cut file are told apart."""
    from pyarrow import parquet as pq

    pq.write_table(parquet.arrow.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(FileFormatError, match="metadata: is a table of something else"):
        Trajectory.load(tmp_path / "other.parquet")
    (tmp_path / "text.parquet").write_bytes(b"hello")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "good.parquet").read_bytes()[:200])
    for name in ("text", "cut"):
        with pytest.raises(FileFormatError, match="is not a readable Parquet file"):
            Trajectory.load(tmp_path / f"{name}.parquet")


@pytest.mark.parametrize(("package", "suffix"), [("pandas", ".csv"), ("pyarrow", ".parquet")])
def test_a_missing_package_is_named(tmp_path, monkeypatch, package, suffix):
    """Without pandas or pyarrow the error says what to install, and leaves no file."""
    import sys

    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"needs {package}; install it with: pip install 'kinetree\[tables\]'"):
        motion(CHAIN).save(tmp_path / f"motion{suffix}")
    assert not list(tmp_path.iterdir())


# --- states in between


def test_states_in_between_are_interpolated_on_the_manifold():
    """Frames are met exactly; half way a turning ball joint has turned half, and its quaternion keeps its length."""
    model = kt.ModelBuilder().body("ball", joint=kt.Spherical, mass=1, inertia=(1, 1, 1)).build()
    turn = np.array([np.cos(0.5), 0, 0, np.sin(0.5)])  # 1 rad about z
    trajectory = Trajectory.of_states(model, [1.0, 3.0], [model.neutral(), turn])
    assert trajectory.v == pytest.approx(np.array([[0, 0, 0.5]] * 2)), "1 rad in 2 s"
    q, v = trajectory.at(2.0)
    assert q == pytest.approx([np.cos(0.25), 0, 0, np.sin(0.25)])
    assert v == pytest.approx([0, 0, 0.5])
    for k, time in enumerate((1.0, 3.0)):
        assert trajectory.at(time)[0] == pytest.approx(trajectory.q[k], abs=1e-15)
    for outside in (0.999, 3.001, np.nan):
        with pytest.raises(ArgumentError, match=r"outside of the trajectory, 1\.0 to 3\.0 s"):
            trajectory.at(outside)


def test_short_motions():
    """One frame is a state at one time; none is empty, says so, and has no state."""
    one = Trajectory.of_states(CHAIN, [2.0], [[0.1, 0.2, 0.3]])
    assert not one.v.any()
    q, _ = one.at(2.0)
    assert q.tolist() == [0.1, 0.2, 0.3]
    q[0] = 9.0
    assert one.q[0, 0] == 0.1, "what is returned is a copy"
    none = Trajectory(CHAIN, np.zeros(0), np.zeros((0, 3)), np.zeros((0, 3)))
    assert "0 frames, empty" in repr(none)
    with pytest.raises(ArgumentError, match="empty"):
        none.at(0.0)


def test_given_velocities_are_kept_and_wrong_states_refused():
    given = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(Trajectory.of_states(CHAIN, [0, 1], np.zeros((2, 3)), given).v, given)
    for times, q, says in (
        ([0, 1], np.zeros((2, 2)), "shape"),
        ([0], np.zeros((2, 3)), "shape"),
        ([1, 1], np.ones((2, 3)), "increase"),
        ([2, 1], np.ones((2, 3)), "increase"),
        ([0, np.nan], np.ones((2, 3)), "nan"),
    ):
        with pytest.raises(ArgumentError, match=says):
            Trajectory.of_states(CHAIN, times, q)
    with pytest.raises(StateError, match="divide it by that"):
        Trajectory.of_states(tree(), [0], 2 * tree().neutral()[None, :])


def test_motions_compare_by_value_and_know_their_frames():
    one = motion(CHAIN)
    assert one == motion(CHAIN)
    assert one != motion(CHAIN, 3)
    assert one != "a motion"
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
    assert repr(one).startswith("<Trajectory: 4 frames, 0 to 0.3 s, of <Model 'chain 3'")
    assert np.array_equal(one.body_poses(-1), kt.body_poses(CHAIN, one.q[3]))
    for frame in (4, -5):
        with pytest.raises(ArgumentError, match=f"frame {frame} is out of range: the trajectory has 4"):
            one.body_poses(frame)
    assert one.energies()[2] == pytest.approx(kt.energy(CHAIN, one.q[2], one.v[2]))


# --- simulations


@pytest.fixture
def saved(tmp_path):
    """Return a function that changes what a simulation was saved with, and gives the path."""
    simulation = Simulation(CHAIN)
    simulation.apply("link1", force=(1, 0, 0), until=3)
    arrays = dict(np.load(simulation.save(tmp_path / "good.npz")))
    facts = json.loads(bytes(arrays["simulation"]))

    def change(facts_changed=None, arrays_changed=None):
        new = arrays | {"simulation": text(facts | (facts_changed or {}))} | (arrays_changed or {})
        return write(tmp_path / "bad.npz", new)

    return change


def push(body=1, force=(1, 0, 0), frame="world"):
    return {"applied": [[body, list(force), [0, 0, 0], [0, 0, 0], frame, 1.0]]}


FACTS = {
    "body beyond": (push(body=99), "body 99 is out of range"),
    "negative body": (push(body=-1), "body -1 is out of range"),
    "NaN force": (push(force=(float("nan"), 0, 0)), "nan"),
    "short force": (push(force=(1, 0)), "shape"),
    "frame": (push(frame="sky"), "frame is 'sky'"),
    "method": ({"method": ["Magic", {}]}, "damaged"),
    "algorithm": ({"method": ["Full", {"algorithm": "magic"}]}, "algorithm must be"),
    "force": ({"forces": [["Magnet", {}]]}, "damaged"),
    "arguments of a force": ({"forces": [["Spring", {}]]}, "damaged"),
    "no forces": ({"forces": None}, "damaged"),
    "random numbers": ({"rng": {"a": 1}}, "damaged"),
    "steps": ({"steps": "x"}, "damaged"),
    "start": ({"start": float("nan")}, "start"),
    "dt": ({"dt": -1.0}, "a time step must be positive"),
    "dt as text": ({"dt": "fast"}, "dt is 'fast': give a number"),
    "gravity": ({"gravity": [1, 2]}, "gravity has shape"),
    "integrator": ({"integrator": "magic"}, "integrator is 'magic'"),
    "tolerance": ({"tolerance": 2.0}, "tolerance is 2"),
    "callback": ({"forces": [["Callback", {}]]}, "saved with 1 callbacks, but restore() got 0"),
}


@pytest.mark.parametrize("case", FACTS)
def test_what_is_wrong_in_a_simulation_is_said(saved, case):
    """Each thing that a saved simulation is made of is checked when it is restored."""
    changes, says = FACTS[case]
    path = saved(changes)
    with pytest.raises(FileFormatError) as caught:
        Simulation.restore(path)
    assert caught.value.path == str(path)
    assert says in str(caught.value)


def test_damaged_arrays_of_a_simulation_are_said(saved):
    for name, value in (("q", np.zeros(2)), ("v", np.full(3, np.inf)), ("stepper.control", np.zeros(9)), ("q", None)):
        with pytest.raises(FileFormatError, match=r"bad\.npz"):
            Simulation.restore(saved(arrays_changed={name: value}))
    with pytest.raises(FileFormatError, match="newer"):
        Simulation.restore(saved(arrays_changed={"format": 7}))
    assert Simulation.restore(saved()).q.tolist() == [0, 0, 0], "unchanged, it is fine"


def test_a_motion_is_no_simulation(tmp_path):
    with pytest.raises(FileFormatError, match="kind: holds a trajectory, not a simulation"):
        Simulation.restore(motion(CHAIN).save(tmp_path / "motion.npz"))


def test_callbacks_are_passed_again_in_their_order(tmp_path):
    """A restored simulation goes on to the bit with the same functions, and refuses the wrong number of them."""

    def forces():
        return [
            kt.forces.Callback(lambda sim: np.array([0.1, 0, 0]) * np.cos(sim.time)),
            kt.forces.Gravity((0, 0, -1)),
            kt.forces.Callback(lambda sim: (None, np.tile([0, 0.01, 0, 0, 0, 0.0], (3, 1)))),
        ]

    simulation = Simulation(CHAIN, [0.1, 0.2, 0.3], dt=0.01, forces=forces())
    simulation.step(3)
    path = simulation.save(tmp_path / "simulation.npz")
    first, _, second = forces()
    restored = Simulation.restore(path, callbacks=[first, second])
    assert restored.gravity == (0, 0, -1)
    for one in (simulation, restored):
        one.step(3)
    assert np.array_equal(restored.q, simulation.q)
    assert np.array_equal(restored.v, simulation.v)
    assert restored.time == simulation.time
    for callbacks in ([], [first], [first] * 3):
        with pytest.raises(KinetreeError, match=rf"saved with 2 callbacks, but restore\(\) got {len(callbacks)}"):
            Simulation.restore(path, callbacks=callbacks)


def test_numbers_of_numpy_can_be_saved(tmp_path):
    """Indices and values that came out of NumPy are no hindrance to saving."""
    forces = [
        kt.forces.Spring(np.int64(1), np.zeros(3), (0, np.float32(0.5), 1), np.float32(2)),
        kt.forces.JointSpring(("link0",), (np.int64(3),)),
        kt.forces.JointDamping(np.array(["link1"]), np.float64(0.5)),
    ]
    simulation = Simulation(CHAIN, [0.1, 0, 0], forces=forces)
    simulation.apply(np.argmax([0, 1]), force=np.array([1, 0, 0]))
    restored = Simulation.restore(simulation.save(tmp_path / "simulation.npz"))
    for one in (simulation, restored):
        one.step(5)
    assert np.array_equal(restored.v, simulation.v)
