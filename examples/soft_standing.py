"""A column of three bodies stands on two feet of points: markers pull it, contacts share its weight, joints give."""

import numpy as np

import kinetree as kt

world = kt.soft.World(dt=1 / 240, cfm=1e-6)
foot = world.add_body("foot", shapes=[kt.Box(size=(0.3, 0.2, 0.05))], pose=(0, 0, 0.025))
leg = world.add_body("leg", shapes=[kt.Capsule.between((0, 0, -0.4), (0, 0, 0.4), 0.06)], pose=(0, 0, 0.5))
trunk = world.add_body("trunk", shapes=[kt.Capsule.between((0, 0, -0.25), (0, 0, 0.25), 0.12)], pose=(0, 0, 1.2))
ankle = world.add_joint("ankle", "universal", leg, foot, anchor=(0, 0, 0.06), axis="x", axis2="y")
hip = world.add_joint("hip", "ball", trunk, leg, anchor=(0, 0, 0.9))
world.add_motor("ankle muscles", ankle, stiffness=1500.0, damping=80.0, limit=60.0)
world.add_motor("hip muscles", hip, stiffness=1500.0, damping=80.0, limit=120.0)
world.add_ground(friction=0.8)

world.run(480)
weight = sum(body.mass for body in world.bodies) * 9.81
soles = [c for c in world.constraints if c.kind == "contact" and c.force[0] > 1.0]
shares = np.array([c.force[0] for c in soles]) / weight
print(f"{len(soles)} contacts carry {', '.join(f'{s:.3f}' for s in shares)} of {weight:.0f} N")
assert abs(shares.sum() - 1) < 1e-3
assert np.ptp(shares) < 0.01, "equal springs share alike"

# drag the top to one side and back: the muscles yield where they are at their limits
top = world.add_marker("top", trunk, (0, 0, 0.37), stiffness=2e4, damping=200.0)
t = np.arange(480) * world.dt
path = top.anchor + np.column_stack((0.05 * np.sin(np.pi * t) ** 2, 0 * t, 0 * t))
record = world.run(len(t), markers=path[:, None, :])
pull = np.abs(record.force("top")[:, 0]).max()
off = np.linalg.norm(top.point - path[-1])
print(f"pulled with up to {pull:.1f} N; the marker is followed to {1e3 * off:.2f} mm")
assert 1.0 < pull < 500.0
assert off < 5e-3
gained = sum(world.ledger().values())
print(f"energy put in so far: {gained:.3f} J, of which gravity {world.ledger()['gravity']:.3f} J")
