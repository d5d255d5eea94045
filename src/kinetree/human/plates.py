"""Which foot stands on which plate, and what the plates do to the body frame by frame."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..dynamics import body_poses
from ..typing import Array
from .motion import Motion
from .quality import runs
from .rates import low_pass

if TYPE_CHECKING:
    from ..io.recording import Plate

LOADED = 20.0  # N
REACH = 0.35  # m, from a foot to a centre of pressure that it can make
SIDES = ("right", "left")


@dataclass(frozen=True)
class GroundForces:
    """Wrenches of the ground on the feet, by foot.

    `force` [n, 2, 3] on the right and left foot, `moment` [n, 2, 3] about the world's origin, `links` [n, 2] where they
    act (-1: nothing there), `source` "plates" or "contact".
    """

    force: Array
    moment: Array
    links: np.ndarray
    source: str
    notes: tuple[str, ...] = ()

    def wrenches(self) -> Array:
        """Return [moment; force] about the world's origin, shape [n, 2, 6]."""
        return np.concatenate((self.moment, self.force), axis=2)

    def pressure(self, height: float = 0.0) -> Array:
        """Return each foot's centre of pressure [m], NaN where it is not loaded, shape [n, 2, 3]."""
        fz = np.where(self.force[..., 2] > LOADED, self.force[..., 2], np.nan)
        x = (height * self.force[..., 0] - self.moment[..., 1]) / fz
        y = (height * self.force[..., 1] + self.moment[..., 0]) / fz
        return np.stack((x, y, np.where(np.isfinite(x), height, np.nan)), axis=2)


def plate_forces(motion: Motion, cutoff: float | None) -> GroundForces:
    """Return what the trial's plates do to each foot, filtered as the movement is."""
    trial, model = motion.trial, motion.subject.model
    n = motion.frames
    force, moment = np.zeros((n, 2, 3)), np.zeros((n, 2, 3))
    feet = motion.subject.feet()
    links = np.full((n, 2), -1, dtype=np.int64)
    notes: list[str] = []
    for k, side in enumerate(SIDES):
        if feet[side]:
            links[:, k] = model.body_links[feet[side][0]]
    if trial is None:
        return GroundForces(force, moment, links, "plates")
    places = foot_places(motion)
    for plate in trial.plates:
        own = trial.sampled(plate, motion.times)
        # at the frames of the whole trial, so that the filter's ends are not those of the window
        about = own.torque + np.cross(own.point, own.force)
        size = np.linalg.norm(own.force, axis=1)
        foot = _foot_of(plate, own, size, places, notes, motion.times)
        smooth = low_pass(np.hstack((about, own.force)), motion.times, cutoff)
        for k in range(2):
            share = foot == k
            if share.all():
                moment[:, k] += smooth[:, :3]
                force[:, k] += smooth[:, 3:]
            elif share.any():
                part = low_pass(np.hstack((about, own.force)) * share[:, None], motion.times, cutoff)
                moment[:, k] += part[:, :3]
                force[:, k] += part[:, 3:]
    return GroundForces(force, moment, links, "plates", tuple(notes))


def foot_places(motion: Motion) -> Array:
    """Return the middle of each foot in every frame [m], shape [n, 2, 3]."""
    feet = motion.subject.feet()
    out = np.full((motion.frames, 2, 3), np.nan)
    numbers = [feet[side] for side in SIDES]
    if not any(numbers):
        return out
    for t in range(motion.frames):
        poses = body_poses(motion.subject.model, motion.q[t])
        for k, own in enumerate(numbers):
            if own:
                out[t, k] = np.mean([poses[body][:3, 3] for body in own], axis=0)
    return out


def _foot_of(plate: Plate, own: Plate, size: Array, places: Array, notes: list[str], times: Array) -> np.ndarray:
    """Return for every frame which foot stands on the plate: 0 right, 1 left, -1 nobody."""
    n = len(size)
    name = plate.name.lower()
    if re.search(r"(^|_)r(ight)?($|_)", name):
        return np.zeros(n, dtype=int)
    if re.search(r"(^|_)l(eft)?($|_)", name):
        return np.ones(n, dtype=int)
    foot = np.full(n, -1)
    about = own.torque + np.cross(own.point, own.force)
    fz = np.where(np.abs(own.force[:, 2]) > LOADED, own.force[:, 2], np.nan)
    height = float(np.median(own.point[:, 2]))
    spot = np.column_stack(
        ((height * own.force[:, 0] - about[:, 1]) / fz, (height * own.force[:, 1] + about[:, 0]) / fz)
    )
    for first, last in runs(size > LOADED):
        gap = np.linalg.norm(places[first : last + 1, :, :2] - spot[first : last + 1, None], axis=2)
        weight = size[first : last + 1, None]
        mean = np.nansum(gap * weight, axis=0) / np.maximum(np.nansum(np.isfinite(gap) * weight, axis=0), 1e-9)
        best = int(np.argmin(mean))
        if mean[best] > REACH:
            notes.append(
                f"{plate.name}: from {times[first]:.2f} to {times[last]:.2f} s it is loaded {mean[best]:.2f} m away "
                "from the nearer foot: left out"
            )
            continue
        foot[first : last + 1] = best
    # what is left of a step below the threshold belongs to the same foot
    known = np.flatnonzero(foot >= 0)
    if known.size:
        nearest = known[np.abs(np.arange(n)[:, None] - known[None]).argmin(1)]
        foot = np.where((foot < 0) & (size > 0) & (np.abs(np.arange(n) - nearest) <= 3), foot[nearest], foot)
    return foot
