"""The canary of the run with bounds checks: a kernel that reads past its array must be caught."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kinetree import _jit

checked = pytest.mark.skipif(
    not (_jit.BOUNDSCHECK or not _jit.ENABLED),
    reason="only the run with bounds checks (KINETREE_BOUNDSCHECK=1) sees it",
)


@_jit.kernel
def read_past_the_end(values, beyond):
    """Sum the array and the entries that lie `beyond` its end."""
    total = 0.0
    for i in range(values.shape[0] + beyond):
        total += values[i]
    return total


@_jit.leaf
def _entry(values, i):
    return values[i]


@_jit.exact
def read_past_the_end_in_a_leaf(values, beyond):
    """Read one entry `beyond` the end, in an inlined function."""
    return _entry(values, values.shape[0] - 1 + beyond)


@pytest.mark.parametrize("read", [read_past_the_end, read_past_the_end_in_a_leaf])
def test_reading_inside_is_fine(read):
    """The canary lives: inside the array it does its work."""
    assert read(np.ones(1), 0) == 1.0


@checked
@pytest.mark.parametrize("read", [read_past_the_end, read_past_the_end_in_a_leaf])
def test_reading_past_the_end_is_caught(read):
    """With bounds checks, one entry too far is an IndexError."""
    with pytest.raises(IndexError):
        read(np.ones(4), 1)


@pytest.mark.subprocess
def test_the_switch_reaches_the_compiler(tmp_path):
    """`KINETREE_BOUNDSCHECK=1` turns the checks on in a fresh process, whatever this one was started with."""
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import numpy, test_canary_bounds
try:
    test_canary_bounds.read_past_the_end(numpy.ones(4), 1)
except IndexError:
    print("caught")
"""
    environment = {**os.environ, "KINETREE_BOUNDSCHECK": "1", "KINETREE_CACHE_DIR": str(tmp_path)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "caught", done.stdout + done.stderr
