"""Publishes the little plan of every family, so that its machine code is kept.

`python -m support.compiled`, before tests run side by side: each of them would compile for itself.
"""

import tempfile
from pathlib import Path

from support.little_plans import FAMILIES
from support.little_sites import little_release

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        for family in FAMILIES:
            little_release(Path(name) / family, family, seed=1)
