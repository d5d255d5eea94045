"""Find the joints that have no inertia to move: the numerical test behind the refusal of massless links.

A joint with motion axes `S` moves against `D = S' I^A S + diag(armature)`, where `I^A` is the articulated inertia of
its link (Featherstone, Rigid Body Dynamics Algorithms, 2008, equation 7.23). Articulated inertias only grow with what
hangs below, so a link that resists its joint by its own inertia needs no further look; only below the others is `I^A`
worked out, and only as far down as the next link that resists every motion (its own inertia already decides what it
lets through).
"""

from __future__ import annotations

import numpy as np

from ..kernels import layout as at

WEAKEST = 1e-12  # least eigenvalue of D, scaled to a largest possible of about 1, that a division by it survives
STRONG = 1e-6  # least principal moment, relative to the largest, of a link that resists every motion
COLUMNS = np.arange(6)
GENERIC = 20060930  # seed of the generic pose; any would do


def immovable_links(topology: np.ndarray, constants: np.ndarray, dofs: np.ndarray) -> np.ndarray:
    """Return the links (indices, sorted) whose joint has numerically nothing to move, both at q = 0 and at a generic q.

    Where one is found, links above it are not looked at: their articulated inertia depends on it.
    """
    n = len(topology)
    motion, turns, shifts = _poses(topology, constants)
    own = _spatial_inertias(constants)
    armature = _per_link(topology, dofs[:, at.ARMATURE])
    weak = np.asarray(_resistance(own[None], own[None], motion, armature)[0].all(0))
    if not weak.any():
        return np.zeros(0, dtype=np.int64)
    scope, height = _scope(topology[:, at.PARENT], weak, _resists_everything(constants))
    transforms = _from_parent(turns, shifts)
    articulated = np.zeros((2, n, 6, 6))
    articulated[:, scope] = own[scope]
    # The size that D is small against: with the joints of weak links locked, down to the first that is not weak.
    composite = articulated.copy()
    by_height = scope[np.argsort(height[scope], kind="stable")]
    levels = np.split(by_height, np.flatnonzero(np.diff(height[by_height])) + 1)
    tainted = np.zeros((2, n), dtype=bool)  # something below was singular at that pose: it proves nothing
    inside = np.zeros(n, dtype=bool)
    inside[scope] = True
    for level in levels:
        inertia, axes = articulated[:, level], motion[:, level]
        size = np.where(weak[level, None, None], composite[:, level], own[level])
        singular, inverse = _resistance(inertia, size, axes, armature[level])
        singular = (singular | tainted[:, level]) & weak[level]
        bad = singular.all(0)
        if bad.any():
            return np.sort(level[bad])
        parent = topology[level, at.PARENT]
        carried = np.flatnonzero((parent >= 0) & inside[parent])
        if carried.size == 0:
            continue
        U = inertia @ axes
        felt = inertia - U @ inverse @ U.swapaxes(-1, -2)  # equation 7.25: what a parent feels of the link
        transform = transforms[:, level]
        felt = transform.swapaxes(-1, -2) @ felt @ transform
        locked = transform.swapaxes(-1, -2) @ size @ transform
        for pose in range(2):
            np.add.at(articulated[pose], parent[carried], felt[pose, carried])
            np.add.at(composite[pose], parent[carried], locked[pose, carried])
            np.logical_or.at(tainted[pose], parent[carried], singular[pose, carried])
    return np.zeros(0, dtype=np.int64)


def _spatial_inertias(constants: np.ndarray) -> np.ndarray:
    """Return the inertias [angular; linear] about the links' origins, shape [nlinks, 6, 6]."""
    inertia = np.zeros((len(constants), 6, 6))
    packed = constants[:, at.INERTIA : at.INERTIA + 6]
    inertia[:, :3, :3] = packed[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)
    coupling = _cross(constants[:, at.MOMENT : at.MOMENT + 3])
    inertia[:, :3, 3:] = coupling
    inertia[:, 3:, :3] = coupling.transpose(0, 2, 1)
    inertia[:, 3:, 3:] = constants[:, at.MASS, None, None] * np.eye(3)
    return inertia


def _resists_everything(constants: np.ndarray) -> np.ndarray:
    """Say which links have a mass and three comparable principal moments about their centre of mass."""
    mass = constants[:, at.MASS]
    inertia = _spatial_inertias(constants)[:, :3, :3]
    com = constants[:, at.MOMENT : at.MOMENT + 3] / np.where(mass > 0, mass, 1.0)[:, None]
    arm = _cross(com)
    moments = np.linalg.eigvalsh(inertia + mass[:, None, None] * arm @ arm)
    return (mass > 0) & (moments[:, 0] > STRONG * np.abs(inertia).max((1, 2)))


def _per_link(topology: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Spread a value per degree of freedom over six columns a link; columns without a degree of freedom get NaN."""
    used = topology[:, at.DOF, None] > COLUMNS
    index = np.where(used, topology[:, at.V, None] + COLUMNS, 0)
    return np.where(used, values[index] if values.size else 0.0, np.nan)


def _poses(topology: np.ndarray, constants: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return motion axes in link frames [2, n, 6, 6], and rotations and shifts of links in parents, at both poses.

    Unused columns of the motion axes are zero.
    """
    n, kinds = len(topology), topology[:, at.KIND]
    rng = np.random.default_rng(GENERIC)
    q = np.stack((np.zeros((n, 6)), rng.uniform(0.3, 2.2, (n, 6))))
    first, second = constants[:, at.FIRST : at.FIRST + 3], constants[:, at.SECOND : at.SECOND + 3]
    joint_turn = np.broadcast_to(np.eye(3), (2, n, 3, 3)).copy()
    joint_shift = np.zeros((2, n, 3))
    motion = np.zeros((2, n, 6, 6))
    z = np.array([0.0, 0.0, 1.0])
    for pose in range(2):
        angle = q[pose]
        about_z = np.isin(kinds, (at.REVOLUTE, at.HELICAL, at.PLANAR))
        joint_turn[pose, about_z] = _rotation(np.broadcast_to(z, (n, 3)), angle[:, 0])[about_z]
        motion[pose, about_z, 2, 0] = 1.0
        sliding = kinds == at.PRISMATIC
        motion[pose, sliding, 5, 0] = 1.0
        joint_shift[pose, sliding, 2] = angle[sliding, 0]
        screw = kinds == at.HELICAL
        motion[pose, screw, 5, 0] = constants[screw, at.PITCH]
        joint_shift[pose, screw, 2] = constants[screw, at.PITCH] * angle[screw, 0]
        planar = kinds == at.PLANAR
        motion[pose, planar, 3:5, 1:3] = joint_turn[pose, planar, :2, :2].transpose(0, 2, 1)
        joint_shift[pose, planar, :2] = angle[planar, 1:3]
        universal = kinds == at.UNIVERSAL
        one, two = _rotation(first, angle[:, 0]), _rotation(second, angle[:, 1])
        joint_turn[pose, universal] = (one @ two)[universal]
        motion[pose, universal, :3, 0] = np.einsum("nji,nj->ni", two, first)[universal]
        motion[pose, universal, :3, 1] = second[universal]
        ball = np.isin(kinds, (at.SPHERICAL, at.FREE))
        axis = q[1, :, :3] / np.linalg.norm(q[1, :, :3], axis=1, keepdims=True)
        joint_turn[pose, ball] = _rotation(axis, angle[:, 3])[ball]
        motion[pose, ball, :3, :3] = np.eye(3)
        motion[pose, kinds == at.FREE, 3:, 3:] = np.eye(3)
    place = constants[:, at.PLACE : at.PLACE + 9].reshape(n, 3, 3)
    offset = constants[:, at.OFFSET : at.OFFSET + 3]
    return motion, place @ joint_turn, offset + np.einsum("nij,pnj->pni", place, joint_shift)


def _rotation(axes: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Rodrigues' formula for unit axes, shape [n, 3, 3]."""
    hat = _cross(axes)
    sin, cos = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    return np.eye(3) + sin * hat + (1 - cos) * hat @ hat


def _cross(vectors: np.ndarray) -> np.ndarray:
    """Return the matrices of the cross products with vectors [..., 3], shape [..., 3, 3]."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    zero = np.zeros_like(x)
    return np.stack((zero, -z, y, z, zero, -x, -y, x, zero), axis=-1).reshape(*vectors.shape, 3)


def _resistance(
    inertia: np.ndarray, composite: np.ndarray, motion: np.ndarray, armature: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return whether each D is singular, shape [2, n], and the inverse of D, shape [2, n, 6, 6].

    Unused columns of the inverse are zero; so are the directions in which a D is singular at one of the poses only.
    """
    used = np.isfinite(armature)
    rotor = np.where(used, armature, 0.0)
    D = motion.swapaxes(-1, -2) @ inertia @ motion
    trace = np.einsum("pnii->pni", composite)
    angular, linear = trace[..., :3].sum(-1)[..., None], trace[..., 3:].sum(-1)[..., None]
    squares = motion * motion
    largest = squares[..., :3, :].sum(-2) * angular + squares[..., 3:, :].sum(-2) * linear + rotor
    nothing = (used & (largest <= 0)).any(-1)
    scale = 1 / np.sqrt(np.where(used & (largest > 0), largest, 1.0))
    D[..., COLUMNS, COLUMNS] += np.where(used, rotor, 1.0)
    values, vectors = np.linalg.eigh(D * scale[..., :, None] * scale[..., None, :])
    reciprocal = np.where(values > WEAKEST, 1 / np.maximum(values, WEAKEST), 0.0)
    inverse = vectors * reciprocal[..., None, :] @ vectors.swapaxes(-1, -2)
    inverse *= (scale * used)[..., :, None] * (scale * used)[..., None, :]
    return nothing | (values[..., 0] < WEAKEST), inverse


def _from_parent(turns: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """Return the transforms of motions from parent to link; `turns` and `shifts` are the links' poses in parents."""
    transforms = np.zeros((*turns.shape[:-2], 6, 6))
    back = turns.swapaxes(-1, -2)
    transforms[..., :3, :3] = back
    transforms[..., 3:, 3:] = back
    transforms[..., 3:, :3] = -back @ _cross(shifts)
    return transforms


def _scope(parents: np.ndarray, weak: np.ndarray, strong: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the links to work out, and the height of each above the lowest of them in its branch."""
    n = len(parents)
    up, stops = parents.tolist(), (strong & ~weak).tolist()
    inside = weak.tolist()
    for link in range(n):  # a parent's number is smaller: what is decided above is known here
        parent = up[link]
        if parent >= 0 and inside[parent] and not stops[parent]:
            inside[link] = True
    height = [0] * n
    for link in range(n - 1, -1, -1):
        parent = up[link]
        if inside[link] and parent >= 0:
            height[parent] = max(height[parent], height[link] + 1)
    return np.flatnonzero(inside), np.array(height)
