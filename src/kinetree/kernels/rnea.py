"""The recursive Newton-Euler algorithm: inverse dynamics, and the accelerations of the links."""

from __future__ import annotations

from .._jit import kernel
from . import layout as at
from .kinematics import write_axes
from .linalg import all_finite
from .manifold import bad_quaternion
from .spatial import inertia_times, prepare_links, subtract_external


@kernel
def rnea(topology, constants, diagonal, q, v, a, external, body_links, body_poses, gravity, links, axes, out):
    """Write the joint forces that give the accelerations `a` into `out` (Featherstone 2008, table 5.1)."""
    prepare_links(topology, constants, q, v, links, axes)
    write_axes(topology, links, axes)
    subtract_external(external, body_links, body_poses, links)
    collect_forces(topology, diagonal, a, gravity, links, axes, out)


@kernel
def collect_forces(topology, diagonal, a, gravity, links, axes, out):
    """Write the joint forces for the accelerations `a`, after `prepare_links`, `write_axes` and external wrenches."""
    push_accelerations(topology, a, gravity, links, axes)
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
            out[k] = diagonal[k] * a[k] + s[0] * p0 + s[1] * p1 + s[2] * p2 + s[3] * p3 + s[4] * p4 + s[5] * p5
        if pa >= 0:
            x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
            links[pa, at.FORCE] += p0 + y * p5 - z * p4
            links[pa, at.FORCE + 1] += p1 + z * p3 - x * p5
            links[pa, at.FORCE + 2] += p2 + x * p4 - y * p3
            links[pa, at.FORCE + 3] += p3
            links[pa, at.FORCE + 4] += p4
            links[pa, at.FORCE + 5] += p5


@kernel
def checked_rnea(topology, constants, diagonal, q, v, a, external, body_links, body_poses, gravity, links, axes, out):
    """Like `rnea`; returns -1, or -2 where the state is not one or the result is not finite."""
    if bad_quaternion(topology, q) >= 0:
        return -2
    rnea(topology, constants, diagonal, q, v, a, external, body_links, body_poses, gravity, links, axes, out)
    return -1 if all_finite(out) else -2


@kernel
def push_accelerations(topology, a, gravity, links, axes):
    """Write ACCELERATION of every link from the joint accelerations `a`, after `move_links` and `write_axes`."""
    gx, gy, gz = gravity
    for i in range(topology.shape[0]):
        pa, at_v = topology[i, at.PARENT], topology[i, at.V]
        row = links[i]
        a0 = a1 = a2 = 0.0
        a3, a4, a5 = -gx, -gy, -gz
        if pa >= 0:
            up = links[pa]
            x, y, z = row[at.ARM], row[at.ARM + 1], row[at.ARM + 2]
            a0, a1, a2 = up[at.ACCELERATION], up[at.ACCELERATION + 1], up[at.ACCELERATION + 2]
            a3 = up[at.ACCELERATION + 3] + a1 * z - a2 * y
            a4 = up[at.ACCELERATION + 4] + a2 * x - a0 * z
            a5 = up[at.ACCELERATION + 5] + a0 * y - a1 * x
        a0, a1, a2 = a0 + row[at.BIAS], a1 + row[at.BIAS + 1], a2 + row[at.BIAS + 2]
        a3, a4, a5 = a3 + row[at.BIAS + 3], a4 + row[at.BIAS + 4], a5 + row[at.BIAS + 5]
        for k in range(at_v, at_v + topology[i, at.DOF]):
            s, rate = axes[k, at.S : at.S + 6], a[k]
            a0, a1, a2 = a0 + s[0] * rate, a1 + s[1] * rate, a2 + s[2] * rate
            a3, a4, a5 = a3 + s[3] * rate, a4 + s[4] * rate, a5 + s[5] * rate
        row[at.ACCELERATION], row[at.ACCELERATION + 1], row[at.ACCELERATION + 2] = a0, a1, a2
        row[at.ACCELERATION + 3], row[at.ACCELERATION + 4], row[at.ACCELERATION + 5] = a3, a4, a5
