"""Releases for everyone: a site that any web server can host, or one page for mail."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushway.cli.screen import AsJson, answer_json, say, working
from hushway.errors import ReleaseError

if TYPE_CHECKING:
    from hushway.site.taking import Taken


def site(
    releases: Annotated[
        list[Path], typer.Argument(metavar="RELEASE...", help="The release folders.")
    ],
    *,
    to: Annotated[
        Path | None, typer.Option("--to", help="A new folder for the site, to be hosted.")
    ] = None,
    one_file: Annotated[
        Path | None, typer.Option("--one-file", help="A new HTML file with all of it, for mail.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an earlier site or page of this command.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write releases as maps for a browser: a site of plain files, or one HTML file."""
    from hushway.release.folder.new_file import refuse_taken as refuse_taken_file
    from hushway.site.folder import refuse_taken
    from hushway.site.pages import ONE_FILE
    from hushway.site.taking import taken
    from hushway.site.write import fill_site, write_one_file

    if to is None and one_file is None:
        raise ReleaseError(
            "Nothing says where the site is to be.",
            advice="Name a folder with --to, or an HTML file with --one-file.",
        )
    # Releases take a while to verify: what would be refused at the end is refused now.
    if to is not None:
        refuse_taken(to, force=force)
    if one_file is not None:
        refuse_taken_file(one_file, ONE_FILE if force else None)
    with working() as show, taken(releases, show) as found:
        if to is not None:
            show("Writing the site")
            fill_site(found, to, force=force)
        if one_file is not None:
            show("Writing the page")
            write_one_file(found, one_file, force=force)
    if as_json:
        answer_json(_facts(found, to, one_file))
        return
    for each in found:
        stamp = f" ({each.stamp})" if each.stamp else ""
        say(f"{each.title}, {each.period}{stamp}: #{each.slug}")
    if to is not None:
        say(f"{to}: put it on any web server; to look at it: python3 -m http.server -d {to}")
    if one_file is not None:
        say(f"{one_file}: open it in a browser; it needs no network.")


def _facts(found: "tuple[Taken, ...]", to: Path | None, one_file: Path | None) -> dict[str, object]:
    return {
        "folder": None if to is None else str(to),
        "one_file": None if one_file is None else str(one_file),
        "releases": [
            {
                "slug": each.slug,
                "title": each.title,
                "release_type": each.release_type,
                "period": each.period,
                "stamp": each.stamp,
            }
            for each in found
        ],
    }
