"""Steps of error-bounded quasi-statics (Redon and Lin 2006): update what changed, search, move what was found.

A body that is at rest at every instant: the accelerations are those at zero velocity, and a step of length h from rest
moves a joint by h (h qdd), what the semi-implicit step does when its velocity is forgotten afterwards. The loop over
time runs in here; no step looks at more than the joints that it computes and the nodes above forces.
"""

from __future__ import annotations

from .._jit import kernel
from . import layout as at
from . import nodes as to
from . import quasistatic_rows as row
from .manifold import integrate
from .quasistatic_search import begin_search, search
from .quasistatic_update import joint_forces, update, wait
from .steppers import FAST


@kernel
def advance(
    topology, constants, armature, acts, loads, lazy, plan, q, known, first, dt, steps, gravity, record, every, totals
):
    """Take `steps` steps; none: only bring the tree up to date with `q` and the forces. `known` follows `q`.

    Returns (steps done, rows recorded, fault as `steppers.advance` has it, DONE or OVER). Nothing has moved in a step
    that ends with a fault or OVER.
    """
    tree, units, nodes, metrics, frames = lazy.tree, lazy.units, lazy.nodes, lazy.metrics, lazy.frames
    marks, waiting, keys, items, popped = lazy.marks, lazy.first, lazy.keys, lazy.items, lazy.popped
    a, queue, counts, room, roots = lazy.a, lazy.queue, lazy.counts, lazy.room, lazy.roots
    stretch, tau, diagonal = lazy.stretch, lazy.tau, lazy.diagonal
    elastic = acts.stiffness.shape[0] > 0 or acts.stops.shape[0] > 0
    rows = 0
    nq = q.shape[0]
    for step in range(max(steps, 1)):
        bad = update(topology, constants, q, gravity, loads, lazy)
        if bad >= 0:
            return step, rows, -2 - units[bad, to.LAST], row.DONE
        if steps == 0:
            break
        totals[row.NODES_UPDATED] += counts[row.UPDATED]
        begin_search(tree, roots, nodes, metrics, frames, keys, items, queue, counts)
        status = search(
            tree, units, nodes, metrics, frames, keys, items, popped, a, queue, counts, plan.measure, plan.error,
            plan.most, room,
        )  # fmt: skip
        if status == row.OVER:
            return step, rows, -1, row.OVER
        number = counts[row.POPPED]
        for n in range(number):
            unit = tree[popped[n], to.UNIT]
            if unit >= 0:
                for m in range(units[unit, to.COUNT]):
                    if not abs(dt * a[units[unit, to.FREEDOM + m]]) < FAST:
                        return step, rows, units[unit, to.FREEDOM + m], row.DONE
        for n in range(number):
            node = popped[n]
            wait(node, row.ALL, marks, waiting)
            unit = tree[node, to.UNIT]
            if unit < 0:
                continue
            if units[unit, to.HINGE] == 1:
                place = topology[units[unit, to.LAST], at.Q]
                q[place] += dt * (dt * a[units[unit, to.FREEDOM]])
                known[place] = q[place]
            else:
                for i in range(units[unit, to.FIRST], units[unit, to.LAST] + 1):
                    integrate(topology[i : i + 1], q, a, dt * dt, q)
                    for k in range(topology[i, at.Q], topology[i, at.Q] + topology[i, at.DOF] + 1):
                        if k < nq:  # a quaternion has one number more than freedoms
                            known[k] = q[k]
            if elastic:
                joint_forces(unit, units, topology, acts, armature, dt, q, stretch, tau, diagonal)
        totals[row.COMPUTED] += counts[row.JOINTS]
        totals[row.WORST] = max(totals[row.WORST], queue[row.BOUND])
        totals[row.LAST_BOUND] = queue[row.BOUND]
        if every > 0 and (first + step + 1) % every == 0:
            for k in range(nq):
                record[rows, k] = q[k]
            for k in range(nq, record.shape[1]):
                record[rows, k] = 0.0
            rows += 1
    return steps, rows, -1, row.DONE


@kernel
def all_joint_forces(units, topology, acts, armature, h, q, stretch, tau, diagonal):
    """Write force and effective rotor inertia of every joint."""
    for unit in range(units.shape[0]):
        joint_forces(unit, units, topology, acts, armature, h, q, stretch, tau, diagonal)
