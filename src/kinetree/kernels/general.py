"""One step of the articulated-body algorithm for a joint with any number of degrees of freedom."""

from __future__ import annotations

from .._jit import kernel, leaf
from . import layout as at
from .linalg import invert_pivots


@kernel
def eliminate_general(i, topology, diagonal, tau, links, axes, tiny):
    """Do for a joint of any kind what `aba.eliminate_joints` does for a revolute one; returns True if it is singular.

    A pivot below `tiny` times the body's inertia counts as none. The number of degrees of freedom is a constant in each
    branch, so that the compiler unrolls the loops over it.
    """
    dof = topology[i, at.DOF]
    if dof == 3:
        return _eliminate(i, 3, topology, diagonal, tau, links, axes, tiny)
    if dof == 6:
        return _eliminate(i, 6, topology, diagonal, tau, links, axes, tiny)
    return _eliminate(i, dof, topology, diagonal, tau, links, axes, tiny)


@leaf
def _eliminate(i, dof, topology, diagonal, tau, links, axes, tiny):
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
