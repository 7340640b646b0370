"""The files of a release of links: what is said of each, how it is written and how checked."""

import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from hushway.arrays import IntArray
from hushway.families.links.files.geo import (
    MAP,
    MOST_GEOJSON_NUMBERS,
    fits_geojson,
    link_layers,
    links_geojson,
    links_map,
)
from hushway.families.links.files.gmns import GMNS_FILES, LinkFile
from hushway.families.links.files.roads import LINKS_TABLE, NODES_TABLE, write_links, write_nodes
from hushway.families.links.files.rows import (
    MEASURED,
    NODES,
    PARQUET,
    REST,
    REST_TABLE,
    ROADS,
    ZONES,
    ZONES_TABLE,
    links_columns,
    measured_classes_csv,
    rest_csv,
    write_links_parquet,
    zones_csv,
)
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.public.universe import ClassZones
from hushway.release.folder.published_file import Description, describe_files, periods_file
from hushway.release.forecast.known import KNOWN, Known, KnownSums, known_sums, sure_share
from hushway.release.formats.geoparquet import check_geoparquet, write_geoparquet
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
        KNOWN: known_travellers(table).sentence,
    }
    return describe_files(FILES, table, facts, link_layers(table))


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


FILES: tuple[LinkFile, ...] = (
    LinkFile(
        path=PARQUET,
        title="Travellers by period and link",
        description="One row for every link that shows in a period. A count is the published "
        "number of travellers who were on the link in the period. It carries noise on purpose and "
        "was fitted to noisy measurements. A link without a row did not stand out from the noise; "
        "it is not known to be empty.",
        columns=lambda table: links_columns(table.universe.roads, speeds=table.speed is not None),
        write=write_links_parquet,
    ),
    LinkFile(
        path=GEO,
        title="Travellers by link, for maps",
        description=f"The same counts as {PARQUET} as GeoParquet 1.1: one row for every link that "
        "shows in any period, with its course (OGC:CRS84) and its counts as lists.",
        columns=MAP,
        write=lambda table, path: write_geoparquet(links_map(table), path),
        check=lambda table, path: check_geoparquet(links_map(table), path, "the links"),
    ),
    LinkFile(
        path=GEOJSON,
        title="Travellers by link, for maps on the web",
        description=f"The same links and counts as {GEO} as GeoJSON.",
        parts=lambda table: [links_geojson(table)],
        is_there=fits_geojson,
        left_out=f"As text the map would have more than {MOST_GEOJSON_NUMBERS:,} counts.",
    ),
    LinkFile(
        path=REST,
        title="Travellers on links that do not show",
        description="What was fitted to the links that do not show, added up by class and zone. "
        f"With the counts of {PARQUET} it gives sums over all links, and all kilometres. As "
        "persons that counted, with what the bound left out.",
        columns=REST_TABLE,
        parts=lambda table: [rest_csv(table)],
    ),
    LinkFile(
        path=ROADS,
        title="Public roads",
        description="All links of the road network as GeoParquet 1.1, each direction by itself. "
        f"{_PUBLIC}",
        columns=LINKS_TABLE,
        write=lambda table, path: write_links(table.universe.roads, table.universe.zone, path),
    ),
    LinkFile(
        path=NODES,
        title="Public nodes",
        description=f"Where links meet, as GeoParquet 1.1. {_PUBLIC}",
        columns=NODES_TABLE,
        write=lambda table, path: write_nodes(table.universe.roads, path),
    ),
    LinkFile(
        path=ZONES,
        title="Public zones",
        description=f"Parts of the network that sums are measured by. {_PUBLIC}",
        columns=ZONES_TABLE,
        parts=lambda table: [zones_csv(table.universe.zones)],
        is_source=True,
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
        columns=MEASURED,
        parts=lambda table: [
            measured_classes_csv(table.universe, cast("IntArray", table.class_totals))
        ],
        is_source=True,
        is_there=lambda table: table.class_totals is not None,
    ),
)


def known_travellers(table: LinkTable) -> Known:
    """Returns how much is known of links, and of the sums by zone and class that were measured."""
    return Known(
        counted="travellers",
        cells="links",
        sure=sure_share(
            [(table.counts, table.standard_error)], hidden=float(table.rest.counts.sum())
        ),
        sums=tuple(_sums(table)),
    )


def _sums(table: LinkTable) -> list[KnownSums]:
    noise = table.noise.get(ClassZones.name)
    if table.class_totals is None or noise is None:
        return []
    measured = np.maximum(table.class_totals, 0)
    errors = np.full(len(measured), noise)
    return [known_sums("zones and classes", measured, errors)]
