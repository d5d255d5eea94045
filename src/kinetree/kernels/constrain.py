"""The step of Kokkevis (2004), section 7: constraint forces, a step, impacts, and back to the time of impact.

Velocities are those of half a step ago, as in any semi-implicit step; where a step is cut into parts h1, h2, ... by an
impact, the velocity is kicked by a (h1 + h2) / 2 between them, and an impact turns around the velocity at its own time,
v + a h1 / 2. A ball then loses no height to the length of the step.
"""

from __future__ import annotations

import math

from .._jit import kernel
from . import geometry as geo
from .aba import accelerate, eliminate_joints
from .acts import body_acts, joint_acts
from .conditions import (
    AWAY,
    CONTACT,
    O_KIND,
    O_MASK,
    OWNER,
    PULL,
    ROW,
    TYPE,
    F,
    contact_rows,
    contact_speed,
    drive_rows,
    limit_rows,
    loop_errors,
    loop_rows,
    open_rows,
)
from .contacts import find_contacts, place_shapes
from .impact import impact
from .kinematics import move_links, place_links, write_axes
from .manifold import integrate
from .solve_rows import equal_block, project_positions, release, solve_rows, spread_equal
from .spatial import prepare_links, subtract_external
from .step_room import (
    BACKTRACKS,
    BETWEEN,
    DEPTH,
    ELASTIC,
    FRESH,
    FRICTION,
    LAST,
    LOOP_TOLERANCE,
    M_CONTACTS,
    M_DEPTH,
    M_LOOP,
    M_RESIDUAL,
    N_BACKTRACKS,
    N_GAVE_UP,
    N_IMPACTS,
    N_LIMITS,
    N_PARTS,
    N_PROJECTED,
    N_STEPS,
    N_SWEEPS,
    N_UNSOLVED,
    NO_ROOM,
    PARTS,
    SLOP,
    SLOW,
    SWEEPS,
    TOLERANCE,
    TOUCH,
)
from .steppers import diverged
from .weave import drain, root_factors, spin


@kernel
def advance(
    body, acts, tables, g, p, rows, store, q, v, aims, start, first, dt, steps, gravity, options, work, record, every
):
    """Take `steps` steps of `dt`; arguments and result as in `steppers.advance`.

    `aims` (steps + 2, nq) is where followed motions are from one step before the first on; it is empty where there are
    none. A step that cannot be completed leaves the state of its start.
    """
    nq, nv = q.shape[0], v.shape[0]
    written = 0
    for step in range(steps):
        for k in range(nq):
            work.before[k] = q[k]
        for k in range(nv):
            work.before[nq + k] = v[k]
        time = start + (first + step) * dt
        fault = one_step(body, acts, tables, g, p, rows, store, q, v, aims, step, time, dt, gravity, options, work)
        if fault == -1:
            fault = diverged(v)
        if fault != -1:
            for k in range(nq):
                q[k] = work.before[k]
            for k in range(nv):
                v[k] = work.before[nq + k]
            store.clock[FRESH] = 0.0
            return step, written, fault
        store.counts[N_STEPS] += 1.0
        if every > 0 and (first + step + 1) % every == 0:
            for k in range(nq):
                record[written, k] = q[k]
            for k in range(nv):
                record[written, nq + k] = v[k]
            written += 1
    return steps, written, -1


@kernel
def see(body, g, p, store, options, q, v, side, h, work):
    """Move the links of set `side` to a state and find its contacts, as the next ones; returns False: no room."""
    links, axes = work.links[side], work.axes[side]
    prepare_links(body.topology, body.constants, q, v, links, axes)
    place_links(body.topology, links)
    if g.ints.shape[0] == 0:
        return True
    spin(body.topology, links, axes, v, work.spins)
    place_shapes(g, p, links, work.spins, h)
    now = store.numbers[0]
    count = find_contacts(
        g, p, options[BETWEEN], store.contacts[1 - now], store.contact_ints[1 - now], store.head, store.follow,
        store.contacts[now], store.contact_ints[now], store.numbers[1 + now],
    )  # fmt: skip
    if count < 0:
        return False
    store.numbers[2 - now] = count
    return True


@kernel
def one_step(body, acts, tables, g, p, rows, store, q, v, aims, step, time, dt, gravity, options, work):
    """Advance by exactly dt; returns -1 or a fault."""
    topology, clock, counts = body.topology, store.clock, store.counts
    nv = v.shape[0]
    left, side, parts, impacts = dt, 0, 0, 0
    if clock[LAST] <= 0.0:
        clock[LAST] = dt
    if clock[FRESH] == 0.0:
        if not see(body, g, p, store, options, q, v, side, dt, work):
            return NO_ROOM
        if g.ints.shape[0] > 0:
            store.numbers[0] = 1 - store.numbers[0]
        clock[FRESH] = 1.0
    elif step > 0:  # the step before has seen this state at its end
        side = store.numbers[3]
    else:
        prepare_links(topology, body.constants, q, v, work.links[side], work.axes[side])
        place_links(topology, work.links[side])
    while left > 0.0:
        parts += 1
        links, axes = work.links[side], work.axes[side]
        kick = 0.5 * (clock[LAST] + left)
        bad = _free_motion(body, acts, q, v, time + dt - left, gravity, kick, links, axes, work)
        if bad >= 0:
            return -2 - bad
        for k in range(nv):
            work.free[k] = v[k] + kick * work.a[k]
        events = parts < PARTS
        if options[ELASTIC] > 0.0 and events and impacts < 8:
            struck = impact(body, tables, g, rows, store, q, v, left, options, gravity, links, axes, work)
            if struck == NO_ROOM:
                return NO_ROOM
            if struck > 0:  # the same place, other velocities
                impacts += 1
                counts[N_IMPACTS] += struck
                prepare_links(topology, body.constants, q, v, links, axes)
                continue
        impacts = 0
        if not _all_rows(
            body, tables, g, rows, store, q, v, aims, step, dt, left, kick, events, options, gravity, links, axes, work
        ):
            return NO_ROOM
        moved = _respond(body, tables, rows, store, q, kick, left, side, options, work)
        h, tries = left, 0
        while True:
            share = 1.0 if h == left else 0.5 * (clock[LAST] + h) / kick
            for k in range(nv):
                work.trial[k] = v[k] + share * (work.dv[k] - v[k])
            integrate(topology, q, work.trial, h, work.q)
            if moved:
                integrate(topology, work.q, work.move, 1.0, work.q)
            if not see(body, g, p, store, options, work.q, work.trial, 1 - side, dt, work):
                return NO_ROOM
            if not events or tries >= options[BACKTRACKS]:
                break
            shorter = _too_far(topology, tables, g, store, work, 1 - side, h, options)
            if shorter >= h:
                break
            h = shorter
            tries += 1
        counts[N_BACKTRACKS] += tries
        for k in range(q.shape[0]):
            q[k] = work.q[k]
        for k in range(nv):
            v[k] = work.trial[k]
        if g.ints.shape[0] > 0:
            store.numbers[0] = 1 - store.numbers[0]
        side = 1 - side
        clock[LAST] = h
        left = left - h if left - h > 1e-9 * dt else 0.0
    counts[N_PARTS] += parts
    counts[N_GAVE_UP] += 1.0 if parts >= PARTS else 0.0
    store.numbers[3] = side
    _measure(tables, g, store, work, side)
    return -1


@kernel
def _free_motion(body, acts, q, v, time, gravity, h, links, axes, work):
    """Write the accelerations without constraints to `work.a`, and factor; returns a singular link or -1."""
    topology, external = body.topology, acts.external
    if external.shape[0] > 0:
        subtract_external(external, body.body_links, body.body_poses_in_link, links)
    if acts.springs.shape[0] > 0 or acts.wrenches.shape[0] > 0:
        body_acts(topology, acts, v, time, links, axes)
    joint_acts(topology, acts, body.armature, q, v, h, work.stretch, work.tau, work.diagonal)
    bad = eliminate_joints(topology, work.diagonal, work.tau, links, axes)
    if bad >= 0:
        return bad
    accelerate(topology, gravity, links, axes, work.a)
    write_axes(topology, links, axes)
    root_factors(topology, axes, work.roots)
    return -1


@kernel
def _all_rows(
    body, tables, g, rows, store, q, v, aims, step, dt, left, kick, events, options, gravity, links, axes, work
):
    """Write the rows of everything that constrains the velocities after a step of `left`; False: no room."""
    topology, roots, z, room, wrench = body.topology, work.roots, work.z, work.room, work.wrench
    open_rows(rows)
    if tables.limit_ints.shape[0] > 0 and not limit_rows(
        tables, topology, links, roots, rows, q, work.free, left, store.limit_memory, store.reached, room,
    ):  # fmt: skip
        return False
    if tables.drive_ints.shape[0] > 0:
        follows = aims.shape[0] > 0
        pace = 1.0
        if follows:
            done = dt - left
            if done > 0.0:
                pace = left / done
            part = done / dt
            for k in range(q.shape[0]):
                here = aims[step + 1, k] + part * (aims[step + 2, k] - aims[step + 1, k])
                work.aims[0, k] = aims[step, k] if done == 0.0 else aims[step + 1, k]
                work.aims[1, k], work.aims[2, k] = here, aims[step + 2, k]
        if not drive_rows(
            tables, topology, links, roots, rows, q, v, work.free, kick, left, follows, work.aims[0],
            work.aims[1], work.aims[2], pace, store.drive_memory, room, wrench,
        ):  # fmt: skip
            return False
    spin(topology, links, axes, work.free, work.spins)
    if tables.loop_ints.shape[0] > 0:
        loop_errors(tables, links, store.loop_errors)
        if not loop_rows(
            tables, topology, links, roots, rows, work.spins, gravity, kick, store.loop_errors,
            store.loop_memory, z, wrench,
        ):  # fmt: skip
            return False
    if g.ints.shape[0] == 0:
        return True
    now = store.numbers[0]
    contacts, ints, shapes = store.contacts[now], store.contact_ints[now], g.ints
    groups, table, cols, vals, sizes, forces = rows.groups, rows.rows, rows.cols, rows.vals, rows.sizes, work.forces
    spins, other, along = work.spins, work.other, options[FRICTION] == 2.0
    if events:
        spin(topology, links, axes, v, other)
    for k in range(store.numbers[1 + now]):
        gap = contacts[k, geo.GAP]
        a, b = shapes[ints[k, geo.A], geo.LINK], shapes[ints[k, geo.B], geo.LINK]
        s0, s1, s2 = contact_speed(a, b, contacts, k, links, spins)
        skipped = gap > 1e-3 and gap + left * s0 > 0.2 * gap
        if events and not skipped and contacts[k, geo.C_BOUNCE] > 0.0 and gap > TOUCH:
            # it is to strike, and is not to be slowed down before
            skipped = contact_speed(a, b, contacts, k, links, other)[0] < -options[SLOW]
        if skipped:
            for c in range(3):
                contacts[k, geo.IMPULSE + c] = 0.0
            continue
        if along:
            s1, s2 = slide_along(contacts, k, s1, s2)
        if not contact_rows(
            k, a, b, contacts, topology, links, roots, groups, table, cols, vals, sizes, s0, s1, s2, left, forces,
            room,
        ):  # fmt: skip
            return False
    return True


@kernel
def slide_along(contacts, n, s1, s2):
    """Turn the first tangent into the direction of sliding; one that does not slide keeps the last that it had.

    Returns the velocities along the tangents as they are then.
    """
    size = math.sqrt(s1 * s1 + s2 * s2)
    if size < 1e-4:
        return s1, s2
    c, s = s1 / size, s2 / size
    for k in range(3):
        t1, t2 = contacts[n, geo.T1 + k], contacts[n, geo.T2 + k]
        contacts[n, geo.T1 + k], contacts[n, geo.T2 + k] = c * t1 + s * t2, c * t2 - s * t1
    f1, f2 = contacts[n, geo.IMPULSE + 1], contacts[n, geo.IMPULSE + 2]
    contacts[n, geo.IMPULSE + 1], contacts[n, geo.IMPULSE + 2] = c * f1 + s * f2, 0.0
    return size, 0.0


@kernel
def _respond(body, tables, rows, store, q, kick, h, side, options, work):
    """Solve the rows, write the velocities after them to `work.dv`; returns whether positions are to be corrected.

    Loops are then closed at the end of the step by impulses along their rows of its start (as SHAKE does). The
    correction for contacts and limits that are violated goes to `work.move` and leaves velocities alone.
    """
    topology, links, axes, nv = body.topology, work.links[side], work.axes[side], work.dv.shape[0]
    counts = store.counts
    for k in range(nv):
        work.dv[k] = work.free[k]
    if rows.sizes[0] == 0:
        return False
    equals = 0
    for turn in range(6):  # efforts that are too large become bounds, a few at a time
        if turn > 0 and not release(rows):
            break
        equals = equal_block(rows, work.listed, work.factor, work.z)
        solve_rows(
            rows, work.y, work.stretch, work.move, work.listed, equals, work.factor, work.right, int(options[FRICTION]),
            int(options[SWEEPS]), options[TOLERANCE], work.solved,
        )  # fmt: skip
    counts[N_SWEEPS] += work.solved[0]
    counts[M_RESIDUAL] = max(counts[M_RESIDUAL], work.solved[1])
    counts[N_UNSOLVED] += 1.0 if work.solved[1] > options[TOLERANCE] else 0.0
    drain(topology, links, axes, work.roots, work.y, work.other, work.stretch)
    for k in range(nv):
        work.dv[k] += work.stretch[k]
    _harvest(tables, rows, store)
    worst, groups, table = 0.0, rows.groups, rows.rows
    for k in range(rows.sizes[0]):
        worst = min(worst, table[groups[k, ROW], AWAY])
    moved = worst < -options[SLOP]
    if moved:
        counts[N_PROJECTED] += 1.0
        project_positions(
            rows, work.y, work.listed, equals, work.factor, work.right, options[SLOP], 2 * int(options[SWEEPS]), 1e-7
        )
        drain(topology, links, axes, work.roots, work.y, work.other, work.move)
    closing, loop_ints = False, tables.loop_ints
    for k in range(loop_ints.shape[0]):
        closing = closing or (loop_ints[k, O_KIND] != PULL and loop_ints[k, O_MASK] != 0)
    if closing and equals > 0:
        _close_loops(body, tables, rows, store, q, h, moved, side, equals, options, work)
    return moved


@kernel
def _close_loops(body, tables, rows, store, q, h, moved, side, equals, options, work):
    topology, links, axes = body.topology, work.links[side], work.axes[side]
    other, other_axes = work.links[1 - side], work.axes[1 - side]
    least = math.inf
    for _ in range(12):
        integrate(topology, q, work.dv, h, work.q)
        if moved:
            integrate(topology, work.q, work.move, 1.0, work.q)
        move_links(topology, body.constants, work.q, work.dv, other, other_axes)
        place_links(topology, other)
        worst = loop_errors(tables, other, store.loop_errors)
        if worst > least:  # too far from closed for the rows of the start: what made it worse is taken back
            for k in range(work.dv.shape[0]):
                work.dv[k] -= work.stretch[k]
            break
        if worst <= options[LOOP_TOLERANCE]:
            break
        least = worst
        for m in range(equals):
            owner = rows.groups[work.listed[m], OWNER]
            work.right[m] = 0.0
            if owner >= 0:
                n = owner // 6
                if tables.loop_ints[n, O_KIND] != PULL:
                    work.right[m] = -store.loop_errors[n, owner % 6] / h
        for k in range(work.y.shape[0]):
            work.y[k] = 0.0
        spread_equal(rows, work.listed, equals, work.factor, work.right, work.y, F)
        drain(topology, links, axes, work.roots, work.y, work.other, work.stretch)
        for k in range(work.dv.shape[0]):
            work.dv[k] += work.stretch[k]


@kernel
def _harvest(tables, rows, store):
    """Keep the impulses for the next step, and note which limits are touched."""
    now, nl = store.numbers[0], tables.limit_ints.shape[0]
    contacts, groups, table = store.contacts[now], rows.groups, rows.rows
    for k in range(rows.sizes[0]):
        kind, owner, r = groups[k, TYPE], groups[k, OWNER], groups[k, ROW]
        f = table[r, F]
        if kind == CONTACT:
            for c in range(3):
                contacts[owner, geo.IMPULSE + c] = table[r + c, F]
        elif owner >= 0:
            store.loop_memory[owner // 6, owner % 6] = f
        elif -1 - owner < 2 * nl:
            n, side = (-1 - owner) // 2, (-1 - owner) % 2
            store.limit_memory[n, side] = f
            if f > 0.0:
                if store.reached[n] == 0:
                    store.counts[N_LIMITS] += 1.0
                store.reached[n] = 1 + side
        else:
            store.drive_memory[-1 - owner - 2 * nl] = f


@kernel
def _too_far(topology, tables, g, store, work, side, h, options):
    """Return a shorter step if this one went through something, h if not.

    By Newton's rule from the end of the step where the shapes were not close before, by the secant where they were.
    """
    now = 1 - store.numbers[0]
    contacts, ints, links = store.contacts[now], store.contact_ints[now], work.links[side]
    best, shapes, spins = h, g.ints, work.spins
    for k in range(store.numbers[1 + now] if shapes.shape[0] > 0 else 0):
        gap, before = contacts[k, geo.GAP], contacts[k, geo.BEFORE]
        if gap >= -TOUCH:
            continue
        bounces = contacts[k, geo.C_BOUNCE] > 0.0
        if not bounces and (gap >= -options[DEPTH] or before < -0.5 * options[DEPTH]):
            continue
        a, b = shapes[ints[k, geo.A], geo.LINK], shapes[ints[k, geo.B], geo.LINK]
        speed = contact_speed(a, b, contacts, k, links, spins)[0]
        if speed >= (-options[SLOW] if bounces else -1e-9):
            continue
        if bounces and before <= TOUCH:
            continue
        goal = 0.0 if bounces else -0.4 * options[DEPTH]
        t = h + (gap - goal) / -speed
        if not 0.0 < t < h and before < math.inf:
            t = h * (before - goal) / (before - gap)
        best = min(best, max(t, 0.02 * h))
    return best


@kernel
def _measure(tables, g, store, work, side):
    """Note the present depth of contacts and drift of loops."""
    counts, now = store.counts, store.numbers[0]
    if g.ints.shape[0] > 0:
        counts[M_CONTACTS] = max(counts[M_CONTACTS], float(store.numbers[1 + now]))
        contacts, deepest = store.contacts[now], 0.0
        for k in range(store.numbers[1 + now]):
            deepest = max(deepest, -contacts[k, geo.GAP])
        counts[M_DEPTH] = max(counts[M_DEPTH], deepest)
    if tables.loop_ints.shape[0] > 0:
        counts[M_LOOP] = max(counts[M_LOOP], loop_errors(tables, work.links[side], store.loop_errors))
