"""Ground forces from contact alone: what the feet's points push so that as little as possible is left at the root.

For every frame, with A the map from the points' forces to a wrench about a point near the feet, and b the wrench that
the movement asks for, and f_i in its friction cone, minimise

    |W (b - A f)|^2 + sum_i (|f_i - s_i f_iz|^2 + f_iz^2) / k_i.

k_i is the stiffness of point i, which falls off with its height and speed: redundant contacts share their load through
their softness (Liu, Cooper and Ballard, "Solving with Complementarity Conditions"). s_i is the way from point i to the
centre of mass over its height: what two feet do against each other, which no movement shows, is taken so that the
forces point there. Projected Gauss-Seidel by points, warm started.
"""

from __future__ import annotations

import math

from .._jit import kernel


@kernel
def contact_frames(points, stiffness, slopes, wanted, weights, friction, sweeps, forces, left):
    """Write the points' `forces` (n, k, 3) and the wrench that is `left` over (n, 6), about the world's origin.

    `points` (n, k, 3), `stiffness` (n, k; 0 where a point is off the ground), `slopes` (n, k, 2) s, `wanted` (n, 6)
    [moment about the world's origin; force], `weights` (6) of the wrench about the points' centre.
    """
    n, k = stiffness.shape
    for t in range(n):
        cx = cy = cz = share = 0.0
        for i in range(k):
            cx += stiffness[t, i] * points[t, i, 0]
            cy += stiffness[t, i] * points[t, i, 1]
            cz += stiffness[t, i] * points[t, i, 2]
            share += stiffness[t, i]
        for r in range(6):
            left[t, r] = wanted[t, r]
        if share <= 0.0:
            continue
        cx, cy, cz = cx / share, cy / share, cz / share
        rx, ry, rz = left[t, 3], left[t, 4], left[t, 5]
        mx, my = left[t, 0] - (cy * rz - cz * ry), left[t, 1] - (cz * rx - cx * rz)
        mz = left[t, 2] - (cx * ry - cy * rx)
        for i in range(k):
            f0 = f1 = f2 = 0.0
            if stiffness[t, i] > 0.0 and t > 0:
                f0, f1, f2 = forces[t - 1, i, 0], forces[t - 1, i, 1], forces[t - 1, i, 2]
            forces[t, i, 0], forces[t, i, 1], forces[t, i, 2] = f0, f1, f2
            x, y, z = points[t, i, 0] - cx, points[t, i, 1] - cy, points[t, i, 2] - cz
            rx, ry, rz = rx - f0, ry - f1, rz - f2
            mx, my, mz = mx - (y * f2 - z * f1), my - (z * f0 - x * f2), mz - (x * f1 - y * f0)
        for _ in range(sweeps):
            change = 0.0
            for i in range(k):
                if stiffness[t, i] <= 0.0:
                    continue
                x, y, z = points[t, i, 0] - cx, points[t, i, 1] - cy, points[t, i, 2] - cz
                soft = 1.0 / stiffness[t, i]
                f0, f1, f2 = forces[t, i, 0], forces[t, i, 1], forces[t, i, 2]
                # the slope of the cost along each axis, over its curvature
                a0 = weights[3] + weights[1] * z * z + weights[2] * y * y + soft
                a1 = weights[4] + weights[0] * z * z + weights[2] * x * x + soft
                sx, sy = slopes[t, i, 0], slopes[t, i, 1]
                h0, h1 = f0 - sx * f2, f1 - sy * f2
                a2 = weights[5] + weights[0] * y * y + weights[1] * x * x + soft * (1.0 + sx * sx + sy * sy)
                g0 = weights[3] * rx + weights[1] * my * z - weights[2] * mz * y - soft * h0
                g1 = weights[4] * ry - weights[0] * mx * z + weights[2] * mz * x - soft * h1
                g2 = weights[5] * rz + weights[0] * mx * y - weights[1] * my * x - soft * (f2 - sx * h0 - sy * h1)
                n2 = max(f2 + 0.6 * g2 / a2, 0.0)
                n0, n1 = f0 + 0.6 * g0 / a0, f1 + 0.6 * g1 / a1
                size = math.sqrt(n0 * n0 + n1 * n1)
                if size > friction * n2:
                    cut = friction * n2 / size
                    n0, n1 = cut * n0, cut * n1
                d0, d1, d2 = n0 - f0, n1 - f1, n2 - f2
                forces[t, i, 0], forces[t, i, 1], forces[t, i, 2] = n0, n1, n2
                rx, ry, rz = rx - d0, ry - d1, rz - d2
                mx, my, mz = mx - (y * d2 - z * d1), my - (z * d0 - x * d2), mz - (x * d1 - y * d0)
                change = max(change, abs(d0) + abs(d1) + abs(d2))
            if change < 1e-4:
                break
        left[t, 0], left[t, 1] = mx + (cy * rz - cz * ry), my + (cz * rx - cx * rz)
        left[t, 2] = mz + (cx * ry - cy * rx)
        left[t, 3], left[t, 4], left[t, 5] = rx, ry, rz
