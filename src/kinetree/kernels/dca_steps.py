"""Steps of all joints by divide and conquer: the loop over time runs in here, as in `steppers.py`."""

from __future__ import annotations

from typing import NamedTuple

from .._jit import kernel
from ..typing import Array
from . import layout as at
from . import nodes as to
from .acts import body_acts, joint_acts
from .dca import dca
from .kinematics import move_links
from .manifold import integrate
from .spatial import subtract_external
from .steppers import EULER, SEMI_IMPLICIT, diverged


class Joined(NamedTuple):
    """The assembly tree and the scratch of joining along it; see `nodes.py` and `dca.dca`."""

    tree: Array
    units: Array
    nodes: Array
    motion: Array
    wrenches: Array
    room: Array


@kernel
def advance(body, acts, joined, q, v, start, first, dt, steps, gravity, integrator, work, record, every):
    """Take `steps` steps of `dt` from step number `first` on; arguments and result as in `steppers.advance`.

    `integrator` is SEMI_IMPLICIT or EULER. A singular joint is reported by the last link of its unit.
    """
    topology, constants, armature, links, axes = body.topology, body.constants, body.armature, work.links, work.axes
    body_links, poses = body.body_links, body.body_poses_in_link
    tree, units, wrenches = joined.tree, joined.units, joined.wrenches
    tau, diagonal, stretch, a = work.tau, work.diagonal, work.stretch, work.a
    before = work.stages[0]
    pushed = acts.springs.shape[0] > 0 or acts.wrenches.shape[0] > 0 or acts.external.shape[0] > 0
    implicit = dt if integrator == SEMI_IMPLICIT else 0.0
    rows = 0
    nq, nv = q.shape[0], v.shape[0]
    wrenches[:, :] = 0.0
    for step in range(steps):
        time = start + (first + step) * dt
        for k in range(nq):
            before[k] = q[k]
        for k in range(nv):
            before[nq + k] = v[k]
        if pushed:
            _push_units(topology, constants, body_links, poses, acts, units, q, v, time, links, axes, wrenches)
        joint_acts(topology, acts, armature, q, v, implicit, stretch, tau, diagonal)
        bad = dca(
            tree, units, wrenches, topology, constants, diagonal, q, v, tau, gravity, joined.nodes, joined.motion,
            joined.room, a,
        )  # fmt: skip
        if bad >= 0:
            return step, rows, -2 - units[bad, to.LAST]
        if integrator == EULER:
            integrate(topology, q, v, dt, q)
        for k in range(nv):
            v[k] += dt * a[k]
        if integrator == SEMI_IMPLICIT:
            integrate(topology, q, v, dt, q)
        fault = diverged(v)
        if fault != -1:
            for k in range(nq):
                q[k] = before[k]
            for k in range(nv):
                v[k] = before[nq + k]
            return step, rows, fault
        if every > 0 and (first + step + 1) % every == 0:
            for k in range(nq):
                record[rows, k] = q[k]
            for k in range(nv):
                record[rows, nq + k] = v[k]
            rows += 1
    return steps, rows, -1


@kernel
def _push_units(topology, constants, body_links, poses, acts, units, q, v, time, links, axes, out):
    """Write what springs, applied and external wrenches do to each unit, in its own axes, into `out` (nunits, 6)."""
    move_links(topology, constants, q, v, links, axes)
    F = at.FORCE
    for i in range(topology.shape[0]):
        for r in range(6):
            links[i, F + r] = 0.0
    if acts.external.shape[0] > 0:
        subtract_external(acts.external, body_links, poses, links)
    body_acts(topology, acts, v, time, links, axes)
    for unit in range(units.shape[0]):
        i = units[unit, to.LAST]
        for half in range(F, F + 6, 3):
            x, y, z = links[i, half], links[i, half + 1], links[i, half + 2]
            for b in range(3):
                out[unit, half - F + b] = -(links[i, b] * x + links[i, 3 + b] * y + links[i, 6 + b] * z)
