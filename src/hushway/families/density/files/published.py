"""The files of a density release: what is said of each, how it is written and how it is checked."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from hushway.arrays import IntArray
from hushway.families.density.files.rows import (
    COLUMNS,
    GEO_COLUMNS,
    MOST_CSV_ROWS,
    SERIES_COLUMNS,
    check_density_csv,
    check_density_geo,
    fits_csv,
    totals_of,
    write_density_csv,
    write_density_geo,
    write_density_parquet,
    write_measured_series,
)
from hushway.families.density.files.universe import (
    AREAS,
    COVER,
    COVER_COLUMNS,
    MEASURED_COLUMNS,
    PIECE_COLUMNS,
    PIECES,
    SITE,
    SITES,
    measured_sites_csv,
    public_files,
)
from hushway.families.density.fit.table import DensityTable
from hushway.families.density.public.visits import PERSON_PARTS, Sites
from hushway.release.folder.published_file import (
    PERIODS,
    Description,
    PublishedFile,
    columns_schema,
    describe_files,
    locations_schema,
    periods_file,
)
from hushway.release.formats.places import location_columns
from hushway.release.terms import noise_fits

PARQUET = "density.parquet"
CSV = "density.csv"
GEO = "density.geo.parquet"
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
        "noise": dict(table.noise),
        # The publisher's word: the numbers on the way to the fit are not in the release.
        "fit": dict(table.diagnostics),
    }
    return describe_files(FILES, table, facts)


def facts_fit(facts: Mapping[str, Any]) -> bool:
    """Whether facts of a data package say enough about a density to read it."""
    total, activity = facts["measured_total"], facts["measured_activity"]
    return (
        type(facts["quanta"]) is int
        and type(facts["places"]) is bool
        and type(facts["sites_measured"]) is bool
        and (total is None or type(total) is int)
        and (activity is None or _whole_numbers(activity))
        and noise_fits(facts["noise"])
        and type(facts["fit"]) is dict
    )


def _whole_numbers(values: Any) -> bool:
    """Whether these are whole numbers of 64 bits in a list."""
    return type(values) is list and all(
        type(value) is int and abs(value) < _MOST_WHOLE for value in values
    )


_ROWS_SCHEMA = columns_schema(
    COLUMNS,
    (
        ("string", f"Id of the area, as in {AREAS}."),
        ("datetime", "When the period starts; of a period of the week, on its first such day."),
        ("string", f"The same on the wall clock, in the time zone that {PERIODS} names."),
        ("integer", f"Number of the period, from 0, in the order of {PERIODS}."),
        ("number", "Published number of visits, to two decimals."),
        ("number", "What the count is expected to be off by, in visits."),
    ),
    key=["area", "period"],
)


def _series_words(table: DensityTable) -> str:
    return (
        "What was measured, before anything was fitted: the noisy visits of every cluster and "
        "period, "
        f"in parts of a visit. {table.quanta:,} parts are one visit. A number may be negative."
    )


def _sites_schema(table: DensityTable) -> dict[str, Any]:
    schema = locations_schema(location_columns(cast("Sites", table.universe.sites).locations))
    words = "Number of the site; places at one point share it. Missing if the place is left out."
    field = {"name": SITE, "type": "integer", "description": words}
    return {**schema, "fields": [field, *schema["fields"]]}


def _public(name: str) -> Callable[[DensityTable, Path], object]:
    """Returns how one of the public lists is written."""
    return lambda table, path: path.write_bytes(public_files(table.universe, table.cluster)[name]())


DensityFile = PublishedFile[DensityTable, DensityTable]

FILES: tuple[DensityFile, ...] = (
    DensityFile(
        path=PARQUET,
        title="Visits by area and period of time",
        description="Every area has a row for every period. A count is the published number of "
        "visits "
        "to the area in the period, a visit being one visitor seen in one period. It carries "
        "noise on "
        "purpose, was fitted to noisy measurements, and is never negative.",
        schema=_ROWS_SCHEMA,
        write=write_density_parquet,
    ),
    DensityFile(
        path=CSV,
        title="Visits by area and period of time",
        description=f"The same numbers as {PARQUET}.",
        schema=_ROWS_SCHEMA,
        write=write_density_csv,
        check=check_density_csv,
        is_there=lambda table: fits_csv(table.universe),
        left_out=f"As text the table would have more than {MOST_CSV_ROWS:,} rows.",
    ),
    DensityFile(
        path=GEO,
        title="Visits by area, for maps",
        description=f"The same numbers as {PARQUET} as GeoParquet 1.1: one row an area, with "
        "its shape in longitudes and latitudes (OGC:CRS84) and its series as lists.",
        schema=columns_schema(
            GEO_COLUMNS,
            (
                ("string", f"Id of the area, as in {AREAS}."),
                ("string", "Name of the area."),
                ("any", "Its shape as WKB, in longitudes and latitudes."),
                ("number", "Sum of its counts over all periods."),
                ("number", "Mean of its counts, to two decimals."),
                ("datetime", "Start of the first period with its largest count."),
                ("string", "The same on the wall clock."),
                ("array", "Its counts, in the order of the periods."),
                ("array", "Their standard errors, in the same order."),
            ),
            key=["id"],
        ),
        write=write_density_geo,
        check=check_density_geo,
    ),
    DensityFile(
        path=SERIES,
        title="Measured series",
        description=_series_words,
        schema=columns_schema(
            SERIES_COLUMNS,
            (
                ("integer", f"Number of the cluster, as in {COVER}."),
                ("integer", "Number of the period, from 0."),
                ("integer", "Noisy number of parts of visits."),
            ),
            key=["cluster", "period"],
        ),
        write=lambda table, path: write_measured_series(table.measured_series, path),
    ),
    DensityFile(
        path=AREAS,
        title="Public areas",
        description=f"The areas as GeoJSON, in the order of the rows. {_PUBLIC}",
        write=_public(AREAS),
    ),
    periods_file(lambda table: table.universe.periods),
    DensityFile(
        path=COVER,
        title="Cover and clusters",
        description="The cells of sites and areas that together hold the whole city, and the "
        "cluster that each was measured in. The cells are public; the clusters were chosen by "
        "public or noisy numbers.",
        schema=columns_schema(
            COVER_COLUMNS,
            (
                ("integer", "Number of the cell of the cover, from 0."),
                ("string", "Whether it is the cell of a site or an area."),
                ("string", "Number of that site, or id of that area."),
                ("integer", "Cluster that it was measured in."),
                ("number", "Centre of its ground, metres east of the middle of all areas."),
                ("number", "Centre of its ground, metres north of the middle of all areas."),
            ),
            key=["cell"],
        ),
        write=_public(COVER),
    ),
    DensityFile(
        path=PIECES,
        title="Pieces of the city",
        description="Where the cell of a site and an area overlap, and the cell of the cover "
        f"that the piece is given to. {_PUBLIC}",
        schema=columns_schema(
            PIECE_COLUMNS,
            (
                ("integer", "Number of the site."),
                ("string", f"Id of the area, as in {AREAS}."),
                ("integer", f"Cell that the piece is given to, as in {COVER}."),
                ("number", "Size in square metres."),
            ),
            key=["site", "area"],
        ),
        write=_public(PIECES),
    ),
    DensityFile(
        path=SITES,
        title="Public places where visitors are seen",
        description=f"Places that events may name, such as phone towers. {_PUBLIC}",
        schema=_sites_schema,
        write=_public(SITES),
        is_there=lambda table: table.universe.sites is not None,
    ),
    DensityFile(
        path=MEASURED_SITES,
        title="Measured sites",
        description="What was measured: visitors by site, each shared among the sites of all "
        "visits, and by the circle of visitors who are as busy, in parts of a visitor. "
        f"{PERSON_PARTS:,} parts are one visitor. A number may be negative.",
        schema=columns_schema(
            MEASURED_COLUMNS,
            (
                ("integer", "Number of the circle, from 0: the higher, the busier the visitors."),
                ("integer", "Number of the site."),
                ("integer", "Noisy number of visitors, in parts."),
            ),
            key=["circle", "site"],
        ),
        write=lambda table, path: path.write_bytes(
            measured_sites_csv(cast("IntArray", table.measured_sites))
        ),
        is_there=lambda table: table.measured_sites is not None,
    ),
)
