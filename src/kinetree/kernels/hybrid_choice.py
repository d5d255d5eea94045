"""The choice of the active joints apart from the step, for bodies under constraints."""

from __future__ import annotations

from .._jit import kernel
from . import conditions as c
from . import geometry as geo
from . import nodes as to
from .forest import become
from .hybrid import place_in_group
from .update import choose_accelerations, narrow, widen

CHOOSE, SETTLE = 0, 1


@kernel
def decide(what, body, acts, forest, small, plan, q, v, time, gravity, h):
    """Choose the joints that move; both halves are one kernel, because what they share is compiled once then.

    CHOOSE makes those active that would accelerate most, besides those that are, and returns the error left. SETTLE
    keeps those active that move most, brings the others to rest, and returns a singular unit or -1.
    """
    if what == SETTLE:
        return float(narrow(body, acts, forest, small, plan, q, v, h, True))
    error = choose_accelerations(body, acts, forest, small, plan, q, v, time, gravity, h)
    if widen(forest) > 0:
        become(body, acts, forest, small, q, v)
    return error


@kernel
def map_links(links, poses, first, forest, out_links, out_poses):
    """Find the links of the hybrid body that carry what hangs on some links, and its poses there.

    `poses` hold twelve numbers from column `first` on; so do `out_poses`. A link of -1 stands still in the world.
    """
    room = forest.room
    for k in range(links.shape[0]):
        if links[k] < 0:
            out_links[k] = -1
            for n in range(12):
                out_poses[k, first + n] = poses[k, first + n]
            continue
        out_links[k] = place_in_group(
            forest.unit_of_link[links[k]], forest.leaves, forest.tree, forest.marks, forest.groups, forest.nodes,
            forest.passive, room, 0, 0,
        )  # fmt: skip
        for a in range(3):
            r0, r1, r2 = room[0, 3 * a], room[0, 3 * a + 1], room[0, 3 * a + 2]
            for b in range(3):
                out_poses[k, first + 3 * a + b] = (
                    r0 * poses[k, first + b] + r1 * poses[k, first + 3 + b] + r2 * poses[k, first + 6 + b]
                )
            out_poses[k, first + 9 + a] = (
                room[0, 9 + a] + r0 * poses[k, first + 9] + r1 * poses[k, first + 10] + r2 * poses[k, first + 11]
            )


@kernel
def map_tables(shapes, floats, tables, forest, small, inverse, to_shapes, to_floats, to_tables, column):
    """Rewrite the shapes and constraints of a body for its hybrid body; `inverse` and `column` (n) are scratch.

    What acts on joints that do not move, or between parts that move as one, is left out.
    """
    for k in range(shapes.shape[0]):
        column[k] = shapes[k, geo.LINK]
    map_links(column[: shapes.shape[0]], floats, geo.POSE, forest, inverse[: shapes.shape[0]], to_floats)
    for k in range(shapes.shape[0]):
        to_shapes[k, geo.LINK] = inverse[k]
    n = tables.loop_ints.shape[0]
    for side in range(2):
        for k in range(n):
            column[k] = tables.loop_ints[k, c.O_A + side]
        map_links(column[:n], tables.loops, c.O_FRAME_A + 12 * side, forest, inverse[:n], to_tables.loops)
        for k in range(n):
            to_tables.loop_ints[k, c.O_A + side] = inverse[k]
    for k in range(n):
        alike = to_tables.loop_ints[k, c.O_A] == to_tables.loop_ints[k, c.O_B]
        to_tables.loop_ints[k, c.O_MASK] = 0 if alike else tables.loop_ints[k, c.O_MASK]
    for k in range(inverse.shape[0]):
        inverse[k] = -1
    for k in range(forest.sizes[to.LINKS]):
        inverse[small.flat[k, to.LINK]] = k
    for k in range(tables.limit_ints.shape[0]):
        to_tables.limit_ints[k, c.L_LINK] = inverse[tables.limit_ints[k, c.L_LINK]]
    for k in range(tables.drive_ints.shape[0]):
        to_tables.drive_ints[k, c.D_LINK] = inverse[tables.drive_ints[k, c.D_LINK]]
