"""The assembly tree: in which order bodies are joined, so that its height grows with the logarithm of their number.

Follow the heaviest branch from the root of a body, hang the lighter subtrees onto the bodies of that path (a rake),
then join the path by a binary tree that is balanced by weight (compress). Every node has at most two bodies that
anything outside can touch, its head and its tail. A body that carries many subtrees is split into shares, each of
which takes one of them; the shares are welded together again by a tree that is balanced too, so that a hub costs no
height.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import ModelError
from ..kernels import layout as at
from ..kernels import nodes as to
from ..model.model import Model
from ..typing import Array

MOST_RAKES = 2  # light subtrees that are hung on one body in a row; more are merged from shares


@dataclass(frozen=True)
class AssemblyTree:
    """The tree of a model and its units, as in `kernels/nodes.py`."""

    model: Model
    units: np.ndarray
    tree: np.ndarray
    share: Array
    """Per node: the part of its body's mass that a leaf stands for; negative for the shares after the first."""
    roots: np.ndarray
    """The root node of each body of the forest."""
    unit_of_link: np.ndarray
    """The unit that each link is part of."""

    @property
    def heights(self) -> np.ndarray:
        """Height of every node: 0 for a leaf."""
        height = [0] * len(self.tree)
        for node, (left, right) in enumerate(self.tree[:, [to.LEFT, to.RIGHT]].tolist()):
            if right >= 0:
                height[node] = 1 + max(height[right], height[left] if left >= 0 else 0)
        return np.array(height)

    @property
    def height(self) -> int:
        """Height of the tallest tree of the forest."""
        return int(self.heights.max(initial=0))


def build_units(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Group massless links with the link that they carry; returns the units and the unit of each link."""
    topology, constants = model.topology, model.constants
    massless = constants[:, at.MASS] == 0
    children = np.bincount(topology[topology[:, at.PARENT] >= 0, at.PARENT], minlength=len(topology))
    bad = np.flatnonzero(massless & (children != 1))
    if len(bad):
        body = model.names[topology[bad[0], at.BODY]]
        raise ModelError(
            f"body {body!r} has no mass but carries {children[bad[0]]} bodies: its subassembly is singular; give it a "
            "mass and an inertia"
        )
    last = np.flatnonzero(~massless)
    unit_of_link = np.cumsum(~massless) - (~massless)
    first = np.concatenate(([0], last[:-1] + 1))[: len(last)]  # a model may have no joint at all
    parent_link = topology[first, at.PARENT]
    parent = np.where(parent_link < 0, -1, unit_of_link[parent_link])
    count = np.array([topology[a : b + 1, at.DOF].sum() for a, b in zip(first, last, strict=True)], dtype=np.int64)
    if (count > 6).any():
        unit = int(np.flatnonzero(count > 6)[0])
        body = model.names[topology[last[unit], at.BODY]]
        raise ModelError(
            f"the joints of body {body!r} have {count[unit]} degrees of freedom without a mass between them, but a "
            "body can only move in 6: give one of the bodies between them a mass"
        )
    units = np.zeros((len(last), to.UNITS), dtype=np.int64)
    units[:, to.UP], units[:, to.FIRST], units[:, to.LAST], units[:, to.COUNT] = parent, first, last, count
    units[:, to.HINGE] = (first == last) & (topology[last, at.KIND] == at.REVOLUTE)
    for k in range(6):  # the k-th freedom of each link, after those of the links before it in its unit
        links = np.flatnonzero(topology[:, at.DOF] > k)
        unit = unit_of_link[links]
        before = topology[:, at.DOF].cumsum() - topology[:, at.DOF]
        place = before[links] - before[first[unit]] + k
        units[unit, to.FREEDOM + place] = topology[links, at.V] + k
    return units, unit_of_link


def build_tree(model: Model) -> AssemblyTree:
    """Build the assembly tree of a model."""
    units, unit_of_link = build_units(model)
    builder = _Builder(units[:, to.UP].tolist())
    roots = builder.build()
    tree = np.zeros((len(builder.nodes), to.TREE), dtype=np.int64)
    tree[:, [to.KIND, to.LEFT, to.RIGHT, to.UNIT, to.HEAD, to.TAIL]] = np.reshape(builder.nodes, (-1, 6))
    nodes = np.arange(len(tree))
    tree[:, to.PARENT] = -1
    for side in (to.LEFT, to.RIGHT):
        children = tree[:, side]
        tree[children[children >= 0], to.PARENT] = nodes[children >= 0]
    joints = (tree[:, to.KIND] != to.LEAF) & (tree[:, to.UNIT] >= 0)
    units[tree[joints, to.UNIT], to.JOINT] = nodes[joints]
    tree[:, to.ROOT_OF] = topology_tree(model, units)[tree[:, to.HEAD]]
    return AssemblyTree(model, units, tree, np.array(builder.share), np.array(roots, dtype=np.int64), unit_of_link)


def topology_tree(model: Model, units: np.ndarray) -> np.ndarray:
    """Return the number of the tree of the forest that each unit stands in."""
    return model.topology[units[:, to.LAST], at.TREE]


class _Builder:
    """Collects nodes as (kind, left, right, unit, head, tail), children before parents."""

    def __init__(self, parent: list[int]) -> None:
        self.parent = parent
        self.n = len(parent)
        self.nodes: list[tuple[int, int, int, int, int, int]] = []
        self.share: list[float] = []

    def build(self) -> list[int]:
        """Build all trees; returns the roots."""
        weight = [1] * self.n
        for unit in range(self.n - 1, 0, -1):
            if self.parent[unit] >= 0:
                weight[self.parent[unit]] += weight[unit]
        heavy = [-1] * self.n
        for unit in range(self.n):
            parent = self.parent[unit]
            if parent >= 0 and (heavy[parent] < 0 or weight[unit] > weight[heavy[parent]]):
                heavy[parent] = unit
        light: list[list[int]] = [[] for _ in range(self.n)]
        for unit, parent in enumerate(self.parent):
            if parent >= 0 and heavy[parent] != unit:
                light[parent].append(unit)
        top: dict[int, int] = {}
        roots = []
        for unit in range(self.n - 1, -1, -1):  # heads of paths, innermost first
            parent = self.parent[unit]
            if parent >= 0 and heavy[parent] == unit:
                continue
            path = [unit]
            while heavy[path[-1]] >= 0:
                path.append(heavy[path[-1]])
            pieces = [self._fat(u, light[u], top, weight) for u in path]
            own = [1 + sum(weight[c] for c in light[u]) for u in path]
            top[unit] = self._balanced(to.COMPRESS, pieces, own, path)
            if parent < 0:
                roots.append(self._add(to.ROOT, -1, top[unit], unit, unit, unit))
        return roots[::-1]

    def _add(self, kind: int, left: int, right: int, unit: int, head: int, tail: int, share: float = 0.0) -> int:
        self.nodes.append((kind, left, right, unit, head, tail))
        self.share.append(share)
        return len(self.nodes) - 1

    def _fat(self, unit: int, light: list[int], top: dict[int, int], weight: list[int]) -> int:
        """Return the node of one body with all its light subtrees raked onto it."""
        if len(light) <= MOST_RAKES:
            node = self._add(to.LEAF, -1, -1, unit, unit, unit, 1.0)
            for child in sorted(light, key=lambda c: weight[c]):
                node = self._add(to.RAKE, node, top[child], child, unit, unit)
            return node
        part = 1.0 / len(light)
        raked = []
        for k, child in enumerate(light):
            leaf = self._add(to.LEAF, -1, -1, unit, unit, unit, part if k == 0 else -part)
            raked.append(self._add(to.RAKE, leaf, top[child], child, unit, unit))
        return self._balanced(to.MERGE, raked, [weight[c] for c in light], [unit] * len(light))

    def _balanced(self, kind: int, pieces: list[int], weights: list[int], units: list[int]) -> int:
        """Join pieces in their order by a binary tree that halves the weight; a joint belongs to the right piece."""
        before = np.concatenate(([0], np.cumsum(weights)))
        done: dict[tuple[int, int], int] = {}
        stack = [(0, len(pieces))]
        while stack:
            low, high = stack[-1]
            if high - low == 1:
                done[low, high] = pieces[low]
                stack.pop()
                continue
            middle = (before[low] + before[high]) / 2
            cut = int(np.searchsorted(before[low + 1 : high], middle)) + low + 1
            if cut > low + 1 and middle - before[cut - 1] <= abs(before[min(cut, high - 1)] - middle):
                cut -= 1
            cut = min(max(cut, low + 1), high - 1)
            left, right = (low, cut), (cut, high)
            if left not in done:
                stack.append(left)
            elif right not in done:
                stack.append(right)
            else:
                a, b = done.pop(left), done.pop(right)
                joint = -1 if kind == to.MERGE else units[cut]
                tail = self.nodes[a][4] if kind == to.MERGE else self.nodes[b][5]
                done[low, high] = self._add(kind, a, b, joint, self.nodes[a][4], tail)
                stack.pop()
        return done[0, len(pieces)]
