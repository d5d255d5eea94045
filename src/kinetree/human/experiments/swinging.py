"""Walking with the arms bound (the paper's figure 7)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...errors import ArgumentError
from ...typing import Array
from ..energetics import co_contraction, joint_groups
from ..inverse import inverse_dynamics
from ..motion import Motion
from ..result import Result
from ..subject import Subject

STIFFNESS = 20.0  # N m/rad, of an arm joint that is held still on purpose
BOUND = ("clavicle", "shoulder", "elbow", "wrist")


@dataclass(frozen=True)
class ArmSwing:
    """Costs of walking with swinging and with bound arms, stride by stride [N m s], from contact with the ground.

    `swing` and `bound` count every joint, `legs_swing` and `legs_bound` the legs and the trunk alone. `stiff` is
    `bound` with the arms' joints held at `stiffness` [N m/rad] by co-contraction.
    """

    swing: Array
    bound: Array
    legs_swing: Array
    legs_bound: Array
    free_torque_swing: float
    free_torque_bound: float
    stiff: Array
    stiffness: float

    @property
    def change(self) -> float:
        """Relative change of the cost by binding the arms."""
        return float(self.bound.sum() / self.swing.sum() - 1)

    @property
    def stiff_change(self) -> float:
        """Relative change of the cost where the arms are held still by muscles that pull both ways."""
        return float(self.stiff.sum() / self.swing.sum() - 1)

    @property
    def legs_change(self) -> float:
        """The same of the legs and the trunk alone."""
        return float(self.legs_bound.sum() / self.legs_swing.sum() - 1)

    @property
    def spread(self) -> float:
        """Standard deviation of the strides' changes, 0 where there is one."""
        ratio = self.bound / self.swing - 1
        return float(ratio.std(ddof=1)) if len(ratio) > 1 else 0.0


def arm_swing(subject: Subject, motion: Motion, *, cutoff: float = 6.0, stiffness: float = STIFFNESS) -> ArmSwing:
    """Compare a walk with the same walk whose arms are held still by the sides of the trunk."""
    if not subject.is_human48:
        raise ArgumentError("arm_swing binds the arms of the 48-DOF human")
    free = inverse_dynamics(subject, motion, forces="contact", cutoff=cutoff)
    held = inverse_dynamics(subject, bound_arms(subject, motion), forces="contact", cutoff=cutoff)
    spans = _strides(free)
    legs = [k for k, (name, _) in enumerate(joint_groups(subject)) if not name.endswith(BOUND)]
    every = list(range(len(joint_groups(subject))))
    return ArmSwing(
        _costs(free, spans, every), _costs(held, spans, every), _costs(free, spans, legs), _costs(held, spans, legs),
        _twist(free), _twist(held), _stiff(held, spans, stiffness), stiffness,
    )  # fmt: skip


def bound_arms(subject: Subject, motion: Motion) -> Motion:
    """Return the movement with the arms held still beside the trunk, where they are on average."""
    model = subject.model
    q = motion.q.copy()
    for name in model.joint_names:
        if name.endswith(BOUND):
            own = model.q_slice(name)
            mean = q[:, own].mean(0)
            q[:, own] = mean / np.linalg.norm(mean) if own.stop - own.start == 4 else mean
    return replace(Motion.of_states(subject, motion.times, q), trial=motion.trial)


def _strides(result: Result) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for strikes in result.gait.strikes.values():
        spans += pairwise(np.searchsorted(result.times, strikes).tolist())
    return spans or [(0, len(result.times) - 1)]


def _costs(result: Result, spans: list[tuple[int, int]], joints: list[int]) -> Array:
    groups = joint_groups(result.subject)
    size = np.column_stack([np.linalg.norm(result.tau[:, groups[k][1]], axis=1) for k in joints]).sum(1)
    step = np.diff(result.times)
    parts = 0.5 * (size[1:] + size[:-1]) * step
    return np.array([parts[first:last].sum() for first, last in spans])


def _stiff(result: Result, spans: list[tuple[int, int]], stiffness: float) -> Array:
    """Return the costs with the arms' joints stiffened by muscles that pull both ways."""
    groups = joint_groups(result.subject)
    size = np.column_stack([np.linalg.norm(result.tau[:, own], axis=1) for _, own in groups])
    total = []
    for first, last in spans:
        keep = slice(first, last + 1)
        cost = 0.0
        for k, (name, _) in enumerate(groups):
            held = stiffness if name.endswith(BOUND) else 0.0
            cost += float(co_contraction(size[keep, k : k + 1], result.times[keep], held)[0])
        total.append(cost)
    return np.array(total)


def _twist(result: Result) -> float:
    """Return the root mean square of the free torque that the ground must take up about the vertical [N m]."""
    spots = np.nan_to_num(result.ground.pressure())
    free = result.ground.moment - np.cross(spots, result.ground.force)
    return float(np.sqrt((free[..., 2].sum(1) ** 2).mean()))
