"""Lines of CSV files: what one of them says depends on that line alone."""

import csv
import gzip
from collections import Counter
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import duckdb
from hypothesis import example, given
from hypothesis import strategies as st

from hushway.engine.csv_lines import LONGEST_LINE, CsvStream
from hushway.families.od.rows.trips import TripColumns, TripsSource
from hushway.tables.encodings import Encoding
from hushway.tables.layout import layout_of

HEADER = b"person,origin,destination,time,unused"
GOOD = [b"p%d,1,2,2026-03-02T08:15:00,x" % i for i in range(12)]
PARTS = st.sampled_from(
    [b'"', b'""', b",", b";", b"\r", b"\0", b"\xff", b"\xc3", b"\xc3\xa9", b"p1", b" ", b"\t", b"x"]
)
HOSTILE = st.one_of(
    st.binary(max_size=30),
    st.lists(PARTS, max_size=12).map(b"".join),
    st.lists(PARTS, max_size=3).map(lambda parts: b"q," + b"".join(parts) + b",2,3,4"),
)

Read = tuple[Counter[tuple[str | None, ...]], int]
# What each encoding is written by.
CODECS: Final[dict[Encoding, str]] = {
    "utf-8": "utf-8",
    "utf-16": "utf-16-le",
    "windows-1252": "windows-1252",
}


def read(
    folder: Path, files: list[list[bytes]], threads: int, *, packed: bool, encoding: Encoding
) -> Read:
    """Returns the rows of files, with how often each is there, and the number of malformed."""
    codec = CODECS[encoding]
    for i, lines in enumerate(files):
        data = "\n".encode(codec).join([HEADER.decode().encode(codec), *lines])
        name = folder / f"{i}.csv{'.gz' if packed else ''}"
        name.write_bytes(gzip.compress(data, 1) if packed else data)
    layout = layout_of(TripsSource(folder, TripColumns(person="person"), encoding=encoding))
    stream = CsvStream(layout, threads)
    with duckdb.connect(config={"threads": threads}) as connection:
        connection.register("rows", stream)
        found = connection.execute("SELECT c0, c1, c2, c3 FROM rows").fetchall()
    return Counter(found), stream.malformed


def mixed(lines: list[bytes], hostile: list[bytes]) -> list[bytes]:
    pairs = zip_longest(lines, hostile, fillvalue=b"")
    return [line for pair in pairs for line in pair]


@given(
    st.lists(HOSTILE, max_size=12),
    st.integers(1, 3),
    st.sampled_from([1, 2]),
    st.booleans(),
    st.sampled_from(list(CODECS)),
)
@example([b'"', b'L0117",'], 1, 1, False, "utf-8")
@example([b'q,"1,2,3,4', b'q",1,2,3,4'], 3, 2, True, "windows-1252")
@example([b"q,1,2,3," + b"x" * LONGEST_LINE], 1, 2, False, "utf-8")
@example([b"\x00\xd8", b"\x0a\x0a\x00\xdc", b"q\0,\x001\0,\0\0\xd8"], 1, 1, False, "utf-16")
@example([b"\x81,\x8d,2,3,4", b"\xc3,1,2,3,\xa9"], 1, 1, False, "windows-1252")
def test_lines_of_one_person_neither_move_nor_refuse_those_of_others(
    hostile: list[bytes], files: int, threads: int, packed: bool, encoding: Encoding
) -> None:
    if encoding == "utf-16":
        # Letters have two bytes, so that a line has an even number of them.
        hostile = [line + b"\0" * (len(line) % 2) for line in hostile]
    good = [line.decode().encode(CODECS[encoding]) for line in GOOD]
    dealt = [good[i::files] for i in range(files)]
    with TemporaryDirectory() as one, TemporaryDirectory() as other, TemporaryDirectory() as both:
        alone = read(Path(one), [hostile], threads, packed=packed, encoding=encoding)
        without = read(Path(other), dealt, threads, packed=packed, encoding=encoding)
        together = [mixed(dealt[0], hostile), *dealt[1:]]
        rows, malformed = read(Path(both), together, threads, packed=packed, encoding=encoding)
    assert rows == alone[0] + without[0]
    assert malformed == alone[1] + without[1]


FIELDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=8)


@given(st.lists(st.lists(FIELDS, min_size=5, max_size=5), max_size=5), st.booleans())
def test_whatever_a_csv_writer_writes_on_one_line_is_read_back(
    rows: list[list[str]], everything_quoted: bool
) -> None:
    quoting = csv.QUOTE_ALL if everything_quoted else csv.QUOTE_MINIMAL
    with TemporaryDirectory() as folder:
        path = Path(folder) / "0.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, quoting=quoting)
            writer.writerow(HEADER.decode().split(","))
            writer.writerows(rows)
        stream = CsvStream(layout_of(TripsSource(path, TripColumns(person="person"))), 1)
        with duckdb.connect() as connection:
            connection.register("rows", stream)
            found = connection.execute("SELECT c0, c1, c2, c3 FROM rows").fetchall()
    assert stream.malformed == 0
    assert found == [tuple(field or None for field in row[:4]) for row in rows]
