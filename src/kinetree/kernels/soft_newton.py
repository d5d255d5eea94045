"""The set of the rows that stand at limits: solve the unbounded rows, and look whether all are on their curves.

The set of the last step is the first guess. While rows are off their curves, those are moved to where they belong, and
the system is solved again; every row at once, which settles in a few rounds. Where it does not, and every row with
limits is soft, the rounds become Newton's method with an exact line search on the convex function of which the curves
are the derivative,

    f(v) = 1/2 (v - v_free)' M (v - v_free) + sum over rows of Psi(J v),     dPsi/dy = - p(y),

whose minimum is the step: it ends after finitely many rounds. Hard rows with limits that do not settle are left to the
dense pivoting (`soft_dantzig.py`).
"""

from __future__ import annotations

import math

from .._jit import kernel, leaf
from . import soft_layout as at
from .soft_bodies import times
from .soft_targets import judge, limit_push, stand
from .soft_tree import add6, dot6, factor_tree, solve_tree

PLAIN_ROUNDS = 2
REFINED = 5e-13  # of the largest velocity: residual below which a solution is not refined
REFINEMENTS = 3
SEARCHES = 40  # most evaluations of a line search
SLACK = 1e-11  # part of the largest velocity or impulse by which a row may be off its curve,
LOOSE = 1e-7  # and where rounding does not let it come nearer


@kernel
def change_velocities(bodies, rows, links):
    """Write to CHANGE what the impulses do, M^-1 J' p, and to SPEED the velocities of all rows after it."""
    for i in range(bodies.shape[0]):
        for k in range(6):
            bodies[i, at.CHANGE + k] = 0.0
    for r in range(rows.shape[0]):
        p = rows[r, at.PUSH]
        if links[r, at.ON] == 1 and p != 0.0:
            a, b = links[r, at.BODY_A], links[r, at.BODY_B]
            if a >= 0:
                add6(bodies, a, at.CHANGE, rows, r, at.JA, p)
            if b >= 0:
                add6(bodies, b, at.CHANGE, rows, r, at.JB, p)
    for i in range(bodies.shape[0]):
        C = at.CHANGE
        if bodies[i, at.INVERSE_MASS] > 0.0:
            bodies[i, C], bodies[i, C + 1], bodies[i, C + 2] = times(
                bodies, i, at.WORLD_INVERSE, bodies[i, C], bodies[i, C + 1], bodies[i, C + 2]
            )
            for k in range(3, 6):
                bodies[i, C + k] *= bodies[i, at.INVERSE_MASS]
    for r in range(rows.shape[0]):
        if links[r, at.ON] == 1:
            s = rows[r, at.GOT]
            a, b = links[r, at.BODY_A], links[r, at.BODY_B]
            if a >= 0:
                s += dot6(bodies, a, at.CHANGE, rows, r, at.JA)
            if b >= 0:
                s += dot6(bodies, b, at.CHANGE, rows, r, at.JB)
            rows[r, at.SPEED] = s


@kernel
def row_errors(rows, links):
    """Write w - J v' - beta p of the rows on slopes, and return the largest of them and the largest velocity."""
    worst, scale = 0.0, 0.0
    for r in range(rows.shape[0]):
        if links[r, at.ON] == 1:
            scale = max(scale, abs(rows[r, at.GOT]), abs(rows[r, at.SPEED]))
            if links[r, at.SIDE] == 0:
                error = rows[r, at.W] - rows[r, at.SPEED] - rows[r, at.BETA] * rows[r, at.PUSH]
                rows[r, at.ERROR] = error
                worst = max(worst, abs(error))
                scale = max(scale, abs(rows[r, at.W]))
            else:
                rows[r, at.ERROR] = 0.0
    return worst, scale


@kernel
def factor_border(rows, links, solver, numbers):
    """Factor what the rows that are no edges of the tree see of the rest: beta + J_x K^-1 J_x'.

    `border` lists these rows; those that are in use are moved to its front. Returns how many, or -1 where they are
    singular.
    """
    tree, members, chosen, nodes, corners, border, responses, gram = solver
    count = 0
    for x in range(border.shape[0]):
        r = border[x]
        if links[r, at.ON] == 1 and links[r, at.SIDE] == 0:
            border[x], border[count] = border[count], r
            count += 1
    for x in range(count):
        for r in range(rows.shape[0]):
            rows[r, at.STEP] = 0.0
        for i in range(nodes.shape[0]):
            for k in range(6):
                nodes[i, at.G + k] = 0.0
        r = border[x]
        add6(nodes, links[r, at.BODY_A], at.G, rows, r, at.JA, 1.0)
        add6(nodes, links[r, at.BODY_B], at.G, rows, r, at.JB, 1.0)
        solve_tree(rows, links, tree, members, chosen, nodes, corners, at.STEP)
        for i in range(nodes.shape[0]):
            for k in range(6):
                responses[x, 6 * i + k] = nodes[i, at.V + k]
    for x in range(count):
        r = border[x]
        a, b = links[r, at.BODY_A], links[r, at.BODY_B]
        for y in range(x + 1):
            gram[x, y] = dot6(rows, r, at.JA, responses, y, 6 * a) + dot6(rows, r, at.JB, responses, y, 6 * b)
        gram[x, x] += rows[r, at.BETA]
    for x in range(count):
        for y in range(x):
            s = gram[x, y]
            for k in range(y):
                s -= gram[x, k] * gram[y, k]
            gram[x, y] = s * gram[y, y]
        whole = gram[x, x]
        s = whole
        for k in range(x):
            s -= gram[x, k] * gram[x, k]
        if not s > 1e-13 * whole:
            s = rows[border[x], at.BETA]
            if not s > 0.0:
                numbers[at.PLACE] = border[x]
                return -1
        gram[x, x] = 1.0 / math.sqrt(s)
    return count


@kernel
def solve_rows(rows, links, solver, count, c):
    """Solve for the impulses TRY of all rows on slopes, with `rows[c]` and the momenta of TRY of the others."""
    tree, members, chosen, nodes, corners, border, _, gram = solver
    for turn in range(2 if count > 0 else 1):
        for i in range(nodes.shape[0]):
            for k in range(6):
                nodes[i, at.G + k] = 0.0
        for r in range(rows.shape[0]):
            if links[r, at.ON] == 1 and (links[r, at.SIDE] != 0 or (turn == 1 and links[r, at.ROLE] == at.BORDER)):
                p = rows[r, at.TRY]
                if p != 0.0:
                    if links[r, at.BODY_A] >= 0:
                        add6(nodes, links[r, at.BODY_A], at.G, rows, r, at.JA, p)
                    if links[r, at.BODY_B] >= 0:
                        add6(nodes, links[r, at.BODY_B], at.G, rows, r, at.JB, p)
        solve_tree(rows, links, tree, members, chosen, nodes, corners, c)
        if turn == 0 and count > 0:
            for x in range(count):
                r = border[x]
                s = rows[r, c] - dot6(rows, r, at.JA, nodes, links[r, at.BODY_A], at.V)
                s -= dot6(rows, r, at.JB, nodes, links[r, at.BODY_B], at.V)
                for k in range(x):
                    s -= gram[x, k] * rows[border[k], at.TRY]
                rows[r, at.TRY] = s * gram[x, x]
            for x in range(count - 1, -1, -1):
                r = border[x]
                s = rows[r, at.TRY]
                for k in range(x + 1, count):
                    s -= gram[k, x] * rows[border[k], at.TRY]
                rows[r, at.TRY] = s * gram[x, x]


@kernel
def solve_set(bodies, rows, links, numbers, solver):
    """Solve for the impulses with the rows on the pieces and at the limits where they are now; returns a status."""
    tree, members, chosen, nodes, corners, border, _, _ = solver
    numbers[at.FACTORS] += 1.0
    status = factor_tree(bodies, rows, links, tree, members, chosen, nodes, corners, numbers)
    if status != at.FINE:
        return status
    count = 0
    if border.shape[0] > 0:
        count = factor_border(rows, links, solver, numbers)
        if count < 0:
            return at.SINGULAR
    for r in range(rows.shape[0]):
        if links[r, at.ON] == 1:
            rows[r, at.STEP] = rows[r, at.W] - rows[r, at.GOT]
            if links[r, at.SIDE] != 0:
                rows[r, at.TRY] = limit_push(rows, links, r)
    solve_rows(rows, links, solver, count, at.STEP)
    for r in range(rows.shape[0]):
        rows[r, at.PUSH] = rows[r, at.TRY] if links[r, at.ON] == 1 else 0.0
    change_velocities(bodies, rows, links)
    worst, scale = row_errors(rows, links)
    numbers[at.RESIDUAL], numbers[at.SCALE], numbers[at.BORDERS] = worst, scale, count
    if not worst < math.inf:
        numbers[at.PLACE] = -1.0
        return at.UNSETTLED  # beyond what the factors can hold: dense pivoting orders them otherwise
    return at.FINE


@kernel
def refine(bodies, rows, links, numbers, solver):
    """Solve again for what rounding has left of the rows, with the factors of `solve_set`."""
    for _ in range(REFINEMENTS):
        before = numbers[at.RESIDUAL]
        if before <= REFINED * numbers[at.SCALE]:
            break
        for r in range(rows.shape[0]):
            rows[r, at.OLD_PUSH] = rows[r, at.PUSH]
            if links[r, at.SIDE] != 0:
                rows[r, at.TRY] = 0.0
        solve_rows(rows, links, solver, int(numbers[at.BORDERS]), at.ERROR)
        for r in range(rows.shape[0]):
            if links[r, at.ON] == 1 and links[r, at.SIDE] == 0:
                rows[r, at.PUSH] += rows[r, at.TRY]
        change_velocities(bodies, rows, links)
        worst, _ = row_errors(rows, links)
        numbers[at.RESIDUAL] = worst
        if not worst < before:  # no better: as it was
            for r in range(rows.shape[0]):
                rows[r, at.PUSH] = rows[r, at.OLD_PUSH]
            change_velocities(bodies, rows, links)
            worst, _ = row_errors(rows, links)
            numbers[at.RESIDUAL] = worst
            break
        if worst > 0.25 * before:  # what rounding leaves
            break


@leaf
def is_bounded(rows, links, r):
    """Say whether a row has a limit, or more than one piece."""
    return links[r, at.ON] == 1 and (
        links[r, at.TARGET] >= 0 or rows[r, at.LOWER] > -math.inf or rows[r, at.UPPER] < math.inf
    )


@kernel
def slope_along(rows, links, pieces, t):
    """Return df/dt and its derivative at the part t of the way from OLD to the last solution; rows go where they are.

    The impulses of both ends carry the momentum: what is left of the derivative are the rows off their curves.
    """
    s, bend = 0.0, 0.0
    for r in range(rows.shape[0]):
        if is_bounded(rows, links, r):
            dy = rows[r, at.SPEED] - rows[r, at.OLD_SPEED]
            dp = rows[r, at.PUSH] - rows[r, at.OLD_PUSH]
            if dy != 0.0:
                p = rows[r, at.OLD_PUSH] + t * dp
                s += (p - stand(rows, links, pieces, r, rows[r, at.OLD_SPEED] + t * dy)) * dy
                bend += dp * dy
                if links[r, at.SIDE] == 0:
                    bend += dy * dy / rows[r, at.BETA]
    return s, bend


@kernel
def search_line(rows, links, pieces):
    """Move OLD to the minimum of f on the way to the last solution, and put every row where it is there.

    df/dt is piecewise linear and grows: Newton's method ends on the piece with the root; bisection guards it.
    """
    low, high, t = 0.0, 1.0, 1.0
    for turn in range(SEARCHES):
        s, bend = slope_along(rows, links, pieces, t)
        if s > 0.0:
            high = t
        else:
            low = t
        if (turn == 0 and s <= 0.0) or high - low < 1e-12:
            break
        guess = t - s / bend if bend > 0.0 else -1.0
        t_new = guess if low < guess < high else 0.5 * (low + high)
        if abs(t_new - t) < 1e-12:
            break
        t = t_new
    for r in range(rows.shape[0]):
        if links[r, at.ON] == 1:
            rows[r, at.OLD_PUSH] += t * (rows[r, at.PUSH] - rows[r, at.OLD_PUSH])
            rows[r, at.OLD_SPEED] += t * (rows[r, at.SPEED] - rows[r, at.OLD_SPEED])
    return t


@kernel
def settle_set(bodies, rows, links, pieces, numbers, solver):
    """Find the set of rows at limits and the impulses; returns a status."""
    soft = True
    for r in range(rows.shape[0]):
        if links[r, at.SIDE] < 0 and rows[r, at.LOWER] == -math.inf:
            links[r, at.SIDE] = 0
        if links[r, at.SIDE] > 0 and rows[r, at.UPPER] == math.inf:
            links[r, at.SIDE] = 0
        if is_bounded(rows, links, r) and rows[r, at.BETA] <= 0.0:
            soft = False
    rounds = int(numbers[at.ITERATIONS])
    slack = SLACK
    for turn in range(rounds):
        status = solve_set(bodies, rows, links, numbers, solver)
        if status != at.FINE:
            return status
        push_scale, speed_scale = 0.0, numbers[at.SCALE]
        for r in range(rows.shape[0]):
            if links[r, at.ON] == 1:
                push_scale = max(push_scale, abs(rows[r, at.PUSH]))
        right = True
        for r in range(rows.shape[0]):
            if is_bounded(rows, links, r):
                if links[r, at.SIDE] == 0 and rows[r, at.LOWER] <= rows[r, at.PUSH] <= rows[r, at.UPPER]:
                    continue
                if not judge(rows, links, pieces, r, slack * push_scale, slack * speed_scale):
                    right = False
        if right:
            refine(bodies, rows, links, numbers, solver)
            return at.FINE
        if turn >= PLAIN_ROUNDS:
            if not soft:
                return at.UNSETTLED
            if turn == PLAIN_ROUNDS:
                for r in range(rows.shape[0]):
                    rows[r, at.OLD_PUSH], rows[r, at.OLD_SPEED] = rows[r, at.PUSH], rows[r, at.SPEED]
                for r in range(rows.shape[0]):
                    if is_bounded(rows, links, r):
                        stand(rows, links, pieces, r, rows[r, at.SPEED])
            elif search_line(rows, links, pieces) <= 0.0 or 2 * turn >= rounds:
                slack = LOOSE  # rounding of rows that are nearly hard is in the way of more
    return at.UNSETTLED
