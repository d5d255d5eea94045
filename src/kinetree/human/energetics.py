"""What a movement costs: power, work and integrated torque of every joint, with and without what gravity asks for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dynamics import center_of_mass, energy
from ..errors import ArgumentError
from ..typing import Array
from .motion import Motion
from .subject import Subject

STIFFNESS_PER_TORQUE = 6.0  # 1/rad: a joint's stiffness grows by that for each newton metre of its muscles
# (Hunter and Kearney, Journal of Biomechanics 15, 1982: about 6 Nm/rad per Nm at the ankle)


@dataclass(frozen=True)
class Energetics:
    """Power [n, njoints] in watts and, for every joint, work [J] and integrated torque [N m s]; the root is left out.

    `effort` is the integral of the torque's size (the paper's cost), `control` the same of what is left after the
    torque that holds the pose against gravity is taken off. `kinetic` and `potential` [n] in joules.
    `cost_of_transport` is positive work per weight and distance of the centre of mass, NaN where it hardly moves.
    """

    joints: tuple[str, ...]
    power: Array
    positive: Array
    negative: Array
    net: Array
    effort: Array
    control: Array
    kinetic: Array
    potential: Array
    distance: float
    cost_of_transport: float

    @property
    def total_effort(self) -> float:
        """Integrated torque of all joints [N m s]."""
        return float(self.effort.sum())

    @property
    def total_positive(self) -> float:
        """Positive work of all joints [J]."""
        return float(self.positive.sum())


def energetics(subject: Subject, motion: Motion, tau: Array, held: Array) -> Energetics:
    """Return powers, work and costs of a movement with joint forces `tau` [n, nv]."""
    model = subject.model
    groups = joint_groups(subject)
    power = np.column_stack([np.einsum("nk,nk->n", tau[:, own], motion.v[:, own]) for _, own in groups])
    size = np.column_stack([np.linalg.norm(tau[:, own], axis=1) for _, own in groups])
    rest = np.column_stack([np.linalg.norm(tau[:, own] - held[:, own], axis=1) for _, own in groups])
    t = motion.times
    kinetic, potential = np.zeros(len(t)), np.zeros(len(t))
    centre = np.zeros((len(t), 3))
    for k in range(len(t)):
        kinetic[k], potential[k] = energy(model, motion.q[k], motion.v[k], gravity=subject.gravity)
        centre[k] = center_of_mass(model, motion.q[k])
    positive, negative = integral(np.maximum(power, 0.0), t), integral(np.minimum(power, 0.0), t)
    distance = float(np.linalg.norm(centre[-1, :2] - centre[0, :2]))
    weight = model.total_mass * float(np.linalg.norm(subject.gravity))
    cost = float(positive.sum()) / (weight * distance) if distance > 0.2 else float("nan")
    return Energetics(
        tuple(name for name, _ in groups), power, positive, negative, positive + negative, integral(size, t),
        integral(rest, t), kinetic, potential, distance, cost,
    )  # fmt: skip


def joint_groups(subject: Subject) -> list[tuple[str, list[int]]]:
    """Return (joint, its degrees of freedom) without the root; an OpenSim joint is one though it is a chain."""
    model = subject.model
    if not subject.mapped:
        root = {0} if model.joint_kinds[0] == 6 else set()
        slices = [(name, model.v_slice(name)) for k, name in enumerate(model.joint_names) if k not in root]
        return [(name, list(range(own.start, own.stop))) for name, own in slices]
    from .result import root_coordinates

    nu, root = len(model.coordinate_names), set(root_coordinates(subject))
    found: dict[str, list[int]] = {}
    for k in range(model.nv):
        source = int(model.coordinate_rows[nu + k, 0])
        if source not in root:
            found.setdefault(model.coordinate_names[source], []).append(k)
    return list(found.items())


def integral(values: Array, times: Array) -> Array:
    """Return the integral over time by trapezoids, shape [k]."""
    if len(times) < 2:
        return np.zeros(values.shape[1])
    return 0.5 * np.einsum("n,nk->k", np.diff(times), values[1:] + values[:-1])


def co_contraction(size: Array, times: Array, stiffness: float) -> Array:
    """Return the integrated torque of muscles that also hold a joint at a `stiffness` [N m/rad] by pulling both ways.

    A joint's stiffness is 6/rad times the torques of its flexors and extensors together. Where the movement's own
    torque (`size` [n, k]) does not make it stiff enough, both sides pull more, and their torques add to stiffness / 6.
    """
    if not stiffness >= 0:
        raise ArgumentError(f"stiffness is {stiffness!r}: it must not be negative")
    return integral(np.maximum(size, stiffness / STIFFNESS_PER_TORQUE), times)
