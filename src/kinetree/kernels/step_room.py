"""What a constrained step is told, what it keeps from step to step, and the scratch that it works in."""

from __future__ import annotations

from typing import NamedTuple

from ..typing import Array

NO_ROOM = -1_000_000_000  # in place of a fault: make the arrays of the constraints larger and call again

# --- options: float64
TOLERANCE, SWEEPS, BACKTRACKS, FRICTION, SLOW, SLOP, DEPTH, BETWEEN, LOOP_TOLERANCE = 0, 1, 2, 3, 4, 5, 6, 7, 8
ELASTIC = 9  # 1 where anything bounces
OPTIONS = 10

# --- clock: float64, what is kept from step to step
LAST, FRESH = 0, 1  # the length of the last part of a step; 1 where contacts are those of the present state
CLOCK = 2

# --- counts: float64, sums over steps, or the largest
N_STEPS, N_PARTS, N_BACKTRACKS, N_IMPACTS, N_SWEEPS, N_UNSOLVED, N_PROJECTED = 0, 1, 2, 3, 4, 5, 6
M_RESIDUAL, M_DEPTH, M_LOOP, M_CONTACTS, N_LIMITS, N_GAVE_UP = 7, 8, 9, 10, 11, 12
COUNTS = 13

TOUCH = 2e-6  # m: closer is a contact that an impact can act in
PARTS = 64  # of a step, before events are let go


class Store(NamedTuple):
    """What a constrained simulation keeps and needs; contacts `now` are those of the present state."""

    contacts: Array  # (2, capacity, CONTACTS)
    contact_ints: Array  # (2, capacity, CONTACT_INTS)
    numbers: Array  # int64 (4,): which of the two is now, how many contacts are in each, the set of links that is now
    head: Array
    follow: Array
    limit_memory: Array
    drive_memory: Array
    loop_memory: Array
    reached: Array
    loop_errors: Array
    clock: Array
    counts: Array


class Bench(NamedTuple):
    """Scratch: two sets of moved links (of the present and of the next state), and vectors."""

    links: Array  # (2, nlinks, LINKS)
    axes: Array  # (2, nv, AXES)
    roots: Array
    tau: Array
    diagonal: Array
    stretch: Array
    a: Array
    free: Array
    dv: Array
    trial: Array
    y: Array
    z: Array
    spins: Array
    other: Array
    room: Array  # (3, at least nv and 6)
    wrench: Array  # (2, 6)
    forces: Array  # (2, 3, 6)
    solved: Array
    listed: Array
    factor: Array
    right: Array
    q: Array
    before: Array
    aims: Array  # (3, nq)
    move: Array
