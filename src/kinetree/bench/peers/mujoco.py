"""A kinetree model in MuJoCo, written as its XML or read by MuJoCo itself from a file.

MuJoCo's free joints have the linear velocity first and take world coordinates; planar and universal joints are several
joints of one body. The translation is linear in the velocity: v_mujoco = G v with a constant, orthogonal G.
"""

from __future__ import annotations

import os
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from scipy.spatial.transform import Rotation

from ...errors import missing_extra
from ...model.model import Model
from ...typing import Array

HEADER = """<mujoco><compiler angle="radian" inertiafromgeom="false"/><option gravity="0 0 -9.81">
<flag constraint="disable" contact="disable" energy="enable"/></option><worldbody/></mujoco>"""


def library() -> Any:
    """Import MuJoCo."""
    try:
        import mujoco
    except ImportError:
        raise missing_extra("MuJoCo", "bench", "comparing with MuJoCo") from None
    return mujoco


class MujocoTwin:
    """A kinetree model in MuJoCo; free joints must hang on the world, and helical ones do not exist there."""

    def __init__(self, ours: Model, theirs: Any = None) -> None:
        """Build `ours` again, or take `theirs`, whose joints and bodies have the same names."""
        self.mujoco = library()
        self.ours = ours
        self.kinds = [ours.joint(body).name for body in range(ours.nbodies)]
        built = theirs is None
        self.model = self._build() if built else theirs
        self.data = self.mujoco.MjData(self.model)
        self.nameless = iter([k for k in range(self.model.njnt) if not self.model.joint(k).name])
        self.moving = [self._rows(body, built) for body in range(ours.nbodies) if self.kinds[body] != "fixed"]
        self.matrix = np.zeros((self.model.nv, ours.nv))
        for body, _, their_v, _, own_v in self.moving:
            block = np.eye(their_v.stop - their_v.start)
            if self.kinds[body] == "free":
                turn = ours.placements[body, :9].reshape(3, 3)
                block = np.block([[np.zeros((3, 3)), turn], [np.eye(3), np.zeros((3, 3))]])
            elif self.kinds[body] == "planar":
                block = np.eye(3)[[1, 2, 0]]
            self.matrix[their_v, own_v] = block
        if built:
            self.model.dof_armature[:] = np.abs(self.matrix) @ ours.dofs[:, 0]

    @classmethod
    def from_file(cls, ours: Model, path: str | os.PathLike[str]) -> MujocoTwin:
        """Let MuJoCo read the MJCF that `ours` was loaded from, without what is not rigid-body dynamics."""
        mujoco = library()
        model = mujoco.MjModel.from_xml_path(os.fspath(path))
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
        model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        model.opt.gravity[:] = 0, 0, -9.81
        for name in ("dof_damping", "dof_frictionloss", "jnt_stiffness", "tendon_stiffness", "tendon_damping"):
            getattr(model, name)[:] = 0
        return cls(ours, model)

    def _build(self) -> Any:
        root = ET.fromstring(HEADER)  # noqa: S314 our own text
        world = root.find("worldbody")
        assert world is not None
        elements = {-1: world}
        for body in range(self.ours.nbodies):
            elements[body] = self._add_body(elements[int(self.ours.parents[body])], body)
        return self.mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))

    def _add_body(self, parent: ET.Element, body: int) -> ET.Element:
        ours, name = self.ours, self.ours.names[body]
        turn, shift = ours.placements[body, :9].reshape(3, 3), ours.placements[body, 9:]
        element = ET.SubElement(parent, "body", name=name, pos=_text(shift), quat=_quaternion(turn))
        moments, axes = np.linalg.eigh(ours.inertias[body])
        axes[:, 2] *= np.linalg.det(axes)
        if ours.masses[body] > 0:
            ET.SubElement(
                element, "inertial", pos=_text(ours.coms[body]), mass=_text(ours.masses[body]),
                diaginertia=_text(moments), quat=_quaternion(axes),
            )  # fmt: skip
        joint: Any = ours.joint(body)
        kinds: dict[str, Any] = {
            "revolute": lambda: [("hinge", joint.axis)],
            "prismatic": lambda: [("slide", joint.axis)],
            "universal": lambda: [("hinge", joint.first), ("hinge", joint.second)],
            "planar": lambda: [("slide", (1, 0, 0)), ("slide", (0, 1, 0)), ("hinge", (0, 0, 1))],
            "spherical": lambda: [("ball", (0, 0, 1))],
            "free": lambda: [("free", (0, 0, 1))],
            "fixed": list,
        }
        for k, (kind, axis) in enumerate(kinds[self.kinds[body]]()):
            ET.SubElement(element, "joint", name=f"{name}/{k}", type=kind, axis=_text(axis))
        return element

    def _rows(self, body: int, built: bool) -> tuple[int, slice, slice, slice, slice]:
        """Return (body, coordinates and velocities there, coordinates and velocities here)."""
        name = f"{self.ours.names[body]}/0" if built else self.ours.body_joint_names[body]
        first = self.mujoco.mj_name2id(self.model, self.mujoco.mjtObj.mjOBJ_JOINT, name)
        if first < 0:  # joints without names stand in the same order here and there
            first = next(self.nameless)
        q, v = int(self.model.jnt_qposadr[first]), int(self.model.jnt_dofadr[first])
        own_q = slice(int(self.ours.q_starts[body]), int(self.ours.q_starts[body + 1]))
        own_v = slice(int(self.ours.v_starts[body]), int(self.ours.v_starts[body + 1]))
        return body, slice(q, q + own_q.stop - own_q.start), slice(v, v + own_v.stop - own_v.start), own_q, own_v

    def knows(self, body: int) -> bool:
        """Whether MuJoCo has this body; it has none for a step between two joints of one body."""
        kind = self.mujoco.mjtObj.mjOBJ_BODY
        return bool(self.mujoco.mj_name2id(self.model, kind, self.ours.names[body]) >= 0)

    def configuration(self, q: Array) -> Array:
        """Return MuJoCo's coordinates."""
        theirs = np.zeros(self.model.nq)
        for body, their_q, _, own_q, _ in self.moving:
            own = q[own_q]
            if self.kinds[body] == "free":
                turn, shift = self.ours.placements[body, :9].reshape(3, 3), self.ours.placements[body, 9:]
                whole = Rotation.from_matrix(turn) * Rotation.from_quat(np.roll(own[:4], -1))
                own = np.concatenate((turn @ own[4:] + shift, np.roll(whole.as_quat(), 1)))
            elif self.kinds[body] == "planar":
                own = own[[1, 2, 0]]
            theirs[their_q] = own
        return theirs

    def set_state(self, q: Array, v: Array) -> None:
        """Put the state into MuJoCo's data and compute what depends on it alone."""
        self.data.qpos[:] = self.configuration(q)
        self.data.qvel[:] = self.matrix @ v
        self.mujoco.mj_fwdPosition(self.model, self.data)
        self.mujoco.mj_fwdVelocity(self.model, self.data)

    def forward_dynamics(self, q: Array, v: Array, tau: Array) -> Array:
        """Return the accelerations by mj_forward."""
        self.set_state(q, v)
        self.data.qfrc_applied[:] = self.matrix @ tau  # the inverse of G is its transpose
        self.mujoco.mj_forward(self.model, self.data)
        return self.matrix.T @ self.data.qacc

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        """Return the joint forces by mj_inverse."""
        self.set_state(q, v)
        self.data.qacc[:] = self.matrix @ a
        self.mujoco.mj_inverse(self.model, self.data)
        return self.matrix.T @ self.data.qfrc_inverse

    def mass_matrix(self, q: Array) -> Array:
        """Return the mass matrix, column by column."""
        self.set_state(q, np.zeros(self.ours.nv))
        columns = np.zeros((self.model.nv, self.model.nv))
        for k, unit in enumerate(np.eye(self.model.nv)):
            self.mujoco.mj_mulM(self.model, self.data, columns[k], unit)
        return self.matrix.T @ columns.T @ self.matrix

    def energy(self, q: Array, v: Array) -> tuple[float, float]:
        """Return (kinetic, potential)."""
        self.set_state(q, v)
        self.mujoco.mj_energyPos(self.model, self.data)
        self.mujoco.mj_energyVel(self.model, self.data)
        potential, kinetic = self.data.energy
        return float(kinetic), float(potential)

    def jacobian(self, q: Array, body: int) -> Array:
        """Return the (6, nv) Jacobian [angular; of the origin] of a body, world axes."""
        self.set_state(q, np.zeros(self.ours.nv))
        linear, angular = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        number = self.model.body(self.ours.names[body]).id
        self.mujoco.mj_jac(self.model, self.data, linear, angular, self.data.xpos[number], number)
        return np.vstack((angular, linear)) @ self.matrix


def _text(values: object) -> str:
    """Write numbers with all their digits."""
    return " ".join(repr(float(x)) for x in np.ravel(np.asarray(values)))


def _quaternion(turn: Array) -> str:
    """Write a rotation matrix as w x y z."""
    return _text(np.roll(Rotation.from_matrix(turn).as_quat(), 1))
