"""From coordinates to motion: one pass from the roots to the tips, shared by every algorithm.

All vectors are in world axes about the link's own origin, so that passing to the parent is a pure translation and no
number grows with the distance from the world's origin. Accelerations are *classical* (of the material point at the
origin): Galilean invariance then keeps the linear velocity out of every bias, which saves work and digits.

For a joint with relative angular velocity w = S_ang qd and relative velocity u = S_lin qd, both in the axes F of its
fixed frame, on a parent that turns with omega and with r from the parent's origin to the own one:

    c_ang = omega x w (+ first x second for a universal joint)      c_lin = omega x (omega x r) + 2 omega x u
"""

from __future__ import annotations

from .._jit import kernel, leaf
from . import layout as at
from .trig import sincos


@kernel
def move_links(topology, constants, q, v, links, axes):
    """Fill R, ARM, OMEGA and BIAS of every link, and S of every degree of freedom that is not a revolute joint's."""
    for i in range(topology.shape[0]):
        pa = topology[i, at.PARENT]
        kind = topology[i, at.KIND]
        if kind == at.SPHERICAL or kind == at.FREE:
            _move_ball(i, topology, constants, q, v, links, axes)
            continue
        if kind != at.REVOLUTE:
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


@leaf
def _move_ball(i, topology, constants, q, v, links, axes):
    """Do for a spherical or free joint what `move_links` does for a revolute one, and write its motion axes S.

    The angular velocity is in the axes of the link, the linear velocity of a free joint in those of its fixed frame.
    """
    pa, at_q, k = topology[i, at.PARENT], topology[i, at.Q], topology[i, at.V]
    f0, f1, f2 = constants[i, 0], constants[i, 1], constants[i, 2]
    f3, f4, f5 = constants[i, 3], constants[i, 4], constants[i, 5]
    f6, f7, f8 = constants[i, 6], constants[i, 7], constants[i, 8]
    rx, ry, rz = constants[i, at.OFFSET], constants[i, at.OFFSET + 1], constants[i, at.OFFSET + 2]
    ox = oy = oz = 0.0
    if pa >= 0:
        p0, p1, p2 = links[pa, 0], links[pa, 1], links[pa, 2]
        p3, p4, p5 = links[pa, 3], links[pa, 4], links[pa, 5]
        p6, p7, p8 = links[pa, 6], links[pa, 7], links[pa, 8]
        f0, f3, f6 = p0 * f0 + p1 * f3 + p2 * f6, p3 * f0 + p4 * f3 + p5 * f6, p6 * f0 + p7 * f3 + p8 * f6
        f1, f4, f7 = p0 * f1 + p1 * f4 + p2 * f7, p3 * f1 + p4 * f4 + p5 * f7, p6 * f1 + p7 * f4 + p8 * f7
        f2, f5, f8 = p0 * f2 + p1 * f5 + p2 * f8, p3 * f2 + p4 * f5 + p5 * f8, p6 * f2 + p7 * f5 + p8 * f8
        rx, ry, rz = p0 * rx + p1 * ry + p2 * rz, p3 * rx + p4 * ry + p5 * rz, p6 * rx + p7 * ry + p8 * rz
        ox, oy, oz = links[pa, at.OMEGA], links[pa, at.OMEGA + 1], links[pa, at.OMEGA + 2]
    qw, qx, qy, qz = q[at_q], q[at_q + 1], q[at_q + 2], q[at_q + 3]
    n = 2.0 / (qw * qw + qx * qx + qy * qy + qz * qz)
    t0, t1, t2 = 1 - n * (qy * qy + qz * qz), n * (qx * qy - qw * qz), n * (qx * qz + qw * qy)
    t3, t4, t5 = n * (qx * qy + qw * qz), 1 - n * (qx * qx + qz * qz), n * (qy * qz - qw * qx)
    t6, t7, t8 = n * (qx * qz - qw * qy), n * (qy * qz + qw * qx), 1 - n * (qx * qx + qy * qy)
    r0, r1, r2 = f0 * t0 + f1 * t3 + f2 * t6, f0 * t1 + f1 * t4 + f2 * t7, f0 * t2 + f1 * t5 + f2 * t8
    r3, r4, r5 = f3 * t0 + f4 * t3 + f5 * t6, f3 * t1 + f4 * t4 + f5 * t7, f3 * t2 + f4 * t5 + f5 * t8
    r6, r7, r8 = f6 * t0 + f7 * t3 + f8 * t6, f6 * t1 + f7 * t4 + f8 * t7, f6 * t2 + f7 * t5 + f8 * t8
    links[i, 0], links[i, 1], links[i, 2] = r0, r1, r2
    links[i, 3], links[i, 4], links[i, 5] = r3, r4, r5
    links[i, 6], links[i, 7], links[i, 8] = r6, r7, r8
    S = at.S
    axes[k, S], axes[k, S + 1], axes[k, S + 2] = r0, r3, r6
    axes[k + 1, S], axes[k + 1, S + 1], axes[k + 1, S + 2] = r1, r4, r7
    axes[k + 2, S], axes[k + 2, S + 1], axes[k + 2, S + 2] = r2, r5, r8
    for n in range(k, k + 3):
        axes[n, S + 3] = axes[n, S + 4] = axes[n, S + 5] = 0.0
    x, y, z = v[k], v[k + 1], v[k + 2]
    wx, wy, wz = r0 * x + r1 * y + r2 * z, r3 * x + r4 * y + r5 * z, r6 * x + r7 * y + r8 * z
    tx = ty = tz = 0.0
    if topology[i, at.KIND] == at.FREE:
        for n in range(k + 3, k + 6):
            axes[n, S] = axes[n, S + 1] = axes[n, S + 2] = 0.0
        axes[k + 3, S + 3], axes[k + 3, S + 4], axes[k + 3, S + 5] = f0, f3, f6
        axes[k + 4, S + 3], axes[k + 4, S + 4], axes[k + 4, S + 5] = f1, f4, f7
        axes[k + 5, S + 3], axes[k + 5, S + 4], axes[k + 5, S + 5] = f2, f5, f8
        x, y, z = q[at_q + 4], q[at_q + 5], q[at_q + 6]
        rx += f0 * x + f1 * y + f2 * z
        ry += f3 * x + f4 * y + f5 * z
        rz += f6 * x + f7 * y + f8 * z
        x, y, z = 2.0 * v[k + 3], 2.0 * v[k + 4], 2.0 * v[k + 5]
        tx, ty, tz = f0 * x + f1 * y + f2 * z, f3 * x + f4 * y + f5 * z, f6 * x + f7 * y + f8 * z
    links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2] = rx, ry, rz
    links[i, at.OMEGA], links[i, at.OMEGA + 1], links[i, at.OMEGA + 2] = ox + wx, oy + wy, oz + wz
    links[i, at.BIAS] = oy * wz - oz * wy
    links[i, at.BIAS + 1] = oz * wx - ox * wz
    links[i, at.BIAS + 2] = ox * wy - oy * wx
    tx, ty, tz = tx + oy * rz - oz * ry, ty + oz * rx - ox * rz, tz + ox * ry - oy * rx
    links[i, at.BIAS + 3] = oy * tz - oz * ty
    links[i, at.BIAS + 4] = oz * tx - ox * tz
    links[i, at.BIAS + 5] = ox * ty - oy * tx


@leaf
def _axis_rotation(x, y, z, angle):
    """Return the rotation by `angle` about the axis (x, y, z), row-major (Rodrigues)."""
    s, c = sincos(angle)
    d = 1 - c
    return (
        c + x * x * d, x * y * d - z * s, x * z * d + y * s,
        y * x * d + z * s, c + y * y * d, y * z * d - x * s,
        z * x * d - y * s, z * y * d + x * s, c + z * z * d,
    )  # fmt: skip


@leaf
def _times(f0, f1, f2, f3, f4, f5, f6, f7, f8, t):
    """Return the product of two 3 x 3 matrices, row-major."""
    t0, t1, t2, t3, t4, t5, t6, t7, t8 = t
    return (
        f0 * t0 + f1 * t3 + f2 * t6, f0 * t1 + f1 * t4 + f2 * t7, f0 * t2 + f1 * t5 + f2 * t8,
        f3 * t0 + f4 * t3 + f5 * t6, f3 * t1 + f4 * t4 + f5 * t7, f3 * t2 + f4 * t5 + f5 * t8,
        f6 * t0 + f7 * t3 + f8 * t6, f6 * t1 + f7 * t4 + f8 * t7, f6 * t2 + f7 * t5 + f8 * t8,
    )  # fmt: skip


@leaf
def _move_general(i, topology, constants, q, v, links, axes):
    """Do for any other joint what `move_links` does for a revolute one, and write its motion axes S."""
    pa, kind, at_q, k = topology[i, at.PARENT], topology[i, at.KIND], topology[i, at.Q], topology[i, at.V]
    f0, f1, f2 = constants[i, 0], constants[i, 1], constants[i, 2]
    f3, f4, f5 = constants[i, 3], constants[i, 4], constants[i, 5]
    f6, f7, f8 = constants[i, 6], constants[i, 7], constants[i, 8]
    rx, ry, rz = constants[i, at.OFFSET], constants[i, at.OFFSET + 1], constants[i, at.OFFSET + 2]
    ox = oy = oz = 0.0
    if pa >= 0:
        p0, p1, p2 = links[pa, 0], links[pa, 1], links[pa, 2]
        p3, p4, p5 = links[pa, 3], links[pa, 4], links[pa, 5]
        p6, p7, p8 = links[pa, 6], links[pa, 7], links[pa, 8]
        f0, f3, f6 = p0 * f0 + p1 * f3 + p2 * f6, p3 * f0 + p4 * f3 + p5 * f6, p6 * f0 + p7 * f3 + p8 * f6
        f1, f4, f7 = p0 * f1 + p1 * f4 + p2 * f7, p3 * f1 + p4 * f4 + p5 * f7, p6 * f1 + p7 * f4 + p8 * f7
        f2, f5, f8 = p0 * f2 + p1 * f5 + p2 * f8, p3 * f2 + p4 * f5 + p5 * f8, p6 * f2 + p7 * f5 + p8 * f8
        rx, ry, rz = p0 * rx + p1 * ry + p2 * rz, p3 * rx + p4 * ry + p5 * rz, p6 * rx + p7 * ry + p8 * rz
        ox, oy, oz = links[pa, at.OMEGA], links[pa, at.OMEGA + 1], links[pa, at.OMEGA + 2]
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = f0, f1, f2, f3, f4, f5, f6, f7, f8
    S = at.S
    for n in range(k, k + topology[i, at.DOF]):
        axes[n, S] = axes[n, S + 1] = axes[n, S + 2] = 0.0
        axes[n, S + 3] = axes[n, S + 4] = axes[n, S + 5] = 0.0
    wx = wy = wz = ux = uy = uz = 0.0  # relative angular and linear velocity
    ex = ey = ez = 0.0  # the bias of a second axis that turns with the first
    if kind == at.PRISMATIC:
        axes[k, S + 3], axes[k, S + 4], axes[k, S + 5] = f2, f5, f8
        x = q[at_q]
        rx, ry, rz = rx + f2 * x, ry + f5 * x, rz + f8 * x
        x = v[k]
        ux, uy, uz = f2 * x, f5 * x, f8 * x
    elif kind == at.UNIVERSAL:
        x, y, z = constants[i, at.FIRST], constants[i, at.FIRST + 1], constants[i, at.FIRST + 2]
        ax, ay, az = f0 * x + f1 * y + f2 * z, f3 * x + f4 * y + f5 * z, f6 * x + f7 * y + f8 * z
        one = _axis_rotation(x, y, z, q[at_q])
        r0, r1, r2, r3, r4, r5, r6, r7, r8 = _times(f0, f1, f2, f3, f4, f5, f6, f7, f8, one)
        x, y, z = constants[i, at.SECOND], constants[i, at.SECOND + 1], constants[i, at.SECOND + 2]
        bx, by, bz = r0 * x + r1 * y + r2 * z, r3 * x + r4 * y + r5 * z, r6 * x + r7 * y + r8 * z
        two = _axis_rotation(x, y, z, q[at_q + 1])
        r0, r1, r2, r3, r4, r5, r6, r7, r8 = _times(r0, r1, r2, r3, r4, r5, r6, r7, r8, two)
        axes[k, S], axes[k, S + 1], axes[k, S + 2] = ax, ay, az
        axes[k + 1, S], axes[k + 1, S + 1], axes[k + 1, S + 2] = bx, by, bz
        x, y = v[k], v[k + 1]
        wx, wy, wz = ax * x + bx * y, ay * x + by * y, az * x + bz * y
        x *= y
        ex, ey, ez = x * (ay * bz - az * by), x * (az * bx - ax * bz), x * (ax * by - ay * bx)
    else:  # helical and planar: both turn about z
        s, c = sincos(q[at_q])
        r0, r1, r3, r4, r6, r7 = (
            c * f0 + s * f1, c * f1 - s * f0, c * f3 + s * f4, c * f4 - s * f3, c * f6 + s * f7, c * f7 - s * f6,
        )  # fmt: skip
        axes[k, S], axes[k, S + 1], axes[k, S + 2] = f2, f5, f8
        x = v[k]
        wx, wy, wz = f2 * x, f5 * x, f8 * x
        if kind == at.HELICAL:
            pitch = constants[i, at.PITCH]
            hx, hy, hz = pitch * f2, pitch * f5, pitch * f8
            axes[k, S + 3], axes[k, S + 4], axes[k, S + 5] = hx, hy, hz
            ux, uy, uz = hx * x, hy * x, hz * x
            x = q[at_q]
            rx, ry, rz = rx + hx * x, ry + hy * x, rz + hz * x
        else:
            axes[k + 1, S + 3], axes[k + 1, S + 4], axes[k + 1, S + 5] = f0, f3, f6
            axes[k + 2, S + 3], axes[k + 2, S + 4], axes[k + 2, S + 5] = f1, f4, f7
            x, y = v[k + 1], v[k + 2]
            ux, uy, uz = f0 * x + f1 * y, f3 * x + f4 * y, f6 * x + f7 * y
            x, y = q[at_q + 1], q[at_q + 2]
            rx, ry, rz = rx + f0 * x + f1 * y, ry + f3 * x + f4 * y, rz + f6 * x + f7 * y
    links[i, 0], links[i, 1], links[i, 2] = r0, r1, r2
    links[i, 3], links[i, 4], links[i, 5] = r3, r4, r5
    links[i, 6], links[i, 7], links[i, 8] = r6, r7, r8
    links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2] = rx, ry, rz
    links[i, at.OMEGA], links[i, at.OMEGA + 1], links[i, at.OMEGA + 2] = ox + wx, oy + wy, oz + wz
    links[i, at.BIAS] = oy * wz - oz * wy + ex
    links[i, at.BIAS + 1] = oz * wx - ox * wz + ey
    links[i, at.BIAS + 2] = ox * wy - oy * wx + ez
    tx, ty, tz = oy * rz - oz * ry + 2 * ux, oz * rx - ox * rz + 2 * uy, ox * ry - oy * rx + 2 * uz
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
