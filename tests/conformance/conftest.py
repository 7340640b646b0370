"""Every engine there is, for tests that ask all of them the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from support.conformance.engines import (
    SESSION_ZONE,
    Engine,
    in_csv,
    in_parquet,
    in_warehouse,
    on_cluster,
)
from support.warehouses import Holding, clickhouse, duckdb_file, postgres

WAREHOUSES = ["postgres", "duckdb", "clickhouse"]
ENGINES = [
    "DuckDB, Parquet",
    "DuckDB, CSV",
    *WAREHOUSES,
    pytest.param("cluster, Parquet", marks=pytest.mark.cluster),
    pytest.param("cluster, CSV", marks=pytest.mark.cluster),
]
# A question takes a cluster some five seconds, however few rows there are. Of warehouses PostgreSQL
# is asked everything.
_OF_SO_MANY_A_CLUSTER_GETS_ONE = 20
_OF_SO_MANY_OTHER_WAREHOUSES_GET_ONE = 4


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves most questions to some engines to `make test-long`; the others get all."""
    here = [item for item in items if item.path.parent == Path(__file__).parent]
    for seldom, one_of in (
        (_on_a_cluster, _OF_SO_MANY_A_CLUSTER_GETS_ONE),
        (_in_another_warehouse, _OF_SO_MANY_OTHER_WAREHOUSES_GET_ONE),
    ):
        for number, item in enumerate(filter(seldom, here)):
            if number % one_of:
                item.add_marker(pytest.mark.long)


def _on_a_cluster(item: pytest.Item) -> bool:
    return item.get_closest_marker("cluster") is not None


def _in_another_warehouse(item: pytest.Item) -> bool:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return not {"duckdb", "clickhouse"}.isdisjoint(
        str(parameters.get(name)) for name in ("engine", "warehouse")
    )


@pytest.fixture(params=ENGINES)
def engine(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Engine]:
    name = request.param
    if name in WAREHOUSES:
        with _holding(name, request, tmp_path, monkeypatch) as holding:
            yield in_warehouse(holding)
    elif name.startswith("cluster"):
        form = "csv" if name.endswith("CSV") else "parquet"
        yield on_cluster(request.getfixturevalue("cluster").master, form)
    else:
        yield in_csv() if name.endswith("CSV") else in_parquet()


@pytest.fixture(params=WAREHOUSES)
def warehouse(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Holding]:
    with _holding(request.param, request, tmp_path, monkeypatch) as holding:
        yield holding


@pytest.fixture
def postgresql(fresh_postgres_url: str) -> Holding:
    return postgres(fresh_postgres_url)


@contextmanager
def _holding(
    name: str, request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Holding]:
    if name == "postgres":
        holding = postgres(request.getfixturevalue("fresh_postgres_url"))
        zone = SESSION_ZONE.replace("/", "%2F")
        yield replace(holding, url=f"{holding.url}%20-ctimezone%3D{zone}")
    elif name == "duckdb":
        yield duckdb_file(folder)
    else:
        with clickhouse(monkeypatch) as holding:
            yield holding
