"""Plain NumPy twins of the algorithms, written to be read: slow, obvious and without recursion over joints' algebra.

The oracle knows one idea only: a motion is a 4x4 pose matrix with its first and second time derivative, and the product
rule carries it along the tree. Everything else is its definition: a Jacobian column is the velocity for a unit velocity
of one degree of freedom, the mass matrix is the sum of J' I J, and the joint forces are d'Alembert's principle, the sum
over the bodies of J' (rate of momentum - applied wrench). It shares no formula with the library's recursions.
"""

from .compare import assert_close, relative_error
from .manifold import difference, integrate
from .mechanics import (
    center_of_mass,
    energy,
    forward_dynamics,
    inverse_dynamics,
    jacobian,
    mass_matrix,
    momentum,
)
from .motion import body_accelerations, body_motions, body_poses, body_velocities
from .trees import KINDS, MOVING, ONE_AXIS, random_model, random_motion, random_wrenches

__all__ = [
    "KINDS",
    "MOVING",
    "ONE_AXIS",
    "assert_close",
    "body_accelerations",
    "body_motions",
    "body_poses",
    "body_velocities",
    "center_of_mass",
    "difference",
    "energy",
    "forward_dynamics",
    "integrate",
    "inverse_dynamics",
    "jacobian",
    "mass_matrix",
    "momentum",
    "random_model",
    "random_motion",
    "random_wrenches",
    "relative_error",
]
