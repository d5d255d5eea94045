"""6 x 6 matrices and 6-vectors inside rows of larger arrays, and moving them between frames.

A block is named by three things: the array, the row, and the column where it begins; matrices are row-major. Passing
views instead would cost more than the products themselves. A pose is nine numbers of rotation (row-major) and three of
position, child in parent; X moves motions from the parent's frame to the child's, so X' moves wrenches back.
"""

from __future__ import annotations

from .._jit import leaf

TINY = 1e-15  # a pivot this small a part of its diagonal is none


@leaf
def product(a, i, p, b, j, q, out, k, s):
    """Out = A B; a row is read whole before it is written, since for all the compiler knows `out` could be `b`."""
    for r in range(6):
        u = p + 6 * r
        x0 = x1 = x2 = x3 = x4 = x5 = 0.0
        for m in range(6):
            x, c = a[i, u + m], q + 6 * m
            x0, x1, x2 = x0 + x * b[j, c], x1 + x * b[j, c + 1], x2 + x * b[j, c + 2]
            x3, x4, x5 = x3 + x * b[j, c + 3], x4 + x * b[j, c + 4], x5 + x * b[j, c + 5]
        _row(out, k, s + 6 * r, x0, x1, x2, x3, x4, x5)


@leaf
def symmetric_less_abt(base, m, n, a, i, p, b, j, q, out, k, s):
    """Out = Base - A B', known to be symmetric."""
    for r in range(6):
        u = p + 6 * r
        a0, a1, a2, a3, a4, a5 = a[i, u], a[i, u + 1], a[i, u + 2], a[i, u + 3], a[i, u + 4], a[i, u + 5]
        for c in range(r + 1):
            w = q + 6 * c
            dot = a0 * b[j, w] + a1 * b[j, w + 1] + a2 * b[j, w + 2]
            x = base[m, n + 6 * r + c] - dot - a3 * b[j, w + 3] - a4 * b[j, w + 4] - a5 * b[j, w + 5]
            out[k, s + 6 * r + c] = x
            out[k, s + 6 * c + r] = x


@leaf
def symmetric_less_atb(base, m, n, a, i, p, b, j, q, out, k, s):
    """Out = Base - A' B, known to be symmetric."""
    for r in range(6):
        u = p + r
        a0, a1, a2, a3, a4, a5 = a[i, u], a[i, u + 6], a[i, u + 12], a[i, u + 18], a[i, u + 24], a[i, u + 30]
        for c in range(r + 1):
            w = q + c
            dot = a0 * b[j, w] + a1 * b[j, w + 6] + a2 * b[j, w + 12]
            x = base[m, n + 6 * r + c] - dot - a3 * b[j, w + 18] - a4 * b[j, w + 24] - a5 * b[j, w + 30]
            out[k, s + 6 * r + c] = x
            out[k, s + 6 * c + r] = x


@leaf
def times(a, i, p, x, j, q, out, k, s):
    """Out = A x."""
    x0, x1, x2, x3, x4, x5 = x[j, q], x[j, q + 1], x[j, q + 2], x[j, q + 3], x[j, q + 4], x[j, q + 5]
    for r in range(6):
        u = p + 6 * r
        dot = a[i, u] * x0 + a[i, u + 1] * x1 + a[i, u + 2] * x2
        out[k, s + r] = dot + a[i, u + 3] * x3 + a[i, u + 4] * x4 + a[i, u + 5] * x5


@leaf
def times_transposed(a, i, p, x, j, q, out, k, s):
    """Out = A' x."""
    x0, x1, x2, x3, x4, x5 = x[j, q], x[j, q + 1], x[j, q + 2], x[j, q + 3], x[j, q + 4], x[j, q + 5]
    for r in range(6):
        u = p + r
        dot = a[i, u] * x0 + a[i, u + 6] * x1 + a[i, u + 12] * x2
        out[k, s + r] = dot + a[i, u + 18] * x3 + a[i, u + 24] * x4 + a[i, u + 30] * x5


@leaf
def copy(n, a, i, p, out, k, s):
    """Out = a, n numbers."""
    for r in range(n):
        out[k, s + r] = a[i, p + r]


@leaf
def clear(n, out, k, s):
    """Out = 0, n numbers."""
    for r in range(n):
        out[k, s + r] = 0.0


@leaf
def columns_to_child(pose, i, p, a, j, q, rows, out, k, s):
    """Out = A X', where A has `rows` rows of 6."""
    e0, e1, e2, e3 = pose[i, p], pose[i, p + 1], pose[i, p + 2], pose[i, p + 3]
    e4, e5, e6, e7, e8 = pose[i, p + 4], pose[i, p + 5], pose[i, p + 6], pose[i, p + 7], pose[i, p + 8]
    x, y, z = pose[i, p + 9], pose[i, p + 10], pose[i, p + 11]
    for r in range(rows):
        u, w = q + 6 * r, s + 6 * r
        w0, w1, w2 = a[j, u], a[j, u + 1], a[j, u + 2]
        l0, l1, l2 = a[j, u + 3] + w1 * z - w2 * y, a[j, u + 4] + w2 * x - w0 * z, a[j, u + 5] + w0 * y - w1 * x
        out[k, w] = e0 * w0 + e3 * w1 + e6 * w2
        out[k, w + 1] = e1 * w0 + e4 * w1 + e7 * w2
        out[k, w + 2] = e2 * w0 + e5 * w1 + e8 * w2
        out[k, w + 3] = e0 * l0 + e3 * l1 + e6 * l2
        out[k, w + 4] = e1 * l0 + e4 * l1 + e7 * l2
        out[k, w + 5] = e2 * l0 + e5 * l1 + e8 * l2


@leaf
def rows_to_child(pose, i, p, a, j, q, columns, out, k, s):
    """Out = X A, where A has 6 rows of `columns`."""
    e0, e1, e2, e3 = pose[i, p], pose[i, p + 1], pose[i, p + 2], pose[i, p + 3]
    e4, e5, e6, e7, e8 = pose[i, p + 4], pose[i, p + 5], pose[i, p + 6], pose[i, p + 7], pose[i, p + 8]
    x, y, z = pose[i, p + 9], pose[i, p + 10], pose[i, p + 11]
    n = columns
    for c in range(n):
        u, w = q + c, s + c
        w0, w1, w2 = a[j, u], a[j, u + n], a[j, u + 2 * n]
        l0 = a[j, u + 3 * n] + w1 * z - w2 * y
        l1 = a[j, u + 4 * n] + w2 * x - w0 * z
        l2 = a[j, u + 5 * n] + w0 * y - w1 * x
        out[k, w] = e0 * w0 + e3 * w1 + e6 * w2
        out[k, w + n] = e1 * w0 + e4 * w1 + e7 * w2
        out[k, w + 2 * n] = e2 * w0 + e5 * w1 + e8 * w2
        out[k, w + 3 * n] = e0 * l0 + e3 * l1 + e6 * l2
        out[k, w + 4 * n] = e1 * l0 + e4 * l1 + e7 * l2
        out[k, w + 5 * n] = e2 * l0 + e5 * l1 + e8 * l2


@leaf
def motion_to_child(pose, i, p, x, j, q):
    """Move a motion vector to the child's frame, in place."""
    w0, w1, w2 = x[j, q], x[j, q + 1], x[j, q + 2]
    l0 = x[j, q + 3] + w1 * pose[i, p + 11] - w2 * pose[i, p + 10]
    l1 = x[j, q + 4] + w2 * pose[i, p + 9] - w0 * pose[i, p + 11]
    l2 = x[j, q + 5] + w0 * pose[i, p + 10] - w1 * pose[i, p + 9]
    for a in range(3):
        x[j, q + a] = pose[i, p + a] * w0 + pose[i, p + 3 + a] * w1 + pose[i, p + 6 + a] * w2
        x[j, q + 3 + a] = pose[i, p + a] * l0 + pose[i, p + 3 + a] * l1 + pose[i, p + 6 + a] * l2


@leaf
def turn_to_child(pose, i, p, x, j, q):
    """Turn three numbers from the parent's axes to the child's, in place."""
    x0, x1, x2 = x[j, q], x[j, q + 1], x[j, q + 2]
    for a in range(3):
        x[j, q + a] = pose[i, p + a] * x0 + pose[i, p + 3 + a] * x1 + pose[i, p + 6 + a] * x2


@leaf
def wrench_to_parent(pose, i, p, f, j, q):
    """Move a wrench to the parent's frame, in place."""
    f0, f1, f2, f3, f4, f5 = f[j, q], f[j, q + 1], f[j, q + 2], f[j, q + 3], f[j, q + 4], f[j, q + 5]
    x = pose[i, p] * f3 + pose[i, p + 1] * f4 + pose[i, p + 2] * f5
    y = pose[i, p + 3] * f3 + pose[i, p + 4] * f4 + pose[i, p + 5] * f5
    z = pose[i, p + 6] * f3 + pose[i, p + 7] * f4 + pose[i, p + 8] * f5
    rx, ry, rz = pose[i, p + 9], pose[i, p + 10], pose[i, p + 11]
    f[j, q] = pose[i, p] * f0 + pose[i, p + 1] * f1 + pose[i, p + 2] * f2 + ry * z - rz * y
    f[j, q + 1] = pose[i, p + 3] * f0 + pose[i, p + 4] * f1 + pose[i, p + 5] * f2 + rz * x - rx * z
    f[j, q + 2] = pose[i, p + 6] * f0 + pose[i, p + 7] * f1 + pose[i, p + 8] * f2 + rx * y - ry * x
    f[j, q + 3], f[j, q + 4], f[j, q + 5] = x, y, z


@leaf
def compose(a, i, p, b, j, q, out, k, s):
    """Write the pose b, given in the frame of the pose a, in the frame that a is given in; out may be either."""
    e0, e1, e2, e3 = a[i, p], a[i, p + 1], a[i, p + 2], a[i, p + 3]
    e4, e5, e6, e7, e8 = a[i, p + 4], a[i, p + 5], a[i, p + 6], a[i, p + 7], a[i, p + 8]
    x, y, z = b[j, q + 9], b[j, q + 10], b[j, q + 11]
    px = a[i, p + 9] + e0 * x + e1 * y + e2 * z
    py = a[i, p + 10] + e3 * x + e4 * y + e5 * z
    pz = a[i, p + 11] + e6 * x + e7 * y + e8 * z
    for c in range(3):
        b0, b1, b2 = b[j, q + c], b[j, q + 3 + c], b[j, q + 6 + c]
        r0 = e0 * b0 + e1 * b1 + e2 * b2
        r1 = e3 * b0 + e4 * b1 + e5 * b2
        r2 = e6 * b0 + e7 * b1 + e8 * b2
        out[k, s + c], out[k, s + 3 + c], out[k, s + 6 + c] = r0, r1, r2
    out[k, s + 9], out[k, s + 10], out[k, s + 11] = px, py, pz


@leaf
def inverse_3(a, b, c, d, e, f):
    """Return the inverse of the symmetric [[a, b, c], [b, d, e], [c, e, f]] in the same order, and its least pivot.

    By L D L': the inverse is the sum over the rows of L^-1 of their squares over the pivots. A pivot is relative to
    what stood on the diagonal, so a number near 0 (or below) means that the matrix is not positive definite.
    """
    i1 = 1.0 / a
    b1, c1 = b * i1, c * i1
    d2, e2, f2 = d - b * b1, e - b * c1, f - c * c1
    i2 = 1.0 / d2
    e3 = e2 * i2
    f3 = f2 - e2 * e3
    i3 = 1.0 / f3
    g = b1 * e3 - c1
    least = min(a, d2 / d, f3 / f)
    return i1 + b1 * b1 * i2 + g * g * i3, -b1 * i2 - g * e3 * i3, g * i3, i2 + e3 * e3 * i3, -e3 * i3, i3, least


@leaf
def inverse_spd(a, i, p, out, k, s):
    """Write the inverse of a symmetric positive definite block; False where it is not positive definite.

    By 3 x 3 blocks [[A, B], [B', M]]: with F = B M^-1 and S = A - F B' the inverse is
    [[S^-1, -S^-1 F], [., M^-1 + F' S^-1 F]].
    """
    b0, b1, b2 = a[i, p + 18], a[i, p + 24], a[i, p + 30]  # B, read from the lower triangle
    b3, b4, b5 = a[i, p + 19], a[i, p + 25], a[i, p + 31]
    b6, b7, b8 = a[i, p + 20], a[i, p + 26], a[i, p + 32]
    m0, m1, m2, m3, m4, m5, good = inverse_3(
        a[i, p + 21], a[i, p + 27], a[i, p + 33], a[i, p + 28], a[i, p + 34], a[i, p + 35]
    )
    f0, f1, f2 = b0 * m0 + b1 * m1 + b2 * m2, b0 * m1 + b1 * m3 + b2 * m4, b0 * m2 + b1 * m4 + b2 * m5
    f3, f4, f5 = b3 * m0 + b4 * m1 + b5 * m2, b3 * m1 + b4 * m3 + b5 * m4, b3 * m2 + b4 * m4 + b5 * m5
    f6, f7, f8 = b6 * m0 + b7 * m1 + b8 * m2, b6 * m1 + b7 * m3 + b8 * m4, b6 * m2 + b7 * m4 + b8 * m5
    s0, s1, s2, s3, s4, s5, fine = inverse_3(
        a[i, p] - f0 * b0 - f1 * b1 - f2 * b2,
        a[i, p + 6] - f0 * b3 - f1 * b4 - f2 * b5,
        a[i, p + 12] - f0 * b6 - f1 * b7 - f2 * b8,
        a[i, p + 7] - f3 * b3 - f4 * b4 - f5 * b5,
        a[i, p + 13] - f3 * b6 - f4 * b7 - f5 * b8,
        a[i, p + 14] - f6 * b6 - f7 * b7 - f8 * b8,
    )
    g0, g1, g2 = s0 * f0 + s1 * f3 + s2 * f6, s0 * f1 + s1 * f4 + s2 * f7, s0 * f2 + s1 * f5 + s2 * f8
    g3, g4, g5 = s1 * f0 + s3 * f3 + s4 * f6, s1 * f1 + s3 * f4 + s4 * f7, s1 * f2 + s3 * f5 + s4 * f8
    g6, g7, g8 = s2 * f0 + s4 * f3 + s5 * f6, s2 * f1 + s4 * f4 + s5 * f7, s2 * f2 + s4 * f5 + s5 * f8
    n0, n1, n2 = m0 + f0 * g0 + f3 * g3 + f6 * g6, m1 + f0 * g1 + f3 * g4 + f6 * g7, m2 + f0 * g2 + f3 * g5 + f6 * g8
    n3, n4, n5 = m3 + f1 * g1 + f4 * g4 + f7 * g7, m4 + f1 * g2 + f4 * g5 + f7 * g8, m5 + f2 * g2 + f5 * g5 + f8 * g8
    _row(out, k, s, s0, s1, s2, -g0, -g1, -g2)
    _row(out, k, s + 6, s1, s3, s4, -g3, -g4, -g5)
    _row(out, k, s + 12, s2, s4, s5, -g6, -g7, -g8)
    _row(out, k, s + 18, -g0, -g3, -g6, n0, n1, n2)
    _row(out, k, s + 24, -g1, -g4, -g7, n1, n3, n4)
    _row(out, k, s + 30, -g2, -g5, -g8, n2, n4, n5)
    return min(good, fine) > TINY


@leaf
def _row(out, k, s, a, b, c, d, e, f):
    out[k, s], out[k, s + 1], out[k, s + 2], out[k, s + 3], out[k, s + 4], out[k, s + 5] = a, b, c, d, e, f


@leaf
def project_hinge(a, i, p, rotor, out, k, w, u, d):
    """Write W, U and D of a hinge about e3 straight from K = Phi2A + Phi1B (see `dca.py`); False where K is singular.

    Without a rotor W is the inverse of K without the hinge's row and column, and zero there: with the other five
    in blocks of 2 (turning) and 3 (moving) that is half the work of inverting K first. z = [-W k; 1] and sigma (the
    Schur complement) give V e3 = z / sigma, and the rotor J adds z z' J / (1 + J sigma) to W.
    """
    b0, b1, b2 = a[i, p + 18], a[i, p + 24], a[i, p + 30]
    b3, b4, b5 = a[i, p + 19], a[i, p + 25], a[i, p + 31]
    m0, m1, m2, m3, m4, m5, good = inverse_3(
        a[i, p + 21], a[i, p + 27], a[i, p + 33], a[i, p + 28], a[i, p + 34], a[i, p + 35]
    )
    f0, f1, f2 = b0 * m0 + b1 * m1 + b2 * m2, b0 * m1 + b1 * m3 + b2 * m4, b0 * m2 + b1 * m4 + b2 * m5
    f3, f4, f5 = b3 * m0 + b4 * m1 + b5 * m2, b3 * m1 + b4 * m3 + b5 * m4, b3 * m2 + b4 * m4 + b5 * m5
    s0 = a[i, p] - f0 * b0 - f1 * b1 - f2 * b2
    s1 = a[i, p + 6] - f0 * b3 - f1 * b4 - f2 * b5
    i0 = 1.0 / s0
    t = s1 * i0
    s3 = a[i, p + 7] - f3 * b3 - f4 * b4 - f5 * b5 - s1 * t
    i3 = 1.0 / s3
    good = min(good, s0, s3)
    s0, s1, s3 = i0 + t * t * i3, -t * i3, i3
    g0, g1, g2 = s0 * f0 + s1 * f3, s0 * f1 + s1 * f4, s0 * f2 + s1 * f5
    g3, g4, g5 = s1 * f0 + s3 * f3, s1 * f1 + s3 * f4, s1 * f2 + s3 * f5
    n0, n1, n2 = m0 + f0 * g0 + f3 * g3, m1 + f0 * g1 + f3 * g4, m2 + f0 * g2 + f3 * g5
    n3, n4, n5 = m3 + f1 * g1 + f4 * g4, m4 + f1 * g2 + f4 * g5, m5 + f2 * g2 + f5 * g5
    k0, k1, k3, k4, k5 = a[i, p + 12], a[i, p + 13], a[i, p + 20], a[i, p + 26], a[i, p + 32]
    z0 = s0 * k0 + s1 * k1 - g0 * k3 - g1 * k4 - g2 * k5
    z1 = s1 * k0 + s3 * k1 - g3 * k3 - g4 * k4 - g5 * k5
    z3 = n0 * k3 + n1 * k4 + n2 * k5 - g0 * k0 - g3 * k1
    z4 = n1 * k3 + n3 * k4 + n4 * k5 - g1 * k0 - g4 * k1
    z5 = n2 * k3 + n4 * k4 + n5 * k5 - g2 * k0 - g5 * k1
    sigma = a[i, p + 14] - k0 * z0 - k1 * z1 - k3 * z3 - k4 * z4 - k5 * z5
    part = 1.0 / (1.0 + rotor * sigma)
    _row(out, k, u, -part * z0, -part * z1, part, -part * z3, -part * z4, -part * z5)
    out[k, d] = part * sigma
    _row(out, k, w, s0, s1, 0.0, -g0, -g1, -g2)
    _row(out, k, w + 6, s1, s3, 0.0, -g3, -g4, -g5)
    _row(out, k, w + 12, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    _row(out, k, w + 18, -g0, -g3, 0.0, n0, n1, n2)
    _row(out, k, w + 24, -g1, -g4, 0.0, n1, n3, n4)
    _row(out, k, w + 30, -g2, -g5, 0.0, n2, n4, n5)
    if rotor > 0.0:
        for r in range(6):
            x = -rotor * out[k, u + r]
            for c in range(6):
                out[k, w + 6 * r + c] -= x * out[k, u + c] / part
    return min(good, sigma) > 0.0


@leaf
def symmetric_to_child(pose, i, p, a, j, q, out, k, s):
    """Out = X A X' for a symmetric A; only the lower triangle of out is written."""
    e0, e1, e2, e3 = pose[i, p], pose[i, p + 1], pose[i, p + 2], pose[i, p + 3]
    e4, e5, e6, e7, e8 = pose[i, p + 4], pose[i, p + 5], pose[i, p + 6], pose[i, p + 7], pose[i, p + 8]
    x, y, z = pose[i, p + 9], pose[i, p + 10], pose[i, p + 11]
    a0, a1, a2, a3, a4, a5 = a[j, q], a[j, q + 6], a[j, q + 12], a[j, q + 7], a[j, q + 13], a[j, q + 14]
    b0, b1, b2 = a[j, q + 18], a[j, q + 24], a[j, q + 30]  # rows turn, columns move
    b3, b4, b5 = a[j, q + 19], a[j, q + 25], a[j, q + 31]
    b6, b7, b8 = a[j, q + 20], a[j, q + 26], a[j, q + 32]
    m0, m1, m2 = a[j, q + 21], a[j, q + 27], a[j, q + 33]
    m3, m4, m5 = a[j, q + 28], a[j, q + 34], a[j, q + 35]
    # the point moves by r: a_lin + alpha x r, so B' = B - A [r] and M' = M - [r]' B - (B - A [r])' [r]
    g0, g1, g2 = b0 + a1 * z - a2 * y, b1 + a2 * x - a0 * z, b2 + a0 * y - a1 * x
    g3, g4, g5 = b3 + a3 * z - a4 * y, b4 + a4 * x - a1 * z, b5 + a1 * y - a3 * x
    g6, g7, g8 = b6 + a4 * z - a5 * y, b7 + a5 * x - a2 * z, b8 + a2 * y - a4 * x
    m0 += z * b3 - y * b6 + z * g3 - y * g6
    m1 += x * b6 - z * b0 + z * g4 - y * g7
    m2 += y * b0 - x * b3 + z * g5 - y * g8
    m3 += x * b7 - z * b1 + x * g7 - z * g1
    m4 += y * b1 - x * b4 + x * g8 - z * g2
    m5 += y * b2 - x * b5 + y * g2 - x * g5
    # turn: E' A E with E the rotation of the pose
    t0, t1, t2 = a0 * e0 + a1 * e3 + a2 * e6, a0 * e1 + a1 * e4 + a2 * e7, a0 * e2 + a1 * e5 + a2 * e8
    t3, t4, t5 = a1 * e0 + a3 * e3 + a4 * e6, a1 * e1 + a3 * e4 + a4 * e7, a1 * e2 + a3 * e5 + a4 * e8
    t6, t7, t8 = a2 * e0 + a4 * e3 + a5 * e6, a2 * e1 + a4 * e4 + a5 * e7, a2 * e2 + a4 * e5 + a5 * e8
    out[k, s] = e0 * t0 + e3 * t3 + e6 * t6
    out[k, s + 6], out[k, s + 7] = e1 * t0 + e4 * t3 + e7 * t6, e1 * t1 + e4 * t4 + e7 * t7
    out[k, s + 12], out[k, s + 13] = e2 * t0 + e5 * t3 + e8 * t6, e2 * t1 + e5 * t4 + e8 * t7
    out[k, s + 14] = e2 * t2 + e5 * t5 + e8 * t8
    t0, t1, t2 = m0 * e0 + m1 * e3 + m2 * e6, m0 * e1 + m1 * e4 + m2 * e7, m0 * e2 + m1 * e5 + m2 * e8
    t3, t4, t5 = m1 * e0 + m3 * e3 + m4 * e6, m1 * e1 + m3 * e4 + m4 * e7, m1 * e2 + m3 * e5 + m4 * e8
    t6, t7, t8 = m2 * e0 + m4 * e3 + m5 * e6, m2 * e1 + m4 * e4 + m5 * e7, m2 * e2 + m4 * e5 + m5 * e8
    out[k, s + 21] = e0 * t0 + e3 * t3 + e6 * t6
    out[k, s + 27], out[k, s + 28] = e1 * t0 + e4 * t3 + e7 * t6, e1 * t1 + e4 * t4 + e7 * t7
    out[k, s + 33], out[k, s + 34] = e2 * t0 + e5 * t3 + e8 * t6, e2 * t1 + e5 * t4 + e8 * t7
    out[k, s + 35] = e2 * t2 + e5 * t5 + e8 * t8
    t0, t1, t2 = g0 * e0 + g1 * e3 + g2 * e6, g0 * e1 + g1 * e4 + g2 * e7, g0 * e2 + g1 * e5 + g2 * e8
    t3, t4, t5 = g3 * e0 + g4 * e3 + g5 * e6, g3 * e1 + g4 * e4 + g5 * e7, g3 * e2 + g4 * e5 + g5 * e8
    t6, t7, t8 = g6 * e0 + g7 * e3 + g8 * e6, g6 * e1 + g7 * e4 + g8 * e7, g6 * e2 + g7 * e5 + g8 * e8
    out[k, s + 18], out[k, s + 24] = e0 * t0 + e3 * t3 + e6 * t6, e0 * t1 + e3 * t4 + e6 * t7
    out[k, s + 30], out[k, s + 19] = e0 * t2 + e3 * t5 + e6 * t8, e1 * t0 + e4 * t3 + e7 * t6
    out[k, s + 25], out[k, s + 31] = e1 * t1 + e4 * t4 + e7 * t7, e1 * t2 + e4 * t5 + e7 * t8
    out[k, s + 20], out[k, s + 26] = e2 * t0 + e5 * t3 + e8 * t6, e2 * t1 + e5 * t4 + e8 * t7
    out[k, s + 32] = e2 * t2 + e5 * t5 + e8 * t8
