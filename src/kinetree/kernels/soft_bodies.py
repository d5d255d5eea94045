"""Rigid bodies in maximal coordinates: world inertias, motion without constraints, and the step of the positions.

Semi-implicit Euler: velocities first, positions with the new velocities; orientations by the exponential map with
sinc (Grassia 1998). Gyroscopic torques are computed so that angular momentum and energy of a free body are kept:
the rotation of a step is the Magnus series of Buss (2000, "augmented" method, fourth order), and what is left of the
error in energy is turned away about the axis on which it depends most.
"""

from __future__ import annotations

import math

from .._jit import kernel, leaf
from . import soft_layout as at

SMALL = 1e-4  # angle [rad] below which sin(x)/x is its series
FAST = 2.0  # rad a step, beyond which the implicit torque (Lacoursiere 2006) takes over
SUBSTEP = 0.25  # rad of a substep of the Magnus series
TOUCHES = 3  # corrections of the energy


@leaf
def sinc(x):
    """Return sin(x) / x."""
    if abs(x) < SMALL:
        return 1.0 - x * x / 6.0
    return math.sin(x) / x


@leaf
def turn_matrix(q, i, col, out, j, to):
    """Write the rotation matrix of the quaternion q[i, col:col+4] to out[j, to:to+9]."""
    w, x, y, z = q[i, col], q[i, col + 1], q[i, col + 2], q[i, col + 3]
    out[j, to], out[j, to + 1] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z)
    out[j, to + 2], out[j, to + 3] = 2.0 * (x * z + w * y), 2.0 * (x * y + w * z)
    out[j, to + 4], out[j, to + 5] = 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
    out[j, to + 6], out[j, to + 7] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x)
    out[j, to + 8] = 1.0 - 2.0 * (x * x + y * y)


@leaf
def times(m, i, col, x, y, z):
    """Return the symmetric matrix m[i, col:col+6] (xx xy xz yy yz zz) times (x, y, z)."""
    return (
        m[i, col] * x + m[i, col + 1] * y + m[i, col + 2] * z,
        m[i, col + 1] * x + m[i, col + 3] * y + m[i, col + 4] * z,
        m[i, col + 2] * x + m[i, col + 4] * y + m[i, col + 5] * z,
    )


@leaf
def turned_inertia(bodies, i, source, to):
    """Write R S R' of the symmetric matrix at `source`, with the body's rotation, to column `to`."""
    r = at.R
    a0, a1, a2 = bodies[i, r], bodies[i, r + 1], bodies[i, r + 2]
    a3, a4, a5 = bodies[i, r + 3], bodies[i, r + 4], bodies[i, r + 5]
    a6, a7, a8 = bodies[i, r + 6], bodies[i, r + 7], bodies[i, r + 8]
    t0, t1, t2 = times(bodies, i, source, a0, a1, a2)
    t3, t4, t5 = times(bodies, i, source, a3, a4, a5)
    t6, t7, t8 = times(bodies, i, source, a6, a7, a8)
    bodies[i, to] = a0 * t0 + a1 * t1 + a2 * t2
    bodies[i, to + 1] = a0 * t3 + a1 * t4 + a2 * t5
    bodies[i, to + 2] = a0 * t6 + a1 * t7 + a2 * t8
    bodies[i, to + 3] = a3 * t3 + a4 * t4 + a5 * t5
    bodies[i, to + 4] = a3 * t6 + a4 * t7 + a5 * t8
    bodies[i, to + 5] = a6 * t6 + a7 * t7 + a8 * t8


@leaf
def rotated(x, y, z, ax, ay, az):
    """Return exp(a^) (x, y, z), the vector turned by the rotation vector a."""
    angle = math.sqrt(ax * ax + ay * ay + az * az)
    s = sinc(angle)
    half = sinc(0.5 * angle)
    c = 0.5 * half * half  # (1 - cos) / angle^2
    cx, cy, cz = ay * z - az * y, az * x - ax * z, ax * y - ay * x
    dx, dy, dz = ay * cz - az * cy, az * cx - ax * cz, ax * cy - ay * cx
    return x + s * cx + c * dx, y + s * cy + c * dy, z + s * cz + c * dz


@leaf
def _product(w, x, y, z, a, b, c, d):
    """Return the product of two quaternions."""
    return (
        w * a - x * b - y * c - z * d,
        w * b + x * a + y * d - z * c,
        w * c - x * d + y * a + z * b,
        w * d + x * c - y * b + z * a,
    )


@kernel
def conserving_turn(bodies, i, h, wx, wy, wz, out):
    """Turn a free body for h from the angular velocity w (body axes); out = [angular velocity after; rotation vector].

    Both in the body's axes before the step. Angular momentum is kept by construction, energy by small turns of the
    body about L x w (they leave L in the world as it is): dE = -delta . (L x w).
    """
    I, inv = at.INERTIA, at.INVERSE_INERTIA
    lx, ly, lz = times(bodies, i, I, wx, wy, wz)
    energy = wx * lx + wy * ly + wz * lz
    speed = math.sqrt(wx * wx + wy * wy + wz * wz)
    steps = 1 + int(h * speed / SUBSTEP)
    t = h / steps
    qw, qx, qy, qz = 1.0, 0.0, 0.0, 0.0
    for _ in range(steps):
        ax, ay, az = times(bodies, i, inv, ly * wz - lz * wy, lz * wx - lx * wz, lx * wy - ly * wx)  # w', Euler
        kx, ky, kz = times(bodies, i, I, ax, ay, az)
        bx, by, bz = times(
            bodies, i, inv,
            ky * wz - kz * wy + ly * az - lz * ay,
            kz * wx - kx * wz + lz * ax - lx * az,
            kx * wy - ky * wx + lx * ay - ly * ax,
        )  # w''
        mx, my, mz = times(bodies, i, I, bx, by, bz)
        cx, cy, cz = times(
            bodies, i, inv,
            my * wz - mz * wy + 2.0 * (ky * az - kz * ay) + ly * bz - lz * by,
            mz * wx - mx * wz + 2.0 * (kz * ax - kx * az) + lz * bx - lx * bz,
            mx * wy - my * wx + 2.0 * (kx * ay - ky * ax) + lx * by - ly * bx,
        )  # w'''
        t2, t3, t4 = t * t / 2.0, t * t * t, t * t * t * t / 24.0
        rx = t * wx + t2 * ax + t3 / 6.0 * bx + t4 * cx - t3 / 12.0 * (ay * wz - az * wy) - t4 * (by * wz - bz * wy)
        ry = t * wy + t2 * ay + t3 / 6.0 * by + t4 * cy - t3 / 12.0 * (az * wx - ax * wz) - t4 * (bz * wx - bx * wz)
        rz = t * wz + t2 * az + t3 / 6.0 * bz + t4 * cz - t3 / 12.0 * (ax * wy - ay * wx) - t4 * (bx * wy - by * wx)
        for _ in range(1 + TOUCHES):
            half = 0.5 * math.sqrt(rx * rx + ry * ry + rz * rz)
            s = 0.5 * sinc(half)
            qw, qx, qy, qz = _product(qw, qx, qy, qz, math.cos(half), s * rx, s * ry, s * rz)
            lx, ly, lz = rotated(lx, ly, lz, -rx, -ry, -rz)
            wx, wy, wz = times(bodies, i, inv, lx, ly, lz)
            gx, gy, gz = ly * wz - lz * wy, lz * wx - lx * wz, lx * wy - ly * wx
            size = gx * gx + gy * gy + gz * gz
            excess = 0.5 * (wx * lx + wy * ly + wz * lz - energy)
            if abs(excess) <= 1e-15 * energy or size * 1e6 <= energy * energy * 1e-6:
                break
            rx, ry, rz = excess / size * gx, excess / size * gy, excess / size * gz
            if rx * rx + ry * ry + rz * rz > 0.01:
                break
    if qw < 0.0:
        qw, qx, qy, qz = -qw, -qx, -qy, -qz
    v = math.sqrt(qx * qx + qy * qy + qz * qz)
    scale = 2.0 * math.atan2(v, qw) / v if v > 1e-9 else 2.0
    # the angular velocity after the step, from the axes after it to those before it
    out[0], out[1], out[2] = rotated(wx, wy, wz, scale * qx, scale * qy, scale * qz)
    out[3], out[4], out[5] = scale * qx, scale * qy, scale * qz


@kernel
def implicit_turn(bodies, i, h, wx, wy, wz, out):
    """Write to `out` the angular velocity after an implicit gyroscopic torque, all in world axes (Lacoursiere 2006).

    (I - h L^) w' = I w with L = I w, the formula of the Open Dynamics Engine. It loses energy.
    """
    I = at.WORLD_INERTIA
    lx, ly, lz = times(bodies, i, I, wx, wy, wz)
    a, b, c = bodies[i, I], bodies[i, I + 1] + h * lz, bodies[i, I + 2] - h * ly
    d, e, f = bodies[i, I + 1] - h * lz, bodies[i, I + 3], bodies[i, I + 4] + h * lx
    g, k, m = bodies[i, I + 2] + h * ly, bodies[i, I + 4] - h * lx, bodies[i, I + 5]
    c0, c1, c2 = e * m - f * k, f * g - d * m, d * k - e * g
    determinant = a * c0 + b * c1 + c * c2
    out[0] = (c0 * lx + (c * k - b * m) * ly + (b * f - c * e) * lz) / determinant
    out[1] = (c1 * lx + (a * m - c * g) * ly + (c * d - a * f) * lz) / determinant
    out[2] = (c2 * lx + (b * g - a * k) * ly + (a * e - b * d) * lz) / determinant


@kernel
def prepare_bodies(state, bodies, numbers, scratch):
    """Write rotations, world inertias and the velocities after a step without constraints."""
    h = numbers[at.STEP_LENGTH]
    for i in range(state.shape[0]):
        turn_matrix(state, i, at.QUATERNION, bodies, i, at.R)
        wx, wy, wz = state[i, at.OMEGA], state[i, at.OMEGA + 1], state[i, at.OMEGA + 2]
        F, T = at.FREE, at.TURN
        bodies[i, T], bodies[i, T + 1], bodies[i, T + 2] = 0.0, 0.0, 0.0
        bodies[i, at.ALIVE] = 0.0
        if bodies[i, at.INVERSE_MASS] == 0.0:
            for k in range(6):
                bodies[i, F + k] = state[i, at.OMEGA + k]
            continue
        turned_inertia(bodies, i, at.INERTIA, at.WORLD_INERTIA)
        turned_inertia(bodies, i, at.INVERSE_INERTIA, at.WORLD_INVERSE)
        tx, ty, tz = bodies[i, at.WRENCH], bodies[i, at.WRENCH + 1], bodies[i, at.WRENCH + 2]
        mode = int(bodies[i, at.GYRO])
        fast = h * h * (wx * wx + wy * wy + wz * wz) > FAST * FAST
        ux, uy, uz = wx, wy, wz
        if mode == at.GYRO_EXPLICIT:
            lx, ly, lz = times(bodies, i, at.WORLD_INERTIA, wx, wy, wz)
            tx, ty, tz = tx + ly * wz - lz * wy, ty + lz * wx - lx * wz, tz + lx * wy - ly * wx
        elif mode == at.GYRO_IMPLICIT or (mode == at.GYRO_CONSERVING and fast):
            implicit_turn(bodies, i, h, wx, wy, wz, scratch)
            ux, uy, uz = scratch[0], scratch[1], scratch[2]
        elif mode == at.GYRO_CONSERVING:
            r = at.R
            conserving_turn(
                bodies, i, h,
                bodies[i, r] * wx + bodies[i, r + 3] * wy + bodies[i, r + 6] * wz,
                bodies[i, r + 1] * wx + bodies[i, r + 4] * wy + bodies[i, r + 7] * wz,
                bodies[i, r + 2] * wx + bodies[i, r + 5] * wy + bodies[i, r + 8] * wz,
                scratch,
            )
            s0, s1, s2, s3, s4, s5 = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
            s3, s4, s5 = s3 - h * s0, s4 - h * s1, s5 - h * s2
            ux = bodies[i, r] * s0 + bodies[i, r + 1] * s1 + bodies[i, r + 2] * s2
            uy = bodies[i, r + 3] * s0 + bodies[i, r + 4] * s1 + bodies[i, r + 5] * s2
            uz = bodies[i, r + 6] * s0 + bodies[i, r + 7] * s1 + bodies[i, r + 8] * s2
            bodies[i, T] = bodies[i, r] * s3 + bodies[i, r + 1] * s4 + bodies[i, r + 2] * s5
            bodies[i, T + 1] = bodies[i, r + 3] * s3 + bodies[i, r + 4] * s4 + bodies[i, r + 5] * s5
            bodies[i, T + 2] = bodies[i, r + 6] * s3 + bodies[i, r + 7] * s4 + bodies[i, r + 8] * s5
        dx, dy, dz = times(bodies, i, at.WORLD_INVERSE, h * tx, h * ty, h * tz)
        bodies[i, F], bodies[i, F + 1], bodies[i, F + 2] = ux + dx, uy + dy, uz + dz
        for k in range(3):
            pull = numbers[at.GRAVITY + k] + bodies[i, at.INVERSE_MASS] * bodies[i, at.WRENCH + 3 + k]
            bodies[i, F + 3 + k] = state[i, at.VELOCITY + k] + h * pull


@kernel
def settle_bodies(state, bodies, numbers):
    """Take over the velocities after the step, and move positions and orientations with them (Eqs. 1 to 3)."""
    h = numbers[at.STEP_LENGTH]
    for i in range(state.shape[0]):
        N, T = at.NEXT, at.TURN
        gx, gy, gz = h * bodies[i, N], h * bodies[i, N + 1], h * bodies[i, N + 2]
        if bodies[i, at.ALIVE] == 0.0:  # nothing holds it: the rotation that keeps momentum and energy
            gx, gy, gz = gx + bodies[i, T], gy + bodies[i, T + 1], gz + bodies[i, T + 2]
        for k in range(6):
            state[i, at.OMEGA + k] = bodies[i, N + k]
        for k in range(3):
            state[i, at.POSITION + k] += h * bodies[i, N + 3 + k]
        half = 0.5 * math.sqrt(gx * gx + gy * gy + gz * gz)
        s = 0.5 * sinc(half)
        q = at.QUATERNION
        w, x, y, z = _product(
            math.cos(half), s * gx, s * gy, s * gz, state[i, q], state[i, q + 1], state[i, q + 2], state[i, q + 3]
        )
        length = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
        state[i, q], state[i, q + 1], state[i, q + 2], state[i, q + 3] = w * length, x * length, y * length, z * length
