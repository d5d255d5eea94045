"""From a file to a folder of results: the steps in order, and what was reached where one of them fails."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import ArgumentError, KinetreeError
from ..model.model import Model
from .fitting import fit
from .following import CUTOFF, follow
from .inverse import inverse_dynamics
from .judging import verdict
from .motion import Motion
from .result import Result
from .save import summary
from .subject import Subject
from .synthetic import synthetic_walk
from .trial import Trial

Progress = Callable[[float, str], None]
STEPS = ("reading", "fitting the body", "following the markers", "inverse dynamics", "writing")


@dataclass
class Analysis:
    """What was reached of an analysis: `failed` names the step that could not be done and `error` says why."""

    trial: Trial | None = None
    subject: Subject | None = None
    motion: Motion | None = None
    result: Result | None = None
    failed: str = ""
    error: KinetreeError | None = None
    files: list[Path] = field(default_factory=list)

    @property
    def partial(self) -> bool:
        """Whether a step failed, or only a part of the trial could be followed."""
        return bool(self.failed) or (self.motion is not None and not self.motion.complete)

    def summary(self) -> dict[str, Any]:
        """Return the figures that were reached."""
        facts: dict[str, Any] = {"partial": self.partial, "failed_step": self.failed or None}
        if self.error is not None:
            facts["error"] = str(self.error)
        if self.result is not None:
            word, lines = verdict(self.result)
            facts |= {"verdict": word, "verdict_lines": lines} | summary(self.result)
        elif self.trial is not None:
            facts |= {
                "trial": Path(self.trial.path).name,
                "frames": self.trial.frames,
                "notes": list(self.trial.repairs),
            }
        return facts


def analyse(
    path: str | os.PathLike[str] | Trial | None,
    *,
    forces: str | os.PathLike[str] | None = None,
    mass: float | None = None,
    height: float | None = None,
    sex: str | None = None,
    markerset: str | os.PathLike[str] = "auto",
    model: Model | str | os.PathLike[str] | None = None,
    cutoff: float = CUTOFF,
    ground: str = "auto",
    out: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    **reading: Any,
) -> Analysis:
    """Analyse one trial; None analyses the embedded walk.

    Args:
        path: The trial's file, or a trial.
        forces: A MOT or STO file of ground forces.
        mass: kg. height: m. sex: "male" or "female".
        height: Stature [m].
        sex: For the segments' masses.
        markerset: As in `fit`.
        model: An OpenSim model to use in place of the 48-DOF human.
        cutoff: Of the filter [Hz].
        ground: "auto", "plates", "contact" or "none"; see `inverse_dynamics`.
        out: The folder for the files; None writes none.
        progress: Hears the fraction done and the step.
        **reading: Further options of `Trial.read`.
    """
    say = progress or (lambda fraction, step: None)
    done = Analysis()
    step = STEPS[0]
    try:
        say(0.0, step)
        done.trial = _read(path, forces, mass, reading)
        step = STEPS[1]
        say(0.15, step)
        done.subject = _subject(done.trial, mass, height, sex, markerset, model)
        step = STEPS[2]
        say(0.5, step)
        done.motion = follow(done.subject, done.trial, cutoff=cutoff)
        step = STEPS[3]
        say(0.65, step)
        done.result = inverse_dynamics(done.subject, done.motion, forces=ground, cutoff=cutoff)
    except KinetreeError as error:
        done.failed, done.error = step, error
        if done.trial is None:
            raise
    if out is not None:
        say(0.75, STEPS[4])
        write(done, out)
    say(1.0, "done")
    return done


def _read(path: Any, forces: Any, mass: float | None, reading: dict[str, Any]) -> Trial:
    if path is None:
        return synthetic_walk()
    if isinstance(path, Trial):
        return path
    return Trial.read(path, forces=forces, mass=mass, **reading)


def _subject(
    trial: Trial, mass: float | None, height: float | None, sex: str | None, markerset: Any, model: Any
) -> Subject:
    if model is None:
        return fit(trial, mass=mass, height=height, sex=sex, markerset=markerset)
    if not isinstance(model, Model):
        from ..io.load import load

        model = load(model)
    if not model.marker_names:
        raise ArgumentError(f"the model {model.name!r} has no markers, so that it cannot follow a trial")
    return Subject.of(model)


def write(done: Analysis, folder: str | os.PathLike[str]) -> list[Path]:
    """Write what was reached: all tables and the report, or the trial alone, and a summary that says which."""
    place = Path(folder)
    if done.result is not None:
        done.files = done.result.save(place)
        done.files.append(done.result.report(place / "report.html"))
    else:
        place.mkdir(parents=True, exist_ok=True)
        if done.motion is not None:
            from .save import write_angles

            done.files.append(write_angles(done.motion, place / "angles.mot"))
        if done.trial is not None:
            done.files.append(done.trial.save(place / "markers.trc"))
    from .save import plain

    target = place / "summary.json"
    target.write_text(json.dumps(plain(done.summary()), indent=2) + "\n", encoding="utf-8")
    if target not in done.files:
        done.files.append(target)
    return done.files
