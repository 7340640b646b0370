"""Published counts of links as Parquet: one row a period and link that shows."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.public.universe import ClassZones, LinkUniverse
from hushway.release.formats.csv import (
    BATCH_ROWS,
    LABEL,
    labelled,
    positions_among,
    whole_column,
)
from hushway.release.formats.places import (
    csv_bytes,
    number_array,
    numbers_or,
    optional_array,
    text_array,
)
from hushway.release.untrusted.limits import LIST_BYTES, csv_rows, rewritten
from hushway.release.untrusted.parquet import open_parquet

PARQUET = "links.parquet"

_COUNTS = [
    pa.field("period", LABEL, nullable=False),
    pa.field("period_number", pa.int64(), nullable=False),
    pa.field("link_id", LABEL, nullable=False),
    pa.field("class", pa.int64(), nullable=False),
    pa.field("length_m", pa.float64(), nullable=False),
    pa.field("count", pa.float64(), nullable=False),
    pa.field("standard_error", pa.float64(), nullable=False),
]
_SPEEDS = [
    pa.field("speed", pa.float64()),
    pa.field("speed_error", pa.float64()),
    pa.field("travel_time_s", pa.float64()),
]
# From kilometres an hour to metres a second.
_SECONDS = 3.6


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkRows:
    """The rows of a file, as the columns of a `LinkTable`."""

    period: IntArray
    link: IntArray
    counts: FloatArray
    standard_error: FloatArray
    speed: FloatArray | None
    speed_error: FloatArray | None


def links_schema(*, speeds: bool) -> pa.Schema:
    """Returns the columns of a table with speeds or without."""
    return pa.schema([*_COUNTS, *_SPEEDS] if speeds else _COUNTS)


def write_links_parquet(table: LinkTable, path: Path) -> None:
    """Writes the published rows as one Parquet file."""
    schema = links_schema(speeds=table.speed is not None)
    used = np.unique(table.link)
    names = text_array(table.universe.roads.link_id[used].tolist())
    periods = text_array(table.universe.periods.labels)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, len(table.link), BATCH_ROWS):
            rows = slice(start, start + BATCH_ROWS)
            period, link = table.period[rows], table.link[rows]
            arrays = [
                labelled(period, periods),
                number_array(period),
                labelled(np.searchsorted(used, link), names),
                *_public(table.universe, link),
                number_array(table.counts[rows]),
                number_array(table.standard_error[rows]),
            ]
            if table.speed is not None and table.speed_error is not None:
                arrays += _speeds(table.universe, link, table.speed[rows], table.speed_error[rows])
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))


def read_links_parquet(path: Path, universe: LinkUniverse, *, speeds: bool) -> LinkRows:
    """Reads the published rows.

    Raises:
        ReleaseError: The rows do not name public links and periods, or say something else about
            them than the public lists.
    """
    schema = links_schema(speeds=speeds)
    ids, labels = text_array(universe.roads.link_id.tolist()), text_array(universe.periods.labels)
    parts: list[LinkRows] = []
    # No link has two rows in a period.
    with open_parquet(path, schema, rows=universe.size) as file:
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            own = dict(zip(schema.names, batch.columns, strict=True))
            rows = LinkRows(
                period=positions_among(own["period"], labels),
                link=positions_among(own["link_id"], ids),
                counts=whole_column(own["count"]),
                standard_error=whole_column(own["standard_error"]),
                speed=numbers_or(own["speed"], np.nan) if speeds else None,
                speed_error=numbers_or(own["speed_error"], np.nan) if speeds else None,
            )
            _check_told(path, universe, rows, own)
            parts.append(rows)
    return LinkRows(
        period=_joined([part.period for part in parts], np.int64),
        link=_joined([part.link for part in parts], np.int64),
        counts=_joined([part.counts for part in parts], np.float64),
        standard_error=_joined([part.standard_error for part in parts], np.float64),
        speed=_joined([part.speed for part in parts], np.float64) if speeds else None,
        speed_error=_joined([part.speed_error for part in parts], np.float64) if speeds else None,
    )


def told_array(numbers: FloatArray) -> pa.Array:
    """Returns numbers as an Arrow array in which those that cannot be told are missing."""
    return optional_array(numbers, ~np.isnan(numbers))


def travel_times(length: FloatArray, speed: FloatArray) -> FloatArray:
    """Returns seconds along links at a speed in km/h, rounded to tenths."""
    return np.asarray(np.round(length * _SECONDS / speed, 1))


def _public(universe: LinkUniverse, link: IntArray) -> list[pa.Array]:
    roads = universe.roads
    return [
        number_array(roads.road_class[link].astype(np.int64)),
        number_array(roads.length[link].astype(np.float64)),
    ]


def _speeds(
    universe: LinkUniverse, link: IntArray, speed: FloatArray, error: FloatArray
) -> list[pa.Array]:
    times = travel_times(universe.roads.length[link], speed)
    return [told_array(column) for column in (speed, error, times)]


def _check_told(
    path: Path, universe: LinkUniverse, rows: LinkRows, own: dict[str, pa.Array]
) -> None:
    """Makes sure that what follows from the public lists stands beside the numbers."""
    told = [own["period_number"], own["class"], own["length_m"]]
    expected = [number_array(rows.period), *_public(universe, rows.link)]
    if rows.speed is not None and rows.speed_error is not None:
        if not bool(np.all(np.isnan(rows.speed) | (rows.speed > 0))):
            raise _rewritten(path)
        told += [own["speed"], own["speed_error"], own["travel_time_s"]]
        expected += _speeds(universe, rows.link, rows.speed, rows.speed_error)
    if not all(one.equals(other) for one, other in zip(told, expected, strict=True)):
        raise _rewritten(path)


def _joined(parts: list[Any], kind: Any) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype=kind), *parts])


def _rewritten(path: Path) -> ReleaseError:
    return damaged(f"{path.name} does not hold rows of public links and periods.")


ZONE_COLUMNS = ("zone", "name")
MEASURED_COLUMNS = ("period", "kind", "zone", "class", "measured")


def zones_csv(zones: tuple[str, ...]) -> bytes:
    """Returns the names of the public zones, by their number."""
    return csv_bytes(ZONE_COLUMNS, ((str(i), name) for i, name in enumerate(zones)))


def read_zones(data: bytes) -> tuple[str, ...]:
    """Reads the names of the public zones back.

    Raises:
        ReleaseError: The bytes are not what `zones_csv` writes.
    """
    zones = tuple(row[-1] for row in _rows("zones.csv", data)[1:])
    if zones_csv(zones) != data:
        raise rewritten("zones.csv")
    return zones


def group_facts(universe: LinkUniverse) -> tuple[tuple[str, str, str], ...]:
    """Returns the kind, the zone and the class of each group of a period, as text."""
    group, _ = ClassZones(universe=universe).links
    # Any link of a group tells its zone and class.
    _, some = np.unique(group, return_index=True)
    zones, classes = universe.zone[some].tolist(), universe.roads.road_class[some].tolist()
    return (
        *(("links", str(zone), str(own)) for zone, own in zip(zones, classes, strict=True)),
        ("beginnings", "", ""),
        ("ends", "", ""),
    )


def measured_classes_csv(universe: LinkUniverse, measured: IntArray) -> bytes:
    """Returns the noisy number of persons of every group and period."""
    groups = group_facts(universe)
    numbers = iter(measured.tolist())
    rows = (
        (period, *group, str(next(numbers)))
        for period in universe.periods.labels
        for group in groups
    )
    return csv_bytes(MEASURED_COLUMNS, rows)


def read_measured_classes(data: bytes, universe: LinkUniverse) -> IntArray:
    """Reads the noisy numbers of all groups back.

    Raises:
        ReleaseError: The bytes are not what `measured_classes_csv` writes for these groups.
    """
    _, *rows = _rows("measured_classes.csv", data)
    measured = np.array([int(row[-1]) for row in rows], dtype=np.int64)
    expected = ClassZones(universe=universe).size
    if len(measured) != expected or measured_classes_csv(universe, measured) != data:
        raise rewritten("measured_classes.csv")
    return measured


def _rows(name: str, data: bytes) -> list[list[str]]:
    return csv_rows(name, data, most=LIST_BYTES)
