"""Let the tests of this folder import the oracle and the reference motions."""

import sys
from pathlib import Path

folders = (str(Path(__file__).parents[1]), str(Path(__file__).parent))
sys.path[:0] = [folder for folder in folders if folder not in sys.path]
