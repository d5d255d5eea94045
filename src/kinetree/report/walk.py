"""The HTML report of a movement: one page, no other files, readable without knowing the library."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..files import whole_file
from ..human.judging import checks, verdict
from ..human.plates import SIDES
from ..human.result import Result
from ..human.save import summary
from . import figures

JOINTS = ("hip", "knee", "ankle", "shoulder", "elbow")
SHOWN = {
    "hip": ("flexion", "adduction", "internal_rotation"), "knee": ("flexion",),
    "ankle": ("dorsiflexion", "inversion"),
    "shoulder": ("flexion", "adduction"), "elbow": ("flexion",),
}  # fmt: skip
OSIM = (
    "hip_flexion", "hip_adduction", "hip_rotation", "knee_angle", "ankle_angle", "subtalar_angle", "arm_flex",
    "arm_add",
    "elbow_flex",
)  # fmt: skip
STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}
h1{font-size:1.6rem;margin-bottom:.2rem} h2{font-size:1.15rem;margin-top:2.2rem;border-bottom:1px solid #ddd}
table{border-collapse:collapse;margin:.6rem 0} td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}
th{font-weight:600;color:#555} .good{color:#1e8449} .usable{color:#b9770e} .poor{color:#c0392b}
.word{font-weight:700;font-size:1.15rem} .muted{color:#777} svg{max-width:100%;height:auto} li{margin:.15rem 0}
"""


def write_report(result: Result, path: str | os.PathLike[str]) -> Path:
    """Write the report of a result to an HTML file."""
    with whole_file(path) as temporary:
        temporary.write_text(page(result), encoding="utf-8")
    return Path(path)


def page(result: Result) -> str:
    """Return the report as one HTML page."""
    facts = summary(result)
    word, lines = verdict(result)
    title = facts["trial"] or "movement"
    parts = [
        f"<h1>{html.escape(str(title))}</h1>",
        f"<p class=muted>{facts['frames']} frames, {facts['duration_s']:.2f} s; {_person(facts)}</p>",
        f"<p>Quality: <span class='word {word}'>{word}</span></p>",
        "<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in lines) + "</ul>",
        _limits(result),
        "<h2>Steps</h2>", _steps(result),
        "<h2>Joint angles</h2>", _angles(result),
        "<h2>Joint torques</h2><p class=muted>net torques of all that crosses the joint, per kilogram of the body</p>",
        _torques(result),
        "<h2>Joint powers</h2>", _powers(result),
        f"<h2>Ground forces</h2><p class=muted>from {html.escape(result.ground.source)}</p>", _ground(result),
        "<h2>Normalised strides</h2>", _cycles(result),
        "<h2>Work and cost</h2>", _work(result, facts),
        "<h2>Residuals at the root</h2>", _residuals(result),
        "<h2>Markers</h2>", _markers(result),
        "<h2>Notes</h2>", _notes(facts),
    ]  # fmt: skip
    head = f"<meta charset=utf-8><title>{html.escape(str(title))}</title><style>{STYLE}</style>"
    return f"<!doctype html><html lang=en><head>{head}</head><body>{''.join(parts)}</body></html>\n"


def _person(facts: dict[str, Any]) -> str:
    height = "" if facts["height_m"] is None else f"{facts['height_m']:.2f} m, "
    return f"{height}{facts['mass_kg']:.1f} kg, markers: {html.escape(str(facts['markerset'] or 'of the model'))}"


def _table(rows: Sequence[tuple[str, ...]], head: tuple[str, ...] = ()) -> str:
    top = "<tr>" + "".join(f"<th>{html.escape(cell)}</th>" for cell in head) + "</tr>" if head else ""
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{top}{body}</table>"


def _limits(result: Result) -> str:
    rows = [
        (own.name, f"{own.measured:.2f} {own.unit}", f"{own.limit:g} {own.unit}", "kept" if own.ok else "missed")
        for own in checks(result)
    ]
    return _table(rows, ("figure", "measured", "accepted", "")) if rows else ""


def _steps(result: Result) -> str:
    gait = result.gait
    if not any(len(own) for own in gait.strikes.values()):
        return "<p>No steps were found.</p>"
    rows = [(_words(name), f"{value:.3g}") for name, value in gait.measures.items()]
    for side in SIDES:
        rows.append((f"{side} foot lands [s]", ", ".join(f"{t:.2f}" for t in gait.strikes[side])))
        rows.append((f"{side} foot leaves [s]", ", ".join(f"{t:.2f}" for t in gait.offs[side])))
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in gait.notes)
    return f"<p class=muted>from {html.escape(gait.source)}</p>{notes}" + _table(rows)


def _words(name: str) -> str:
    """Return the name of a measure in words, its unit in brackets."""
    for tail, unit in (
        ("_m_s", "m/s"),
        ("_steps_min", "steps/min"),
        ("_percent", "% of the stride"),
        ("_s", "s"),
        ("_m", "m"),
    ):
        if name.endswith(tail):
            return f"{name.removesuffix(tail).replace('_', ' ')} [{unit}]"
    return name.replace("_", " ")


def _pairs(result: Result) -> list[tuple[str, str, str]]:
    """Return (title, right name, left name) of the angles that are shown."""
    names = set(result.names)
    wanted = [f"{joint}_{kind}" for joint in JOINTS for kind in SHOWN[joint]]
    wanted += [name for name in OSIM if name not in wanted]
    return [(name.replace("_", " "), f"{name}_r", f"{name}_l") for name in wanted if f"{name}_r" in names]


def _angles(result: Result) -> str:
    panels = [
        (title, "deg", {"right": np.degrees(result.motion.angle(right)), "left": np.degrees(result.motion.angle(left))})
        for title, right, left in _pairs(result)
    ]
    middle = [name for name in result.names if name.startswith(("lumbar", "sacral"))]
    if middle:
        panels.append(("trunk", "deg", {n.replace("_", " "): np.degrees(result.motion.angle(n)) for n in middle}))
    return figures.curves(panels, result.times) if panels else "<p>The model has no angles that are known.</p>"


def _torques(result: Result) -> str:
    mass = result.subject.mass
    panels = [
        (title, "N m / kg", {"right": result.torque_of(right) / mass, "left": result.torque_of(left) / mass})
        for title, right, left in _pairs(result)
    ]
    return figures.curves(panels, result.times) if panels else ""


def _powers(result: Result) -> str:
    own = result.energetics
    sides: dict[str, dict[str, np.ndarray]] = {}
    for k, joint in enumerate(own.joints):
        for side in SIDES:
            bare = joint.removeprefix(f"{side}_") if joint.startswith(side) else joint.removesuffix(f"_{side[0]}")
            if bare != joint and bare in (*JOINTS, *OSIM):
                sides.setdefault(bare.replace("_", " "), {})[side] = own.power[:, k] / result.subject.mass
    panels = [(title, "W / kg", lines) for title, lines in sides.items()]
    return figures.curves(panels, result.times) if panels else ""


def _ground(result: Result) -> str:
    force = result.ground.force
    titles = ("x (horizontal)", "y (horizontal)", "vertical")
    panels = [(titles[a], "N", {side: force[:, k, a] for k, side in enumerate(SIDES)}) for a in range(3)]
    return figures.curves(panels, result.times)


def _cycles(result: Result) -> str:
    gait = result.gait
    if not gait.walks:
        return "<p>There is no whole stride.</p>"
    counts = ", ".join(f"{side} {len(gait.cycles[side].curves)}" for side in SIDES)
    panels = []
    for kind, unit, scale in (("angle", "deg", 1.0), ("torque", "N m / kg", 1.0)):
        for name in ("hip_flexion", "knee_flexion", "ankle_dorsiflexion", "knee_angle", "ankle_angle"):
            sides = {}
            for side in SIDES:
                own = gait.cycles[side]
                key = f"{kind}/{name}"
                if key in own.names and len(own.curves):
                    k = own.names.index(key)
                    sides[side] = (scale * own.mean[:, k], scale * own.spread[:, k])
            if sides:
                panels.append((f"{name.replace('_', ' ')}", unit, sides))
    return f"<p class=muted>strides: {counts}; the band is one standard deviation</p>" + figures.cycles(panels)


def _work(result: Result, facts: dict[str, Any]) -> str:
    own = result.energetics
    rows = [
        (joint.replace("_", " "), f"{own.positive[k]:.1f}", f"{own.negative[k]:.1f}", f"{own.net[k]:.1f}",
         f"{own.effort[k]:.1f}", f"{own.control[k]:.1f}")
        for k, joint in enumerate(own.joints)
    ]  # fmt: skip
    rows.append(
        ("all", f"{own.positive.sum():.1f}", f"{own.negative.sum():.1f}", f"{own.net.sum():.1f}",
         f"{own.effort.sum():.1f}",
         f"{own.control.sum():.1f}")
    )  # fmt: skip
    head = (
        "joint",
        "positive work [J]",
        "negative [J]",
        "net [J]",
        "integrated torque [N m s]",
        "without gravity's share",
    )
    cost = facts["cost_of_transport"]
    line = f"<p>Positive work per weight and distance: {cost:.3f}</p>" if np.isfinite(cost) else ""
    return line + _table(rows, head)


def _residuals(result: Result) -> str:
    table = {name: result.residual[:, k] for k, name in enumerate(result.residual_names)}
    turn = {
        name: own for name, own in table.items() if not name.endswith(("_tx", "_ty", "_tz")) and "force" not in name
    }
    push = {name: own for name, own in table.items() if name not in turn}
    return figures.curves([("force", "N", push), ("moment", "N m", turn)], result.times, columns=2) if table else ""


def _markers(result: Result) -> str:
    errors = result.motion.errors
    if not errors.shape[1]:
        return "<p>No markers.</p>"
    seen: np.ndarray = np.logical_not(np.isnan(errors).all(axis=0))
    labels = [label for label, own in zip(result.subject.labels, seen.tolist(), strict=True) if own]
    shown = 100 * errors[:, seen]
    rms, most = np.sqrt(np.nanmean(shown**2, axis=0)), np.nanmax(shown, axis=0)
    limits = {"accepted root mean square": 2.0, "accepted largest": 4.0}
    return figures.bars(labels, {"root mean square": rms, "largest": most}, "cm", limits)


def _notes(facts: dict[str, Any]) -> str:
    notes = facts["notes"]
    return (
        "<ul>" + "".join(f"<li>{html.escape(str(note))}</li>" for note in notes) + "</ul>" if notes else "<p>None.</p>"
    )
