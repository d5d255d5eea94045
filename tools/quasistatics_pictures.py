"""Pictures of quasi-statics: a bicycle chain that is pulled at several thresholds, and what a threshold costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import kinetree as kt
from kinetree.bench import quasistatics_linkages as linkages
from kinetree.bench import quasistatics_molecule as molecule
from kinetree.render import write_png

INK, GRID, GREY = (40, 40, 46), (222, 224, 228), (176, 180, 188)
COLORS = ((176, 52, 96), (214, 122, 18), (30, 140, 120), (31, 105, 184), (40, 40, 46))
SCALE = 2  # drawn twice as large, then reduced
STEPS = 200  # of each threshold on the molecule


class Line(NamedTuple):
    """A line of a plot."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    color: tuple[int, int, int]


def chain_picture(size: tuple[int, int] = (960, 430)) -> np.ndarray:
    """Draw figure 1: where a chain ends up after 10,000 steps, with all joints and at three thresholds, and its end."""
    model = kt.models.bicycle_chain(linkages.LINKS)
    exact, *others = linkages.pulled()
    width, height = size[0] * SCALE, size[1] * SCALE
    image = Image.new("RGB", (width, height), (255, 255, 255))
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(15 * SCALE)
    start = linkages.end_of_chain(model, model.neutral())
    shown = [(item, color) for item, color in zip(others, COLORS, strict=True) if item.bits in (1, 3, 6)]
    curves = [linkages.end_of_chain(model, item.q) for item, _ in shown]
    rest = linkages.end_of_chain(model, exact.q)
    half = width // 2

    def panel(low: np.ndarray, high: np.ndarray, left: int, thin: float) -> None:
        scale = min((half - 80 * SCALE) / (high[0] - low[0]), (height - 110 * SCALE) / (high[1] - low[1]))

        def place(points: np.ndarray) -> list[tuple[float, float]]:
            x = left + 40 * SCALE + scale * (points[:, 0] - low[0])
            return [(float(a), float(b)) for a, b in zip(x, height - 40 * SCALE - scale * (points[:, 1] - low[1]))]

        for points, color, thick in (
            (start, GRID, 3 * thin), (rest, GREY, 4 * thin),
            *((curve, color, thin) for curve, (_, color) in zip(curves, shown, strict=True)),
        ):  # fmt: skip
            pen.line(place(points), fill=color, width=round(thick * SCALE), joint="curve")
            for x, y in place(points):
                r = thick * SCALE * 0.8
                pen.ellipse([x - r, y - r, x + r, y + r], fill=color)

    every = np.concatenate((start, rest, *curves))
    panel(every.min(axis=0), every.max(axis=0), 0, 2.0)
    ends = np.concatenate([curve[-4:] for curve in (rest, *curves)])
    layer = image.copy()
    image.paste((255, 255, 255), (half, 0, width, height))
    panel(ends.min(axis=0) - 0.002, ends.max(axis=0) + 0.002, half, 3.0)
    image.paste(layer.crop((0, 0, half, height)), (0, 0))
    pen = ImageDraw.Draw(image)
    pen.text((16 * SCALE, 18 * SCALE), f"a chain of {linkages.LINKS} links, pulled at its end", INK, font, anchor="lm")
    pen.text((half + 16 * SCALE, 18 * SCALE), "its end", INK, font, anchor="lm")
    words = [("all joints", GREY)]
    words += [(f"2^-{item.bits}: {item.joints:.0f} joints a step", color) for item, color in shown]
    for k, (text, color) in enumerate(words):
        pen.text((16 * SCALE, (44 + 20 * k) * SCALE), text, color, font, anchor="lm")
    return np.asarray(image.resize(size, Image.Resampling.LANCZOS))


def plot(
    lines: Sequence[Line], title: str, below: str, *, names: str = "lt", size: tuple[int, int] = (480, 400)
) -> np.ndarray:
    """Plot lines over the logarithm of the threshold, with their names in a corner: "lt" is left, top."""
    width, height = size[0] * SCALE, size[1] * SCALE
    left, top, right, bottom = 70 * SCALE, 40 * SCALE, 16 * SCALE, 52 * SCALE
    image = Image.new("RGB", (width, height), (255, 255, 255))
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(14 * SCALE)
    xs = np.concatenate([line.x for line in lines])
    ys = np.concatenate([line.y for line in lines])
    y_low, y_high = 10.0 ** np.floor(np.log10(ys.min())), 10.0 ** np.ceil(np.log10(ys.max()))

    def across(value: float) -> float:
        return float(left + (value - xs.min()) / (xs.max() - xs.min()) * (width - left - right))

    def up(value: float) -> float:
        return float(height - bottom - np.log(value / y_low) / np.log(y_high / y_low) * (height - top - bottom))

    for bits in sorted(set(xs.tolist())):
        pen.line([(across(bits), top), (across(bits), height - bottom)], fill=GRID, width=SCALE)
        pen.text((across(bits), height - bottom + 6 * SCALE), f"{bits:.0f}", INK, font, anchor="mt")
    for power in np.arange(np.log10(y_low), np.log10(y_high) + 0.5):
        pen.line([(left, up(10.0**power)), (width - right, up(10.0**power))], fill=GRID, width=SCALE)
        pen.text((left - 8 * SCALE, up(10.0**power)), f"{10.0**power:g}", INK, font, anchor="rm")
    for line in lines:
        points = [(across(x), up(y)) for x, y in zip(line.x, line.y, strict=True)]
        pen.line(points, fill=line.color, width=2 * SCALE)
        for x, y in points:
            pen.ellipse([x - 3 * SCALE, y - 3 * SCALE, x + 3 * SCALE, y + 3 * SCALE], fill=line.color)
    for k, line in enumerate(lines):
        low, right_side = names[1] == "b", names[0] == "r"
        at_y = height - bottom - (len(lines) - k) * 20 * SCALE if low else top + (k + 0.7) * 20 * SCALE
        at_x = width - right - 10 * SCALE if right_side else left + 10 * SCALE
        pen.text((at_x, at_y), line.name, line.color, font, anchor=names[0] + "m")
    pen.text((left, 16 * SCALE), title, INK, font, anchor="lm")
    pen.text(((left + width - right) / 2, height - 16 * SCALE), below, INK, font, anchor="mm")
    return np.asarray(image.resize(size, Image.Resampling.LANCZOS))


def costs(joints: int = molecule.JOINTS) -> np.ndarray:
    """Draw figures 8 and 9: time, computed joints and displacement error of the molecule over the threshold."""
    model = kt.models.molecule(joints, molecule.SEED, branching=molecule.BRANCHING)
    times: list[Line] = []
    counts: list[Line] = []
    errors: list[Line] = []
    for (forces, site), color in zip(molecule.SITES.items(), COLORS, strict=False):
        rows = molecule.row_of_table(model, forces, (site[0] % (joints - forces), site[1]), STEPS)
        name = "1 force" if forces == 1 else f"{forces:,} forces"
        for found, ending, factor in ((times, "over DCA", None), (counts, "joints", 1.0), (errors, "error", 1.0)):
            own = [row for row in rows if row.name.endswith(ending) and "2^-" in row.name]
            values = [float(row.detail.split(" us")[0]) if factor is None else float(row.measured or 0) for row in own]
            found.append(Line(name, [float(bits) for bits in molecule.BITS], values, color))
    panels = (
        plot(times, "time of a step [us]", "-log2 of the threshold"),
        plot(counts, f"joints computed, of {joints:,}", "-log2 of the threshold"),
        plot(errors, "relative displacement error a step", "-log2 of the threshold", names="lb"),
    )
    return np.concatenate(panels, axis=1)


def millipede() -> np.ndarray:
    """Draw figure 6: time and computed joints of the millipede over the threshold, and the time of all joints."""
    model = kt.models.millipede(linkages.LEGS, linkages.LEG_LINKS, linkages.SPINE)
    bits = (0, 3, 7, 11, 15, 19, 25, 31, 37, 43)
    found, full = linkages.sweep(model, bits, 40 * linkages.BURSTS, None)
    alone, _ = linkages.sweep(model, bits, 10 * linkages.BURSTS, 1.0)
    x = [float(b) for b in bits]
    times = plot(
        [
            Line("without a hand-over", x, [1e6 * item.seconds for item in alone], GREY),
            Line("a step", x, [1e6 * item.seconds for item in found], COLORS[3]),
            Line("all joints", x, [1e6 * full] * len(x), COLORS[0]),
        ],
        "time of a step [us]", "-log2 of the threshold", names="rb",
    )  # fmt: skip
    counts = plot(
        [Line("", x, [max(item.joints, 1.0) for item in alone], COLORS[3])],
        f"joints computed, of {model.njoints:,}", "-log2 of the threshold",
    )  # fmt: skip
    return np.concatenate((times, counts), axis=1)


def draw(folder: Path) -> list[Path]:
    """Draw everything into a folder; returns the files."""
    made = []
    for name, make in (
        ("quasistatics-chain.png", chain_picture),
        ("quasistatics-molecule.png", costs),
        ("quasistatics-millipede.png", millipede),
    ):
        write_png(folder / name, make())
        made.append(folder / name)
    return made


if __name__ == "__main__":
    for path in draw(Path(__file__).resolve().parent.parent / "docs" / "images"):
        print(path)
