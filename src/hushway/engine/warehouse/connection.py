"""A connection to a warehouse that is silent about rows and about its address."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import ibis
import pyarrow as pa

from hushway.errors import DataError

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of database.

    Attributes:
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
    """Returns the kind of a warehouse by its address."""
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


# Drivers that hand over rows one by one keep so many as objects of Python.
_BATCH_ROWS: Final = 100_000


class Connection:
    """A warehouse that Ibis has a driver for.

    Privacy:
        Its errors often quote rows, and its address may hold a password: neither gets out.
    """

    def __init__(self, url: str) -> None:
        self.kind: Kind = kind_of(url)
        self.backend: Any = _connected(url, self.kind)

    def table(self, name: str) -> ibis.Table:
        """Returns a table by its name, such as "schema.trips"."""
        *database, table = name.split(".")
        return quietly_there(
            lambda: self.backend.table(table, database=tuple(database) if database else None)
        )

    def batches(self, expression: ibis.Table) -> Iterator[pa.RecordBatch]:
        """Runs an expression and hands out its rows in batches."""
        reader = quietly_there(
            lambda: self.backend.to_pyarrow_batches(expression, chunk_size=_BATCH_ROWS)
        )
        while (batch := quietly_there(lambda: next(reader, None))) is not None:
            yield batch

    def fetch(self, expression: ibis.Table) -> pa.Table:
        """Runs an expression with few rows and returns them."""
        return quietly_there(lambda: self.backend.to_pyarrow(expression))

    def zone(self) -> str | None:
        """Returns the time zone in which the warehouse shows times; None if it cannot be asked."""
        query = self.kind.zone_query
        if query is None:
            return None
        return quietly_there(lambda: str(self.backend.con.command(query)))

    def load(self, name: str, table: pa.Table | ibis.Table) -> ibis.Table:
        """Puts a table, or the rows of an expression, into the warehouse until it closes."""
        # The warehouse may have tables of any name.
        own = f"hushway_{secrets.token_hex(8)}_{name}"

        def make() -> ibis.Table:
            made = self.backend.create_table(own, table, temp=True)
            # PostgreSQL does not look by itself how large a temporary table is.
            self.backend.raw_sql(f'ANALYZE "{own}"').close()
            return made

        return quietly_there(make)

    def close(self) -> None:
        """Closes the connection; temporary tables are gone with it."""
        quietly_there(self.backend.disconnect)


def quietly_there(work: Callable[[], T]) -> T:
    """Does work in a warehouse and keeps what it says about rows to itself."""
    try:
        return work()
    except Exception:  # noqa: BLE001, S110  every driver has errors of its own
        pass
    # Raised out here so that the original error, which may quote rows, is not its context.
    raise DataError(
        "The warehouse could not give or count the rows.",
        advice="Its own log says why. Check that the table is there and that the user may read it.",
    )


def _connected(url: str, kind: Kind) -> Any:
    try:
        return ibis.connect(url)  # noqa: TID251  the one place
    except ImportError:
        trouble = DataError(
            f"The driver of {kind.name} is not installed.",
            advice=f'Install it: pip install "{kind.install}"',
        )
    except Exception:  # noqa: BLE001  every driver has errors of its own
        trouble = DataError(
            "The warehouse does not answer, or refuses the user.",
            advice="Check the url in [engine]: host, port, database, user and password.",
        )
    raise trouble
