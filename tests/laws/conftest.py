"""Let the tests of this folder import the oracle, and give hypothesis no deadline (the first call compiles)."""

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

folders = (str(Path(__file__).parents[1]), str(Path(__file__).parent))
sys.path[:0] = [folder for folder in folders if folder not in sys.path]

settings.register_profile(
    "laws",
    deadline=None,
    max_examples=25,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("laws")
