"""Linear growth: time, memory and building, up to 50,000 joints."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from time import perf_counter

import numpy as np

from .. import dynamics
from ..model.library import chain, molecule
from ..model.model import Model
from .core import Row, at_most, exponent, information, side_by_side

GROUP = "growth"
PER_JOINT = 3.0  # times, at the largest size against the smallest
BYTES = 6.0  # kB a joint
BUILDING = 3.0  # s, for the molecule of 50,000


def times(*, quick: bool) -> list[Row]:
    """Time of forward dynamics from 300 to 50,000 joints."""
    sizes = (300, 3000, 10_000) if quick else (300, 1000, 3000, 10_000, 50_000)
    rows = []
    makers: tuple[tuple[str, Callable[[int], Model]], ...] = (("chain", chain), ("molecule", molecule))
    for label, make in makers:
        contestants, states = {}, []
        for n in sizes:
            model = make(n)
            states.append((model, *model.random_state(0)))
            contestants[str(n)] = _call(*states[-1])
        best = side_by_side(contestants, seconds=0.2 if quick else 1.0)
        seconds = [best[str(n)] for n in sizes]
        each = [1e9 * s / n for s, n in zip(seconds, sizes, strict=True)]
        listed = ", ".join(f"{n:,}: {value:.0f} ns" for n, value in zip(sizes, each, strict=True))
        name = f"{label}: time a joint at {sizes[-1]:,} against {sizes[0]}"
        rows.append(at_most(GROUP, name, each[-1] / each[0], PER_JOINT, "times", f"a joint at {listed}"))
        rows.append(
            information(GROUP, f"{label}: exponent of the time", exponent(sizes, seconds), "", "fit; 1 is linear")
        )
    return rows


def _call(model: Model, q: np.ndarray, v: np.ndarray) -> Callable[[], np.ndarray]:
    return lambda: dynamics.forward_dynamics(model, q, v)


def memory(*, quick: bool) -> list[Row]:
    """What a model and its scratch keep, Python objects included; and how long a molecule takes to build."""
    n = 5000 if quick else 50_000
    molecule(300)  # what is made once per process does not count
    seconds = []
    for _ in range(2 if quick else 3):
        gc.collect()
        began = perf_counter()
        molecule(n)
        seconds.append(perf_counter() - began)
    detail = f"best of {len(seconds)}, the others up to {max(seconds):.2f} s"
    rows = [at_most(GROUP, f"building a molecule of {n:,}", min(seconds), BUILDING, "s", detail)]
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        model = molecule(n)
        gc.collect()
        built = tracemalloc.get_traced_memory()[0]
        q, v = np.zeros(model.nq), np.zeros(model.nv)
        state = tracemalloc.get_traced_memory()[0] - built
        out = dynamics.forward_dynamics(model, q, v)
        gc.collect()
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    scratch = after - built - state - out.nbytes
    detail = (
        f"{(built - before) / n / 1e3:.2f} kB of model and {scratch / n / 1e3:.2f} kB of scratch, all allocations of "
        f"Python and NumPy at {n:,} joints; at most {(peak - before) / n / 1e3:.1f} kB while building"
    )
    kept = (built - before + scratch) / n / 1e3
    return [*rows, at_most(GROUP, "model and scratch, a joint", kept, BYTES, "kB", detail)]
