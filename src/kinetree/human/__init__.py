"""Human movement: from a recorded movement to joint angles, torques, ground forces and energy.

The steps can be called one by one: `Trial.read`, `fit`, `follow`, `inverse_dynamics`, `forward`, `replay`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "kinetree.human.trial": ("Trial",),
    "kinetree.human.subject": ("Subject",),
    "kinetree.human.motion": ("Motion",),
    "kinetree.human.fitting": ("fit",),
    "kinetree.human.following": ("follow",),
    "kinetree.human.analysis": ("Analysis", "analyse"),
    "kinetree.human.synthetic": ("synthetic_walk",),
    "kinetree.human.judging": ("verdict",),
    "kinetree.human.inverse": ("inverse_dynamics",),
    "kinetree.human.simulating": ("forward", "replay"),
    "kinetree.human.soft_torques": ("soft_inverse_dynamics",),
    "kinetree.human.live": ("Live",),
    "kinetree.human.result": ("Result",),
}
_MODULES = ("experiments",)
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [*_HOME_OF, *_MODULES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for."""
    if name in _MODULES:
        return import_module(f"kinetree.human.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'kinetree.human' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
