"""Complementarity: what the three solvers find satisfies its conditions, and what has no solution is refused."""

import numpy as np
import pytest
from scipy.optimize import linprog

import kinetree as kt
from kinetree._jit import ENABLED
from kinetree.constraints.lcp import Friction, three_conditions
from kinetree.errors import ArgumentError, ConvergenceError
from oracle.constraints import violation

METHODS = ("pgs", "dantzig", "lemke")


def random_problem(rng):
    """Return A, b, lo, hi with a known solution; A is often singular, and bounds are met exactly (degenerate)."""
    n = int(rng.integers(1, 16))
    G = rng.normal(size=(n, int(rng.integers(1, n + 3))))
    if rng.random() < 0.4:
        G[rng.integers(n)] = G[rng.integers(n)]  # a row twice
    A = G @ G.T
    kind = rng.integers(5, size=n)  # free, at the lower bound, between, at the upper one, at a bound with w = 0
    lo = np.where(kind == 0, -np.inf, -rng.random(n) * (rng.random(n) < 0.5))
    hi = np.where(
        (kind == 3) | ((rng.random(n) < 0.3) & (kind > 0)), np.where(kind == 0, 0.0, lo) + rng.random(n), np.inf
    )
    x = np.where(kind == 0, rng.normal(size=n), lo)
    inside = np.where(kind == 0, 0.0, lo) + np.minimum(1.0, hi - lo) * rng.random(n)
    x = np.where(kind == 2, inside, x)
    x = np.where(kind == 3, hi, x)
    w = np.where(kind == 1, rng.random(n), 0.0) - np.where(kind == 3, rng.random(n), 0.0)
    return A, w - A @ x, lo, hi


@pytest.mark.parametrize("method", METHODS)
def test_problems_with_a_solution_are_solved(method):
    """1000 random, degenerate and redundant problems; the pivoting methods to 1e-9, PGS within its tolerance."""
    rng = np.random.default_rng(5)
    count = 1000 if method != "pgs" else 300
    for k in range(count if ENABLED else 30):
        A, b, lo, hi = random_problem(rng)
        found = kt.lcp.solve(A, b, lo, hi, method=method, iterations=200000, tolerance=1e-9)
        scale = max(1.0, float(np.abs(A).max()))
        left = violation(A, b, lo, hi, found.x)
        if method == "pgs" and not found.converged:
            assert found.residual < 1e-3 * scale, (k, found.residual)  # singular, and slow: honest about it
            continue
        assert found.converged, (k, method, found.residual, found.message)
        assert left <= 1e-9 * scale, (k, method, left)


@pytest.mark.parametrize("method", METHODS)
def test_contradictions_are_refused(method):
    """Whether w >= 0, x >= 0 can be at all is told by a linear programme, independently."""
    rng = np.random.default_rng(11)
    refused = 0
    for _ in range(200 if ENABLED else 10):
        n = int(rng.integers(2, 8))
        G = rng.normal(size=(n, 1))
        A, b = G @ G.T, rng.normal(size=n)
        found = kt.lcp.solve(A, b, method=method, iterations=2000, tolerance=1e-8)
        can_be = linprog(np.zeros(n), A_ub=-A, b_ub=b, bounds=(0, None)).status == 0
        assert found.converged == can_be, (found, can_be)
        refused += not can_be
    assert refused > 0
    with pytest.raises(ConvergenceError, match="residual"):
        kt.lcp.solve([[0.0]], [-1.0], method=method, strict=True)


def test_bilateral_contradiction_has_the_nearest_answer():
    """Two rows that want different accelerations of one freedom: PGS gives a best effort and says so."""
    found = kt.lcp.solve(np.ones((2, 2)), [1.0, -1.0], -np.inf, np.inf, method="pgs", iterations=50)
    assert not found.converged
    assert np.isfinite(found.x).all()
    for method in ("dantzig", "lemke"):
        assert not kt.lcp.solve(np.ones((2, 2)), [1.0, -1.0], -np.inf, np.inf, method=method).converged


def test_warm_start_and_early_stop():
    """A start at the solution takes no sweep; too few sweeps report the residual that is left."""
    rng = np.random.default_rng(0)
    G = rng.normal(size=(12, 12))
    A, b = G @ G.T + np.eye(12), rng.normal(size=12)
    exact = kt.lcp.solve(A, b, method="dantzig")
    warm = kt.lcp.solve(A, b, start=exact.x, tolerance=1e-9)
    assert warm.iterations == 0
    early = kt.lcp.solve(A, b, iterations=2, tolerance=1e-12)
    assert not early.converged
    assert early.residual > 0


def test_friction_as_three_conditions():
    """A block on a slope: equations (19) to (21) by Lemke and a cone by PGS give the same force."""
    for push, mu in ((2.0, 0.5), (20.0, 0.5), (2.0, 0.0)):
        A, b = np.diag([1.0, 1.0]), np.array([-9.81, -push])
        M, q = three_conditions(A, b, [(0, 1, mu)])
        f = kt.lcp.solve(M, q, method="lemke").x
        assert f[0] == pytest.approx(9.81, abs=1e-9)
        assert f[1] == pytest.approx(min(push, mu * 9.81), abs=1e-9)
        for method in METHODS:
            found = kt.lcp.solve(A, b, [0, -np.inf], np.inf, method=method, friction=[Friction(0, (1,), mu)])
            assert found.converged
            assert found.x == pytest.approx(f[:2], abs=1e-8)


def test_cone_and_pyramid():
    """Pushed along the diagonal, a cone holds with mu f_n, a pyramid with sqrt(2) times that."""
    A, b = np.eye(3), np.array([-10.0, -30.0, -30.0])
    lo = [0, -np.inf, -np.inf]
    cone = kt.lcp.solve(A, b, lo, np.inf, friction=[Friction(0, (1, 2), 0.5)])
    assert np.hypot(*cone.x[1:]) == pytest.approx(5.0)
    assert cone.x[1] == pytest.approx(cone.x[2])
    for method in METHODS:
        pyramid = kt.lcp.solve(A, b, lo, np.inf, method=method, friction=[Friction(0, (1, 2), 0.5, pyramid=True)])
        assert pyramid.x == pytest.approx([10.0, 5.0, 5.0])
    with pytest.raises(ArgumentError, match="cone"):
        kt.lcp.solve(A, b, lo, np.inf, method="lemke", friction=[Friction(0, (1, 2), 0.5)])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[1.0]], [np.nan]), "finite"),
        (([[1.0]], [[1.0]]), "vector"),
        (([[1.0]], [1.0], 2.0, 1.0), "between"),
        (([[1.0]], [1.0], np.nan), "NaN"),
        (([[1.0, 2.0], [0.0, 1.0]], [1.0, 1.0]), "symmetric"),
    ],
)
def test_bad_problems_are_named(arguments, words):
    """Errors say what is wrong with which argument."""
    with pytest.raises(ArgumentError, match=words):
        kt.lcp.solve(*arguments, method="dantzig")
    with pytest.raises(ArgumentError, match="method"):
        kt.lcp.solve([[1.0]], [1.0], method="magic")
    with pytest.raises(ArgumentError, match="friction"):
        kt.lcp.solve(np.eye(2), [1.0, 1.0], friction=[Friction(0, (1,), -1.0)])
