"""The joint of a unit in the unit's own axes: its pose, its motion axes, and its velocity terms.

The hinge has functions of its own, which are inlined. A loop decides between them and the general ones itself: an
inlined function that may call a compiled one makes Numba count references at every turn, which costs more than the
work itself.
"""

from __future__ import annotations

from .._jit import kernel, leaf
from . import layout as at
from . import nodes as to
from .blocks import clear, compose, motion_to_child
from .kinematics import joint_turn
from .trig import sincos


@leaf
def hinge_pose(unit, units, topology, constants, q, out, k, s):
    """Write the pose of a unit whose joint is a hinge, in its parent unit, into the block (out, k, s)."""
    i = units[unit, to.FIRST]
    sine, cosine = sincos(q[topology[i, at.Q]])
    for a in range(3):
        x, y = constants[i, 3 * a], constants[i, 3 * a + 1]
        out[k, s + 3 * a] = cosine * x + sine * y
        out[k, s + 3 * a + 1] = cosine * y - sine * x
        out[k, s + 3 * a + 2] = constants[i, 3 * a + 2]
        out[k, s + 9 + a] = constants[i, at.OFFSET + a]


@kernel
def chain_pose(unit, units, topology, constants, q, out, k, s, room):
    """Write the pose of any unit in its parent unit into the block (out, k, s)."""
    first, last = units[unit, to.FIRST], units[unit, to.LAST]
    link_pose(first, topology, constants, q, out, k, s, room)
    for i in range(first + 1, last + 1):
        link_pose(i, topology, constants, q, room, 0, to.ROOM_OWN, room)
        compose(out, k, s, room, 0, to.ROOM_OWN, out, k, s)


@kernel
def link_pose(i, topology, constants, q, out, k, s, room):
    """Write the pose of a link in its parent link into the block (out, k, s)."""
    kind, at_q = topology[i, at.KIND], topology[i, at.Q]
    turn = room[0, to.ROOM_TURN : to.ROOM_TURN + 9]
    joint_turn(kind, constants, i, q, at_q, turn)
    for a in range(3):
        x, y, z = constants[i, 3 * a], constants[i, 3 * a + 1], constants[i, 3 * a + 2]
        for b in range(3):
            out[k, s + 3 * a + b] = x * turn[b] + y * turn[3 + b] + z * turn[6 + b]
        shift = constants[i, at.OFFSET + a]
        if kind == at.PRISMATIC:
            shift += z * q[at_q]
        elif kind == at.HELICAL:
            shift += z * constants[i, at.PITCH] * q[at_q]
        elif kind == at.PLANAR:
            shift += x * q[at_q + 1] + y * q[at_q + 2]
        elif kind == at.FREE:
            shift += x * q[at_q + 4] + y * q[at_q + 5] + z * q[at_q + 6]
        out[k, s + 9 + a] = shift


@kernel
def unit_axes(unit, units, topology, constants, q, room):
    """Write the motion axes of a unit's joint, S' in its own frame, into the rows of `room` at ROOM_S."""
    first, last = units[unit, to.FIRST], units[unit, to.LAST]
    row = 0
    for i in range(first, last + 1):
        if i > first:  # the axes so far move on to the frame of this link
            link_pose(i, topology, constants, q, room, 0, to.ROOM_OWN, room)
            for n in range(row):
                motion_to_child(room, 0, to.ROOM_OWN, room, 0, to.ROOM_S + 6 * n)
        _link_axes(i, topology, constants, q, to.ROOM_S + 6 * row, room)
        row += topology[i, at.DOF]


@kernel
def _link_axes(i, topology, constants, q, s, room):
    """Write the motion axes of a link's joint, in the link's axes, into `room` from column `s` on."""
    kind = topology[i, at.KIND]
    clear(6 * topology[i, at.DOF], room, 0, s)
    if kind == at.REVOLUTE:
        room[0, s + 2] = 1.0
    elif kind == at.PRISMATIC:
        room[0, s + 5] = 1.0
    elif kind == at.HELICAL:
        room[0, s + 2], room[0, s + 5] = 1.0, constants[i, at.PITCH]
    else:
        turn = room[0, to.ROOM_TURN : to.ROOM_TURN + 9]
        joint_turn(kind, constants, i, q, topology[i, at.Q], turn)
        if kind == at.UNIVERSAL:
            x, y, z = constants[i, at.FIRST], constants[i, at.FIRST + 1], constants[i, at.FIRST + 2]
            for b in range(3):  # the first axis turned back by the whole joint
                room[0, s + b] = turn[b] * x + turn[3 + b] * y + turn[6 + b] * z
                room[0, s + 6 + b] = constants[i, at.SECOND + b]
        elif kind == at.PLANAR:
            room[0, s + 2] = 1.0
            for b in range(3):
                room[0, s + 9 + b] = turn[b]
                room[0, s + 15 + b] = turn[3 + b]
        else:
            for b in range(3):
                room[0, s + 7 * b] = 1.0
            if kind == at.FREE:
                for a in range(3):
                    for b in range(3):
                        room[0, s + 6 * (3 + a) + 3 + b] = turn[3 * a + b]


@leaf
def hinge_bias(rate, pose, n, p, out, k, s, omega, m, w):
    """Carry the angular velocity in the block (omega, m, w) over a hinge that turns at `rate`, to the unit's axes.

    Writes c (6) into the block (out, k, s): the classical acceleration of the unit's origin relative to the parent at
    zero joint acceleration, as in `kinematics.py`. The block (pose, n, p) holds the unit's pose in its parent. With a
    rate of 0 this is right for any joint that does not move.
    """
    e0, e1, e2, e3 = pose[n, p], pose[n, p + 1], pose[n, p + 2], pose[n, p + 3]
    e4, e5, e6, e7, e8 = pose[n, p + 4], pose[n, p + 5], pose[n, p + 6], pose[n, p + 7], pose[n, p + 8]
    x, y, z = pose[n, p + 9], pose[n, p + 10], pose[n, p + 11]
    rx, ry, rz = e0 * x + e3 * y + e6 * z, e1 * x + e4 * y + e7 * z, e2 * x + e5 * y + e8 * z
    x, y, z = omega[m, w], omega[m, w + 1], omega[m, w + 2]
    ox, oy, oz = e0 * x + e3 * y + e6 * z, e1 * x + e4 * y + e7 * z, e2 * x + e5 * y + e8 * z
    tx, ty, tz = oy * rz - oz * ry, oz * rx - ox * rz, ox * ry - oy * rx
    out[k, s], out[k, s + 1], out[k, s + 2] = oy * rate, -ox * rate, 0.0
    out[k, s + 3], out[k, s + 4], out[k, s + 5] = oy * tz - oz * ty, oz * tx - ox * tz, ox * ty - oy * tx
    omega[m, w], omega[m, w + 1], omega[m, w + 2] = ox, oy, oz + rate


@kernel
def chain_bias(unit, units, topology, constants, q, v, out, k, s, omega, m, w, room):
    """Do for links of any kind, one after the other, what `hinge_bias` does for a hinge."""
    clear(6, out, k, s)
    for i in range(units[unit, to.FIRST], units[unit, to.LAST] + 1):
        link_pose(i, topology, constants, q, room, 0, to.ROOM_OWN, room)
        p = to.ROOM_OWN
        if i > units[unit, to.FIRST]:
            motion_to_child(room, 0, p, out, k, s)
        e0, e1, e2, e3 = room[0, p], room[0, p + 1], room[0, p + 2], room[0, p + 3]
        e4, e5, e6, e7, e8 = room[0, p + 4], room[0, p + 5], room[0, p + 6], room[0, p + 7], room[0, p + 8]
        x, y, z = room[0, p + 9], room[0, p + 10], room[0, p + 11]
        rx, ry, rz = e0 * x + e3 * y + e6 * z, e1 * x + e4 * y + e7 * z, e2 * x + e5 * y + e8 * z
        x, y, z = omega[m, w], omega[m, w + 1], omega[m, w + 2]
        ox, oy, oz = e0 * x + e3 * y + e6 * z, e1 * x + e4 * y + e7 * z, e2 * x + e5 * y + e8 * z
        wx = wy = wz = ux = uy = uz = 0.0
        at_v, S = topology[i, at.V], to.ROOM_S
        _link_axes(i, topology, constants, q, S, room)
        for n in range(topology[i, at.DOF]):
            rate, b = v[at_v + n], S + 6 * n
            wx, wy, wz = wx + rate * room[0, b], wy + rate * room[0, b + 1], wz + rate * room[0, b + 2]
            ux, uy, uz = ux + rate * room[0, b + 3], uy + rate * room[0, b + 4], uz + rate * room[0, b + 5]
        if topology[i, at.KIND] == at.UNIVERSAL:
            both = v[at_v] * v[at_v + 1]
            out[k, s] += both * (room[0, S + 1] * room[0, S + 8] - room[0, S + 2] * room[0, S + 7])
            out[k, s + 1] += both * (room[0, S + 2] * room[0, S + 6] - room[0, S] * room[0, S + 8])
            out[k, s + 2] += both * (room[0, S] * room[0, S + 7] - room[0, S + 1] * room[0, S + 6])
        out[k, s] += oy * wz - oz * wy
        out[k, s + 1] += oz * wx - ox * wz
        out[k, s + 2] += ox * wy - oy * wx
        tx, ty, tz = oy * rz - oz * ry + 2 * ux, oz * rx - ox * rz + 2 * uy, ox * ry - oy * rx + 2 * uz
        out[k, s + 3] += oy * tz - oz * ty
        out[k, s + 4] += oz * tx - ox * tz
        out[k, s + 5] += ox * ty - oy * tx
        omega[m, w], omega[m, w + 1], omega[m, w + 2] = ox + wx, oy + wy, oz + wz
