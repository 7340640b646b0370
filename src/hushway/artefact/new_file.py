"""A file that appears whole or not at all, and never takes the place of another."""

import os
import secrets
from pathlib import Path

from hushway.errors import ReleaseError


def write_new(path: Path, data: bytes) -> None:
    """Writes a file, whole or not at all, and never over another.

    Raises:
        ReleaseError: Something is there already, or the disk refuses.
    """
    refuse_taken(path)
    partial = path.with_name(f".{path.name}.partial-{secrets.token_hex(8)}")
    try:
        try:
            with partial.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            refuse_taken(path)
            partial.rename(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as problem:
        reason = os.strerror(problem.errno) if problem.errno else "the disk refused"
        raise ReleaseError(
            f"{path.name} cannot be written: {reason}. Nothing was left behind.",
            advice="Check the space on the disk and the permissions of the folder.",
        ) from problem


def refuse_taken(path: Path) -> None:
    """Makes sure that nothing is at a path yet.

    Raises:
        ReleaseError: Something is.
    """
    if os.path.lexists(path):
        raise ReleaseError(f"{path.name} exists already.", advice="Name another file.")
