"""Acclaim skeletons (ASF) and their motions (AMC).

A bone's local rotation is C M C^-1: C turns the world's axes into the bone's (its `axis`), and M applies the angles in
the order of `dof`, the first one innermost. So angle k turns about the fixed axis C e_k of the bone (Acclaim file
format, M. Schafer 1994).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

import numpy as np

from ..errors import FileFormatError
from ..model.description import Description
from .notes import Notes
from .skeleton import UPRIGHT, Bone, check_options, describe_bones, turn_about

INCH = 0.0254  # [m]; Acclaim lengths are inches times `:units length`
ROTATIONS = ("rx", "ry", "rz")
SECTIONS = (":version", ":name", ":units", ":documentation", ":root", ":bonedata", ":hierarchy", ":skin")


@dataclass
class AsfSkeleton:
    """A parsed ASF file: bones in z-up metres, and how its motions are to be read."""

    bones: list[Bone]
    name: str
    scale: float
    root_order: list[str]
    root_position: np.ndarray
    notes: Notes
    dofs: dict[str, list[str]] = field(default_factory=dict)


def read_asf(
    path: str | os.PathLike[str], text: str, *, scale: float | None = None, density: float = 1000.0,
    mass: float | None = None, spherical: bool = False,
) -> Description:  # fmt: skip
    """Read the text of an ASF file into a description.

    Args:
        path: The file, for messages.
        text: Its content.
        scale: Metres per unit of length; without it the file's `:units length` says (0.45 there is 0.056444 m).
        density: Of the capsules that give the bones their mass [kg/m3].
        mass: Total mass [kg] that the bones are scaled to, if given.
        spherical: Give bones with three angles a ball joint instead of three revolutes.
    """
    check_options(scale, density, mass)
    skeleton = parse_asf(path, text, scale=scale)
    return describe_bones(
        skeleton.bones, skeleton.name, skeleton.notes, density=density, mass=mass, spherical=spherical
    )


def parse_asf(path: str | os.PathLike[str], text: str, *, scale: float | None = None) -> AsfSkeleton:
    """Parse an ASF file; what is wrong is a `FileFormatError` with the line."""
    sections = _sections(path, text)
    units = {words[0].lower(): (line, words) for line, words in sections.get(":units", []) if len(words) > 1}
    unit_line, unit = units.get("length", (0, ["length", "1.0"]))
    if scale is None:
        length = _numbers(path, unit_line, unit[1:2], 1)[0]
        if length <= 0:
            raise FileFormatError(path, f"line {unit_line}", "the unit of length must be positive")
        scale = INCH / length
    degrees = units.get("angle", (0, ["angle", "deg"]))[1][1].lower().startswith("deg")
    angle = np.pi / 180 if degrees else 1.0
    notes = Notes()
    name = " ".join(word for _, words in sections.get(":name", []) for word in words)
    root, order, position = _root(path, sections.get(":root", []), angle, scale, notes)
    skeleton = AsfSkeleton([root], name, scale, order, position, notes)
    directions = {root.name: np.zeros(3)}
    for block in _blocks(path, sections.get(":bonedata", [])):
        bone, end, dofs = _bone(path, block, angle, scale, notes)
        if bone.name in directions:
            raise FileFormatError(
                path, f"line {block[0][0]}", f"two bones are named {bone.name!r}: names must be unique"
            )
        directions[bone.name] = end
        skeleton.dofs[bone.name] = dofs
        skeleton.bones.append(bone)
    _connect(path, sections.get(":hierarchy", []), skeleton, directions)
    if ":skin" in sections:
        notes.add("skins are not represented", "; ".join(" ".join(words) for _, words in sections[":skin"]) or "skin")
    return skeleton


def _sections(path: object, text: str) -> dict[str, list[tuple[int, list[str]]]]:
    sections: dict[str, list[tuple[int, list[str]]]] = {}
    current: list[tuple[int, list[str]]] | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        words = raw.split("#")[0].split()
        if not words:
            continue
        if words[0].startswith(":"):
            key = words[0].lower()
            if key not in SECTIONS:
                raise FileFormatError(
                    path, f"line {number}", f"{words[0]!r} is no ASF section; known: {', '.join(SECTIONS)}"
                )
            current = sections.setdefault(key, [])
            words = words[1:]
        if current is None:
            raise FileFormatError(path, f"line {number}", "text before the first section (such as :version)")
        if words:
            current.append((number, words))
    for needed in (":root", ":bonedata", ":hierarchy"):
        if needed not in sections:
            raise FileFormatError(path, "", f"the section {needed} is missing: is the file complete?")
    return sections


def _root(
    path: object, rows: list[tuple[int, list[str]]], angle: float, scale: float, notes: Notes
) -> tuple[Bone, list[str], np.ndarray]:
    known = {words[0].lower(): (line, words[1:]) for line, words in rows}
    line, order = known.get("order", (0, ["TX", "TY", "TZ", "RX", "RY", "RZ"]))
    order = [word.lower() for word in order]
    if sorted(order) != ["rx", "ry", "rz", "tx", "ty", "tz"]:
        raise FileFormatError(path, f"line {line}", f"the root's order is {order}, not TX TY TZ RX RY RZ in some order")
    place = _numbers(path, *known.get("position", (0, ["0", "0", "0"])), 3)
    turn = _numbers(path, *known.get("orientation", (0, ["0", "0", "0"])), 3)
    if turn.any():
        notes.add("the root's own orientation is not represented", " ".join(known["orientation"][1]))
    rotations = [(label, UPRIGHT[:, "xyz".index(label[1])]) for label in reversed(order) if label in ROTATIONS]
    return Bone("root", None, np.zeros(3), rotations=rotations), order, UPRIGHT @ place * scale


def _blocks(path: object, rows: list[tuple[int, list[str]]]) -> list[list[tuple[int, list[str]]]]:
    blocks: list[list[tuple[int, list[str]]]] = []
    inside = False
    for line, words in rows:
        word = words[0].lower()
        if word == "begin":
            if inside:
                raise FileFormatError(path, f"line {line}", "a bone begins before the last one ended: add 'end'")
            blocks.append([])
            inside = True
        elif word == "end" and inside:
            inside = False
        elif inside:
            blocks[-1].append((line, words))
        else:
            raise FileFormatError(path, f"line {line}", f"{words[0]!r} stands outside of begin ... end")
    if inside:
        raise FileFormatError(path, "", "the last bone has no 'end': is the file complete?")
    return [block for block in blocks if block]


def _bone(
    path: object, rows: list[tuple[int, list[str]]], angle: float, scale: float, notes: Notes
) -> tuple[Bone, np.ndarray, list[str]]:
    known: dict[str, tuple[int, list[str]]] = {}
    limits: list[str] = []
    for line, words in rows:
        key = words[0].lower()
        if key == "limits" or key.startswith("("):
            limits += re.findall(r"[^\s(),]+", " ".join(words[1:] if key == "limits" else words))
        else:
            known[key] = (line, words[1:])
    first = rows[0][0]
    name = " ".join(known.get("name", (0, []))[1])
    if not name:
        raise FileFormatError(path, f"line {first}", "a bone needs a name")
    for key in ("direction", "length"):
        if key not in known:
            raise FileFormatError(path, f"line {first}", f"bone {name!r} has no {key}")
    direction = _numbers(path, *known["direction"], 3)
    length = float(_numbers(path, *known["length"], 1)[0])
    size = float(np.linalg.norm(direction))
    if length < 0 or (length > 0 and size < 1e-6):
        raise FileFormatError(
            path, f"line {first}", f"bone {name!r} needs a direction and a length that is not negative"
        )
    end = UPRIGHT @ direction * (length * scale / size) if length else np.zeros(3)
    line, words = known.get("axis", (0, ["0", "0", "0", "XYZ"]))
    tilt = _numbers(path, line, words[:3], 3) * angle
    sequence = (words[3] if len(words) > 3 else "XYZ").lower()
    if sorted(sequence) != ["x", "y", "z"]:
        raise FileFormatError(
            path, f"line {line}", f"bone {name!r}: the order of its axis is {sequence!r}, not like XYZ"
        )
    axes = np.eye(3)
    for letter, value in zip(sequence, tilt, strict=True):
        axes = turn_about(letter, float(value)) @ axes
    line, dofs = known.get("dof", (0, []))
    dofs = [dof.lower() for dof in dofs]
    wrong = [dof for dof in dofs if dof not in ROTATIONS]
    if wrong or len(set(dofs)) < len(dofs):
        raise FileFormatError(
            path,
            f"line {line}",
            f"bone {name!r} has dof {dofs}: each of rx, ry, rz may stand once; lengths are not supported",
        )
    bone = Bone(name, None, np.zeros(3))
    bone.ends = [end]
    bone.rotations = [(dof, UPRIGHT @ axes[:, ROTATIONS.index(dof)]) for dof in reversed(dofs)]
    if limits:
        bone.limits = _limits(path, f"line {first}", name, limits, dofs, angle)
    for key in set(known) - {"id", "name", "direction", "length", "axis", "dof"}:
        notes.add(f"{key} of bones is not represented", name)
    return bone, end, dofs


def _limits(
    path: object, where: str, name: str, words: list[str], dofs: list[str], angle: float
) -> dict[str, tuple[float, float]]:
    try:
        values = [float(word) * angle for word in words]
    except ValueError:
        raise FileFormatError(path, where, f"the limits of bone {name!r} are not numbers: {' '.join(words)}") from None
    if len(values) != 2 * len(dofs) or any(np.isnan(values)):
        raise FileFormatError(path, where, f"bone {name!r} has {len(dofs)} dof and {len(values)} limits: two each")
    return {dof: (values[2 * k], values[2 * k + 1]) for k, dof in enumerate(dofs)}


def _connect(
    path: object, rows: list[tuple[int, list[str]]], skeleton: AsfSkeleton, ends: dict[str, np.ndarray]
) -> None:
    bones = {bone.name: bone for bone in skeleton.bones}
    for line, (parent, *children) in rows:
        if parent.lower() in ("begin", "end") and not children:
            continue
        for name in (parent, *children):
            if name not in bones:
                raise FileFormatError(path, f"line {line}", f"the hierarchy names {name!r}, which is not in :bonedata")
        for child in children:
            if bones[child].parent is not None or child == "root":
                raise FileFormatError(path, f"line {line}", f"bone {child!r} has two parents: a skeleton is a tree")
            bones[child].parent, bones[child].start = parent, ends[parent]
    for bone in skeleton.bones[1:]:
        if bone.parent is None:
            raise FileFormatError(path, "", f"bone {bone.name!r} is not in the :hierarchy: add its parent")


def _numbers(path: object, line: int, words: list[str], count: int) -> np.ndarray:
    try:
        values = np.array([float(word) for word in words])
    except ValueError:
        raise FileFormatError(path, f"line {line}", f"{' '.join(words)!r} is not made of numbers") from None
    if values.shape != (count,) or not np.isfinite(values).all():
        raise FileFormatError(path, f"line {line}", f"{' '.join(words)!r} is not made of {count} finite numbers")
    return values
