"""Compare arrays by their largest relative error, and print numbers when they differ."""

from __future__ import annotations

import numpy as np


def relative_error(actual: object, expected: object, scale: float | None = None) -> float:
    """Return the largest absolute difference over the largest absolute expected value (or over `scale`)."""
    actual, expected = np.asarray(actual, float), np.asarray(expected, float)
    assert actual.shape == expected.shape, f"shapes differ: {actual.shape} and {expected.shape}"
    if actual.size == 0:
        return 0.0
    size = float(np.abs(expected).max()) if scale is None else scale
    return float(np.abs(actual - expected).max()) / max(size, 1e-300)


def assert_close(
    actual: object, expected: object, tolerance: float, what: str = "value", scale: float | None = None
) -> None:
    """Fail with the error, the tolerance and the worst entry if the relative error is above `tolerance`."""
    actual, expected = np.asarray(actual, float), np.asarray(expected, float)
    error = relative_error(actual, expected, scale)
    if not error <= tolerance:
        worst = np.unravel_index(int(np.argmax(np.nan_to_num(np.abs(actual - expected), nan=np.inf))), actual.shape)
        raise AssertionError(
            f"{what}: relative error {error:.3g} > {tolerance:.3g}; at {tuple(map(int, worst))}: "
            f"got {actual[worst]:.17g}, expected {expected[worst]:.17g}"
        )
