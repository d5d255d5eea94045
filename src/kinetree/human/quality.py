"""What is wrong with measured markers, before and after a pose is fitted: gaps, jumps, swaps, outliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..typing import Array

FASTEST = 15.0  # m/s; a kicking foot reaches about 12
SHORT = 0.1  # s, of a gap that is filled
FAR = 0.06  # m, of a marker from the body that the others agree on
TIMES = 6.0  # an outlier is also that many times as far as the marker usually is


@dataclass(frozen=True)
class Fault:
    """What was wrong with one marker from frame `first` to frame `last`, and what was done."""

    label: str
    first: int
    last: int
    kind: str
    remedy: str

    def __str__(self) -> str:
        """Return the fault in words."""
        span = f"frame {self.first}" if self.first == self.last else f"frames {self.first} to {self.last}"
        return f"{self.label}, {span}: {self.kind}; {self.remedy}"


def runs(mask: Any) -> list[tuple[int, int]]:
    """Return first and last index of every run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], np.asarray(mask, dtype=int), [0]))))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def drop_jumps(positions: Array, labels: list[str], times: Array) -> tuple[Array, list[Fault]]:
    """Take out samples that a marker reached and left faster than any body moves; returns the mended positions."""
    out, faults = positions.copy(), []
    step = np.diff(times)[:, None]
    speed = np.linalg.norm(np.diff(positions, axis=0), axis=2) / step
    for k, label in enumerate(labels):
        fast = np.flatnonzero(speed[:, k] > FASTEST)
        used = 0
        while used < len(fast) - 1:
            a, b = int(fast[used]) + 1, int(fast[used + 1])
            if times[b] - times[a - 1] <= 0.25:
                out[a : b + 1, k] = np.nan
                faults.append(Fault(label, a, b, "jumps away and back", "taken as a gap"))
                used += 2
            else:
                used += 1
    return out, faults


def unswap(positions: Array, labels: list[str], times: Array) -> tuple[Array, list[Fault]]:
    """Give two markers back their paths where they change places from one frame to the next."""
    out, faults = positions.copy(), []
    step = np.diff(times)
    for t in range(1, len(out)):
        move = np.linalg.norm(out[t] - out[t - 1], axis=1)
        fast = np.flatnonzero(move > max(0.03, 6.0 * step[t - 1]))
        if len(fast) < 2 or len(fast) > 8:
            continue
        for i in fast:
            for j in fast[fast > i]:
                here = move[i] + move[j]
                there = np.linalg.norm(out[t, i] - out[t - 1, j]) + np.linalg.norm(out[t, j] - out[t - 1, i])
                if there < 0.4 * here:
                    out[t:, [i, j]] = out[t:, [j, i]]
                    faults.append(
                        Fault(f"{labels[i]} and {labels[j]}", t, t, "change places", "changed back from there on")
                    )
                    move = np.linalg.norm(out[t] - out[t - 1], axis=1)
    return out, faults


def fill_gaps(positions: Array, labels: list[str], times: Array) -> tuple[Array, list[Fault]]:
    """Fill gaps of up to 0.1 s inside a path with a cubic; returns positions and all gaps, filled or not."""
    from scipy.interpolate import CubicSpline

    out, faults = positions.copy(), []
    missing = np.isnan(positions.sum(2))
    for k, label in enumerate(labels):
        if not missing[:, k].any():
            continue
        seen = np.flatnonzero(~missing[:, k])
        for first, last in runs(missing[:, k]):
            inside = first > 0 and last < len(times) - 1
            if inside and len(seen) >= 4 and times[last + 1] - times[first - 1] <= SHORT + 1.5 * (times[1] - times[0]):
                near = seen[(seen >= first - 5) & (seen <= last + 5)]
                if len(near) >= 4:
                    out[first : last + 1, k] = CubicSpline(times[near], positions[near, k])(times[first : last + 1])
                    faults.append(Fault(label, first, last, "gap", "filled by a cubic"))
                    continue
            faults.append(Fault(label, first, last, "gap", "left open: the other markers hold the body"))
    return out, faults


def usable_frames(positions: Array, weights: Array, times: Array) -> tuple[int, int]:
    """Return first and last frame of the longest stretch in which enough of the body is seen (breaks below 0.2 s)."""
    seen = np.isfinite(positions).all(2) @ weights / max(weights.sum(), 1e-12)
    good = seen >= min(0.6, 0.75 * float(np.quantile(seen, 0.95)) if len(seen) else 0.0)
    good &= np.isfinite(positions).all(2).sum(1) >= 4
    spans = runs(good)
    joined: list[list[int]] = []
    for first, last in spans:
        if joined and times[first] - times[joined[-1][1]] <= 0.2:
            joined[-1][1] = last
        else:
            joined.append([first, last])
    if not joined:
        return 0, -1
    best = max(joined, key=lambda span: span[1] - span[0])
    return best[0], best[1]


def outliers(errors: Array, labels: list[str]) -> tuple[np.ndarray, list[Fault]]:
    """Return which samples [n, m] are far from the fitted body, though the marker usually is not."""
    seen = np.isfinite(errors).any(0)
    usual = np.zeros(errors.shape[1])
    usual[seen] = np.nanmedian(errors[:, seen], axis=0)
    bad = np.isfinite(errors) & (errors > np.maximum(FAR, TIMES * usual))
    faults = []
    for k, label in enumerate(labels):
        for first, last in runs(bad[:, k]):
            worst = float(errors[first : last + 1, k].max())
            faults.append(Fault(label, first, last, f"up to {100 * worst:.1f} cm from the body", "not followed there"))
    return bad, faults
