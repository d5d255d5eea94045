"""Inverse dynamics finds the joint forces of a motion, and forward dynamics moves by them: an arm draws a circle."""

import numpy as np

import kinetree as kt

arm = (
    kt.ModelBuilder("arm")
    .body("upper", joint=kt.Revolute("y"), shapes=[kt.Capsule.between((0, 0, 0), (0.5, 0, 0), 0.04)])
    .body(
        "lower", parent="upper", joint=kt.Revolute("y"), placement=(0.5, 0, 0),
        shapes=[kt.Capsule.between((0, 0, 0), (0.4, 0, 0), 0.03)],
    )
    .build()
)  # fmt: skip
hand = (0.4, 0.0, 0.0)


def place(q: np.ndarray) -> np.ndarray:
    """Return where the hand is [m]."""
    pose = kt.body_poses(arm, q)[arm.body_index("lower")]
    return pose[:3, :3] @ hand + pose[:3, 3]


q, v, dt = np.array([-0.6, 1.2]), np.zeros(2), 1e-3
centre = place(q) - (0.1, 0, 0)
worst = 0.0
for step in range(2000):
    angle = np.pi * step * dt
    target = centre + 0.1 * np.array([np.cos(angle), 0, np.sin(angle)])
    jacobian = kt.jacobian(arm, q, "lower", point=hand)[3:]
    speed = np.pi * 0.1 * np.array([-np.sin(angle), 0, np.cos(angle)])
    wanted = np.linalg.lstsq(jacobian, speed + 20 * (target - place(q)), rcond=None)[0]
    a = (wanted - v) / dt
    tau = kt.inverse_dynamics(arm, q, v, a)
    assert np.allclose(kt.forward_dynamics(arm, q, v, tau), a, rtol=1e-9, atol=1e-9 * np.abs(a).max())
    v = v + dt * a
    q = kt.integrate(arm, q, v, dt)
    worst = max(worst, float(np.linalg.norm(place(q) - target)))
print(f"the hand keeps within {1e3 * worst:.2f} mm of a circle of 100 mm; the last joint forces are {tau.round(2)} N m")
# the target moves on by pi * 0.1 m/s * 1 ms = 0.3 mm while a step is taken
assert worst < 1e-3
