"""`kinetree.models`: the bodies of the benchmarks, by function or by name.

>>> from kinetree import models
>>> models.from_spec("pendulum:300").nv
300
"""

from __future__ import annotations

from .bicycle_chain import bicycle_chain
from .chain import chain
from .crowd import crowd
from .human48 import human48
from .humanoid import humanoid
from .millipede import millipede
from .molecule import molecule
from .pendulum import pendulum
from .spec import from_spec, names, usage

__all__ = [
    "bicycle_chain", "chain", "crowd", "from_spec", "human48", "humanoid", "millipede", "molecule", "names", "pendulum",
    "usage",
]  # fmt: skip
