"""OpenSim's tables, MOT and STO: a header, one line of labels, and rows of numbers that begin with the time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import ArgumentError, FileFormatError
from ..files import whole_file
from ..typing import Array
from .files import as_text, read_bytes

MISSING = {"", "nan", "-nan", "na", "n/a", "null", "-", "+nan", "1.#qnan", "-1.#ind", "1.#ind"}


@dataclass(frozen=True)
class Table:
    """A table of numbers over time: `times` [n] and `data` [n, k] under `columns`.

    `in_degrees` is None where the file does not say it.
    """

    columns: tuple[str, ...]
    times: Array
    data: Array
    name: str = ""
    in_degrees: bool | None = None
    notes: tuple[str, ...] = ()
    header: dict[str, str] = field(default_factory=dict)

    def column(self, name: str) -> Array:
        """Return one column by name; an unknown name is an error that lists those there are."""
        if name not in self.columns:
            raise ArgumentError(f"the table has no column {name!r}; it has: {', '.join(self.columns)}")
        return self.data[:, self.columns.index(name)]


def number(word: str) -> float:
    """Read a number, or one of the many spellings of none (`nan`, `NAN`, `1.#QNAN`, an empty cell)."""
    text = word.strip()
    return np.nan if text.lower() in MISSING else float(text)


def read_table(path: str | os.PathLike[str]) -> Table:
    """Read a MOT or STO file."""
    lines = as_text(path, read_bytes(path)).splitlines()
    end = next((k for k, line in enumerate(lines) if line.strip().lower() == "endheader"), None)
    if end is None:
        raise FileFormatError(path, "header", "there is no line 'endheader': this is no complete MOT or STO file")
    header = _header(lines[:end])
    notes: list[str] = []
    start = next((k for k in range(end + 1, len(lines)) if lines[k].strip()), None)
    if start is None:
        raise FileFormatError(path, f"line {end + 1}", "nothing follows 'endheader': the labels and rows are missing")
    labels = [word.strip() for word in lines[start].split("\t")]
    if len([word for word in labels if word]) < 2:
        labels = lines[start].split()
    while labels and not labels[-1]:
        labels.pop()
    if not labels or labels[0].lower() != "time":
        raise FileFormatError(path, f"line {start + 1}", f"the first label is {labels[:1]}: it must be 'time'")
    rows = _rows(path, lines, start + 1, len(labels))
    if rows.shape[0] == 0:
        raise FileFormatError(path, f"line {start + 2}", "there are labels but no rows of numbers")
    labels = _unique(labels, notes)
    for key, count in (("nrows", rows.shape[0]), ("datarows", rows.shape[0])):
        if header.get(key, str(count)).strip().split(".")[0] != str(count):
            notes.append(f"the header says {header[key]} rows, but there are {count}")
    if not np.isfinite(rows[:, 0]).all():
        bad = int(np.flatnonzero(~np.isfinite(rows[:, 0]))[0])
        raise FileFormatError(path, f"row {bad + 1}", "the time is not a number")
    said = header.get("indegrees")
    degrees = None if said is None else said.strip().lower() in ("yes", "true", "1", "y")
    first = next((line.strip() for line in lines[:end] if line.strip()), "")
    name = header.get("name", "" if "=" in first else first)
    return Table(tuple(labels[1:]), rows[:, 0].copy(), rows[:, 1:].copy(), name, degrees, tuple(notes), header)


def _header(lines: Sequence[str]) -> dict[str, str]:
    header: dict[str, str] = {}
    for line in lines:
        key, equals, value = line.partition("=")
        if not equals:
            key, _, value = line.strip().partition(" ")
        header[key.strip().lower()] = value.strip()
    return header


def _rows(path: object, lines: Sequence[str], start: int, width: int) -> Array:
    values: list[list[float]] = []
    for k in range(start, len(lines)):
        if not lines[k].strip():
            continue
        words = lines[k].rstrip("\r\n").split("\t") if "\t" in lines[k] else lines[k].split()
        while len(words) > width and not words[-1].strip():
            words.pop()
        if len(words) != width:
            words = lines[k].split()
        if len(words) != width:
            raise FileFormatError(path, f"line {k + 1}", f"there are {len(words)} numbers under {width} labels")
        try:
            values.append([number(word) for word in words])
        except ValueError:
            bad = next(word for word in words if not _is_number(word))
            raise FileFormatError(path, f"line {k + 1}", f"{bad.strip()!r} is not a number") from None
    return np.array(values, dtype=float).reshape(-1, width)


def _is_number(word: str) -> bool:
    try:
        number(word)
    except ValueError:
        return False
    return True


def _unique(labels: list[str], notes: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    result = []
    for position, label in enumerate(labels):
        label = label or f"column_{position}"
        seen[label] = seen.get(label, 0) + 1
        if seen[label] > 1:
            notes.append(
                f"the label {label!r} stands there more than once: the later one is read as {label}_{seen[label]}"
            )
            label = f"{label}_{seen[label]}"
        result.append(label)
    return result


def write_table(
    path: str | os.PathLike[str],
    columns: Sequence[str],
    times: Array,
    data: Array,
    *,
    name: str = "kinetree",
    in_degrees: bool = False,
) -> Path:
    """Write a MOT or STO file that OpenSim reads (its older tools need `nRows` and `nColumns`, its newer ones not)."""
    table = np.column_stack((times, data))
    if len(columns) != table.shape[1] - 1:
        raise ArgumentError(f"there are {len(columns)} names for {table.shape[1] - 1} columns of data")
    if not np.isfinite(table).all():
        row, column = (int(k) for k in np.argwhere(~np.isfinite(table))[0])
        raise ArgumentError(f"row {row} of column {(['time', *columns])[column]!r} is not finite: it cannot be written")
    head = [
        name, "version=1", f"nRows={table.shape[0]}", f"nColumns={table.shape[1]}",
        f"inDegrees={'yes' if in_degrees else 'no'}", "endheader", "\t".join(["time", *columns]),
    ]  # fmt: skip
    with whole_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(head) + "\n")
        for row in table:
            file.write("\t".join(f"{value:.12g}" for value in row) + "\n")
    return Path(path)
