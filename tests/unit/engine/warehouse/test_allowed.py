import sys

import pytest

from hushway.engine.opening import open_session
from hushway.engine.settings import EngineSettings, Warehouse
from hushway.engine.warehouse.connection import kind_of
from hushway.errors import DataError


def opened(url: str) -> None:
    with open_session(EngineSettings(memory_limit="500MB", warehouse=Warehouse(url=url))):
        pass


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("sqlite:///rows.db", "silently keeps other rows"),
        ("polars://", "lacks windows"),
        ("mysql://host/rows", "has not passed"),
        ("datafusion://", "has not passed"),
        ("secret", "has not passed"),
    ],
)
def test_what_counts_otherwise_or_is_not_known_is_refused(url: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason) as refused:
        opened(url)
    assert "secret" not in str(refused.value)


def test_only_what_was_compared_counts_inside() -> None:
    schemes = ("postgres", "clickhouse", "bigquery", "databricks", "snowflake", "trino", "duckdb")
    counting = [scheme for scheme in schemes if kind_of(f"{scheme}://host/rows").counts]
    assert counting == ["postgres"]


def test_a_driver_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trino", None)
    monkeypatch.delitem(sys.modules, "ibis.backends.trino", raising=False)
    with pytest.raises(DataError) as refused:
        opened("trino://user@host/rows")
    assert refused.value.advice == 'Install it: pip install "ibis-framework[trino]"'


def test_a_duckdb_database_that_is_not_there_is_refused() -> None:
    with pytest.raises(DataError, match="cannot be opened"):
        opened("duckdb:///nowhere/rows.counter")
