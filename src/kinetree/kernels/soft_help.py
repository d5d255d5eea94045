"""Secondary targets: a row inside its tolerance lends force to another that stands at a limit (S1, last paragraph).

The paper leaves this open ("still in progress"). Here: let row j stand at a limit of its force, its velocity short of
its curve by d. Rows i that name j and are inside their dead zones do nothing by themselves; the part of their curve on
which they are is vertical, and it is moved from impulse 0 to u_i. With g_i = dy_j / du_i, all other rows answering,

    u = g d / (g . g), each within its limit,

is the smallest help that closes the gap. Then the step is solved anew, since other rows may have come to limits. A row
that would be driven out of its tolerance is held by its own springs: its primary target comes first.
"""

from __future__ import annotations

from .._jit import kernel
from . import soft_layout as at
from .soft_newton import factor_border, solve_rows
from .soft_targets import shape_row
from .soft_tree import dot6, factor_tree

PASSES = 4  # of sharing among helpers, some of which are at their limits
LEAST = 1e-9  # part of the largest answer below which a helper does not matter


@kernel
def gap_of(rows, links, j):
    """Return by how much the velocity of a row at a limit falls short of its curve (signed)."""
    side = links[j, at.SIDE]
    if links[j, at.ON] == 0 or side == 0:
        return 0.0
    push = rows[j, at.LOWER] if side < 0 else rows[j, at.UPPER]
    gap = rows[j, at.W] - rows[j, at.BETA] * push - rows[j, at.SPEED]
    return gap if gap * side > 0.0 else 0.0


@kernel
def may_help(links, i):
    """Say whether a row is inside its tolerance, doing nothing."""
    return links[i, at.ON] == 1 and links[i, at.HELPS] >= 0 and links[i, at.PIECE] == 1 and links[i, at.SIDE] == -1


@kernel
def lend_help(bodies, rows, links, pieces, numbers, solver):
    """Give the rows that may help what the rows at limits need; returns whether any help changed."""
    tree, members, chosen, nodes, corners, border, _, _ = solver
    h = numbers[at.STEP_LENGTH]
    needed = False
    scale = 0.0
    for i in range(rows.shape[0]):
        rows[i, at.OLD_SPEED] = 0.0
        if may_help(links, i):
            scale = max(scale, abs(rows[i, at.SPEED]), abs(rows[links[i, at.HELPS], at.SPEED]))
            if abs(gap_of(rows, links, links[i, at.HELPS])) > 1e-10 * numbers[at.SCALE]:
                needed = True
    if not needed:
        return False
    if factor_tree(bodies, rows, links, tree, members, chosen, nodes, corners, numbers) != at.FINE:
        return False
    count = 0
    if border.shape[0] > 0:
        count = factor_border(rows, links, solver, numbers)
        if count < 0:
            return False
    for i in range(rows.shape[0]):
        if not may_help(links, i):
            continue
        j = links[i, at.HELPS]
        if gap_of(rows, links, j) == 0.0:
            continue
        for r in range(rows.shape[0]):
            rows[r, at.TRY] = 0.0
            rows[r, at.STEP] = 0.0
        rows[i, at.TRY] = 1.0
        solve_rows(rows, links, solver, count, at.STEP)
        g = 0.0
        if links[j, at.BODY_A] >= 0:
            g += dot6(nodes, links[j, at.BODY_A], at.V, rows, j, at.JA)
        if links[j, at.BODY_B] >= 0:
            g += dot6(nodes, links[j, at.BODY_B], at.V, rows, j, at.JB)
        rows[i, at.OLD_SPEED] = g
    changed = False
    for j in range(rows.shape[0]):
        gap = gap_of(rows, links, j)
        if gap == 0.0:
            continue
        for _ in range(PASSES):
            largest, whole = 0.0, 0.0
            for i in range(rows.shape[0]):
                if links[i, at.HELPS] == j and may_help(links, i):
                    largest = max(largest, abs(rows[i, at.OLD_SPEED]))
            for i in range(rows.shape[0]):
                if links[i, at.HELPS] == j and may_help(links, i) and abs(rows[i, at.OLD_SPEED]) > LEAST * largest:
                    g = rows[i, at.OLD_SPEED]
                    room = rows[i, at.HELP_LIMIT] - (rows[i, at.HELP] if g * gap > 0.0 else -rows[i, at.HELP])
                    if room > 0.0:
                        whole += g * g
            if whole == 0.0:
                break
            left = gap
            for i in range(rows.shape[0]):
                if links[i, at.HELPS] == j and may_help(links, i) and abs(rows[i, at.OLD_SPEED]) > LEAST * largest:
                    g = rows[i, at.OLD_SPEED]
                    most = rows[i, at.HELP_LIMIT]
                    before = rows[i, at.HELP]
                    after = min(max(before + g * gap / whole / h, -most), most)
                    after = min(max(after, rows[i, at.LO]), rows[i, at.HI])
                    if after != before:
                        rows[i, at.HELP] = after
                        left -= g * h * (after - before)
                        changed = True
            if abs(left) <= 1e-12 * abs(gap) or left == gap:
                break
            gap = left
    if changed:
        for i in range(rows.shape[0]):
            if links[i, at.HELPS] >= 0 and links[i, at.ON] == 1:
                side, piece = links[i, at.SIDE], links[i, at.PIECE]
                shape_row(rows, links, pieces, i, h, numbers[at.QUICKEST])
                links[i, at.SIDE], links[i, at.PIECE] = side, piece
    return changed
