"""What a URDF must fulfil to be a tree of links with finite numbers, and what of it is not represented."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import FileFormatError
from .compiled import UNLIMITED
from .notes import Notes
from .xmltree import Node

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
VECTORS = {"xyz": 3, "rpy": 3, "rgba": 4}
SCALARS = (
    "value", "ixx", "ixy", "ixz", "iyy", "iyz", "izz", "radius", "length", "lower", "upper", "effort", "velocity",
    "damping", "friction",
)  # fmt: skip


@dataclass(frozen=True)
class UrdfTree:
    """The root link, and the joint above each link but the root."""

    root: Node
    joint_above: dict[str, Node]


def check_robot(path: object, robot: Node) -> UrdfTree:
    """Check names, numbers and the tree of a `<robot>`; what is wrong is a `FileFormatError` with the line."""
    links, joints = robot.findall("link"), robot.findall("joint")
    if not links:
        raise FileFormatError(path, robot.where, "the robot has no <link>")
    for kind, nodes in (("links", links), ("joints", joints)):
        seen: dict[str, Node] = {}
        for node in nodes:
            name = node.attrib.get("name", "")
            if not name:
                raise FileFormatError(path, node.where, f"a <{node.tag}> needs a name")
            if name in seen:
                raise FileFormatError(
                    path, node.where, f"two {kind} have this name; the other is at line {seen[name].line}"
                )
            seen[name] = node
    for node in (*links, *joints):
        for part in node.iter():
            _check_numbers(path, part)
    for link in links:
        for tag in ("inertial",):
            if len(link.findall(tag)) > 1:
                raise FileFormatError(path, link.where, f"the link has several <{tag}> elements: keep one")
        _check_inertial(path, link)
    return _tree(path, links, joints)


def _tree(path: object, links: list[Node], joints: list[Node]) -> UrdfTree:
    by_name = {link.attrib["name"]: link for link in links}
    above: dict[str, Node] = {}
    below: dict[str, list[str]] = {}
    for joint in joints:
        kind = joint.attrib.get("type", "")
        if kind not in JOINT_TYPES:
            raise FileFormatError(
                path, joint.where, f"type={kind!r} is no URDF joint; there are {', '.join(JOINT_TYPES)}"
            )
        axis = joint.find("axis")
        turns = kind not in ("fixed", "floating")
        if turns and axis is not None and not axis.numbers(path, "xyz", "1 0 0", 3).any():
            raise FileFormatError(
                path, axis.where, f"the axis of joint {joint.attrib['name']!r} is zero: give a direction"
            )
        parent, child = _end(path, joint, "parent", by_name), _end(path, joint, "child", by_name)
        if child in above:
            raise FileFormatError(
                path, joint.where,
                f"link {child!r} has two parents, by this joint and by {above[child].attrib['name']!r} at line "
                f"{above[child].line}: a URDF is a tree",
            )  # fmt: skip
        above[child] = joint
        below.setdefault(parent, []).append(child)
    roots = [name for name in by_name if name not in above]
    if len(roots) > 1:
        names = ", ".join(map(repr, roots[:8]))
        raise FileFormatError(
            path, by_name[roots[1]].where, f"{len(roots)} links have no parent joint ({names}): a URDF has one root"
        )
    order: list[Node] = []
    stack = list(roots)
    while stack:
        name = stack.pop()
        order.append(by_name[name])
        stack.extend(reversed(below.get(name, [])))
    if len(order) < len(links):
        reached = {node.attrib["name"] for node in order}
        stuck = next(link for link in links if link.attrib["name"] not in reached)
        cycle = _cycle(stuck.attrib["name"], above)
        raise FileFormatError(
            path,
            stuck.where,
            f"the links {' -> '.join(map(repr, cycle[:8]))} form a cycle: one of them must be the root",
        )
    return UrdfTree(order[0], above)


def _cycle(name: str, above: dict[str, Node]) -> list[str]:
    seen: dict[str, int] = {}
    while name not in seen:
        seen[name] = len(seen)
        parent = above[name].find("parent")
        name = "" if parent is None else parent.attrib["link"]
    names = list(seen)[seen[name] :]
    return [*reversed(names), names[-1]]


def _end(path: object, joint: Node, tag: str, links: dict[str, Node]) -> str:
    ends = joint.findall(tag)
    if len(ends) != 1 or not ends[0].attrib.get("link"):
        raise FileFormatError(path, joint.where, f'the joint needs one <{tag} link="..."/>')
    name = ends[0].attrib["link"]
    if name not in links:
        raise FileFormatError(path, ends[0].where, f"there is no link {name!r} for joint {joint.attrib['name']!r}")
    return name


def _check_numbers(path: object, node: Node) -> None:
    for key, count in VECTORS.items():
        if key in node.attrib:
            node.numbers(path, key, "", count)
    if node.tag in ("box", "mesh"):
        for key in ("size", "scale"):
            if key in node.attrib:
                node.numbers(path, key, "", 3)
    if node.tag in ("mass", "inertia", "sphere", "cylinder", "capsule", "limit", "dynamics"):
        for key in SCALARS:
            if key in node.attrib:
                node.numbers(path, key, "", 1)
    sizes = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length")}
    for solid in node.children if node.tag == "geometry" else []:
        for key in sizes.get(solid.tag, ()):
            if (solid.numbers(path, key, "", 3 if key == "size" else 1) <= 0).any():
                raise FileFormatError(path, solid.where, f"{key}={solid.attrib.get(key)!r} must be positive")


def _check_inertial(path: object, link: Node) -> None:
    inertial = link.find("inertial")
    if inertial is None:
        return
    mass, inertia = inertial.find("mass"), inertial.find("inertia")
    if mass is None or inertia is None:
        missing = "mass" if mass is None else "inertia"
        raise FileFormatError(
            path, inertial.where, f"the <inertial> of link {link.attrib['name']!r} has no <{missing}>"
        )
    if mass.numbers(path, "value", "", 1)[0] < 0:
        raise FileFormatError(path, mass.where, f"link {link.attrib['name']!r}: a mass cannot be negative")
    for key in ("ixx", "iyy", "izz"):
        inertia.numbers(path, key, "", 1)


def list_left_out(robot: Node, notes: Notes) -> None:
    """Note by name everything in a `<robot>` that a model does not hold."""
    for node in robot.children:
        name = node.attrib.get("name") or node.attrib.get("reference") or f"line {node.line}"
        if node.tag not in ("link", "joint", "material"):
            notes.add(f"<{node.tag}> elements are not represented", name)
        for part in node.iter():
            if part.tag == "texture" and part.attrib.get("filename"):
                notes.add("textures are not represented", part.attrib["filename"])
    for link in robot.findall("link"):
        for what in _left_out_of_link(link):
            notes.add(what, link.attrib["name"])
    for joint in robot.findall("joint"):
        for what in _left_out_of_joint(joint):
            notes.add(what, joint.attrib["name"])


def _left_out_of_link(link: Node) -> Iterator[str]:
    for node in link.children:
        if node.tag in ("visual", "collision"):
            geometry = node.find("geometry")
            for solid in geometry.children if geometry is not None else []:
                if solid.tag not in ("box", "cylinder", "sphere", "capsule"):
                    yield f"<{solid.tag}> shapes are left out (masses come from <inertial>)"
        elif node.tag != "inertial":
            yield f"<{node.tag}> of links is not represented"


def _left_out_of_joint(joint: Node) -> Iterator[str]:
    for node in joint.children:
        if node.tag == "mimic":
            yield f"mimic: the joint moves freely instead of following {node.attrib.get('joint', '?')!r}"
        elif node.tag == "limit":
            if float(node.attrib.get("velocity", UNLIMITED)) < UNLIMITED:
                yield "velocity limits are not represented"
            bounded = any(abs(float(node.attrib.get(key, "0"))) not in (0.0,) for key in ("lower", "upper"))
            if joint.attrib["type"] in ("floating", "planar") and bounded:
                yield "limits of floating and planar joints are not represented"
        elif node.tag == "dynamics":
            extra = [key for key in node.attrib if key not in ("damping", "friction")]
            if extra:
                yield f"dynamics attributes {', '.join(extra)} are not represented"
        elif node.tag not in ("origin", "parent", "child", "axis"):
            yield f"<{node.tag}> of joints is not represented"
