import gzip
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pytest

from hushway.engine.csv_lines import (
    LONGEST_LINE,
    CsvStream,
    DamagedFileError,
    blocks_of_lines,
    lines_of_text,
)
from hushway.engine.embedded import embedded_session
from hushway.engine.reading import read_rows
from hushway.engine.settings import EngineSettings
from hushway.errors import DataError
from hushway.families.od.rows.trips import TripColumns, TripsSource
from hushway.tables.layout import layout_of


def lines_in(path: Path) -> list[bytes]:
    with path.open("rb") as opened:
        return b"".join(blocks_of_lines(path, opened)).split(b"\n")[:-1]


def test_the_header_is_left_out_and_a_last_line_needs_no_end(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"h\n1\n\n2")
    assert lines_in(tmp_path / "a.csv") == [b"1", b"", b"2"]


def test_lines_across_blocks_are_whole(tmp_path: Path) -> None:
    lines = [b"%d" % i * (i % 90) for i in range(200_000)]
    (tmp_path / "a.csv").write_bytes(b"\n".join([b"h", *lines, b""]))
    assert lines_in(tmp_path / "a.csv") == lines


@pytest.mark.parametrize("before", [0, 1, 3_000_000, 4_194_000])
@pytest.mark.parametrize("length", [LONGEST_LINE, LONGEST_LINE + 1, 9_000_000])
def test_a_long_line_is_as_long_wherever_it_lies(tmp_path: Path, before: int, length: int) -> None:
    (tmp_path / "a.csv").write_bytes(b"h\n" + b"a" * before + b"\n" + b"b" * length + b"\nc\n")
    first, second, third = lines_in(tmp_path / "a.csv")
    assert len(first) == min(before, len(first))
    assert (len(second) > LONGEST_LINE) == (length > LONGEST_LINE)
    assert third == b"c"


def _cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _without_trailer(data: bytes) -> bytes:
    return data[:-8]


def _wrong_checksum(data: bytes) -> bytes:
    return data[:-8] + bytes([data[-8] ^ 1]) + data[-7:]


def _wrong_length(data: bytes) -> bytes:
    return data[:-4] + bytes([data[-4] ^ 1]) + data[-3:]


def _flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 255, data[middle + 1] ^ 255]) + data[middle + 2 :]


def _with_more_behind(data: bytes) -> bytes:
    return data + b"more"


@pytest.mark.parametrize(
    "damage", [_cut, _without_trailer, _wrong_checksum, _wrong_length, _flipped, _with_more_behind]
)
def test_a_damaged_compressed_file_is_never_taken_for_a_whole_one(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    data = gzip.compress(b"h\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(50_000)))
    (tmp_path / "a.csv.gz").write_bytes(damage(data))
    with pytest.raises(DamagedFileError, match=r"a\.csv\.gz") as caught:
        lines_in(tmp_path / "a.csv.gz")
    assert caught.value.__context__ is None


def test_a_compressed_file_may_have_several_members(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"h\n1\n") + gzip.compress(b"2\n"))
    assert lines_in(tmp_path / "a.csv.gz") == [b"1", b"2"]


@pytest.mark.parametrize("line", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"a\0b", b"a\rb", b"a\r\r"])
def test_only_the_line_that_is_no_text_is_left_out(line: bytes) -> None:
    assert lines_of_text(b"a\n" + line + b"\nb\r\n") == (b"a\nb\r\n", 1)


def test_text_of_any_language_stays() -> None:
    text = "Škofja Loka,東京,🚲\r\n".encode()
    assert lines_of_text(text) == (text, 0)


LINE = "1,2,2026-03-02T08:15:00\n"
SETTINGS = EngineSettings(threads=2, encrypt_spills=False)


def times_of(path: Path) -> int:
    layout = layout_of(TripsSource(path, TripColumns()))
    with embedded_session(SETTINGS) as session:
        return len(session.fetch(read_rows(session, layout, "local")))


def test_a_file_can_be_scanned_again_and_again(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text("origin,destination,time\n" + LINE * 9 + "1,2\n", encoding="utf-8")
    stream = CsvStream(layout_of(TripsSource(path, TripColumns())), threads=2)
    with duckdb.connect() as connection:
        connection.register("rows", stream)
        for _ in range(2):
            assert connection.execute("SELECT count(*), count(c2) FROM rows").fetchone() == (9, 9)
            assert (stream.malformed, stream.share) == (1, 1.0)
        both = "SELECT count(*) FROM rows AS one JOIN rows AS other USING (c0)"
        assert connection.execute(both).fetchone() == (81,)


def test_a_compressed_file_that_is_cut_off_is_named_and_nothing_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv.gz"
    data = gzip.compress(("origin,destination,time\n" + LINE * 1000).encode())
    path.write_bytes(data[: len(data) - 9])
    with pytest.raises(DataError, match=r"trips\.csv\.gz is damaged or not whole") as caught:
        times_of(path)
    assert caught.value.__context__ is None


def test_flipped_bytes_of_a_compressed_file_are_always_seen(tmp_path: Path) -> None:
    path, chance = tmp_path / "trips.csv.gz", np.random.default_rng(7)
    lines = "".join(f"{i},{i % 7},2026-03-02T08:15:{i % 60:02d}\n" for i in range(2000))
    data = gzip.compress(("origin,destination,time\n" + lines).encode(), mtime=0)
    for _ in range(40):
        spoilt = bytearray(data)
        # Behind the ten bytes of a gzip header, which hold no rows.
        for at in chance.choice(np.arange(10, len(data)), 2, replace=False):
            spoilt[at] ^= int(chance.integers(1, 256))
        path.write_bytes(spoilt)
        with pytest.raises(
            DataError, match=r"damaged|cannot be read|is not UTF-8|is empty|no column"
        ):
            times_of(path)


@pytest.mark.parametrize(
    "header", ["origin,destination,time\r1,2,3", '"origin,destination,time\n"']
)
def test_a_first_line_that_does_not_end_is_refused(tmp_path: Path, header: str) -> None:
    path = tmp_path / "trips.csv"
    path.write_bytes(f"{header}\n{LINE}".encode())
    with pytest.raises(DataError, match="cannot be read"):
        times_of(path)


def test_a_hundred_thousand_columns_cost_what_is_used_of_them(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    names = [f"c{i:05d}" for i in range(99_997)]
    header = ",".join(["origin", "destination", "time", *names])
    path.write_text(f"{header}\n{LINE.strip()}{',' * len(names)}\n", encoding="utf-8")
    assert times_of(path) == 1
