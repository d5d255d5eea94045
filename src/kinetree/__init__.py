"""kinetree: adaptive, error-bounded and exact dynamics of articulated bodies.

Everything a user needs hangs on this module (`import kinetree as kt`) and is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "kinetree.model.builder": ("ModelBuilder",),
    "kinetree.model.model": ("Model",),
    "kinetree.model.joints": (
        "Revolute", "Prismatic", "Helical", "Universal", "Spherical", "Planar", "Free", "Fixed",
    ),
    "kinetree.model.shapes": ("Box", "Sphere", "Capsule", "Plane"),
    "kinetree.io.load": ("load",),
    "kinetree.io.save": ("save",),
    "kinetree.dynamics": (
        "forward_dynamics", "inverse_dynamics", "mass_matrix", "energy", "momentum", "center_of_mass", "body_poses",
        "body_velocities", "body_accelerations", "jacobian", "integrate", "difference",
    ),
    "kinetree.simulation": ("Simulation", "Full"),
    "kinetree.trajectory": ("Trajectory",),
    "kinetree.adaptive.method": ("Adaptive",),
    "kinetree.adaptive.view": ("View",),
    "kinetree.adaptive.quasistatic": ("Quasistatic",),
    "kinetree.adaptive.quasistatic_call": ("Approximation", "Refined", "Refinement", "quasistatic_acceleration"),
    "kinetree.adaptive.quasistatic_relax": ("Equilibrium", "relax"),
}  # fmt: skip
_MODULES = {
    "models": "kinetree.model.library",
    "forces": "kinetree.forces",
    "errors": "kinetree.errors",
    "soft": "kinetree.soft",
    "human": "kinetree.human",
    "constraints": "kinetree.constraints",
    "lcp": "kinetree.constraints.lcp",
}  # fmt: skip
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = ["__version__", *_HOME_OF, *_MODULES]  # noqa: PLE0604

if TYPE_CHECKING:
    from . import constraints as constraints
    from . import errors as errors
    from . import forces as forces
    from . import human as human
    from . import soft as soft
    from .adaptive.method import Adaptive as Adaptive
    from .adaptive.quasistatic import Quasistatic as Quasistatic
    from .adaptive.quasistatic_call import (
        Approximation as Approximation,
    )
    from .adaptive.quasistatic_call import (
        Refined as Refined,
    )
    from .adaptive.quasistatic_call import (
        Refinement as Refinement,
    )
    from .adaptive.quasistatic_call import (
        quasistatic_acceleration as quasistatic_acceleration,
    )
    from .adaptive.quasistatic_relax import Equilibrium as Equilibrium
    from .adaptive.quasistatic_relax import relax as relax
    from .adaptive.view import View as View
    from .constraints import lcp as lcp
    from .dynamics import (
        body_accelerations as body_accelerations,
    )
    from .dynamics import (
        body_poses as body_poses,
    )
    from .dynamics import (
        body_velocities as body_velocities,
    )
    from .dynamics import (
        center_of_mass as center_of_mass,
    )
    from .dynamics import (
        difference as difference,
    )
    from .dynamics import (
        energy as energy,
    )
    from .dynamics import (
        forward_dynamics as forward_dynamics,
    )
    from .dynamics import (
        integrate as integrate,
    )
    from .dynamics import (
        inverse_dynamics as inverse_dynamics,
    )
    from .dynamics import (
        jacobian as jacobian,
    )
    from .dynamics import (
        mass_matrix as mass_matrix,
    )
    from .dynamics import (
        momentum as momentum,
    )
    from .io.load import load as load
    from .io.save import save as save
    from .model import library as models
    from .model.builder import ModelBuilder as ModelBuilder
    from .model.joints import (
        Fixed as Fixed,
    )
    from .model.joints import (
        Free as Free,
    )
    from .model.joints import (
        Helical as Helical,
    )
    from .model.joints import (
        Planar as Planar,
    )
    from .model.joints import (
        Prismatic as Prismatic,
    )
    from .model.joints import (
        Revolute as Revolute,
    )
    from .model.joints import (
        Spherical as Spherical,
    )
    from .model.joints import (
        Universal as Universal,
    )
    from .model.model import Model as Model
    from .model.shapes import Box as Box
    from .model.shapes import Capsule as Capsule
    from .model.shapes import Plane as Plane
    from .model.shapes import Sphere as Sphere
    from .simulation import Full as Full
    from .simulation import Simulation as Simulation
    from .trajectory import Trajectory as Trajectory


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for."""
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    else:
        raise AttributeError(f"module 'kinetree' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
