"""An id made of blanks is nobody's: it is treated like one that is missing."""

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hushway.engine.embedded import embedded_session
from hushway.engine.key import BoundingKey
from hushway.engine.reading import read_rows, read_stops
from hushway.engine.settings import EngineSettings
from hushway.families.links.rows.gpx import GpxTraces, read_gpx
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.check import check_trips
from hushway.families.od.rows.counter import EngineTrips
from hushway.families.od.rows.trips import TripColumns, TripsSource
from hushway.families.sequences.rows.sequences import SequenceColumns, SequencesSource
from hushway.privacy.bound import Unit
from hushway.privacy.query import Query
from hushway.tables.check import Policy
from hushway.tables.layout import layout_of
from hushway.tables.mds import read_mds_positions

TIME = "2026-03-02T08:30:00"
BLANKS = ("  ", "\t", "\u00a0", "\u3000 ")


def trips(path: Path, person: list[str | None]) -> TripsSource:
    several = len(person)
    columns = {
        "person": person,
        "origin": ["1"] * several,
        "destination": ["2"] * several,
        "time": [TIME] * several,
    }
    pq.write_table(pa.table(columns), path / "trips.parquet")
    return TripsSource(path=path / "trips.parquet", columns=TripColumns(person="person"))


def persons(source: Any) -> list[str | None]:
    with embedded_session(EngineSettings(threads=1)) as session:
        rows = read_rows(session, layout_of(source), source.clock)
        return list(rows.person.to_pyarrow().to_pylist())


def test_the_engine_calls_blank_what_python_calls_blank(tmp_path: Path) -> None:
    letters = [chr(code) for code in range(1, sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
    found = persons(trips(tmp_path, letters))
    assert set(letters) - set(found) == {letter for letter in letters if letter.isspace()}


def test_blanks_count_as_missing_when_rows_are_checked(tmp_path: Path, cells: ODCells) -> None:
    blank = trips(tmp_path, [*BLANKS, "", None, " p "])
    found = {
        each.kind: each for each in check_trips(blank, cells, Policy(null_value="refuse")).problems
    }
    assert found["null_value"].count == len(BLANKS) + 2
    assert found["null_value"].refused


def test_a_row_of_nobody_is_not_counted(tmp_path: Path, cells: ODCells, key: BoundingKey) -> None:
    counter = EngineTrips(
        source=trips(tmp_path, ["  ", "\t", " p ", "q"]),
        cells=cells,
        unit=Unit.PERSON,
        max_trips=2,
        key=key,
    )
    assert counter.count(Query(name="trips", cells=cells)).values.tolist() == [2]


def test_sequences_of_blanks_are_nobodys(tmp_path: Path) -> None:
    file = tmp_path / "sequences.csv"
    file.write_text("person,stops\n  ,1 2\np,1 2\n", encoding="utf-8")
    source = SequencesSource(path=file, columns=SequenceColumns(person="person"), separator=" ")
    with embedded_session(EngineSettings(threads=1)) as session:
        found = read_stops(session, layout_of(source), " ").person.to_pyarrow().to_pylist()
    assert sorted(found, key=str) == [None, None, "p", "p"]


def test_devices_of_blanks_are_nobodys(tmp_path: Path) -> None:
    point = '{"geometry": {"coordinates": [1, 2]}, "properties": {"timestamp": 1772440200000}}'
    trip = '{"trip_id": "t", %s "route": {"features": [' + point + "]}}"
    owners = ('"device_id": "  ",', '"device_id": " ", "vehicle_id": "v",', '"device_id": "d",')
    text = "[" + ", ".join(trip % owner for owner in owners) + "]"
    (tmp_path / "trips.json").write_text(text, encoding="utf-8")
    found = read_mds_positions(tmp_path / "trips.json")["person"].to_pylist()
    assert found == [None, "v", "d"]


def test_a_folder_of_blanks_is_nobodys(tmp_path: Path) -> None:
    text = '<gpx><trk><trkseg><trkpt lon="1" lat="2"/></trkseg></trk></gpx>'
    for folder in ("  ", "p"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.gpx").write_text(text, encoding="utf-8")
    assert read_gpx(GpxTraces(tmp_path))["person"].to_pylist() == [None, "p"]
