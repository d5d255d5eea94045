"""A molecule of 20,000 joints is dragged by one atom: few joints are computed, and all others are off by little."""

import numpy as np

import kinetree as kt

JOINTS, ATOM, STEPS = 20_000, 10_000, 50

model = kt.models.molecule(JOINTS, branching=0.03)
exact = kt.Simulation(model, dt=1e-3, gravity=(0, 0, 0), method=kt.Quasistatic(error=0.0))
quick = kt.Simulation(model, dt=1e-3, gravity=(0, 0, 0), method=kt.Quasistatic(error=2**-19))
for simulation in (exact, quick):
    simulation.apply(ATOM, force=(0.1, 0.05, 0), point=(0, 0, 0.15))
    simulation.step(STEPS)

stats = quick.stats
start = model.neutral()
moved = np.abs(exact.q - start).max()
apart = np.abs(exact.q - quick.q).max()
print(f"{stats['joints_per_step']:.0f} of {JOINTS:,} joints a step, relative error at most {stats['bound']:.1e}")
print(f"joints have turned by up to {moved:.2e} rad; the two motions differ by {apart:.1e} rad")

assert stats["largest_bound"] <= 2**-19
assert stats["joints_per_step"] < JOINTS / 50
# errors of single steps, each at most 2^-19 of the fastest joint, add up; a neighbour may amplify them a little
assert apart < 10 * 2**-19 * moved
