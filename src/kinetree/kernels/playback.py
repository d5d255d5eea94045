"""Recorded movements played back: by their velocities, and by their torques."""

from __future__ import annotations

from .._jit import allocating, kernel
from .aba import accelerate, eliminate_joints
from .kinematics import place_links, write_axes
from .manifold import difference, integrate, normalize
from .recorded import push_on
from .rnea import collect_forces
from .spatial import prepare_links


@kernel
def carry(topology, times, recorded, v, q, error):
    """Carry q from frame to frame by the mean of two frames' velocities; `error` is its distance from `recorded`."""
    for t in range(1, times.shape[0]):
        step = error[t]
        for k in range(step.shape[0]):
            step[k] = 0.5 * (v[t - 1, k] + v[t, k])
        integrate(topology, q[t - 1], step, times[t] - times[t - 1], q[t])
    for t in range(times.shape[0]):
        difference(topology, recorded[t], q[t], error[t])


@allocating
def play(topology, constants, armature, times, q_goal, v_goal, a_goal, tau_goal, wrenches, wrench_links, gravity,
         substeps, gain, lost, links, axes, work, q_out, v_out, tau_out):
    """Integrate the body under recorded torques and ground forces; returns the frames done.

    With a gain w > 0 the torques are those of the posture in which the body is, for the acceleration
    a + w^2 (q_goal - q) + 2 w (v_goal - v). Torques and forces are linear between the frames.
    """
    n, nv = times.shape[0], v_goal.shape[1]
    nq = q_goal.shape[1]
    q, v, a, tau, goal, off, left, moved = (work[0, :nq], work[1, :nv], work[2, :nv], work[3, :nv], work[4, :nq],
                                            work[5, :nv], work[6, :nv], work[7, :nq])
    for k in range(nq):
        q[k] = q_goal[0, k]
    for k in range(nv):
        v[k] = v_goal[0, k]
        tau[k] = tau_goal[0, k]
    for t in range(n):
        for k in range(nq):
            q_out[t, k] = q[k]
        for k in range(nv):
            v_out[t, k] = v[k]
            tau_out[t, k] = tau[k]
        if t == n - 1:
            break
        h = (times[t + 1] - times[t]) / substeps
        for s in range(substeps):
            part = (s + 0.5) / substeps
            if gain > 0.0:
                difference(topology, q_goal[t], q_goal[t + 1], off)
                integrate(topology, q_goal[t], off, part, goal)
                difference(topology, q, goal, off)
                for k in range(nv):
                    rate = v_goal[t, k] + part * (v_goal[t + 1, k] - v_goal[t, k])
                    a[k] = a_goal[t, k] + part * (a_goal[t + 1, k] - a_goal[t, k])
                    a[k] += gain * gain * off[k] + 2.0 * gain * (rate - v[k])
                _load(topology, constants, q, v, t, part, wrenches, wrench_links, links, axes)
                collect_forces(topology, armature, a, gravity, links, axes, tau)
            else:
                for k in range(nv):
                    tau[k] = tau_goal[t, k] + part * (tau_goal[t + 1, k] - tau_goal[t, k])
            _load(topology, constants, q, v, t, part, wrenches, wrench_links, links, axes)
            for k in range(nv):
                left[k] = tau[k]
            if eliminate_joints(topology, armature, left, links, axes) >= 0:
                return t + 1
            accelerate(topology, gravity, links, axes, a)
            for k in range(nv):
                v[k] += h * a[k]
                if not abs(v[k]) < lost:
                    return t + 1
            integrate(topology, q, v, h, moved)
            for k in range(nq):
                q[k] = moved[k]
            normalize(topology, q)
    return n


@allocating
def _load(topology, constants, q, v, t, part, wrenches, wrench_links, links, axes):
    """Move the links and put the ground's forces on them."""
    prepare_links(topology, constants, q, v, links, axes)
    write_axes(topology, links, axes)
    place_links(topology, links)
    for k in range(wrenches.shape[1]):
        i = wrench_links[t, k]
        if i >= 0:
            both = (1.0 - part) * wrenches[t, k] + part * wrenches[t + 1, k]
            push_on(links, i, both)
