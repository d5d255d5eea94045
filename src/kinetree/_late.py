"""The one doorway through which a noun offers a verb that lives in a higher room.

`Trajectory.render` is where a user looks for it, but the ray-caster lives above the trajectory. The
call goes through here by name, so that no module imports upward.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def call(target: str, *args: Any, **kwargs: Any) -> Any:
    """Import `package.module:function` now and call it."""
    module, _, function = target.partition(":")
    return getattr(import_module(module), function)(*args, **kwargs)
