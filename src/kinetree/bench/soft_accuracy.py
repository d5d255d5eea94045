"""Agreement of the soft world with the Open Dynamics Engine, and with the generalised coordinates of a model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..model.library import chain
from ..model.shapes import Box
from ..soft import World, compare
from . import soft_scenes as scenes
from .core import Row, at_least, at_most, exponent, information, not_measured
from .peers import ode

SAME = 1e-8
KEPT = 1e-9
WHY = "libode is not installed (Debian: apt install libode8)"
SCENES: tuple[tuple[str, Callable[[], World], int], ...] = (
    ("ball-joint pendulum", scenes.pendulum, 120),
    ("chain of ten hinges", scenes.chain, 60),
    ("box that slides on the floor", scenes.box_on_floor, 60),
    ("21-body human, 41 markers, 60 limited motor rows", scenes.human, 20),
)


def same_steps(*, quick: bool) -> list[Row]:
    """Largest differences of velocities and of constraint wrenches, relative to the largest of each, over all steps."""
    group = "against dWorldStep, same erp and cfm"
    rows = []
    for name, make, steps in SCENES:
        if not ode.is_there():
            rows += [not_measured(group, f"{name}: {what}", WHY) for what in ("velocities", "forces")]
            continue
        world = make()
        twin = ode.OdeTwin(world)
        worst = np.zeros(2)
        count = steps // 4 if quick else steps
        for _ in range(count):
            theirs = twin.step()
            world.step()
            speeds = twin.state()[:, 7:13]
            scale = max(np.abs(speeds).max(), 9.81 * world.dt)
            force = max(np.abs(f).max() for f in theirs.values())
            apart = max(np.abs(world.constraints[k].wrench() - f).max() for k, f in theirs.items())
            worst = np.maximum(worst, (np.abs(world.state()[:, 7:13] - speeds).max() / scale, apart / force))
        twin.close()
        detail = f"{count} steps of {world.dt:.4g} s, each engine on its own way; relative to the largest of the step"
        rows.append(at_most(group, f"{name}: velocities", worst[0], SAME, "", detail))
        rows.append(at_most(group, f"{name}: forces and torques of the constraints", worst[1], SAME, "", detail))
    return rows


def free_top(*, quick: bool) -> list[Row]:
    """What a free asymmetric top keeps of its angular momentum and energy, ours and theirs."""
    group, seconds = "free asymmetric top at 60 Hz", 2.0 if quick else 20.0
    world = World(dt=1 / 60, gravity=(0, 0, 0))
    body = world.add_body("top", shapes=[Box(size=(0.1, 0.25, 0.7))], velocity=(0.3, 8, 0.2, 0, 0, 0))
    twin = ode.OdeTwin(world, gyroscopic=True) if ode.is_there() else None
    start, energy = world.momentum(body.center)[:3], world.energy()[0]

    def drift() -> tuple[float, float]:
        moved = np.linalg.norm(world.momentum(body.center)[:3] - start) / np.linalg.norm(start)
        return float(moved), abs(world.energy()[0] / energy - 1)

    for _ in range(round(seconds * 60)):
        world.step()
        if twin is not None:
            twin.step()
    ours = drift()
    detail = f"{seconds:g} s, 8 rad/s about the middle axis, relative"
    rows = [
        at_most(group, "angular momentum", ours[0], KEPT, "", detail),
        at_most(group, "energy", ours[1], KEPT, "", detail),
    ]
    if twin is None:
        return [*rows, not_measured(group, "what dWorldStep loses, over ours", WHY)]
    world.set_state(twin.state())
    theirs = drift()
    twin.close()
    for k, what in enumerate(("angular momentum", "energy")):
        name = f"what dWorldStep loses of its {what}, over ours"
        rows.append(at_least(group, name, theirs[k] / max(ours[k], 1e-16), 1.0, "x", f"theirs {theirs[k]:.2g}"))
    return rows


def both_engines(*, quick: bool) -> list[Row]:
    """A chain in generalised coordinates and as a soft world: first order in the step."""
    group = "a model in both engines"
    model = chain(5, spherical=True)
    q, v = model.random_state(0)
    steps = (1e-3, 5e-4) if quick else (1e-3, 5e-4, 2.5e-4)
    runs = [compare(model, q, v, seconds=0.25, frames=5, dt=dt, cfm=1e-10) for dt in steps]
    apart = [float(run.distances.max()) for run in runs]
    detail = f"5 ball joints, 0.25 s; {apart[0]:.2g} to {apart[-1]:.2g} m apart at {steps[0]:g} to {steps[-1]:g} s"
    return [
        at_least(group, "order of the distance in the step", exponent(steps, apart), 0.9, "", detail),
        information(group, "largest gap in a joint", float(runs[-1].gaps.max()), "m", f"cfm 1e-10, dt {steps[-1]:g} s"),
    ]
