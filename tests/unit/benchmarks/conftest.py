"""Benchmarks are scripts, not a package: their folder comes last among those that are searched."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))
