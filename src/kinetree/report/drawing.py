"""Flat drawings of lines, polygons, discs and words, written as SVG or as PNG (with Pillow) by the file's suffix."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from ..errors import ArgumentError, missing_extra
from ..files import whole_file

SCALE = 2  # a PNG is drawn twice as large, then reduced: smooth lines
ADVANCE = 0.56  # about the width of a letter by the size of the font
Point = tuple[float, float]


@dataclass(frozen=True)
class _Shape:
    """A line of two points, a polygon of more, or a disc about one; `note` is shown where the mouse rests on it."""

    points: tuple[Point, ...]
    radius: float
    fill: str | None
    stroke: str | None
    width: float
    note: str


@dataclass(frozen=True)
class _Words:
    place: Point
    text: str
    size: float
    fill: str
    anchor: str
    turned: bool


@dataclass
class Drawing:
    """A drawing of `width` by `height` pixels on white; x goes right and y down. Later things cover earlier ones."""

    width: float
    height: float
    items: list[_Shape | _Words] = field(default_factory=list)

    def line(self, start: Point, end: Point, color: str, width: float = 1.0) -> None:
        """Add a line."""
        self.items.append(_Shape((start, end), 0.0, None, color, width, ""))

    def polygon(
        self, points: Sequence[Point], fill: str, stroke: str | None = None, width: float = 1.0, note: str = ""
    ) -> None:
        """Add a polygon."""
        self.items.append(_Shape(tuple(points), 0.0, fill, stroke, width, note))

    def disc(
        self, center: Point, radius: float, fill: str, stroke: str | None = None, width: float = 1.0, note: str = ""
    ) -> None:
        """Add a disc."""
        self.items.append(_Shape((center,), radius, fill, stroke, width, note))

    def words(
        self, place: Point, text: str, size: float, fill: str = "#202428", anchor: str = "start", turned: bool = False
    ) -> None:
        """Add words whose `anchor` ("start", "middle") stands at half height at `place`; `turned` ones go down."""
        self.items.append(_Words(place, text, size, fill, anchor, turned))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the drawing as `.svg` or `.png`."""
        target = Path(path)
        if target.suffix.lower() not in (".svg", ".png"):
            raise ArgumentError(f"a drawing cannot be written to {target.name!r}: the name must end in .svg or .png")
        if target.suffix.lower() == ".svg":
            with whole_file(target) as partial:
                partial.write_text(self.svg(), encoding="utf-8")
        else:
            image = self.image()
            with whole_file(target) as partial:
                image.save(partial)
        return target

    def svg(self) -> str:
        """Return the drawing as an SVG document."""
        size = f'width="{self.width:.0f}" height="{self.height:.0f}" viewBox="0 0 {self.width:.0f} {self.height:.0f}"'
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="DejaVu Sans, Helvetica, Arial, sans-serif">',
            '<rect width="100%" height="100%" fill="#ffffff"/>',
        ]
        lines += [_svg_words(item) if isinstance(item, _Words) else _svg_shape(item) for item in self.items]
        return "\n".join([*lines, "</svg>", ""])

    def image(self) -> Any:
        """Return the drawing as a Pillow image."""
        try:
            from PIL import Image, ImageDraw, ImageFont
        except ImportError:
            raise missing_extra("pillow", "render", "a drawing as PNG") from None
        image = Image.new("RGB", (round(self.width) * SCALE, round(self.height) * SCALE), "#ffffff")
        pen = ImageDraw.Draw(image)
        fonts: dict[float, Any] = {}
        for item in self.items:
            if isinstance(item, _Shape):
                _paint(pen, item)
                continue
            font = fonts.setdefault(item.size, ImageFont.load_default(item.size * SCALE))
            x, y = (SCALE * value for value in item.place)
            if not item.turned:
                pen.text((x, y), item.text, item.fill, font, anchor="lm" if item.anchor == "start" else "mm")
                continue
            left, top, right, bottom = pen.textbbox((0, 0), item.text, font)
            label = Image.new("L", (max(int(right - left), 1), max(int(bottom - top), 1)), 0)
            ImageDraw.Draw(label).text((-left, -top), item.text, 255, font)
            label = label.transpose(Image.Transpose.ROTATE_270)
            image.paste(item.fill, (round(x - label.width / 2), round(y)), label)
        return image.resize((round(self.width), round(self.height)), Image.Resampling.LANCZOS)


def _svg_shape(shape: _Shape) -> str:
    paint = f'fill="{shape.fill or "none"}"'
    if shape.stroke:
        paint += f' stroke="{shape.stroke}" stroke-width="{shape.width:g}"'
    if len(shape.points) == 1:
        (x, y), name = shape.points[0], "circle"
        where = f'cx="{x:.2f}" cy="{y:.2f}" r="{shape.radius:.2f}"'
    elif len(shape.points) == 2:
        ((x, y), (u, v)), name = shape.points, "line"
        where = f'x1="{x:.2f}" y1="{y:.2f}" x2="{u:.2f}" y2="{v:.2f}"'
    else:
        name, where = "polygon", f'points="{" ".join(f"{x:.2f},{y:.2f}" for x, y in shape.points)}"'
    if not shape.note:
        return f"<{name} {where} {paint}/>"
    return f"<{name} {where} {paint}><title>{escape(shape.note)}</title></{name}>"


def _svg_words(words: _Words) -> str:
    x, y = words.place
    turn = f' transform="rotate(90 {x:.2f} {y:.2f})"' if words.turned else ""
    return (
        f'<text x="{x:.2f}" y="{y:.2f}" font-size="{words.size:g}" fill={quoteattr(words.fill)} '
        f'text-anchor="{words.anchor}" dominant-baseline="central"{turn}>{escape(words.text)}</text>'
    )


def _paint(pen: Any, shape: _Shape) -> None:
    points = [(SCALE * x, SCALE * y) for x, y in shape.points]
    width = max(1, round(SCALE * shape.width))
    if len(points) == 2:
        pen.line(points, fill=shape.stroke, width=width)
    elif len(points) > 2:
        pen.polygon(points, fill=shape.fill, outline=shape.stroke, width=width if shape.stroke else 0)
    else:
        # SVG's stroke is half outside of the disc, Pillow's wholly inside
        (x, y), reach = points[0], SCALE * (shape.radius + (shape.width / 2 if shape.stroke else 0.0))
        box = [x - reach, y - reach, x + reach, y + reach]
        pen.ellipse(box, fill=shape.fill, outline=shape.stroke, width=width if shape.stroke else 0)
