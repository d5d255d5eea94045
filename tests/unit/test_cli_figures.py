"""What the commands draw and warm up, on bodies and pictures so small that plain Python is quick enough."""

from __future__ import annotations

import io
import json
import os
import runpy
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree import _jit
from kinetree.cli import common, demo, doctor, main, plot, simulate, warm

pytestmark = pytest.mark.no_bounds  # about files and words, not kernels

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (extra 'render')")


def run(capsys, *words):
    """Run a command in this process; returns (exit code, stdout, stderr)."""
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


# --- plots


def ink(path, color, far=60):
    """Return where in the frame of a plot the pixels are about of a colour: columns and rows."""
    picture = np.asarray(Image.open(path).convert("RGB")).astype(int)
    near = np.abs(picture - np.array(color)).sum(2) < far
    left, top, right, bottom = plot.MARGINS
    near[:top], near[-bottom + 3 :], near[:, : left - 3], near[:, -right + 3 :] = False, False, False, False
    rows, columns = np.nonzero(near)
    return columns, rows


def place(x, y, x_range, y_range):
    """Return the pixel of a point, from the margins and the size of a plot."""
    (width, height), (left, top, right, bottom) = plot.SIZE, plot.MARGINS
    across = (x - x_range[0]) / (x_range[1] - x_range[0])
    up = (y - y_range[0]) / (y_range[1] - y_range[0])
    return left + across * (width - left - right), height - bottom - up * (height - top - bottom)


def test_a_plot_has_its_curves_where_they_belong(tmp_path):
    """Every point of two curves is under ink of their own colours, and ink lies nowhere else."""
    x = np.linspace(0, 4, 81)
    lines = {"up": 2 * x, "wave": 4 + 4 * np.cos(np.pi * x)}
    path = plot.line_plot(tmp_path / "plot.png", x, lines, title="Title", x_label="time [s]", y_label="energy [J]")
    assert Image.open(path).size == plot.SIZE
    for line, color in zip(lines.values(), plot.COLORS, strict=False):
        columns, rows = ink(path, color)
        own_x, own_y = place(x, line, (0, 4), (0, 8))
        gaps = np.hypot(columns[None, :] - own_x[:, None], rows[None, :] - own_y[:, None])
        apart = gaps.min(axis=1)
        crossing = np.abs(lines["up"] - lines["wave"]) < 1.2  # the other line may lie on top
        assert apart[~crossing].max() < 2.5, "a point of the curve has no ink"
        fine = np.linspace(0, 4, 4001)
        fine_x, fine_y = place(fine, np.interp(fine, x, line), (0, 4), (0, 8))
        stray = np.hypot(columns[:, None] - fine_x[None, :], rows[:, None] - fine_y[None, :]).min(axis=1)
        assert stray.max() < 4, "ink far from the curve"


def test_a_plot_of_nothing_much_is_still_a_plot(tmp_path):
    """One point, and a line that does not rise, do not divide by zero; the frame and the words are there."""
    flat = plot.line_plot(
        tmp_path / "flat.png", np.array([0.0, 1.0]), {"a": np.array([5.0, 5.0])}, title="T", x_label="x", y_label="y"
    )
    columns, rows = ink(flat, plot.COLORS[0])
    assert columns.min() <= plot.MARGINS[0] + 3
    assert columns.max() >= plot.SIZE[0] - plot.MARGINS[2] - 3
    assert np.ptp(rows) < 6, "a level line"
    one = plot.line_plot(
        tmp_path / "one.png", np.array([3.0]), {"a": np.array([5.0])}, title="T", x_label="x", y_label="y"
    )
    assert len(ink(one, plot.COLORS[0])[0]) == 0
    picture = np.asarray(Image.open(one).convert("L"))
    assert (picture < 100).sum() > 100, "title, labels and ticks are written"


def test_a_plot_needs_pillow(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "PIL"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(kt.errors.MissingExtraError, match=r"a plot needs pillow.*kinetree\[render\]"):
        plot.line_plot(tmp_path / "a.png", np.zeros(2), {"a": np.zeros(2)}, title="", x_label="", y_label="")


# --- demo and pictures


@pytest.fixture
def tiny(monkeypatch):
    """Make the demo tiny: three links, 50 steps, small pictures."""
    for name, value in {"LINKS": 3, "SECONDS": 0.05, "WIDTH": 64, "HEIGHT": 48}.items():
        monkeypatch.setattr(demo, name, value)


def test_the_demo_leaves_what_it_lists(capsys, tmp_path, tiny):
    """Motion, plot, picture and film are there and readable; energy is kept; the picture shows more than the sky."""
    pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed (extra 'render')")
    code, out, err = run(capsys, "demo", "--out", tmp_path / "new" / "folder", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["links"], found["steps"]) == (3, 50)
    assert found["energy_drift_of_largest_kinetic"] < 1e-6
    files = {os.path.basename(file): file for file in found["files"]}
    assert list(files) == ["pendulum.npz", "energy.png", "pendulum.png", "pendulum.mp4"]
    trajectory = kt.Trajectory.load(files["pendulum.npz"])
    assert trajectory.times[-1] == pytest.approx(0.05)
    assert -trajectory.q[0] == pytest.approx([demo.SWING, demo.CURL, demo.CURL])
    assert Image.open(files["energy.png"]).size == plot.SIZE
    picture = Image.open(files["pendulum.png"])
    assert picture.size == (128, 96)
    assert len(picture.getcolors(128 * 96)) > 100
    with open(files["pendulum.mp4"], "rb") as film:
        assert film.read(12)[4:8] == b"ftyp"


def test_the_demo_in_words_and_on_the_screen(capsys, tmp_path, tiny, monkeypatch):
    """Without --json the files are listed for people; --no-headless opens the film."""
    opened = []
    monkeypatch.setattr(demo.webbrowser, "open", opened.append)
    monkeypatch.setattr(demo, "_draw", lambda out, trajectory: [out / "a.png", out / "a.mp4"])
    code, out, err = run(capsys, "demo", "--out", tmp_path, "--no-headless")
    assert code == 0
    assert "look at:" in err
    assert out.splitlines()[-1].strip() == str(tmp_path / "a.mp4")
    assert "links" in out
    assert opened == [(tmp_path / "a.mp4").resolve().as_uri()]
    (tmp_path / "file").touch()
    code, _, err = run(capsys, "demo", "--out", tmp_path / "file")
    assert code == 2
    assert "is a file: give a folder" in err


def test_flashes_show_the_states_of_the_motion():
    """The picture's model is the first, the last and evenly spread states side by side, each where it was."""
    model = kt.models.chain(2, spherical=True)
    states = [model.random_state(seed)[0] for seed in range(20)]
    trajectory = kt.Trajectory.of_states(model, 0.1 * np.arange(20), states)
    many, q = demo._flashes(trajectory)
    frames = list(dict.fromkeys(int(name.split("/")[0]) for name in many.names))
    assert (frames[0], frames[-1], len(frames)) == (0, 19, demo.FLASHES)
    poses = kt.body_poses(many, q)
    for frame in frames:
        own = [many.body_index(f"{frame}/{name}") for name in model.names]
        assert np.array_equal(poses[own], trajectory.body_poses(frame))


def test_beads_move_as_the_links_do():
    """The model that is drawn has the same poses, and only spheres."""
    model = kt.models.pendulum(3)
    trajectory = kt.Trajectory.of_states(model, [0.0], [[0.3, -0.2, 0.1]])
    beads = demo._as_beads(trajectory)
    assert np.array_equal(beads.body_poses(0), trajectory.body_poses(0))
    assert [shape.radius for body in beads.model.description().bodies for shape in body.shapes] == [demo.BEAD] * 3


def test_simulate_draws_a_picture(capsys, tmp_path, monkeypatch):
    """`--render` draws the last state, after the motion was simulated."""
    render = kt.Trajectory.render
    monkeypatch.setattr(kt.Trajectory, "render", lambda *a, **more: render(*a, width=48, height=32, **more))
    target = tmp_path / "last.png"
    code, out, _ = run(capsys, "simulate", "chain:2", "--seed", "1", "--seconds", "0.02", "--render", target)
    assert code == 0
    assert f"files {target}" in " ".join(out.split())
    assert Image.open(target).size == (48, 32)


def test_a_divergence_without_output_says_how_to_keep_it(capsys):
    """Where nothing was saved, the line says how much there was and what keeps it; nothing is drawn."""
    words = ["simulate", "pendulum:5", "--seed", "1", "--dt", "0.2", "--seconds", "40", "--integrator", "euler"]
    code, out, err = run(capsys, *words)
    assert code == 2
    assert "diverged in the step after" in out
    assert "frames had been recorded; --output keeps them" in err
    assert simulate._kept([], None).startswith("0 frames")


# --- warming up


@pytest.mark.slow_python
def test_every_family_can_be_used(capsys):
    """`warmup` calls each family once and says how long it took and where the cache is."""
    code, out, _ = run(capsys, "warmup", "--json")
    assert code == 0
    found = json.loads(out)
    assert list(found["seconds"]) == [family.name for family in warm.families()]
    assert found["total"] == pytest.approx(sum(found["seconds"].values()))
    folder = _jit.cache_folder()
    assert found["cache"] == (None if folder is None else str(folder))


def test_warming_up_in_words(capsys, monkeypatch):
    monkeypatch.setattr(warm, "warm_up", lambda: {"dynamics": 1.25})
    monkeypatch.setattr(_jit, "cache_folder", lambda: None)
    code, out, _ = run(capsys, "warmup")
    assert code == 0
    assert "dynamics  1.25 s" in out
    assert "no folder can be written to; see doctor" in out


def test_only_cold_families_are_compiled(monkeypatch):
    """A family is cold until its kernel is in the cache; as plain Python it never is."""
    used = []
    families = tuple(warm.Family(name, lambda name=name: used.append(name), name) for name in ("a", "b"))
    monkeypatch.setattr(warm, "families", lambda: families)
    monkeypatch.setattr(warm, "is_cached", lambda sign: sign == "a")
    monkeypatch.setattr(warm, "ENABLED", True)
    assert [warm.is_cold(family) for family in families] == [False, True]
    assert list(warm.warm_up(only_cold=True)) == used == ["b"]
    assert list(warm.warm_up(["a"])) == ["a"]
    assert warm.warm_up(["a"], only_cold=True) == {}
    monkeypatch.setattr(warm, "ENABLED", False)
    assert not warm.is_cold(families[1])


# --- the cache of kernels


def test_the_cache_is_where_the_user_wants_it(monkeypatch, tmp_path):
    """KINETREE_CACHE_DIR, else the user's cache folder; the name of the folder is a hash, the same every time."""
    find = _jit.cache_folder.__wrapped__
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "mine"))
    first = find()
    assert first.parent == tmp_path / "mine"
    assert first.is_dir()
    assert find() == first
    monkeypatch.delenv("KINETREE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert find() == tmp_path / "xdg" / "kinetree" / first.name
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(_jit.tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    assert find().parts[: len(tmp_path.parts) + 1] == (tmp_path / "temporary").parts, "the fall-back"


def test_without_a_folder_of_ones_own_there_is_no_cache(monkeypatch, tmp_path):
    """A place that is a file, and a folder that somebody else made, are not used."""
    find = _jit.cache_folder.__wrapped__
    (tmp_path / "file").touch()
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "file"))
    assert find() is None
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "other"))
    assert find() is not None
    monkeypatch.setattr(_jit.os, "getuid", lambda: 123456789)
    assert find() is None


def test_a_kernel_is_cached_as_its_sources_are(monkeypatch, tmp_path):
    """The file counts that was made from the sources as they are now, those of callees in other modules included."""
    sources = tmp_path / "package" / "kernels"
    sources.mkdir(parents=True)
    (sources / "__init__.py").touch()
    (sources / "far.py").write_text("x = 1\n")
    (sources / "near.py").write_text("from . import far as away\n")
    (sources / "top.py").write_text("from .near import (\n    a,\n    b,\n)\n")
    (sources / "other.py").write_text("import math\n")

    def folder(name):
        _jit._imports.cache_clear()
        _jit.module_folder.cache_clear()
        return _jit.module_folder(sources / f"{name}.py")

    before = {name: folder(name) for name in ("far", "near", "top", "other")}
    assert before["top"].startswith("kernels.top-")
    (sources / "far.py").write_text("x = 2\n")
    changed = {name for name, was in before.items() if folder(name) != was}
    assert changed == {"far", "near", "top"}

    monkeypatch.setattr(_jit, "__file__", str(tmp_path / "package" / "_jit.py"))
    monkeypatch.setattr(_jit, "cache_folder", lambda: tmp_path / "cache")
    assert not _jit.is_cached("kernels.top.run")
    (tmp_path / "cache" / folder("top")).mkdir(parents=True)
    (tmp_path / "cache" / folder("top") / "top.run-12.nbi").touch()
    assert _jit.is_cached("kernels.top.run")
    assert not _jit.is_cached("kernels.nothing.run")
    (sources / "far.py").write_text("x = 3\n")
    folder("top")
    assert not _jit.is_cached("kernels.top.run")


def test_declaring_a_kernel_leaves_the_settings_of_others(monkeypatch, tmp_path):
    """The cache folder is Numba's only while a kernel is declared; without compiling, a kernel is its function."""
    seen = []

    def njit(**options):
        seen.append((_jit.numba.config.CACHE_DIR, options["cache"], options["fastmath"]))
        return lambda function: function

    monkeypatch.setattr(_jit.numba, "njit", njit)
    monkeypatch.setattr(_jit.numba.config, "CACHE_DIR", "theirs")
    monkeypatch.setattr(_jit, "ENABLED", True)
    monkeypatch.setattr(_jit, "cache_folder", lambda: tmp_path)
    for declare in (_jit.kernel, _jit.exact, _jit.parallel, _jit.leaf, _jit.exact_leaf):
        assert declare(max) is max
    assert [folder for folder, _, _ in seen] == [str(tmp_path)] * 5
    assert [fast for _, _, fast in seen] == [_jit.FASTMATH, False, _jit.FASTMATH, _jit.FASTMATH, False]
    assert not {"nnan", "ninf", "fast"} & _jit.FASTMATH, "kernels must see a NaN"
    monkeypatch.setattr(_jit, "cache_folder", lambda: None)
    assert _jit.kernel(max) is max
    assert seen[-1][:2] == ("theirs", False)
    assert _jit.numba.config.CACHE_DIR == "theirs"
    monkeypatch.setattr(_jit, "ENABLED", False)
    assert _jit.kernel(max) is max
    assert len(seen) == 6


# --- doctor


def test_the_doctor_advises(monkeypatch, tmp_path):
    """No cache, an empty one, a failed check and plain Python each get a line of advice; threads can be set."""
    monkeypatch.setattr(doctor, "self_check", lambda: {"what": "", "error": 1.0, "passed": False})
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    monkeypatch.setattr(_jit, "cache_folder", lambda: None)
    report = doctor.examine()
    text = "\n".join(report["advice"])
    assert "set KINETREE_CACHE_DIR" in text
    assert "the self-check failed" in text
    assert "plain Python" in text
    assert report["threads"] == 3
    monkeypatch.setattr(_jit, "cache_folder", lambda: tmp_path)
    assert "no kernel is compiled yet" in "\n".join(doctor.examine()["advice"])
    (tmp_path / "a.nbi").write_bytes(bytes(2_000_000))
    cache = doctor.examine()["cache"]
    assert (cache["files"], cache["MB"]) == (1, 2.0)
    assert doctor._size(tmp_path / "gone") == 0


# --- words and exits


def test_values_as_people_and_json_read_them(capsys):
    """Numbers of NumPy, infinities and lists; what is None is left out."""
    data = {"a": np.float64(1.5), "b": np.array([1.0, np.nan]), "c": (np.inf, True), 3: ValueError("x")}
    assert common.finite(data) == {"a": 1.5, "b": [1.0, None], "c": [None, True], "3": "x"}
    common.print_json(data)
    assert json.loads(capsys.readouterr().out)["b"] == [1.0, None]
    common.print_facts({"first_name": [1, 2.34567, True, None], "gone": None, "b": False})
    assert capsys.readouterr().out == "first name  1, 2.346, yes, \nb           no\n"
    common.print_facts({})


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (OSError(28, "No space left on device", "a.npz"), 2, "a.npz: No space left on device"),
        (OSError("strange"), 2, "strange"),
        (MemoryError("8 GB"), 2, "not enough memory (8 GB): take a smaller model"),
        (kt.errors.ModelError("of two\n lines"), 2, "of two lines"),
        (kt.errors.ConvergenceError("no"), 2, "no"),
    ],
)
def test_errors_are_one_line(capsys, monkeypatch, error, code, says):
    def fail(_):
        raise error

    monkeypatch.setattr("kinetree.cli.inspect.load_model", fail)
    found, _, err = run(capsys, "inspect", "pendulum:3")
    assert found == code
    assert err.startswith(f"kinetree: {says}")
    assert err.count("\n") == 1


def test_an_interrupt_before_a_command_began(capsys, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("kinetree.cli.app.command", interrupted)
    assert run(capsys, "inspect", "pendulum:3")[::2] == (130, "kinetree: interrupted\n")


def test_a_closed_pipe_is_no_fault(monkeypatch, tmp_path):
    """Where the reader is gone, the exit code is 1, nothing is said, and what is still to come goes nowhere."""

    class Closed(io.StringIO):
        def fileno(self):
            return file.fileno()

        def flush(self):
            raise BrokenPipeError

    with (tmp_path / "out").open("w+") as file:
        monkeypatch.setattr(sys, "stdout", Closed())
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        assert main(["inspect", "pendulum:2"]) == 1
        assert sys.stderr.getvalue() == ""
        os.write(file.fileno(), b"late")
    assert (tmp_path / "out").read_text() == ""


def test_debug_succeeds_like_the_command(capsys):
    assert run(capsys, "inspect", "pendulum:2", "--debug")[0] == 0


def test_the_module_is_the_command(capsys, monkeypatch):
    """`python -m kinetree` hands the exit code on."""
    for words, code in ((["--version"], 0), (["inspect", "nothing"], 2)):
        monkeypatch.setattr(sys, "argv", ["kinetree", *words])
        monkeypatch.delitem(sys.modules, "kinetree.__main__", raising=False)
        with pytest.raises(SystemExit) as stop:
            runpy.run_module("kinetree", run_name="__main__")
        assert stop.value.code == code
    assert kt.__version__ in capsys.readouterr().out
