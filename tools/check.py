"""Run the project's checks, one stage after the other, and say how long each took.

`python tools/check.py` runs all of them, `python tools/check.py lint types` those. A stage that fails does not keep the
others from running; the exit code says whether all passed. The last line is the count of the tests.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
SUMMARY = re.compile(r"\d+ (?:passed|failed|error|skipped|deselected)[^\n]* in [\d.]+s")
COUNT = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed)")


@dataclass(frozen=True)
class Stage:
    """One command, what it is called, and the environment that it needs."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    fresh_cache: bool = False
    """Compile the kernels anew, in a cache of their own."""


def pytest(*arguments: str, workers: int = 0) -> list[str]:
    """Return a pytest command, on `workers` processes (0: in one)."""
    spread = ["-n", str(workers), "--dist", "worksteal"] if workers > 1 else ["-p", "no:xdist"]
    return [sys.executable, "-m", "pytest", "-q", *spread, *arguments]


def stages(workers: int) -> list[Stage]:
    """Return all stages in the order in which they run: the quick ones first."""
    tool = {name: str(BIN / name) for name in ("ruff", "mypy", "lint-imports", "mkdocs")}

    def again(left_out: str) -> list[str]:
        """Choose the tests of a run that repeats others: the peers are asked once."""
        return ["--ignore=tests/peers", "-m", f"not slow and not alone and not subprocess and not {left_out}"]

    return [
        Stage("lint", [tool["ruff"], "check", "."]),
        Stage("format", [tool["ruff"], "format", "--check", "."]),
        Stage("layers", [tool["lint-imports"], "--no-cache", "--no-logo"]),
        Stage("types", [tool["mypy"]]),
        Stage("tests", pytest("-m", "not slow and not alone", "--durations=10", workers=workers)),
        Stage("timing", pytest("-m", "alone and not slow", "-rP")),
        Stage(
            "coverage",
            pytest(*again("slow_python"), "--cov", "--cov-report=term", "--durations=10", workers=workers),
            {"NUMBA_DISABLE_JIT": "1", "HYPOTHESIS_PROFILE": "brief"},
        ),
        Stage(
            "bounds",
            pytest(*again("no_bounds"), "--durations=10", workers=workers),
            {"KINETREE_BOUNDSCHECK": "1", "HYPOTHESIS_PROFILE": "brief"},
            fresh_cache=True,
        ),
        Stage("examples", [sys.executable, "tools/run_examples.py"]),
        Stage("docs", [tool["mkdocs"], "build", "--strict", "--quiet"], {"NO_MKDOCS_2_WARNING": "1"}),
    ]


def run(stage: Stage) -> tuple[bool, str]:
    """Run a stage, showing its output as it comes; returns whether it passed, and pytest's summary if there is one."""
    environment = {**os.environ, **stage.environment, "PYTHONUNBUFFERED": "1"}
    with tempfile.TemporaryDirectory(prefix="kinetree-") as folder:
        if stage.fresh_cache:
            environment["KINETREE_CACHE_DIR"] = folder
        process = subprocess.Popen(
            stage.command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert process.stdout is not None
        tail = b""
        while chunk := process.stdout.read1(65536):  # type: ignore[attr-defined]
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
            tail = (tail + chunk)[-4000:]
        code = process.wait()
    found = SUMMARY.findall(tail.decode(errors="replace"))
    return code == 0, found[-1] if found else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the stages that are named, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = {stage.name: stage for stage in stages(2)}
    parser.add_argument("stage", nargs="*", help=f"one of {', '.join(every)}; all if none is named")
    parser.add_argument("--workers", type=int, default=min(os.cpu_count() or 1, 4), help="processes that run tests")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.stage if name not in every]:
        parser.error(f"there is no stage {', '.join(unknown)}; the stages are {', '.join(every)}")
    wanted = [stage for stage in stages(options.workers) if not options.stage or stage.name in options.stage]

    rows = []
    for number, stage in enumerate(wanted, start=1):
        print(f"\n=== {number}/{len(wanted)} {stage.name}: {' '.join(map(str, stage.command[:6]))} ...", flush=True)
        start = time.monotonic()
        passed, summary = run(stage)
        rows.append((stage.name, passed, time.monotonic() - start, summary))
    return report(rows)


def report(rows: Sequence[tuple[str, bool, float, str]]) -> int:
    """Print the table of stages, then the counts of all tests in one last line; returns the exit code."""
    print("\nstage      result  seconds  tests")
    for name, passed, seconds, summary in rows:
        print(f"{name:10s} {'ok' if passed else 'FAILED':6s} {seconds:8.1f}  {summary}")
    counts: dict[str, int] = {}
    for *_, summary in rows:
        for number, what in COUNT.findall(summary):
            counts[what] = counts.get(what, 0) + int(number)
    seconds = sum(row[2] for row in rows)
    failed = [row[0] for row in rows if not row[1]]
    print(f"{len(rows) - len(failed)} of {len(rows)} stages passed; failed: {', '.join(failed) or 'none'}")
    if counts:
        print(f"=== {', '.join(f'{n} {what}' for what, n in counts.items())} in {seconds:.2f}s ===")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
