"""The packed arrays of the soft-constraint world: one row a body, a constraint, a constraint's row, a target's piece.

Every constraint is a set of *rows*: J v' + beta p = w, with v' the velocities after the step, p = h lambda the impulse
of the row, beta = cfm / h and w the velocity that the row asks for; lambda stays between two limits. A row may have a
*target* of several such pieces (`soft_targets.py`).

`state` float64 (nbodies, 13), `bodies` float64 (nbodies, BODY), `joints` int64 (njoints, 8), `frames` float64 (njoints,
FRAMES), `rows` float64 (nrows, ROWS), `links` int64 (nrows, LINKS), `pieces` float64 (npieces, PIECES), `tree` int64
(nbodies, TREE) with `members` int64, and `numbers` float64 (NUMBERS,). Angular parts come first; axes are the world's.
"""

# --- state: float64 (nbodies, STATE)
POSITION = 0  # 3: centre of mass [m]
QUATERNION = 3  # 4: w x y z, body axes -> world
OMEGA = 7  # 3: angular velocity, world axes [rad/s]
VELOCITY = 10  # 3: of the centre of mass [m/s]
STATE = 13

# --- bodies: float64 (nbodies, BODY)
MASS = 0  # [kg]; 0 where the body is kinematic
INVERSE_MASS = 1
INERTIA = 2  # 6: xx xy xz yy yz zz about the centre of mass, body axes [kg m2]
INVERSE_INERTIA = 8  # 6: the same of its inverse
WRENCH = 14  # 6: torque about the centre of mass and force of the user, world axes
R = 20  # 9: rotation body -> world, row-major (scratch from here on)
WORLD_INERTIA = 29  # 6
WORLD_INVERSE = 35  # 6
FREE = 41  # 6: velocity after the step without constraints [angular; linear]
TURN = 47  # 3: rotation vector of a free body's step less h times its angular velocity after it
NEXT = 50  # 6: velocity after the step [angular; linear]
CHANGE = 56  # 6: scratch of the solvers: change of velocity by the rows
GYRO = 62  # 1: kind of gyroscopic torque (below)
ALIVE = 63  # 1: whether a row pushes on the body in this step
BODY = 64

# --- kinds of gyroscopic torque
GYRO_OFF = 0
GYRO_EXPLICIT = 1
GYRO_IMPLICIT = 2
GYRO_CONSERVING = 3

# --- joints: int64 (njoints, JOINT)
KIND = 0
A = 1  # the body that the rows push (child)
B = 2  # the body that they push against (parent), -1 for the world
FIRST = 3  # its first row
COUNT = 4  # how many rows
ENABLED = 5
OPTION = 6  # of ANGLES: the kind of angles; of CONTACT: the other shape
SPARE = 7
JOINT = 8

BALL = 0
HINGE = 1
UNIVERSAL = 2
FIXED = 3
SLIDER = 4
DISTANCE = 5
POSE = 6
ANGLES = 7
VECTOR = 8
CONTACT = 9
PLANAR = 10
SCREW = 11

# --- kinds of angles, OPTION of an ANGLES constraint
ABOUT_HINGE = 0
ABOUT_UNIVERSAL = 1
ABOUT_EULER = 2
ALONG_SLIDER = 3

# --- what a contact's point touches, OPTION of a CONTACT
ON_PLANE = 0
ON_BALL = 1

# --- frames: float64 (njoints, FRAMES); the constraint's frame in either body, about its centre of mass
ANCHOR_A = 0  # 3 [m]
TURN_A = 3  # 9: rotation, constraint axes -> axes of body A
ANCHOR_B = 12  # 3
TURN_B = 15  # 9
RATE_B = 24  # 3: velocity of the anchor in B, of its own (a marker that moves) [m/s]
GOAL = 27  # 4: what a motor drives to: angles [rad], a displacement [m], or a quaternion
GOAL_RATE = 31  # 3: and how fast that moves
LENGTH = 34  # of DISTANCE [m]; of SCREW the pitch [m/rad]; of CONTACT the radius [m]
ANGLE = 35  # 3: the angles found (result)
SLIP = 38  # 1: of CONTACT: how far a point may be away and still have rows [m]
SPIN_B = 39  # 3: angular velocity of the frame in B, of its own [rad/s]
REACH = 42  # 1: of CONTACT with ON_BALL: radius of the other ball
FRAMES = 44

# --- rows: float64 (nrows, ROWS)
JA = 0  # 6: Jacobian of body A [angular; linear]
JB = 6  # 6: of body B
PHI = 12  # violation [m or rad]
RATE = 13  # velocity that the row is asked for besides (of a moving anchor, of a motor)
ERP = 14  # part of the violation that goes in one step
CFM = 15  # constraint force mixing [1/kg s or 1/(kg m2 s)], as other engines count it; beta = CFM / h
LO = 16  # limits of the force [N or N m]
HI = 17
W = 18  # of the piece that the row is on: velocity asked for,
BETA = 19  # softness,
LOWER = 20  # and limits of its impulse
UPPER = 21
PUSH = 22  # impulse p of the row (result)
SPEED = 23  # J v' (result)
MU = 24  # of a friction row: coefficient
FORCE = 25  # lambda, of the last step (result) [N or N m]
WORK = 26  # energy that the row put into the bodies, summed over steps [J]
GOT = 27  # scratch: J v_free less what the kinematic side does
Y = 28  # 6: factor: L^-1 J of the child
Z = 34  # 6: factor: G^-1 J of the parent
ERROR = 40  # residual w - J v' - beta p (result)
TRY = 41  # scratch of the solvers
STEP = 42
DAMP = 43  # of a target: damping outside its dead zone
HELP = 44  # force with which a row helps another, inside its tolerance
HELP_LIMIT = 45  # and the most of it
START = 46  # J v before the step
OLD_PUSH = 47  # scratch of the line search
OLD_SPEED = 48
ROWS = 50

# --- links: int64 (nrows, LINKS)
BODY_A = 0  # body that is moved, or -1 where it is kinematic or the world
BODY_B = 1
ROLE = 2  # UNARY, EDGE, BORDER, below
SIDE = 3  # 0 on the slope of its piece, -1 at the piece's lower limit, 1 at the upper one (kept from step to step)
PIECE = 4  # the piece that the row is on
NORMAL = 5  # of a friction row: the row of its normal force, -1 none
TARGET = 6  # first piece, -1 where the row is a plain one
PIECES_OF = 7  # and how many
ON = 8  # whether the row is there in this step
SHAPE = 9  # kind of target, below
OWNER = 10  # its constraint
HARD = 11  # scratch: whether the row is eliminated after its body (it is so stiff, or an edge)
WANTED = 12  # whether the user wants the row
HELPS = 13  # the row that it helps inside its tolerance, -1 none
LINKS = 14

UNARY = 0  # only body A moves by it
UNARY_TURNED = 1  # only body B
EDGE = 2  # between a body and its parent in the tree; A is the child
EDGE_TURNED = 3  # B is the child
BORDER = 4  # between any two other bodies
NOBODY = 5  # both sides are kinematic

PLAIN = 0
GAP = 1  # like a plain row, but a positive violation (a gap) may close in one step
DEADZONE = 2
POLYLINE = 3

# --- pieces: float64 (npieces, PIECES): in the order of growing impulse
P_LOWER = 0  # limits of the impulse
P_UPPER = 1
P_W = 2
P_BETA = 3
P_X1 = 4  # definition: displacement and force where the piece begins (the larger displacement, the smaller force),
P_F1 = 5
P_X2 = 6  # and where it ends; of a dead zone X1 is the edge
P_F2 = 7
P_K = 8  # stiffness in between
PIECES = 10

# --- tree: int64 (nbodies, TREE)
PARENT = 0
ORDER = 1  # the body that is eliminated at this place, -1 beyond the last
UNARY_AT = 2  # range of rows in `members`
UNARY_END = 3
EDGE_AT = 4
EDGE_END = 5
DUALS = 6  # scratch: rows that are eliminated after the body, in `chosen` from UNARY_AT
TREE = 8

# --- nodes: float64 (nbodies, NODES), scratch of the factorisation
H = 0  # 36: lower half of the body's block, then its Cholesky factor L
G = 36  # 6: right-hand side, then L^-1 of it
V = 42  # 6: solution: change of the body's velocity
NODES = 48

# --- numbers: float64 (NUMBERS,)
STEP_LENGTH = 0  # h [s]
GRAVITY = 1  # 3
TIME = 4
SOLVER = 5
ITERATIONS = 6  # most of them
FACTORS = 7  # factorisations in the last step (result)
RESIDUAL = 8  # largest |w - J v' - beta p| of the last step (result)
CONES = 9  # most rounds in which friction limits follow the normal forces
PLACE = 10  # row that failed (result)
SETTLED = 11  # relative tolerance of the pivoting
GRAVITY_WORK = 12  # energies put in, summed over steps [J]
USER_WORK = 13
GYRO_WORK = 14
RELAX = 15  # of the iterative solver
ROUNDS = 16  # rounds of friction of the last step (result)
PIVOTS = 17  # pivots of the dense solver in the last step (result)
HELPED = 18  # sum of |force| with which rows helped (result)
SCALE = 19  # largest velocity of a row in the last step (result)
SWEEPS = 20  # of the iterative solver
CONE_GAP = 21  # largest difference of a friction limit and mu times the normal force [N] (result)
BORDERS = 22  # scratch: rows of the border that are in use
QUICKEST = 23  # fastest correction of a violation [m/s, rad/s]
NUMBERS = 24

STRUCTURED = 0
DANTZIG = 1
PGS = 2

SWEEP = 26  # columns of the scratch of the iterative solver, as in soft_pgs.py

# --- statuses
FINE = 0
SINGULAR = 1  # rows that are hard and say the same, or contradict each other: PLACE is one of them
UNSETTLED = 2  # the pivoting did not end
NOT_FINITE = 3  # PLACE is the body
UNCONVERGED = 4
