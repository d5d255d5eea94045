"""From shapes to contacts: where they are, which are close, and which contacts of the last step are there still."""

from __future__ import annotations

import math

from .._jit import kernel
from . import geometry as geo
from . import layout as at
from .collide import collide, first_tangent, second_tangent

SLACK = 1e-3  # m: contacts are known this early
SAME = 0.05  # m that a contact may wander over a shape in a step and still be the same


@kernel
def place_shapes(g, p, links, spins, h):
    """Write the pose and the bounds of every shape; bounds are wider by what it can move in h."""
    for s in range(g.ints.shape[0]):
        i, own, pose = g.ints[s, geo.LINK], g.floats[s], p.poses[s]
        margin = SLACK
        if i < 0:
            for c in range(12):
                pose[c] = own[c]
        else:
            for a in range(3):
                r0, r1, r2 = links[i, 3 * a], links[i, 3 * a + 1], links[i, 3 * a + 2]
                for b in range(3):
                    pose[3 * a + b] = r0 * own[b] + r1 * own[3 + b] + r2 * own[6 + b]
                pose[9 + a] = links[i, at.POSITION + a] + r0 * own[9] + r1 * own[10] + r2 * own[11]
            rx = pose[9] - links[i, at.POSITION]
            ry = pose[10] - links[i, at.POSITION + 1]
            rz = pose[11] - links[i, at.POSITION + 2]
            wx, wy, wz = spins[i, 0], spins[i, 1], spins[i, 2]
            vx, vy, vz = spins[i, 3] + wy * rz - wz * ry, spins[i, 4] + wz * rx - wx * rz, (
                spins[i, 5] + wx * ry - wy * rx
            )
            speed = math.sqrt(vx * vx + vy * vy + vz * vz)
            speed += math.sqrt(wx * wx + wy * wy + wz * wz) * own[geo.REACH]
            margin += h * speed
        _bounds(s, g, p, margin)


@kernel
def _bounds(s, g, p, margin):
    """Write the bounds of shape s along the world's axes; those of planes and height fields are not used."""
    kind, pose, own, box = g.ints[s, geo.KIND], p.poses[s], g.floats[s], p.boxes[s]
    for a in range(3):
        if kind == geo.SPHERE:
            reach = own[geo.SIZE]
        elif kind == geo.CAPSULE:
            reach = own[geo.SIZE] + 0.5 * own[geo.SIZE + 1] * abs(pose[3 * a + 2])
        elif kind == geo.BOX:
            reach = 0.0
            for b in range(3):
                reach += 0.5 * own[geo.SIZE + b] * abs(pose[3 * a + b])
        else:
            reach = own[geo.REACH]
        box[a] = pose[9 + a] - reach - margin
        box[3 + a] = pose[9 + a] + reach + margin
    p.boxes[s, 6] = margin


@kernel
def find_contacts(g, p, between, contacts, ints, head, follow, old, old_ints, n_old):
    """Write all contacts into `contacts` and `ints`; returns how many, negative where there is no room.

    Moving shapes collide with each other if `between` is 1 (those of different trees) or 2 (all), `old` are the contacts of the last step, found again
    through the lists `head` (nshapes) and `follow`: they hand on their forces and tangents.
    """
    for k in range(n_old - 1, -1, -1):
        a = old_ints[k, geo.A]
        old_ints[k, geo.USED] = 0
        follow[k] = head[a]
        head[a] = k
    count = 0
    for k in range(g.still.shape[0]):
        b = g.still[k]
        for m in range(g.movers.shape[0]):
            a = g.movers[m]
            if g.ints[a, geo.LINK] == g.ints[b, geo.LINK] or _far_from_plane(a, b, g, p) or _is_excluded(a, b, g):
                continue
            count = _pair(a, b, g, p, contacts, ints, count, head, follow, old, old_ints)
            if count < 0:
                break
    if count >= 0 and g.movers.shape[0] > 1 and between > 0.0:
        count = _sweep(g, p, between, contacts, ints, count, head, follow, old, old_ints)
    for k in range(n_old):
        head[old_ints[k, geo.A]] = -1
    return count


@kernel
def _far_from_plane(a, b, g, p):
    pose = p.poses[b]
    nx, ny, nz = pose[2], pose[5], pose[8]
    box = p.boxes[a]
    low = min(nx * box[0], nx * box[3]) + min(ny * box[1], ny * box[4]) + min(nz * box[2], nz * box[5])
    low -= nx * pose[9] + ny * pose[10] + nz * pose[11]
    top = g.floats[b, geo.SIZE + 2] if g.ints[b, geo.KIND] == geo.HEIGHTS else 0.0
    return low > top


@kernel
def _is_excluded(a, b, g):
    n = g.ints.shape[0]
    key = min(a, b) * n + max(a, b)
    low, high = 0, g.excluded.shape[0]
    while low < high:
        middle = (low + high) // 2
        if g.excluded[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < g.excluded.shape[0] and g.excluded[low] == key


@kernel
def _sweep(g, p, between, contacts, ints, count, head, follow, old, old_ints):
    """Sort by the lower bounds along x (almost sorted already) and test what overlaps."""
    order, boxes = p.order, p.boxes
    n = order.shape[0]
    for k in range(1, n):
        s = order[k]
        low = boxes[s, 0]
        m = k - 1
        while m >= 0 and boxes[order[m], 0] > low:
            order[m + 1] = order[m]
            m -= 1
        order[m + 1] = s
    for k in range(n):
        s = order[k]
        high, y0, y1, z0, z1 = boxes[s, 3], boxes[s, 1], boxes[s, 4], boxes[s, 2], boxes[s, 5]
        for m in range(k + 1, n):
            t = order[m]
            if boxes[t, 0] > high:
                break
            if boxes[t, 1] > y1 or boxes[t, 4] < y0 or boxes[t, 2] > z1 or boxes[t, 5] < z0:
                continue
            i, j = g.ints[s, geo.LINK], g.ints[t, geo.LINK]
            if i == j or (between < 2.0 and g.ints[s, geo.TREE] == g.ints[t, geo.TREE]) or _is_excluded(s, t, g):
                continue
            a, b = (s, t) if s > t else (t, s)
            count = _pair(a, b, g, p, contacts, ints, count, head, follow, old, old_ints)
            if count < 0:
                return count
    return count


@kernel
def _pair(a, b, g, p, contacts, ints, count, head, follow, old, old_ints):
    """Add the contacts of two shapes; returns the new count, or -1 where there is no room."""
    n = collide(a, b, g, p, p.boxes[a, 6] + p.boxes[b, 6])
    if count + n > contacts.shape[0]:
        return -1
    for k in range(n):
        row = contacts[count]
        for c in range(7):
            row[c] = p.found[k, c]
        row[geo.C_MU] = math.sqrt(g.floats[a, geo.MU] * g.floats[b, geo.MU])
        row[geo.C_BOUNCE] = max(g.floats[a, geo.BOUNCE], g.floats[b, geo.BOUNCE])
        ints[count, geo.A], ints[count, geo.B], ints[count, geo.KNOWN] = a, b, 0
        pose = p.poses[a]
        x, y, z = row[0] - pose[9], row[1] - pose[10], row[2] - pose[11]
        for c in range(3):
            row[geo.LOCAL + c] = pose[c] * x + pose[3 + c] * y + pose[6 + c] * z
            row[geo.IMPULSE + c] = 0.0
        row[geo.SPEED] = 0.0
        row[geo.BEFORE] = math.inf
        _recall(row, ints[count], a, b, head, follow, old, old_ints)
        count += 1
    return count


@kernel
def _recall(row, mine, a, b, head, follow, old, old_ints):
    """Take over forces and the direction of friction from the nearest contact of the same pair in the last step."""
    best, least = -1, SAME * SAME
    k = head[a]
    while k >= 0:
        if old_ints[k, geo.B] == b and old_ints[k, geo.USED] == 0:
            dx = old[k, geo.LOCAL] - row[geo.LOCAL]
            dy = old[k, geo.LOCAL + 1] - row[geo.LOCAL + 1]
            dz = old[k, geo.LOCAL + 2] - row[geo.LOCAL + 2]
            d = dx * dx + dy * dy + dz * dz
            if d < least:
                best, least = k, d
        k = follow[k]
    if best < 0:
        first_tangent(row)
        return
    nx, ny, nz = row[geo.NORMAL], row[geo.NORMAL + 1], row[geo.NORMAL + 2]
    tx, ty, tz = old[best, geo.T1], old[best, geo.T1 + 1], old[best, geo.T1 + 2]
    along = tx * nx + ty * ny + tz * nz
    tx, ty, tz = tx - along * nx, ty - along * ny, tz - along * nz
    size = math.sqrt(tx * tx + ty * ty + tz * tz)
    if size < 0.1:
        first_tangent(row)
    else:
        row[geo.T1], row[geo.T1 + 1], row[geo.T1 + 2] = tx / size, ty / size, tz / size
        second_tangent(row)
    for c in range(3):
        row[geo.IMPULSE + c] = old[best, geo.IMPULSE + c]
    row[geo.BEFORE] = old[best, geo.GAP]
    mine[geo.KNOWN] = old_ints[best, geo.KNOWN] + 1
    old_ints[best, geo.USED] = 1
