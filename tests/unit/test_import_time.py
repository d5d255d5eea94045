"""Importing kinetree is quick, and brings nothing that is not needed yet."""

from __future__ import annotations

import subprocess
import sys

import pytest

LIMIT = 0.3  # s, for a person who starts a prompt or a command

pytestmark = [pytest.mark.alone, pytest.mark.subprocess]


def fresh(code: str) -> str:
    """Run code in a new interpreter and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_is_quick():
    """`import kinetree` takes less than 0.3 s; the best of five, since the rest measure the machine's other work."""
    code = "import time; start = time.perf_counter(); import kinetree; print(time.perf_counter() - start)"
    seconds = [float(fresh(code)) for _ in range(5)]
    print(f"import kinetree: best {min(seconds):.4f} s, worst {max(seconds):.4f} s of five")
    assert min(seconds) < LIMIT, seconds


def test_import_brings_no_heavy_package():
    """Numba and every optional dependency load on first use."""
    code = "import sys; before = set(sys.modules); import kinetree; print(*(set(sys.modules) - before))"
    loaded = {name.partition(".")[0] for name in fresh(code).split()}
    heavy = {"numba", "llvmlite", "scipy", "mujoco", "pandas", "pyarrow", "typer", "rich", "PIL", "imageio_ffmpeg"}
    assert not loaded & heavy, f"import kinetree brings {sorted(loaded & heavy)}"


def test_import_writes_nothing(tmp_path):
    """Importing has no side effects: no cache folder, no changed setting of Numba's."""
    code = f"""
import os
os.environ["KINETREE_CACHE_DIR"] = {str(tmp_path / "cache")!r}
before = dict(os.environ)
import kinetree
assert dict(os.environ) == before
"""
    fresh(code)
    assert list(tmp_path.iterdir()) == []


def test_every_public_name_loads():
    """Each name in `kinetree.__all__` can be had, so that none of them points at a module that is not there."""
    code = "import kinetree; [getattr(kinetree, name) for name in kinetree.__all__]; print(len(kinetree.__all__))"
    assert int(fresh(code)) > 20
