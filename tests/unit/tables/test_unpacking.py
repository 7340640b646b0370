"""Packed files that grow too much, and things that are no files, are not read."""

import bz2
import gzip
import os
import socket
import tempfile
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from hushway.errors import DataError, GeographyError
from hushway.families.links.public.read import read_roads
from hushway.families.links.rows.gpx import GpxTraces, read_gpx
from hushway.families.od.public.pairs import read_text_columns
from hushway.families.sequences.public.gtfs_lines import read_timetable
from hushway.geography.locations import Location, Locations
from hushway.tables import unpacking
from hushway.tables.areas import read_areas
from hushway.tables.locations import read_locations
from hushway.tables.row_files import find_files
from hushway.transit.network.feed import read_service_day
from hushway.transit.network.file import read_network

Reader = Callable[[Path], Any]

ONE_PLACE = Locations((Location(id="a", name="", lon=0.0, lat=0.0, zone=""),))
PACKED: dict[str, Reader] = {
    "places.csv.gz": read_locations,
    "areas.geojson.gz": read_areas,
    "roads.geojson.gz": read_roads,
    "roads.osm.gz": read_roads,
    "roads.osm.bz2": read_roads,
    "pairs.csv.gz": lambda file: read_text_columns(file, ["a"]),
}
ARCHIVES: dict[str, Reader] = {
    "areas.zip": read_areas,
    "feed.zip": read_timetable,
    "day.zip": lambda file: read_service_day(file, date(2026, 3, 2)),
}
UNPACKED: dict[str, Reader] = {
    "places.csv": read_locations,
    "places.geojson": read_locations,
    "areas.shp": read_areas,
    "roads.graphml": read_roads,
    "pairs.csv": lambda file: read_text_columns(file, ["a"]),
    "network.toml": lambda file: read_network(file, ONE_PLACE),
}


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets files of a few kilobytes be large."""
    monkeypatch.setattr(unpacking, "ALWAYS_BYTES", 10_000)


def refusal(read: Reader, file: Path) -> str:
    with pytest.raises((GeographyError, DataError)) as caught:
        read(file)
    assert caught.value.advice
    return str(caught.value)


def pack(file: Path, data: bytes) -> Path:
    file.write_bytes(bz2.compress(data) if file.suffix == ".bz2" else gzip.compress(data))
    return file


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("name", PACKED)
def test_a_packed_file_that_grows_too_much_is_refused(name: str, tmp_path: Path) -> None:
    said = refusal(PACKED[name], pack(tmp_path / name, bytes(1_000_000)))
    assert f"{name} would grow to more than" in said
    assert "100 times its size" in said


@pytest.mark.usefixtures("little")
def test_no_more_of_it_is_unpacked_than_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "_PIECE", 1000)
    read: list[int] = []
    whole = gzip.GzipFile.read

    def counted(self: Any, size: int = -1) -> bytes:
        piece = whole(self, size)
        read.append(len(piece))
        return piece

    monkeypatch.setattr(gzip.GzipFile, "read", counted)
    refusal(read_locations, pack(tmp_path / "places.csv.gz", bytes(3_000_000)))
    most = unpacking.MOST_TIMES * (tmp_path / "places.csv.gz").stat().st_size
    assert sum(read) <= most + 1000


@pytest.mark.usefixtures("little")
def test_a_packed_file_that_grows_as_tables_do_is_read(tmp_path: Path) -> None:
    rows = "".join(f"place-{i},{i / 1000},0.0\n" for i in range(1000))
    file = pack(tmp_path / "places.csv.gz", f"id,lon,lat\n{rows}".encode())
    assert len(read_locations(file)) == 1000


def test_a_small_file_may_grow_as_it_likes(tmp_path: Path) -> None:
    text = b"id,lon,lat\na,0,0\n" + b"\n" * 1_000_000
    assert len(read_locations(pack(tmp_path / "places.csv.gz", text))) == 1


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_that_grows_too_much_is_refused(name: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("stops.txt", bytes(1_000_000))
        archive.writestr("areas.shp", bytes(1_000_000))
    assert "would grow to more than" in refusal(ARCHIVES[name], tmp_path / name)


def test_a_part_that_says_too_little_is_not_unpacked_beyond(tmp_path: Path) -> None:
    file = tmp_path / "feed.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("stops.txt", bytes(50_000_000))
    honest = (50_000_000).to_bytes(4, "little")
    file.write_bytes(file.read_bytes().replace(honest, (100).to_bytes(4, "little")))
    assert refusal(read_timetable, file) == "The timetable feed.zip cannot be read."


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_encrypted_archive_is_said_to_be_so(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("stops.txt", "stop_id\n")
    data = bytearray(file.read_bytes())
    # The first bit of the flags, before the part and in the list of parts.
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    file.write_bytes(data)
    assert refusal(ARCHIVES[name], file) == f"The archive {name} is encrypted."


@pytest.mark.parametrize("name", ARCHIVES)
@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_that_cannot_be_bounded_is_refused(
    name: str, method: int, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / name, "w", method) as archive:
        archive.writestr("stops.txt", "stop_id\n")
    assert "packed in an unusual way" in refusal(ARCHIVES[name], tmp_path / name)


@pytest.mark.parametrize("name", ["feed.zip", "day.zip"])
def test_a_corrupt_archive_is_one_error(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("stops.txt", "stop_id\n" + "".join(f"{i}\n" for i in range(1000)))
    whole = bytearray(file.read_bytes())
    for at in range(45, 60):  # in the packed part
        whole[at] ^= 0xFF
    file.write_bytes(whole)
    assert "cannot be read" in refusal(ARCHIVES[name], file)


@pytest.mark.parametrize("name", UNPACKED | PACKED | ARCHIVES)
def test_a_pipe_is_not_waited_for(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    refusal((UNPACKED | PACKED | ARCHIVES)[name], tmp_path / name)


def test_a_socket_is_no_file() -> None:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listening:
        # Here, for the name of a socket must be short.
        listening.bind(f"{folder}/a.csv")
        assert "a socket or a device" in refusal(read_locations, Path(folder, "a.csv"))
        assert "a socket or a device" in refusal(find_files, Path(folder, "a.csv"))


def test_parts_of_folders_are_not_waited_for_either(tmp_path: Path) -> None:
    for part in ("stops.txt", "link.csv"):
        os.mkfifo(tmp_path / part)
    assert "stops.txt is not a file" in refusal(read_timetable, tmp_path)
    assert "stops.txt is not a file" in refusal(ARCHIVES["day.zip"], tmp_path)
    assert "link.csv is not a file" in refusal(read_roads, tmp_path)


def test_rows_and_traces_in_pipes_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rows.csv")
    os.mkfifo(tmp_path / "somebody.gpx")
    assert "rows.csv are not in a file" in refusal(find_files, tmp_path / "rows.csv")
    said = refusal(lambda path: read_gpx(GpxTraces(path)), tmp_path)
    assert "is not a file" in said
    assert "somebody" not in said


@pytest.mark.usefixtures("little")
def test_rows_that_say_they_grow_a_thousand_times_are_refused(tmp_path: Path) -> None:
    file = pack(tmp_path / "rows.csv.gz", bytes(10_000_000))
    assert file.stat().st_size * unpacking.MOST_TIMES_OF_ROWS < 10_000_000
    assert "1,000 times as large" in refusal(find_files, file)


@pytest.mark.usefixtures("little")
def test_rows_that_are_much_alike_are_read(tmp_path: Path) -> None:
    file = pack(tmp_path / "rows.csv.gz", b"person,place\n" * 100_000)
    assert find_files(file).paths == (file,)
