"""A site of several months in a real browser: a slider over steps, trends, and what changed."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

import hushway
from support.little_sites import hosted
from support.monthly import publish_months


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of four months, given in another order than theirs."""
    folder = tmp_path_factory.mktemp("site")
    months = sorted(publish_months(folder).iterdir(), reverse=True)
    hushway.site(months, to=folder / "site", one_file=folder / "report.html")
    return folder / "site"


@pytest.fixture(params=["hosted", "one file"])
def page(request: pytest.FixtureRequest, site: Path, browser: Browser) -> Iterator[Page]:
    with hosted(site) as address:
        first = address if request.param == "hosted" else (site.parent / "report.html").as_uri()
        found = browser.new_page()
        found.goto(f"{first}#trips-in-2026-03")
        yield found
        found.close()


def test_a_slider_goes_from_month_to_month_and_keeps_the_place(page: Page) -> None:
    step, value = page.get_by_test_id("step"), page.get_by_test_id("step-value")
    expect(step).to_have_value("2", timeout=30_000)
    expect(page.get_by_test_id("trend")).to_contain_text("There is no release of 2026-02.")
    march = value.inner_text()
    step.press("ArrowRight")
    expect(page).to_have_title("Trips in 2026-04")
    expect(value).not_to_have_text(march)
    page.locator("#search").fill("B")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("trend")).to_contain_text("From here")
    page.get_by_test_id("step").press("ArrowLeft")
    expect(page).to_have_title("Trips in 2026-03")
    expect(page.get_by_test_id("trend")).to_contain_text("B, month by month")


def test_what_is_told_is_what_python_answers(page: Page, site: Path) -> None:
    series = hushway.series(site.parent / "releases")
    trend = page.get_by_test_id("trend")
    expect(trend).to_contain_text("2026-Q1, 2 of 3 months", timeout=30_000)
    (quarter,) = [one for one in series.sum(by="quarter") if one.label.startswith("2026-Q1")]
    expect(trend).to_contain_text(f"{quarter.value:,.0f}")
    changes = page.get_by_test_id("changes")
    changes.locator("summary").click()
    assert series.changes()
    expect(changes).to_contain_text("All trips, 2026-03 to 2026-04")
    expect(changes).to_contain_text("Destinations B (b), 2026-03 to 2026-04")


def test_everybody_can_use_it(page: Page) -> None:
    expect(page.get_by_test_id("map")).to_have_attribute("data-state", "drawn", timeout=30_000)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_releases_of_different_cities_are_no_series(site: Path, tmp_path: Path) -> None:
    one = site.parent / "releases" / "2026-01"
    again = shutil.copytree(one, tmp_path / "again")
    hushway.site([one, again], to=tmp_path / "site")
    assert "series" not in json.loads((tmp_path / "site" / "site.json").read_bytes())
    assert "series" in json.loads((site / "site.json").read_bytes())
