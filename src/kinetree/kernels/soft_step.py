"""A step of the soft-constraint world, and whole motions inside one loop."""

from __future__ import annotations

import math

from .._jit import kernel
from . import soft_layout as at
from .soft_bodies import prepare_bodies, rotated, settle_bodies, times
from .soft_cones import cone_gap, find_limits, follow_normals
from .soft_contact import contact_rows
from .soft_dantzig import settle_dense
from .soft_help import lend_help
from .soft_newton import settle_set
from .soft_pgs import settle_sweeps
from .soft_rows import angle_rows, place_frames, simple_rows, vector_rows
from .soft_targets import shape_plain, shape_row
from .soft_tree import dot6

HELPS = 3  # rounds of help in a step
CONE = 1e-10  # part of the largest impulse by which a friction limit may be off


@kernel
def write_rows(state, bodies, joints, frames, rows, links, pieces, numbers, scratch):
    """Write all rows as they are before the step."""
    h = numbers[at.STEP_LENGTH]
    for j in range(joints.shape[0]):
        kind, r = joints[j, at.KIND], joints[j, at.FIRST]
        here = joints[j, at.ENABLED] if links[r, at.ROLE] != at.NOBODY else 0
        for k in range(joints[j, at.COUNT]):
            links[r + k, at.ON] = links[r + k, at.WANTED] * here
        if here == 0:
            continue
        place_frames(state, bodies, joints, frames, j, scratch)
        if kind == at.CONTACT:
            contact_rows(state, joints, frames, rows, links, j, scratch)
        elif kind == at.ANGLES:
            angle_rows(joints, frames, rows, j, scratch)
        elif kind == at.VECTOR:
            vector_rows(joints, frames, rows, j, scratch)
        else:
            simple_rows(joints, frames, rows, j, scratch)
    per_step, quickest = 1.0 / h, numbers[at.QUICKEST]
    for r in range(rows.shape[0]):
        if links[r, at.ON] == 0:
            rows[r, at.PUSH] = 0.0
            continue
        if links[r, at.TARGET] < 0:
            shape_plain(rows, links, r, h, per_step, quickest)
        else:
            rows[r, at.HELP] = 0.0
            shape_row(rows, links, pieces, r, h, quickest)
        j = links[r, at.OWNER]
        a, b = joints[j, at.A], joints[j, at.B]
        got = dot6(bodies, a, at.FREE, rows, r, at.JA)
        start = dot6(state, a, at.OMEGA, rows, r, at.JA)
        if b >= 0:
            got += dot6(bodies, b, at.FREE, rows, r, at.JB)
            start += dot6(state, b, at.OMEGA, rows, r, at.JB)
        rows[r, at.GOT], rows[r, at.START] = got, start


@kernel
def find_impulses(bodies, joints, rows, links, pieces, numbers, solver, sweeps):
    """Find all impulses, with the help that rows lend each other. Returns a status."""
    numbers[at.FACTORS], numbers[at.ROUNDS], numbers[at.PIVOTS], numbers[at.HELPED] = 0.0, 0.0, 0.0, 0.0
    numbers[at.CONE_GAP] = 0.0
    status = on_cones(bodies, joints, rows, links, pieces, numbers, solver, sweeps)
    helpers = False
    for r in range(rows.shape[0]):
        if links[r, at.HELPS] >= 0:
            helpers = True
    if not helpers:
        return status
    for _ in range(HELPS):
        if status != at.FINE or not lend_help(bodies, rows, links, pieces, numbers, solver):
            break
        status = on_cones(bodies, joints, rows, links, pieces, numbers, solver, sweeps)
    for r in range(rows.shape[0]):
        numbers[at.HELPED] += abs(rows[r, at.HELP])
    return status


@kernel
def on_cones(bodies, joints, rows, links, pieces, numbers, solver, sweeps):
    """Find the impulses of all rows; friction limits follow the normal forces in rounds. Returns a status.

    The structured solver hands what does not settle to the dense one.
    """
    method = int(numbers[at.SOLVER])
    if method == at.PGS:
        return settle_sweeps(bodies, joints, rows, links, pieces, sweeps, numbers)
    cones = False
    for r in range(rows.shape[0]):
        if links[r, at.ON] == 1 and links[r, at.NORMAL] >= 0:
            cones = True
    if cones:
        follow_normals(rows, links)
    for turn in range(int(numbers[at.CONES])):
        numbers[at.ROUNDS] += 1.0
        status = at.UNSETTLED
        if method == at.STRUCTURED:
            status = settle_set(bodies, rows, links, pieces, numbers, solver)
        if status == at.UNSETTLED:
            status = settle_dense(bodies, rows, links, pieces, numbers)
        if status != at.FINE or not cones:
            return status
        worst, scale = cone_gap(rows, links)
        numbers[at.CONE_GAP] = worst / numbers[at.STEP_LENGTH]
        if worst <= CONE * scale:
            return at.FINE
        # Newton's method, and plain following in every third round: where sets alternate it leads elsewhere
        if turn % 3 == 2 or not find_limits(bodies, rows, links, numbers, solver):
            follow_normals(rows, links)
    return at.FINE


@kernel
def account(state, bodies, rows, links, numbers):
    """Write the forces of the rows, and the work of rows, gravity and the user in this step."""
    h = numbers[at.STEP_LENGTH]
    for r in range(rows.shape[0]):
        if links[r, at.ON] == 1:
            p = rows[r, at.PUSH]
            rows[r, at.FORCE] = p / h
            rows[r, at.WORK] += 0.5 * p * (rows[r, at.START] + rows[r, at.SPEED])
            if p != 0.0:
                if links[r, at.BODY_A] >= 0:
                    bodies[links[r, at.BODY_A], at.ALIVE] = 1.0
                if links[r, at.BODY_B] >= 0:
                    bodies[links[r, at.BODY_B], at.ALIVE] = 1.0
        else:
            rows[r, at.FORCE] = 0.0
    for i in range(state.shape[0]):
        if bodies[i, at.INVERSE_MASS] == 0.0:
            continue
        m = bodies[i, at.MASS]
        for k in range(6):
            middle = 0.5 * (state[i, at.OMEGA + k] + bodies[i, at.NEXT + k])
            numbers[at.USER_WORK] += h * bodies[i, at.WRENCH + k] * middle
            if k >= 3:
                numbers[at.GRAVITY_WORK] += h * m * numbers[at.GRAVITY + k - 3] * middle
        # of the gyroscopic torque: what is left of the change of the angular velocity without rows
        wx, wy, wz = state[i, at.OMEGA], state[i, at.OMEGA + 1], state[i, at.OMEGA + 2]
        dx, dy, dz = times(
            bodies, i, at.WORLD_INERTIA,
            bodies[i, at.FREE] - wx, bodies[i, at.FREE + 1] - wy, bodies[i, at.FREE + 2] - wz,
        )
        dx, dy, dz = dx - h * bodies[i, at.WRENCH], dy - h * bodies[i, at.WRENCH + 1], dz - h * bodies[i, at.WRENCH + 2]
        numbers[at.GYRO_WORK] += 0.5 * (
            dx * (wx + bodies[i, at.NEXT]) + dy * (wy + bodies[i, at.NEXT + 1]) + dz * (wz + bodies[i, at.NEXT + 2])
        )


@kernel
def one_step(tables, solver, sweeps, scratch):
    """Step once. A status other than FINE leaves the state as it was."""
    state, bodies, joints, frames, rows, links, pieces, numbers = tables
    prepare_bodies(state, bodies, numbers, scratch)
    write_rows(state, bodies, joints, frames, rows, links, pieces, numbers, scratch)
    status = find_impulses(bodies, joints, rows, links, pieces, numbers, solver, sweeps)
    if status != at.FINE:
        return status
    return finish_step(state, bodies, joints, frames, rows, links, numbers)


@kernel
def finish_step(state, bodies, joints, frames, rows, links, numbers):
    """Take over the impulses found: velocities, positions, forces and energies."""
    h = numbers[at.STEP_LENGTH]
    for i in range(state.shape[0]):
        moves = bodies[i, at.INVERSE_MASS] > 0.0
        for k in range(6):
            v = bodies[i, at.FREE + k] + (bodies[i, at.CHANGE + k] if moves else 0.0)
            bodies[i, at.NEXT + k] = v
            if not abs(v) < 1e150:
                numbers[at.PLACE] = i
                return at.NOT_FINITE
    account(state, bodies, rows, links, numbers)
    settle_bodies(state, bodies, numbers)
    move_anchors(joints, frames, h)
    numbers[at.TIME] += h
    return at.FINE


@kernel
def move_anchors(joints, frames, h):
    """Move the points and poses of the world that have a velocity of their own (the surface of a contact stays)."""
    for j in range(joints.shape[0]):
        if joints[j, at.B] >= 0 or joints[j, at.KIND] == at.CONTACT:
            continue
        for k in range(3):
            frames[j, at.ANCHOR_B + k] += h * frames[j, at.RATE_B + k]
        x, y, z = h * frames[j, at.SPIN_B], h * frames[j, at.SPIN_B + 1], h * frames[j, at.SPIN_B + 2]
        if x != 0.0 or y != 0.0 or z != 0.0:
            for k in range(3):
                c = at.TURN_B + k
                frames[j, c], frames[j, c + 3], frames[j, c + 6] = rotated(
                    frames[j, c], frames[j, c + 3], frames[j, c + 6], x, y, z
                )


@kernel
def follow_drives(joints, frames, rows, drive_at, drive_values, frame, h):
    """Write one frame of driven numbers: (constraint, column of `frames`) pairs; NaN switches the constraint off.

    Column -1 - k stands for a moving anchor's coordinate k: its velocity to the next frame is written, too.
    """
    last = drive_values.shape[0] - 1
    for d in range(drive_at.shape[0]):
        joints[drive_at[d, 0], at.ENABLED] = 1
    for d in range(drive_at.shape[0]):
        j, column, value = drive_at[d, 0], drive_at[d, 1], drive_values[frame, d]
        if math.isnan(value):
            joints[j, at.ENABLED] = 0
            continue
        if column >= 0:
            frames[j, column] = value
        else:
            k = -1 - column
            frames[j, at.ANCHOR_B + k] = value
            after = drive_values[min(frame + 1, last), d]
            if not math.isnan(after):  # else it goes on as before
                frames[j, at.RATE_B + k] = (after - value) / h


@kernel
def run_steps(
    tables, solver, sweeps, scratch, drive_at, drive_values, wrenches, steps, substeps, states_out, forces_out
):
    """Step `steps` frames of `substeps` steps each, with the driven numbers and wrenches of each frame.

    After each frame the state and the forces of all rows are written out (where the arrays are that long). Returns
    (status, frames done).
    """
    state, bodies, joints, frames, rows, _, _, numbers = tables
    for frame in range(steps):
        if drive_at.shape[0] > 0:
            follow_drives(
                joints, frames, rows, drive_at, drive_values, min(frame, drive_values.shape[0] - 1),
                numbers[at.STEP_LENGTH] * substeps,
            )
        if frame < wrenches.shape[0]:
            for i in range(state.shape[0]):
                for k in range(6):
                    bodies[i, at.WRENCH + k] = wrenches[frame, i, k]
        for _ in range(substeps):
            status = one_step(tables, solver, sweeps, scratch)
            if status != at.FINE:
                return status, frame
        if frame < states_out.shape[0]:
            for i in range(state.shape[0]):
                for k in range(at.STATE):
                    states_out[frame, i, k] = state[i, k]
        if frame < forces_out.shape[0]:
            for r in range(rows.shape[0]):
                forces_out[frame, r] = rows[r, at.FORCE]
    return at.FINE, steps
