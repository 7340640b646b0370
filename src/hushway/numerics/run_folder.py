"""Folders for what a run keeps only while it lives, taken away also after it was killed.

A run holds its folder for as long as its process lives. It takes the folder away when it ends, in
whatever way that can be noticed; after a kill or a power failure the next run takes it away, for
nobody holds it any more.
"""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from hushway.numerics.private_folder import hold_private, move_away


@contextlib.contextmanager
def run_folder(place: Path, kind: str) -> Iterator[Path]:
    """Makes a folder for one run, which only this user can read, and removes it afterwards.

    Args:
        place: Where temporary files belong.
        kind: What is kept there; folders of killed runs of the same kind are taken away.

    Raises:
        OSError: There is no such place, or others could change what is in it.
    """
    if not place.is_dir():
        raise NotADirectoryError
    runs = place / f"hushway-{kind}-{os.geteuid()}"
    folder = runs / f"{os.getpid()}-{secrets.token_hex(8)}"
    handle = hold_private(folder)
    try:
        _sweep(runs)
        yield folder
    finally:
        # Somebody may still write to it while an error is on its way.
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)
        with contextlib.suppress(OSError):
            runs.rmdir()


def _sweep(runs: Path) -> None:
    """Takes away the folders of runs that are no more."""
    for path in runs.iterdir():
        # Held by a living run, already gone, or not ours: nothing to do about it.
        with contextlib.suppress(OSError):
            aside = runs / f"gone-{secrets.token_hex(8)}"
            if move_away(path, aside):
                shutil.rmtree(aside, ignore_errors=True)
