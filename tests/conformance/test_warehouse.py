"""Rows of a warehouse count as rows of files do, whoever brings or counts them."""

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import ibis
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.engine.ranks import RankSteps
from hushway.engine.warehouse.remote import Remote, rows_between
from hushway.engine.warehouse.session import WarehouseSession
from hushway.errors import DataError
from hushway.families.od.rows.check import check_trips
from hushway.families.od.rows.counter import TripPart
from hushway.families.od.rows.trips import TripColumns, TripsSource, id_kinds_of
from hushway.privacy.bound import Unit
from hushway.tables.check import Policy
from hushway.tables.layout import layout_of_table
from support.conformance.engines import HERE
from support.conformance.od import (
    KEY,
    by_hand,
    counted_by_hand,
    counts_of,
    odd_trips,
    random_trips,
    table_of,
    town,
)
from support.warehouses import Holding, clickhouse, duckdb_file, run_sql

_MONTH_US = 30 * 86_400_000_000
SOURCE = TripsSource("table:trips", TripColumns(person="person"))
WITH_IDS = TripsSource("table:trips", TripColumns(person="person", trip_id="trip"))


@pytest.fixture
def brought_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Remote, "counted", lambda *_: None)


@pytest.fixture
def counted_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        pytest.fail("rows were brought")

    monkeypatch.setattr(Remote, "give", refuse)


def in_file(folder: Path, table: pa.Table, source: TripsSource) -> TripsSource:
    pq.write_table(table, folder / "trips.parquet")
    return replace(source, path=folder / "trips.parquet")


@pytest.mark.parametrize("way", ["brought_only", "counted_inside"])
def test_postgresql_counts_alike_inside_and_brought(
    postgresql: Holding, tmp_path: Path, request: pytest.FixtureRequest, way: str
) -> None:
    request.getfixturevalue(way)
    cells = town(4, include_intrazonal=False)
    table = odd_trips(cells)
    postgresql.write("trips", table)
    expected = counts_of(in_file(tmp_path, table, WITH_IDS), cells, HERE)
    assert counts_of(WITH_IDS, cells, postgresql.settings) == expected


@pytest.mark.usefixtures("brought_only")
@pytest.mark.parametrize("clock", ["local", "utc"])
def test_only_rows_around_the_window_travel(
    postgresql: Holding, monkeypatch: pytest.MonkeyPatch, clock: Any
) -> None:
    cells = town(4)
    trips = random_trips(cells, seed=7, size=300, step_us=1)
    near = table_of(trips, cells, text=True, clock=clock)
    times = (trips.us + shift for shift in (-_MONTH_US, _MONTH_US))
    far = [table_of(replace(trips, us=us), cells, text=True, clock=clock) for us in times]
    postgresql.write("trips", pa.concat_tables([near, *far]))
    travelled: list[int] = []
    give_more = WarehouseSession.give_more

    def watched(session: WarehouseSession, batch: pa.RecordBatch) -> None:
        travelled.append(len(batch))
        give_more(session, batch)

    monkeypatch.setattr(WarehouseSession, "give_more", watched)
    found = counts_of(replace(SOURCE, clock=clock), cells, postgresql.settings)
    assert found == counted_by_hand(trips.rows, cells, KEY, 4, clock)
    assert sum(travelled) == len(near)
    # Whoever checks rows wants to see all of them.
    travelled.clear()
    check_trips(replace(SOURCE, clock=clock), cells, Policy(), settings=postgresql.settings)
    assert sum(travelled) == 3 * len(near)


def test_a_copy_that_can_only_be_read_gives_its_rows(postgresql: Holding) -> None:
    cells = town(4, include_intrazonal=False)
    trips = random_trips(cells, seed=7, size=300, step_us=1)
    postgresql.write("trips", table_of(trips, cells, text=True))
    reader = replace(postgresql, url=f"{postgresql.url}%20-cdefault_transaction_read_only%3Don")
    assert counts_of(SOURCE, cells, reader.settings) == by_hand(trips, cells, KEY, 4)


def test_nothing_is_left_in_a_warehouse_that_counted(postgresql: Holding) -> None:
    cells = town(4, include_intrazonal=False)
    trips = random_trips(cells, seed=7, size=300, step_us=1)
    postgresql.write("trips", table_of(trips, cells, text=True))
    assert counts_of(SOURCE, cells, postgresql.settings)
    query = "SELECT relname FROM pg_class WHERE relname LIKE 'hushway_%'"
    deadline = time.monotonic() + 60
    with psycopg.connect(postgresql.url) as connection:
        # The server tidies up when it notices that nobody is connected any more.
        while connection.execute(query).fetchall() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert connection.execute(query).fetchall() == []


@pytest.mark.usefixtures("counted_inside")
def test_cells_beyond_32_bits_are_counted_inside(postgresql: Holding) -> None:
    cells = town(3_000, include_intrazonal=False, minutes=2)
    assert cells.size > 2**32
    trips = random_trips(cells, seed=5, size=800, step_us=1)
    postgresql.write("trips", table_of(trips, cells, text=True))
    assert counts_of(SOURCE, cells, postgresql.settings) == by_hand(trips, cells, KEY, 4)


@pytest.mark.parametrize("way", ["brought_only", "counted_inside"])
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kathmandu"])
def test_the_zone_of_a_session_does_not_matter(
    postgresql: Holding, tmp_path: Path, request: pytest.FixtureRequest, way: str, zone: str
) -> None:
    request.getfixturevalue(way)
    cells = town(4, include_intrazonal=False)
    trips = random_trips(cells, seed=7, size=900, step_us=1_000)
    table = table_of(trips, cells, text=True)
    instants = table.set_column(3, "time", table["time"].cast(pa.timestamp("us", tz="UTC")))
    source = replace(SOURCE, clock="utc")
    for rows, asked in ((table, SOURCE), (instants, source)):
        run_sql(postgresql.url, "DROP TABLE IF EXISTS trips")
        postgresql.write("trips", rows)
        expected = counts_of(in_file(tmp_path, rows, asked), cells, HERE)
        there = replace(
            postgresql, url=f"{postgresql.url}%20-ctimezone%3D{zone.replace('/', '%2F')}"
        )
        assert counts_of(asked, cells, there.settings) == expected


def test_times_without_a_zone_are_instants_where_clickhouse_is_not_in_utc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = town(4, include_intrazonal=False)
    table = table_of(random_trips(cells, seed=7, size=300, step_us=1), cells, text=True)
    instants = table.set_column(3, "time", table["time"].cast(pa.timestamp("us", tz="UTC")))
    with clickhouse(monkeypatch, "America/New_York") as holding:
        holding.write("trips", table)
        with pytest.raises(DataError, match="carries a time zone"):
            counts_of(SOURCE, cells, holding.settings)
        asked = replace(SOURCE, clock="utc")
        expected = counts_of(in_file(tmp_path, instants, asked), cells, HERE)
        assert expected
        assert counts_of(asked, cells, holding.settings) == expected


@pytest.mark.parametrize("way", ["brought_only", "counted_inside"])
def test_times_without_end_are_outside_of_the_window(
    postgresql: Holding, request: pytest.FixtureRequest, way: str
) -> None:
    cells = town(4, include_intrazonal=False)
    trips = random_trips(cells, seed=7, size=300, step_us=1)
    postgresql.write("trips", table_of(trips, cells, text=True))
    checked = check_trips(SOURCE, cells, Policy(), settings=postgresql.settings)
    endless = ("infinity", "-infinity", "0044-03-15 12:00:00 BC", "20000-01-01")
    run_sql(
        postgresql.url,
        *(
            f"INSERT INTO trips VALUES ('caesar', '100', '101', '{time}')"  # noqa: S608
            for time in endless
        ),
    )
    more = check_trips(SOURCE, cells, Policy(), settings=postgresql.settings)
    assert outside(more) == outside(checked) + len(endless)
    request.getfixturevalue(way)
    expected = by_hand(trips, cells, KEY, 4)
    assert counts_of(SOURCE, cells, postgresql.settings) == expected


def outside(checked: Any) -> int:
    return next(int(p.count) for p in checked.problems if p.kind == "outside_window")


@pytest.mark.parametrize(
    "column", ["character(8)", "text COLLATE any_case", 'text COLLATE "C"', "text", "varchar(9)"]
)
def test_people_whom_postgresql_may_take_for_one_are_told_apart(
    postgresql: Holding, column: str
) -> None:
    cells, people, hours = town(4, include_intrazonal=False), ("anna", "Anna", "ANNA"), range(1, 5)
    run_sql(
        postgresql.url,
        "CREATE COLLATION any_case "
        "(provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        f"CREATE TABLE trips (person {column}, origin int, destination int, time timestamp)",
        *(
            f"INSERT INTO trips VALUES ('{person}', 100, 101, '2026-03-28 0{hour}:00')"  # noqa: S608
            for person in people
            for hour in hours
        ),
    )
    assert sum(counts_of(SOURCE, cells, postgresql.settings, most=1).values()) == len(people)


def test_people_whom_duckdb_may_take_for_one_are_told_apart(tmp_path: Path) -> None:
    holding, cells = duckdb_file(tmp_path), town(4, include_intrazonal=False)
    with duckdb.connect(holding.url.removeprefix("duckdb://")) as connection:
        connection.execute(
            "CREATE TABLE trips (person VARCHAR COLLATE NOCASE, origin INT, destination INT, "
            "time TIMESTAMP)"
        )
        connection.execute(
            "INSERT INTO trips SELECT person, 100, 101, '2026-03-28 01:00'::TIMESTAMP "
            "FROM unnest(['anna', 'Anna', 'ANNA', 'anna']) AS t(person)"
        )
    assert sum(counts_of(SOURCE, cells, holding.settings, most=1).values()) == 3


class Memory:
    """Takes public tables into whatever engine runs an expression."""

    def load(self, _name: str, table: pa.Table) -> ibis.Table:
        return ibis.memtable(table)


@pytest.mark.parametrize("engine", ["duckdb", "datafusion"])
@pytest.mark.parametrize("text", [False, True])
def test_other_engines_give_the_same_by_the_same_expressions(engine: str, text: bool) -> None:
    pytest.importorskip(engine)
    cells = town(4, include_intrazonal=False)
    trips = random_trips(cells, seed=11, size=1_500, step_us=60_000_000)
    table = table_of(trips, cells, text=text)
    layout = layout_of_table("trips", table.schema, SOURCE)
    part = TripPart(
        cells=cells,
        clock="local",
        id_kinds=id_kinds_of(SOURCE, layout),
        unit=Unit.PERSON,
        steps=RankSteps((4,)),
        key=KEY,
    )
    counts = part.counted_between(Memory(), rows_between(ibis.memtable(table), layout))
    found = getattr(ibis, engine).connect().to_pyarrow(counts)
    counted: Counter[int] = Counter()
    for ranked, count in zip(*(found[c].to_pylist() for c in ("cell", "trips")), strict=True):
        counted[ranked % cells.size] += count
    assert counted == by_hand(trips, cells, KEY, 4)
