"""Skeletons of motion capture files as models: what ASF and BVH have in common.

Such files are y-up and know no masses. Axes are turned once, on reading: x is where the figure
faces, y its left, z up; at zero angles every bone has these axes. A bone turns by one revolute joint for each of its
angles, so that the file's angles are the model's coordinates (or, with `spherical`, bones with three angles get a ball
joint, which has no gimbal lock). The root is free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..model.description import Body, Description, mass_properties
from ..model.joints import Fixed, Free, Revolute, Spherical
from ..model.model import Model
from ..model.shapes import Capsule, Shape, Sphere
from .chains import rotation_about
from .notes import Names, Notes

UPRIGHT = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # y-up, facing z -> z-up, facing x
SLENDER = 0.2  # a bone's radius, in lengths, within
THIN, THICK = 0.01, 0.08  # these bounds [m]


@dataclass
class Bone:
    """A bone: its start in the parent and its ends in itself [m]; its rotations (label, axis), outermost first."""

    name: str
    parent: str | None
    start: np.ndarray
    ends: list[np.ndarray] = field(default_factory=list)
    rotations: list[tuple[str, np.ndarray]] = field(default_factory=list)
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)

    def joint_name(self, label: str) -> str:
        """Name of the joint of one rotation."""
        return f"{self.name}_{label}"


def check_options(scale: float | None, density: float, mass: float | None) -> None:
    """Refuse options that are not positive numbers."""
    for name, value in (("scale", scale), ("density", density), ("mass", mass)):
        if value is not None and not (np.isfinite(value) and value > 0):
            raise ArgumentError(f"{name}={value!r} must be a positive number")


def describe_bones(
    bones: Sequence[Bone], name: str, notes: Notes, *, density: float, mass: float | None, spherical: bool
) -> Description:
    """Build a description: a capsule of `density` [kg/m3] along each bone, all scaled to `mass` [kg] where it is given.

    A capsule's radius is a fifth of the bone's length, but at least 1 and at most 8 cm; a bone that turns and has no
    length is a ball of 2 cm radius, so that every joint has something to move.
    """
    shapes = {bone.name: _flesh(bone, density) for bone in bones}
    for bone in bones:
        if not shapes[bone.name] and bone.rotations:
            shapes[bone.name] = (Sphere(radius=0.02, density=density),)
    masses = {bone.name: mass_properties(bone.name, None, None, None, shapes[bone.name]) for bone in bones}
    factor = 1.0 if mass is None else mass / sum(own[0] for own in masses.values())
    names = Names(bone.name for bone in bones)
    bodies: list[Body] = []
    for bone in bones:
        heavy, com, inertia = masses[bone.name]
        own: dict[str, Any] = {
            "mass": factor * heavy,
            "com": com,
            "inertia": factor * inertia,
            "shapes": shapes[bone.name],
        }
        place = (np.eye(3), bone.start)
        if bone.parent is None:
            bodies.append(Body(bone.name, None, Free(), joint_name=bone.name, **own))
        elif not bone.rotations:
            bodies.append(Body(bone.name, bone.parent, Fixed(), place, joint_name=bone.name, **own))
        elif is_ball(bone, spherical):
            if bone.limits:
                notes.add("limits of ball joints are not represented", bone.name)
            bodies.append(Body(bone.name, bone.parent, Spherical(), place, joint_name=bone.name, **own))
        else:
            parent: str | None = bone.parent
            for number, (label, axis) in enumerate(bone.rotations):
                last = number == len(bone.rotations) - 1
                joint = bone.joint_name(label)
                body = bone.name if last else names.new(joint)
                limits = bone.limits.get(label)
                joint_type = Revolute(axis.tolist())
                content = own if last else {}
                bodies.append(Body(body, parent, joint_type, place, joint_name=joint, limits=limits, **content))
                parent, place = body, (np.eye(3), np.zeros(3))
    return Description(tuple(bodies), name, notes.lines())


def is_ball(bone: Bone, spherical: bool) -> bool:
    """Tell whether a bone has a ball joint rather than a chain of revolutes."""
    return spherical and len(bone.rotations) == 3


def _flesh(bone: Bone, density: float) -> tuple[Shape, ...]:
    shapes: list[Shape] = []
    for end in bone.ends:
        length = float(np.linalg.norm(end))
        if length > 1e-4:
            radius = min(max(SLENDER * length, THIN), THICK)
            shapes.append(Capsule.between((0.0, 0.0, 0.0), end.tolist(), radius, density=density))
    return tuple(shapes)


def coordinates(
    model: Model,
    bones: Sequence[Bone],
    positions: np.ndarray,
    angles: Mapping[str, np.ndarray],
    *,
    spherical: bool,
) -> np.ndarray:
    """Return `q` of every frame from the root's positions (nframes, 3) and each bone's angles (nframes, n) [rad]."""
    frames = len(positions)
    q = np.tile(model.neutral(), (frames, 1))
    starts = {name: int(start) for name, start in zip(model.body_joint_names, model.q_starts, strict=False)}
    for bone in bones:
        values = angles.get(bone.name)
        if bone.parent is None:
            start = starts[bone.name]
            q[:, start + 4 : start + 7] = positions
            if values is not None:
                q[:, start : start + 4] = quaternions(bone.rotations, values)
        elif values is not None and is_ball(bone, spherical):
            start = starts[bone.name]
            q[:, start : start + 4] = quaternions(bone.rotations, values)
        elif values is not None:
            for k, (label, _) in enumerate(bone.rotations):
                q[:, starts[bone.joint_name(label)]] = values[:, k]
    return q


def quaternions(rotations: Sequence[tuple[str, np.ndarray]], angles: np.ndarray) -> np.ndarray:
    """Multiply the rotations of every frame, and keep the sign of the quaternions continuous; shape (nframes, 4)."""
    product = np.zeros((len(angles), 4))
    product[:, 0] = 1.0
    for k, (_, axis) in enumerate(rotations):
        w, x = np.cos(angles[:, k] / 2), np.sin(angles[:, k, None] / 2) * axis
        scalar = product[:, 0] * w - np.einsum("ni,ni->n", product[:, 1:], x)
        vector = product[:, :1] * x + w[:, None] * product[:, 1:] + np.cross(product[:, 1:], x)
        product = np.column_stack((scalar, vector))
    flips = np.where(np.einsum("ni,ni->n", product[1:], product[:-1]) < 0, -1.0, 1.0)
    product[1:] *= np.cumprod(flips)[:, None]
    return product / np.linalg.norm(product, axis=1, keepdims=True)


def turn_about(letter: str, angle: float) -> np.ndarray:
    """Return the rotation by `angle` [rad] about x, y or z, in the file's own axes."""
    return rotation_about(np.eye(3)["xyz".index(letter.lower())], angle)
