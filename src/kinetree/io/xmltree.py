"""A small XML tree that knows its line numbers, read without recursion and without entities."""

from __future__ import annotations

from collections.abc import Iterator
from xml.parsers import expat

import numpy as np

from ..errors import FileFormatError

DEEPEST = 499  # MuJoCo's XML reader refuses more; every tree that is walked here is bounded by it too


class Node:
    """An element: its tag, attributes, text, children and line."""

    __slots__ = ("attrib", "children", "line", "tag", "text")

    def __init__(self, tag: str, attrib: dict[str, str], line: int) -> None:
        """Make an element without children."""
        self.tag = tag
        self.attrib = attrib
        self.children: list[Node] = []
        self.line = line
        self.text = ""

    def find(self, tag: str) -> Node | None:
        """Return the first child with this tag."""
        return next((child for child in self.children if child.tag == tag), None)

    def findall(self, tag: str) -> list[Node]:
        """Return the children with this tag."""
        return [child for child in self.children if child.tag == tag]

    def iter(self) -> Iterator[Node]:
        """Yield this element and all below it, in the file's order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    @property
    def where(self) -> str:
        """Line, tag and name, for messages."""
        name = f" {self.attrib['name']!r}" if "name" in self.attrib else ""
        return f"line {self.line}, <{self.tag}>{name}"

    def numbers(self, path: object, key: str, default: str, count: int) -> np.ndarray:
        """Return an attribute as `count` finite numbers."""
        text = self.attrib.get(key, default)
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError:
            text = text[:60]
            raise FileFormatError(path, self.where, f"{key}={text!r} is not made of numbers") from None
        if values.shape != (count,):
            raise FileFormatError(path, self.where, f"{key}={text!r} has {values.size} numbers, not {count}")
        if not np.isfinite(values).all():
            raise FileFormatError(path, self.where, f"{key}={text!r} must be finite")
        return values


def parse_xml(path: object, data: bytes) -> Node:
    """Parse an XML file; document types (and with them entities), deep nesting and broken XML are refused by line."""
    parser = expat.ParserCreate()
    top = Node("", {}, 0)
    open_nodes = [top]

    def start(tag: str, attrib: dict[str, str]) -> None:
        if len(open_nodes) > DEEPEST:
            raise FileFormatError(
                path, f"line {parser.CurrentLineNumber}",
                f"elements are nested more than {DEEPEST} deep; a long chain can be kept in a URDF file, which is flat",
            )  # fmt: skip
        node = Node(tag, attrib, parser.CurrentLineNumber)
        open_nodes[-1].children.append(node)
        open_nodes.append(node)

    def end(_: str) -> None:
        open_nodes.pop()

    def text(data: str) -> None:
        open_nodes[-1].text += data

    def refuse(*_: object) -> None:
        raise FileFormatError(
            path, f"line {parser.CurrentLineNumber}",
            "document types and entities (<!DOCTYPE, <!ENTITY) are not read, for safety: remove the declaration",
        )  # fmt: skip

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse  # called before anything is expanded
    parser.buffer_text = True
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        message = f"this is not well-formed XML ({expat.ErrorString(error.code)}): is the file complete?"
        raise FileFormatError(path, f"line {error.lineno}, column {error.offset + 1}", message) from None
    except (LookupError, ValueError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(path, "line 1", f"the declared encoding is not understood: {error}") from None
    return top.children[0]
