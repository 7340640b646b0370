"""Keeps what a benchmark has saved, for the tables in the pages: python -m tools.docs.keep NAME."""

import shutil
import sys
from pathlib import Path

from tools.docs.figures import RESULTS

SAVED = Path("bench-results")


def keep(name: str) -> None:
    """Puts what a benchmark has saved beside the pages."""
    RESULTS.mkdir(exist_ok=True)
    shutil.copyfile(SAVED / f"{name}.json", RESULTS / f"{name}.json")


if __name__ == "__main__":
    for each in sys.argv[1:]:
        keep(each)
