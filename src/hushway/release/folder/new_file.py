"""A file that appears whole or not at all, and never takes the place of another."""

import os
import secrets
from pathlib import Path

from hushway.errors import ReleaseError


def write_new(path: Path, data: bytes, *, replaces: bytes | None = None) -> None:
    """Writes a file, whole or not at all, and never over another.

    Args:
        path: Where it appears.
        data: What is in it.
        replaces: How a file begins that may be replaced, because this program wrote it; None if no
            file may be.

    Raises:
        ReleaseError: Something else is there already, or the disk refuses.
    """
    refuse_taken(path, replaces)
    partial = path.with_name(f".{path.name}.partial-{secrets.token_hex(8)}")
    try:
        try:
            with partial.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            refuse_taken(path, replaces)
            partial.rename(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as problem:
        reason = os.strerror(problem.errno) if problem.errno else "the disk refused"
        raise ReleaseError(
            f"{path.name} cannot be written: {reason}. Nothing was left behind.",
            advice="Check the space on the disk and the permissions of the folder.",
        ) from problem


def refuse_taken(path: Path, replaces: bytes | None = None) -> None:
    """Makes sure that nothing is at a path yet, or only a file that begins in a known way.

    Raises:
        ReleaseError: Something is.
    """
    if not os.path.lexists(path):
        return
    if replaces is None:
        raise ReleaseError(f"{path.name} exists already.", advice="Name another file.")
    if path.is_symlink() or not path.is_file() or not _begins(path, replaces):
        raise ReleaseError(
            f"{path.name} is not an earlier file of this kind, and is not replaced.",
            advice="Name another file.",
        )


def _begins(path: Path, beginning: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(beginning)) == beginning


def make_folder(folder: Path) -> None:
    """Makes a folder and those that it lies in, unless it is there already.

    Raises:
        ReleaseError: It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ReleaseError(
            f"The folder {folder} cannot be made: {problem.strerror}.",
            advice="Name a folder on a disk that you may write to.",
        ) from None
