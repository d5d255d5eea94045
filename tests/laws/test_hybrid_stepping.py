"""Steps of an adaptive simulation: missing columns between updates, kept momentum where joints stop."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sweeps import adaptive_model

import kinetree as kt
import oracle
from kinetree.adaptive.method import Adaptive
from oracle.hybrid import hybrid_accelerations, kinetic_energy, stop_by_momentum

DT, EVERY = 1e-4, 4
# Rounding of velocities over a step times the condition of trees of up to 20 bodies; 5e-13 on 25 random ones.
SAME = 1e-9


def wrenches(model, q, v, pulled, pushed):
    """Return the wrenches of the spring and of the force below, by hand."""
    poses, speeds, result = kt.body_poses(model, q), kt.body_velocities(model, q, v), np.zeros((model.nbodies, 6))
    arm = poses[pulled, :3, :3] @ (0.1, 0.2, 0)
    slip = speeds[pulled, 3:] + np.cross(speeds[pulled, :3], arm)
    force = 20 * (np.array([1, 2, 3]) - poses[pulled, :3, 3] - arm) - 0.5 * slip
    result[pulled] += [*np.cross(arm, force), *force]
    arm, force = poses[pushed, :3, :3] @ (0.1, 0, 0.2), np.array([1.0, 2.0, 3.0])
    torque = np.cross(arm, force) + np.array([0.1, 0.2, 0.3])
    result[pushed] += [*torque, *force]
    return result


def freedoms(model, mask):
    """Return which degrees of freedom belong to the joints of a mask."""
    return np.repeat(mask, [len(model.dof_indices([name])) for name in model.joint_names])


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(4, 20),
    branching=st.sampled_from([0.0, 0.3, 1.0]),
    roots=st.sampled_from([0.0, 0.1]),
    share=st.floats(0, 0.99),
)
def test_steps_of_a_hybrid_body_are_those_of_the_full_one_with_frozen_joints(seed, n, branching, roots, share):
    """Explicit Euler steps, with every joint in the transient region, so that the oracle knows what stopped."""
    model = adaptive_model(seed, n, branching, roots)
    q, v = model.random_state(seed)
    heavy = np.flatnonzero((model.masses > 0) & (model.body_links >= 0))
    pulled, pushed = np.random.default_rng(seed).choice(heavy, 2)
    method = Adaptive(joints=int(share * model.njoints), acceleration_joints=model.njoints, update_every=EVERY)
    spring = kt.forces.Spring(int(pulled), (0.1, 0.2, 0), (1, 2, 3), 20.0, 0.5)
    sim = kt.Simulation(model, q, v, dt=DT, integrator="euler", method=method, forces=[spring])
    sim.apply(int(pushed), force=(1, 2, 3), torque=(0.1, 0.2, 0.3), point=(0.1, 0, 0.2))
    for step in range(2 * EVERY + 2):
        q, v = sim.q.copy(), sim.v.copy()
        updating = step % EVERY == 0
        moving = np.ones(model.nv, dtype=bool) if updating else freedoms(model, sim._stepper.active_mask)
        assert not v[~moving].any()
        external = wrenches(model, q, v, pulled, pushed)
        a = hybrid_accelerations(model, q, v, np.zeros(model.nv), moving, external)
        sim.step()
        expected = v + DT * a
        if not updating:
            oracle.assert_close((sim.v - v) / DT, a, SAME, f"accelerations at step {step}", max(np.abs(a).max(), 1.0))
            continue
        matrix = kt.mass_matrix(model, sim.q)
        stopped = stop_by_momentum(matrix, expected, freedoms(model, sim._stepper.active_mask))
        scale = max(np.abs(v).max(), 1e-3)
        oracle.assert_close(sim.v, stopped, SAME, f"velocities after the update at step {step}", scale)
        assert kinetic_energy(matrix, sim.v) <= kinetic_energy(matrix, expected) * (1 + 1e-12)
