"""The files of a release of links: what is said of each, how it is written and how checked."""

import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from hushway.arrays import IntArray
from hushway.families.links.files.geo import COLUMNS as GEO_COLUMNS
from hushway.families.links.files.geo import (
    MOST_GEOJSON_NUMBERS,
    check_links_geo,
    fits_geojson,
    links_geojson,
    write_links_geo,
)
from hushway.families.links.files.gmns import GMNS_FILES, LinkFile, check_rendered
from hushway.families.links.files.rest import COLUMNS as REST_COLUMNS
from hushway.families.links.files.rest import REST, rest_csv
from hushway.families.links.files.roads import (
    LINK_COLUMNS,
    NODE_COLUMNS,
    NODES,
    ROADS,
    ZONES,
    write_links,
    write_nodes,
)
from hushway.families.links.files.rows import (
    MEASURED_COLUMNS,
    PARQUET,
    ZONE_COLUMNS,
    links_schema,
    measured_classes_csv,
    write_links_parquet,
    zones_csv,
)
from hushway.families.links.fit.table import LinkTable
from hushway.release.folder.published_file import (
    PERIODS,
    Description,
    columns_schema,
    describe_files,
    periods_file,
)
from hushway.release.terms import noise_fits

GEO = "links.geo.parquet"
GEOJSON = "links.geojson"
MEASURED_CLASSES = "measured_classes.csv"

_PUBLIC = "Public knowledge, not made from the data."


def describe(table: LinkTable) -> Description:
    """Returns what a data package says about published links."""
    universe = table.universe
    facts = {
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
    return describe_files(FILES, table, facts)


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


_COUNT_WORDS = (
    ("string", f"Label of the period, as in {PERIODS}."),
    ("integer", "Number of the period, from 0."),
    ("string", f"Id of the link, as in {ROADS}."),
    ("integer", "Class of the link, from 1 (motorways) to 5 (residential streets)."),
    ("number", "Length of the link in metres."),
    ("number", "Published number of travellers, to two decimals."),
    ("number", "What the count is expected to be off by, in travellers."),
)
_SPEED_WORDS = (
    ("number", "Published mean speed in km/h; missing where it cannot be told."),
    ("number", "What the speed is expected to be off by, in km/h."),
    ("number", "Seconds along the link at that speed."),
)


def _rows_schema(table: LinkTable) -> dict[str, Any]:
    speeds = table.speed is not None
    words = (*_COUNT_WORDS, *_SPEED_WORDS) if speeds else _COUNT_WORDS
    return columns_schema(
        links_schema(speeds=speeds).names, words, key=["period_number", "link_id"]
    )


FILES: tuple[LinkFile, ...] = (
    LinkFile(
        path=PARQUET,
        title="Travellers by period and link",
        description="One row for every link that shows in a period. A count is the published "
        "number of travellers who were on the link in the period. It carries noise on purpose and "
        "was fitted to noisy measurements. A link without a row did not stand out from the noise; "
        "it is not known to be empty.",
        schema=_rows_schema,
        write=write_links_parquet,
    ),
    LinkFile(
        path=GEO,
        title="Travellers by link, for maps",
        description=f"The same counts as {PARQUET} as GeoParquet 1.1: one row for every link that "
        "shows in any period, with its course (OGC:CRS84) and its counts as lists.",
        schema=columns_schema(
            GEO_COLUMNS,
            (
                ("string", f"Id of the link, as in {ROADS}."),
                ("string", "Name of the street; missing if it has none."),
                ("string", f"Id of the node that the link leaves, as in {NODES}."),
                ("string", f"Id of the node that it leads to, as in {NODES}."),
                ("integer", "Class of the link, from 1 (motorways) to 5 (residential streets)."),
                ("number", "Length of the link in metres."),
                ("number", "Sum of its published counts over all periods."),
                ("number", "Root of the sum of squares of the standard errors of that sum."),
                ("array", "Its counts by period; missing where it does not show."),
                ("array", "Their standard errors, in the same order."),
                ("any", "Its course as WKB, in longitudes and latitudes."),
            ),
            key=["link_id"],
        ),
        write=write_links_geo,
        check=check_links_geo,
    ),
    LinkFile(
        path=GEOJSON,
        title="Travellers by link, for maps on the web",
        description=f"The same links and counts as {GEO} as GeoJSON.",
        write=lambda table, path: path.write_bytes(links_geojson(table)),
        check=lambda table, path: check_rendered(path, GEOJSON, [links_geojson(table)]),
        is_there=fits_geojson,
        left_out=f"As text the map would have more than {MOST_GEOJSON_NUMBERS:,} counts.",
    ),
    LinkFile(
        path=REST,
        title="Travellers on links that do not show",
        description="What was fitted to the links that do not show, added up by class and zone. "
        f"With the counts of {PARQUET} it gives sums over all links, and all kilometres. As "
        "persons that counted, with what the bound left out.",
        schema=columns_schema(
            REST_COLUMNS,
            (
                ("string", f"Label of the period, as in {PERIODS}."),
                ("integer", f"Number of the zone, as in {ZONES}."),
                ("integer", "Class of the links, from 1 (motorways) to 5 (residential streets)."),
                ("integer", "How many links of the class and zone do not show."),
                ("number", "Estimated travellers on them, added up over links."),
                ("number", "What that sum is expected to be off by."),
                ("number", "Estimated kilometres of travellers on them."),
                ("number", "What these are expected to be off by."),
            ),
            key=REST_COLUMNS[:3],
        ),
        write=lambda table, path: path.write_bytes(rest_csv(table)),
        check=lambda table, path: check_rendered(path, REST, [rest_csv(table)]),
    ),
    LinkFile(
        path=ROADS,
        title="Public roads",
        description="All links of the road network as GeoParquet 1.1, each direction by itself. "
        f"{_PUBLIC}",
        schema=columns_schema(
            LINK_COLUMNS,
            (
                ("string", "Id of the link: one direction of a street between two nodes."),
                ("string", f"Id of the node that it leaves, as in {NODES}."),
                ("string", f"Id of the node that it leads to, as in {NODES}."),
                ("number", "Length in metres."),
                ("number", "Usual speed in km/h."),
                ("number", "Number of lanes; missing if unknown."),
                ("integer", "Class, from 1 (motorways) to 5 (residential streets)."),
                ("integer", "Number of the street; its two directions share it."),
                ("integer", f"Number of the zone, as in {ZONES}."),
                ("string", "Name of the street; missing if it has none."),
                ("any", "Course as WKB, in longitudes and latitudes."),
            ),
            key=["link_id"],
        ),
        write=lambda table, path: write_links(table.universe.roads, table.universe.zone, path),
    ),
    LinkFile(
        path=NODES,
        title="Public nodes",
        description=f"Where links meet, as GeoParquet 1.1. {_PUBLIC}",
        schema=columns_schema(
            NODE_COLUMNS,
            (
                ("string", "Id of the node."),
                ("number", "Longitude in degrees (WGS84)."),
                ("number", "Latitude in degrees (WGS84)."),
                ("any", "Position as WKB."),
            ),
            key=["node_id"],
        ),
        write=lambda table, path: write_nodes(table.universe.roads, path),
    ),
    LinkFile(
        path=ZONES,
        title="Public zones",
        description=f"Parts of the network that sums are measured by. {_PUBLIC}",
        schema=columns_schema(
            ZONE_COLUMNS,
            (("integer", "Number of the zone, from 0."), ("string", "Name of the zone.")),
            key=["zone"],
        ),
        write=lambda table, path: path.write_bytes(zones_csv(table.universe.zones)),
    ),
    periods_file(lambda table: table.universe.periods),
    *GMNS_FILES,
    LinkFile(
        path=MEASURED_CLASSES,
        title="Measured classes and zones",
        description="What was measured beside the links: the noisy sums of travellers over all "
        "links of a class in a zone, and over all beginnings and ends of trips. A number may be "
        "negative. It counts links that do not show too, and persons as bounded: what the bound "
        "left out is not in it.",
        schema=columns_schema(
            MEASURED_COLUMNS,
            (
                ("string", "Label of the period."),
                ("string", "What was counted: links, or beginnings or ends of trips."),
                ("integer", f"Number of the zone, as in {ZONES}; missing for beginnings and ends."),
                ("integer", "Class of the links; missing for beginnings and ends."),
                ("integer", "Noisy number of travellers on links, or at beginnings or ends."),
            ),
            key=MEASURED_COLUMNS[:-1],
        ),
        write=lambda table, path: path.write_bytes(
            measured_classes_csv(table.universe, cast("IntArray", table.class_totals))
        ),
        is_there=lambda table: table.class_totals is not None,
    ),
)
