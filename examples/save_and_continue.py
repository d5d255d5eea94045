"""A simulation that is saved and restored goes on as if nothing had happened: bit by bit the same."""

import numpy as np

import kinetree as kt

model = kt.models.chain(30, spherical=True)
q, v = model.random_state(3)
straight = kt.Simulation(model, q=q, v=0.1 * v, dt=1e-3)
straight.run(0.2)
straight.save("halfway.npz")
straight.run(0.2)

restored = kt.Simulation.restore("halfway.npz")
assert restored.time < straight.time
restored.run(0.2)

same = np.array_equal(restored.q, straight.q) and np.array_equal(restored.v, straight.v)
print(f"{model.njoints} ball joints at {restored.time:.1f} s: {'bit by bit the same' if same else 'DIFFERENT'}")
assert same
