"""Drake and kinetree agree on a chain of 200 links that swings in space."""

import numpy as np
import pytest

import kinetree as kt
import oracle

pytest.importorskip("pydrake", reason="Drake is not installed: pip install 'kinetree[bench]'")

from pydrake.math import RigidTransform
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    FixedOffsetFrame,
    JointIndex,
    MultibodyForces_,
    RevoluteJoint,
    SpatialInertia,
    UnitInertia,
)

LINKS = 200
TOLERANCE = 1e-10  # relative to the largest entry


@pytest.fixture(scope="module")
def pair():
    """The chain in kinetree and in Drake, with a state."""
    model = oracle.random_model(4, LINKS, ("revolute",), branching=0.0, roots=0.0, massless=0.0, armature=0.0)
    plant = MultibodyPlant(time_step=0.0)
    body = plant.world_body()
    for i, name in enumerate(model.names):
        turn, shift = model.placements[i, :9].reshape(3, 3), model.placements[i, 9:]
        parent = plant.AddFrame(
            FixedOffsetFrame(f"at {name}", body.body_frame(), RigidTransform(with_rotation(turn), shift))
        )
        mass, com = float(model.masses[i]), model.coms[i]
        about_origin = model.inertias[i] / mass + com @ com * np.eye(3) - np.outer(com, com)
        xx, xy, xz, _, yy, yz, _, _, zz = about_origin.ravel()
        body = plant.AddRigidBody(name, SpatialInertia(mass, com, UnitInertia(xx, yy, zz, xy, xz, yz)))
        plant.AddJoint(RevoluteJoint(f"joint {name}", parent, body.body_frame(), model.joint(i).axis))
    plant.Finalize()
    order = [plant.get_joint(JointIndex(i)).velocity_start() for i in range(LINKS)]
    assert order == list(range(LINKS)), "Drake numbers the joints of a chain in order"
    rng = np.random.default_rng(0)
    # a chain that is nearly stretched out and slow: its joints' accelerations stay of the order of 100 rad/s2
    q, v = rng.normal(scale=0.3, size=LINKS), rng.normal(scale=0.3, size=LINKS)
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    return model, plant, context, q, v


def with_rotation(turn):
    from pydrake.math import RotationMatrix

    return RotationMatrix.ProjectToRotationMatrix(turn)


def test_mass_matrix_and_energies(pair):
    model, plant, context, q, v = pair
    oracle.assert_close(kt.mass_matrix(model, q), plant.CalcMassMatrix(context), TOLERANCE, "mass matrix")
    kinetic, potential = kt.energy(model, q, v)
    oracle.assert_close(kinetic, plant.EvalKineticEnergy(context), TOLERANCE, "kinetic energy")
    oracle.assert_close(potential, plant.EvalPotentialEnergy(context), TOLERANCE, "potential energy")


def test_inverse_dynamics(pair):
    model, plant, context, q, v = pair
    a = np.random.default_rng(1).normal(size=LINKS)
    forces = MultibodyForces_[float](plant)
    plant.CalcForceElementsContribution(context, forces)
    expected = plant.CalcInverseDynamics(context, a, forces)
    oracle.assert_close(kt.inverse_dynamics(model, q, v, a), expected, TOLERANCE, "joint forces")


def test_forward_dynamics(pair):
    model, plant, context, q, v = pair
    tau = np.random.default_rng(2).normal(size=LINKS)
    plant.get_applied_generalized_force_input_port().FixValue(context, tau)
    expected = plant.EvalTimeDerivatives(context).CopyToVector()[LINKS:]
    condition = np.linalg.cond(kt.mass_matrix(model, q))
    ours = kt.forward_dynamics(model, q, v, tau)
    print(f"condition {condition:.3g}, difference {oracle.relative_error(ours, expected):.3g}")
    oracle.assert_close(ours, expected, TOLERANCE, "accelerations")


def test_jacobian(pair):
    from pydrake.multibody.tree import JacobianWrtVariable

    model, plant, context, q, _ = pair
    world = plant.world_frame()
    for i in (0, LINKS // 2, LINKS - 1):
        frame = plant.GetFrameByName(model.names[i])
        expected = plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, frame, np.zeros(3), world, world)
        oracle.assert_close(kt.jacobian(model, q, i), expected, TOLERANCE, f"Jacobian of link {i}")
