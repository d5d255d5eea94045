"""OpenSim's functions as piecewise polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import FileFormatError
from ..kernels.coordinates import TERMS
from ..model.coordinates import Function
from .xmltree import Node


def numbers(path: object, node: Node, tag: str, count: int | None = None) -> np.ndarray:
    """Return the numbers in the text of the child `tag`."""
    child = node.find(tag)
    if child is None:
        raise FileFormatError(path, node.where, f"<{tag}> is missing")
    try:
        values = np.array([float(word) for word in child.text.replace("(", " ").replace(")", " ").split()])
    except ValueError:
        raise FileFormatError(path, child.where, f"{child.text.strip()[:60]!r} is not made of numbers") from None
    if (count is not None and values.size != count) or not np.isfinite(values).all():
        raise FileFormatError(path, child.where, f"{child.text.strip()[:60]!r} must be {count or ''} finite numbers")
    return values


def read_function(path: object, node: Node) -> Function:
    """Return the function that an element such as <SimmSpline> describes; an unknown kind is an error by line."""
    readers = {
        "LinearFunction": _linear, "Constant": _constant, "PolynomialFunction": _polynomial, "SimmSpline": _simm,
        "NaturalCubicSpline": _simm, "GCVSpline": _quintic, "PiecewiseLinearFunction": _pieces,
        "MultiplierFunction": _multiplier,
    }  # fmt: skip
    if node.tag not in readers:
        raise FileFormatError(path, node.where, f"a {node.tag} is not read; known are {', '.join(readers)}")
    return readers[node.tag](path, node)


def function_in(path: object, node: Node) -> Node | None:
    """Return the element of a function among the children of `node`, however deep it is wrapped."""
    for child in node.children:
        if child.tag.endswith(("Function", "Spline")) or child.tag == "Constant":
            return child
        if child.tag in ("function", "coupled_coordinates_function"):
            return function_in(path, child)
    return None


def _linear(path: object, node: Node) -> Function:
    slope, offset = numbers(path, node, "coefficients", 2)
    return Function.polynomial(float(offset), float(slope))


def _constant(path: object, node: Node) -> Function:
    return Function.polynomial(float(numbers(path, node, "value", 1)[0]))


def _polynomial(path: object, node: Node) -> Function:
    coefficients = numbers(path, node, "coefficients")
    if coefficients.size > TERMS:
        raise FileFormatError(
            path, node.where, f"polynomials up to degree {TERMS - 1} are read, not {coefficients.size - 1}"
        )
    return Function.polynomial(*coefficients[::-1].tolist())


def _multiplier(path: object, node: Node) -> Function:
    inner = function_in(path, node)
    if inner is None:
        raise FileFormatError(path, node.where, "there is no function inside")
    return read_function(path, inner).scaled(float(numbers(path, node, "scale", 1)[0]))


def _points(path: object, node: Node) -> tuple[np.ndarray, np.ndarray]:
    x, y = numbers(path, node, "x"), numbers(path, node, "y")
    if x.size != y.size or x.size < 2 or (np.diff(x) <= 0).any():
        raise FileFormatError(
            path, node.where, f"{x.size} x and {y.size} y: they must be as many, x increasing, two at least"
        )
    return x, y


def _pieces(path: object, node: Node) -> Function:
    x, y = _points(path, node)
    slopes = np.diff(y) / np.diff(x)
    return _join(x, [(y[k], slopes[k]) for k in range(len(slopes))], slopes[0], slopes[-1], y)


def _simm(path: object, node: Node) -> Function:
    """OpenSim's SimmSpline: a cubic spline whose third derivative at each end is that of the cubic through four points.

    Forsythe, Malcolm and Moler, Computer Methods for Mathematical Computations (1977), chapter 4; beyond its ends it
    is a straight line.
    """
    x, y = _points(path, node)
    n = len(x)
    if n == 2:
        return _pieces(path, node)
    h, slopes = np.diff(x), np.diff(y) / np.diff(x)
    matrix, right = np.zeros((n, n)), np.zeros(n)
    for k in range(1, n - 1):
        matrix[k, k - 1 : k + 2] = h[k - 1], 2 * (h[k - 1] + h[k]), h[k]
        right[k] = slopes[k] - slopes[k - 1]
    matrix[0, :2], matrix[-1, -2:] = (-h[0], h[0]), (h[-1], -h[-1])
    if n > 3:
        second = [(slopes[k + 1] - slopes[k]) / (x[k + 2] - x[k]) for k in range(n - 2)]
        right[0] = h[0] ** 2 * (second[1] - second[0]) / (x[3] - x[0])
        right[-1] = -(h[-1] ** 2) * (second[-1] - second[-2]) / (x[-1] - x[-4])
    s = np.linalg.solve(matrix, right)
    b = slopes - h * (s[1:] + 2 * s[:-1])
    terms = [(y[k], b[k], 3 * s[k], (s[k + 1] - s[k]) / h[k]) for k in range(n - 1)]
    return _join(x, terms, b[0], slopes[-1] + h[-1] * (s[-2] + 2 * s[-1]), y)


def _quintic(path: object, node: Node) -> Function:
    from scipy.interpolate import PPoly, make_interp_spline

    x, y = _points(path, node)
    degree = min(5, (len(x) - 1) // 2 * 2 + 1, len(x) - 1)
    spline = PPoly.from_spline(make_interp_spline(x, y, k=degree))
    keep = (np.diff(spline.x) > 0).nonzero()[0]
    terms: list[Any] = [tuple(spline.c[::-1, k]) for k in keep]
    return _join(spline.x[[*keep, keep[-1] + 1]], terms, float(spline(x[0], 1)), float(spline(x[-1], 1)), y)


def _join(x: np.ndarray, terms: list[Any], first: float, last: float, y: np.ndarray) -> Function:
    """Return the pieces between the points `x`, with straight lines of these slopes before and after."""
    rows = np.zeros((len(terms) + 2, 2 + TERMS))
    rows[0, :4] = -np.inf, x[0], y[0], first
    for k, own in enumerate(terms):
        rows[k + 1, 0] = rows[k + 1, 1] = x[k]
        rows[k + 1, 2 : 2 + len(own)] = own
    rows[-1, :4] = x[-1], x[-1], y[-1], last
    return Function(rows)
