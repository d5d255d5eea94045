"""The scenes of the soft-constraint benchmark: a pendulum, a chain of hinges, a box on the floor, the human."""

from __future__ import annotations

import numpy as np

from ..model.shapes import Box, Capsule, Sphere
from ..soft import Target, World
from ..typing import Array

# (name, parent, joint in the world [m], other end of the segment [m], radius [m]); the y axis points ahead
Segment = tuple[str, str | None, tuple[float, float, float], tuple[float, float, float], float]
TRUNK: tuple[Segment, ...] = (
    ("pelvis", None, (0, 0, 0.93), (0, 0, 1.03), 0.11),
    ("lower torso", "pelvis", (0, 0, 1.06), (0, 0, 1.18), 0.11),
    ("upper torso", "lower torso", (0, 0, 1.22), (0, 0, 1.40), 0.12),
    ("neck", "upper torso", (0, 0, 1.48), (0, 0, 1.55), 0.05),
    ("head", "neck", (0, 0, 1.58), (0, 0, 1.70), 0.09),
)
LIMBS: tuple[Segment, ...] = (
    ("collar", "upper torso", (0.03, 0, 1.45), (0.15, 0, 1.45), 0.05),
    ("upper arm", "collar", (0.19, 0, 1.44), (0.19, 0, 1.18), 0.05),
    ("lower arm", "upper arm", (0.19, 0, 1.13), (0.19, 0, 0.92), 0.04),
    ("hand", "lower arm", (0.19, 0, 0.87), (0.19, 0, 0.78), 0.03),
    ("upper leg", "pelvis", (0.09, 0, 0.90), (0.09, 0, 0.55), 0.08),
    ("lower leg", "upper leg", (0.09, 0, 0.48), (0.09, 0, 0.14), 0.06),
    ("heel", "lower leg", (0.09, -0.02, 0.08), (0.09, 0.08, 0.04), 0.04),
    ("toes", "heel", (0.09, 0.12, 0.04), (0.09, 0.18, 0.03), 0.03),
)


def _side(name: str, sign: int) -> list[Segment]:
    """Return the limbs of one side."""
    shared = {segment[0] for segment in TRUNK}
    return [
        (
            f"{name} {part}", parent if parent in shared else f"{name} {parent}", (sign * a[0], a[1], a[2]),
            (sign * b[0], b[1], b[2]), r,
        )
        for part, parent, a, b, r in LIMBS
    ]  # fmt: skip


SEGMENTS = (*TRUNK, *_side("left", -1), *_side("right", 1))
MARKERS = 41


def pendulum(*, dt: float = 1 / 60, erp: float = 0.4, cfm: float = 1e-5) -> World:
    """A ball on a ball joint, thrown sideways."""
    world = World(dt=dt, erp=erp, cfm=cfm)
    bob = world.add_body("bob", shapes=[Box(size=(0.1, 0.2, 0.3))], pose=(0.5, 0, -0.6), gyroscopic="off")
    bob.velocity = (0.4, -0.3, 0.2, 0.1, 1.0, 0.0)
    world.add_joint("pivot", "ball", bob, anchor=(0, 0, 0))
    return world


def chain(count: int = 10, *, kind: str = "hinge", dt: float = 1 / 60, erp: float = 0.4, cfm: float = 1e-6) -> World:
    """Capsules in a row, each on a hinge (or ball) of the one before; axes alternate. The first hangs in the world."""
    world = World(dt=dt, erp=erp, cfm=cfm)
    before = None
    for k in range(count):
        body = world.add_body(
            f"link {k}", shapes=[Capsule.between((-0.1, 0, 0), (0.1, 0, 0), 0.03)], pose=(0.3 * k + 0.15, 0, 0),
            gyroscopic="off",
        )  # fmt: skip
        axis = ("y", "z")[k % 2]
        world.add_joint(f"joint {k}", kind, body, before, anchor=(0.3 * k, 0, 0), axis=axis)  # type: ignore[arg-type]
        before = body
    return world


def box_on_floor(*, dt: float = 1 / 60, erp: float = 0.2, cfm: float = 1e-4, push: float = 0.5) -> World:
    """A box that slides over the floor on four redundant contacts, against a friction of fixed force."""
    world = World(dt=dt, erp=erp, cfm=cfm)
    box = world.add_body("box", shapes=[Box(size=(0.4, 0.3, 0.2))], pose=(0, 0, 0.0999), gyroscopic="off")
    box.velocity = (0, 0, 0.3, push, 0.1, 0)
    world.add_ground(friction_force=20.0, margin=0.0)
    return world


def human(
    *, dt: float = 1 / 60, motors: bool = True, limit: float = 30.0, markers: bool = True, gyroscopic: str = "off",
    solver: str = "structured", joint_cfm: float = 1e-5, marker_cfm: float = 1e-4, seed: int = 0,
) -> World:  # fmt: skip
    """21 bodies, 20 ball joints with motors of three rows, 41 markers that pull: 243 rows."""
    world = World(dt=dt, erp=0.2, cfm=joint_cfm, solver=solver)  # type: ignore[arg-type]
    rng = np.random.default_rng(seed)
    for name, parent, start, end, radius in SEGMENTS:
        a, b = np.array(start, float), np.array(end, float)
        centre = (a + b) / 2
        body = world.add_body(
            name, shapes=[Capsule.between(a - centre, b - centre, radius)], pose=tuple(centre),
            gyroscopic=gyroscopic,  # type: ignore[arg-type]
        )  # fmt: skip
        body.velocity = np.concatenate((0.3 * rng.normal(size=3), 0.3 * rng.normal(size=3)))
        if parent is not None:
            joint = world.add_joint(f"{parent}-{name}", "ball", body, parent, anchor=a)
            if motors:
                world.add_motor(
                    f"motor of {name}", joint, erp=0.0, goal_rate=0.5 * rng.normal(size=3), cfm=0.01, limit=limit
                )
    if markers:
        place_markers(world, marker_cfm, rng)
    return world


def place_markers(world: World, cfm: float, rng: np.random.Generator) -> Array:
    """Attach 41 markers, two to most segments, each some millimetres off; returns their places."""
    names = [s[0] for s in SEGMENTS]
    order = [names[k % len(names)] for k in range(MARKERS)]
    places = []
    for k, name in enumerate(order):
        body = world.body(name)
        local = 0.06 * rng.normal(size=3)
        place = body.point_in_world(local) + 0.004 * rng.normal(size=3)
        marker = world.add_marker(f"marker {k}", body, local, position=place, cfm=cfm)
        marker.anchor_velocity = 0.2 * rng.normal(size=3)
        places.append(place)
    return np.array(places)


def sphere_pile(count: int, *, dt: float = 1 / 60) -> World:
    """Spheres that fall on the floor and on each other."""
    world = World(dt=dt, erp=0.2, cfm=1e-4)
    for k in range(count):
        world.add_body(f"ball {k}", shapes=[Sphere(radius=0.1)], pose=(0.02 * (k % 3), 0.03 * (k % 2), 0.12 + 0.21 * k))
    world.add_ground()
    for k in range(count - 1):
        world.add_collision(f"ball {k}", f"ball {k + 1}")
    return world


def standing_human(
    *, helpers: bool, limit: float, dt: float = 1 / 120, tolerance: float = 0.15, help_limit: float = 40.0
) -> World:
    """The human on two feet, held upright by a residual torque about x and y of the pelvis that is limited.

    Joints hold their pose by springs, but the ankles are free within a tolerance. With `helpers` they lend torque to
    the residual when that stands at its limit.
    """
    world = human(dt=dt, motors=False, markers=False, gyroscopic="conserving", joint_cfm=1e-8)
    for body in world.bodies:
        body.velocity = np.zeros(6)
    for side, sign in (("left", -1), ("right", 1)):
        heel = world.body(f"{side} heel")
        for k, (x, y) in enumerate(((0.05, -0.05), (0.13, -0.05), (0.05, 0.16), (0.13, 0.16))):
            point = heel.point_in_body((sign * x, y, 0.0))
            world.add_contact(f"{side} sole {k}", heel, point, friction=0.9, cfm=1e-6, margin=0.02)
    residual = world.add_residual(
        "residual",
        "pelvis",
        axes=(True, True, False, False, False, False),
        stiffness=2000.0,
        damping=400.0,
        limit=limit,
    )
    for name, parent, *_ in SEGMENTS:
        if parent is None:
            continue
        joint = world.constraint(f"{parent}-{name}")
        if not name.endswith("heel"):
            world.add_motor(f"motor of {name}", joint, erp=0.2, cfm=1e-6)
            continue
        targets: list[Target | None] = []
        for row in range(3):
            secondary = (residual, row) if helpers and row < 2 else None
            targets.append(Target(deadzone=(-tolerance, tolerance), secondary=secondary, help_limit=help_limit))
        world.add_motor(f"motor of {name}", joint, stiffness=3000.0, damping=100.0, target=targets, angles="euler")
    return world
