"""C3D: markers, analog channels, force plates and events in one binary file, read and written through ezc3d.

A header that lies (more frames than the file has room for, a parameter block beyond its end) is found here, before
the library that reads the file believes it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileFormatError, missing_extra
from ..files import whole_file
from ..typing import Array
from .c3d_check import check_c3d
from .files import read_bytes
from .plates import plates_of
from .recording import LENGTHS, Event, Recording


def _ezc3d() -> Any:
    try:
        import ezc3d
    except ImportError:
        raise missing_extra("ezc3d", "human", "a C3D file") from None
    return ezc3d


def read_c3d(path: str | os.PathLike[str]) -> Recording:
    """Read a C3D file: points, analog channels, force plates of types 1 to 4, and events."""
    data = read_bytes(path)
    notes: list[str] = []
    check_c3d(path, data)
    library = _ezc3d()
    try:
        content = library.c3d(os.fspath(path))
        parameters, points = content["parameters"], np.asarray(content["data"]["points"], dtype=float)
        rate = float(content["header"]["points"]["frame_rate"])
        first = int(content["header"]["points"]["first_frame"])
    except (OSError, RuntimeError, ValueError, KeyError, IndexError, MemoryError, TypeError, ArithmeticError) as error:
        raise FileFormatError(path, "", f"is not a complete C3D file ({error})") from None
    frames, count = points.shape[2], points.shape[1]
    if count == 0 or frames == 0:
        raise FileFormatError(path, "POINT", f"there are {count} points in {frames} frames: nothing was measured")
    if not (np.isfinite(rate) and rate > 0):
        raise FileFormatError(path, "POINT:RATE", f"is {rate}: it must be a positive number of frames a second")
    units = (_texts(parameters, "POINT", "UNITS") or ["mm"])[0].strip() or "mm"
    if units.lower() not in LENGTHS:
        notes.append(f"POINT:UNITS is {units!r}, which is unknown: millimetres are assumed")
        units = "mm"
    positions = np.ascontiguousarray(points[:3].transpose(2, 1, 0)) * LENGTHS[units.lower()]
    gone = (positions == 0).all(2) | ~np.isfinite(positions).all(2)
    positions[gone] = np.nan
    labels = _many(parameters, "POINT", "LABELS", count)
    if len(labels) < count:
        notes.append(f"{count - len(labels)} of {count} points have no label")
        labels += [f"*{k}" for k in range(len(labels), count)]
    times = (first + np.arange(frames)) / rate
    analog, analog_rate = _analog(content, parameters)
    recording = Recording(
        os.fspath(path), labels[:count], times, positions, rate, units, events=_events(parameters),
        analog=dict(analog), analog_rate=analog_rate,
        prefixes=tuple(_texts(parameters, "SUBJECTS", "LABEL_PREFIXES")), notes=notes,
    )  # fmt: skip
    signals = np.array([values for _, values in analog]) if analog else np.zeros((0, 0))
    recording.plates = plates_of(path, parameters, signals, times[0], analog_rate, notes)
    return recording


def _value(parameters: Any, group: str, name: str) -> Any:
    try:
        return parameters[group][name]["value"]
    except (KeyError, TypeError):
        return []


def _texts(parameters: Any, group: str, name: str) -> list[str]:
    return [str(text).strip() for text in _value(parameters, group, name)]


def _many(parameters: Any, group: str, name: str, count: int) -> list[str]:
    """Collect LABELS, LABELS2, LABELS3, ...: a parameter holds no more than 255 of them."""
    found = _texts(parameters, group, name)
    more = 2
    while len(found) < count and _texts(parameters, group, f"{name}{more}"):
        found += _texts(parameters, group, f"{name}{more}")
        more += 1
    return found


def _analog(content: Any, parameters: Any) -> tuple[list[tuple[str, Array]], float]:
    values = np.asarray(content["data"]["analogs"], dtype=float)
    if values.ndim != 3 or values.shape[1] == 0 or values.shape[2] == 0:
        return [], 0.0
    labels = _many(parameters, "ANALOG", "LABELS", values.shape[1])
    labels += [f"channel_{k + 1}" for k in range(len(labels), values.shape[1])]
    rate = float(content["header"]["analogs"]["frame_rate"])
    seen: dict[str, int] = {}
    result = []
    for k in range(values.shape[1]):
        name = labels[k] or f"channel_{k + 1}"
        seen[name] = seen.get(name, 0) + 1
        result.append((name if seen[name] == 1 else f"{name}_{seen[name]}", values[0, k]))
    return result, rate


def _events(parameters: Any) -> list[Event]:
    labels, contexts = _texts(parameters, "EVENT", "LABELS"), _texts(parameters, "EVENT", "CONTEXTS")
    times = np.asarray(_value(parameters, "EVENT", "TIMES"), dtype=float)
    if times.ndim == 1:
        times = times.reshape(2, -1) if times.size % 2 == 0 else np.zeros((2, 0))
    events = []
    for k in range(min(len(labels), times.shape[1] if times.ndim == 2 else 0)):
        moment = 60.0 * times[0, k] + times[1, k]
        if np.isfinite(moment):
            events.append(Event(labels[k], contexts[k] if k < len(contexts) else "", float(moment)))
    return sorted(events, key=lambda event: event.time)


def write_c3d(
    path: str | os.PathLike[str],
    labels: list[str],
    rate: float,
    positions: Array,
    *,
    events: list[Event] | None = None,
    analog: dict[str, Array] | None = None,
    analog_rate: float = 0.0,
) -> Path:
    """Write markers [m], shape [n, m, 3] (gaps as NaN), to a C3D file in millimetres, and analog channels with it."""
    content = _ezc3d().c3d()
    content["parameters"]["POINT"]["RATE"]["value"] = [rate]
    content["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    content["parameters"]["POINT"]["LABELS"]["value"] = list(labels)
    points = np.ones((4, positions.shape[1], positions.shape[0]))
    points[:3] = 1000.0 * positions.transpose(2, 1, 0)
    content["data"]["points"] = points
    if analog:
        content["parameters"]["ANALOG"]["RATE"]["value"] = [analog_rate]
        content["parameters"]["ANALOG"]["LABELS"]["value"] = list(analog)
        content["data"]["analogs"] = np.array(list(analog.values()))[None]
    if events:
        content.add_parameter("EVENT", "USED", [len(events)])
        content.add_parameter("EVENT", "LABELS", [event.label for event in events])
        content.add_parameter("EVENT", "CONTEXTS", [event.context for event in events])
        content.add_parameter(
            "EVENT", "TIMES", np.array([[event.time // 60 for event in events], [event.time % 60 for event in events]])
        )
    with whole_file(path) as temporary:
        content.write(os.fspath(temporary))
    return Path(path)
