"""Folders for what hushway writes, made before any long work begins."""

from pathlib import Path

from hushway.errors import ReleaseError


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
