"""Entries as TIDES wants them: columns, sums, days, and that a verifier compares them."""

import csv
import io
import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from hushway.errors import ReleaseError
from hushway.families.od.files.names import PARQUET, TIDES
from hushway.families.od.files.published import FILES
from hushway.families.od.files.rows import batches_of
from hushway.families.od.files.tides import (
    RIDERSHIP_COLUMNS,
    activities,
    entries_csv,
    has_entries,
    has_ridership,
    ridership_csv,
    tides_package,
)
from hushway.families.od.files.view import ReadView, facts_of_rows, view_of
from hushway.families.od.fit.table import ODTable
from hushway.geography.locations import (
    NOT_KNOWN,
    TAP_LABELS,
    PlaceLabels,
    journey_at,
    line_at,
    transfer_at,
)

# The fields of the standard's table (version 1.0) that must have a value, with their types.
REQUIRED = {
    "service_date": date.fromisoformat,
    "stop_id": str,
    "time_period_start": np.datetime64,
    "time_period_end": np.datetime64,
}
COUNTS = (
    *("total_entries", "total_exits", "number_of_transactions", "bike_entries", "bike_exits"),
    *("ramp_entries", "ramp_exits"),
)


# Of the places that taps add.
KINDS = ((NOT_KNOWN, "transfer"), ("10", "ride"), (NOT_KNOWN, "journey"))


def daily(table: ODTable) -> ODTable:
    """The table as if every day of a window of two were counted by itself."""
    first = table.universe.periods.first_day
    periods = replace(
        table.universe.periods,
        last_day=first.replace(day=first.day + 1),
        cycle="window",
        opens=1380,
        closes=1500,
        minutes=60,
    )
    universe = replace(table.universe, periods=periods)
    cells = np.arange(universe.size, dtype=np.int64)
    return replace(
        table,
        universe=universe,
        cells=cells,
        counts=cells % 5,
        standard_errors=np.ones(len(cells)),
    )


def test_entries_are_the_sums_of_rows_by_stop_and_period(table: ODTable) -> None:
    days = daily(table)
    universe = days.universe
    text = b"".join(entries_csv(universe, batches_of(days))).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert tuple(rows[0]) == activities(universe).names
    assert set(rows[0]) == {*REQUIRED, "time_period_category", *COUNTS}
    assert len(rows) == len(universe.periods) * len(universe.locations)
    for row in rows:
        assert all(read(row[name]) for name, read in REQUIRED.items())
        assert all(row[name] == "" for name in COUNTS[1:])
    period, origin, _ = universe.decode(days.cells)
    for i, row in enumerate(rows):
        own = (period == i // len(universe.locations)) & (origin == i % len(universe.locations))
        assert int(row["total_entries"]) == days.counts[own].sum()


def test_a_period_after_midnight_keeps_its_service_date(table: ODTable) -> None:
    days = daily(table)
    universe = days.universe
    text = b"".join(entries_csv(universe, batches_of(days))).decode()
    late = list(csv.DictReader(io.StringIO(text)))[len(universe.locations)]
    first = universe.periods.first_day
    assert late["service_date"] == first.isoformat()
    assert late["time_period_start"] == f"{first.replace(day=first.day + 1)}T00:00:00"


def test_only_tables_of_single_days_have_entries(table: ODTable) -> None:
    days = daily(table)
    assert has_entries(view_of(days))
    together = replace(days.universe, periods=replace(days.universe.periods, cycle="day"))
    kept = days.cells < together.size
    merged = replace(
        days,
        universe=together,
        cells=days.cells[kept],
        counts=days.counts[kept],
        standard_errors=days.standard_errors[kept],
    )
    assert not has_entries(view_of(merged))
    assert not has_entries(view_of(replace(days, threshold=3)))


def test_the_package_names_its_table(table: ODTable) -> None:
    facts = json.loads(tides_package(table.universe))
    assert {"title", "profile", "resources"} <= facts.keys()
    (resource,) = facts["resources"]
    assert {"name", "path", "schema", "profile"} <= resource.keys()
    assert resource["tides-table"] == "station_activities"


def test_entries_that_are_not_the_sums_of_rows_are_found(tmp_path: Path, table: ODTable) -> None:
    days = daily(table)
    (tmp_path / "tides").mkdir()
    files = {file.path: file for file in FILES}
    for name in (PARQUET, TIDES):
        files[name].written(view_of(days), tmp_path / name)
    read = ReadView(
        universe=days.universe,
        threshold=None,
        zeros_left_out=False,
        rows=facts_of_rows(batches_of(days)),
        folder=tmp_path,
    )
    check = files[TIDES].checked
    check(read, tmp_path / TIDES)
    first = b"".join((tmp_path / TIDES).read_bytes().splitlines(keepends=True)[:2])
    rest = (tmp_path / TIDES).read_bytes().removeprefix(first)
    changed = first.removesuffix(b",,,,,,\n") + b"9,,,,,,\n"
    (tmp_path / TIDES).write_bytes(changed + rest)
    with pytest.raises(ReleaseError, match=TIDES):
        check(read, tmp_path / TIDES)


def test_rides_of_taps_are_written_as_gtfs_ride_has_them(table: ODTable) -> None:
    """Transfers and lines count at their stop, and nobody gets off at one that is not known."""
    days = daily(table)
    places = days.universe.locations.places
    stop = places[0].id
    ends = (NOT_KNOWN, transfer_at(stop), line_at("10", stop), journey_at(stop))
    added = tuple(replace(places[0], id=key, name=key) for key in ends)
    told = [(place.id, NOT_KNOWN, "ride") for place in places]
    told += [(NOT_KNOWN,) * 3, *((stop, line, kind) for line, kind in KINDS)]
    labels = tuple(
        PlaceLabels(column=column, values=values)
        for column, values in zip(TAP_LABELS, zip(*told, strict=True), strict=True)
    )
    locations = replace(days.universe.locations, places=(*places, *added), labels=labels)
    universe = replace(days.universe, locations=locations)
    cells = np.arange(universe.size, dtype=np.int64)
    taps = replace(days, universe=universe, cells=cells, counts=cells % 5)
    taps = replace(taps, standard_errors=np.ones(len(cells)))
    assert has_ridership(view_of(taps))
    assert not has_ridership(view_of(days))
    text = b"".join(ridership_csv(universe, batches_of(taps))).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert tuple(rows[0]) == RIDERSHIP_COLUMNS.names
    assert len(rows) == len(universe.periods) * (len(places) + 3)
    period, origin, destination = universe.decode(cells)
    unknown, change, line, journey = len(places) + np.arange(4)
    of = {(row["stop_id"], row["route_id"]): row for row in rows[: len(places) + 3]}
    rides = set(range(len(places))) | {change, line}
    expected = {("", ""): rides, (stop, ""): {0, change, line}, ("", "10"): {line}}
    for key, ends_there in (expected | {(stop, "10"): {line}}).items():
        for name, end in (("total_boardings", origin), ("total_alightings", destination)):
            begun = {unknown} if key == ("", "") and end is origin else set()
            own = (period == 0) & np.isin(end, [*ends_there, *begun])
            assert int(of[key][name]) == taps.counts[own].sum()
    assert journey not in rides
    activity = next(
        csv.DictReader(io.StringIO(b"".join(entries_csv(universe, batches_of(taps))).decode()))
    )
    assert activity["total_exits"] == of[stop, ""]["total_alightings"]
    row = of[stop, ""]
    assert (row["ridership_start_time"], row["ridership_end_time"]) == ("23:00:00", "24:00:00")
    assert row["ridership_start_date"] == f"{universe.periods.first_day:%Y%m%d}"
