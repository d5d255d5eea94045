"""How well adaptive dynamics follows the full motion: figures 5 and 6 of Redon, Galoppo and Lin (2005), and curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..adaptive.assembly_tree import build_tree
from ..adaptive.method import Adaptive
from ..dynamics import body_poses
from ..forces import JointDamping, Spring
from ..full import Full, Method
from ..kernels import layout as at
from ..kernels import nodes as to
from ..model import library
from ..model.compile import compile_model
from ..model.description import Body
from ..model.joints import Fixed
from ..model.model import Model
from ..simulation import Simulation
from ..typing import Array
from .core import Row, at_least, at_most, information

REST, CURVES, FIGURE = "figure 6: equilibrium", "error against budget", "figure 5: simplification"
LINKS, ALIVE, SOUGHT = 50, 5, 10  # SOUGHT: joints whose accelerations are found, enough to reach any leaf of the tree
CLOSER = 3.0
DAMPING, STIFFNESS, STRONG_DT = 20.0, 60.0, 2e-2  # N m s/rad, N/m, s
STILL, CHUNK, PATIENCE = 1e-7, 5000, 60  # rad/s at rest; steps between two looks, and looks
HELD, OTHERS = 18, (10, 25, 32, 40, 49)  # links that a spring holds
RISE = 0.05  # of the largest error: how much noise may make a curve rise from one budget to the next
BUDGETS = (0.02, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97)  # of the joints
SAMPLES = 5  # moments at which two motions are compared
PENDULUM, FIGURE_BUDGETS, PAPER_MS = 300, (300, 100, 50, 20, 1), (5.0, 1.7, 0.7, 0.25, 0.02)


# --- figure 6


def breadth_first(model: Model, count: int) -> list[int]:
    """Return the bodies of the first `count` joints that a breadth-first walk meets in the assembly tree."""
    assembly = build_tree(model)
    queue, found = list(assembly.roots), []
    for node in queue:
        if assembly.tree[node, to.KIND] != to.LEAF and assembly.tree[node, to.UNIT] >= 0:
            found.append(int(model.topology[assembly.units[assembly.tree[node, to.UNIT], to.LAST], at.BODY]))
        queue += [child for child in assembly.tree[node, [to.LEFT, to.RIGHT]] if child >= 0]
    return found[:count]


def welded(model: Model, alive: Sequence[int]) -> Model:
    """Return the model in which only the joints of the bodies `alive` are left; the others are welded at zero."""
    description = model.description()
    bodies = [
        body
        if k in alive
        else Body(body.name, body.parent, Fixed(), body.placement, body.mass, body.com, body.inertia, body.shapes)
        for k, body in enumerate(description.bodies)
    ]
    return compile_model(type(description)(bodies, f"{model.name}, {len(alive)} joints left"))


def equilibrium(model: Model, link: int, method: Method, damping: float = DAMPING) -> Simulation:
    """Let a hanging pendulum, held by a spring at the end of `link`, come to rest."""
    reach = 0.05 * link
    forces = [
        Spring(link, (0, 0, -0.1), (reach, 0, -reach), STIFFNESS, 1.0),
        JointDamping(None, damping),
    ]
    simulation = Simulation(model, dt=STRONG_DT, method=method, forces=forces)
    for _ in range(PATIENCE):
        simulation.step(CHUNK)
        if np.abs(simulation.v).max(initial=0.0) < STILL:
            break
    return simulation


class Rest(NamedTuple):
    """The three equilibria as configurations of the whole pendulum, and how far the two hybrid ones are off [m]."""

    full: Array
    fixed: Array
    adaptive: Array
    fixed_error: float
    adaptive_error: float
    moved: float
    active: tuple[str, ...]


def figure_6(link: int = HELD, links: int = LINKS, alive: int = ALIVE, sought: int = SOUGHT) -> Rest:
    """Return where a pendulum comes to rest: all joints, `alive` chosen breadth-first, as many chosen adaptively.

    At each choice the adaptive method looks for the accelerations of `sought` joints, of which `alive` move on.
    """
    model = library.pendulum(links)
    chosen = breadth_first(model, alive)
    ends = [
        equilibrium(model, link, Full()),
        equilibrium(welded(model, chosen), link, Full()),
        equilibrium(model, link, Adaptive(joints=alive, acceleration_joints=sought)),
    ]
    fixed = np.zeros(links)
    fixed[sorted(chosen)] = ends[1].q
    where = [body_poses(model, q)[:, :3, 3] for q in (ends[0].q, fixed, ends[2].q, model.neutral())]
    gaps = [float(np.linalg.norm(place - where[0], axis=1).mean()) for place in where]
    return Rest(ends[0].q, fixed, ends[2].q, gaps[1], gaps[2], gaps[3], ends[2].active)


def rests(*, quick: bool) -> list[Row]:
    """Compare the equilibria for the figure's spring, and for springs at other links."""
    rows = []
    for link in (HELD,) if quick else (HELD, *OTHERS):
        rest = figure_6(link)
        name = f"spring at link {link} of {LINKS}: closer than breadth-first"
        if link == HELD:  # the figure's; the others tell how it is elsewhere
            rows.append(at_least(REST, name, _closer(rest), CLOSER, "times", _off(rest)))
        else:
            rows.append(information(REST, name, _closer(rest), "times", _off(rest)))
    narrow = figure_6(HELD, sought=ALIVE)
    name = f"spring at link {HELD}, {ALIVE} accelerations at a choice: closer than breadth-first"
    return [*rows, information(REST, name, _closer(narrow), "times", _off(narrow))]


def _closer(rest: Rest) -> float:
    return rest.fixed_error / max(rest.adaptive_error, 1e-300)


def _off(rest: Rest) -> str:
    return (
        f"{rest.adaptive_error * 1e3:.3g} mm off with {ALIVE} joints chosen adaptively, {rest.fixed_error * 1e3:.3g} "
        f"mm chosen breadth-first; the spring moves the links by {rest.moved * 1e3:.3g} mm on average"
    )


# --- error against budget


@dataclass(frozen=True)
class Case:
    """A body with a load: how to build it, its state for a seed, what acts, and for how long."""

    name: str
    model: Callable[[], Model]
    state: Callable[[Model, np.random.Generator], tuple[Array, Array]]
    forces: tuple[Any, ...] = ()
    pushes: int = 0
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    seconds: float = 0.5


def _bent(model: Model, rng: np.random.Generator) -> tuple[Array, Array]:
    return rng.normal(scale=0.15, size=model.nq), np.zeros(model.nv)


def _thrown(model: Model, rng: np.random.Generator) -> tuple[Array, Array]:
    return model.neutral(), rng.normal(size=model.nv)


def _shaken(model: Model, rng: np.random.Generator) -> tuple[Array, Array]:
    return model.neutral(), rng.normal(scale=1.5, size=model.nv) * (rng.random(model.nv) < 0.3)


def _resting(model: Model, rng: np.random.Generator) -> tuple[Array, Array]:
    return model.neutral(), np.zeros(model.nv)


NOWHERE = (0.0, 0.0, 0.0)
CASES = (
    Case("pendulum, swinging", lambda: library.pendulum(60), _bent, (JointDamping(None, 2e-3),), seconds=1.0),
    Case(
        "chain, pulled by a spring",
        lambda: library.chain(40),
        _bent,
        (Spring("link25", NOWHERE, (1.5, 0.8, -1.5), 40.0, 0.5), JointDamping(None, 0.02)),
        seconds=1.5,
    ),
    Case("humanoid, thrown", library.humanoid, _thrown, gravity=NOWHERE),
    Case("molecule, shaken", lambda: library.molecule(150, seed=1), _shaken, (JointDamping(None, 1e-3),), 0, NOWHERE),
    Case("millipede, pushed", lambda: library.millipede(legs=12, leg_links=6, spine=24), _resting, pushes=5),
)
DT, BLOCK = 5e-4, 40  # s, and steps that are timed at once: two periods between choices


class Curve(NamedTuple):
    """Mean distance of the bodies from the full motion [m] for each budget, and what a step cost, over the full's."""

    name: str
    joints: int
    budgets: tuple[int, ...]
    errors: Array
    costs: Array


def curve(case: Case, *, seeds: int, budgets: Sequence[float] = BUDGETS) -> Curve:
    """Measure one curve, the mean over `seeds` starts; of times the shortest count."""
    model = case.model()
    roots = int((model.topology[:, at.PARENT] < 0).sum())
    counts = tuple(sorted({max(roots, round(part * model.njoints)) for part in budgets}))
    errors, costs, base = np.zeros((seeds, len(counts))), np.full(len(counts), np.inf), np.inf
    for seed in range(seeds):
        truth, cost = _motion(case, model, seed, Full())
        base = min(base, cost)
        for k, count in enumerate(counts):
            own, cost = _motion(case, model, seed, Adaptive(joints=count))
            errors[seed, k] = np.linalg.norm(own - truth, axis=2).mean()
            costs[k] = min(costs[k], cost)
    return Curve(case.name, model.njoints, counts, errors.mean(axis=0), costs / base)


def _motion(case: Case, model: Model, seed: int, method: Method) -> tuple[Array, float]:
    """Return the places of the bodies at some moments (SAMPLES, nbodies, 3), and the seconds of a step (best)."""
    q, v = case.state(model, np.random.default_rng(seed))
    simulation = Simulation(model, q, v, dt=DT, gravity=case.gravity, method=method, forces=case.forces)
    rng = np.random.default_rng(seed + 1000)
    for body in rng.choice(model.nbodies, case.pushes):
        simulation.apply(int(body), force=rng.normal(scale=0.05, size=3))
    places, times = [], []
    for _ in range(SAMPLES):
        left = round(case.seconds / DT / SAMPLES)
        while left > 0:
            steps = min(left, BLOCK)
            began = perf_counter()
            simulation.step(steps)
            times.append((perf_counter() - began) / steps)
            left -= steps
        places.append(body_poses(model, simulation.q)[:, :3, 3])
    return np.array(places), min(times)


def curves(*, quick: bool) -> list[Row]:
    """Check that the error falls with the budget, on bodies and loads of five kinds."""
    rows = []
    for case in CASES:
        found = curve(case, seeds=2 if quick else 6)
        largest = float(found.errors.max())
        listed = ", ".join(
            f"{budget}: {error * 1e3:.3g} mm at {cost:.2g}"
            for budget, error, cost in zip(found.budgets, found.errors, found.costs, strict=True)
        )
        detail = f"of {found.joints} joints, mean distance of the bodies and cost of a step over the full's: {listed}"
        rise = float(np.diff(found.errors).max(initial=0.0)) / max(largest, 1e-300)
        rows.append(at_most(CURVES, f"{case.name}: largest rise of the error", rise, RISE, "of it", detail))
        half = next(k for k, budget in enumerate(found.budgets) if budget >= found.joints / 2)
        share = float(found.errors[half]) / max(largest, 1e-300)
        name = f"{case.name}: error with half of the joints"
        rows.append(information(CURVES, name, share, "of the largest", f"{found.errors[half] * 1e3:.3g} mm"))
    return rows


# --- figure 5


class Swing(NamedTuple):
    """The motion of a pendulum with some of its joints: configurations at `times` [s], and the cost of a step [s]."""

    joints: int
    times: Array
    q: Array
    seconds_per_step: float


def figure_5(
    links: int = PENDULUM, budgets: Sequence[int] = FIGURE_BUDGETS, seconds: float = 4.0, frames: int = 9
) -> list[Swing]:
    """Let a pendulum fall from one side with each budget of joints."""
    model = library.pendulum(links)
    q = np.zeros(links)
    q[0] = 1.0
    swings = []
    for joints in budgets:
        simulation = Simulation(model, q, dt=DT, method=Adaptive(joints=joints, acceleration_joints=joints))
        states = [simulation.q.copy()]
        for _ in range(frames - 1):
            simulation.step(round(seconds / DT / (frames - 1)))
            states.append(simulation.q.copy())
        times = np.linspace(0.0, seconds, frames)
        swings.append(Swing(joints, times, np.array(states), float(simulation.stats["seconds_per_step"])))
    return swings


def figure_5_rows(*, quick: bool) -> list[Row]:
    """Tell what a step of each row of the figure costs, and how far it is off."""
    model = library.pendulum(PENDULUM)
    swings = figure_5(seconds=1.0 if quick else 4.0)
    where = [np.array([body_poses(model, q)[:, :3, 3] for q in swing.q]) for swing in swings]
    rows = []
    for swing, places, paper in zip(swings, where, PAPER_MS, strict=True):
        off = float(np.linalg.norm(places - where[0], axis=2).mean())
        detail = f"the paper's {paper:g} ms in 2005; the links are {off:.3g} m off on average, of {PENDULUM / 10:g} m"
        name = f"a step with {swing.joints} of {PENDULUM} joints"
        rows.append(information(FIGURE, name, swing.seconds_per_step * 1e6, "us", detail))
    return rows
