"""The soft-constraint world: rigid bodies in maximal coordinates, and constraints that are all implicit springs."""

from .bodies import Body
from .constraints import Constraint
from .solver import Recording
from .targets import Target
from .world import World

__all__ = ["Body", "Constraint", "Recording", "Target", "World"]
