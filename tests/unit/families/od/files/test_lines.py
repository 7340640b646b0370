"""Flow lines and intervals: what is written, and that a verifier sees whatever was changed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

from hushway.errors import ReleaseError
from hushway.families.od.files.flows import check_lines, write_lines
from hushway.families.od.files.rows import batches_of, read_parquet, write_rows
from hushway.families.od.fit.table import ODTable
from hushway.release.formats.interval import interval_of


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
    write_lines(table.universe, batches_of(table), path)
    moving = table.counts > 0
    rows = pq.read_table(path)
    assert rows["count"].to_pylist() == table.counts[moving].tolist()
    assert rows["standard_error"].to_pylist() == table.standard_errors[moving].tolist()
    check_lines(table.universe, batches_of(table), path)
    first = rows.slice(0, 1).to_pylist()[0]
    where = {p.id: (p.lon, p.lat) for p in table.universe.locations.places}
    line = shapely.from_wkb(first["geometry"])
    assert line.geom_type == "LineString"
    assert list(line.coords) == [where[first["origin"]], where[first["destination"]]]


def test_a_line_that_was_moved_is_seen(tmp_path: Path, table: ODTable) -> None:
    path = tmp_path / "flows.parquet"
    write_lines(table.universe, batches_of(table), path)
    shapes = pq.read_table(path)["geometry"].to_pylist()
    rewritten(path, {"geometry": pa.array([shapes[1], shapes[0], *shapes[2:]], pa.binary())})
    with pytest.raises(ReleaseError, match="does not join"):
        check_lines(table.universe, batches_of(table), path)


def test_lines_that_do_not_say_what_they_are_are_seen(tmp_path: Path, table: ODTable) -> None:
    path = tmp_path / "flows.parquet"
    write_lines(table.universe, batches_of(table), path)
    rewritten(path, {}, geo=False)
    with pytest.raises(ReleaseError, match="WGS84"):
        check_lines(table.universe, batches_of(table), path)


def test_intervals_are_two_errors_wide_and_not_below_0() -> None:
    low, high = interval_of(np.array([0, 10, -9]), np.array([2.0, 2.0, 1.0]))
    np.testing.assert_allclose(low, [0, 6.08, 0])
    np.testing.assert_allclose(high, [3.92, 13.92, 0])


@pytest.mark.parametrize("column", ["low", "high"])
def test_an_interval_that_was_changed_is_seen(tmp_path: Path, table: ODTable, column: str) -> None:
    path = tmp_path / "trips.parquet"
    write_rows(table, path)
    numbers = pq.read_table(path)[column].to_pylist()
    rewritten(path, {column: pa.array([numbers[0] + 0.5, *numbers[1:]], pa.float64())})
    with pytest.raises(ReleaseError, match="interval"):
        list(read_parquet(path, table.universe))


@pytest.mark.parametrize("change", ["error", "shorter", "longer"])
def test_other_flows_than_those_of_the_table_are_seen(
    tmp_path: Path, table: ODTable, change: str
) -> None:
    path = tmp_path / "flows.parquet"
    other = replace(table, standard_errors=table.standard_errors + 1)
    first, rest = (replace(table, **part) for part in (_rows(table, 0, 40), _rows(table, 40, 80)))
    written, held = {"error": (other, table), "shorter": (first, table), "longer": (table, rest)}[
        change
    ]
    write_lines(table.universe, batches_of(written), path)
    with pytest.raises(ReleaseError, match=r"flows\.parquet"):
        check_lines(table.universe, batches_of(held), path)


def _rows(table: ODTable, start: int, end: int) -> dict[str, Any]:
    names = ("cells", "counts", "standard_errors")
    return {name: getattr(table, name)[start:end] for name in names}
