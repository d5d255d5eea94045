"""Read MJCF through MuJoCo's compiler.

MuJoCo refuses to move massless bodies, which are fine here where something hangs on them. So a body without any content
gets a mass for the compiler's sake, which is taken away again. Where that is not enough, the file is compiled twice:
without its joints, for masses, shapes and marked points, and without its shapes, for places and joints.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileFormatError
from ..model.description import Description
from ..model.joints import Free, Joint, Prismatic, Revolute, Spherical
from ..model.shapes import Shape
from .chains import JointRow, LinkRow, bodies_of, is_identity
from .compiled import body_pose, limit, mass_of, quiet_mujoco, shape_of
from .mjcf_check import check_mjcf, list_text_left_out
from .notes import FREE_FROM_PLACE, Names, Notes
from .xmltree import Node

WORLD_SHAPES = "world_shapes"
LEFT_OUT = {
    "keys": "keyframes", "sensors": "sensors", "actuators": "actuators", "tendons": "tendons",
    "equalities": "equality constraints", "pairs": "contact pairs", "excludes": "contact exclusions",
    "flexes": "flexible bodies", "skins": "skins", "cameras": "cameras", "lights": "lights", "plugins": "plugins",
    "texts": "custom texts", "numerics": "custom numbers", "tuples": "custom tuples", "textures": "textures",
}  # fmt: skip


def read_mjcf(path: str, data: bytes, root: Node) -> Description:
    """Read a parsed `<mujoco>` element (and its text, for the compiler) into a description."""
    notes = Notes()
    included, trees = check_mjcf(path, root)
    list_text_left_out(trees, notes)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(path, f"byte {error.start}", "MuJoCo reads UTF-8 only: save the file in UTF-8") from None
    with quiet_mujoco(path, notes) as mujoco:
        spec = mujoco.MjSpec.from_string(text, include=included)
        spec.modelfiledir = str(Path(path).resolve().parent)
        if spec.flexes:
            raise FileFormatError(path, f"flex {spec.flexes[0].name!r}", "flexible bodies are not rigid: remove them")
        spec.compiler.fusestatic = spec.compiler.discardvisual = spec.compiler.alignfree = False
        relative = _take_mark(spec)
        _leave_out(mujoco, spec, notes)
        _replace_missing_meshes(mujoco, spec, notes)
        _name_everything(spec)
        densities = {geom.name: float(geom.density) for geom in spec.geoms}
        for joint in spec.joints:
            joint.align = mujoco.mjtAlignFree.mjALIGNFREE_FALSE
        empty = _fill_empty_bodies(spec)
        try:
            masses = moving = spec.compile()
        except ValueError as error:
            if "mjMINVAL" not in str(error):
                raise
            masses, moving = _compile_apart(mujoco, spec, empty)
        rows = [_link_row(mujoco, densities, masses, moving, body, notes) for body in range(1, masses.nbody)]
        if not relative:
            _start_at_origin(rows, notes)
        world_shapes, world_markers = _content(mujoco, densities, masses, 0, notes)
    for row in rows:
        if row.name in empty:
            row.mass, row.com, row.inertia = 0.0, np.zeros(3), np.zeros((3, 3))
    body_names = Names(row.name for row in rows)
    joint_names = Names(joint.name for row in rows for joint in row.joints)
    if world_shapes or world_markers:
        ground = LinkRow(body_names.new(WORLD_SHAPES), None, (np.eye(3), np.zeros(3)), [])
        ground.shapes, ground.markers = world_shapes, world_markers
        rows.insert(0, ground)
    bodies = [body for row in rows for body in bodies_of(row, body_names, joint_names)]
    if not bodies:
        raise FileFormatError(path, root.where, "the model has no <body>")
    return Description(tuple(bodies), root.attrib.get("model", ""), notes.lines())


def _leave_out(mujoco: Any, spec: Any, notes: Notes) -> None:
    """Delete what a model does not hold, and note it by name."""
    for attribute, what in LEFT_OUT.items():
        elements = list(getattr(spec, attribute, ()))
        for number, element in enumerate(elements):
            notes.add(f"{what} are not represented", element.name or _unnamed(element, number))
            spec.delete(element)
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for geom in list(spec.geoms):
        if geom.type in (mujoco.mjtGeom.mjGEOM_HFIELD, mujoco.mjtGeom.mjGEOM_SDF):
            name = geom.name or f"geom of {geom.parent.name!r}"
            notes.add("shapes that are left out because they are height or distance fields", name)
            spec.delete(geom)
    for field in list(spec.hfields):
        spec.delete(field)
    for body in spec.bodies:
        if body.mocap:
            notes.add("mocap bodies stand still", body.name)
        if body.gravcomp:
            notes.add("gravity compensation is not represented", body.name)


def _unnamed(element: Any, number: int) -> str:
    ends = [str(getattr(element, key, "")) for key in ("name1", "name2", "target", "objname", "bodyname1", "bodyname2")]
    ends = [end for end in ends if end]
    return f"unnamed {number}" + (f" ({' and '.join(ends)})" if ends else "")


def _replace_missing_meshes(mujoco: Any, spec: Any, notes: Notes) -> None:
    """Take out the geoms whose mesh file is not there; one with a mass of its own stays as a ball of that mass."""
    folder = Path(spec.modelfiledir)
    missing = {}
    for mesh in list(spec.meshes):
        if mesh.file and not _asset(folder, spec, str(mesh.file)).is_file():
            missing[mesh.name or Path(str(mesh.file)).stem] = str(mesh.file)
            spec.delete(mesh)
    for geom in list(spec.geoms):
        if geom.meshname not in missing:
            continue
        body, file = geom.parent, missing[geom.meshname]
        label = f"{geom.name or geom.meshname!r} of body {body.name!r} (mesh file {file!r})"
        if body.explicitinertial:
            notes.add("shapes that are left out because their mesh file is missing", label)
            spec.delete(geom)
        elif geom.mass > 0:
            notes.add(
                "missing mesh files, where a ball of 5 cm radius and the given mass stands in for the mesh", label
            )
            geom.type, geom.size, geom.meshname = mujoco.mjtGeom.mjGEOM_SPHERE, [0.05, 0, 0], ""
        else:
            notes.add("missing mesh files whose mass and inertia are missing from the body too: give <inertial>", label)
            spec.delete(geom)


def _asset(folder: Path, spec: Any, file: str) -> Path:
    name = Path(file).name if spec.strippath else file
    return folder / str(spec.compiler.meshdir or spec.meshdir or "") / name


def _name_everything(spec: Any) -> None:
    """Give names to bodies, joints, geoms and sites that have none: they are looked up by name later."""
    names = Names(body.name for body in spec.bodies)
    for number, body in enumerate(spec.bodies):
        body.name = body.name or names.new(f"body{number}")
    names = Names(joint.name for joint in spec.joints)
    for body in spec.bodies:
        unnamed = [joint for joint in body.joints if not joint.name]
        for number, joint in enumerate(unnamed):
            wish = body.name if len(body.joints) == 1 else f"{body.name}_joint{number}"
            joint.name = names.new(wish, f"{body.name}_joint")
    for word, items in (("geom", spec.geoms), ("site", spec.sites)):
        names = Names(item.name for item in items)
        for item in items:
            item.name = item.name or names.new(f"{item.parent.name}_{word}")


def _fill_empty_bodies(spec: Any) -> set[str]:
    """Give a mass to the moving bodies that have neither <inertial> nor shapes; returns their names."""
    if spec.compiler.settotalmass > 0:
        return set()  # that mass would count
    bare = [body for body in spec.bodies if body.joints and not body.explicitinertial and not body.geoms]
    for body in bare:
        body.explicitinertial, body.mass, body.inertia = True, 1.0, np.ones(3)
        body.ipos, body.fullinertia = np.zeros(3), np.full(6, np.nan)
    return {body.name for body in bare}


def _compile_apart(mujoco: Any, spec: Any, empty: set[str]) -> tuple[Any, Any]:
    """Compile the masses without the joints, and the joints with a mass for every body."""
    static = spec.copy()
    for joint in list(static.joints):
        static.delete(joint)
    for body in static.bodies:
        if body.name in empty:
            body.mass, body.inertia = 0.0, np.zeros(3)
    masses = static.compile()
    for geom in list(spec.geoms):
        spec.delete(geom)
    for mesh in list(spec.meshes):
        spec.delete(mesh)
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    spec.compiler.settotalmass = -1
    spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
    for body in spec.bodies:
        index = masses.body(body.name).id
        if index == 0:
            continue
        body.explicitinertial = True
        solid = masses.body_mass[index] > 1e-12 and (masses.body_inertia[index] > 1e-12).all()
        body.mass = masses.body_mass[index] if solid else 1.0
        body.inertia = masses.body_inertia[index] if solid else np.ones(3)
        body.fullinertia = np.full(6, np.nan)
        body.ipos = masses.body_ipos[index]
        body.iquat = masses.body_iquat[index]
    return masses, spec.compile()


def _link_row(mujoco: Any, densities: dict[str, float], masses: Any, moving: Any, body: int, notes: Notes) -> LinkRow:
    name = masses.body(body).name
    own = moving.body(name).id
    parent = int(moving.body_parentid[own])
    row = LinkRow(name, moving.body(parent).name if parent else None, body_pose(moving, own), [])
    row.mass, row.com, row.inertia = mass_of(masses, body)
    row.shapes, row.markers = _content(mujoco, densities, masses, body, notes)
    start = int(moving.body_jntadr[own])
    anchor = np.zeros(3)
    for index in range(start, start + int(moving.body_jntnum[own])):
        joint = _joint_row(mujoco, moving, index, anchor, notes)
        anchor = joint.anchor
        row.joints.append(joint)
    return row


def _take_mark(spec: Any) -> bool:
    """Tell whether `save` wrote the file with free bodies in their places, and take out the text that says so."""
    marks = [text for text in spec.texts if text.name == FREE_FROM_PLACE]
    for text in marks:
        spec.delete(text)
    return bool(marks)


def _start_at_origin(rows: list[LinkRow], notes: Notes) -> None:
    """Let free coordinates be absolute, as in MuJoCo."""
    for row in rows:
        if any(isinstance(joint.joint, Free) for joint in row.joints) and not is_identity(row.placement):
            notes.add("places of floating bodies that are not kept, because their coordinates are absolute", row.name)
            row.placement = (np.eye(3), np.zeros(3))


def _content(
    mujoco: Any, densities: dict[str, float], masses: Any, body: int, notes: Notes
) -> tuple[list[Shape], dict[str, Any]]:
    shapes = []
    start = int(masses.body_geomadr[body])
    for geom in range(start, start + int(masses.body_geomnum[body])):
        name = masses.geom(geom).name
        shape = shape_of(mujoco, masses, geom, name, densities[name], notes)
        if shape is not None:
            shapes.append(shape)
    sites = np.flatnonzero(masses.site_bodyid == body)
    return shapes, {masses.site(int(site)).name: masses.site_pos[site].copy() for site in sites}


def _joint_row(mujoco: Any, compiled: Any, index: int, anchor: np.ndarray, notes: Notes) -> JointRow:
    kinds = mujoco.mjtJoint
    kind, name = int(compiled.jnt_type[index]), compiled.jnt(index).name
    at_q, dof = int(compiled.jnt_qposadr[index]), int(compiled.jnt_dofadr[index])
    values: dict[str, Any] = {
        "damping": float(compiled.dof_damping[dof]),
        "armature": float(compiled.dof_armature[dof]),
        "friction": float(compiled.dof_frictionloss[dof]),
    }
    one_axis = kind in (kinds.mjJNT_HINGE, kinds.mjJNT_SLIDE)
    stiffness, limited = float(compiled.jnt_stiffness[index].flat[0]), bool(compiled.jnt_limited[index])
    if one_axis:
        values["stiffness"] = stiffness
        values["rest"] = float(compiled.qpos_spring[at_q]) if stiffness else 0.0
        if limited:
            low, high = (limit(value) for value in compiled.jnt_range[index])
            values["limits"] = (low, high)
    else:
        if stiffness:
            notes.add("springs of ball and free joints are not represented", name)
        if limited:
            notes.add("limits of ball joints are not represented", name)
    if compiled.jnt_actfrclimited[index]:
        low, high = compiled.jnt_actfrcrange[index].tolist()
        values["effort"] = limit(min(-low, high)) if min(-low, high) >= 0 else float("inf")
        if low != -high:
            notes.add("force ranges that are not symmetric: the smaller side is kept as effort", name)
    if kind == kinds.mjJNT_FREE:
        return JointRow(name, Free(), values=values)
    if kind == kinds.mjJNT_BALL:
        return JointRow(name, Spherical(), anchor=compiled.jnt_pos[index].copy(), values=values)
    axis, reference = compiled.jnt_axis[index].tolist(), float(compiled.qpos0[at_q])
    if kind == kinds.mjJNT_SLIDE:  # a slide has no anchor: it keeps that of the joint before it
        slide: Joint = Prismatic(axis)
        return JointRow(name, slide, anchor=anchor, reference=reference, values=values)
    return JointRow(name, Revolute(axis), anchor=compiled.jnt_pos[index].copy(), reference=reference, values=values)
