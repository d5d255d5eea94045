"""Pose fitting: the configuration that brings a body's markers to the measured ones, frame by frame.

The springs of the markers, of the joints toward rest and against their stops, and a weak hold on the expected pose
balance, which is a least-squares problem (Liu, Cooper and Ballard, "Pose Fitting", at rest): minimise

    sum_m w_m rho(|p_m - x_m(q)|) + sum_k k_k (q - rest)_k^2 / 2 + stops + hold

by Gauss-Newton steps with damping. A marker of weight w is a point mass w to the matrix of a step, so the matrix is
the mass matrix of the markers and the composite-rigid-body recursion builds it in O(nv depth); the slope is a pass of
forces from the tips to the roots. `rho` grows linearly beyond `huber` metres, so that a marker that jumps pulls no
harder than one that is off by that much.

`prior` float64 (ncolumns, 6): rest, stiffness, lower stop, upper stop, stiffness of the stops, stiffness of the hold.
A column is a degree of freedom, or a coordinate where joints follow coordinates (`rows` not empty).
"""

from __future__ import annotations

import math

from .._jit import kernel
from . import layout as at
from .coordinates import place_coordinates
from .crba import compose
from .kinematics import move_links, place_links, write_axes
from .manifold import difference, integrate

REST, STIFF, LOW, HIGH, STOP, HOLD = 0, 1, 2, 3, 4, 5


@kernel
def follow_frames(topology, constants, rows, pieces, marker_links, points, weights, targets, prior, neutral, settings,
                  start, coordinates, work, links, axes, matrix, out_u, out_q, out_x, out_info):
    """Fit every frame of `targets` (n, m, 3; NaN is a gap), each from the one before.

    `start` (ncolumns or nq) is the first guess; `settings`: iterations, tolerance [rad, m], huber [m], damping,
    prediction (0 or 1). Writes the coordinates and q of every frame, where the model's markers are (n, m, 3), and per
    frame the iterations and the cost.
    """
    n, nq = targets.shape[0], neutral.shape[0]
    mapped = rows.shape[0] > 0
    width = start.shape[0]
    for t in range(n):
        guess = work[0, :width]
        if t == 0:
            for k in range(width):
                guess[k] = start[k]
        else:
            for k in range(width):
                guess[k] = out_u[t - 1, k] if mapped else out_q[t - 1, k]
            if t > 1 and settings[4] > 0:
                _predict(topology, mapped, t, out_u, out_q, guess, work, settings[4])
        out_info[t, 0] = fit_pose(topology, constants, rows, pieces, marker_links, points, weights, targets[t], prior,
                                  neutral, settings, coordinates, guess, work, links, axes, matrix, out_x[t],
                                  out_info[t])
        for k in range(width):
            if mapped:
                out_u[t, k] = guess[k]
            else:
                out_q[t, k] = guess[k]
        if mapped:
            for k in range(nq):
                out_q[t, k] = work[3, k]


@kernel
def _predict(topology, mapped, t, out_u, out_q, guess, work, share):
    """Move the guess on as the last two frames moved."""
    if mapped:
        for k in range(guess.shape[0]):
            guess[k] += share * (out_u[t - 1, k] - out_u[t - 2, k])
        return
    step = work[1]
    difference(topology, out_q[t - 2], out_q[t - 1], step)
    integrate(topology, out_q[t - 1], step, share, guess)


@kernel
def fit_pose(topology, constants, rows, pieces, marker_links, points, weights, target, prior, neutral, settings,
             coordinates, guess, work, links, axes, matrix, placed, info):
    """Improve `guess` until it fits `target` (m, 3); returns the steps. `work` is scratch (12, max(nq, nv))."""
    mapped = rows.shape[0] > 0
    columns = prior.shape[0]
    width = guess.shape[0]
    hold, trial, step, slope = work[2, :width], work[4, :width], work[5], work[6]
    for k in range(width):
        hold[k] = guess[k]
        trial[k] = guess[k]
    damping = settings[3]
    cost = 1e300
    steps = 0
    tries = 0
    while True:
        new = _assemble(topology, constants, rows, pieces, marker_links, points, weights, target, prior, neutral,
                        settings[2], coordinates, trial, hold, work, links, axes, matrix, slope, placed)
        tries += 1
        if new <= cost:
            small = cost - new <= 1e-10 * new
            cost = new
            for k in range(width):
                guess[k] = trial[k]
            damping = max(0.2 * damping, 1e-9)
            largest = 0.0
            for k in range(columns):
                matrix[k, k] *= 1.0 + damping
                matrix[k, k] += 1e-9
            solve_positive(matrix, slope, step, columns)
            for k in range(columns):
                largest = max(largest, abs(step[k]))
            if largest > 1.0:
                for k in range(columns):
                    step[k] /= largest
            steps += 1
            if small or largest < settings[1] or steps > settings[0]:
                break
            _move(topology, mapped, guess, step, 1.0, trial)
        else:
            if tries > 4 * settings[0] or cost - new > -1e-12 * cost:
                break
            damping = max(10.0 * damping, 1e-6)
            for k in range(columns):
                step[k] *= 0.3
            largest = 0.0
            for k in range(columns):
                largest = max(largest, abs(step[k]))
            if largest < 0.1 * settings[1]:
                break
            _move(topology, mapped, guess, step, 1.0, trial)
    _place(topology, constants, rows, pieces, marker_links, points, coordinates, guess, work, links, axes, placed)
    info[1] = cost
    return steps


@kernel
def _move(topology, mapped, base, step, share, out):
    if mapped:
        for k in range(base.shape[0]):
            out[k] = base[k] + share * step[k]
    else:
        integrate(topology, base, step, share, out)


@kernel
def _place(topology, constants, rows, pieces, marker_links, points, coordinates, guess, work, links, axes, placed):
    """Move the links to `guess` and write where the markers are on them; q stands in work[3]."""
    q = work[3]
    if rows.shape[0] > 0:
        place_coordinates(rows, pieces, guess, q[: coordinates.shape[1]], coordinates[0], work[7], work[8],
                          coordinates[1], work[9])
    else:
        for k in range(guess.shape[0]):
            q[k] = guess[k]
    move_links(topology, constants, q, work[10], links, axes)
    write_axes(topology, links, axes)
    place_links(topology, links)
    for m in range(points.shape[0]):
        i = marker_links[m]
        x, y, z = points[m, 0], points[m, 1], points[m, 2]
        for a in range(3):
            if i >= 0:
                placed[m, a] = (links[i, at.POSITION + a] + links[i, 3 * a] * x + links[i, 3 * a + 1] * y
                                + links[i, 3 * a + 2] * z)
            else:
                placed[m, a] = points[m, a]


@kernel
def _assemble(topology, constants, rows, pieces, marker_links, points, weights, target, prior, neutral, huber,
              coordinates, trial, hold, work, links, axes, matrix, slope, placed):
    """Return the cost at `trial`; write the matrix and the slope (pointing downhill) of a step, by columns."""
    mapped = rows.shape[0] > 0
    nv = axes.shape[0]
    columns = prior.shape[0]
    _place(topology, constants, rows, pieces, marker_links, points, coordinates, trial, work, links, axes, placed)
    for i in range(topology.shape[0]):
        for k in range(at.INERTIA_A, at.FORCE + 6):
            links[i, k] = 0.0
    cost = 0.0
    for m in range(points.shape[0]):
        i = marker_links[m]
        ex, ey, ez = target[m, 0] - placed[m, 0], target[m, 1] - placed[m, 1], target[m, 2] - placed[m, 2]
        off = math.sqrt(ex * ex + ey * ey + ez * ez)
        w = weights[m]
        if i < 0 or not off < 1e30 or w == 0.0:
            continue
        if off > huber:
            cost += w * huber * (off - 0.5 * huber)
            w *= huber / off
        else:
            cost += 0.5 * w * off * off
        x, y, z = (placed[m, 0] - links[i, at.POSITION], placed[m, 1] - links[i, at.POSITION + 1],
                   placed[m, 2] - links[i, at.POSITION + 2])
        _point_mass(links[i], w, x, y, z)
        ex, ey, ez = w * ex, w * ey, w * ez
        links[i, at.FORCE] += y * ez - z * ey
        links[i, at.FORCE + 1] += z * ex - x * ez
        links[i, at.FORCE + 2] += x * ey - y * ex
        links[i, at.FORCE + 3] += ex
        links[i, at.FORCE + 4] += ey
        links[i, at.FORCE + 5] += ez
    full = matrix[columns:] if mapped else matrix
    forces = work[11]
    zero = work[10]
    for k in range(nv):
        for m in range(nv):
            full[k, m] = 0.0
    _gather(topology, links, axes, forces)
    compose(topology, zero, links, axes, full)
    if mapped:
        source, share = coordinates[0], work[7]
        for c in range(columns):
            slope[c] = 0.0
            for d in range(columns):
                matrix[c, d] = 0.0
        for k in range(nv):
            slope[source[k]] += share[k] * forces[k]
            for m in range(nv):
                if full[k, m] != 0.0:
                    matrix[source[k], source[m]] += share[k] * share[m] * full[k, m]
    else:
        for k in range(nv):
            slope[k] = forces[k]
    return cost + _add_prior(topology, rows, prior, neutral, trial, hold, work, matrix, slope)


@kernel
def _add_prior(topology, rows, prior, neutral, trial, hold, work, matrix, slope):
    """Add rest, stops and hold to the matrix and the slope; returns what they cost."""
    mapped = rows.shape[0] > 0
    angle, ahead = work[8], work[9]
    if not mapped:
        difference(topology, neutral, trial, angle)
        difference(topology, hold, trial, ahead)
    cost = 0.0
    for c in range(prior.shape[0]):
        value = trial[c] if mapped else angle[c]
        moved = trial[c] - hold[c] if mapped else ahead[c]
        if mapped and rows[c, 0] >= 0:
            matrix[c, c] += 1.0  # it follows another one and is not free
            slope[c] = 0.0
            continue
        off = value - prior[c, REST]
        beyond = 0.0
        if value < prior[c, LOW]:
            beyond = value - prior[c, LOW]
        elif value > prior[c, HIGH]:
            beyond = value - prior[c, HIGH]
        stop = prior[c, STOP] if beyond != 0.0 else 0.0
        cost += 0.5 * (prior[c, STIFF] * off * off + stop * beyond * beyond + prior[c, HOLD] * moved * moved)
        slope[c] -= prior[c, STIFF] * off + stop * beyond + prior[c, HOLD] * moved
        matrix[c, c] += prior[c, STIFF] + stop + prior[c, HOLD]
    return cost


@kernel
def _point_mass(row, w, x, y, z):
    """Add a mass `w` at the place x, y, z from the link's origin to the inertia in its row."""
    row[at.INERTIA_A] += w * (y * y + z * z)
    row[at.INERTIA_A + 1] -= w * x * y
    row[at.INERTIA_A + 2] -= w * x * z
    row[at.INERTIA_A + 3] += w * (x * x + z * z)
    row[at.INERTIA_A + 4] -= w * y * z
    row[at.INERTIA_A + 5] += w * (x * x + y * y)
    row[at.INERTIA_B + 1] -= w * z
    row[at.INERTIA_B + 2] += w * y
    row[at.INERTIA_B + 3] += w * z
    row[at.INERTIA_B + 5] -= w * x
    row[at.INERTIA_B + 6] -= w * y
    row[at.INERTIA_B + 7] += w * x
    row[at.INERTIA_M] += w
    row[at.INERTIA_M + 3] += w
    row[at.INERTIA_M + 5] += w


@kernel
def _gather(topology, links, axes, out):
    """Write what the forces on the links do along each degree of freedom, S' f, from the tips to the roots."""
    for i in range(topology.shape[0] - 1, -1, -1):
        pa, at_v = topology[i, at.PARENT], topology[i, at.V]
        p0, p1, p2 = links[i, at.FORCE], links[i, at.FORCE + 1], links[i, at.FORCE + 2]
        p3, p4, p5 = links[i, at.FORCE + 3], links[i, at.FORCE + 4], links[i, at.FORCE + 5]
        for k in range(at_v, at_v + topology[i, at.DOF]):
            s = axes[k, at.S : at.S + 6]
            out[k] = s[0] * p0 + s[1] * p1 + s[2] * p2 + s[3] * p3 + s[4] * p4 + s[5] * p5
        if pa >= 0:
            x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
            links[pa, at.FORCE] += p0 + y * p5 - z * p4
            links[pa, at.FORCE + 1] += p1 + z * p3 - x * p5
            links[pa, at.FORCE + 2] += p2 + x * p4 - y * p3
            links[pa, at.FORCE + 3] += p3
            links[pa, at.FORCE + 4] += p4
            links[pa, at.FORCE + 5] += p5


@kernel
def solve_positive(matrix, right, out, n):
    """Solve a symmetric positive definite system in place of `matrix` (its lower half, L L'); writes `out`."""
    for j in range(n):
        total = matrix[j, j]
        for k in range(j):
            total -= matrix[j, k] * matrix[j, k]
        root = math.sqrt(max(total, 1e-12))
        matrix[j, j] = root
        for i in range(j + 1, n):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = total / root
    for i in range(n):
        total = right[i]
        for k in range(i):
            total -= matrix[i, k] * out[k]
        out[i] = total / matrix[i, i]
    for i in range(n - 1, -1, -1):
        total = out[i]
        for k in range(i + 1, n):
            total -= matrix[k, i] * out[k]
        out[i] = total / matrix[i, i]
