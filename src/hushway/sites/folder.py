"""A folder that appears whole or not at all, and takes the place of nothing but an earlier site."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from hushway.errors import ReleaseError
from hushway.release.drawing.reader_page import SITE_FORMAT
from hushway.release.folder.new_folder import new_folder

SITE = "site.json"
# All that a site has at its top.
_TOP = {SITE, "index.html", "assets", "releases"}
_BEGINNING = f'{{"format":"{SITE_FORMAT}"'.encode()


@contextmanager
def new_site(folder: Path, *, force: bool) -> Iterator[Path]:
    """Yields a hidden folder to be filled, which then takes its place by one renaming.

    Args:
        folder: Where the site appears.
        force: Whether an earlier site there is thrown away, once the new one is whole.

    Raises:
        ReleaseError: Something is there that is no earlier site to be thrown away, or the disk
            refuses. Then nothing is left behind.
    """
    refuse_taken(folder, force=force)
    with new_folder(folder, "site", partial(_appear, force=force)) as hidden:
        yield hidden


def refuse_taken(folder: Path, *, force: bool) -> None:
    """Makes sure that a folder is free, or an earlier site that may be thrown away.

    Raises:
        ReleaseError: It is neither.
    """
    if not folder.name or "\0" in str(folder):
        raise ReleaseError("The site needs a folder with a name.", advice="Name one with --to.")
    if not os.path.lexists(folder):
        return
    if not _is_site(folder):
        raise ReleaseError(
            f"{folder.name} exists already, and is not just an earlier site.",
            advice="Name a folder that does not exist yet.",
        )
    if not force:
        raise ReleaseError(
            f"{folder.name} exists already.",
            advice="Name a folder that does not exist yet, or replace the earlier site with "
            "--force.",
        )


def _is_site(folder: Path) -> bool:
    """Whether a folder is what this program wrote, and nothing was put beside it."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    marker = folder / SITE
    if {entry.name for entry in os.scandir(folder)} != _TOP or marker.is_symlink():
        return False
    if not marker.is_file():
        return False
    with marker.open("rb") as file:
        return file.read(len(_BEGINNING)) == _BEGINNING


def _appear(hidden: Path, folder: Path, *, force: bool) -> None:
    refuse_taken(folder, force=force)
    earlier = None
    if os.path.lexists(folder):
        earlier = hidden.with_name(f"{hidden.name}-earlier")
        folder.rename(earlier)
    try:
        hidden.rename(folder)
    except OSError:
        if earlier is not None:
            earlier.rename(folder)
        raise
    if earlier is not None:
        shutil.rmtree(earlier, ignore_errors=True)
