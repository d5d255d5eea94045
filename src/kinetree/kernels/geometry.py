"""The packed arrays of collision geometry and contacts, and the small vector algebra that they share.

A contact's normal points from shape B to shape A; its gap is positive where they are apart; relative velocities are
those of A against B. Points and normals are in the world.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from .._jit import kernel, leaf
from ..typing import Array

# --- kinds of shapes, the first four as in model/shapes.py
BOX, SPHERE, CAPSULE, PLANE, HULL, HEIGHTS = 0, 1, 2, 3, 4, 5

# --- shape_ints: int64 (nshapes, SHAPE_INTS)
LINK = 0  # the link that carries it, -1 for the world
KIND = 1
TREE = 2  # tree of the forest, -1 for the world
VERTS = 3  # first vertex in `vertices`, of boxes and hulls; first number in `heights`
NVERTS = 4  # number of vertices; rows of a height field
FACES = 5  # first row in `faces`
NFACES = 6  # number of faces; columns of a height field
EDGES = 7  # first row in `edges`
NEDGES = 8
SHAPE_INTS = 10

# --- shape_floats: float64 (nshapes, SHAPE_FLOATS)
POSE = 0  # 12: rotation and position in the link (the world)
SIZE = 12  # 3: box: full edges; sphere, capsule: radius, length; height field: spacing in x, in y
REACH = 15  # radius of the ball about the shape's origin that holds it
MU = 16
BOUNCE = 17
SHAPE_FLOATS = 18

# --- faces: float64 (nfaces, 4): outward normal and offset, shape axes; loops: int64 (nfaces, LOOP): count, vertices
LOOP = 33
MANY = 32  # corners that a face, or a clipped polygon, can have

# --- contacts: float64 (capacity, CONTACTS)
POINT = 0  # 3
NORMAL = 3  # 3
GAP = 6
T1 = 7  # 3
T2 = 10  # 3
C_MU = 13
C_BOUNCE = 14
IMPULSE = 15  # 3: along the normal and the two tangents [N s], of the last step
LOCAL = 18  # 3: the point in the axes of shape A, by which a contact is known again
SPEED = 21  # the normal velocity before an impact
BEFORE = 22  # the gap a step ago, infinite where it was not known
CONTACTS = 24

# --- contact_ints: int64 (capacity, CONTACT_INTS)
A = 0  # shape
B = 1
KNOWN = 2  # steps that it has lasted
USED = 3  # 1 where a contact of the next step has taken it over
CONTACT_INTS = 4


class Geometry(NamedTuple):
    """What collides; see the columns above."""

    ints: Array
    floats: Array
    vertices: Array
    faces: Array
    loops: Array
    edges: Array
    heights: Array
    excluded: Array  # sorted keys a * nshapes + b, a < b, of pairs that do not collide
    still: Array  # planes and height fields: tested against all others
    movers: Array  # all other shapes: sorted along an axis


class Places(NamedTuple):
    """Where the shapes are: scratch."""

    poses: Array  # (nshapes, 12)
    boxes: Array  # (nshapes, 7): bounds, margin included, and the margin
    order: Array  # (nmovers,): by lower bound along x
    points: Array  # scratch of the clipping, (4, MANY, 3)
    simplex: Array  # scratch of GJK, (5, 10): difference, point of A, point of B, weight
    found: Array  # (64, 8): contacts of one pair: point, normal, gap, unused


@leaf
def emit(found, count, px, py, pz, nx, ny, nz, gap):
    """Write a contact of the pair at hand; returns how many there are then."""
    if count >= found.shape[0]:
        return count
    found[count, 0], found[count, 1], found[count, 2] = px, py, pz
    found[count, 3], found[count, 4], found[count, 5] = nx, ny, nz
    found[count, 6] = gap
    return count + 1


@kernel
def closest_on_segments(a, u, b, w, out):
    """Write the parameters in [-1, 1] of the closest points of a + s u and b + t w into `out`."""
    uu = u[0] * u[0] + u[1] * u[1] + u[2] * u[2]
    ww = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    uw = u[0] * w[0] + u[1] * w[1] + u[2] * w[2]
    d0, d1, d2 = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    ud = u[0] * d0 + u[1] * d1 + u[2] * d2
    wd = w[0] * d0 + w[1] * d1 + w[2] * d2
    det = uu * ww - uw * uw
    s = 0.0
    if det > 1e-12 * uu * ww:
        s = min(1.0, max(-1.0, (uw * wd - ww * ud) / det))
    t = (uw * s + wd) / ww if ww > 0.0 else 0.0
    if t < -1.0 or t > 1.0:
        t = min(1.0, max(-1.0, t))
        s = min(1.0, max(-1.0, (uw * t - ud) / uu)) if uu > 0.0 else 0.0
    out[0], out[1] = s, t


@leaf
def any_tangent(nx, ny, nz):
    """Return a unit vector that is perpendicular to a unit normal."""
    if abs(nx) < 0.7:
        x, y, z = 0.0, nz, -ny
    else:
        x, y, z = -nz, 0.0, nx
    size = math.sqrt(x * x + y * y + z * z)
    return x / size, y / size, z / size
