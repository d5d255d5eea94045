"""The joint forces that are left on a body at rest: zero at a static equilibrium."""

from __future__ import annotations

from .._jit import kernel
from . import layout as at
from .acts import body_acts, joint_acts
from .kinematics import write_axes
from .rnea import push_accelerations
from .spatial import inertia_times, prepare_links, subtract_external


@kernel
def static_force(body, acts, q, still, time, gravity, work, out):
    """Write tau + J' (wrenches, springs, weights) into `out` (nv); `still` is zero for every freedom.

    The wrench on a link that is held at rest in gravity g is -I [0; -g]; it is passed on to the parents and read off
    along the motion axes, as in the recursive Newton-Euler algorithm.
    """
    topology, links, axes = body.topology, work.links, work.axes
    prepare_links(topology, body.constants, q, still, links, axes)
    if acts.external.shape[0] > 0:
        subtract_external(acts.external, body.body_links, body.body_poses_in_link, links)
    body_acts(topology, acts, still, time, links, axes)
    write_axes(topology, links, axes)
    push_accelerations(topology, still, gravity, links, axes)
    joint_acts(topology, acts, body.armature, q, still, 0.0, work.stretch, work.tau, work.diagonal)
    for i in range(topology.shape[0]):
        row = links[i]
        wrench = row[at.VELOCITY : at.VELOCITY + 6]  # free here
        inertia_times(row, row[at.ACCELERATION : at.ACCELERATION + 6], wrench)
        for r in range(6):
            row[at.FORCE + r] += wrench[r]
    for i in range(topology.shape[0] - 1, -1, -1):
        pa, at_v = topology[i, at.PARENT], topology[i, at.V]
        p0, p1, p2 = links[i, at.FORCE], links[i, at.FORCE + 1], links[i, at.FORCE + 2]
        p3, p4, p5 = links[i, at.FORCE + 3], links[i, at.FORCE + 4], links[i, at.FORCE + 5]
        for k in range(at_v, at_v + topology[i, at.DOF]):
            s = axes[k, at.S : at.S + 6]
            left = work.tau[k] - s[0] * p0 - s[1] * p1 - s[2] * p2
            out[k] = left - s[3] * p3 - s[4] * p4 - s[5] * p5
        if pa >= 0:
            x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
            links[pa, at.FORCE] += p0 + y * p5 - z * p4
            links[pa, at.FORCE + 1] += p1 + z * p3 - x * p5
            links[pa, at.FORCE + 2] += p2 + x * p4 - y * p3
            links[pa, at.FORCE + 3] += p3
            links[pa, at.FORCE + 4] += p4
            links[pa, at.FORCE + 5] += p5
