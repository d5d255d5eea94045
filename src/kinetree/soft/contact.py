"""Contacts: which points of which shapes touch what, as candidates that are looked at in every step."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError
from ..kernels import soft_layout as at
from ..model.shapes import Box, Capsule, Plane, Shape, Sphere
from ..typing import Array
from .bodies import Body
from .constraints import Constraint
from .joints import add_rows

if TYPE_CHECKING:
    from .world import World


@dataclass(frozen=True)
class Ground:
    """A plane that shapes touch: friction (coefficient, or a force whatever the normal one) and softness."""

    name: str
    plane: Plane
    friction: float = 0.8
    friction_force: float | None = None
    soft: tuple[Any, Any, Any, Any] = (None, None, None, None)
    margin: float = 0.05

    def __post_init__(self) -> None:
        """Refuse friction that pulls."""
        if not 0 <= self.friction < np.inf:
            raise ArgumentError(
                f"the friction of {self.name!r} is {self.friction!r}: it must be finite and not negative"
            )
        if self.friction_force is not None and not self.friction_force >= 0:
            raise ArgumentError(
                f"the friction force of {self.name!r} is {self.friction_force!r}: it must not be negative"
            )
        if not 0 <= self.margin < np.inf:
            raise ArgumentError(f"the margin of {self.name!r} is {self.margin!r}: it must be finite and not negative")


def touching_points(shape: Shape) -> list[tuple[Array, float]]:
    """Return the balls (centre in the body's frame [m], radius [m]) by which a shape touches a plane."""
    turn, place = shape.placement
    if isinstance(shape, Sphere):
        return [(place, float(shape.radius))]
    if isinstance(shape, Capsule):
        half = turn[:, 2] * shape.length / 2
        return [(place + half, float(shape.radius)), (place - half, float(shape.radius))]
    if isinstance(shape, Box):
        half = np.array(shape.size) / 2
        return [(place + turn @ (half * np.array(signs)), 0.0) for signs in product((-1, 1), repeat=3)]
    return []


def ground_contacts(world: World, ground: Ground, body: Body) -> list[Constraint]:
    """Add the contacts of all shapes of a body with a plane of the world."""
    made = []
    for shape in body.shapes:
        for point, radius in touching_points(shape):
            name = _free_name(world, f"{ground.name}/{body.name}")
            made.append(ball_on_plane(world, name, ground, body, point, radius, None))
    return made


def ball_on_plane(
    world: World, name: str, ground: Ground, body: Body, point: Array, radius: float, other: Body | None
) -> Constraint:
    """Add the contact of a ball of a body with a plane of the world or of another body."""
    if not 0 <= radius < np.inf:
        raise ArgumentError(f"the radius of contact {name!r} is {radius!r}: it must be finite and not negative")
    turn, place = ground.plane.placement
    frame = np.zeros(at.FRAMES)
    frame[at.ANCHOR_A : at.ANCHOR_A + 3] = point - body.com
    frame[at.TURN_A : at.TURN_A + 9] = np.eye(3).ravel()
    frame[at.ANCHOR_B : at.ANCHOR_B + 3] = place - (0 if other is None else other.com)
    frame[at.TURN_B : at.TURN_B + 9] = turn.ravel()
    frame[at.LENGTH] = radius
    return _contact(world, name, ground, body, other, frame, at.ON_PLANE)


def pair_contacts(
    world: World,
    body: Body,
    other: Body,
    *,
    friction: float = 0.8,
    friction_force: float | None = None,
    erp: float | None = None,
    cfm: float | None = None,
    stiffness: float | None = None,
    damping: float | None = None,
    margin: float = 0.05,
) -> list[Constraint]:
    """Add the contacts of the spheres and capsules of two bodies with each other."""
    rule = Ground("collision", Plane(), friction, friction_force, (erp, cfm, stiffness, damping), margin)
    made = []
    for mine, theirs in product(_segments(body), _segments(other)):
        frame = np.zeros(at.FRAMES)
        for (place, turn, half, radius), owner, columns in (
            (mine, body, (at.ANCHOR_A, at.TURN_A, at.GOAL, at.LENGTH)),
            (theirs, other, (at.ANCHOR_B, at.TURN_B, at.GOAL + 1, at.REACH)),
        ):
            frame[columns[0] : columns[0] + 3] = place - owner.com
            frame[columns[1] : columns[1] + 9] = turn.ravel()
            frame[columns[2]], frame[columns[3]] = half, radius
        name = _free_name(world, f"{body.name}/{other.name}")
        made.append(_contact(world, name, rule, body, other, frame, at.ON_BALL))
    if not made:
        raise ArgumentError(f"bodies {body.name!r} and {other.name!r} have no spheres or capsules that could touch")
    return made


def _segments(body: Body) -> list[tuple[Array, Array, float, float]]:
    found = []
    for shape in body.shapes:
        if isinstance(shape, (Sphere, Capsule)):
            half = shape.length / 2 if isinstance(shape, Capsule) else 0.0
            found.append((shape.placement[1], shape.placement[0], half, float(shape.radius)))
    return found


def _contact(
    world: World, name: str, rule: Ground, body: Body, other: Body | None, frame: Array, option: int
) -> Constraint:
    frame[at.SLIP] = rule.margin
    slides = rule.friction == 0 and not rule.friction_force
    count = 1 if slides else 3
    force = np.inf if rule.friction_force is None else rule.friction_force
    lo, hi = [0.0, -force, -force][:count], [np.inf, force, force][:count]
    contact = add_rows(world, name, "contact", at.CONTACT, option, body, other, frame, count, rule.soft, (lo, hi), None)
    rows, links = world.tables["rows"], world.tables["links"]
    first = contact.rows.start
    links[first, at.SHAPE] = at.GAP
    if rule.friction_force is None and not slides:
        links[first + 1 : first + 3, at.NORMAL] = first
        rows[first + 1 : first + 3, at.MU] = rule.friction
    return contact


def _free_name(world: World, stem: str) -> str:
    number = 0
    while f"{stem}/{number}" in world._constraints:
        number += 1
    return f"{stem}/{number}"
