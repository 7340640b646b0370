"""Takes away kept folders that nobody has used for long."""

import shutil
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from hushway.numerics.private_folder import move_away

UNUSED_S = 30 * 24 * 3600
# A folder takes up to 20 MB, and whoever works on the sources makes a new one at every turn.
MOST_OTHERS = 20


def sweep(parent: Path, *, used: str) -> None:
    """Takes away folders unused for 30 days, and beyond the last 20 the others as well.

    One that a process holds stays. A folder is first moved to another name, at once and whole: who
    opens it meanwhile finds all of it or nothing. If a process is killed while it takes one away,
    the rest goes the same way next time.

    Args:
        parent: Where the folders are.
        used: The one that is used now.
    """
    with suppress(OSError):
        others = [path for path in parent.iterdir() if path.name != used]
        ages = {path: time.time() - path.lstat().st_mtime for path in others}
        for place, path in enumerate(sorted(ages, key=ages.__getitem__)):
            if place >= MOST_OTHERS or ages[path] > UNUSED_S:
                _take_away(path)


def _take_away(path: Path) -> None:
    # Held by a living process, already gone, or on a disk without locks: not in our way.
    with suppress(OSError):
        aside = path.with_name(f"{uuid4().hex}.swept")
        if move_away(path, aside):
            shutil.rmtree(aside, ignore_errors=True)
