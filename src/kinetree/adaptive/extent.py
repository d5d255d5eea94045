"""How far a joint's motion reaches: lever arms of joints and bounding balls of trees, in linear time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..dynamics import body_poses
from ..kernels import layout as at
from ..model.model import Model
from ..typing import Array

BOX, CAPSULE, PLANE = 0, 2, 3  # of `Model.shape_kinds`
LEAST = 0.01  # of its tree's radius, that a lever arm has at least: a joint that moves a point moves something
POINT = 1e-6  # m, the radius of a tree that is a point


class Extent(NamedTuple):
    """What of a model does not change as it moves."""

    arms: Array
    """Of each link, the farthest that anything which its joint moves is from the joint [m], shape [nlinks]."""
    radii: Array
    """Of each tree, the radius of a ball about the origin of its root that holds it [m], shape [ntrees]."""
    trees: np.ndarray
    """The tree of each degree of freedom, shape [nv]."""


def extent(model: Model) -> Extent:
    """Measure a model.

    A lever arm is measured in the neutral configuration: the distance to the farthest corner of the box, along the
    world's axes, of everything beyond the joint (at most sqrt(3) times too long), or the length of all arms beyond it,
    stretched out, where that is less. A ball holds the stretched tree, so that it holds it however it is bent.
    """
    topology, n = model.topology, model.njoints
    poses = body_poses(model, model.neutral())
    origins = poses[topology[:, at.BODY], :3, 3]
    links, centers, sizes = _balls(model, poses)
    low, high = origins.copy(), origins.copy()
    np.minimum.at(low, links, centers - sizes[:, None])
    np.maximum.at(high, links, centers + sizes[:, None])
    reach = np.zeros(n)
    np.maximum.at(reach, links, np.linalg.norm(centers - origins[links], axis=1) + sizes)
    parent = topology[:, at.PARENT]
    arm = np.where(parent >= 0, np.linalg.norm(origins - origins[parent], axis=1), 0.0) if n else reach
    low, high, stretched = _collect(parent.tolist(), low.tolist(), high.tolist(), reach.tolist(), arm.tolist())
    corner = np.linalg.norm(np.maximum(high - origins, origins - low), axis=1)
    radii = np.zeros(int(topology[:, at.TREE].max(initial=-1)) + 1)
    roots = np.flatnonzero(parent < 0)
    radii[topology[roots, at.TREE]] = np.maximum(stretched[roots], POINT)
    trees = topology[model.body_links[model.joint_bodies], at.TREE][model.v_joints]
    return Extent(np.maximum(np.minimum(corner, stretched), LEAST * radii[topology[:, at.TREE]]), radii, trees)


def _balls(model: Model, poses: Array) -> tuple[np.ndarray, Array, Array]:
    """Return balls that hold the shapes of each link, or the centre of mass of a body without any, in the world."""
    bodies = [np.setdiff1d(np.arange(model.nbodies), model.shape_bodies)]
    centers, sizes = [model.coms[bodies[0]]], [np.zeros(len(bodies[0]))]
    for kind in np.unique(model.shape_kinds):
        shapes = np.flatnonzero(model.shape_kinds == kind)
        place, size = model.shape_placements[shapes], model.shape_sizes[shapes]
        turn, offset = place[:, :9].reshape(-1, 3, 3), place[:, 9:]
        if kind == BOX:
            signs = [np.array([x, y, z]) / 2 for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
            points, radius = [size * sign for sign in signs], np.zeros(len(shapes))
        elif kind == CAPSULE:
            half = np.outer(size[:, 1] / 2, [0, 0, 1])
            points, radius = [half, -half], size[:, 0]
        elif kind == PLANE:  # has no end
            points, radius = [0 * offset], np.zeros(len(shapes))
        else:
            points, radius = [0 * offset], size[:, 0]
        for point in points:
            bodies.append(model.shape_bodies[shapes])
            centers.append(offset + np.einsum("sij,sj->si", turn, point))
            sizes.append(radius)
    every, center = np.concatenate(bodies), np.concatenate(centers)
    world = poses[every, :3, 3] + np.einsum("bij,bj->bi", poses[every, :3, :3], center)
    moves = model.body_links[every] >= 0
    return model.body_links[every][moves], world[moves], np.concatenate(sizes)[moves]


def _collect(
    parent: list[int], low: list[list[float]], high: list[list[float]], reach: list[float], arm: list[float]
) -> tuple[Array, Array, Array]:
    """Widen the box and the reach of every link by those of the links beyond it."""
    for i in range(len(parent) - 1, -1, -1):
        pa = parent[i]
        if pa >= 0:
            a, b, c, d = low[pa], high[pa], low[i], high[i]
            for k in range(3):
                if c[k] < a[k]:
                    a[k] = c[k]
                if d[k] > b[k]:
                    b[k] = d[k]
            if arm[i] + reach[i] > reach[pa]:
                reach[pa] = arm[i] + reach[i]
    return np.reshape(low, (-1, 3)), np.reshape(high, (-1, 3)), np.array(reach)
