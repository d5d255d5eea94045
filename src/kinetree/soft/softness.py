"""How hard a row is: error reduction and constraint force mixing, or stiffness and damping of the same implicit spring.

    erp = h kp / (h kp + kd)        cfm = 1 / (h kp + kd)

The two descriptions are the same constraint, exactly (S1, Eqs. 11 to 15). `cfm` is counted as other engines count it;
the paper's beta is cfm / h.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..typing import Array


def as_rows(value: Any, count: int, what: str) -> Array:
    """Return one number for each of `count` rows; NaN is refused, infinities are not."""
    try:
        array = np.broadcast_to(np.asarray(value, dtype=float), (count,)).copy()
    except (TypeError, ValueError):
        raise ArgumentError(f"{what} is {value!r}: give one number, or {count} of them") from None
    if np.isnan(array).any():
        raise ArgumentError(f"{what} is {value!r}: every entry must be a number")
    return array


def softness(
    dt: float,
    count: int,
    what: str,
    erp: Any,
    cfm: Any,
    stiffness: Any,
    damping: Any,
    defaults: tuple[float, float],
) -> tuple[Array, Array, Any]:
    """Return (erp, cfm, whether the row is there at all) of `count` rows.

    A spring without stiffness and damping is no row. Either pair may be given, not both.
    """
    if stiffness is not None or damping is not None:
        if erp is not None or cfm is not None:
            raise ArgumentError(f"{what} has erp or cfm and stiffness or damping: give one pair")
        kp = as_rows(0.0 if stiffness is None else stiffness, count, f"the stiffness of {what}")
        kd = as_rows(0.0 if damping is None else damping, count, f"the damping of {what}")
        if (kp < 0).any() or (kd < 0).any():
            raise ArgumentError(
                f"{what} has a negative stiffness or damping: a spring that pushes away is no constraint"
            )
        if (np.isinf(kp) & np.isinf(kd)).any():
            raise ArgumentError(f"{what} has infinite stiffness and infinite damping: one of them decides what it does")
        there = (kp > 0) | (kd > 0)
        whole = np.where(there, dt * kp + kd, 1.0)
        part = np.divide(dt * kp, whole, out=np.where(np.isinf(kp), 1.0, 0.0), where=np.isfinite(whole))
        return np.where(there, part, 0.0), np.where(there, 1.0 / whole, 0.0), there
    e = as_rows(defaults[0] if erp is None else erp, count, f"the erp of {what}")
    c = as_rows(defaults[1] if cfm is None else cfm, count, f"the cfm of {what}")
    if (e < 0).any() or (e > 1).any():
        raise ArgumentError(f"{what} has an erp of {erp!r}: it is the part of an error that goes in a step, 0 to 1")
    if (c < 0).any() or not np.isfinite(c).all():
        raise ArgumentError(f"{what} has a cfm of {cfm!r}: it must be finite and not negative")
    return e, c, np.ones(count, dtype=bool)


def stiffness_of(dt: float, erp: Array, cfm: Array) -> tuple[Array, Array]:
    """Return the stiffness and damping that a row with `erp` and `cfm` has at steps of `dt`: kp = erp / (h cfm)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        kp = np.where(erp > 0, erp / (dt * cfm), 0.0)
        kd = np.where(erp < 1, (1.0 - erp) / cfm, 0.0)
    return kp, kd


def check_limits(lo: Array, hi: Array, what: str) -> None:
    """Refuse limits of force that no force is between."""
    if (lo > hi).any():
        k = int(np.flatnonzero(lo > hi)[0])
        raise ArgumentError(f"row {k} of {what} has lo = {lo[k]:g} above hi = {hi[k]:g}: swap them")
    if (lo > 0).any() or (hi < 0).any():
        k = int(np.flatnonzero((lo > 0) | (hi < 0))[0])
        raise ArgumentError(
            f"row {k} of {what} has limits {lo[k]:g} to {hi[k]:g} without 0: what must push is a force; apply it"
        )
