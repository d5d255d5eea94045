"""A free body thrown spinning about its middle axis tumbles over and over; momentum and energy do not notice."""

import numpy as np

import kinetree as kt

model = (
    kt.ModelBuilder("racket").body("racket", joint=kt.Free(), shapes=[kt.Box(size=(0.1, 0.25, 0.7))], mass=0.4).build()
)
v = np.array([0.01, 8.0, 0.0, 1.0, 0.0, 0.0])  # [angular velocity in body axes; velocity of the origin]
simulation = kt.Simulation(model, v=v, dt=1e-3, gravity=(0, 0, 0), integrator="rk4")

before = kt.momentum(model, simulation.q, simulation.v), kt.energy(model, simulation.q, simulation.v)[0]
trajectory = simulation.run(10.0, record_every=10)
after = kt.momentum(model, simulation.q, simulation.v), kt.energy(model, simulation.q, simulation.v)[0]

turns = int(np.sum(np.diff(np.sign(trajectory.v[:, 1])) != 0))
drift = np.abs(after[0] - before[0]).max() / np.abs(before[0]).max()
print(f"turned over {turns} times; momentum drifts by {drift:.1e}, energy by {abs(after[1] / before[1] - 1):.1e}")

assert turns >= 4, "the middle axis is unstable"
# RK4: (8 rad/s x 1 ms)^4 a second, that is 4e-9, times the 10 s
assert drift < 1e-7
assert abs(after[1] / before[1] - 1) < 1e-7
