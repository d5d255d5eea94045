"""Figures of the HTML report, as inline SVG: curves over time, cycles with their spread, and bars."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..typing import Array

COLORS = {"right": "#c0392b", "left": "#2471a3"}
PALETTE = ("#2471a3", "#c0392b", "#229954", "#d68910", "#7d3c98", "#5d6d7e")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 330.0, 170.0, 46.0, 8.0, 24.0, 32.0  # of a panel and its margins
MOST_POINTS = 400  # of a curve: more cannot be told apart on a page


def curves(panels: Sequence[tuple[str, str, Mapping[str, Array]]], times: Array, *, columns: int = 3) -> str:
    """Draw panels of curves over time; each is its title, its unit, and the curves by name."""
    drawn = []
    for title, unit, lines in panels:
        values = [np.asarray(own, dtype=float) for own in lines.values()]
        frame = _Frame(times[0], times[-1], *_range(values), title, unit, "time [s]")
        shapes = [frame.line(times, own, _color(name, k)) for k, (name, own) in enumerate(lines.items())]
        drawn.append(frame.svg(shapes, [(name, _color(name, k)) for k, name in enumerate(lines)]))
    return _sheet(drawn, columns)


def cycles(panels: Sequence[tuple[str, str, Mapping[str, tuple[Array, Array]]]], *, columns: int = 3) -> str:
    """Draw panels of normalised cycles, mean and one deviation of the strides, right and left."""
    percent = np.linspace(0.0, 100.0, 101)
    drawn = []
    for title, unit, sides in panels:
        edges = [mean + sign * spread for mean, spread in sides.values() for sign in (-1.0, 1.0)]
        frame = _Frame(0.0, 100.0, *_range(edges), title, unit, "% of the stride")
        shapes = [
            frame.band(percent, mean - spread, mean + spread, COLORS[side]) for side, (mean, spread) in sides.items()
        ]
        shapes += [frame.line(percent, mean, COLORS[side]) for side, (mean, _) in sides.items()]
        drawn.append(frame.svg(shapes, [(side, COLORS[side]) for side in sides]))
    return _sheet(drawn, columns)


def bars(names: Sequence[str], values: Mapping[str, Array], unit: str, limits: Mapping[str, float]) -> str:
    """Draw bars side by side for each name, with dashed lines at the limits."""
    top = max([float(np.max(own, initial=0.0)) for own in values.values()] + list(limits.values())) * 1.05 or 1.0
    frame = _Frame(0.0, float(max(len(names), 1)), 0.0, top, "", unit, "", width=3 * WIDTH, height=230.0, bottom=70.0)
    share = 0.8 / max(len(values), 1)
    shapes = []
    for k, own in enumerate(values.values()):
        for i, value in enumerate(own):
            shapes.append(frame.box(i + 0.1 + k * share, i + 0.1 + (k + 1) * share, float(value), PALETTE[k]))
    for label, limit in limits.items():
        shapes.append(frame.level(limit, label))
    for i, name in enumerate(names):
        x, y = frame.x(i + 0.6), frame.height - frame.bottom + 10
        turn = f'text-anchor="end" transform="rotate(-60 {x:.1f} {y:.1f})"'
        shapes.append(f'<text x="{x:.1f}" y="{y:.1f}" {turn}>{html.escape(name)}</text>')
    return _sheet(
        [frame.svg(shapes, [(name, PALETTE[k]) for k, name in enumerate(values)], ticks_x=False)], 1, 3 * WIDTH
    )


class _Frame:
    """The axes of one panel: from numbers to places."""

    def __init__(
        self, x0: float, x1: float, y0: float, y1: float, title: str, unit: str, below: str, *,
        width: float = WIDTH, height: float = HEIGHT, bottom: float = BOTTOM,
    ) -> None:  # fmt: skip
        self.x0, self.x1 = float(x0), float(x1) if x1 > x0 else float(x0) + 1.0
        self.y0, self.y1 = y0, y1
        self.title, self.unit, self.below = title, unit, below
        self.width, self.height, self.bottom = width, height, bottom

    def x(self, value: float) -> float:
        """Return the place of a value across."""
        return LEFT + (value - self.x0) / (self.x1 - self.x0) * (self.width - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Return the place of a value up."""
        return TOP + (self.y1 - value) / (self.y1 - self.y0) * (self.height - TOP - self.bottom)

    def line(self, x: Array, y: Array, color: str) -> str:
        """Draw a curve, with a break where it is not a number."""
        step = max(1, len(x) // MOST_POINTS)
        parts: list[str] = []
        pen = "M"
        for a, b in zip(x[::step], y[::step], strict=True):
            if math.isfinite(b):
                parts.append(f"{pen}{self.x(float(a)):.1f} {self.y(float(b)):.1f}")
                pen = "L"
            else:
                pen = "M"
        return f'<path d="{"".join(parts)}" fill="none" stroke="{color}" stroke-width="1.4"/>'

    def band(self, x: Array, low: Array, high: Array, color: str) -> str:
        """Draw the area between two curves."""
        there = [f"{self.x(float(a)):.1f} {self.y(float(b)):.1f}" for a, b in zip(x, high, strict=True)]
        back = [f"{self.x(float(a)):.1f} {self.y(float(b)):.1f}" for a, b in zip(x[::-1], low[::-1], strict=True)]
        return f'<path d="M{"L".join(there + back)}Z" fill="{color}" opacity="0.2"/>'

    def box(self, left: float, right: float, value: float, color: str) -> str:
        """Draw a bar."""
        x, y = self.x(left), self.y(value)
        size = f'width="{self.x(right) - x:.1f}" height="{self.y(0.0) - y:.1f}"'
        return f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{color}"/>'

    def level(self, value: float, label: str) -> str:
        """Draw a dashed line across, with a label."""
        y, right = self.y(value), self.width - RIGHT
        line = f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#c0392b" stroke-dasharray="4 3" fill="none"/>'
        return f'{line}<text x="{right}" y="{y - 3:.1f}" text-anchor="end" fill="#c0392b">{html.escape(label)}</text>'

    def svg(self, shapes: Sequence[str], legend: Sequence[tuple[str, str]], *, ticks_x: bool = True) -> str:
        """Return the panel: grid, ticks, shapes, title and legend."""
        right, floor = self.width - RIGHT, self.height - self.bottom
        parts = [f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{floor - TOP}" fill="#fafafa"/>']
        for value in ticks(self.y0, self.y1):
            y = self.y(value)
            parts.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#ddd" fill="none"/>')
            parts.append(f'<text x="{LEFT - 4}" y="{y + 3:.1f}" text-anchor="end">{_number(value)}</text>')
        for value in ticks(self.x0, self.x1) if ticks_x else []:
            x = self.x(value)
            parts.append(f'<path d="M{x:.1f} {TOP}V{floor}" stroke="#eee" fill="none"/>')
            parts.append(f'<text x="{x:.1f}" y="{floor + 12}" text-anchor="middle">{_number(value)}</text>')
        parts += shapes
        parts.append(f'<text x="{LEFT}" y="14" font-weight="600">{html.escape(self.title)}</text>')
        parts.append(f'<text x="{right}" y="14" text-anchor="end" fill="#777">{html.escape(self.unit)}</text>')
        below = f'x="{right}" y="{self.height - 4}" text-anchor="end" fill="#777"'
        parts.append(f"<text {below}>{html.escape(self.below)}</text>")
        beside = len(legend) <= 3  # below the axis; a longer list stands inside
        for k, (name, color) in enumerate(legend if len(legend) > 1 else ()):
            x = LEFT + 58 * k if beside else LEFT + 6
            y = self.height - 4 if beside else TOP + 10 + 11 * k
            parts.append(f'<path d="M{x} {y - 3}h12" stroke="{color}" stroke-width="2" fill="none"/>')
            parts.append(f'<text x="{x + 15}" y="{y}">{html.escape(name)}</text>')
        return "".join(parts)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers between `low` and `high`."""
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low]
    raw = span / most
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * factor for factor in (1.0, 2.0, 5.0, 10.0) if size * factor >= raw)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _range(values: Sequence[Array]) -> tuple[float, float]:
    every = np.concatenate([own[np.isfinite(own)] for own in values]) if values else np.zeros(0)
    if not every.size:
        return -1.0, 1.0
    low, high = float(min(every.min(), 0.0)), float(max(every.max(), 0.0))
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin


def _color(name: str, k: int) -> str:
    return COLORS.get(name, PALETTE[k % len(PALETTE)])


def _number(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")


def _sheet(panels: Sequence[str], columns: int, width: float = WIDTH) -> str:
    height = 230.0 if width > WIDTH else HEIGHT
    rows = -(-len(panels) // columns)
    groups = [
        f'<g transform="translate({width * (k % columns)} {height * (k // columns)})">{own}</g>'
        for k, own in enumerate(panels)
    ]
    size = f"0 0 {width * columns} {height * rows}"
    style = 'font-size="9.5" font-family="sans-serif"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" {style}>{"".join(groups)}</svg>'
