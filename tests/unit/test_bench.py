"""The tables of measurements: rows and their verdicts, timing, fits, and rows of what is absent."""

from __future__ import annotations

import json
import math
import time

import numpy as np
import pytest

import kinetree as kt
from kinetree import bench
from kinetree.bench import accuracy, core, growth, motion, speed, table
from kinetree.bench.bodies import KINDS, ROBOTS, random_tree
from kinetree.cli.common import finite


def test_a_row_knows_whether_it_meets_its_target():
    """Both senses, on either side and at the target; NaN never meets one."""
    assert core.at_most("g", "n", 1.0, 1.0).ok is True
    assert core.at_most("g", "n", 1.1, 1.0).ok is False
    assert core.at_least("g", "n", 1.0, 1.0).ok is True
    assert core.at_least("g", "n", 0.9, 1.0).ok is False
    assert core.at_most("g", "n", math.nan, 1.0).ok is False
    assert core.at_least("g", "n", math.nan, 1.0).ok is False
    assert core.information("g", "n", 3.0).ok is None
    assert core.not_measured("g", "n", "not installed").ok is None


def test_a_report_counts_and_can_be_written_as_json():
    """The verdict names what is missed, and the JSON has it all."""
    rows = [
        core.at_most("g", "good", 1.0, 2.0),
        core.at_most("g", "bad", 3.0, 2.0, "s"),
        core.not_measured("g", "absent", "not installed"),
    ]
    report = core.Report("full", False, rows)
    assert report.verdict() == "1 of 2 targets met; missed: bad; 1 rows not measured here"
    data = json.loads(json.dumps(finite(report.as_dict()), allow_nan=False))
    assert (data["met"], data["missed"], data["skipped"]) == (1, 1, 1)
    assert [row["ok"] for row in data["rows"]] == [True, False, None]
    assert data["machine"]["cores"] >= 1
    assert data["machine"]["versions"]["numpy"] == np.__version__


def test_the_table_shows_verdicts(capsys):
    """A missed target is marked, an absent figure is too, and brackets in a name are not taken for markup."""
    rows = [core.at_most("g", "bad [b]", 3.0, 2.0, "s"), core.not_measured("g", "absent", "why not")]
    table.print_report(core.Report("full", True, rows))
    shown = capsys.readouterr().out
    for text in ("MISSED", "not measured", "bad [b]", "0 of 1 targets met"):
        assert text in shown, shown


def test_side_by_side_tells_slow_from_fast():
    """The best time of a function that sleeps is what it sleeps."""
    best = core.side_by_side({"slow": lambda: time.sleep(0.004), "fast": lambda: None}, seconds=0.02)
    assert 0.004 <= best["slow"] < 0.1
    assert best["fast"] < best["slow"]


def test_exponent_is_that_of_the_law():
    """A power law gives its power."""
    sizes = np.array([10.0, 100.0, 1000.0])
    assert core.exponent(sizes, 3e-7 * sizes**1.5) == pytest.approx(1.5, abs=1e-12)


def test_relative_error_is_relative_to_the_largest_entry():
    assert core.relative_error([1.0, 100.0], [0.0, 100.0]) == pytest.approx(0.01)
    assert core.relative_error([], []) == 0.0


def test_unknown_table_and_folder_are_refused_by_name(tmp_path, monkeypatch):
    with pytest.raises(kt.errors.ArgumentError, match="full"):
        bench.run("fuller")
    with pytest.raises(kt.errors.ArgumentError, match="nowhere"):
        bench.data_folder(tmp_path / "nowhere")
    monkeypatch.setenv("KINETREE_TEST_DATA", str(tmp_path))
    assert bench.data_folder() == tmp_path


def test_parts_run_in_order_and_report_progress():
    """Every part is announced, and its rows are kept in order."""
    heard = []
    parts = [(name, lambda name=name: [core.information("g", name, 1.0)]) for name in ("a", "b")]
    report = core.run_parts("t", parts, quick=True, progress=lambda fraction, label: heard.append((fraction, label)))
    assert heard == [(0.0, "a"), (0.5, "b"), (1.0, "done")]
    assert [row.name for row in report.rows] == ["a", "b"]


def test_an_absent_file_is_a_row_that_says_so(tmp_path):
    for row in accuracy.files(tmp_path, quick=True):
        assert row.measured is None
        assert "absent" in row.detail
    assert len(accuracy.files(None, quick=True)) == 2 * len(ROBOTS)


def test_an_absent_engine_is_a_row_that_says_so():
    def make():
        raise kt.errors.missing_extra("Drake", "bench", "comparing with Drake")

    row = accuracy.compare("chain", kt.models.chain(2), make, how="")
    assert row.measured is None
    assert row.ok is None
    assert "not installed" in row.detail


def test_random_trees_have_every_joint():
    model = random_tree(0, 16)
    assert {model.joint(body).name for body in range(model.nbodies)} == set(KINDS)


def test_a_wrong_engine_misses_the_target():
    """The comparison can fail: a twin of another model does not agree."""

    class Wrong:
        def __init__(self, model):
            self.model = model

        def knows(self, body):
            return True

        def __getattr__(self, name):
            return lambda *arguments: getattr(kt, name)(self.model, *arguments)

    ours, other = kt.models.pendulum(3), kt.models.pendulum(3, mass=0.11)
    assert accuracy.compare("same", ours, lambda: Wrong(ours), how="").ok is True
    assert accuracy.compare("other", ours, lambda: Wrong(other), how="").ok is False


def test_precision_does_not_depend_on_place_or_length():
    for row in accuracy.place_and_length(quick=True):
        assert row.ok, row


@pytest.mark.slow_python
@pytest.mark.no_bounds
def test_orders_energy_and_momentum_meet_their_targets():
    for row in (*motion.orders(quick=True), *motion.energy(quick=True), *motion.momentum(quick=True)):
        assert row.ok is not False, row


@pytest.mark.slow_python
@pytest.mark.no_bounds
def test_memory_and_growth_have_all_their_rows():
    """Verdicts on time are not asked for here: other tests run beside this one."""
    rows = {row.name: row for row in growth.memory(quick=True)}
    kept = rows["model and scratch, a joint"]
    assert kept.ok, kept
    assert kept.measured > 0.9, "a joint's row of scratch and constants alone are 0.9 kB"


@pytest.mark.slow_python
@pytest.mark.no_bounds
def test_a_simulated_second_ends_where_mujoco_ends():
    pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install 'kinetree[io]'")
    (row,) = speed.simulated_second(quick=True)
    assert row.measured > 0
    apart = float(row.detail.split("angles end ")[1].split()[0])
    assert apart < 1e-6, row.detail
