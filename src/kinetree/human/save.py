"""Results as files that OpenSim and pandas open."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, FileFormatError, missing_extra
from ..files import whole_file
from ..io.mot import write_table
from ..io.trc import write_trc
from .plates import SIDES

if TYPE_CHECKING:
    from .motion import Motion
    from .result import Result

Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # from z up to OpenSim's axes


def save_result(result: Result, folder: str | os.PathLike[str]) -> list[Path]:
    """Write angles.mot, torques.sto, ground.mot, markers.trc, model_markers.trc, all.csv, all.parquet, summary.json."""
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise ArgumentError(f"{os.fspath(folder)!r} is a file: give a folder")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileFormatError(place, "", f"cannot be made: {error.strerror or error}") from None
    times, motion = result.times, result.motion
    files = [write_angles(motion, place / "angles.mot")]
    names = [*(f"{name}_moment" for name in result.names), *result.residual_names]
    data = np.hstack((result.torque, result.residual))
    files.append(write_table(place / "torques.sto", names, times, data, name="Inverse Dynamics Generalized Forces"))
    files.append(_ground(result, place / "ground.mot"))
    if motion.targets.shape[1]:
        labels = list(result.subject.labels)
        files.append(write_trc(place / "markers.trc", labels, times, motion.targets @ Y_UP.T))
        files.append(write_trc(place / "model_markers.trc", labels, times, motion.placed @ Y_UP.T))
    frame = result.to_dataframe()
    with whole_file(place / "all.csv") as temporary:
        frame.to_csv(temporary, index=False, float_format="%.9g")
    files.append(place / "all.csv")
    with whole_file(place / "all.parquet") as temporary:
        try:
            frame.to_parquet(temporary, index=False)
        except ImportError:
            raise missing_extra("pyarrow", "human", "a Parquet file") from None
    files.append(place / "all.parquet")
    with whole_file(place / "summary.json") as temporary:
        temporary.write_text(json.dumps(plain(summary(result)), indent=2) + "\n", encoding="utf-8")
    return [*files, place / "summary.json"]


def summary(result: Result) -> dict[str, Any]:
    """Return the figures of a result: what the report's first page says."""
    motion, own = result.motion, result.energetics
    trial = motion.trial
    return {
        "trial": None if trial is None else Path(trial.path).name,
        "frames": motion.frames,
        "duration_s": float(result.times[-1] - result.times[0]),
        "complete": motion.complete,
        "height_m": result.subject.height,
        "mass_kg": result.subject.mass,
        "markerset": result.subject.markerset,
        "marker_rms_m": motion.marker_rms,
        "marker_max_m": motion.marker_max,
        "ground_forces": result.ground.source,
        "peak_ground_force_N": float(np.linalg.norm(result.ground.force.sum(1), axis=1).max(initial=0.0)),
        "residual_force_rms_N": float(np.sqrt((result.residual_force**2).sum(1).mean())),
        "residual_share_of_peak": result.residual_share,
        "positive_work_J": own.total_positive,
        "negative_work_J": float(own.negative.sum()),
        "integrated_torque_N_m_s": own.total_effort,
        "integrated_control_torque_N_m_s": float(own.control.sum()),
        "cost_of_transport": own.cost_of_transport,
        "steps_from": result.gait.source,
        "gait": result.gait.measures,
        "notes": [*([] if trial is None else trial.repairs), *result.subject.report.get("notes", []), *result.notes],
    }


def write_angles(motion: Motion, path: Path) -> Path:
    """Write the joint angles: in degrees for the 48-DOF human, as OpenSim keeps its coordinates for its models."""
    names, values = list(motion.angle_names), motion.angles.copy()
    if motion.subject.mapped:
        return write_table(path, names, motion.times, values, name="Coordinates")
    if motion.subject.is_human48:
        names = ["pelvis_x", "pelvis_y", "pelvis_z", *names]
        values = np.hstack((motion.q[:, 4:7], np.degrees(values)))
        return write_table(path, names, motion.times, values, name="Coordinates", in_degrees=True)
    return write_table(path, names, motion.times, values, name="Coordinates")


def _ground(result: Result, path: Path) -> Path:
    names: list[str] = []
    columns: list[np.ndarray] = []
    spots = np.nan_to_num(result.ground.pressure())
    for k, side in enumerate(SIDES):
        force, spot = result.ground.force[:, k], spots[:, k]
        torque = result.ground.moment[:, k] - np.cross(spot, force)
        letter = side[0]
        names += [f"ground_force_{letter}_v{axis}" for axis in "xyz"]
        names += [f"ground_force_{letter}_p{axis}" for axis in "xyz"]
        names += [f"ground_torque_{letter}_{axis}" for axis in "xyz"]
        columns += [force @ Y_UP.T, spot @ Y_UP.T, torque @ Y_UP.T]
    return write_table(path, names, result.times, np.hstack(columns), name="ground forces")


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: no NumPy, no infinities."""
    if isinstance(value, dict):
        return {str(key): plain(own) for key, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(own) for own in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
