"""The files of a density release: what is said of each, how it is written and how it is checked."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from hushway.arrays import IntArray
from hushway.families.density.files.averages import averages_columns, averages_csv
from hushway.families.density.files.layers import density_layers
from hushway.families.density.files.rows import (
    MAP,
    MOST_CSV_ROWS,
    density_csv,
    density_map,
    fits_csv,
    rows_columns,
    totals_of,
    write_density_parquet,
    write_measured_series,
)
from hushway.families.density.files.rows import SERIES as SERIES_TABLE
from hushway.families.density.files.universe import (
    AVERAGE_PERIODS,
    COVER,
    COVER_TABLE,
    MEASURED_TABLE,
    PIECES,
    PIECES_TABLE,
    SITE,
    SITES,
    measured_sites_csv,
    public_files,
)
from hushway.families.density.fit.table import DensityTable
from hushway.families.density.public.visits import PERSON_PARTS, Sites
from hushway.geography.periods import Periods
from hushway.release.folder.published_file import (
    Description,
    PublishedFile,
    describe_files,
    locations_columns,
    periods_file,
)
from hushway.release.forecast.known import KNOWN, Known, sure_share
from hushway.release.formats.areas import AREAS
from hushway.release.formats.columns import WHOLE, Column, Columns
from hushway.release.formats.geoparquet import check_geoparquet, write_geoparquet
from hushway.release.terms import noise_fits


def known_visits(table: DensityTable) -> Known:
    """Returns how much is known of counts; errors of sums are not published."""
    return Known(
        counted="visits", cells="counts", sure=sure_share([(table.counts, table.standard_error)])
    )


PARQUET = "density.parquet"
CSV = "density.csv"
GEO = "density.geo.parquet"
AVERAGE_DAY = "average_day.csv"
SERIES = "measured_series.parquet"
MEASURED_SITES = "measured_sites.csv"

_MOST_WHOLE = 1 << 63
_PUBLIC = "Public knowledge, not made from the data."


def describe(table: DensityTable) -> Description:
    """Returns what a data package says about a published density."""
    universe = table.universe
    facts = {
        "areas": len(universe.areas),
        "periods": universe.bins,
        "rows": universe.size,
        "visits": float(totals_of(table.counts.reshape(-1))),
        "places": universe.sites is not None,
        "sites": universe.site_count,
        "cells_of_the_cover": len(universe.cover),
        "clusters": len(table.measured_series),
        "quanta": table.quanta,
        "sites_measured": table.measured_sites is not None,
        "measured_activity": None
        if table.measured_activity is None
        else table.measured_activity.tolist(),
        "measured_total": table.measured_total,
        "measured_left_out": None
        if table.measured_left_out is None
        else table.measured_left_out.tolist(),
        "noise": dict(table.noise),
        # The publisher's word: the numbers on the way to the fit are not in the release.
        "fit": dict(table.diagnostics),
    }
    if universe.averages is not None:
        facts["average_day"] = True
    facts[KNOWN] = known_visits(table).sentence
    return describe_files(FILES, table, facts, density_layers(table))


def facts_fit(facts: Mapping[str, Any]) -> bool:
    """Whether facts of a data package say enough about a density to read it."""
    total, activity = facts["measured_total"], facts["measured_activity"]
    left_out = facts["measured_left_out"]
    return (
        type(facts["quanta"]) is int
        and type(facts["places"]) is bool
        and type(facts.get("average_day", False)) is bool
        and type(facts["sites_measured"]) is bool
        and (total is None or type(total) is int)
        and (activity is None or _whole_numbers(activity))
        and (left_out is None or _whole_numbers(left_out))
        and noise_fits(facts["noise"])
        and type(facts["fit"]) is dict
    )


def _whole_numbers(values: Any) -> bool:
    """Whether these are whole numbers of 64 bits in a list."""
    return type(values) is list and all(
        type(value) is int and abs(value) < _MOST_WHOLE for value in values
    )


def _series_words(table: DensityTable) -> str:
    return (
        "What was measured, before anything was fitted: the noisy visits of every cluster and "
        "period, "
        f"in parts of a visit. {table.quanta:,} parts are one visit. A number may be negative."
    )


def _has_averages(table: DensityTable) -> bool:
    return table.universe.averages is not None


def _averages_words(table: DensityTable) -> str:
    return f"Means of the counts of {PARQUET} over days: {table.universe.counted}."


def _sites_columns(table: DensityTable) -> Columns:
    locations = cast("Sites", table.universe.sites).locations
    words = "Number of the site; places at one point share it. Missing if the place is left out."
    site = Column(SITE, WHOLE, words)
    return Columns((site, *locations_columns(locations).columns), key=("id",))


def _public(name: str) -> Callable[[DensityTable], Iterable[bytes]]:
    """Returns how one of the public lists is rendered."""
    return lambda table: [public_files(table.universe, table.cluster)[name]()]


DensityFile = PublishedFile[DensityTable, DensityTable]

FILES: tuple[DensityFile, ...] = (
    DensityFile(
        path=PARQUET,
        title="Visits by area and period of time",
        description="Every area has a row for every period. A count is the published number of "
        "visits to the area in the period, a visit being one visitor seen in one period. It "
        "carries noise on purpose, was fitted to noisy measurements, and is never negative.",
        columns=lambda table: rows_columns(table.universe.areas),
        write=write_density_parquet,
    ),
    DensityFile(
        path=CSV,
        title="Visits by area and period of time",
        description=f"The same numbers as {PARQUET}.",
        columns=lambda table: rows_columns(table.universe.areas),
        parts=density_csv,
        is_there=lambda table: fits_csv(table.universe),
        left_out=f"As text the table would have more than {MOST_CSV_ROWS:,} rows.",
    ),
    DensityFile(
        path=GEO,
        title="Visits by area, for maps",
        description=f"The same numbers as {PARQUET} as GeoParquet 1.1: one row an area, with "
        "its shape in longitudes and latitudes (OGC:CRS84) and its series as lists.",
        columns=MAP,
        write=lambda table, path: write_geoparquet(density_map(table), path),
        check=lambda table, path: check_geoparquet(density_map(table), path, "the areas"),
    ),
    DensityFile(
        path=AVERAGE_DAY,
        title="Visits by area and period of an average day",
        description=_averages_words,
        columns=lambda table: averages_columns(table.universe.areas),
        parts=averages_csv,
        is_there=_has_averages,
    ),
    DensityFile(
        path=SERIES,
        title="Measured series",
        description=_series_words,
        columns=SERIES_TABLE,
        write=lambda table, path: write_measured_series(table.measured_series, path),
    ),
    DensityFile(
        path=AREAS,
        title="Public areas",
        description=f"The areas as GeoJSON, in the order of the rows. {_PUBLIC}",
        parts=_public(AREAS),
        is_source=True,
    ),
    periods_file(lambda table: table.universe.periods),
    periods_file(
        lambda table: cast("Periods", table.universe.averages), _has_averages, AVERAGE_PERIODS
    ),
    DensityFile(
        path=COVER,
        title="Cover and clusters",
        description="The cells of sites and areas that together hold the whole city, and the "
        "cluster that each was measured in. The cells are public; the clusters were chosen by "
        "public or noisy numbers.",
        columns=COVER_TABLE,
        parts=_public(COVER),
        is_source=True,
    ),
    DensityFile(
        path=PIECES,
        title="Pieces of the city",
        description="Where the cell of a site and an area overlap, and the cell of the cover "
        f"that the piece is given to. {_PUBLIC}",
        columns=PIECES_TABLE,
        parts=_public(PIECES),
        is_source=True,
    ),
    DensityFile(
        path=SITES,
        title="Public places where visitors are seen",
        description=f"Places that events may name, such as phone towers. {_PUBLIC}",
        columns=_sites_columns,
        parts=_public(SITES),
        is_source=True,
        is_there=lambda table: table.universe.sites is not None,
    ),
    DensityFile(
        path=MEASURED_SITES,
        title="Measured sites",
        description="What was measured: visitors by site, each shared among the sites of all "
        "visits, and by the circle of visitors who are as busy, in parts of a visitor. "
        f"{PERSON_PARTS:,} parts are one visitor. A number may be negative.",
        columns=MEASURED_TABLE,
        parts=lambda table: [measured_sites_csv(cast("IntArray", table.measured_sites))],
        is_source=True,
        is_there=lambda table: table.measured_sites is not None,
    ),
)
