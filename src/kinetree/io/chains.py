"""From what a file says of a link and its joints to the bodies of a description.

In kinetree a body's frame is the moving frame of its joint, and a body has one joint. So several joints of one link
become a chain of massless bodies named after the joints, and a link whose frame is not where its last joint turns is
welded to the last of them: the link keeps its name and its own frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import ModelError
from ..model.description import Body, Description
from ..model.joints import Fixed, Free, Joint, Prismatic, Revolute
from ..model.shapes import Shape
from .notes import Names, Notes

Pose = tuple[np.ndarray, np.ndarray]


@dataclass
class JointRow:
    """A joint as a file has it: `anchor` and `turn` are the joint's place and axes in the frame of the link."""

    name: str
    joint: Joint
    anchor: np.ndarray = field(default_factory=lambda: np.zeros(3))
    turn: np.ndarray = field(default_factory=lambda: np.eye(3))
    reference: float = 0.0
    values: dict[str, Any] = field(default_factory=dict)


@dataclass
class LinkRow:
    """A link as a file has it, in its own frame; `placement` is its pose in its parent where every joint is at rest."""

    name: str
    parent: str | None
    placement: Pose
    joints: list[JointRow]
    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
    shapes: list[Shape] = field(default_factory=list)
    markers: Mapping[str, Any] = field(default_factory=dict)
    weld_name: str = ""


def bodies_of(link: LinkRow, body_names: Names, joint_names: Names) -> list[Body]:
    """Return the chain of bodies that moves as the link does; the last one is the link."""
    own: dict[str, Any] = {
        "mass": link.mass, "com": link.com, "inertia": link.inertia,
        "shapes": tuple(link.shapes), "markers": link.markers,
    }  # fmt: skip
    if not link.joints:
        weld = joint_names.new(link.weld_name or link.name, f"{link.name}_fixed")
        return [Body(link.name, link.parent, Fixed(), link.placement, joint_name=weld, **own)]
    bodies: list[Body] = []
    parent, (turn, shift) = link.parent, link.placement  # the link's frame as seen from `parent`
    for number, row in enumerate(link.joints):
        last = number == len(link.joints) - 1
        in_place = last and not row.anchor.any() and np.array_equal(row.turn, np.eye(3))
        name = link.name if in_place else body_names.new(row.name, f"{row.name}_joint")
        body = Body(name, parent, row.joint, _at_zero(row, turn, shift), joint_name=row.name, **row.values)
        bodies.append(replace(body, **own) if in_place else body)
        if in_place:
            return bodies
        parent, turn, shift = name, row.turn.T, -row.turn.T @ row.anchor
    weld = joint_names.new(f"{link.name}_fixed")
    return [*bodies, Body(link.name, parent, Fixed(), (turn, shift), joint_name=weld, **own)]


def _at_zero(row: JointRow, turn: np.ndarray, shift: np.ndarray) -> Pose:
    """Place the joint's fixed frame so that its coordinate is `reference` where the file draws the link."""
    place = (turn @ row.turn, shift + turn @ row.anchor)
    if row.reference == 0.0:
        return place
    axis = np.array(row.joint.axis) if isinstance(row.joint, (Revolute, Prismatic)) else np.zeros(3)
    if isinstance(row.joint, Prismatic):
        return place[0], place[1] - row.reference * (place[0] @ axis)
    return place[0] @ rotation_about(axis, -row.reference), place[1]


def rotation_about(axis: np.ndarray, angle: float) -> np.ndarray:
    """Return the rotation by `angle` [rad] about a unit `axis` (Rodrigues)."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + 2 * np.sin(angle / 2) ** 2 * (cross @ cross)


def float_roots(description: Description) -> Description:
    """Give every welded root with mass on it a free joint; its coordinates are those of the root in the world."""
    bodies, notes = list(description.bodies), Notes()
    heavy = {body.name for body in bodies if body.mass > 0}
    for body in reversed(bodies):
        if body.name in heavy and body.parent is not None:
            heavy.add(body.parent)
    names = Names(body.joint_name or body.name for body in bodies)
    free = [body for body in bodies if body.parent is None and isinstance(body.joint, Free)]
    roots = [i for i, body in enumerate(bodies) if body.parent is None and body.name in heavy]
    for i in roots:
        body = bodies[i]
        if isinstance(body.joint, Free):
            continue
        if not isinstance(body.joint, Fixed):
            raise ModelError(
                f"floating=True: the root {body.name!r} is already held to the world by the {body.joint.name} joint "
                f"{body.joint_name!r}: load the model without floating=True"
            )
        wishes = ("root_joint",) if len(roots) == 1 else ()
        joint_name = names.new(*wishes, f"{body.name}_root_joint")
        if not is_identity(body.placement):
            notes.add("places of roots that are not kept, because a floating root starts at q", body.name)
        bodies[i] = replace(body, joint=Free(), placement=(np.eye(3), np.zeros(3)), joint_name=joint_name)
    if not roots and not free:
        raise ModelError("floating=True: the model has no root with mass that could float")
    return Description(tuple(bodies), description.name, (*description.warnings, *notes.lines()))


def is_identity(placement: Pose) -> bool:
    """Tell whether a pose is exactly the identity."""
    return np.array_equal(placement[0], np.eye(3)) and not np.any(placement[1])
