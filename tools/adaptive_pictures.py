"""Pictures of adaptive dynamics: a falling pendulum at five budgets, three equilibria, and error against cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import kinetree as kt
from kinetree.bench import adaptive_quality as quality
from kinetree.model.compile import compile_model
from kinetree.model.description import Body
from kinetree.model.shapes import Capsule, Sphere
from kinetree.render import Camera, render_image, write_png

Color = tuple[float, float, float]
WHITE, GREY, RED = (1.0, 1.0, 1.0), (0.72, 0.73, 0.76), (0.80, 0.20, 0.16)
INK, GRID = (40, 40, 46), (222, 224, 228)
COLORS = ((31, 105, 184), (214, 122, 18), (40, 40, 46), (30, 140, 120), (176, 52, 96))
SCALE = 2  # plots are drawn twice as large, then reduced


def thick(model: kt.Model, radius: float, prefix: str = "", color: Color | None = None) -> list[Body]:
    """Return the links of a pendulum with capsules so thick that they are seen from afar."""
    bodies = []
    for body in model.description().bodies:
        shape = Capsule.between((0, 0, 0), (0, 0, -0.1), radius, color=color or body.shapes[0].color)
        parent = None if body.parent is None else prefix + body.parent
        bodies.append(replace(body, name=prefix + body.name, parent=parent, shapes=(shape,), joint_name=""))
    return bodies


def assemble(bodies: Sequence[Body]) -> kt.Model:
    """Return the bodies as a model to be drawn."""
    return compile_model(replace(kt.models.pendulum(1).description(), bodies=bodies))


def side_view(low: np.ndarray, high: np.ndarray, aspect: float) -> Camera:
    """Return a camera that sees the rectangle from `low` to `high` (x, z) from the side."""
    middle, size, fov = (low + high) / 2, high - low, 12.0
    away = max(size[1], size[0] / aspect) / 2 / np.tan(np.radians(fov / 2))
    return Camera(eye=(middle[0], -away, middle[1]), target=(middle[0], 0, middle[1]), fov=fov)


def label(picture: np.ndarray, texts: Sequence[tuple[float, float, str, str]], size: int = 15) -> np.ndarray:
    """Write texts into a picture, each at a point that is its `anchor`, as Pillow names them."""
    image = Image.fromarray(picture)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(size)
    for x, y, anchor, text in texts:
        pen.text((x, y), text, INK, font, anchor=anchor)
    return np.asarray(image)


def falling(width: int = 148, height: int = 94) -> np.ndarray:
    """Draw the frames of figure 5, a row for each budget."""
    swings = quality.figure_5()
    model = assemble(thick(kt.models.pendulum(quality.PENDULUM), 0.6))
    places = np.concatenate([kt.body_poses(model, q)[:, [0, 2], 3] for swing in swings for q in swing.q])
    camera = side_view(places.min(axis=0) - 1, places.max(axis=0) + 1, width / height)
    rows = []
    for swing in swings:
        frames = [
            render_image(model, q, camera=camera, width=width, height=height, ground=False, background=WHITE)
            for q in swing.q
        ]
        rows.append(np.concatenate(frames, axis=1))
    body, left, top = np.concatenate(rows), 84, 26
    picture = np.full((body.shape[0] + top, body.shape[1] + left, 3), 255, dtype=np.uint8)
    picture[top:, left:] = body
    texts = [(left + (k + 0.5) * width, top / 2, "mm", f"{t:g} s") for k, t in enumerate(swings[0].times)]
    for k, swing in enumerate(swings):
        texts.append((8.0, top + (k + 0.5) * height, "lm", f"{swing.joints} joint" + "s" * (swing.joints > 1)))
    return label(picture, texts)


def equilibria(width: int = 360, height: int = 440) -> np.ndarray:
    """Draw figure 6: three equilibria side by side; in grey behind the others, the one of all joints."""
    rest = quality.figure_6()
    pendulum = kt.models.pendulum(quality.LINKS)
    ends = (
        (f"all {quality.LINKS} joints", rest.full),
        (f"{quality.ALIVE} joints, chosen beforehand", rest.fixed),
        (f"{quality.ALIVE} joints, chosen as it moves", rest.adaptive),
    )
    places = np.concatenate([kt.body_poses(pendulum, q)[:, [0, 2], 3] for _, q in ends])
    camera = side_view(places.min(axis=0) - 0.3, places.max(axis=0) + 0.3, width / height)
    bodies = [*thick(pendulum, 0.045), *thick(pendulum, 0.03, "all", GREY)]
    nail = (0.05 * quality.HELD, 0.0, -0.05 * quality.HELD)
    panels = []
    for words, q in ends:
        held = kt.body_poses(pendulum, q)[quality.HELD] @ (0, 0, -0.1, 1)
        shapes = (
            Sphere(0.06, placement=(None, nail), color=RED),
            Capsule.between(nail, held[:3].tolist(), 0.012, color=RED),
        )
        model = assemble([*bodies, Body("spring", shapes=shapes)])
        both = np.concatenate((q, rest.full))
        drawn = render_image(model, both, camera=camera, width=width, height=height, ground=False, background=WHITE)
        title = np.full((34, width, 3), 255, dtype=np.uint8)
        panels.append(np.concatenate((label(title, [(12, 18, "lm", words)], 16), drawn)))
    return np.concatenate(panels, axis=1)


def error_against_cost(seeds: int = 4, size: tuple[int, int] = (960, 560)) -> np.ndarray:
    """Plot the error over what a step costs, both logarithmic, a line for each body."""
    found = [quality.curve(case, seeds=seeds) for case in quality.CASES]
    width, height = size[0] * SCALE, size[1] * SCALE
    left, top, right, bottom = 84 * SCALE, 40 * SCALE, 24 * SCALE, 62 * SCALE
    image = Image.new("RGB", (width, height), (255, 255, 255))
    pen = ImageDraw.Draw(image)
    font, bold = ImageFont.load_default(15 * SCALE), ImageFont.load_default(18 * SCALE)
    costs = np.concatenate([curve.costs for curve in found])
    x_low, x_high, y_low, y_high = 0.8 * costs.min(), 1.25 * costs.max(), 1e-4, 2.0

    def across(value: float) -> float:
        return float(left + np.log(value / x_low) / np.log(x_high / x_low) * (width - left - right))

    def up(value: float) -> float:
        share = np.log(max(value, y_low) / y_low) / np.log(y_high / y_low)
        return float(height - bottom - share * (height - top - bottom))

    for tick in (t for t in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0) if x_low <= t <= x_high):
        pen.line([(across(tick), top), (across(tick), height - bottom)], fill=INK if tick == 1 else GRID, width=SCALE)
        pen.text((across(tick), height - bottom + 8 * SCALE), f"{tick:g}", INK, font, anchor="mt")
    for tick in (1e-4, 1e-3, 1e-2, 0.1, 1.0):
        pen.line([(left, up(tick)), (width - right, up(tick))], fill=GRID, width=SCALE)
        pen.text((left - 8 * SCALE, up(tick)), f"{tick:g}", INK, font, anchor="rm")
    for k, (curve, color) in enumerate(zip(found, COLORS, strict=True)):
        points = [(across(c), up(e / curve.errors[0])) for c, e in zip(curve.costs, curve.errors, strict=True)]
        pen.line(points, fill=color, width=2 * SCALE)
        for x, y in points:
            pen.ellipse([x - 4 * SCALE, y - 4 * SCALE, x + 4 * SCALE, y + 4 * SCALE], fill=color)
        pen.text((left + 16 * SCALE, height - bottom - (110 - 22 * k) * SCALE), curve.name, color, font, anchor="lm")
    pen.text((left, 18 * SCALE), "error, over that of the smallest budget", INK, bold, anchor="lm")
    middle = (left + width - right) / 2
    pen.text((middle, height - 20 * SCALE), "cost of a step, over that of all joints", INK, font, anchor="mm")
    return np.asarray(image.resize(size, Image.Resampling.LANCZOS))


def draw(folder: Path) -> list[Path]:
    """Draw everything into a folder; returns the files."""
    made = []
    for name, make in (
        ("adaptive-pendulum.png", falling),
        ("adaptive-equilibrium.png", equilibria),
        ("adaptive-error.png", error_against_cost),
    ):
        write_png(folder / name, make())
        made.append(folder / name)
    return made
