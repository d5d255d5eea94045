"""A random branched molecule, the benchmark with 50,000 degrees of freedom of Redon and Lin (2006), section 6.3."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import ArgumentError
from ..description import Body, mass_properties
from ..joints import Revolute
from ..model import Model
from ..shapes import Capsule, Sphere, rotation_of_z
from .parts import ORIGIN, assemble, count, not_negative

BOND = 0.15  # a carbon bond of 1.5 angstrom, at a scale of 1e9 [m]
TETRAHEDRON = np.arccos(-1 / 3)  # angle between two bonds of an atom [rad]
BRANCHES = 3  # bonds that lead on from an atom
BRANCHING = 0.15  # how often a new branch begins anywhere, instead of the newest strand growing on
ELEMENTS: tuple[tuple[str, float, float, tuple[float, float, float], float], ...] = (
    ("C", 0.012, 0.050, (0.28, 0.30, 0.33), 0.62),
    ("N", 0.014, 0.047, (0.20, 0.36, 0.78), 0.14),
    ("O", 0.016, 0.045, (0.80, 0.16, 0.14), 0.16),
    ("S", 0.032, 0.060, (0.90, 0.74, 0.16), 0.08),
)  # symbol, mass [kg], radius [m], colour, share


def molecule(n: int = 1000, seed: int = 0, *, branching: float = BRANCHING) -> Model:
    """Return a random branched molecule of `n` atoms, each on a revolute joint about the bond that leads to it.

    Bonds of an atom form a tetrahedron, as around carbon. Atoms are of several kinds and masses; lengths are a billion
    times those of nature. With the probability `branching` an atom begins a new branch somewhere, otherwise it makes
    the newest strand longer: 0.01 gives strands of a hundred bonds, like a polymer. The first bond starts at the origin
    of the world. Bodies are named by element: `C0`, `N1`...
    """
    n = count(n, "n of kinetree.models.molecule")
    rng = np.random.default_rng(count(seed, "seed", 0))
    rate = not_negative(branching, "branching")
    if rate > 1:
        raise ArgumentError(f"branching is {branching}: it is a probability, from 0 to 1")
    parents, slots = _grow(n, rng, 1.0 - rate)
    # The atom sits at the end of its bond, along z of its frame; a child's bond leaves from there.
    exits = []
    for k in range(BRANCHES):
        around = 2 * np.pi * k / BRANCHES
        lean = np.pi - TETRAHEDRON
        direction = np.array([np.sin(lean) * np.cos(around), np.sin(lean) * np.sin(around), np.cos(lean)])
        exits.append((rotation_of_z(direction), np.array([0.0, 0.0, BOND])))
    kinds: list[dict[str, Any]] = []
    for symbol, mass, radius, color, _ in ELEMENTS:
        atom = Sphere(radius, placement=(0.0, 0.0, BOND), color=color)
        stick = Capsule.between((0, 0, 0.2 * BOND), (0, 0, 0.8 * BOND), 0.014, color=(0.75, 0.75, 0.75))
        _, com, inertia = mass_properties(symbol, mass, None, None, (atom,))
        kinds.append({"symbol": symbol, "values": (mass, com, inertia, (atom, stick))})
    shares = np.array([element[-1] for element in ELEMENTS])
    element = rng.choice(len(ELEMENTS), size=n, p=shares / shares.sum()).tolist()
    names = [f"{kinds[e]['symbol']}{i}" for i, e in enumerate(element)]
    joint, root = Revolute("z"), (np.eye(3), ORIGIN)
    bodies = [
        Body(
            names[i], names[parents[i]] if i else None, joint, exits[slots[i]] if i else root,
            *kinds[element[i]]["values"],
        )
        for i in range(n)
    ]  # fmt: skip
    return assemble(f"molecule {n}", bodies)


def _grow(n: int, rng: np.random.Generator, onwards: float) -> tuple[list[int], list[int]]:
    """Choose for each atom the one it is bound to, and which of that one's free bonds."""
    onward = (rng.random(n) < onwards).tolist()
    draws = rng.random((n, 2)).tolist()
    free: list[list[int]] = [list(range(BRANCHES))]
    open_atoms = [0]  # atoms that still have a free bond
    parents, slots = [-1], [0]
    for i in range(1, n):
        pick = len(open_atoms) - 1 if onward[i] else int(draws[i][0] * len(open_atoms))
        parent = open_atoms[pick]
        bonds = free[parent]
        slots.append(bonds.pop(int(draws[i][1] * len(bonds))))
        if not bonds:
            open_atoms[pick] = open_atoms[-1]
            open_atoms.pop()
        parents.append(parent)
        free.append(list(range(BRANCHES)))
        open_atoms.append(i)
    return parents, slots
