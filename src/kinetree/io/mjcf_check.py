"""What an MJCF file must fulfil before MuJoCo sees it, and what of its text is not represented."""

from __future__ import annotations

import math
from pathlib import Path, PurePath

from ..errors import FileFormatError
from .files import as_text, read_bytes
from .notes import Notes
from .xmltree import Node, parse_xml

MOST_INCLUDES = 200
TEXTS = {
    "name", "class", "childclass", "joint", "joint1", "joint2", "body", "body1", "body2", "geom", "geom1", "geom2",
    "site", "site1", "site2", "tendon", "tendon1", "tendon2", "material", "mesh", "hfield", "texture", "file",
    "model", "target", "objname", "refname", "data", "key", "value", "prefix", "actuator", "sensor", "camera",
    "cranksite", "slidersite", "content_type", "plugin", "instance", "body1name", "reftype", "objtype", "type",
    "dclass",
}  # fmt: skip
MAY_BE_INFINITE = ("range", "ctrlrange", "forcerange", "actfrcrange", "actuatorfrcrange", "lengthrange", "actrange")
KNOWN = {
    "joint": {
        "name", "class", "type", "pos", "axis", "range", "limited", "ref", "springref", "stiffness", "damping",
        "armature", "frictionloss", "actuatorfrcrange", "actuatorfrclimited", "springdamper", "align",
    },
    "freejoint": {"name", "class", "align"},
    "geom": {
        "name", "class", "type", "size", "fromto", "pos", "quat", "axisangle", "euler", "xyaxes", "zaxis", "mass",
        "density", "rgba", "material", "mesh", "fitscale", "shellinertia", "hfield",
    },
    "site": {"name", "class", "pos", "type", "size", "rgba", "material", "group"},
    "body": {
        "name", "pos", "quat", "axisangle", "euler", "xyaxes", "zaxis", "childclass", "mocap", "gravcomp",
    },
}  # fmt: skip
TOLD_BY_NAME = {
    "actuator", "sensor", "tendon", "equality", "contact", "keyframe", "deformable", "custom", "extension",
}  # fmt: skip
TOLD_ELSEWHERE = TOLD_BY_NAME | {
    "compiler", "default", "worldbody", "asset", "include",
}  # fmt: skip


def check_mjcf(path: str, root: Node) -> tuple[dict[str, bytes], list[Node]]:
    """Check numbers and includes; returns the included files by the name that the model gives them, and all trees."""
    folder = Path(path).resolve().parent
    included: dict[str, bytes] = {}
    trees = [root]
    for tree in trees:  # grows while it is walked
        where_from = path if tree is root else str(folder / list(included)[trees.index(tree) - 1])
        for node in tree.iter():
            _check_numbers(where_from, node)
            whole = node.tag == "model" and "file" in node.attrib  # <asset><model file=...>, to be attached
            if not whole and node.tag != "include":
                continue
            name = node.attrib.get("file", "")
            if name in included:
                continue
            included[name] = _read_include(where_from, node, folder, name)
            if len(included) > MOST_INCLUDES:
                raise FileFormatError(where_from, node.where, f"more than {MOST_INCLUDES} files are included")
            trees.append(parse_xml(folder / name, included[name]))
    return included, trees


def _read_include(path: str, node: Node, folder: Path, name: str) -> bytes:
    if not name:
        raise FileFormatError(path, node.where, 'an <include> needs file="..."')
    place = (folder / name).resolve()
    if PurePath(name).is_absolute() or not place.is_relative_to(folder):
        raise FileFormatError(
            path,
            node.where,
            f"include {name!r} is outside of the model's folder, which is not read, for safety: move it",
        )
    try:
        data = read_bytes(place)
        as_text(place, data)
    except FileFormatError as error:
        raise FileFormatError(path, node.where, f"include {name!r}: {error}") from None
    return data


def _check_numbers(path: object, node: Node) -> None:
    for key, text in node.attrib.items():
        if key in TEXTS or not text or text.lstrip("+-")[:1] not in "0123456789.nNiI":
            continue
        try:
            values = [float(word) for word in text.split()]
        except ValueError:
            continue  # a word: MuJoCo knows which attributes are numbers
        if any(math.isnan(value) for value in values):
            raise FileFormatError(path, node.where, f"{key}={text!r} has a NaN: replace it by a number")
        if any(math.isinf(value) for value in values) and key not in MAY_BE_INFINITE:
            raise FileFormatError(path, node.where, f"{key}={text!r} must be finite")


def list_text_left_out(trees: list[Node], notes: Notes) -> None:
    """Note sections and attributes that a model does not hold."""
    for tree in trees:
        for section in tree.children:
            if section.tag in ("option", "size", "visual", "statistic"):
                words = [f"{key}={value}" for key, value in section.attrib.items()]
                words += [f"<{child.tag}>" for child in section.children]
                if words:
                    notes.add(f"<{section.tag}> settings are not represented", *words)
            elif section.tag == "compiler":
                for key in ("balanceinertia", "boundmass", "boundinertia", "settotalmass", "inertiafromgeom"):
                    if section.attrib.get(key, "auto") not in ("auto", "false", "0", "-1"):
                        notes.add("compiler settings that replace masses of the file", f"{key}={section.attrib[key]}")
                if section.attrib.get("alignfree", "false") == "true":
                    notes.add("compiler settings that are not followed", "alignfree=true")
            elif section.tag not in TOLD_ELSEWHERE and section.tag not in ("body", "geom", "site", "joint", "frame"):
                notes.add("sections that are not represented", f"<{section.tag}> at line {section.line}")
        bodies = [section for section in tree.children if section.tag not in TOLD_BY_NAME]
        for node in (node for section in bodies for node in section.iter()):
            known = KNOWN.get(node.tag)
            if known is not None:
                for key in node.attrib:
                    if key not in known:
                        notes.add(f"{node.tag} attributes that are not represented", key)
                if node.tag == "joint" and any(
                    len(node.attrib.get(k, "").split()) > 1 for k in ("stiffness", "damping")
                ):
                    notes.add("non-linear springs and dampers are kept in their linear part only", node.where)
