"""A pose from the markers of head, hands and feet alone (the paper's figures 8 and 9)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import MarkerError
from ...kernels import pose as fitting
from ...typing import Array
from ..following import CUTOFF, follow
from ..motion import Motion
from ..subject import Subject
from ..trial import Trial

KEPT = ("head", "right_hand", "left_hand", "right_heel", "left_heel", "right_toes", "left_toes")
WRISTS = ("right_lower_arm", "left_lower_arm")
ANKLES = ("right_lower_leg", "left_lower_leg")


@dataclass(frozen=True)
class Reduced:
    """Angles from all markers and from few, and how their curves correlate (NaN: moves less than 5 degrees)."""

    full: Motion
    few: Motion
    labels: tuple[str, ...]
    correlation: dict[str, float]
    rms: dict[str, float]

    def worst(self, names: tuple[str, ...]) -> float:
        """Return the lowest correlation among the angles whose names begin so."""
        values = [value for name, value in self.correlation.items() if name.startswith(names) and np.isfinite(value)]
        return min(values) if values else float("nan")


def reduced_markers(subject: Subject, trial: Trial, *, stiffness: float = 5e-2, cutoff: float = CUTOFF) -> Reduced:
    """Follow a trial with all markers and with those of head, hands and feet, the joints stiffer toward rest.

    Rest is the mean pose of the full set: the paper starts from an upright stance with the arms by the side. The
    markers next to the wrists and ankles count to hands and feet.
    """
    full = follow(subject, trial, cutoff=cutoff)
    labels = kept_labels(subject)
    few_subject = _stiffer(subject.only(labels), full, stiffness)
    few = follow(few_subject, trial.only(labels), cutoff=cutoff, repair=False)
    first = max(full.info["first"], few.info["first"])
    last = min(full.info["last"], few.info["last"])
    a = full.angles[first - full.info["first"] : last - full.info["first"] + 1]
    b = few.angles[first - few.info["first"] : last - few.info["first"] + 1]
    correlation, rms = {}, {}
    for k, name in enumerate(full.angle_names):
        x, y = a[:, k], b[:, k]
        moves = np.ptp(x) > np.radians(5) and np.ptp(y) > 1e-6
        correlation[name] = float(np.corrcoef(x, y)[0, 1]) if moves else float("nan")
        rms[name] = float(np.sqrt(np.mean((x - y) ** 2)))
    return Reduced(full, few, labels, correlation, rms)


def kept_labels(subject: Subject) -> tuple[str, ...]:
    """Return the markers on head, hands and feet, and those just above hands and feet."""
    names = [subject.model.names[k] for k in subject.bodies]
    low = {name: _lowest(subject, names, name) for name in (*WRISTS, *ANKLES)}
    kept = tuple(
        label
        for label, name, k in zip(subject.labels, names, range(len(names)), strict=True)
        if name in KEPT or k in low.get(name, ())
    )
    if len(kept) < 6:
        raise MarkerError(f"only {len(kept)} markers are on head, hands and feet: at least 6 are needed")
    return kept


def _lowest(subject: Subject, names: list[str], body: str) -> list[int]:
    own = [k for k, name in enumerate(names) if name == body]
    if not own:
        return []
    depth = np.array([subject.offsets[k, 2] for k in own])
    return [k for k, z in zip(own, depth, strict=True) if z < depth.min() + 0.04]


def _stiffer(subject: Subject, full: Motion, stiffness: float) -> Subject:
    """Return the subject whose joints are held at the mean pose of a motion."""
    mean = _mean_vector(subject, full)
    prior = subject.prior.copy()
    inner = slice(6, None)
    trunk = np.zeros(len(prior), dtype=bool)
    for name in ("sacral", "lumbar", "thoracic", "cervical", "right_clavicle", "left_clavicle"):
        trunk[subject.model.v_slice(name)] = True
    prior[inner, fitting.REST] = mean[inner]
    prior[inner, fitting.STIFF] = np.where(trunk[inner], stiffness * 10, stiffness / 10)
    return replace(subject, prior=prior)


def _mean_vector(subject: Subject, full: Motion) -> Array:
    from ...kernels.manifold import difference

    model = subject.model
    out, neutral = np.zeros((full.frames, model.nv)), model.neutral()
    for t in range(full.frames):
        difference(model.topology, neutral, full.q[t], out[t])
    return out.mean(0)
