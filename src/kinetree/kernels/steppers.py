"""Integrators: the loop over time runs in here, with recording, and stops at the step where the motion diverges."""

from __future__ import annotations

import math
from typing import NamedTuple

from .._jit import kernel, leaf
from ..typing import Array
from .aba import accelerate, eliminate_joints
from .acts import body_acts, joint_acts
from .manifold import coordinate_rate, integrate, normalize
from .spatial import prepare_links, subtract_external

SEMI_IMPLICIT = 0
EULER = 1
RK4 = 2
RK45 = 3

STAGES = (1, 1, 4, 10)  # rows of `Work.stages` that each integrator needs; the last holds the state before the step

FAST = 1e12  # rad/s or m/s: a motion beyond this has diverged
SMALLEST = 1e-10  # of a step: an error-controlled step smaller than this means that the motion has diverged


class Body(NamedTuple):
    """The arrays of a model that a step needs."""

    topology: Array
    constants: Array
    armature: Array
    body_links: Array
    body_poses_in_link: Array


class Work(NamedTuple):
    """Scratch of a simulation; `stages` has a row of nq + nv for each stage of the integrator."""

    links: Array
    axes: Array
    tau: Array
    diagonal: Array
    stretch: Array
    a: Array
    stages: Array


@leaf
def accelerations(
    topology, constants, armature, body_links, poses, acts, external, feed, plain, alone, q, v, time, gravity, h, links,
    axes, tau, diagonal, stretch, out,
):  # fmt: skip
    """Write the accelerations at (q, v, time) into `out`; joint springs and dampers implicit over h. See `aba`.

    `plain` says that no joint has a spring, damper, friction or stop, `alone` that no spring or wrench acts on a body.
    """
    prepare_links(topology, constants, q, v, links, axes)
    if external.shape[0] > 0:
        subtract_external(external, body_links, poses, links)
    if not alone:
        body_acts(topology, acts, v, time, links, axes)
    if plain:
        for k in range(v.shape[0]):
            tau[k] = feed[k]
            diagonal[k] = armature[k]
    else:
        joint_acts(topology, acts, armature, q, v, h, stretch, tau, diagonal)
    bad = eliminate_joints(topology, diagonal, tau, links, axes)
    if bad < 0:
        accelerate(topology, gravity, links, axes, out)
    return bad


@kernel
def advance(body, acts, q, v, start, first, dt, steps, gravity, integrator, control, work, record, every):
    """Take `steps` steps of `dt` from step number `first` on; `q` and `v` end at the new state.

    Writes every state whose step number is a multiple of `every` into the next row of `record` (nq + nv), unless
    `every` is 0. `control` holds the tolerance and, from step to step, the internal step of the adaptive integrator.
    Returns (steps done, rows written, -1), with a degree of freedom that diverged or -2 - link for a singular joint
    in place of -1; `q` and `v` are then at the last good state.
    """
    topology, constants, armature, links, axes = body.topology, body.constants, body.armature, work.links, work.axes
    body_links, poses, external = body.body_links, body.body_poses_in_link, acts.external
    tau, diagonal, stretch, a, feed = work.tau, work.diagonal, work.stretch, work.a, acts.feed
    stages = work.stages
    before = stages[stages.shape[0] - 1]
    plain = acts.damping.shape[0] == 0 and acts.stiffness.shape[0] == 0 and acts.stops.shape[0] == 0
    alone = acts.springs.shape[0] == 0 and acts.wrenches.shape[0] == 0
    first_order = integrator == SEMI_IMPLICIT or integrator == EULER
    implicit = dt if integrator == SEMI_IMPLICIT else 0.0
    rows = 0
    nq, nv = q.shape[0], v.shape[0]
    for step in range(steps):
        time = start + (first + step) * dt
        for k in range(nq):
            before[k] = q[k]
        for k in range(nv):
            before[nq + k] = v[k]
        if first_order:
            # `accelerations`, written out: inlined from there, steps of small bodies take half as long again
            prepare_links(topology, constants, q, v, links, axes)
            if external.shape[0] > 0:
                subtract_external(external, body_links, poses, links)
            if not alone:
                body_acts(topology, acts, v, time, links, axes)
            if plain:
                for k in range(nv):
                    tau[k] = feed[k]
                    diagonal[k] = armature[k]
            else:
                joint_acts(topology, acts, armature, q, v, implicit, stretch, tau, diagonal)
            bad = eliminate_joints(topology, diagonal, tau, links, axes)
            if bad < 0:
                accelerate(topology, gravity, links, axes, a)
            if integrator == EULER:
                integrate(topology, q, v, dt, q)
            for k in range(nv):
                v[k] += dt * a[k]
            if integrator == SEMI_IMPLICIT:
                integrate(topology, q, v, dt, q)
        elif integrator == RK4:
            bad = _rk4(
                topology, constants, armature, body_links, poses, acts, external, feed, plain, alone, q, v, time, dt,
                gravity, links, axes, tau, diagonal, stretch, stages,
            )  # fmt: skip
        else:
            bad = _rk45(
                topology, constants, armature, body_links, poses, acts, external, feed, plain, alone, q, v, time, dt,
                gravity, control, links, axes, tau, diagonal, stretch, stages,
            )  # fmt: skip
        fault = -2 - bad if bad >= 0 else -1
        if fault == -1:
            fault = diverged(v)
        if fault != -1:
            for k in range(nq):
                q[k] = before[k]
            for k in range(nv):
                v[k] = before[nq + k]
            return step, rows, fault
        if every > 0 and (first + step + 1) % every == 0:
            for k in range(nq):
                record[rows, k] = q[k]
            for k in range(nv):
                record[rows, nq + k] = v[k]
            rows += 1
    return steps, rows, -1


@kernel
def diverged(v):
    """Return the first degree of freedom that is not finite or absurdly fast, or -1."""
    for k in range(v.shape[0]):
        if not abs(v[k]) < FAST:
            return k
    return -1


@leaf
def _rates(
    topology, constants, armature, body_links, poses, acts, external, feed, plain, alone, y, time, gravity, links, axes,
    tau, diagonal, stretch, out,
):  # fmt: skip
    """Write the time derivative of the state y = [q, v] into `out`."""
    nq = y.shape[0] - tau.shape[0]
    coordinate_rate(topology, y[:nq], y[nq:], out[:nq])
    return accelerations(
        topology, constants, armature, body_links, poses, acts, external, feed, plain, alone, y[:nq], y[nq:], time,
        gravity, 0.0, links, axes, tau, diagonal, stretch, out[nq:],
    )  # fmt: skip


@kernel
def _rk4(
    topology, constants, armature, body_links, poses, acts, external, feed, plain, alone, q, v, time, h, gravity, links,
    axes, tau, diagonal, stretch, stages,
):  # fmt: skip
    """Take one classical Runge-Kutta step in the coordinates; quaternions are normalised at its end."""
    nq = q.shape[0]
    y, total, k, y0 = stages[0], stages[1], stages[2], stages[3]
    total[:] = 0.0
    for stage in range(4):
        if stage == 0:
            part, weight = 0.0, 1.0 / 6.0
        elif stage == 3:
            part, weight = 1.0, 1.0 / 6.0
        else:
            part, weight = 0.5, 1.0 / 3.0
        for n in range(y.shape[0]):
            y[n] = y0[n] + part * h * k[n] if stage > 0 else y0[n]
        bad = _rates(
            topology, constants, armature, body_links, poses, acts, external, feed, plain, alone, y, time + part * h,
            gravity, links, axes, tau, diagonal, stretch, k,
        )  # fmt: skip
        if bad >= 0:
            return bad
        for n in range(y.shape[0]):
            total[n] += weight * k[n]
    for n in range(nq):
        q[n] = y0[n] + h * total[n]
    for n in range(v.shape[0]):
        v[n] = y0[nq + n] + h * total[nq + n]
    normalize(topology, q)
    return -1


# Dormand and Prince (1980), the 5(4) pair of seven stages
NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
TABLEAU = (
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0),
    (3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0),
    (44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
DEFECT = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


@kernel
def _rk45(
    topology, constants, armature, body_links, poses, acts, external, feed, plain, alone, q, v, time, dt, gravity,
    control, links, axes, tau, diagonal, stretch, stages,
):  # fmt: skip
    """Advance by exactly `dt` in as many error-controlled steps as the tolerance asks for.

    The error of a step is the largest of |defect| / (1 + |y|) over the state; a step that misses `control[0]` is
    taken again, smaller. `control[1]` keeps the length that worked.
    """
    nq = q.shape[0]
    y0, y = stages[7], stages[8]
    tolerance = control[0]
    h = min(control[1], dt) if control[1] > 0.0 else dt
    for n in range(nq):
        y0[n] = q[n]
    for n in range(v.shape[0]):
        y0[nq + n] = v[n]
    done = 0.0
    while done < dt:
        last = done + h * (1.0 + 1e-9) >= dt
        size = dt - done if last else h
        for stage in range(7):
            for n in range(y.shape[0]):
                y[n] = y0[n]
            for m in range(stage):
                part = TABLEAU[stage][m] * size
                if part != 0.0:
                    for n in range(y.shape[0]):
                        y[n] += part * stages[m, n]
            bad = _rates(
                topology, constants, armature, body_links, poses, acts, external, feed, plain, alone, y,
                time + done + NODES[stage] * size, gravity, links, axes, tau, diagonal, stretch, stages[stage],
            )  # fmt: skip
            if bad >= 0:
                return bad
        error = 0.0
        worst = nq
        for n in range(y.shape[0]):
            defect = 0.0
            for m in range(7):
                defect += DEFECT[m] * stages[m, n]
            scaled = abs(size * defect) / (1.0 + abs(y[n]))
            if not scaled < math.inf:
                scaled = math.inf
            if scaled > error:
                error = scaled
                worst = n
        if error <= tolerance:
            for n in range(y.shape[0]):
                y0[n] = y[n]
            normalize(topology, y0[:nq])
            done = dt if last else done + size
            control[2] += 1.0
        else:
            control[3] += 1.0
        if not error < math.inf:
            factor = 0.1
        else:
            factor = min(5.0, max(0.2, 0.9 * (tolerance / max(error, 1e-300)) ** 0.2))
        if not last or error > tolerance or factor < 1.0:
            h = size * factor
        else:
            h = max(h, size * factor)
        if h < SMALLEST * dt:
            v[max(worst, nq) - nq] = math.nan
            return -1
    for n in range(nq):
        q[n] = y0[n]
    for n in range(v.shape[0]):
        v[n] = y0[nq + n]
    control[1] = h
    return -1
