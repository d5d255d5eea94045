"""Smooth a recorded motion and differentiate it: a Butterworth filter without lag, and splines of degree five."""

from __future__ import annotations

import numpy as np

from ..errors import ArgumentError
from ..kernels import coordinates as _coordinates
from ..kernels import layout as at
from ..model.model import Model
from ..typing import Array


def low_pass(values: Array, times: Array, cutoff: float | None, *, order: int = 4) -> Array:
    """Return `values` [n, ...] without what is faster than `cutoff` [Hz]; a filter of this order without lag.

    The filter runs forward and backward; its corner is corrected for that (Winter). None or too few frames: unchanged.
    """
    if cutoff is None or len(times) < 10:
        return np.array(values, dtype=float)
    from scipy.signal import butter, sosfiltfilt

    rate = (len(times) - 1) / (times[-1] - times[0])
    if not cutoff > 0:
        raise ArgumentError(f"the filter's frequency is {cutoff!r}: give a positive number of hertz, or None for none")
    half = order // 2
    corner = cutoff / (2 ** (1 / 2) - 1) ** (1 / (2 * half))
    if corner >= 0.95 * rate / 2:
        return np.array(values, dtype=float)
    pad = int(min(len(times) - 1, max(9, round(rate / cutoff))))
    return sosfiltfilt(butter(half, corner / (rate / 2), output="sos"), values, axis=0, padtype="odd", padlen=pad)


def derivatives(times: Array, values: Array) -> tuple[Array, Array]:
    """Return first and second derivatives of `values` [n, k] from a spline of degree five (less for few frames)."""
    from scipy.interpolate import make_interp_spline

    degree = min(5, (len(times) - 1) // 2 * 2 - 1)
    if degree < 1:
        return np.zeros_like(values), np.zeros_like(values)
    spline = make_interp_spline(times, values, k=degree)
    first = spline(times, 1)
    return first, spline(times, 2) if degree > 1 else np.zeros_like(values)


def continuous(model: Model, q: Array) -> Array:
    """Return `q` [n, nq] with quaternions of continuous sign."""
    out = np.array(q, dtype=float)
    for start in quaternion_starts(model):
        block = out[:, start : start + 4]
        flips = np.where(np.einsum("ni,ni->n", block[1:], block[:-1]) < 0, -1.0, 1.0)
        block[1:] *= np.cumprod(flips)[:, None]
    return out


def quaternion_starts(model: Model) -> list[int]:
    """Return where in `q` a quaternion begins."""
    kinds = model.joint_kinds
    return [int(s) for s, k in zip(model.q_starts[:-1], kinds, strict=True) if k in (at.SPHERICAL, at.FREE)]


def motion_of_q(model: Model, times: Array, q: Array, cutoff: float | None) -> tuple[Array, Array, Array]:
    """Return smoothed q and its v and a, shapes [n, nq] and [n, nv].

    For a quaternion, omega = 2 conj(q) q' and omega' = 2 vec(conj(q) q''), in body axes.
    """
    smooth = low_pass(continuous(model, q), times, cutoff)
    starts = quaternion_starts(model)
    for start in starts:
        smooth[:, start : start + 4] /= np.linalg.norm(smooth[:, start : start + 4], axis=1, keepdims=True)
    first, second = derivatives(times, smooth)
    v, a = np.zeros((len(times), model.nv)), np.zeros((len(times), model.nv))
    turning = set(starts)
    for body in range(model.nbodies):
        iq, iv = int(model.q_starts[body]), int(model.v_starts[body])
        nq, nv = int(model.q_starts[body + 1]) - iq, int(model.v_starts[body + 1]) - iv
        if iq in turning and nq in (4, 7):
            turn = smooth[:, iq : iq + 4]
            v[:, iv : iv + 3] = 2 * _conjugate_product(turn, first[:, iq : iq + 4])
            a[:, iv : iv + 3] = 2 * _conjugate_product(turn, second[:, iq : iq + 4])
            v[:, iv + 3 : iv + nv] = first[:, iq + 4 : iq + nq]
            a[:, iv + 3 : iv + nv] = second[:, iq + 4 : iq + nq]
        else:
            v[:, iv : iv + nv], a[:, iv : iv + nv] = first[:, iq : iq + nq], second[:, iq : iq + nq]
    return np.ascontiguousarray(smooth), v, a


def _conjugate_product(a: Array, b: Array) -> Array:
    """Return the vector part of conj(a) b, shapes [n, 4] -> [n, 3]."""
    return a[:, :1] * b[:, 1:] - b[:, :1] * a[:, 1:] - np.cross(a[:, 1:], b[:, 1:])


def motion_of_coordinates(
    model: Model, times: Array, u: Array, cutoff: float | None
) -> tuple[tuple[Array, Array, Array], tuple[Array, Array, Array], Array]:
    """Return coordinates with their rates, the joints' q, v and a, and dq/du, where joints follow coordinates."""
    smooth = np.ascontiguousarray(low_pass(u, times, cutoff))
    first, second = (np.ascontiguousarray(x) for x in derivatives(times, smooth))
    rows, pieces = model.coordinate_rows, model.coordinate_pieces
    _coordinates.follow_rates(rows, pieces, smooth, first, second)
    shape = (len(times), model.nv)
    q, v, a, slope = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape)
    _coordinates.joint_motion(rows, pieces, smooth, first, second, q, v, a, slope)
    return (smooth, first, second), (q, v, a), slope
