"""Where one link is in the world: over the links that carry it, and no others."""

from __future__ import annotations

from .._jit import kernel
from . import layout as at
from . import nodes as to
from .blocks import clear, compose
from .units import link_pose


@kernel
def pose_of_link(link, topology, constants, q, room, out):
    """Write the pose (9 numbers of rotation, 3 of position) of a link into `out` (1, 12); `room` as in `nodes.py`."""
    clear(12, out, 0, 0)
    out[0, 0] = out[0, 4] = out[0, 8] = 1.0
    while link >= 0:
        link_pose(link, topology, constants, q, room, 0, to.ROOM_OWN, room)
        compose(room, 0, to.ROOM_OWN, out, 0, 0, out, 0, 0)
        link = topology[link, at.PARENT]
