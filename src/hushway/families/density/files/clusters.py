"""The cover of a density, its clusters and its pieces as CSV files that can be read back exactly.

The cover follows from areas and towers by heavy geometry. With its pieces in the release, anyone
can see what was measured where without doing that geometry again.
"""

from collections.abc import Iterable

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.families.density.public.cover import Cover, Pieces
from hushway.geography.areas import Areas
from hushway.release.bounded import GEOMETRY_BYTES, csv_rows, rewritten
from hushway.release.formats.places import csv_bytes

COVER_COLUMNS = ("cell", "kind", "member", "cluster", "x", "y")
PIECE_COLUMNS = ("site", "area", "cell", "size")

_KINDS = ("area", "site")


def cover_csv(areas: Areas, cover: Cover, cluster: IntArray) -> bytes:
    """Returns the cells of a cover, each with its cluster and its centre in metres."""
    members = (
        ("site", str(member)) if is_site else ("area", areas.ids[member])
        for is_site, member in zip(cover.is_site.tolist(), cover.member.tolist(), strict=True)
    )
    places = zip(members, cluster.tolist(), cover.centres.tolist(), strict=True)
    rows = (
        (str(cell), *member, str(group), repr(x), repr(y))
        for cell, (member, group, (x, y)) in enumerate(places)
    )
    return csv_bytes(COVER_COLUMNS, rows)


def pieces_csv(areas: Areas, cover: Cover) -> bytes:
    """Returns where sites and areas overlap, and the cell that each piece is given to."""
    pieces = cover.pieces
    columns = (pieces.site, pieces.area, cover.cell, pieces.size)
    rows = (
        (str(site), areas.ids[area], str(cell), repr(size))
        for site, area, cell, size in zip(*(each.tolist() for each in columns), strict=True)
    )
    return csv_bytes(PIECE_COLUMNS, rows)


def read_cover(
    cover_data: bytes, pieces_data: bytes, areas: Areas, sites: int
) -> tuple[Cover, IntArray]:
    """Reads a cover and its clusters back.

    Args:
        cover_data: The bytes of cover.csv.
        pieces_data: The bytes of pieces.csv.
        areas: The public areas.
        sites: Number of sites.

    Raises:
        ReleaseError: The bytes are not what hushway writes for any cover.
    """
    rows = _rows("cover.csv", cover_data, COVER_COLUMNS)
    parts = _rows("pieces.csv", pieces_data, PIECE_COLUMNS)
    is_site = np.array([_KINDS.index(row[1]) == 1 for row in rows], dtype=np.bool_)
    member = _whole(
        int(row[2]) if own else areas.index[row[2]]
        for own, row in zip(is_site.tolist(), rows, strict=True)
    )
    pieces = Pieces(
        sites=sites,
        areas=len(areas),
        site=_whole(int(row[0]) for row in parts),
        area=_whole(areas.index[row[1]] for row in parts),
        size=np.array([float(row[3]) for row in parts], dtype=np.float64),
    )
    cell, cluster = _whole(int(row[2]) for row in parts), _whole(int(row[3]) for row in rows)
    _check_pieces(pieces)
    # Indices below 0 would count from the end and be mistaken for others.
    within = _inside(member, max(sites, len(areas))) and _inside(cell, len(rows))
    if not within or not _inside(cluster, len(rows)):
        raise rewritten("cover.csv")
    centres = np.array([(float(row[4]), float(row[5])) for row in rows], dtype=np.float64)
    cover = Cover(pieces=pieces, is_site=is_site, member=member, cell=cell, centres=centres)
    if cover_csv(areas, cover, cluster) != cover_data or not np.isfinite(centres).all():
        raise rewritten("cover.csv")
    if pieces_csv(areas, cover) != pieces_data:
        raise rewritten("pieces.csv")
    return cover, cluster


def _check_pieces(pieces: Pieces) -> None:
    """Makes sure that there are no more sites than pieces, and a piece of every site and area."""
    every = np.array_equal(np.unique(pieces.site), np.arange(min(pieces.sites, len(pieces.site))))
    every &= 0 < pieces.sites <= len(pieces.site)
    every &= np.array_equal(np.unique(pieces.area), np.arange(pieces.areas))
    if not every or not bool(np.all(np.isfinite(pieces.size) & (pieces.size > 0))):
        raise rewritten("pieces.csv")


def _rows(name: str, data: bytes, columns: tuple[str, ...]) -> list[list[str]]:
    header, *rows = csv_rows(name, data, most=GEOMETRY_BYTES, width=len(columns))
    if tuple(header) != columns or not rows:
        raise ReleaseError(
            f"The columns are not {', '.join(columns)}.", advice="The list was rewritten."
        )
    return rows


def _whole(numbers: Iterable[int]) -> IntArray:
    return np.fromiter(numbers, dtype=np.int64)


def _inside(positions: IntArray, size: int) -> bool:
    return len(positions) == 0 or (int(positions.min()) >= 0 and int(positions.max()) < size)
