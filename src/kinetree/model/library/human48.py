"""The 48-DOF human of Liu, Cooper and Ballard: 21 bodies, 20 joints, 48 internal freedoms and 6 of the root."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ..description import Body
from ..joints import Revolute, Universal
from ..model import Model
from ..shapes import Box, Capsule, Shape, as_pose
from .human48_table import CHIRAL, COLORS, LIMBS, MIRROR, PARTS, SIDES, SKIN, Part, blend
from .parts import assemble, positive

STATURE, BODY_MASS_INDEX = 1.75, 23.5  # of an adult of whom nothing is known [m], [kg/m2]


def human48(
    height: float = STATURE,
    mass: float | None = None,
    sex: str | None = None,
    *,
    parameters: str = "de_leva",
    anchors: Mapping[str, Any] | None = None,
) -> Model:
    """Return the human of the paper's figure 10, scaled to a `height` [m] and `mass` [kg].

    Bodies are named `pelvis`, `lower_torso`, `upper_torso`, `neck`, `head` and, on both sides, `right_collar`,
    `right_upper_arm`, ... `right_toes`; joints `root`, `sacral`, `lumbar`, `thoracic`, `cervical`, `right_clavicle`,
    ... `right_tarsal`. In the neutral pose the person stands, x to the right, y forward, z up.

    Args:
        height: Stature.
        mass: Of the whole body; 23.5 kg/m2 of it if not given, or with `parameters="density"` what the volume weighs.
        sex: "male", "female" or None for the mean of both; for de Leva's parameters.
        parameters: "de_leva" for measured segment masses, centres and inertias; "density" for uniform solids of the
            densities of the published model, as in the paper.
        anchors: Where joints are in their parents [m], by child body, in place of the template's.
    """
    bodies = human48_bodies(height, mass, sex, parameters=parameters, anchors=anchors)
    return assemble("human48", bodies)


def template_anchors(height: float = STATURE) -> dict[str, np.ndarray]:
    """Return where each joint is in its parent [m], by child body, for a stature of `height`."""
    return {name: (MIRROR if side == "left" else 1.0) * height * np.array(part.at) for name, side, part in _instances()}


def human48_bodies(
    height: float = STATURE,
    mass: float | None = None,
    sex: str | None = None,
    *,
    parameters: str = "de_leva",
    anchors: Mapping[str, Any] | None = None,
) -> list[Body]:
    """Return the bodies of `human48`, parents first."""
    height = positive(height, "height")
    if sex not in (None, "male", "female"):
        raise ArgumentError(f"sex is {sex!r}: use 'male', 'female' or None")
    if parameters not in ("de_leva", "density"):
        raise ArgumentError(f"parameters is {parameters!r}: use 'de_leva' or 'density'")
    places = template_anchors(height)
    usual = {name: place.copy() for name, place in places.items()}
    for name, place in (anchors or {}).items():
        if name not in places:
            raise ArgumentError(f"anchors names {name!r}, which is no body of human48: {', '.join(places)}")
        places[name] = np.asarray(place, dtype=float)
    total = None if mass is None and parameters == "density" else positive(mass or BODY_MASS_INDEX * height**2, "mass")
    girth = 1.0 if total is None else float(np.sqrt(total / (BODY_MASS_INDEX * height**2)))
    bodies = [_body(name, side, part, places, usual, height, girth) for name, side, part in _instances()]
    if parameters == "density":
        factor = 1.0 if total is None else total / sum(body["mass"] for body in bodies)
        for body in bodies:
            body["mass"] *= factor
            body["inertia"] = body["inertia"] * factor
    else:
        assert total is not None
        known = sum(part.share * blend(sex, part.group)[0] for _, _, part in _instances())
        for body, (_, side, part) in zip(bodies, _instances(), strict=True):
            _measured(body, side, part, places, height, total / known, sex)
    return [Body(**body) for body in bodies]


def _instances() -> list[tuple[str, str, Part]]:
    """Return (name, side, part) of all 21 bodies, parents first."""
    middle = [(part.name, "", part) for part in PARTS if part.name not in CHIRAL]
    both = [(f"{side}_{part.name}", side, part) for side in SIDES for part in PARTS if part.name in CHIRAL]
    return middle + both


def _body(
    name: str, side: str, part: Part, places: Mapping[str, np.ndarray], usual: Mapping[str, np.ndarray],
    height: float, girth: float,
) -> dict[str, Any]:  # fmt: skip
    """Return a body of uniform density with its joint, stops and shape."""
    color = COLORS.get(part.name, SKIN)
    shape: Shape
    if part.name in LIMBS:
        end = places[f"{side}_{LIMBS[part.name]}"]
        shape = Capsule.between(
            (0, 0, 0), end.tolist(), part.solid[0][0] * height * girth, color=color, density=part.density
        )
    else:
        size, centre = (height * np.array(row) for row in part.solid)
        centre = centre * (MIRROR if side == "left" else 1.0)
        scale = _stretch(name, places, usual)
        size, centre = size * np.array([girth, girth, scale]), centre * np.array([1.0, 1.0, scale])
        shape = Box(placement=centre, size=size.tolist(), color=color, density=part.density)
    turn, offset = shape.placement
    heavy = shape.density * shape.volume
    parent = part.parent if part.parent is None or part.parent not in CHIRAL else f"{side}_{part.parent}"
    joint_name = f"{side}_{part.joint_name}" if side else part.joint_name
    stops = _stops(part, side)
    return {
        "name": name, "parent": parent, "joint": _joint(part, side), "placement": as_pose(places[name], name),
        "mass": heavy, "com": np.asarray(offset, float), "inertia": heavy * turn @ shape.unit_inertia() @ turn.T,
        "shapes": (shape,), "joint_name": joint_name, "limits": stops,
    }  # fmt: skip


def _stretch(name: str, places: Mapping[str, np.ndarray], usual: Mapping[str, np.ndarray]) -> float:
    """Return how much longer a segment of the trunk is than the template's, by the joint that it carries."""
    child = {"pelvis": "lower_torso", "lower_torso": "upper_torso", "upper_torso": "neck", "neck": "head"}.get(name)
    if child is None:
        return 1.0
    return float(np.clip(np.linalg.norm(places[child]) / np.linalg.norm(usual[child]), 0.5, 2.0))


def _joint(part: Part, side: str) -> Any:
    """Return the joint; on the left its second axis is mirrored: the same sign is the same movement."""
    if side != "left" or isinstance(part.joint, Revolute):
        return part.joint
    if isinstance(part.joint, Universal):
        second = np.asarray(part.joint.second)
        return Universal(part.joint.first, (-second).tolist())
    return part.joint


def _stops(part: Part, side: str) -> tuple[np.ndarray, np.ndarray] | None:
    if not part.stops:
        return None
    low, high = np.radians(np.array(part.stops, dtype=float)).T
    if side == "left" and len(low) == 3:  # a ball joint's axes are not mirrored, so its stops are
        low, high = np.array([low[0], -high[1], -high[2]]), np.array([high[0], -low[1], -low[2]])
    return low, high


def _measured(
    body: dict[str, Any], side: str, part: Part, places: Mapping[str, np.ndarray], height: float,
    total: float, sex: str | None,
) -> None:  # fmt: skip
    """Replace mass, centre and inertia by de Leva's; trunk and foot keep the solid's centre and shape of inertia."""
    share, along, gyration = blend(sex, part.group)
    mass = part.share * share * total
    scale = mass / body["mass"]
    body["mass"], body["inertia"] = mass, body["inertia"] * scale
    if part.name in LIMBS or part.name == "hand":
        end = places[f"{side}_{LIMBS[part.name]}"] if part.name in LIMBS else np.array([0.0, 0.0, -0.108 * height])
        length = float(np.linalg.norm(end))
        turn = Capsule.between((0, 0, 0), end.tolist(), 0.01).placement[0]  # z along the segment
        sagittal, transverse, longitudinal = gyration
        moments = mass * (length * np.array([transverse, sagittal, longitudinal])) ** 2
        body["com"] = along * end
        body["inertia"] = turn @ np.diag(moments) @ turn.T
