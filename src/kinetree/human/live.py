"""`Live`: markers in frame by frame, pose and torques out within the frame's time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter, sleep
from typing import Any

import numpy as np

from ..dynamics import body_poses, center_of_mass
from ..errors import ArgumentError, MarkerError, missing_extra
from ..kernels import contact as _contact
from ..kernels import layout as at
from ..kernels import recorded as _recorded
from ..kernels.manifold import difference
from ..typing import Array
from .angles import clinical
from .contact import FRICTION, NEAR, STIFF, sole_points
from .following import Fitter
from .motion import Motion
from .plates import SIDES
from .subject import Subject, check_subject
from .trial import Trial

WINDOW = 13  # frames, of the fit that gives velocities and accelerations without looking ahead
BLIND = 4  # markers: with fewer, the pose is held


@dataclass(frozen=True)
class LiveFrame:
    """What came out of one frame: `q` [nq], `tau` [nv], ground forces on both feet [2, 3], and the cost so far [N m s].

    `latency` [s] is the time from the markers to this. `held` says that too few markers were seen, `late` that the
    frame came after a newer one and was left out, and `dropped` counts the frames that never came.
    """

    time: float
    q: Array
    tau: Array
    ground: Array
    cost: float
    marker_rms: float
    latency: float
    held: bool = False
    late: bool = False
    dropped: int = 0


class Live:
    """Follows a person while the markers come in.

    >>> from kinetree import human
    >>> trial = human.synthetic_walk(seconds=1.0)
    >>> live = human.Live(human.fit(trial, epochs=3), trial)
    >>> len(list(live.run(realtime=False)))
    100

    Velocities and accelerations are those of a parabola through the last 13 poses at its newest end: nothing later is
    known. Torques take the ground's forces from contact.
    """

    def __init__(self, subject: Subject | Any, source: Trial | str | None = None, *, rate: float | None = None) -> None:
        """Prepare for `subject`; `source` is a trial to play back, the name of a stream, or None."""
        self.subject = check_subject(subject)
        if self.subject.mapped:
            raise ArgumentError("live torques need the 48-DOF human, not an OpenSim model")
        self.source = source
        self.rate = float(rate or (source.rate if isinstance(source, Trial) else 120.0))
        if not self.rate > 0:
            raise ArgumentError(f"rate is {rate!r}: it must be a positive number of frames a second")
        model = self.subject.model
        self._model = model
        self._fitter = Fitter(self.subject, steps=6, predict=0.0)
        self._times: deque[float] = deque(maxlen=WINDOW)
        self._poses: deque[Array] = deque(maxlen=WINDOW)
        self._soles = sole_points(self.subject)
        self._lowest = np.full(len(self._soles[0]), np.inf)
        self._before: Array | None = None
        self._guess: Array | None = None
        self._armature = np.ascontiguousarray(model.dofs[:, at.ARMATURE])
        self._links, self._axes = np.zeros((model.njoints, at.LINKS)), np.zeros((model.nv, at.AXES))
        self._feet = np.array([[model.body_links[self.subject.feet()[side][0]] for side in SIDES]], dtype=np.int64)
        self.cost = 0.0
        self.latencies: list[float] = []
        self.dropped = 0
        self._warm()

    def push(self, time: float, markers: Array) -> LiveFrame:
        """Take the markers of one frame [m, 3] in the subject's order (NaN: not seen) and return pose and torques."""
        began = perf_counter()
        model = self._model
        targets = np.asarray(markers, dtype=float)
        if targets.shape != (len(self.subject.labels), 3):
            raise ArgumentError(f"markers has shape {targets.shape}, not ({len(self.subject.labels)}, 3)")
        if self._times and time <= self._times[-1]:
            return self._frame(time, began, np.zeros(model.nv), np.zeros((2, 3)), np.nan, late=True)
        missed = 0
        if self._times:
            missed = max(0, round((time - self._times[-1]) * self.rate) - 1)
            self.dropped += missed
        seen = np.isfinite(targets).all(1)
        held = int(seen.sum()) < BLIND
        if self._guess is None:
            if held:
                raise MarkerError(
                    f"the first frame shows {int(seen.sum())} markers: at least {BLIND} are needed to begin"
                )
            self._guess = self._fitter.first(targets)
        rms = np.nan
        if not held:
            _, q, placed, _ = self._fitter.run(targets[None], self._guess)
            self._guess = q[0]
            rms = float(np.sqrt(np.mean(np.sum((placed[0, seen] - targets[seen]) ** 2, axis=1))))
        if missed > WINDOW // 2:
            self._times.clear()
            self._poses.clear()
        self._times.append(float(time))
        self._poses.append(self._guess.copy())
        tau, ground = self._torques()
        step = self._times[-1] - self._times[-2] if len(self._times) > 1 else 0.0
        self.cost += step * float(np.abs(tau[6:]).sum())
        return self._frame(time, began, tau, ground, rms, held=held, dropped=missed)

    def run(self, *, realtime: bool = True, seconds: float = np.inf, outlet: str | None = None) -> Iterator[LiveFrame]:
        """Yield a frame for each that comes from the source, for `seconds` of it.

        With `realtime`, a trial is played back at its own pace. `outlet` names a Lab Streaming Layer stream that pose,
        torques and cost go out on.
        """
        out = _outlet(outlet, self._model.nq + self._model.nv + 1, self.rate) if outlet else None
        began = perf_counter()
        first = None
        for time, markers in self._frames():
            first = time if first is None else first
            if time - first > seconds:
                return
            if realtime and isinstance(self.source, Trial):
                wait = (time - first) - (perf_counter() - began)
                if wait > 0:
                    sleep(wait)
            frame = self.push(time, markers)
            if out is not None:
                out.push_sample(np.concatenate((frame.q, frame.tau, [frame.cost])).tolist())
            yield frame

    def angles(self, frame: LiveFrame) -> dict[str, float]:
        """Return the joint angles of a frame by name [rad]."""
        from .angles import angle_table

        values = clinical(self._model, frame.q[None])[0][0]
        return {own.name: float(value) for own, value in zip(angle_table(self._model), values, strict=True)}

    def latency(self, quantile: float = 0.99) -> float:
        """Return a quantile of the frames' latencies so far [s]."""
        return float(np.quantile(self.latencies, quantile)) if self.latencies else 0.0

    def _frame(
        self, time: float, began: float, tau: Array, ground: Array, rms: float, *, held: bool = False,
        late: bool = False, dropped: int = 0,
    ) -> LiveFrame:  # fmt: skip
        took = perf_counter() - began
        self.latencies.append(took)
        q = self._model.neutral() if self._guess is None else self._guess.copy()
        return LiveFrame(float(time), q, tau, ground, self.cost, rms, took, held, late, dropped)

    def _torques(self) -> tuple[Array, Array]:
        """Return the newest frame's joint torques and the forces under both feet."""
        model = self._model
        v, a = self._rates()
        q = self._poses[-1]
        out, total = np.zeros((1, model.nv)), np.zeros((1, 6))
        gravity = tuple(float(g) for g in self.subject.gravity)
        nothing, nowhere = np.zeros((1, 0, 6)), np.zeros((1, 0), dtype=np.int64)
        rows = (q[None], v[None], a[None])
        tables = (model.topology, model.constants, self._armature)
        _recorded.inverse_frames(*tables, *rows, nothing, nowhere, gravity, self._links, self._axes, out, total)
        bodies, places, sides = self._soles
        poses = body_poses(model, q)
        own = poses[bodies]
        points = np.einsum("kij,kj->ki", own[:, :3, :3], places) + own[:, :3, 3]
        self._lowest = np.minimum(self._lowest, points[:, 2])
        level = float(np.median(self._lowest))
        floor = np.clip(self._lowest, level - 0.04, level + 0.04)
        height = points[:, 2] - floor
        close = np.exp(-((np.maximum(height, 0.0) / NEAR) ** 2))
        stiffness = np.where(close > 1e-2, STIFF * close**2, 0.0)[None]
        points[:, 2] = floor
        arm = center_of_mass(model, q) - points
        slopes = np.ascontiguousarray(arm[:, :2] / np.maximum(arm[:, 2:], 0.2))[None]
        forces, left = np.zeros((1, *points.shape)), np.zeros((1, 6))
        _contact.contact_frames(points[None], stiffness, slopes, total, np.full(6, 100.0), FRICTION, 300, forces, left)
        ground, wrenches = np.zeros((2, 3)), np.zeros((1, 2, 6))
        for k in range(2):
            mine = sides == k
            ground[k] = forces[0, mine].sum(0)
            wrenches[0, k, :3] = np.cross(points[mine], forces[0, mine]).sum(0)
            wrenches[0, k, 3:] = ground[k]
        _recorded.inverse_frames(*tables, *rows, wrenches, self._feet, gravity, self._links, self._axes, out, total)
        return out[0], ground

    def _rates(self) -> tuple[Array, Array]:
        """Return v and a at the newest pose, from a parabola through the window's poses relative to it."""
        nv = self._model.nv
        count = len(self._times)
        if count < 3:
            return np.zeros(nv), np.zeros(nv)
        t = np.array(self._times) - self._times[-1]
        off = np.zeros((count, nv))
        for k in range(count - 1):
            difference(self._model.topology, self._poses[-1], self._poses[k], off[k])
        table = np.vander(t, 3, increasing=True)
        fit = np.linalg.lstsq(table, off, rcond=None)[0]
        return np.ascontiguousarray(fit[1]), np.ascontiguousarray(2 * fit[2])

    def _frames(self) -> Iterable[tuple[float, Array]]:
        if isinstance(self.source, Trial):
            from .following import matched

            targets, _ = matched(self.subject, self.source)
            return zip(self.source.times.tolist(), targets, strict=True)
        if isinstance(self.source, str):
            return _inlet(self.source, list(self.subject.labels))
        raise ArgumentError("there is no source: give a trial or the name of a stream, or call push for each frame")

    def _warm(self) -> None:
        """Compile everything before the first frame comes."""
        model = self._model
        motion = Motion.of_states(self.subject, np.arange(3) / self.rate, np.tile(model.neutral(), (3, 1)))
        from .contact import sole_paths

        markers = sole_paths(self.subject, motion, self.subject.bodies, self.subject.offsets)
        for k in range(3):
            self.push(k / self.rate, markers[k])
        self._times.clear()
        self._poses.clear()
        self._guess = None
        self._lowest[:] = np.inf
        self.cost, self.dropped = 0.0, 0
        self.latencies.clear()


def _pylsl() -> Any:
    try:
        import pylsl
    except (ImportError, RuntimeError, OSError):
        raise missing_extra("pylsl", "live", "a Lab Streaming Layer stream") from None
    return pylsl


def _inlet(name: str, labels: list[str], *, wait: float = 5.0) -> Iterator[tuple[float, Array]]:
    """Yield frames of a stream of marker positions [m]: x, y, z of each marker, in the order of its channel labels."""
    lsl = _pylsl()
    found = lsl.resolve_byprop("name", name, timeout=wait)
    if not found:
        raise ArgumentError(f"there is no stream named {name!r} on the network: is its source running?")
    inlet = lsl.StreamInlet(found[0], max_buflen=10)
    channels = inlet.info().channel_count()
    order = _channels(inlet.info(), labels, channels)
    while True:
        sample, stamp = inlet.pull_sample(timeout=wait)
        if sample is None:
            return
        values = np.asarray(sample, dtype=float).reshape(-1, 3)
        markers = np.full((len(labels), 3), np.nan)
        known = order >= 0
        markers[known] = values[order[known]]
        yield float(stamp), markers


def _channels(info: Any, labels: list[str], count: int) -> np.ndarray:
    """Return for each marker its place among the stream's, from the labels of its channels, else in the same order."""
    names: list[str] = []
    channel = info.desc().child("channels").child("channel")
    for _ in range(count):
        names.append(channel.child_value("label"))
        channel = channel.next_sibling()
    heads = [name.rpartition("_")[0] or name for name in names[::3]]
    if not any(heads):
        if count != 3 * len(labels):
            raise ArgumentError(f"the stream has {count} channels without labels, but {3 * len(labels)} are needed")
        return np.arange(len(labels))
    lower = [head.lower() for head in heads]
    return np.array([lower.index(label.lower()) if label.lower() in lower else -1 for label in labels])


def _outlet(name: str, channels: int, rate: float) -> Any:
    lsl = _pylsl()
    return lsl.StreamOutlet(lsl.StreamInfo(name, "MoCap", channels, rate, "float32", f"kinetree {name}"))
