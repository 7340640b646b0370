"""What the files of trips look like is known before any row is read."""

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.errors import DataError
from hushway.families.od.rows.trips import TripColumns, TripsSource
from hushway.tables.header import Clock
from hushway.tables.layout import layout_of
from hushway.tables.row_files import find_files

HEADER = "person,origin,destination,time\n"
PRIVATE = "rider-private-007"


def source(path: Path | str, *, clock: Clock = "local", **changes: Any) -> TripsSource:
    return TripsSource(path, columns=TripColumns(**{"person": "person", **changes}), clock=clock)


def parquet(file: Path, **types: pa.DataType) -> Path:
    kinds = {
        "person": pa.int64(),
        "origin": pa.string(),
        "destination": pa.string(),
        "time": pa.timestamp("us"),
        **types,
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.schema(list(kinds.items())).empty_table(), file)
    return file


def refusal(wrong: TripsSource) -> str:
    with pytest.raises(DataError) as caught:
        layout_of(wrong)
    error = caught.value
    assert error.advice
    assert PRIVATE not in f"{error}{error.advice}{error.__cause__}{error.__context__}"
    return str(error)


def test_a_csv_file_is_text_throughout(tmp_path: Path) -> None:
    file = tmp_path / "trips.csv"
    file.write_text("x;time;destination;origin;person\n", encoding="utf-8")
    layout = layout_of(source(file))
    assert (layout.delimiter, layout.width) == (";", 5)
    assert layout.places == {"person": 4, "origin": 3, "destination": 2, "time": 1}
    assert set(layout.kinds.values()) == {"text"}


def test_parquet_types_are_told_apart(tmp_path: Path) -> None:
    file = parquet(
        tmp_path / "t.parquet",
        person=pa.dictionary(pa.int32(), pa.string()),
        origin=pa.int16(),
        destination=pa.uint64(),
        time=pa.timestamp("ns", tz="Europe/Paris"),
    )
    kinds = layout_of(source(file, clock="utc")).kinds
    assert kinds == {
        "person": "text",
        "origin": "integer",
        "destination": "text",
        "time": "zoned time",
    }


def test_one_column_cannot_serve_two_purposes() -> None:
    with pytest.raises(DataError, match="'stop' is named for two purposes"):
        TripColumns(origin="stop", destination="stop")


def test_a_missing_column_is_named_with_its_purpose_and_nothing_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "trips.csv"
    file.write_text(f"{PRIVATE},a,b,2026-03-02T08:00:00\n", encoding="utf-8")
    message = refusal(source(file))
    assert "'person' (person)" in message
    assert "'time' (time)" in message
    assert "'rider' (person)" in refusal(source(parquet(tmp_path / "t.parquet"), person="rider"))


def test_columns_that_differ_in_capitals_only_are_refused(tmp_path: Path) -> None:
    assert "named alike" in refusal(source(parquet(tmp_path / "t.parquet", Person=pa.int64())))


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.bool_(), pa.decimal128(9, 2)])
@pytest.mark.parametrize("role", ["person", "origin", "destination"])
def test_ids_that_are_no_integers_and_no_text_are_refused(
    tmp_path: Path, role: str, kind: pa.DataType
) -> None:
    message = refusal(source(parquet(tmp_path / "t.parquet", **{role: kind})))
    assert f"'{role}'" in message
    assert "neither integers nor text" in message


@pytest.mark.parametrize("kind", [pa.bool_(), pa.date32(), pa.float64()])
def test_times_that_are_no_timestamps_and_no_text_are_refused(
    tmp_path: Path, kind: pa.DataType
) -> None:
    assert "neither timestamps nor text" in refusal(
        source(parquet(tmp_path / "t.parquet", time=kind))
    )


def test_a_wall_clock_has_no_time_zone(tmp_path: Path) -> None:
    file = parquet(tmp_path / "t.parquet", time=pa.timestamp("us", tz="UTC"))
    assert "carries a time zone" in refusal(source(file))


def test_files_of_different_types_are_not_put_together(tmp_path: Path) -> None:
    # 7 and "07" would become one person, who would then share one limit with somebody else.
    parquet(tmp_path / "1.parquet", person=pa.int64())
    parquet(tmp_path / "2.parquet", person=pa.string())
    assert "not of the same type" in refusal(source(tmp_path))


def test_csv_files_must_agree_in_their_first_line(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text(HEADER, encoding="utf-8")
    (tmp_path / "2.csv").write_text("person,destination,origin,time\n", encoding="utf-8")
    assert "same first line" in refusal(source(tmp_path))


@pytest.mark.parametrize("text", ["", "\n", "\ufeff"])
def test_an_empty_csv_file_is_called_empty(tmp_path: Path, text: str) -> None:
    (tmp_path / "trips.csv").write_text(text, encoding="utf-8")
    assert "empty" in refusal(source(tmp_path / "trips.csv"))


@pytest.mark.parametrize("name", ["t.parquet", "t.csv.gz"])
def test_a_damaged_file_is_refused_without_a_word_of_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(f"PAR1{PRIVATE}".encode() * 20)
    assert "cannot be read" in refusal(source(tmp_path / name))


def test_a_header_that_is_not_utf8_or_does_not_end_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(f"{PRIVATE}é,x\n".encode("latin-1"))
    assert "not UTF-8" in refusal(source(file))
    assert "not UTF-16" in refusal(replace(source(file), encoding="utf-16"))
    file.write_bytes(f"{PRIVATE}é,x\n".encode())
    assert "not WINDOWS-1252" in refusal(replace(source(file), encoding="windows-1252"))
    file.write_text(f'"{PRIVATE}', encoding="utf-8")
    assert "cannot be read" in refusal(source(file))
    file.write_text(PRIVATE * 100_000, encoding="utf-8")
    assert "cannot be read" in refusal(source(file))


def test_a_folder_is_searched_with_its_subfolders_but_not_for_notes(tmp_path: Path) -> None:
    wanted = [parquet(tmp_path / "b/2.parquet"), parquet(tmp_path / "a=1/1.pq")]
    parquet(tmp_path / "_temporary/3.parquet")
    parquet(tmp_path / ".hidden.parquet")
    (tmp_path / "_SUCCESS").touch()
    found = find_files(tmp_path)
    assert found.format == "parquet"
    assert found.paths == tuple(sorted(wanted))


def test_a_glob_finds_files_and_a_real_name_wins_over_a_glob(tmp_path: Path) -> None:
    odd = parquet(tmp_path / "trips[1].parquet")
    plain = parquet(tmp_path / "trips1.parquet")
    assert find_files(odd).paths == (odd,)
    assert find_files(tmp_path / "trips?.parquet").paths == (plain,)
    assert find_files(str(tmp_path / "**/*.parquet")).paths == tuple(sorted([odd, plain]))


def test_nothing_and_a_mixture_are_refused(tmp_path: Path) -> None:
    assert "no trips" in refusal(source(tmp_path))
    assert "no trips" in refusal(source(tmp_path / "gone.csv"))
    assert "no trips" in refusal(source(tmp_path / "*.csv"))
    parquet(tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text(HEADER, encoding="utf-8")
    assert "neither all CSV nor all Parquet" in refusal(source(tmp_path))
    (tmp_path / "t.xlsx").touch()
    assert "neither all CSV nor all Parquet" in refusal(source(tmp_path / "t.xlsx"))


def test_a_gzipped_csv_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(HEADER.encode()))
    assert layout_of(source(tmp_path / "t.csv.gz")).width == 4
