"""What all tests share: the folder of real files, how hard hypothesis searches, and what a missing browser means."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
PLAIN_SECONDS = float(os.environ.get("KINETREE_PLAIN_SECONDS", "60"))

# A first call compiles, so that a deadline would measure the compiler. The same examples on every run (derandomize)
# make a failure repeatable; HYPOTHESIS_PROFILE=search looks for new ones.
_patient = {"deadline": None, "print_blob": True, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", derandomize=True, max_examples=25, **_patient)
settings.register_profile("brief", derandomize=True, max_examples=8, **_patient)
settings.register_profile("search", max_examples=400, **_patient)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real files: `KINETREE_TEST_DATA`, or `../shared/data` beside the project."""
    given = os.environ.get("KINETREE_TEST_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        if given:
            pytest.fail(f"KINETREE_TEST_DATA names {folder}, which is not a folder")
        pytest.skip(f"no real files: {folder} does not exist; set KINETREE_TEST_DATA to the folder that holds them")
    return folder


@pytest.fixture(autouse=True)
def _not_too_slow_as_python() -> Iterator[None]:
    """Stop a test that takes more than a minute of the processor when kernels are plain Python: it needs a marker."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0") or not hasattr(signal, "SIGPROF"):
        yield
        return

    def stop(*_: object) -> None:
        pytest.fail(f"more than {PLAIN_SECONDS:g} s as plain Python: make it smaller, or mark it slow_python")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, PLAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip the tests that need a browser where there is none; in CI that is a failure."""
    if item.get_closest_marker("browser") is None:
        return
    missing = [program for program in ("chromium", "chromedriver") if shutil.which(program) is None]
    if missing:
        reason = f"{' and '.join(missing)} not found: `make test` installs them where it may"
        if os.environ.get("CI") == "true":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
