"""A jump made again from ground forces, with small residual torques (the paper's figure 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...dynamics import center_of_mass
from ...typing import Array
from ..motion import Motion
from ..soft_torques import SoftTorques, soft_inverse_dynamics
from ..subject import Subject


@dataclass(frozen=True)
class Jump:
    """A jump as recorded and as the soft world made it: paths of the centre of mass [n, 3] and the residual torques."""

    recorded: Array
    made: Array
    torques: SoftTorques

    @property
    def height_recorded(self) -> float:
        """Rise of the centre of mass from the lowest to the highest point after it [m]."""
        return _rise(self.recorded)

    @property
    def height_made(self) -> float:
        """The same of the jump that was made."""
        return _rise(self.made)

    @property
    def largest_residual(self) -> float:
        """Largest residual torque [N m]."""
        return float(np.abs(self.torques.residual[:, :3]).max())


def jump(subject: Subject, motion: Motion, *, residual_limit: float = 100.0, three_axes: bool = True) -> Jump:
    """Make a recorded jump again: all of its height comes from the ground, the residual joint keeps it from tipping.

    Of a longer recording, the part around the highest flight is taken: from before the push-off to after the landing.
    """
    first, last = flight_window(subject, motion)
    motion = motion.window(first, last)
    axes = (True, True, three_axes, False, False, False)
    torques = soft_inverse_dynamics(subject, motion, residual_limit=residual_limit, residual_axes=axes)
    path = np.array([center_of_mass(subject.model, q) for q in torques.goal])
    made = np.array([center_of_mass(subject.model, q) for q in torques.q])
    return Jump(path, made, torques)


def flight_window(subject: Subject, motion: Motion, *, before: float = 0.35, after: float = 0.25) -> tuple[int, int]:
    """Return first and last frame of the jump: from `before` [s] the push-off's lowest point to `after` landing."""
    path = np.array([center_of_mass(subject.model, q)[2] for q in motion.q])
    rate = (len(path) - 1) / (motion.times[-1] - motion.times[0])
    lift = np.array([path[k] - path[max(0, k - round(0.8 * rate)) : k + 1].min() for k in range(len(path))])
    top = int(np.argmax(np.where(np.arange(len(path)) > 0.15 * rate, lift, 0.0)))
    start = max(0, top - round(0.8 * rate))
    low = start + int(np.argmin(path[start : top + 1]))
    end = top + (top - low) + round(after * rate)
    return max(0, low - round(before * rate)), min(len(path) - 1, end)


def _rise(path: Array) -> float:
    top = int(np.argmax(path[:, 2]))
    return float(path[top, 2] - path[: top + 1, 2].min())
