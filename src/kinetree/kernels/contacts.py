"""From shapes to contacts: where they are, which are close, and which contacts of the last step are there still."""

from __future__ import annotations

import math

from .._jit import kernel, leaf
from . import geometry as geo
from . import layout as at
from .collide import collide, first_tangent, round_on_plane, round_pair, second_tangent

SLACK = 1e-3  # m: contacts are known this early
SAME = 0.05  # m that a contact may wander over a shape in a step and still be the same


@kernel
def place_shapes(g, p, links, spins, h):
    """Write the pose and the bounds of every shape; bounds are wider by what it can move in h."""
    ints, floats, poses, boxes = g.ints, g.floats, p.poses, p.boxes
    for s in range(ints.shape[0]):
        i = ints[s, geo.LINK]
        margin = SLACK
        if i < 0:
            for c in range(12):
                poses[s, c] = floats[s, c]
        else:
            for a in range(3):
                r0, r1, r2 = links[i, 3 * a], links[i, 3 * a + 1], links[i, 3 * a + 2]
                for b in range(3):
                    poses[s, 3 * a + b] = r0 * floats[s, b] + r1 * floats[s, 3 + b] + r2 * floats[s, 6 + b]
                poses[s, 9 + a] = (
                    links[i, at.POSITION + a] + r0 * floats[s, 9] + r1 * floats[s, 10] + r2 * floats[s, 11]
                )
            rx = poses[s, 9] - links[i, at.POSITION]
            ry = poses[s, 10] - links[i, at.POSITION + 1]
            rz = poses[s, 11] - links[i, at.POSITION + 2]
            wx, wy, wz = spins[i, 0], spins[i, 1], spins[i, 2]
            vx, vy = spins[i, 3] + wy * rz - wz * ry, spins[i, 4] + wz * rx - wx * rz
            vz = spins[i, 5] + wx * ry - wy * rx
            speed = math.sqrt(vx * vx + vy * vy + vz * vz)
            speed += math.sqrt(wx * wx + wy * wy + wz * wz) * floats[s, geo.REACH]
            margin += h * speed
        _bounds(s, ints[s, geo.KIND], floats, poses, boxes, margin)


@kernel
def _bounds(s, kind, floats, poses, boxes, margin):
    """Write the bounds of shape s along the world's axes; those of planes and height fields are not used."""
    for a in range(3):
        if kind == geo.SPHERE:
            reach = floats[s, geo.SIZE]
        elif kind == geo.CAPSULE:
            reach = floats[s, geo.SIZE] + 0.5 * floats[s, geo.SIZE + 1] * abs(poses[s, 3 * a + 2])
        elif kind == geo.BOX:
            reach = 0.0
            for b in range(3):
                reach += 0.5 * floats[s, geo.SIZE + b] * abs(poses[s, 3 * a + b])
        else:
            reach = floats[s, geo.REACH]
        boxes[s, a] = poses[s, 9 + a] - reach - margin
        boxes[s, 3 + a] = poses[s, 9 + a] + reach + margin
    boxes[s, 6] = margin


@kernel
def find_contacts(g, p, between, contacts, ints, head, follow, old, old_ints, n_old):
    """Write all contacts into `contacts` and `ints`; returns how many, negative where there is no room.

    Moving shapes collide with each other if `between` is 1 (those of different trees) or 2 (all). `old` are the
    contacts of the last step, found again through the lists `head` (nshapes) and `follow`: they hand on their forces
    and tangents.
    """
    shapes, floats, excluded, still, movers = g.ints, g.floats, g.excluded, g.still, g.movers
    poses, boxes, order, found = p.poses, p.boxes, p.order, p.found
    for k in range(n_old - 1, -1, -1):
        a = old_ints[k, geo.A]
        old_ints[k, geo.USED] = 0
        follow[k] = head[a]
        head[a] = k
    count = 0
    for k in range(still.shape[0]):
        b = still[k]
        plane = shapes[b, geo.KIND] == geo.PLANE
        for m in range(movers.shape[0]):
            a = movers[m]
            if count < 0 or shapes[a, geo.LINK] == shapes[b, geo.LINK]:
                continue
            if _far_from_plane(a, b, shapes, floats, poses, boxes) or _is_excluded(
                a, b, shapes.shape[0], excluded
            ):
                continue
            margin, kind = boxes[a, 6] + boxes[b, 6], shapes[a, geo.KIND]
            if plane and (kind == geo.SPHERE or kind == geo.CAPSULE):
                n = round_on_plane(a, b, shapes, floats, poses, found, margin)
            else:
                n = collide(a, b, g, p, margin)
            count = _add(a, b, n, floats, poses, found, contacts, ints, count, head, follow, old, old_ints)
    if count >= 0 and order.shape[0] > 1 and between > 0.0:
        count = _sweep(
            g, p, shapes, floats, excluded, poses, boxes, order, found, between, contacts, ints, count, head, follow,
            old, old_ints,
        )  # fmt: skip
    for k in range(n_old):
        head[old_ints[k, geo.A]] = -1
    return count


@leaf
def _far_from_plane(a, b, shapes, floats, poses, boxes):
    nx, ny, nz = poses[b, 2], poses[b, 5], poses[b, 8]
    low = min(nx * boxes[a, 0], nx * boxes[a, 3]) + min(ny * boxes[a, 1], ny * boxes[a, 4])
    low += min(nz * boxes[a, 2], nz * boxes[a, 5]) - nx * poses[b, 9] - ny * poses[b, 10] - nz * poses[b, 11]
    top = floats[b, geo.SIZE + 2] if shapes[b, geo.KIND] == geo.HEIGHTS else 0.0
    return low > top


@leaf
def _is_excluded(a, b, n, excluded):
    key = min(a, b) * n + max(a, b)
    low, high = 0, excluded.shape[0]
    while low < high:
        middle = (low + high) // 2
        if excluded[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < excluded.shape[0] and excluded[low] == key


@kernel
def _sweep(
    g, p, shapes, floats, excluded, poses, boxes, order, found, between, contacts, ints, count, head, follow, old,
    old_ints,
):  # fmt: skip
    """Sort by the lower bounds along x (almost sorted already) and test what overlaps."""
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
        link, tree, kind, reach = shapes[s, geo.LINK], shapes[s, geo.TREE], shapes[s, geo.KIND], floats[s, geo.REACH]
        round_s = kind == geo.SPHERE or kind == geo.CAPSULE
        x, y, z = poses[s, 9], poses[s, 10], poses[s, 11]
        for m in range(k + 1, n):
            t = order[m]
            if boxes[t, 0] > high:
                break
            if boxes[t, 1] > y1 or boxes[t, 4] < y0 or boxes[t, 2] > z1 or boxes[t, 5] < z0:
                continue
            if link == shapes[t, geo.LINK] or (between < 2.0 and tree == shapes[t, geo.TREE]):
                continue
            margin = boxes[s, 6] + boxes[t, 6]
            dx, dy, dz = poses[t, 9] - x, poses[t, 10] - y, poses[t, 11] - z
            far = reach + floats[t, geo.REACH] + margin
            if dx * dx + dy * dy + dz * dz > far * far or _is_excluded(s, t, shapes.shape[0], excluded):
                continue
            a, b = (s, t) if s > t else (t, s)
            other = shapes[t, geo.KIND]
            if round_s and (other == geo.SPHERE or other == geo.CAPSULE):
                hits = round_pair(a, b, shapes, floats, poses, found, margin)
            else:
                hits = collide(a, b, g, p, margin)
            if hits > 0:
                count = _add(a, b, hits, floats, poses, found, contacts, ints, count, head, follow, old, old_ints)
                if count < 0:
                    return count
    return count


@kernel
def _add(a, b, n, floats, poses, found, contacts, ints, count, head, follow, old, old_ints):
    """Add the contacts of two shapes; returns the new count, or -1 where there is no room."""
    if count + n > contacts.shape[0]:
        return -1
    for k in range(n):
        for c in range(7):
            contacts[count, c] = found[k, c]
        contacts[count, geo.C_MU] = math.sqrt(floats[a, geo.MU] * floats[b, geo.MU])
        contacts[count, geo.C_BOUNCE] = max(floats[a, geo.BOUNCE], floats[b, geo.BOUNCE])
        ints[count, geo.A], ints[count, geo.B], ints[count, geo.KNOWN] = a, b, 0
        x, y, z = found[k, 0] - poses[a, 9], found[k, 1] - poses[a, 10], found[k, 2] - poses[a, 11]
        for c in range(3):
            contacts[count, geo.LOCAL + c] = poses[a, c] * x + poses[a, 3 + c] * y + poses[a, 6 + c] * z
            contacts[count, geo.IMPULSE + c] = 0.0
        contacts[count, geo.SPEED] = 0.0
        contacts[count, geo.BEFORE] = math.inf
        _recall(contacts, ints, count, a, b, head, follow, old, old_ints)
        count += 1
    return count


@kernel
def _recall(contacts, ints, n, a, b, head, follow, old, old_ints):
    """Take over forces and the direction of friction from the nearest contact of the same pair in the last step."""
    best, least = -1, SAME * SAME
    k = head[a]
    px, py, pz = contacts[n, geo.LOCAL], contacts[n, geo.LOCAL + 1], contacts[n, geo.LOCAL + 2]
    while k >= 0:
        if old_ints[k, geo.B] == b and old_ints[k, geo.USED] == 0:
            dx, dy, dz = old[k, geo.LOCAL] - px, old[k, geo.LOCAL + 1] - py, old[k, geo.LOCAL + 2] - pz
            d = dx * dx + dy * dy + dz * dz
            if d < least:
                best, least = k, d
        k = follow[k]
    if best < 0:
        first_tangent(contacts, n)
        return
    nx, ny, nz = contacts[n, geo.NORMAL], contacts[n, geo.NORMAL + 1], contacts[n, geo.NORMAL + 2]
    tx, ty, tz = old[best, geo.T1], old[best, geo.T1 + 1], old[best, geo.T1 + 2]
    along = tx * nx + ty * ny + tz * nz
    tx, ty, tz = tx - along * nx, ty - along * ny, tz - along * nz
    size = math.sqrt(tx * tx + ty * ty + tz * tz)
    if size < 0.1:
        first_tangent(contacts, n)
    else:
        contacts[n, geo.T1], contacts[n, geo.T1 + 1], contacts[n, geo.T1 + 2] = tx / size, ty / size, tz / size
        second_tangent(contacts, n)
    for c in range(3):
        contacts[n, geo.IMPULSE + c] = old[best, geo.IMPULSE + c]
    contacts[n, geo.BEFORE] = old[best, geo.GAP]
    ints[n, geo.KNOWN] = old_ints[best, geo.KNOWN] + 1
    old_ints[best, geo.USED] = 1
