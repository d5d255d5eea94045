"""A row as a target manifold: a falling, piecewise linear curve of velocity over impulse (Liu, Cooper, Ballard, S1).

On a piece y = w - beta p, with the impulse p between two limits; where a piece ends, a vertical part follows, on which
p stays and y is free until the next piece begins. A plain row is one piece between its limits of force. A dead zone has
two, and the vertical part between them is the range in which the row does nothing. Springs whose stiffness depends on
the displacement have a piece for each stiffness: with x' = phi + h y the displacement after the step,

    p = h (F(x') - d y),  F(x') = f + k (x - x'):  beta = 1 / (h^2 k + h d),  w = beta h (f + k (x - phi))

(so a spring is implicit, whatever its shape). Where a row stands is `links[SIDE]` and `links[PIECE]`.
"""

from __future__ import annotations

import math

from .._jit import kernel, leaf
from . import soft_layout as at


@leaf
def load_piece(rows, links, pieces, r, k):
    """Put the row on piece k of its target."""
    t = links[r, at.TARGET] + k
    rows[r, at.W], rows[r, at.BETA] = pieces[t, at.P_W], pieces[t, at.P_BETA]
    rows[r, at.LOWER], rows[r, at.UPPER] = pieces[t, at.P_LOWER], pieces[t, at.P_UPPER]
    links[r, at.PIECE] = k


@leaf
def shape_plain(rows, links, r, h, per_step, quickest):
    """Write the one piece of a plain row, or of a contact's normal row."""
    speed = min(max(rows[r, at.PHI] * per_step, -quickest), quickest)
    erp = 1.0 if links[r, at.SHAPE] == at.GAP and speed > 0.0 else rows[r, at.ERP]
    rows[r, at.W], rows[r, at.BETA] = rows[r, at.RATE] - erp * speed, rows[r, at.CFM] * per_step
    if links[r, at.NORMAL] < 0:
        rows[r, at.LOWER], rows[r, at.UPPER] = h * rows[r, at.LO], h * rows[r, at.HI]


@kernel
def shape_row(rows, links, pieces, r, h, quickest):
    """Write the pieces of a row with a target for this step, and put it on the one that it was on."""
    phi, rate, beta = rows[r, at.PHI], rows[r, at.RATE], rows[r, at.CFM] / h
    lower, upper = h * rows[r, at.LO], h * rows[r, at.HI]
    shape, t = links[r, at.SHAPE], links[r, at.TARGET]
    if shape == at.DEADZONE:
        push = h * rows[r, at.HELP]
        for k in range(2):
            beyond = phi - pieces[t + k, at.P_X1]
            outside = beyond > 0.0 if k == 0 else beyond < 0.0
            erp = rows[r, at.ERP] if outside else 1.0
            pieces[t + k, at.P_BETA] = beta
            pieces[t + k, at.P_W] = rate - erp * min(max(beyond / h, -quickest), quickest) + beta * push
        pieces[t, at.P_LOWER], pieces[t, at.P_UPPER] = min(lower, push), push
        pieces[t + 1, at.P_LOWER], pieces[t + 1, at.P_UPPER] = push, max(upper, push)
    else:
        damp = rows[r, at.DAMP]
        for k in range(links[r, at.PIECES_OF]):
            x1, f1 = pieces[t + k, at.P_X1], pieces[t + k, at.P_F1]
            x2, f2 = pieces[t + k, at.P_X2], pieces[t + k, at.P_F2]
            stiff = pieces[t + k, at.P_K]
            # the finite end of the piece gives its line
            x, f = (x1, f1) if math.isfinite(x1) else (x2, f2)
            if math.isfinite(stiff):
                pieces[t + k, at.P_BETA] = 1.0 / (h * h * stiff + h * damp)
                away = min(max(x - phi, -h * quickest), h * quickest)
                pieces[t + k, at.P_W] = rate + pieces[t + k, at.P_BETA] * h * (f + stiff * away - damp * rate)
            else:
                pieces[t + k, at.P_BETA] = 0.0
                pieces[t + k, at.P_W] = rate + min(max((x - phi) / h, -quickest), quickest)
            low = h * f1 - damp * (x1 - phi) if math.isfinite(x1) else -math.inf
            high = h * f2 - damp * (x2 - phi) if math.isfinite(x2) else math.inf
            pieces[t + k, at.P_LOWER] = min(max(low, lower), upper)
            pieces[t + k, at.P_UPPER] = min(max(high, lower), upper)
    load_piece(rows, links, pieces, r, min(max(links[r, at.PIECE], 0), links[r, at.PIECES_OF] - 1))


@leaf
def stand(rows, links, pieces, r, y):
    """Put a row where the velocity y meets its curve; returns the impulse there."""
    count = max(links[r, at.PIECES_OF], 1)
    push = 0.0
    side = 1
    for k in range(count):
        if links[r, at.TARGET] >= 0:
            load_piece(rows, links, pieces, r, k)
        w, beta, lower, upper = rows[r, at.W], rows[r, at.BETA], rows[r, at.LOWER], rows[r, at.UPPER]
        if lower > -math.inf and y > w - beta * lower:
            push, side = lower, -1
            break
        if upper == math.inf or y >= w - beta * upper:
            push, side = ((w - y) / beta if beta > 0.0 else rows[r, at.PUSH]), 0
            break
        push = upper
    links[r, at.SIDE] = side
    return push


@kernel
def judge(rows, links, pieces, r, push_slack, speed_slack):
    """Check that a row is on its curve with the impulse and the velocity found; move it to the right piece if not.

    Returns whether it was right.
    """
    p, y, side = rows[r, at.PUSH], rows[r, at.SPEED], links[r, at.SIDE]
    w, beta, lower, upper = rows[r, at.W], rows[r, at.BETA], rows[r, at.LOWER], rows[r, at.UPPER]
    k, last = links[r, at.PIECE], max(links[r, at.PIECES_OF], 1) - 1
    if side == 0:
        if lower - push_slack <= p <= upper + push_slack:
            return True
        if beta > 0.0:
            stand(rows, links, pieces, r, y)
            if links[r, at.SIDE] != 0 or links[r, at.PIECE] != k:
                return False
        if p < lower:
            links[r, at.SIDE] = -1
        elif k < last:
            load_piece(rows, links, pieces, r, k + 1)
            links[r, at.SIDE] = -1
        else:
            links[r, at.SIDE] = 1
        return False
    if side < 0:  # at the lower limit of piece k: y between the start of k and the end of k - 1
        start = w - beta * lower
        if y < start - speed_slack:
            links[r, at.SIDE] = 0
            if beta > 0.0:
                stand(rows, links, pieces, r, y)
            return False
        if k > 0:
            t = links[r, at.TARGET] + k - 1
            if y > pieces[t, at.P_W] - pieces[t, at.P_BETA] * pieces[t, at.P_UPPER] + speed_slack:
                load_piece(rows, links, pieces, r, k - 1)
                links[r, at.SIDE] = 0
                if rows[r, at.BETA] > 0.0:
                    stand(rows, links, pieces, r, y)
                return False
        return True
    if y > w - beta * upper + speed_slack:
        links[r, at.SIDE] = 0
        if beta > 0.0:
            stand(rows, links, pieces, r, y)
        return False
    return True


@leaf
def limit_push(rows, links, r):
    """Return the impulse of a row that stands at a limit."""
    return rows[r, at.LOWER] if links[r, at.SIDE] < 0 else rows[r, at.UPPER]


@kernel
def set_cone(rows, links, r):
    """Set the limits of a friction row by the normal force found last; returns how much they changed."""
    bound = rows[r, at.MU] * max(rows[links[r, at.NORMAL], at.PUSH], 0.0)
    change = abs(bound - rows[r, at.UPPER])
    rows[r, at.LOWER], rows[r, at.UPPER] = -bound, bound
    return change
