"""Steps and strides: when a foot lands and leaves, what a stride measures, and cycles from 0 to 100 %."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..typing import Array
from .plates import LOADED, SIDES, foot_places
from .quality import runs

if TYPE_CHECKING:
    from .result import Result

POINTS = 101
SHORTEST = 0.12  # s, of a stance that is one


@dataclass(frozen=True)
class Cycles:
    """Curves of one side over its strides: `curves` [nstrides, 101, k] under `names`, from one landing to the next."""

    names: tuple[str, ...]
    curves: Array

    @property
    def mean(self) -> Array:
        """Mean over the strides, shape [101, k]."""
        return self.curves.mean(0) if len(self.curves) else np.zeros((POINTS, len(self.names)))

    @property
    def spread(self) -> Array:
        """Standard deviation over the strides, shape [101, k]."""
        return self.curves.std(0, ddof=1) if len(self.curves) > 1 else np.zeros((POINTS, len(self.names)))


@dataclass(frozen=True)
class Gait:
    """Landings and take-offs [s] by side, the source that they come from, and what the strides measure."""

    strikes: dict[str, Array]
    offs: dict[str, Array]
    source: str
    measures: dict[str, float] = field(default_factory=dict)
    cycles: dict[str, Cycles] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def walks(self) -> bool:
        """Whether there is at least one whole stride."""
        return any(len(own.curves) for own in self.cycles.values())


def gait_of(result: Result) -> Gait:
    """Find the steps of a movement: from marked events, the ground's forces, or how the feet move."""
    motion = result.motion
    places = foot_places(motion)
    notes: list[str] = []
    strikes, offs, source = _from_events(result)
    if not strikes:
        strikes, offs = _from_forces(result)
        source = f"ground forces ({result.ground.source})"
        moved = _from_feet(result, places)
        if result.ground.source != "plates" or _few(strikes, moved[0]):
            if result.ground.source == "plates":
                notes.append(
                    "the plates saw fewer steps than the feet made: the steps are taken from the feet's movement"
                )
            strikes, offs, source = *moved, "movement of the feet"
    measures = _measures(result, places, strikes, offs)
    cycles = {side: _cycles(result, side, strikes[side]) for side in SIDES}
    return Gait(strikes, offs, source, measures, cycles, tuple(notes))


def _few(strikes: dict[str, Array], moved: dict[str, Array]) -> bool:
    return sum(map(len, strikes.values())) + 1 < sum(map(len, moved.values()))


def _from_events(result: Result) -> tuple[dict[str, Array], dict[str, Array], str]:
    trial = result.motion.trial
    events = [] if trial is None else trial.events
    t0, t1 = result.times[0], result.times[-1]
    strikes: dict[str, list[float]] = {side: [] for side in SIDES}
    offs: dict[str, list[float]] = {side: [] for side in SIDES}
    for event in events:
        side = event.context.strip().lower()
        label = event.label.lower()
        if side in SIDES and t0 <= event.time <= t1:
            if "strike" in label or "contact" in label:
                strikes[side].append(event.time)
            elif "off" in label:
                offs[side].append(event.time)
    if sum(map(len, strikes.values())) < 2:
        return {}, {}, ""
    as_arrays = [{side: np.array(sorted(own[side])) for side in SIDES} for own in (strikes, offs)]
    return as_arrays[0], as_arrays[1], "events in the file"


def _from_forces(result: Result) -> tuple[dict[str, Array], dict[str, Array]]:
    strikes, offs = {}, {}
    times = result.times
    for k, side in enumerate(SIDES):
        spans = [
            (first, last)
            for first, last in runs(result.ground.force[:, k, 2] > LOADED)
            if times[last] - times[first] > SHORTEST
        ]
        strikes[side] = np.array([times[first] for first, _ in spans if first > 0])
        offs[side] = np.array([times[last] for _, last in spans if last < len(times) - 1])
    return strikes, offs


def _from_feet(result: Result, places: Array) -> tuple[dict[str, Array], dict[str, Array]]:
    """Find landings where a foot is farthest ahead of the pelvis, take-offs where it is behind (Zeni et al. 2008)."""
    motion = result.motion
    empty = {side: np.zeros(0) for side in SIDES}
    root = _root_path(result)
    travel = root[-1, :2] - root[0, :2]
    if not np.isfinite(places).all() or np.linalg.norm(travel) < 0.5:
        return empty, dict(empty)
    ahead = travel / np.linalg.norm(travel)
    strikes, offs = {}, {}
    for k, side in enumerate(SIDES):
        along = (places[:, k, :2] - root[:, :2]) @ ahead
        strikes[side] = motion.times[_peaks(along, motion.times)]
        offs[side] = motion.times[_peaks(-along, motion.times)]
    return strikes, offs


def _root_path(result: Result) -> Array:
    if result.subject.mapped:
        from ..dynamics import body_poses

        body = int(np.flatnonzero(result.subject.model.masses > 0)[0])
        return np.array([body_poses(result.subject.model, q)[body, :3, 3] for q in result.motion.q])
    return result.motion.q[:, 4:7]


def _peaks(values: Array, times: Array) -> np.ndarray:
    from scipy.signal import find_peaks

    step = float(np.median(np.diff(times)))
    found, _ = find_peaks(values, distance=max(1, round(0.5 / step)), prominence=0.15)
    return np.asarray(found)


def _measures(result: Result, places: Array, strikes: dict[str, Array], offs: dict[str, Array]) -> dict[str, float]:
    """Return speed, cadence, stride time and length, step width, and the share of stance, where they can be told."""
    times = result.times
    found: dict[str, float] = {}
    root = _root_path(result)
    duration = float(times[-1] - times[0])
    found["speed_m_s"] = float(np.linalg.norm(root[-1, :2] - root[0, :2])) / duration if duration > 0 else 0.0
    every = np.sort(np.concatenate([strikes[side] for side in SIDES]))
    if len(every) > 2:
        found["cadence_steps_min"] = 60.0 * (len(every) - 1) / float(every[-1] - every[0])
    for k, side in enumerate(SIDES):
        own = strikes[side]
        if len(own) < 2:
            continue
        at = np.searchsorted(times, own)
        at = np.clip(at, 0, len(times) - 1)
        found[f"stride_time_{side}_s"] = float(np.diff(own).mean())
        found[f"stride_length_{side}_m"] = float(np.linalg.norm(np.diff(places[at, k, :2], axis=0), axis=1).mean())
        shares = []
        for first, last in itertools.pairwise(own):
            inside = offs[side][(offs[side] > first) & (offs[side] < last)]
            if len(inside):
                shares.append((inside[0] - first) / (last - first))
        if shares:
            found[f"stance_{side}_percent"] = 100.0 * float(np.mean(shares))
    return found


def _cycles(result: Result, side: str, strikes: Array) -> Cycles:
    """Return angles [deg], torques per kg and powers per kg of one side over each whole stride."""
    times = result.times
    tail = f"_{side[0]}"
    mass = result.subject.mass
    columns: dict[str, Array] = {}
    for name in result.motion.angle_names:
        if name.endswith(tail):
            columns[f"angle/{name.removesuffix(tail)}"] = np.degrees(result.motion.angle(name))
    for k, name in enumerate(result.names):
        if name.endswith(tail):
            columns[f"torque/{name.removesuffix(tail)}"] = result.torque[:, k] / mass
            columns[f"power/{name.removesuffix(tail)}"] = result.torque[:, k] * result.rate[:, k] / mass
    for a, axis in enumerate("xyz"):
        columns[f"ground/{axis}"] = result.ground.force[:, SIDES.index(side), a] / mass
    table = np.column_stack(list(columns.values())) if columns else np.zeros((len(times), 0))
    curves = []
    for first, last in itertools.pairwise(strikes):
        if 0.5 <= last - first <= 2.5:
            grid = np.linspace(first, last, POINTS)
            curves.append(np.column_stack([np.interp(grid, times, table[:, k]) for k in range(table.shape[1])]))
    return Cycles(tuple(columns), np.array(curves).reshape(-1, POINTS, table.shape[1]))
