"""A picture of an assembly tree: which of its nodes move, which are computed at an update, and which rest."""

from __future__ import annotations

import heapq
import os
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..adaptive.regions import Regions
from ..errors import ArgumentError
from ..kernels import layout as at
from ..kernels import nodes as to
from .drawing import ADVANCE, Drawing

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart
COLORS = ("#d55e00", "#f0e442", "#0072b2", "#d3d6da")
INK, THIN, EDGE = "#202428", "#7b8188", "#a4a9b0"
ACTIVE, FORCED, FRONT, PASSIVE = range(4)
TITLES = ("active", "at rest, force update", "passive front", "passive")
ALL = 600  # as many nodes are drawn one by one
SOME = 300  # of a larger tree, while it goes down the update region
FEW = 100  # and while it goes down what is passive
ROW = 80.0  # slots of a row of trees
NAMED = 40  # so many bodies have their names written
LEGEND = 96.0  # height of what stands above the tree
MARGIN = 24.0


class _Layout(NamedTuple):
    """Where the nodes stand that are drawn: slots across and levels down."""

    across: dict[int, float]
    down: dict[int, float]
    folded: dict[int, np.ndarray]
    """Of nodes that stand for all below them: how many of those are of each colour."""
    slots: float
    levels: float
    unseen: int
    """Nodes of trees for which there is no room."""


def draw_assembly_tree(source: Any, path: str | os.PathLike[str], *, most: int = ALL) -> Path:
    """Draw the assembly tree of a simulation, coloured by region, as `.svg` or `.png`; returns the path.

    `source` is an adaptive simulation, or its `regions`. A disc is a node that joins two by a joint, a square a body; a
    dark ring marks the rigid front, and a white point an active node inside which a changing force acts. Of a tree with
    more than `most` nodes the upper levels are drawn, those of the update region further down than the others, and a
    triangle with a number stands for the nodes below. In an SVG, a node under the mouse says its joint or body.
    """
    regions = source if isinstance(source, Regions) else getattr(source, "regions", None)
    if not isinstance(regions, Regions):
        raise ArgumentError(
            f"{type(source).__name__} has no regions of an assembly tree: give a simulation with kt.Adaptive(...)"
        )
    if int(most) != most or most < 1:
        raise ArgumentError(f"most is {most!r}: give a whole number of nodes, at least 1")
    kinds = np.select([regions.active, regions.force_update, regions.passive_front], [ACTIVE, FORCED, FRONT], PASSIVE)
    layout = _lay_out(regions, kinds, int(most))
    step = float(np.clip(1400 / max(layout.slots, 1), 8, 34))
    drop = float(np.clip(620 / (layout.levels + 1), 26, 60))
    radius = min(0.38 * step, 9.0)
    named = layout.slots <= NAMED and len(layout.down) <= 2 * NAMED and not layout.folded
    foot = 90.0 if named else 44.0 if layout.folded else 16.0
    width = max(2 * MARGIN + layout.slots * step, 960.0)
    left = (width - layout.slots * step) / 2
    drawing = Drawing(width, LEGEND + MARGIN + layout.levels * drop + foot + MARGIN)
    places = {n: (left + x * step, LEGEND + MARGIN + layout.down[n] * drop) for n, x in layout.across.items()}
    parent = regions.assembly.tree[:, to.PARENT]
    for node, place in places.items():
        if parent[node] >= 0:
            moves = bool(regions.active[parent[node]])
            drawing.line(places[int(parent[node])], place, INK if moves else EDGE, 1.4 if moves else 0.9)
    for node, place in places.items():
        if node in layout.folded:
            _triangle(drawing, place, layout.folded[node], regions, node, 1.5 * radius, step)
        else:
            _node(drawing, place, radius, regions, kinds, node, named)
    _legend(drawing, regions, kinds, layout)
    return drawing.save(path)


def _lay_out(regions: Regions, kinds: np.ndarray, most: int) -> _Layout:
    tree = regions.assembly.tree
    left, right = tree[:, to.LEFT].tolist(), tree[:, to.RIGHT].tolist()
    roots = regions.assembly.roots.tolist()
    whole = len(tree) <= most
    if not whole and len(roots) > max(most // 3, 1):  # trees in which something moves first
        kept = sorted(range(len(roots)), key=lambda k: (kinds[roots[k]] != ACTIVE, k))[: max(most // 3, 1)]
        roots = [roots[k] for k in sorted(kept)]
    some = most if len(roots) > 1 else SOME
    queue = [(int(kinds[root] >= FRONT), 0, root) for root in roots]
    heapq.heapify(queue)
    level = dict.fromkeys(roots, 0)
    opened = set()
    while queue:
        passive, depth, node = heapq.heappop(queue)
        if not whole and len(level) + 2 > min(most, FEW if passive else some):
            continue
        opened.add(node)
        for child in (left[node], right[node]):
            if child >= 0:
                level[child] = depth + 1
                if right[child] >= 0:
                    heapq.heappush(queue, (int(kinds[child] >= FRONT), depth + 1, child))
    across, down, slots, levels = _rows(roots, left, right, opened, level)
    folded = {node: np.zeros(4, dtype=int) for node in level if node not in opened and right[node] >= 0}
    unseen = 0
    if not whole:
        above = tree[:, to.PARENT].tolist()
        stands_for = [-1] * len(tree)  # the drawn node that each node is below
        for node in range(len(tree) - 1, -1, -1):
            stands_for[node] = node if node in level else stands_for[above[node]] if above[node] >= 0 else -1
        owners = np.array(stands_for)
        unseen = int((owners < 0).sum())
        for node in folded:
            folded[node] = np.bincount(kinds[owners == node], minlength=4)
    return _Layout(across, down, folded, slots, levels, unseen)


def _rows(
    roots: list[int], left: list[int], right: list[int], opened: set[int], level: dict[int, int]
) -> tuple[dict[int, float], dict[int, float], float, float]:
    """Put trees side by side, in rows; returns places across and down, and how many slots and levels there are."""
    across: dict[int, float] = {}
    down: dict[int, float] = {}
    start = top = widest = deepest = 0.0
    for root in roots:
        places, room = _columns(root, left, right, opened)
        depth = max(level[node] for node in places)
        if start > 0 and start + room > ROW:
            start, top = 0.0, deepest + 2.5
        across |= {node: start + place for node, place in places.items()}
        down |= {node: top + level[node] for node in places}
        widest, deepest = max(widest, start + room), max(deepest, top + depth)
        start += room + 0.5
    return across, down, widest, deepest


def _columns(root: int, left: list[int], right: list[int], opened: set[int]) -> tuple[dict[int, float], float]:
    """Give every node at the end of a branch its place in a tree, and every other the middle of its children."""
    across: dict[int, float] = {}
    slots = 0.0
    stack = [root]
    while stack:
        node = stack[-1]
        children = [child for child in (left[node], right[node]) if child >= 0] if node in opened else []
        waiting = [child for child in children if child not in across]
        if waiting:
            stack.append(waiting[0])
            continue
        if children:
            across[node] = sum(across[child] for child in children) / len(children)
        else:
            room = 1.0 if right[node] < 0 else 2.0  # a triangle takes more
            across[node] = slots + room / 2
            slots += room
        stack.pop()
    return across, slots


def _node(
    drawing: Drawing,
    place: tuple[float, float],
    radius: float,
    regions: Regions,
    kinds: np.ndarray,
    node: int,
    named: bool,
) -> None:
    ring = bool(regions.rigid_front[node])
    stroke, width = (INK, 2.0 if radius > 4 else 1.5) if ring else (THIN, 0.8)
    color, note = COLORS[kinds[node]], _note(regions, node)
    (x, y), reach = place, 0.86 * radius
    if regions.assembly.tree[node, to.KIND] == to.LEAF:
        corners = [(x - reach, y - reach), (x + reach, y - reach), (x + reach, y + reach), (x - reach, y + reach)]
        drawing.polygon(corners, color, stroke, width, note)
        if named:
            unit = regions.assembly.tree[node, to.UNIT]
            drawing.words((x, y + radius + 5), _short(_body(regions, unit)), 10, turned=True)
        return
    drawing.disc(place, radius, color, stroke, width, note)
    if regions.active[node] and regions.force_update[node]:
        drawing.disc(place, 0.4 * radius, "#ffffff")


def _triangle(
    drawing: Drawing,
    place: tuple[float, float],
    counts: np.ndarray,
    regions: Regions,
    node: int,
    half: float,
    step: float,
) -> None:
    """Draw a triangle whose bands have the areas of what it stands for, and the number of nodes under it."""
    (x, y), tall = place, 2.2 * half
    top = y - 0.3 * tall
    heights = np.sqrt(np.concatenate(([0], np.cumsum(counts))) / counts.sum())
    for color, low, high in zip(COLORS, heights[:-1], heights[1:], strict=True):
        if high > low:
            a, b = top + low * tall, top + high * tall
            drawing.polygon(
                [(x - low * half, a), (x + low * half, a), (x + high * half, b), (x - high * half, b)], color
            )
    ring = bool(regions.rigid_front[node])
    outline = [(x, top), (x + half, top + tall), (x - half, top + tall), (x, top)]
    for start, end in pairwise(outline):
        drawing.line(start, end, INK if ring else THIN, 1.6 if ring else 0.8)
    number = _thousands(int(counts.sum()))
    turned = len(number) * 9 * ADVANCE > 1.8 * step
    drawing.words(
        (x, top + tall + (4 if turned else 9)), number, 9, anchor="start" if turned else "middle", turned=turned
    )


def _legend(drawing: Drawing, regions: Regions, kinds: np.ndarray, layout: _Layout) -> None:
    model, counts = regions.assembly.model, regions.counts()
    title = f"Assembly tree{f' of {model.name}' if model.name else ''}"
    sizes = f"{_thousands(counts['nodes'])} nodes, height {regions.assembly.height}"
    drawing.words((MARGIN, 26), title, 17)
    drawing.words((MARGIN + len(title) * 17 * ADVANCE + 18, 27), sizes, 12, THIN)
    x = MARGIN
    for color, name, count in zip(COLORS, TITLES, np.bincount(kinds, minlength=4).tolist(), strict=True):
        drawing.disc((x + 7, 54), 6, color, THIN, 0.8)
        x = _entry(drawing, x + 20, 54, f"{name} {_thousands(count)}")
    drawing.disc((x + 7, 54), 6, "#ffffff", INK, 2.0)
    x = _entry(drawing, x + 20, 54, f"rigid front {_thousands(counts['rigid_front'])}")
    both = int((regions.active & regions.force_update).sum())
    drawing.disc((x + 7, 54), 6, COLORS[ACTIVE], THIN, 0.8)
    drawing.disc((x + 7, 54), 2.4, "#ffffff")
    _entry(drawing, x + 20, 54, f"force inside {_thousands(both)}")
    x = _entry(drawing, MARGIN, 78, "Discs are joints, squares bodies; the root is on top.", THIN)
    if layout.folded:
        hidden = sum(int(count.sum()) for count in layout.folded.values())
        text = f"{_thousands(len(layout.folded))} triangles stand for {_thousands(hidden)} nodes."
        x = _entry(drawing, x, 78, text, THIN)
    if layout.unseen:
        _entry(drawing, x, 78, f"{_thousands(layout.unseen)} nodes of further trees are not shown.", THIN)


def _entry(drawing: Drawing, x: float, y: float, text: str, color: str = INK) -> float:
    """Write one entry of the legend; returns where the next begins."""
    drawing.words((x, y), text, 12, color)
    return x + len(text) * 12 * ADVANCE + 16


def _note(regions: Regions, node: int) -> str:
    """Say what a node is and where it belongs."""
    kind, unit = regions.assembly.tree[node, [to.KIND, to.UNIT]]
    if kind == to.LEAF:
        what = f"body {_body(regions, unit)}"
    elif kind == to.MERGE:
        what = "two shares of one body"
    else:
        model, units = regions.assembly.model, regions.assembly.units
        links = model.topology[units[unit, to.FIRST] : units[unit, to.LAST] + 1, at.BODY]
        what = "joint " + ", ".join(model.body_joint_names[body] for body in links)
    places = ("active", "force_update", "rigid_front", "passive_front", "passive")
    return f"{what} ({', '.join(name.replace('_', ' ') for name in places if getattr(regions, name)[node])})"


def _body(regions: Regions, unit: int) -> str:
    model = regions.assembly.model
    return model.names[model.topology[regions.assembly.units[unit, to.LAST], at.BODY]]


def _short(name: str, longest: int = 13) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "…"


def _thousands(count: int) -> str:
    return f"{count:,}"
