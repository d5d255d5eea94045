"""Impacts: velocities that turn around at once (Kokkevis 2004, section 5)."""

from __future__ import annotations

from .._jit import kernel
from . import geometry as geo
from . import layout as at
from .conditions import (
    AWAY,
    BIAS,
    COL,
    CONTACT,
    L_BOUNCE,
    NCOL,
    OWNER,
    ROW,
    TYPE,
    VAL,
    F,
    contact_rows,
    contact_speed,
    limit_rows,
    loop_errors,
    loop_rows,
    open_rows,
)
from .solve_rows import equal_block, solve_rows
from .step_room import (
    FRICTION,
    LAST,
    NO_ROOM,
    SLOW,
    SWEEPS,
    TOLERANCE,
    TOUCH,
)
from .weave import drain, spin


@kernel
def _normal_acceleration(a, b, contact, gravity, links):
    """Return the relative acceleration along the normal of a contact, constraints aside."""
    total = 0.0
    for side in range(2):
        i = a if side == 0 else b
        if i < 0:
            continue
        s, sign = links[i], 1.0 if side == 0 else -1.0
        x, y, z = contact[0] - s[at.POSITION], contact[1] - s[at.POSITION + 1], contact[2] - s[at.POSITION + 2]
        wx, wy, wz = s[at.OMEGA], s[at.OMEGA + 1], s[at.OMEGA + 2]
        ux, uy, uz = wy * z - wz * y, wz * x - wx * z, wx * y - wy * x
        c = at.ACCELERATION
        ax = s[c + 3] + gravity[0] + s[c + 1] * z - s[c + 2] * y + wy * uz - wz * uy
        ay = s[c + 4] + gravity[1] + s[c + 2] * x - s[c] * z + wz * ux - wx * uz
        az = s[c + 5] + gravity[2] + s[c] * y - s[c + 1] * x + wx * uy - wy * ux
        total += sign * (contact[geo.NORMAL] * ax + contact[geo.NORMAL + 1] * ay + contact[geo.NORMAL + 2] * az)
    return total


@kernel
def impact(body, tables, g, rows, store, q, v, left, options, gravity, links, axes, work):
    """Turn around what has struck something elastic (section 5); returns how many contacts and limits did.

    Impulses that would add energy, which Newton's law of restitution with friction can ask for, are solved again with
    less of it.
    """
    topology = body.topology
    now, last = store.numbers[0], store.clock[LAST]
    contacts, ints = store.contacts[now], store.contact_ints[now]
    count, struck = store.numbers[1 + now], 0
    bouncy = False
    for k in range(count):
        if contacts[k, geo.C_BOUNCE] > 0.0 and contacts[k, geo.GAP] <= TOUCH:
            bouncy = True
    limits = tables.limits
    for n in range(limits.shape[0]):
        bouncy = bouncy or limits[n, L_BOUNCE] > 0.0
    if not bouncy:
        return 0
    spin(topology, links, axes, v, work.spins)
    spins, shapes = work.spins, g.ints
    for k in range(count):
        contacts[k, geo.SPEED] = 0.0
        if contacts[k, geo.C_BOUNCE] > 0.0 and contacts[k, geo.GAP] <= TOUCH:
            a, b = shapes[ints[k, geo.A], geo.LINK], shapes[ints[k, geo.B], geo.LINK]
            speed, _, _ = contact_speed(a, b, contacts, k, links, spins)
            if speed < -options[SLOW]:
                push = 0.5 * last * _normal_acceleration(a, b, contacts[k], gravity, links)
                contacts[k, geo.SPEED] = min(speed + push, 0.0) * contacts[k, geo.C_BOUNCE] + push
                struck += 1
    open_rows(rows)
    if not limit_rows(
        tables, topology, links, work.roots, rows, q, v, left, store.limit_memory, store.reached,
        work.room,
    ):  # fmt: skip
        return NO_ROOM
    for k in range(rows.sizes[0]):
        n = (-1 - rows.groups[k, OWNER]) // 2
        row = rows.rows[rows.groups[k, ROW]]
        row[F] = 0.0
        rate = row[BIAS] - max(row[AWAY], 0.0) / left
        if tables.limits[n, L_BOUNCE] > 0.0 and row[AWAY] <= TOUCH and rate < -options[SLOW]:
            row[BIAS] = rate * (1.0 + tables.limits[n, L_BOUNCE])
            struck += 1
    if struck == 0:
        return 0
    if tables.loop_ints.shape[0] > 0:
        loop_errors(tables, links, store.loop_errors)
        if not loop_rows(
            tables, topology, links, work.roots, rows, spins, gravity, 0.0, store.loop_errors, store.loop_memory,
            work.z, work.wrench,
        ):  # fmt: skip
            return NO_ROOM
        for k in range(rows.sizes[0]):
            rows.rows[rows.groups[k, ROW], F] = 0.0
    for k in range(count):
        if contacts[k, geo.GAP] > 1e-4:
            continue
        a, b = shapes[ints[k, geo.A], geo.LINK], shapes[ints[k, geo.B], geo.LINK]
        s0, s1, s2 = contact_speed(a, b, contacts, k, links, spins)
        if not contact_rows(
            k, a, b, contacts, topology, links, work.roots, rows.groups, rows.rows, rows.cols, rows.vals,
            rows.sizes, s0 + contacts[k, geo.SPEED], s1, s2, left, work.forces, work.room,
        ):  # fmt: skip
            return NO_ROOM
        for c in range(3):
            rows.rows[rows.sizes[1] - 3 + c, F] = 0.0
    equals = equal_block(rows, work.listed, work.factor, work.z)
    for _ in range(4):
        solve_rows(
            rows, work.y, work.stretch, work.move, work.listed, equals, work.factor, work.right,
            int(options[FRICTION]), 10 * int(options[SWEEPS]), options[TOLERANCE], work.solved,
        )  # fmt: skip
        gained = 0.0  # the work of the impulses: f (J v + J v') / 2, with J v' = J v + W y
        for k in range(rows.sizes[0]):
            group = rows.groups[k]
            for m in range(3 if group[TYPE] == CONTACT else 1):
                r = group[ROW] + m
                s = 0.0
                for c in range(group[NCOL]):
                    s += rows.vals[group[VAL] + m * group[NCOL] + c] * work.y[rows.cols[group[COL] + c]]
                was = rows.rows[r, BIAS]
                if group[TYPE] == CONTACT and m == 0:
                    was -= contacts[group[OWNER], geo.SPEED] + max(contacts[group[OWNER], geo.GAP], 0.0) / left
                elif group[TYPE] != CONTACT and group[OWNER] < 0:
                    n = (-1 - group[OWNER]) // 2
                    if was < 0.0 and rows.rows[r, AWAY] <= TOUCH:
                        was /= 1.0 + tables.limits[n, L_BOUNCE]
                gained += rows.rows[r, F] * (was + 0.5 * s)
        push = 0.0
        for k in range(count):
            push = max(push, abs(contacts[k, geo.SPEED]))
        if gained <= 1e-9 + 0.02 * last * push:
            break
        for k in range(rows.sizes[0]):
            group = rows.groups[k]
            if group[TYPE] == CONTACT:
                rows.rows[group[ROW], BIAS] -= 0.5 * contacts[group[OWNER], geo.SPEED]
                contacts[group[OWNER], geo.SPEED] *= 0.5
            for m in range(3 if group[TYPE] == CONTACT else 1):
                rows.rows[group[ROW] + m, F] = 0.0
    drain(topology, links, axes, work.roots, work.y, work.other, work.dv)
    for k in range(v.shape[0]):
        v[k] += work.dv[k]
    for k in range(rows.sizes[0]):
        if rows.groups[k, TYPE] == CONTACT:
            contacts[rows.groups[k, OWNER], geo.IMPULSE] = 0.0
    return struck
