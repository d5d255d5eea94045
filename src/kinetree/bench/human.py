"""`kinetree bench human`: the human dynamic model against real recordings, the paper's experiments, and speed.

OpenSim itself cannot be run here: its inverse kinematics does 34 to 62 frames a second on these trials (measured by
others on this kind of machine), which is what speeds are set beside.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ..typing import Array
from .core import Row, at_least, at_most, information, not_measured

OPENSIM_FRAMES = 62.0  # a second, of OpenSim's inverse kinematics: its best figure
Part = tuple[str, Callable[[], list[Row]]]
LEGS = ("hip_flexion", "knee", "ankle")
PAIRS = (
    ("hip_flexion_r", "hip_flexion_r"), ("knee_flexion_r", "knee_angle_r"), ("ankle_dorsiflexion_r", "ankle_angle_r"),
    ("hip_flexion_l", "hip_flexion_l"), ("knee_flexion_l", "knee_angle_l"), ("ankle_dorsiflexion_l", "ankle_angle_l"),
)  # fmt: skip
AMC = (
    ("hip_flexion", "femur", -1), ("knee_flexion", "tibia", 0), ("ankle_dorsiflexion", "foot", -1),
    ("shoulder_flexion", "humerus", -1), ("elbow_flexion", "radius", 0),
)  # fmt: skip


def parts(*, quick: bool, data: Path | None) -> list[Part]:
    """Return what is measured, in order; rows whose files are absent say so."""
    return [
        ("OpenSim's models", lambda: _needs(data, "OpenSim's models", opensim_rows)),
        ("the 48-DOF human", lambda: _needs(data, "the 48-DOF human", human_rows)),
        ("noise", lambda: noise_rows(quick=quick)),
        ("experiments", lambda: experiment_rows(quick=quick)),
        ("experiments on recordings", lambda: _needs(data, "experiments on recordings", recorded_rows)),
        ("speed", lambda: speed_rows(data, quick=quick)),
    ]


def _needs(data: Path | None, group: str, rows: Callable[[Path], list[Row]]) -> list[Row]:
    if data is None or not (data / "moco_walk").is_dir():
        return [not_measured(group, group, "the recordings are not there: give --data")]
    return rows(data)


# --- OpenSim


@cache
def _osim(data: Path, which: str) -> dict[str, Any]:
    """Return model, trial, and OpenSim's own coordinates and torques."""
    from ..human import Subject, Trial
    from ..io.load import load
    from ..io.mot import read_table

    if which == "arnold":
        home = data / "arnold_subject01"
        trial = Trial.read(home / "trials/walk2/markers.trc", forces=home / "trials/walk2/grf.mot", mass=72.84)
        model, names = load(home / "subject01.osim"), ("coordinates.sto", "id.sto")
    else:
        home = data / "moco_walk"
        trial = Trial.read(home / "markers_walk.trc", forces=home / "grf_walk.mot")
        model, names = load(home / "subject_walk_scaled.osim"), ("coordinates.sto", "id_walk.sto")
    coordinates, torques = (read_table(home / name) for name in names)
    columns = {
        name.split("/")[-2] if name.endswith("/value") else name: k for k, name in enumerate(coordinates.columns)
    }
    values = {name: coordinates.data[:, k] for name, k in columns.items() if not name.endswith("_beta")}
    return {
        "subject": Subject.of(model),
        "trial": trial,
        "times": coordinates.times,
        "values": values,
        "torques": torques,
    }


def opensim_rows(data: Path) -> list[Row]:
    """Compare inverse dynamics and kinematics on OpenSim's models with what OpenSim found."""
    from ..human import Motion, follow, inverse_dynamics

    rows: list[Row] = []
    for which, cutoff, middle, limit in (("arnold", None, 0.0, 1.0), ("moco", 6.0, 0.15, 2.0)):
        own = _osim(data, which)
        motion = Motion.of_coordinates(own["subject"], own["times"], own["values"], cutoff=cutoff, trial=own["trial"])
        result = inverse_dynamics(own["subject"], motion, forces="plates", force_cutoff=None)
        worst = _worst(result, own["torques"], middle)
        detail = f"{worst[1]}; pelvis residuals left out" if which == "moco" else worst[1]
        rows.append(
            at_most("OpenSim's models", f"{which}: torques, worst RMS of a coordinate", worst[0], limit, "N m", detail)
        )
        found = follow(own["subject"], own["trial"])
        turn, shift, legs = _coordinate_errors(found, own)
        degrees = 1.5 if which == "arnold" else 3.0
        rows.append(at_most("OpenSim's models", f"{which}: pelvis and legs, RMS angle", legs, degrees, "deg"))
        rows.append(information("OpenSim's models", f"{which}: worst RMS angle of any coordinate", turn, "deg"))
        if which == "arnold":
            rows.append(at_most("OpenSim's models", f"{which}: worst RMS translation", shift, 1.0, "cm"))
        else:
            rows.append(information("OpenSim's models", f"{which}: worst RMS translation", shift, "cm"))
    return rows


def _worst(result: Any, torques: Any, middle: float) -> tuple[float, str]:
    """Return the worst RMS of a coordinate's torque; of a window in the middle, without the pelvis, if `middle`."""
    times = result.times
    keep = slice(int(middle * len(times)), len(times) - int(middle * len(times)) or None)
    found = (0.0, "")
    columns = [(name, result.torque[:, k]) for k, name in enumerate(result.names)]
    if not middle:
        columns += [(name, result.residual[:, k]) for k, name in enumerate(result.residual_names)]
    for name, values in columns:
        for tail in ("_moment", "_force"):
            if f"{name}{tail}" in torques.columns:
                right = np.interp(times, torques.times, torques.column(f"{name}{tail}"))
                found = max(found, (_rms((values - right)[keep]), name))
    return found


def _coordinate_errors(motion: Any, own: dict[str, Any]) -> tuple[float, float, float]:
    """Return the worst RMS angle [deg] and translation [cm], and the RMS angle of pelvis and legs together [deg]."""
    inside = (motion.times >= own["times"][0]) & (motion.times <= own["times"][-1])
    model = motion.subject.model
    turn, shift, legs = 0.0, 0.0, []
    for k, name in enumerate(model.coordinate_names):
        if name not in own["values"]:
            continue
        gap = _rms(motion.u[inside, k] - np.interp(motion.times[inside], own["times"], own["values"][name]))
        if not model.coordinate_values[k, 3]:
            shift = max(shift, 100 * gap)
        else:
            turn = max(turn, float(np.degrees(gap)))
            if name.startswith(("pelvis", "hip", "knee", "ankle", "subtalar")):
                legs.append(np.degrees(gap))
    return turn, shift, _rms(np.array(legs))


# --- the 48-DOF human


@cache
def _person(data: Path, which: str) -> tuple[Any, Any, Any]:
    """Return subject, motion and trial of a recorded walk."""
    from ..human import Trial, fit, follow

    if which == "cmu":
        trial = Trial.read(data / "cmu/02_01_walk.c3d")
    else:
        trial = Trial.read(data / "moco_walk/markers_walk.trc", forces=data / "moco_walk/grf_walk.mot")
    subject = fit(trial)
    return subject, follow(subject, trial), trial


def human_rows(data: Path) -> list[Row]:
    """Measure marker errors, angles, torques, residuals and estimated ground forces in two recorded walks."""
    from ..human import inverse_dynamics

    group = "the 48-DOF human"
    rows: list[Row] = []
    for which in ("cmu", "moco"):
        _, motion, _ = _person(data, which)
        rows.append(at_most(group, f"{which}: marker error, RMS", 100 * motion.marker_rms, 1.5, "cm"))
        rows.append(at_most(group, f"{which}: marker error, largest", 100 * motion.marker_max, 4.0, "cm"))
    rows += _correlations(data)
    subject, motion, _ = _person(data, "moco")
    result = inverse_dynamics(subject, motion, forces="plates", force_cutoff=50.0)
    torques = _osim(data, "moco")["torques"]
    inside = (motion.times >= torques.times[0] + 0.1) & (motion.times <= torques.times[-1] - 0.1)
    for mine, theirs in PAIRS:
        right = np.interp(motion.times[inside], torques.times, torques.column(f"{theirs}_moment"))
        share = 100 * _rms(result.torque_of(mine)[inside] - right) / np.abs(right).max()
        rows.append(at_most(group, f"moco: torque {mine}, RMS of peak", share, 15.0, "%"))
    peak = np.linalg.norm(result.ground.force.sum(1), axis=1).max()
    left = np.sqrt((result.residual_force[inside] ** 2).mean(0)).max()
    rows.append(at_most(group, "moco: residual force of peak, on the plates", 100 * left / peak, 5.0, "%"))
    guessed = inverse_dynamics(subject, motion, forces="contact")
    for k, side in enumerate(("right", "left")):
        gap = (guessed.ground.force - result.ground.force)[inside, k]
        top = np.linalg.norm(result.ground.force[inside, k], axis=1).max()
        rows.append(
            at_most(
                group,
                f"moco: {side} ground force from contact",
                100 * _rms(np.linalg.norm(gap, axis=1)) / top,
                10.0,
                "%",
            )
        )
    return rows


def _correlations(data: Path) -> list[Row]:
    from ..io.asf import parse_asf
    from ..io.motion import parse_amc

    skeleton, amc = data / "cmu/02.asf", data / "cmu/02_01_walk.amc"
    parsed = parse_asf(skeleton, skeleton.read_text())
    _, angles = parse_amc(amc, amc.read_text(), parsed)
    _, motion, _ = _person(data, "cmu")
    rows = []
    for joint, bone, column in AMC:
        for side in "rl":
            right = np.degrees(angles[side + bone][:, column])
            mine = motion.angle(f"{joint}_{side}")
            if np.ptp(right) > 10:
                value = abs(float(np.corrcoef(mine, right)[0, 1]))
                rows.append(at_least("the 48-DOF human", f"cmu: {joint}_{side} with the reference", value, 0.95))
    return rows


# --- experiments


def noise_rows(*, quick: bool) -> list[Row]:
    """Measure the noise experiment on the embedded walk: nine levels by twenty repetitions (three, where quick)."""
    from ..human import follow, synthetic_walk
    from ..human.experiments import noise
    from ..human.synthetic import marked_human

    subject = marked_human(1.75, 75.0)
    motion = follow(subject, synthetic_walk(seconds=2.2, rate=60.0, plates=False))
    found = noise(subject, motion, repeats=3 if quick else 20)
    angle, torque, speed = found.mean("angle"), found.mean("torque"), found.speed.min(1)
    k = found.levels.index(1e-3)
    rows = [
        at_most("noise", "1 mm: mean error of the angles", angle[k], 0.02, "rad"),
        at_most("noise", "1 mm: mean error of the torques", torque[k], 3.0, "N m"),
        at_most("noise", "failures at all levels", found.failures, 0),
        at_least("noise", "slowest level", float(speed.min()), 1.0, "x real time"),
    ]
    for level, a, b in zip(found.levels, angle, torque, strict=True):
        rows.append(information("noise", f"{1e3 * level:g} mm: angles", float(a), "rad", f"torques {b:.2f} N m"))
    return rows


def experiment_rows(*, quick: bool) -> list[Row]:
    """Measure a stance shift and reaching, which need no recordings."""
    from ..human.experiments import reach, stance_shift
    from ..human.synthetic import marked_human

    subject = marked_human(1.75, 75.0)
    shift = stance_shift(subject)
    found = reach(subject, repeats=2 if quick else 10)
    cost = found.cost.mean(1)
    order = ", ".join(map(str, found.ranking))
    return [
        at_most("stance shift", "ground forces from contact, RMS of peak", 100 * shift.error("contact"), 10.0, "%"),
        information("stance shift", "ground forces of the soft world, RMS of peak", 100 * shift.error("soft"), "%"),
        at_least(
            "reaching", "far targets over near ones, in spreads", found.separated, 2.0, "", f"cheapest first: {order}"
        ),
        at_most("reaching", "the cheapest target is number 2", float(np.argmin(cost) + 1), 2.0),
    ]


def recorded_rows(data: Path) -> list[Row]:
    """Measure arm swing, reduced markers and jumps on recordings."""
    from ..human import Trial, fit, follow
    from ..human.experiments import arm_swing, jump, reduced_markers

    rows: list[Row] = []
    for which in ("cmu", "moco"):
        subject, motion, _ = _person(data, which)
        arms = arm_swing(subject, motion)
        detail = f"spread {100 * arms.spread:.1f} %; legs and trunk {100 * arms.legs_change:.1f} %; "
        detail += f"free torque under the feet {arms.free_torque_swing:.2f} to {arms.free_torque_bound:.2f} N m"
        rows.append(
            at_least("arm swing", f"{which}: change of cost by bound arms", 100 * arms.change, 0.0, "%", detail)
        )
        stiff = f"{arms.stiffness:g} N m/rad in every joint of the arms"
        name = f"{which}: the same, arms held by co-contraction"
        rows.append(information("arm swing", name, 100 * arms.stiff_change, "%", stiff))
    subject, _, trial = _person(data, "cmu")
    few = reduced_markers(subject, trial)
    for joint, _, _ in AMC:
        rows.append(at_least("reduced markers", f"{joint}, worse side", few.worst((joint,)), 0.9, "correlation"))
    for name, path, cutoff in (
        ("drop jump", "drop_jump/DJ1.trc", 15.0),
        ("CMU jump", "cmu/85_02_jump_twist.c3d", 12.0),
    ):
        forces = data / "drop_jump/DJ1_grf.mot" if name == "drop jump" else None
        trial = Trial.read(data / path, forces=forces)
        person = fit(trial)
        made = jump(person, follow(person, trial, cutoff=cutoff))
        gap = 100 * abs(made.height_made / made.height_recorded - 1)
        detail = f"{made.height_recorded:.2f} m recorded, {made.height_made:.2f} m made; "
        detail += f"tilt {made.torques.tilt.max():.2f} rad"
        rows.append(at_most("jump", f"{name}: height from ground forces", gap, 10.0, "% off", detail))
        rows.append(at_most("jump", f"{name}: largest residual torque", made.largest_residual, 100.0, "N m"))
    return rows


# --- speed


def speed_rows(data: Path | None, *, quick: bool) -> list[Row]:
    """Measure frames a second of following and of torques, a trial from file to report, and live latency."""
    from tempfile import TemporaryDirectory

    from ..human import Live, analyse, follow, inverse_dynamics, synthetic_walk

    rows: list[Row] = []
    cases: list[tuple[str, Any, Any]] = []
    if data is not None and (data / "arnold_subject01").is_dir():
        own = _osim(data, "arnold")
        cases.append(("OpenSim model, 64 markers", own["subject"], own["trial"]))
        subject, _, trial = _person(data, "moco")
        cases.append(("48-DOF human, 41 markers", subject, trial))
    else:
        walk = synthetic_walk()
        done = analyse(walk)
        cases.append(("48-DOF human, the embedded walk", done.subject, walk))
    for name, subject, trial in cases:
        best = _best(partial(follow, subject, trial), 3 if quick else 7)
        frames = trial.frames / best
        rows.append(
            at_least("speed", f"follow: {name}", frames / OPENSIM_FRAMES, 20.0, "x OpenSim", f"{frames:.0f} frames/s")
        )
        motion = follow(subject, trial)
        best = _best(partial(inverse_dynamics, subject, motion, forces="plates"), 3 if quick else 7)
        rows.append(information("speed", f"inverse dynamics: {name}", trial.frames / best, "frames/s"))
    with TemporaryDirectory() as folder:
        path = None if data is None else data / "moco_walk/markers_walk.trc"
        forces = None if data is None else data / "moco_walk/grf_walk.mot"
        best = _best(lambda: analyse(path, forces=forces, out=folder), 2)
    rows.append(at_most("speed", "a trial of 238 frames from file to report", best, 10.0, "s"))
    _, subject, trial = cases[-1]
    late = min(_late(Live(subject, trial)) for _ in range(5))  # whatever else the machine does hits some of them
    rows.append(at_most("speed", "live: 99th percentile of a frame's latency", 1e3 * late, 8.3, "ms", "best of 5 runs"))
    return rows


def _late(live: Any) -> float:
    for _ in live.run(realtime=False):
        pass
    return float(live.latency(0.99))


def _best(function: Callable[[], Any], times: int) -> float:
    function()
    best = np.inf
    for _ in range(times):
        began = perf_counter()
        function()
        best = min(best, perf_counter() - began)
    return float(best)


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.asarray(values) ** 2)))
