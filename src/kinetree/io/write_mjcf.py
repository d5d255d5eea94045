"""Write a model as MJCF.

MuJoCo does not move massless bodies, but lets one body have several joints. So a run of massless bodies, each with one
child, is written as one body with all their joints; `load` makes the same run of it again, named after the joints.
Bodies are nested, so that coordinates come back in the order of the nesting: branch after branch.

Free coordinates are absolute in MuJoCo, and relative to the body's placement here. A free body is written where it is
at neutral, which is where MuJoCo then starts; a `<custom>` text, which MuJoCo passes over, has `load` keep the place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ModelError
from ..model.description import Body
from ..model.joints import Fixed, Free, Helical, Planar, Prismatic, Revolute, Spherical
from ..model.model import Model
from ..model.shapes import DENSITY, Box, Capsule, Plane, Shape, Sphere
from .chains import is_identity
from .export import (
    COLUMNS,
    Written,
    check_names,
    element,
    is_limited,
    limits_of,
    quaternion,
    refuse_joint,
    split_universals,
    uniform,
)  # fmt: skip
from .notes import FREE_FROM_PLACE, Notes
from .xmltree import DEEPEST

FILE = "MJCF"
MOST_DOFS = 6  # of one body in MuJoCo
DEEPEST_BODY = DEEPEST - 3  # below <mujoco> and <worldbody>, above <geom>
HEAD = (
    '  <compiler angle="radian" autolimits="false" balanceinertia="false" boundmass="0" boundinertia="0" '
    'fusestatic="false"/>\n'
)


@dataclass
class _Joint:
    """A joint of a run: its body, and its frame as seen from the last body of the run."""

    body: Body
    turn: np.ndarray
    anchor: np.ndarray


def write_mjcf(model: Model) -> Written:
    """Return the text of an MJCF with the same dynamics; what cannot be expressed is a `ModelError` by name."""
    check_names(model)
    notes = Notes()
    bodies = split_universals(model.description().bodies)
    heavy, still = _heavy(bodies), _still(bodies)
    children: dict[str | None, list[Body]] = {}
    for body in bodies:
        children.setdefault(body.parent, []).append(body)
    rows = [f"<mujoco model={_quoted(model.name or 'model')}>\n", HEAD, "  <worldbody>\n"]
    todo: list[tuple[str, int, Body | None]] = [("", 0, body) for body in reversed(children.get(None, []))]
    while todo:
        closing, depth, first = todo.pop()
        if first is None:
            rows.append(closing)
            continue
        if depth >= DEEPEST_BODY:
            raise ModelError(
                f"body {first.name!r} is {depth + 1} bodies away from the world; MJCF is nested, and MuJoCo's reader "
                f"stops at {DEEPEST_BODY}: save as URDF, which is flat"
            )
        run = [first]
        while _absorbed(run, children.get(run[-1].name, [])):
            run.append(children[run[-1].name][0])
        pad = "  " * min(depth + 2, 40)
        rows.append(_body(run, pad, heavy, still, notes))
        todo.append((f"{pad}</body>\n", depth, None))
        todo.extend(("", depth + 1, child) for child in reversed(children.get(run[-1].name, [])))
    rows.append("  </worldbody>\n")
    if any(isinstance(body.joint, Free) and not is_identity(body.placement) for body in bodies):
        rows.append(f"  <custom>{element('text', name=FREE_FROM_PLACE, data='true')}</custom>\n")
    rows.append("</mujoco>\n")
    return Written("".join(rows), notes)


def _quoted(text: str) -> str:
    return element("x", x=text)[5:-2]


def _absorbed(run: Sequence[Body], below: Sequence[Body]) -> bool:
    """Tell whether a run of massless bodies can be written as joints of the only child of the last."""
    body = run[-1]
    empty = body.mass == 0 and not np.any(body.inertia) and not body.shapes and not body.markers
    if not empty or not isinstance(body.joint, (Revolute, Prismatic)) or len(below) != 1:
        return False
    fits = len(run) + below[0].joint.nv <= MOST_DOFS
    return fits and isinstance(below[0].joint, (Revolute, Prismatic, Spherical, Fixed))


def _heavy(bodies: Sequence[Body]) -> set[str | None]:
    """Return the names of the bodies that have a mass, or carry one that is welded to them."""
    heavy: set[str | None] = set()
    for body in reversed(bodies):
        if body.mass > 0:
            heavy.add(body.name)
        if body.name in heavy and isinstance(body.joint, Fixed):
            heavy.add(body.parent)
    return heavy


def _still(bodies: Sequence[Body]) -> set[str | None]:
    """Return the names of the bodies that are welded to the world, and None for the world."""
    still: set[str | None] = {None}
    for body in bodies:
        if isinstance(body.joint, Fixed) and body.parent in still:
            still.add(body.name)
    return still


def _body(run: Sequence[Body], pad: str, heavy: set[str | None], still: set[str | None], notes: Notes) -> str:
    turn, shift = np.eye(3), np.zeros(3)
    joints: list[_Joint] = []
    for body in run:  # poses in the parent of the run, at q = 0
        turn, shift = turn @ body.placement[0], turn @ body.placement[1] + shift
        if not isinstance(body.joint, Fixed):
            joints.append(_Joint(body, turn, shift))
    last = run[-1]
    for body in run[:-1]:
        if body.name != body.joint_name:
            notes.add("massless bodies that take the name of their joint", body.name)
    if joints and last.name not in heavy:
        notes.add("MuJoCo itself does not move massless bodies (loading the file here is fine)", last.name)
    attributes: dict[str, Any] = {
        "pos": shift if shift.any() else None,
        "quat": None if _is_eye(turn) else quaternion(turn),
    }
    rows = [f"{pad}{element('body', name=last.name, **attributes)[:-2]}>\n"]
    for joint in joints:
        own_turn = joint.turn if joint.body is last else turn.T @ joint.turn
        anchor = turn.T @ (joint.anchor - shift)
        rows.append(f"{pad}  {_joint(joint.body, np.eye(3) if joint.body is last else own_turn, anchor, notes)}\n")
    rows.append(f"{pad}  {_inertial(last)}\n")
    for shape in last.shapes:
        if isinstance(shape, Plane) and last.name not in still:
            notes.add("planes on moving bodies are not in MJCF", last.name)
        else:
            rows.append(f"{pad}  {_geom(shape)}\n")
    rows += [f"{pad}  {element('site', name=name, pos=offset)}\n" for name, offset in last.markers.items()]
    return "".join(rows)


def _is_eye(turn: np.ndarray) -> bool:
    return np.array_equal(turn, np.eye(3))


def _joint(body: Body, turn: np.ndarray, anchor: np.ndarray, notes: Notes) -> str:
    joint, name = body.joint, body.joint_name
    if isinstance(joint, (Planar, Helical)):
        remedy = "save as URDF instead" if isinstance(joint, Planar) else "replace it by a revolute joint"
        raise refuse_joint(body, FILE, remedy)
    if isinstance(joint, Free) and body.parent is not None:
        raise refuse_joint(body, FILE, "only a root can be free there; save as URDF instead")
    values = {key: uniform(body, key, FILE) for key in COLUMNS}
    effort = uniform(body, "effort", FILE)
    words = {"damping": values["damping"], "armature": values["armature"], "frictionloss": values["friction"]}
    attributes: dict[str, Any] = {key: value for key, value in words.items() if value}
    if np.isfinite(effort):
        if not isinstance(joint, (Revolute, Prismatic)):
            raise ModelError(f"the {joint.name} joint {name!r} has an effort limit, which MJCF cannot hold: remove it")
        attributes |= {"actuatorfrclimited": "true", "actuatorfrcrange": (-effort, effort)}
    if isinstance(joint, (Spherical, Free)):
        if values["stiffness"] or is_limited(body):
            raise ModelError(
                f"the {joint.name} joint {name!r} has limits or a stiffness, which MJCF measures otherwise: remove them"
            )
        kind = "ball" if isinstance(joint, Spherical) else "free"
        return element("joint", name=name, type_=kind, **attributes)
    if not isinstance(joint, (Revolute, Prismatic)):
        raise refuse_joint(body, FILE, "replace it")
    if values["stiffness"]:
        attributes |= {"stiffness": values["stiffness"], "springref": uniform(body, "rest", FILE)}
    elif uniform(body, "rest", FILE):
        notes.add("rest positions of springs without stiffness are not written", name)
    if is_limited(body):
        (low,), (high,) = limits_of(body)
        attributes |= {"limited": "true", "range": (low, high)}
    slide = isinstance(joint, Prismatic)
    place = None if slide or not anchor.any() else anchor
    kind = "slide" if slide else "hinge"
    return element("joint", name=name, type_=kind, axis=turn @ np.array(joint.axis), pos=place, **attributes)


def _inertial(body: Body) -> str:
    """Write the inertia as it is where MuJoCo takes it, and in principal form where it is singular or diagonal."""
    matrix = body.inertia
    off_diagonal = matrix[np.triu_indices(3, 1)]
    if not off_diagonal.any():
        return element("inertial", pos=body.com, mass=body.mass, diaginertia=np.diag(matrix))
    moments, axes = np.linalg.eigh(matrix)
    if moments[0] > 1e-9 * moments[2]:
        full = (*np.diag(matrix), *off_diagonal)
        return element("inertial", pos=body.com, mass=body.mass, fullinertia=full)
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    moments = np.maximum(moments, 0.0)
    return element("inertial", pos=body.com, mass=body.mass, quat=quaternion(axes), diaginertia=moments)


def _geom(shape: Shape) -> str:
    turn, place = shape.placement
    common: dict[str, Any] = {
        "pos": place if place.any() else None,
        "quat": None if _is_eye(turn) else quaternion(turn),
        "rgba": None if shape.color is None else (*shape.color, 1.0),
        "density": None if shape.density == DENSITY else shape.density,
    }
    if isinstance(shape, Box):
        return element("geom", type_="box", size=np.array(shape.sizes) / 2, **common)
    if isinstance(shape, Sphere):
        return element("geom", type_="sphere", size=shape.radius, **common)
    if isinstance(shape, Capsule):
        return element("geom", type_="capsule", size=(shape.radius, shape.length / 2), **common)
    if isinstance(shape, Plane):
        return element("geom", type_="plane", size=(0.0, 0.0, 1.0), **common)
    raise ModelError(f"a {type(shape).__name__} cannot be written to an MJCF")
