"""What a run collects: the states that were recorded, and a line on the terminal that tells how far it is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .model.model import Model
from .trajectory import Trajectory
from .typing import Array

Progress = bool | Callable[[float], Any]


class Recorder:
    """Collects the rows that the kernel records; always begins with the state at the start of the run."""

    def __init__(self, model: Model, every: int, start: float, dt: float, q: Array, v: Array, step: int) -> None:
        """Begin at step number `step`; step number k is at the time start + k dt."""
        self.model, self.every, self.start, self.dt = model, every, start, dt
        self.rows = [np.concatenate((q, v))[None, :]]
        self.steps = [np.array([step])]

    def add(self, rows: Array, first: int) -> None:
        """Add the rows of a chunk whose first step was number `first`."""
        begin = (first // self.every + 1) * self.every
        self.rows.append(rows)
        self.steps.append(begin + self.every * np.arange(len(rows)))

    def finish(self, q: Array, v: Array, step: int) -> Trajectory:
        """Return the motion so far, closed by the present state."""
        rows, steps = np.concatenate(self.rows), np.concatenate(self.steps)
        if steps[-1] != step:
            rows = np.concatenate((rows, np.concatenate((q, v))[None, :]))
            steps = np.append(steps, step)
        nq = self.model.nq
        return Trajectory(self.model, self.start + steps * self.dt, rows[:, :nq].copy(), rows[:, nq:].copy())


def reporter(progress: Progress) -> Callable[[float], Any]:
    """Return what hears the fraction done: a function of the user's, a line on the terminal (True), or nothing."""
    if callable(progress):
        return progress
    if not progress:
        return lambda fraction: None

    def show(fraction: float) -> None:
        sys.stderr.write(f"\rsimulating {fraction:4.0%}" + ("\n" if fraction >= 1 else ""))
        sys.stderr.flush()

    return show
