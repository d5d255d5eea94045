"""The tables of a step's constraints, and the rows of W that they become: contacts, limits, drives and loops.

Every row says: J v' + bias is 0, or not negative, or what its bounded impulse can make of it. `rows[r, BIAS]` is J v'
at no impulse minus the value that is wanted.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from .._jit import kernel, leaf
from ..typing import Array
from . import geometry as geo
from . import layout as at
from .manifold import difference
from .weave import gather, pour, weave, weave_joint

# --- limits: int64 (n, LIMIT_INTS), float64 (n, LIMITS)
L_LINK, L_FREEDOM, L_KIND = 0, 1, 2  # the freedom counts within the joint
LIMIT_INTS = 3
PLAIN, TURN, CONE = 0, 1, 2  # a coordinate; a part of a ball's rotation vector; the swing of an axis of a ball
L_LOW, L_HIGH, L_BOUNCE, L_AXIS = 0, 1, 2, 3  # the axis (3) of a cone, in the joint's frame
LIMITS = 6

# --- drives: int64 (n, DRIVE_INTS), float64 (n, DRIVES): one freedom each
D_LINK, D_FREEDOM, D_KIND = 0, 1, 2
DRIVE_INTS = 3
SPEED, FOLLOW, PUSH = 0, 1, 2  # towards a velocity; along a motion; at an acceleration
D_VALUE, D_EFFORT, D_RATE, D_WEIGHT = 0, 1, 2, 3  # velocity or acceleration; largest force; decay rate [1/s]; share
DRIVES = 4

# --- loops: int64 (n, LOOP_INTS), float64 (n, LOOPS)
O_A, O_B, O_MASK, O_KIND = 0, 1, 2, 3
LOOP_INTS = 4
FRAMES, ROD, PULL = 0, 1, 2  # frames that coincide; points at a distance; the acceleration of a point along a direction
O_FRAME_A, O_FRAME_B, O_LENGTH, O_AXIS = 0, 12, 24, 25  # poses in the links; length or value; direction (3), world
LOOPS = 28

# --- groups: int64 (n, GROUPS), rows: float64 (n, ROWS)
TYPE, ROW, COL, NCOL, VAL, OWNER = 0, 1, 2, 3, 4, 5
GROUPS = 6
CONTACT, BOX, EQUAL = 0, 1, 2
BIAS, LO, HI, F, DIAG, AWAY = 0, 1, 2, 3, 4, 5  # AWAY: how far a condition on positions is from being violated
CROSS = 6  # 3 more of a contact's block of K: normal with tangents, tangents with each other; in its first row
MOVE = 9  # the impulse of a correction of positions
WAS, AHEAD = 10, 11  # the impulse a sweep ago, and the direction of its search
ROWS = 12


class Tables(NamedTuple):
    """What constrains a body besides contacts; `loops` must hold in position."""

    limit_ints: Array
    limits: Array
    drive_ints: Array
    drives: Array
    loop_ints: Array
    loops: Array


class Rows(NamedTuple):
    """The rows of a step."""

    groups: Array
    rows: Array
    cols: Array
    vals: Array
    sizes: Array  # int64: groups, rows, columns, values


@kernel
def limit_value(q, at_q, freedom, kind, table, n, out):
    """Return the coordinate that a limit bounds, and write how the joint's velocities change it into `out` (6)."""
    for c in range(6):
        out[c] = 0.0
    if kind == PLAIN:
        out[freedom] = 1.0
        return q[at_q + freedom]
    w, x, y, z = q[at_q], q[at_q + 1], q[at_q + 2], q[at_q + 3]
    if kind == TURN:
        if w < 0.0:
            w, x, y, z = -w, -x, -y, -z
        length = math.sqrt(x * x + y * y + z * z)
        factor = 2.0 if length < 1e-9 else 2.0 * math.atan2(length, w) / length
        rx, ry, rz = factor * x, factor * y, factor * z
        square = rx * rx + ry * ry + rz * rz
        # the right Jacobian of the rotation vector, inverted: I + [r]/2 + k [r]^2
        half = 0.5 * math.sqrt(square)
        k = 1.0 / 12.0 if half < 1e-4 else (1.0 - half / math.tan(half)) / square
        r0, r1, r2 = rx, ry, rz
        e0, e1, e2 = 1.0 if freedom == 0 else 0.0, 1.0 if freedom == 1 else 0.0, 1.0 if freedom == 2 else 0.0
        dot = e0 * r0 + e1 * r1 + e2 * r2
        # row of [r] is e x r seen from the left: e' [r] = (r x e)' with a minus
        out[0] = e0 + 0.5 * (e1 * r2 - e2 * r1) + k * (dot * r0 - square * e0)
        out[1] = e1 + 0.5 * (e2 * r0 - e0 * r2) + k * (dot * r1 - square * e1)
        out[2] = e2 + 0.5 * (e0 * r1 - e1 * r0) + k * (dot * r2 - square * e2)
        return r0 if freedom == 0 else (r1 if freedom == 1 else r2)
    ax, ay, az = table[n, L_AXIS], table[n, L_AXIS + 1], table[n, L_AXIS + 2]
    # b: the axis of the joint's frame seen from the body, R' a
    s = 2.0 / (w * w + x * x + y * y + z * z)
    bx = (1 - s * (y * y + z * z)) * ax + s * (x * y + w * z) * ay + s * (x * z - w * y) * az
    by = s * (x * y - w * z) * ax + (1 - s * (x * x + z * z)) * ay + s * (y * z + w * x) * az
    bz = s * (x * z + w * y) * ax + s * (y * z - w * x) * ay + (1 - s * (x * x + y * y)) * az
    cx, cy, cz = by * az - bz * ay, bz * ax - bx * az, bx * ay - by * ax
    sine = math.sqrt(cx * cx + cy * cy + cz * cz)
    cosine = ax * bx + ay * by + az * bz
    if sine > 1e-9:
        out[0], out[1], out[2] = cx / sine, cy / sine, cz / sine
    return math.atan2(sine, cosine)


@kernel
def open_rows(rows):
    """Begin without rows."""
    for k in range(4):
        rows.sizes[k] = 0


@leaf
def _open_group(groups, table, sizes, kind, count, owner):
    """Begin a group of `count` rows; returns it, or -1 where there is no room."""
    k, r = sizes[0], sizes[1]
    if k >= groups.shape[0] or r + count > table.shape[0]:
        return -1
    groups[k, TYPE], groups[k, ROW], groups[k, COL] = kind, r, sizes[2]
    groups[k, VAL], groups[k, OWNER] = sizes[3], owner
    return k


@leaf
def _close_group(groups, table, vals, sizes, k, count, columns):
    """Write the squares and products of the new rows."""
    groups[k, NCOL] = columns
    start, r = groups[k, VAL], groups[k, ROW]
    for m in range(count):
        s = 0.0
        for c in range(columns):
            s += vals[start + m * columns + c] * vals[start + m * columns + c]
        table[r + m, DIAG] = s
    if count == 3:
        s01 = s02 = s12 = 0.0
        for c in range(columns):
            v0, v1, v2 = vals[start + c], vals[start + columns + c], vals[start + 2 * columns + c]
            s01 += v0 * v1
            s02 += v0 * v2
            s12 += v1 * v2
        table[r, CROSS], table[r, CROSS + 1], table[r, CROSS + 2] = s01, s02, s12
    sizes[0] += 1
    sizes[1] += count
    sizes[2] += columns
    sizes[3] += count * columns


@leaf
def contact_speed(a, b, contacts, n, links, spins):
    """Return the relative velocity at contact n of the links a and b along normal and tangents, from their `spins`."""
    x = y = z = 0.0
    for side in range(2):
        i = a if side == 0 else b
        if i >= 0:
            sign = 1.0 if side == 0 else -1.0
            rx = contacts[n, geo.POINT] - links[i, at.POSITION]
            ry = contacts[n, geo.POINT + 1] - links[i, at.POSITION + 1]
            rz = contacts[n, geo.POINT + 2] - links[i, at.POSITION + 2]
            wx, wy, wz = spins[i, 0], spins[i, 1], spins[i, 2]
            x += sign * (spins[i, 3] + wy * rz - wz * ry)
            y += sign * (spins[i, 4] + wz * rx - wx * rz)
            z += sign * (spins[i, 5] + wx * ry - wy * rx)
    return (
        contacts[n, geo.NORMAL] * x + contacts[n, geo.NORMAL + 1] * y + contacts[n, geo.NORMAL + 2] * z,
        contacts[n, geo.T1] * x + contacts[n, geo.T1 + 1] * y + contacts[n, geo.T1 + 2] * z,
        contacts[n, geo.T2] * x + contacts[n, geo.T2 + 1] * y + contacts[n, geo.T2 + 2] * z,
    )


@kernel
def contact_rows(
    n, a, b, contacts, topology, links, roots, groups, table, cols, vals, sizes, s0, s1, s2, h, forces, room
):
    """Add the three rows of contact n; s0, s1 and s2 are the relative velocity without impulses. False: no room.

    The gap may close until the end of the step, h from now, and not further.
    """
    group = _open_group(groups, table, sizes, CONTACT, 3, n)
    if group < 0:
        return False
    count = weave(topology, links, roots, a, b, contacts, n, forces, cols, sizes[2], vals, sizes[3], room)
    if count < 0:
        return False
    r = sizes[1]
    table[r, BIAS], table[r + 1, BIAS], table[r + 2, BIAS] = s0 + max(contacts[n, geo.GAP], 0.0) / h, s1, s2
    for c in range(3):
        table[r + c, F] = contacts[n, geo.IMPULSE + c]
        table[r + c, AWAY] = math.inf
    table[r, AWAY] = contacts[n, geo.GAP]
    table[r, LO], table[r, HI] = contacts[n, geo.C_MU], 0.0
    _close_group(groups, table, vals, sizes, group, 3, count)
    return True


@kernel
def joint_row(kind, owner, i, coefficients, bias, lo, hi, f, away, topology, links, roots, rows):
    """Add one row on the joint of link i: the sum of `coefficients` (6) times its velocities. False: no room."""
    groups, table, cols, vals, sizes = rows.groups, rows.rows, rows.cols, rows.vals, rows.sizes
    group = _open_group(groups, table, sizes, kind, 1, owner)
    if group < 0:
        return False
    count = weave_joint(topology, links, roots, i, coefficients, cols, sizes[2], vals, sizes[3])
    if count < 0:
        return False
    r = sizes[1]
    table[r, BIAS], table[r, LO], table[r, HI], table[r, F], table[r, AWAY] = bias, lo, hi, f, away
    _close_group(groups, table, vals, sizes, group, 1, count)
    return True


@kernel
def limit_rows(t, topology, links, roots, rows, q, free, h, memory, reached, room):
    """Add a row for each limit that would be passed within h at the velocities `free`. False: no room.

    `memory` (n, 2) keeps the impulses of the last step, `reached` (n) says which limit is touched (1 lower, 2 upper).
    """
    ints, limits = t.limit_ints, t.limits
    coefficients, wrench_of = room[0, :6], room[1, :6]
    for n in range(ints.shape[0]):
        i, freedom, kind = ints[n, L_LINK], ints[n, L_FREEDOM], ints[n, L_KIND]
        reached[n] = 0
        if i < 0:
            continue
        if kind == PLAIN:
            x, rate = q[topology[i, at.Q] + freedom], free[topology[i, at.V] + freedom]
            low, high = x - limits[n, L_LOW], limits[n, L_HIGH] - x
            if low > 1e-3 and low + h * rate > 0.0 and high > 1e-3 and high - h * rate > 0.0:
                memory[n, 0] = memory[n, 1] = 0.0
                continue
        x = limit_value(q, topology[i, at.Q], freedom, kind, limits, n, coefficients)
        rate = 0.0
        for c in range(topology[i, at.DOF]):
            rate += coefficients[c] * free[topology[i, at.V] + c]
        for side in range(2):
            away = x - limits[n, L_LOW] if side == 0 else limits[n, L_HIGH] - x
            speed = rate if side == 0 else -rate
            if away + h * speed > 0.0 and away > 1e-3:
                memory[n, side] = 0.0
                continue
            sign = 1.0 if side == 0 else -1.0
            for c in range(6):
                wrench_of[c] = sign * coefficients[c]
            if not joint_row(
                BOX, -1 - 2 * n - side, i, wrench_of, speed + max(away, 0.0) / h, 0.0, math.inf, memory[n, side], away,
                topology, links, roots, rows,
            ):  # fmt: skip
                return False
    return True


@kernel
def drive_rows(
    t, topology, links, roots, rows, q, v, free, kick, h, aims, before, now, after, pace, memory, room, wrench
):
    """Add a row for each drive: to a velocity, along a motion, or at an acceleration. False: no room.

    A motion is followed by the exact solution of a critically damped error, e(t + h) = 2 r e(t) - r^2 e(t - h) with
    r = exp(-rate h), so that its settling time holds at any step. `aims` says whether any drive follows; `before`,
    `now` and `after` (nq) are where it wants to be at t - h / pace, t and t + h. Drives along motions and at
    accelerations are equalities, until the forces are found to be too large (`solve_rows.release`).
    """
    offset, drift, ahead = room[0], room[1], room[2]
    if aims:
        difference(topology, q, now, offset)
        difference(topology, before, now, drift)
        difference(topology, q, after, ahead)
    for n in range(t.drive_ints.shape[0]):
        i, freedom, kind = t.drive_ints[n, D_LINK], t.drive_ints[n, D_FREEDOM], t.drive_ints[n, D_KIND]
        if i < 0:
            continue
        k = topology[i, at.V] + freedom
        wanted = t.drives[n, D_VALUE]
        if kind == PUSH:
            wanted = v[k] + kick * t.drives[n, D_VALUE]
        elif kind == FOLLOW:
            ratio = math.exp(-t.drives[n, D_RATE] * h)
            error = offset[k]
            previous = error - (pace * drift[k] - h * v[k])
            wanted = (ahead[k] - (2.0 * ratio * error - ratio * ratio * previous)) / h
            part = t.drives[n, D_WEIGHT]
            if part <= 0.0:
                continue
            wanted = part * wanted + (1.0 - part) * free[k]
        most = t.drives[n, D_EFFORT] * kick
        group = EQUAL if most == math.inf or kind != SPEED else BOX
        coefficients = wrench[1]
        for c in range(6):
            coefficients[c] = 0.0
        coefficients[freedom] = 1.0
        if not joint_row(
            group, -1 - 2 * t.limit_ints.shape[0] - n, i, coefficients, free[k] - wanted, -most, most, memory[n],
            math.inf, topology, links, roots, rows,
        ):  # fmt: skip
            return False
    return True


@kernel
def loop_errors(t, links, out):
    """Write how far every loop is from being closed into `out` (n, 6): [turn; shift] in the frame on B; rods in [3].

    Returns the largest violation of the rows that count.
    """
    worst = 0.0
    for n in range(t.loop_ints.shape[0]):
        if t.loop_ints[n, O_KIND] == PULL or t.loop_ints[n, O_MASK] == 0:
            continue
        pose_a, pose_b = out[n, 12:24], out[n, 24:36]
        frame_in_world(links, t.loop_ints[n, O_A], t.loops[n], O_FRAME_A, pose_a)
        frame_in_world(links, t.loop_ints[n, O_B], t.loops[n], O_FRAME_B, pose_b)
        x, y, z = pose_a[9] - pose_b[9], pose_a[10] - pose_b[10], pose_a[11] - pose_b[11]
        if t.loop_ints[n, O_KIND] == ROD:
            length = math.sqrt(x * x + y * y + z * z)
            out[n, 3] = length - t.loops[n, O_LENGTH]
            worst = max(worst, abs(out[n, 3]))
            continue
        for c in range(3):
            out[n, 3 + c] = pose_b[c] * x + pose_b[3 + c] * y + pose_b[6 + c] * z
        # the turn of A in B, R = Rb' Ra, as a rotation vector (half its skew part where it is small)
        r = out[n, 6:12]
        for c in range(3):
            d, e = (c + 1) % 3, (c + 2) % 3
            r[c] = 0.0
            for m in range(3):
                r[c] += 0.5 * (pose_b[3 * m + e] * pose_a[3 * m + d] - pose_b[3 * m + d] * pose_a[3 * m + e])
        trace = 0.0
        for c in range(3):
            for m in range(3):
                trace += pose_b[3 * m + c] * pose_a[3 * m + c]
        sine = math.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
        factor = 1.0 if sine < 1e-9 else math.atan2(sine, 0.5 * (trace - 1.0)) / sine
        for c in range(3):
            out[n, c] = factor * r[c]
        if t.loop_ints[n, O_MASK] & 7 == 3:  # a hinge may turn far: only the tilt of its axis counts
            tilt_x = tilt_y = 0.0
            for m in range(3):
                tilt_x -= pose_b[3 * m + 1] * pose_a[3 * m + 2]
                tilt_y += pose_b[3 * m] * pose_a[3 * m + 2]
            out[n, 0], out[n, 1] = tilt_x, tilt_y
        for c in range(6):
            if (t.loop_ints[n, O_MASK] >> c) & 1:
                worst = max(worst, abs(out[n, c]))
    return worst


@kernel
def frame_in_world(links, i, table, first, out):
    """Write the pose of a frame on link i (the world: -1) into `out` (12)."""
    for c in range(12):
        out[c] = table[first + c]
    if i < 0:
        return
    for a in range(3):
        r0, r1, r2 = links[i, 3 * a], links[i, 3 * a + 1], links[i, 3 * a + 2]
        for b in range(3):
            out[3 * a + b] = r0 * table[first + b] + r1 * table[first + 3 + b] + r2 * table[first + 6 + b]
        out[9 + a] = (
            links[i, at.POSITION + a] + r0 * table[first + 9] + r1 * table[first + 10] + r2 * table[first + 11]
        )


@kernel
def loop_rows(t, topology, links, roots, rows, spins, gravity, kick, errors, memory, z, wrench):
    """Add the rows of the loops, equalities all; `spins` hold the velocities without impulses. False: no room.

    A row on a pair of frames is a wrench at A's origin along an axis of the frame on B, where both bodies' velocities
    are compared. `errors` must be those of `loop_errors` at the present positions.
    """
    for n in range(t.loop_ints.shape[0]):
        a, b, mask, kind = t.loop_ints[n, O_A], t.loop_ints[n, O_B], t.loop_ints[n, O_MASK], t.loop_ints[n, O_KIND]
        if mask == 0:
            continue
        pose_a, pose_b = errors[n, 12:24], errors[n, 24:36]
        if kind == PULL:
            frame_in_world(links, a, t.loops[n], O_FRAME_A, pose_a)
            frame_in_world(links, b, t.loops[n], O_FRAME_B, pose_b)
        for c in range(6):
            if not (mask >> c) & 1:
                continue
            if kind == FRAMES:
                x, y, z_ = pose_b[c % 3], pose_b[3 + c % 3], pose_b[6 + c % 3]
            elif kind == PULL:
                x, y, z_ = t.loops[n, O_AXIS], t.loops[n, O_AXIS + 1], t.loops[n, O_AXIS + 2]
            else:
                x, y, z_ = pose_a[9] - pose_b[9], pose_a[10] - pose_b[10], pose_a[11] - pose_b[11]
                size = math.sqrt(x * x + y * y + z_ * z_)
                x, y, z_ = (x / size, y / size, z_ / size) if size > 1e-12 else (0.0, 0.0, 1.0)
            group = _open_group(rows.groups, rows.rows, rows.sizes, EQUAL, 1, n)
            if group < 0:
                return False
            bias = 0.0
            for side in range(2):
                i = a if side == 0 else b
                if i < 0:
                    continue
                sign = 1.0 if side == 0 else -1.0
                at_b = side == 1 and kind != FRAMES
                px = (pose_b[9] if at_b else pose_a[9]) - links[i, at.POSITION]
                py = (pose_b[10] if at_b else pose_a[10]) - links[i, at.POSITION + 1]
                pz = (pose_b[11] if at_b else pose_a[11]) - links[i, at.POSITION + 2]
                f = wrench[0]
                if c < 3:
                    f[0], f[1], f[2] = sign * x, sign * y, sign * z_
                    f[3] = f[4] = f[5] = 0.0
                else:
                    f[3], f[4], f[5] = sign * x, sign * y, sign * z_
                    f[0] = py * f[5] - pz * f[4]
                    f[1] = pz * f[3] - px * f[5]
                    f[2] = px * f[4] - py * f[3]
                if kind == PULL:
                    s = links[i]
                    for m in range(6):
                        bias += kick * f[m] * s[at.ACCELERATION + m]
                    if c >= 3:
                        bias += kick * (f[3] * gravity[0] + f[4] * gravity[1] + f[5] * gravity[2])
                        wx, wy, wz = s[at.OMEGA], s[at.OMEGA + 1], s[at.OMEGA + 2]
                        ux, uy, uz = wy * pz - wz * py, wz * px - wx * pz, wx * py - wy * px
                        bias += kick * (
                            f[3] * (wy * uz - wz * uy) + f[4] * (wz * ux - wx * uz) + f[5] * (wx * uy - wy * ux)
                        )
                else:
                    for m in range(6):
                        bias += f[m] * spins[i, m]
                pour(topology, links, roots, i, f, z)
            if kind == PULL:
                bias -= kick * t.loops[n, O_LENGTH]
            count = gather(topology, a, b, z, rows.cols, rows.sizes[2], rows.vals, rows.sizes[3])
            if count < 0:
                return False
            row = rows.rows[rows.sizes[1]]
            row[BIAS], row[LO], row[HI], row[F], row[AWAY] = bias, -math.inf, math.inf, memory[n, c], math.inf
            rows.groups[group, OWNER] = 6 * n + c
            _close_group(rows.groups, rows.rows, rows.vals, rows.sizes, group, 1, count)
    return True
