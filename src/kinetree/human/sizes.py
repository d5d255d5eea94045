"""First guesses before anything is learned: stature and mass of a person, and the pelvis, from a trial."""

from __future__ import annotations

import warnings

import numpy as np

from ..typing import Array
from .markersets import Attachment, landmark_of
from .trial import Trial

# pairs of landmarks whose distance hardly depends on the pose, both on one segment or at its two ends
PAIRS = (("KNE", "ANK"), ("ELB", "WRB"), ("ELB", "WRA"), ("ELB", "WRI"), ("HJC", "KNE"), ("KJC", "AJC"))
STAND_OFF = 0.020  # m, of a marker's centre from the bone of the pelvis: its radius, skin and what is below it
TILT = np.radians(11.0)  # of the plane through the spines of the pelvis, front down, in a standing adult


def estimate_height(trial: Trial, found: dict[str, Attachment], rest: dict[str, Array]) -> float | None:
    """Return the stature [m] from lengths of segments; `rest` are the markers of a body of 1 m at rest, by label."""
    known: dict[tuple[str, str], list[str]] = {}
    for label in found:
        own = landmark_of(label)
        if own is not None:
            known.setdefault(own, []).append(label)
    measured = expected = 0.0
    for first, second in PAIRS:
        for side in ("r", "l"):
            for a in known.get((side, first), []):
                for b in known.get((side, second), []):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", RuntimeWarning)
                        length = np.nanmedian(np.linalg.norm(trial.marker(a) - trial.marker(b), axis=1))
                    if np.isfinite(length):
                        measured += float(length)
                        expected += float(np.linalg.norm(rest[a] - rest[b]))
    if expected < 0.2:
        return None
    return float(np.clip(measured / expected, 0.8, 2.4))


def estimate_mass(trial: Trial) -> tuple[float | None, str]:
    """Return the mass [kg] by the plates, from frames in which the person stands or over the whole trial, and how."""
    if not trial.plates:
        return None, "no plates"
    force = trial.ground_force()[:, 2]
    window = max(3, round(0.25 * trial.rate))
    if len(force) > window:
        kernel = np.ones(window) / window
        mean = np.convolve(force, kernel, mode="valid")
        spread = np.sqrt(np.maximum(np.convolve(force**2, kernel, mode="valid") - mean**2, 0.0))
        still = (spread < 0.015 * mean) & (mean > 200)
        if still.sum() > window:
            return float(np.median(mean[still]) / 9.80665), "standing on the plates"
    pressed = force > 0.3 * np.max(force, initial=1.0)
    if pressed.sum() > 10 and np.max(force) > 200:
        return float(np.mean(force[pressed]) / 9.80665), "mean force of the plates"
    return None, "the plates are not stood on"


def pelvis_places(trial: Trial, found: dict[str, Attachment]) -> tuple[dict[str, Array], float] | None:
    """Return the places of the pelvis' markers about the mid-point of the hips [m], and half the distance of the hips.

    Hips lie behind, below and beside the front spines by regression on the pelvis' width PW and depth PD (Harrington
    et al., Journal of Biomechanics 40, 2007, in mm): 0.24 PD + 9.9, 0.30 PW + 10.9, 0.33 PW + 7.3. They measured bones;
    markers stand off in front and behind.
    """
    spots: dict[tuple[str, str], str] = {}
    for label in found:
        own = landmark_of(label)
        if own is not None and own[1] in ("ASIS", "PSIS", "SACR"):
            spots[own] = label
    if ("r", "ASIS") not in spots or ("l", "ASIS") not in spots:
        return None
    right, left = trial.marker(spots["r", "ASIS"]), trial.marker(spots["l", "ASIS"])
    if ("r", "PSIS") in spots and ("l", "PSIS") in spots:
        back = (trial.marker(spots["r", "PSIS"]) + trial.marker(spots["l", "PSIS"])) / 2
    elif ("", "SACR") in spots:
        back = trial.marker(spots["", "SACR"])
    else:
        return None
    seen = np.isfinite(right + left + back).all(1)
    if not seen.any():
        return None
    middle = (right + left) / 2
    x = right - left
    width = np.linalg.norm(x, axis=1)
    x = x / width[:, None]
    forward = middle - back
    y = forward - np.einsum("ni,ni->n", forward, x)[:, None] * x
    depth = np.linalg.norm(y, axis=1)
    y = y / depth[:, None]
    z = np.cross(x, y)
    pw, pd = float(np.median(width[seen])), float(np.median(depth[seen]))
    if not (0.15 < pw < 0.45 and 0.08 < pd < 0.30):
        return None
    behind = STAND_OFF + 0.24 * (pd - 2 * STAND_OFF) + 0.0099
    centre = middle - behind * y - (0.30 * pw + 0.0109) * z
    c, s = np.cos(TILT), np.sin(TILT)
    tilt = np.array([[1, 0, 0], [0, c, s], [0, -s, c]])  # front down: the plane's axes in those of the standing pelvis
    places = {}
    for own, label in spots.items():
        arm = trial.marker(label) - centre
        local = np.column_stack([np.einsum("ni,ni->n", arm, axis) for axis in (x, y, z)])[seen]
        places[label] = tilt @ np.median(local, axis=0)
        del own
    return places, 0.33 * pw + 0.0073
