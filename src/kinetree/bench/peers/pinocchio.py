"""A kinetree model in Pinocchio, built joint by joint or read by Pinocchio itself from a URDF.

Pinocchio's velocities of free and planar joints are in the body's axes, and its quaternions end with w. The translation
is linear in the velocity: v_pin = G(q) v, hence dv_pin/dt = G a + dG/dt v, tau = G' tau_pin and M = G' M_pin G.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ...dynamics import body_poses
from ...errors import missing_extra
from ...model.joints import Joint
from ...model.model import Model
from ...typing import Array

GRAVITY = 9.81


def library() -> Any:
    """Import Pinocchio."""
    try:
        import pinocchio
    except ImportError:
        raise missing_extra("Pinocchio", "bench", "comparing with Pinocchio") from None
    return pinocchio


def joint_model(pin: Any, joint: Joint) -> Any:
    """Return Pinocchio's joint of the same kind."""
    make = {
        "revolute": lambda j: pin.JointModelRevoluteUnaligned(np.array(j.axis)),
        "prismatic": lambda j: pin.JointModelPrismaticUnaligned(np.array(j.axis)),
        "helical": lambda j: pin.JointModelHelicalUnaligned(np.array(j.axis), j.pitch),
        "universal": lambda j: pin.JointModelUniversal(np.array(j.first), np.array(j.second)),
        "spherical": lambda j: pin.JointModelSpherical(),
        "planar": lambda j: pin.JointModelPlanar(),
        "free": lambda j: pin.JointModelFreeFlyer(),
    }
    return make[joint.name](joint)


def aligned_joint_model(pin: Any, joint: Joint) -> Any:
    """Return Pinocchio's quicker joint of the same kind, where the axis is one of the coordinate axes."""
    if joint.name in ("revolute", "prismatic"):
        for letter, axis in zip("XYZ", np.eye(3), strict=True):
            if np.array_equal(axis, joint.axis):  # type: ignore[attr-defined]
                return getattr(pin, f"JointModel{'R' if joint.name == 'revolute' else 'P'}{letter}")()
    return joint_model(pin, joint)


class PinocchioTwin:
    """A kinetree model in Pinocchio: `model` and `data` are Pinocchio's."""

    def __init__(self, ours: Model, theirs: Any = None) -> None:
        """Build `ours` again, or take `theirs`, whose joints and bodies have the same names."""
        self.pin = library()
        self.ours = ours
        self.kinds = [ours.joint(body).name for body in range(ours.nbodies)]
        self.model = self._build() if theirs is None else theirs
        self.data = self.model.createData()
        self.joints = {
            body: self.model.getJointId(ours.body_joint_names[body])
            for body in range(ours.nbodies)
            if self.kinds[body] != "fixed"
        }

    @classmethod
    def from_urdf(cls, ours: Model, path: str | os.PathLike[str]) -> PinocchioTwin:
        """Let Pinocchio read the URDF that `ours` was loaded from."""
        pin = library()
        free = "free" in {ours.joint(body).name for body in range(ours.nbodies)}
        root = (pin.JointModelFreeFlyer(),) if free else ()
        return cls(ours, pin.buildModelFromUrdf(os.fspath(path), *root))

    def _build(self) -> Any:
        pin, ours = self.pin, self.ours
        model = pin.Model()
        carriers: dict[int, int] = {}  # Pinocchio's joint that carries each body
        places: dict[int, Any] = {}  # the body's pose in that joint's frame
        for body in _depth_first(ours.parents):  # Pinocchio counts on a subtree being a range
            parent = int(ours.parents[body])
            placement = pin.SE3(ours.placements[body, :9].reshape(3, 3), ours.placements[body, 9:])
            if parent >= 0:
                placement = places[parent] * placement
            carriers[body], places[body] = 0 if parent < 0 else carriers[parent], placement
            if self.kinds[body] != "fixed":
                joint = aligned_joint_model(pin, ours.joint(body))
                carriers[body] = model.addJoint(carriers[body], joint, placement, ours.body_joint_names[body])
                places[body] = pin.SE3.Identity()
            inertia = pin.Inertia(float(ours.masses[body]), ours.coms[body], ours.inertias[body])
            model.appendBodyToJoint(carriers[body], inertia, places[body])
            model.addFrame(pin.Frame(ours.names[body], carriers[body], places[body], pin.FrameType.BODY))
        armature = np.zeros(model.nv)
        for body in range(ours.nbodies):
            if self.kinds[body] != "fixed":
                start, n = model.idx_vs[carriers[body]], model.nvs[carriers[body]]
                rotor = ours.dofs[ours.v_starts[body] : ours.v_starts[body + 1], 0]
                if rotor.any() and self.kinds[body] in ("free", "planar"):
                    raise ValueError("rotor inertia of a free or planar joint has no equivalent in Pinocchio")
                armature[start : start + n] = rotor
        model.armature = armature
        return model

    def _moving(self) -> list[tuple[int, slice, slice]]:
        """Return (body, its velocities there, its velocities here) of every joint that moves."""
        result = []
        for body, joint in self.joints.items():
            start, n = self.model.idx_vs[joint], self.model.nvs[joint]
            own = slice(int(self.ours.v_starts[body]), int(self.ours.v_starts[body + 1]))
            result.append((body, slice(start, start + n), own))
        return result

    def knows(self, body: int) -> bool:
        """Whether Pinocchio has this body."""
        return bool(self.model.existFrame(self.ours.names[body], self.pin.FrameType.BODY))

    def configuration(self, q: Array) -> Array:
        """Return Pinocchio's coordinates."""
        theirs = self.pin.neutral(self.model)
        for body, joint in self.joints.items():
            own = q[self.ours.q_starts[body] : self.ours.q_starts[body + 1]]
            kind, start, n = self.kinds[body], self.model.idx_qs[joint], self.model.nqs[joint]
            if kind == "free":
                own = np.concatenate((own[4:], own[1:4], own[:1]))
            elif kind == "spherical":
                own = np.roll(own, -1)
            elif kind == "planar":
                own = np.array([own[1], own[2], np.cos(own[0]), np.sin(own[0])])
            elif kind == "revolute" and n == 2:  # what a URDF calls continuous
                own = np.array([np.cos(own[0]), np.sin(own[0])])
            theirs[start : start + n] = own
        return theirs

    def translation(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Return (G, dG/dt v)."""
        matrix, rest = np.zeros((self.model.nv, self.ours.nv)), np.zeros(self.model.nv)
        for body, theirs, own in self._moving():
            block = np.eye(theirs.stop - theirs.start)
            first = int(self.ours.q_starts[body])
            if self.kinds[body] == "free":
                turn = Rotation.from_quat(np.roll(q[first : first + 4], -1)).as_matrix()
                block = np.block([[np.zeros((3, 3)), turn.T], [np.eye(3), np.zeros((3, 3))]])
                rest[theirs] = [*-np.cross(v[own][:3], turn.T @ v[own][3:]), 0, 0, 0]
            elif self.kinds[body] == "planar":
                c, s = np.cos(q[first]), np.sin(q[first])
                block = np.array([[0, c, s], [0, -s, c], [1, 0, 0]])
                x, y, _ = block @ v[own]
                rest[theirs] = [v[own][0] * y, -v[own][0] * x, 0]
            matrix[theirs, own] = block
        return matrix, rest

    def forward_dynamics(self, q: Array, v: Array, tau: Array) -> Array:
        """Return the accelerations by Pinocchio's ABA."""
        matrix, rest = self.translation(q, v)
        their_tau = np.linalg.solve(matrix.T, tau)
        a = self.pin.aba(self.model, self.data, self.configuration(q), matrix @ v, their_tau)
        return np.linalg.solve(matrix, a - rest)

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        """Return the joint forces by Pinocchio's RNEA, the rotors' included."""
        matrix, rest = self.translation(q, v)
        tau = self.pin.rnea(self.model, self.data, self.configuration(q), matrix @ v, matrix @ a + rest)
        return matrix.T @ tau

    def mass_matrix(self, q: Array) -> Array:
        """Return the mass matrix by Pinocchio's CRBA."""
        upper = np.triu(self.pin.crba(self.model, self.data, self.configuration(q)))
        matrix, _ = self.translation(q, np.zeros(self.ours.nv))
        return matrix.T @ (upper + np.triu(upper, 1).T) @ matrix

    def energy(self, q: Array, v: Array) -> tuple[float, float]:
        """Return (kinetic, potential) as kinetree counts them: rotors move, bodies that are welded down weigh."""
        matrix, _ = self.translation(q, v)
        armature = self.model.armature.copy()
        self.model.armature = np.zeros(self.model.nv)  # how Pinocchio counts rotors differs by joint
        kinetic = self.pin.computeKineticEnergy(self.model, self.data, self.configuration(q), matrix @ v)
        self.model.armature = armature
        kinetic += 0.5 * float(armature @ (matrix @ v) ** 2)
        potential = self.pin.computePotentialEnergy(self.model, self.data, self.configuration(q))
        still = np.flatnonzero(self.ours.body_links < 0)
        poses = body_poses(self.ours, q)[still]
        heights = np.einsum("nj,nj->n", poses[:, 2, :3], self.ours.coms[still]) + poses[:, 2, 3]
        return kinetic, potential + GRAVITY * float(self.ours.masses[still] @ heights)

    def jacobian(self, q: Array, body: int) -> Array:
        """Return the (6, nv) Jacobian [angular; of the origin] of a body, world axes."""
        pin = self.pin
        frame = self.model.getFrameId(self.ours.names[body], pin.FrameType.BODY)
        theirs = pin.computeFrameJacobian(
            self.model, self.data, self.configuration(q), frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        ).reshape(6, -1)  # one column comes as a vector
        matrix, _ = self.translation(q, np.zeros(self.ours.nv))
        return np.vstack((theirs[3:], theirs[:3])) @ matrix


def _depth_first(parents: Array) -> list[int]:
    """Return the bodies in an order in which every subtree is a range."""
    children: dict[int, list[int]] = {}
    for body in range(len(parents) - 1, -1, -1):
        children.setdefault(int(parents[body]), []).append(body)
    order: list[int] = []
    stack = children.get(-1, [])
    while stack:
        order.append(stack.pop())
        stack.extend(children.get(order[-1], []))
    return order
