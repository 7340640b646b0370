"""Writes sites: plain files that any web server can host, or one page for mail."""

from collections.abc import Sequence
from importlib.resources.abc import Traversable
from pathlib import Path

from hushway.progress import Progress, quiet
from hushway.release.documents.papers import PAGE
from hushway.release.drawing.atlas_files import ATLAS, COLUMNS, FILES
from hushway.release.folder.new_file import write_new
from hushway.site.folder import SITE, new_site
from hushway.site.pages import ONE_FILE, hosted_files, one_file, site_json
from hushway.site.taking import Taken, copy_files, taken
from hushway.web import bundle as built_pages


def write_site(
    releases: Sequence[Path], folder: Path, *, force: bool = False, progress: Progress = quiet
) -> tuple[Taken, ...]:
    """Writes a site of releases into a folder, whole or not at all.

    Each release is verified and drawn in a process of its own, with limits. Only what it contains
    goes into the site, byte for byte as it was sealed.

    Args:
        releases: The folders of releases. They may be strangers'.
        folder: Where the site appears.
        force: Whether an earlier site there is replaced.
        progress: Told what is being done.

    Returns:
        What is in it.

    Raises:
        ReleaseError: A release does not verify or cannot be drawn, something else is at the folder,
            or the disk refuses.
    """
    with taken(releases, progress) as found:
        fill_site(found, folder, force=force)
    return found


def fill_site(
    releases: Sequence[Taken],
    folder: Path,
    *,
    force: bool = False,
    bundle: Traversable | None = None,
) -> None:
    """Writes a site of releases that were taken in, as `write_site` does.

    Args:
        releases: The releases.
        folder: Where the site appears.
        force: Whether an earlier site there is replaced.
        bundle: The built pages, if they are not those of this version.
    """
    with new_site(folder, force=force) as hidden:
        for path, data in hosted_files(bundle or built_pages()):
            (hidden / path).parent.mkdir(exist_ok=True)
            (hidden / path).write_bytes(data)
        (hidden / "releases").mkdir()
        for release in releases:
            _fill_release(release, hidden / "releases" / release.slug)
        (hidden / SITE).write_bytes(site_json(releases))


def _fill_release(release: Taken, place: Path) -> None:
    (place / FILES).mkdir(parents=True)
    (place / ATLAS).write_bytes(release.atlas)
    (place / COLUMNS).write_bytes(release.columns)
    copy_files(release, place / FILES)
    (place / PAGE).write_bytes((place / FILES / PAGE).read_bytes())


def write_one_file(
    releases: Sequence[Taken],
    path: Path,
    *,
    force: bool = False,
    bundle: Traversable | None = None,
) -> None:
    """Writes a page that holds everything and loads nothing, whole or not at all.

    Args:
        releases: The releases.
        path: Where the page appears.
        force: Whether an earlier page of this kind is replaced.
        bundle: The built pages, if they are not those of this version.

    Raises:
        ReleaseError: Something else is there, or the disk refuses.
    """
    data = one_file(bundle or built_pages(), releases)
    write_new(path, data, replaces=ONE_FILE if force else None)
