"""Every engine there is, for tests that ask all of them the same."""

from collections import Counter
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
# Of so many questions each engine is asked one in every run, and the others in `make test-long`.
# A question takes a cluster some five seconds, however few rows there are.
_ASKED_ONE_OF = {
    "cluster, Parquet": 40,
    "cluster, CSV": 40,
    "clickhouse": 6,
    "duckdb": 6,
    "postgres": 3,
    "DuckDB, CSV": 3,
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves most questions to some engines to `make test-long`; DuckDB gets all."""
    asked: Counter[str] = Counter()
    for item in items:
        if item.path.parent == Path(__file__).parent:
            name = _engine_of(item)
            if asked[name] % _ASKED_ONE_OF.get(name, 1):
                item.add_marker(pytest.mark.long)
            asked[name] += 1


def _engine_of(item: pytest.Item) -> str:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return str(parameters.get("engine", parameters.get("warehouse", "")))


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
