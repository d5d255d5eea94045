"""Coordinates as a manifold: quaternions make q longer than v, and sums into products."""

from __future__ import annotations

import math

from .._jit import kernel
from . import layout as at

NORM = 1e-6  # how far the square of a quaternion's length may be from 1


@kernel
def bad_quaternion(topology, q):
    """Return the first link whose quaternion is not of length 1, or -1."""
    for i in range(topology.shape[0]):
        kind = topology[i, at.KIND]
        if kind == at.SPHERICAL or kind == at.FREE:
            k = topology[i, at.Q]
            square = q[k] * q[k] + q[k + 1] * q[k + 1] + q[k + 2] * q[k + 2] + q[k + 3] * q[k + 3]
            if not abs(square - 1.0) < NORM:
                return i
    return -1


@kernel
def integrate(topology, q, v, dt, out):
    """Write into `out` where `q` is after `dt` at the constant joint velocities `v`; `out` may be `q`."""
    for i in range(topology.shape[0]):
        kind, at_q, at_v = topology[i, at.KIND], topology[i, at.Q], topology[i, at.V]
        if kind == at.SPHERICAL or kind == at.FREE:
            _turn(q, at_q, dt * v[at_v], dt * v[at_v + 1], dt * v[at_v + 2], out)
            if kind == at.FREE:
                for k in range(3):
                    out[at_q + 4 + k] = q[at_q + 4 + k] + dt * v[at_v + 3 + k]
        else:
            for k in range(topology[i, at.DOF]):
                out[at_q + k] = q[at_q + k] + dt * v[at_v + k]


@kernel
def _turn(q, k, x, y, z, out):
    """Multiply the quaternion at `k` by exp of the rotation vector (x, y, z) from the right, and normalise."""
    square = x * x + y * y + z * z
    if square < 1e-8:  # cos(a/2) and sin(a/2)/a by series, exact to rounding below 1e-4 rad
        c = 1.0 - square / 8.0 + square * square / 384.0
        s = 0.5 - square / 48.0 + square * square / 3840.0
    else:
        angle = math.sqrt(square)
        c = math.cos(0.5 * angle)
        s = math.sin(0.5 * angle) / angle
    x, y, z = s * x, s * y, s * z
    qw, qx, qy, qz = q[k], q[k + 1], q[k + 2], q[k + 3]
    rw = qw * c - qx * x - qy * y - qz * z
    rx = qw * x + qx * c + qy * z - qz * y
    ry = qw * y - qx * z + qy * c + qz * x
    rz = qw * z + qx * y - qy * x + qz * c
    n = 1.0 / math.sqrt(rw * rw + rx * rx + ry * ry + rz * rz)
    out[k], out[k + 1], out[k + 2], out[k + 3] = rw * n, rx * n, ry * n, rz * n


@kernel
def difference(topology, q0, q1, out):
    """Write into `out` the velocity that leads from `q0` to `q1` in a unit of time, on the shortest way."""
    for i in range(topology.shape[0]):
        kind, at_q, at_v = topology[i, at.KIND], topology[i, at.Q], topology[i, at.V]
        if kind == at.SPHERICAL or kind == at.FREE:
            aw, ax, ay, az = q0[at_q], q0[at_q + 1], q0[at_q + 2], q0[at_q + 3]
            bw, bx, by, bz = q1[at_q], q1[at_q + 1], q1[at_q + 2], q1[at_q + 3]
            w = aw * bw + ax * bx + ay * by + az * bz
            x = aw * bx - ax * bw - ay * bz + az * by
            y = aw * by + ax * bz - ay * bw - az * bx
            z = aw * bz - ax * by + ay * bx - az * bw
            if w < 0.0:
                w, x, y, z = -w, -x, -y, -z
            length = math.sqrt(x * x + y * y + z * z)
            factor = 2.0 / w if length < 1e-10 else 2.0 * math.atan2(length, w) / length
            out[at_v], out[at_v + 1], out[at_v + 2] = factor * x, factor * y, factor * z
            if kind == at.FREE:
                for k in range(3):
                    out[at_v + 3 + k] = q1[at_q + 4 + k] - q0[at_q + 4 + k]
        else:
            for k in range(topology[i, at.DOF]):
                out[at_v + k] = q1[at_q + k] - q0[at_q + k]


@kernel
def coordinate_rate(topology, q, v, out):
    """Write dq/dt into `out` (nq): v itself, and q (0, omega) / 2 for a quaternion."""
    for i in range(topology.shape[0]):
        kind, at_q, at_v = topology[i, at.KIND], topology[i, at.Q], topology[i, at.V]
        if kind == at.SPHERICAL or kind == at.FREE:
            qw, qx, qy, qz = q[at_q], q[at_q + 1], q[at_q + 2], q[at_q + 3]
            x, y, z = 0.5 * v[at_v], 0.5 * v[at_v + 1], 0.5 * v[at_v + 2]
            out[at_q] = -qx * x - qy * y - qz * z
            out[at_q + 1] = qw * x + qy * z - qz * y
            out[at_q + 2] = qw * y - qx * z + qz * x
            out[at_q + 3] = qw * z + qx * y - qy * x
            if kind == at.FREE:
                for k in range(3):
                    out[at_q + 4 + k] = v[at_v + 3 + k]
        else:
            for k in range(topology[i, at.DOF]):
                out[at_q + k] = v[at_v + k]


@kernel
def normalize(topology, q):
    """Bring every quaternion of `q` back to length 1."""
    for i in range(topology.shape[0]):
        kind = topology[i, at.KIND]
        if kind == at.SPHERICAL or kind == at.FREE:
            k = topology[i, at.Q]
            n = 1.0 / math.sqrt(q[k] * q[k] + q[k + 1] * q[k + 1] + q[k + 2] * q[k + 2] + q[k + 3] * q[k + 3])
            q[k], q[k + 1], q[k + 2], q[k + 3] = q[k] * n, q[k + 1] * n, q[k + 2] * n, q[k + 3] * n
