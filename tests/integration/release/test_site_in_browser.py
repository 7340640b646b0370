"""Sites in a real browser, under their own policies: hosted, and in one file opened from a disk."""

import functools
import threading
from collections.abc import Iterator
from fractions import Fraction
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Request

from hushway.families.load import plan_from, prepare
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.release.documents.papers import INDEX
from hushway.sites.releases import SiteRelease, verified_releases
from hushway.sites.write import fill_site, write_one_file
from hushway.steward.publish import publish
from support.little_plans import FAMILIES, little_plan, write_little_files

# What a name of a place would do, if it were taken for anything but a name.
EVIL = "</script><img src=x onerror=document.title='run'><script>document.title='run'</script>"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def made(
    browser: Browser,  # noqa: ARG001  nothing is published where nobody looks
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, tuple[SiteRelease, ...]]:
    """A site and a page of little releases of all types, with places whose names are markup."""
    folder = tmp_path_factory.mktemp("site")
    releases = []
    for family in FAMILIES:
        place = folder / family
        place.mkdir()
        write_little_files(place)
        lists = place / "places.csv"
        lists.write_text(lists.read_text().replace("a,a,", f'a,"{EVIL}",'))
        plan = little_plan(family)
        plan["release"]["title"] = f"{family} {EVIL.replace('/', ' ')}"
        job = prepare(plan_from(plan, folder=place))
        with Ledger.connect(job.plan.ledger_url()) as ledger:
            ledger.open_account(job.account, loss_of(Measure.ZCDP, Fraction(1000)))
        releases.append(publish(job).folder)
    with verified_releases(releases) as found:
        fill_site(found, folder / "hosted")
        write_one_file(found, folder / "report.html")
    return folder, found


@pytest.fixture(scope="module", params=["hosted", "one file"])
def address(request: pytest.FixtureRequest, made: tuple[Path, object]) -> Iterator[str]:
    folder, _ = made
    if request.param == "one file":
        yield (folder / "report.html").as_uri()
        return
    handler = functools.partial(_Quiet, directory=folder / "hosted")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


@pytest.mark.parametrize("position", range(len(FAMILIES)), ids=FAMILIES)
def test_a_site_draws_every_release_type_under_its_policy_and_asks_nobody_else(
    browser: Browser, address: str, made: tuple[Path, tuple[SiteRelease, ...]], position: int
) -> None:
    release = made[1][position]
    page: Page = browser.new_page()
    said: list[str] = []
    asked: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        said.append(message.text)

    def note(request: Request) -> None:
        asked.append(request.url)

    page.on("console", hear)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", note)
    page.goto(f"{address}#{release.slug}")
    page.wait_for_selector("[data-testid=map][data-state=drawn]")
    text = page.inner_text("body")
    page.close()
    # A policy that forbids something says so here.
    assert said == []
    assert all(url.startswith((address, "data:", "blob:")) for url in asked)
    assert release.title in text


@pytest.mark.parametrize("family", FAMILIES)
def test_the_folder_of_a_release_opens_with_its_own_map(
    browser: Browser, made: tuple[Path, tuple[SiteRelease, ...]], family: str
) -> None:
    release = made[1][FAMILIES.index(family)]
    page: Page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((release.folder / INDEX).as_uri())
    page.wait_for_selector("[data-testid=map][data-state=drawn]")
    # Whoever looks at the map finds the certificate, and the way back.
    page.get_by_role("link", name="Privacy certificate").click()
    page.get_by_role("link", name="See it on a map").click()
    page.wait_for_selector("[data-testid=map][data-state=drawn]")
    assert release.title in page.inner_text("body")
    found = Axe().run(page)
    page.close()
    assert said == []
    assert found.violations_count == 0, found.generate_report()


def test_no_name_is_ever_taken_for_markup(
    browser: Browser, address: str, made: tuple[Path, tuple[SiteRelease, ...]]
) -> None:
    page = browser.new_page()
    for release in made[1]:
        page.goto(f"{address}#{release.slug}?place=0")
        page.wait_for_selector("[data-testid=map][data-state=drawn]")
        assert page.title() != "run"
        assert page.locator("img[src=x]").count() == 0
    page.close()
