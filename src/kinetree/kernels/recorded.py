"""Inverse dynamics of a recorded movement: one pass over all of its frames.

`forces` float64 (n, k, 6) is what k places of the ground do in every frame: [moment about the world's origin; force];
`force_links` int64 (n, k) the link that each acts on, -1 for none.
"""

from __future__ import annotations

from .._jit import kernel
from . import layout as at
from .kinematics import place_links, write_axes
from .linalg import all_finite
from .rnea import collect_forces
from .spatial import prepare_links


@kernel
def inverse_frames(topology, constants, diagonal, q, v, a, forces, force_links, gravity, links, axes, out, total):
    """Write the joint forces of every frame into `out` (n, nv); returns a frame that is not finite, or -1.

    `total` (n, 6) is the wrench [moment about the world's origin; force] that the first root asks for beside `forces`.
    """
    for t in range(q.shape[0]):
        prepare_links(topology, constants, q[t], v[t], links, axes)
        write_axes(topology, links, axes)
        place_links(topology, links)
        for k in range(forces.shape[1]):
            if force_links[t, k] >= 0:
                push_on(links, force_links[t, k], forces[t, k])
        collect_forces(topology, diagonal, a[t], gravity, links, axes, out[t])
        x, y, z = links[0, at.POSITION], links[0, at.POSITION + 1], links[0, at.POSITION + 2]
        p3, p4, p5 = links[0, at.FORCE + 3], links[0, at.FORCE + 4], links[0, at.FORCE + 5]
        total[t, 0] = links[0, at.FORCE] + y * p5 - z * p4
        total[t, 1] = links[0, at.FORCE + 1] + z * p3 - x * p5
        total[t, 2] = links[0, at.FORCE + 2] + x * p4 - y * p3
        total[t, 3], total[t, 4], total[t, 5] = p3, p4, p5
        if not all_finite(out[t]):
            return t
    return -1


@kernel
def push_on(links, i, wrench):
    """Subtract a wrench about the world's origin from the bias wrench of link `i`."""
    x, y, z = links[i, at.POSITION], links[i, at.POSITION + 1], links[i, at.POSITION + 2]
    fx, fy, fz = wrench[3], wrench[4], wrench[5]
    links[i, at.FORCE] -= wrench[0] - (y * fz - z * fy)
    links[i, at.FORCE + 1] -= wrench[1] - (z * fx - x * fz)
    links[i, at.FORCE + 2] -= wrench[2] - (x * fy - y * fx)
    links[i, at.FORCE + 3] -= fx
    links[i, at.FORCE + 4] -= fy
    links[i, at.FORCE + 5] -= fz
