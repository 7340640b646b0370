"""Files of a release for people without tools: a page with a map, a workbook and a GeoPackage.

All of them follow from files that are published beside them, so a verifier makes them again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hushway.errors import ReleaseError, damaged
from hushway.families.drawn import drawn, undrawable
from hushway.privacy.certificate import Certificate, canonical_json, parsed_json
from hushway.privacy.signing import PublicKey
from hushway.release.documents.about import with_about
from hushway.release.documents.papers import (
    GEOPACKAGE,
    INDEX,
    PAGE,
    README,
    WORKBOOK,
    geopackage_paper,
    index_paper,
    workbook_paper,
)
from hushway.release.drawing.atlas_files import AtlasFiles, atlas_files, short_text
from hushway.release.drawing.reader_page import one_file
from hushway.release.folder.grounded import GROUND
from hushway.release.folder.published_file import Description, Resource
from hushway.release.formats.geopackage import geopackage
from hushway.release.formats.layers import MOST_ROWS, Layer, are_few
from hushway.release.formats.workbook import check_workbook, write_workbook
from hushway.release.untrusted.limits import PAPER_BYTES, holds, read_plain
from hushway.web import bundle

# Browsers open larger pages slowly; a site loads the same numbers faster.
MOST_PAGE_BYTES: Final = 1 << 25
_SLUG: Final = "release"


@dataclass(frozen=True, kw_only=True, eq=False)
class ReaderFiles:
    """The files of one release.

    Attributes:
        description: What is said of all files, with these among them or among those left out.
        index: The page; None if it is left out.
        layers: The tables of workbook and GeoPackage; none if these are left out.
        day: The day of the certificate.
    """

    description: Description
    index: bytes | None
    layers: tuple[Layer, ...]
    day: str

    def write(self, folder: Path) -> None:
        """Writes the files into the folder of a release."""
        if self.index is not None:
            (folder / INDEX).write_bytes(self.index)
        if self.layers:
            write_workbook(folder / WORKBOOK, self.layers)
            (folder / GEOPACKAGE).write_bytes(geopackage(self.layers, day=self.day))

    def check(self, folder: Path) -> None:
        """Makes sure that a folder holds the same.

        Raises:
            ReleaseError: A file says something else than the tables.
        """
        made = {} if self.index is None else {INDEX: self.index}
        if self.layers:
            check_workbook(folder / WORKBOOK, self.layers)
            made[GEOPACKAGE] = geopackage(self.layers, day=self.day)
        for path, data in made.items():
            if not holds(folder / path, [data]):
                raise damaged(f"{path} does not hold what the published tables say.")


@dataclass(frozen=True, kw_only=True, eq=False)
class _Drawn:
    """The release as its own page holds it."""

    title: str
    release_type: str
    period: str
    files: AtlasFiles
    ground: bytes | None
    slug: str = _SLUG

    @property
    def atlas(self) -> bytes:
        return self.files.atlas

    @property
    def columns(self) -> bytes:
        return self.files.columns


def reader_files(
    folder: Path, certificate: Certificate, description: Description, signer: PublicKey | None
) -> ReaderFiles:
    """Returns the files for people without tools, as far as a release can have them.

    Args:
        folder: The release, with the files of its family.
        certificate: Its certificate.
        description: What is said of the files of its family.
        signer: Who signs its seal.
    """
    layers = with_about(certificate, description) if are_few(description.layers) else ()
    tables = (workbook_paper(), geopackage_paper()) if layers else ()
    omitted = dict(description.omitted)
    if description.layers and not layers:
        reason = f"Their tables would have more than {MOST_ROWS:,} rows."
        omitted |= dict.fromkeys((WORKBOOK, GEOPACKAGE), reason)
    index, papers = None, tables
    try:
        index = _index(folder, certificate, description, signer, tables)
        papers = (index_paper(len(index)), *tables)
    except ReleaseError as problem:
        # Everything is paid for by now: a release without a page is still one.
        omitted[INDEX] = str(problem)
    return ReaderFiles(
        description=replace(description, further=papers, omitted=omitted),
        index=index,
        layers=layers,
        day=certificate.created_at[:10],
    )


def _index(
    folder: Path,
    certificate: Certificate,
    description: Description,
    signer: PublicKey | None,
    tables: tuple[Resource, ...],
) -> bytes:
    # As a reader of the data package finds the facts.
    facts = parsed_json(canonical_json(dict(description.facts)))
    with undrawable():
        atlas = drawn(folder, certificate, facts, signer=signer)
        found = _Drawn(
            title=short_text(certificate.title),
            release_type=certificate.terms.release_type,
            period=atlas.drawing.window,
            files=atlas_files(atlas),
            ground=_ground(folder, description),
        )
        page = one_file(bundle(), [found], _beside(tables))
    if len(page) > MOST_PAGE_BYTES:
        raise ReleaseError(
            f"A page with all numbers would be larger than {MOST_PAGE_BYTES >> 20} MB.",
            advice="Write a site for it: hushway site FOLDER --to SITE",
        )
    return page


def _ground(folder: Path, description: Description) -> bytes | None:
    """Returns what is drawn under the map, if the release has it."""
    if all(file.path != GROUND for file in description.resources):
        return None
    return read_plain(folder / GROUND, PAPER_BYTES)


def _beside(tables: tuple[Resource, ...]) -> Mapping[str, str]:
    titles = {PAGE: "Privacy certificate", README: "All files, and how to read them"}
    return titles | {paper.path: paper.title for paper in tables}
