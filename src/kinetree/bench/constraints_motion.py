"""Constraints in motion: closed forms, rest without creep, loops without drift, promises of motion control."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from ..adaptive.method import Adaptive
from ..constraints.acceleration import Impact, resolve_impact
from ..constraints.contact import Contacts
from ..constraints.limits import JointLimits, Motor
from ..constraints.loop import Loop
from ..constraints.motion import MotionTarget
from ..constraints.solver import Solver
from ..dynamics import body_poses, momentum
from ..model.builder import ModelBuilder
from ..model.joints import Free
from ..model.library import chain
from ..model.model import Model
from ..model.shapes import Capsule, Plane, Sphere
from ..simulation import Simulation
from ..typing import Array
from .constraints_bodies import ball, belt_angles, block, boxes, four_bar, rag_dolls, sprocket_chain, stewart, strewn
from .core import Row, at_least, at_most, information

FORMS, REST, LOOPS, CONTROL, HYBRID = "closed forms", "rest", "loops", "motion control", "hybrid bodies"
DT = 1 / 120


def closed_forms(*, quick: bool) -> list[Row]:
    """Restitution, sliding, sticking, a central impact."""
    del quick
    rows = []
    model = ball()
    q = model.neutral()
    q[6] = 1.1
    for e in (0.5, 0.9):
        sim = Simulation(model, q, dt=DT, constraints=[Contacts(restitution=e)])
        z = sim.run(0.95, record_every=1).q[:, 6] - 0.1
        low = int(np.argmin(z[:70]))
        rows.append(at_most(FORMS, f"height of a bounce, e = {e}", abs(z[low:].max() / e**2 - 1), 0.005, "relative"))
    slid = _slide(0.3, 30.0, 0.5)
    expected = 9.81 * (0.5 - 0.3 * np.sqrt(3) / 2) * 0.125
    rows.append(at_most(FORMS, "distance slid down a slope", abs(slid / expected - 1), 0.005, "relative"))
    stop = _slide(0.3, 0.0, 1.3, speed=3.0)
    rows.append(at_most(FORMS, "distance to a stop", abs(stop * 2 * 0.3 * 9.81 / 9 - 1), 0.005, "relative"))
    critical = np.degrees(np.arctan(0.4))
    creep = abs(_slide(0.4, 0.995 * critical, 1.0))
    rows.append(at_most(FORMS, "creep 0.5 % below the sticking slope", creep, 1e-5, "m"))
    rows.append(at_least(FORMS, "slid 0.5 % above it", _slide(0.4, 1.005 * critical, 1.0), 1e-3, "m"))
    pair = ModelBuilder()
    for name, density in (("a", 1000.0), ("b", 3000.0)):
        pair.body(name, joint=Free(), shapes=[Sphere(radius=0.1, density=density)])
    two = pair.build()
    q, v = two.neutral(), np.zeros(12)
    q[4] = 0.2
    v[3], v[9] = -2.0, 1.0
    hit = resolve_impact(two, q, v, [Impact("a", (-0.1, 0, 0), (1, 0, 0), 0.5, other="b", other_point=(0.1, 0, 0))])
    ma, mb = two.masses
    lost = 0.5 * ma * mb / (ma + mb) * 9.0 * 0.75
    rows.append(at_most(FORMS, "energy lost in an impact", abs(hit.lost / lost - 1), 1e-9, "relative"))
    change = np.abs(momentum(two, q, hit.v) - momentum(two, q, v)).max()
    rows.append(at_most(FORMS, "momentum of two bodies", change, 1e-10, "kg m/s"))
    return rows


def _slide(mu: float, degrees: float, seconds: float, *, speed: float = 0.0) -> float:
    angle = np.radians(degrees)
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    model = block()
    q, v = model.neutral(), np.zeros(6)
    q[:4], q[4:] = (np.cos(angle / 2), 0, np.sin(angle / 2), 0), turn @ (0, 0, 0.05)
    v[3:] = turn @ (speed, 0, 0)
    contacts = Contacts(friction=mu, ground=False, world=[Plane(placement=(turn, np.zeros(3)))])
    sim = Simulation(model, q, v, dt=1e-3, constraints=[contacts])
    sim.run(seconds)
    return float((turn.T @ sim.q[4:])[0])


def rest(*, quick: bool) -> list[Row]:
    """A rag doll that has come to rest, and a stack of boxes."""
    seconds = 5.0 if quick else 60.0
    model = rag_dolls(1, damping=0.1)
    q = strewn(model, wide=1)
    sim = Simulation(model, q, dt=DT, constraints=[Contacts(self_collision=True), JointLimits()])
    sim.run(20.0)  # limbs that sink slowly against their dampers are not at rest
    before, fastest = body_poses(model, sim.q)[:, :3, 3], 0.0
    for _ in range(round(seconds)):
        sim.run(1.0)
        fastest = max(fastest, float(np.abs(sim.v).max()))
    creep = float(np.abs(body_poses(model, sim.q)[:, :3, 3] - before).max())
    rows = [
        at_most(REST, "a rag doll creeps", creep, 1e-3, "m", f"in {seconds:g} s"),
        at_most(REST, "a rag doll jitters", fastest, 1e-3, "m/s, rad/s"),
        at_most(REST, "penetration of a rag doll, fall included", sim.stats["deepest"], 1e-3, "m"),
    ]
    stack, start = boxes(10)
    tower = Simulation(stack, start, dt=DT, constraints=[Contacts(friction=0.5)])
    tower.run(seconds)
    rows += [
        at_most(REST, "10 boxes: the farthest has moved", float(np.abs(tower.q - start).max()), 5e-3, "m, rad"),
        at_most(REST, "10 boxes: the fastest moves", float(np.abs(tower.v).max()), 1e-3, "m/s, rad/s"),
        at_most(REST, "10 boxes: penetration", tower.stats["deepest"], 1e-3, "m"),
    ]
    return rows


def loops(*, quick: bool) -> list[Row]:
    """Loops that move for a minute."""
    seconds = 5.0 if quick else 60.0
    rows = []
    model, q = four_bar()
    loop = Loop("coupler", "rocker", (0.5, 0, 0), (0.4, 0, 0))
    sim = Simulation(model, q, dt=DT, constraints=[loop, Motor("crank", speed=3.0, effort=np.inf)])
    sim.run(seconds)
    rows.append(at_most(LOOPS, "four-bar: drift", sim.stats["largest_drift"], 1e-6, "m", f"in {seconds:g} s"))
    d = np.hypot(0.5 - 0.2 * np.cos(sim.q[0]), 0.2 * np.sin(sim.q[0]))
    inner = (0.4**2 + d**2 - 0.5**2) / (2 * 0.4 * d)
    pivot = np.arctan2(-0.2 * np.sin(sim.q[0]), 0.2 * np.cos(sim.q[0]) - 0.5)
    options = pivot + np.array([1, -1]) * np.arccos(inner)
    miss = np.abs(np.angle(np.exp(1j * (options + sim.q[2])))).min()
    rows.append(at_most(LOOPS, "four-bar: angle of the rocker", float(miss), 1e-6, "rad", "against the law of cosines"))
    platform, q, ends = stewart()
    ties = [Loop(name, "platform", point) for name, point in ends]
    # with 5 cm and limited forces the platform tips over after half a minute, through a pose without a Jacobian
    hold = MotionTarget([f"rod{k}" for k in range(6)], _heave(seconds), settle=0.05)
    sim = Simulation(platform, q, dt=DT, constraints=[*ties, hold])
    sim.run(seconds)
    rows.append(at_most(LOOPS, "Stewart platform: drift", sim.stats["largest_drift"], 1e-6, "m", f"in {seconds:g} s"))
    model, q = sprocket_chain()
    chained = belt(model, q)
    chained.run(min(seconds, 20.0))
    rows.append(
        at_most(
            LOOPS, "bicycle chain on sprockets: drift", chained.stats["largest_drift"], 1e-6, "m", "closed, 40 links"
        )
    )
    rows.append(at_most(LOOPS, "bicycle chain: penetration", chained.stats["deepest"], 1e-3, "m"))
    return rows


def _heave(seconds: float) -> tuple[np.ndarray, np.ndarray]:
    times = np.linspace(0.0, seconds + 1, round(60 * (seconds + 1)))
    phases = 2 * np.pi * (np.arange(6) // 2) / 3
    return times, 0.02 * np.sin(2 * times[:, None] + phases) * np.minimum(times, 1.0)[:, None]


def belt(model: Model, q: Array, dt: float = 1e-3) -> Simulation:
    """Return the simulation of a closed chain on two sprockets."""
    points = belt_angles(40, 0.05, 0.12)[1]
    half = float(points[:, 0].max() - 0.12 - 0.012)
    discs = [Capsule.between((s * half, -0.03, 0), (s * half, 0.03, 0), 0.12) for s in (-1, 1)]
    contacts = Contacts(ground=False, world=discs, friction=0.3)
    return Simulation(model, q, dt=dt, constraints=[contacts, Loop("link39", "link0", (0.05, 0, 0), (0, 0, 0))])


def control(*, quick: bool) -> list[Row]:
    """The settling time of motion control, at two steps."""
    del quick
    rows = []
    model = chain(5)
    for dt in (1 / 60, 1e-3):
        target = MotionTarget(None, ([0.0], np.full((1, 5), 0.5)), settle=0.3)
        sim = Simulation(model, dt=dt, constraints=[target])
        motion = sim.run(0.3, record_every=1)
        left = float(np.abs(0.5 - motion.q[-1]).max() / 0.5)
        rows.append(at_most(CONTROL, f"error left at the settling time, dt = {dt:.4f}", left, 0.1, "relative"))
    return rows


def hybrid(*, quick: bool) -> list[Row]:
    """Falling characters with a tenth of their joints."""
    count = 10 if quick else 200
    model = rag_dolls(count)
    q = strewn(model, wide=3 if quick else 7)
    tenth = max(count, round(0.1 * model.njoints))
    rows = []
    for name, method in (("all joints", None), ("a tenth of the joints", Adaptive(joints=tenth + count))):
        sim = Simulation(
            model, q, dt=1 / 60, method=method, constraints=[Contacts(), JointLimits(), Solver(backtracks=0, sweeps=30)]
        )
        sim.run(0.5)
        began = perf_counter()
        sim.run(1.0)
        seconds = (perf_counter() - began) / 60
        rows.append(information(HYBRID, f"{count} falling characters, {name}", 1e3 * seconds, "ms a step"))
        if method is not None:
            rows.append(information(HYBRID, "joints that are active", len(sim.active), f"of {model.njoints}"))
            bearing = sum(c.force[2] for c in sim.contacts if c.body_b is None)
            rows.append(information(HYBRID, "weight on the floor", bearing / (9.81 * model.total_mass), "of all"))
    return rows
