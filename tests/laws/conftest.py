"""Let the tests of this folder import the oracle, and give hypothesis no deadline (the first call compiles)."""

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

folder = str(Path(__file__).parents[1])
if folder not in sys.path:
    sys.path.insert(0, folder)

settings.register_profile(
    "laws",
    deadline=None,
    max_examples=25,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("laws")
