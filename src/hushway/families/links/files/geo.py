"""Published counts of links for maps: one row a link that shows, with its course.

GeoParquet 1.1 holds all of them; GeoJSON, which every program opens, holds them if they are few.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.files.roads import course_points, courses, lines_metadata
from hushway.families.links.files.rows import told_array
from hushway.families.links.fit.table import LinkTable
from hushway.release.formats.geoparquet import check_geoparquet, write_geoparquet
from hushway.release.formats.places import (
    number_array,
    optional_texts,
    required_columns,
    text_array,
)

# More numbers as text are slow to open for everybody; Parquet holds the same.
MOST_GEOJSON_NUMBERS = 100_000

_SERIES = pa.list_(pa.field("element", pa.float64()))
_REQUIRED = required_columns(
    ("link_id", pa.string()),
    ("name", pa.string()),
    ("from_node_id", pa.string()),
    ("to_node_id", pa.string()),
    ("class", pa.int64()),
    ("length_m", pa.float64()),
    ("total", pa.float64()),
    ("total_error", pa.float64()),
    ("counts", _SERIES),
    ("standard_errors", _SERIES),
    ("geometry", pa.binary()),
)
# Not every street has a name.
_SCHEMA = _REQUIRED.set(1, pa.field("name", pa.string()))
COLUMNS = tuple(_SCHEMA.names)

_HUNDREDTHS = 100
# About a centimetre: nobody needs to know better where a road is.
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


def write_links_geo(table: LinkTable, path: Path) -> None:
    """Writes the links that show as one GeoParquet file."""
    write_geoparquet(_arrow(table), path)


def check_links_geo(table: LinkTable, path: Path) -> None:
    """Makes sure that a GeoParquet file holds the links that show.

    Raises:
        ReleaseError: It does not.
    """
    check_geoparquet(_arrow(table), path, "the links")


def links_geojson(table: LinkTable) -> bytes:
    """Returns the links that show as GeoJSON, one line a link."""
    roads, shown = table.universe.roads, shown_links(table)
    sizes, points = course_points(roads, shown.links)
    positions = np.round(np.column_stack([roads.lon, roads.lat])[points], _DIGITS)
    lines = np.split(positions, np.cumsum(sizes)[:-1]) if len(sizes) else []
    plain = _arrow(table).drop_columns(["geometry"]).to_pylist()
    features = map(_feature, plain, lines)
    return (_BEGIN + _BETWEEN.join(features) + _END).encode()


def _feature(properties: dict[str, Any], line: FloatArray) -> str:
    facts = {
        "type": "Feature",
        "properties": properties,
        "geometry": {"type": "LineString", "coordinates": line.tolist()},
    }
    return json.dumps(facts, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _arrow(table: LinkTable) -> pa.Table:
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
        _lists(shown.counts),
        _lists(shown.standard_error),
        courses(roads, links),
    ]
    return pa.Table.from_arrays(columns, schema=_SCHEMA.with_metadata(metadata))


def _lists(numbers: FloatArray) -> pa.Array:
    ends = np.arange(0, numbers.size + 1, numbers.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(
        number_array(ends), told_array(numbers.reshape(-1)), type=_SERIES
    )
