"""Motions: orders of the integrators, energy and momentum."""

from __future__ import annotations

import numpy as np

from .. import dynamics
from ..model.library import chain, humanoid, pendulum
from ..model.model import Model
from ..simulation import Simulation
from .core import Row, at_least, at_most, exponent, information

GROUP = "motion"
ORDERS = (("euler", 1), ("semi_implicit", 1), ("rk4", 4))
SHORT = 0.1  # how far the fitted order may stay below the nominal one: the next term of the error is not gone yet
DRIFT = 1e-6
KEPT = 1e-10
START = 0.5  # rad from hanging, of the first joint of the long pendulum


def _end(
    model: Model, q: np.ndarray, v: np.ndarray, integrator: str, dt: float, seconds: float, **more: float
) -> np.ndarray:
    """Return where a motion is after `seconds`: coordinates relative to `q`, and velocities."""
    simulation = Simulation(model, q, v, dt=dt, integrator=integrator, **more)  # type: ignore[arg-type]
    simulation.step(round(seconds / dt))
    return np.concatenate((dynamics.difference(model, q, simulation.q), simulation.v))


def orders(*, quick: bool) -> list[Row]:
    """Fit the order of each integrator on a chain of ball joints that starts fast."""
    model = chain(4, spherical=True)
    q, v = model.random_state(0)
    seconds = 0.125
    exact = _end(model, q, v, "rk4", seconds / 4096, seconds)
    rows = []
    for name, order in ORDERS:
        counts = (64, 128, 256, 512) if order == 4 else (512, 1024, 2048, 4096)
        steps = [seconds / count for count in counts[: 3 if quick else 4]]
        errors = [float(np.abs(_end(model, q, v, name, dt, seconds) - exact).max()) for dt in steps]
        detail = f"errors {errors[0]:.1e} to {errors[-1]:.1e} at dt {steps[0] * 1e3:.2g} to {steps[-1] * 1e3:.2g} ms"
        rows.append(at_least(GROUP, f"order of {name}", exponent(steps, errors), order - SHORT, "", detail))
    for tolerance in (1e-6, 1e-10):
        error = float(np.abs(_end(model, q, v, "rk45", 0.025, seconds, tolerance=tolerance) - exact).max())
        rows.append(information(GROUP, f"error of rk45 at tolerance {tolerance:g}", error, "", "at the end of 0.125 s"))
    return rows


def energy(*, quick: bool) -> list[Row]:
    """Drift of the energy of a long pendulum that swings from an angle."""
    n, seconds = (50, 2.0) if quick else (300, 10.0)
    model = pendulum(n)
    q = np.zeros(n)
    lowest = sum(dynamics.energy(model, q, np.zeros(n)))
    q[0] = START
    simulation = Simulation(model, q, dt=1e-3, integrator="rk4")
    start = sum(simulation.energy())
    worst = 0.0
    for _ in range(round(seconds / 0.1)):
        simulation.step(100)
        worst = max(worst, abs(sum(simulation.energy()) - start))
    detail = (
        f"straight, {START} rad from hanging, released at rest; largest of {round(seconds / 0.1)} looks, relative to "
        f"the {start - lowest:.3g} J above hanging"
    )
    name = f"energy of a {n}-link pendulum, {seconds:g} s of rk4 at 1 ms"
    return [at_most(GROUP, name, worst / (start - lowest), DRIFT, "", detail)]


def momentum(*, quick: bool) -> list[Row]:
    """Momentum of a figure that tumbles without gravity."""
    model = humanoid()
    rng = np.random.default_rng(0)
    v = rng.normal(size=model.nv)
    seconds, dt = 0.2 if quick else 2.0, 2.5e-4
    simulation = Simulation(model, None, v, dt=dt, gravity=(0, 0, 0), integrator="rk4")
    start = dynamics.momentum(model, simulation.q, simulation.v)
    worst = np.zeros(2)
    for _ in range(20):
        simulation.step(round(seconds / dt / 20))
        change = dynamics.momentum(model, simulation.q, simulation.v) - start
        worst = np.maximum(worst, (np.linalg.norm(change[:3]), np.linalg.norm(change[3:])))
    relative = worst / (np.linalg.norm(start[:3]), np.linalg.norm(start[3:]))
    detail = (
        f"humanoid, {model.nv} degrees of freedom at 1 rad/s, {seconds:g} s of rk4 at {dt * 1e3:g} ms; angular "
        f"{relative[0]:.1e}, linear {relative[1]:.1e}"
    )
    return [at_most(GROUP, "momentum of a free-floating tree", float(relative.max()), KEPT, "", detail)]
