"""Force plates of a C3D file, types 1 to 4: from channels in the plate's axes to a wrench in the laboratory's.

With R the plate's axes (x from corner 2 to 1, y from corner 4 to 1, z = x cross y, into the floor), C the centre of
the surface and o the vector ORIGIN from the transducers' origin to C, in plate axes (C3D user guide, "Force
platforms"; its z component is negative, and files that have it positive mean its opposite):

    moment about C = M + F x o          wrench on the person = -R (F, moment), applied at C
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import FileFormatError
from ..typing import Array
from .recording import LENGTHS, Plate

CHANNELS = {1: 6, 2: 6, 3: 8, 4: 6}


def plates_of(
    path: object, parameters: Any, signals: Array, start: float, rate: float, notes: list[str]
) -> list[Plate]:
    """Return the force plates of the C3D `parameters` from the scaled analog `signals`, shape [channels, n]."""
    group = _group(parameters, "FORCE_PLATFORM")
    used = _numbers(group, "USED")
    count = int(used[0]) if used.size else 0
    plates: list[Plate] = []
    if count <= 0:
        return plates
    if signals.size == 0:
        notes.append(f"{count} force plates are announced, but there are no analog channels: they are left out")
        return plates
    kinds, channels = _numbers(group, "TYPE").astype(int), _numbers(group, "CHANNEL").astype(int)
    corners = _cube(group, "CORNERS", (3, 4, count))
    origins = _cube(group, "ORIGIN", (3, count))
    times = start + np.arange(signals.shape[1]) / rate
    for k in range(count):
        where = f"FORCE_PLATFORM {k + 1}"
        kind = int(kinds[k]) if k < kinds.size else 0
        if kind not in CHANNELS:
            notes.append(f"force plate {k + 1} is of type {kind}: types 1 to 4 are read, this one is left out")
            continue
        if corners is None or origins is None:
            raise FileFormatError(path, where, "CORNERS and ORIGIN must be given for every plate")
        table = channels.reshape(-1, count) if channels.ndim < 2 else channels
        own = table[: CHANNELS[kind], k] - 1
        if own.size < CHANNELS[kind] or own.min() < 0 or own.max() >= signals.shape[0]:
            raise FileFormatError(
                path, where, f"CHANNEL names {(own + 1).tolist()}, but there are {signals.shape[0]} analog channels"
            )
        names = _channel_units(parameters, own)
        raw = _zeroed(signals[own], _numbers(group, "ZERO"))
        plates.append(_plate(path, where, kind, raw, names, corners[:, :, k], origins[:, k], times, group, k))
    return plates


def _plate(
    path: object, where: str, kind: int, raw: Array, units: tuple[float, float], corners: Array, origin: Array,
    times: Array, group: Any, k: int,
) -> Plate:  # fmt: skip
    length = LENGTHS["mm"] if np.abs(corners).max() > 20 else 1.0  # POINT units; no laboratory is 20 m wide
    corners, origin = corners.T * length, origin * length
    if kind == 4:
        matrix = _cube(group, "CAL_MATRIX", None)
        if matrix is None or matrix.size < 36 * (k + 1):
            raise FileFormatError(path, where, "a plate of type 4 needs a CAL_MATRIX of 6 x 6")
        raw = matrix.reshape(6, 6, -1, order="F")[:, :, k] @ raw
    centre = corners.mean(0)
    x, y = corners[0] - corners[1], corners[0] - corners[3]
    if np.linalg.norm(np.cross(x, y)) < 1e-6:
        raise FileFormatError(path, where, "its corners lie on a line")
    x = x / np.linalg.norm(x)
    z = np.cross(x, y)
    z /= np.linalg.norm(z)
    axes = np.column_stack((x, np.cross(z, x), z))
    force, moment = _local(kind, raw, units, origin, length)
    sign = -1.0  # plates measure what acts on them
    return Plate(
        f"plate_{k + 1}", times, sign * force @ axes.T, np.tile(centre, (len(times), 1)), sign * moment @ axes.T,
        corners, kind,
    )  # fmt: skip


def _local(kind: int, raw: Array, units: tuple[float, float], origin: Array, length: float) -> tuple[Array, Array]:
    """Return force and moment about the surface's centre in plate axes, shapes [n, 3]."""
    newton, newton_metre = units
    if kind == 1:  # Fx Fy Fz Px Py Mz: the point of application is given, in the plate's axes
        force = newton * raw[:3].T
        px, py = length * raw[3], length * raw[4]
        fx, fy, fz = force.T
        return force, np.column_stack((py * fz, -px * fz, newton_metre * raw[5] + px * fy - py * fx))
    if kind == 3:  # eight piezo channels: Fx12 Fx34 Fy14 Fy23 Fz1 Fz2 Fz3 Fz4; ORIGIN holds a, b and the height
        a, b, height = origin
        x12, x34, y14, y23, z1, z2, z3, z4 = newton * raw
        force = np.column_stack((x12 + x34, y14 + y23, z1 + z2 + z3 + z4))
        moment = np.column_stack((b * (z1 + z2 - z3 - z4), a * (-z1 + z2 + z3 - z4), b * (x34 - x12) + a * (y14 - y23)))
        return force, moment + np.cross(force, np.array([0.0, 0.0, height if height < 0 else -height]))
    force, moment = newton * raw[:3].T, newton_metre * raw[3:6].T
    down = -origin if origin[2] > 0 else origin
    return force, moment + np.cross(force, down)


def _channel_units(parameters: Any, own: Array) -> tuple[float, float]:
    """Return newtons in the unit of the force channels and newton metres in that of the moment channels."""
    try:
        units = [str(text).strip().lower() for text in parameters["ANALOG"]["UNITS"]["value"]]
    except (KeyError, TypeError):
        units = []
    named = [units[k] if k < len(units) else "" for k in own]
    last = named[-1].replace(".", "").replace("*", "").replace(" ", "")
    moment = 1e-3 if last.endswith("mm") or last == "" else 1e-2 if last.endswith("cm") else 1.0
    return 1.0, moment


def _zeroed(raw: Array, zero: Array) -> Array:
    """Subtract the mean of the frames in which the plate was empty, where the file names them."""
    if zero.size >= 2 and 0 < zero[0] < zero[1] <= raw.shape[1]:
        return raw - raw[:, int(zero[0]) - 1 : int(zero[1])].mean(1, keepdims=True)
    return raw


def _numbers(group: Any, name: str) -> Array:
    try:
        return np.asarray(group[name]["value"], dtype=float)
    except (KeyError, TypeError, ValueError):
        return np.zeros(0)


def _cube(group: Any, name: str, shape: tuple[int, ...] | None) -> Array | None:
    values = _numbers(group, name)
    if shape is None:
        return values if values.size else None
    if values.shape == shape:
        return values
    return values.reshape(shape, order="F") if values.size == np.prod(shape) else None


def _group(parameters: Any, name: str) -> Any:
    try:
        return parameters[name]
    except (KeyError, TypeError):
        return {}
