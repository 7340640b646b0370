"""A look at the place where a release will appear, before anything is paid for it."""

import os
import shutil
from pathlib import Path

from hushway.errors import ReleaseError
from hushway.release.place import refuse_impossible

# Parquet, CSV, flowmap and OMX together take less than this for one row; measured on dense tables.
_BYTES_PER_ROW = 150
_MOST_ROWS = 1 << 24
_PAPERS_BYTES = 1 << 24


def check_destination(folder: Path, cells: int) -> None:
    """Makes sure that a release of so many cells can be written; the writer looks again.

    Raises:
        ReleaseError: Something is there already, or the disk is full or closed to us.
    """
    refuse_impossible(folder)
    if os.path.lexists(folder):
        raise ReleaseError(
            f"There is already something called {folder.name}; nothing was spent.",
            advice="Name another folder in the plan's [release] section.",
        )
    parent = next(place for place in folder.absolute().parents if place.exists())
    if not os.access(parent, os.W_OK | os.X_OK):
        raise ReleaseError(
            f"The release {folder.name} cannot be written: no permission. Nothing was spent.",
            advice="Name a folder in the plan's [release] section that you may write to.",
        )
    needed = _BYTES_PER_ROW * min(cells, _MOST_ROWS) + _PAPERS_BYTES
    if shutil.disk_usage(parent).free < needed:
        raise ReleaseError(
            f"The disk has less than the {needed / 1e6:,.0f} MB that the release "
            f"{folder.name} may need. Nothing was spent.",
            advice="Make room, or name a folder on another disk.",
        )
