"""A chain of revolute joints in Drake."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import missing_extra
from ...model.model import Model
from ...typing import Array


class DrakeTwin:
    """A kinetree chain in Drake: each body hangs on the one before by a revolute joint."""

    def __init__(self, ours: Model) -> None:
        """Build the chain again."""
        try:
            import pydrake.math
            import pydrake.multibody.plant
            import pydrake.multibody.tree
        except ImportError:
            raise missing_extra("Drake", "bench", "comparing with Drake") from None
        self.ours = ours
        math: Any = pydrake.math
        tree: Any = pydrake.multibody.tree
        self.plant: Any = pydrake.multibody.plant.MultibodyPlant(time_step=0.0)
        body = self.plant.world_body()
        for i, name in enumerate(ours.names):
            turn, shift = ours.placements[i, :9].reshape(3, 3), ours.placements[i, 9:]
            pose = math.RigidTransform(math.RotationMatrix.ProjectToRotationMatrix(turn), shift)
            parent = self.plant.AddFrame(tree.FixedOffsetFrame(f"at {name}", body.body_frame(), pose))
            mass, com = float(ours.masses[i]), ours.coms[i]
            unit = ours.inertias[i] / mass + com @ com * np.eye(3) - np.outer(com, com)
            inertia = tree.UnitInertia(unit[0, 0], unit[1, 1], unit[2, 2], unit[0, 1], unit[0, 2], unit[1, 2])
            body = self.plant.AddRigidBody(name, tree.SpatialInertia(mass, com, inertia))
            axis = ours.joint(i).axis  # type: ignore[attr-defined]
            self.plant.AddJoint(tree.RevoluteJoint(f"joint {name}", parent, body.body_frame(), axis))
        self.plant.Finalize()
        self.context: Any = self.plant.CreateDefaultContext()
        self.port = self.plant.get_applied_generalized_force_input_port()
        self.forces: Any = self.port.FixValue(self.context, np.zeros(ours.nv))

    def knows(self, body: int) -> bool:
        """Whether Drake has this body."""
        return bool(self.plant.HasBodyNamed(self.ours.names[body]))

    def set_state(self, q: Array, v: Array) -> None:
        """Put the state into Drake's context."""
        self.plant.SetPositionsAndVelocities(self.context, np.concatenate((q, v)))

    def forward_dynamics(self, q: Array, v: Array, tau: Array) -> Array:
        """Return the accelerations by Drake's articulated-body algorithm."""
        self.set_state(q, v)
        self.forces.GetMutableData().get_mutable_value().SetFromVector(tau)
        return self.plant.EvalTimeDerivatives(self.context).CopyToVector()[self.ours.nq :]

    def inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        """Return the joint forces."""
        from pydrake.multibody.tree import MultibodyForces_

        self.set_state(q, v)
        forces = MultibodyForces_[float](self.plant)
        self.plant.CalcForceElementsContribution(self.context, forces)
        return self.plant.CalcInverseDynamics(self.context, a, forces)

    def mass_matrix(self, q: Array) -> Array:
        """Return the mass matrix."""
        self.set_state(q, np.zeros(self.ours.nv))
        return self.plant.CalcMassMatrix(self.context)

    def energy(self, q: Array, v: Array) -> tuple[float, float]:
        """Return (kinetic, potential)."""
        self.set_state(q, v)
        return self.plant.EvalKineticEnergy(self.context), self.plant.EvalPotentialEnergy(self.context)

    def jacobian(self, q: Array, body: int) -> Array:
        """Return the (6, nv) Jacobian [angular; of the origin] of a body, world axes."""
        from pydrake.multibody.tree import JacobianWrtVariable

        self.set_state(q, np.zeros(self.ours.nv))
        frame, world = self.plant.GetBodyByName(self.ours.names[body]).body_frame(), self.plant.world_frame()
        return self.plant.CalcJacobianSpatialVelocity(
            self.context, JacobianWrtVariable.kV, frame, np.zeros(3), world, world
        )
