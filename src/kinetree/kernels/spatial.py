"""Spatial inertias and wrenches in the rows of the links: world axes, about the link's own origin."""

from __future__ import annotations

from .._jit import kernel
from . import layout as at
from .kinematics import move_links


@kernel
def prepare_links(topology, constants, q, v, links, axes):
    """Move every link and write its inertia."""
    move_links(topology, constants, q, v, links, axes)
    for i in range(topology.shape[0]):
        link_inertia(constants, links, i)


@kernel
def link_inertia(constants, links, i):
    """Write the spatial inertia of link `i` in world axes about its origin, and the bias wrench of its rotation.

    With J the inertia and h = m com about the origin: p = [omega x J omega; omega x (omega x h)].
    """
    a0, a1, a2 = links[i, 0], links[i, 1], links[i, 2]
    a3, a4, a5 = links[i, 3], links[i, 4], links[i, 5]
    a6, a7, a8 = links[i, 6], links[i, 7], links[i, 8]
    m = constants[i, at.MASS]
    b0, b1, b2 = constants[i, at.MOMENT], constants[i, at.MOMENT + 1], constants[i, at.MOMENT + 2]
    hx, hy, hz = a0 * b0 + a1 * b1 + a2 * b2, a3 * b0 + a4 * b1 + a5 * b2, a6 * b0 + a7 * b1 + a8 * b2
    xx, xy, xz = constants[i, at.INERTIA], constants[i, at.INERTIA + 1], constants[i, at.INERTIA + 2]
    yy, yz, zz = constants[i, at.INERTIA + 3], constants[i, at.INERTIA + 4], constants[i, at.INERTIA + 5]
    t0, t1, t2 = a0 * xx + a1 * xy + a2 * xz, a0 * xy + a1 * yy + a2 * yz, a0 * xz + a1 * yz + a2 * zz
    t3, t4, t5 = a3 * xx + a4 * xy + a5 * xz, a3 * xy + a4 * yy + a5 * yz, a3 * xz + a4 * yz + a5 * zz
    t6, t7, t8 = a6 * xx + a7 * xy + a8 * xz, a6 * xy + a7 * yy + a8 * yz, a6 * xz + a7 * yz + a8 * zz
    jxx, jxy, jxz = t0 * a0 + t1 * a1 + t2 * a2, t0 * a3 + t1 * a4 + t2 * a5, t0 * a6 + t1 * a7 + t2 * a8
    jyy, jyz, jzz = t3 * a3 + t4 * a4 + t5 * a5, t3 * a6 + t4 * a7 + t5 * a8, t6 * a6 + t7 * a7 + t8 * a8
    at_a, at_b, at_m, at_p = at.INERTIA_A, at.INERTIA_B, at.INERTIA_M, at.FORCE
    links[i, at_a], links[i, at_a + 1], links[i, at_a + 2] = jxx, jxy, jxz
    links[i, at_a + 3], links[i, at_a + 4], links[i, at_a + 5] = jyy, jyz, jzz
    links[i, at_b], links[i, at_b + 1], links[i, at_b + 2] = 0.0, -hz, hy
    links[i, at_b + 3], links[i, at_b + 4], links[i, at_b + 5] = hz, 0.0, -hx
    links[i, at_b + 6], links[i, at_b + 7], links[i, at_b + 8] = -hy, hx, 0.0
    links[i, at_m], links[i, at_m + 1], links[i, at_m + 2] = m, 0.0, 0.0
    links[i, at_m + 3], links[i, at_m + 4], links[i, at_m + 5] = m, 0.0, m
    wx, wy, wz = links[i, at.OMEGA], links[i, at.OMEGA + 1], links[i, at.OMEGA + 2]
    lx, ly, lz = jxx * wx + jxy * wy + jxz * wz, jxy * wx + jyy * wy + jyz * wz, jxz * wx + jyz * wy + jzz * wz
    ex, ey, ez = wy * hz - wz * hy, wz * hx - wx * hz, wx * hy - wy * hx
    links[i, at_p] = wy * lz - wz * ly
    links[i, at_p + 1] = wz * lx - wx * lz
    links[i, at_p + 2] = wx * ly - wy * lx
    links[i, at_p + 3] = wy * ez - wz * ey
    links[i, at_p + 4] = wz * ex - wx * ez
    links[i, at_p + 5] = wx * ey - wy * ex


@kernel
def subtract_external(external, body_links, body_poses_in_link, links):
    """Subtract the wrench on each body (world axes, about the body's origin) from the bias wrench of its link."""
    for body in range(external.shape[0]):
        i = body_links[body]
        if i < 0:
            continue
        x, y, z = body_poses_in_link[body, 9], body_poses_in_link[body, 10], body_poses_in_link[body, 11]
        rx = links[i, 0] * x + links[i, 1] * y + links[i, 2] * z
        ry = links[i, 3] * x + links[i, 4] * y + links[i, 5] * z
        rz = links[i, 6] * x + links[i, 7] * y + links[i, 8] * z
        fx, fy, fz = external[body, 3], external[body, 4], external[body, 5]
        links[i, at.FORCE] -= external[body, 0] + ry * fz - rz * fy
        links[i, at.FORCE + 1] -= external[body, 1] + rz * fx - rx * fz
        links[i, at.FORCE + 2] -= external[body, 2] + rx * fy - ry * fx
        links[i, at.FORCE + 3] -= fx
        links[i, at.FORCE + 4] -= fy
        links[i, at.FORCE + 5] -= fz


@kernel
def inertia_times(row, x, y):
    """Write y = I x with the inertia that stands in the row of a link (x and y have 6 entries)."""
    A, B, M = at.INERTIA_A, at.INERTIA_B, at.INERTIA_M
    y[0] = row[A] * x[0] + row[A + 1] * x[1] + row[A + 2] * x[2] + row[B] * x[3] + row[B + 1] * x[4] + row[B + 2] * x[5]
    y[1] = (
        row[A + 1] * x[0]
        + row[A + 3] * x[1]
        + row[A + 4] * x[2]
        + row[B + 3] * x[3]
        + row[B + 4] * x[4]
        + row[B + 5] * x[5]
    )
    y[2] = (
        row[A + 2] * x[0]
        + row[A + 4] * x[1]
        + row[A + 5] * x[2]
        + row[B + 6] * x[3]
        + row[B + 7] * x[4]
        + row[B + 8] * x[5]
    )
    y[3] = row[B] * x[0] + row[B + 3] * x[1] + row[B + 6] * x[2] + row[M] * x[3] + row[M + 1] * x[4] + row[M + 2] * x[5]
    y[4] = (
        row[B + 1] * x[0]
        + row[B + 4] * x[1]
        + row[B + 7] * x[2]
        + row[M + 1] * x[3]
        + row[M + 3] * x[4]
        + row[M + 4] * x[5]
    )
    y[5] = (
        row[B + 2] * x[0]
        + row[B + 5] * x[1]
        + row[B + 8] * x[2]
        + row[M + 2] * x[3]
        + row[M + 4] * x[4]
        + row[M + 5] * x[5]
    )


@kernel
def shift_to_parent(row, up):
    """Add the inertia and wrench in the row of a link to the row `up` of its parent, moved to the parent's origin."""
    A, B, M, P = at.INERTIA_A, at.INERTIA_B, at.INERTIA_M, at.FORCE
    x, y, z = row[at.ARM], row[at.ARM + 1], row[at.ARM + 2]
    b0, b1, b2, b3, b4 = row[B], row[B + 1], row[B + 2], row[B + 3], row[B + 4]
    b5, b6, b7, b8 = row[B + 5], row[B + 6], row[B + 7], row[B + 8]
    m0, m1, m2, m3, m4, m5 = row[M], row[M + 1], row[M + 2], row[M + 3], row[M + 4], row[M + 5]
    g0, g1, g2 = b0 + y * m2 - z * m1, b1 + y * m4 - z * m3, b2 + y * m5 - z * m4
    g3, g4, g5 = b3 + z * m0 - x * m2, b4 + z * m1 - x * m4, b5 + z * m2 - x * m5
    g6, g7, g8 = b6 + x * m1 - y * m0, b7 + x * m3 - y * m1, b8 + x * m4 - y * m2
    up[A] += row[A] + y * b2 - z * b1 + y * g2 - z * g1
    up[A + 1] += row[A + 1] + y * b5 - z * b4 + z * g0 - x * g2
    up[A + 2] += row[A + 2] + y * b8 - z * b7 + x * g1 - y * g0
    up[A + 3] += row[A + 3] + z * b3 - x * b5 + z * g3 - x * g5
    up[A + 4] += row[A + 4] + z * b6 - x * b8 + x * g4 - y * g3
    up[A + 5] += row[A + 5] + x * b7 - y * b6 + x * g7 - y * g6
    up[B] += g0
    up[B + 1] += g1
    up[B + 2] += g2
    up[B + 3] += g3
    up[B + 4] += g4
    up[B + 5] += g5
    up[B + 6] += g6
    up[B + 7] += g7
    up[B + 8] += g8
    for k in range(6):
        up[M + k] += row[M + k]
    p0, p1, p2, p3, p4, p5 = row[P], row[P + 1], row[P + 2], row[P + 3], row[P + 4], row[P + 5]
    up[P] += p0 + y * p5 - z * p4
    up[P + 1] += p1 + z * p3 - x * p5
    up[P + 2] += p2 + x * p4 - y * p3
    up[P + 3] += p3
    up[P + 4] += p4
    up[P + 5] += p5
