"""A jointed figure falls on the floor, comes to rest there, and the floor bears its weight."""

import numpy as np

import kinetree as kt

C = kt.constraints
model = kt.models.humanoid(30)
q = model.neutral()
q[6] = 0.5
simulation = kt.Simulation(model, q, dt=1 / 240, constraints=[C.Contacts(friction=0.8), C.JointLimits()])
simulation.run(3.0)

weight = model.total_mass * 9.81
borne = sum(contact.force[2] for contact in simulation.contacts)
stats = simulation.stats
print(
    f"{len(simulation.contacts)} contacts bear {borne:.1f} N of {weight:.1f} N; at its limits: {simulation.at_limits}"
)
print(f"deepest overlap {1e3 * stats['deepest']:.2f} mm, fastest joint {np.abs(simulation.v).max():.1e} rad/s")

assert abs(borne / weight - 1) < 1e-3
assert stats["deepest"] < 1e-3
assert np.abs(simulation.v).max() < 1e-3
