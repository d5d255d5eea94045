"""The table of crowds on a few figures: what the rows say, not how quick it is."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree import bench
from kinetree.bench import crowd

pytestmark = [pytest.mark.no_bounds, pytest.mark.slow_python]


@pytest.fixture(autouse=True)
def _few_steps(monkeypatch):
    monkeypatch.setattr(crowd, "EVERY", 4)


def test_every_part_has_its_rows():
    """Speed on one thread and on all, errors near and far, budgets held, and what looking costs."""
    rows = crowd.speed(3, quick=True) + crowd.errors(3, quick=True)
    targets = [row for row in rows if row.target is not None]
    assert {row.target for row in targets} == {5.0}
    assert "times real time" in targets[0].detail
    assert "60 frames a second in 4 steps each" in targets[0].detail
    assert all(np.isfinite(row.measured) for row in rows)
    names = [label for label, _ in crowd.parts(quick=True, data=None)]
    assert len(names) == len(set(names)) == 4
    assert bench.TABLES["crowd"] == "kinetree.bench.crowd"


def test_budgets_of_time_have_two_sides():
    """Not above the budget by more than a fifth, nor far below: the budget is used."""
    rows = crowd.governed(2, quick=True)
    assert [row.sense for row in rows] == ["at most", "at least"] * 2
    assert [row.target for row in rows] == [1.2, 0.8] * 2


def test_the_posture_error_forgets_where_a_figure_is():
    """A figure that is moved as a whole has no error; one whose parts move has."""
    model = kt.models.crowd(2, seed=0)
    where = kt.body_poses(model, model.neutral())[:, :3, 3]
    moved = where.copy()
    moved[: model.nbodies // 2] += (1, 2, 3)
    everyone = np.ones(model.nbodies, dtype=bool)
    assert crowd.shape_error(model, moved, where, everyone) < 1e-12
    moved[3] += (0, 0, 1)
    assert crowd.shape_error(model, moved, where, everyone) > 1e-3


def test_the_camera_goes_round():
    """It starts where the still one looks from, looks at the centre, and stands opposite after half a turn."""
    model = kt.models.crowd(4, seed=0)
    look = crowd.moving_eye(model, 10.0)
    start, half = np.array(look(0.0).eye), np.array(look(5.0).eye)
    np.testing.assert_allclose(start[:2], -half[:2], atol=1e-12)
    assert start[0] < 0
    assert crowd.still_eye(model).eye[0] < -crowd.edge(model)
