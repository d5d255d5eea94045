"""`fit`: a subject from a trial, by the learning rule of Liu, Cooper and Ballard, appendix S2, run to convergence.

For some frames, the body with joints that give is pulled into place by the markers. Then every attachment moves toward
where its marker is on its segment, and every joint's two anchors toward each other:

    s' = (1 - eta) s + eta R'(p - x)                c' = (1 - eta) c + eta R_j'(R_k c_kj + x_k - x_j)    (both halves)

Other frames, with joints that do not give, say whether that helped; the best is kept. Landmarks that can be felt and
joints that no marker shows are drawn toward the template, and left and right get the same lengths.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..dynamics import body_poses
from ..errors import ArgumentError, MarkerError
from ..model.library.human48 import STATURE, human48, template_anchors
from ..typing import Array
from .following import Fitter, matched, repaired
from .loose import LOOSE, TIGHT, loosened, stretch
from .markersets import Attachment, attachments, places
from .quality import usable_frames
from .sizes import estimate_height, estimate_mass, pelvis_places
from .subject import Subject, default_prior
from .trial import Trial

TRAIN, VALIDATE = 24, 12  # frames
EPOCHS, PATIENCE = 40, 6
RATE_MARKER, RATE_ANCHOR = 0.7, 0.5
FIRM, FREE_MARKER, SPINE, LIMB = 0.15, 0.005, 0.10, 0.01  # share of the way back to the template in an epoch
TRUNK = ("lower_torso", "upper_torso", "neck", "head", "right_collar", "left_collar", "right_hand", "left_hand")
FEET = ("right_toes", "left_toes")
MIRROR = np.array([-1.0, 1.0, 1.0])


@dataclass
class _State:
    """What is learned: anchors by child body, marker places, both [m]."""

    anchors: dict[str, Array]
    offsets: Array

    def copy(self) -> _State:
        return _State({name: place.copy() for name, place in self.anchors.items()}, self.offsets.copy())


def fit(
    trial: Trial,
    *,
    mass: float | None = None,
    height: float | None = None,
    sex: str | None = None,
    markerset: str | os.PathLike[str] = "auto",
    parameters: str = "de_leva",
    epochs: int = EPOCHS,
    range_of_motion: bool = False,
) -> Subject:
    """Return the 48-DOF human that fits a trial (best one with much movement, or a static one).

    Args:
        trial: The movement whose frames are learned from.
        mass: The person's mass [kg]; if not given, what stands on the plates, else by stature.
        height: The person's stature [m]; if not given, from the lengths of the limbs.
        sex: "male" or "female", for the segments' masses.
        markerset: "auto", "cmu", "plugin_gait", "phasespace" or the path of a .toml file.
        parameters: Segment parameters, "de_leva" or "density"; see `kinetree.models.human48`.
        epochs: At most as many rounds of learning.
        range_of_motion: Set the joints' stops to what the trial shows, with a margin of 10 degrees.
    """
    for name, value, low, high in (("mass", mass, 2, 400), ("height", height, 0.4, 2.6)):
        if value is not None and not low <= value <= high:
            raise ArgumentError(f"{name} is {value!r}: a person has {low} to {high} {'kg' if name == 'mass' else 'm'}")
    template = human48(1.0, 23.5)
    set_name, found, unknown = attachments(trial.labels, markerset, template.names)
    found = {label: own for label, own in found.items() if own.weight > 0}
    at_rest = _rest_places(template, found)
    notes = [f"labels that say nothing, and are left out: {', '.join(unknown)}"] if unknown else []
    said = height is not None
    if height is None:
        height = estimate_height(trial, found, at_rest) or STATURE
        notes.append(f"the stature is estimated from the limbs: {height:.2f} m")
    how = "as given"
    if mass is None:
        mass, how = (trial.mass, "as the trial says") if trial.mass else estimate_mass(trial)
        if mass is None or not 20 <= mass <= 250:
            mass, how = 23.5 * height**2, "by the stature alone; give mass= for forces that can be believed"
    state = _State(template_anchors(height), places(found, height))
    firm = np.array([own.firm for own in found.values()])
    _measure_pelvis(trial, found, state, firm)
    guide = state.copy()
    subject = _build(state, found, height, mass, sex, set_name, parameters)
    train, check = _choose(subject, trial)
    who = (height, mass, sex, set_name, parameters)
    subject, state, history = _learn(subject, state, guide, found, firm, train, check, epochs, who)
    if how.startswith("mean force"):
        weighed = weigh(subject, trial)
        if weighed is not None:
            subject = _build(state, found, height, weighed, sex, set_name, parameters)
            how, mass = "force of the plates over the acceleration of the centre of mass", weighed
    notes.append(f"the mass is {mass:.1f} kg, {how}")
    if range_of_motion:
        subject = _with_range(subject, train)
    report = {
        "height": height, "height_given": said, "mass": mass, "markerset": set_name, "markers": len(found),
        "unknown": unknown, "validation": history, "notes": notes,
    }  # fmt: skip
    return replace(subject, report=report)


def _rest_places(template: Any, found: dict[str, Attachment]) -> dict[str, Array]:
    poses = body_poses(template, template.neutral())
    result = {}
    for label, own in found.items():
        pose = poses[template.names.index(own.body)]
        result[label] = pose[:3, :3] @ np.array(own.at) + pose[:3, 3]
    return result


def _measure_pelvis(trial: Trial, found: dict[str, Attachment], state: _State, firm: Array) -> None:
    measured = pelvis_places(trial, found)
    if measured is None:
        return
    spots, half = measured
    for k, label in enumerate(found):
        if label in spots:
            state.offsets[k] = spots[label]
            firm[k] = True
    for side, sign in (("right", 1.0), ("left", -1.0)):
        state.anchors[f"{side}_upper_leg"][0] = sign * half


def _build(
    state: _State,
    found: dict[str, Attachment],
    height: float,
    mass: float,
    sex: str | None,
    set_name: str,
    parameters: str,
) -> Subject:
    model = human48(height, mass, sex, parameters=parameters, anchors=state.anchors)
    bodies = np.array([model.names.index(own.body) for own in found.values()])
    weights = np.array([own.weight for own in found.values()])
    return Subject(
        model, tuple(found), bodies, state.offsets.copy(), weights, default_prior(model), height, sex, set_name
    )  # fmt: skip


def _choose(subject: Subject, trial: Trial) -> tuple[Array, Array]:
    """Return the markers of the frames to learn from and of those to check with, [n, m, 3] each."""
    targets, _ = matched(subject, trial)
    first, last = usable_frames(targets, subject.weights, trial.times)
    if last < first:
        raise MarkerError(f"{trial.path}: in no frame enough of the body is seen to fit a person to it")
    cleaned, _ = repaired(targets[first : last + 1], list(subject.labels), trial.times[first : last + 1])
    picks = np.unique(np.linspace(0, len(cleaned) - 1, min(TRAIN + VALIDATE, len(cleaned))).round().astype(int))
    check = picks[2::3] if len(picks) > 5 else picks
    train = np.setdiff1d(picks, check) if len(picks) > 5 else picks
    return cleaned[train], cleaned[check]


def _learn(
    subject: Subject, state: _State, guide: _State, found: dict[str, Attachment], firm: Array, train: Array,
    check: Array, epochs: int, who: tuple[float, float, str | None, str, str],
) -> tuple[Subject, _State, list[float]]:  # fmt: skip
    """Learn until the error on the frames that are not learned from stops falling."""
    best, best_state, least, patience = subject, state.copy(), np.inf, 0
    history: list[float] = []
    start: Array | None = None
    check_start: Array | None = None
    for epoch in range(max(1, epochs)):
        weights = subject.weights * (np.where(firm, 1.0, 0.1) if epoch < 2 else 1.0)
        loose = loosened(subject, TIGHT if epoch < 4 else LOOSE)
        start, q = _pull(loose, train, weights, start)
        in_parent, in_child, poses = stretch(loose, subject, q)
        _update(subject, state, guide, firm, train, poses, in_parent, in_child, learn_anchors=epoch >= 2)
        subject = _build(state, found, *who)
        error, check_start = _check(subject, check, check_start)
        history.append(error)
        if error < 0.997 * least:
            best, best_state, least, patience = subject, state.copy(), error, 0
        elif epoch > 6:
            patience += 1
            if patience >= PATIENCE:
                break
    return best, best_state, history


def _pull(loose: Subject, train: Array, weights: Array, start: Array | None) -> tuple[Array, Array]:
    fitter = Fitter(replace(loose, weights=weights), huber=0.1, steps=15, predict=0.0)
    q, _ = fitter.each(train, start)
    return q, q


def _check(subject: Subject, check: Array, start: Array | None) -> tuple[float, Array]:
    fitter = Fitter(subject, steps=15, predict=0.0)
    q, placed = fitter.each(check, start)
    return float(np.sqrt(np.nanmean(np.sum((placed - check) ** 2, axis=2)))), q


def _update(
    subject: Subject, state: _State, guide: _State, firm: Array, train: Array, poses: Array,
    in_parent: dict[str, Array], in_child: dict[str, Array], *, learn_anchors: bool,
) -> None:  # fmt: skip
    """Move attachments and anchors by the learning rule, then toward the template, then make both sides alike."""
    own = poses[:, subject.bodies]
    local = np.einsum("nmji,nmj->nmi", own[..., :3, :3], train - own[..., :3, 3])
    seen = np.isfinite(local).all(2)
    count = seen.sum(0)
    mean = np.where(seen[..., None], local, 0.0).sum(0) / np.maximum(count, 1)[:, None]
    moved = np.where((count > 0)[:, None], mean - state.offsets, 0.0)
    state.offsets += RATE_MARKER * moved
    state.offsets += np.where(firm, FIRM, FREE_MARKER)[:, None] * (guide.offsets - state.offsets)
    if not learn_anchors:
        return
    model = subject.model
    for name, gap in in_parent.items():
        rate = RATE_ANCHOR * (0.3 if name in TRUNK else 1.0)
        if name in FEET:
            rate *= 0.3
        state.anchors[name] = state.anchors[name] + 0.5 * rate * gap
        shift = 0.5 * rate * in_child[name]
        number = model.names.index(name)
        for k, parent in enumerate(
            model.parents
        ):  # the child's own anchor moves, so all that it carries moves the other way
            if parent == number:
                state.anchors[model.names[k]] = state.anchors[model.names[k]] + shift
        state.offsets[subject.bodies == number] += shift
    for name in state.anchors:
        back = SPINE if name in TRUNK or name in FEET or "upper_leg" in name else LIMB
        state.anchors[name] = state.anchors[name] + back * (guide.anchors[name] - state.anchors[name])
    for name in list(state.anchors):
        if name.startswith("right_"):
            other = "left_" + name.removeprefix("right_")
            both = 0.5 * (state.anchors[name] + MIRROR * state.anchors[other])
            state.anchors[name], state.anchors[other] = both, MIRROR * both
    for name in ("lower_torso", "upper_torso", "neck", "head"):
        state.anchors[name][0] = 0.0
    state.anchors["pelvis"] = np.zeros(3)


def weigh(subject: Subject, trial: Trial) -> float | None:
    """Return the mass that the plates' force and the acceleration of the centre of mass agree on [kg]: F = m (g + a).

    The median over frames on the ground: where a foot stands beside the plates the ratio is too low, and such frames
    are the fewer ones in a trial that is worth its plates.
    """
    from ..dynamics import center_of_mass
    from .following import follow
    from .rates import derivatives, low_pass

    motion = follow(subject, trial)
    height = np.array([center_of_mass(subject.model, q)[2] for q in motion.q])
    smooth = low_pass(height[:, None], motion.times, 6.0)
    pull = derivatives(motion.times, smooth)[1][:, 0] + 9.80665
    force = low_pass(trial.ground_force(), trial.times, 6.0)[:, 2]
    force = force[np.searchsorted(trial.times, motion.times)]
    margin = max(3, round(0.1 * trial.rate))
    good = (pull > 4.0) & (force > 0.4 * force.max())
    good[:margin] = good[-margin:] = False
    if good.sum() < 10:
        return None
    mass = float(np.median(force[good] / pull[good]))
    return mass if 20 <= mass <= 250 else None


def _with_range(subject: Subject, train: Array) -> Subject:
    """Set the stops to what these frames show and 10 degrees more."""
    from ..kernels import pose as fitting
    from ..kernels.manifold import difference

    free = subject.prior.copy()
    free[:, fitting.STOP] = 0.0
    fitter = Fitter(replace(subject, prior=free), steps=15, predict=0.0)
    _, q, _, _ = fitter.run(train, fitter.first(train[0]))
    model = subject.model
    vectors = np.zeros((len(q), model.nv))
    for t in range(len(q)):
        difference(model.topology, model.neutral(), q[t], vectors[t])
    prior, margin = subject.prior.copy(), np.radians(10.0)
    prior[6:, fitting.LOW] = vectors[:, 6:].min(0) - margin
    prior[6:, fitting.HIGH] = vectors[:, 6:].max(0) + margin
    return replace(subject, prior=prior)
