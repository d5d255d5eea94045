"""Forces that act in a simulation: on joints, between points, on bodies. Compiled tables in, wrenches and tau out."""

from __future__ import annotations

import math
from typing import NamedTuple

from .._jit import kernel
from ..typing import Array
from . import layout as at
from .kinematics import place_links, velocity_links, write_axes
from .manifold import difference

CREEP = 1e-3  # rad/s or m/s below which dry friction is a damper, so that it has no jump

# springs: float64 (nsprings, SPRINGS), links in an int64 (nsprings, 2), -1 for the world
POINT_A = 0  # 3: in link axes
POINT_B = 3  # 3: in link axes, or in the world
SPRING_K = 6
SPRING_D = 7
SPRING_LENGTH = 8
SPRINGS = 9

# wrenches: float64 (nwrenches, WRENCHES), (link, frame: 0 world or 1 link axes) in an int64 (nwrenches, 2)
TORQUE = 0  # 3
PUSH = 3  # 3
POINT = 6  # 3: where the force acts, link axes
UNTIL = 9  # time at which it ends
WRENCHES = 10


class Acts(NamedTuple):
    """Everything that acts: arrays per degree of freedom, and the tables above.

    Where no joint has a spring, `stiffness` is empty; where none has a damper or friction, those two are.
    """

    stiffness: Array
    damping: Array
    friction: Array
    rest: Array
    feed: Array
    springs: Array
    spring_links: Array
    wrenches: Array
    wrench_links: Array
    external: Array


@kernel
def joint_acts(topology, acts, armature, q, v, h, stretch, tau, diagonal):
    """Write joint forces into `tau` and the effective rotor inertia into `diagonal`.

    With h > 0 the joint's spring K, damper D and friction are taken at the end of a step of length h (linearly
    implicit, so stable for any K and D): (M + h D + h^2 K) a = feed - D v - K (x + h v). With h = 0 they are explicit.
    `stretch` is scratch of length nv.
    """
    feed = acts.feed
    for k in range(v.shape[0]):
        tau[k] = feed[k]
        diagonal[k] = armature[k]
    if acts.damping.shape[0] > 0:
        _dampers(acts.damping, acts.friction, v, h, tau, diagonal)
    if acts.stiffness.shape[0] > 0:
        difference(topology, acts.rest, q, stretch)
        _springs(acts.stiffness, stretch, v, h, tau, diagonal)


@kernel
def _dampers(damping, dry, v, h, tau, diagonal):
    for k in range(v.shape[0]):
        damper = damping[k]
        if dry[k] > 0.0:
            if h > 0.0:
                damper += dry[k] / max(abs(v[k]), CREEP)
            else:
                damper += dry[k] / math.sqrt(v[k] * v[k] + CREEP * CREEP)
        tau[k] -= damper * v[k]
        diagonal[k] += h * damper


@kernel
def _springs(stiffness, stretch, v, h, tau, diagonal):
    for k in range(v.shape[0]):
        stiff = stiffness[k]
        tau[k] -= stiff * (stretch[k] + h * v[k])
        diagonal[k] += h * h * stiff


@kernel
def body_acts(topology, acts, v, time, links, axes):
    """Subtract springs and applied wrenches from the bias wrenches of the links, after `link_inertia`."""
    if acts.springs.shape[0] > 0:
        write_axes(topology, links, axes)
        place_links(topology, links)
        velocity_links(topology, v, links, axes)
        for k in range(acts.springs.shape[0]):
            spring(acts.springs[k], acts.spring_links[k, 0], acts.spring_links[k, 1], links)
    for k in range(acts.wrenches.shape[0]):
        row, i = acts.wrenches[k], acts.wrench_links[k, 0]
        if time >= row[UNTIL] or i < 0:
            continue
        wrench(row, acts.wrench_links[k, 1] == 1, links[i])


@kernel
def wrench(row, in_link, link):
    """Apply a row of the table of wrenches to a link's row; `in_link` says that it is given in the link's axes."""
    fx, fy, fz = row[PUSH], row[PUSH + 1], row[PUSH + 2]
    tx, ty, tz = row[TORQUE], row[TORQUE + 1], row[TORQUE + 2]
    if in_link:
        fx, fy, fz = _turn(link, fx, fy, fz)
        tx, ty, tz = _turn(link, tx, ty, tz)
    rx, ry, rz = _turn(link, row[POINT], row[POINT + 1], row[POINT + 2])
    _push(link, tx, ty, tz, rx, ry, rz, fx, fy, fz)


@kernel
def _turn(row, x, y, z):
    """Return a vector in link axes as one in world axes."""
    return (
        row[0] * x + row[1] * y + row[2] * z,
        row[3] * x + row[4] * y + row[5] * z,
        row[6] * x + row[7] * y + row[8] * z,
    )


@kernel
def _push(row, tx, ty, tz, rx, ry, rz, fx, fy, fz):
    """Subtract a torque and a force at `r` (from the link's origin) from the link's bias wrench."""
    row[at.FORCE] -= tx + ry * fz - rz * fy
    row[at.FORCE + 1] -= ty + rz * fx - rx * fz
    row[at.FORCE + 2] -= tz + rx * fy - ry * fx
    row[at.FORCE + 3] -= fx
    row[at.FORCE + 4] -= fy
    row[at.FORCE + 5] -= fz


@kernel
def _end(row, x, y, z):
    """Return where a point of a link is relative to the link's origin, in the world, and its velocity."""
    rx, ry, rz = _turn(row, x, y, z)
    wx, wy, wz = row[at.OMEGA], row[at.OMEGA + 1], row[at.OMEGA + 2]
    ux = row[at.VELOCITY] + wy * rz - wz * ry
    uy = row[at.VELOCITY + 1] + wz * rx - wx * rz
    uz = row[at.VELOCITY + 2] + wx * ry - wy * rx
    return rx, ry, rz, row[at.POSITION] + rx, row[at.POSITION + 1] + ry, row[at.POSITION + 2] + rz, ux, uy, uz


@kernel
def spring(row, a, b, links):
    """Pull the points together: f = k (length - rest) + d (rate of length).

    With rest = 0 the damping acts in every direction, on both bodies at the point half way between, so that it takes
    energy but neither linear nor angular momentum from a pair of bodies.
    """
    k, d, rest = row[SPRING_K], row[SPRING_D], row[SPRING_LENGTH]
    ax, ay, az, px, py, pz, ux, uy, uz = _end(links[a], row[POINT_A], row[POINT_A + 1], row[POINT_A + 2])
    bx = by = bz = 0.0
    qx, qy, qz = row[POINT_B], row[POINT_B + 1], row[POINT_B + 2]
    if b >= 0:
        bx, by, bz, qx, qy, qz, wx, wy, wz = _end(links[b], row[POINT_B], row[POINT_B + 1], row[POINT_B + 2])
        ux, uy, uz = ux - wx, uy - wy, uz - wz
    x, y, z = qx - px, qy - py, qz - pz
    if rest > 0.0:
        length = math.sqrt(x * x + y * y + z * z)
        if length == 0.0:
            return
        scale = (k * (length - rest) - d * (ux * x + uy * y + uz * z) / length) / length
        x, y, z = scale * x, scale * y, scale * z
    elif b < 0:
        x, y, z = k * x - d * ux, k * y - d * uy, k * z - d * uz
    else:
        hx, hy, hz = 0.5 * x, 0.5 * y, 0.5 * z
        o, w = links[a], links[b]
        tx, ty, tz = o[at.OMEGA] + w[at.OMEGA], o[at.OMEGA + 1] + w[at.OMEGA + 1], o[at.OMEGA + 2] + w[at.OMEGA + 2]
        fx, fy, fz = -d * (ux + ty * hz - tz * hy), -d * (uy + tz * hx - tx * hz), -d * (uz + tx * hy - ty * hx)
        _push(links[a], 0.0, 0.0, 0.0, ax + hx, ay + hy, az + hz, fx, fy, fz)
        _push(links[b], 0.0, 0.0, 0.0, bx - hx, by - hy, bz - hz, -fx, -fy, -fz)
        x, y, z = k * x, k * y, k * z
    _push(links[a], 0.0, 0.0, 0.0, ax, ay, az, x, y, z)
    if b >= 0:
        _push(links[b], 0.0, 0.0, 0.0, bx, by, bz, -x, -y, -z)
