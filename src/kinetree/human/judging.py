"""How good an analysis is, in plain words, by the limits that the field accepts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .result import Result

# Hicks et al., Journal of Biomechanical Engineering 137 (2015): marker errors below 2 cm RMS and 2 to 4 cm at most,
# residual forces below 5 % of the peak ground force, residual moments below 1 % of the height of the centre of mass
# times the peak ground force
MARKER_RMS, MARKER_MAX, FORCE_SHARE, MOMENT_SHARE = 0.02, 0.04, 0.05, 0.01


@dataclass(frozen=True)
class Check:
    """One limit: what was measured, what is accepted, and what it means."""

    name: str
    measured: float
    limit: float
    unit: str
    meaning: str

    @property
    def ok(self) -> bool:
        """Whether the limit is kept."""
        return bool(np.isfinite(self.measured) and self.measured <= self.limit)


def checks(result: Result) -> list[Check]:
    """Return what can be checked of a result."""
    motion = result.motion
    found: list[Check] = []
    if motion.targets.shape[1]:
        found += [
            Check(
                "marker error, root mean square", 100 * motion.marker_rms, 100 * MARKER_RMS, "cm",
                "how far the body's markers are from the measured ones",
            ),
            Check(
                "marker error, largest", 100 * motion.marker_max, 100 * MARKER_MAX, "cm",
                "a single marker that moved on the skin or was confused with another",
            ),
        ]  # fmt: skip
    if result.ground.source == "plates":
        peak = float(np.linalg.norm(result.ground.force.sum(1), axis=1).max(initial=0.0))
        supported = supported_frames(result)
        if peak > 0 and supported.any():
            force = np.sqrt((result.residual_force[supported] ** 2).mean(0)).max()
            found.append(
                Check(
                    "residual force, root mean square", 100 * float(force) / peak, 100 * FORCE_SHARE, "% of peak",
                    "what the measured forces do not explain of the movement, while all that stands is on plates",
                )
            )  # fmt: skip
    return found


def supported_frames(result: Result) -> np.ndarray:
    """Return the frames in which the plates carry all of the body: no foot stands beside them."""
    weight = result.subject.mass * 9.80665
    lacking = np.abs(result.residual_force[:, 2])
    inside = np.ones(len(lacking), dtype=bool)
    margin = min(len(lacking) // 10, round(0.1 / max(float(np.median(np.diff(result.times))), 1e-6)))
    if margin:
        inside[:margin] = inside[-margin:] = False
    return inside & (lacking < 0.3 * weight)


def verdict(result: Result) -> tuple[str, list[str]]:
    """Return "good", "usable" or "poor", and sentences that say why."""
    found = checks(result)
    failed = [check for check in found if not check.ok]
    lines = [
        f"{check.name}: {check.measured:.2f} {check.unit}, {'within' if check.ok else 'above'} "
        f"the accepted {check.limit:g} "
        f"{check.unit} ({check.meaning})"
        for check in found
    ]
    if not result.motion.complete:
        lines.append("only a part of the trial could be followed: see the notes")
    if result.ground.source == "contact":
        lines.append(
            "no plates: the ground's forces are estimated from contact, and what the feet do against each other is "
            "assumed"
        )
    if result.ground.source == "plates":
        share = float(supported_frames(result).mean())
        if share < 0.95:
            lines.append(
                f"the plates carry all of the body in {100 * share:.0f} % of the frames: torques elsewhere are off"
            )
    far = any(not check.measured <= 2 * check.limit for check in failed)
    word = "good" if not failed and result.motion.complete else "poor" if far else "usable"
    return word, lines
