"""One step of the articulated-body algorithm for a joint that is not revolute.

All are leaves: a call of a kernel for every link costs more than what it does.
"""

from __future__ import annotations

from .._jit import leaf
from . import layout as at
from .linalg import invert_pivots


@leaf
def eliminate_general(i, topology, diagonal, tau, links, axes, tiny):
    """Do for a joint of any kind what `aba.eliminate_joints` does for a revolute one; returns True if it is singular.

    A pivot below `tiny` times the body's inertia counts as none.
    """
    dof = topology[i, at.DOF]
    A, B, M, P, C = at.INERTIA_A, at.INERTIA_B, at.INERTIA_M, at.FORCE, at.BIAS
    pa, k = topology[i, at.PARENT], topology[i, at.V]
    a0, a1, a2 = links[i, A], links[i, A + 1], links[i, A + 2]
    a3, a4, a5 = links[i, A + 3], links[i, A + 4], links[i, A + 5]
    b0, b1, b2 = links[i, B], links[i, B + 1], links[i, B + 2]
    b3, b4, b5 = links[i, B + 3], links[i, B + 4], links[i, B + 5]
    b6, b7, b8 = links[i, B + 6], links[i, B + 7], links[i, B + 8]
    m0, m1, m2 = links[i, M], links[i, M + 1], links[i, M + 2]
    m3, m4, m5 = links[i, M + 3], links[i, M + 4], links[i, M + 5]
    p0, p1, p2 = links[i, P], links[i, P + 1], links[i, P + 2]
    p3, p4, p5 = links[i, P + 3], links[i, P + 4], links[i, P + 5]
    for j in range(dof):
        s0, s1, s2 = axes[k + j, at.S], axes[k + j, at.S + 1], axes[k + j, at.S + 2]
        s3, s4, s5 = axes[k + j, at.S + 3], axes[k + j, at.S + 4], axes[k + j, at.S + 5]
        axes[k + j, 0] = a0 * s0 + a1 * s1 + a2 * s2 + b0 * s3 + b1 * s4 + b2 * s5
        axes[k + j, 1] = a1 * s0 + a3 * s1 + a4 * s2 + b3 * s3 + b4 * s4 + b5 * s5
        axes[k + j, 2] = a2 * s0 + a4 * s1 + a5 * s2 + b6 * s3 + b7 * s4 + b8 * s5
        axes[k + j, 3] = b0 * s0 + b3 * s1 + b6 * s2 + m0 * s3 + m1 * s4 + m2 * s5
        axes[k + j, 4] = b1 * s0 + b4 * s1 + b7 * s2 + m1 * s3 + m3 * s4 + m4 * s5
        axes[k + j, 5] = b2 * s0 + b5 * s1 + b8 * s2 + m2 * s3 + m4 * s4 + m5 * s5
        for n in range(j + 1):
            axes[k + j, at.DINV + n] = (
                s0 * axes[k + n, 0] + s1 * axes[k + n, 1] + s2 * axes[k + n, 2]
                + s3 * axes[k + n, 3] + s4 * axes[k + n, 4] + s5 * axes[k + n, 5]
            )
        axes[k + j, at.DINV + j] += diagonal[k + j]
        axes[k + j, at.SHARE] = tau[k + j] - (s0 * p0 + s1 * p1 + s2 * p2 + s3 * p3 + s4 * p4 + s5 * p5)
    if not invert_pivots(axes, k, at.DINV, dof, tiny * (a0 + a3 + a5 + m0 + m3 + m5)):
        return True
    if pa < 0:
        return False
    for j in range(dof):  # I' = I_A - U w and p' = p + w' u with w = D^-1 U'
        w0 = w1 = w2 = w3 = w4 = w5 = 0.0
        for n in range(dof):
            d = axes[k + j, at.DINV + n]
            w0 += d * axes[k + n, 0]
            w1 += d * axes[k + n, 1]
            w2 += d * axes[k + n, 2]
            w3 += d * axes[k + n, 3]
            w4 += d * axes[k + n, 4]
            w5 += d * axes[k + n, 5]
        u0, u1, u2 = axes[k + j, 0], axes[k + j, 1], axes[k + j, 2]
        u3, u4, u5 = axes[k + j, 3], axes[k + j, 4], axes[k + j, 5]
        share = axes[k + j, at.SHARE]
        a0 -= u0 * w0
        a1 -= u0 * w1
        a2 -= u0 * w2
        a3 -= u1 * w1
        a4 -= u1 * w2
        a5 -= u2 * w2
        b0 -= u0 * w3
        b1 -= u0 * w4
        b2 -= u0 * w5
        b3 -= u1 * w3
        b4 -= u1 * w4
        b5 -= u1 * w5
        b6 -= u2 * w3
        b7 -= u2 * w4
        b8 -= u2 * w5
        m0 -= u3 * w3
        m1 -= u3 * w4
        m2 -= u3 * w5
        m3 -= u4 * w4
        m4 -= u4 * w5
        m5 -= u5 * w5
        p0 += w0 * share
        p1 += w1 * share
        p2 += w2 * share
        p3 += w3 * share
        p4 += w4 * share
        p5 += w5 * share
    c0, c1, c2 = links[i, C], links[i, C + 1], links[i, C + 2]
    c3, c4, c5 = links[i, C + 3], links[i, C + 4], links[i, C + 5]
    p0 += a0 * c0 + a1 * c1 + a2 * c2 + b0 * c3 + b1 * c4 + b2 * c5
    p1 += a1 * c0 + a3 * c1 + a4 * c2 + b3 * c3 + b4 * c4 + b5 * c5
    p2 += a2 * c0 + a4 * c1 + a5 * c2 + b6 * c3 + b7 * c4 + b8 * c5
    p3 += b0 * c0 + b3 * c1 + b6 * c2 + m0 * c3 + m1 * c4 + m2 * c5
    p4 += b1 * c0 + b4 * c1 + b7 * c2 + m1 * c3 + m3 * c4 + m4 * c5
    p5 += b2 * c0 + b5 * c1 + b8 * c2 + m2 * c3 + m4 * c4 + m5 * c5
    x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
    g0, g1, g2 = b0 + y * m2 - z * m1, b1 + y * m4 - z * m3, b2 + y * m5 - z * m4
    g3, g4, g5 = b3 + z * m0 - x * m2, b4 + z * m1 - x * m4, b5 + z * m2 - x * m5
    g6, g7, g8 = b6 + x * m1 - y * m0, b7 + x * m3 - y * m1, b8 + x * m4 - y * m2
    links[pa, A] += a0 + y * b2 - z * b1 + y * g2 - z * g1
    links[pa, A + 1] += a1 + y * b5 - z * b4 + z * g0 - x * g2
    links[pa, A + 2] += a2 + y * b8 - z * b7 + x * g1 - y * g0
    links[pa, A + 3] += a3 + z * b3 - x * b5 + z * g3 - x * g5
    links[pa, A + 4] += a4 + z * b6 - x * b8 + x * g4 - y * g3
    links[pa, A + 5] += a5 + x * b7 - y * b6 + x * g7 - y * g6
    links[pa, B] += g0
    links[pa, B + 1] += g1
    links[pa, B + 2] += g2
    links[pa, B + 3] += g3
    links[pa, B + 4] += g4
    links[pa, B + 5] += g5
    links[pa, B + 6] += g6
    links[pa, B + 7] += g7
    links[pa, B + 8] += g8
    links[pa, M] += m0
    links[pa, M + 1] += m1
    links[pa, M + 2] += m2
    links[pa, M + 3] += m3
    links[pa, M + 4] += m4
    links[pa, M + 5] += m5
    links[pa, P] += p0 + y * p5 - z * p4
    links[pa, P + 1] += p1 + z * p3 - x * p5
    links[pa, P + 2] += p2 + x * p4 - y * p3
    links[pa, P + 3] += p3
    links[pa, P + 4] += p4
    links[pa, P + 5] += p5
    return False


@leaf
def eliminate_ball(i, topology, diagonal, tau, links, axes, tiny):
    """Do it for a spherical joint with the same rotor inertia d about all axes.

    With R the rotation of the link, S = [R; 0] and D^-1 = R' (A + d 1)^-1 R.
    """
    A, B, M, P, C = at.INERTIA_A, at.INERTIA_B, at.INERTIA_M, at.FORCE, at.BIAS
    pa, k = topology[i, at.PARENT], topology[i, at.V]
    rotor = diagonal[k]
    a0, a1, a2 = links[i, A], links[i, A + 1], links[i, A + 2]
    a3, a4, a5 = links[i, A + 3], links[i, A + 4], links[i, A + 5]
    b0, b1, b2 = links[i, B], links[i, B + 1], links[i, B + 2]
    b3, b4, b5 = links[i, B + 3], links[i, B + 4], links[i, B + 5]
    b6, b7, b8 = links[i, B + 6], links[i, B + 7], links[i, B + 8]
    p0, p1, p2 = links[i, P], links[i, P + 1], links[i, P + 2]
    p3, p4, p5 = links[i, P + 3], links[i, P + 4], links[i, P + 5]
    m0, m1, m2 = links[i, M], links[i, M + 1], links[i, M + 2]
    m3, m4, m5 = links[i, M + 3], links[i, M + 4], links[i, M + 5]
    c0, c1, c2 = links[i, C], links[i, C + 1], links[i, C + 2]
    c3, c4, c5 = links[i, C + 3], links[i, C + 4], links[i, C + 5]
    rx, ry, rz = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
    x0, x1, x2 = links[i, 0], links[i, 1], links[i, 2]
    y0, y1, y2 = links[i, 3], links[i, 4], links[i, 5]
    z0, z1, z2 = links[i, 6], links[i, 7], links[i, 8]
    # E by L d L'
    least = tiny * (a0 + a3 + a5 + m0 + m3 + m5)
    d0 = a0 + rotor
    i0 = 1.0 / d0
    l1, l2 = a1 * i0, a2 * i0
    d1, h = a3 + rotor - l1 * a1, a4 - l1 * a2
    i1 = 1.0 / d1
    l3 = h * i1
    d2 = a5 + rotor - l2 * a2 - l3 * h
    if d0 <= least or d1 <= least or d2 <= least:
        return True
    e5 = 1.0 / d2
    l4 = l1 * l3 - l2  # L^-1 has rows (1), (-l1, 1), (l4, -l3, 1)
    e4, e2 = -l3 * e5, l4 * e5
    e3, e1, e0 = i1 - l3 * e4, -l1 * i1 - l3 * e2, i0 + l1 * l1 * i1 + l4 * e2
    f0, f1, f2 = e0 * x0 + e1 * y0 + e2 * z0, e1 * x0 + e3 * y0 + e4 * z0, e2 * x0 + e4 * y0 + e5 * z0
    f3, f4, f5 = e0 * x1 + e1 * y1 + e2 * z1, e1 * x1 + e3 * y1 + e4 * z1, e2 * x1 + e4 * y1 + e5 * z1
    f6, f7, f8 = e0 * x2 + e1 * y2 + e2 * z2, e1 * x2 + e3 * y2 + e4 * z2, e2 * x2 + e4 * y2 + e5 * z2
    q0, q1, q2 = x0 * f0 + y0 * f1 + z0 * f2, x1 * f0 + y1 * f1 + z1 * f2, x2 * f0 + y2 * f1 + z2 * f2
    q3, q4, q5 = x1 * f3 + y1 * f4 + z1 * f5, x2 * f3 + y2 * f4 + z2 * f5, x2 * f6 + y2 * f7 + z2 * f8
    u0, u1, u2 = a0 * x0 + a1 * y0 + a2 * z0, a1 * x0 + a3 * y0 + a4 * z0, a2 * x0 + a4 * y0 + a5 * z0
    u3, u4, u5 = b0 * x0 + b3 * y0 + b6 * z0, b1 * x0 + b4 * y0 + b7 * z0, b2 * x0 + b5 * y0 + b8 * z0
    v0, v1, v2 = a0 * x1 + a1 * y1 + a2 * z1, a1 * x1 + a3 * y1 + a4 * z1, a2 * x1 + a4 * y1 + a5 * z1
    v3, v4, v5 = b0 * x1 + b3 * y1 + b6 * z1, b1 * x1 + b4 * y1 + b7 * z1, b2 * x1 + b5 * y1 + b8 * z1
    w0, w1, w2 = a0 * x2 + a1 * y2 + a2 * z2, a1 * x2 + a3 * y2 + a4 * z2, a2 * x2 + a4 * y2 + a5 * z2
    w3, w4, w5 = b0 * x2 + b3 * y2 + b6 * z2, b1 * x2 + b4 * y2 + b7 * z2, b2 * x2 + b5 * y2 + b8 * z2
    s0 = tau[k] - (x0 * p0 + y0 * p1 + z0 * p2)
    s1 = tau[k + 1] - (x1 * p0 + y1 * p1 + z1 * p2)
    s2 = tau[k + 2] - (x2 * p0 + y2 * p1 + z2 * p2)
    N = at.DINV
    axes[k, 0], axes[k, 1], axes[k, 2], axes[k, 3], axes[k, 4], axes[k, 5] = u0, u1, u2, u3, u4, u5
    axes[k, at.SHARE], axes[k, N], axes[k, N + 1], axes[k, N + 2] = s0, q0, q1, q2
    axes[k + 1, 0], axes[k + 1, 1], axes[k + 1, 2] = v0, v1, v2
    axes[k + 1, 3], axes[k + 1, 4], axes[k + 1, 5] = v3, v4, v5
    axes[k + 1, at.SHARE], axes[k + 1, N], axes[k + 1, N + 1], axes[k + 1, N + 2] = s1, q1, q3, q4
    axes[k + 2, 0], axes[k + 2, 1], axes[k + 2, 2] = w0, w1, w2
    axes[k + 2, 3], axes[k + 2, 4], axes[k + 2, 5] = w3, w4, w5
    axes[k + 2, at.SHARE], axes[k + 2, N], axes[k + 2, N + 1], axes[k + 2, N + 2] = s2, q2, q4, q5
    if pa < 0:
        return False
    # I' = I - U D^-1 U' and p' = p + U D^-1 s, with the very D^-1 that `accelerate` uses: what it is off by then stays
    # in this joint, and is not passed on to all below
    f0, f1, f2 = q0 * u0 + q1 * v0 + q2 * w0, q1 * u0 + q3 * v0 + q4 * w0, q2 * u0 + q4 * v0 + q5 * w0
    f3, f4, f5 = q0 * u1 + q1 * v1 + q2 * w1, q1 * u1 + q3 * v1 + q4 * w1, q2 * u1 + q4 * v1 + q5 * w1
    f6, f7, f8 = q0 * u2 + q1 * v2 + q2 * w2, q1 * u2 + q3 * v2 + q4 * w2, q2 * u2 + q4 * v2 + q5 * w2
    g0, g1, g2 = q0 * u3 + q1 * v3 + q2 * w3, q1 * u3 + q3 * v3 + q4 * w3, q2 * u3 + q4 * v3 + q5 * w3
    g3, g4, g5 = q0 * u4 + q1 * v4 + q2 * w4, q1 * u4 + q3 * v4 + q4 * w4, q2 * u4 + q4 * v4 + q5 * w4
    g6, g7, g8 = q0 * u5 + q1 * v5 + q2 * w5, q1 * u5 + q3 * v5 + q4 * w5, q2 * u5 + q4 * v5 + q5 * w5
    a0, a1, a2 = (
        a0 - u0 * f0 - v0 * f1 - w0 * f2, a1 - u0 * f3 - v0 * f4 - w0 * f5, a2 - u0 * f6 - v0 * f7 - w0 * f8
    )  # fmt: skip
    a3, a4, a5 = (
        a3 - u1 * f3 - v1 * f4 - w1 * f5, a4 - u1 * f6 - v1 * f7 - w1 * f8, a5 - u2 * f6 - v2 * f7 - w2 * f8
    )  # fmt: skip
    b0, b3, b6 = (
        b0 - u0 * g0 - v0 * g1 - w0 * g2, b3 - u1 * g0 - v1 * g1 - w1 * g2, b6 - u2 * g0 - v2 * g1 - w2 * g2
    )  # fmt: skip
    b1, b4, b7 = (
        b1 - u0 * g3 - v0 * g4 - w0 * g5, b4 - u1 * g3 - v1 * g4 - w1 * g5, b7 - u2 * g3 - v2 * g4 - w2 * g5
    )  # fmt: skip
    b2, b5, b8 = (
        b2 - u0 * g6 - v0 * g7 - w0 * g8, b5 - u1 * g6 - v1 * g7 - w1 * g8, b8 - u2 * g6 - v2 * g7 - w2 * g8
    )  # fmt: skip
    m0, m1, m2 = (
        m0 - u3 * g0 - v3 * g1 - w3 * g2, m1 - u3 * g3 - v3 * g4 - w3 * g5, m2 - u3 * g6 - v3 * g7 - w3 * g8
    )  # fmt: skip
    m3, m4, m5 = (
        m3 - u4 * g3 - v4 * g4 - w4 * g5, m4 - u4 * g6 - v4 * g7 - w4 * g8, m5 - u5 * g6 - v5 * g7 - w5 * g8
    )  # fmt: skip
    p0, p1, p2 = p0 + f0 * s0 + f1 * s1 + f2 * s2, p1 + f3 * s0 + f4 * s1 + f5 * s2, p2 + f6 * s0 + f7 * s1 + f8 * s2
    p3, p4, p5 = p3 + g0 * s0 + g1 * s1 + g2 * s2, p4 + g3 * s0 + g4 * s1 + g5 * s2, p5 + g6 * s0 + g7 * s1 + g8 * s2
    p0 += a0 * c0 + a1 * c1 + a2 * c2 + b0 * c3 + b1 * c4 + b2 * c5
    p1 += a1 * c0 + a3 * c1 + a4 * c2 + b3 * c3 + b4 * c4 + b5 * c5
    p2 += a2 * c0 + a4 * c1 + a5 * c2 + b6 * c3 + b7 * c4 + b8 * c5
    p3 += b0 * c0 + b3 * c1 + b6 * c2 + m0 * c3 + m1 * c4 + m2 * c5
    p4 += b1 * c0 + b4 * c1 + b7 * c2 + m1 * c3 + m3 * c4 + m4 * c5
    p5 += b2 * c0 + b5 * c1 + b8 * c2 + m2 * c3 + m4 * c4 + m5 * c5
    x, y, z = rx, ry, rz
    g0, g1, g2 = b0 + y * m2 - z * m1, b1 + y * m4 - z * m3, b2 + y * m5 - z * m4
    g3, g4, g5 = b3 + z * m0 - x * m2, b4 + z * m1 - x * m4, b5 + z * m2 - x * m5
    g6, g7, g8 = b6 + x * m1 - y * m0, b7 + x * m3 - y * m1, b8 + x * m4 - y * m2
    links[pa, A] += a0 + y * b2 - z * b1 + y * g2 - z * g1
    links[pa, A + 1] += a1 + y * b5 - z * b4 + z * g0 - x * g2
    links[pa, A + 2] += a2 + y * b8 - z * b7 + x * g1 - y * g0
    links[pa, A + 3] += a3 + z * b3 - x * b5 + z * g3 - x * g5
    links[pa, A + 4] += a4 + z * b6 - x * b8 + x * g4 - y * g3
    links[pa, A + 5] += a5 + x * b7 - y * b6 + x * g7 - y * g6
    links[pa, B] += g0
    links[pa, B + 1] += g1
    links[pa, B + 2] += g2
    links[pa, B + 3] += g3
    links[pa, B + 4] += g4
    links[pa, B + 5] += g5
    links[pa, B + 6] += g6
    links[pa, B + 7] += g7
    links[pa, B + 8] += g8
    links[pa, M] += m0
    links[pa, M + 1] += m1
    links[pa, M + 2] += m2
    links[pa, M + 3] += m3
    links[pa, M + 4] += m4
    links[pa, M + 5] += m5
    links[pa, P] += p0 + y * p5 - z * p4
    links[pa, P + 1] += p1 + z * p3 - x * p5
    links[pa, P + 2] += p2 + x * p4 - y * p3
    links[pa, P + 3] += p3
    links[pa, P + 4] += p4
    links[pa, P + 5] += p5
    return False


@leaf
def eliminate_free_root(i, topology, diagonal, tau, links, axes, tiny):
    """Do it for a free joint on the world: half of every axis of S is zero, and no parent takes what is left."""
    A, B, M, P, S = at.INERTIA_A, at.INERTIA_B, at.INERTIA_M, at.FORCE, at.S
    k = topology[i, at.V]
    a0, a1, a2 = links[i, A], links[i, A + 1], links[i, A + 2]
    a3, a4, a5 = links[i, A + 3], links[i, A + 4], links[i, A + 5]
    b0, b1, b2 = links[i, B], links[i, B + 1], links[i, B + 2]
    b3, b4, b5 = links[i, B + 3], links[i, B + 4], links[i, B + 5]
    b6, b7, b8 = links[i, B + 6], links[i, B + 7], links[i, B + 8]
    m0, m1, m2 = links[i, M], links[i, M + 1], links[i, M + 2]
    m3, m4, m5 = links[i, M + 3], links[i, M + 4], links[i, M + 5]
    p0, p1, p2 = links[i, P], links[i, P + 1], links[i, P + 2]
    p3, p4, p5 = links[i, P + 3], links[i, P + 4], links[i, P + 5]
    for n in range(3):
        x, y, z = axes[k + n, S], axes[k + n, S + 1], axes[k + n, S + 2]
        u0, u1, u2 = a0 * x + a1 * y + a2 * z, a1 * x + a3 * y + a4 * z, a2 * x + a4 * y + a5 * z
        axes[k + n, 0], axes[k + n, 1], axes[k + n, 2] = u0, u1, u2
        axes[k + n, 3] = b0 * x + b3 * y + b6 * z
        axes[k + n, 4] = b1 * x + b4 * y + b7 * z
        axes[k + n, 5] = b2 * x + b5 * y + b8 * z
        axes[k + n, at.SHARE] = tau[k + n] - (x * p0 + y * p1 + z * p2)
        for c in range(n + 1):
            d = axes[k + c, S] * u0 + axes[k + c, S + 1] * u1 + axes[k + c, S + 2] * u2
            axes[k + n, at.DINV + c] = d
        axes[k + n, at.DINV + n] += diagonal[k + n]
    for n in range(3, 6):
        x, y, z = axes[k + n, S + 3], axes[k + n, S + 4], axes[k + n, S + 5]
        u0, u1, u2 = b0 * x + b1 * y + b2 * z, b3 * x + b4 * y + b5 * z, b6 * x + b7 * y + b8 * z
        u3, u4, u5 = m0 * x + m1 * y + m2 * z, m1 * x + m3 * y + m4 * z, m2 * x + m4 * y + m5 * z
        axes[k + n, 0], axes[k + n, 1], axes[k + n, 2] = u0, u1, u2
        axes[k + n, 3], axes[k + n, 4], axes[k + n, 5] = u3, u4, u5
        axes[k + n, at.SHARE] = tau[k + n] - (x * p3 + y * p4 + z * p5)
        for c in range(3):
            d = axes[k + c, S] * u0 + axes[k + c, S + 1] * u1 + axes[k + c, S + 2] * u2
            axes[k + n, at.DINV + c] = d
        for c in range(3, n + 1):
            d = axes[k + c, S + 3] * u3 + axes[k + c, S + 4] * u4 + axes[k + c, S + 5] * u5
            axes[k + n, at.DINV + c] = d
        axes[k + n, at.DINV + n] += diagonal[k + n]
    return not invert_pivots(axes, k, at.DINV, 6, tiny * (a0 + a3 + a5 + m0 + m3 + m5))
