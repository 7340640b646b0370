"""Sources of taps and of ready sequences say what is wrong with them before a row is read."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.errors import DataError
from hushway.families.sequences.rows.sequences import (
    SequenceColumns,
    SequencesSource,
    TapColumns,
    TapsSource,
)
from hushway.tables.layout import Source, layout_of


def parquet(file: Path, **types: pa.DataType) -> Path:
    pq.write_table(pa.schema(list(types.items())).empty_table(), file)
    return file


def refusal(wrong: Source) -> str:
    with pytest.raises(DataError) as caught:
        layout_of(wrong)
    assert caught.value.advice
    return str(caught.value)


def test_a_column_has_one_purpose() -> None:
    with pytest.raises(DataError, match="'x' is named for two purposes"):
        TapColumns(person="x", location="x")
    with pytest.raises(DataError, match="two purposes"):
        SequenceColumns(person="stops")


def test_a_separator_is_needed() -> None:
    with pytest.raises(DataError, match="separator"):
        SequencesSource("x.csv", SequenceColumns(), "")


def test_taps_are_called_taps(tmp_path: Path) -> None:
    assert "no taps at" in refusal(TapsSource(tmp_path / "gone.csv", TapColumns()))
    file = tmp_path / "taps.csv"
    file.write_text("person,place,time\n", encoding="utf-8")
    assert "taps file taps.csv has no column 'location'" in refusal(TapsSource(file, TapColumns()))


def test_taps_with_a_time_zone_are_instants(tmp_path: Path) -> None:
    file = parquet(
        tmp_path / "t.parquet",
        person=pa.int64(),
        location=pa.string(),
        time=pa.timestamp("us", tz="UTC"),
    )
    assert "instants" in refusal(TapsSource(file, TapColumns()))
    layout = layout_of(TapsSource(file, TapColumns(), "utc"))
    assert layout.kinds == {"person": "integer", "location": "text", "time": "zoned time"}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.list_(pa.string()), "list of texts"),
        (pa.large_list(pa.large_string()), "list of texts"),
        (pa.list_(pa.int32()), "list of integers"),
        (pa.list_(pa.uint64()), "list of texts"),
        (pa.string(), "text"),
        (pa.dictionary(pa.int32(), pa.string()), "text"),
    ],
)
def test_stops_are_lists_or_text(tmp_path: Path, kind: pa.DataType, expected: str) -> None:
    file = parquet(tmp_path / "s.parquet", stops=kind)
    assert layout_of(SequencesSource(file, SequenceColumns())).kinds == {"stops": expected}


@pytest.mark.parametrize("kind", [pa.int64(), pa.list_(pa.float64()), pa.timestamp("us")])
def test_stops_of_another_type_are_refused(tmp_path: Path, kind: pa.DataType) -> None:
    file = parquet(tmp_path / "s.parquet", stops=kind)
    assert "'stops'" in refusal(SequencesSource(file, SequenceColumns()))
