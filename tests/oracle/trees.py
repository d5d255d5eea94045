"""Random trees through the public builder, with every kind of joint, and random motions of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

import kinetree as kt

MOVING = ("revolute", "prismatic", "helical", "universal", "spherical", "planar", "free")
KINDS = (*MOVING, "fixed")
ONE_AXIS = ("revolute", "prismatic", "helical")


def random_axis(rng: np.random.Generator) -> object:
    """Return a coordinate axis or any direction, half and half: special axes have code of their own in many engines."""
    if rng.random() < 0.5:
        return str(rng.choice(["x", "y", "z", "-x", "-y", "-z"]))
    return rng.normal(size=3).tolist()


def random_joint(kind: str, rng: np.random.Generator) -> kt.Revolute:
    """Return a joint of the named kind with random axes."""
    if kind == "helical":
        return kt.Helical(random_axis(rng), pitch=rng.normal(scale=0.3))
    if kind == "universal":
        if rng.random() < 0.5:
            return kt.Universal("x", "y")
        first, second = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2]
        return kt.Universal(first.tolist(), (second + 0.3 * first).tolist())
    if kind in ONE_AXIS:
        return getattr(kt, kind.capitalize())(random_axis(rng))
    return getattr(kt, kind.capitalize())()


def random_inertia(rng: np.random.Generator, mass: float) -> np.ndarray:
    """Return the inertia about its centre of a cloud of eight points: any such matrix is physical."""
    points = rng.normal(scale=0.15, size=(8, 3))
    points -= points.mean(axis=0)
    square = mass / 8 * points.T @ points
    return np.trace(square) * np.eye(3) - square


def random_model(
    seed: int,
    n: int = 12,
    kinds: Sequence[str] = KINDS,
    *,
    branching: float = 0.35,
    roots: float = 0.1,
    massless: float = 0.3,
    armature: float = 0.4,
    first: str | None = None,
) -> kt.Model:
    """Return a random model of `n` bodies.

    A body hangs on the previous one, or with the probability `branching` on any earlier one, or with the probability
    `roots` on the world. The probability `massless` is that of an inner one-axis joint's body to weigh nothing (only
    where its child resists), `armature` that of a joint to have rotor inertia. `first` is the kind of the first joint.
    """
    rng = np.random.default_rng(seed)
    parents = [-1]
    for i in range(1, n):
        chance = rng.random()
        if chance < roots:
            parents.append(-1)
        else:
            parents.append(int(rng.integers(i)) if chance < roots + branching else i - 1)
    chosen = [str(rng.choice(kinds)) for _ in range(n)]
    if first is not None:
        chosen[0] = first
    empty = np.zeros(n, dtype=bool)
    for i in range(n):
        # a child that can do its parent's motion by itself does not resist it
        yields = ("free", "planar", "prismatic") if chosen[i] == "prismatic" else ("free", "planar")
        heavy = [k for k in range(n) if parents[k] == i and chosen[k] not in yields]
        inner = chosen[i] in ONE_AXIS and heavy and not (parents[i] >= 0 and empty[parents[i]])
        empty[i] = inner and rng.random() < massless
    builder = kt.ModelBuilder(f"random {seed}")
    for i in range(n):
        turn = np.eye(3) if rng.random() < 0.3 else Rotation.random(random_state=int(rng.integers(2**31))).as_matrix()
        mass = 0.0 if empty[i] else float(rng.uniform(0.3, 3.0))
        joint = random_joint(chosen[i], rng)
        has_rotor = joint.nv > 0 and rng.random() < armature
        builder.body(
            f"b{i}",
            parent=None if parents[i] < 0 else f"b{parents[i]}",
            joint=joint,
            placement=(turn, rng.normal(scale=0.3, size=3)),
            mass=mass,
            com=np.zeros(3) if empty[i] else rng.normal(scale=0.2, size=3),
            inertia=np.zeros((3, 3)) if empty[i] else random_inertia(rng, mass),
            armature=rng.uniform(0.01, 0.2, joint.nv) if has_rotor else 0.0,
        )
    return builder.build()


def random_motion(model: kt.Model, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return a random state (q, v), with an acceleration and joint forces."""
    q, v = model.random_state(seed)
    rng = np.random.default_rng(seed + 1)
    return q, v, rng.normal(size=model.nv), rng.normal(scale=3.0, size=model.nv)


def random_wrenches(model: kt.Model, seed: int) -> np.ndarray:
    """Return a random wrench on every body, shape (nbodies, 6)."""
    return np.random.default_rng(seed + 2).normal(scale=2.0, size=(model.nbodies, 6))
