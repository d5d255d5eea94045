"""The soft-constraint world: rigid bodies in maximal coordinates, and constraints that are all implicit springs."""

from .bodies import Body
from .constraints import Constraint
from .from_model import Comparison, compare, from_model, joint_gaps, model_state, put_model_state
from .solver import Recording
from .targets import Target
from .world import World

__all__ = [
    "Body", "Comparison", "Constraint", "Recording", "Target", "World", "compare", "from_model", "joint_gaps",
    "model_state", "put_model_state",
]  # fmt: skip
