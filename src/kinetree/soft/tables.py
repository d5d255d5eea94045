"""The packed arrays of a world as they grow, and the spanning forest that the solver needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import soft_layout as at
from ..typing import Array

IntArray = np.ndarray[Any, np.dtype[np.int64]]
WIDTHS = {
    "state": at.STATE, "bodies": at.BODY, "joints": at.JOINT, "frames": at.FRAMES, "rows": at.ROWS, "links": at.LINKS,
    "pieces": at.PIECES,
}  # fmt: skip
WHOLE = ("joints", "links")


class Tables:
    """The arrays that the kernels read and write; `add` appends to them, `finish` writes the order of elimination."""

    def __init__(self) -> None:
        """Start with no body and no constraint."""
        self.arrays = {
            name: np.zeros((0, width), np.int64 if name in WHOLE else np.float64) for name, width in WIDTHS.items()
        }
        self._waiting: dict[str, list[Array]] = {name: [] for name in WIDTHS}
        self._counts = dict.fromkeys(WIDTHS, 0)
        self.numbers = np.zeros(at.NUMBERS)
        self.scratch = np.zeros(64)
        self.finished = False
        self._solver: tuple[Any, ...] = ()
        self._sweeps = np.zeros((0, at.SWEEP))

    def count(self, name: str) -> int:
        """Return how many rows the table `name` has."""
        return self._counts[name]

    def add(self, name: str, block: Any) -> int:
        """Append rows to a table; returns the number of the first."""
        block = np.atleast_2d(block)
        first = self._counts[name]
        self._waiting[name].append(block)
        self._counts[name] += len(block)
        self.finished = False
        return first

    def __getitem__(self, name: str) -> Array:
        """Return a table, with all that was added."""
        if self._waiting[name]:
            whole = np.concatenate((self.arrays[name], *self._waiting[name]))
            self.arrays[name] = np.ascontiguousarray(whole, self.arrays[name].dtype)
            self._waiting[name] = []
        return self.arrays[name]  # type: ignore[return-value]

    def world(self) -> tuple[Array, ...]:
        """Return the tables as the kernels take them."""
        return (
            self["state"], self["bodies"], self["joints"], self["frames"], self["rows"], self["links"], self["pieces"],
            self.numbers,
        )  # fmt: skip

    def solver(self) -> tuple[Any, ...]:
        """Return the scratch of the solvers, laid out for the bodies and rows that there are now."""
        if not self.finished:
            self._solver = self._plan()
            self.finished = True
        return self._solver

    def sweeps(self) -> Array:
        """Return the scratch of the iterative solver."""
        if len(self._sweeps) != self._counts["rows"]:
            self._sweeps = np.zeros((self._counts["rows"], at.SWEEP))
        return self._sweeps

    def _plan(self) -> tuple[Any, ...]:
        bodies, joints, links = self["bodies"], self["joints"], self["links"]
        n, count = len(bodies), len(links)
        moving = bodies[:, at.INVERSE_MASS] > 0
        parents, order = spanning_forest(moving, joints)
        tree = np.full((max(n, 1), at.TREE), -1, dtype=np.int64)
        unary: list[list[int]] = [[] for _ in range(n)]
        edges: list[list[int]] = [[] for _ in range(n)]
        border: list[int] = []
        for j in range(len(joints)):
            a, b = int(joints[j, at.A]), int(joints[j, at.B])
            a, b = (a if moving[a] else -1), (b if b >= 0 and moving[b] else -1)
            role, owner = at.NOBODY, -1
            if a >= 0 and b < 0:
                role, owner = at.UNARY, a
            elif b >= 0 and a < 0:
                role, owner = at.UNARY_TURNED, b
            elif a >= 0 and parents[a] == b:
                role, owner = at.EDGE, a
            elif a >= 0 and parents[b] == a:
                role, owner = at.EDGE_TURNED, b
            elif a >= 0:
                role = at.BORDER
            rows = range(int(joints[j, at.FIRST]), int(joints[j, at.FIRST] + joints[j, at.COUNT]))
            links[rows, at.BODY_A], links[rows, at.BODY_B], links[rows, at.ROLE] = a, b, role
            if role in (at.UNARY, at.UNARY_TURNED):
                unary[owner] += rows
            elif role in (at.EDGE, at.EDGE_TURNED):
                edges[owner] += rows
            elif role == at.BORDER:
                border += rows
        members: list[int] = []
        widest = 1
        for i in range(n):
            tree[i, at.PARENT] = parents[i]
            tree[i, at.UNARY_AT] = len(members)
            members += unary[i]
            tree[i, at.UNARY_END] = tree[i, at.EDGE_AT] = len(members)
            members += edges[i]
            tree[i, at.EDGE_END] = len(members)
            widest = max(widest, len(unary[i]) + len(edges[i]))
        tree[: len(order), at.ORDER] = order
        assert len(members) + len(border) <= count
        x = len(border)
        return (
            tree,
            np.array(members, dtype=np.int64),
            np.zeros(len(members), dtype=np.int64),
            np.zeros((max(n, 1), at.NODES)),
            np.zeros((len(members), widest)),
            np.array(border, dtype=np.int64),
            np.zeros((x, 6 * max(n, 1))),
            np.zeros((x, x)),
        )


def spanning_forest(moving: Any, joints: Any) -> tuple[list[int], list[int]]:
    """Return each body's parent (-1 at a root) and the bodies with every child before its parent.

    Joints come before contacts, so that what is always there makes the tree.
    """
    n = len(moving)
    neighbours: list[dict[int, None]] = [{} for _ in range(n)]
    for contacts in (False, True):
        for j in range(len(joints)):
            a, b = int(joints[j, at.A]), int(joints[j, at.B])
            if (joints[j, at.KIND] == at.CONTACT) == contacts and b >= 0 and moving[a] and moving[b]:
                neighbours[a].setdefault(b)
                neighbours[b].setdefault(a)
    parents, seen, order = [-1] * n, [not m for m in moving], []
    for root in range(n):
        if seen[root]:
            continue
        seen[root] = True
        waiting = [root]
        for i in waiting:
            order.append(i)
            for k in neighbours[i]:
                if not seen[k]:
                    seen[k] = True
                    parents[k] = i
                    waiting.append(k)
    return parents, order[::-1]
