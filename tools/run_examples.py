"""Run every script of examples/ in a folder of its own; each checks itself and must end with exit code 0."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "examples"


def main() -> int:
    """Run the examples, print a line each, and return the exit code."""
    scripts = sorted(FOLDER.glob("*.py"))
    if not scripts:
        print(f"no examples in {FOLDER}")
        return 1
    failed = 0
    for script in scripts:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, script], cwd=folder, capture_output=True, text=True, timeout=300, check=False
            )
        seconds = time.monotonic() - start
        last = (done.stdout.strip().splitlines() or ["(printed nothing)"])[-1]
        print(f"{'ok' if done.returncode == 0 else 'FAILED':6s} {seconds:6.1f} s  {script.name:28s} {last}", flush=True)
        if done.returncode:
            failed += 1
            print(done.stdout + done.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
