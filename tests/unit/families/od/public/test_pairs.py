"""The public table of pairs: what is read, and one clear error for everything else."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.errors import GeographyError
from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.families.od.public.pairs import read_pairs
from hushway.geography.locations import Location, Locations

HEADER = "origin,destination,mode\n"
ROWS = "a,b,bus\nb,a,tram\na,7,bus\n7,b,walk\n"
MATRIX = [[-1, 0, 0], [1, -1, -1], [-1, 2, -1]]
NAMES = ("bus", "tram", "walk")


def places(*ids: str) -> Locations:
    return Locations(tuple(Location(id=key, name="", lon=0.0, lat=0.0, zone="") for key in ids))


def write(folder: Path, text: str | bytes, name: str = "pairs.csv") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def parquet(folder: Path, columns: dict[str, Any], **options: Any) -> Path:
    file = folder / "pairs.parquet"
    pq.write_table(pa.table(columns), file, **options)
    return file


def columns() -> dict[str, Any]:
    return {
        "origin": ["a", "b", "a", "7"],
        "destination": ["b", "a", "7", "b"],
        "mode": ["bus", "tram", "bus", "walk"],
    }


def refusal(file: Path, **names: str) -> str:
    with pytest.raises(GeographyError) as caught:
        read_pairs(file, places("a", "b", "7"), **({"column": "mode"} | names))
    assert caught.value.advice
    return str(caught.value)


def assert_read(file: Path, **names: str) -> None:
    labels = read_pairs(file, places("a", "b", "7"), **({"column": "mode"} | names))
    assert labels.matrix.tolist() == MATRIX
    assert labels.matrix.dtype == np.int32
    assert labels.names == NAMES


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_csv_file_is_read_with_any_common_delimiter(tmp_path: Path, delimiter: str) -> None:
    assert_read(write(tmp_path, (HEADER + ROWS).replace(",", delimiter)))


def test_quotes_a_byte_order_mark_windows_lines_blank_lines_and_gzip_do_not_matter(
    tmp_path: Path,
) -> None:
    quoted = "\n".join(
        ",".join(f'"{value}"' for value in line.split(",")) for line in (HEADER + ROWS).split()
    )
    text = ("\ufeff" + quoted + "\n\n").replace("\n", "\r\n").encode()
    assert_read(write(tmp_path, text))
    assert_read(write(tmp_path, gzip.compress(text), "pairs.csv.gz"))


def test_a_parquet_file_is_read(tmp_path: Path) -> None:
    assert_read(parquet(tmp_path, columns()))
    assert_read(parquet(tmp_path, columns(), row_group_size=1))
    large = {name: pa.array(values, pa.large_string()) for name, values in columns().items()}
    assert_read(parquet(tmp_path, large))
    numbered = {n: pa.array(values).dictionary_encode() for n, values in columns().items()}
    assert_read(parquet(tmp_path, numbered))


def test_whole_numbers_are_ids_and_labels_as_they_are_written(tmp_path: Path) -> None:
    file = parquet(tmp_path, {"origin": [1, 20], "destination": [20, 1], "mode": [7, -7]})
    labels = read_pairs(file, places("1", "20"), column="mode")
    assert labels.matrix.tolist() == [[-1, 1], [0, -1]]
    assert labels.names == ("-7", "7")


def test_labels_of_a_parquet_file_that_no_row_uses_do_not_count(tmp_path: Path) -> None:
    unused = pa.DictionaryArray.from_arrays(
        pa.array([1, 2, 1, 3], pa.int32()), ["", "bus", "tram", "walk", "never"]
    )
    ids = pa.DictionaryArray.from_arrays(
        pa.array([1, 2, 1, 3], pa.int32()), ["nowhere", "a", "b", "7"]
    )
    assert_read(parquet(tmp_path, columns() | {"origin": ids, "mode": unused}))


def test_columns_are_mapped_and_others_ignored(tmp_path: Path) -> None:
    text = "x,class,to,from\n" + "".join(
        f"1.5,{mode},{end},{start}\n"
        for start, end, mode in (row.split(",") for row in ROWS.split())
    )
    assert_read(write(tmp_path, text), origin="from", destination="to", column="class")


def test_a_pair_may_be_there_twice_with_the_same_label(tmp_path: Path) -> None:
    assert_read(write(tmp_path, HEADER + ROWS + ROWS))


def test_words_that_other_readers_take_for_missing_are_labels(tmp_path: Path) -> None:
    file = write(tmp_path, HEADER + "a,b,NULL\nb,a,NA\n")
    assert read_pairs(file, places("a", "b"), column="mode").names == ("NA", "NULL")


def test_the_modes_of_the_demo_are_read(tmp_path: Path) -> None:
    city = ann_arbor(seed=1)
    city.write(tmp_path)
    labels = read_pairs(tmp_path / "modes.csv", city.cells.locations, column="mode")
    apart = ~np.eye(len(city.cells.locations), dtype=np.bool_)
    named = np.array([*labels.names, ""])[labels.matrix]
    expected = np.array([*city.modes, ""])[np.where(apart, city.mode_of, -1)]
    assert named.tolist() == expected.tolist()


def test_a_pair_with_two_labels_is_named(tmp_path: Path) -> None:
    message = refusal(write(tmp_path, HEADER + ROWS + "b,a,bus\na,b,walk\nb,a,walk\n"))
    assert "more than one mode: 'a' to 'b', 'b' to 'a'." in message


def test_unknown_places_are_named(tmp_path: Path) -> None:
    message = refusal(write(tmp_path, HEADER + ROWS + "a,zz,bus\na,yy,bus\n"))
    assert "'destination'" in message
    assert "'zz', 'yy'." in message
    assert "'07'" in refusal(write(tmp_path, HEADER + "07,a,bus\n"))
    many = "".join(f"q{i},a,bus\n" for i in range(8))
    assert "'q4' and 3 more" in refusal(write(tmp_path, HEADER + many))
    assert "''" in refusal(parquet(tmp_path, columns() | {"origin": ["a", None, "a", "7"]}))


def test_rows_without_a_label_are_named(tmp_path: Path) -> None:
    assert "no mode: row 2, row 5." in refusal(
        write(tmp_path, HEADER + "a,b,bus\nb,a,\na,7,bus\n7,b,walk\n7,a,\n")
    )
    holes = parquet(tmp_path, columns() | {"mode": ["bus", None, "bus", ""]})
    assert "no mode: row 2, row 4." in refusal(holes)
    many = parquet(tmp_path, columns() | {"mode": pa.array([None] * 4, pa.string())})
    assert "no mode: row 1, row 2, row 3, row 4." in refusal(many)
    bare = "".join(f"{o},{d},\n" for o in "ab7" for d in "ab7")
    assert "row 5 and 4 more" in refusal(write(tmp_path, HEADER + bare))


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    file = write(tmp_path, HEADER + ROWS)
    assert "no column 'corridor'" in refusal(file, column="corridor")
    assert "no column 'from'" in refusal(file, origin="from")
    assert "no column 'x', 'y'" in refusal(
        parquet(tmp_path, columns()), destination="x", column="y"
    )


def test_two_columns_of_one_name_and_two_purposes_of_one_column_are_refused(
    tmp_path: Path,
) -> None:
    twice = write(tmp_path, "origin,destination,mode,mode\na,b,bus,bus\n")
    assert "two columns 'mode'" in refusal(twice)
    assert "two purposes" in refusal(write(tmp_path, HEADER + ROWS), origin="destination")


@pytest.mark.parametrize("text", [HEADER, HEADER + "\n"])
def test_an_empty_table_is_called_empty(tmp_path: Path, text: str) -> None:
    assert "empty" in refusal(write(tmp_path, text))
    nothing = {name: pa.array([], pa.string()) for name in columns()}
    assert "empty" in refusal(parquet(tmp_path, nothing))


@pytest.mark.parametrize("text", ["", "\n"])
def test_a_file_without_a_header_has_no_columns(tmp_path: Path, text: str) -> None:
    assert "no column 'origin', 'destination', 'mode'" in refusal(write(tmp_path, text))


@pytest.mark.parametrize("kind", [pa.float64(), pa.binary(), pa.bool_()])
def test_columns_that_hold_neither_text_nor_whole_numbers_are_refused(
    tmp_path: Path, kind: pa.DataType
) -> None:
    file = parquet(tmp_path, columns() | {"mode": pa.nulls(4, kind)})
    assert "'mode' of pairs.parquet holds neither text nor whole numbers" in refusal(file)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (HEADER + "a,b\n", "pairs.csv"),
        (HEADER + "a,b,bus,9\n", "pairs.csv"),
        ('"origin,destination\n', "pairs.csv"),
        ((HEADER + "a,b,Zürich\n").encode("latin-1"), "pairs.csv"),
        (gzip.compress((HEADER + ROWS).encode(), mtime=0)[:-12], "pairs.csv.gz"),
        (b"PAR1 no more", "pairs.parquet"),
    ],
)
def test_a_damaged_file_cannot_be_read(tmp_path: Path, text: str | bytes, name: str) -> None:
    assert f"{name} cannot be read" in refusal(write(tmp_path, text, name))


def test_a_file_that_is_not_there_or_of_another_format_is_refused(tmp_path: Path) -> None:
    assert "no file gone.csv" in refusal(tmp_path / "gone.csv")
    assert "no file gone.parquet" in refusal(tmp_path / "gone.parquet")
    assert "unknown format" in refusal(write(tmp_path, ROWS, "pairs.xlsx"))
    (tmp_path / "folder.csv").mkdir()
    assert "cannot be read" in refusal(tmp_path / "folder.csv")
