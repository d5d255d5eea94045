"""The benchmarks on bodies so small that they run as plain Python: what the rows say, not how quick it is."""

from __future__ import annotations

import inspect
import json
import os
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree import bench
from kinetree.bench import accuracy, bodies, core, full, growth, motion, render, speed, start
from kinetree.bench.peers import drake, mujoco, pinocchio
from kinetree.cli import main

pytestmark = pytest.mark.no_bounds  # about rows, not kernels

TWINS = {
    "pinocchio": (pinocchio.PinocchioTwin, bodies.KINDS, None),
    "mujoco": (mujoco.MujocoTwin, accuracy.MUJOCO_KINDS, "free"),
    "pydrake": (drake.DrakeTwin, ("revolute",), None),
}


INERTIAL = """<inertial><origin xyz="0 0.1 0.2"/><mass value="2"/>
<inertia ixx="0.3" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial>"""
URDF = f"""<robot name="two"><link name="trunk">{INERTIAL}</link><link name="arm">{INERTIAL}</link>
<joint name="elbow" type="continuous"><parent link="trunk"/><child link="arm"/><origin xyz="0 0 0.5" rpy="0.1 0 0.2"/>
<axis xyz="0 0.6 0.8"/></joint></robot>"""


def small(make, size):
    """Return `make` with another size than the one that is asked for."""
    return lambda *_, **__: make(size)


def without(monkeypatch, *packages):
    """Let the packages be missing."""
    for package in packages:
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, package, None)


# --- the other engines


@pytest.mark.parametrize("package", TWINS)
def test_a_twin_has_the_same_dynamics(package):
    """A small tree of every joint that the other engine has, rebuilt there, gives the same answers."""
    pytest.importorskip(package, reason=f"{package} is not installed (extra 'bench')")
    twin, kinds, first = TWINS[package]
    model = accuracy._wild_chain(4) if package == "pydrake" else bodies.random_tree(3, 9, kinds, first=first)
    row = accuracy.compare("tree", model, lambda: twin(model), how="rebuilt", states=1)
    assert row.ok, row
    assert "Jacobian" in row.detail


@pytest.mark.parametrize("package", TWINS)
def test_a_twin_notices_another_mass(package):
    """The comparison is not blind: one gram more in one body and the row misses its target."""
    pytest.importorskip(package, reason=f"{package} is not installed (extra 'bench')")
    from dataclasses import replace

    from kinetree.model.compile import compile_model

    model = kt.models.chain(3)
    description = model.description()
    last = replace(description.bodies[-1], mass=description.bodies[-1].mass + 1e-3)
    other = compile_model(replace(description, bodies=[*description.bodies[:-1], last]))
    row = accuracy.compare("chain", model, lambda: TWINS[package][0](other), how="", states=1)
    assert row.ok is False, row


@pytest.mark.parametrize(("package", "twin"), [(name, entry[0]) for name, entry in TWINS.items()])
def test_a_missing_engine_is_named(monkeypatch, package, twin):
    without(monkeypatch, package)
    with pytest.raises(kt.errors.MissingExtraError, match=r"pip install 'kinetree\[bench\]'"):
        twin(kt.models.chain(2))


def test_rotors_that_an_engine_lacks_are_refused():
    """Pinocchio has no rotor inertia in a free joint: the twin says so instead of comparing something else."""
    pytest.importorskip("pinocchio", reason="Pinocchio is not installed (extra 'bench')")
    body = {"mass": 1, "inertia": (1, 1, 1), "armature": 0.5}
    with pytest.raises(ValueError, match="rotor inertia of a free or planar joint"):
        pinocchio.PinocchioTwin(kt.ModelBuilder().body("a", joint=kt.Free, **body).build())
    model = kt.ModelBuilder().body("a", joint=kt.Revolute((0, 0.6, 0.8)), **body).build()
    assert accuracy.compare("", model, lambda: pinocchio.PinocchioTwin(model), how="", states=1).ok


# --- files


@pytest.fixture
def data(tmp_path):
    """Return a folder with small files under the names of two robots, and a broken one."""
    pytest.importorskip("mujoco", reason="MuJoCo is not installed (extra 'io')")
    (tmp_path / "models").mkdir()
    model = bodies.random_tree(5, 5, ("revolute", "prismatic", "fixed"))
    kt.save(model, tmp_path / "models" / "panda.urdf")
    (tmp_path / "models" / "simple_humanoid.urdf").write_text(URDF)
    ball = kt.ModelBuilder().body("trunk", joint=kt.Free, mass=2.0, inertia=(0.1, 0.2, 0.2))
    ball.body("arm", parent="trunk", joint=kt.Spherical, placement=(None, (0, 0.2, 0)), mass=1, inertia=(0.1, 0.1, 0.1))
    kt.save(ball.build(), tmp_path / "humanoid.xml")
    (tmp_path / "ur5_robot.urdf").write_text("<robot><link/>")
    return tmp_path


def test_robots_are_compared_file_by_file(data):
    """Files that are there agree with both engines; a broken file and an absent one are rows that say which it is."""
    pytest.importorskip("pinocchio", reason="Pinocchio is not installed (extra 'bench')")
    rows = {row.name: row for row in accuracy.files(data, quick=True)}
    assert len(rows) == 2 * len(bodies.ROBOTS)
    for robot, how in (
        ("Panda", ("Pinocchio reads the file", "rebuilt in MuJoCo")),
        ("simple_humanoid", ("Pinocchio reads the file", "rebuilt in MuJoCo")),
        ("simple_humanoid, floating", ("Pinocchio reads the file", "rebuilt in MuJoCo")),
        ("MuJoCo's humanoid", ("rebuilt in Pinocchio", "MuJoCo reads the file")),
    ):
        for peer, way in zip(("Pinocchio", "MuJoCo"), how, strict=True):
            row = rows[f"{robot}: {peer}"]
            assert row.ok, row
            assert row.detail.startswith(way)
    assert "ur5_robot.urdf cannot be loaded" in rows["UR5: Pinocchio"].detail
    assert "talos_full_v2.urdf is absent" in rows["Talos: MuJoCo"].detail


def test_large_models_are_left_out_of_a_quick_run(data):
    """What takes Pinocchio half a minute is left out by --quick, and the row says so."""
    large = bodies.RobotFile("large", "humanoid.xml", large=True)
    first, second = accuracy.compare_file(large, data, quick=True)
    assert first.measured is None
    assert "--quick" in first.detail
    assert second.ok, second


def test_random_trees_agree_and_absent_engines_are_said(monkeypatch):
    """The worst of the trees is the row; without the engines every row says what is missing."""
    for package in TWINS:
        pytest.importorskip(package, reason=f"{package} is not installed (extra 'bench')")
    tree, chain = bodies.random_tree, accuracy._wild_chain
    monkeypatch.setattr(accuracy, "random_tree", lambda seed, n, kinds, first=None: tree(seed, 8, kinds, first=first))
    monkeypatch.setattr(accuracy, "_wild_chain", small(chain, 4))
    rows = accuracy.trees(quick=True)
    assert [row.ok for row in rows] == [True] * 3, rows
    assert "worst of 2 trees" in rows[0].detail
    without(monkeypatch, *TWINS)
    for row, package in zip(accuracy.trees(quick=True), ("Pinocchio", "MuJoCo", "Drake"), strict=True):
        assert row.measured is None
        assert f"not installed: comparing with {package}" in row.detail


# --- speed and growth


def test_a_contest_has_a_row_for_every_engine(monkeypatch):
    """ABA against Pinocchio has the target, the others are information; ratios are of the best times."""
    for package in TWINS:
        pytest.importorskip(package, reason=f"{package} is not installed (extra 'bench')")
    times = {"ABA": 2.0, "RNEA": 1.0, "CRBA": 4.0, "Drake": 6.0, "MuJoCo": 5.0}
    times |= {"Pinocchio ABA": 7.0, "Pinocchio RNEA": 2.0, "Pinocchio CRBA": 2.0}

    def race(contestants, *, seconds):
        for function in contestants.values():
            function()
        return {name: times[name] for name in contestants}

    monkeypatch.setattr(speed, "side_by_side", race)
    model = kt.models.chain(3)
    rows = speed.contest("c", model, lambda: pinocchio.PinocchioTwin(model), 2.5, 0.1, drake=True)
    assert {row.name: row.measured for row in rows} == {
        "c: ABA against Pinocchio": 3.5, "c: RNEA against Pinocchio": 2.0, "c: CRBA against Pinocchio": 0.5,
        "c: ABA against MuJoCo": 2.5, "c: ABA against Drake": 3.0,
    }  # fmt: skip
    assert [row.ok for row in rows] == [True, None, None, None, None]


def test_speed_without_other_engines(monkeypatch, data):
    """Files that are absent or broken, and engines that are missing, are rows; nothing is measured without a peer."""
    (data / "talos_full_v2.urdf").write_text("no XML")
    monkeypatch.setattr(speed, "chain", small(kt.models.chain, 2))
    monkeypatch.setattr(core, "perf_counter", iter(np.arange(0.0, 1e6)).__next__)
    without(monkeypatch, "pinocchio", "pydrake")
    real = speed.MujocoTwin
    monkeypatch.setattr(speed, "MujocoTwin", lambda model: (_ for _ in ()).throw(kt.errors.missing_extra("M", "x", "")))
    rows = {row.name: row for row in speed.forward(data, quick=True)}
    assert all(row.measured is None for row in rows.values())
    assert "not installed" in rows["300-link chain: ABA against Pinocchio"].detail
    assert "not installed" in rows["300-link chain: against MuJoCo"].detail
    assert "not installed" in rows["300-link chain: against Drake"].detail
    assert "cannot be loaded" in rows["Talos, floating: ABA"].detail
    assert "simple_humanoid, floating: against MuJoCo" in rows
    (row,) = speed.simulated_second(quick=True)
    assert row.measured is None
    monkeypatch.setattr(speed, "MujocoTwin", real)
    rows = {row.name: row for row in speed.forward(None, quick=True)}
    assert rows["300-link chain: ABA against MuJoCo"].measured > 0
    assert "is absent: see --data" in rows["Talos, floating: ABA"].detail


def test_a_simulated_second_of_two_links_ends_where_mujoco_ends(monkeypatch):
    """Both engines take the same thousand steps."""
    pytest.importorskip("mujoco", reason="MuJoCo is not installed (extra 'io')")
    monkeypatch.setattr(speed, "chain", small(kt.models.chain, 2))
    (row,) = speed.simulated_second(quick=True)
    assert row.measured > 0
    assert float(row.detail.split("angles end ")[1].split()[0]) < 1e-9, row.detail


def test_growth_is_fitted(monkeypatch):
    """Times that grow with the square of the joints are found to: the exponent is 2, and the target is missed."""
    monkeypatch.setattr(growth, "chain", small(kt.models.chain, 2))
    monkeypatch.setattr(growth, "molecule", small(kt.models.molecule, 3))

    def timed(power):
        def race(contestants, *, seconds):
            assert all(len(function()) in (2, 3) for function in contestants.values())
            return {name: 1e-9 * float(name) ** power for name in contestants}

        return race

    for power, ok in ((1.0, True), (2.0, False)):
        monkeypatch.setattr(growth, "side_by_side", timed(power))
        rows = growth.times(quick=False)
        assert [row.ok for row in rows] == [ok, None, ok, None]
        assert [row.measured for row in rows[1::2]] == pytest.approx([power] * 2)
        assert rows[0].name == "chain: time a joint at 50,000 against 300"
        assert rows[0].measured == pytest.approx((50_000 / 300) ** (power - 1))


def test_memory_counts_what_is_kept(monkeypatch):
    """Per joint, model and scratch are the same kilobytes for a molecule of 100 as for a large one, roughly."""
    monkeypatch.setattr(growth, "molecule", small(kt.models.molecule, 200))
    building, kept = growth.memory(quick=True)
    assert building.measured > 0
    assert building.detail.startswith("best of 2")
    a_joint = kept.measured * 5000 / 200
    assert 0.9 < a_joint < 10, "a joint's row of scratch and constants alone are 0.9 kB"
    assert float(kept.detail.split(" kB of model")[0]) * 5000 / 200 < a_joint


# --- motion


def test_orders_are_fitted(monkeypatch):
    """Errors of the nominal orders meet the targets; an integrator of half its order is found out."""
    lost = {"rk4": 1.0}

    def end(model, q, v, integrator, dt, seconds, **_):
        order = dict(motion.ORDERS).get(integrator, 5) * lost.get(integrator, 1.0)
        return np.ones(2 * model.nv) + (0.0 if dt < 1e-4 and integrator == "rk4" else dt**order)

    monkeypatch.setattr(motion, "_end", end)
    rows = motion.orders(quick=True)
    assert [row.ok for row in rows] == [True, True, True, None, None], rows
    assert [row.measured for row in rows[:3]] == pytest.approx([1, 1, 4], rel=1e-3)
    lost["rk4"] = 0.5
    assert [row.ok for row in motion.orders(quick=True)[:3]] == [True, True, False]


def test_ends_of_motions_converge():
    """The states that the orders are fitted to: fourth-order steps at half the size differ by less than first-order."""
    model = kt.models.chain(2, spherical=True)
    q, v = model.random_state(0)

    def change(integrator, dt, **more):
        ends = [motion._end(model, q, v, integrator, step, 0.016, **more) for step in (dt, dt / 2)]
        return np.abs(ends[0] - ends[1]).max()

    assert change("rk4", 0.004) < 1e-3 * change("euler", 0.004)
    assert change("rk45", 0.008, tolerance=1e-10) < 1e-6


def test_energy_and_momentum_are_kept_in_a_few_steps(monkeypatch):
    """The drift of a few steps of Runge-Kutta is below the targets; explicit Euler's is not."""

    class Few(kt.Simulation):
        def __init__(self, *arguments, integrator, **options):
            super().__init__(*arguments, integrator=Few.way, **options)

        def step(self, n=1):
            super().step(1)

    monkeypatch.setattr(motion, "Simulation", Few)
    floating = bodies.random_tree(1, 4, ("revolute", "spherical"), first="free")
    monkeypatch.setattr(motion, "humanoid", lambda: floating)
    for Few.way, ok in (("rk4", True), ("euler", False)):
        (energy,), (momentum,) = motion.energy(quick=True), motion.momentum(quick=True)
        assert energy.ok is ok, energy
        assert momentum.ok is ok, momentum
    assert energy.name == "energy of a 50-link pendulum, 2 s of rk4 at 1 ms"


# --- pictures and waits


def test_pictures_are_timed_from_three_sides(monkeypatch):
    """Each view is a row with frames per second and the number of bodies."""
    monkeypatch.setattr(kt.models, "crowd", lambda people, seed: kt.models.chain(people))
    rows = render.render_speed(quick=True, people=2, width=24, height=16)
    assert [row.name for row in rows] == [
        f"drawing 2 bodies, {view}" for view in ("whole crowd", "from above", "from within")
    ]
    assert all(row.measured > 0 and row.detail.startswith("24 x 16") for row in rows)


@pytest.mark.parametrize("quick", [True, False])
def test_waits_are_of_new_interpreters(monkeypatch, tmp_path, quick):
    """The import is the best of several; the cold start has an empty cache, which the warm ones share."""
    calls = []

    def new(code, environment=None):
        compile(code, "code", "exec")
        calls.append((code, dict(environment or {})))
        return 10.0 / len(calls), f"{0.2 + 0.01 * len(calls)}\n"

    monkeypatch.setattr(start, "_run", new)
    rows = {row.name: row for row in start.waits(tmp_path, quick=quick)}
    imports = [code for code, _ in calls if code == start.IMPORTING]
    assert rows["import kinetree"].measured == pytest.approx(0.21)
    assert rows["import kinetree"].detail == f"best of {len(imports)} new interpreters"
    assert rows["first result, compiled before"].measured == 10.0 / len(calls)
    first, *warm = calls[len(imports) :]
    assert "kt.models.humanoid()" in first[0], "where the robot's file is absent"
    assert len(warm) == 3
    if quick:
        assert all(not environment for _, environment in calls)
    else:
        assert rows["first result, nothing compiled yet"].measured == 10.0 / (len(imports) + 1)
        assert "KINETREE_CACHE_DIR" in first[1]
        assert all(call == first for call in warm)
        assert not os.path.exists(first[1]["KINETREE_CACHE_DIR"])
    (tmp_path / "talos_full_v2.urdf").touch()
    calls.clear()
    assert "talos_full_v2.urdf" in start.waits(tmp_path, quick=True)[-1].detail
    assert "floating=True" in calls[-1][0]


def test_a_new_interpreter_says_what_it_printed_or_why_it_failed():
    seconds, out = start._run("import os; print(os.environ['KINETREE_ANSWER'])", {"KINETREE_ANSWER": "42"})
    assert out == "42\n"
    assert 0 < seconds < 60
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        start._run("1 / 0")


# --- the whole table


def test_the_full_table_runs_every_part(monkeypatch, tmp_path):
    """Each part passes on `quick` and the folder, and its rows come in order."""
    heard = []
    functions = [
        (accuracy, "files"), (accuracy, "trees"), (accuracy, "place_and_length"), (speed, "forward"),
        (speed, "simulated_second"), (growth, "times"), (growth, "memory"), (motion, "orders"), (motion, "energy"),
        (motion, "momentum"), (render, "render_speed"), (start, "waits"),
    ]  # fmt: skip
    for module, name in functions:
        wants_data = "data" in inspect.signature(getattr(module, name)).parameters

        def part(*arguments, quick, name=name, wants_data=wants_data):
            assert arguments == ((tmp_path,) if wants_data else ())
            heard.append(quick)
            return [core.at_most("g", name, 1.0, 2.0)]

        monkeypatch.setattr(module, name, part)
    report = bench.run("full", quick=True, data=tmp_path)
    assert [row.name for row in report.rows] == [name for _, name in functions]
    assert heard == [True] * len(functions)
    assert len(full.parts(quick=False, data=None)) == len(functions)
    assert report.verdict() == "12 of 12 targets met"
    assert report.quick
    assert report.seconds >= 0


def test_the_command_prints_the_table_and_writes_json(monkeypatch, tmp_path, capsys):
    """A missed target is exit code 0: it is a measurement. What JSON does not have becomes null."""
    rows = [core.at_most("g", "slow", 3.0, 2.0), core.information("g", "strange", np.inf)]
    monkeypatch.setattr(full, "parts", lambda quick, data: [("one", lambda: rows)])
    target = tmp_path / "out.json"
    assert main(["bench", "full", "--quick", "--json", str(target), "--data", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert "MISSED" in out
    assert "0 of 1 targets met; missed: slow" in out
    assert f"wrote {target}" in err
    written = json.loads(target.read_text())
    assert written["quick"] is True
    assert [row["measured"] for row in written["rows"]] == [3.0, None]
    assert main(["bench", "full", "--json", str(tmp_path / "out.txt")]) == 2
    assert "must end in .json" in capsys.readouterr().err
    assert main(["bench", "full", "--json", str(tmp_path / "absent" / "out.json")]) == 2


def test_the_folder_of_files_is_found_beside_the_project(monkeypatch, tmp_path):
    """`../shared/data` is taken if it exists, from where the command runs."""
    monkeypatch.delenv("KINETREE_TEST_DATA", raising=False)
    place = tmp_path / "shared" / "data"
    place.mkdir(parents=True)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    assert bench.data_folder() == place
    monkeypatch.setenv("KINETREE_TEST_DATA", str(tmp_path / "absent"))
    with pytest.raises(kt.errors.ArgumentError, match="absent"):
        bench.data_folder()


def test_the_table_needs_rich(monkeypatch):
    without(monkeypatch, "rich")
    from kinetree.bench.table import print_report

    with pytest.raises(kt.errors.MissingExtraError, match=r"kinetree\[cli\]"):
        print_report(core.Report("full"))
