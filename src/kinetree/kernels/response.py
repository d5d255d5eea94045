"""What forces do by themselves: the answer of a body at rest to wrenches and joint forces, M a = J' f + tau."""

from __future__ import annotations

from .._jit import kernel
from .aba import accelerate, eliminate_joints
from .acts import wrench
from .spatial import prepare_links


@kernel
def respond(topology, constants, armature, q, still, wrenches, wrench_links, tau, links, axes, left, out):
    """Write the joint accelerations into `out`; returns a link that has no inertia to move, or -1.

    `still` is zero for every freedom, `wrenches` a table as in `acts.py` (a link of -1 does not move), `left` scratch.
    """
    prepare_links(topology, constants, q, still, links, axes)
    for k in range(wrenches.shape[0]):
        if wrench_links[k, 0] >= 0:
            wrench(wrenches, k, wrench_links[k, 1] == 1, links, wrench_links[k, 0])
    for k in range(tau.shape[0]):
        left[k] = tau[k]
    bad = eliminate_joints(topology, armature, left, links, axes)
    if bad < 0:
        accelerate(topology, (0.0, 0.0, 0.0), links, axes, out)
    return bad
