"""`Trial`: one recorded movement, whatever file it comes from: SI units, z up, labels without prefixes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..errors import ArgumentError, FileFormatError, MarkerError
from ..io.recording import Event, Plate, Recording
from ..typing import Array
from .forces import read_forces
from .labels import clean_labels
from .quality import runs
from .upright import unit_factor, upright

SUFFIXES = (".c3d", ".trc", ".bvh", ".amc")
PLAUSIBLE = (0.05, 0.25)  # of the weight, how far the plates' mean may be from it: note, and warn


@dataclass(frozen=True, eq=False)
class Trial:
    """Markers, force plates and events of one movement.

    `positions` [m], shape [n, m, 3], z up, NaN in gaps; `plates` keep their own rate. `rotation` [3, 3] leads from the
    file's axes to these. `repairs` says what was mended or assumed while reading.
    """

    path: str
    labels: tuple[str, ...]
    times: Array
    positions: Array
    rate: float
    plates: tuple[Plate, ...] = ()
    events: tuple[Event, ...] = ()
    units: str = "m"
    up: str = "z"
    rotation: Array = field(default_factory=lambda: np.eye(3))
    mass: float | None = None
    repairs: tuple[str, ...] = ()

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        forces: str | os.PathLike[str] | None = None,
        mass: float | None = None,
        columns: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
        up: str | None = None,
        subject: str | None = None,
        skeleton: str | os.PathLike[str] | None = None,
    ) -> Trial:
        """Read a C3D or TRC file, or the joints of a BVH or AMC motion as if they were markers.

        Args:
            path: The file of the markers.
            forces: A MOT or STO file of ground forces, in the same axes.
            mass: The person's mass [kg], against which the plates are checked.
            columns: Which columns of `forces` are what; see `kinetree.human.forces.read_forces`.
            up: The file's upward axis ("x", "y", "z", "-y", ...); recognised if not given.
            subject: Whose markers, where a file holds those of several people.
            skeleton: The ASF file of an AMC motion.
        """
        if mass is not None and not (np.isfinite(mass) and mass > 0):
            raise ArgumentError(f"mass is {mass!r}: give a positive number of kilograms")
        if up is not None and up.lstrip("+-") not in ("x", "y", "z"):
            raise ArgumentError(f"up is {up!r}: use x, y, z, -x, -y or -z")
        recording = read_recording(path, skeleton)
        notes = list(recording.notes)
        labels, positions = clean_labels(recording, subject, notes)
        if not labels:
            raise MarkerError(f"{os.fspath(path)}: no marker of {len(recording.labels)} has a label")
        lost = [label for k, label in enumerate(labels) if not np.isfinite(positions[:, k]).all(1).any()]
        if lost:
            notes.append(f"never seen, and left out: {', '.join(lost)}")
            keep = [k for k, label in enumerate(labels) if label not in lost]
            labels, positions = [labels[k] for k in keep], positions[:, keep]
        if not labels:
            raise MarkerError(f"{os.fspath(path)}: none of its {len(lost)} markers was seen in any frame")
        factor = unit_factor(positions)
        if factor != 1.0:
            tall = np.nanmax(positions[:, :, :], (0, 1)) - np.nanmin(positions, (0, 1))
            notes.append(
                f"the unit is given as {recording.units!r}, but a person would be {np.max(tall):.4g} m tall: all "
                f"lengths are multiplied by {factor:g}"
            )
            positions = positions * factor
        plates = list(recording.plates)
        if forces is not None:
            plates, more = read_forces(forces, columns)
            notes += more
        rotation, name = upright(labels, positions, plates, up)
        plates = [_turned(plate, rotation, notes) for plate in plates]
        trial = cls(
            os.fspath(path), tuple(labels), recording.times, positions @ rotation.T, recording.rate, tuple(plates),
            tuple(recording.events), recording.units, name, rotation, mass, (),
        )  # fmt: skip
        notes += trial._check_weight()
        return replace(trial, repairs=tuple(notes))

    # --- what is there

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.times)

    @property
    def duration(self) -> float:
        """Time from the first to the last frame [s]."""
        return float(self.times[-1] - self.times[0])

    def marker(self, label: str) -> Array:
        """Return the path of one marker [m], shape [n, 3]."""
        if label not in self.labels:
            raise MarkerError(f"{self.path}: there is no marker {label!r}; it has {', '.join(self.labels)}")
        return self.positions[:, self.labels.index(label)]

    def gaps(self) -> list[tuple[str, int, int]]:
        """Return every gap as (label, first frame, last frame), frames counted from 0."""
        found = []
        missing = np.isnan(self.positions.sum(2))
        for k, label in enumerate(self.labels):
            found += [(label, first, last) for first, last in runs(missing[:, k])]
        return found

    def weight(self) -> float | None:
        """Return the mean vertical force of the plates over mass-free frames left out [N]; None without plates."""
        if not self.plates:
            return None
        total = self.ground_force()[:, 2]
        pressed = total > 50
        return float(total[pressed].mean()) if pressed.any() else None

    def ground_force(self) -> Array:
        """Return the sum of the plates' forces on the person at the frames of the markers [N], shape [n, 3]."""
        return sum((self.sampled(plate).force for plate in self.plates), np.zeros((self.frames, 3)))

    def sampled(self, plate: Plate, times: Array | None = None) -> Plate:
        """Return a plate at the markers' frames (or other `times`): its wrench about the origin is interpolated.

        Beyond the plate's own record nothing is known, and the wrench is zero.
        """
        wanted = self.times if times is None else times
        about_origin = plate.torque + np.cross(plate.point, plate.force)
        force = _at(plate.times, plate.force, wanted)
        moment = _at(plate.times, about_origin, wanted)
        if plate.kind:
            point = np.tile(plate.point[0], (len(wanted), 1))
            return replace(plate, times=wanted, force=force, point=point, torque=moment - np.cross(point, force))
        height = float(np.median(plate.point[:, 2]))
        spot, free = _at_surface(force, moment, height)
        return replace(plate, times=wanted, force=force, point=spot, torque=free)

    # --- other trials

    def window(self, start: float, end: float) -> Trial:
        """Return the part from `start` to `end` [s], plates and events too."""
        keep = (self.times >= start - 1e-9) & (self.times <= end + 1e-9)
        if not keep.any():
            raise ArgumentError(
                f"{self.path}: nothing was recorded from {start} to {end} s; it lasts "
                f"{self.times[0]:g} to {self.times[-1]:g} s"
            )
        events = tuple(event for event in self.events if start <= event.time <= end)
        return replace(self, times=self.times[keep], positions=self.positions[keep], events=events)

    def only(self, labels: Iterable[str]) -> Trial:
        """Return the same movement with the named markers alone."""
        wanted = [self.labels.index(label) for label in labels if label in self.labels]
        return replace(self, labels=tuple(self.labels[k] for k in wanted), positions=self.positions[:, wanted])

    def with_positions(self, positions: Array) -> Trial:
        """Return the same trial with other positions of its markers [m], shape [n, m, 3]."""
        if positions.shape != self.positions.shape:
            raise ArgumentError(f"positions has shape {positions.shape}, not {self.positions.shape}")
        return replace(self, positions=np.ascontiguousarray(positions, dtype=float))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the markers to a `.trc` or `.c3d` file in the axes that they were read in."""
        suffix = Path(path).suffix.lower()
        own = self.positions @ self.rotation
        if suffix == ".trc":
            from ..io.trc import write_trc

            return write_trc(path, self.labels, self.times, own)
        if suffix == ".c3d":
            from ..io.c3d import write_c3d

            return write_c3d(path, list(self.labels), self.rate, own, events=list(self.events))
        raise ArgumentError(f"{os.fspath(path)}: the name of a trial must end in .trc or .c3d")

    def describe(self) -> str:
        """Return a readable account: frames, markers, gaps, plates, events, repairs."""
        missing = ~np.isfinite(self.positions).all(2)
        size = f"{self.frames} frames at {self.rate:g} Hz, {len(self.labels)} markers"
        lines = [
            f"{self.path}: {size}, {self.up} up, {self.units}",
            f"  gaps: {len(self.gaps())}, {100 * missing.mean():.1f} % of the samples",
            f"  plates: {', '.join(plate.name for plate in self.plates) or 'none'}; events: {len(self.events)}",
        ]
        return "\n".join(lines + [f"  repaired: {text}" for text in self.repairs])

    def _check_weight(self) -> list[str]:
        weight = self.weight()
        if weight is None or self.mass is None:
            return []
        share = weight / (9.80665 * self.mass)
        if abs(share - 1) <= PLAUSIBLE[0]:
            return []
        word = "far from" if abs(share - 1) > PLAUSIBLE[1] else "not quite"
        carried = f"the plates carry {weight / 9.80665:.1f} kg on average while they are stepped on"
        return [f"{carried}, {word} the mass of {self.mass:g} kg"]


def read_recording(path: str | os.PathLike[str], skeleton: str | os.PathLike[str] | None = None) -> Recording:
    """Read a file of markers by its suffix, or by its content where the suffix says nothing."""
    suffix = Path(path).suffix.lower()
    if suffix == ".c3d":
        from ..io.c3d import read_c3d

        return read_c3d(path)
    if suffix == ".trc":
        from ..io.trc import read_trc

        return read_trc(path)
    if suffix in (".bvh", ".amc"):
        return _joints_as_markers(path, skeleton)
    raise FileFormatError(path, "", f"a trial is a file that ends in {', '.join(SUFFIXES)}: which of them is it?")


def _joints_as_markers(path: str | os.PathLike[str], skeleton: str | os.PathLike[str] | None) -> Recording:
    from ..dynamics import body_poses
    from ..io.motion import read_motion

    motion = read_motion(path, skeleton=skeleton)
    positions = np.array([body_poses(motion.model, q)[:, :3, 3] for q in motion.q])
    rate = (len(motion.times) - 1) / (motion.times[-1] - motion.times[0]) if len(motion.times) > 1 else 120.0
    note = "the joints of a skeleton stand for markers"
    return Recording(os.fspath(path), list(motion.model.names), motion.times, positions, float(rate), notes=[note])


def _turned(plate: Plate, rotation: Array, notes: list[str]) -> Plate:
    """Turn a plate's wrench into z-up axes, and upside down where it is the force on the plate."""
    force = plate.force @ rotation.T
    torque, point = plate.torque @ rotation.T, plate.point @ rotation.T
    pressed = np.abs(force[:, 2]) > 20
    if pressed.any() and np.mean(force[pressed, 2]) < 0:
        notes.append(f"{plate.name} gives the force on itself: its opposite is the force on the person")
        force, torque = -force, -torque
    corners = None if plate.corners is None else plate.corners @ rotation.T
    return replace(plate, force=force, torque=torque, point=point, corners=corners)


def _at(times: Array, values: Array, wanted: Array) -> Array:
    """Average over a frame where the plate is faster, interpolate where it is not."""
    step = np.median(np.diff(wanted)) if len(wanted) > 1 else 0.0
    own = np.median(np.diff(times)) if len(times) > 1 else 1.0
    count = max(1, round(step / own))
    if count > 1:
        kernel = np.ones(count) / count
        padded = np.pad(values, ((count // 2, count - 1 - count // 2), (0, 0)), mode="edge")
        values = np.stack([np.convolve(padded[:, k], kernel, mode="valid") for k in range(values.shape[1])], axis=1)
    return np.stack(
        [np.interp(wanted, times, values[:, k], left=0.0, right=0.0) for k in range(values.shape[1])], axis=1
    )


def _at_surface(force: Array, moment: Array, height: float) -> tuple[Array, Array]:
    """Return point and torque at the point of the surface where the wrench has no horizontal torque."""
    fz = np.where(np.abs(force[:, 2]) > 5.0, force[:, 2], np.inf)
    # moment = point x force + torque: its horizontal part vanishes at the centre of pressure
    x = (height * force[:, 0] - moment[:, 1]) / fz
    y = (height * force[:, 1] + moment[:, 0]) / fz
    point = np.column_stack((x, y, np.full(len(x), height)))
    return point, moment - np.cross(point, force)
