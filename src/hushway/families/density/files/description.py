"""What the data package of a density release says about its files."""

from collections.abc import Mapping
from typing import Any

from hushway.families.density.files.clusters import COVER_COLUMNS, PIECE_COLUMNS
from hushway.families.density.files.geo import COLUMNS as GEO_COLUMNS
from hushway.families.density.files.geo import totals_of
from hushway.families.density.files.measured import COLUMNS as SERIES_COLUMNS
from hushway.families.density.files.rows import COLUMNS, MOST_CSV_ROWS, fits_csv
from hushway.families.density.files.sites import MEASURED_COLUMNS, SITE
from hushway.families.density.files.universe import AREAS, COVER, PERIODS, PIECES, SITES
from hushway.families.density.mechanism.table import DensityTable
from hushway.families.density.public.cells import Sites
from hushway.release.formats.places import location_columns
from hushway.release.resource import (
    Description,
    Resource,
    locations_schema,
    periods_resource,
    table_schema,
)
from hushway.release.stated import noise_fits

PARQUET = "density.parquet"
CSV = "density.csv"
GEO = "density.geo.parquet"
SERIES = "measured_series.parquet"
MEASURED_SITES = "measured_sites.csv"

_PARQUET_TYPE = "application/vnd.apache.parquet"
_PUBLIC = "Public knowledge, not made from the data."
_WHAT_A_COUNT_MEANS = (
    "A count is the published number of visits to the area in the bin, a visit being one visitor "
    "seen in one bin. It carries noise on purpose, was fitted to noisy measurements, and is never "
    "negative."
)


def describe(table: DensityTable) -> Description:
    """Returns what a data package says about a published density."""
    universe = table.universe
    resources = [
        Resource(
            path=PARQUET,
            title="Visits by area and bin of time",
            description=f"Every area has a row for every bin. {_WHAT_A_COUNT_MEANS}",
            mediatype=_PARQUET_TYPE,
            schema=_rows_schema(),
        ),
        Resource(
            path=GEO,
            title="Visits by area, for maps",
            description=f"The same numbers as {PARQUET} as GeoParquet 1.1: one row an area, with "
            "its shape in longitudes and latitudes (OGC:CRS84) and its series as lists.",
            mediatype=_PARQUET_TYPE,
            schema=_geo_schema(),
        ),
        Resource(
            path=SERIES,
            title="Measured series",
            description="What was measured, before anything was fitted: the noisy visits of every "
            f"cluster and bin, in parts of a visit. {table.quanta:,} parts are one visit. A number "
            "may be negative.",
            mediatype=_PARQUET_TYPE,
            schema=_series_schema(),
        ),
        Resource(
            path=AREAS,
            title="Public areas",
            description=f"The areas as GeoJSON, in the order of the rows. {_PUBLIC}",
            mediatype="application/geo+json",
        ),
        periods_resource(universe.periods, path=PERIODS),
        Resource(
            path=COVER,
            title="Cover and clusters",
            description="The cells of sites and areas that together hold the whole city, and the "
            "cluster that each was measured in. The cells are public; the clusters were chosen by "
            "public or noisy numbers.",
            mediatype="text/csv",
            schema=_cover_schema(),
        ),
        Resource(
            path=PIECES,
            title="Pieces of the city",
            description="Where the cell of a site and an area overlap, and the cell of the cover "
            f"that the piece is given to. {_PUBLIC}",
            mediatype="text/csv",
            schema=_pieces_schema(),
        ),
    ]
    omitted = {}
    if fits_csv(universe):
        csv = Resource(
            path=CSV,
            title="Visits by area and bin of time",
            description=f"The same numbers as {PARQUET}.",
            mediatype="text/csv",
            schema=_rows_schema(),
        )
        resources.insert(1, csv)
    else:
        omitted[CSV] = f"As text the table would have more than {MOST_CSV_ROWS:,} rows."
    if universe.sites is not None:
        resources.append(_sites_resource(universe.sites))
    if table.measured_sites is not None:
        resources.append(_measured_sites_resource())
    return Description(facts=_facts(table), resources=tuple(resources), omitted=omitted)


def facts_fit(facts: Mapping[str, Any]) -> bool:
    """Whether facts of a data package say enough about a density to read it."""
    total = facts["measured_total"]
    return (
        type(facts["quanta"]) is int
        and type(facts["towers"]) is bool
        and type(facts["sites_measured"]) is bool
        and (total is None or type(total) is int)
        and noise_fits(facts["noise"])
        and type(facts["fit"]) is dict
    )


def _facts(table: DensityTable) -> dict[str, Any]:
    universe = table.universe
    return {
        "areas": len(universe.areas),
        "bins": universe.bins,
        "rows": universe.size,
        "visits": float(totals_of(table.counts.reshape(-1))),
        "towers": universe.sites is not None,
        "sites": universe.site_count,
        "cells_of_the_cover": len(universe.cover),
        "clusters": len(table.measured_series),
        "quanta": table.quanta,
        "sites_measured": table.measured_sites is not None,
        "measured_total": table.measured_total,
        "noise": dict(table.noise),
        # The publisher's word: the numbers on the way to the fit are not in the release.
        "fit": dict(table.diagnostics),
    }


def _rows_schema() -> dict[str, Any]:
    words = (
        ("string", f"Id of the area, as in {AREAS}."),
        ("datetime", "When the bin starts on the wall clock of the time zone."),
        ("integer", f"Number of the bin, from 0, in the order of {PERIODS}."),
        ("number", "Published number of visits, in hundredths."),
        ("number", "What the count is expected to be off by, in visits."),
    )
    return _schema(COLUMNS, words, key=["area", "bin"])


def _geo_schema() -> dict[str, Any]:
    words = (
        ("string", f"Id of the area, as in {AREAS}."),
        ("string", "Name of the area."),
        ("any", "Its shape as WKB, in longitudes and latitudes."),
        ("number", "Sum of its counts over all bins."),
        ("number", "Mean of its counts, rounded to hundredths."),
        ("datetime", "Start of the first bin with its largest count."),
        ("array", "Its counts, in the order of the bins."),
        ("array", "Their standard errors, in the same order."),
    )
    return _schema(GEO_COLUMNS, words, key=["id"])


def _series_schema() -> dict[str, Any]:
    words = (
        ("integer", f"Number of the cluster, as in {COVER}."),
        ("integer", "Number of the bin, from 0."),
        ("integer", "Noisy number of parts of visits."),
    )
    return _schema(SERIES_COLUMNS, words, key=["cluster", "bin"])


def _cover_schema() -> dict[str, Any]:
    words = (
        ("integer", "Number of the cell of the cover, from 0."),
        ("string", "Whether it is the cell of a site or an area."),
        ("string", "Number of that site, or id of that area."),
        ("integer", "Cluster that it was measured in."),
        ("number", "Centre of its ground, metres east of the middle of all areas."),
        ("number", "Centre of its ground, metres north of the middle of all areas."),
    )
    return _schema(COVER_COLUMNS, words, key=["cell"])


def _pieces_schema() -> dict[str, Any]:
    words = (
        ("integer", "Number of the site."),
        ("string", f"Id of the area, as in {AREAS}."),
        ("integer", f"Cell that the piece is given to, as in {COVER}."),
        ("number", "Size in square metres."),
    )
    return _schema(PIECE_COLUMNS, words, key=["site", "area"])


def _sites_resource(sites: Sites) -> Resource:
    schema = locations_schema(location_columns(sites.locations))
    words = "Number of the site; places at one point share it. Empty if the place is left out."
    field = {"name": SITE, "type": "integer", "description": words}
    return Resource(
        path=SITES,
        title="Public places where visitors are seen",
        description=f"Places that events may name, such as phone towers. {_PUBLIC}",
        mediatype="text/csv",
        schema={**schema, "fields": [field, *schema["fields"]]},
    )


def _measured_sites_resource() -> Resource:
    words = (("integer", "Number of the site."), ("integer", "Noisy number of visitors."))
    return Resource(
        path=MEASURED_SITES,
        title="Measured sites",
        description="What was measured: one visit of each visitor, drawn at random, by its site. "
        "A number may be negative.",
        mediatype="text/csv",
        schema=_schema(MEASURED_COLUMNS, words, key=["site"]),
    )


def _schema(
    names: tuple[str, ...], words: tuple[tuple[str, str], ...], *, key: list[str]
) -> dict[str, Any]:
    columns = [(name, *rest) for name, rest in zip(names, words, strict=True)]
    return table_schema(*columns, key=key)
