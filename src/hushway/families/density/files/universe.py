"""The public lists of a density, and what was measured at its sites: written, and read back."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.families.density.public.cover import Cover, Pieces
from hushway.families.density.public.visits import DensityUniverse, Sites
from hushway.geography.areas import Areas
from hushway.release.folder.guard import check_reads_back
from hushway.release.folder.published_file import PERIODS
from hushway.release.formats.areas import AREAS, areas_geojson, read_areas
from hushway.release.formats.columns import NUMBER, TEXT, WHOLE, Column, Columns
from hushway.release.formats.places import (
    csv_bytes,
    location_columns,
    locations_csv,
    periods_csv,
    read_locations,
    read_periods,
)
from hushway.release.untrusted.limits import GEOMETRY_BYTES, csv_rows, read_plain, rewritten

AVERAGE_PERIODS = "average_periods.csv"
SITES = "sites.csv"
COVER = "cover.csv"
PIECES = "pieces.csv"

# Maps in metres differ by less between versions of their software.
_ROUNDING = 1e-6


def public_files(universe: DensityUniverse, cluster: IntArray) -> dict[str, Callable[[], bytes]]:
    """Returns the public lists by the name of their file, each made when it is asked for."""
    areas, cover, sites = universe.areas, universe.cover, universe.sites
    files = {
        AREAS: lambda: areas_geojson(areas),
        PERIODS: lambda: periods_csv(universe.periods),
        COVER: lambda: cover_csv(areas, cover, cluster),
        PIECES: lambda: pieces_csv(areas, cover),
    }
    if sites is not None:
        files[SITES] = lambda: sites_csv(sites)
    if (averages := universe.averages) is not None:
        files[AVERAGE_PERIODS] = lambda: periods_csv(averages)
    return files


def read_universe(folder: Path, facts: Mapping[str, Any]) -> tuple[DensityUniverse, IntArray]:
    """Reads the public universe and the clusters of its cover, by what a data package says."""
    return _universe(
        lambda name: read_plain(folder / name, GEOMETRY_BYTES),
        sites=facts["places"],
        # Releases of earlier versions do not say it: they have no average day.
        average=facts.get("average_day", False),
    )


def check_readable(universe: DensityUniverse, cluster: IntArray) -> None:
    """Makes sure that a verifier can read the public lists back from their files."""
    files = public_files(universe, cluster)

    def is_same() -> bool:
        again, _ = _universe(
            lambda name: files[name](), sites=SITES in files, average=AVERAGE_PERIODS in files
        )
        return again.digest == universe.digest and _same_cover(again.cover, universe.cover)

    check_reads_back(
        "The public lists",
        is_same,
        "Use plain text for ids and names, and Python's own floats for positions; no column of the "
        "sites may be called site.",
    )


def check_pieces(universe: DensityUniverse) -> None:
    """Makes sure that the pieces of an area together are no larger than the area."""
    pieces, sizes = universe.cover.pieces, universe.areas.sizes
    held = np.bincount(pieces.area, weights=pieces.size, minlength=len(sizes))
    if bool(np.any(held > sizes * (1 + _ROUNDING))):
        raise ReleaseError(
            "The pieces of an area are larger than the area.",
            advice="Make the cover from the areas that are published.",
        )


def _universe(
    data_of: Callable[[str], bytes], *, sites: bool, average: bool
) -> tuple[DensityUniverse, IntArray]:
    areas = read_areas(data_of(AREAS))
    known = read_sites(data_of(SITES)) if sites else None
    count = len(areas) if known is None else int(known.site.max()) + 1
    cover, cluster = read_cover(data_of(COVER), data_of(PIECES), areas, count)
    periods = read_periods(data_of(PERIODS))
    universe = DensityUniverse(areas=areas, periods=periods, sites=known, cover=cover)
    return (_with_averages(universe, data_of) if average else universe), cluster


def _with_averages(universe: DensityUniverse, data_of: Callable[[str], bytes]) -> DensityUniverse:
    read = read_periods(data_of(AVERAGE_PERIODS))
    found = replace(universe, average_types=read.day_types, holidays=read.holidays)
    if found.averages != read:
        raise rewritten(AVERAGE_PERIODS)
    return found


def _same_cover(one: Cover, other: Cover) -> bool:
    return (
        np.array_equal(one.pieces.site, other.pieces.site)
        and np.array_equal(one.pieces.area, other.pieces.area)
        and np.array_equal(one.pieces.size, other.pieces.size)
        and np.array_equal(one.cell, other.cell)
        and np.array_equal(one.centres, other.centres)
    )


SITE = "site"
MEASURED_TABLE = Columns(
    (
        Column(
            "circle", WHOLE, "Number of the circle, from 0: the higher, the busier the visitors."
        ),
        Column(SITE, WHOLE, "Number of the site."),
        Column("measured", WHOLE, "Noisy number of visitors, in parts."),
    ),
    key=("circle", SITE),
)

_LEFT_OUT = -1


def sites_csv(sites: Sites) -> bytes:
    """Returns the public places with the site of each; it is empty for those left out."""
    _, *rows = csv_rows("sites.csv", locations_csv(sites.locations))
    numbers = ("" if site == _LEFT_OUT else str(site) for site in sites.site.tolist())
    labelled = ((site, *row) for site, row in zip(numbers, rows, strict=True))
    return csv_bytes((SITE, *location_columns(sites.locations)), labelled)


def read_sites(data: bytes) -> Sites:
    """Reads the public places and their sites back."""
    header, *rows = csv_rows("sites.csv", data)
    numbers = [int(row[0]) if row[0] else _LEFT_OUT for row in rows]
    sites = Sites(
        locations=read_locations(csv_bytes(header[1:], (row[1:] for row in rows))),
        site=np.array(numbers, dtype=np.int64),
    )
    if sites_csv(sites) != data or header.count(SITE) != 1:
        raise rewritten("sites.csv")
    return sites


def measured_sites_csv(measured: IntArray) -> bytes:
    """Returns the noisy histogram of sites as CSV, one row a circle and site."""
    rows = (
        (str(circle), str(site), str(count))
        for circle, counts in enumerate(measured.tolist())
        for site, count in enumerate(counts)
    )
    return csv_bytes(MEASURED_TABLE.names, rows)


def read_measured_sites(data: bytes, sites: int) -> IntArray:
    """Reads the noisy histogram of sites back, by (circle, site)."""
    _, *rows = csv_rows("measured_sites.csv", data)
    flat = np.array([int(row[-1]) for row in rows], dtype=np.int64)
    if not len(flat) or len(flat) % sites:
        raise rewritten("measured_sites.csv")
    measured = flat.reshape(-1, sites)
    if measured_sites_csv(measured) != data:
        raise rewritten("measured_sites.csv")
    return measured


# The cover of a density, its clusters and its pieces as CSV files that can be read back exactly.
#
# The cover follows from areas and towers by heavy geometry. With its pieces in the release, anyone
# can see what was measured where without doing that geometry again.

COVER_TABLE = Columns(
    (
        Column("cell", WHOLE, "Number of the cell of the cover, from 0."),
        Column("kind", TEXT, "Whether it is the cell of a site or an area."),
        Column("member", TEXT, "Number of that site, or id of that area."),
        Column("cluster", WHOLE, "Cluster that it was measured in."),
        Column("x", NUMBER, "Centre of its ground, metres east of the middle of all areas."),
        Column("y", NUMBER, "Centre of its ground, metres north of the middle of all areas."),
    ),
    key=("cell",),
)
PIECES_TABLE = Columns(
    (
        Column("site", WHOLE, "Number of the site."),
        Column("area", TEXT, f"Id of the area, as in {AREAS}."),
        Column("cell", WHOLE, f"Cell that the piece is given to, as in {COVER}."),
        Column("size", NUMBER, "Size in square metres."),
    ),
    key=("site", "area"),
)

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
    return csv_bytes(COVER_TABLE.names, rows)


def pieces_csv(areas: Areas, cover: Cover) -> bytes:
    """Returns where sites and areas overlap, and the cell that each piece is given to."""
    pieces = cover.pieces
    columns = (pieces.site, pieces.area, cover.cell, pieces.size)
    rows = (
        (str(site), areas.ids[area], str(cell), repr(size))
        for site, area, cell, size in zip(*(each.tolist() for each in columns), strict=True)
    )
    return csv_bytes(PIECES_TABLE.names, rows)


def read_cover(
    cover_data: bytes, pieces_data: bytes, areas: Areas, sites: int
) -> tuple[Cover, IntArray]:
    """Reads a cover and its clusters back."""
    rows = _rows("cover.csv", cover_data, COVER_TABLE.names)
    parts = _rows("pieces.csv", pieces_data, PIECES_TABLE.names)
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
