"""The composite-rigid-body algorithm: the mass matrix; and the Jacobian of a point."""

from __future__ import annotations

from .._jit import kernel
from . import layout as at
from .kinematics import move_links, place_links, write_axes
from .spatial import inertia_times, prepare_links, shift_to_parent


@kernel
def crba(topology, constants, diagonal, q, v, links, axes, out):
    """Write the mass matrix into `out` (nv, nv), which must hold zeros; `v` only has to have the right length."""
    prepare_links(topology, constants, q, v, links, axes)
    write_axes(topology, links, axes)
    compose(topology, diagonal, links, axes, out)


@kernel
def compose(topology, diagonal, links, axes, out):
    """Write the mass matrix of the inertias that stand in `links`, after `write_axes`; these become composite."""
    for i in range(topology.shape[0] - 1, -1, -1):
        at_v = topology[i, at.V]
        end = at_v + topology[i, at.DOF]
        for k in range(at_v, end):
            f = axes[k, 0:6]
            inertia_times(links[i], axes[k, at.S : at.S + 6], f)
            out[k, k] = diagonal[k]
            for m in range(at_v, k + 1):
                out[k, m] += _product(axes[m, at.S : at.S + 6], f)
                out[m, k] = out[k, m]
            j = i
            while topology[j, at.PARENT] >= 0:
                x, y, z = links[j, at.ARM], links[j, at.ARM + 1], links[j, at.ARM + 2]
                f[0] += y * f[5] - z * f[4]
                f[1] += z * f[3] - x * f[5]
                f[2] += x * f[4] - y * f[3]
                j = topology[j, at.PARENT]
                for m in range(topology[j, at.V], topology[j, at.V] + topology[j, at.DOF]):
                    out[k, m] = _product(axes[m, at.S : at.S + 6], f)
                    out[m, k] = out[k, m]
        if topology[i, at.PARENT] >= 0:
            shift_to_parent(links[i], links[topology[i, at.PARENT]])


@kernel
def _product(s, f):
    return s[0] * f[0] + s[1] * f[1] + s[2] * f[2] + s[3] * f[3] + s[4] * f[4] + s[5] * f[5]


@kernel
def point_jacobian(topology, constants, q, v, link, point, links, axes, out):
    """Write into `out` (6, nv) the map from v to [omega; velocity] of a point of `link`, world axes.

    `point` is given in the axes of the link and is overwritten with its place relative to the link's origin in the
    world's axes. A link of -1 is the world, whose Jacobian is zero.
    """
    move_links(topology, constants, q, v, links, axes)
    write_axes(topology, links, axes)
    place_links(topology, links)
    out[:, :] = 0.0
    if link < 0:
        return
    r = links[link]
    px, py, pz = point[0], point[1], point[2]
    point[0] = r[0] * px + r[1] * py + r[2] * pz
    point[1] = r[3] * px + r[4] * py + r[5] * pz
    point[2] = r[6] * px + r[7] * py + r[8] * pz
    x, y, z = point[0], point[1], point[2]
    j = link
    while j >= 0:
        for k in range(topology[j, at.V], topology[j, at.V] + topology[j, at.DOF]):
            s = axes[k, at.S : at.S + 6]
            for m in range(3):
                out[m, k] = s[m]
            out[3, k] = s[3] + s[1] * z - s[2] * y
            out[4, k] = s[4] + s[2] * x - s[0] * z
            out[5, k] = s[5] + s[0] * y - s[1] * x
        x, y, z = x + links[j, at.ARM], y + links[j, at.ARM + 1], z + links[j, at.ARM + 2]
        j = topology[j, at.PARENT]
