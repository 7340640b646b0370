"""Plans from data frames, by the functions that Python has for each release type."""

import stat
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hushway
from hushway.errors import DataError, PlanError, ReleaseError
from hushway.tables.profile import RowsFound
from support.little_plans import little_plan, material_of, rows_file, write_little_files

WINDOW: dict[str, Any] = {
    "zone": "Europe/Lisbon",
    "first_day": date(2026, 3, 2),
    "last_day": "2026-03-02",
}
FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda rows: rows,
    "polars": pl.from_pandas,
    "arrow": pa.Table.from_pandas,
    "duckdb": duckdb.from_df,
}


@pytest.fixture
def trips(tmp_path: Path) -> pd.DataFrame:
    write_little_files(tmp_path)
    return pd.read_csv(tmp_path / rows_file("od"), parse_dates=["time"])


def plan_of(trips: Any, folder: Path, **more: Any) -> Any:
    places = pd.read_csv(folder / "places.csv")
    given = {"places": places, "folder": folder / "plan", "options": {"time.minutes": 120}}
    return hushway.od(trips, **{**WINDOW, **given, **more})


def found(plan: Any) -> RowsFound:
    checked = hushway.check(plan).found
    assert checked is not None
    return checked


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_becomes_a_plan_whose_rows_count(
    tmp_path: Path, trips: pd.DataFrame, kind: str
) -> None:
    plan = plan_of(FRAMES[kind](trips), tmp_path, epsilon=0.1)
    assert found(plan).read == len(trips)
    assert found(plan).kept > 0
    assert str(plan.privacy.epsilon) == "1/10"
    assert plan.time.minutes == 120
    assert hushway.load_plan(tmp_path / "plan" / "plan.toml") == plan


@pytest.mark.parametrize("family", ["sequences", "density", "links"])
def test_every_release_type_has_its_function(tmp_path: Path, family: str) -> None:
    write_little_files(tmp_path)
    rows = duckdb.read_csv(str(tmp_path / rows_file(family)))
    public = material_of(family).PUBLIC
    files = {public: tmp_path / little_plan(family)[public]["file"]}
    if family == "density":
        files["areas"] = tmp_path / "areas.geojson"
    plan = getattr(hushway, family)(rows, **files, **WINDOW, folder=tmp_path / "plan")
    assert found(plan).kept > 0


def test_only_the_owner_may_read_the_rows(tmp_path: Path, trips: pd.DataFrame) -> None:
    plan_of(trips, tmp_path)
    mode = (tmp_path / "plan" / "rows.parquet").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_a_plan_is_replaced_only_if_that_is_said(tmp_path: Path, trips: pd.DataFrame) -> None:
    plan_of(trips, tmp_path)
    with pytest.raises(ReleaseError, match="exists already"):
        plan_of(trips.head(10), tmp_path)
    plan = plan_of(trips.head(10), tmp_path, replace=True)
    assert found(plan).read == 10


def test_nothing_is_left_of_a_frame_that_cannot_be_used(
    tmp_path: Path, trips: pd.DataFrame
) -> None:
    with pytest.raises(PlanError, match="no column of the name"):
        plan_of(trips, tmp_path, origin="elsewhere")
    mixed = trips.astype({"person": object})
    mixed.loc[0, "person"] = pd.Timestamp("2026-03-02")
    with pytest.raises(DataError, match="cannot be taken as a table") as refusal:
        plan_of(mixed, tmp_path)
    assert "2026" not in str(refusal.value)
    with pytest.raises(DataError, match="cannot be taken as a table"):
        plan_of([1, 2, 3], tmp_path)
    assert list((tmp_path / "plan").iterdir()) == []


def test_a_plan_is_shown_in_one_line(tmp_path: Path, trips: pd.DataFrame) -> None:
    shown = repr(plan_of(trips, tmp_path))
    assert shown.startswith("<od plan")
    assert "epsilon 1 per person" in shown
    assert len(shown) < 300
