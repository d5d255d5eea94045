"""A line plot as a PNG, drawn with Pillow: enough for the demo, and no further package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import missing_extra

SCALE = 2  # drawn twice as large, then reduced: smooth lines
SIZE = (960, 540)
MARGINS = (92, 72, 28, 64)  # left, top, right, bottom
COLORS = ((31, 105, 184), (214, 122, 18), (40, 40, 46), (30, 140, 120))
INK, GRID = (40, 40, 46), (222, 224, 228)


def line_plot(
    path: Path, x: np.ndarray, lines: Mapping[str, np.ndarray], *, title: str, x_label: str, y_label: str
) -> Path:
    """Draw named `lines` over `x` into a PNG at `path`."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise missing_extra("pillow", "render", "a plot") from None
    width, height = SIZE[0] * SCALE, SIZE[1] * SCALE
    left, top, right, bottom = (margin * SCALE for margin in MARGINS)
    image = Image.new("RGB", (width, height), (255, 255, 255))
    pen = ImageDraw.Draw(image)
    font, bold = ImageFont.load_default(15 * SCALE), ImageFont.load_default(19 * SCALE)
    y_all = np.concatenate([np.asarray(line, dtype=float) for line in lines.values()])
    x_ticks, y_ticks = ticks(float(x.min()), float(x.max())), ticks(float(y_all.min()), float(y_all.max()))
    x_low, x_high = float(x.min()), max(float(x.max()), float(x.min()) + 1e-12)
    y_low, y_high = y_ticks[0], y_ticks[-1]

    def across(value: Any) -> Any:
        return left + (value - x_low) / (x_high - x_low) * (width - left - right)

    def up(value: Any) -> Any:
        return height - bottom - (value - y_low) / (y_high - y_low) * (height - top - bottom)

    for tick in y_ticks:
        pen.line([(left, up(tick)), (width - right, up(tick))], fill=GRID, width=SCALE)
        pen.text((left - 8 * SCALE, up(tick)), f"{tick:g}", INK, font, anchor="rm")
    for tick in (tick for tick in x_ticks if x_low <= tick <= x_high):
        pen.line([(across(tick), top), (across(tick), height - bottom)], fill=GRID, width=SCALE)
        pen.text((across(tick), height - bottom + 8 * SCALE), f"{tick:g}", INK, font, anchor="mt")
    pen.text((left, top - 46 * SCALE), title, INK, bold, anchor="lm")
    pen.text(((left + width - right) / 2, height - 16 * SCALE), x_label, INK, font, anchor="mm")
    pen.text((left - 8 * SCALE, top - 22 * SCALE), y_label, INK, font, anchor="rm")
    place = float(width - right)
    for (name, line), color in reversed(list(zip(lines.items(), COLORS, strict=False))):
        points = list(zip(across(x).tolist(), up(np.asarray(line)).tolist(), strict=True))
        if len(points) > 1:
            pen.line(points, fill=color, width=3 * SCALE, joint="curve")
        pen.text((place, top - 46 * SCALE), name, color, font, anchor="rm")
        place -= pen.textlength(name, font) + 22 * SCALE
    image.resize(SIZE, Image.Resampling.LANCZOS).save(path)
    return path


def ticks(low: float, high: float, about: int = 6) -> list[float]:
    """Return round numbers from at or below `low` to at or above `high`, about so many."""
    if not high > low:
        low, high = low - max(1.0, abs(low)) / 2, high + max(1.0, abs(high)) / 2
    rough = (high - low) / about
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * min((1.0, 2.0, 2.5, 5.0, 10.0), key=lambda factor: abs(np.log(factor * power / rough)))
    first, last = int(np.floor(low / step + 1e-9)), int(np.ceil(high / step - 1e-9))
    return [round(k * step, 12) for k in range(first, last + 1)]
