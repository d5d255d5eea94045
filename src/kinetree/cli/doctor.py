"""`kinetree doctor`: what is installed, what is missing, and whether it computes rightly here."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import typer

from .common import JsonOption, console, print_facts, print_json

CORE = ("numpy", "scipy", "numba", "llvmlite")
EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "cli": (("typer", "rich"), "this command line"),
    "io": (("mujoco",), "reading URDF and MJCF"),
    "render": (("imageio-ffmpeg", "pillow"), "videos and plots"),
    "tables": (("pandas", "pyarrow"), "data frames, CSV and Parquet"),
    "human": (("ezc3d", "xarray", "pandas", "pyarrow"), "C3D files and tables of human movement"),
    "live": (("pylsl",), "Lab Streaming Layer streams"),
    "bench": (("pin", "drake"), "comparing with other engines"),
}
WORST = 1e-9  # relative error of RNEA(ABA) that rounding explains on the chain of the self-check


def doctor(json: JsonOption = False) -> None:
    """Check the installation: versions, extras, kernel cache, threads, and that the dynamics are exact here.

    [bold]Examples[/bold]

      kinetree doctor

      kinetree doctor --json
    """
    report = examine()
    if json:
        print_json(report)
    else:
        print_facts({**report["versions"], "threads": report["threads"]})
        print()
        for name, extra in report["extras"].items():
            found = ", ".join(f"{package} {version or 'missing'}" for package, version in extra["packages"].items())
            print(f"{'ok     ' if extra['present'] else 'missing'}  {name:<7} {found}  ({extra['purpose']})")
        print()
        print_facts({f"cache {key}": value for key, value in report["cache"].items()})
        print_facts({f"check {key}": value for key, value in report["check"].items()})
        print()
        for advice in report["advice"] or ["all is well"]:
            print(advice)
    if not report["check"]["passed"]:
        console().print("kinetree: the self-check failed", markup=False)
        raise typer.Exit(1)


def examine() -> dict[str, Any]:
    """Return everything that the command shows."""
    from .. import __version__

    versions = {"kinetree": __version__, "python": platform.python_version(), "platform": platform.platform()}
    versions |= {package: _version(package) or "missing" for package in CORE}
    extras = {}
    advice = []
    for name, (packages, purpose) in EXTRAS.items():
        found = {package: _version(package) for package in packages}
        present = all(found.values())
        extras[name] = {"present": present, "packages": found, "purpose": purpose}
        if not present:
            advice.append(f"{purpose} needs more packages: pip install 'kinetree[{name}]'")
    cache = _cache()
    if cache["folder"] is None:
        advice.append("kernels are compiled anew in every process: set KINETREE_CACHE_DIR to a folder of your own")
    elif cache["files"] == 0:
        advice.append("no kernel is compiled yet: `kinetree warmup` does it now instead of at the first use")
    check = self_check()
    if not check["passed"]:
        advice.append("the self-check failed: clear the cache folder, run `kinetree warmup`, and report it if it stays")
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        advice.append("NUMBA_DISABLE_JIT is set: everything runs as plain Python, hundreds of times slower; unset it")
    wished = os.environ.get("NUMBA_NUM_THREADS", "")
    threads = int(wished) if wished.isdigit() else _processors()
    return {
        "versions": versions, "threads": threads, "extras": extras, "cache": cache, "check": check,
        "advice": advice,
    }  # fmt: skip


def self_check() -> dict[str, Any]:
    """Compute joint forces from accelerations from joint forces: the identity, up to rounding."""
    import numpy as np

    from ..dynamics import forward_dynamics, inverse_dynamics
    from ..model import library
    from .warm import warm_up

    warm_up(["dynamics"], only_cold=True)
    model = library.humanoid()
    q, v = model.random_state(7)
    tau = np.random.default_rng(7).normal(size=model.nv)
    again = inverse_dynamics(model, q, v, forward_dynamics(model, q, v, tau))
    # The forces are sums of parts as large as the weight: rounding is relative to the largest part, not to tau.
    size = max(float(np.abs(tau).max()), float(np.abs(inverse_dynamics(model, q, v, np.zeros(model.nv))).max()))
    error = float(np.abs(again - tau).max() / size)
    return {"what": "inverse of forward dynamics is the identity", "error": error, "passed": error < WORST}


def _cache() -> dict[str, Any]:
    from .._jit import ENABLED, cache_folder

    folder = cache_folder()
    files = [] if folder is None else [file for file in folder.rglob("*") if file.is_file()]
    megabytes = sum(_size(file) for file in files) / 1e6
    return {
        "folder": None if folder is None else str(folder),
        "files": len(files),
        "MB": megabytes,
        "compiling": ENABLED,
    }


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # another process may just have replaced it
        return 0


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processors() -> int:
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1
