"""The rows of joints, markers, residuals, motors and ranges, as they are added to a world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import as_number, as_vector
from ..errors import ArgumentError
from ..kernels import soft_layout as at
from ..model.joints import unit_axis
from ..model.shapes import rotation_of_z
from ..typing import Array
from .bodies import Body, rotation_of
from .constraints import Constraint
from .softness import as_rows, check_limits, softness
from .targets import Target

if TYPE_CHECKING:
    from .world import World

JOINTS = {
    "ball": (at.BALL, 3),
    "hinge": (at.HINGE, 5),
    "universal": (at.UNIVERSAL, 4),
    "fixed": (at.FIXED, 6),
    "slider": (at.SLIDER, 5),
    "distance": (at.DISTANCE, 1),
    "planar": (at.PLANAR, 3),
    "screw": (at.SCREW, 5),
}
POSE = (at.POSE, 6)
ANGLES_OF = {
    "hinge": (at.ABOUT_HINGE, 1),
    "universal": (at.ABOUT_UNIVERSAL, 2),
    "ball": (at.ABOUT_EULER, 3),
    "slider": (at.ALONG_SLIDER, 1),
}


def add_rows(
    world: World,
    name: str,
    title: str,
    kind: int,
    option: int,
    child: Body,
    parent: Body | None,
    frame: Array,
    count: int,
    soft: tuple[Any, Any, Any, Any],
    limits: tuple[Any, Any],
    target: Target | Sequence[Target | None] | None,
) -> Constraint:
    """Append a constraint and its rows to the tables of a world."""
    if name in world._constraints:
        raise ArgumentError(f"there is a constraint {name!r} already: give another name")
    if parent is child:
        raise ArgumentError(f"constraint {name!r} joins body {child.name!r} to itself")
    what = f"constraint {name!r}"
    erp, cfm, there = softness(world.dt, count, what, *soft, defaults=world.defaults)
    lo, hi = (as_rows(x, count, f"a limit of {what}") for x in limits)
    check_limits(lo, hi, what)
    targets = list(target) if isinstance(target, (list, tuple)) else [target] * count
    if len(targets) != count:
        raise ArgumentError(f"{what} has {len(targets)} targets for {count} rows: give one, or one for each")
    tables = world.tables
    index, first = tables.count("joints"), tables.count("rows")
    rows = np.zeros((count, at.ROWS))
    rows[:, at.ERP], rows[:, at.CFM], rows[:, at.LO], rows[:, at.HI] = erp, cfm, lo, hi
    rows[:, at.LOWER], rows[:, at.UPPER] = -np.inf, np.inf
    links = np.zeros((count, at.LINKS), dtype=np.int64)
    links[:, at.NORMAL] = links[:, at.TARGET] = links[:, at.HELPS] = -1
    links[:, at.WANTED] = there
    links[:, at.OWNER] = index
    for k, one in enumerate(targets):
        if one is None:
            continue
        if not isinstance(one, Target):
            raise ArgumentError(f"target {k} of {what} is {one!r}: give a kinetree.soft.Target")
        table = one.pieces()
        links[k, at.SHAPE], links[k, at.PIECES_OF] = one.shape, len(table)
        links[k, at.TARGET] = tables.add("pieces", table)
        rows[k, at.DAMP] = one.damping
        rows[k, at.HELP_LIMIT] = one.help_limit
        if one.shape == at.POLYLINE:
            links[k, at.WANTED] = 1
        if one.secondary is not None:
            helped, row = one.secondary if isinstance(one.secondary, tuple) else (one.secondary, 0)
            links[k, at.HELPS] = world.constraint(helped).rows.start + int(row)
    joint = np.zeros(at.JOINT, dtype=np.int64)
    joint[at.KIND], joint[at.A], joint[at.B] = kind, child.index, -1 if parent is None else parent.index
    joint[at.FIRST], joint[at.COUNT], joint[at.ENABLED], joint[at.OPTION] = first, count, 1, option
    tables.add("joints", joint)
    tables.add("frames", frame)
    tables.add("rows", rows)
    tables.add("links", links)
    constraint = Constraint(world, index, name, title, child, parent, first, count)
    world._constraints[name] = constraint
    return constraint


def add_joint_rows(
    world: World,
    name: str,
    kind: str,
    child: Body,
    parent: Body | None,
    *,
    anchor: Any,
    points: Any,
    axis: Any,
    axis2: Any,
    turns: Any,
    length: Any,
    pitch: Any,
    soft: tuple[Any, Any, Any, Any],
    limits: tuple[Any, Any],
    target: Any,
    title: str | None = None,
) -> Constraint:
    """Add a joint: its frame in child and parent, and its rows."""
    number, count = POSE if kind == "pose" else JOINTS[kind]
    what = f"joint {name!r}"
    frame = np.zeros(at.FRAMES)
    if points is not None:
        if anchor is not None:
            raise ArgumentError(f"{what} has an anchor and points: give one of them")
        own, other = (as_vector(p, f"a point of {what}") for p in points)
    else:
        place = child.position if anchor is None else as_vector(anchor, f"the anchor of {what}")
        own, other = child.point_in_body(place), place if parent is None else parent.point_in_body(place)
    frame[at.ANCHOR_A : at.ANCHOR_A + 3] = own - child.com
    frame[at.ANCHOR_B : at.ANCHOR_B + 3] = other if parent is None else other - parent.com
    held = np.eye(3) if parent is None else parent.rotation
    cosine = 0.0
    if turns is not None:
        turn_a, turn_b = (_rotation(t, f"a turn of {what}") for t in turns)
        if kind == "universal":
            cosine = float((child.rotation @ turn_a)[:, 1] @ (held @ turn_b)[:, 0])
    elif kind == "universal":
        first = np.array(unit_axis(axis, f"the axis of {what}"))
        if axis2 is None:
            raise ArgumentError(f"{what} is universal: give axis2=, too")
        second = np.array(unit_axis(axis2, f"the second axis of {what}"))
        normal = np.cross(first, second)
        if np.linalg.norm(normal) < 1e-6:
            raise ArgumentError(f"the two axes of {what} are parallel: {first.tolist()} and {second.tolist()}")
        normal /= np.linalg.norm(normal)
        turn_b = held.T @ np.column_stack((first, np.cross(normal, first), normal))
        turn_a = child.rotation.T @ np.column_stack((np.cross(second, normal), second, normal))
        cosine = float(first @ second)
    else:
        turn = rotation_of_z(np.array(unit_axis(axis, f"the axis of {what}")))
        turn_a, turn_b = child.rotation.T @ turn, held.T @ turn
    frame[at.TURN_A : at.TURN_A + 9] = turn_a.ravel()
    frame[at.TURN_B : at.TURN_B + 9] = turn_b.ravel()
    if kind == "universal":
        frame[at.LENGTH] = cosine
    elif kind == "distance":
        place = other if parent is None else parent.point_in_world(other)
        now = float(np.linalg.norm(child.point_in_world(own) - place))
        frame[at.LENGTH] = now if length is None else as_number(length, f"the length of {what}")
        if not 0 <= frame[at.LENGTH] < np.inf:
            raise ArgumentError(f"the length of {what} is {length!r}: it must not be negative")
    elif kind == "screw":
        frame[at.LENGTH] = as_number(pitch, f"the pitch of {what}")
    return add_rows(
        world, name, title or kind, number, 0, child, parent, frame, count, soft, limits,
        target,
    )  # fmt: skip


def add_angles(
    world: World,
    name: str,
    joint: Constraint,
    title: str,
    angles: str,
    goal: Any,
    goal_rate: Any,
    soft: tuple[Any, Any, Any, Any],
    limits: tuple[Any, Any],
    target: Any,
) -> Constraint:
    """Add a motor or a range to the angles of a joint."""
    if joint.kind not in ANGLES_OF:
        raise ArgumentError(f"{title} {name!r} is for a {joint.kind}: only a {', '.join(ANGLES_OF)} has angles")
    if angles not in ("vector", "euler"):
        raise ArgumentError(f"the angles of {name!r} are {angles!r}: use 'vector' or 'euler'")
    option, count = ANGLES_OF[joint.kind]
    kind = at.ANGLES
    if joint.kind == "ball" and angles == "vector":
        kind, title = at.VECTOR, f"vector {title}"
    frame = world.tables["frames"][joint.index].copy()
    frame[at.RATE_B : at.RATE_B + 3] = 0
    motor = add_rows(world, name, title, kind, option, joint.child, joint.parent, frame, count, soft, limits, target)
    if goal is None:
        # the pose at which the joint was made: its frames coincide there
        goal = [1.0, 0.0, 0.0, 0.0] if kind == at.VECTOR else np.zeros(count)
    motor.goal = goal
    motor.goal_rate = goal_rate
    return motor


def _rotation(value: Any, what: str) -> Array:
    array = np.asarray(value, dtype=float)
    if array.shape == (4,):
        array = rotation_of(array / np.linalg.norm(array))
    if array.shape != (3, 3) or not np.abs(array @ array.T - np.eye(3)).max() < 1e-6:
        raise ArgumentError(f"{what} is {value!r}: give a rotation matrix or a unit quaternion")
    return array
