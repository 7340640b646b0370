"""Published counts of links for maps: one row a link that shows, with its course.

GeoParquet 1.1 holds all of them, and so do the layers of a GeoPackage; GeoJSON, which every program
opens, holds them if they are few.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.files.roads import course_points, courses, lines_metadata
from hushway.families.links.files.rows import CLASS_WORDS, NODES, ROADS, link_batches, links_columns
from hushway.families.links.fit.table import LinkTable
from hushway.geography.period_words import window_text
from hushway.release.formats.columns import NUMBER, TEXT, WHOLE, WKB, Column, Columns
from hushway.release.formats.geoparquet import GEOMETRY, series_array
from hushway.release.formats.layers import Layer
from hushway.release.formats.places import number_array, optional_texts, text_array

# More numbers as text are slow to open for everybody; Parquet holds the same.
MOST_GEOJSON_NUMBERS = 100_000

_SERIES = pa.list_(pa.field("element", pa.float64()))
MAP = Columns(
    (
        Column("link_id", TEXT, f"Id of the link, as in {ROADS}."),
        Column("name", TEXT, "Name of the street; missing if it has none.", optional=True),
        Column("from_node_id", TEXT, f"Id of the node that the link leaves, as in {NODES}."),
        Column("to_node_id", TEXT, f"Id of the node that it leads to, as in {NODES}."),
        Column("class", WHOLE, CLASS_WORDS),
        Column("length_m", NUMBER, "Length of the link in metres."),
        Column("total", NUMBER, "Sum of its published counts over all periods."),
        Column(
            "total_error", NUMBER, "Root of the sum of squares of the standard errors of that sum."
        ),
        Column("counts", _SERIES, "Its counts by period; missing where it does not show."),
        Column("standard_errors", _SERIES, "Their standard errors, in the same order."),
        Column(GEOMETRY, WKB, "Its course as WKB, in longitudes and latitudes."),
    ),
    key=("link_id",),
)

_HUNDREDTHS = 100
# About a centimetre.
_DIGITS = 7
_BEGIN, _BETWEEN, _END = '{"type":"FeatureCollection","features":[\n', ",\n", "\n]}\n"


@dataclass(frozen=True, kw_only=True, eq=False)
class ShownLinks:
    """The links that show in any period, in index order.

    Attributes:
        links: Which they are.
        totals: Sum of the counts of each over the periods in which it shows.
        errors: Standard error of each sum, as far as periods err by themselves, as noise does.
        counts: Count of each by period, NaN where it does not show.
        standard_error: Standard error of each by period, NaN likewise.
    """

    links: IntArray
    totals: FloatArray
    errors: FloatArray
    counts: FloatArray
    standard_error: FloatArray


def shown_links(table: LinkTable) -> ShownLinks:
    """Returns the links that show, each with its counts by period."""
    links, row = np.unique(table.link, return_inverse=True)
    shape = (len(links), len(table.universe.periods))
    counts, errors = np.full(shape, np.nan), np.full(shape, np.nan)
    counts[row, table.period] = table.counts
    errors[row, table.period] = table.standard_error
    # Whole hundredths add up exactly, whatever the order of the additions.
    totals = np.zeros(len(links), dtype=np.int64)
    np.add.at(totals, row, _hundredths(table.counts))
    squares = np.zeros(len(links), dtype=np.int64)
    np.add.at(squares, row, _hundredths(table.standard_error) ** 2)
    return ShownLinks(
        links=links.astype(np.int64),
        totals=totals / _HUNDREDTHS,
        errors=np.round(np.sqrt(squares) / _HUNDREDTHS, 2),
        counts=counts,
        standard_error=errors,
    )


def _hundredths(numbers: FloatArray) -> IntArray:
    return np.rint(numbers * _HUNDREDTHS).astype(np.int64)


def fits_geojson(table: LinkTable) -> bool:
    """Whether the links that show are few enough for text."""
    return len(np.unique(table.link)) * len(table.universe.periods) <= MOST_GEOJSON_NUMBERS


def links_geojson(table: LinkTable) -> bytes:
    """Returns the links that show as GeoJSON, one line a link."""
    roads, shown = table.universe.roads, shown_links(table)
    sizes, points = course_points(roads, shown.links)
    positions = np.round(np.column_stack([roads.lon, roads.lat])[points], _DIGITS)
    lines = np.split(positions, np.cumsum(sizes)[:-1]) if len(sizes) else []
    plain = links_map(table).drop_columns(["geometry"]).to_pylist()
    features = map(_feature, plain, lines)
    return (_BEGIN + _BETWEEN.join(features) + _END).encode()


def _feature(properties: dict[str, Any], line: FloatArray) -> str:
    facts = {
        "type": "Feature",
        "properties": properties,
        "geometry": {"type": "LineString", "coordinates": line.tolist()},
    }
    return json.dumps(facts, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def links_map(table: LinkTable) -> pa.Table:
    """Returns the links that show as GeoParquet holds them."""
    roads, shown = table.universe.roads, shown_links(table)
    links = shown.links
    _, points = course_points(roads, links)
    metadata = lines_metadata(np.column_stack([roads.lon, roads.lat])[points])
    columns = [
        text_array(roads.link_id[links].tolist()),
        optional_texts(roads.name[links].tolist()),
        text_array(roads.node_id[roads.tail[links]].tolist()),
        text_array(roads.node_id[roads.head[links]].tolist()),
        number_array(roads.road_class[links].astype(np.int64)),
        number_array(roads.length[links].astype(np.float64)),
        number_array(shown.totals),
        number_array(shown.errors),
        series_array(shown.counts, _SERIES),
        series_array(shown.standard_error, _SERIES),
        courses(roads, links),
    ]
    return pa.Table.from_arrays(columns, schema=MAP.schema.with_metadata(metadata))


_LISTS = ("counts", "standard_errors")
_LINKS = Columns(tuple(column for column in MAP.columns if column.name not in _LISTS))


def link_layers(table: LinkTable) -> tuple[Layer, ...]:
    """Returns the layers of published links."""
    universe = table.universe
    return (
        Layer(
            name="links",
            title=f"Travellers by link, all periods together, {window_text(universe.periods)}",
            columns=_LINKS,
            rows=len(table.link),
            batches=lambda: links_map(table).select(_LINKS.names).to_batches(),
            shape="LINESTRING",
        ),
        Layer(
            name="counts",
            title=f"Travellers by period and link: {universe.counted}",
            columns=links_columns(universe.roads, speeds=table.speed is not None),
            rows=len(table.link),
            batches=lambda: link_batches(table),
        ),
    )
