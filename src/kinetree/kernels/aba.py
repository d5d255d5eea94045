"""The articulated-body algorithm (Featherstone 1983): forward dynamics in time linear in the joints.

    U = I_A S      D = S' U + diagonal      u = tau - S' p
    I' = I_A - U D^-1 U'      p' = p + I' c + U D^-1 u      (both moved to the parent and added there)
    a' = X a_parent + c      qdd = D^-1 (u - U' a')      a = a' + S qdd

`diagonal` is the rotor inertia of each degree of freedom, plus whatever an implicit integrator adds to it. Vectors and
frames: see `kinematics.py`.
"""

from __future__ import annotations

from .._jit import kernel
from . import layout as at
from .general import eliminate_ball, eliminate_free_root, eliminate_general
from .linalg import all_finite
from .manifold import bad_quaternion
from .spatial import prepare_links, subtract_external

SINGULAR = 1e-14  # a joint whose inertia is this small a part of its body's has nothing to move


@kernel
def aba(topology, constants, diagonal, q, v, tau, external, body_links, body_poses, gravity, links, axes, out):
    """Write the accelerations into `out`; returns -1, or the link whose joint has nothing to move."""
    prepare_links(topology, constants, q, v, links, axes)
    subtract_external(external, body_links, body_poses, links)
    bad = eliminate_joints(topology, diagonal, tau, links, axes)
    if bad < 0:
        accelerate(topology, gravity, links, axes, out)
    return bad


@kernel
def checked_aba(topology, constants, diagonal, q, v, tau, external, body_links, body_poses, gravity, links, axes, out):
    """Like `aba`; returns -2 instead where the state is not one or the result is not finite."""
    if bad_quaternion(topology, q) >= 0:
        return -2
    bad = aba(topology, constants, diagonal, q, v, tau, external, body_links, body_poses, gravity, links, axes, out)
    return -2 if bad < 0 and not all_finite(out) else bad


@kernel
def eliminate_joints(topology, diagonal, tau, links, axes):
    """From the tips to the roots: articulated inertias and bias wrenches; returns a singular link or -1."""
    A, B, M, P, C = at.INERTIA_A, at.INERTIA_B, at.INERTIA_M, at.FORCE, at.BIAS
    for i in range(topology.shape[0] - 1, -1, -1):
        pa, k, kind = topology[i, at.PARENT], topology[i, at.V], topology[i, at.KIND]
        if kind != at.REVOLUTE:
            if kind == at.SPHERICAL and diagonal[k] == diagonal[k + 1] and diagonal[k] == diagonal[k + 2]:
                singular = eliminate_ball(i, topology, diagonal, tau, links, axes, SINGULAR)
            elif kind == at.FREE and pa < 0:
                singular = eliminate_free_root(i, topology, diagonal, tau, links, axes, SINGULAR)
            else:
                singular = eliminate_general(i, topology, diagonal, tau, links, axes, SINGULAR)
            if singular:
                return i
            continue
        sx, sy, sz = links[i, 2], links[i, 5], links[i, 8]
        a0, a1, a2, a3, a4, a5 = (
            links[i, A],
            links[i, A + 1],
            links[i, A + 2],
            links[i, A + 3],
            links[i, A + 4],
            links[i, A + 5],
        )
        b0, b1, b2 = links[i, B], links[i, B + 1], links[i, B + 2]
        b3, b4, b5 = links[i, B + 3], links[i, B + 4], links[i, B + 5]
        b6, b7, b8 = links[i, B + 6], links[i, B + 7], links[i, B + 8]
        u0, u1, u2 = a0 * sx + a1 * sy + a2 * sz, a1 * sx + a3 * sy + a4 * sz, a2 * sx + a4 * sy + a5 * sz
        u3, u4, u5 = b0 * sx + b3 * sy + b6 * sz, b1 * sx + b4 * sy + b7 * sz, b2 * sx + b5 * sy + b8 * sz
        d = sx * u0 + sy * u1 + sz * u2 + diagonal[k]
        p0, p1, p2, p3, p4, p5 = (
            links[i, P],
            links[i, P + 1],
            links[i, P + 2],
            links[i, P + 3],
            links[i, P + 4],
            links[i, P + 5],
        )
        u = tau[k] - (sx * p0 + sy * p1 + sz * p2)
        if d <= SINGULAR * (a0 + a3 + a5):
            return i
        inv = 1.0 / d
        axes[k, 0], axes[k, 1], axes[k, 2] = u0, u1, u2
        axes[k, 3], axes[k, 4], axes[k, 5] = u3, u4, u5
        axes[k, at.SHARE], axes[k, at.DINV] = u, inv
        if pa < 0:
            continue
        w0, w1, w2, w3, w4, w5 = u0 * inv, u1 * inv, u2 * inv, u3 * inv, u4 * inv, u5 * inv
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
        m0, m1, m2 = links[i, M] - u3 * w3, links[i, M + 1] - u3 * w4, links[i, M + 2] - u3 * w5
        m3, m4, m5 = links[i, M + 3] - u4 * w4, links[i, M + 4] - u4 * w5, links[i, M + 5] - u5 * w5
        c0, c1, c2, c3, c4, c5 = (
            links[i, C],
            links[i, C + 1],
            links[i, C + 2],
            links[i, C + 3],
            links[i, C + 4],
            links[i, C + 5],
        )
        p0 += a0 * c0 + a1 * c1 + a2 * c2 + b0 * c3 + b1 * c4 + b2 * c5 + w0 * u
        p1 += a1 * c0 + a3 * c1 + a4 * c2 + b3 * c3 + b4 * c4 + b5 * c5 + w1 * u
        p2 += a2 * c0 + a4 * c1 + a5 * c2 + b6 * c3 + b7 * c4 + b8 * c5 + w2 * u
        p3 += b0 * c0 + b3 * c1 + b6 * c2 + m0 * c3 + m1 * c4 + m2 * c5 + w3 * u
        p4 += b1 * c0 + b4 * c1 + b7 * c2 + m1 * c3 + m3 * c4 + m4 * c5 + w4 * u
        p5 += b2 * c0 + b5 * c1 + b8 * c2 + m2 * c3 + m4 * c4 + m5 * c5 + w5 * u
        # to the parent's origin: B' = B + [r] M,  A' = A + [r] B' + B [r]'
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
    return -1


@kernel
def accelerate(topology, gravity, links, axes, out):
    """From the roots to the tips: joint accelerations and accelerations of the links."""
    gx, gy, gz = gravity
    C, a = at.BIAS, at.ACCELERATION
    for i in range(topology.shape[0]):
        pa, k = topology[i, at.PARENT], topology[i, at.V]
        a0 = a1 = a2 = 0.0
        a3, a4, a5 = -gx, -gy, -gz
        if pa >= 0:
            x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
            a0, a1, a2 = links[pa, a], links[pa, a + 1], links[pa, a + 2]
            a3 = links[pa, a + 3] + a1 * z - a2 * y
            a4 = links[pa, a + 4] + a2 * x - a0 * z
            a5 = links[pa, a + 5] + a0 * y - a1 * x
        a0 += links[i, C]
        a1 += links[i, C + 1]
        a2 += links[i, C + 2]
        a3 += links[i, C + 3]
        a4 += links[i, C + 4]
        a5 += links[i, C + 5]
        if topology[i, at.KIND] == at.REVOLUTE:
            dot = (
                axes[k, 0] * a0
                + axes[k, 1] * a1
                + axes[k, 2] * a2
                + axes[k, 3] * a3
                + axes[k, 4] * a4
                + axes[k, 5] * a5
            )
            qdd = (axes[k, at.SHARE] - dot) * axes[k, at.DINV]
            out[k] = qdd
            a0 += links[i, 2] * qdd
            a1 += links[i, 5] * qdd
            a2 += links[i, 8] * qdd
        else:
            dof = topology[i, at.DOF]
            for j in range(k, k + dof):
                dot = axes[j, 0] * a0 + axes[j, 1] * a1 + axes[j, 2] * a2
                axes[j, at.SHARE] -= dot + axes[j, 3] * a3 + axes[j, 4] * a4 + axes[j, 5] * a5
            for j in range(k, k + dof):
                qdd = 0.0
                for n in range(dof):
                    qdd += axes[j, at.DINV + n] * axes[k + n, at.SHARE]
                out[j] = qdd
            for j in range(k, k + dof):
                qdd = out[j]
                a0 += axes[j, at.S] * qdd
                a1 += axes[j, at.S + 1] * qdd
                a2 += axes[j, at.S + 2] * qdd
                a3 += axes[j, at.S + 3] * qdd
                a4 += axes[j, at.S + 4] * qdd
                a5 += axes[j, at.S + 5] * qdd
        links[i, a], links[i, a + 1], links[i, a + 2] = a0, a1, a2
        links[i, a + 3], links[i, a + 4], links[i, a + 5] = a3, a4, a5
