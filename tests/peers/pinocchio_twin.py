"""Build a kinetree model again in Pinocchio, joint by joint, and translate states and results.

Pinocchio's velocities of free and planar joints are in the body's axes, and its quaternions end with w. The translation
is linear in the velocity: v_pin = G(q) v, hence dv_pin/dt = G a + dG/dt v, tau = G' tau_pin and M = G' M_pin G.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

import kinetree as kt


def joint_model(joint: kt.Revolute) -> pin.JointModel:
    """Return Pinocchio's joint of the same kind."""
    kind = type(joint).__name__
    if kind == "Revolute":
        return pin.JointModelRevoluteUnaligned(np.array(joint.axis))
    if kind == "Prismatic":
        return pin.JointModelPrismaticUnaligned(np.array(joint.axis))
    if kind == "Helical":
        return pin.JointModelHelicalUnaligned(np.array(joint.axis), joint.pitch)
    if kind == "Universal":
        return pin.JointModelUniversal(np.array(joint.first), np.array(joint.second))
    return {"Spherical": pin.JointModelSpherical, "Planar": pin.JointModelPlanar, "Free": pin.JointModelFreeFlyer}[
        kind
    ]()


def depth_first(parents: np.ndarray) -> list[int]:
    """Return the bodies in an order in which every subtree is a range."""
    order: list[int] = []
    stack = [int(body) for body in np.flatnonzero(parents < 0)[::-1]]
    while stack:
        order.append(stack.pop())
        stack.extend(int(body) for body in np.flatnonzero(parents == order[-1])[::-1])
    return order


class Twin:
    """A kinetree model in Pinocchio."""

    frame_prefix = "body "

    def __init__(self, model: kt.Model) -> None:
        self.ours = model
        self.pin = pin.Model()
        self.kinds = [type(model.joint(body)).__name__ for body in range(model.nbodies)]
        joints: dict[int, int] = {}  # Pinocchio's joint that carries each body
        places: dict[int, pin.SE3] = {}  # the body's pose in that joint's frame
        for body in depth_first(model.parents):  # Pinocchio counts on a subtree being a range
            parent = int(model.parents[body])
            turn, shift = model.placements[body, :9].reshape(3, 3), model.placements[body, 9:]
            placement = pin.SE3(turn, shift)
            carrier = 0 if parent < 0 else joints[parent]
            if parent >= 0:
                placement = places[parent] * placement
            if self.kinds[body] == "Fixed":
                joints[body], places[body] = carrier, placement
            else:
                joints[body] = self.pin.addJoint(carrier, joint_model(model.joint(body)), placement, model.names[body])
                places[body] = pin.SE3.Identity()
            inertia = pin.Inertia(float(model.masses[body]), model.coms[body], model.inertias[body])
            self.pin.appendBodyToJoint(joints[body], inertia, places[body])
            self.pin.addFrame(pin.Frame(f"body {model.names[body]}", joints[body], places[body], pin.FrameType.BODY))
        self.joints, self.places = joints, places
        self.pin.armature = self._armature()
        self.data = self.pin.createData()

    def _armature(self) -> np.ndarray:
        armature = np.zeros(self.pin.nv)
        for body, at_v, own in self._moving():
            rotor = self.ours.dofs[own, 0]
            assert not (rotor.any() and self.kinds[body] in ("Free", "Planar")), (
                "rotors of these joints do not translate"
            )
            armature[at_v] = rotor
        return armature

    def _moving(self) -> list[tuple[int, slice, slice]]:
        result = []
        for body in range(self.ours.nbodies):
            if self.kinds[body] != "Fixed":
                start, n = self.pin.idx_vs[self.joints[body]], self.pin.nvs[self.joints[body]]
                own = slice(int(self.ours.v_starts[body]), int(self.ours.v_starts[body + 1]))
                result.append((body, slice(start, start + n), own))
        return result

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Return Pinocchio's coordinates."""
        theirs = pin.neutral(self.pin)
        for body, _, _ in self._moving():
            own = q[self.ours.q_starts[body] : self.ours.q_starts[body + 1]]
            kind = self.kinds[body]
            if kind == "Free":
                own = np.concatenate((own[4:], own[1:4], own[:1]))
            elif kind == "Spherical":
                own = np.roll(own, -1)
            elif self.pin.nqs[self.joints[body]] == 2 and len(own) == 1:  # a continuous joint of a URDF file
                own = np.array([np.cos(own[0]), np.sin(own[0])])
            elif kind == "Planar":
                own = np.array([own[1], own[2], np.cos(own[0]), np.sin(own[0])])
            start = self.pin.idx_qs[self.joints[body]]
            theirs[start : start + self.pin.nqs[self.joints[body]]] = own
        return theirs

    def translation(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (G, dG/dt v)."""
        matrix, rest = np.zeros((self.pin.nv, self.ours.nv)), np.zeros(self.pin.nv)
        for body, at_v, own in self._moving():
            block = np.eye(at_v.stop - at_v.start)
            first = int(self.ours.q_starts[body])
            if self.kinds[body] == "Free":
                turn = Rotation.from_quat(np.roll(q[first : first + 4], -1)).as_matrix()
                block = np.block([[np.zeros((3, 3)), turn.T], [np.eye(3), np.zeros((3, 3))]])
                w, linear = v[own][:3], turn.T @ v[own][3:]
                rest[at_v] = [*-np.cross(w, linear), 0, 0, 0]
            elif self.kinds[body] == "Planar":
                c, s = np.cos(q[first]), np.sin(q[first])
                block = np.array([[0, c, s], [0, -s, c], [1, 0, 0]])
                x, y, _ = block @ v[own]
                rest[at_v] = [v[own][0] * y, -v[own][0] * x, 0]
            matrix[at_v, own] = block
        return matrix, rest

    def forces(self, q: np.ndarray, external: np.ndarray | None) -> list[pin.Force]:
        """Return the wrenches [moment; force] on bodies, world axes, as Pinocchio's forces on joints."""
        result = [pin.Force.Zero() for _ in range(self.pin.njoints)]
        if external is None:
            return result
        pin.forwardKinematics(self.pin, self.data, self.configuration(q))
        for body, wrench in enumerate(external):
            turn = (self.data.oMi[self.joints[body]] * self.places[body]).rotation
            in_body = pin.Force(turn.T @ wrench[3:], turn.T @ wrench[:3])
            result[self.joints[body]] = result[self.joints[body]] + self.places[body].act(in_body)
        return result

    def forward_dynamics(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, external: np.ndarray) -> np.ndarray:
        """Return the accelerations by Pinocchio's ABA."""
        matrix, rest = self.translation(q, v)
        their_tau = np.linalg.solve(matrix.T, tau)
        forces = (
            pin.StdVec_Force(self.forces(q, external)) if hasattr(pin, "StdVec_Force") else self.forces(q, external)
        )
        a = pin.aba(self.pin, self.data, self.configuration(q), matrix @ v, their_tau, forces)
        return np.linalg.solve(matrix, a - rest)

    def inverse_dynamics(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, external: np.ndarray) -> np.ndarray:
        """Return the joint forces by Pinocchio's RNEA, the rotors' included."""
        matrix, rest = self.translation(q, v)
        forces = (
            pin.StdVec_Force(self.forces(q, external)) if hasattr(pin, "StdVec_Force") else self.forces(q, external)
        )
        tau = pin.rnea(self.pin, self.data, self.configuration(q), matrix @ v, matrix @ a + rest, forces)
        return matrix.T @ tau

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Return the mass matrix by Pinocchio's CRBA."""
        upper = np.triu(pin.crba(self.pin, self.data, self.configuration(q)))
        full = upper + np.triu(upper, 1).T
        matrix, _ = self.translation(q, np.zeros(self.ours.nv))
        return matrix.T @ full @ matrix

    def energy(self, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
        """Return (kinetic, potential) of the bodies, without rotors: how Pinocchio counts those differs by joint."""
        matrix, _ = self.translation(q, v)
        self.pin.armature = np.zeros(self.pin.nv)
        kinetic = pin.computeKineticEnergy(self.pin, self.data, self.configuration(q), matrix @ v)
        self.pin.armature = self._armature()
        potential = pin.computePotentialEnergy(self.pin, self.data, self.configuration(q))
        for body, joint in self.joints.items():
            if joint == 0:  # welded to the world: Pinocchio leaves those out
                height = self.places[body].act(self.ours.coms[body])[2]
                potential += 9.81 * self.ours.masses[body] * height
        return kinetic, potential

    def jacobian(self, q: np.ndarray, body: int) -> np.ndarray:
        """Return the (6, nv) Jacobian [angular; of the origin] of a body, world axes."""
        frame = self.pin.getFrameId(self.frame_prefix + self.ours.names[body], pin.FrameType.BODY)
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        theirs = pin.computeFrameJacobian(self.pin, self.data, self.configuration(q), frame, axes)
        matrix, _ = self.translation(q, np.zeros(self.ours.nv))
        return np.vstack((theirs[3:], theirs[:3])) @ matrix


class FileTwin(Twin):
    """What kinetree loaded from a URDF file, beside what Pinocchio itself loads from it; joints go by their names."""

    frame_prefix = ""

    def __init__(self, model: kt.Model, path: str, floating: bool) -> None:
        self.ours = model
        root = [pin.JointModelFreeFlyer()] if floating else []
        self.pin = pin.buildModelFromUrdf(path, *root)
        self.kinds = [type(model.joint(body)).__name__ for body in range(model.nbodies)]
        self.joints, self.places = {}, {}
        for body, name in enumerate(model.names):
            frame = self.pin.frames[self.pin.getFrameId(name, pin.FrameType.BODY)]
            self.joints[body], self.places[body] = frame.parentJoint, frame.placement
            if self.kinds[body] != "Fixed":
                assert self.pin.names[frame.parentJoint] == model.body_joint_names[body]
        assert self.pin.nv == model.nv
        self.data = self.pin.createData()
