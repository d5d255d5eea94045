"""`kernel` and `leaf`: the only place that knows Numba.

A compiled kernel is kept in a cache folder whose name is a hash of all that it is made from: the versions of Numba and
NumPy, the flags, its own source and the sources of all modules that it imports, near and far (Numba does not notice
when a callee in another file changes). So a change of one algorithm compiles that algorithm anew, and those that call
it. The folder is chosen while a kernel is declared, and Numba's own setting is put back afterwards, so that other
packages of the same process keep theirs.

`KINETREE_CACHE_DIR` moves the cache, `NUMBA_DISABLE_JIT=1` runs the kernels as plain Python, and
`KINETREE_BOUNDSCHECK=1` compiles them with bounds checks, in a folder of their own.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy

IMPORT = re.compile(r"^from (\.+)([\w.]*) import \(?([^()]*?)(?:\)|$)", re.MULTILINE)
F = TypeVar("F", bound=Callable[..., Any])

BOUNDSCHECK = os.environ.get("KINETREE_BOUNDSCHECK", "0") not in ("", "0")
ENABLED = not numba.config.DISABLE_JIT

# Kernels own no memory, so arrays need not be counted: to count those of a call takes longer than many a kernel. What
# allocates is refused by the compiler ("NRT required").
UNCOUNTED = {"_nrt": False}

# Reordering and contraction change the last digits only. "nnan" and "ninf" stay out: kernels must see a NaN.
FASTMATH = {"contract", "reassoc", "nsz", "arcp"}


@cache
def cache_folder() -> Path | None:
    """Return the folder for compiled kernels, or None where no folder can be written to."""
    digest = hashlib.sha256(f"{numba.__version__} {numpy.__version__} {BOUNDSCHECK} {sorted(FASTMATH)}".encode())
    digest.update(Path(__file__).read_bytes())
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    user = os.getuid() if hasattr(os, "getuid") else "user"
    wanted = os.environ.get("KINETREE_CACHE_DIR")
    candidates = [wanted] if wanted else [os.path.join(home, "kinetree"), f"{tempfile.gettempdir()}/kinetree-{user}"]
    for candidate in candidates:
        folder = Path(candidate) / digest.hexdigest()[:16]
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError:
            continue
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            continue  # somebody else's folder: its machine code is not to be trusted
        return folder
    return None


@cache
def _imports(source: Path) -> frozenset[Path]:
    """Return the modules of this package that a module imports when it is loaded."""
    found = set()
    for dots, module, names in IMPORT.findall(source.read_text(encoding="utf-8")):
        folder = source.parents[len(dots) - 1].joinpath(*module.split(".")) if module else source.parents[len(dots) - 1]
        wanted = [name.split(" as ")[0].strip() for name in names.split(",")]
        for path in (folder.with_suffix(".py"), *(folder / f"{name}.py" for name in wanted if name)):
            if path.is_file():
                found.add(path)
    return frozenset(found)


@cache
def module_folder(source: Path) -> str:
    """Return the name of the folder for the kernels of a module: its own and a hash of all sources that they need."""
    needed, waiting = {source}, [source]
    while waiting:
        new = _imports(waiting.pop()) - needed
        needed |= new
        waiting.extend(new)
    digest = hashlib.sha256()
    for path in sorted(needed):
        digest.update(path.read_bytes())
    return f"{source.parent.name}.{source.stem}-{digest.hexdigest()[:16]}"


def is_cached(function: str) -> bool:
    """Say whether a kernel ("kernels.aba.checked_aba") is in the cache as its sources are now."""
    room, module, name = function.split(".")
    source, folder = Path(__file__).parent / room / f"{module}.py", cache_folder()
    if folder is None or not source.is_file():
        return False
    return next((folder / module_folder(source)).rglob(f"{module}.{name}-*.nbi"), None) is not None


def _declare(function: F, **options: Any) -> F:
    if not ENABLED:
        return function
    folder = cache_folder()
    source = getattr(getattr(function, "__code__", None), "co_filename", None)
    if folder is not None and source is not None:
        folder = folder / module_folder(Path(source))
    before = numba.config.CACHE_DIR
    try:
        if folder is not None:
            numba.config.CACHE_DIR = str(folder)
        return numba.njit(cache=folder is not None, error_model="numpy", boundscheck=BOUNDSCHECK, **options)(function)
    finally:
        numba.config.CACHE_DIR = before


def kernel(function: F) -> F:
    """Compile a function that loops over arrays; compiled code is cached and releases the interpreter lock."""
    return _declare(function, nogil=True, fastmath=FASTMATH, **UNCOUNTED)


def allocating(function: F) -> F:
    """Compile a kernel like `kernel` that may allocate arrays, or return some to Python."""
    return _declare(function, nogil=True, fastmath=FASTMATH, _nrt=True)  # unless said, it would be its caller's


def exact(function: F) -> F:
    """Compile a kernel like `kernel`, in the written order of operations: where an error bound depends on it."""
    # unless said, a callee inherits its caller's fastmath
    return _declare(function, nogil=True, fastmath=False, **UNCOUNTED)


def parallel(function: F) -> F:
    """Compile a kernel whose `prange` loop runs over independent bodies or pictures on all cores; it may allocate."""
    return _declare(function, nogil=True, fastmath=FASTMATH, parallel=True)


def leaf(function: F) -> F:
    """Compile a small function that is always inlined into its callers."""
    return _declare(function, forceinline=True, fastmath=FASTMATH, **UNCOUNTED)


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the Python function of a kernel: for those that only cut arrays, when Python calls them."""
    return getattr(function, "py_func", function)


def part(function: F) -> F:
    """Mark a function that only one kernel calls, set apart for the reader: it is never compiled by itself.

    Every kernel is optimised anew inside each of its callers, so a level of calls between large ones costs minutes.
    """
    return numba.njit(inline="always")(function) if ENABLED else function


def exact_leaf(function: F) -> F:
    """Compile a leaf in the written order of operations, also inside a kernel that may reorder its own."""
    return _declare(function, forceinline=True, fastmath=False, **UNCOUNTED)


prange = numba.prange
