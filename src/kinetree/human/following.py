"""`follow`: from measured markers to the pose in every frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError, MarkerError
from ..kernels import coordinates as _coordinates
from ..kernels import layout as at
from ..kernels import pose as _pose
from ..typing import Array
from .motion import Motion
from .quality import Fault, drop_jumps, fill_gaps, outliers, unswap, usable_frames
from .subject import Subject, check_subject
from .trial import Trial

CUTOFF = 6.0  # Hz, of the filter before differentiating: the convention for gait
HUBER = 0.05  # m, beyond which a marker pulls no harder
STEPS, TOLERANCE, DAMPING = 12, 1e-5, 1e-4


class Fitter:
    """Scratch and tables for fitting poses of one subject: made once, used for frame after frame."""

    def __init__(self, subject: Subject, *, huber: float = HUBER, steps: int = STEPS, predict: float = 1.0) -> None:
        """Prepare the tables of `subject`."""
        model = subject.model
        self.subject, self.model = subject, model
        self.links, self.points = subject.marker_links()
        self.columns = len(subject.prior)
        widest = max(model.nq, model.nv, self.columns)
        self.work = np.zeros((12, widest))
        self.coordinates = np.zeros((2, model.nv), dtype=np.int64)
        rows = self.columns + (model.nv if subject.mapped else 0)
        self.matrix = np.zeros((rows, max(model.nv, self.columns)))
        self.link_rows, self.axes = np.zeros((model.njoints, at.LINKS)), np.zeros((model.nv, at.AXES))
        self.neutral = model.neutral()
        self.settings = np.array([float(steps), TOLERANCE, huber, DAMPING, predict])

    def run(
        self, targets: Array, start: Array, *, weights: Array | None = None, prior: Array | None = None
    ) -> tuple[Array, Array, Array, Array]:
        """Fit every frame of `targets` [n, m, 3]; returns coordinates, q, the model's markers, and steps and cost."""
        n = len(targets)
        model = self.model
        u, q = np.zeros((n, self.columns if self.subject.mapped else 0)), np.zeros((n, model.nq))
        placed, info = np.zeros((n, len(self.links), 3)), np.zeros((n, 2))
        _pose.follow_frames(
            model.topology, model.constants, model.coordinate_rows, model.coordinate_pieces, self.links, self.points,
            np.ascontiguousarray(self.subject.weights if weights is None else weights, dtype=float),
            np.ascontiguousarray(targets), np.ascontiguousarray(self.subject.prior if prior is None else prior),
            self.neutral, self.settings, np.ascontiguousarray(start), self.coordinates, self.work, self.link_rows,
            self.axes, self.matrix, u, q, placed, info,
        )  # fmt: skip
        return u, q, placed, info

    def each(self, targets: Array, starts: Array | None) -> tuple[Array, Array]:
        """Fit frames that do not follow one another, each from its own start (None: from a rigid fit at rest).

        Returns q and the model's markers.
        """
        q, placed = np.zeros((len(targets), self.model.nq)), np.zeros((len(targets), len(self.links), 3))
        for t in range(len(targets)):
            start = self.first(targets[t]) if starts is None else starts[t]
            _, q[t : t + 1], placed[t : t + 1], _ = self.run(targets[t : t + 1], start)
        return q, placed

    def first(self, target: Array, start: Array | None = None) -> Array:
        """Return a configuration near the markers of one frame [m, 3], from none: the root by a rigid fit, then all."""
        guess = self.subject.start() if start is None else start.copy()
        guess = self._put_root(guess, target)
        before = self.settings.copy()
        best, least = guess, np.inf
        try:
            for huber in (1.0, before[2]):
                self.settings[:] = (80.0, 1e-7, huber, 1e-2, 0.0)
                u, q, _, info = self.run(target[None], guess)
                guess = (u if self.subject.mapped else q)[0]
                if info[0, 1] < least or huber == before[2]:
                    best, least = guess, info[0, 1]
        finally:
            self.settings[:] = before
        return best

    def _put_root(self, guess: Array, target: Array) -> Array:
        """Turn and move the root so that the model's markers at `guess` lie best on the measured ones (Kabsch)."""
        if self.subject.mapped:
            return self._put_coordinates(guess, target)
        placed = self._placed(guess)
        seen = np.isfinite(target).all(1) & (self.links >= 0)
        kinds = self.model.joint_kinds
        if seen.sum() < 3 or kinds[0] != at.FREE:
            return guess
        turn, shift = rigid(placed[seen], target[seen], self.subject.weights[seen])
        out = guess.copy()
        out[:4] = _quaternion(turn @ _matrix(guess[:4]))
        out[4:7] = turn @ guess[4:7] + shift
        return out

    def _put_coordinates(self, guess: Array, target: Array) -> Array:
        """Move an OpenSim root so that the markers' centres agree, at the best of eight headings."""
        seen = np.isfinite(target).all(1)
        best, least = guess, np.inf
        values = self.model.coordinate_values
        shifts = [k for k in range(len(values)) if not values[k, 3]][:3]
        turns = [k for k in range(min(3, len(values))) if values[k, 3]]
        for heading in np.arange(8) * np.pi / 4:
            trial = guess.copy()
            if len(turns) == 3:
                trial[turns[2]] = heading
            if len(shifts) == 3:
                off = (target[seen] - self._placed(trial)[seen]).mean(0)
                trial[shifts] += np.array([off[0], off[2], -off[1]])
            distance = float(np.linalg.norm(target[seen] - self._placed(trial)[seen], axis=1).mean())
            if distance < least:
                best, least = trial, distance
        return best

    def _placed(self, guess: Array) -> Array:
        before = self.settings.copy()
        self.settings[0] = -1.0
        try:
            nothing = np.zeros_like(self.subject.prior)
            nothing[:, _pose.LOW], nothing[:, _pose.HIGH] = -np.inf, np.inf
            _, _, placed, _ = self.run(np.full((1, len(self.links), 3), np.nan), guess, prior=nothing)
        finally:
            self.settings[:] = before
        return placed[0]


def follow(
    subject: Subject | Any,
    trial: Trial,
    *,
    cutoff: float | None = CUTOFF,
    huber: float = HUBER,
    repair: bool = True,
    method: str = "pose",
    **options: Any,
) -> Motion:
    """Fit the subject's body to the markers of a trial, frame by frame.

    Args:
        subject: What `fit` returned, or a model with markers (such as one of OpenSim).
        trial: The recorded movement.
        cutoff: What is faster is filtered out before velocities are taken [Hz]; None for no filter.
        huber: How far a marker may be off before it pulls no harder [m].
        repair: Fill short gaps, and take out samples that jump or are swapped; all of it is reported in `notes`.
        method: "pose" iterates within each frame until the springs balance, so that nothing lags; "soft" steps the
            soft-constraint world once a frame, as the paper does.
        **options: For "soft": see `kinetree.human.soft_body.follow_soft`.
    """
    subject = check_subject(subject)
    if method == "soft":
        from .soft_body import follow_soft

        return follow_soft(subject, trial, cutoff=cutoff, **options)
    if method != "pose" or options:
        raise ArgumentError(f"method is {method!r} with {sorted(options)}: use 'pose', or 'soft' with its options")
    targets, notes = matched(subject, trial)
    first, last = usable_frames(targets, subject.weights, trial.times)
    if last - first < 2:
        raise MarkerError(f"{trial.path}: in no stretch of the trial is enough of the body seen to follow it")
    complete = first == 0 and last == trial.frames - 1
    if not complete:
        notes.append(
            f"only frames {first} to {last} of {trial.frames} show enough of the body ({trial.times[first]:.2f} to "
            f"{trial.times[last]:.2f} s): the rest is left out"
        )
    times, targets = trial.times[first : last + 1], targets[first : last + 1]
    cleaned = targets
    faults: list[Fault] = []
    if repair:
        cleaned, faults = repaired(targets, list(subject.labels), times)
    fitter = Fitter(subject, huber=huber)
    start = fitter.first(cleaned[0])
    u, q, placed, info = fitter.run(cleaned, start)
    bad, far = outliers(np.linalg.norm(cleaned - placed, axis=2), list(subject.labels))
    if bad.any() and repair:
        cleaned = np.where(bad[..., None], np.nan, cleaned)
        u, q, placed, info = fitter.run(cleaned, start)
    notes += [str(_later(fault, first)) for fault in faults + far if "gap" not in fault.kind]
    gaps = [fault for fault in faults if fault.kind == "gap"]
    if gaps:
        filled = sum("filled" in fault.remedy for fault in gaps)
        notes.append(f"{len(gaps)} gaps: {filled} of up to 0.1 s filled, {len(gaps) - filled} longer ones left open")
    facts = {
        "steps": float(info[:, 0].mean()), "first": first, "last": last,
        "faults": [_later(fault, first) for fault in faults + far],
    }  # fmt: skip
    more: dict[str, Any] = {
        "targets": np.where(bad[..., None], np.nan, targets) if repair else targets, "placed": placed, "trial": trial,
        "notes": tuple(notes), "complete": complete, "info": facts,
    }  # fmt: skip
    if subject.mapped:
        return Motion.of_coordinates(subject, times, u, cutoff=cutoff, **more)
    return Motion.of_states(subject, times, q, cutoff=cutoff, **more)


def repaired(targets: Array, labels: list[str], times: Array) -> tuple[Array, list[Fault]]:
    """Take out jumps, undo swaps and fill short gaps."""
    cleaned, swaps = unswap(targets, labels, times)
    cleaned, jumps = drop_jumps(cleaned, labels, times)
    cleaned, gaps = fill_gaps(cleaned, labels, times)
    return cleaned, swaps + jumps + gaps


def matched(subject: Subject, trial: Trial) -> tuple[Array, list[str]]:
    """Return the trial's markers in the subject's order [n, m, 3], NaN where it has none of that name."""
    index = {label.lower(): k for k, label in enumerate(trial.labels)}
    targets = np.full((trial.frames, len(subject.labels), 3), np.nan)
    absent = []
    for k, label in enumerate(subject.labels):
        own = index.get(label.lower())
        if own is None:
            absent.append(label)
        else:
            targets[:, k] = trial.positions[:, own]
    if len(subject.labels) - len(absent) < 3:
        raise MarkerError(
            f"{trial.path}: it has {len(subject.labels) - len(absent)} of the subject's markers, at least 3 are "
            f"needed; the subject has {', '.join(subject.labels)}, the trial {', '.join(trial.labels)}"
        )
    return targets, [f"the trial does not have {', '.join(absent)}"] if absent else []


def rigid(a: Array, b: Array, weights: Array) -> tuple[Array, Array]:
    """Return the rotation and shift that bring the points `a` [m, 3] closest to `b` (Kabsch)."""
    w = weights / weights.sum()
    ca, cb = w @ a, w @ b
    u, _, vt = np.linalg.svd((a - ca).T @ (w[:, None] * (b - cb)))
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(vt.T @ u.T))])
    turn = vt.T @ flip @ u.T
    return turn, cb - turn @ ca


def place_coordinates(subject: Subject, u: Array) -> Array:
    """Return q of one set of coordinates."""
    model = subject.model
    nv = model.nv
    q, scratch = np.zeros(nv), np.zeros((3, nv))
    source, own = np.zeros(nv, dtype=np.int64), np.zeros(nv, dtype=np.int64)
    values = np.array(u, dtype=float)
    _coordinates.place_coordinates(
        model.coordinate_rows, model.coordinate_pieces, values, q, source, scratch[0], scratch[1], own, scratch[2]
    )
    return q


def _later(fault: Fault, first: int) -> Fault:
    return Fault(fault.label, fault.first + first, fault.last + first, fault.kind, fault.remedy)


def _matrix(q: Array) -> Array:
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _quaternion(turn: Array) -> Array:
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(turn).as_quat()
    return np.array([w, x, y, z])
