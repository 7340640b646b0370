"""Which warehouses may hold protected rows, and how much each of them may do."""

from dataclasses import dataclass
from typing import Final

from hushway.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of database.

    Attributes:
        name: What people call it.
        install: What brings its driver.
        counts: Whether trips are bounded and counted inside it. Only where the suite that compares
            engines has run and found every count the same; others hand over their rows.
        unbounded_times: Whether it knows days before the year 1 and infinite ones.
        only_instants: Whether times without a time zone are instants, shown in the zone of the
            server or the session.
        zone_query: Asks for that zone; if there is none, it is taken for another than UTC.
    """

    name: str
    install: str
    counts: bool = False
    unbounded_times: bool = False
    only_instants: bool = False
    zone_query: str | None = None


_POSTGRES: Final = Kind(
    name="PostgreSQL", install="hushway[postgres]", counts=True, unbounded_times=True
)
# By the beginning of their addresses. The DuckDB that reads everything opens such files by itself.
_ALLOWED: Final = {
    "duckdb": Kind(name="DuckDB", install="hushway"),
    "postgres": _POSTGRES,
    "postgresql": _POSTGRES,
    "clickhouse": Kind(
        name="ClickHouse",
        install="ibis-framework[clickhouse]",
        only_instants=True,
        zone_query="SELECT timezone()",
    ),
    "bigquery": Kind(name="BigQuery", install="ibis-framework[bigquery]"),
    "databricks": Kind(name="Databricks", install="ibis-framework[databricks]", only_instants=True),
    "snowflake": Kind(name="Snowflake", install="ibis-framework[snowflake]"),
    "trino": Kind(name="Trino", install="ibis-framework[trino]"),
}
_REFUSED: Final = {
    "sqlite": "SQLite keeps any value in any column, so that it silently keeps other rows",
    "polars": "Polars lacks windows that the bounding needs",
}


def scheme_of(url: str) -> str:
    """Returns what an address begins with."""
    return url.partition("://")[0].lower()


def kind_of(url: str) -> Kind:
    """Returns the kind of a warehouse by its address.

    Raises:
        DataError: It is none that may be used; the message says why.
    """
    scheme = scheme_of(url)
    kind = _ALLOWED.get(scheme)
    if kind is not None:
        return kind
    reason = _REFUSED.get(scheme, "the suite that compares engines has not passed on it")
    names = sorted({allowed.name for allowed in _ALLOWED.values()})
    raise DataError(
        f"This warehouse cannot be used: {reason}.",
        advice=f"Use one of {', '.join(names)}; or write the rows as CSV or Parquet.",
    )
