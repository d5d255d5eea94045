"""Write a model as URDF.

A universal joint becomes two revolutes with a massless link between them, which have the same coordinates. A root that
moves, or does not stand at the origin, hangs on a link named `world`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError
from ..model.description import WORLD, Body
from ..model.joints import Fixed, Free, Helical, Planar, Prismatic, Revolute, Spherical
from ..model.model import Model
from ..model.shapes import DENSITY, Box, Capsule, Plane, Shape, Sphere
from .chains import is_identity
from .compiled import UNLIMITED
from .export import (
    Written,
    check_names,
    element,
    is_limited,
    limits_of,
    refuse_joint,
    roll_pitch_yaw,
    split_universals,
    uniform,
    values_of,
)  # fmt: skip
from .notes import Notes

IN_MJCF = "save as MJCF (.xml) instead"


def write_urdf(model: Model) -> Written:
    """Return the text of a URDF with the same dynamics; what cannot be expressed is a `ModelError` by name."""
    check_names(model)
    bodies, notes = split_universals(model.description().bodies), Notes()
    roots = [body for body in bodies if body.parent is None]
    bare = len(roots) == 1 and isinstance(roots[0].joint, Fixed) and is_identity(roots[0].placement)
    rows = [] if bare else [element("link", name=WORLD)]
    colors: dict[tuple[float, ...], str] = {}
    rows += [_link(body, colors, notes) for body in bodies]
    rows += [_joint(body) for body in bodies if not (bare and body.parent is None)]
    materials = [
        element("material", [element("color", rgba=(*color, 1.0))], name=name) for color, name in colors.items()
    ]
    inner = "\n  ".join(["", *materials, *rows])
    return Written(f'<?xml version="1.0"?>\n{element("robot", [inner, chr(10)], name=model.name or "model")}\n', notes)


def _link(body: Body, colors: dict[tuple[float, ...], str], notes: Notes) -> str:
    inner = []
    if body.mass > 0 or np.any(body.inertia):
        xx, xy, xz, yy, yz, zz = (body.inertia[i, j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
        content = [
            element("origin", xyz=body.com, rpy=np.zeros(3)),
            element("mass", value=body.mass),
            element("inertia", ixx=xx, ixy=xy, ixz=xz, iyy=yy, iyz=yz, izz=zz),
        ]
        inner.append(element("inertial", content))
    for shape in body.shapes:
        if isinstance(shape, Plane):
            notes.add("planes are not in a URDF", body.name)
            continue
        if shape.density != DENSITY:
            notes.add("densities of shapes are not in a URDF (masses are)", body.name)
        common = [_origin(shape.placement), element("geometry", [_solid(shape)])]
        material = []
        if shape.color is not None:
            name = colors.setdefault(tuple(shape.color), f"color{len(colors)}")
            material.append(element("material", name=name))
        inner += [element("visual", [*common, *material]), element("collision", common)]
    if body.markers:
        notes.add("markers are not in a URDF", *body.markers)
    return element("link", inner, name=body.name)


def _solid(shape: Shape) -> str:
    if isinstance(shape, Box):
        return element("box", size=shape.sizes)
    if isinstance(shape, Sphere):
        return element("sphere", radius=shape.radius)
    if isinstance(shape, Capsule):
        return element("capsule", radius=shape.radius, length=shape.length)
    raise ModelError(f"a {type(shape).__name__} cannot be written to a URDF")


def _origin(placement: Any) -> str:
    return element("origin", xyz=placement[1], rpy=roll_pitch_yaw(placement[0]))


def _joint(body: Body) -> str:
    joint, name = body.joint, body.joint_name
    if isinstance(joint, (Spherical, Helical)):
        raise refuse_joint(
            body, "a URDF", IN_MJCF if isinstance(joint, Spherical) else "replace it by a revolute joint"
        )
    for key in ("armature", "stiffness"):
        if values_of(body, key).any():
            raise ModelError(f"joint {name!r} has an {key}, which a URDF cannot hold: {IN_MJCF}".replace("an s", "a s"))
    limited = is_limited(body)
    if limited and isinstance(joint, (Free, Planar)):
        raise ModelError(f"the {joint.name} joint {name!r} has limits, which a URDF cannot hold: remove them")
    inner = [
        _origin(body.placement),
        element("parent", link=WORLD if body.parent is None else body.parent),
        element("child", link=body.name),
    ]
    kind = {Fixed: "fixed", Free: "floating", Planar: "planar", Prismatic: "prismatic"}.get(type(joint), "continuous")
    if isinstance(joint, (Revolute, Prismatic)):
        inner.append(element("axis", xyz=joint.axis))
        kind = "revolute" if limited and kind == "continuous" else kind
    elif isinstance(joint, Planar):
        inner.append(element("axis", xyz=(0.0, 0.0, 1.0)))
    effort = uniform(body, "effort", "a URDF")
    if kind in ("revolute", "prismatic"):
        (low,), (high,) = limits_of(body)
        inner.append(element("limit", lower=low, upper=high, effort=effort, velocity=UNLIMITED))
    elif joint.nv and np.isfinite(effort):
        inner.append(element("limit", effort=effort, velocity=UNLIMITED))
    damping, friction = uniform(body, "damping", "a URDF"), uniform(body, "friction", "a URDF")
    if damping or friction:
        inner.append(element("dynamics", damping=damping, friction=friction))
    return element("joint", inner, name=name, type_=kind)
