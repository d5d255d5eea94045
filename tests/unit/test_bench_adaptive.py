"""The table of adaptive dynamics on bodies so small that they run as plain Python: what the rows say."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import kinetree as kt
from kinetree import bench
from kinetree.bench import adaptive, core
from kinetree.bench import adaptive_quality as quality
from kinetree.bench import adaptive_speed as speed

pytestmark = pytest.mark.no_bounds  # about rows, not kernels


def paper_times():
    """Return times that have just the paper's ratios, with our own algorithm five times quicker than DCA."""
    times = {("pinocchio", 1): 1e-3}
    for forces, row in speed.PAPER.items():
        times["dca", forces] = 1e-4 * row[-1]
        times["aba", forces] = 2e-5 * row[-1]
        times |= {(b, forces): 1e-4 * t for b, t in zip(speed.BUDGETS, row[:-1], strict=True)}
    return times


def test_cells_ask_for_half_as_much_again_as_the_paper():
    """The paper's own times meet the target in the first cell only; two thirds of them meet all."""
    rows = speed.cells(paper_times())
    assert len(rows) == 6 * 6 + 1
    assert [row.name for row in rows if row.ok] == ["1 of 300 joints, 1 forces: over DCA", "our DCA against our ABA"]
    assert rows[0].target == 294
    assert rows[1].target == pytest.approx(1.5 * 5.89 / 0.51)
    assert rows[0].detail.endswith("the paper's 294 times")
    quick = {key: t * (0.66 if isinstance(key[0], int) else 1) for key, t in paper_times().items()}
    assert all(row.ok for row in speed.cells(quick))
    slow = quick | {("dca", 1): 7 * quick["aba", 1]}
    assert [row.ok for row in speed.cells(slow)[-1:]] == [False], "a slow yardstick is found out"


def test_other_algorithms_are_rows_too():
    """Over our ABA in two cells, in the slowest, and listed; over Pinocchio where it is installed."""
    rows = {row.name: row for row in speed.over_others(paper_times(), None)}
    assert rows["1 of 300 joints, 1 forces: over ABA"].measured == pytest.approx(5.89 / 0.02 / 5)
    assert rows["50 of 300 joints, 1 forces: over ABA"].target == 3
    slowest = rows["the slowest cell: over ABA"]
    assert slowest.measured == pytest.approx(6.04 / 6.31 / 5)
    assert "250 joints, 250 forces" in slowest.detail
    assert rows["1 of 300 joints, 1 forces: over Pinocchio's ABA"].measured == pytest.approx(500)
    last = speed.over_others(paper_times(), "not installed: it is not")[-1]
    assert (last.measured, last.detail) == (None, "not installed: it is not")


def test_a_small_table_has_every_row(monkeypatch):
    """All contestants of a pendulum of eight links take their turns; every cell is there."""
    monkeypatch.setattr(speed, "LINKS", 8)
    monkeypatch.setattr(speed, "BUDGETS", (1, 5))
    monkeypatch.setattr(speed, "PAPER", {1: (0.1, 0.5, 1.0), 3: (0.2, 0.6, 1.0)})
    monkeypatch.setattr(speed, "OVER_ABA", {(1, 1): 2.0})
    monkeypatch.setattr(speed, "interleave", lambda bursts, rounds, do=speed.interleave: do(bursts, 1))
    rows = {row.name: row for row in speed.table(quick=True)}
    assert len(rows) == 4 + 1 + 1 + 1 + 2 + 1 + 1
    assert all(row.measured is None or row.measured >= 0 for row in rows.values())
    assert rows["5 of 8 joints, 3 forces: over DCA"].target == pytest.approx(1.5 / 0.6)
    assert rows["all 8 joints: apart from ABA"].measured == 0


@pytest.mark.parametrize("method", [kt.Full(), kt.Full("dca"), kt.Adaptive(joints=2)])
def test_a_burst_begins_in_the_same_state(method):
    """What is timed is the same physical situation each time: as many joints, close to the same bend."""
    burst = speed.pushed(kt.models.pendulum(4), 2, method)
    cell = inspect.getclosurevars(burst.ready).nonlocals
    simulation, start = cell["simulation"], cell["q"]
    states = []
    for _ in range(2):
        burst.ready()
        states.append(simulation.q.copy())
        burst.go()
    np.testing.assert_allclose(states[0], states[1], atol=1e-12)
    assert np.abs(states[0] - start).max() < 0.05
    assert simulation.stats["steps"] == 2 * (2 * speed.EVERY + burst.steps)
    assert burst.steps == (50 * speed.EVERY if isinstance(method, kt.Adaptive) else speed.SHORT)
    assert len(simulation._applied) == 2


def test_turns_are_taken_and_the_best_counts(monkeypatch):
    """Each round prepares everyone once; the shortest of all bursts is what a step is reckoned from."""
    clock = iter(np.cumsum([0.0, 5.0] * 3 + [0.0, 2.0] * 3).tolist())
    monkeypatch.setattr(speed, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(speed, "TURNS", 3)
    heard = []
    burst = speed.Burst(lambda: heard.append("ready"), lambda: heard.append("go"), 4)
    assert speed.interleave({"a": burst}, 2) == {"a": 0.5}
    assert heard == ["ready", "go", "go", "go"] * 2


def test_growth_is_fitted(monkeypatch):
    """A cost that does not know the size has exponent 0, one that does has 1 and misses; memory likewise."""
    monkeypatch.setattr(speed, "pushed", lambda model, forces, method: None)
    monkeypatch.setattr(speed, "pendulum", lambda n: n)
    for power, kept, verdicts in ((0.0, 1.0, [True, True, None]), (1.0, 1.2, [False, False, None])):
        monkeypatch.setattr(speed, "interleave", lambda bursts, rounds, p=power: {n: 1e-6 * n**p for n in bursts})
        monkeypatch.setattr(speed, "memory", lambda n, method, p=kept: int(1e4 * n**p))
        rows = speed.growth(quick=False)
        assert [row.ok for row in rows] == verdicts
        assert rows[0].measured == pytest.approx(power, abs=1e-9)
        assert rows[1].measured == pytest.approx(kept, abs=1e-3)


def test_memory_is_that_of_the_model_and_its_simulation():
    """Rows of nodes alone are more than five kilobytes a joint."""
    kept = speed.memory(6, kt.Adaptive(joints=2))
    assert 6 * 5_000 < kept < 1_000_000


# --- quality


def test_breadth_first_joints_are_the_top_of_the_assembly_tree():
    """The root's joint comes first, then the middle, then the quarters; the welded body keeps just these."""
    model = kt.models.pendulum(16)
    chosen = quality.breadth_first(model, 4)
    assert chosen[:2] == [0, 8]
    assert set(chosen[2:]) == {4, 12}
    small = quality.welded(model, chosen)
    assert small.njoints == 4
    assert small.names == model.names
    q = np.zeros(16)
    q[sorted(chosen)] = own = np.array([0.1, -0.2, 0.3, 0.4])
    np.testing.assert_allclose(kt.body_poses(small, own), kt.body_poses(model, q), atol=1e-12)


def test_equilibria_are_compared(monkeypatch):
    """A short run on few links: all three ends are configurations of the whole pendulum; the full is its own truth."""
    monkeypatch.setattr(quality, "CHUNK", 15)
    monkeypatch.setattr(quality, "PATIENCE", 2)
    rest = quality.figure_6(2, links=4, alive=2, sought=3)
    assert rest.full.shape == rest.fixed.shape == rest.adaptive.shape == (4,)
    assert np.count_nonzero(rest.fixed) == 2
    assert rest.moved > 0
    assert rest.fixed_error > 0
    assert len(rest.active) <= 2
    given = quality.Rest(rest.full, rest.fixed, rest.adaptive, 0.08, 0.02, 1.0, ())
    monkeypatch.setattr(quality, "figure_6", lambda link, sought=0: given)
    rows = quality.rests(quick=False)
    assert [row.ok for row in rows] == [True] + [None] * 6, "the figure's spring has a target, the others tell"
    assert rows[0].measured == pytest.approx(4)
    assert "20 mm off with 5 joints chosen adaptively, 80 mm" in rows[0].detail


def test_a_pendulum_at_rest_is_not_stepped_on(monkeypatch):
    """Stepping to an equilibrium ends where nothing moves."""
    monkeypatch.setattr(quality, "CHUNK", 3)
    monkeypatch.setattr(quality, "STIFFNESS", 0.0)
    assert quality.equilibrium(kt.models.pendulum(2), 1, kt.Full()).stats["steps"] == 3


@pytest.mark.parametrize("number", range(len(quality.CASES)))
def test_cases_are_what_they_say(number):
    """Every case can be built, and its state belongs to its body."""
    case = quality.CASES[number]
    model = case.model()
    q, v = case.state(model, np.random.default_rng(0))
    kt.Simulation(model, q, v, gravity=case.gravity, forces=case.forces)


def test_a_curve_falls_to_the_full_motion(monkeypatch):
    """With all joints the error is nothing; with one it is not, and the budgets are whole numbers in order."""
    monkeypatch.setattr(quality, "SAMPLES", 2)
    case = quality.Case("small", lambda: kt.models.pendulum(5), quality._bent, pushes=1, seconds=0.02)
    found = quality.curve(case, seeds=1, budgets=(0.2, 0.6, 1.0))
    assert found.budgets == (1, 3, 5)
    assert found.errors[0] > found.errors[-1] == 0
    assert (found.costs > 0).all()


def test_a_rise_of_the_error_is_found_out(monkeypatch):
    """Noise below a twentieth of the largest error is let pass, more is not."""
    errors = {"small": [1.0, 0.5, 0.52], "large": [1.0, 0.4, 0.5]}

    def curve(case, *, seeds):
        return quality.Curve(case.name, 4, (1, 2, 3), np.array(errors[case.name]), np.ones(3))

    monkeypatch.setattr(quality, "curve", curve)
    monkeypatch.setattr(quality, "CASES", [quality.Case(name, None, None) for name in errors])
    rows = quality.curves(quick=True)
    assert [row.ok for row in rows] == [True, None, False, None]
    assert [row.measured for row in rows] == pytest.approx([0.02, 0.5, 0.1, 0.4])


def test_frames_of_the_figure_start_alike(monkeypatch):
    """Every row of frames begins with the pendulum on one side; fewer joints are further off."""
    swings = quality.figure_5(6, (6, 1), seconds=0.05, frames=3)
    assert [swing.joints for swing in swings] == [6, 1]
    for swing in swings:
        assert swing.q.shape == (3, 6)
        np.testing.assert_array_equal(swing.q[0], [1, 0, 0, 0, 0, 0])
        assert swing.seconds_per_step > 0
    assert np.abs(swings[0].q[-1] - swings[1].q[-1]).max() > 0
    monkeypatch.setattr(quality, "PENDULUM", 6)
    monkeypatch.setattr(quality, "figure_5", lambda seconds: swings)
    monkeypatch.setattr(quality, "PAPER_MS", (5.0, 1.0))
    first, second = quality.figure_5_rows(quick=True)
    assert "links are 0 m off" in first.detail
    assert second.name == "a step with 1 of 6 joints"


def test_the_adaptive_table_runs_every_part(monkeypatch):
    """Each part passes on `quick`, and its rows come in order."""
    functions = [
        (speed, "table"), (speed, "growth"), (quality, "rests"), (quality, "curves"), (quality, "figure_5_rows"),
    ]  # fmt: skip
    heard = []
    for module, name in functions:

        def part(*, quick, name=name):
            heard.append(quick)
            return [core.at_most("g", name, 1.0, 2.0)]

        monkeypatch.setattr(module, name, part)
    report = bench.run("adaptive", quick=True)
    assert [row.name for row in report.rows] == [name for _, name in functions]
    assert heard == [True] * 5
    assert len(adaptive.parts(quick=False, data=None)) == 5
