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

from .._jit import kernel
from . import layout as at


@kernel
def root_factors(topology, axes, roots):
    """Write C with C C' = D^-1 for the joint of every link into the rows of `roots` (nv, 6), lower triangular."""
    for i in range(topology.shape[0]):
        k, dof = topology[i, at.V], topology[i, at.DOF]
        if dof == 1:
            roots[k, 0] = math.sqrt(axes[k, at.DINV])
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


@kernel
def pour(topology, links, axes, roots, i, f, z):
    """Add to `z` (nv) the row of a wrench `f` (6) on link i, about the link's origin in world axes; `f` is used up."""
    while i >= 0:
        k, dof = topology[i, at.V], topology[i, at.DOF]
        if dof == 1:
            u = 0.0
            for c in range(6):
                u += axes[k, at.S + c] * f[c]
            root = roots[k, 0]
            z[k] += root * u
            u *= root * root
            for c in range(6):
                f[c] -= axes[k, at.U + c] * u
        else:
            _pour_joint(k, dof, axes, roots, f, z)
        _shift(links, i, f)
        i = topology[i, at.PARENT]


@kernel
def pour_joint_force(topology, links, axes, roots, i, torque, f, z):
    """Add to `z` the row of joint forces `torque` (6: one a freedom) in the joint of link i; `f` (6) is scratch."""
    k, dof = topology[i, at.V], topology[i, at.DOF]
    for c in range(6):
        f[c] = 0.0
    for c in range(dof):
        w = 0.0
        for r in range(c, dof):
            w += roots[k + r, c] * torque[r]
        z[k + c] += w
        for r in range(c, dof):
            part = roots[k + r, c] * w
            for m in range(6):
                f[m] -= axes[k + r, at.U + m] * part
    _shift(links, i, f)
    pour(topology, links, axes, roots, topology[i, at.PARENT], f, z)


@kernel
def _pour_joint(k, dof, axes, roots, f, z):
    """Do the step of `pour` for a joint of several freedoms: w = C' S' f, f -= U C w."""
    f0, f1, f2, f3, f4, f5 = f[0], f[1], f[2], f[3], f[4], f[5]
    for c in range(dof):
        w = 0.0
        for r in range(c, dof):
            j = k + r
            w += roots[j, c] * (
                axes[j, at.S] * f0 + axes[j, at.S + 1] * f1 + axes[j, at.S + 2] * f2 + axes[j, at.S + 3] * f3
                + axes[j, at.S + 4] * f4 + axes[j, at.S + 5] * f5
            )  # fmt: skip
        z[k + c] += w
        for r in range(c, dof):
            part = roots[k + r, c] * w
            for m in range(6):
                f[m] -= axes[k + r, at.U + m] * part


@kernel
def _shift(links, i, f):
    """Move a wrench from the origin of link i to that of its parent."""
    x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
    f[0] += y * f[5] - z * f[4]
    f[1] += z * f[3] - x * f[5]
    f[2] += x * f[4] - y * f[3]


@kernel
def weave(topology, links, axes, roots, a, b, point, dirs, forces, cols, first, vals, start, room):
    """Write the three rows of a contact at `point` along the unit vectors `dirs` (9) between the links a and b.

    Columns go to `cols[first:]`, values to `vals[start:]`, row after row; `room` (3, nv) and `forces` (2, 3, 6) are
    scratch. Returns the number of columns, negative where they do not fit.
    """
    for side in range(2):
        i = a if side == 0 else b
        if i < 0:
            continue
        sign = 1.0 if side == 0 else -1.0
        x, y, z = point[0] - links[i, at.POSITION], point[1] - links[i, at.POSITION + 1], (
            point[2] - links[i, at.POSITION + 2]
        )
        for r in range(3):
            dx, dy, dz = sign * dirs[3 * r], sign * dirs[3 * r + 1], sign * dirs[3 * r + 2]
            f = forces[side, r]
            f[0], f[1], f[2] = y * dz - z * dy, z * dx - x * dz, x * dy - y * dx
            f[3], f[4], f[5] = dx, dy, dz
    count = 0
    while a >= 0 or b >= 0:
        side = 0 if a >= b else 1
        i = a if a >= b else b
        if a == b:  # from here on the paths are one
            for r in range(3):
                for c in range(6):
                    forces[0, r, c] += forces[1, r, c]
            b = -1
        k, dof = topology[i, at.V], topology[i, at.DOF]
        if first + count + dof > cols.shape[0]:
            return -1
        x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
        if topology[i, at.KIND] == at.REVOLUTE:
            root = roots[k, 0]
            s0, s1, s2 = links[i, 2], links[i, 5], links[i, 8]
            cols[first + count] = k
            for r in range(3):
                f = forces[side, r]
                w = root * (s0 * f[0] + s1 * f[1] + s2 * f[2])
                room[r, count] = w
                w *= root
                f3, f4, f5 = f[3] - axes[k, 3] * w, f[4] - axes[k, 4] * w, f[5] - axes[k, 5] * w
                f[0] += y * f5 - z * f4 - axes[k, 0] * w
                f[1] += z * f3 - x * f5 - axes[k, 1] * w
                f[2] += x * f4 - y * f3 - axes[k, 2] * w
                f[3], f[4], f[5] = f3, f4, f5
            count += 1
        else:
            last = topology[i, at.PARENT] < 0
            for r in range(3):
                f = forces[side, r]
                f0, f1, f2, f3, f4, f5 = f[0], f[1], f[2], f[3], f[4], f[5]
                for c in range(dof):
                    w = 0.0
                    for m in range(c, dof):
                        j = k + m
                        w += roots[j, c] * (
                            axes[j, at.S] * f0 + axes[j, at.S + 1] * f1 + axes[j, at.S + 2] * f2
                            + axes[j, at.S + 3] * f3 + axes[j, at.S + 4] * f4 + axes[j, at.S + 5] * f5
                        )  # fmt: skip
                    room[r, count + c] = w
                    if not last:
                        for m in range(c, dof):
                            part = roots[k + m, c] * w
                            for n in range(6):
                                f[n] -= axes[k + m, at.U + n] * part
                if not last:
                    _shift(links, i, f)
            for c in range(dof):
                cols[first + count + c] = k + c
            count += dof
        if side == 0:
            a = topology[i, at.PARENT]
        else:
            b = topology[i, at.PARENT]
    if start + 3 * count > vals.shape[0]:
        return -1
    for r in range(3):
        for c in range(count):
            vals[start + r * count + c] = room[r, c]
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
