"""OpenSim models: bodies, joints, coordinates and markers; muscles and other forces are named, not represented.

A joint becomes a chain of joints with one freedom each, translations before rotations, as OpenSim's spatial transform
has them: X = T(a4 f4) T(a5 f5) T(a6 f6) R(a1, f1) R(a2, f2) R(a3, f3). Axes that stand still are folded into
placements. OpenSim's ground has y up, so it is turned: every coordinate keeps its meaning.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import FileFormatError
from ..model.coordinates import Coordinate, CoordinateMap, Function
from ..model.description import Body, Description
from ..model.joints import Fixed, Joint, Prismatic, Revolute
from .notes import Names, Notes
from .osim_functions import function_in, numbers, read_function
from .xmltree import Node

Pose = tuple[np.ndarray, np.ndarray]
Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
X, Y, Z = np.eye(3)
# axes of the simple joints: (rotates, axis) per coordinate, in the order of the coordinates
SIMPLE: dict[str, tuple[tuple[bool, np.ndarray], ...]] = {
    "PinJoint": ((True, Z),), "SliderJoint": ((False, X),), "WeldJoint": (), "UniversalJoint": ((True, X), (True, Y)),
    "BallJoint": ((True, X), (True, Y), (True, Z)), "GimbalJoint": ((True, X), (True, Y), (True, Z)),
    "PlanarJoint": ((True, Z), (False, X), (False, Y)),
    "FreeJoint": ((True, X), (True, Y), (True, Z), (False, X), (False, Y), (False, Z)),
}  # fmt: skip
FORCES = ("ForceSet", "ControllerSet", "ContactGeometrySet", "ProbeSet", "ComponentSet")


@dataclass
class _Axis:
    rotates: bool
    axis: np.ndarray
    coordinate: str | None
    function: Function


@dataclass
class _Joint:
    name: str
    parent: str
    child: str
    before: Pose
    after: Pose
    axes: list[_Axis]
    where: str


@dataclass
class _Reader:
    path: object
    notes: Notes = field(default_factory=Notes)
    names: Names = field(default_factory=Names)
    coordinates: dict[str, Coordinate] = field(default_factory=dict)
    followed: dict[str, tuple[str, Function]] = field(default_factory=dict)
    bodies: list[Body] = field(default_factory=list)
    locked: dict[str, float] = field(default_factory=dict)


def read_osim(path: object, root: Node) -> Description:
    """Read the <OpenSimDocument> of a model, of version 2 to 4."""
    model = next((node for node in root.children if node.tag == "Model"), None)
    if model is None:
        raise FileFormatError(path, root.where, "there is no <Model> in this OpenSim document: give the model's file")
    reader = _Reader(path)
    own = {node.attrib.get("name", ""): node for node in _objects(model, "BodySet", "Body")}
    if not own:
        raise FileFormatError(path, model.where, "the model has no bodies")
    joints = _read_joints(reader, model, own)
    _couple(reader, model)
    markers = _read_markers(reader, model, own)
    reader.names = Names(own)
    placed = {"ground"}
    waiting = list(joints)
    while waiting:
        ready = [joint for joint in waiting if joint.parent in placed]
        if not ready:
            raise FileFormatError(
                path, waiting[0].where, f"body {waiting[0].parent!r} hangs on nothing: no joint carries it"
            )
        for joint in ready:
            if joint.child in placed:
                raise FileFormatError(
                    path, joint.where, f"body {joint.child!r} hangs on two joints: loops are not read"
                )
            _add_chain(reader, joint, own[joint.child], markers.get(joint.child, {}))
            placed.add(joint.child)
            waiting.remove(joint)
    loose = sorted(set(own) - placed)
    if loose:
        raise FileFormatError(path, own[loose[0]].where, "no joint carries this body")
    _note_forces(reader, model)
    used = {source for source, _ in reader.followed.values()}
    used |= {c.follows for c in reader.coordinates.values() if c.follows is not None and c.name in used}
    kept = tuple(c for c in reader.coordinates.values() if c.name in used)
    coupled = CoordinateMap(kept, reader.followed) if kept else None
    return Description(tuple(reader.bodies), model.attrib.get("name", ""), reader.notes.lines(), coupled)


def _objects(model: Node, group: str, tag: str | None = None) -> list[Node]:
    found = model.find(group)
    inside = None if found is None else found.find("objects")
    nodes = [] if inside is None else inside.children
    return [node for node in nodes if tag is None or node.tag == tag]


def _text(node: Node, tag: str, default: str = "") -> str:
    child = node.find(tag)
    return default if child is None else child.text.strip()


def _pose(reader: _Reader, node: Node, place: str, turn: str) -> Pose:
    """Read a translation and body-fixed x-y-z angles."""
    p = numbers(reader.path, node, place, 3) if node.find(place) is not None else np.zeros(3)
    angles = numbers(reader.path, node, turn, 3) if node.find(turn) is not None else np.zeros(3)
    return _turn(X, angles[0]) @ _turn(Y, angles[1]) @ _turn(Z, angles[2]), p


def _turn(axis: np.ndarray, angle: float) -> np.ndarray:
    a = axis / np.linalg.norm(axis)
    k = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def _times(a: Pose, b: Pose) -> Pose:
    return a[0] @ b[0], a[1] + a[0] @ b[1]


def _inverse(a: Pose) -> Pose:
    return a[0].T, -a[0].T @ a[1]


def _read_joints(reader: _Reader, model: Node, bodies: dict[str, Node]) -> list[_Joint]:
    joints = [_new_joint(reader, node, bodies) for node in _objects(model, "JointSet")]
    for name, body in bodies.items():  # version 2 and 3: a body holds its joint
        inside = body.find("Joint")
        for node in [] if inside is None else inside.children:
            joints += [_old_joint(reader, node, name, bodies)]
    if not joints:
        raise FileFormatError(reader.path, model.where, "the model has no joints")
    return joints


def _new_joint(reader: _Reader, node: Node, bodies: dict[str, Node]) -> _Joint:
    frames: dict[str, tuple[str, Pose]] = {}
    inside = node.find("frames")
    for frame in [] if inside is None else inside.findall("PhysicalOffsetFrame"):
        owner = _text(frame, "socket_parent").rpartition("/")[2]
        frames[frame.attrib.get("name", "")] = (owner, _pose(reader, frame, "translation", "orientation"))
    ends = []
    for tag in ("socket_parent_frame", "socket_child_frame"):
        name = _text(node, tag).rpartition("/")[2]
        owner, pose = frames.get(name, (name, (np.eye(3), np.zeros(3))))
        if owner not in bodies and owner != "ground":
            raise FileFormatError(reader.path, node.where, f"{tag} is {name!r} on {owner!r}: neither is a body")
        ends.append((owner, pose))
    listed = node.find("coordinates")
    names = _read_coordinates(reader, [] if listed is None else listed.findall("Coordinate"))
    (parent, before), (child, after) = ends
    return _Joint(
        node.attrib.get("name", child), parent, child, before, after, _axes(reader, node, names), node.where
    )  # fmt: skip


def _old_joint(reader: _Reader, node: Node, child: str, bodies: dict[str, Node]) -> _Joint:
    parent = _text(node, "parent_body")
    if parent not in bodies:
        raise FileFormatError(reader.path, node.where, f"its parent_body is {parent!r}, which does not exist")
    if _text(node, "reverse").lower() == "true":
        raise FileFormatError(reader.path, node.where, "reversed joints are not read: save the model with OpenSim 4")
    inside = node.find("CoordinateSet")
    listed = None if inside is None else inside.find("objects")
    names = _read_coordinates(reader, [] if listed is None else listed.findall("Coordinate"))
    before = _pose(reader, node, "location_in_parent", "orientation_in_parent")
    after = _pose(reader, node, "location", "orientation")
    return _Joint(node.attrib.get("name", child), parent, child, before, after, _axes(reader, node, names), node.where)


def _read_coordinates(reader: _Reader, nodes: list[Node]) -> list[str]:
    names = []
    for node in nodes:
        name = node.attrib.get("name", "")
        default = float(numbers(reader.path, node, "default_value", 1)[0]) if node.find("default_value") else 0.0
        limits = (-np.inf, np.inf)
        if _text(node, "clamped").lower() == "true" and node.find("range") is not None:
            low, high = numbers(reader.path, node, "range", 2)
            limits = (float(low), float(high))
        if _text(node, "locked").lower() == "true":
            reader.locked[name] = default
            reader.notes.add("locked coordinates are welded at their default values", name)
        if _text(node, "prescribed").lower() == "true":
            reader.notes.add("prescribed functions of coordinates are not represented", name)
        reader.coordinates[name] = Coordinate(name, default, limits)
        names.append(name)
    return names


def _axes(reader: _Reader, node: Node, names: list[str]) -> list[_Axis]:
    """Return the axes of a joint in the order of the chain: translations, then rotations."""
    unit = Function.polynomial(0.0, 1.0)
    if node.tag == "CustomJoint":
        axes = _custom_axes(reader, node)
    elif node.tag in SIMPLE:
        kinds = SIMPLE[node.tag]
        if len(names) != len(kinds):
            raise FileFormatError(
                reader.path, node.where, f"it has {len(names)} coordinates, but a {node.tag} has {len(kinds)}"
            )
        axes = [_Axis(rotates, axis, name, unit) for (rotates, axis), name in zip(kinds, names, strict=True)]
    else:
        known = ", ".join([*SIMPLE, "CustomJoint"])
        raise FileFormatError(reader.path, node.where, f"a {node.tag} is not read; known are {known}")
    for axis in axes:
        if axis.coordinate in reader.coordinates and not axis.rotates:
            own = reader.coordinates[axis.coordinate]
            alone = not any(other.rotates and other.coordinate == axis.coordinate for other in axes)
            reader.coordinates[axis.coordinate] = _changed(own, rotational=not alone)
    return [axis for axis in axes if not axis.rotates] + [axis for axis in axes if axis.rotates]


def _changed(own: Coordinate, **values: Any) -> Coordinate:
    from dataclasses import replace

    return replace(own, **values)


def _custom_axes(reader: _Reader, node: Node) -> list[_Axis]:
    transform = node.find("SpatialTransform")
    if transform is None:
        raise FileFormatError(reader.path, node.where, "<SpatialTransform> is missing")
    axes = []
    for item in transform.findall("TransformAxis"):
        inner = function_in(reader.path, item)
        names = _text(item, "coordinates").split()
        function = Function.polynomial(0.0) if inner is None else read_function(reader.path, inner)
        if inner is None and names:
            function = Function.polynomial(0.0, 1.0)
        if len(names) > 1:
            raise FileFormatError(
                reader.path, item.where, f"it depends on {', '.join(names)}: functions of one coordinate are read"
            )
        axis = numbers(reader.path, item, "axis", 3)
        rotates = item.attrib.get("name", "").startswith("rotation")
        if not names and function.constant is None:
            raise FileFormatError(reader.path, item.where, "its function depends on no coordinate")
        axes.append(_Axis(rotates, axis, names[0] if names else None, function))
    return axes


def _couple(reader: _Reader, model: Node) -> None:
    for node in _objects(model, "ConstraintSet"):
        if node.tag != "CoordinateCouplerConstraint":
            reader.notes.add(f"constraints of the kind {node.tag} are not represented", node.attrib.get("name", ""))
            continue
        if _text(node, "isEnforced", "true").lower() == "false" or _text(node, "isDisabled", "false").lower() == "true":
            continue
        inner = function_in(reader.path, node)
        sources = _text(node, "independent_coordinate_names").split()
        dependent = _text(node, "dependent_coordinate_name")
        if (
            inner is None
            or len(sources) != 1
            or dependent not in reader.coordinates
            or sources[0] not in reader.coordinates
        ):
            reader.notes.add("couplers of more than one coordinate are not represented", node.attrib.get("name", ""))
            continue
        scale = float(numbers(reader.path, node, "scale_factor", 1)[0]) if node.find("scale_factor") else 1.0
        function = read_function(reader.path, inner).scaled(scale)
        own = reader.coordinates[dependent]
        reader.coordinates[dependent] = _changed(own, follows=sources[0], function=function)


def _read_markers(reader: _Reader, model: Node, bodies: dict[str, Node]) -> dict[str, dict[str, np.ndarray]]:
    markers: dict[str, dict[str, np.ndarray]] = {}
    for node in _objects(model, "MarkerSet", "Marker"):
        frame = _text(node, "socket_parent_frame") or _text(node, "body")
        owner = frame.rpartition("/")[2]
        if owner not in bodies:
            reader.notes.add("markers on frames that are not bodies are left out", node.attrib.get("name", ""))
            continue
        markers.setdefault(owner, {})[node.attrib.get("name", "")] = numbers(reader.path, node, "location", 3)
    return markers


def _add_chain(reader: _Reader, joint: _Joint, node: Node, markers: dict[str, np.ndarray]) -> None:
    """Add the massless links of a joint and, welded to the last, the body itself."""
    parent: str | None = None if joint.parent == "ground" else joint.parent
    place: Pose = (Y_UP @ joint.before[0], Y_UP @ joint.before[1]) if parent is None else joint.before
    moved = {}
    for axis in joint.axes:
        fixed = axis.function.constant
        if fixed is None and axis.coordinate in reader.locked:
            fixed = axis.function(reader.locked[str(axis.coordinate)])
        if fixed is not None or axis.coordinate is None:
            value = fixed or 0.0
            unit = axis.axis / np.linalg.norm(axis.axis)
            step = (_turn(unit, value), np.zeros(3)) if axis.rotates else (np.eye(3), value * unit)
            place = _times(place, step)
            continue
        kind: Joint = (Revolute if axis.rotates else Prismatic)(axis.axis.tolist())
        alone = sum(1 for other in joint.axes if other.coordinate == axis.coordinate) == 1
        name = reader.names.new(axis.coordinate if alone else f"{joint.name}/{axis.coordinate}")
        reader.bodies.append(Body(name, parent, kind, place, joint_name=name))
        moved[name] = (axis.coordinate, axis.function)
        parent, place = name, (np.eye(3), np.zeros(3))
    reader.followed.update(moved)
    mass = float(numbers(reader.path, node, "mass", 1)[0])
    com = numbers(reader.path, node, "mass_center", 3)
    inertia = _inertia(reader, node)
    reader.bodies.append(
        Body(
            joint.child, parent, Fixed(), _times(place, _inverse(joint.after)), mass, com, inertia,
            markers=markers, joint_name=f"{joint.name}/{joint.child}",
        )
    )  # fmt: skip


def _inertia(reader: _Reader, node: Node) -> np.ndarray:
    if node.find("inertia") is not None:
        xx, yy, zz, xy, xz, yz = numbers(reader.path, node, "inertia", 6)
    else:
        xx, yy, zz, xy, xz, yz = (
            float(numbers(reader.path, node, f"inertia_{k}", 1)[0]) for k in ("xx", "yy", "zz", "xy", "xz", "yz")
        )
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _note_forces(reader: _Reader, model: Node) -> None:
    for group in FORCES:
        for node in _objects(model, group):
            what = "muscles" if "Muscle" in node.tag else f"{group[:-3].lower()}s of the kind {node.tag}"
            reader.notes.add(f"{what} are not represented", node.attrib.get("name", ""))
