import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from hushway.engine.csv_lines import LONGEST_LINE, DamagedFileError, blocks_of_lines, lines_of_text


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
