"""Constraints on the motion: accelerations, contacts, limits, motions to follow and closed loops.

Give them to a `kinetree.Simulation(..., constraints=[...])`, or ask for the forces of one instant with
`constraint_matrix`, `solve_accelerations` and `resolve_impact`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "acceleration": (
        "Coupling", "OrientationAcceleration", "constraint_matrix", "solve_accelerations", "resolve_impact", "Impact",
    ),
    "contact": ("Contacts", "HeightField", "Hull"),
    "limits": ("JointFriction", "JointLimits", "Motor"),
    "loop": ("Loop", "PointAcceleration", "PointAttachment"),
    "motion": ("JointAcceleration", "MotionTarget"),
    "solver": ("Solver",),
    "stepper": ("Contact",),
}  # fmt: skip
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [*_HOME_OF]  # noqa: PLE0604

if TYPE_CHECKING:
    from .acceleration import Coupling as Coupling
    from .acceleration import Impact as Impact
    from .acceleration import OrientationAcceleration as OrientationAcceleration
    from .acceleration import constraint_matrix as constraint_matrix
    from .acceleration import resolve_impact as resolve_impact
    from .acceleration import solve_accelerations as solve_accelerations
    from .contact import Contacts as Contacts
    from .contact import HeightField as HeightField
    from .contact import Hull as Hull
    from .limits import JointFriction as JointFriction
    from .limits import JointLimits as JointLimits
    from .limits import Motor as Motor
    from .loop import Loop as Loop
    from .loop import PointAcceleration as PointAcceleration
    from .loop import PointAttachment as PointAttachment
    from .motion import JointAcceleration as JointAcceleration
    from .motion import MotionTarget as MotionTarget
    from .solver import Solver as Solver
    from .stepper import Contact as Contact


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'kinetree.constraints' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
