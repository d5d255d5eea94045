"""Compile kernels ahead of their first use, family by family, with progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from .._jit import ENABLED, is_cached
from ..model import library

if TYPE_CHECKING:
    from rich.progress import Progress


@dataclass(frozen=True)
class Family:
    """Kernels that are needed together: how to use them once, and one that is cached when this was done."""

    name: str
    use: Callable[[], None]
    sign: str


def families() -> tuple[Family, ...]:
    """Return all families, in the order in which they build on each other."""
    return (
        Family("configurations", _configurations, "kernels.manifold.difference"),
        Family("kinematics and sums", _kinematics, "kernels.bodies.totals"),
        Family("dynamics", _dynamics, "kernels.aba.checked_aba"),
        Family("simulation", _simulation, "kernels.steppers.advance"),
        Family("divide and conquer", _divide, "kernels.dca_steps.advance"),
        Family("adaptive simulation", _adaptive, "kernels.adaptive.advance"),
        Family("quasi-statics", _quasistatics, "kernels.quasistatic.advance"),
        Family("soft world", _soft, "kernels.soft_step.run_steps"),
        Family("human movement", _human, "kernels.pose.follow_frames"),
        Family("constraints", _constraints, "kernels.constrain.advance"),
        Family("pictures", _pictures, "render.shade.shade"),
    )


def is_cold(family: Family) -> bool:
    """Say whether nothing of the family is in the cache, so that its first use will take seconds."""
    return ENABLED and not is_cached(family.sign)


def warm_up(names: Sequence[str] | None = None, *, only_cold: bool = False) -> dict[str, float]:
    """Use each of the named families (None: all) once, with a bar; returns the seconds that each took."""
    wanted = [family for family in families() if names is None or family.name in names]
    if only_cold:
        wanted = [family for family in wanted if is_cold(family)]
    seconds: dict[str, float] = {}
    if not wanted:
        return seconds
    with _bars() as bar:
        task = bar.add_task("compiling", total=len(wanted))
        for family in wanted:
            bar.update(task, description=f"compiling, this once: {family.name}" if is_cold(family) else family.name)
            began = perf_counter()
            family.use()
            seconds[family.name] = perf_counter() - began
            bar.advance(task)
        bar.update(task, description="kernels are ready")
    return seconds


def _bars() -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from .common import console

    columns = (
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
    )  # fmt: skip
    return Progress(*columns, console=console())


def _configurations() -> None:
    from .. import dynamics

    model = library.chain(3, spherical=True)
    q, v = model.random_state(0)
    dynamics.difference(model, q, dynamics.integrate(model, q, v, 0.1))


def _kinematics() -> None:
    from .. import dynamics

    model = library.chain(3)
    q, v = model.random_state(0)
    dynamics.energy(model, q, v)
    dynamics.momentum(model, q, v)
    dynamics.center_of_mass(model, q)
    dynamics.body_poses(model, q)
    dynamics.body_velocities(model, q, v)
    dynamics.body_accelerations(model, q, v, v)
    dynamics.jacobian(model, q, 2)


def _dynamics() -> None:
    from .. import dynamics

    model = library.chain(3)
    q, v = model.random_state(0)
    a = dynamics.forward_dynamics(model, q, v, np.zeros(model.nv), external=np.zeros((model.nbodies, 6)))
    dynamics.inverse_dynamics(model, q, v, a)
    dynamics.mass_matrix(model, q)


def _simulation() -> None:
    from ..full import INTEGRATORS
    from ..simulation import Simulation

    for integrator in INTEGRATORS:
        Simulation(library.chain(3), integrator=integrator).run(0.002, record_every=1)  # type: ignore[arg-type]


def _divide() -> None:
    from .. import dynamics
    from ..simulation import Full, Simulation

    model = library.chain(3)
    Simulation(model, method=Full("dca")).step()
    dynamics.forward_dynamics(model, *model.random_state(0), method="dca")


def _adaptive() -> None:
    from ..adaptive.method import Adaptive
    from ..simulation import Simulation

    Simulation(library.chain(3), method=Adaptive(joints=1)).step()


def _quasistatics() -> None:
    from ..adaptive.quasistatic import Quasistatic
    from ..adaptive.quasistatic_call import quasistatic_acceleration
    from ..adaptive.quasistatic_relax import relax
    from ..forces import Spring
    from ..simulation import Simulation

    model = library.chain(3)
    quasistatic_acceleration(model, model.neutral())
    for share in (1.0, None):
        Simulation(model, method=Quasistatic(hand_over=share)).step()
    for other in (None, 0):
        spring = Spring(2, (0.0, 0.0, 0.0), (0.0, 0.0, 0.3), 1e6, other=other)
        relax(model, model.random_state(0)[0], forces=[spring], must_converge=False, most=20)


def _soft() -> None:
    from ..model.shapes import Sphere
    from ..soft import World

    world = World()
    world.add_body("ball", shapes=[Sphere()])
    world.step()


def _human() -> None:
    from ..human.analysis import analyse
    from ..human.synthetic import synthetic_walk

    analyse(synthetic_walk(seconds=0.5))


def _constraints() -> None:
    from ..constraints.acceleration import constraint_matrix
    from ..constraints.contact import Contacts
    from ..constraints.lcp import solve
    from ..constraints.motion import JointAcceleration
    from ..simulation import Simulation

    model = library.chain(3)
    Simulation(model, constraints=[Contacts()]).step()
    wanted = [JointAcceleration(model.joint_names[0])]
    for method in ("pgs", "dantzig", "lemke"):
        solve([[1.0]], [-1.0], method=method)
    for route in ("paths", "deltas", "forces"):
        constraint_matrix(model, model.neutral(), wanted, route=route)


def _pictures() -> None:
    from ..render import Camera, Renderer, Scene

    model = library.chain(3)
    scene = Scene.of(model)
    Renderer(64, 48).draw(scene, Camera(eye=(1, -1, 1), target=(0, 0, 0)), ground=-1.0)
