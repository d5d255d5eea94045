"""A mass on a spring swings up and down with the frequency that the textbook says."""

import numpy as np

import kinetree as kt

MASS, STIFFNESS, DT = 2.0, 200.0, 1e-3

model = (
    kt.ModelBuilder("spring").body("weight", joint=kt.Prismatic("z"), shapes=[kt.Sphere(radius=0.1)], mass=MASS).build()
)
spring = kt.forces.Spring("weight", point=(0, 0, 0), anchor=(0, 0, 1.0), k=STIFFNESS, d=0.0)
simulation = kt.Simulation(model, q=[-MASS * 9.81 / STIFFNESS + 1.1], dt=DT, integrator="rk4", forces=[spring])
trajectory = simulation.run(10.0, record_every=1)

height = trajectory.q[:, 0] - trajectory.q[:, 0].mean()
up = np.flatnonzero((height[:-1] < 0) & (height[1:] >= 0))
crossings = trajectory.times[up] + DT * height[up] / (height[up] - height[up + 1])  # linear between the samples
measured = (len(crossings) - 1) / (crossings[-1] - crossings[0])
expected = np.sqrt(STIFFNESS / MASS) / (2 * np.pi)
print(f"measured {measured:.6f} Hz, sqrt(k/m)/2pi is {expected:.6f} Hz")

# finding a crossing in samples of 1 ms is good to about (omega dt)^2 of a sample
assert abs(measured / expected - 1) < 1e-5
