"""The loop over time of adaptive dynamics: step the hybrid body, and choose its active joints anew now and then."""

from __future__ import annotations

from .._jit import kernel, part
from . import nodes as to
from .forest import become, small_acts, small_body, small_work, spread
from .manifold import integrate
from .steppers import EULER, RK4, SEMI_IMPLICIT, STAGES
from .steppers import advance as step_body
from .update import choose_accelerations, narrow, push_chosen, push_off, widen


@kernel
def advance(
    body, acts, forest, small, plan, q, v, begin, first, dt, steps, gravity, integrator, control, record, every, totals
):
    """Take `steps` steps; arguments and result as in `steppers.advance`.

    `totals` adds up the joints that were simulated in all steps, and the updates; its third is the last error left.
    """
    rows = done = 0
    nq, nv = q.shape[0], v.shape[0]
    while done < steps:
        now = first + done
        updating = now % plan.every == 0
        run = 1 if updating else min(steps - done, plan.every - now % plan.every)
        if every > 0:
            run = min(run, every - now % every)
        if updating:
            spread(forest, small, q, v)
            fault, bad = update(
                body, acts, forest, small, plan, q, v, begin + now * dt, dt, gravity, integrator, control, totals
            )
            if bad >= 0:
                return done, rows, -2 - forest.units[bad, to.LAST]
            taken = 1 if fault == -1 else 0
        else:
            taken, fault = coast(acts, forest, small, begin, now, dt, run, gravity, integrator, control)
            totals[0] += taken * forest.sizes[to.JOINTS]
        done += taken
        if fault != -1 or done == steps or (every > 0 and (first + done) % every == 0):
            spread(forest, small, q, v)
        if fault != -1:
            return done, rows, in_full(forest, small, fault)
        if every > 0 and (first + done) % every == 0:
            for k in range(nq):
                record[rows, k] = q[k]
            for k in range(nv):
                record[rows, nq + k] = v[k]
            rows += 1
    return done, rows, -1


@part
def in_full(forest, small, fault):
    """Return the fault of a step of the hybrid body as one of the full body."""
    if fault >= 0:
        return small.v_of[fault]
    return -2 - small.flat[-2 - fault, to.LINK]


@part
def coast(acts, forest, small, begin, now, dt, run, gravity, integrator, control):
    """Take `run` steps of the hybrid body as it is; returns the steps taken, and -1 or a fault."""
    nq, nv = forest.sizes[to.COORDINATES], forest.sizes[to.VELOCITIES]
    if nv == 0:
        return run, -1
    hybrid, inner = small_body(forest, small), small_acts(acts, forest, small)
    work = small_work(forest, small, STAGES[integrator])
    taken, _, fault = step_body(
        hybrid, inner, small.q[:nq], small.v[:nv], begin, now, dt, run, gravity, integrator, control, work,
        small.nothing, 0,
    )  # fmt: skip
    return taken, fault


@part
def update(body, acts, forest, small, plan, q, v, time, dt, gravity, integrator, control, totals):
    """Take one step in which the active joints are chosen anew; returns (fault or -1, singular unit or -1).

    A step that fails leaves the hybrid body in the state q, v from which it started.
    """
    h = dt if integrator == SEMI_IMPLICIT else 0.0
    totals[1] += 1.0
    totals[2] = choose_accelerations(body, acts, forest, small, plan, q, v, time, gravity, h)
    if widen(forest) > 0:
        become(body, acts, forest, small, q, v)
    sizes, v_of = forest.sizes, small.v_of
    totals[0] += sizes[to.JOINTS]
    moving, nq = sizes[to.VELOCITIES], sizes[to.COORDINATES]
    fault = bad = -1
    if plan.guaranteed == 1:
        if integrator == EULER:
            integrate(small.flat[: sizes[to.LINKS]], small.q[:nq], small.v[:moving], dt, small.q[:nq])
        fault = push_chosen(forest, small, v, dt)
    elif integrator == SEMI_IMPLICIT:
        if moving > 0:
            fault = push_off(acts, forest, small, time, dt, gravity)
    else:
        fault = coast(acts, forest, small, time, 0, dt, 1, gravity, integrator, control)[1]
    if fault != -1:
        become(body, acts, forest, small, q, v)
        return fault, -1
    if plan.guaranteed == 0:
        if integrator == SEMI_IMPLICIT:
            for k in range(moving):
                v[v_of[k]] = small.v[k]
        else:
            spread(forest, small, q, v)
        bad = narrow(body, acts, forest, small, plan, q, v, h, integrator >= RK4)
    if bad < 0 and integrator == SEMI_IMPLICIT:
        nq, nv = sizes[to.COORDINATES], sizes[to.VELOCITIES]
        integrate(small.flat[: sizes[to.LINKS]], small.q[:nq], small.v[:nv], dt, small.q[:nq])
    return -1, bad
