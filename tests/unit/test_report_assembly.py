"""The picture of an assembly tree: every node once, in the colour of its region, or counted in a triangle."""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

import kinetree as kt
from kinetree.adaptive.assembly_tree import build_tree
from kinetree.adaptive.regions import classify, units_of_links
from kinetree.errors import ArgumentError, FileFormatError
from kinetree.kernels import nodes as to
from kinetree.report import draw_assembly_tree
from kinetree.report.assembly import COLORS
from kinetree.report.drawing import Drawing

SVG = "{http://www.w3.org/2000/svg}"


def grown(model, joints, seed=0, links=()):
    """Return the regions of a model with some joints active from the root down, and forces on some links."""
    assembly, rng = build_tree(model), np.random.default_rng(seed)
    tree = assembly.tree
    active, front = np.zeros(len(tree), dtype=int), assembly.roots.tolist()
    for _ in range(joints):
        node = front.pop(int(rng.integers(len(front))))
        active[node] = 1
        front += [c for c in tree[node, [to.LEFT, to.RIGHT]].tolist() if c >= 0 and tree[c, to.KIND] != to.LEAF]
    return classify(assembly, active, forced_units=units_of_links(assembly, links))


def drawn(path):
    """Return the nodes of an SVG as (fill, stroke width, note), and all its words."""
    root = ET.parse(path).getroot()
    nodes = [
        (shape.get("fill"), float(shape.get("stroke-width")), shape.find(f"{SVG}title").text)
        for shape in root
        if shape.find(f"{SVG}title") is not None
    ]
    return nodes, [item.text for item in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("model", [kt.models.pendulum(8), kt.models.humanoid(), kt.models.pendulum(300)])
def test_every_node_has_the_colour_of_its_region(tmp_path, model):
    """Up to 600 nodes are drawn one by one; the counts of the legend are those of the regions."""
    regions = grown(model, 6, links=[2, model.njoints - 1])
    nodes, words = drawn(draw_assembly_tree(regions, tmp_path / "tree.svg"))
    counts = regions.counts()
    assert len(nodes) == counts["nodes"]
    fills = Counter(fill for fill, _, _ in nodes)
    passive = counts["passive"] - counts["passive_front"]
    wanted = (counts["active"], counts["update"] - counts["active"], counts["passive_front"], passive)
    assert tuple(fills[color] for color in COLORS) == wanted
    assert sum(width > 1 for _, width, _ in nodes) == counts["rigid_front"]
    assert sum("rigid front" in note for _, _, note in nodes) == counts["rigid_front"]
    legend = " ".join(words)
    for text in (f"active {wanted[0]}", f"passive front {wanted[2]}", f"rigid front {counts['rigid_front']}"):
        assert text in legend
    assert all(name in " ".join(note for _, _, note in nodes) for name in model.joint_names)


def test_a_large_tree_is_folded_and_nothing_gets_lost(tmp_path):
    """Triangles stand for the rest of the nodes; the active ones are all drawn as far as there is room."""
    regions = grown(kt.models.molecule(3000, seed=2), 80, links=[1000])
    nodes, words = drawn(draw_assembly_tree(regions, tmp_path / "tree.svg"))
    assert sum(fill == COLORS[0] for fill, _, _ in nodes) == 80
    line = next(text for text in words if "triangles stand for" in text)
    triangles, hidden = (int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", line))
    numbers = [int(text.replace(",", "")) for text in words if re.fullmatch(r"[\d,]+", text)]
    assert len(numbers) == triangles
    assert sum(numbers) == hidden
    assert len(nodes) + hidden == regions.counts()["nodes"]
    assert len(nodes) + triangles <= 300


def test_a_forest_stands_in_rows_and_says_what_it_does_not_show(tmp_path):
    """A crowd fits; of a thousand loose bodies those that move are shown."""
    crowd = grown(kt.models.crowd(60), 90)
    nodes, words = drawn(draw_assembly_tree(crowd, tmp_path / "crowd.svg"))
    assert sum(fill == COLORS[0] for fill, _, _ in nodes) == 90
    assert not any("not shown" in text for text in words)
    width, height = re.search(r'viewBox="0 0 (\d+) (\d+)"', (tmp_path / "crowd.svg").read_text()).groups()
    assert int(width) < 1600, f"{width} x {height}"
    builder = kt.ModelBuilder()
    for k in range(1000):
        builder.body(f"body {k}", joint=kt.Free(), mass=1.0, inertia=np.eye(3))
    loose = grown(builder.build(), 50, seed=3)
    nodes, words = drawn(draw_assembly_tree(loose, tmp_path / "loose.svg"))
    assert sum(fill == COLORS[0] for fill, _, _ in nodes) == 50
    assert "1,600 nodes of further trees are not shown." in words


def test_a_png_shows_the_same_colours(tmp_path):
    """Through Pillow, at the size of the SVG."""
    image = pytest.importorskip("PIL.Image")
    regions = grown(kt.models.pendulum(12), 4, links=[5])
    draw_assembly_tree(SimpleNamespace(regions=regions), tmp_path / "tree.svg")
    with image.open(draw_assembly_tree(SimpleNamespace(regions=regions), tmp_path / "tree.PNG")) as picture:
        pixels = np.asarray(picture.convert("RGB")).reshape(-1, 3)
        size = f'width="{picture.width}" height="{picture.height}"'
    assert size in (tmp_path / "tree.svg").read_text()
    for color in COLORS:
        rgb = [int(color[k : k + 2], 16) for k in (1, 3, 5)]
        assert (np.abs(pixels.astype(int) - rgb).max(axis=1) < 3).sum() > 50, color
    large = grown(kt.models.molecule(2000), 20)
    assert draw_assembly_tree(large, tmp_path / "large.png", most=50).stat().st_size > 1000


def test_names_are_escaped(tmp_path):
    """A name may hold any character."""
    model = kt.ModelBuilder("a < b & c").body("<&>", joint=kt.Free(), mass=1.0, inertia=np.eye(3)).build()
    nodes, words = drawn(draw_assembly_tree(grown(model, 1), tmp_path / "tree.svg"))
    assert "Assembly tree of a < b & c" in words
    assert any("<&>" in note for _, _, note in nodes)


def test_bad_arguments_are_named(tmp_path):
    """What has no regions, a suffix that nobody draws, a folder that is not there."""
    regions = grown(kt.models.pendulum(4), 1)
    with pytest.raises(ArgumentError, match="Model has no regions"):
        draw_assembly_tree(regions.assembly.model, tmp_path / "tree.svg")
    with pytest.raises(ArgumentError, match=r"must end in \.svg or \.png"):
        draw_assembly_tree(regions, tmp_path / "tree.pdf")
    with pytest.raises(ArgumentError, match="most is 0"):
        draw_assembly_tree(regions, tmp_path / "tree.svg", most=0)
    with pytest.raises(FileFormatError, match="cannot be written"):
        draw_assembly_tree(regions, tmp_path / "none" / "tree.svg")
    with pytest.raises(FileFormatError, match="cannot be written"):
        Drawing(10, 10).save(tmp_path / "none" / "tree.png")
