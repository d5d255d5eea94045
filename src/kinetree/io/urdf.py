"""Read URDF: the tree and what is not represented from the text, every number from MuJoCo's compiled model.

MuJoCo is not given the tree itself. Each link and each joint is written as a child of one common link, in portions: all
numbers of a URDF are local, so that they come out the same, the root link cannot be fused away, floating joints are
allowed anywhere, massless links need no mass, and time and memory are linear however deep the tree is.
"""

from __future__ import annotations

import re
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ..model.description import WORLD, Description
from ..model.joints import Free, Joint, Planar, Prismatic, Revolute
from ..model.shapes import DENSITY, Shape, rotation_of_z
from .chains import JointRow, LinkRow, bodies_of
from .compiled import body_pose, limit, mass_of, quiet_mujoco, shape_of
from .notes import Names, Notes
from .urdf_check import check_robot, list_left_out
from .xmltree import Node

PORTION = 200  # links and joints that go to MuJoCo at once: its reader compares each name with all others
KEEP_ALL = '<mujoco><compiler fusestatic="false" discardvisual="false" balanceinertia="false"/></mujoco>'
UNIT = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
MOVING = {"revolute": Revolute, "continuous": Revolute, "prismatic": Prismatic}
SOLIDS = ("box", "cylinder", "sphere", "capsule")


def read_urdf(path: object, robot: Node) -> Description:
    """Read a parsed `<robot>` element into a description."""
    notes = Notes()
    tree = check_robot(path, robot)
    list_left_out(robot, notes)
    links = robot.findall("link")  # bodies, and with them coordinates, stay in the file's order
    rows = {link.attrib["name"]: LinkRow(link.attrib["name"], None, (np.eye(3), np.zeros(3)), []) for link in links}
    joints = [tree.joint_above[name] for name in rows if name in tree.joint_above]
    for start in range(0, len(links), PORTION):
        _compile_portion(path, robot, links[start : start + PORTION], joints[start : start + PORTION], rows, notes)
    root = tree.root.attrib["name"]
    grounded = root == WORLD
    if grounded and rows[root].mass > 0:
        notes.add("masses that are left out because the link is the world itself", root)
    for joint in joints:
        parent, child = joint.find("parent"), joint.find("child")
        if parent is not None and child is not None and not (grounded and parent.attrib["link"] == root):
            rows[child.attrib["link"]].parent = parent.attrib["link"]
    body_names, joint_names = Names(rows), Names(joint.attrib["name"] for joint in joints)
    bodies = []
    for name, row in rows.items():
        if grounded and name == root:
            if not row.shapes:
                continue
            row.name = body_names.new("world_shapes")
            row.mass = 0.0
        fixed = tree.joint_above.get(name)
        weld_names = Names() if fixed is not None and not row.joints else joint_names
        bodies.extend(bodies_of(row, body_names, weld_names))
    return Description(tuple(bodies), robot.attrib.get("name", ""), notes.lines())


def _compile_portion(
    path: object, robot: Node, links: list[Node], joints: list[Node], rows: dict[str, LinkRow], notes: Notes
) -> None:
    materials = [_plain(node) for node in robot.findall("material") if "name" in node.attrib]
    text = ['<robot name="r">', KEEP_ALL, *materials, '<link name="root"/>']
    drawn: list[list[Node]] = []
    for k, link in enumerate(links):
        inertial = link.find("inertial")
        content = "" if inertial is None else _inertial(inertial)
        text.append(f'<link name="link{k}">{content}</link>{_attach("fixed", f"weld{k}", f"link{k}", "")}')
        drawn.append([node for node in link.children if node.tag in ("visual", "collision") and _solid(node)])
        for i, node in enumerate(drawn[-1]):  # each shape in a link of its own: no order to rely on, no color to share
            shape = f"shape{k}_{i}"
            text.append(f'<link name="{shape}">{_shape(node)}</link>{_attach("fixed", f"weld_{shape}", shape, "")}')
    for k, joint in enumerate(joints):
        kind = joint.attrib["type"]
        taken = ("origin",) if kind in ("fixed", "floating") else ("origin", "axis", "limit", "dynamics")
        inner = "".join(_plain(node) for node in joint.children if node.tag in taken)
        kind = kind if kind in MOVING else "continuous"  # place and damping are all that is asked of the others
        text.append(f'<link name="joint{k}">{UNIT}</link>{_attach(kind, f"joint{k}", f"joint{k}", inner)}')
    text.append("</robot>")

    def real_name(name: str) -> str:
        match = re.fullmatch(r"(link|joint|weld|shape|weld_shape)(\d+)(?:_\d+)?", name)
        if not match:
            return name
        return (joints if match[1] == "joint" else links)[int(match[2])].attrib["name"]

    with quiet_mujoco(path, notes, real_name) as mujoco:
        spec = mujoco.MjSpec.from_string("".join(text))
        compiled = spec.compile()
        for k, link in enumerate(links):
            body = compiled.body(f"link{k}").id
            row = rows[link.attrib["name"]]
            if link.find("inertial") is not None:
                row.mass, row.com, row.inertia = mass_of(compiled, body)
            found: list[tuple[str, Shape]] = []
            for i, node in enumerate(drawn[k]):
                geom = int(compiled.body_geomadr[compiled.body(f"shape{k}_{i}").id])
                solid = shape_of(mujoco, compiled, geom, row.name, DENSITY, notes)
                if solid is not None:
                    found.append((node.tag, solid))
            row.shapes = _choose_shapes(found, row.name, notes)
        for k, joint in enumerate(joints):
            child = joint.find("child")
            if child is not None:
                row = rows[child.attrib["link"]]
                row.placement = body_pose(compiled, compiled.body(f"joint{k}").id)
                row.weld_name = joint.attrib["name"]
                row.joints = _joint_rows(joint, compiled, compiled.jnt(f"joint{k}").id)


def _joint_rows(joint: Node, compiled: Any, index: int) -> list[JointRow]:
    kind, name = joint.attrib["type"], joint.attrib["name"]
    if kind == "fixed":
        return []
    dof = int(compiled.jnt_dofadr[index])
    values: dict[str, Any] = {
        "damping": float(compiled.dof_damping[dof]), "friction": float(compiled.dof_frictionloss[dof]),
    }  # fmt: skip
    axis = compiled.jnt_axis[index]
    own_limit = joint.find("limit")
    if own_limit is not None and "effort" in own_limit.attrib:
        effort = float(own_limit.attrib["effort"])
        values["effort"] = limit(effort)
    if kind == "planar":
        turn = np.eye(3) if np.array_equal(axis, (0, 0, 1)) else rotation_of_z(axis)
        return [JointRow(name, Planar(), turn=turn, values=values)]
    if kind == "floating":
        return [JointRow(name, Free(), values=values)]
    moving: Joint = MOVING[kind](axis.tolist())
    row = JointRow(name, moving, values=values)
    if compiled.jnt_limited[index]:
        low, high = (limit(value) for value in compiled.jnt_range[index])
        row.values["limits"] = (low, high)
    elif kind != "continuous" and own_limit is not None:
        # MuJoCo reads equal limits as none; in a URDF they hold the joint where it is
        low, high = (float(own_limit.attrib.get(key, "0")) for key in ("lower", "upper"))
        row.values["limits"] = (limit(low), limit(high))
    return [row]


def _choose_shapes(found: list[tuple[str, Shape]], name: str, notes: Notes) -> list[Shape]:
    """Return the collision shapes, coloured as the visual ones of the same size and place, or else the visual ones."""
    shapes = {kind: [shape for tag, shape in found if tag == kind] for kind in ("collision", "visual")}
    if not shapes["collision"]:
        return shapes["visual"]
    kept = []
    unseen = list(shapes["visual"])
    for shape in shapes["collision"]:
        twin = next((other for other in unseen if _same_solid(shape, other)), None)
        if twin is not None:
            unseen.remove(twin)
        kept.append(shape if twin is None else twin)
    if unseen:
        notes.add("visual shapes that are left out because the link has collision shapes", name)
    return kept


def _same_solid(a: Shape, b: Shape) -> bool:
    close = all(np.allclose(x, y, atol=1e-9) for x, y in zip(a.placement, b.placement, strict=True))
    return type(a) is type(b) and np.allclose(a.sizes, b.sizes) and close


def _solid(node: Node) -> Node | None:
    geometry = node.find("geometry")
    return None if geometry is None else next((child for child in geometry.children if child.tag in SOLIDS), None)


def _shape(node: Node) -> str:
    solid, origin, material = _solid(node), node.find("origin"), node.find("material")
    inner = "" if origin is None else _plain(origin)
    if solid is not None:
        inner += f"<geometry>{_plain(solid)}</geometry>"
    if material is not None and node.tag == "visual":
        inner += _plain(material)
    return f"<visual>{inner}</visual>"


def _inertial(node: Node) -> str:
    return f"<inertial>{''.join(map(_plain, node.children))}</inertial>"


def _attach(kind: str, name: str, link: str, inner: str) -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="root"/><child link="{link}"/>{inner}</joint>'


def _plain(node: Node) -> str:
    """Write an element again, with its color if it is a material; textures stay behind."""
    inner = "".join(_plain(child) for child in node.children if child.tag == "color")
    attributes = "".join(f" {key}={quoteattr(value)}" for key, value in node.attrib.items())
    return f"<{node.tag}{attributes}>{inner}</{node.tag}>"
