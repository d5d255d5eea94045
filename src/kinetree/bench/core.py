"""What every table of measurements shares: rows with verdicts, timing side by side, and the report."""

from __future__ import annotations

import gc
import math
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from time import perf_counter
from typing import Any, Literal

import numpy as np

Progress = Callable[[float, str], None]
Sense = Literal["at most", "at least", "information"]
PACKAGES = ("kinetree", "numpy", "scipy", "numba", "mujoco", "pin", "drake")


@dataclass(frozen=True)
class Row:
    """One measured figure beside its target; `measured` is None where it could not be had, and `detail` says why."""

    group: str
    name: str
    measured: float | None
    unit: str = ""
    target: float | None = None
    sense: Sense = "information"
    detail: str = ""

    @property
    def ok(self) -> bool | None:
        """Whether the target is met; None where there is no target or nothing was measured."""
        if self.measured is None or self.target is None or self.sense == "information":
            return None
        if not math.isfinite(self.measured):
            return False
        return self.measured <= self.target if self.sense == "at most" else self.measured >= self.target

    def as_dict(self) -> dict[str, Any]:
        """Return the row for JSON, verdict included."""
        return asdict(self) | {"ok": self.ok}


@dataclass
class Report:
    """The rows of one run, and where it ran."""

    name: str
    quick: bool = False
    rows: list[Row] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def missed(self) -> list[Row]:
        """The rows that miss their target."""
        return [row for row in self.rows if row.ok is False]

    @property
    def skipped(self) -> list[Row]:
        """The rows that could not be measured here."""
        return [row for row in self.rows if row.measured is None]

    def as_dict(self) -> dict[str, Any]:
        """Return the whole report for JSON."""
        return {
            "name": self.name,
            "quick": self.quick,
            "seconds": self.seconds,
            "machine": machine(),
            "met": sum(row.ok is True for row in self.rows),
            "missed": len(self.missed),
            "skipped": len(self.skipped),
            "rows": [row.as_dict() for row in self.rows],
        }

    def verdict(self) -> str:
        """Return the count of targets in one line."""
        met = sum(row.ok is True for row in self.rows)
        text = f"{met} of {met + len(self.missed)} targets met"
        if self.missed:
            text += "; missed: " + ", ".join(row.name for row in self.missed)
        if self.skipped:
            text += f"; {len(self.skipped)} rows not measured here"
        return text


def at_most(group: str, name: str, measured: float, target: float, unit: str = "", detail: str = "") -> Row:
    """Return a row whose figure must not be above `target`."""
    return Row(group, name, float(measured), unit, target, "at most", detail)


def at_least(group: str, name: str, measured: float, target: float, unit: str = "", detail: str = "") -> Row:
    """Return a row whose figure must not be below `target`."""
    return Row(group, name, float(measured), unit, target, "at least", detail)


def information(group: str, name: str, measured: float, unit: str = "", detail: str = "") -> Row:
    """Return a row without a target."""
    return Row(group, name, float(measured), unit, detail=detail)


def not_measured(group: str, name: str, why: str) -> Row:
    """Return the row of something that this machine cannot measure."""
    return Row(group, name, None, detail=why)


def side_by_side(
    contestants: Mapping[str, Callable[[], Any]], *, seconds: float = 0.5, burst: float = 2e-3, rounds: int = 5
) -> dict[str, float]:
    """Return the best time of one call of each function [s], taken turn by turn in one run.

    Each round gives every contestant one burst of calls, so that whatever else the machine does hits all of them; the
    best burst of each counts. A burst is so short that many of them fit between two interruptions by other programs. A
    first call of each is not counted. `seconds` is about what one contestant gets, in at least `rounds` rounds.
    """
    repeats, longest = {}, burst
    for name, function in contestants.items():
        function()
        began = perf_counter()
        function()
        once = max(perf_counter() - began, 1e-7)
        repeats[name] = max(1, math.ceil(burst / once))
        longest = max(longest, once)
    best = dict.fromkeys(contestants, math.inf)
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(max(rounds, round(seconds / longest))):
            for name, function in contestants.items():
                count = repeats[name]
                began = perf_counter()
                for _ in range(count):
                    function()
                best[name] = min(best[name], (perf_counter() - began) / count)
    finally:
        if collecting:
            gc.enable()
    return best


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return p of the law value = c size^p that fits best (least squares of the logarithms)."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def relative_error(ours: object, theirs: object, scale: float | None = None) -> float:
    """Return the largest absolute difference over the largest absolute value of `theirs` (or over `scale`)."""
    a, b = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    if a.size == 0:
        return 0.0
    size = float(np.abs(b).max()) if scale is None else scale
    return float(np.abs(a - b).max()) / max(size, 1e-300)


def run_parts(
    name: str, parts: Iterable[tuple[str, Callable[[], list[Row]]]], *, quick: bool, progress: Progress | None
) -> Report:
    """Run the named parts in order and collect their rows; `progress` hears the fraction done and what comes next."""
    listed = list(parts)
    report, began = Report(name, quick), perf_counter()
    for number, (label, part) in enumerate(listed):
        if progress is not None:
            progress(number / len(listed), label)
        report.rows += part()
    if progress is not None:
        progress(1.0, "done")
    report.seconds = perf_counter() - began
    return report


def machine() -> dict[str, Any]:
    """Return what the figures depend on: processor, cores and versions; nothing that names the machine."""
    import os

    versions: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    if versions["kinetree"] is None:
        from .. import __version__

        versions["kinetree"] = __version__
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": versions,
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
