"""A choice of the active joints, taken apart: what each part of a forest does by itself, between the two choices.

The nodes are those of the whole forest; the list of active nodes, the counters and the hybrid body are a part's own.
The step in which the joints are chosen is semi-implicit, as in `adaptive.py`.
"""

from __future__ import annotations

from .._jit import kernel
from . import nodes as to
from .forest import become, spread
from .manifold import integrate
from .region import speeds
from .update import push_off, see_whole, settle, widen


@kernel
def look(body, acts, forest, small, q, v, time, gravity, dt):
    """Bring the state of the moving joints into the whole one, and compute what the trees of the part answer."""
    spread(forest, small, q, v)
    see_whole(body, acts, forest, small, q, v, time, gravity, dt)


@kernel
def move(body, acts, forest, small, q, v, time, dt, gravity):
    """Push off the joints that were chosen and those that moved; returns (fault or -1 as in `push_off`, joints)."""
    if widen(forest) > 0:
        become(body, acts, forest, small, q, v)
    sizes = forest.sizes
    joints, moving = sizes[to.JOINTS], sizes[to.VELOCITIES]
    fault = push_off(acts, forest, small, time, dt, gravity) if moving > 0 else -1
    if fault == -1:
        for k in range(moving):
            v[small.v_of[k]] = small.v[k]
        speeds(
            forest.tree, forest.units, v, forest.velocity_weights, forest.scale, forest.passive, forest.marks, sizes,
            forest.lists,
        )  # fmt: skip
    return fault, joints


@kernel
def rest(body, acts, forest, small, now, q, v, dt):
    """Bring to rest what choice number `now` left out, and move the others on; returns a singular unit or -1."""
    bad = settle(body, acts, forest, small, now, q, v, dt, False)
    if bad < 0:
        sizes = forest.sizes
        nq, nv = sizes[to.COORDINATES], sizes[to.VELOCITIES]
        integrate(small.flat[: sizes[to.LINKS]], small.q[:nq], small.v[:nv], dt, small.q[:nq])
    return bad
