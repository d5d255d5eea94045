"""The rows of every constraint: Jacobian, violation and the velocity that is asked for besides.

A row says J_a v_a + J_b v_b = rate - erp phi / h. Body A is the child: it is pushed along +J_a, and the violation phi
grows with its motion. A joint's frame stands in both bodies (`frames`); its z axis is the axis of a hinge, slider or
screw, its x axis in B and its y axis in A are the axes of a universal joint.
"""

from __future__ import annotations

import math

from .._jit import kernel, leaf
from . import soft_layout as at

LEAST_COSINE = 0.05  # Euler angles have no rates beyond this, near 90 degrees of the middle one


@leaf
def linear_row(rows, r, ex, ey, ez, ax, ay, az, bx, by, bz):
    """Write the row of the relative velocity along e of a point with arms a and b from the two centres of mass."""
    rows[r, 0], rows[r, 1], rows[r, 2] = ay * ez - az * ey, az * ex - ax * ez, ax * ey - ay * ex
    rows[r, 3], rows[r, 4], rows[r, 5] = ex, ey, ez
    rows[r, 6], rows[r, 7], rows[r, 8] = bz * ey - by * ez, bx * ez - bz * ex, by * ex - bx * ey
    rows[r, 9], rows[r, 10], rows[r, 11] = -ex, -ey, -ez


@leaf
def angular_row(rows, r, ex, ey, ez):
    """Write the row of the relative angular velocity along e."""
    rows[r, 0], rows[r, 1], rows[r, 2] = ex, ey, ez
    rows[r, 6], rows[r, 7], rows[r, 8] = -ex, -ey, -ez
    for k in range(3):
        rows[r, 3 + k] = 0.0
        rows[r, 9 + k] = 0.0


@leaf
def wrapped(angle):
    """Return the angle between -pi and pi."""
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


@leaf
def turned(m, col, x, y, z):
    """Return the rotation m[col:col+9] times (x, y, z)."""
    return (
        m[col] * x + m[col + 1] * y + m[col + 2] * z,
        m[col + 3] * x + m[col + 4] * y + m[col + 5] * z,
        m[col + 6] * x + m[col + 7] * y + m[col + 8] * z,
    )


@leaf
def rotation_vector(m, col):
    """Return the rotation vector of the matrix m[col:col+9], of a length up to pi."""
    x, y, z = 0.5 * (m[col + 7] - m[col + 5]), 0.5 * (m[col + 2] - m[col + 6]), 0.5 * (m[col + 3] - m[col + 1])
    s = math.sqrt(x * x + y * y + z * z)
    c = 0.5 * (m[col] + m[col + 4] + m[col + 8] - 1.0)
    if s > 1e-5:
        scale = math.atan2(s, c) / s
        return scale * x, scale * y, scale * z
    if c > 0.0:
        return x, y, z
    # about half a turn: the axis is the largest column of m + 1, and the antisymmetric part gives the sense
    sx, sy, sz = x, y, z
    xx, yy, zz = m[col] + 1.0, m[col + 4] + 1.0, m[col + 8] + 1.0
    if xx >= yy and xx >= zz:
        x, y, z = xx, m[col + 3], m[col + 6]
    elif yy >= zz:
        x, y, z = m[col + 1], yy, m[col + 7]
    else:
        x, y, z = m[col + 2], m[col + 5], zz
    scale = math.atan2(s, c) / math.sqrt(x * x + y * y + z * z)
    if x * sx + y * sy + z * sz < 0.0:
        scale = -scale
    return scale * x, scale * y, scale * z


@kernel
def place_frames(state, bodies, joints, frames, j, g):
    """Write to g: rotations of the frame in A (0) and B (9), arms from the centres of mass (18, 21), anchors' gap (24),
    and the rotation of A relative to B in the axes of B's frame (27).
    """
    a, b, kind = joints[j, at.A], joints[j, at.B], joints[j, at.KIND]
    turns = kind != at.BALL and kind != at.DISTANCE
    r = at.R
    for i in range(3):
        if turns:
            for k in range(3):
                s = 0.0
                for m in range(3):
                    s += bodies[a, r + 3 * i + m] * frames[j, at.TURN_A + 3 * m + k]
                g[3 * i + k] = s
        s = 0.0
        for m in range(3):
            s += bodies[a, r + 3 * i + m] * frames[j, at.ANCHOR_A + m]
        g[18 + i] = s
    if b < 0:
        for k in range(9):
            g[9 + k] = frames[j, at.TURN_B + k]
        for k in range(3):
            g[21 + k] = frames[j, at.ANCHOR_B + k]
            g[24 + k] = state[a, at.POSITION + k] + g[18 + k] - g[21 + k]
    else:
        for i in range(3):
            if turns:
                for k in range(3):
                    s = 0.0
                    for m in range(3):
                        s += bodies[b, r + 3 * i + m] * frames[j, at.TURN_B + 3 * m + k]
                    g[9 + 3 * i + k] = s
            s = 0.0
            for m in range(3):
                s += bodies[b, r + 3 * i + m] * frames[j, at.ANCHOR_B + m]
            g[21 + i] = s
        for k in range(3):
            g[24 + k] = (state[a, at.POSITION + k] - state[b, at.POSITION + k]) + (g[18 + k] - g[21 + k])
    if turns and kind != at.CONTACT:
        for i in range(3):
            for k in range(3):
                g[27 + 3 * i + k] = g[9 + i] * g[k] + g[12 + i] * g[3 + k] + g[15 + i] * g[6 + k]


@leaf
def point_rows(rows, r, g, frames, j):
    """Write three rows that hold the two anchors together, in world axes (S2: R_j c_jk + x_j - R_k c_kj - x_k)."""
    for k in range(3):
        linear_row(
            rows, r + k, 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0,
            g[18], g[19], g[20], g[21], g[22], g[23],
        )
        rows[r + k, at.PHI] = g[24 + k]
        rows[r + k, at.RATE] = frames[j, at.RATE_B + k]


@leaf
def axis_rows(rows, r, g):
    """Write two rows that hold the z axes of the two frames together, about the x and y axes in A."""
    ux, uy, uz = g[14] * g[8] - g[17] * g[5], g[17] * g[2] - g[11] * g[8], g[11] * g[5] - g[14] * g[2]  # z_b x z_a
    for k in range(2):
        ex, ey, ez = g[k], g[3 + k], g[6 + k]
        angular_row(rows, r + k, ex, ey, ez)
        rows[r + k, at.PHI] = ux * ex + uy * ey + uz * ez
        rows[r + k, at.RATE] = 0.0


@leaf
def along_row(rows, r, g, k):
    """Write a row of the displacement of A's anchor along axis k of the frame in B; returns the displacement."""
    ex, ey, ez = g[9 + k], g[12 + k], g[15 + k]
    linear_row(
        rows, r, ex, ey, ez, g[18], g[19], g[20], g[21] + g[24], g[22] + g[25], g[23] + g[26]
    )
    rows[r, at.RATE] = 0.0
    return ex * g[24] + ey * g[25] + ez * g[26]


@leaf
def orientation_rows(rows, r, g, frames, j, in_frame):
    """Write three rows of the rotation vector of A's frame relative to B's, along B's axes or (0) the world's."""
    x, y, z = rotation_vector(g, 27)
    wx, wy, wz = turned(g, 9, x, y, z)
    for k in range(3):
        if in_frame:
            angular_row(rows, r + k, g[9 + k], g[12 + k], g[15 + k])
        else:
            angular_row(
                rows, r + k, 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0
            )
        rows[r + k, at.RATE] = (
            rows[r + k, 0] * frames[j, at.SPIN_B] + rows[r + k, 1] * frames[j, at.SPIN_B + 1]
            + rows[r + k, 2] * frames[j, at.SPIN_B + 2]
        )
    if in_frame:
        rows[r, at.PHI], rows[r + 1, at.PHI], rows[r + 2, at.PHI] = x, y, z
    else:
        rows[r, at.PHI], rows[r + 1, at.PHI], rows[r + 2, at.PHI] = wx, wy, wz


@kernel
def simple_rows(joints, frames, rows, j, g):
    """Write the rows of a joint that holds positions and orientations."""
    r, kind = joints[j, at.FIRST], joints[j, at.KIND]
    if kind == at.BALL:
        point_rows(rows, r, g, frames, j)
    elif kind == at.HINGE:
        point_rows(rows, r, g, frames, j)
        axis_rows(rows, r + 3, g)
        frames[j, at.ANGLE] = math.atan2(g[30] - g[28], g[27] + g[31])
    elif kind == at.UNIVERSAL:
        point_rows(rows, r, g, frames, j)
        ax, ay, az, bx, by, bz = g[9], g[12], g[15], g[1], g[4], g[7]
        nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        size = 1.0 / math.sqrt(nx * nx + ny * ny + nz * nz)
        angular_row(rows, r + 3, nx * size, ny * size, nz * size)
        cosine = frames[j, at.LENGTH]
        rows[r + 3, at.PHI] = (cosine - (ax * bx + ay * by + az * bz)) / math.sqrt(1.0 - cosine * cosine)
        rows[r + 3, at.RATE] = 0.0
    elif kind == at.FIXED:
        point_rows(rows, r, g, frames, j)
        orientation_rows(rows, r + 3, g, frames, j, 0)
    elif kind == at.POSE:
        orientation_rows(rows, r, g, frames, j, 1)
        for k in range(3):
            rows[r + 3 + k, at.PHI] = along_row(rows, r + 3 + k, g, k)
            rows[r + 3 + k, at.RATE] = (
                g[9 + k] * frames[j, at.RATE_B] + g[12 + k] * frames[j, at.RATE_B + 1]
                + g[15 + k] * frames[j, at.RATE_B + 2]
            )
    elif kind == at.SLIDER:
        orientation_rows(rows, r, g, frames, j, 1)
        for k in range(2):
            rows[r + 3 + k, at.PHI] = along_row(rows, r + 3 + k, g, k)
    elif kind == at.PLANAR:
        axis_rows(rows, r, g)
        rows[r + 2, at.PHI] = along_row(rows, r + 2, g, 2)
    elif kind == at.SCREW:
        axis_rows(rows, r, g)
        for k in range(2):
            rows[r + 2 + k, at.PHI] = along_row(rows, r + 2 + k, g, k)
        slide = along_row(rows, r + 4, g, 2)
        pitch = frames[j, at.LENGTH]
        angle = math.atan2(g[30] - g[28], g[27] + g[31])
        if pitch != 0.0:
            angle += 2.0 * math.pi * math.floor((slide / pitch - angle) / (2.0 * math.pi) + 0.5)
        for k in range(3):
            rows[r + 4, at.JA + k] -= pitch * g[2 + 3 * k]
            rows[r + 4, at.JB + k] += pitch * g[2 + 3 * k]
        rows[r + 4, at.PHI] = slide - pitch * angle
        frames[j, at.ANGLE] = angle
    elif kind == at.DISTANCE:
        dx, dy, dz = g[24], g[25], g[26]
        length = math.sqrt(dx * dx + dy * dy + dz * dz)
        if length > 1e-12:
            dx, dy, dz = dx / length, dy / length, dz / length
        else:
            dx, dy, dz = 0.0, 0.0, 1.0
        linear_row(rows, r, dx, dy, dz, g[18], g[19], g[20], g[21], g[22], g[23])
        rows[r, at.PHI] = length - frames[j, at.LENGTH]
        rows[r, at.RATE] = (
            dx * frames[j, at.RATE_B] + dy * frames[j, at.RATE_B + 1] + dz * frames[j, at.RATE_B + 2]
            + frames[j, at.GOAL_RATE]
        )
        frames[j, at.ANGLE] = length


@kernel
def angle_rows(joints, frames, rows, j, g):
    """Write the rows of a motor or of a range of motion on the angles of a joint; J v is the rate of the angle."""
    r, kind = joints[j, at.FIRST], joints[j, at.OPTION]
    if kind == at.ABOUT_HINGE:
        angular_row(rows, r, g[2], g[5], g[8])
        frames[j, at.ANGLE] = math.atan2(g[30] - g[28], g[27] + g[31])
    elif kind == at.ALONG_SLIDER:
        frames[j, at.ANGLE] = along_row(rows, r, g, 2)
    elif kind == at.ABOUT_UNIVERSAL:
        ax, ay, az, bx, by, bz = g[9], g[12], g[15], g[1], g[4], g[7]
        nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        size = 1.0 / (nx * nx + ny * ny + nz * nz)
        angular_row(rows, r, (by * nz - bz * ny) * size, (bz * nx - bx * nz) * size, (bx * ny - by * nx) * size)
        angular_row(rows, r + 1, (ny * az - nz * ay) * size, (nz * ax - nx * az) * size, (nx * ay - ny * ax) * size)
        frames[j, at.ANGLE] = math.atan2(g[34], g[31])
        frames[j, at.ANGLE + 1] = math.atan2(g[29], g[27])
    else:
        ax, ay, az, cx, cy, cz = g[9], g[12], g[15], g[2], g[5], g[8]  # first axis in B, third in A
        bx, by, bz = cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax
        cosine = math.sqrt(bx * bx + by * by + bz * bz)
        frames[j, at.ANGLE] = math.atan2(-g[32], g[35])
        frames[j, at.ANGLE + 1] = math.atan2(g[29], cosine)
        frames[j, at.ANGLE + 2] = math.atan2(-g[28], g[27])
        size = 1.0 / max(cosine, LEAST_COSINE)
        bx, by, bz = bx * size, by * size, bz * size
        angular_row(rows, r, (by * cz - bz * cy) * size, (bz * cx - bx * cz) * size, (bx * cy - by * cx) * size)
        angular_row(rows, r + 1, bx, by, bz)
        angular_row(rows, r + 2, (ay * bz - az * by) * size, (az * bx - ax * bz) * size, (ax * by - ay * bx) * size)
    for k in range(joints[j, at.COUNT]):
        error = frames[j, at.ANGLE + k] - frames[j, at.GOAL + k]
        rows[r + k, at.PHI] = error if kind == at.ALONG_SLIDER else wrapped(error)
        rows[r + k, at.RATE] = frames[j, at.GOAL_RATE + k]


@kernel
def vector_rows(joints, frames, rows, j, g):
    """Write three rows that drive the orientation of A's frame in B's to a quaternion, along the axes of B's frame."""
    w, x, y, z = frames[j, at.GOAL], frames[j, at.GOAL + 1], frames[j, at.GOAL + 2], frames[j, at.GOAL + 3]
    g[36], g[37], g[38] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
    g[39], g[40], g[41] = 2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
    g[42], g[43], g[44] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
    for i in range(3):
        for k in range(3):
            g[45 + 3 * i + k] = (
                g[27 + 3 * i] * g[36 + 3 * k] + g[28 + 3 * i] * g[37 + 3 * k] + g[29 + 3 * i] * g[38 + 3 * k]
            )
    r = joints[j, at.FIRST]
    ex, ey, ez = rotation_vector(g, 45)
    for k in range(3):
        angular_row(rows, r + k, g[9 + k], g[12 + k], g[15 + k])
        rows[r + k, at.RATE] = frames[j, at.GOAL_RATE + k]
    rows[r, at.PHI], rows[r + 1, at.PHI], rows[r + 2, at.PHI] = ex, ey, ez
