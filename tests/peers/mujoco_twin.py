"""Build a kinetree model again in MuJoCo, through its XML, and translate states and results.

MuJoCo's free joints have the linear velocity first and take world coordinates; planar and universal joints are several
joints of one body. The translation is linear in the velocity: v_mujoco = G v with a constant G.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

import kinetree as kt

HEADER = """<mujoco><compiler angle="radian" inertiafromgeom="false"/>
<option gravity="0 0 -9.81"><flag constraint="disable" contact="disable" energy="enable"/></option><worldbody/>
</mujoco>"""


def text(values: object) -> str:
    """Write numbers with all their digits."""
    return " ".join(repr(float(x)) for x in np.ravel(values))


def quaternion(turn: np.ndarray) -> str:
    """Write a rotation matrix as w x y z."""
    return text(np.roll(Rotation.from_matrix(turn).as_quat(), 1))


class Twin:
    """A kinetree model in MuJoCo; free joints must hang on the world, and helical ones do not exist there."""

    def __init__(self, model: kt.Model) -> None:
        self.ours = model
        self.kinds = [type(model.joint(body)).__name__ for body in range(model.nbodies)]
        root = ET.fromstring(HEADER)
        elements = {-1: root.find("worldbody")}
        for body in range(model.nbodies):
            elements[body] = self._add_body(elements[int(model.parents[body])], body)
        self.model = mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
        self.bodies = [self.model.body(name).id for name in model.names]
        self._prepare()
        self.model.dof_armature[:] = np.abs(self.matrix) @ model.dofs[:, 0]

    def _first_joint(self, body: int) -> int:
        """Return the number of MuJoCo's (first) joint for the joint of a body."""
        return int(self.model.joint(f"{self.ours.names[body]}/0").id)

    def _prepare(self) -> None:
        model = self.ours
        self.data = mujoco.MjData(self.model)
        self.matrix = np.zeros((self.model.nv, model.nv))
        for body, _their_q, their_v, _own_q, own_v in self._moving():
            block = np.eye(their_v.stop - their_v.start)
            if self.kinds[body] == "Free":
                assert not model.dofs[own_v, 0].any(), "rotors of a free joint would turn with its placement"
                turn = model.placements[body, :9].reshape(3, 3)
                block = np.block([[np.zeros((3, 3)), turn], [np.eye(3), np.zeros((3, 3))]])
            elif self.kinds[body] == "Planar":
                block = np.eye(3)[[1, 2, 0]]
            self.matrix[their_v, own_v] = block

    def _add_body(self, parent: ET.Element, body: int) -> ET.Element:
        model, name = self.ours, self.ours.names[body]
        turn, shift = model.placements[body, :9].reshape(3, 3), model.placements[body, 9:]
        element = ET.SubElement(parent, "body", name=name, pos=text(shift), quat=quaternion(turn))
        moments, axes = np.linalg.eigh(model.inertias[body])
        axes[:, 2] *= np.linalg.det(axes)
        ET.SubElement(
            element, "inertial", pos=text(model.coms[body]), mass=text(model.masses[body]), diaginertia=text(moments),
            quat=quaternion(axes),
        )  # fmt: skip
        joint = model.joint(body)
        rows = {
            "Revolute": lambda: [("hinge", joint.axis)],
            "Prismatic": lambda: [("slide", joint.axis)],
            "Universal": lambda: [("hinge", joint.first), ("hinge", joint.second)],
            "Planar": lambda: [("slide", (1, 0, 0)), ("slide", (0, 1, 0)), ("hinge", (0, 0, 1))],
            "Spherical": lambda: [("ball", (0, 0, 1))],
            "Free": lambda: [("free", (0, 0, 1))],
            "Fixed": list,
        }[self.kinds[body]]()
        for k, (kind, axis) in enumerate(rows):
            ET.SubElement(element, "joint", name=f"{name}/{k}", type=kind, axis=text(axis))
        return element

    def _moving(self) -> list[tuple[int, slice, slice, slice, slice]]:
        result = []
        for body in range(self.ours.nbodies):
            if self.kinds[body] == "Fixed":
                continue
            first = self._first_joint(body)
            q, v = self.model.jnt_qposadr[first], self.model.jnt_dofadr[first]
            own_q = slice(int(self.ours.q_starts[body]), int(self.ours.q_starts[body + 1]))
            own_v = slice(int(self.ours.v_starts[body]), int(self.ours.v_starts[body + 1]))
            joint = self.ours.joint(body)
            result.append((body, slice(q, q + joint.nq), slice(v, v + joint.nv), own_q, own_v))
        return result

    def set_state(self, q: np.ndarray, v: np.ndarray, external: np.ndarray | None = None) -> None:
        """Put state and wrenches into MuJoCo's data and compute what depends on positions and velocities."""
        for body, their_q, _, own_q, _ in self._moving():
            own = q[own_q]
            if self.kinds[body] == "Free":
                turn, shift = self.ours.placements[body, :9].reshape(3, 3), self.ours.placements[body, 9:]
                whole = Rotation.from_matrix(turn) * Rotation.from_quat(np.roll(own[:4], -1))
                own = np.concatenate((turn @ own[4:] + shift, np.roll(whole.as_quat(), 1)))
            elif self.kinds[body] == "Planar":
                own = own[[1, 2, 0]]
            self.data.qpos[their_q] = own
        self.data.qvel[:] = self.matrix @ v
        self.data.xfrc_applied[:] = 0
        mujoco.mj_fwdPosition(self.model, self.data)
        mujoco.mj_fwdVelocity(self.model, self.data)
        if external is not None:
            for body, wrench in zip(self.bodies, external):
                if body < 0:
                    continue
                arm = self.data.xipos[body] - self.data.xpos[body]  # MuJoCo's wrench is about the centre of mass
                self.data.xfrc_applied[body] = [*wrench[3:], *(wrench[:3] - np.cross(arm, wrench[3:]))]

    def forward_dynamics(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, external: np.ndarray) -> np.ndarray:
        """Return the accelerations by mj_forward."""
        self.set_state(q, v, external)
        self.data.qfrc_applied[:] = self.matrix @ tau  # the inverse of G is its transpose
        mujoco.mj_forward(self.model, self.data)
        return self.matrix.T @ self.data.qacc

    def inverse_dynamics(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, external: np.ndarray) -> np.ndarray:
        """Return the joint forces by mj_inverse, which does not subtract the applied wrenches."""
        self.set_state(q, v)
        self.data.qacc[:] = self.matrix @ a
        mujoco.mj_inverse(self.model, self.data)
        tau = self.matrix.T @ self.data.qfrc_inverse
        for body, wrench in enumerate(external):
            if self.bodies[body] < 0:
                continue
            tau -= self.jacobian(q, body).T @ wrench
        return tau

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Return the mass matrix, column by column."""
        self.set_state(q, np.zeros(self.ours.nv))
        columns = np.zeros((self.model.nv, self.model.nv))
        for k, unit in enumerate(np.eye(self.model.nv)):
            mujoco.mj_mulM(self.model, self.data, columns[k], unit)
        return self.matrix.T @ columns.T @ self.matrix

    def energy(self, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
        """Return (kinetic, potential)."""
        self.set_state(q, v)
        mujoco.mj_energyPos(self.model, self.data)
        mujoco.mj_energyVel(self.model, self.data)
        potential, kinetic = self.data.energy
        return float(kinetic), float(potential)

    def jacobian(self, q: np.ndarray, body: int) -> np.ndarray:
        """Return the (6, nv) Jacobian [angular; of the origin] of a body, world axes."""
        self.set_state(q, np.zeros(self.ours.nv))
        linear, angular = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        number = self.bodies[body]
        mujoco.mj_jac(self.model, self.data, linear, angular, self.data.xpos[number], number)
        return np.vstack((angular, linear)) @ self.matrix


class FileTwin(Twin):
    """What kinetree loaded from an MJCF file, beside MuJoCo's own model; joints go by their order, bodies by names.

    `bodies` is -1 for a body that MuJoCo does not have: those between joints of one body, and the world's shapes.
    """

    def __init__(self, model: kt.Model, path: str) -> None:
        self.ours = model
        self.model = mujoco.MjModel.from_xml_path(path)
        flags = mujoco.mjtDisableBit
        self.model.opt.disableflags |= int(flags.mjDSBL_CONSTRAINT) | int(flags.mjDSBL_ACTUATION)
        self.model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        self.model.dof_damping[:] = 0  # dynamics without what joints do by themselves
        self.model.jnt_stiffness[:] = 0
        self.kinds = [type(model.joint(body)).__name__ for body in range(model.nbodies)]
        assert self.model.njnt == model.njoints
        self.numbers = {int(body): k for k, body in enumerate(model.joint_bodies)}
        self.bodies = [self._body(body) for body in range(model.nbodies)]
        self._prepare()
        assert np.array_equal(np.abs(self.matrix) @ model.dofs[:, 0], self.model.dof_armature), "rotors differ"

    def _first_joint(self, body: int) -> int:
        number = self.numbers[body]
        name = self.model.joint(number).name
        assert name in ("", self.ours.body_joint_names[body]), f"{name} is not {self.ours.body_joint_names[body]}"
        return number

    def _body(self, body: int) -> int:
        number = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, self.ours.names[body])
        if number < 0 and body in self.numbers:
            joint = self._first_joint(body)
            owner = int(self.model.jnt_bodyid[joint])
            last = int(self.model.body_jntadr[owner] + self.model.body_jntnum[owner] - 1)
            number = owner if joint == last and self.model.body(owner).name == "" else -1
        return number
