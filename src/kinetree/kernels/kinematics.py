"""From coordinates to motion: one pass from the roots to the tips, shared by every algorithm.

All vectors are in world axes about the link's own origin, so that passing to the parent is a pure translation and no
number grows with the distance from the world's origin. Accelerations are *classical* (of the material point at the
origin): Galilean invariance then keeps the linear velocity out of every bias, which saves work and digits.

For a joint with relative angular velocity w = S_ang qd and relative velocity u = S_lin qd, both in the axes F of its
fixed frame, on a parent that turns with omega and with r from the parent's origin to the own one:

    c_ang = omega x w (+ first x second for a universal joint)      c_lin = omega x (omega x r) + 2 omega x u
"""

from __future__ import annotations

from .._jit import kernel
from . import layout as at
from .trig import sincos


@kernel
def move_links(topology, constants, q, v, links, axes):
    """Fill R, ARM, OMEGA and BIAS of every link, and S of every degree of freedom that is not a revolute joint's."""
    for i in range(topology.shape[0]):
        pa = topology[i, at.PARENT]
        if topology[i, at.KIND] != at.REVOLUTE:
            _move_general(i, topology, constants, q, v, links, axes)
            continue
        angle = q[topology[i, at.Q]]
        rate = v[topology[i, at.V]]
        k0, k1, k2 = constants[i, 0], constants[i, 1], constants[i, 2]
        k3, k4, k5 = constants[i, 3], constants[i, 4], constants[i, 5]
        k6, k7, k8 = constants[i, 6], constants[i, 7], constants[i, 8]
        rx, ry, rz = constants[i, at.OFFSET], constants[i, at.OFFSET + 1], constants[i, at.OFFSET + 2]
        wx = wy = wz = 0.0
        if pa >= 0:
            p0, p1, p2 = links[pa, 0], links[pa, 1], links[pa, 2]
            p3, p4, p5 = links[pa, 3], links[pa, 4], links[pa, 5]
            p6, p7, p8 = links[pa, 6], links[pa, 7], links[pa, 8]
            f0, f1, f2 = p0 * k0 + p1 * k3 + p2 * k6, p0 * k1 + p1 * k4 + p2 * k7, p0 * k2 + p1 * k5 + p2 * k8
            f3, f4, f5 = p3 * k0 + p4 * k3 + p5 * k6, p3 * k1 + p4 * k4 + p5 * k7, p3 * k2 + p4 * k5 + p5 * k8
            f6, f7, f8 = p6 * k0 + p7 * k3 + p8 * k6, p6 * k1 + p7 * k4 + p8 * k7, p6 * k2 + p7 * k5 + p8 * k8
            rx, ry, rz = p0 * rx + p1 * ry + p2 * rz, p3 * rx + p4 * ry + p5 * rz, p6 * rx + p7 * ry + p8 * rz
            wx, wy, wz = links[pa, at.OMEGA], links[pa, at.OMEGA + 1], links[pa, at.OMEGA + 2]
        else:
            f0, f1, f2, f3, f4, f5, f6, f7, f8 = k0, k1, k2, k3, k4, k5, k6, k7, k8
        s, c = sincos(angle)
        links[i, 0], links[i, 1], links[i, 2] = c * f0 + s * f1, c * f1 - s * f0, f2
        links[i, 3], links[i, 4], links[i, 5] = c * f3 + s * f4, c * f4 - s * f3, f5
        links[i, 6], links[i, 7], links[i, 8] = c * f6 + s * f7, c * f7 - s * f6, f8
        links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2] = rx, ry, rz
        ux, uy, uz = f2 * rate, f5 * rate, f8 * rate  # the axis is the third column of R
        links[i, at.OMEGA], links[i, at.OMEGA + 1], links[i, at.OMEGA + 2] = wx + ux, wy + uy, wz + uz
        links[i, at.BIAS] = wy * uz - wz * uy
        links[i, at.BIAS + 1] = wz * ux - wx * uz
        links[i, at.BIAS + 2] = wx * uy - wy * ux
        tx, ty, tz = wy * rz - wz * ry, wz * rx - wx * rz, wx * ry - wy * rx
        links[i, at.BIAS + 3] = wy * tz - wz * ty
        links[i, at.BIAS + 4] = wz * tx - wx * tz
        links[i, at.BIAS + 5] = wx * ty - wy * tx


@kernel
def joint_turn(kind, constants, i, q, at_q, turn):
    """Write the rotation of joint `i` from its fixed frame to the link, row-major, into `turn`."""
    turn[:] = 0.0
    turn[0] = turn[4] = turn[8] = 1.0
    if kind == at.HELICAL or kind == at.PLANAR or kind == at.REVOLUTE:
        s, c = sincos(q[at_q])
        turn[0], turn[1], turn[3], turn[4] = c, -s, s, c
    elif kind == at.SPHERICAL or kind == at.FREE:
        w, x, y, z = q[at_q], q[at_q + 1], q[at_q + 2], q[at_q + 3]
        n = 2.0 / (w * w + x * x + y * y + z * z)
        turn[0], turn[1], turn[2] = 1 - n * (y * y + z * z), n * (x * y - w * z), n * (x * z + w * y)
        turn[3], turn[4], turn[5] = n * (x * y + w * z), 1 - n * (x * x + z * z), n * (y * z - w * x)
        turn[6], turn[7], turn[8] = n * (x * z - w * y), n * (y * z + w * x), 1 - n * (x * x + y * y)
    elif kind == at.UNIVERSAL:
        _axis_turn(constants, i, at.FIRST, q[at_q], turn)
        a0, a1, a2, a3, a4, a5 = turn[0], turn[1], turn[2], turn[3], turn[4], turn[5]
        a6, a7, a8 = turn[6], turn[7], turn[8]
        _axis_turn(constants, i, at.SECOND, q[at_q + 1], turn)
        for k in range(3):
            b0, b1, b2 = turn[k], turn[3 + k], turn[6 + k]
            turn[k] = a0 * b0 + a1 * b1 + a2 * b2
            turn[3 + k] = a3 * b0 + a4 * b1 + a5 * b2
            turn[6 + k] = a6 * b0 + a7 * b1 + a8 * b2


@kernel
def _axis_turn(constants, i, first, angle, turn):
    """Write the rotation by `angle` about the axis that stands in `constants[i, first:]` (Rodrigues)."""
    x, y, z = constants[i, first], constants[i, first + 1], constants[i, first + 2]
    s, c = sincos(angle)
    d = 1 - c
    turn[0], turn[1], turn[2] = c + x * x * d, x * y * d - z * s, x * z * d + y * s
    turn[3], turn[4], turn[5] = y * x * d + z * s, c + y * y * d, y * z * d - x * s
    turn[6], turn[7], turn[8] = z * x * d - y * s, z * y * d + x * s, c + z * z * d


@kernel
def _move_general(i, topology, constants, q, v, links, axes):
    """Do for a joint of any kind what `move_links` does for a revolute one, and write its motion axes S."""
    pa, kind = topology[i, at.PARENT], topology[i, at.KIND]
    at_q, at_v, dof = topology[i, at.Q], topology[i, at.V], topology[i, at.DOF]
    row = links[i]
    frame = row[at.INERTIA_A : at.INERTIA_A + 9]  # free until the inertias are written
    turn = row[at.INERTIA_A + 9 : at.INERTIA_A + 18]
    r = row[at.ARM : at.ARM + 3]
    ox = oy = oz = 0.0
    if pa >= 0:
        ox, oy, oz = links[pa, at.OMEGA], links[pa, at.OMEGA + 1], links[pa, at.OMEGA + 2]
        for a in range(3):
            p0, p1, p2 = links[pa, 3 * a], links[pa, 3 * a + 1], links[pa, 3 * a + 2]
            for b in range(3):
                frame[3 * a + b] = p0 * constants[i, b] + p1 * constants[i, 3 + b] + p2 * constants[i, 6 + b]
            r[a] = p0 * constants[i, at.OFFSET] + p1 * constants[i, at.OFFSET + 1] + p2 * constants[i, at.OFFSET + 2]
    else:
        for a in range(9):
            frame[a] = constants[i, a]
        for a in range(3):
            r[a] = constants[i, at.OFFSET + a]
    joint_turn(kind, constants, i, q, at_q, turn)
    for a in range(3):
        f0, f1, f2 = frame[3 * a], frame[3 * a + 1], frame[3 * a + 2]
        for b in range(3):
            links[i, 3 * a + b] = f0 * turn[b] + f1 * turn[3 + b] + f2 * turn[6 + b]
    for k in range(at_v, at_v + dof):
        for a in range(6):
            axes[k, at.S + a] = 0.0
    for a in range(3):
        f0, f1, f2 = frame[3 * a], frame[3 * a + 1], frame[3 * a + 2]
        if kind == at.PRISMATIC:
            axes[at_v, at.S + 3 + a] = f2
            r[a] += f2 * q[at_q]
        elif kind == at.REVOLUTE:
            axes[at_v, at.S + a] = f2
        elif kind == at.HELICAL:
            pitch = constants[i, at.PITCH]
            axes[at_v, at.S + a] = f2
            axes[at_v, at.S + 3 + a] = pitch * f2
            r[a] += pitch * f2 * q[at_q]
        elif kind == at.UNIVERSAL:
            x, y, z = constants[i, at.FIRST], constants[i, at.FIRST + 1], constants[i, at.FIRST + 2]
            axes[at_v, at.S + a] = f0 * x + f1 * y + f2 * z
            x, y, z = constants[i, at.SECOND], constants[i, at.SECOND + 1], constants[i, at.SECOND + 2]
            axes[at_v + 1, at.S + a] = links[i, 3 * a] * x + links[i, 3 * a + 1] * y + links[i, 3 * a + 2] * z
        elif kind == at.PLANAR:
            axes[at_v, at.S + a] = f2
            axes[at_v + 1, at.S + 3 + a] = f0
            axes[at_v + 2, at.S + 3 + a] = f1
            r[a] += f0 * q[at_q + 1] + f1 * q[at_q + 2]
        else:  # spherical and free: angular velocity in the axes of the link
            for b in range(3):
                axes[at_v + b, at.S + a] = links[i, 3 * a + b]
            if kind == at.FREE:
                for b in range(3):
                    axes[at_v + 3 + b, at.S + 3 + a] = frame[3 * a + b]
                r[a] += f0 * q[at_q + 4] + f1 * q[at_q + 5] + f2 * q[at_q + 6]
    wx = wy = wz = ux = uy = uz = 0.0
    for k in range(at_v, at_v + dof):
        rate = v[k]
        wx += axes[k, at.S] * rate
        wy += axes[k, at.S + 1] * rate
        wz += axes[k, at.S + 2] * rate
        ux += axes[k, at.S + 3] * rate
        uy += axes[k, at.S + 4] * rate
        uz += axes[k, at.S + 5] * rate
    links[i, at.OMEGA], links[i, at.OMEGA + 1], links[i, at.OMEGA + 2] = ox + wx, oy + wy, oz + wz
    cx, cy, cz = oy * wz - oz * wy, oz * wx - ox * wz, ox * wy - oy * wx
    if kind == at.UNIVERSAL:  # the second axis turns with the first
        both = v[at_v] * v[at_v + 1]
        ax, ay, az = axes[at_v, at.S], axes[at_v, at.S + 1], axes[at_v, at.S + 2]
        bx, by, bz = axes[at_v + 1, at.S], axes[at_v + 1, at.S + 1], axes[at_v + 1, at.S + 2]
        cx += both * (ay * bz - az * by)
        cy += both * (az * bx - ax * bz)
        cz += both * (ax * by - ay * bx)
    tx = oy * r[2] - oz * r[1] + 2 * ux
    ty = oz * r[0] - ox * r[2] + 2 * uy
    tz = ox * r[1] - oy * r[0] + 2 * uz
    links[i, at.BIAS], links[i, at.BIAS + 1], links[i, at.BIAS + 2] = cx, cy, cz
    links[i, at.BIAS + 3] = oy * tz - oz * ty
    links[i, at.BIAS + 4] = oz * tx - ox * tz
    links[i, at.BIAS + 5] = ox * ty - oy * tx


@kernel
def write_axes(topology, links, axes):
    """Complete S for the revolute joints, for algorithms that treat all joints alike."""
    for i in range(topology.shape[0]):
        if topology[i, at.KIND] == at.REVOLUTE:
            k = topology[i, at.V]
            for a in range(3):
                axes[k, at.S + a] = links[i, 3 * a + 2]
                axes[k, at.S + 3 + a] = 0.0


@kernel
def place_links(topology, links):
    """Add up POSITION of every link, after `move_links`."""
    for i in range(topology.shape[0]):
        pa = topology[i, at.PARENT]
        for a in range(3):
            start = links[pa, at.POSITION + a] if pa >= 0 else 0.0
            links[i, at.POSITION + a] = start + links[i, at.ARM + a]


@kernel
def velocity_links(topology, v, links, axes):
    """Add up VELOCITY of every link's origin, after `move_links` and `write_axes`."""
    for i in range(topology.shape[0]):
        pa, at_v = topology[i, at.PARENT], topology[i, at.V]
        x = y = z = 0.0
        if pa >= 0:
            ox, oy, oz = links[pa, at.OMEGA], links[pa, at.OMEGA + 1], links[pa, at.OMEGA + 2]
            rx, ry, rz = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
            x = links[pa, at.VELOCITY] + oy * rz - oz * ry
            y = links[pa, at.VELOCITY + 1] + oz * rx - ox * rz
            z = links[pa, at.VELOCITY + 2] + ox * ry - oy * rx
        for k in range(at_v, at_v + topology[i, at.DOF]):
            x += axes[k, at.S + 3] * v[k]
            y += axes[k, at.S + 4] * v[k]
            z += axes[k, at.S + 5] * v[k]
        links[i, at.VELOCITY], links[i, at.VELOCITY + 1], links[i, at.VELOCITY + 2] = x, y, z
