"""Constraint rows in the coordinates of the articulated-body factors: K = W W', one sparse row of W a constraint.

The articulated-body algorithm factors the inverse of the mass matrix: a unit force of a constraint, passed from its
link towards the root, leaves in each joint on its way the share u = S' f, and passes f - U D^-1 u on. With D^-1 = C C',
row i of W holds w = C' u of every joint on the path, and

    K_ij = sum over the joints that both paths share of w_i . w_j

so that only these joints cost anything (the third route to the matrix of Kokkevis 2004, section 4). The answer of all
joints to the forces f of all constraints is one pass from the roots to the tips with y = W' f.

Needs `links` and `axes` as `aba.eliminate_joints` leaves them, with S written for revolute joints (`write_axes`).
"""

from __future__ import annotations

import math

from .._jit import kernel, leaf
from . import layout as at

# --- roots: float64 (nv, ROOTS), of every degree of freedom
C = 0  # 6: its row of C, lower triangular
G = 6  # 6: a row of C' S': what it takes of a wrench
H = 12  # 6: a column of U C: what that takes out of the wrench
ROOTS = 18


@kernel
def root_factors(topology, axes, roots):
    """Write C with C C' = D^-1 for the joint of every link, C' S' and U C into the rows of `roots` (nv, ROOTS)."""
    for i in range(topology.shape[0]):
        k, dof = topology[i, at.V], topology[i, at.DOF]
        if dof == 1:
            root = math.sqrt(axes[k, at.DINV])
            roots[k, 0] = root
            for c in range(6):
                roots[k, G + c] = root * axes[k, at.S + c]
                roots[k, H + c] = root * axes[k, c]
            continue
        for r in range(dof):
            for c in range(r + 1):
                s = axes[k + r, at.DINV + c]
                for m in range(c):
                    s -= roots[k + r, m] * roots[k + c, m]
                if c == r:
                    roots[k + r, c] = math.sqrt(max(s, 0.0))
                else:
                    roots[k + r, c] = s / roots[k + c, c] if roots[k + c, c] > 0.0 else 0.0
        for r in range(dof):
            for c in range(6):
                g = h = 0.0
                for m in range(r, dof):
                    g += roots[k + m, r] * axes[k + m, at.S + c]
                    h += roots[k + m, r] * axes[k + m, c]
                roots[k + r, G + c], roots[k + r, H + c] = g, h


@kernel
def pour(topology, links, roots, i, f, z):
    """Add to `z` (nv) the row of a wrench `f` (6) on link i, about the link's origin in world axes."""
    f0, f1, f2, f3, f4, f5 = f[0], f[1], f[2], f[3], f[4], f[5]
    while i >= 0:
        g0, g1, g2, g3, g4, g5 = f0, f1, f2, f3, f4, f5
        for k in range(topology[i, at.V], topology[i, at.V] + topology[i, at.DOF]):
            w = roots[k, G] * g0 + roots[k, G + 1] * g1 + roots[k, G + 2] * g2
            w += roots[k, G + 3] * g3 + roots[k, G + 4] * g4 + roots[k, G + 5] * g5
            z[k] += w
            f0 -= roots[k, H] * w
            f1 -= roots[k, H + 1] * w
            f2 -= roots[k, H + 2] * w
            f3 -= roots[k, H + 3] * w
            f4 -= roots[k, H + 4] * w
            f5 -= roots[k, H + 5] * w
        x, y, t = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
        f0, f1, f2 = f0 + y * f5 - t * f4, f1 + t * f3 - x * f5, f2 + x * f4 - y * f3
        i = topology[i, at.PARENT]


@kernel
def pour_joint_force(topology, links, roots, i, torque, f, z):
    """Add to `z` the row of joint forces `torque` (6: one a freedom) in the joint of link i; `f` (6) is scratch."""
    k, dof = topology[i, at.V], topology[i, at.DOF]
    for c in range(6):
        f[c] = 0.0
    for c in range(dof):
        w = 0.0
        for r in range(c, dof):
            w += roots[k + r, c] * torque[r]
        z[k + c] += w
        for m in range(6):
            f[m] -= roots[k + c, H + m] * w
    if topology[i, at.PARENT] >= 0:
        _shift(links, i, f)
        pour(topology, links, roots, topology[i, at.PARENT], f, z)


@kernel
def _shift(links, i, f):
    """Move a wrench from the origin of link i to that of its parent."""
    x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
    f[0] += y * f[5] - z * f[4]
    f[1] += z * f[3] - x * f[5]
    f[2] += x * f[4] - y * f[3]


@kernel
def weave(topology, links, roots, a, b, contacts, n, forces, cols, first, vals, start, room):
    """Write the three rows of contact n, along its normal and tangents, between the links a and b.

    Columns go to `cols[first:]`, values to `vals[start:]`, row after row; `room` (3, nv) and `forces` (2, 3, 6) are
    scratch. Returns the number of columns, negative where they do not fit.
    """
    if a < 0 or b < 0:
        return _weave_one(topology, links, roots, a, b, contacts, n, cols, first, vals, start, room)
    for side in range(2):
        i = a if side == 0 else b
        sign = 1.0 if side == 0 else -1.0
        x, y = contacts[n, 0] - links[i, at.POSITION], contacts[n, 1] - links[i, at.POSITION + 1]
        z = contacts[n, 2] - links[i, at.POSITION + 2]
        for r in range(3):
            d = 3 if r == 0 else 4 + 3 * r  # NORMAL, T1, T2
            dx, dy, dz = sign * contacts[n, d], sign * contacts[n, d + 1], sign * contacts[n, d + 2]
            forces[side, r, 0], forces[side, r, 1] = y * dz - z * dy, z * dx - x * dz
            forces[side, r, 2], forces[side, r, 3] = x * dy - y * dx, dx
            forces[side, r, 4], forces[side, r, 5] = dy, dz
    count = 0
    while a >= 0 or b >= 0:
        side = 0 if a >= b else 1
        i = a if a >= b else b
        if a == b:  # from here on the paths are one
            for r in range(3):
                for c in range(6):
                    forces[0, r, c] += forces[1, r, c]
            b = -1
        k, dof, pa = topology[i, at.V], topology[i, at.DOF], topology[i, at.PARENT]
        if first + count + dof > cols.shape[0] or start + 3 * (count + dof) > vals.shape[0]:
            return -1
        for c in range(dof):
            cols[first + count + c] = k + c
        for r in range(3):
            f0, f1, f2, f3, f4, f5 = _joint(
                dof, i, k, pa, links, roots, forces[side, r, 0], forces[side, r, 1], forces[side, r, 2],
                forces[side, r, 3], forces[side, r, 4], forces[side, r, 5], room, r, count,
            )  # fmt: skip
            forces[side, r, 0], forces[side, r, 1], forces[side, r, 2] = f0, f1, f2
            forces[side, r, 3], forces[side, r, 4], forces[side, r, 5] = f3, f4, f5
        count += dof
        if side == 0:
            a = pa
        else:
            b = pa
    for r in range(3):
        for c in range(count):
            vals[start + r * count + c] = room[r, c]
    return count


@kernel
def _weave_one(topology, links, roots, a, b, contacts, n, cols, first, vals, start, room):
    """Do the same where one of the two does not move: the wrench stays in registers on its way to the root."""
    sign = 1.0 if a >= 0 else -1.0
    end = max(a, b)
    x, y = contacts[n, 0] - links[end, at.POSITION], contacts[n, 1] - links[end, at.POSITION + 1]
    z = contacts[n, 2] - links[end, at.POSITION + 2]
    count = 0
    i = end
    while i >= 0:
        for c in range(topology[i, at.DOF]):
            if first + count >= cols.shape[0]:
                return -1
            cols[first + count] = topology[i, at.V] + c
            count += 1
        i = topology[i, at.PARENT]
    if start + 3 * count > vals.shape[0]:
        return -1
    for r in range(3):
        d = 3 if r == 0 else 4 + 3 * r
        f3, f4, f5 = sign * contacts[n, d], sign * contacts[n, d + 1], sign * contacts[n, d + 2]
        f0, f1, f2 = y * f5 - z * f4, z * f3 - x * f5, x * f4 - y * f3
        i, c = end, 0
        while i >= 0:
            k, dof, pa = topology[i, at.V], topology[i, at.DOF], topology[i, at.PARENT]
            f0, f1, f2, f3, f4, f5 = _joint(dof, i, k, pa, links, roots, f0, f1, f2, f3, f4, f5, room, r, c)
            c += dof
            i = pa
        for c in range(count):
            vals[start + r * count + c] = room[r, c]
    return count


@leaf
def _joint(dof, i, k, pa, links, roots, f0, f1, f2, f3, f4, f5, room, r, count):
    """Leave w = C' S' f in row r of `room`, and return the wrench about the parent's origin that is passed on."""
    g0, g1, g2, g3, g4, g5 = f0, f1, f2, f3, f4, f5
    for c in range(dof):
        j = k + c
        w = roots[j, G] * g0 + roots[j, G + 1] * g1 + roots[j, G + 2] * g2
        w += roots[j, G + 3] * g3 + roots[j, G + 4] * g4 + roots[j, G + 5] * g5
        room[r, count + c] = w
        if pa >= 0:
            f0 -= roots[j, H] * w
            f1 -= roots[j, H + 1] * w
            f2 -= roots[j, H + 2] * w
            f3 -= roots[j, H + 3] * w
            f4 -= roots[j, H + 4] * w
            f5 -= roots[j, H + 5] * w
    if pa < 0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
    return f0 + y * f5 - z * f4, f1 + z * f3 - x * f5, f2 + x * f4 - y * f3, f3, f4, f5


@kernel
def weave_joint(topology, links, roots, i, torque, cols, first, vals, start):
    """Write the row of joint forces `torque` (6: one a freedom) in the joint of link i; returns the columns, or -1."""
    k, dof = topology[i, at.V], topology[i, at.DOF]
    if first + dof > cols.shape[0] or start + dof > vals.shape[0]:
        return -1
    f0 = f1 = f2 = f3 = f4 = f5 = 0.0
    for c in range(dof):
        w = 0.0
        for r in range(c, dof):
            w += roots[k + r, c] * torque[r]
        cols[first + c], vals[start + c] = k + c, w
        f0 -= roots[k + c, H] * w
        f1 -= roots[k + c, H + 1] * w
        f2 -= roots[k + c, H + 2] * w
        f3 -= roots[k + c, H + 3] * w
        f4 -= roots[k + c, H + 4] * w
        f5 -= roots[k + c, H + 5] * w
    count = dof
    x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
    f0, f1, f2 = f0 + y * f5 - z * f4, f1 + z * f3 - x * f5, f2 + x * f4 - y * f3
    i = topology[i, at.PARENT]
    while i >= 0:
        k, dof, pa = topology[i, at.V], topology[i, at.DOF], topology[i, at.PARENT]
        if first + count + dof > cols.shape[0] or start + count + dof > vals.shape[0]:
            return -1
        g0, g1, g2, g3, g4, g5 = f0, f1, f2, f3, f4, f5
        for c in range(dof):
            j = k + c
            w = roots[j, G] * g0 + roots[j, G + 1] * g1 + roots[j, G + 2] * g2
            w += roots[j, G + 3] * g3 + roots[j, G + 4] * g4 + roots[j, G + 5] * g5
            cols[first + count + c], vals[start + count + c] = j, w
            f0 -= roots[j, H] * w
            f1 -= roots[j, H + 1] * w
            f2 -= roots[j, H + 2] * w
            f3 -= roots[j, H + 3] * w
            f4 -= roots[j, H + 4] * w
            f5 -= roots[j, H + 5] * w
        count += dof
        x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
        f0, f1, f2 = f0 + y * f5 - z * f4, f1 + z * f3 - x * f5, f2 + x * f4 - y * f3
        i = pa
    return count


@kernel
def gather(topology, i, j, z, cols, first, vals, start):
    """Write the row that stands in `z`, on the paths of the links i and j, to `cols` and `vals`; clears `z` there.

    Returns the number of columns, -1 where they do not fit.
    """
    count = 0
    while i >= 0 or j >= 0:
        k = max(i, j)
        for c in range(topology[k, at.V], topology[k, at.V] + topology[k, at.DOF]):
            if first + count >= cols.shape[0] or start + count >= vals.shape[0]:
                return -1
            cols[first + count], vals[start + count] = c, z[c]
            z[c] = 0.0
            count += 1
        same = i == j
        if i == k:
            i = topology[i, at.PARENT]
        if j == k or same:
            j = topology[j, at.PARENT]
    return count


@kernel
def drain(topology, links, axes, roots, y, spins, out):
    """Write what the joints answer to y = W' f into `out` (nv); `spins` (nlinks, 6) takes how the links answer."""
    for i in range(topology.shape[0]):
        pa, k, dof = topology[i, at.PARENT], topology[i, at.V], topology[i, at.DOF]
        a0 = a1 = a2 = a3 = a4 = a5 = 0.0
        if pa >= 0:
            x, y_, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
            a0, a1, a2 = spins[pa, 0], spins[pa, 1], spins[pa, 2]
            a3 = spins[pa, 3] + a1 * z - a2 * y_
            a4 = spins[pa, 4] + a2 * x - a0 * z
            a5 = spins[pa, 5] + a0 * y_ - a1 * x
        if topology[i, at.KIND] == at.REVOLUTE:
            dot = (
                axes[k, 0] * a0 + axes[k, 1] * a1 + axes[k, 2] * a2 + axes[k, 3] * a3 + axes[k, 4] * a4
                + axes[k, 5] * a5
            )  # fmt: skip
            rate = roots[k, 0] * y[k] - axes[k, at.DINV] * dot
            out[k] = rate
            a0 += links[i, 2] * rate
            a1 += links[i, 5] * rate
            a2 += links[i, 8] * rate
        else:
            b0, b1, b2, b3, b4, b5 = a0, a1, a2, a3, a4, a5
            for r in range(k, k + dof):
                rate = 0.0
                for c in range(r - k + 1):
                    rate += roots[r, c] * y[k + c]
                if pa >= 0:
                    for c in range(dof):
                        j = k + c
                        rate -= axes[r, at.DINV + c] * (
                            axes[j, 0] * b0 + axes[j, 1] * b1 + axes[j, 2] * b2 + axes[j, 3] * b3 + axes[j, 4] * b4
                            + axes[j, 5] * b5
                        )  # fmt: skip
                out[r] = rate
                a0 += axes[r, at.S] * rate
                a1 += axes[r, at.S + 1] * rate
                a2 += axes[r, at.S + 2] * rate
                a3 += axes[r, at.S + 3] * rate
                a4 += axes[r, at.S + 4] * rate
                a5 += axes[r, at.S + 5] * rate
        spins[i, 0], spins[i, 1], spins[i, 2] = a0, a1, a2
        spins[i, 3], spins[i, 4], spins[i, 5] = a3, a4, a5


@kernel
def spin(topology, links, axes, v, spins):
    """Write the velocity [angular; of the origin] of every link at joint velocities `v` into `spins` (nlinks, 6)."""
    for i in range(topology.shape[0]):
        pa, k = topology[i, at.PARENT], topology[i, at.V]
        a0 = a1 = a2 = a3 = a4 = a5 = 0.0
        if pa >= 0:
            x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
            a0, a1, a2 = spins[pa, 0], spins[pa, 1], spins[pa, 2]
            a3 = spins[pa, 3] + a1 * z - a2 * y
            a4 = spins[pa, 4] + a2 * x - a0 * z
            a5 = spins[pa, 5] + a0 * y - a1 * x
        if topology[i, at.KIND] == at.REVOLUTE:
            rate = v[k]
            a0 += links[i, 2] * rate
            a1 += links[i, 5] * rate
            a2 += links[i, 8] * rate
        else:
            for r in range(k, k + topology[i, at.DOF]):
                rate = v[r]
                a0 += axes[r, at.S] * rate
                a1 += axes[r, at.S + 1] * rate
                a2 += axes[r, at.S + 2] * rate
                a3 += axes[r, at.S + 3] * rate
                a4 += axes[r, at.S + 4] * rate
                a5 += axes[r, at.S + 5] * rate
        spins[i, 0], spins[i, 1], spins[i, 2] = a0, a1, a2
        spins[i, 3], spins[i, 4], spins[i, 5] = a3, a4, a5
