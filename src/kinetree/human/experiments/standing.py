"""From one foot to the other, on two plates (the paper's figure 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...typing import Array
from ..contact import sole_paths
from ..following import follow
from ..inverse import inverse_dynamics
from ..motion import Motion
from ..soft_torques import soft_inverse_dynamics
from ..subject import Subject
from ..trial import Trial

FEET = ("heel", "toes")
LEAN = 0.06  # rad forward, so that the weight is over the middle of the feet


@dataclass(frozen=True)
class StanceShift:
    """Vertical forces on the right and left foot [n, 2] by three ways, and the soft world's residual torques.

    `lever` is what plates under still feet would carry, `contact` is estimated, `soft` is what the soft world needed.
    """

    times: Array
    lever: Array
    contact: Array
    soft: Array
    residual: Array

    def error(self, which: str = "contact") -> float:
        """Return the root mean square error of `contact` or `soft` over the peak of what the plates carry."""
        start = len(self.times) - len(getattr(self, which))
        gap = getattr(self, which) - self.lever[start:]
        return float(np.sqrt((gap**2).mean()) / self.lever.max())


def shifting_trial(subject: Subject, *, seconds: float = 6.0, rate: float = 60.0, lift: float = 0.05) -> Trial:
    """Return the markers of a person who stands on the left foot, on both, and on the right foot."""
    times = np.arange(round(seconds * rate)) / rate
    still = Motion.of_states(subject, times[:3], np.tile(subject.model.neutral(), (3, 1)))
    markers = sole_paths(subject, still, subject.bodies, subject.offsets)[0]
    markers[:, 2] += -markers[:, 2].min() + 0.02
    names = [subject.model.names[k] for k in subject.bodies]
    half = float(abs(subject.model.placements[subject.model.names.index("right_upper_leg"), 9]))
    share = _smooth((times / seconds - 0.30) / 0.40)  # from the left foot to the right one
    raised = {"right": 1 - _smooth((times / seconds - 0.16) / 0.10), "left": _smooth((times / seconds - 0.74) / 0.10)}
    out = np.repeat(markers[None], len(times), axis=0)
    for k, name in enumerate(names):
        side = name.partition("_")[0]
        tall = markers[k, 2] / markers[:, 2].max()
        if name.endswith((*FEET, "leg")):
            out[:, k, 2] += lift * raised[side] * (1.0 if not name.endswith("upper_leg") else 0.5)
        if not name.endswith(FEET):
            reach = min(1.0, 1.9 * tall)  # the legs lean, the trunk stays upright
            out[:, k, 0] += reach * 1.12 * half * (2 * share - 1)
            out[:, k, 1] += LEAN * markers[k, 2]
    return Trial("a stance shift", subject.labels, times, out, rate)


def stance_shift(subject: Subject, trial: Trial | None = None, *, residual_limit: float = 100.0) -> StanceShift:
    """Compare estimated ground forces in a shift from foot to foot with what the centre of mass asks for."""
    if trial is None:
        trial, led = shifting_trial(subject), _planted(subject)
    else:
        led = subject
    motion = replace(follow(led, trial, cutoff=3.0), subject=subject)
    result = inverse_dynamics(subject, motion, forces="contact", cutoff=3.0)
    soft = soft_inverse_dynamics(subject, motion, residual_limit=residual_limit)
    return StanceShift(
        motion.times, _lever(subject, motion), result.ground.force[..., 2], soft.ground[..., 2], soft.residual
    )


def _planted(subject: Subject) -> Subject:
    """Return the subject whose feet are held where they stand, whatever the other markers want."""
    names = [subject.model.names[k] for k in subject.bodies]
    weights = np.array([20.0 if name.endswith(FEET) else 0.3 for name in names])
    return replace(subject, weights=weights)


def _lever(subject: Subject, motion: Motion) -> Array:
    """Return what each foot carries by the lever of the pressure's centre between the feet's, shape [n, 2]."""
    from ..inverse import frame_torques
    from ..plates import foot_places

    _, wanted = frame_torques(subject, motion, None, subject.gravity)
    places = foot_places(motion)
    total = wanted[:, 5]
    spot = np.column_stack((-wanted[:, 1] / total, wanted[:, 0] / total))
    way = places[:, 0, :2] - places[:, 1, :2]
    share = np.clip(np.einsum("ni,ni->n", spot - places[:, 1, :2], way) / np.einsum("ni,ni->n", way, way), 0.0, 1.0)
    height = places[:, :, 2] - places[:, :, 2].min()
    up = height > 0.02
    share = np.where(up[:, 0] & ~up[:, 1], 0.0, np.where(up[:, 1] & ~up[:, 0], 1.0, share))
    return np.column_stack((share * total, (1 - share) * total))


def _smooth(x: Array) -> Array:
    """Return the quickest smooth way from 0 to 1: 10 x^3 - 15 x^4 + 6 x^5."""
    x = np.clip(x, 0.0, 1.0)
    return x**3 * (10 - 15 * x + 6 * x**2)
