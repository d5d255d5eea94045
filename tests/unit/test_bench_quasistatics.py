"""The table of quasi-statics on bodies so small that they run as plain Python: what the rows say."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree import bench
from kinetree._jit import ENABLED
from kinetree.bench import quasistatics
from kinetree.bench import quasistatics_costs as costs
from kinetree.bench import quasistatics_linkages as linkages
from kinetree.bench import quasistatics_molecule as molecule

pytestmark = pytest.mark.no_bounds  # about rows, not kernels


def test_the_table_has_its_parts():
    """By the name that the command takes."""
    assert bench.TABLES["quasistatics"] == "kinetree.bench.quasistatics"
    labels = [label for label, _ in quasistatics.parts(quick=True, data=None)]
    assert labels == ["bicycle chain", "millipede", "molecule", "bounds", "hand-over", "growth", "building"]


def test_targets_are_the_papers():
    """Speed in every cell as in table 1, at least 350 and 17.5 times at the finest; twice the counts and errors."""
    for table in (molecule.MS, molecule.COUNTS, molecule.ERRORS):
        assert set(table) == {1, 10, 100, 1000}
        assert {len(row) for row in table.values()} == {len(molecule.BITS)}
    assert molecule.SPEEDS == {(1, 19): 350.0, (1000, 19): 17.5}
    assert molecule.COUNTS[1][-1], molecule.COUNTS[1000][-1] == (73, 1086)


@pytest.mark.slow_python
def test_a_small_molecule_has_every_row(monkeypatch):
    """Of 60 atoms: speeds, counts and errors of each cell, that of other pieces, and no targets."""
    monkeypatch.setattr(molecule, "BURSTS", 2)
    monkeypatch.setattr(molecule, "OTHERS", 2)
    rows = molecule.table(quick=True)
    assert len(rows) == 3 * 3 * len(molecule.BITS) + 1 + 2
    assert all(row.ok is None for row in rows)
    errors = [row.measured for row in rows if row.name.startswith("1 forces, ") and row.name.endswith("error")]
    assert errors[-1] < errors[0] < 0.1
    counts = [row.measured for row in rows if row.name.startswith("1 forces, ") and row.name.endswith("joints")]
    assert counts == sorted(counts)


def test_a_tiny_row_of_the_table(monkeypatch):
    """Of 25 atoms with one force: three figures a threshold, and the speed over all joints."""
    monkeypatch.setattr(molecule, "BURSTS", 2)
    rows = molecule.row_of_table(kt.models.molecule(25, branching=0.1), 1, (5, 1), 4)
    assert len(rows) == 3 * len(molecule.BITS) + 1
    assert rows[0].target == pytest.approx(875.1 / 0.6)
    assert rows[12].target == 350
    assert rows[13].target == 2 * 73
    assert rows[-1].name == "1 forces, 2^-19: over ABA"
    assert all(row.measured >= 0 for row in rows)


def test_a_tiny_millipede(monkeypatch):
    """The sweep gives times and counts for each threshold, and the time of all joints."""
    monkeypatch.setattr(linkages, "BURSTS", 2)
    found, full = linkages.sweep(kt.models.millipede(2, 2, 4), (1, 30), 4, 1.0)
    assert [item.bits for item in found] == [1, 30]
    assert found[0].joints <= found[1].joints
    assert full > 0


def test_forces_are_drawn_on_consecutive_links():
    """The same for the same seed, of strengths that differ much."""
    model = kt.models.molecule(60, branching=0.05)
    drawn = molecule.draw(model, 10, 20, 3)
    assert [int(model.body_links[body]) for body, _ in drawn] == list(range(10, 30))
    sizes = [np.linalg.norm(force) for _, force in drawn]
    assert max(sizes) > 30 * min(sizes)
    np.testing.assert_array_equal(molecule.draw(model, 10, 20, 3)[5][1], drawn[5][1])


def test_a_bicycle_chain_is_pulled(monkeypatch):
    """Finer thresholds come closer to all joints."""
    monkeypatch.setattr(linkages, "LINKS", 30 if ENABLED else 5)
    rows = linkages.chain_rows(quick=True) if ENABLED else None
    if rows is None:
        found = linkages.pulled(6)
        assert [item.bits for item in found] == [None, *linkages.CHAIN_BITS]
        return
    assert len(rows) == 2 + len(linkages.CHAIN_BITS)
    assert rows[-1].ok
    assert rows[0].measured > 0


@pytest.mark.slow_python
def test_a_small_millipede_has_every_row(monkeypatch):
    """One row a threshold, the slowest of them, and where the tree alone would be slower."""
    monkeypatch.setattr(linkages, "STEPS", 400)
    monkeypatch.setattr(linkages, "BURSTS", 2)
    rows = linkages.millipede_rows(quick=True)
    assert len(rows) == len(linkages.BITS) + 3
    assert "without a hand-over" in rows[-2].detail
    model = kt.models.millipede(4, 3, 6)
    assert linkages.pushed(model, kt.Full())._applied[0].body == model.body_index("leg2_2")


def test_bounds_and_costs_of_small_bodies(monkeypatch):
    """All bounds hold; growth and memory are rows with targets."""
    monkeypatch.setattr(costs, "SMALL", 20 if ENABLED else 5)
    monkeypatch.setattr(costs, "CASES", 10)
    if not ENABLED:
        monkeypatch.setattr(costs, "range", lambda n: range(1), raising=False)
    rows = costs.bounds(quick=not ENABLED)
    assert len(rows) == 5
    assert all(row.ok for row in rows), rows
    assert costs._error("relative", np.array([3.0, 4.0, 0.0]), np.array([3.0, 4.0, 5.0])) == pytest.approx(0.5**0.5)
    assert costs._error("absolute_joint", np.array([-3.0, 0.0]), np.array([-3.0, 9.0])) == 3.0
    assert (costs._ratio(0, 0), costs._ratio(1, 0), costs._ratio(1, 2)) == (0.0, np.inf, 0.5)


def test_growth_building_and_hand_over_are_measured(monkeypatch):
    """On bodies of a few hundred joints; what they print has units and targets."""
    monkeypatch.setattr(costs, "SIZES", (100, 200, 400) if ENABLED else (10, 20, 40))
    monkeypatch.setattr(costs, "PLACES", 2)
    monkeypatch.setattr(costs, "REPEAT", 20 if ENABLED else 1)
    rows = costs.growth(quick=True)
    assert [row.unit for row in rows] == ["", "", "us"]
    assert "log2 N" in rows[0].detail
    monkeypatch.setattr(costs, "_against_all", lambda model, forces, error: 1.1)
    rows = costs.hand_over(quick=True)
    assert len(rows) == 3
    assert all(row.ok for row in rows)
    monkeypatch.undo()
    monkeypatch.setattr(costs, "LEAST", 50)
    monkeypatch.setattr(costs, "SECONDS_EACH", 0.01)
    assert costs._against_all(kt.models.chain(5), 1, 0.1) > 0
    monkeypatch.setattr(costs, "BIG", 50_000 if ENABLED else 300)
    seconds, memory, nodes = costs.building(quick=True)
    assert seconds.measured > 0
    assert nodes.ok
    if ENABLED:
        assert memory.ok, memory
