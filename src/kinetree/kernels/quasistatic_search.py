"""The approximate acceleration: down the assembly tree to the joints that accelerate most, until a bound is reached.

Redon and Lin (2006), section 4. The queue holds the nodes whose joints are not computed yet by A(node), the sum of the
squares of the accelerations inside; what is left is bounded by

    absolute  sqrt(sum of A)      relative  sqrt(sum of A / (sum of A + sum of the squares computed))
    absolute of a joint  sqrt(largest A)      relative of a joint  sqrt(largest A / largest square computed)

A(node) is the difference of numbers that may be larger, so a key is A plus an estimate of its rounding, without which
the bound would only hold nearly. That is taken from what can be seen: A of a node that is opened and the sum over its
parts should be the same, and by how much they differ is added to both parts; the largest such difference so far, over
the sizes of the terms that it came from (GRAIN), measures how badly this body is conditioned. What is zero term by
term is known to be zero.
"""

from __future__ import annotations

import math

from .._jit import kernel, leaf
from . import nodes as to
from . import quasistatic_rows as row
from .blocks import clear
from .dca import substitute
from .queue import drop_first, push

ROUNDING = 1e-12  # of the sum of the sizes of the terms: that of a body which is conditioned as badly as most are not
GRAINS = 4.0  # as many times the largest that was seen
SLIP = 4.5e-16  # of the largest sum, for each time that something is added or taken away


@leaf
def _value_and_size(node, tree, nodes, metrics, frames):
    """Return A(node) for the wrenches F1 and F2 that act on it, as it comes out, and the sum of its terms' sizes."""
    total, size = metrics[node, to.ETA], frames[node, row.CARRIED]
    if tree[node, to.KIND] == to.COMPRESS:
        for r in range(6):
            f1, f2 = nodes[node, to.F1 + r], nodes[node, to.F2 + r]
            x, y = f1 * metrics[node, to.LINEAR1 + r], f2 * metrics[node, to.LINEAR2 + r]
            for c in range(6):
                g1, g2 = nodes[node, to.F1 + c], nodes[node, to.F2 + c]
                x += f1 * (metrics[node, to.Y1 + 6 * r + c] * g1 + metrics[node, to.Y12 + 6 * r + c] * g2)
                y += f2 * (metrics[node, to.Y12 + 6 * c + r] * g1 + metrics[node, to.Y2 + 6 * r + c] * g2)
            total += x + y
            size += abs(f1 * metrics[node, to.LINEAR1 + r]) + abs(f2 * metrics[node, to.LINEAR2 + r])
            size += f1 * f1 * metrics[node, to.Y1 + 7 * r] + f2 * f2 * metrics[node, to.Y2 + 7 * r]
    else:
        for r in range(6):
            f1 = nodes[node, to.F1 + r] + nodes[node, to.F2 + r]
            x = f1 * metrics[node, to.LINEAR1 + r]
            size += abs(x) + f1 * f1 * metrics[node, to.Y1 + 7 * r]
            for c in range(6):
                x += f1 * metrics[node, to.Y1 + 6 * r + c] * (nodes[node, to.F1 + c] + nodes[node, to.F2 + c])
            total += x
    return total, size


@kernel
def bound_of(measure, count, keys, queue, counts):
    """Return the bound of the error that stopping now would leave."""
    if count == 0 or keys[0] == 0.0:
        return 0.0
    top = keys[0]
    if measure == row.ABSOLUTE_JOINT:
        return math.sqrt(top)
    if measure == row.RELATIVE_JOINT:
        return math.sqrt(top / queue[row.LARGEST]) if top < queue[row.LARGEST] else 1.0
    left = max(queue[row.LEFT], top) + SLIP * (3.0 + 3.0 * counts[row.POPPED]) * queue[row.PEAK]
    return math.sqrt(left) if measure == row.ABSOLUTE else math.sqrt(left / (left + queue[row.SUM]))


@kernel
def begin_search(tree, roots, nodes, metrics, frames, keys, items, queue, counts):
    """Put the roots into the queue."""
    count = 0
    left = 0.0
    for root in roots:
        clear(12, nodes, root, to.F1)
        metrics[root, to.VALUE] = metrics[root, to.ETA]
        frames[root, row.SIZE] = frames[root, row.CARRIED]
        key = max(metrics[root, to.ETA], 0.0) + ROUNDING * frames[root, row.CARRIED]
        left += key
        count = push(keys, items, count, key, root)
    queue[:] = 0.0
    queue[row.LEFT] = queue[row.PEAK] = left
    counts[row.WAITING], counts[row.POPPED], counts[row.JOINTS] = count, 0, 0


@kernel
def search(tree, units, nodes, metrics, frames, keys, items, popped, out, queue, counts, measure, error, most, room):
    """Compute joints until the bound of `measure` is at most `error`; the nodes met are added to `popped`.

    Returns DONE, or OVER where that asks for more than `most` joints. BOUND is written in any case. A negative error
    is never reached, but where nothing is left.
    """
    count, joints, number = counts[row.WAITING], counts[row.JOINTS], counts[row.POPPED]
    left, peak, total, largest = queue[row.LEFT], queue[row.PEAK], queue[row.SUM], queue[row.LARGEST]
    grain = queue[row.GRAIN]
    status = row.DONE
    while count > 0 and keys[0] != 0.0:
        # `bound_of`, squared and written out
        top = keys[0]
        if measure == row.ABSOLUTE_JOINT:
            enough = top <= error * error
        elif measure == row.RELATIVE_JOINT:
            enough = error >= 1.0 or top <= error * error * largest
        else:
            rest = max(left, top) + SLIP * (3.0 + 3.0 * number) * peak
            enough = rest <= error * error * (1.0 if measure == row.ABSOLUTE else rest + total)
        if enough and error >= 0.0:
            break
        if joints >= most:
            status = row.OVER
            break
        node = items[0]
        count = drop_first(keys, items, count)
        popped[number] = node
        number += 1
        substitute(node, tree, units, nodes, out, room)
        unit, a, b = tree[node, to.UNIT], tree[node, to.LEFT], tree[node, to.RIGHT]
        found = 0.0
        if unit >= 0:
            joints += 1
            alone = units[unit, to.FIRST] == units[unit, to.LAST]
            for k in range(units[unit, to.COUNT]):
                x = out[units[unit, to.FREEDOM + k]]
                found += x * x
                if not alone:  # several joints without mass between them: each is at least as fast as this axis
                    largest = max(largest, x * x)
            if alone:
                largest = max(largest, found)
            total += found
        left -= top
        value_a = value_b = size_a = size_b = 0.0
        if a >= 0 and tree[a, to.KIND] != to.LEAF:
            value_a, size_a = _value_and_size(a, tree, nodes, metrics, frames)
            metrics[a, to.VALUE], frames[a, row.SIZE] = value_a, size_a
        if tree[b, to.KIND] != to.LEAF:
            value_b, size_b = _value_and_size(b, tree, nodes, metrics, frames)
            metrics[b, to.VALUE], frames[b, row.SIZE] = value_b, size_b
        apart = abs(metrics[node, to.VALUE] - found - value_a - value_b)
        grain = max(grain, apart / frames[node, row.SIZE])
        if size_a > 0.0:
            key = max(value_a, 0.0) + (ROUNDING + GRAINS * grain) * size_a + apart
            left += key
            count = push(keys, items, count, key, a)
        if size_b > 0.0:
            key = max(value_b, 0.0) + (ROUNDING + GRAINS * grain) * size_b + apart
            left += key
            count = push(keys, items, count, key, b)
        peak = max(peak, left)
    counts[row.WAITING], counts[row.JOINTS], counts[row.POPPED] = count, joints, number
    queue[row.LEFT], queue[row.PEAK], queue[row.SUM], queue[row.LARGEST] = left, peak, total, largest
    queue[row.GRAIN] = grain
    queue[row.BOUND] = bound_of(measure, count, keys, queue, counts)
    return status
