"""The constraint matrix K (Kokkevis 2004, section 4) by three routes: test forces, acceleration deltas, shared paths.

A constraint row is a wrench on up to two links (world axes, about the link's origin) and a joint force: `row_links`
(m, 2), `row_wrenches` (m, 12), and joint forces as entries (`first`, `dofs`, `values`), those of row i from `first[i]`
to `first[i + 1]`. Its value is the sum of these times the accelerations of the links and of the joints.
"""

from __future__ import annotations

from .._jit import kernel
from . import layout as at
from .aba import accelerate, eliminate_joints
from .kinematics import write_axes
from .spatial import prepare_links
from .weave import drain, pour, pour_joint_force, root_factors


@kernel
def evaluate(row, row_links, row_wrenches, first, dofs, values, moved, a):
    """Return the value of a row for accelerations of links `moved` (nlinks, 6) and joints `a` (nv)."""
    total = 0.0
    for side in range(2):
        i = row_links[row, side]
        if i >= 0:
            for c in range(6):
                total += row_wrenches[row, 6 * side + c] * moved[i, c]
    for k in range(first[row], first[row + 1]):
        total += values[k] * a[dofs[k]]
    return total


@kernel
def by_test_forces(
    topology, constants, armature, q, v, tau, gravity, row_links, row_wrenches, first, dofs, values, links, axes, left,
    a, before, K,
):  # fmt: skip
    """Section 4.2: one whole run of the articulated-body algorithm for each test force; returns a singular link or -1.

    `before` (m) takes the values of the rows without constraint forces, J qdd, where links feel gravity.
    """
    m = row_links.shape[0]
    moved = links[:, at.ACCELERATION : at.ACCELERATION + 6]
    for turn in range(-1, m):
        prepare_links(topology, constants, q, v, links, axes)
        for k in range(tau.shape[0]):
            left[k] = tau[k]
        if turn >= 0:
            for side in range(2):
                i = row_links[turn, side]
                if i >= 0:
                    for c in range(6):
                        links[i, at.FORCE + c] -= row_wrenches[turn, 6 * side + c]
            for k in range(first[turn], first[turn + 1]):
                left[dofs[k]] += values[k]
        bad = eliminate_joints(topology, armature, left, links, axes)
        if bad >= 0:
            return bad
        accelerate(topology, gravity, links, axes, a)
        for row in range(m):
            value = evaluate(row, row_links, row_wrenches, first, dofs, values, moved, a)
            if turn < 0:
                before[row] = value
            else:
                K[row, turn] = value - before[row]
    return -1


@kernel
def factor(topology, constants, armature, q, v, tau, gravity, links, axes, left, a, roots):
    """Run the articulated-body algorithm once and keep what the other routes need; returns a singular link or -1."""
    prepare_links(topology, constants, q, v, links, axes)
    for k in range(tau.shape[0]):
        left[k] = tau[k]
    bad = eliminate_joints(topology, armature, left, links, axes)
    if bad >= 0:
        return bad
    accelerate(topology, gravity, links, axes, a)
    write_axes(topology, links, axes)
    root_factors(topology, axes, roots)
    return -1


@kernel
def by_deltas(topology, links, axes, row_links, row_wrenches, first, dofs, values, share, wrenches, moved, a, K):
    """Section 4.3: pass each test force to the roots, and its effect out again to all links.

    `share` (nv) must hold zeros; `wrenches` and `moved` (nlinks, 6) and `a` (nv) are scratch, `wrenches` of zeros.
    """
    n = topology.shape[0]
    m = row_links.shape[0]
    for turn in range(m):
        top = -1
        for side in range(2):
            i = row_links[turn, side]
            if i >= 0:
                for c in range(6):
                    wrenches[i, c] += row_wrenches[turn, 6 * side + c]
                top = max(top, i)
        for k in range(first[turn], first[turn + 1]):
            share[dofs[k]] = values[k]
            top = n - 1
        for i in range(top, -1, -1):
            _inbound(topology, links, axes, i, share, wrenches)
        _outbound(topology, links, axes, share, moved, a)
        for k in range(share.shape[0]):
            share[k] = 0.0
        for row in range(m):
            K[row, turn] = evaluate(row, row_links, row_wrenches, first, dofs, values, moved, a)


@kernel
def _inbound(topology, links, axes, i, share, wrenches):
    """Leave u = S' f in the joint of link i, which keeps D^-1 u, and pass f - U D^-1 u to the parent."""
    k, dof = topology[i, at.V], topology[i, at.DOF]
    f0, f1, f2 = wrenches[i, 0], wrenches[i, 1], wrenches[i, 2]
    f3, f4, f5 = wrenches[i, 3], wrenches[i, 4], wrenches[i, 5]
    if topology[i, at.KIND] == at.REVOLUTE:
        u = share[k] + links[i, 2] * f0 + links[i, 5] * f1 + links[i, 8] * f2
        pa = topology[i, at.PARENT]
        share[k] = u
        wrenches[i, 0] = wrenches[i, 1] = wrenches[i, 2] = wrenches[i, 3] = wrenches[i, 4] = wrenches[i, 5] = 0.0
        if pa >= 0:
            u *= axes[k, at.DINV]
            f3, f4, f5 = f3 - axes[k, 3] * u, f4 - axes[k, 4] * u, f5 - axes[k, 5] * u
            x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
            wrenches[pa, 0] += f0 - axes[k, 0] * u + y * f5 - z * f4
            wrenches[pa, 1] += f1 - axes[k, 1] * u + z * f3 - x * f5
            wrenches[pa, 2] += f2 - axes[k, 2] * u + x * f4 - y * f3
            wrenches[pa, 3] += f3
            wrenches[pa, 4] += f4
            wrenches[pa, 5] += f5
        return
    some = f0 != 0.0 or f1 != 0.0 or f2 != 0.0 or f3 != 0.0 or f4 != 0.0 or f5 != 0.0
    for r in range(k, k + dof):
        if some:
            share[r] += (
                axes[r, at.S] * f0 + axes[r, at.S + 1] * f1 + axes[r, at.S + 2] * f2 + axes[r, at.S + 3] * f3
                + axes[r, at.S + 4] * f4 + axes[r, at.S + 5] * f5
            )  # fmt: skip
        some = some or share[r] != 0.0
    if not some:
        return
    for c in range(6):
        wrenches[i, c] = 0.0
    pa = topology[i, at.PARENT]
    if pa < 0:
        return
    for r in range(k, k + dof):
        rate = 0.0
        for c in range(dof):
            rate += axes[r, at.DINV + c] * share[k + c]
        f0 -= axes[r, 0] * rate
        f1 -= axes[r, 1] * rate
        f2 -= axes[r, 2] * rate
        f3 -= axes[r, 3] * rate
        f4 -= axes[r, 4] * rate
        f5 -= axes[r, 5] * rate
    x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
    wrenches[pa, 0] += f0 + y * f5 - z * f4
    wrenches[pa, 1] += f1 + z * f3 - x * f5
    wrenches[pa, 2] += f2 + x * f4 - y * f3
    wrenches[pa, 3] += f3
    wrenches[pa, 4] += f4
    wrenches[pa, 5] += f5


@kernel
def _outbound(topology, links, axes, share, moved, out):
    """Write how all joints and links answer to the shares of a test force."""
    for i in range(topology.shape[0]):
        pa, k, dof = topology[i, at.PARENT], topology[i, at.V], topology[i, at.DOF]
        a0 = a1 = a2 = a3 = a4 = a5 = 0.0
        if pa >= 0:
            x, y, z = links[i, at.ARM], links[i, at.ARM + 1], links[i, at.ARM + 2]
            a0, a1, a2 = moved[pa, 0], moved[pa, 1], moved[pa, 2]
            a3 = moved[pa, 3] + a1 * z - a2 * y
            a4 = moved[pa, 4] + a2 * x - a0 * z
            a5 = moved[pa, 5] + a0 * y - a1 * x
        if topology[i, at.KIND] == at.REVOLUTE:
            dot = (
                axes[k, 0] * a0 + axes[k, 1] * a1 + axes[k, 2] * a2 + axes[k, 3] * a3 + axes[k, 4] * a4
                + axes[k, 5] * a5
            )  # fmt: skip
            rate = (share[k] - dot) * axes[k, at.DINV]
            out[k] = rate
            a0 += links[i, 2] * rate
            a1 += links[i, 5] * rate
            a2 += links[i, 8] * rate
        else:
            for r in range(k, k + dof):
                share[r] -= (
                    axes[r, 0] * a0 + axes[r, 1] * a1 + axes[r, 2] * a2 + axes[r, 3] * a3 + axes[r, 4] * a4
                    + axes[r, 5] * a5
                )  # fmt: skip
            for r in range(k, k + dof):
                rate = 0.0
                for c in range(dof):
                    rate += axes[r, at.DINV + c] * share[k + c]
                out[r] = rate
            for r in range(k, k + dof):
                rate = out[r]
                a0 += axes[r, at.S] * rate
                a1 += axes[r, at.S + 1] * rate
                a2 += axes[r, at.S + 2] * rate
                a3 += axes[r, at.S + 3] * rate
                a4 += axes[r, at.S + 4] * rate
                a5 += axes[r, at.S + 5] * rate
        moved[i, 0], moved[i, 1], moved[i, 2] = a0, a1, a2
        moved[i, 3], moved[i, 4], moved[i, 5] = a3, a4, a5


@kernel
def by_paths(
    topology, links, roots, row_links, row_wrenches, first, dofs, values, link_of, stamp, f, torque, starts, cols,
    vals, z, K,
):  # fmt: skip
    """The third route: one sparse row of W a constraint, and products over the joints that two rows share.

    `link_of` (nv) names the link of each freedom; `stamp` (nlinks) must hold -1; `z` (nv) zeros. `starts` (m + 1) and
    `cols`, `vals` take W. Returns False where they are too short.
    """
    m = row_links.shape[0]
    starts[0] = 0
    for row in range(m):
        count = starts[row]
        for side in range(2):
            i = row_links[row, side]
            if i >= 0:
                for c in range(6):
                    f[c] = row_wrenches[row, 6 * side + c]
                pour(topology, links, roots, i, f, z)
                count = _columns(topology, i, row, stamp, cols, count)
        for k in range(first[row], first[row + 1]):
            i = link_of[dofs[k]]
            for c in range(6):
                torque[c] = 0.0
            torque[dofs[k] - topology[i, at.V]] = values[k]
            pour_joint_force(topology, links, roots, i, torque, f, z)
            count = _columns(topology, i, row, stamp, cols, count)
        if count < 0 or count > cols.shape[0]:
            return False
        for k in range(starts[row], count):
            vals[k] = z[cols[k]]
            z[cols[k]] = 0.0
        starts[row + 1] = count
    for row in range(m):
        end = starts[row + 1]
        plain = _one_path(row, row_links, first)
        if not plain:
            for k in range(starts[row], end):
                z[cols[k]] = vals[k]
        for other in range(row + 1):
            total, close = 0.0, starts[other + 1]
            if plain and _one_path(other, row_links, first):
                low, high = 0, min(end - starts[row], close - starts[other])
                while low < high:  # what two paths share is the end of both
                    middle = (low + high + 1) // 2
                    if cols[end - middle] == cols[close - middle]:
                        low = middle
                    else:
                        high = middle - 1
                for k in range(low):
                    total += vals[end - low + k] * vals[close - low + k]
            elif plain:
                for k in range(starts[other], close):
                    z[cols[k]] = vals[k]
                for k in range(starts[row], end):
                    total += vals[k] * z[cols[k]]
                for k in range(starts[other], close):
                    z[cols[k]] = 0.0
            else:
                for k in range(starts[other], close):
                    total += vals[k] * z[cols[k]]
            K[row, other] = K[other, row] = total
        if not plain:
            for k in range(starts[row], end):
                z[cols[k]] = 0.0
    return True


@kernel
def _one_path(row, row_links, first):
    """Whether the columns of a row are those of one link's path to the root."""
    return (row_links[row, 0] < 0 or row_links[row, 1] < 0) and first[row] == first[row + 1]


@kernel
def _columns(topology, i, row, stamp, cols, count):
    """List the freedoms from link i to the root that row `row` has not met; a count beyond `cols` means no room."""
    while i >= 0 and stamp[i] != row:
        stamp[i] = row
        for k in range(topology[i, at.V], topology[i, at.V] + topology[i, at.DOF]):
            if count < cols.shape[0]:
                cols[count] = k
            count += 1
        i = topology[i, at.PARENT]
    return count


@kernel
def answer(topology, links, axes, roots, starts, cols, vals, forces, y, moved, out):
    """Write the joint accelerations that constraint forces cause into `out`; `y` (nv) is scratch."""
    for k in range(y.shape[0]):
        y[k] = 0.0
    for row in range(forces.shape[0]):
        for k in range(starts[row], starts[row + 1]):
            y[cols[k]] += vals[k] * forces[row]
    drain(topology, links, axes, roots, y, moved, out)
