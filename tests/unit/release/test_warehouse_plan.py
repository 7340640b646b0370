from pathlib import Path
from typing import Any

import pytest

from hushway.errors import DataError, PlanError
from hushway.families.load import plan_from, prepare, with_environment
from hushway.release.job import settings_of
from hushway.release.plans.sections import AnyPlan
from support.little_plans import little_plan, write_little_files

NEVER_SEEN = "planted"
URL = f"postgres://steward:{NEVER_SEEN}@host/city"


def plan_of(folder: Path, engine: dict[str, Any], trips: str = "table:city.trips") -> AnyPlan:
    facts = little_plan("od")
    facts["engine"] |= engine
    facts["data"]["trips"] = trips
    write_little_files(folder)
    return plan_from(facts, folder=folder)


@pytest.mark.parametrize("engine", [{}, {"kind": "warehouse"}])
def test_a_plan_that_names_a_table_can_be_priced_without_a_warehouse(
    tmp_path: Path, engine: dict[str, Any]
) -> None:
    assert prepare(plan_of(tmp_path, engine)).bound.total == 2


def test_a_warehouse_must_have_an_address_where_rows_are_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nothing says where it is"):
        settings_of(plan_of(tmp_path, {"kind": "warehouse"}))


def test_a_table_is_not_looked_for_among_files(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, {"kind": "warehouse", "url": URL})
    assert vars(prepare(plan, rows=True).rows)["source"].path == "table:city.trips"


@pytest.mark.parametrize("engine", [{}, {"kind": "spark", "master": "local[1]"}])
def test_a_table_needs_a_warehouse(tmp_path: Path, engine: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="The trips are a table of a warehouse") as refused:
        prepare(plan_of(tmp_path, engine), rows=True)
    assert 'kind = "warehouse"' in (refused.value.advice or "")


@pytest.mark.parametrize("trips", ["trips.csv", "table:", "table: "])
def test_a_warehouse_needs_a_table(tmp_path: Path, trips: str) -> None:
    plan = plan_of(tmp_path, {"kind": "warehouse", "url": URL}, trips)
    with pytest.raises(DataError, match="not named as a table"):
        prepare(plan, rows=True)


@pytest.mark.parametrize(
    "engine",
    [
        {"kind": "warehouse", "url": NEVER_SEEN},
        {"kind": "duckdb", "url": URL},
        {"kind": "spark", "url": URL},
        {"kind": "warehouse", "url": URL, "master": "local[1]"},
    ],
)
def test_engines_are_told_what_is_theirs(tmp_path: Path, engine: dict[str, Any]) -> None:
    with pytest.raises(PlanError) as refused:
        plan_of(tmp_path, engine)
    assert NEVER_SEEN not in f"{refused.value} {refused.value.advice}"


def test_an_address_is_not_shown_with_its_plan(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, {"kind": "warehouse", "url": URL})
    settings = settings_of(plan)
    assert settings.warehouse is not None
    assert settings.warehouse.url == URL
    assert NEVER_SEEN not in f"{plan!r} {plan} {settings!r}"


def test_the_file_of_a_warehouse_is_named_from_the_plans_folder(tmp_path: Path) -> None:
    for named in ("rows.counter", f"{tmp_path}/rows.counter"):
        plan = plan_of(tmp_path, {"kind": "warehouse", "url": f"duckdb://{named}"})
        warehouse = settings_of(plan).warehouse
        assert warehouse is not None
        assert warehouse.url == f"duckdb://{tmp_path}/rows.counter"


def test_the_environment_may_name_the_warehouse() -> None:
    variables = {"HUSHWAY_ENGINE_KIND": "warehouse", "HUSHWAY_ENGINE_URL": URL}
    assert with_environment({}, variables)["engine"] == {"kind": "warehouse", "url": URL}


@pytest.mark.parametrize("variable", ["HUSHWAY_ENGINE_URL", "HUSHWAY_ENGINE_MASTER"])
def test_an_address_in_the_environment_does_not_trouble_other_plans(variable: str) -> None:
    facts = {"engine": {"kind": "duckdb"}}
    assert with_environment(facts, {variable: URL}) == facts
    assert with_environment({}, {variable: URL}) == {}
