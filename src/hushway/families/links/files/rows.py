"""Published numbers of links: a row a period and link that shows, and sums by zone and class."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.links.fit.publication import Rest, hidden_links
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import ClassZones, LinkUniverse
from hushway.release.folder.published_file import PERIODS
from hushway.release.formats.columns import (
    BATCH_ROWS,
    LABEL,
    NUMBER,
    TEXT,
    WHOLE,
    Column,
    Columns,
    write_parquet,
)
from hushway.release.formats.csv import labelled, positions_among, whole_column
from hushway.release.formats.interval import HIGH, INTERVAL, LOW, interval_of
from hushway.release.formats.names import Names, names_beside
from hushway.release.formats.places import (
    csv_bytes,
    nullable_array,
    number_array,
    numbers_or,
    text_array,
)
from hushway.release.untrusted.limits import LIST_BYTES, csv_rows, rewritten
from hushway.release.untrusted.parquet import open_parquet

PARQUET = "links.parquet"
ROADS = "roads.parquet"
NODES = "nodes.parquet"
ZONES = "zones.csv"
REST = "rest.csv"
CLASS_WORDS = "Class of the link, from 1 (motorways) to 5 (residential streets)."

_LINK = (
    Column("period", LABEL, f"Label of the period, as in {PERIODS}."),
    Column("period_number", WHOLE, "Number of the period, from 0."),
    Column("link_id", LABEL, f"Id of the link, as in {ROADS}."),
)
_NAME = Column("name", LABEL, "Name of the street; empty if it has none.")
_COUNTS = (
    Column("class", WHOLE, CLASS_WORDS),
    Column("length_m", NUMBER, "Length of the link in metres."),
    Column("count", NUMBER, "Published number of travellers, to two decimals."),
    Column("standard_error", NUMBER, "What the count is expected to be off by, in travellers."),
    *INTERVAL,
)
_SPEEDS = (
    Column(
        "speed",
        NUMBER,
        "Published mean speed in km/h; missing where it cannot be told.",
        optional=True,
    ),
    Column(
        "speed_error", NUMBER, "What the speed is expected to be off by, in km/h.", optional=True
    ),
    Column("travel_time_s", NUMBER, "Seconds along the link at that speed.", optional=True),
)
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


def street_names(roads: RoadNetwork) -> Names | None:
    """Returns the names of the streets of links, if any has one."""
    return names_beside(roads.link_id.tolist(), roads.name.tolist())


def links_columns(roads: RoadNetwork, *, speeds: bool) -> Columns:
    """Returns the columns of a table with speeds or without."""
    named = () if street_names(roads) is None else (_NAME,)
    columns = (*_LINK, *named, *_COUNTS, *(_SPEEDS if speeds else ()))
    return Columns(columns, key=("period_number", "link_id"))


def write_links_parquet(table: LinkTable, path: Path) -> None:
    """Writes the published rows as one Parquet file."""
    write_parquet(path, _columns(table).schema, link_batches(table))


def _columns(table: LinkTable) -> Columns:
    return links_columns(table.universe.roads, speeds=table.speed is not None)


def link_batches(table: LinkTable) -> Iterator[pa.RecordBatch]:
    """Yields the published rows, some at a time."""
    schema, streets = _columns(table).schema, street_names(table.universe.roads)
    used = np.unique(table.link)
    ids = text_array(table.universe.roads.link_id[used].tolist())
    periods = text_array(table.universe.periods.labels)

    def batch(rows: slice) -> pa.RecordBatch:
        period, link = table.period[rows], table.link[rows]
        arrays = [
            labelled(period, periods),
            number_array(period),
            labelled(np.searchsorted(used, link), ids),
            *([] if streets is None else [streets.of(link)]),
            *_public(table.universe, link),
            number_array(table.counts[rows]),
            number_array(table.standard_error[rows]),
            *map(number_array, interval_of(table.counts[rows], table.standard_error[rows])),
        ]
        if table.speed is not None and table.speed_error is not None:
            arrays += _speeds(table.universe, link, table.speed[rows], table.speed_error[rows])
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    starts = range(0, len(table.link), BATCH_ROWS)
    return (batch(slice(start, start + BATCH_ROWS)) for start in starts)


def read_links_parquet(path: Path, universe: LinkUniverse, *, speeds: bool) -> LinkRows:
    """Reads the published rows."""
    schema = links_columns(universe.roads, speeds=speeds).schema
    streets = street_names(universe.roads)
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
            _check_derived(path, universe, rows, own)
            if streets is not None:
                streets.check(own["name"], rows.link)
            parts.append(rows)

    def joined(name: str, kind: type = np.float64) -> Any:
        return np.concatenate([np.empty(0, dtype=kind), *(getattr(part, name) for part in parts)])

    return LinkRows(
        period=joined("period", np.int64),
        link=joined("link", np.int64),
        counts=joined("counts"),
        standard_error=joined("standard_error"),
        speed=joined("speed") if speeds else None,
        speed_error=joined("speed_error") if speeds else None,
    )


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
    return [nullable_array(column) for column in (speed, error, times)]


def _check_derived(
    path: Path, universe: LinkUniverse, rows: LinkRows, own: dict[str, pa.Array]
) -> None:
    """Makes sure that derived columns are those that follow from the others and public lists."""
    found = [own[name] for name in ("period_number", "class", "length_m", LOW, HIGH)]
    ends = interval_of(rows.counts, rows.standard_error)
    expected = [number_array(rows.period), *_public(universe, rows.link), *map(number_array, ends)]
    if rows.speed is not None and rows.speed_error is not None:
        if not bool(np.all(np.isnan(rows.speed) | (rows.speed > 0))):
            raise _rewritten(path)
        found += [own["speed"], own["speed_error"], own["travel_time_s"]]
        expected += _speeds(universe, rows.link, rows.speed, rows.speed_error)
    if not all(one.equals(other) for one, other in zip(found, expected, strict=True)):
        raise _rewritten(path)


def _rewritten(path: Path) -> ReleaseError:
    return damaged(f"{path.name} does not hold rows of public links and periods.")


ZONES_TABLE = Columns(
    (
        Column("zone", WHOLE, "Number of the zone, from 0."),
        Column("name", TEXT, "Name of the zone."),
    ),
    key=("zone",),
)
MEASURED = Columns(
    (
        Column("period", TEXT, "Label of the period."),
        Column("kind", TEXT, "What was counted: links, or beginnings or ends of trips."),
        Column(
            "zone", WHOLE, f"Number of the zone, as in {ZONES}; missing for beginnings and ends."
        ),
        Column("zone_name", TEXT, "Name of the zone; missing likewise."),
        Column("class", WHOLE, "Class of the links; missing for beginnings and ends."),
        Column("measured", WHOLE, "Noisy number of travellers on links, or at beginnings or ends."),
    ),
    key=("period", "kind", "zone", "class"),
)
REST_TABLE = Columns(
    (
        Column("period", TEXT, f"Label of the period, as in {PERIODS}."),
        Column("zone", WHOLE, f"Number of the zone, as in {ZONES}."),
        Column("zone_name", TEXT, "Name of the zone."),
        Column(
            "class", WHOLE, "Class of the links, from 1 (motorways) to 5 (residential streets)."
        ),
        Column("links", WHOLE, "How many links of the class and zone do not show."),
        Column("count", NUMBER, "Estimated travellers on them, added up over links."),
        Column("standard_error", NUMBER, "What that sum is expected to be off by."),
        Column("km", NUMBER, "Estimated kilometres of travellers on them."),
        Column("km_error", NUMBER, "What these are expected to be off by."),
    ),
    key=("period", "zone", "class"),
)
_REST_NUMBERS = 4


def zones_csv(zones: tuple[str, ...]) -> bytes:
    """Returns the names of the public zones, by their number."""
    return csv_bytes(ZONES_TABLE.names, ((str(i), name) for i, name in enumerate(zones)))


def read_zones(data: bytes) -> tuple[str, ...]:
    """Reads the names of the public zones back."""
    zones = tuple(row[-1] for row in _rows("zones.csv", data)[1:])
    if zones_csv(zones) != data:
        raise rewritten("zones.csv")
    return zones


def class_zones(universe: LinkUniverse) -> list[tuple[int, int]]:
    """Returns the zone and the class of each group of links."""
    group, _ = ClassZones(universe=universe).links
    # Any link of a group tells its zone and class.
    _, some = np.unique(group, return_index=True)
    zones, classes = universe.zone[some].tolist(), universe.roads.road_class[some].tolist()
    return list(zip(zones, classes, strict=True))


def measured_classes_csv(universe: LinkUniverse, measured: IntArray) -> bytes:
    """Returns the noisy number of persons of every group and period."""
    links = [("links", *group) for group in _groups(universe)]
    groups = [*links, ("beginnings", "", "", ""), ("ends", "", "", "")]
    numbers = iter(measured.tolist())
    rows = (
        (period, *group, str(next(numbers)))
        for period in universe.periods.labels
        for group in groups
    )
    return csv_bytes(MEASURED.names, rows)


def read_measured_classes(data: bytes, universe: LinkUniverse) -> IntArray:
    """Reads the noisy numbers of all groups back."""
    _, *rows = _rows("measured_classes.csv", data)
    measured = np.array([int(row[-1]) for row in rows], dtype=np.int64)
    expected = ClassZones(universe=universe).size
    if len(measured) != expected or measured_classes_csv(universe, measured) != data:
        raise rewritten("measured_classes.csv")
    return measured


def rest_csv(table: LinkTable) -> bytes:
    """Returns what is fitted to the links that do not show, of every group and period."""
    groups = ClassZones(universe=table.universe)
    hidden = hidden_links(table.period, table.link, groups).tolist()
    facts = _facts(table.universe)
    rest = table.rest
    numbers = zip(
        rest.counts.tolist(),
        rest.standard_error.tolist(),
        rest.km.tolist(),
        rest.km_error.tolist(),
        strict=True,
    )
    rows = (
        (*fact, str(links), *(f"{number:.2f}" for number in own))
        for fact, links, own in zip(facts, hidden, numbers, strict=True)
    )
    return csv_bytes(REST_TABLE.names, rows)


def read_rest(data: bytes, universe: LinkUniverse) -> Rest:
    """Reads the numbers back. Whether all else is right shows once they are written again."""
    _, *rows = _rows(REST, data)
    if len(rows) != len(_facts(universe)):
        raise rewritten(REST)
    try:
        numbers = np.array(
            [[float(number) for number in row[-_REST_NUMBERS:]] for row in rows], dtype=np.float64
        ).reshape(-1, _REST_NUMBERS)
    except ValueError:
        raise rewritten(REST) from None
    columns: list[FloatArray] = [np.ascontiguousarray(column) for column in numbers.T]
    return Rest(counts=columns[0], standard_error=columns[1], km=columns[2], km_error=columns[3])


def _facts(universe: LinkUniverse) -> list[tuple[str, ...]]:
    """Returns the period, the zone with its name, and the class of each row."""
    groups = _groups(universe)
    return [(period, *group) for period in universe.periods.labels for group in groups]


def _groups(universe: LinkUniverse) -> list[tuple[str, str, str]]:
    return [(str(zone), universe.zones[zone], str(own)) for zone, own in class_zones(universe)]


def _rows(name: str, data: bytes) -> list[list[str]]:
    return csv_rows(name, data, most=LIST_BYTES)
