"""Check what users pass in, and hand it to the kernels as contiguous float64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import ArgumentError, StateError
from .typing import Array

if TYPE_CHECKING:
    from .model.model import Model

GRAVITY = (0.0, 0.0, -9.81)
_FLOAT64 = np.dtype(np.float64)


def as_array(value: Any, shape: tuple[int, ...], name: str) -> Array:
    """Return `value` as a contiguous float64 array of `shape`; anything else is an `ArgumentError` that says so."""
    if type(value) is np.ndarray and value.dtype is _FLOAT64 and value.shape == shape and value.flags.carray:
        return value
    try:
        # read-only and misaligned arrays are copied: a kernel would be compiled anew for them
        array = np.require(value, np.float64, ["C", "A", "W", "E"])
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name} cannot be read as numbers: {error}") from None
    if np.shape(value) != shape:
        raise ArgumentError(f"{name} has shape {np.shape(value)}, but this model needs {shape}")
    return array


def as_finite(value: Any, shape: tuple[int, ...], name: str) -> Array:
    """Like `as_array`, and refuse NaN and infinities."""
    array = as_array(value, shape, name)
    if not np.isfinite(array).all():
        index = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        place = index[0] if len(index) == 1 else index
        raise ArgumentError(f"{name}[{place}] is {array[index]}: every number must be finite")
    return array


def as_gravity(gravity: Any) -> tuple[float, float, float]:
    """Return the gravity vector as three floats."""
    if gravity is GRAVITY:
        return GRAVITY
    x, y, z = as_finite(gravity, (3,), "gravity").tolist()
    return x, y, z


def as_vector(value: Any, name: str) -> Array:
    """Return three finite numbers."""
    return as_finite(value, (3,), name)


def as_number(value: Any, name: str) -> float:
    """Return one number as a float, NaN and infinities too; anything else is an `ArgumentError`."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} is {value!r}: give a number") from None


def as_count(value: Any, name: str, least: int = 0) -> int:
    """Return a whole number of at least `least`."""
    try:
        number = int(value)
        whole = number == float(value)
    except (TypeError, ValueError, OverflowError):
        number, whole = 0, False
    if not whole or number < least:
        raise ArgumentError(f"{name} is {value!r}: it must be a whole number of at least {least}")
    return number


def check_state(model: Model, q: Array, v: Array | None = None) -> None:
    """Raise `StateError` where `q` or `v` is not finite, or a quaternion is not of length 1; names the joint."""
    from .kernels.manifold import bad_quaternion

    for values, starts, name in ((q, model.q_starts, "q"), (v, model.v_starts, "v")):
        if values is not None and not np.isfinite(values).all():
            index = int(np.flatnonzero(~np.isfinite(values))[0])
            body = int(np.searchsorted(starts, index, side="right")) - 1
            joint = model.body_joint_names[body]
            raise StateError(f"{name}[{index}] of joint {joint!r} is {values[index]}: a state must be finite")
    link = bad_quaternion(model.topology, q)
    if link >= 0:
        body = int(model.topology[link, 7])
        start = int(model.q_starts[body])
        turn = q[start : start + 4]
        length = float(np.linalg.norm(turn))
        remedy = "divide it by that" if length > 0 else "no turn is 1, 0, 0, 0, as in model.neutral()"
        raise StateError(
            f"the quaternion of joint {model.body_joint_names[body]!r}, q[{start}:{start + 4}] = {turn.tolist()}, has "
            f"length {length:.9g}: {remedy}"
        )
