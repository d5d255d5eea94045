"""Biovision hierarchies (BVH): skeleton and motion in one file.

The channels of a joint are applied in the order of the file, the first one outermost; angles are in degrees.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..errors import FileFormatError
from ..model.description import Description
from .notes import Notes
from .skeleton import UPRIGHT, Bone, check_options, describe_bones

UNITS = {"m": 1.0, "inch/0.45": 0.0254 / 0.45, "inch": 0.0254, "cm": 0.01, "mm": 0.001}
_WORD = re.compile(r"[{}]|[^\s{}]+")
TALL = 1.7  # [m], what a figure's size is held against to find the unit


@dataclass
class BvhFile:
    """A parsed BVH file: bones in z-up metres, and its motion as it stands in the file."""

    bones: list[Bone]
    scale: float
    notes: Notes
    channels: list[tuple[str, str]] = field(default_factory=list)
    frame_time: float = 0.0
    values: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))


def read_bvh(
    path: str | os.PathLike[str], text: str, *, scale: float | None = None, density: float = 1000.0,
    mass: float | None = None, spherical: bool = False,
) -> Description:  # fmt: skip
    """Read the skeleton of a BVH file; the options are those of `read_asf`.

    The format has no unit of length: without `scale` [m per unit] the one among m, cm, mm, inch and Acclaim's inch/0.45
    is taken that makes the figure most like a person, and noted.
    """
    check_options(scale, density, mass)
    parsed = parse_bvh(path, text, scale=scale, motion=False)
    return describe_bones(
        parsed.bones, parsed.bones[0].name, parsed.notes, density=density, mass=mass, spherical=spherical
    )


def parse_bvh(path: str | os.PathLike[str], text: str, *, scale: float | None = None, motion: bool = True) -> BvhFile:
    """Parse a BVH file; what is wrong is a `FileFormatError` with the line."""
    lines = text.splitlines()
    start = next((k for k, line in enumerate(lines) if line.strip().upper() == "MOTION"), None)
    parsed = BvhFile([], 1.0, Notes())
    _hierarchy(path, lines[:start], parsed)
    height = _size(parsed.bones)
    if scale is None:
        unit = min(UNITS, key=lambda unit: abs(np.log(max(height, 1e-9) * UNITS[unit] / TALL)))
        scale = UNITS[unit]
        parsed.notes.add("the unit of length is not in the file; give scale= (m per unit). Taken", f"{scale:g}")
    parsed.scale = scale
    for bone in parsed.bones:
        bone.start = UPRIGHT @ bone.start * scale
        bone.ends = [UPRIGHT @ end * scale for end in bone.ends]
    if motion:
        if start is None:
            raise FileFormatError(path, "", "there is no MOTION in this file: is it complete?")
        _motion(path, lines, start, parsed)
    return parsed


def _hierarchy(path: object, lines: list[str], parsed: BvhFile) -> None:
    words = _words(lines)
    _expect(path, words, "HIERARCHY")
    _expect(path, words, "ROOT")
    stack: list[Bone | None] = []  # None: an end site
    names: set[str] = set()
    name, line = _name(path, words), 1
    pending: tuple[str, str | None] | None = (name, None)
    while pending is not None or stack:
        if pending is not None:
            name, parent = pending
            _expect(path, words, "{")
            if name in names:
                raise FileFormatError(path, f"line {line}", f"two joints are named {name!r}: names must be unique")
            if name:
                names.add(name)
                parsed.bones.append(Bone(name, parent, np.zeros(3)))
                stack.append(parsed.bones[-1])
            else:
                stack.append(None)
            pending = None
        line, word = next(words, (len(lines), ""))
        bone, key = stack[-1], word.upper()
        if key == "OFFSET":
            offset = _three(path, words)
            above = stack[-2] if len(stack) > 1 else None
            if bone is not None:
                bone.start = offset
            if above is not None:
                above.ends.append(offset)
        elif key == "CHANNELS" and bone is not None:
            _channels(path, words, bone, parsed)
        elif key == "JOINT" and bone is not None:
            pending = (_name(path, words), bone.name)
        elif key == "END" and bone is not None:
            next(words, None)
            pending = ("", bone.name)
        elif key == "}":
            stack.pop()
        else:
            what = f"{word[:40]!r} is not expected here" if word else "the hierarchy is cut off: is the file complete?"
            raise FileFormatError(path, f"line {line}", what)
    rest = next(words, None)
    if rest is not None:
        raise FileFormatError(path, f"line {rest[0]}", f"{rest[1][:40]!r} after the first hierarchy: one ROOT is read")


def _words(lines: list[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, 1):
        for word in _WORD.findall(line):
            yield number, word


def _expect(path: object, words: Iterator[tuple[int, str]], wanted: str) -> None:
    line, word = next(words, (0, "the end of the file"))
    if word.upper() != wanted:
        raise FileFormatError(path, f"line {line}" if line else "", f"expected {wanted}, found {word[:40]!r}")


def _name(path: object, words: Iterator[tuple[int, str]]) -> str:
    line, word = next(words, (0, ""))
    if not word or word in "{}":
        raise FileFormatError(path, f"line {line}", "a joint needs a name")
    return word


def _three(path: object, words: Iterator[tuple[int, str]]) -> np.ndarray:
    found = [next(words, (0, "nothing")) for _ in range(3)]
    try:
        values = np.array([float(word) for _, word in found])
    except ValueError:
        values = np.full(3, np.nan)
    if not np.isfinite(values).all():
        text = " ".join(word for _, word in found)
        raise FileFormatError(path, f"line {found[0][0]}", f"an OFFSET needs three finite numbers, not {text!r}")
    return values


def _channels(path: object, words: Iterator[tuple[int, str]], bone: Bone, parsed: BvhFile) -> None:
    line, count = next(words, (0, ""))
    if not count.isdecimal() or int(count) > 6:
        raise FileFormatError(path, f"line {line}", f"CHANNELS needs a number of at most 6, not {count[:40]!r}")
    for _ in range(int(count)):
        line, word = next(words, (line, ""))
        kind, axis = word[1:].lower(), word[:1].lower()
        if kind not in ("rotation", "position") or axis not in ("x", "y", "z"):
            raise FileFormatError(
                path, f"line {line}", f"{word[:40]!r} is no channel: there are Xposition, Zrotation, ..."
            )
        label = f"{'r' if kind == 'rotation' else 't'}{axis}"
        if (bone.name, label) in parsed.channels[-6:]:
            raise FileFormatError(path, f"line {line}", f"joint {bone.name!r} has the channel {word} twice")
        parsed.channels.append((bone.name, label))
        if kind == "rotation":
            bone.rotations.append((label, UPRIGHT[:, "xyz".index(axis)]))
        elif bone.parent is not None:
            parsed.notes.add("position channels of joints other than the root are not represented", bone.name)


def _size(bones: list[Bone]) -> float:
    """Return the largest extent of the skeleton along an axis, in the file's unit."""
    places: dict[str, np.ndarray] = {}
    points = []
    for bone in bones:
        places[bone.name] = bone.start + (places[bone.parent] if bone.parent is not None else 0.0)
        points += [places[bone.name], *(places[bone.name] + end for end in bone.ends)]
    return float(np.ptp(np.array(points), axis=0)[1]) or float(np.ptp(np.array(points), axis=0).max())


def _motion(path: object, lines: list[str], start: int, parsed: BvhFile) -> None:
    header: dict[str, tuple[int, str]] = {}
    row = start + 1
    while row < len(lines) and len(header) < 2:
        if lines[row].strip():
            key, _, value = lines[row].partition(":")
            header[key.strip().lower()] = (row + 1, value.strip())
        row += 1
    try:
        frames = int(header["frames"][1])
        parsed.frame_time = float(header["frame time"][1])
    except (KeyError, ValueError):
        raise FileFormatError(path, f"line {start + 2}", "MOTION needs 'Frames: n' and 'Frame Time: seconds'") from None
    if not (np.isfinite(parsed.frame_time) and parsed.frame_time > 0):
        raise FileFormatError(path, f"line {header['frame time'][0]}", "the frame time must be positive")
    rows = []
    for number in range(row, len(lines)):
        words = lines[number].split()
        if not words:
            continue
        try:
            values = [float(word) for word in words]
        except ValueError:
            values = [np.nan]
        if len(values) != len(parsed.channels) or not np.isfinite(values).all():
            raise FileFormatError(
                path,
                f"line {number + 1}",
                f"a frame needs {len(parsed.channels)} finite numbers, this line has {len(words)}",
            )
        rows.append(values)
    if len(rows) != frames or frames < 1:
        raise FileFormatError(path, "", f"the file promises {frames} frames and has {len(rows)}: is it complete?")
    parsed.values = np.array(rows)
