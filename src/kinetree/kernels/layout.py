"""The layout of the packed arrays that the kernels share: one row a link, one row a degree of freedom.

A *link* is a group of bodies that are welded together, with the one joint that moves it; there are as many links as
moving joints. Links are numbered depth first, so that a parent is most often the row just before. One row holds all
that an algorithm reads of a link side by side in memory. The frame of a link has its z axis along the joint's axis
(where the joint has one), so that the axis costs nothing to find and a rotation about it is cheap.

A model is three arrays, passed to every kernel in this order:

`topology` int64 (nlinks, 8), `constants` float64 (nlinks, 32), `dofs` float64 (nv, 8). A kernel's scratch is two:
`links` float64 (nlinks, 64), `axes` float64 (nv, 20).
"""

# --- topology: int64 (nlinks, TOPOLOGY)
PARENT = 0  # link index of the parent, -1 for the world; always smaller than the own index
KIND = 1  # one of the joint kinds below
Q = 2  # first index of the joint's coordinates in q
V = 3  # first index of the joint's velocities in v
DOF = 4  # degrees of freedom of the joint
TREE = 5  # number of the tree of the forest it stands in
LAST = 6  # one past the last link of its subtree (depth-first numbering makes a subtree a range)
BODY = 7  # the body that carries the joint, in the user's numbering
TOPOLOGY = 8

# --- joint kinds, as in model/joints.py
REVOLUTE = 0
PRISMATIC = 1
HELICAL = 2
UNIVERSAL = 3
SPHERICAL = 4
PLANAR = 5
FREE = 6
FIXED = 7

# --- constants: float64 (nlinks, CONSTANTS)
PLACE = 0  # 9: rotation of the joint's fixed frame in the parent link, row-major
OFFSET = 9  # 3: its origin in the parent link [m]
MASS = 12  # [kg]
MOMENT = 13  # 3: first moment of mass about the link's origin, m com [kg m]
INERTIA = 16  # 6: xx xy xz yy yz zz about the link's origin, link axes [kg m2]
FIRST = 22  # 3: first axis of a universal joint, joint frame
SECOND = 25  # 3: second axis of a universal joint, link frame
PITCH = 28  # pitch of a helical joint [m/rad]
CONSTANTS = 32

# --- dofs: float64 (nv, DOFS), what a joint does by itself
ARMATURE = 0  # rotor inertia [kg m2]
DAMPING = 1  # [N m s/rad]
FRICTION = 2  # dry friction [N m]
STIFFNESS = 3  # [N m/rad]
REST = 4  # [rad]
LOWER = 5
UPPER = 6
EFFORT = 7
DOFS = 8

# --- links: float64 (nlinks, LINKS), scratch in world axes about the link's own origin
R = 0  # 9: rotation link -> world, row-major
ARM = 9  # 3: from the parent's origin to the own origin [m]
OMEGA = 12  # 3: angular velocity
BIAS = 15  # 6: c, the acceleration relative to the parent that is there at zero joint acceleration (classical)
INERTIA_A = 21  # 6: rotational block of the (articulated) inertia, xx xy xz yy yz zz
INERTIA_B = 27  # 9: coupling block
INERTIA_M = 36  # 6: translational block
FORCE = 42  # 6: bias wrench p
ACCELERATION = 48  # 6: [angular; linear of the origin], classical, gravity subtracted
POSITION = 54  # 3: the origin in the world (only `place_links` writes it)
VELOCITY = 57  # 3: velocity of the origin (only `move_links` writes it)
LINKS = 64

# --- axes: float64 (nv, AXES), scratch of a degree of freedom
U = 0  # 6: articulated inertia times motion axis
SHARE = 6  # the joint force that is left, u
DINV = 7  # 6: its row of D^-1
S = 14  # 6: motion axis, world axes about the link's origin (not written for revolute joints)
AXES = 20
