"""The table of the soft world: its rows on small scenes, and what it says where the other engine is missing."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree import bench
from kinetree.bench import soft, soft_accuracy, soft_speed, soft_stability
from kinetree.bench.peers import ode

pytestmark = [pytest.mark.slow_python, pytest.mark.no_bounds]


def test_the_table_has_its_parts():
    """Found by name; a part for each demand."""
    assert bench.TABLES["soft"] == "kinetree.bench.soft"
    assert len(soft.parts(quick=True, data=None)) == 8


def test_without_the_other_engine_rows_say_so(monkeypatch):
    """Rows that need it are not measured, and tell what to install; the others stand."""
    monkeypatch.setattr(ode, "_load", lambda: None)
    monkeypatch.setattr(soft_speed, "FRAMES", 4)
    rows = soft_accuracy.same_steps(quick=True) + soft_accuracy.free_top(quick=True) + soft_speed.speed(quick=True)
    missing = [row for row in rows if row.measured is None]
    assert len(missing) == 8 + 1 + 3
    assert all("libode8" in row.detail for row in missing)
    assert all(row.ok is not False for row in rows)


@pytest.mark.skipif(not ode.is_there(), reason="no libode (Debian: apt install libode8)")
def test_agreement_is_measured(monkeypatch):
    """A short run of one scene meets its targets."""
    monkeypatch.setattr(soft_accuracy, "SCENES", soft_accuracy.SCENES[:1])
    rows = soft_accuracy.same_steps(quick=True)
    assert [row.ok for row in rows] == [True, True]


def test_random_scenes_are_counted(monkeypatch):
    """Templates of every kind, scattered; none is lost."""
    monkeypatch.setattr(soft_stability, "SCENES", (40, 10))
    (row,) = soft_stability.random_scenes(quick=True, steps=5)
    assert row.measured == 0, row.detail


def test_claims_and_springs_meet_their_targets():
    """Closed formula, energy, loads and helpers."""
    assert all(row.ok is not False for row in soft_stability.springs(quick=True) + soft_stability.claims(quick=True))


def test_growth_is_fitted(monkeypatch):
    """An exponent for chains and one for trees."""
    monkeypatch.setattr(soft_speed, "SIZES", (8, 16))
    rows = soft_speed.growth(quick=True)
    assert len(rows) == 2
    assert all(np.isfinite(row.measured) for row in rows)
