"""Energy and momentum of a soft-constraint world, and who put the energy in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..kernels import soft_layout as at
from ..typing import Array
from .bodies import rotation_of

if TYPE_CHECKING:
    from .tables import Tables
    from .world import World


def spins(tables: Tables) -> Array:
    """Return the angular momenta of all bodies about their centres of mass, world axes, shape (nbodies, 3)."""
    state, bodies = tables["state"], tables["bodies"]
    out = np.zeros((len(state), 3))
    for i in range(len(state)):
        turn = rotation_of(state[i, at.QUATERNION : at.QUATERNION + 4])
        xx, xy, xz, yy, yz, zz = bodies[i, at.INERTIA : at.INERTIA + 6]
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        out[i] = turn @ inertia @ turn.T @ state[i, at.OMEGA : at.OMEGA + 3]
    return out


def mechanical(tables: Tables) -> tuple[float, float]:
    """Return kinetic energy and the potential energy of gravity [J]; kinematic bodies have none."""
    state, mass = tables["state"], tables["bodies"][:, at.MASS]
    v = state[:, at.VELOCITY :]
    kinetic = 0.5 * float(mass @ (v * v).sum(1)) + 0.5 * float(
        (spins(tables) * state[:, at.OMEGA : at.OMEGA + 3]).sum()
    )
    gravity = tables.numbers[at.GRAVITY : at.GRAVITY + 3]
    return kinetic, -float(mass @ (state[:, :3] @ gravity))


def momentum(tables: Tables, point: Array) -> Array:
    """Return [angular momentum about `point`; linear momentum]."""
    state, mass = tables["state"], tables["bodies"][:, at.MASS]
    linear = mass[:, None] * state[:, at.VELOCITY :]
    angular = spins(tables) + np.cross(state[:, :3] - point, linear)
    return np.concatenate((angular.sum(0), linear.sum(0)))


def ledger(world: World) -> dict[str, float]:
    """Return the energies put into the bodies since the world began, by what put them in [J]."""
    numbers = world.tables.numbers
    sums: dict[str, float] = {}
    for constraint in world.constraints:
        sums[constraint.kind] = sums.get(constraint.kind, 0.0) + float(constraint.work.sum())
    sums["gravity"] = float(numbers[at.GRAVITY_WORK])
    sums["user"] = float(numbers[at.USER_WORK])
    sums["gyroscopic"] = float(numbers[at.GYRO_WORK])
    return sums
