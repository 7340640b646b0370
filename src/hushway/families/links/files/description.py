"""What the data package of a release of links says about its files."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hushway.families.links.files.geo import COLUMNS as GEO_COLUMNS
from hushway.families.links.files.geo import MOST_GEOJSON_NUMBERS, fits_geojson
from hushway.families.links.files.gmns import (
    CONFIG_COLUMNS,
    COUNT_COLUMNS,
    MEASUREMENT_COLUMNS,
    has_counts,
)
from hushway.families.links.files.gmns import (
    LINK_COLUMNS as GMNS_LINK_COLUMNS,
)
from hushway.families.links.files.gmns import (
    NODE_COLUMNS as GMNS_NODE_COLUMNS,
)
from hushway.families.links.files.roads import LINK_COLUMNS, NODE_COLUMNS
from hushway.families.links.files.rows import (
    MEASURED_COLUMNS,
    ZONE_COLUMNS,
    links_schema,
)
from hushway.families.links.files.universe import NODES, PERIODS, ROADS, ZONES
from hushway.families.links.mechanism.table import LinkTable
from hushway.release.resource import Description, Resource, periods_resource, table_schema
from hushway.release.stated import noise_fits

GMNS_CONFIG = "gmns/config.csv"
GMNS_NODES = "gmns/node.csv"
GMNS_LINKS = "gmns/link.csv"
GMNS_MEASUREMENTS = "gmns/link_measurement.csv"

Words = tuple[tuple[str, str], ...]

_CONFIG_WORDS: Words = (
    ("string", "What the network is called."),
    ("string", "Unit of short lengths."),
    ("string", "Unit of the lengths of links."),
    ("string", "Unit of speeds."),
    ("string", "Coordinates: longitudes and latitudes of WGS84."),
    ("string", "How courses are written."),
    ("string", "Type of the ids."),
)
_GMNS_NODE_WORDS: Words = (
    ("string", "Id of the node."),
    ("number", "Longitude in degrees."),
    ("number", "Latitude in degrees."),
)
_LINK_WORDS: Words = (
    ("string", "Id of the link."),
    ("string", "Name of the street; may be empty."),
    ("string", "Node that the link leaves."),
    ("string", "Node that it leads to."),
    ("boolean", "Always true: each direction is a link."),
    ("string", "Its course as well-known text."),
    ("integer", "Always 1: the course runs from the first node to the second."),
    ("number", "Length in kilometres."),
    ("string", "The class in the words of planners."),
    ("number", "Usual speed in km/h, which is public; not measured."),
    ("integer", "Number of lanes, rounded; empty if unknown."),
    ("integer", "Class, from 1 (motorways) to 5 (residential streets)."),
)
_GMNS_COUNT_WORDS: Words = (
    ("number", "Published number of travellers; empty if the link does not show."),
    ("number", "What the count is expected to be off by; empty likewise."),
)
_MEASUREMENT_WORDS: Words = (
    ("string", "Id of the link."),
    ("string", "Label of the period."),
    ("number", "Published number of travellers."),
    ("number", "What the count is expected to be off by."),
)


def gmns_resources(*, counts: bool) -> tuple[Resource, ...]:
    """Returns the GMNS tables of a release, with counts beside the links or by themselves."""
    links: tuple[str, ...] = GMNS_LINK_COLUMNS
    link_words = _LINK_WORDS
    if counts:
        links, link_words = (*links, *COUNT_COLUMNS), (*link_words, *_GMNS_COUNT_WORDS)
    resources = (
        _table(
            GMNS_LINKS,
            "Roads as GMNS links",
            "The whole public network as the link table of the General Modeling Network "
            "Specification" + (", with the counts of the links that show." if counts else "."),
            (links, link_words, ["link_id"]),
        ),
        _table(
            GMNS_NODES,
            "Nodes as GMNS nodes",
            "All nodes of the public network.",
            (GMNS_NODE_COLUMNS, _GMNS_NODE_WORDS, ["node_id"]),
        ),
        _table(
            GMNS_CONFIG,
            "Units of the GMNS tables",
            "One row. Lengths over speeds give hours.",
            (CONFIG_COLUMNS, _CONFIG_WORDS, ["dataset_name"]),
        ),
    )
    if counts:
        return resources
    measurements = _table(
        GMNS_MEASUREMENTS,
        "Counts of GMNS links",
        "The published counts by link and period. The specification has no table for them.",
        (MEASUREMENT_COLUMNS, _MEASUREMENT_WORDS, ["link_id", "period"]),
    )
    return (*resources, measurements)


def _table(
    path: str, title: str, description: str, columns: tuple[tuple[str, ...], Words, list[str]]
) -> Resource:
    names, words, key = columns
    described = ((name, *rest) for name, rest in zip(names, words, strict=True))
    return Resource(
        path=path,
        title=title,
        description=description,
        mediatype="text/csv",
        schema=table_schema(*described, key=key),
    )


PARQUET = "links.parquet"
GEO = "links.geo.parquet"
GEOJSON = "links.geojson"
MEASURED_CLASSES = "measured_classes.csv"

_PARQUET_TYPE = "application/vnd.apache.parquet"
_PUBLIC = "Public knowledge, not made from the data."
_WHAT_A_COUNT_MEANS = (
    "A count is the published number of travellers who were on the link in the period. It carries "
    "noise on purpose and was fitted to noisy measurements. A link without a row did "
    "not stand out from the noise; it is not known to be empty."
)
_COUNT_WORDS = (
    ("string", f"Label of the period, as in {PERIODS}."),
    ("integer", "Number of the period, from 0."),
    ("string", f"Id of the link, as in {ROADS}."),
    ("integer", "Class of the link, from 1 (motorways) to 5 (residential streets)."),
    ("number", "Length of the link in metres."),
    ("number", "Published number of travellers, in hundredths."),
    ("number", "What the count is expected to be off by, in travellers."),
)
_SPEED_WORDS = (
    ("number", "Published mean speed in km/h; missing where it cannot be told."),
    ("number", "What the speed is expected to be off by, in km/h."),
    ("number", "Seconds along the link at that speed."),
)
_GEO_WORDS = (
    ("string", f"Id of the link, as in {ROADS}."),
    ("string", "Name of the street; may be empty."),
    ("string", "Id of the node that the link leaves."),
    ("string", "Id of the node that it leads to."),
    ("integer", "Class of the link, from 1 (motorways) to 5 (residential streets)."),
    ("number", "Length of the link in metres."),
    ("number", "Sum of its published counts over all periods."),
    ("array", "Its counts by period; missing where it does not show."),
    ("array", "Their standard errors, in the same order."),
    ("any", "Its course as WKB, in longitudes and latitudes."),
)
_ROAD_WORDS = (
    ("string", "Id of the link: one direction of a street between two nodes."),
    ("integer", f"Row of the node that it leaves, in {NODES}, from 0."),
    ("integer", f"Row of the node that it leads to, in {NODES}."),
    ("number", "Length in metres."),
    ("number", "Usual speed in km/h."),
    ("number", "Number of lanes."),
    ("integer", "Class, from 1 (motorways) to 5 (residential streets)."),
    ("integer", "Number of the street; its two directions share it."),
    ("integer", f"Number of the zone, as in {ZONES}."),
    ("string", "Name of the street; may be empty."),
    ("any", "Course as WKB, in longitudes and latitudes."),
)
_NODE_WORDS = (
    ("string", "Id of the node."),
    ("number", "Longitude in degrees (WGS84)."),
    ("number", "Latitude in degrees (WGS84)."),
)
_ZONE_WORDS = (("integer", "Number of the zone, from 0."), ("string", "Name of the zone."))
_MEASURED_WORDS = (
    ("string", "Label of the period."),
    ("string", "What was counted: links, or beginnings or ends of trips."),
    ("integer", f"Number of the zone, as in {ZONES}; empty for beginnings and ends."),
    ("integer", "Class of the links; empty for beginnings and ends."),
    ("integer", "Noisy number of travellers on links, or at beginnings or ends."),
)


def describe(table: LinkTable) -> Description:
    """Returns what a data package says about published links."""
    resources = [
        _resource(
            PARQUET,
            "Travellers by period and link",
            f"One row for every link that shows in a period. {_WHAT_A_COUNT_MEANS}",
            _rows_schema(speeds=table.speed is not None),
        ),
        _resource(
            GEO,
            "Travellers by link, for maps",
            f"The same counts as {PARQUET} as GeoParquet 1.1: one row for every link that shows in "
            "any period, with its course (OGC:CRS84) and its counts as lists.",
            _schema(GEO_COLUMNS, _GEO_WORDS, key=["id"]),
        ),
        _resource(
            ROADS,
            "Public roads",
            f"All links of the road network as GeoParquet 1.1, each direction by itself. {_PUBLIC}",
            _schema(LINK_COLUMNS, _ROAD_WORDS, key=["link_id"]),
        ),
        _resource(
            NODES,
            "Public nodes",
            f"Where links meet. {_PUBLIC}",
            _schema(NODE_COLUMNS, _NODE_WORDS, key=["node_id"]),
        ),
        _resource(
            ZONES,
            "Public zones",
            f"Parts of the network that sums are measured by. {_PUBLIC}",
            _schema(ZONE_COLUMNS, _ZONE_WORDS, key=["zone"]),
        ),
        periods_resource(table.universe.periods, path=PERIODS),
        *gmns_resources(counts=has_counts(table)),
    ]
    omitted = {}
    if fits_geojson(table):
        resources.insert(2, _geojson_resource())
    else:
        omitted[GEOJSON] = f"As text the map would have more than {MOST_GEOJSON_NUMBERS:,} counts."
    if table.class_totals is not None:
        resources.append(
            _resource(
                MEASURED_CLASSES,
                "Measured classes and zones",
                "What was measured beside the links: the noisy sums of travellers over all links "
                "of a class in a zone, and over all beginnings and ends of trips. A number may be "
                "negative. It counts links that do not show too.",
                _schema(MEASURED_COLUMNS, _MEASURED_WORDS, key=list(MEASURED_COLUMNS[:-1])),
            )
        )
    return Description(facts=_facts(table), resources=tuple(resources), omitted=omitted)


def facts_fit(facts: Mapping[str, Any]) -> bool:
    """Whether facts of a data package say enough about links to read them."""
    threshold = facts["threshold"]
    return (
        type(threshold) is float
        and math.isfinite(threshold)
        and type(facts["speeds"]) is bool
        and type(facts["classes_measured"]) is bool
        and noise_fits(facts["noise"])
        and type(facts["fit"]) is dict
    )


def _facts(table: LinkTable) -> dict[str, Any]:
    universe = table.universe
    return {
        "links": universe.roads.links,
        "nodes": universe.roads.nodes,
        "periods": len(universe.periods),
        "zones": len(universe.zones),
        "published_rows": len(table.link),
        "published_links": len(np.unique(table.link)),
        "threshold": table.threshold,
        "speeds": table.speed is not None,
        "classes_measured": table.class_totals is not None,
        "noise": dict(table.noise),
        # The publisher's word: the numbers on the way to the fit are not in the release.
        "fit": dict(table.diagnostics),
    }


def _rows_schema(*, speeds: bool) -> dict[str, Any]:
    words = (*_COUNT_WORDS, *_SPEED_WORDS) if speeds else _COUNT_WORDS
    return _schema(links_schema(speeds=speeds).names, words, key=["period_number", "link"])


def _geojson_resource() -> Resource:
    return Resource(
        path=GEOJSON,
        title="Travellers by link, for maps on the web",
        description=f"The same links and counts as {GEO} as GeoJSON.",
        mediatype="application/geo+json",
    )


def _resource(path: str, title: str, description: str, schema: dict[str, Any]) -> Resource:
    return Resource(
        path=path,
        title=title,
        description=description,
        mediatype="text/csv" if path.endswith(".csv") else _PARQUET_TYPE,
        schema=schema,
    )


def _schema(
    names: Sequence[str], words: tuple[tuple[str, str], ...], *, key: list[str]
) -> dict[str, Any]:
    columns = [(name, *rest) for name, rest in zip(names, words, strict=True)]
    return table_schema(*columns, key=key)
