"""A release as readers open it: tables for their libraries, and a summary for notebooks."""

import doctest
import sys
from pathlib import Path
from typing import Any

import pytest

import hushway
from hushway.errors import HushwayError, ReleaseError
from hushway.families.load import plan_from
from hushway.privacy.accounting import budget_limit_for
from hushway.privacy.loss import PureLoss, exact
from support.little_plans import FAMILIES, little_plan, write_little_files
from support.long import often

TITLE = '<script>alert("x")</script> & co'


def published(folder: Path, family: str, **release: str) -> Path:
    write_little_files(folder)
    facts = little_plan(family)
    facts["release"] |= release
    job = hushway.prepare(plan_from(facts, folder=folder))
    delta = job.plan.privacy.delta
    with hushway.Ledger.connect(job.plan.ledger_url()) as ledger:
        budget_limit = (
            PureLoss(exact("4")) if delta is None else budget_limit_for(exact("4"), delta)
        )
        ledger.open_account(job.account, budget_limit, delta=delta)
    return hushway.publish(job).folder


@pytest.fixture(scope="module")
def od(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(tmp_path_factory.mktemp("od"), "od")


@pytest.mark.parametrize("family", often(FAMILIES, first=2))
def test_every_table_of_a_release_can_be_read(family: str, tmp_path: Path) -> None:
    release = hushway.open(str(published(tmp_path, family)))
    assert release.tables[0] in {"trips", "sequences", "density", "links"}
    for name in release.tables:
        described = release._resources[name]["schema"]["fields"]
        assert release.arrow(name).column_names == [field["name"] for field in described]


def test_ids_stay_text_and_what_was_guarded_is_as_it_was(tmp_path: Path) -> None:
    write_little_files(tmp_path)
    file = tmp_path / "places.csv"
    file.write_text(file.read_text("utf-8").replace("a,a,", "a,=cmd,"), encoding="utf-8")
    facts = little_plan("od")
    job = hushway.prepare(plan_from(facts, folder=tmp_path))
    with hushway.Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, PureLoss(exact("4")))
    places = hushway.open(hushway.publish(job).folder).arrow("places")
    assert "=cmd" in places["name"].to_pylist()
    assert places.schema.field("id").type == "string"


def test_tables_come_for_pandas_and_geopandas(od: Path) -> None:
    pandas = pytest.importorskip("pandas")
    geopandas = pytest.importorskip("geopandas")
    release = hushway.open(od)
    frame = release.pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == release.arrow().num_rows
    places = release.geopandas("places")
    assert isinstance(places, geopandas.GeoDataFrame)
    assert places.geometry.iloc[0].x == pytest.approx(-8.60)
    with pytest.raises(ReleaseError, match="has no places"):
        release.geopandas("trips")


def test_tables_come_for_polars(od: Path) -> None:
    polars = pytest.importorskip("polars")
    release = hushway.open(od)
    frame = release.polars()
    assert isinstance(frame, polars.DataFrame)
    assert frame.columns == release.arrow().column_names
    assert frame["count"].to_list() == release.arrow()["count"].to_pylist()
    assert release.polars("places")["id"].to_list() == ["a", "b", "c", "d"]


def test_shapes_come_with_the_table_that_has_them(tmp_path: Path) -> None:
    pytest.importorskip("geopandas")
    areas = hushway.open(published(tmp_path, "density")).geopandas()
    assert set(areas.geom_type) == {"Polygon"}


def test_a_library_that_is_missing_is_named_with_the_command_that_installs_it(
    od: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = hushway.open(od)
    for library in ("pandas", "polars", "geopandas"):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(HushwayError) as missing:
            getattr(release, library)("places")
        assert missing.value.advice.startswith(f"Install it: pip install {library}.")


def test_a_table_that_is_not_there_is_refused_by_name(od: Path) -> None:
    with pytest.raises(ReleaseError, match="no table 'nothing'"):
        hushway.open(od).arrow("nothing")


def test_a_changed_release_is_not_opened(tmp_path: Path) -> None:
    folder = published(tmp_path, "od")
    with (folder / "places.csv").open("a", encoding="utf-8") as file:
        file.write("e,e,0,0,east\n")
    with pytest.raises(ReleaseError, match="were changed: places"):
        hushway.open(folder)
    with pytest.raises(ReleaseError, match="There is no folder nowhere"):
        hushway.open(tmp_path / "nowhere")


def test_a_notebook_shows_picture_sums_error_and_guarantee_and_fetches_nothing(
    tmp_path: Path,
) -> None:
    release = hushway.open(published(tmp_path, "od", title=TITLE))
    shown = release._repr_html_()
    assert "src='data:image/png;base64," in shown
    assert "http" not in shown.replace(shown.partition("base64,")[2].partition("'")[0], "")
    assert "ε = 1 per person" in shown
    assert "standard deviation" in shown
    assert f"{release.arrow().num_rows:,} rows" in shown
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


@pytest.mark.parametrize(
    "function", often(["open", "check", "evaluate", "audit", "recommend"], first=4)
)
def test_examples_of_public_functions_run(
    function: str, od: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(od.parent)
    facts = little_plan("od")
    facts["release"]["folder"] = "next"
    _write_plan(Path("plan.toml"), facts)
    finder = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    [examples] = finder.find(
        getattr(hushway, function), function, module=False, globs={"hushway": hushway}
    )
    assert examples.examples
    assert runner.run(examples).failed == 0


def _write_plan(path: Path, facts: dict[str, Any]) -> None:
    lines = [f'{key} = "{value}"' for key, value in facts.items() if isinstance(value, str)]
    for table, options in facts.items():
        if isinstance(options, dict):
            lines += _table(table, options)
    path.write_text("\n".join(lines), encoding="utf-8")


def _table(name: str, options: dict[str, Any]) -> list[str]:
    plain = {key: value for key, value in options.items() if not isinstance(value, dict)}
    lines = [f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in plain.items())]
    for key, value in options.items():
        if isinstance(value, dict):
            lines += _table(f"{name}.{key}", value)
    return lines


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)
