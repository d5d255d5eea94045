"""A double pendulum swings for ten seconds; it is chaotic, and its energy stays what it was."""

import numpy as np

import kinetree as kt

model = kt.models.pendulum(2, length=0.5, mass=1.0)
simulation = kt.Simulation(model, q=[2.5, 0.5], dt=1e-3, integrator="rk4")
trajectory = simulation.run(10.0, record_every=10)

energies = np.array([sum(kt.energy(model, q, v)) for q, v in zip(trajectory.q, trajectory.v, strict=True)])
swing = np.ptp([kt.energy(model, q, v)[0] for q, v in zip(trajectory.q, trajectory.v, strict=True)])
drift = np.abs(energies - energies[0]).max()
print(f"kinetic energy swings by {swing:.3f} J, the total drifts by {drift:.1e} J")

assert swing > 5.0, "the pendulum should move"
# the lower rod turns at up to 20 rad/s: at 1 ms RK4 errs by (20e-3)^5 = 3e-9 a step at the very worst, of 10,000 steps
assert drift < 1e-5 * swing, "the total energy should stay"
