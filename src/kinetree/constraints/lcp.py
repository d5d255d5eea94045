"""Linear complementarity problems with bounds and friction: `kinetree.lcp.solve`.

Find x with lo <= x <= hi and w = A x + b such that w >= 0 where x = lo, w <= 0 where x = hi, and w = 0 in between. A is
a constraint matrix (symmetric, positive semidefinite), x the constraint forces, w the relative accelerations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..arguments import as_count, as_finite, as_number
from ..errors import ArgumentError, ConvergenceError
from ..kernels import lcp as _lcp
from ..kernels.lemke import CYCLED, RAY, lemke
from ..typing import Array, ArrayLike

__all__ = ["Friction", "Solution", "solve", "three_conditions"]


@dataclass(frozen=True)
class Friction:
    """Coulomb's law for the rows of one contact: |x[tangents]| <= coefficient * x[normal].

    With one tangent the friction has that direction; two are a true cone, or a pyramid if `pyramid`.
    """

    normal: int
    tangents: Sequence[int]
    coefficient: float
    pyramid: bool = False


@dataclass(frozen=True)
class Solution:
    """What `solve` found: forces `x`, accelerations `w = A x + b`, and how far the conditions are violated.

    `residual` is the largest |x - P(x - w/d)| d, in the units of w, where d is the diagonal of A and P projects on the
    bounds. Where `converged` is False, x is the best that was found and `message` says why there is nothing better.
    """

    x: Array
    w: Array
    residual: float
    iterations: int
    converged: bool
    message: str


class _Problem:
    """The checked arrays of a problem, as the kernels take them."""

    def __init__(self, A: Any, b: Any, lo: Any, hi: Any, friction: Sequence[Friction]) -> None:
        rows = np.array(b, dtype=float) if np.ndim(b) == 1 else None
        if rows is None:
            raise ArgumentError(f"b has the shape {np.shape(b)}: it must be a vector")
        n = self.n = len(rows)
        self.b = as_finite(rows, (n,), "b")
        self.A = np.ascontiguousarray(as_finite(A, (n, n), "A"))
        self.lo, self.hi = _bound(lo, n, "lo"), _bound(hi, n, "hi")
        if (self.lo > self.hi).any() or (self.lo == np.inf).any() or (self.hi == -np.inf).any():
            k = int(np.flatnonzero((self.lo > self.hi) | (self.lo == np.inf) | (self.hi == -np.inf))[0])
            raise ArgumentError(f"row {k} has the bounds {self.lo[k]} to {self.hi[k]}: nothing is between them")
        self.scale = max(float(np.abs(self.A).max(initial=0.0)), 1e-300)
        self.kinds = np.zeros(n, dtype=np.int64)
        self.normal, self.mu = np.zeros(n, dtype=np.int64), np.zeros(n)
        for item in friction:
            self._add(item)

    def _add(self, item: Friction) -> None:
        normal, tangents = as_count(item.normal, "normal"), [as_count(t, "a tangent") for t in item.tangents]
        mu = as_number(item.coefficient, "a coefficient of friction")
        if not (np.isfinite(mu) and mu >= 0):
            raise ArgumentError(f"a coefficient of friction is {mu}: it must be finite and not negative")
        if len(tangents) not in (1, 2) or max((normal, *tangents)) >= self.n or normal in tangents:
            raise ArgumentError(f"{item!r}: give a normal row and one or two other rows below {self.n}")
        if self.kinds[tangents].any() or self.lo[normal] < 0:
            raise ArgumentError(f"{item!r}: rows have friction twice, or the normal force may pull (lo < 0)")
        self.kinds[tangents] = _lcp.TANGENT
        if len(tangents) == 2 and not item.pyramid:
            if tangents[1] != tangents[0] + 1:
                raise ArgumentError(f"{item!r}: the two tangents of a cone must be neighbouring rows")
            self.kinds[tangents[0]] = _lcp.PAIR
        self.normal[tangents], self.mu[tangents] = normal, mu

    def residual(self, x: Array, w: Array) -> float:
        return float(_lcp.natural_residual(self.A, self.b, self.lo, self.hi, self.kinds, self.normal, self.mu, x, w))

    def solution(self, x: Array, iterations: int, tolerance: float, message: str) -> Solution:
        w = np.zeros(self.n)
        residual = self.residual(x, w)
        good = residual <= tolerance
        return Solution(x, w, residual, iterations, good, "solved" if good else message)


def solve(
    A: ArrayLike,
    b: ArrayLike,
    lo: ArrayLike | None = None,
    hi: ArrayLike | None = None,
    *,
    method: Literal["pgs", "dantzig", "lemke"] = "pgs",
    friction: Sequence[Friction] = (),
    start: ArrayLike | None = None,
    tolerance: float = 1e-9,
    iterations: int = 1000,
    strict: bool = False,
) -> Solution:
    """Solve lo <= x <= hi complementary to w = A x + b; `lo` is 0 and `hi` infinite unless you say otherwise.

    "pgs" is projected Gauss-Seidel: it begins at `start` (a warm start), stops at `tolerance` (in the units of w) or
    after `iterations` sweeps, and gives the best that it has. "dantzig" pivots as Baraff (1994) did, with bounds, and
    "lemke" pivots for any A, also one that is not symmetric; both are exact up to rounding. Friction is solved by "pgs"
    (true cones and pyramids) and by the pivoting methods through the paper's three conditions (one direction or
    pyramids, written as facets). A problem that has no solution is not hidden: `converged` is False, or with `strict`
    a ConvergenceError.
    """
    problem = _Problem(A, b, 0.0 if lo is None else lo, np.inf if hi is None else hi, friction)
    limit = as_number(tolerance, "tolerance")
    most = as_count(iterations, "iterations")
    begin = np.zeros(problem.n) if start is None else as_finite(start, (problem.n,), "start").copy()
    if not np.isfinite(limit) or limit < 0:
        raise ArgumentError(f"tolerance is {tolerance}: it must be finite and not negative")
    if method == "pgs":
        found = _pgs(problem, begin, most, limit)
    elif method in ("dantzig", "lemke"):
        if problem.kinds.any():
            found = _with_facets(problem, limit)
        else:
            found = _dantzig(problem, limit) if method == "dantzig" else _lemke(problem, limit)
    else:
        raise ArgumentError(f"method is {method!r}: use 'pgs', 'dantzig' or 'lemke'")
    if strict and not found.converged:
        raise ConvergenceError(f"{method} left a residual of {found.residual:.3g}: {found.message}")
    return found


def three_conditions(A: ArrayLike, b: ArrayLike, contacts: Sequence[tuple[int, int, float]]) -> tuple[Array, Array]:
    """Return (M, q) of the paper's conditions (19) to (21): rows of A, then one lambda for each contact.

    `contacts` are (normal row, tangent row, coefficient), the tangents pointing against the sliding. All unknowns are
    at least zero: a_n >= 0, a_t + lambda >= 0 and mu f_n - f_t >= 0, each complementary to f_n, f_t and lambda.
    """
    rows = as_finite(b, np.shape(b), "b")
    n, m = len(rows), len(contacts)
    matrix, offset = np.zeros((n + m, n + m)), np.concatenate((rows, np.zeros(m)))
    matrix[:n, :n] = as_finite(A, (n, n), "A")
    for k, (normal, tangent, mu) in enumerate(contacts):
        matrix[tangent, n + k] = 1.0
        matrix[n + k, normal], matrix[n + k, tangent] = mu, -1.0
    return matrix, offset


def _bound(value: Any, n: int, name: str) -> Array:
    try:
        array = np.broadcast_to(np.asarray(value, dtype=float), (n,)).copy()
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name} cannot be read as a bound for {n} rows: {error}") from None
    if np.isnan(array).any():
        raise ArgumentError(f"{name} is NaN in row {int(np.flatnonzero(np.isnan(array))[0])}")
    return array


def _pgs(problem: _Problem, x: Array, most: int, tolerance: float) -> Solution:
    w = np.zeros(problem.n)
    done, residual = _lcp.pgs(
        problem.A, problem.b, problem.lo, problem.hi, problem.kinds, problem.normal, problem.mu, x, w, most, tolerance
    )
    dead = np.flatnonzero((np.diag(problem.A) <= 0) & (np.abs(w) > tolerance))
    why = f"{done} sweeps were not enough, or the rows contradict each other"
    if len(dead):
        why = f"row {int(dead[0])} cannot be moved by any force (its diagonal is zero)"
    del residual
    return problem.solution(x, done, tolerance, why)


def _dantzig(problem: _Problem, tolerance: float) -> Solution:
    n = problem.n
    if not np.allclose(problem.A, problem.A.T, rtol=0, atol=1e-9 * problem.scale):
        raise ArgumentError("A is not symmetric: 'dantzig' needs a symmetric matrix; 'lemke' takes any")
    free = np.isinf(problem.lo) & np.isinf(problem.hi)
    order = np.argsort(~free, kind="stable")
    x, w = np.zeros(n), np.zeros(n)
    size = max(float(np.abs(problem.b).max(initial=0.0)), problem.scale * 1e-3, 1e-300)
    status, pivots, row = _lcp.dantzig(
        problem.A, problem.b, problem.lo, problem.hi, x, w, order, np.zeros((n + 1, n + 1)),
        np.zeros(n + 1, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n + 1), np.zeros(n), 1e-12 * size,
        50 * n + 100,
    )  # fmt: skip
    x = _polished(problem, x)
    why = {
        _lcp.UNBOUNDED: f"row {row} contradicts the others: no force that is allowed satisfies it",
        _lcp.CYCLED: f"the pivots went in circles at row {row}",
    }.get(status, "rounding errors: the matrix is close to singular")
    return problem.solution(x, pivots, tolerance, why)


def _polished(problem: _Problem, x: Array) -> Array:
    """Solve the rows between their bounds once more at full precision, where that is an improvement."""
    inside = np.flatnonzero((x > problem.lo) & (x < problem.hi))
    if not len(inside):
        return x
    better = x.copy()
    rest = problem.A @ x + problem.b
    better[inside] -= np.linalg.lstsq(problem.A[np.ix_(inside, inside)], rest[inside], rcond=1e-13)[0]
    better = np.clip(better, problem.lo, problem.hi)
    w = np.zeros(problem.n)
    return better if problem.residual(better, w) < problem.residual(x, w) else x


def _lemke(problem: _Problem, tolerance: float) -> Solution:
    """Eliminate rows without bounds, write the others as z >= 0 (upper bounds have multipliers), and pivot."""
    n, A, b = problem.n, problem.A, problem.b
    free = np.isinf(problem.lo) & np.isinf(problem.hi)
    kept = np.flatnonzero(~free)
    gone = np.flatnonzero(free)
    inverse = np.linalg.pinv(A[np.ix_(gone, gone)], rcond=1e-12) if len(gone) else np.zeros((0, 0))
    across = inverse @ A[np.ix_(gone, kept)]
    reduced = A[np.ix_(kept, kept)] - A[np.ix_(kept, gone)] @ across
    offset = b[kept] - A[np.ix_(kept, gone)] @ (inverse @ b[gone])
    flip = np.where(np.isinf(problem.lo[kept]), -1.0, 1.0)  # x = base + flip z
    base = np.where(flip > 0, problem.lo[kept], problem.hi[kept])
    width = (problem.hi - problem.lo)[kept]
    bounded = np.flatnonzero(np.isfinite(width))
    m, k = len(kept), len(bounded)
    matrix, q = np.zeros((m + k, m + k)), np.zeros(m + k)
    matrix[:m, :m] = flip[:, None] * reduced * flip
    q[:m] = flip * (reduced @ base + offset)
    matrix[bounded, m + np.arange(k)] = 1.0
    matrix[m + np.arange(k), bounded] = -1.0
    q[m:] = width[bounded]
    z, status, pivots = _pivot(matrix, q)
    x = np.zeros(n)
    x[kept] = np.clip(base + flip * z[:m], problem.lo[kept], problem.hi[kept])
    x[gone] = -inverse @ b[gone] - across @ x[kept]
    why = {RAY: "the rows contradict each other (a ray without end)", CYCLED: "too many pivots"}.get(
        status, "rounding errors, or rows without bounds that contradict each other"
    )
    return problem.solution(_polished(problem, x), pivots, tolerance, why)


def _pivot(matrix: Array, q: Array) -> tuple[Array, int, int]:
    """Run Lemke's method and solve its basis once more from the data; scaled, so that tolerances mean something."""
    n = len(q)
    z = np.zeros(n)
    if n == 0:
        return z, 0, 0
    # rows and columns alike, so that what was symmetric or semidefinite stays so
    scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(matrix)), 1e-3 * max(np.abs(matrix).max(), 1e-300)))
    scaled, offset = scale[:, None] * matrix * scale, scale * q
    size = max(float(np.abs(offset).max()), 1e-300)
    status, pivots = lemke(
        scaled, offset / size, z, np.zeros((n, 2 * n + 2)), np.zeros(n, dtype=np.int64), 50 * n + 100
    )
    inside = np.flatnonzero(z > 0)
    if len(inside):
        exact = np.linalg.lstsq(scaled[np.ix_(inside, inside)], -offset[inside] / size, rcond=1e-13)[0]
        better = z.copy()
        better[inside] = np.maximum(exact, 0.0)
        if _violation(scaled, offset / size, better) < _violation(scaled, offset / size, z):
            z = better
    return z * scale * size, int(status), int(pivots)


def _violation(matrix: Array, q: Array, z: Array) -> float:
    return float(np.abs(np.minimum(z, matrix @ z + q)).max())


def _with_facets(problem: _Problem, tolerance: float) -> Solution:
    """Write friction as the paper's three conditions with two facets for each tangent, and pivot with Lemke."""
    if (problem.kinds == _lcp.PAIR).any():
        raise ArgumentError("a true cone is no linear problem: use method='pgs', or Friction(..., pyramid=True)")
    tangents = np.flatnonzero(problem.kinds == _lcp.TANGENT)
    others = np.flatnonzero(problem.kinds != _lcp.TANGENT)
    if np.isfinite(problem.hi[others]).any() or (problem.lo[others] != 0).any():
        unbounded = np.isinf(problem.lo[others]) & np.isinf(problem.hi[others])
        if not (unbounded | ((problem.lo[others] == 0) & np.isinf(problem.hi[others]))).all():
            raise ArgumentError("friction with other bounds than 0 to infinity (or none): use method='pgs'")
    free = others[np.isinf(problem.lo[others])]
    ones = others[~np.isinf(problem.lo[others])]
    A, b = problem.A, problem.b
    inverse = np.linalg.pinv(A[np.ix_(free, free)], rcond=1e-12) if len(free) else np.zeros((0, 0))
    kept = np.concatenate((ones, tangents)).astype(int)
    reduced = A[np.ix_(kept, kept)] - A[np.ix_(kept, free)] @ inverse @ A[np.ix_(free, kept)]
    offset = b[kept] - A[np.ix_(kept, free)] @ inverse @ b[free]
    m, t = len(ones), len(tangents)
    spread = np.zeros((m + t, m + 2 * t))  # f_t = f_plus - f_minus
    spread[:m, :m] = np.eye(m)
    spread[m:, m : m + t], spread[m:, m + t :] = np.eye(t), -np.eye(t)
    matrix = np.zeros((m + 3 * t, m + 3 * t))
    q = np.zeros(m + 3 * t)
    matrix[: m + 2 * t, : m + 2 * t] = spread.T @ reduced @ spread
    q[: m + 2 * t] = spread.T @ offset
    place = {int(row): k for k, row in enumerate(ones)}
    for k, row in enumerate(tangents):
        slack = m + 2 * t + k
        matrix[[m + k, m + t + k], slack] = 1.0
        matrix[slack, place[int(problem.normal[row])]] = problem.mu[row]
        matrix[slack, [m + k, m + t + k]] = -1.0
    z, status, pivots = _pivot(matrix, q)
    x = np.zeros(problem.n)
    x[kept] = spread @ z[: m + 2 * t]
    x[free] = -inverse @ (b[free] + A[np.ix_(free, kept)] @ x[kept])
    why = "no forces were found that satisfy friction and all other rows" if status else "rounding errors"
    return problem.solution(x, pivots, tolerance, why)
