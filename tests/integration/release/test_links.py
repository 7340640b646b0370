"""A release of links, from GPS traces to a verified folder, as a steward makes it."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import hushway
from hushway.families.links.city.road_city import road_city
from hushway.families.links.city.simulate import simulate_traces
from hushway.families.links.city.traces_city import TraceCity
from hushway.privacy.ledger import Ledger
from hushway.release.job import window_of_days
from hushway.steward.publish import publish
from support.city_plan import change, invoke, job_of, link_with_template
from support.long import often


@pytest.fixture(scope="module")
def made() -> TraceCity:
    return simulate_traces(road_city(3, links=1000), 3, people=400)


@pytest.fixture(scope="module")
def files_of_town(made: TraceCity, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("roads")
    made.write(folder)
    (folder / "roads").mkdir()
    for name in ("node.csv", "link.csv"):
        (folder / name).rename(folder / "roads" / name)
    return folder


@pytest.fixture
def city(files_of_town: Path, made: TraceCity, tmp_path: Path) -> Path:
    """The template as a plan, with a generous budget, beside the town's files."""
    link_with_template(tmp_path, files_of_town, "links")
    change(tmp_path, 'zone = "America/Los_Angeles"', f'zone = "{made.zone}"')
    change(tmp_path, "first_day = 2019-01-14", f"first_day = {made.first_day}")
    change(tmp_path, "last_day = 2019-01-14", f"last_day = {made.last_day}")
    change(tmp_path, 'epsilon = "1"                  # in', 'epsilon = "30" # in')
    change(tmp_path, 'most_dropped = "1/2" ', 'most_dropped = "1" ')
    return tmp_path


def open_account(city: Path, *words: str) -> None:
    opened = invoke(
        "ledger", "open", city / "plan.toml", *(words or ("--epsilon", "40", "--delta", "1e-6"))
    )
    assert opened.exit_code == 0, opened.output


def links(folder: Path) -> dict[str, Any]:
    table: dict[str, Any] = pq.read_table(folder / "links.parquet").to_pydict()
    return table


def test_the_whole_way_on_the_command_line(city: Path, made: TraceCity) -> None:
    plan = city / "plan.toml"
    assert invoke("plan", "new", "links").output.startswith("#:schema links")
    checked = invoke("check", plan)
    assert checked.exit_code == 0, checked.output
    assert f"{made.roads.links:,} links" in checked.output
    open_account(city)
    priced = invoke("price", plan, "--json")
    assert json.loads(priced.output)["affordable"]
    done = invoke("publish", plan, "--yes")
    assert done.exit_code == 0, done.output
    verified = invoke("verify", city / "release")
    assert verified.exit_code == 0, verified.output
    table = links(city / "release")
    assert 10 < len(table["count"]) < made.roads.links
    assert min(table["count"]) > 0
    assert min(table["standard_error"]) > 0
    with Ledger.connect(city / "ledger.db") as ledger:
        assert ledger.unpublished() == []
        assert ledger.accounts()[0].spent > 0
        days = window_of_days(made.first_day, made.last_day, made.zone)
        assert ledger.entries()[1].window == days
        assert ledger.check() == []


def test_traces_in_a_format_of_instants_have_a_window_of_instants(
    city: Path, made: TraceCity
) -> None:
    assert job_of(city).window.clock == "local"
    text = (city / "plan.toml").read_text(encoding="utf-8")
    before, after = text.split('format = "table"')
    # A format of its own has neither a clock nor columns.
    after = after[after.index("[roads]") :]
    (city / "plan.toml").write_text(f'{before}format = "gpx"\n{after}', encoding="utf-8")
    days = window_of_days(made.first_day, made.last_day, made.zone, clock="utc")
    assert job_of(city).window == days


def test_published_links_are_those_that_people_were_on(city: Path, made: TraceCity) -> None:
    open_account(city)
    table = links(publish(job_of(city)).folder)
    driven = set(made.roads.link_id[np.unique(made.truth.link)].tolist())
    ids = [str(link) for link in table["link_id"]]
    # With a budget as large as this, nearly all that stands out was driven on.
    assert np.mean([link in driven for link in ids]) > 0.8


OPTIONS: dict[str, dict[str, str]] = {
    "speeds and hours": {
        'speeds = "0" ': 'speeds = "0.25" ',
        "minutes = 1440 ": "minutes = 360 ",
    },
    "unfitted, every link": {
        "shrink_to_class = true ": "shrink_to_class = false ",
        "conserve = true ": "conserve = false ",
        "publish_above_se = 2 ": "publish_above_se = 0 ",
        'classes = "0.1" ': 'classes = "0" ',
    },
    "noise at the ends": {
        "# [ends] ": "[ends] ",
        '# epsilon = "2" ': 'epsilon = "1" ',
        "# radius = 200 ": "radius = 300 ",
        "# max_trips = 2 ": "max_trips = 3 ",
    },
    "few items and no trip numbers": {
        'max_items = "auto" ': "max_items = 40 ",
        'trip = "trip" ': "# ",
    },
}


@pytest.mark.parametrize("name", often(OPTIONS, first=2))
def test_every_option_publishes_a_release_that_verifies(city: Path, name: str) -> None:
    for old, new in OPTIONS[name].items():
        change(city, old, new)
    open_account(city)
    published = publish(job_of(city))
    report = hushway.verify(published.folder)
    assert report.passed, report


def test_noise_at_the_ends_is_told_beside_the_claim(city: Path) -> None:
    for old, new in OPTIONS["noise at the ends"].items():
        change(city, old, new)
    words = " ".join(job_of(city).terms.not_protected)
    assert "1 for 300 m and each end" in words
    assert "does not need it" in words
    assert "may point at the true ones" in words


def test_laplace_noise_is_paid_in_epsilon(city: Path) -> None:
    change(city, 'noise = "auto" ', 'noise = "laplace" ')
    open_account(city, "--epsilon", "40")
    published = publish(job_of(city))
    assert hushway.verify(published.folder).passed
    with Ledger.connect(city / "ledger.db") as ledger:
        assert ledger.accounts()[0].spent == Fraction(30)


def test_traces_may_be_text_with_text_persons(city: Path) -> None:
    traces = pq.read_table(city / "traces.parquet").select(["person", "trip", "time", "lon", "lat"])
    persons = pa.array([f"car {code}" for code in traces["person"].to_pylist()])
    pc.write_csv(traces.set_column(0, "person", persons), city / "traces.csv")
    change(city, 'traces = "traces.parquet"', 'traces = "traces.csv"')
    open_account(city)
    assert hushway.verify(publish(job_of(city)).folder).passed


def test_a_window_without_a_single_trip_is_published_as_noise(city: Path, made: TraceCity) -> None:
    change(city, f"first_day = {made.first_day}", "first_day = 2031-01-06")
    change(city, f"last_day = {made.last_day}", "last_day = 2031-01-06")
    open_account(city)
    published = publish(job_of(city))
    assert hushway.verify(published.folder).passed
