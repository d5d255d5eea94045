"""Contacts of balls (of any radius, a point too) with planes and with each other: a normal row and two of friction."""

from __future__ import annotations

import math

from .._jit import kernel
from . import soft_layout as at
from .soft_rows import linear_row


@kernel
def contact_rows(state, joints, frames, rows, links, j, g):
    """Write the rows of a contact; they are off where the gap is wider than the contact looks.

    phi of the normal row is the gap [m], negative where the shapes overlap; its force pushes A along the normal.
    """
    a, r = joints[j, at.A], joints[j, at.FIRST]
    b = joints[j, at.B]
    radius = frames[j, at.LENGTH]
    if joints[j, at.OPTION] == at.ON_PLANE:
        nx, ny, nz = g[11], g[14], g[17]
        gap = nx * g[24] + ny * g[25] + nz * g[26] - radius
    else:  # two segments (a ball's has no length), each about the z axis of its frame
        la, lb = frames[j, at.GOAL], frames[j, at.GOAL + 1]
        ux, uy, uz, vx, vy, vz = g[2], g[5], g[8], g[11], g[14], g[17]
        dx, dy, dz = g[24], g[25], g[26]
        uv = ux * vx + uy * vy + uz * vz
        du, dv = dx * ux + dy * uy + dz * uz, dx * vx + dy * vy + dz * vz
        denominator = 1.0 - uv * uv
        s = 0.0 if denominator < 1e-9 else (uv * dv - du) / denominator
        s = min(max(s, -la), la)
        t = min(max(dv + s * uv, -lb), lb)
        s = min(max(t * uv - du, -la), la)
        for k in range(3):
            g[18 + k] += s * g[2 + 3 * k]
            g[21 + k] += t * g[11 + 3 * k]
        nx, ny, nz = dx + s * ux - t * vx, dy + s * uy - t * vy, dz + s * uz - t * vz
        length = math.sqrt(nx * nx + ny * ny + nz * nz)
        if length > 1e-12:
            nx, ny, nz = nx / length, ny / length, nz / length
        else:
            nx, ny, nz = 0.0, 0.0, 1.0
        gap = length - radius - frames[j, at.REACH]
    on = 1 if gap <= frames[j, at.SLIP] and joints[j, at.ENABLED] == 1 else 0
    for k in range(joints[j, at.COUNT]):
        links[r + k, at.ON] = on * links[r + k, at.WANTED]
    if on == 0:
        return
    ax, ay, az = g[18] - radius * nx, g[19] - radius * ny, g[20] - radius * nz
    if b < 0:
        bx, by, bz = 0.0, 0.0, 0.0
    else:
        bx = state[a, at.POSITION] - state[b, at.POSITION] + ax
        by = state[a, at.POSITION + 1] - state[b, at.POSITION + 1] + ay
        bz = state[a, at.POSITION + 2] - state[b, at.POSITION + 2] + az
    linear_row(rows, r, nx, ny, nz, ax, ay, az, bx, by, bz)
    rows[r, at.PHI] = gap
    rows[r, at.RATE] = (
        nx * frames[j, at.RATE_B] + ny * frames[j, at.RATE_B + 1] + nz * frames[j, at.RATE_B + 2]
    )
    if joints[j, at.COUNT] == 3:
        # two axes of the plane: those of the frame on a plane, else any
        if joints[j, at.OPTION] == at.ON_PLANE:
            tx, ty, tz, qx, qy, qz = g[9], g[12], g[15], g[10], g[13], g[16]
        else:
            sign = 1.0 if nz >= 0.0 else -1.0
            m = -1.0 / (sign + nz)
            tx, ty, tz = 1.0 + sign * nx * nx * m, sign * nx * ny * m, -sign * nx
            qx, qy, qz = nx * ny * m, sign + ny * ny * m, -ny
        linear_row(rows, r + 1, tx, ty, tz, ax, ay, az, bx, by, bz)
        linear_row(rows, r + 2, qx, qy, qz, ax, ay, az, bx, by, bz)
        for k in range(2):
            rows[r + 1 + k, at.PHI] = 0.0
        rows[r + 1, at.RATE] = (
            tx * frames[j, at.RATE_B] + ty * frames[j, at.RATE_B + 1] + tz * frames[j, at.RATE_B + 2]
        )
        rows[r + 2, at.RATE] = (
            qx * frames[j, at.RATE_B] + qy * frames[j, at.RATE_B + 1] + qz * frames[j, at.RATE_B + 2]
        )
