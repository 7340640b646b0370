"""Parquet files that would take more memory than their size lets one think."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.errors import ReleaseError
from hushway.release.untrusted import parquet as bounded_parquet
from hushway.release.untrusted.parquet import Encoding, open_parquet, pages_of

LISTS = pa.schema(
    [
        pa.field("sequence", pa.list_(pa.field("element", pa.string(), nullable=False))),
        pa.field("count", pa.int64()),
    ]
)
TEXTS = pa.schema([pa.field("name", pa.string())])
LABELS = pa.schema([pa.field("name", pa.dictionary(pa.int32(), pa.string()))])


def written(path: Path, table: pa.Table, **choices: Any) -> Path:
    pq.write_table(table, path, **{"compression": "zstd", "use_dictionary": False, **choices})
    return path


def lists(rows: int, length: int) -> pa.Table:
    return pa.table({"sequence": [["a"] * length] * rows, "count": [1] * rows}, schema=LISTS)


def test_what_is_as_large_as_it_says_is_opened(tmp_path: Path) -> None:
    path = written(tmp_path / "x.parquet", lists(3, 5), row_group_size=2)
    with open_parquet(path, LISTS, rows=3, values=15) as file:
        assert file.read().equals(lists(3, 5))
    with pytest.raises(ReleaseError, match=r"x\.parquet would take more memory"):
        open_parquet(path, LISTS, rows=2, values=15).__enter__()
    with pytest.raises(ReleaseError, match="more memory"):
        open_parquet(path, LISTS, rows=3, values=14).__enter__()
    with pytest.raises(ReleaseError, match="more memory"):
        open_parquet(path, LISTS, rows=3, values=15, size=20).__enter__()


def test_other_columns_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "x.parquet", lists(3, 5))
    with pytest.raises(ReleaseError, match=r"columns of x\.parquet are not name"):
        open_parquet(path, TEXTS, rows=3).__enter__()


def test_a_text_that_is_repeated_for_nothing_is_refused(tmp_path: Path) -> None:
    # Ten megabytes a row when it is read, and next to nothing in the file.
    table = pa.table({"name": ["x" * 10_000] * 1000}, schema=TEXTS)
    path = written(tmp_path / "x.parquet", table, use_dictionary=True)
    assert path.stat().st_size < 3000
    with pytest.raises(ReleaseError, match="more memory"):
        open_parquet(path, TEXTS, rows=1000).__enter__()
    for encoding in ("DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"):
        path = written(tmp_path / "y.parquet", table, column_encoding={"name": encoding})
        with pytest.raises(ReleaseError, match="pages"):
            open_parquet(path, TEXTS, rows=1000).__enter__()


def test_labels_may_be_repeated_because_they_are_read_as_numbers(tmp_path: Path) -> None:
    labels = pa.array(["x" * 10_000] * 1000).dictionary_encode()
    table = pa.table({"name": labels}, schema=LABELS)
    path = written(tmp_path / "x.parquet", table, use_dictionary=True)
    with open_parquet(path, LABELS, rows=1000) as file:
        (batch,) = file.iter_batches()
        assert len(batch.column(0).dictionary) == 1


def test_a_large_row_group_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"name": ["x" * 10_000] * 100}, schema=TEXTS)
    path = written(tmp_path / "x.parquet", table)
    monkeypatch.setattr(bounded_parquet, "GROUP_BYTES", 900_000)
    with pytest.raises(ReleaseError, match="more memory"):
        open_parquet(path, TEXTS, rows=100).__enter__()
    path = written(tmp_path / "x.parquet", table, row_group_size=50)
    with open_parquet(path, TEXTS, rows=100):
        pass


def test_a_file_that_is_not_parquet_or_has_a_long_footer_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.parquet"
    for data in (b"", b"PAR1", b"PAR1" + b"\xff\xff\xff\x7fPAR1"):
        path.write_bytes(data)
        with pytest.raises(ReleaseError, match="footer"):
            open_parquet(path, TEXTS, rows=1).__enter__()
    written(path, lists(3, 5))
    monkeypatch.setattr(bounded_parquet, "_FOOTER_BYTES", 100)
    with pytest.raises(ReleaseError, match="footer"):
        open_parquet(path, LISTS, rows=3).__enter__()


@pytest.mark.parametrize("dictionary", [True, False])
def test_pages_are_what_is_written_and_not_what_the_footer_says(
    tmp_path: Path, dictionary: bool
) -> None:
    numbers = np.arange(200_000) // 7
    path = written(
        tmp_path / "x.parquet", pa.table({"n": pa.array(numbers)}), use_dictionary=dictionary
    )
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(0)
    # A footer that lies about everything but where the pages are.
    liar = SimpleNamespace(
        data_page_offset=chunk.data_page_offset,
        dictionary_page_offset=chunk.dictionary_page_offset,
        has_dictionary_page=chunk.has_dictionary_page,
        total_compressed_size=chunk.total_compressed_size,
        num_values=1,
        total_uncompressed_size=1,
        encodings=("PLAIN",),
    )
    with path.open("rb") as file:
        pages = list(pages_of(file, liar))
    assert sum(page.values for page in pages) == len(numbers)
    whole = chunk.total_uncompressed_size
    assert whole - 100 * len(pages) <= sum(page.size for page in pages) <= whole
    assert (Encoding.RLE_DICTIONARY in {page.encoding for page in pages}) == dictionary
    with path.open("rb") as file:
        liar.total_compressed_size -= 1
        with pytest.raises(ValueError, match="fill"):
            list(pages_of(file, liar))


def test_headers_without_sense_are_refused() -> None:
    for data in (b"", b"\x15", b"\x18\xff\xff\xff\x7f", b"\x1c" * 100, b"\x15" + b"\xff" * 20):
        with pytest.raises(ValueError, match=r"header|Kind"):
            bounded_parquet._Reader(data).struct()


def test_a_small_file_that_grows_to_gigabytes_is_refused_in_little_memory(
    tmp_path: Path,
) -> None:
    names = pa.array(["x" * 100_000])
    labels = pa.DictionaryArray.from_arrays(pa.array(np.zeros(60_000, dtype=np.int32)), names)
    path = tmp_path / "x.parquet"
    table = pa.table({"name": labels})
    pq.write_table(table, path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 50_000
    program = """
import json, resource, sys
from pathlib import Path
import pyarrow as pa
from hushway.release.untrusted.parquet import open_parquet
from hushway.errors import ReleaseError
resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
try:
    with open_parquet(Path(sys.argv[1]), pa.schema([("name", pa.string())]), rows=60_000) as file:
        file.read()
except ReleaseError as problem:
    print(json.dumps(str(problem)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, check=True, text=True
    )
    assert "more memory" in json.loads(done.stdout)
