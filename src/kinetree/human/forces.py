"""Ground forces from a second file: which columns are a force, a point or a torque, of which plate."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import ArgumentError, FileFormatError
from ..io.mot import Table, read_table
from ..io.recording import Plate
from ..typing import Array

QUANTITIES = ("force", "point", "torque")
_AXIS = re.compile(r"^(?P<stem>.*?)_?(?P<axis>[xyz]|(?<=_)[123])$")
_WORDS = re.compile(r"ground|force|torque|moment|grf|grm|cop|reaction|center_of_pressure|plate|free")


def read_forces(
    path: str | os.PathLike[str], columns: Mapping[str, Mapping[str, Sequence[str]]] | None = None
) -> tuple[list[Plate], list[str]]:
    """Read the plates of a MOT or STO file; returns them in the file's axes, and notes on what was repaired.

    `columns` maps a plate's name to the three columns of its `force`, its `point` and its `torque` (the last two may
    be left out); without it they are recognised by their names.
    """
    table = read_table(path)
    found = recognise(table.columns) if columns is None else {key: dict(value) for key, value in columns.items()}
    if not found:
        raise FileFormatError(
            path, "labels",
            "no ground forces were recognised; say which columns they are with columns={'right': {'force': [...], "
            f"'point': [...], 'torque': [...]}}}}; the file has: {', '.join(table.columns)}",
        )  # fmt: skip
    notes = [f"{os.path.basename(os.fspath(path))}: {note}" for note in table.notes]
    plates = []
    for name, own in found.items():
        unknown = sorted(set(own) - set(QUANTITIES))
        if unknown:
            raise ArgumentError(f"columns[{name!r}] has {unknown[0]!r}: use {', '.join(QUANTITIES)}")
        force = _three(table, own.get("force"), name, "force")
        point = _three(table, own.get("point"), name, "point")
        torque = _three(table, own.get("torque"), name, "torque")
        plates.append(_in_metres(Plate(name, table.times, force, point, torque), notes))
    return plates, notes


def recognise(columns: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """Return plate -> quantity -> its columns, for names such as `ground_force_r_vx`, `1_ground_force_px`, `f1_1`."""
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for column in columns:
        parsed = _parse(column.lower())
        if parsed is not None:
            key, quantity, axis = parsed
            groups.setdefault((key, quantity), {}).setdefault(axis, column)
    plates: dict[str, dict[str, list[str]]] = {}
    for (key, quantity), axes in groups.items():
        if len(axes) == 3:
            plates.setdefault(key or "plate", {})[quantity] = [axes[axis] for axis in "xyz"]
    return {key: own for key, own in plates.items() if "force" in own}


def _parse(column: str) -> tuple[str, str, str] | None:
    match = _AXIS.match(column)
    if match is None:
        return None
    stem, axis = match["stem"], {"1": "x", "2": "y", "3": "z"}.get(match["axis"], match["axis"])
    tail = re.search(r"(?:^|_)([vpmft])$", stem)
    short = re.fullmatch(r"([fpm])(\d*)", stem)
    if short is not None:  # f1_1
        return short[2], {"f": "force", "p": "point", "m": "torque"}[short[1]], axis
    words = set(_WORDS.findall(stem))
    if tail is not None:
        quantity = {"v": "force", "f": "force", "p": "point", "m": "torque", "t": "torque"}[tail[1]]
        stem = stem[: tail.start()]
    elif words & {"cop", "center_of_pressure"}:
        quantity = "point"
    elif words & {"torque", "moment", "grm"}:
        quantity = "torque"
    elif words & {"force", "grf", "reaction"}:
        quantity = "force"
    else:
        return None
    if tail is not None and not words and not re.search(r"\d|left|right|^[lr]$|fp", stem):
        return None
    return _WORDS.sub("", stem).strip("_. ").replace("__", "_"), quantity, axis


def _three(table: Table, names: Sequence[str] | None, plate: str, quantity: str) -> Array:
    if names is None:
        if quantity == "force":
            raise ArgumentError(f"plate {plate!r} has no force columns; the file has: {', '.join(table.columns)}")
        return np.zeros((len(table.times), 3))
    if len(names) != 3:
        raise ArgumentError(f"columns[{plate!r}][{quantity!r}] names {len(names)} columns: give x, y and z")
    values = np.column_stack([table.column(name) for name in names])
    return np.where(np.isfinite(values), values, 0.0)


def _in_metres(plate: Plate, notes: list[str]) -> Plate:
    """Points in millimetres give themselves away: no laboratory is 50 m wide."""
    size = np.linalg.norm(plate.force, axis=1)
    pressed = size > 20
    far = np.median(np.abs(plate.point[pressed]).max(1)) if pressed.any() else 0.0
    if far < 50:
        return plate
    torques = np.abs(plate.torque[pressed]).max(1)
    scale = 1e-3 if np.median(torques) > 500 else 1.0
    notes.append(f"plate {plate.name!r}: its points of application are in millimetres and are read so")
    return Plate(plate.name, plate.times, plate.force, plate.point * 1e-3, plate.torque * scale)
