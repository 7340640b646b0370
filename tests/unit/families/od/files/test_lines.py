"""Flow lines and intervals: what is written, and that a verifier sees whatever was changed."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

from hushway.errors import ReleaseError
from hushway.families.od.files.intervals import interval_of
from hushway.families.od.files.lines import read_lines, write_lines
from hushway.families.od.files.rows import read_csv, read_parquet, write_csv, write_parquet
from hushway.families.od.fit.table import ODTable


def rewritten(path: Path, change: dict[str, pa.Array], *, geo: bool = True) -> None:
    """Writes a table again with other columns, as plainly as hushway does."""
    table = pq.read_table(path)
    for name, column in change.items():
        at = table.schema.get_field_index(name)
        table = table.set_column(at, table.schema.field(at), column)
    kept = table if geo else table.replace_schema_metadata({})
    labels = ["period", "origin", "destination"]
    pq.write_table(kept, path, compression="zstd", use_dictionary=labels)


def test_lines_join_the_places_of_rows_above_0(tmp_path: Path, table: ODTable) -> None:
    path = tmp_path / "flows.parquet"
    write_lines(table, path)
    moving = table.counts > 0
    [(cells, counts)] = read_lines(path, table.universe)
    np.testing.assert_array_equal(cells, table.cells[moving])
    np.testing.assert_array_equal(counts, table.counts[moving])
    first = pq.read_table(path).slice(0, 1).to_pylist()[0]
    where = {p.id: (p.lon, p.lat) for p in table.universe.locations.places}
    line = shapely.from_wkb(first["geometry"])
    assert line.geom_type == "LineString"
    assert list(line.coords) == [where[first["origin"]], where[first["destination"]]]


def test_a_line_that_was_moved_is_seen(tmp_path: Path, table: ODTable) -> None:
    path = tmp_path / "flows.parquet"
    write_lines(table, path)
    shapes = pq.read_table(path)["geometry"].to_pylist()
    rewritten(path, {"geometry": pa.array([shapes[1], shapes[0], *shapes[2:]], pa.binary())})
    with pytest.raises(ReleaseError, match="does not join"):
        list(read_lines(path, table.universe))


def test_lines_that_do_not_say_what_they_are_are_seen(tmp_path: Path, table: ODTable) -> None:
    path = tmp_path / "flows.parquet"
    write_lines(table, path)
    rewritten(path, {}, geo=False)
    with pytest.raises(ReleaseError, match="WGS84"):
        list(read_lines(path, table.universe))


def test_intervals_are_two_errors_wide_and_not_below_0() -> None:
    low, high = interval_of(np.array([0, 10, -9]), np.array([2.0, 2.0, 1.0]))
    np.testing.assert_allclose(low, [0, 6.08, 0])
    np.testing.assert_allclose(high, [3.92, 13.92, 0])


@pytest.mark.parametrize("column", ["low", "high"])
def test_an_interval_that_was_changed_is_seen(tmp_path: Path, table: ODTable, column: str) -> None:
    path = tmp_path / "trips.parquet"
    write_parquet(table, path)
    numbers = pq.read_table(path)[column].to_pylist()
    rewritten(path, {column: pa.array([numbers[0] + 0.5, *numbers[1:]], pa.float64())})
    with pytest.raises(ReleaseError, match="interval"):
        list(read_parquet(path, table.universe))


def test_an_interval_that_was_changed_in_csv_is_seen(tmp_path: Path, table: ODTable) -> None:
    path = tmp_path / "trips.csv"
    write_csv(table, path)
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1].rpartition(",")[0] + ",999.5"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(ReleaseError, match="interval"):
        list(read_csv(path, table.universe))
