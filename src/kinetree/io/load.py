"""`load`: any model file that kinetree understands, told apart by what is in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import ArgumentError, FileFormatError, ModelError
from ..model.compile import compile_model
from ..model.description import Description
from ..model.model import Model
from .asf import read_asf
from .bvh import read_bvh
from .chains import float_roots
from .files import as_text, read_bytes
from .mjcf import read_mjcf
from .osim import read_osim
from .urdf import read_urdf
from .xmltree import Node, parse_xml


@dataclass(frozen=True)
class Source:
    """A file that was read: its bytes, and its XML tree or its lines."""

    path: str
    data: bytes
    xml: Node | None
    text: str

    @property
    def first_word(self) -> str:
        """The first word that is not in a comment, in upper case."""
        for line in self.text.splitlines():
            words = line.split()
            if words and not words[0].startswith("#"):
                return words[0].upper()
        return ""


@dataclass(frozen=True)
class Format:
    """A kind of model file: how to know it and how to read it. `options` are the keywords that the reader takes."""

    name: str
    suffixes: str
    matches: Callable[[Source], bool]
    read: Callable[..., Description]
    options: tuple[str, ...] = ()


def _is_xml(tag: str) -> Callable[[Source], bool]:
    return lambda source: source.xml is not None and source.xml.tag == tag


SKELETON = ("scale", "density", "mass", "spherical")

FORMATS = (
    Format("URDF", ".urdf", _is_xml("robot"), lambda s: read_urdf(s.path, _root(s))),
    Format("MJCF", ".xml, .mjcf", _is_xml("mujoco"), lambda s: read_mjcf(s.path, s.data, _root(s))),
    Format("OSIM", ".osim", _is_xml("OpenSimDocument"), lambda s: read_osim(s.path, _root(s))),
    Format(
        "ASF", ".asf", lambda s: s.xml is None and s.first_word in (":VERSION", ":NAME", ":UNITS", ":ROOT"),
        lambda s, **options: read_asf(s.path, s.text, **options), SKELETON,
    ),
    Format(
        "BVH", ".bvh", lambda s: s.xml is None and s.first_word == "HIERARCHY",
        lambda s, **options: read_bvh(s.path, s.text, **options), SKELETON,
    ),
)  # fmt: skip


def _root(source: Source) -> Node:
    if source.xml is None:
        raise FileFormatError(source.path, "line 1", "this is not an XML file")
    return source.xml


def load(path: str | os.PathLike[str], *, floating: bool = False, strict: bool = False, **options: Any) -> Model:
    """Load a model from a URDF, MJCF, OSIM, ASF or BVH file; the content decides which it is, not the suffix.

    Args:
        path: The file.
        floating: Give every root that is welded to the world a free joint (`root_joint`), whose coordinates are the
            root's pose in the world.
        strict: Raise a `FileFormatError` if anything in the file is not represented, instead of listing it in
            `model.warnings`.
        **options: For skeletons (ASF, BVH): `scale` [m per unit], `density` [kg/m3], `mass` [kg], `spherical`; see
            `kinetree.io.asf.read_asf`.
    """
    source = _read(path)
    reader = _format_of(source)
    unknown = sorted(set(options) - set(reader.options))
    if unknown:
        takes = ", ".join(reader.options) or "none"
        raise ArgumentError(f"{path}: a {reader.name} file does not take the option {unknown[0]!r}; it takes: {takes}")
    description = reader.read(source, **options)
    try:
        model = compile_model(float_roots(description) if floating else description)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    if strict and model.warnings:
        listed = "\n".join(f"  - {line}" for line in model.warnings)
        raise FileFormatError(path, "", f"strict: not all of the file is represented:\n{listed}")
    return model


def _read(path: str | os.PathLike[str]) -> Source:
    data = read_bytes(path)
    name = os.fspath(path)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<" or data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return Source(name, data, parse_xml(path, data), "")
    head = data[:4096]
    if head[1:2] == b"\x50" and b"\0" in head:
        raise FileFormatError(path, "byte 1", f"this is a C3D file of measured markers, not a model; {_supported()}")
    if b"\0" in head:
        raise FileFormatError(path, "", f"this is binary data; {_supported()}")
    return Source(name, data, None, as_text(path, data))


def _format_of(source: Source) -> Format:
    for candidate in FORMATS:
        if candidate.matches(source):
            return candidate
    if source.xml is not None:
        what, where = f"the root element is <{source.xml.tag}>", f"line {source.xml.line}"
        if source.xml.tag == "mujocoinclude":
            what = "this is a part of an MJCF model: load the file that includes it"
    elif source.first_word in (":FULLY-SPECIFIED", ":DEGREES", ":RADIANS"):
        what, where = "this is an AMC motion: use kinetree.io.motion.read_motion with its ASF skeleton", "line 1"
    else:
        what, where = "the content is not that of a model file", "line 1"
    raise FileFormatError(source.path, where, f"{what}; {_supported()}")


def _supported() -> str:
    return "kinetree loads " + ", ".join(f"{item.name} ({item.suffixes})" for item in FORMATS)
