"""`read_motion`: recorded motions of skeletons (AMC with its ASF, BVH) as trajectories of their models."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..errors import ArgumentError, FileFormatError
from ..model.compile import compile_model
from ..trajectory import Trajectory
from .asf import ROTATIONS, AsfSkeleton, parse_asf
from .bvh import parse_bvh
from .files import as_text, read_bytes
from .skeleton import UPRIGHT, check_options, coordinates, describe_bones


def read_motion(
    path: str | os.PathLike[str],
    *,
    skeleton: str | os.PathLike[str] | None = None,
    rate: float = 120.0,
    scale: float | None = None,
    density: float = 1000.0,
    mass: float | None = None,
    spherical: bool = False,
) -> Trajectory:
    """Read a BVH motion, or an AMC motion of the ASF file `skeleton`, as a trajectory of the skeleton's model.

    `rate` [frames/s] is that of an AMC file, which does not say it; the other options are those of `load`.
    """
    check_options(scale, density, mass)
    text = as_text(path, read_bytes(path))
    options: dict[str, Any] = {"density": density, "mass": mass, "spherical": spherical}
    if text.lstrip()[:9].upper() == "HIERARCHY":
        return _bvh_motion(path, text, scale, options)
    if skeleton is None:
        raise ArgumentError(f"{path}: an AMC motion needs its skeleton: give skeleton='....asf'")
    if not (np.isfinite(rate) and rate > 0):
        raise ArgumentError(f"rate={rate!r} must be a positive number of frames per second")
    parsed = parse_asf(skeleton, as_text(skeleton, read_bytes(skeleton)), scale=scale)
    model = compile_model(describe_bones(parsed.bones, parsed.name, parsed.notes, **options))
    positions, angles = parse_amc(path, text, parsed)
    q = coordinates(model, parsed.bones, positions, angles, spherical=spherical)
    return Trajectory.of_states(model, np.arange(len(q)) / rate, q)


def _bvh_motion(path: str | os.PathLike[str], text: str, scale: float | None, options: dict[str, Any]) -> Trajectory:
    parsed = parse_bvh(path, text, scale=scale)
    model = compile_model(describe_bones(parsed.bones, parsed.bones[0].name, parsed.notes, **options))
    column = {channel: k for k, channel in enumerate(parsed.channels)}
    root = parsed.bones[0].name
    positions = np.zeros((len(parsed.values), 3))
    for axis in range(3):
        k = column.get((root, f"t{'xyz'[axis]}"))
        if k is not None:
            positions += parsed.values[:, k, None] * parsed.scale * UPRIGHT[:, axis]
    angles = {
        bone.name: np.radians(parsed.values[:, [column[bone.name, label] for label, _ in bone.rotations]])
        for bone in parsed.bones
        if bone.rotations
    }
    q = coordinates(model, parsed.bones, positions, angles, spherical=options["spherical"])
    return Trajectory.of_states(model, np.arange(len(q)) * parsed.frame_time, q)


def parse_amc(
    path: str | os.PathLike[str], text: str, skeleton: AsfSkeleton
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Parse the text of an AMC file: root positions [m] and each bone's angles [rad], outermost first."""
    wanted = {"root": skeleton.root_order, **{name: dofs for name, dofs in skeleton.dofs.items() if dofs}}
    frames: list[dict[str, list[float]]] = []
    angle = np.pi / 180
    last = 0
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        last = number
        if words[0].startswith(":"):
            angle = 1.0 if words[0].upper() == ":RADIANS" else angle
        elif len(words) == 1 and words[0].isdecimal():
            _check_frame(path, number, frames, wanted)
            frames.append({})
        elif not frames:
            raise FileFormatError(path, f"line {number}", "this is not an AMC motion: no frame number before this line")
        else:
            frames[-1][words[0]] = _frame_values(path, number, words, wanted, frames[-1])
    if not frames:
        raise FileFormatError(path, "", "there are no frames in this file: is it an AMC motion?")
    _check_frame(path, last, frames, wanted)
    root = np.array([frame["root"] for frame in frames])
    places = [skeleton.root_order.index(f"t{axis}") for axis in "xyz"]
    positions = root[:, places] @ UPRIGHT.T * skeleton.scale + skeleton.root_position
    angles = {}
    for name, dofs in wanted.items():
        columns = [k for k in reversed(range(len(dofs))) if dofs[k] in ROTATIONS]
        angles[name] = np.array([[frame[name][k] for k in columns] for frame in frames]) * angle
    return positions, angles


def _frame_values(
    path: object, line: int, words: list[str], wanted: dict[str, list[str]], frame: dict[str, list[float]]
) -> list[float]:
    name = words[0]
    if name not in wanted:
        raise FileFormatError(
            path, f"line {line}", f"the skeleton has no moving bone {name!r}: is it the right ASF file?"
        )
    if name in frame:
        raise FileFormatError(path, f"line {line}", f"bone {name!r} stands twice in this frame")
    try:
        values = [float(word) for word in words[1:]]
    except ValueError:
        values = []
    if len(values) != len(wanted[name]) or not np.isfinite(values).all():
        raise FileFormatError(
            path, f"line {line}", f"bone {name!r} needs {len(wanted[name])} finite numbers in a frame"
        )
    return values


def _check_frame(path: object, line: int, frames: list[dict[str, list[float]]], wanted: dict[str, list[str]]) -> None:
    if frames and len(frames[-1]) < len(wanted):
        missing = next(name for name in wanted if name not in frames[-1])
        raise FileFormatError(path, f"line {line}", f"frame {len(frames)} has no values for bone {missing!r}")
