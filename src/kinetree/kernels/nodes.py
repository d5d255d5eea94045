"""The layout of the assembly tree: rows of nodes, and of the units that are their leaves and joints.

A unit is a body with mass and the joint that moves it against its parent unit. Most units are one link. Massless
links in a row (several axes of one joint, one after the other) and the link with mass that they carry are one unit,
whose joint has all their axes. What a unit has is given in its own axes about its own origin: the frame of its last
link, which for a hinge has z along the hinge.

Of a node, everything on its head's side is in the frame of its head, on its tail's side in that of its tail, and of its
joint in the frame of its right child's head: so a node in which nothing moves keeps its numbers.
"""

# --- units: int64 (nunits, UNITS)
UP = 0  # the parent unit, -1 for the world
FIRST = 1  # its links
LAST = 2
COUNT = 3  # degrees of freedom of its joint
FREEDOM = 4  # 6: their indices in v
HINGE = 10  # 1 where the joint is a single hinge
JOINT = 11  # the node that joins by it
UNITS = 12

# --- tree: int64 (nnodes, TREE), children before parents
KIND = 0  # one of the kinds below
LEFT = 1  # child nodes, -1 for none
RIGHT = 2
PARENT = 3
UNIT = 4  # the body of a leaf, or the unit whose joint joins the children (-1: a weld)
HEAD = 5  # the units that anything outside can touch
TAIL = 6
ROOT_OF = 7  # number of the tree of the forest
TREE = 8

LEAF = 0  # a body, or a share of one
COMPRESS = 1  # two pieces of a path
RAKE = 2  # a side branch hung on one body
MERGE = 3  # two shares of one body
ROOT = 4  # a whole tree hung on the world

# --- nodes: float64 (nnodes, NODES)
P1 = 0  # 36: Phi1, the head's answer to a wrench on the head
P12 = 36  # 36: Phi12, the head's answer to a wrench on the tail; that of one body is P1
P2 = 72  # 36: Phi2, likewise
W = 108  # 36: of the joint
U = 144  # 36: D S' V, a row for each freedom
D = 180  # 36
POSE = 216  # 12: right head in left tail
B1 = 228  # 6: bias accelerations (classical)
B2 = 234  # 6, likewise only where head and tail differ
GAMMA = 240  # 6
RATE = 246  # 6: R, the joint's accelerations without wrenches on the node
F1 = 252  # 6: wrench on the head
F2 = 258  # 6: on the tail
SHARE = 264  # part of its body's mass that a leaf stands for; negative for the shares after the first
TURN = 265  # 3: angular velocity of a leaf, its axes
BIAS_C = 268  # 6: c of the joint
NODES = 276

# --- room: float64 (1, ROOM), scratch
ROOM_A = 0  # 36 each
ROOM_B = 36
ROOM_C = 72
ROOM_D = 108
ROOM_E = 144
ROOM_S = 180  # motion axes of a joint
ROOM_POSE = 216  # 12
ROOM_TURN = 228  # 9
ROOM_X = 240  # 6 each
ROOM_Y = 246
ROOM_Z = 252
ROOM_BIAS = 258
ROOM_OMEGA = 264  # 3
ROOM_OWN = 268  # 12
ROOM = 752  # with what metrics and passive nodes need, below

# --- metrics: float64 (nnodes, METRICS), the sum of qdd' A qdd over the joints of a node (Redon 2005, Theorem 1)
Y1 = 0  # 36: Psi1
Y12 = 36  # 36: Psi12; that of one body is Psi1
Y2 = 72  # 36: Psi2, likewise
LINEAR1 = 108  # 6: p1
LINEAR2 = 114  # 6: p2, likewise
ETA = 120
VALUE = 121  # the metric itself, where F1 and F2 are known
METRICS = 122

# --- weights: float64 (nunits, 36), the matrix A of each joint, row-major with rows of 6

# --- room, continued: what the metrics need beside what the join leaves
ROOM_G = 288  # 36: Psi2A + Psi1B in the frame of B's head
ROOM_NEAR = 324  # 36: Psi12A with its tail side in B's head's frame
ROOM_M = 360  # 36
ROOM_N = 396  # 36

# --- passive: float64 (nnodes, PASSIVE), what a node that moves as one rigid body answers at any angular velocity.
# With omega in the head's axes, s = (wx wx, wy wy, wz wz, wx wy, wx wz, wy wz, 1): b1 = BIAS1 s, p1 = SLOPE1 s, ...
BIAS1 = 0  # 42: 6 rows of 7
BIAS2 = 42  # 42
SLOPE1 = 84  # 42
SLOPE2 = 126  # 42
FLOOR = 168  # 49: eta = s' FLOOR s
BODY = 217  # 10: rigid inertia in the head's frame: mass, first moment, J as in layout.py
TAIL_POSE = 227  # 12: the tail in the head
RIGHT_POSE = 239  # 12: the right child's head in the head
SPEED = 251  # the velocity metric
PASSIVE = 252

# --- room, continued: what passive nodes need
ROOM_T = 432  # 42 each
ROOM_L = 474
ROOM_DELTA = 516
ROOM_C7 = 558
ROOM_B7 = 600
ROOM_Q = 642  # 49: turns s from the axes of one body to those of another
ROOM_E7 = 691  # 49
ROOM_S7 = 740  # 7

# --- marks: int64 (nnodes, MARKS), where a node stands at this moment
ACTIVE = 0  # 1: its joint is simulated
CHOSEN = 1  # number of the choice in which it was last met on the way down from the root
FORCED = 2  # number of the update in which a force last acted inside it
JOINED = 3  # number of the choice in which it last became active
MARKS = 4

# --- of the flattened body's topology: where `layout.LAST` stands in a model's
LINK = 6  # the link of the full body

# --- sizes: int64 (SIZES,), of the hybrid body as it is now
LINKS = 0  # of the flattened body
COORDINATES = 1
VELOCITIES = 2
ACTIVES = 3  # length of the list of active nodes, parents first
FRONTS = 4  # length of the list of the rigid nodes below them
JOINTS = 5  # active nodes that have a joint
PULLS = 6  # springs that act on something that moves
COUNTER = 7  # numbers the choices, updates and flattenings
FORCES = 8  # length of the list of nodes that a force acts inside
WIDENED = 9  # number of the choice by acceleration that is in force
SIZES = 10
