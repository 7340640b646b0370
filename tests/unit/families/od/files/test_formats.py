import csv
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import openmatrix
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.errors import GeographyError, ReleaseError
from hushway.families.od.files import rows as rows_module
from hushway.families.od.files.flows import flowmap_locations, flows_csv
from hushway.families.od.files.omx import fits_omx, matrix_names, write_omx
from hushway.families.od.files.rows import (
    batches_of,
    joined,
    read_parquet,
    trips_csv,
    write_rows,
)
from hushway.families.od.fit.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Location, Locations, PlaceLabels
from hushway.geography.service_day import DayPart, day_type
from hushway.release.formats.places import (
    location_columns,
    locations_csv,
    period_columns,
    periods_csv,
    read_locations,
    read_periods,
)

Write = Callable[[ODTable, Path], None]

AWKWARD = ("a,b", 'say "hi"', "two\nlines", "", "ünï", "plain", " spaced ", "NULL", "07")


def write_csv(table: ODTable, path: Path) -> None:
    path.write_bytes(b"".join(trips_csv(table.universe, batches_of(table))))


def write_flows(table: ODTable, path: Path) -> None:
    path.write_bytes(b"".join(flows_csv(table.universe, batches_of(table))))


def csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def awkward(table: ODTable) -> ODTable:
    places = tuple(
        Location(id=key, name=key, lon=i / 7, lat=-i / 3, zone=key) for i, key in enumerate(AWKWARD)
    )
    universe = ODCells(locations=Locations(places), periods=table.universe.periods)
    cells = np.arange(universe.size, dtype=np.int64)
    return ODTable(
        universe=universe,
        cells=cells,
        counts=cells % 5,
        standard_errors=cells / 3 + 0.1,
        threshold=None,
    )


@pytest.mark.parametrize("change", [lambda table: table, awkward], ids=["plain", "awkward"])
def test_a_table_survives_writing_and_reading(
    tmp_path: Path,
    table: ODTable,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[ODTable], ODTable],
) -> None:
    monkeypatch.setattr(rows_module, "BATCH_ROWS", 17)
    table = change(table)
    write_rows(table, tmp_path / "t.parquet")
    read = joined(read_parquet(tmp_path / "t.parquet", table.universe))
    for name in ("cells", "counts", "standard_errors"):
        np.testing.assert_array_equal(getattr(read, name), getattr(table, name))
    # Anybody's reader finds the same in the CSV file.
    write_csv(table, tmp_path / "t.csv")
    labels = pq.read_table(tmp_path / "t.parquet").to_pylist()
    for row, same in zip(csv_rows(tmp_path / "t.csv"), labels, strict=True):
        short = same | {"standard_error": round(same["standard_error"], 6)}
        assert {name: type(same[name])(text) for name, text in row.items()} == short


def test_a_sparse_table_keeps_its_rows(tmp_path: Path, sparse_table: ODTable) -> None:
    write_rows(sparse_table, tmp_path / "t.parquet")
    [part] = read_parquet(tmp_path / "t.parquet", sparse_table.universe)
    np.testing.assert_array_equal(part.cells, sparse_table.cells)


def test_an_empty_table_can_be_written(tmp_path: Path, table: ODTable) -> None:
    nothing = np.zeros(0, dtype=np.int64)
    empty = ODTable(
        universe=table.universe,
        cells=nothing,
        counts=nothing,
        standard_errors=np.zeros(0),
        threshold=9,
    )
    for name, write in (
        ("p", write_rows),
        ("c", write_csv),
        ("f", write_flows),
        ("o", write_omx),
    ):
        write(empty, tmp_path / name)
    assert list(read_parquet(tmp_path / "p", table.universe)) == []
    assert (tmp_path / "c").read_text() == (
        "period,origin,origin_name,destination,destination_name,count,standard_error,low,high\n"
    )
    with openmatrix.open_file(str(tmp_path / "o")) as file:
        assert [matrix[:].sum() for matrix in file] == [0, 0, 0, 0]


def test_columns_read_as_text_and_numbers(tmp_path: Path, table: ODTable) -> None:
    write_csv(table, tmp_path / "t.csv")
    first, second, *_ = csv_rows(tmp_path / "t.csv")
    assert first["period"] == "08:00-08:30"
    assert (second["origin"], second["destination"], second["count"]) == ("a", "c", "7")
    assert float(second["standard_error"]) == round(table.standard_errors[1], 6)
    write_rows(table, tmp_path / "t.parquet")
    row = pq.read_table(tmp_path / "t.parquet").slice(1, 1).to_pylist()[0]
    assert row == {
        "period": "08:00-08:30",
        "origin": "a",
        "origin_name": table.universe.locations.places[0].name,
        "destination": "c",
        "destination_name": table.universe.locations.places[2].name,
        "count": 7,
        "standard_error": float(table.standard_errors[1]),
        "low": 0.0,
        "high": round(7 + 1.96 * float(table.standard_errors[1]), 2),
    }


@pytest.mark.parametrize(("place", "words"), [("zz", "public lists"), ("a", "itself")])
def test_rows_that_are_no_public_cell_are_refused(
    tmp_path: Path, table: ODTable, place: str, words: str
) -> None:
    whole = pq.read_table(_parquet(tmp_path, table))
    places = pa.array([place, *whole["destination"].to_pylist()[1:]]).dictionary_encode()
    at = whole.schema.get_field_index("destination")
    other = whole.set_column(at, whole.schema.field(at), places)
    nameless = Locations(tuple(replace(one, name="") for one in table.universe.locations.places))
    other = other.drop(["origin_name", "destination_name"])
    pq.write_table(other, tmp_path / "x.parquet")
    with pytest.raises(ReleaseError, match=words):
        list(read_parquet(tmp_path / "x.parquet", replace(table.universe, locations=nameless)))


def test_a_name_of_another_place_is_refused(tmp_path: Path, table: ODTable) -> None:
    whole = pq.read_table(_parquet(tmp_path, table))
    at = whole.schema.get_field_index("origin_name")
    swapped = whole["destination_name"].combine_chunks()
    other = whole.set_column(at, whole.schema.field(at), swapped)
    pq.write_table(other, tmp_path / "x.parquet")
    with pytest.raises(ReleaseError, match="not that of its id"):
        list(read_parquet(tmp_path / "x.parquet", table.universe))


def test_other_columns_are_refused(tmp_path: Path, table: ODTable) -> None:
    pq.write_table(pq.read_table(_parquet(tmp_path, table)).drop(["count"]), tmp_path / "x.parquet")
    with pytest.raises(ReleaseError, match="columns"):
        list(read_parquet(tmp_path / "x.parquet", table.universe))


def test_fractional_counts_are_refused(tmp_path: Path, table: ODTable) -> None:
    whole = pq.read_table(_parquet(tmp_path, table))
    at = whole.schema.get_field_index("count")
    halves = whole.set_column(at, "count", whole.column("count").cast("float64"))
    pq.write_table(halves, tmp_path / "x.parquet")
    with pytest.raises(ReleaseError, match="kinds"):
        list(read_parquet(tmp_path / "x.parquet", table.universe))


def _parquet(folder: Path, table: ODTable) -> Path:
    write_rows(table, folder / "whole.parquet")
    return folder / "whole.parquet"


def test_a_flow_map_holds_the_flows_above_zero(tmp_path: Path, table: ODTable) -> None:
    days = replace(table.universe.periods, last_day=table.universe.periods.first_day)
    table = replace(table, universe=replace(table.universe, periods=days))
    write_flows(table, tmp_path / "flows.csv")
    lines = (tmp_path / "flows.csv").read_text().splitlines()
    assert lines[:2] == ["origin,dest,count,time", "a,c,7,2026-03-02 08:00"]
    rows = csv_rows(tmp_path / "flows.csv")
    assert [int(row["count"]) for row in rows] == table.counts[table.counts > 0].tolist()
    ids = table.universe.locations.ids
    _, origin, dest = table.universe.decode(table.cells[table.counts > 0])
    for row, start, end in zip(rows, origin.tolist(), dest.tolist(), strict=True):
        assert (row["origin"], row["dest"]) == (ids[start], ids[end])
    head, first, *_ = flowmap_locations(table.universe.locations).decode().splitlines()
    assert head == "id,name,lat,lon"
    assert first.endswith(",42.3,-83.7")


def weekly(table: ODTable, first_day: date, last_day: date) -> ODTable:
    periods = replace(table.universe.periods, first_day=first_day, last_day=last_day, cycle="week")
    universe = replace(table.universe, periods=periods)
    cells = np.arange(universe.size, dtype=np.int64)
    return replace(
        table,
        universe=universe,
        cells=cells,
        counts=cells % 5,
        standard_errors=np.ones(len(cells)),
    )


def test_a_flow_map_shows_the_weekdays_of_one_week_on_their_days(
    tmp_path: Path, table: ODTable
) -> None:
    week = weekly(table, date(2026, 3, 5), date(2026, 3, 11))
    write_flows(week, tmp_path / "flows.csv")
    rows = csv_rows(tmp_path / "flows.csv")
    times = dict.fromkeys(row["time"] for row in rows)
    days = [9, 10, 11, 5, 6, 7, 8]
    clocks = ["08:00", "08:30", "09:00", "09:30"]
    assert list(times) == [f"2026-03-{day:02d} {clock}" for day in days for clock in clocks]


@pytest.mark.parametrize("last_day", [date(2026, 3, 31), date(2026, 3, 6)])
def test_a_flow_of_several_days_pretends_no_day(
    tmp_path: Path, table: ODTable, last_day: date
) -> None:
    week = weekly(table, date(2026, 3, 5), last_day)
    write_flows(week, tmp_path / "flows.csv")
    rows = csv_rows(tmp_path / "flows.csv")
    assert "time" not in rows[0]
    assert list(dict.fromkeys(row["period"] for row in rows)) == list(week.universe.periods.labels)
    assert [int(row["count"]) for row in rows] == week.counts[week.counts > 0].tolist()


def test_tables_by_the_week_survive_writing_and_reading(tmp_path: Path, table: ODTable) -> None:
    week = weekly(table, date(2026, 3, 5), date(2026, 3, 31))
    write_rows(week, tmp_path / "t.parquet")
    [part] = read_parquet(tmp_path / "t.parquet", week.universe)
    np.testing.assert_array_equal(part.cells, week.cells)
    np.testing.assert_array_equal(part.counts, week.counts)


def test_matrices_hold_every_count(tmp_path: Path, table: ODTable) -> None:
    write_omx(table, tmp_path / "t.omx")
    with openmatrix.open_file(str(tmp_path / "t.omx")) as file:
        assert file.list_matrices() == ["t0800_0830", "t0830_0900", "t0900_0930", "t0930_1000"]
        assert file.shape() == (5, 5)
        assert file.mapping("location")[b"c"] == 2
        assert file.map_entries("row") == [1, 2, 3, 4, 5]
        _, origin, destination = table.universe.decode(table.cells[:20])
        first = file["t0800_0830"]
        np.testing.assert_array_equal(first[:][origin, destination], table.counts[:20])
        assert first[:].sum() == table.counts[:20].sum()
        assert first.attrs["period"] == "08:00-08:30"
        assert first.attrs["standard_error_max"] == table.standard_errors[19]
        assert first._get_obj_timestamps().ctime == 0


def test_matrices_of_a_sparse_table_hold_its_rows_and_zeros(
    tmp_path: Path, sparse_table: ODTable
) -> None:
    write_omx(sparse_table, tmp_path / "t.omx")
    with openmatrix.open_file(str(tmp_path / "t.omx")) as file:
        period, origin, destination = np.nonzero(np.stack([matrix[:] for matrix in file]))
    cells = sparse_table.universe.encode(period, origin, destination)
    np.testing.assert_array_equal(cells, sparse_table.cells)


@pytest.mark.parametrize("write", [write_rows, write_csv, write_flows, write_omx])
def test_the_same_table_gives_the_same_bytes(tmp_path: Path, table: ODTable, write: Write) -> None:
    write(table, tmp_path / "one")
    write(table, tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_matrices_over_many_places_are_left_out(
    table: ODTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fits_omx(table.universe)
    monkeypatch.setattr("hushway.families.od.files.omx.MOST_CELLS", 99)
    assert not fits_omx(table.universe)


def test_public_lists_survive_writing_and_reading(table: ODTable) -> None:
    for universe in (table.universe, awkward(table).universe):
        assert read_locations(locations_csv(universe.locations)) == universe.locations
        assert read_periods(periods_csv(universe.periods)) == universe.periods


def test_named_parts_of_day_types_survive_writing_and_reading(table: ODTable) -> None:
    periods = replace(
        table.universe.periods,
        opens=390,
        closes=1530,
        minutes=0,
        named=(
            DayPart(name="am peak", starts=390, ends=540),
            DayPart(name="late", starts=1320, ends=1530),
        ),
        cycle="day_type",
        day_types=(day_type("work", ["Mon", "Tue"]), day_type("rest", ["Sun", "holidays"])),
        holidays=(table.universe.periods.first_day,),
    )
    assert matrix_names(replace(table.universe, periods=periods))[::3] == (
        "t1_work_am_peak",
        "t4_rest_late",
    )
    data = periods_csv(periods)
    assert b"rest late,rest,Sun holidays,2026-03-02,late,22:00,01:30," in data
    assert read_periods(data) == periods
    changes = ((b",01:30,", b",01:00,"), (b"Sun holidays", b"Sun"), (b"2026-03-02,late", b",late"))
    for old, new in changes:
        with pytest.raises((ReleaseError, GeographyError)):
            read_periods(data.replace(old, new, 1))


def test_periods_of_the_week_survive_writing_and_reading(table: ODTable) -> None:
    periods = weekly(table, date(2026, 3, 5), date(2026, 3, 6)).universe.periods
    data = periods_csv(periods)
    header, first, *_, last = data.decode().splitlines()
    window = "2026-03-05,2026-03-06,America/Detroit"
    assert header == "period,weekday,starts,ends,starts_at,ends_at,first_day,last_day,time_zone"
    assert tuple(header.split(",")) == period_columns(periods)
    monday = "2026-03-09T08:00:00-04:00,2026-03-09T08:30:00-04:00"
    sunday = "2026-03-08T09:30:00-04:00,2026-03-08T10:00:00-04:00"
    assert first == f"Mon 08:00-08:30,Mon,08:00,08:30,{monday},{window}"
    assert last == f"Sun 09:30-10:00,Sun,09:30,10:00,{sunday},{window}"
    assert read_periods(data) == periods
    assert read_periods(data).digest == periods.digest
    for old, new in ((b"Sun", b"Sat"), (b"weekday", b"day"), (b",Mon,", b",")):
        with pytest.raises(ReleaseError, match=r"periods\.csv"):
            read_periods(data.replace(old, new, 1))


def test_further_columns_of_places_survive_writing_and_reading(table: ODTable) -> None:
    places = awkward(table).universe.locations.places
    labels = (
        PlaceLabels(column="county, or so", values=tuple(place.id for place in places)),
        PlaceLabels(column="Type", values=("",) * len(places)),
    )
    locations = Locations(places, labels)
    data = locations_csv(locations)
    assert location_columns(locations)[-2:] == ("county, or so", "Type")
    assert read_locations(data) == locations
    assert read_locations(data).digest == locations.digest
    assert read_locations(data.replace(b"NULL", b"none")).digest != locations.digest
    with pytest.raises(ReleaseError, match=r"places\.csv"):
        read_locations(data.replace(b"Type\n", b"Type,\n", 1))


def test_whole_degrees_keep_their_digest() -> None:
    locations = Locations((Location(id="a", name="a", lon=5, lat=-45.0, zone="z"),))
    assert read_locations(locations_csv(locations)).digest == locations.digest


def test_rewritten_lists_are_refused(table: ODTable) -> None:
    places = locations_csv(table.universe.locations)
    with pytest.raises(ReleaseError, match=r"places\.csv"):
        read_locations(places.replace(b"42.3,", b"42.30,", 1))
    with pytest.raises(ReleaseError, match=r"places\.csv"):
        read_locations(places.replace(b"lat", b"LAT", 1))
    periods = periods_csv(table.universe.periods)
    with pytest.raises(ReleaseError, match=r"periods\.csv"):
        read_periods(periods.replace(b"08:30-09:00", b"08:30-08:59", 1))
    with pytest.raises(ReleaseError, match=r"periods\.csv"):
        read_periods(periods.splitlines(keepends=True)[0])
