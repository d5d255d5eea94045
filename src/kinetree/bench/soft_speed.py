"""Time of a step of the soft world beside the Open Dynamics Engine, and how it grows."""

from __future__ import annotations

from ctypes import c_double
from time import perf_counter

import numpy as np

from ..kernels import soft_layout as at
from ..model.shapes import Capsule
from ..soft import World
from ..typing import Array
from . import soft_scenes as scenes
from .core import Row, at_least, at_most, exponent, information, not_measured
from .peers import ode
from .soft_accuracy import WHY

GROUP = "21-body human, 41 markers, 243 rows"
FRAMES = 30
FASTER = 10.0
SWEEPS = 20
THEIR_SWEEPS = 20
LINEAR = 1.1
SIZES = (50, 100, 200)  # of a quick run


class Motion:
    """The human that follows its markers through a smooth motion, again and again from the same start."""

    def __init__(self, solver: str = "structured", sweeps: int = SWEEPS) -> None:
        """Let the figure settle on the first frame, and remember how it stands."""
        self.world = scenes.human(solver=solver)
        for body in self.world.bodies:
            body.velocity = np.zeros(6)
        for marker in self.world.markers:
            marker.anchor_velocity = np.zeros(3)
        self.world.tables.numbers[at.SWEEPS] = sweeps
        self.paths = marker_paths(self.world, FRAMES)
        self.twin = ode.OdeTwin(self.world) if ode.is_there() else None
        self.world.step(5)
        self.names = ("state", "frames", "rows", "links")
        self.world.tables.solver()  # writes who moves by which row
        self.start = {name: self.world.tables[name].copy() for name in self.names}

    def rewind(self) -> None:
        """Put everything back to the start."""
        for name in self.names:
            self.world.tables[name][:] = self.start[name]
        if self.twin is not None:
            self.twin.take_state()

    def ours(self) -> Array:
        """Return the time of one step in a run of all frames [s], for every frame the same."""
        self.rewind()
        began = perf_counter()
        self.world.run(FRAMES, markers=self.paths)
        return np.full(FRAMES, (perf_counter() - began) / FRAMES)

    def theirs(self, quick: int) -> Array:
        """Return the time that the other engine takes for each frame, without what moves its markers [s]."""
        assert self.twin is not None
        self.rewind()
        self.world.step()  # the tables hold the anchors of the frames
        self.rewind()
        spent = np.zeros(FRAMES)
        step = self.twin.ode.dWorldQuickStep if quick else self.twin.ode.dWorldStep
        if quick:
            self.twin.ode.dWorldSetQuickStepNumIterations(self.twin.world, quick)
        h = c_double(self.world.dt)
        for frame in range(FRAMES):
            self.place(frame)
            self.twin.move_markers()
            began = perf_counter()
            step(self.twin.world, h)
            spent[frame] = perf_counter() - began
        return spent

    def place(self, frame: int) -> None:
        """Put the markers where `run` has them in a frame."""
        after = self.paths[min(frame + 1, FRAMES - 1)]
        for marker, now, then in zip(self.world.markers, self.paths[frame], after, strict=True):
            marker.anchor, marker.anchor_velocity = now, (then - now) / self.world.dt


def marker_paths(world: World, frames: int) -> Array:
    """Return the places of the markers, (frames, markers, 3): a sway and a wave that runs through the body."""
    base = np.array([marker.anchor for marker in world.markers])
    t = np.arange(frames)[:, None] * world.dt
    wave = np.sin(2 * np.pi * 0.8 * t + 2.0 * base[:, 2])
    shift = np.stack((0.05 * wave, 0.03 * np.sin(2 * np.pi * 0.5 * t) + 0 * wave, 0.02 * wave), axis=2)
    return base + shift - shift[0]


def short(world: World, push: Array, speed: Array) -> Array:
    """Return by how much each row is off its curve, w - J v' - beta p, where its limits allow it to be nearer."""
    rows = world.tables["rows"]
    left = rows[:, at.W] - speed - rows[:, at.BETA] * push
    for limit, sign in ((rows[:, at.UPPER], 1.0), (rows[:, at.LOWER], -1.0)):
        finite = np.isfinite(limit)
        stands = np.zeros(len(rows), dtype=bool)
        stands[finite] = sign * (push[finite] - limit[finite]) >= -1e-9 * np.abs(limit[finite])
        left = np.where(stands & (sign * left > 0), 0.0, left)
    return left


def left_by_peer(quick: int, frames: int = 12) -> float:
    """Return the residual of the other engine's steps, the mean over frames of the root mean square [m/s, rad/s]."""
    motion = Motion()
    assert motion.twin is not None
    world, found = motion.world, []
    for frame in range(min(frames, FRAMES)):
        motion.place(frame)
        motion.twin.move_markers()
        world.set_state(motion.twin.state())
        theirs = motion.twin.step(quick=quick)
        anchors = world.tables["frames"].copy()
        world.step()  # writes the rows as they are before the step
        world.tables["frames"][:] = anchors
        rows, push, speed = (
            world.tables["rows"],
            np.zeros(world.tables.count("rows")),
            np.zeros(world.tables.count("rows")),
        )
        after = motion.twin.state()[:, 7:13]
        for constraint in world.constraints:
            block = rows[constraint.rows]
            push[constraint.rows] = np.linalg.lstsq(block[:, :6].T, theirs[constraint.index] * world.dt, rcond=None)[0]
            speed[constraint.rows] = block[:, :6] @ after[constraint.child.index]
            if constraint.parent is not None:
                speed[constraint.rows] += block[:, 6:12] @ after[constraint.parent.index]
        found.append(float(np.sqrt(np.mean(short(world, push, speed) ** 2))))
    motion.twin.close()
    return float(np.mean(found))


def left_by_ours(solver: str, sweeps: int = SWEEPS, frames: int = 12) -> float:
    """Return the residual of our steps, as `left_by_peer` does."""
    motion = Motion(solver, sweeps)
    found = []
    for frame in range(min(frames, FRAMES)):
        motion.place(frame)
        motion.world.step()
        rows = motion.world.tables["rows"]
        found.append(float(np.sqrt(np.mean(short(motion.world, rows[:, at.PUSH], rows[:, at.SPEED]) ** 2))))
    return float(np.mean(found))


def left_by_quickstep(sweeps: int) -> float:
    """Return the residual of dWorldQuickStep."""
    return left_by_peer(sweeps)


def left_by_sweeps(sweeps: int) -> float:
    """Return the residual of our sweeps."""
    return left_by_ours("pgs", sweeps)


def speed(*, quick: bool) -> list[Row]:
    """Times of a step, turn by turn in one run, and the residuals that go with them."""
    structured, iterative = Motion(), Motion("pgs")
    contestants = {"structured": structured.ours, "sweeps": iterative.ours}
    if structured.twin is not None:
        contestants |= {
            "dWorldStep": lambda: structured.theirs(0),
            "dWorldQuickStep": lambda: structured.theirs(THEIR_SWEEPS),
        }
    best = {name: np.full(FRAMES, np.inf) for name in contestants}
    for _ in range(8 if quick else 60):
        for name, once in contestants.items():
            best[name] = np.minimum(best[name], once())  # theirs frame by frame: a long run is hit by other programs
    times = {name: 1e6 * float(seconds.mean()) for name, seconds in best.items()}
    structured.rewind()
    counts = []
    for frame in range(FRAMES):
        structured.place(frame)
        structured.world.step()
        counts.append(structured.world.stats["factorizations"])
    exact, swept = left_by_ours("structured"), left_by_ours("pgs")
    detail = (
        f"{np.mean(counts):.2g} factorisations a step, of which {int(np.max(counts))} at most; residual {exact:.2g}"
    )
    rows = [
        information(GROUP, "a step, structured", times["structured"], "us", detail),
        information(GROUP, f"a step, {SWEEPS} sweeps", times["sweeps"], "us", f"residual {swept:.2g}"),
    ]
    if structured.twin is None:
        names = ("dWorldStep over structured", "residual over that of dWorldStep", "dWorldQuickStep over sweeps")
        return rows + [not_measured(GROUP, name, WHY) for name in names]
    theirs, quickly = left_by_peer(0), left_by_peer(THEIR_SWEEPS)
    detail = f"{times['dWorldStep']:.3g} us, residual {theirs:.2g}; ours {times['structured']:.3g} us"
    fast = f"{times['dWorldQuickStep']:.3g} us in {THEIR_SWEEPS} sweeps, residual {quickly:.2g}"
    return [
        *rows,
        at_least(
            GROUP, "dWorldStep over structured, time", times["dWorldStep"] / times["structured"], FASTER, "x", detail
        ),
        at_most(
            GROUP, "structured over dWorldStep, residual", exact / theirs, 1.0, "x", f"{exact:.2g} and {theirs:.2g} m/s"
        ),
        at_least(
            GROUP, "dWorldQuickStep over sweeps, time", times["dWorldQuickStep"] / times["sweeps"], 1.0, "x", fast
        ),
        at_most(
            GROUP, "sweeps over dWorldQuickStep, residual", swept / quickly, 1.0, "x",
            f"{swept:.2g} and {quickly:.2g} m/s",
        ),
        at_least(
            GROUP, "dWorldQuickStep over structured, time", times["dWorldQuickStep"] / times["structured"], 1.0, "x",
            "exact against iterative",
        ),
    ]  # fmt: skip


def tree(count: int, *, branching: int = 0) -> World:
    """Return a chain (or a tree) of balls joints with a marker on every tenth body."""
    world = World(dt=1 / 240, cfm=1e-6)
    rng = np.random.default_rng(0)
    for k in range(count):
        parent = None if k == 0 else f"b{k - 1 if branching == 0 else (k - 1) // branching}"
        place = rng.normal(size=3)
        body = world.add_body(f"b{k}", shapes=[Capsule(radius=0.05, length=0.2)], pose=tuple(place))
        joint = world.add_joint(f"j{k}", "ball", body, parent, anchor=place)
        if k % 2:
            world.add_motor(f"m{k}", joint, stiffness=10.0, damping=1.0)
        if k % 10 == 0:
            world.add_marker(f"k{k}", body, (0.1, 0, 0))
    return world


def growth(*, quick: bool) -> list[Row]:
    """Exponent of the time of a step over the number of bodies."""
    sizes = SIZES if quick else (50, 100, 200, 400, 800, 1600)
    rows = []
    for name, branching in (("chain", 0), ("tree of three branches", 3)):
        worlds = [tree(size, branching=branching) for size in sizes]
        best = np.full(len(sizes), np.inf)
        for world in worlds:
            world.step(2)
        for _ in range(3 if quick else 15):
            for k, world in enumerate(worlds):
                steps = max(1, 800 // sizes[k])
                began = perf_counter()
                world.step(steps)
                best[k] = min(best[k], (perf_counter() - began) / steps)
        power = exponent(sizes, best.tolist())
        small, large = best[0] / sizes[0] * 1e9, best[-1] / sizes[-1] * 1e9
        detail = f"{small:.0f} to {large:.0f} ns a body at {sizes[0]} to {sizes[-1]} bodies"
        rows.append(at_most("growth of unbounded rows", f"{name}: exponent of the time", power, LINEAR, "", detail))
    return rows
