"""Writes sites: plain files that any web server can host, or one page for mail."""

from collections.abc import Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from hushway.progress import Progress, quiet
from hushway.release.documents.papers import PAGE
from hushway.release.drawing.atlas_files import ATLAS, COLUMNS, FILES
from hushway.release.drawing.reader_page import ONE_FILE, hosted_files, site_json
from hushway.release.drawing.reader_page import one_file as one_file_page
from hushway.release.folder.grounded import GROUND
from hushway.release.folder.new_file import refuse_taken, write_new
from hushway.sites.folder import SITE, new_site
from hushway.sites.folder import refuse_taken as refuse_taken_folder
from hushway.sites.releases import SiteRelease, copy_files, verified_releases
from hushway.sites.steps import series_of
from hushway.web import bundle as built_pages

USUAL_FILE: Final = Path("site.html")


def site(
    releases: Sequence[Path | str],
    *,
    to: Path | str | None = None,
    one_file: Path | str | None = None,
    ground: Sequence[Path | str] = (),
    force: bool = False,
    progress: Progress = quiet,
) -> tuple[SiteRelease, ...]:
    """Writes releases as maps for a browser: a site of plain files, one HTML file, or both.

    Each release is verified and drawn in a process of its own, with limits. Only what it contains
    goes into the site, byte for byte as it was sealed.

    Args:
        releases: The release folders. They may be strangers'.
        to: A new folder for the site.
        one_file: A new HTML file that holds everything; site.html if no folder is named either.
        ground: Public files to draw under all maps, in place of the ground that releases bring.
        force: Whether an earlier site or page is replaced.
        progress: Told what is being done.

    Returns:
        The releases in it.

    Raises:
        ReleaseError: A release does not verify or cannot be drawn, something else is in the way,
            or the disk refuses.
        GeographyError: A file of the ground cannot be used, or is of another place.
    """
    if to is None and one_file is None:
        one_file = USUAL_FILE
    # Releases take a while to verify: what would be refused at the end is refused now.
    if to is not None:
        refuse_taken_folder(Path(to), force=force)
    if one_file is not None:
        refuse_taken(Path(one_file), ONE_FILE if force else None)
    with verified_releases([Path(release) for release in releases], progress) as found:
        for each in found if ground else ():
            progress("Reading what is drawn under the map")
            each.lay([Path(file) for file in ground])
        if to is not None:
            progress("Writing the site")
            fill_site(found, Path(to), force=force)
        if one_file is not None:
            progress("Writing the page")
            write_one_file(found, Path(one_file), force=force)
    return found


def fill_site(
    releases: Sequence[SiteRelease],
    folder: Path,
    *,
    force: bool = False,
    bundle: Traversable | None = None,
) -> None:
    """Writes a site of releases that were verified, whole or not at all.

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
        (hidden / SITE).write_bytes(site_json(releases, series_of(releases)))


def _fill_release(release: SiteRelease, place: Path) -> None:
    (place / FILES).mkdir(parents=True)
    (place / ATLAS).write_bytes(release.atlas)
    (place / COLUMNS).write_bytes(release.columns)
    if release.ground is not None:
        (place / GROUND).write_bytes(release.ground)
    copy_files(release, place / FILES)
    (place / PAGE).write_bytes((place / FILES / PAGE).read_bytes())


def write_one_file(
    releases: Sequence[SiteRelease],
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
    data = one_file_page(bundle or built_pages(), releases, series=series_of(releases))
    write_new(path, data, replaces=ONE_FILE if force else None)
