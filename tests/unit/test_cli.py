"""The command line: exit codes, JSON, one clear line for what is wrong, and nothing lost on Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli import main

COMMANDS = ("demo", "simulate", "inspect", "export", "convert", "bench", "warmup", "doctor")


def run(capsys, *words):
    """Run a command in this process; returns (exit code, stdout, stderr)."""
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def facts(capsys, *words):
    """Run a command that succeeds, and return the JSON that it prints."""
    code, out, err = run(capsys, *words, "--json")
    assert code == 0, err
    return json.loads(out)


def test_the_version(capsys):
    """`--version` prints the version of the package."""
    assert run(capsys, "--version") == (0, f"kinetree {kt.__version__}\n", "")


def test_help_lists_all_commands(capsys):
    """`--help` names every command; no arguments at all show the same, as an error."""
    code, out, _ = run(capsys, "--help")
    assert code == 0
    for command in COMMANDS:
        assert re.search(rf"\b{command}\b", out)
    assert run(capsys)[0] == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(capsys, command):
    """Each command explains itself and shows how it is called."""
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert "Examples" in out
    assert f"kinetree {command}" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["inspect", "pendulm:3"], "neither a file nor a model of the library"),
        (["inspect", "no/such/file.urdf"], "no such file"),
        (["inspect", "pendulum:x"], "not a number"),
        (["inspect"], "Missing argument"),
        (["frobnicate"], "No such command"),
        (["simulate", "pendulum:3", "--sceonds", "1"], "No such option"),
        (["simulate", "pendulum:3", "--seconds", "soon"], "Invalid value for '--seconds'"),
        (["simulate", "pendulum:3", "--seconds", "-1"], "not negative"),
        (["simulate", "pendulum:3", "--seconds", "nan"], "finite"),
        (["simulate", "pendulum:3", "--dt", "0"], "dt is 0"),
        (["simulate", "pendulum:3", "--dt", "nan"], "dt is nan"),
        (["simulate", "pendulum:3", "--integrator", "magic"], "'rk4'"),
        (["simulate", "pendulum:3", "--record-every", "0"], "--record-every is 0"),
        (["simulate", "pendulum:3", "--gravity", "down"], "--gravity is 'down'"),
        (["simulate", "pendulum:3", "--gravity", "0,0"], "--gravity is '0,0'"),
        (["simulate", "pendulum:3", "--gravity", "0,0,inf"], "--gravity"),
        (["simulate", "pendulum:3", "--damping", "-1"], "--damping is -1"),
        (["simulate", "pendulum:3", "--seed", "-1"], "--seed is -1"),
        (["simulate", "pendulum:3", "--output", "motion.docx"], ".npz, .parquet, .csv"),
        (["simulate", "pendulum:3", "--output", "no/folder/motion.npz"], "does not exist"),
        (["simulate", "pendulum:3", "--render", "film.avi"], ".mp4, .gif, .png"),
        (["export", "pendulum:3", "pendulum.stl"], ".urdf, .xml"),
        (["convert", "missing.npz", "out.csv"], "no such file"),
        (["inspect", "pendulum:99999999999"], "more than 10000000 would need more memory"),
        (["inspect", "crowd:1000000"], "more than 100000 would need more memory"),
        (["inspect", "millipede:legs=1000000,leg_links=1000"], "legs of kinetree.models.millipede is 1000000"),
        (["bench", "nothing"], "no table 'nothing'"),
        (["bench", "full", "--data", "no/folder"], "'no/folder' does not exist"),
        (["bench", "full", "--json", "full.txt"], "its name must end in .json"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(capsys, words, says):
    """Wrong input is refused with exit code 2 and one line on stderr that says what it was."""
    code, out, err = run(capsys, *words)
    assert code == 2
    line = [row for row in err.splitlines() if row.startswith("kinetree: ")]
    assert len(line) == 1, err
    assert says in line[0], err
    assert "Traceback" not in out + err


def test_inspect_shows_the_account(capsys):
    """`inspect` prints what `describe` says."""
    code, out, _ = run(capsys, "inspect", "pendulum:3")
    assert code == 0
    assert out.strip() == kt.models.pendulum(3).describe()


def test_inspect_as_json(capsys):
    """The JSON of `inspect` has the sizes and a row for each body."""
    found = facts(capsys, "inspect", "humanoid")
    assert (found["bodies"], found["nv"], found["trees"]) == (89, 95, 1)
    assert len(found["body_list"]) == 89
    assert found["total_mass"] == pytest.approx(75)


def test_simulate_prints_figures_and_saves(capsys, tmp_path):
    """A pendulum that swings keeps its energy, and its motion can be loaded again."""
    target = tmp_path / "swing.npz"
    words = ["simulate", "pendulum:2", "--seed", "1", "--seconds", "0.25", "--integrator", "rk4", "--output", target]
    found = facts(capsys, *words)
    assert found["steps"] == 250
    assert found["partial"] is False
    assert found["files"] == [str(target)]
    assert abs(found["energy_change"]) < 1e-6
    trajectory = kt.Trajectory.load(target)
    assert trajectory.times[-1] == pytest.approx(0.25)
    assert len(trajectory) == found["frames"]
    assert np.array_equal(trajectory.q[0], kt.models.pendulum(2).random_state(1)[0])


def test_simulate_takes_gravity_and_damping(capsys):
    """Gravity can be turned off and given as one number; damping takes energy out."""
    assert facts(capsys, "simulate", "chain:3", "--seed", "1", "--seconds", "0.1", "--gravity", "0")["max_speed"] == 0
    free = facts(capsys, "simulate", "chain:3", "--seed", "1", "--seconds", "0.2")
    damped = facts(capsys, "simulate", "chain:3", "--seed", "1", "--seconds", "0.2", "--damping", "0.01")
    moon = facts(capsys, "simulate", "chain:3", "--seed", "1", "--seconds", "0.2", "--gravity", "1.62")
    assert damped["energy_change"] < -0.01 < free["energy_change"]
    assert moon["max_speed"] < 0.5 * free["max_speed"]


def test_simulate_says_when_nothing_moves(capsys):
    """A pendulum that hangs at rest stays there, and the user learns why."""
    code, out, err = run(capsys, "simulate", "pendulum:3", "--seconds", "0.01")
    assert code == 0
    assert "nothing moved" in err
    assert "degrees of freedom" in out


def test_a_diverging_simulation_is_saved_as_partial(capsys, tmp_path):
    """Divergence is exit code 2, says when and where, and what was recorded before is kept and marked."""
    target = tmp_path / "wild.npz"
    code, out, err = run(
        capsys,
        "simulate",
        "pendulum:30",
        "--seed",
        "1",
        "--dt",
        "0.02",
        "--seconds",
        "20",
        "--output",
        target,
        "--json",
    )
    assert code == 2
    assert "diverged in the step after" in err
    found = json.loads(out)
    assert found["partial"] is True
    kept = tmp_path / "wild.partial.npz"
    assert found["files"] == [str(kept)]
    assert not target.exists()
    assert np.isfinite(kt.Trajectory.load(kept).q).all()


def test_an_interrupt_loses_nothing(capsys, tmp_path, monkeypatch):
    """Ctrl-C during a run ends with exit code 130, and what was recorded until then is saved and marked."""

    @contextmanager
    def interrupt(_label):
        def report(fraction):
            if fraction > 0.01:
                signal.raise_signal(signal.SIGINT)

        yield report

    monkeypatch.setattr("kinetree.cli.simulate.progress", interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        target = tmp_path / "long.npz"
        words = ["simulate", "pendulum:5", "--seed", "1", "--seconds", "1000", "--damping", "0.01", "--output", target]
        code, out, err = run(capsys, *words, "--json")
    finally:
        signal.signal(signal.SIGINT, before)
    assert code == 130
    assert "interrupted at" in err
    kept = kt.Trajectory.load(tmp_path / "long.partial.npz")
    assert 1 < kept.times[-1] < 1000
    assert json.loads(out)["time"] == pytest.approx(kept.times[-1], abs=0.05)
    assert not target.exists()


def test_an_interrupt_elsewhere_is_said(capsys, monkeypatch):
    """Ctrl-C in a command that has nothing to save is exit code 130 and one line."""

    def interrupted(_text):
        raise KeyboardInterrupt

    monkeypatch.setattr("kinetree.cli.inspect.load_model", interrupted)
    code, _, err = run(capsys, "inspect", "pendulum:3")
    assert code == 130
    assert err.strip() == "kinetree: interrupted"


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_motions_can_be_converted(capsys, tmp_path, suffix):
    """A trajectory goes from .npz to the tables; to Parquet and back it stays the same."""
    source, out = tmp_path / "a.npz", tmp_path / f"b{suffix}"
    assert facts(capsys, "simulate", "chain:2", "--seed", "1", "--seconds", "0.1", "--output", source)["frames"] > 3
    assert run(capsys, "convert", source, out)[0] == 0
    if suffix == ".parquet":
        back = tmp_path / "c.npz"
        assert run(capsys, "convert", out, back)[0] == 0
        assert kt.Trajectory.load(back) == kt.Trajectory.load(source)
    else:
        assert out.read_text().startswith("time,q.link0,q.link1,v.link0,v.link1\n")


def test_models_can_be_exported_and_converted(capsys, tmp_path):
    """A chain goes to URDF and from there to MJCF, and keeps its joints and mass."""
    urdf, mjcf = tmp_path / "chain.urdf", tmp_path / "chain.xml"
    assert run(capsys, "export", "chain:4", urdf)[0] == 0
    assert run(capsys, "convert", urdf, mjcf)[0] == 0
    for path in (urdf, mjcf):
        found = facts(capsys, "inspect", path)
        assert found["nv"] == 4
        assert found["total_mass"] == pytest.approx(0.4)


def test_the_examples_of_export_work(capsys, tmp_path):
    """What the help of `export` shows can be done."""
    for model, name, nv in (("humanoid", "humanoid.xml", 95), ("chain:20", "chain.urdf", 20)):
        assert run(capsys, "export", model, tmp_path / name)[0] == 0
        assert facts(capsys, "inspect", tmp_path / name)["nv"] == nv


def test_a_table_of_figures_goes_where_it_is_sent(capsys, tmp_path, monkeypatch):
    """`bench --json` prints JSON alone, as other commands do; with the name of a file, table and file are made."""
    from kinetree import bench
    from kinetree.bench.core import Report, at_most

    report = Report("full", True, [at_most("speed", "a row", 1.0, 2.0, "s")])
    monkeypatch.setattr(bench, "run", lambda name, **options: report)
    for words in (["full", "--json"], ["--json", "full"], ["full", "--json", "--quick"], ["full", "--json", "-"]):
        code, out, _ = run(capsys, "bench", *words)
        assert (code, json.loads(out)["rows"][0]["name"]) == (0, "a row")
    code, out, _ = run(capsys, "bench", "full", "--json", tmp_path / "full.json")
    assert code == 0
    assert "a row" in out
    assert json.loads((tmp_path / "full.json").read_text())["met"] == 1


def test_a_motion_is_no_model(capsys, tmp_path):
    """Converting between kinds of things is refused, by name."""
    source = tmp_path / "a.npz"
    facts(capsys, "simulate", "chain:2", "--seconds", "0.01", "--output", source)
    code, _, err = run(capsys, "convert", source, tmp_path / "a.urdf")
    assert code == 2
    assert "is a trajectory: OUT must end in .npz, .parquet, .csv" in err
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"this is no archive")
    code, _, err = run(capsys, "convert", broken, tmp_path / "b.csv")
    assert code == 2
    assert "broken.npz" in err


def test_the_doctor_finds_the_dynamics_exact(capsys):
    """`doctor` reports versions, extras, cache and threads, and that RNEA undoes ABA."""
    found = facts(capsys, "doctor")
    assert found["versions"]["kinetree"] == kt.__version__
    assert found["check"]["passed"] is True
    assert found["check"]["error"] < 1e-9
    assert found["extras"]["cli"]["present"] is True
    assert found["threads"] >= 1
    code, out, _ = run(capsys, "doctor")
    assert code == 0
    assert "self" not in out or "failed" not in out


def test_the_doctor_says_what_is_missing(capsys, monkeypatch):
    """A missing extra is named with the command that installs it; a wrong result is exit code 1."""
    from kinetree.cli import doctor

    monkeypatch.setitem(doctor.EXTRAS, "io", (("no-such-package",), "reading URDF and MJCF"))
    monkeypatch.setattr(doctor, "self_check", lambda: {"what": "", "error": 1.0, "passed": False})
    code, out, err = run(capsys, "doctor")
    assert code == 1
    assert "pip install 'kinetree[io]'" in out
    assert "no-such-package missing" in out
    assert "the self-check failed" in err


@pytest.mark.slow_python
@pytest.mark.no_bounds
def test_warming_up_twice_is_quick_the_second_time(capsys):
    """`warmup` uses every family of kernels; with a warm cache and process it takes less than two seconds."""
    facts(capsys, "warmup")
    again = facts(capsys, "warmup")
    assert {"configurations", "kinematics and sums", "dynamics", "simulation", "pictures"} <= set(again["seconds"])
    assert again["total"] < 2.0


@pytest.mark.slow_python
@pytest.mark.no_bounds
def test_after_a_warm_up_nothing_is_cold(capsys):
    """The file that says that a family is compiled is really there: a wrong name would compile for ever."""
    from kinetree.cli.warm import families, is_cold, warm_up

    facts(capsys, "warmup")
    assert [family.name for family in families() if is_cold(family)] == []
    assert warm_up(only_cold=True) == {}


@pytest.mark.slow_python
@pytest.mark.no_bounds
def test_the_demo_makes_what_it_says(capsys, tmp_path, monkeypatch):
    """Figures, motion, plot, picture and film; shortened here to ten links and a fifth of a second."""
    from kinetree.cli import demo

    monkeypatch.setattr(demo, "LINKS", 10)
    monkeypatch.setattr(demo, "SECONDS", 0.2)
    found = facts(capsys, "demo", "--out", tmp_path / "new" / "folder")
    assert found["steps"] == 200
    assert found["energy_drift_of_largest_kinetic"] < 1e-6
    kinds = {os.path.splitext(file)[1]: os.path.getsize(file) for file in found["files"]}
    assert set(kinds) == {".npz", ".png", ".mp4"}
    assert min(kinds.values()) > 1000
    blocked = tmp_path / "a_file"
    blocked.touch()
    assert run(capsys, "demo", "--out", blocked)[0] == 2


@pytest.mark.slow_python
@pytest.mark.no_bounds
def test_simulate_draws(capsys, tmp_path):
    """`--render` draws the last state, or the motion."""
    for name in ("last.png", "film.gif"):
        target = tmp_path / name
        found = facts(capsys, "simulate", "chain:2", "--seed", "1", "--seconds", "0.1", "--render", target)
        assert found["files"] == [str(target)]
        assert target.stat().st_size > 1000


def test_ticks_are_round_and_cover_the_range():
    """The axes of plots have about six round numbers that reach over both ends."""
    from kinetree.cli.plot import ticks

    assert ticks(0.0, 4.0) == [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4]
    for low, high in ((-4400.0, 4390.0), (1e-9, 3e-9), (5.0, 5.0), (-1e6, 2.0), (0.0, 0.0)):
        found = ticks(low, high)
        assert found[0] <= low
        assert found[-1] >= high
        assert 2 <= len(found) <= 14


def test_a_fault_is_no_traceback(capsys, monkeypatch):
    """A bug in kinetree is reported in one line with exit code 1; --debug shows all of it."""
    monkeypatch.setattr("kinetree.cli.inspect.load_model", lambda _: 1 / 0)
    code, _, err = run(capsys, "inspect", "pendulum:3")
    assert code == 1
    assert err == "kinetree: a fault of kinetree, ZeroDivisionError: division by zero; --debug shows where\n"
    with pytest.raises(ZeroDivisionError):
        main(["inspect", "pendulum:3", "--debug"])


def test_a_missing_package_is_named(capsys, monkeypatch):
    """Without typer, the command says what to install."""
    monkeypatch.setitem(sys.modules, "typer", None)
    for name in [name for name in sys.modules if name.startswith("kinetree.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    code, _, err = run(capsys, "doctor")
    assert code == 2
    assert "needs typer; install it with: pip install 'kinetree[cli]'" in err


@pytest.mark.subprocess
def test_python_m_kinetree():
    """`python -m kinetree` is the command; its exit code reaches the shell, and a closed pipe is no fault."""
    command = [sys.executable, "-m", "kinetree"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"kinetree {kt.__version__}\n")
    done = subprocess.run([*command, "inspect", "nothing"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    process = subprocess.Popen(
        [*command, "inspect", "crowd:20", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    assert process.wait(60) == 1
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
