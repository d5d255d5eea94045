"""Weld the bodies that do not move against each other into links, and pack those for the kernels."""

from __future__ import annotations

import numpy as np

from ..kernels import layout as at
from .shapes import rotation_of_z


def build_links(
    parents: np.ndarray,
    kinds: np.ndarray,
    axes: np.ndarray,
    placements: np.ndarray,
    masses: np.ndarray,
    coms: np.ndarray,
    inertias: np.ndarray,
    q_starts: np.ndarray,
    v_starts: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (topology, constants, link of each body, pose of each body in its link).

    The link of a moving body has its origin at that body's, and its z axis along the joint's axis.
    """
    n = len(parents)
    turns = placements[:, :9].reshape(n, 3, 3)
    shifts = placements[:, 9:]
    one_axis = (kinds == at.REVOLUTE) | (kinds == at.PRISMATIC) | (kinds == at.HELICAL)
    aligned = np.broadcast_to(np.eye(3), (n, 3, 3)).copy()  # link axes -> body axes
    for i in np.flatnonzero(one_axis):
        aligned[i] = rotation_of_z(axes[i, :3])
    in_link_turn = aligned.transpose(0, 2, 1).copy()
    in_link_shift = np.zeros((n, 3))
    carrier = np.arange(n)  # the moving body that each body is welded to, -1 for the world
    for i in np.flatnonzero(kinds == at.FIXED):
        parent = parents[i]
        if parent < 0:
            carrier[i], in_link_turn[i], in_link_shift[i] = -1, turns[i], shifts[i]
        else:
            carrier[i] = carrier[parent]
            in_link_turn[i] = in_link_turn[parent] @ turns[i]
            in_link_shift[i] = in_link_turn[parent] @ shifts[i] + in_link_shift[parent]
    moving = np.flatnonzero(kinds != at.FIXED)
    hangs_on = np.where(parents[moving] < 0, -1, carrier[parents[moving]])
    order, last, tree = _depth_first(moving, hangs_on, n)
    link_of_body = np.full(n + 1, -1, dtype=np.int64)
    link_of_body[order] = np.arange(len(order))
    body_links = np.where(carrier < 0, -1, link_of_body[carrier])

    topology = np.zeros((len(order), at.TOPOLOGY), dtype=np.int64)
    parent_bodies = parents[order]
    topology[:, at.PARENT] = np.where(parent_bodies < 0, -1, body_links[parent_bodies])
    topology[:, at.KIND] = kinds[order]
    topology[:, at.Q] = q_starts[order]
    topology[:, at.V] = v_starts[order]
    topology[:, at.DOF] = v_starts[order + 1] - v_starts[order]
    topology[:, at.TREE] = tree
    topology[:, at.LAST] = last
    topology[:, at.BODY] = order

    constants = np.zeros((len(order), at.CONSTANTS))
    rooted = parent_bodies < 0
    parent_turn = np.where(rooted[:, None, None], np.eye(3), in_link_turn[parent_bodies])
    parent_shift = np.where(rooted[:, None], 0.0, in_link_shift[parent_bodies])
    constants[:, at.PLACE : at.PLACE + 9] = (parent_turn @ turns[order] @ aligned[order]).reshape(-1, 9)
    constants[:, at.OFFSET : at.OFFSET + 3] = np.einsum("nij,nj->ni", parent_turn, shifts[order]) + parent_shift
    constants[:, at.FIRST : at.FIRST + 3] = axes[order, :3]
    constants[:, at.SECOND : at.SECOND + 3] = axes[order, 3:6]
    constants[:, at.PITCH] = axes[order, 6]
    _add_inertias(constants, body_links, in_link_turn, in_link_shift, masses, coms, inertias)
    return topology, constants, body_links, np.hstack((in_link_turn.reshape(n, 9), in_link_shift))


def _add_inertias(
    constants: np.ndarray,
    body_links: np.ndarray,
    turns: np.ndarray,
    shifts: np.ndarray,
    masses: np.ndarray,
    coms: np.ndarray,
    inertias: np.ndarray,
) -> None:
    """Add mass, first moment and inertia about the link's origin of every body to its link."""
    bodies = np.flatnonzero(body_links >= 0)
    links, turn, mass = body_links[bodies], turns[bodies], masses[bodies]
    com = np.einsum("nij,nj->ni", turn, coms[bodies]) + shifts[bodies]
    about_com = turn @ inertias[bodies] @ turn.transpose(0, 2, 1)
    square = np.einsum("ni,ni->n", com, com)[:, None, None] * np.eye(3) - com[:, :, None] * com[:, None, :]
    inertia = about_com + mass[:, None, None] * square
    np.add.at(constants[:, at.MASS], links, mass)
    for k in range(3):
        np.add.at(constants[:, at.MOMENT + k], links, mass * com[:, k])
    for k, (i, j) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
        np.add.at(constants[:, at.INERTIA + k], links, inertia[:, i, j])


def _depth_first(moving: np.ndarray, hangs_on: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number the moving bodies depth first, the largest branch first; returns (bodies, end of subtree, tree)."""
    size = np.zeros(n, dtype=np.int64)
    children: dict[int, list[int]] = {}
    parent_of = dict(zip(moving.tolist(), hangs_on.tolist(), strict=True))
    for body in reversed(moving.tolist()):
        size[body] += 1
        parent = parent_of[body]
        if parent >= 0:
            size[parent] += size[body]
    for body in moving.tolist():
        children.setdefault(parent_of[body], []).append(body)
    order: list[int] = []
    tree: list[int] = []
    for number, root in enumerate(children.get(-1, [])):
        stack = [root]
        while stack:
            body = stack.pop()
            order.append(body)
            tree.append(number)
            stack.extend(sorted(children.get(body, ()), key=lambda b: size[b]))
    bodies = np.array(order, dtype=np.int64)
    return bodies, np.arange(len(order)) + size[bodies], np.array(tree, dtype=np.int64)
