"""Forces that act in a simulation: on joints, between points, on bodies. Compiled tables in, wrenches and tau out."""

from __future__ import annotations

import math
from typing import NamedTuple

from .._jit import kernel, leaf
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


# stops: float64 (nv, STOPS), of a degree of freedom
LOW = 0  # where they begin, relative to the rest position
HIGH = 1
STOP_K = 2
STOP_D = 3
STOPS = 4


class Acts(NamedTuple):
    """Everything that acts: arrays per degree of freedom, and the tables above.

    Where no joint has a spring, `stiffness` is empty; where none has a damper or friction, those two are; where none
    has a stop, `stops` is.
    """

    stiffness: Array
    damping: Array
    friction: Array
    stops: Array
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
    if acts.stiffness.shape[0] > 0 or acts.stops.shape[0] > 0:
        difference(topology, acts.rest, q, stretch)
    if acts.stiffness.shape[0] > 0:
        _springs(acts.stiffness, stretch, v, h, tau, diagonal)
    if acts.stops.shape[0] > 0:
        for k in range(v.shape[0]):
            stop(acts.stops, k, stretch[k], v[k], h, tau, diagonal)


@leaf
def stop(stops, k, x, rate, h, tau, diagonal):
    """Push freedom k back where it is beyond a stop, or will be after h; taken at the end of the step, as springs are.

    A stop only pushes: its damper cannot hold back what returns.
    """
    ahead = x + h * rate
    beyond = 0.0
    if ahead > stops[k, HIGH]:
        beyond = ahead - stops[k, HIGH]
    elif ahead < stops[k, LOW]:
        beyond = ahead - stops[k, LOW]
    push = stops[k, STOP_K] * beyond + stops[k, STOP_D] * rate
    if push * beyond > 0.0:
        tau[k] -= push
        diagonal[k] += h * (stops[k, STOP_D] + h * stops[k, STOP_K])


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
    springs, spring_links = acts.springs, acts.spring_links
    if springs.shape[0] > 0:
        write_axes(topology, links, axes)
        place_links(topology, links)
        velocity_links(topology, v, links, axes)
        for k in range(springs.shape[0]):
            spring(springs[k], spring_links[k, 0], spring_links[k, 1], links)
    wrenches, wrench_links = acts.wrenches, acts.wrench_links
    for k in range(wrenches.shape[0]):
        i = wrench_links[k, 0]
        if i >= 0 and time < wrenches[k, UNTIL]:
            wrench(wrenches, k, wrench_links[k, 1] == 1, links, i)


@leaf
def wrench(table, k, in_link, links, i):
    """Apply row k of the table of wrenches to the row of link i; `in_link` says that it is given in the link's axes."""
    fx, fy, fz = table[k, PUSH], table[k, PUSH + 1], table[k, PUSH + 2]
    tx, ty, tz = table[k, TORQUE], table[k, TORQUE + 1], table[k, TORQUE + 2]
    if in_link:
        fx, fy, fz = _turn(links, i, fx, fy, fz)
        tx, ty, tz = _turn(links, i, tx, ty, tz)
    rx, ry, rz = _turn(links, i, table[k, POINT], table[k, POINT + 1], table[k, POINT + 2])
    _push(links, i, tx, ty, tz, rx, ry, rz, fx, fy, fz)


@leaf
def _turn(links, i, x, y, z):
    """Return a vector in the axes of link i as one in world axes."""
    return (
        links[i, 0] * x + links[i, 1] * y + links[i, 2] * z,
        links[i, 3] * x + links[i, 4] * y + links[i, 5] * z,
        links[i, 6] * x + links[i, 7] * y + links[i, 8] * z,
    )


@leaf
def _push(links, i, tx, ty, tz, rx, ry, rz, fx, fy, fz):
    """Subtract a torque and a force at `r` (from the link's origin) from the bias wrench of link i."""
    links[i, at.FORCE] -= tx + ry * fz - rz * fy
    links[i, at.FORCE + 1] -= ty + rz * fx - rx * fz
    links[i, at.FORCE + 2] -= tz + rx * fy - ry * fx
    links[i, at.FORCE + 3] -= fx
    links[i, at.FORCE + 4] -= fy
    links[i, at.FORCE + 5] -= fz


@leaf
def _end(links, i, x, y, z):
    """Return where a point of link i is relative to the link's origin, in the world, and its velocity."""
    rx, ry, rz = _turn(links, i, x, y, z)
    wx, wy, wz = links[i, at.OMEGA], links[i, at.OMEGA + 1], links[i, at.OMEGA + 2]
    ux = links[i, at.VELOCITY] + wy * rz - wz * ry
    uy = links[i, at.VELOCITY + 1] + wz * rx - wx * rz
    uz = links[i, at.VELOCITY + 2] + wx * ry - wy * rx
    px, py, pz = links[i, at.POSITION] + rx, links[i, at.POSITION + 1] + ry, links[i, at.POSITION + 2] + rz
    return rx, ry, rz, px, py, pz, ux, uy, uz


@kernel
def spring(row, a, b, links):
    """Pull the points together: f = k (length - rest) + d (rate of length).

    With rest = 0 the damping acts in every direction, on both bodies at the point half way between, so that it takes
    energy but neither linear nor angular momentum from a pair of bodies.
    """
    k, d, rest = row[SPRING_K], row[SPRING_D], row[SPRING_LENGTH]
    ax, ay, az, px, py, pz, ux, uy, uz = _end(links, a, row[POINT_A], row[POINT_A + 1], row[POINT_A + 2])
    bx = by = bz = 0.0
    qx, qy, qz = row[POINT_B], row[POINT_B + 1], row[POINT_B + 2]
    if b >= 0:
        bx, by, bz, qx, qy, qz, wx, wy, wz = _end(links, b, row[POINT_B], row[POINT_B + 1], row[POINT_B + 2])
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
        tx, ty = links[a, at.OMEGA] + links[b, at.OMEGA], links[a, at.OMEGA + 1] + links[b, at.OMEGA + 1]
        tz = links[a, at.OMEGA + 2] + links[b, at.OMEGA + 2]
        fx, fy, fz = -d * (ux + ty * hz - tz * hy), -d * (uy + tz * hx - tx * hz), -d * (uz + tx * hy - ty * hx)
        _push(links, a, 0.0, 0.0, 0.0, ax + hx, ay + hy, az + hz, fx, fy, fz)
        _push(links, b, 0.0, 0.0, 0.0, bx - hx, by - hy, bz - hz, -fx, -fy, -fz)
        x, y, z = k * x, k * y, k * z
    _push(links, a, 0.0, 0.0, 0.0, ax, ay, az, x, y, z)
    if b >= 0:
        _push(links, b, 0.0, 0.0, 0.0, bx, by, bz, -x, -y, -z)
