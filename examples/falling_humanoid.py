"""A humanoid of 95 degrees of freedom falls freely: it may fold as it likes, its centre of mass knows only gravity."""

import numpy as np

import kinetree as kt

model = kt.models.humanoid(damping=0.0)
rng = np.random.default_rng(1)
v = rng.normal(scale=0.5, size=model.nv)
v[:6] = 0.0
simulation = kt.Simulation(model, v=v, dt=1e-3, integrator="rk4")

start = kt.center_of_mass(model, simulation.q)
speed = kt.momentum(model, simulation.q, simulation.v)[3:] / model.total_mass
simulation.run(0.5)
end = kt.center_of_mass(model, simulation.q)

t = simulation.time
parabola = start + speed * t + np.array([0.0, 0.0, -9.81]) * t**2 / 2
miss = np.linalg.norm(end - parabola)
print(f"{model.nbodies} bodies fell {start[2] - end[2]:.3f} m; the centre of mass misses its parabola by {miss:.1e} m")

assert abs(t - 0.5) < 1e-9
# limbs turn at a few rad/s, so RK4 at 1 ms is exact to about (5e-3)^4 of their size of 1 m
assert miss < 1e-8, "inner motion must not move the centre of mass"
