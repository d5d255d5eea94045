"""Quasi-statics of all joints by the articulated-body algorithm, for when most of them are needed.

`needed` foretells from the accelerations that this finds how many joints the search would have to compute.
"""

from __future__ import annotations

from .._jit import kernel
from . import nodes as to
from . import quasistatic_rows as row
from .manifold import integrate
from .queue import drop_first, push
from .steppers import accelerations, diverged


@kernel
def advance(body, acts, still, q, start, first, dt, steps, gravity, work, record, every):
    """Take `steps` steps of all joints; none: only compute. `still` is zero for every freedom.

    Returns (steps, rows, fault) as `steppers.advance`; `work.a` holds dt times the accelerations.
    """
    topology, constants, armature, links, axes = body.topology, body.constants, body.armature, work.links, work.axes
    body_links, poses, external = body.body_links, body.body_poses_in_link, acts.external
    tau, diagonal, stretch, a, feed = work.tau, work.diagonal, work.stretch, work.a, acts.feed
    plain = acts.damping.shape[0] == 0 and acts.stiffness.shape[0] == 0 and acts.stops.shape[0] == 0
    alone = acts.springs.shape[0] == 0 and acts.wrenches.shape[0] == 0
    rows = 0
    nq = q.shape[0]
    for step in range(max(steps, 1)):
        bad = accelerations(
            topology, constants, armature, body_links, poses, acts, external, feed, plain, alone, q, still,
            start + (first + step) * dt, gravity, dt, links, axes, tau, diagonal, stretch, a,
        )  # fmt: skip
        if bad >= 0:
            return step, rows, -2 - bad
        for k in range(a.shape[0]):
            a[k] *= dt
        fault = diverged(a)
        if fault != -1:
            return step, rows, fault
        if steps == 0:
            break
        integrate(topology, q, a, dt, q)
        if every > 0 and (first + step + 1) % every == 0:
            for k in range(nq):
                record[rows, k] = q[k]
            for k in range(nq, record.shape[1]):
                record[rows, k] = 0.0
            rows += 1
    return steps, rows, -1


@kernel
def needed(tree, units, roots, a, scale, sums, keys, items, measure, error, most):
    """Return how many joints the search would compute for these accelerations (times `scale`), or one more than `most`.

    `sums` is scratch: the squares of the accelerations inside each node.
    """
    for node in range(tree.shape[0]):
        left, right, unit = tree[node, to.LEFT], tree[node, to.RIGHT], tree[node, to.UNIT]
        total = 0.0
        if tree[node, to.KIND] != to.LEAF:
            total = sums[right] + (sums[left] if left >= 0 else 0.0)
            if unit >= 0:
                for k in range(units[unit, to.COUNT]):
                    x = scale * a[units[unit, to.FREEDOM + k]]
                    total += x * x
        sums[node] = total
    count = joints = 0
    rest = found = largest = 0.0
    for root in roots:
        rest += sums[root]
        count = push(keys, items, count, sums[root], root)
    while count > 0 and keys[0] > 0.0 and joints <= most:
        top = keys[0]
        limit = error * error
        if measure == row.ABSOLUTE_JOINT:
            enough = top <= limit
        elif measure == row.RELATIVE_JOINT:
            enough = error >= 1.0 or top <= limit * largest
        else:
            enough = max(rest, top) <= limit * (1.0 if measure == row.ABSOLUTE else max(rest, top) + found)
        if enough:
            break
        node = items[0]
        count = drop_first(keys, items, count)
        for child in (tree[node, to.LEFT], tree[node, to.RIGHT]):
            if child >= 0 and tree[child, to.KIND] != to.LEAF:
                count = push(keys, items, count, sums[child], child)
        unit = tree[node, to.UNIT]
        if unit >= 0:
            joints += 1
            own = 0.0
            for k in range(units[unit, to.COUNT]):
                x = scale * a[units[unit, to.FREEDOM + k]]
                own += x * x
            rest -= own
            found += own
            largest = max(largest, own)
    return joints
