import gzip
from pathlib import Path

import duckdb
import numpy as np
import pytest

from hushway.engine.csv_lines import CsvStream
from hushway.engine.embedded import embedded_session
from hushway.engine.reading import read_rows
from hushway.engine.settings import EngineSettings
from hushway.errors import DataError
from hushway.families.od.rows.trips import TripColumns, TripsSource
from hushway.tables.layout import layout_of

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
