"""TRC: markers as tab-separated text. Real files shift labels by a column, leave blanks, and spell NaN freely."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..errors import ArgumentError, FileFormatError
from ..files import whole_file
from ..typing import Array
from .files import as_text, read_bytes
from .mot import number
from .recording import LENGTHS, Recording


def read_trc(path: str | os.PathLike[str]) -> Recording:
    """Read the markers of a TRC file."""
    lines = as_text(path, read_bytes(path)).splitlines()
    top = next((k for k, line in enumerate(lines[:20]) if line.lstrip().lower().startswith("frame#")), None)
    if top is None or top < 1:
        raise FileFormatError(path, "header", "there is no line that begins with 'Frame#': this is no TRC file")
    facts = _facts(lines[:top])
    notes: list[str] = []
    labels = [word.strip() for word in lines[top].split("\t") if word.strip()][2:]
    if not labels:
        raise FileFormatError(path, f"line {top + 1}", "there are no marker labels")
    if facts.get("nummarkers", str(len(labels))).split(".")[0] != str(len(labels)):
        notes.append(f"the header says {facts['nummarkers']} markers, but there are {len(labels)} labels")
    first = top + 1
    while first < len(lines) and not _is_row(lines[first]):
        first += 1
    times, positions = _rows(path, lines, first, len(labels))
    if not times.size:
        raise FileFormatError(path, f"line {first + 1}", "there are labels but no frames")
    said = facts.get("numframes", str(len(times))).split(".")[0]
    if said != str(len(times)):
        notes.append(f"the header says {said} frames, but there are {len(times)}")
    units = facts.get("units", "").strip()
    if units.lower() not in LENGTHS:
        notes.append(f"the unit {units!r} is unknown: millimetres are assumed")
        units = "mm"
    positions *= LENGTHS[units.lower()]
    gone = (positions == 0).all(2)
    if gone.any():
        notes.append(f"{int(gone.sum())} samples at exactly 0, 0, 0 are read as gaps")
        positions[gone] = np.nan
    return Recording(os.fspath(path), labels, times, positions, _rate(facts, times, notes), units, notes=notes)


def _facts(lines: Sequence[str]) -> dict[str, str]:
    """Read the header's two lines of names and values: by order, since real files double their tabs."""
    for k in range(len(lines) - 1):
        names = lines[k].split()
        if names and names[0].lower() == "datarate":
            return {key.lower(): value for key, value in zip(names, lines[k + 1].split(), strict=False)}
    return {}


def _is_row(line: str) -> bool:
    word = line.split("\t", maxsplit=1)[0].strip() if "\t" in line else (line.split() or [""])[0]
    return word.lstrip("+-").isdigit()


def _rows(path: object, lines: Sequence[str], first: int, markers: int) -> tuple[Array, Array]:
    width = 2 + 3 * markers
    values: list[list[float]] = []
    for k in range(first, len(lines)):
        if not lines[k].strip():
            continue
        words = lines[k].rstrip("\r\n").split("\t") if "\t" in lines[k] else lines[k].split()
        while len(words) > width and not words[-1].strip():
            words.pop()
        if len(words) > width:
            raise FileFormatError(
                path, f"line {k + 1}", f"there are {len(words)} values for {markers} markers (at most {width})"
            )
        if len(words) < width and "\t" not in lines[k]:
            raise FileFormatError(path, f"line {k + 1}", f"there are {len(words)} values, but {width} are needed")
        try:
            row = [number(word) for word in words]
        except ValueError as error:
            raise FileFormatError(path, f"line {k + 1}", f"a value is not a number ({error})") from None
        values.append(row + [np.nan] * (width - len(row)))
    table = np.array(values, dtype=float).reshape(-1, width)
    positions = table[:, 2:].reshape(len(table), markers, 3).copy()
    positions[~np.isfinite(positions).all(2)] = np.nan
    times = table[:, 1].copy()
    if not np.isfinite(times).all():
        bad = int(np.flatnonzero(~np.isfinite(times))[0])
        raise FileFormatError(path, f"frame {bad + 1}", "its time is not a number: is the file complete?")
    if (np.diff(times) <= 0).any():
        bad = int(np.flatnonzero(np.diff(times) <= 0)[0])
        raise FileFormatError(
            path, f"frame {bad + 2}", f"its time, {times[bad + 1]} s, does not come after the one before"
        )
    return times, positions


def _rate(facts: dict[str, str], times: Array, notes: list[str]) -> float:
    try:
        said = float(facts.get("datarate", "nan"))
    except ValueError:
        said = np.nan
    real = (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else said
    if np.isfinite(said) and np.isfinite(real) and abs(said - real) > 0.01 * real:
        notes.append(
            f"the header says {said:g} frames a second, but the times are {real:.6g} a second apart: these count"
        )
    result = real if np.isfinite(real) else said
    return float(result) if np.isfinite(result) and result > 0 else 100.0


def write_trc(
    path: str | os.PathLike[str],
    labels: Sequence[str],
    times: Array,
    positions: Array,
    *,
    units: str = "m",
) -> Path:
    """Write markers [m], shape [n, m, 3], to a TRC file that OpenSim reads; gaps become blanks."""
    if units not in LENGTHS:
        raise ArgumentError(f"units is {units!r}: use one of {', '.join(LENGTHS)}")
    frames, markers = positions.shape[:2]
    rate = (frames - 1) / (times[-1] - times[0]) if frames > 1 else 100.0
    scaled = positions / LENGTHS[units]
    axes = [f"{axis}{k}" for k in range(1, markers + 1) for axis in "XYZ"]
    head = [
        f"PathFileType\t4\t(X/Y/Z)\t{Path(path).name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{rate:.6f}\t{rate:.6f}\t{frames}\t{markers}\t{units}\t{rate:.6f}\t1\t{frames}",
        "Frame#\tTime\t" + "\t\t\t".join(labels) + "\t\t",
        "\t\t" + "\t".join(axes),
        "",
    ]
    with whole_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(head) + "\n")
        for k in range(frames):
            cells = ["" if not np.isfinite(value) else f"{value:.9g}" for value in scaled[k].ravel()]
            file.write("\t".join([str(k + 1), f"{times[k]:.9g}", *cells]) + "\n")
    return Path(path)
