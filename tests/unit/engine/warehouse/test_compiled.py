"""What warehouses are asked that cannot run here, to see whether a change or a library changes it.

`python -m unit.engine.warehouse.test_compiled` in the folder of tests writes it down again, for
somebody with such a warehouse to look at.
"""

from collections.abc import Iterable
from pathlib import Path

import ibis
import pyarrow as pa
import pytest
from ibis.backends.sql import compilers

from hushway.engine.key import BoundingKey
from hushway.engine.ranks import RankSteps
from hushway.engine.warehouse.remote import brought, rows_between
from hushway.families.od.rows.counter import TripPart
from hushway.families.od.rows.trips import TripColumns, TripsSource, id_kinds_of
from hushway.privacy.bound import Unit
from hushway.tables.layout import layout_of_table
from support.conformance.od import town

WRITTEN = Path(__file__).with_name("compiled")
DIALECTS = ("bigquery", "clickhouse", "databricks", "postgres", "snowflake", "trino")
# Ibis has no microseconds of a time there.
ONLY_ROWS = ("databricks",)
SOURCE = TripsSource("table:trips", TripColumns(person="person", trip_id="trip"))
TRIPS = ibis.table(
    {
        "person": "string",
        "trip": "uuid",
        "origin": "string",
        "destination": "int32",
        "time": "timestamp(6)",
        "fare": "float64",
    },
    name="trips",
)


class Named:
    """Takes public tables by their names."""

    def load(self, name: str, table: pa.Table) -> ibis.Table:
        return ibis.table(ibis.Schema.from_pyarrow(table.schema), name=name)


def compiled(dialect: str) -> str:
    """The rows as they are brought, and the counts as they are made inside."""
    layout = layout_of_table("trips", TRIPS.schema().to_pyarrow(), SOURCE)
    part = TripPart(
        cells=town(4, include_intrazonal=False),
        clock="local",
        id_kinds=id_kinds_of(SOURCE, layout),
        unit=Unit.PERSON,
        steps=RankSteps((4,)),
        key=BoundingKey(tuple(range(1, BoundingKey.WORDS + 1))),
    )
    counts = part.counted_between(Named(), rows_between(TRIPS, layout))
    here = brought(TRIPS, layout, unbounded_times=dialect == "postgres")
    compiler = getattr(compilers, dialect).compiler
    return _legible(
        compiler.to_sqlglot(expression).sql(dialect=compiler.dialect, pretty=True) + ";\n"
        for expression in ((here,) if dialect in ONLY_ROWS else (here, counts))
    )


def _legible(queries: Iterable[str]) -> str:
    # Tools change the ends of lines, and nobody sees which space it is.
    return "".join(
        c if c == "\n" or (c.isascii() and c.isprintable()) else f"<{ord(c):x}>"
        for c in "".join(queries)
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_warehouse_is_asked_what_it_always_was(dialect: str) -> None:
    assert compiled(dialect) == (WRITTEN / f"{dialect}.sql").read_text(encoding="utf-8")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nothing_but_the_columns_of_the_plan_is_asked_for(dialect: str) -> None:
    assert "fare" not in compiled(dialect)


if __name__ == "__main__":
    for one in DIALECTS:
        (WRITTEN / f"{one}.sql").write_text(compiled(one), encoding="utf-8")
