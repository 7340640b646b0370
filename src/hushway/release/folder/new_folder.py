"""A new folder that is not a release: it appears whole or not at all."""

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hushway.errors import ReleaseError
from hushway.interruption import undisturbed
from hushway.release.folder.new_file import make_folder


def _appear(hidden: Path, folder: Path) -> None:
    hidden.rename(folder)


@contextmanager
def new_folder(
    folder: Path, what: str, appear: Callable[[Path, Path], None] = _appear
) -> Iterator[Path]:
    """Yields a hidden folder to be filled, which then takes its place.

    Args:
        folder: Where it appears.
        what: What it holds, for messages: "site".
        appear: Moves the hidden folder, which it is given first, to its place.

    Raises:
        ReleaseError: The disk refuses. Then nothing is left behind.
    """
    hidden = folder.with_name(f".{folder.name}.partial-{secrets.token_hex(8)}")
    try:
        make_folder(folder.parent)
        hidden.mkdir()
        yield hidden
        _flush(hidden)
        with undisturbed():
            appear(hidden, folder)
    except OSError as problem:
        reason = os.strerror(problem.errno) if problem.errno else "the disk refused"
        raise ReleaseError(
            f"The {what} {folder.name} cannot be written: {reason}. Nothing was left behind.",
            advice="Check the space on the disk and the permissions of the folder.",
        ) from problem
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _flush(folder: Path) -> None:
    """Waits until all of it is on the disk."""
    for place, _, names in os.walk(folder, topdown=False):
        for path in (*(Path(place) / name for name in names), Path(place)):
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
