"""How long one waits: for the import, and for a first result."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from .bodies import ROBOTS
from .core import Row, at_most

GROUP = "start"
IMPORT, COLD, WARM = 0.3, 60.0, 2.0  # s
IMPORTING = "import time; began = time.perf_counter(); import kinetree; print(time.perf_counter() - began)"
FIRST = """
import kinetree as kt
model = {model}
q, v = model.random_state(0)
kt.forward_dynamics(model, q, v)
sim = kt.Simulation(model, q, v)
sim.step()
print(sim.time)
"""


def _run(code: str, environment: dict[str, str] | None = None) -> tuple[float, str]:
    """Run code in a new interpreter; returns the seconds that it took from outside, and what it printed."""
    source = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH", ""))))
    began = perf_counter()
    done = subprocess.run(  # noqa: S603 our own interpreter and text
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": path} | (environment or {}), capture_output=True, text=True, check=False,
    )  # fmt: skip
    seconds = perf_counter() - began
    if done.returncode != 0:
        raise RuntimeError(f"a new interpreter failed: {done.stderr.strip().splitlines()[-1:]}")
    return seconds, done.stdout


def waits(data: Path | None, *, quick: bool) -> list[Row]:
    """Time the import, and a first result with a cold and a warm cache of compiled code."""
    imports = [float(_run(IMPORTING)[1]) for _ in range(3 if quick else 7)]
    rows = [at_most(GROUP, "import kinetree", min(imports), IMPORT, "s", f"best of {len(imports)} new interpreters")]
    robot = next(robot for robot in ROBOTS if robot.floating)
    path = robot.path(data)
    model = "kt.models.humanoid()" if path is None else f"kt.load({str(path)!r}, floating=True)"
    label = "the library's humanoid" if path is None else robot.file
    code = FIRST.format(model=model)
    what = f"a new interpreter loads {label}, computes forward dynamics and steps a simulation"
    with tempfile.TemporaryDirectory(prefix="kinetree-bench-") as folder:
        environment = {"KINETREE_CACHE_DIR": folder}
        if quick:
            _run(code)
            environment = {}
        else:
            cold, _ = _run(code, environment)
            rows.append(at_most(GROUP, "first result, nothing compiled yet", cold, COLD, "s", what))
        warm = [_run(code, environment)[0] for _ in range(3)]
    rows.append(at_most(GROUP, "first result, compiled before", min(warm), WARM, "s", f"{what}; best of three"))
    return rows
