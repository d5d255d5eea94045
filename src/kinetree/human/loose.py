"""The same body with joints that give: each carries three stiff springs between its two anchors.

That is what a body in maximal coordinates with softened joint constraints is at rest (Liu, Cooper and Ballard, S2):
markers that cannot be satisfied pull the anchors apart, and the stretch says where the joint should be.
"""

from __future__ import annotations

import numpy as np

from ..dynamics import body_poses
from ..kernels import pose as fitting
from ..model.compile import compile_model
from ..model.description import Body, Description
from ..model.joints import Prismatic
from ..typing import Array
from .subject import Subject, default_prior

AXES = ("x", "y", "z")
TIGHT = 100.0  # of a joint's springs, beside markers of weight 1: CFM 1e-5 beside 1e-3
LOOSE = 10.0  # CFM 1e-5 beside 1e-4


def loosened(subject: Subject, stiffness: float) -> Subject:
    """Return the subject with every internal joint on three springs of this stiffness."""
    bodies: list[Body] = []
    for body in subject.model.description().bodies:
        if body.parent is None:
            bodies.append(body)
            continue
        parent, place = body.parent, body.placement
        for axis in AXES:
            name = f"{body.name}/{axis}"
            bodies.append(Body(name, parent, Prismatic(axis), place, joint_name=name))
            parent, place = name, (np.eye(3), np.zeros(3))
        from dataclasses import replace as changed

        bodies.append(changed(body, parent=parent, placement=place, markers={}))
    model = compile_model(Description(bodies, "loose"))
    prior = default_prior(model)
    own = subject.model
    for joint in own.joint_names:
        prior[model.v_slice(joint)] = subject.prior[own.v_slice(joint)]
    for name in model.joint_names:
        if "/" in name:
            prior[model.v_slice(name)] = 0.0
            prior[model.v_slice(name), fitting.STIFF] = stiffness
            prior[model.v_slice(name), fitting.LOW : fitting.HIGH + 1] = -np.inf, np.inf
    numbers = np.array([model.names.index(own.names[k]) for k in subject.bodies])
    return Subject(model, subject.labels, numbers, subject.offsets, subject.weights, prior)


def stretch(loose: Subject, own: Subject, q: Array) -> tuple[dict[str, Array], dict[str, Array], Array]:
    """Return each joint's mean stretch in parent and child axes, by child body, and poses [n, nb, 4, 4]."""
    model = loose.model
    poses = np.array([body_poses(model, row) for row in q])
    in_parent: dict[str, Array] = {}
    in_child: dict[str, Array] = {}
    for k, name in enumerate(own.model.names):
        if own.model.parents[k] < 0:
            continue
        starts = [model.q_slice(f"{name}/{axis}").start for axis in AXES]
        parent = own.model.names[own.model.parents[k]]
        turn = own.model.placements[k, :9].reshape(3, 3)
        gap = q[:, starts] @ turn.T
        rp = poses[:, model.names.index(parent), :3, :3]
        rc = poses[:, model.names.index(name), :3, :3]
        in_parent[name] = gap.mean(0)
        in_child[name] = np.einsum("nji,njk,nk->ni", rc, rp, gap).mean(0)
    chosen = [model.names.index(name) for name in own.model.names]
    return in_parent, in_child, poses[:, chosen]
