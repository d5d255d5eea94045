"""The layout of what quasi-statics keeps beside the nodes of the assembly tree, and the tuple that carries it.

Between two steps nothing is computed anew but what a moved joint or a changed force reaches. `marks` says which nodes
those are: they wait in a list for each level of the tree (`first`, then NEXT from one to the next), so that every node
is computed once, after those below it, without sorting and without a look at any other node.
"""

from __future__ import annotations

from typing import NamedTuple

from ..typing import Array

# --- frames: float64 (nnodes, FRAMES), the transforms of Redon and Lin (2006), section 5.1, as poses
TAIL = 0  # 12: cross-transform: the tail in the head
RIGHT = 12  # 12: principal transform: the head of the right child in the head
WORLD = 24  # 12: the head in the world; only of nodes that a force acts inside, and only after `update`
CARRIED = 36  # sum of the absolute values of what eta was added up from, for its rounding
SIZE = 37  # the same of the metric itself, where the wrenches on the node are known
FRAMES = 38

# --- marks: int64 (nnodes, MARKS)
LEVEL = 0  # height above the leaves
PENDING = 1  # one of the values below
NEXT = 2  # the next node of the same level that waits, or -1
FORCED = 3  # number of the collection in which a force was found inside it
MARKS = 4

NOTHING = 0  # up to date
LINEAR = 1  # forces changed: b, p and eta
ALL = 2  # a joint moved: everything

# --- measures: which error the bound is of (definition 2)
ABSOLUTE = 0
RELATIVE = 1
ABSOLUTE_JOINT = 2
RELATIVE_JOINT = 3

# --- queue: float64 (QUEUE,), where the search for the largest accelerations stands
LEFT = 0  # sum of the keys in the queue
PEAK = 1  # largest that this sum has been, for its rounding
SUM = 2  # of the squares of the accelerations that were computed
LARGEST = 3  # largest square of one joint's acceleration that was computed
BOUND = 4  # the bound of the measure that is asked for
GRAIN = 5  # largest rounding of a metric that was seen, over its SIZE
QUEUE = 6

# --- counts: int64 (COUNTS,)
WAITING = 0  # length of the queue
POPPED = 1  # nodes taken from it, in the list `popped`
JOINTS = 2  # units among them
FORCED_NODES = 3  # length of the list `forced`
LOADED = 4  # length of the list of units that forces act on
COLLECTION = 5  # numbers the collections of forced nodes
UPDATED = 6  # nodes computed by the last update
COUNTS = 7

# --- totals: float64 (TOTALS,), summed over all steps
COMPUTED = 0  # joints whose accelerations were computed
NODES_UPDATED = 1
WORST = 2  # largest bound of a step
LAST_BOUND = 3
TOTALS = 4

# --- what `quasistatic.advance` returns beside the steps: why it stopped
DONE = 0
OVER = 1  # more joints are needed than were allowed


class Lazy(NamedTuple):
    """The assembly tree of a model with all coefficients; see `nodes.py` and above."""

    tree: Array
    units: Array
    roots: Array
    leaves: Array
    nodes: Array
    metrics: Array
    weights: Array
    frames: Array
    marks: Array
    first: Array
    """Per level of the tree: the first node that waits, or -1."""
    tally: Array
    """Per level: scratch."""
    forced: Array
    """The nodes that a force acts inside, parents after children."""
    loaded: Array
    """The units that a force acts on."""
    wrenches: Array
    """Per unit (12): the wrench on it, in its own axes about its origin, and that before."""
    tau: Array
    diagonal: Array
    stretch: Array
    a: Array
    """Accelerations: those of the joints computed last are valid, all others are of earlier steps."""
    keys: Array
    items: Array
    popped: Array
    queue: Array
    counts: Array
    pair: Array
    room: Array


class Loads(NamedTuple):
    """What acts on bodies, by units: rows of tables as in `acts.py`."""

    wrenches: Array
    wrench_units: Array
    """(unit, frame: 0 world or 1 unit axes)."""
    springs: Array
    spring_units: Array
    """Two units, the second -1 for the world."""


class Plan(NamedTuple):
    """What is asked for."""

    measure: int
    error: float
    most: int
    """Joints to compute before the search is given up."""
