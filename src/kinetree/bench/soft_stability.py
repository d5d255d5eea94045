"""Stability of the soft world: springs of any gain, random scenes, and the paper's claims as figures."""

from __future__ import annotations

from itertools import product

import numpy as np

from ..errors import KinetreeError
from ..kernels import soft_layout as at
from ..model.shapes import Box, Capsule, Sphere
from ..soft import World
from . import soft_scenes as scenes
from .core import Row, at_least, at_most, information

GAINS = (0.0, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9, 1e12)
H = 1 / 60
SCENES = (1000, 20)  # how many of a quick run, of how many templates


def springs(*, quick: bool) -> list[Row]:
    """The closed formula (14), and the energy of a net of springs, for gains from 0 to 1e12 at 60 Hz."""
    off, gain = 0.0, -np.inf
    for kp, kd in product(GAINS, GAINS):
        m, x, v = 2.0, 0.3, -0.7
        world = World(dt=H, gravity=(0, 0, 0))
        body = world.add_body("m", mass=m, inertia=(1, 1, 1), pose=(x, 0, 0), velocity=(0, 0, 0, v, 0, 0))
        spring = world.add_marker("s", body, position=(0, 0, 0), stiffness=kp, damping=kd)
        world.step()
        whole = 1 + H * kd / m + H * H * kp / m
        exact = -(kd * v + kp * x + H * kp * v) / whole
        scale = (kd * abs(v) + kp * abs(x) + H * kp * abs(v)) / whole
        off = max(off, abs(spring.force[0] - exact) / max(scale, 1e-300))
        gain = max(gain, _net(kp, kd, steps=20 if quick else 200))
    pairs = f"{len(GAINS) ** 2} pairs of stiffness and damping, 0 to 1e12, at h = 1/60"
    return [
        at_most("springs", "force against formula (14)", off, 1e-12, "", pairs),
        at_most("springs", "largest gain of energy in a step", max(gain, 0.0), 1e-12, "", f"net of 6 masses, {pairs}"),
    ]


def _net(kp: float, kd: float, *, steps: int) -> float:
    """Return the largest growth of the energy of masses on springs in one step, relative to that at the start."""
    rng = np.random.default_rng(1)
    world = World(dt=H, gravity=(0, 0, 0))
    made = [
        world.add_body(
            f"b{k}", mass=float(rng.uniform(0.1, 5)), inertia=(1, 1, 1), pose=tuple(rng.normal(size=3)),
            velocity=np.concatenate((np.zeros(3), rng.normal(size=3))),
        )
        for k in range(6)
    ]  # fmt: skip
    held = [
        world.add_joint(
            f"s{k}", "ball", made[k], made[k + 1] if k < 5 else None, points=(np.zeros(3), np.zeros(3)), stiffness=kp,
            damping=kd,
        )
        for k in range(6)
    ]  # fmt: skip
    worst, before, start = -np.inf, np.inf, 0.0
    for _ in range(steps):
        gaps = np.array([s.point - s.anchor for s in held])
        now = world.energy()[0] + 0.5 * kp * float((gaps**2).sum())
        rounding = kp * 1e-29  # of positions of the size of a metre
        start = start or now
        if np.isfinite(before):
            worst = max(worst, (now - before - rounding) / start)
        before = now
        world.step()
    return worst


def template(seed: int, count: int) -> World:
    """Return `count` bodies in a random graph of joints, motors, ranges and markers above a floor."""
    rng = np.random.default_rng(seed)
    world = World(dt=H)
    shapes = (Sphere(radius=0.1), Box(size=(0.1, 0.2, 0.3)), Capsule(radius=0.05, length=0.3))
    for k in range(count):
        world.add_body(f"b{k}", shapes=[shapes[int(rng.integers(3))]], pose=tuple(0.3 * rng.normal(size=3) + (0, 0, 1)))
    kinds = ("ball", "hinge", "universal", "fixed", "slider", "distance", "planar")
    loops = int(rng.integers(0, 3)) if seed % 4 == 0 else 0
    for k in range(1, count + loops):
        a, b = (k, int(rng.integers(0, k))) if k < count else (0, 1 + int(rng.integers(0, max(count - 1, 1))))
        if a == b or b >= count or rng.random() < 0.15:
            continue
        kind = kinds[int(rng.integers(len(kinds)))]
        joint = world.add_joint(
            f"j{k}", kind, f"b{a}", f"b{b}", axis=rng.normal(size=3), axis2=rng.normal(size=3),  # type: ignore[arg-type]
        )  # fmt: skip
        if kind in ("ball", "hinge", "universal", "slider"):
            world.add_motor(f"m{k}", joint, stiffness=100.0, damping=1.0, limit=50.0)
            world.add_range(f"r{k}", joint, -0.5, 0.5)
    for k in range(int(rng.integers(0, 4))):
        world.add_marker(f"k{k}", f"b{int(rng.integers(count))}", 0.1 * rng.normal(size=3), limit=1000.0)
    world.add_ground(friction=float(rng.random()))
    if count > 1:
        for k in range(min(count - 1, 3)):
            if not isinstance(world.body(f"b{k}").shapes[0], Box) and not isinstance(
                world.body(f"b{k + 1}").shapes[0], Box
            ):
                world.add_collision(f"b{k}", f"b{k + 1}")
    return world


def scatter(world: World, rng: np.random.Generator, start: dict[str, np.ndarray]) -> None:
    """Give the world other places, velocities, masses and softness."""
    for name, values in start.items():
        world.tables[name][:] = values
    state, bodies, rows = world.tables["state"], world.tables["bodies"], world.tables["rows"]
    n = len(state)
    state[:, :3] += rng.normal(size=(n, 3)) * rng.uniform(0, 0.5)
    turns = state[:, 3:7] + rng.normal(size=(n, 4)) * rng.uniform(0, 1)
    state[:, 3:7] = turns / np.linalg.norm(turns, axis=1, keepdims=True)
    state[:, 7:13] = rng.normal(size=(n, 6)) * 10 ** rng.uniform(-1, 1.3)
    scale = 10 ** rng.uniform(-2, 2, size=(n, 1))
    bodies[:, [at.MASS, *range(at.INERTIA, at.INERTIA + 6)]] *= scale
    bodies[:, [at.INVERSE_MASS, *range(at.INVERSE_INERTIA, at.INVERSE_INERTIA + 6)]] /= scale
    rows[:, at.ERP] = rng.uniform(0, 1, size=len(rows))
    rows[:, at.CFM] = 10 ** rng.uniform(-10, 0, size=len(rows))


def random_scenes(*, quick: bool, steps: int = 20) -> list[Row]:
    """Scenes of up to twenty bodies with gains, masses and places from wide ranges: how many do not end finite."""
    total, kinds = SCENES if quick else (100_000, 200)
    lost, example, gap = 0, "", 0.0
    for seed in range(kinds):
        rng = np.random.default_rng(seed)
        world = template(seed, 1 + seed % 20)
        world.tables.solver()
        names = ("state", "bodies", "frames", "rows", "links")
        start = {name: world.tables[name].copy() for name in names}
        for _ in range(total // kinds):
            scatter(world, rng, start)
            try:
                world.step(steps)
                gap = max(gap, world.stats["friction_gap"])
            except KinetreeError as error:
                lost += 1
                example = example or f"; the first, of template {seed}: {error}"
            else:
                lost += not np.isfinite(world.state()).all()
    detail = f"{total:,} scenes, {steps} steps of 1/60 s, masses over 4 decades, cfm over 10{example}"
    return [at_most("random scenes", "scenes that do not end finite", lost, 0, "", detail)]


def claims(*, quick: bool) -> list[Row]:
    """Loads shared by redundant contacts; the residual of a standing human with and without helpers."""
    world = World(dt=H)
    world.add_body("box", shapes=[Box(size=(0.4, 0.3, 0.2))], pose=(0, 0, 0.1))
    world.add_ground(cfm=1e-4)
    world.step(200)
    forces = [c.force[0] for c in world.constraints if c.kind == "contact" and c.local_point[2] < 0]
    seconds = 1.0 if quick else 4.0
    alone, tilt = _stand(False, 1000.0, seconds)
    helped, kept = _stand(True, 1.0, seconds)
    detail = (
        f"{alone:.3g} N m alone (tilt {tilt:.2g} deg), {helped:.3g} N m with ankles that help (tilt {kept:.2g} deg)"
    )
    return [
        at_most(
            "claims",
            "four contacts: difference of their loads",
            float(np.ptp(forces) / np.mean(forces)),
            1e-6,
            "",
            "a box at rest",
        ),
        at_least(
            "claims", "residual torque that secondary targets take away", 100 * (1 - helped / alone), 80, "%", detail
        ),
        information(
            "claims",
            "tilt of the pelvis with helpers over without",
            kept / tilt,
            "",
            f"{seconds:g} s, pushed to and fro",
        ),
    ]


def _stand(helpers: bool, limit: float, seconds: float) -> tuple[float, float]:
    """Return the mean residual torque and the largest tilt [deg] of a standing human that is pushed to and fro."""
    world = scenes.standing_human(helpers=helpers, limit=limit)
    residual, torso, pelvis = world.constraint("residual"), world.body("upper torso"), world.body("pelvis")
    torques, tilts = [], []
    for k in range(round(seconds / world.dt)):
        t = k * world.dt
        torso.apply(force=(8 * np.sin(np.pi * t), 15 * np.sin(1.4 * np.pi * t), 0))
        world.step()
        torques.append(float(np.abs(residual.force[:2]).sum()))
        tilts.append(float(np.degrees(np.arccos(min(pelvis.rotation[2, 2], 1.0)))))
    return float(np.mean(torques)), max(tilts)
