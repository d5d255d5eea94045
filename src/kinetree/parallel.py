"""Forests on several threads: trees that nothing joins are stepped side by side, on all cores.

Kernels release the interpreter lock, so plain threads do. What a tree does is the same on any number of threads.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from .errors import ArgumentError
from .kernels import layout as at
from .kernels.acts import Acts
from .model.model import Model

T = TypeVar("T")

WORTH = 1000  # joints: smaller forests are done before another thread has woken up
QUATERNIONS = (at.SPHERICAL, at.FREE)

_pool: ThreadPoolExecutor | None = None


@dataclass(frozen=True, eq=False)
class Part:
    """Some whole trees of a forest: links `first` to `last`, and the indices of their coordinates and velocities."""

    first: int
    last: int
    trees: tuple[int, int]
    q: np.ndarray
    v: np.ndarray
    topology: np.ndarray
    """The rows of its links, renumbered as if there were no others."""


def check_threads(threads: Any, owner: str) -> None:
    """Name a number of threads that is none."""
    whole = isinstance(threads, (int, np.integer)) and not isinstance(threads, bool)
    if threads is not None and not (whole and threads >= 1):
        raise ArgumentError(f"{owner}(threads={threads!r}): give a whole number, at least 1, or None for all cores")


def count_threads(model: Model, wanted: int | None) -> int:
    """Return how many threads a model is stepped on: `wanted`, or as many as pay; never more than it has trees."""
    trees = int(model.topology[:, at.TREE].max(initial=-1)) + 1
    if wanted is None:
        wanted = cores() if model.njoints >= WORTH else 1
    return max(1, min(wanted, trees))


def cores() -> int:
    """Return the number of cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def cut_forest(model: Model, count: int) -> list[Part]:
    """Cut a forest into at most `count` parts of whole trees with about equally many links."""
    topology = model.topology
    n, tree = len(topology), topology[:, at.TREE]
    starts = np.flatnonzero(np.diff(tree, prepend=-1))  # the first link of each tree
    wanted = np.arange(1, count) * n / count
    cuts = np.unique([0, *starts[np.abs(starts[:, None] - wanted).argmin(axis=0)], n]) if n else np.array([0, 0])
    return [_part(topology, int(a), int(b)) for a, b in itertools.pairwise(cuts)]


def _part(topology: np.ndarray, first: int, last: int) -> Part:
    rows = topology[first:last].copy()
    freedoms = rows[:, at.DOF]
    coordinates = freedoms + np.isin(rows[:, at.KIND], QUATERNIONS)
    v, q = _ranges(rows[:, at.V], freedoms), _ranges(rows[:, at.Q], coordinates)
    rows[:, at.V], rows[:, at.Q] = freedoms.cumsum() - freedoms, coordinates.cumsum() - coordinates
    rows[:, at.PARENT] = np.where(rows[:, at.PARENT] < 0, -1, rows[:, at.PARENT] - first)
    rows[:, at.LAST] -= first
    trees = (int(rows[0, at.TREE]), int(rows[-1, at.TREE]) + 1) if len(rows) else (0, 0)
    return Part(first, last, trees, q, v, rows)


def _ranges(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the numbers starts[k], starts[k] + 1, ... (counts[k] of them) for each k, one after the other."""
    before = counts.cumsum() - counts
    return np.repeat(starts - before, counts) + np.arange(counts.sum())


def joined(acts: Acts, parts: Sequence[Part]) -> bool:
    """Whether a spring joins two of the parts, which must then be stepped together."""
    ends = acts.spring_links[(acts.spring_links >= 0).all(axis=1)]
    part = np.searchsorted([part.first for part in parts], ends, side="right")
    return bool((part[:, 0] != part[:, 1]).any())


def acts_inside(acts: Acts, part: Part, *, renumber: bool) -> Acts:
    """Return the springs and wrenches that act inside a part, on its own numbers of the links if `renumber`."""

    def inside(rows: np.ndarray) -> np.ndarray:
        return np.asarray((rows >= part.first) & (rows < part.last))

    pushed = np.flatnonzero(inside(acts.wrench_links[:, 0]))
    held = np.flatnonzero(inside(acts.spring_links).any(axis=1))
    wrench_links, spring_links = acts.wrench_links[pushed], acts.spring_links[held]
    if renumber:
        wrench_links[:, 0] -= part.first
        spring_links[spring_links >= 0] -= part.first
    return acts._replace(
        wrenches=acts.wrenches[pushed], wrench_links=wrench_links, springs=acts.springs[held], spring_links=spring_links
    )


def together(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Do all tasks at the same time, the first of them on this thread; returns what they return, in their order."""
    global _pool  # noqa: PLW0603 - one pool for the process; its threads sleep when there is nothing to do
    if len(tasks) == 1:
        return [tasks[0]()]
    if _pool is None:
        _pool = ThreadPoolExecutor(max_workers=max(cores() - 1, 1), thread_name_prefix="kinetree")
    others = [_pool.submit(task) for task in tasks[1:]]
    try:
        mine = tasks[0]()
    finally:
        theirs = [other.exception() for other in others]  # all have ended, whatever happened
    for error in theirs:
        if error is not None:
            raise error
    return [mine, *(other.result() for other in others)]


def _forget_pool() -> None:
    global _pool  # noqa: PLW0603 - a forked process has none of its parent's threads
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
