"""From the links to the user's bodies: poses, velocities, accelerations, and sums over all of them."""

from __future__ import annotations

from .._jit import kernel
from . import layout as at
from .kinematics import move_links, place_links, velocity_links, write_axes
from .rnea import push_accelerations
from .spatial import link_inertia


@kernel
def body_poses(topology, constants, q, v, body_links, body_poses_in_link, links, axes, out):
    """Write the pose of every body into `out` (nbodies, 4, 4)."""
    move_links(topology, constants, q, v, links, axes)
    place_links(topology, links)
    for body in range(out.shape[0]):
        i = body_links[body]
        own = body_poses_in_link[body]
        pose = out[body]
        for a in range(3):
            if i < 0:
                for b in range(3):
                    pose[a, b] = own[3 * a + b]
                pose[a, 3] = own[9 + a]
            else:
                r0, r1, r2 = links[i, 3 * a], links[i, 3 * a + 1], links[i, 3 * a + 2]
                for b in range(3):
                    pose[a, b] = r0 * own[b] + r1 * own[3 + b] + r2 * own[6 + b]
                pose[a, 3] = links[i, at.POSITION + a] + r0 * own[9] + r1 * own[10] + r2 * own[11]
            pose[3, a] = 0.0
        pose[3, 3] = 1.0


@kernel
def body_velocities(topology, constants, q, v, body_links, body_poses_in_link, links, axes, out):
    """Write [omega; velocity of the origin] of every body, world axes, into `out` (nbodies, 6)."""
    move_links(topology, constants, q, v, links, axes)
    write_axes(topology, links, axes)
    velocity_links(topology, v, links, axes)
    for body in range(out.shape[0]):
        i = body_links[body]
        if i < 0:
            out[body, :] = 0.0
            continue
        x, y, z = _body_offset(links[i], body_poses_in_link[body])
        wx, wy, wz = links[i, at.OMEGA], links[i, at.OMEGA + 1], links[i, at.OMEGA + 2]
        out[body, 0], out[body, 1], out[body, 2] = wx, wy, wz
        out[body, 3] = links[i, at.VELOCITY] + wy * z - wz * y
        out[body, 4] = links[i, at.VELOCITY + 1] + wz * x - wx * z
        out[body, 5] = links[i, at.VELOCITY + 2] + wx * y - wy * x


@kernel
def body_accelerations(topology, constants, q, v, a, body_links, body_poses_in_link, links, axes, out):
    """Write [angular; linear of the origin] acceleration of every body, world axes, into `out` (nbodies, 6)."""
    move_links(topology, constants, q, v, links, axes)
    write_axes(topology, links, axes)
    push_accelerations(topology, a, (0.0, 0.0, 0.0), links, axes)
    for body in range(out.shape[0]):
        i = body_links[body]
        if i < 0:
            out[body, :] = 0.0
            continue
        x, y, z = _body_offset(links[i], body_poses_in_link[body])
        wx, wy, wz = links[i, at.OMEGA], links[i, at.OMEGA + 1], links[i, at.OMEGA + 2]
        own = links[i, at.ACCELERATION : at.ACCELERATION + 6]
        tx, ty, tz = wy * z - wz * y, wz * x - wx * z, wx * y - wy * x
        out[body, 0], out[body, 1], out[body, 2] = own[0], own[1], own[2]
        out[body, 3] = own[3] + own[1] * z - own[2] * y + wy * tz - wz * ty
        out[body, 4] = own[4] + own[2] * x - own[0] * z + wz * tx - wx * tz
        out[body, 5] = own[5] + own[0] * y - own[1] * x + wx * ty - wy * tx


@kernel
def _body_offset(row, own):
    """Return the body's origin relative to its link's, world axes."""
    x = row[0] * own[9] + row[1] * own[10] + row[2] * own[11]
    y = row[3] * own[9] + row[4] * own[10] + row[5] * own[11]
    z = row[6] * own[9] + row[7] * own[10] + row[8] * own[11]
    return x, y, z


@kernel
def totals(topology, constants, diagonal, q, v, links, axes, out):
    """Write into `out` (11): kinetic energy, m com (3), linear (3) and angular (3, about the origin) momentum, mass.

    Kinetic energy includes the rotors (`diagonal`); the sums of the bodies that cannot move are not in here.
    """
    move_links(topology, constants, q, v, links, axes)
    write_axes(topology, links, axes)
    place_links(topology, links)
    velocity_links(topology, v, links, axes)
    out[:] = 0.0
    for k in range(v.shape[0]):
        out[0] += 0.5 * diagonal[k] * v[k] * v[k]
    for i in range(topology.shape[0]):
        link_inertia(constants, links, i)
        row = links[i]
        m = constants[i, at.MASS]
        hx, hy, hz = row[at.INERTIA_B + 7], row[at.INERTIA_B + 2], row[at.INERTIA_B + 3]
        wx, wy, wz = row[at.OMEGA], row[at.OMEGA + 1], row[at.OMEGA + 2]
        vx, vy, vz = row[at.VELOCITY], row[at.VELOCITY + 1], row[at.VELOCITY + 2]
        px, py, pz = row[at.POSITION], row[at.POSITION + 1], row[at.POSITION + 2]
        A = row[at.INERTIA_A : at.INERTIA_A + 6]
        jx, jy, jz = (
            A[0] * wx + A[1] * wy + A[2] * wz,
            A[1] * wx + A[3] * wy + A[4] * wz,
            A[2] * wx + A[4] * wy + A[5] * wz,
        )
        lx, ly, lz = m * vx + wy * hz - wz * hy, m * vy + wz * hx - wx * hz, m * vz + wx * hy - wy * hx
        kx, ky, kz = jx + hy * vz - hz * vy, jy + hz * vx - hx * vz, jz + hx * vy - hy * vx
        out[0] += 0.5 * (wx * kx + wy * ky + wz * kz + vx * lx + vy * ly + vz * lz)
        out[1] += m * px + hx
        out[2] += m * py + hy
        out[3] += m * pz + hz
        out[4] += lx
        out[5] += ly
        out[6] += lz
        out[7] += kx + py * lz - pz * ly
        out[8] += ky + pz * lx - px * lz
        out[9] += kz + px * ly - py * lx
        out[10] += m
