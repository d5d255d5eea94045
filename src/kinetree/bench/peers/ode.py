"""The Open Dynamics Engine (libode, a shared library) through ctypes: the same bodies and rows as a soft world.

It is asked for what its formulas share with ours: ball, hinge and universal joints, markers as ball joints to kinematic
bodies, motors of limited torque, contacts; without gyroscopic torques unless they are asked for, and with finite
rotations (the exponential map).
"""

from __future__ import annotations

import ctypes
import ctypes.util
from ctypes import POINTER, Structure, byref, c_double, c_int, c_void_p
from functools import cache
from typing import Any

import numpy as np

from ...errors import MissingExtraError
from ...kernels import soft_layout as at
from ...soft import World
from ...soft.bodies import Body
from ...soft.constraints import Constraint
from ...typing import Array

NAMES = ("libode.so.8", "libode.so.6", "libode.so")
VEL, FMAX, CFM, ERP, GROUP = 2, 5, 8, 13, 0x100
SOFT_ERP, SOFT_CFM = 0x008, 0x010


class _Mass(Structure):
    _fields_ = (("mass", c_double), ("c", c_double * 4), ("inertia", c_double * 12))


class _Surface(Structure):
    _fields_ = (
        ("mode", c_int), ("mu", c_double), ("mu2", c_double),
        ("rho", c_double), ("rho2", c_double), ("rho_n", c_double),
        ("bounce", c_double), ("bounce_vel", c_double), ("soft_erp", c_double), ("soft_cfm", c_double),
        ("motion1", c_double), ("motion2", c_double), ("motion_n", c_double), ("slip1", c_double), ("slip2", c_double),
    )  # fmt: skip


class _Geometry(Structure):
    _fields_ = (
        ("pos", c_double * 4), ("normal", c_double * 4), ("depth", c_double), ("g1", c_void_p), ("g2", c_void_p),
        ("side1", c_int), ("side2", c_int),
    )  # fmt: skip


class _Contact(Structure):
    _fields_ = (("surface", _Surface), ("geom", _Geometry), ("fdir1", c_double * 4))


class _Feedback(Structure):
    _fields_ = (("f1", c_double * 4), ("t1", c_double * 4), ("f2", c_double * 4), ("t2", c_double * 4))


@cache
def _load() -> Any:
    for name in (*NAMES, ctypes.util.find_library("ode")):
        if name is None:
            continue
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        for function in ("dWorldCreate", "dBodyCreate"):
            getattr(library, function).restype = c_void_p
        for kind in ("Ball", "Hinge", "Universal", "AMotor", "Contact"):
            getattr(library, f"dJointCreate{kind}").restype = c_void_p
        for getter in ("Position", "Quaternion", "LinearVel", "AngularVel", "Rotation"):
            getattr(library, f"dBodyGet{getter}").restype = POINTER(c_double)
        library.dJointGroupCreate.restype = c_void_p
        library.dInitODE2(0)
        if not library.dCheckConfiguration(b"ODE_double_precision"):
            raise MissingExtraError(f"{name} was built for single precision: comparing needs the double one")
        return library
    return None


def library() -> Any:
    """Return libode, or raise what to install."""
    found = _load()
    if found is None:
        raise MissingExtraError("comparing with the Open Dynamics Engine needs libode (Debian: apt install libode8)")
    return found


def is_there() -> bool:
    """Say whether libode can be loaded."""
    return _load() is not None


def _d(*values: Any) -> list[c_double]:
    return [c_double(float(v)) for v in values]


class OdeTwin:
    """A soft world in the Open Dynamics Engine, made from the world's own tables as they are now."""

    def __init__(self, world: World, *, gyroscopic: bool = False) -> None:
        """Copy bodies, joints, markers and motors; contacts are copied anew before each step."""
        self.ode, self.ours = library(), world
        self.world = c_void_p(self.ode.dWorldCreate())
        self.group = c_void_p(self.ode.dJointGroupCreate(0))
        self.ode.dWorldSetGravity(self.world, *_d(*world.gravity))
        for what, value in zip(("ERP", "CFM"), world.defaults, strict=True):  # friction rows have no other
            getattr(self.ode, f"dWorldSet{what}")(self.world, c_double(value))
        self.bodies = [self._body(body, gyroscopic) for body in world.bodies]
        self.markers: dict[int, c_void_p] = {}
        self.joints: dict[int, tuple[c_void_p, _Feedback]] = {}
        for constraint in world.constraints:
            if constraint.kind != "contact":
                self._joint(constraint)

    def close(self) -> None:
        """Give everything back."""
        self.ode.dJointGroupDestroy(self.group)
        self.ode.dWorldDestroy(self.world)

    def _body(self, body: Body, gyroscopic: bool) -> c_void_p:
        ode, made = self.ode, c_void_p(self.ode.dBodyCreate(self.world))
        if body.is_kinematic:
            ode.dBodySetKinematic(made)
        else:
            mass, m = _Mass(), body.inertia
            ode.dMassSetParameters(
                byref(mass), *_d(body.mass, 0, 0, 0, m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])
            )
            ode.dBodySetMass(made, byref(mass))
        ode.dBodySetGyroscopicMode(made, int(gyroscopic))
        ode.dBodySetFiniteRotationMode(made, 1)
        self._put(made, self.ours.state()[body.index])
        return made

    def _put(self, made: c_void_p, state: Array) -> None:
        self.ode.dBodySetPosition(made, *_d(*state[:3]))
        self.ode.dBodySetQuaternion(made, (c_double * 4)(*state[3:7]))
        self.ode.dBodySetAngularVel(made, *_d(*state[7:10]))
        self.ode.dBodySetLinearVel(made, *_d(*state[10:13]))

    def _joint(self, constraint: Constraint) -> None:
        ode, world = self.ode, self.world
        child = self.bodies[constraint.child.index]
        parent = None if constraint.parent is None else self.bodies[constraint.parent.index]
        erp, cfm = float(constraint.erp[0]), float(constraint.cfm[0])
        frame = self.ours.tables["frames"][constraint.index]
        turn = constraint.child.rotation @ frame[at.TURN_A : at.TURN_A + 9].reshape(3, 3)
        if constraint.kind == "marker":
            point = c_void_p(ode.dBodyCreate(world))
            ode.dBodySetKinematic(point)
            ode.dBodySetPosition(point, *_d(*constraint.point))
            self.markers[constraint.index] = parent = point
        kind = {"ball": "Ball", "marker": "Ball", "hinge": "Hinge", "universal": "Universal", "vector motor": "AMotor"}
        name = kind[constraint.kind]
        joint = c_void_p(getattr(ode, f"dJointCreate{name}")(world, None))
        # the axes of a universal joint: the first is fixed in the first body
        pair = (parent, child) if name == "Universal" else (child, parent)
        ode.dJointAttach(joint, *pair)
        if name == "AMotor":
            held = np.eye(3) if constraint.parent is None else constraint.parent.rotation
            axes = held @ frame[at.TURN_B : at.TURN_B + 9].reshape(3, 3)
            ode.dJointSetAMotorMode(joint, 0)
            ode.dJointSetAMotorNumAxes(joint, 3)
            for k in range(3):
                ode.dJointSetAMotorAxis(joint, k, 0 if parent is None else 2, *_d(*axes[:, k]))
                for what, value in ((VEL, constraint.goal_rate[k]), (FMAX, constraint.limits[1][k]), (CFM, cfm)):
                    ode.dJointSetAMotorParam(joint, what + GROUP * k, c_double(value))
        else:
            getattr(ode, f"dJointSet{name}Anchor")(joint, *_d(*constraint.point))
            if name == "Hinge":
                ode.dJointSetHingeAxis(joint, *_d(*turn[:, 2]))
            elif name == "Universal":
                held = np.eye(3) if constraint.parent is None else constraint.parent.rotation
                ode.dJointSetUniversalAxis1(joint, *_d(*(held @ frame[at.TURN_B : at.TURN_B + 9].reshape(3, 3))[:, 0]))
                ode.dJointSetUniversalAxis2(joint, *_d(*turn[:, 1]))
            for what, value in ((ERP, erp), (CFM, cfm)):
                getattr(ode, f"dJointSet{name}Param")(joint, what, c_double(value))
        feedback = _Feedback()
        ode.dJointSetFeedback(joint, byref(feedback))
        if constraint.kind == "marker":
            ode.dBodySetPosition(parent, *_d(*constraint.anchor))
            ode.dBodySetLinearVel(parent, *_d(*constraint.anchor_velocity))
        self.joints[constraint.index] = joint, feedback

    def move_markers(self) -> None:
        """Put the kinematic points where our markers are."""
        for index, body in self.markers.items():
            frame = self.ours.tables["frames"][index]
            self.ode.dBodySetPosition(body, *_d(*frame[at.ANCHOR_B : at.ANCHOR_B + 3]))
            self.ode.dBodySetLinearVel(body, *_d(*frame[at.RATE_B : at.RATE_B + 3]))

    def contacts(self) -> list[tuple[int, _Feedback]]:
        """Copy the contacts that touch now; friction is limited by our friction force."""
        made = []
        for constraint in self.ours.constraints:
            if constraint.kind != "contact" or constraint.parent is not None:
                continue
            frame = self.ours.tables["frames"][constraint.index]
            axes = frame[at.TURN_B : at.TURN_B + 9].reshape(3, 3)
            normal = axes[:, 2]
            gap = float(normal @ (constraint.point - constraint.anchor)) - frame[at.LENGTH]
            if gap > 0:
                continue
            place = constraint.point - normal * frame[at.LENGTH]
            contact = _Contact()
            contact.surface.mode = SOFT_ERP | SOFT_CFM | 0x002  # dContactFDir1
            contact.surface.mu = float(constraint.limits[1][-1]) if constraint.count == 3 else 0.0
            contact.surface.soft_erp, contact.surface.soft_cfm = float(constraint.erp[0]), float(constraint.cfm[0])
            contact.geom.pos[:3], contact.geom.normal[:3] = place.tolist(), normal.tolist()
            contact.fdir1[:3] = axes[:, 0].tolist()
            contact.geom.depth = -gap
            joint = c_void_p(self.ode.dJointCreateContact(self.world, self.group, byref(contact)))
            self.ode.dJointAttach(joint, self.bodies[constraint.child.index], None)
            feedback = _Feedback()
            self.ode.dJointSetFeedback(joint, byref(feedback))
            made.append((constraint.index, feedback))
        return made

    def step(self, *, quick: int = 0) -> dict[int, Array]:
        """Step once (by dWorldQuickStep with `quick` sweeps); returns [torque; force] on each constraint's child."""
        touching = self.contacts()
        h = c_double(self.ours.dt)
        if quick:
            self.ode.dWorldSetQuickStepNumIterations(self.world, quick)
            self.ode.dWorldQuickStep(self.world, h)
        else:
            self.ode.dWorldStep(self.world, h)
        self.ode.dJointGroupEmpty(self.group)
        out = {}
        for index, feedback in [(k, pair[1]) for k, pair in self.joints.items()] + touching:
            swapped = self.ours.constraints[index].kind == "universal"
            f, t = (feedback.f2, feedback.t2) if swapped else (feedback.f1, feedback.t1)
            out[index] = np.array([*t[:3], *f[:3]])
        return out

    def state(self) -> Array:
        """Return the bodies' state as `World.state` does."""
        rows = []
        for body in self.bodies:
            parts = [
                getattr(self.ode, f"dBodyGet{what}")(body)[:count]
                for what, count in (("Position", 3), ("Quaternion", 4), ("AngularVel", 3), ("LinearVel", 3))
            ]
            rows.append(np.concatenate(parts))
        return np.array(rows)

    def take_state(self) -> None:
        """Put the bodies where ours are."""
        for made, state in zip(self.bodies, self.ours.state(), strict=True):
            self._put(made, state)
