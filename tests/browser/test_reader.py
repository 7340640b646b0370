"""The readers' pages in a real browser, on little releases of all four types."""

import json
import re
import shutil
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

import hushway
from hushway.progress import quiet
from hushway.release.formats.places import read_periods
from hushway.release.questions.answers import Answer
from hushway.sites.releases import verified_releases
from hushway.sites.write import fill_site, write_one_file
from support.little_plans import FAMILIES
from support.little_sites import change_atlas, hosted, little_release
from support.long import often
from support.pictures import apart

_WIDE, _PHONE = {"width": 1100, "height": 760}, {"width": 390, "height": 800}
_LOOKS: tuple[tuple[Literal["light", "dark"], dict[str, int]], ...] = (
    ("light", _WIDE),
    ("dark", _PHONE),
)
_SCREENS = Path(__file__).parent / "screens"
# Fonts of another machine move letters; another release type is further away than that.
_ALIKE = 0.1
_OTHER, _PRIVATE = "another-od", "a-private-od"
_MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script>'


@dataclass(frozen=True)
class Sites:
    """What is read.

    Attributes:
        folder: A hosted site.
        address: Where it is hosted.
        one_file: The same releases in one file.
        browser: The browser.
    """

    folder: Path
    address: str
    one_file: Path
    browser: Browser

    @contextmanager
    def opened(self, view: str, address: str | None = None, **options: Any) -> Iterator[Page]:
        """Opens a view; nothing may be asked of anybody else, and nothing may be complained of."""
        first = address or self.address
        with self.browser.new_context(**({"viewport": _WIDE} | options)) as context:
            page = context.new_page()
            asked: list[str] = []
            complaints: list[str] = []
            page.on("request", lambda request: asked.append(request.url))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on(
                "console",
                lambda said: complaints.append(said.text) if said.type == "error" else None,
            )
            page.goto(first + view)
            yield page
            home = first.rsplit("/", 1)[0] + "/"
            strangers = [url for url in asked if not url.startswith((home, "data:", "blob:"))]
            assert strangers == []
            assert complaints == []

    def atlas(self, slug: str) -> dict[str, Any]:
        """Returns the facts of a release."""
        file = self.folder / "releases" / slug / "atlas.json"
        facts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return facts

    def column(self, slug: str, column: dict[str, Any]) -> list[float]:
        """Returns the numbers of a column."""
        data = (self.folder / "releases" / slug / "columns.bin").read_bytes()
        letter = {"f4": "f", "f8": "d", "u4": "I"}[column["type"]]
        return list(struct.unpack_from(f"<{column['length']}{letter}", data, column["at"]))


@pytest.fixture(scope="module")
def sites(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """All four release types, one of them twice, to be compared, and once with real noise."""
    folder = tmp_path_factory.mktemp("sites")
    releases = [
        little_release(folder / family, family, seed=1, title=f"Little {family}")
        for family in FAMILIES
    ]
    releases.append(little_release(folder / "again", "od", seed=2, title="Another od"))
    releases.append(
        little_release(folder / "real", "od", seed=None, mechanism="learned", title="A private od")
    )
    with verified_releases(releases, quiet) as found:
        fill_site(found, folder / "site")
        write_one_file(found, folder / "report.html")
    with hosted(folder / "site") as address:
        yield Sites(folder / "site", address, folder / "report.html", browser)


@pytest.fixture
def harmed(sites: Sites, tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Hosts a copy of the site in which somebody has changed an atlas."""
    copy = tmp_path / "site"
    shutil.copytree(sites.folder, copy)
    with hosted(copy) as address:

        def change(slug: str, how: Callable[[dict[str, Any]], None]) -> str:
            change_atlas(copy, slug, how)
            return address

        yield change


def _slug(family: str) -> str:
    return f"little-{family}"


def _drawn(page: Page) -> None:
    expect(page.get_by_test_id("map")).to_have_attribute("data-state", "drawn", timeout=30_000)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("scheme", "size"), often(_LOOKS), ids=["light, wide", "dark, phone"])
@pytest.mark.parametrize("family", FAMILIES)
def test_everybody_can_read_every_release_type(
    sites: Sites, family: str, scheme: Literal["light", "dark"], size: dict[str, int]
) -> None:
    view = f"#{_slug(family)}?place=1"
    with sites.opened(view, color_scheme=scheme, viewport=size) as page:
        _drawn(page)
        expect(page.get_by_test_id("guarantee")).to_contain_text("protects nobody")
        expect(page.get_by_test_id("stamp")).to_contain_text("NOT PRIVATE")
        expect(page.get_by_test_id("chosen")).to_be_visible()
        expect(page.get_by_test_id("legend")).to_contain_text("below two standard errors")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert not page.evaluate(
            "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )


def test_what_is_private_says_how(sites: Sites) -> None:
    with sites.opened(f"#{_PRIVATE}") as page:
        _drawn(page)
        expect(page.get_by_test_id("guarantee")).to_contain_text("any one person")
        expect(page.get_by_test_id("stamp")).to_have_count(0)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_main_screens_look_as_they_did(sites: Sites, family: str, tmp_path: Path) -> None:
    seen = tmp_path / "screen.png"
    look: Any = {"color_scheme": "dark"} if family == "density" else {}
    with sites.opened(f"#{_slug(family)}?p=0&place=1", **look) as page:
        _drawn(page)
        page.screenshot(path=seen)
    assert apart(seen, _SCREENS / f"{family}.png") < _ALIKE, f"It looks different: {seen}"
    others = [_SCREENS / f"{other}.png" for other in FAMILIES if other != family]
    assert all(apart(seen, other) > _ALIKE for other in others)


def test_numbers_are_those_of_the_release(sites: Sites) -> None:
    facts = sites.atlas(_slug("od"))
    flows, names = facts["flows"], facts["places"]["names"]
    starts = [int(start) for start in sites.column(_slug("od"), flows["starts"])]
    counts, errors, origins, destinations = (
        sites.column(_slug("od"), flows[name])[starts[0] : starts[1]]
        for name in ("count", "error", "origin", "destination")
    )
    rows = range(len(counts))
    best = max(rows, key=lambda row: (counts[row] >= 2 * errors[row], counts[row]))
    with sites.opened(f"#{_slug('od')}?p=0") as page:
        expect(page.get_by_test_id("table")).to_contain_text("2 March 2026")
        page.get_by_label("Show what is too uncertain").check()
        row = page.get_by_test_id("table").locator("tbody tr").first
        expect(row).to_contain_text(
            f"{names[int(origins[best])]} → {names[int(destinations[best])]}"
        )
        expect(row.locator("td").nth(1)).to_contain_text(
            re.compile(rf"^\s*{round(counts[best])}(\.\d+)? \(.+ to .+\)")
        )


def test_it_is_read_with_the_keyboard_alone(sites: Sites) -> None:
    with sites.opened(f"#{_slug('od')}") as page:
        _drawn(page)
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the numbers")).to_be_focused()
        for _ in range(12):
            page.keyboard.press("Tab")
            if page.evaluate("() => document.activeElement.dataset.testid") == "map":
                break
        chart = page.get_by_test_id("map")
        expect(chart).to_be_focused()
        assert (
            page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle") == "solid"
        )
        before = page.url
        for key in ("+", "+", "ArrowRight", "ArrowUp", "-"):
            chart.press(key)
        _drawn(page)
        page.wait_for_url(lambda url: url != before)
        page.keyboard.press("0")
        search = page.get_by_role("combobox", name="Search for a place")
        search.focus()
        page.keyboard.type("b")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("chosen")).to_be_visible()
        expect(page.get_by_test_id("said")).not_to_be_empty()
        # What was found stands in the middle now.
        chart.focus()
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("chosen")).to_have_count(0)
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("chosen")).to_be_visible()
        time = page.get_by_role("slider").first
        time.focus()
        shown = page.get_by_test_id("period").inner_text()
        page.keyboard.press("ArrowRight" if time.input_value() == "0" else "ArrowLeft")
        expect(page.get_by_test_id("period")).not_to_have_text(shown)


def test_a_click_chooses_and_the_address_shares_it(sites: Sites) -> None:
    with sites.opened(f"#{_slug('density')}") as page:
        _drawn(page)
        page.get_by_role("button", name="Period after").click()
        box = page.get_by_test_id("map").bounding_box()
        assert box is not None
        # The areas are two by two: a quarter into the map is within the first column.
        page.mouse.click(box["x"] + 0.5 * box["width"] - 60, box["y"] + 0.5 * box["height"] - 60)
        chosen = page.locator("#chosen-title").inner_text()
        period = page.get_by_test_id("period").inner_text()
        value = page.get_by_test_id("value").inner_text()
        page.wait_for_url(re.compile("place=.*"))
        shared = page.url.partition("#")[2]
    with sites.opened(f"#{shared}") as page:
        _drawn(page)
        expect(page.locator("#chosen-title")).to_have_text(chosen)
        expect(page.get_by_test_id("period")).to_have_text(period)
        expect(page.get_by_test_id("value")).to_have_text(value)


def test_a_sum_of_what_is_chosen_is_that_of_python(sites: Sites) -> None:
    release = hushway.open(sites.folder / "releases" / _PRIVATE / "files")
    facts = sites.atlas(_PRIVATE)
    ids, names = facts["places"]["ids"], facts["places"]["names"]

    def told(page: Page, answer: Answer) -> None:
        shown = page.get_by_test_id("sum-value").inner_text()
        numbers = [float(each) for each in re.findall(r"[\d.]+", shown.replace(",", ""))]
        assert numbers == pytest.approx([answer.value, answer.low, answer.high], abs=0.51), shown

    with sites.opened(f"#{_PRIVATE}?p=0&place=0") as page:
        _drawn(page)
        period = read_periods(_periods_of(sites)).labels[0]
        page.get_by_text("Add up flows").click()
        told(page, release.sum(periods=period))
        page.get_by_role("group", name="From").get_by_role("button", name="Add").click()
        told(page, release.sum(periods=period, origins=ids[0]))
        expect(page.get_by_test_id("sum")).to_contain_text(f"From {names[0]} to anywhere")
        search = page.get_by_role("combobox", name="Search for a place")
        for place in (1, 2):
            search.fill(names[place])
            search.press("Enter")
            page.get_by_role("group", name="To").get_by_role("button", name="Add").click()
        told(page, release.sum(periods=period, origins=ids[0], destinations=ids[1:3]))
        page.get_by_role("checkbox", name="All periods").check()
        told(page, release.sum(origins=ids[0], destinations=ids[1:3]))
        page.get_by_role("button", name=f"Take {names[0]} out").click()
        told(page, release.sum(destinations=ids[1:3]))
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


def test_groups_of_places_are_shown_and_opened(sites: Sites, harmed: Callable[..., str]) -> None:
    def group(facts: dict[str, Any]) -> None:
        places, flows = facts["places"], facts["flows"]
        names = [f"Around {name}" for name in places["names"]]
        # Any places will do: the first rows say which.
        some = flows["origin"] | {"length": len(names)}
        level = {"group": some, "places": places | {"names": names}}
        facts["levels"] = [level | {"totals": facts["totals"], "flows": flows}]

    with sites.opened(f"#{_PRIVATE}?p=0", harmed(_PRIVATE, group)) as page:
        _drawn(page)
        page.get_by_label("Show what is too uncertain").check()
        shown = page.get_by_test_id("detail")
        shown.select_option("1")
        expect(page.get_by_test_id("table")).to_contain_text("Around")
        shown.select_option("0")
        expect(page.get_by_test_id("table")).not_to_contain_text("Around")
        expect(page.get_by_test_id("legend-words")).to_contain_text("bend to the right")


def _periods_of(sites: Sites) -> bytes:
    return (sites.folder / "releases" / _PRIVATE / "files" / "periods.csv").read_bytes()


def test_sequences_are_unfolded(sites: Sites) -> None:
    with sites.opened(f"#{_slug('sequences')}") as page:
        _drawn(page)
        tree = page.get_by_test_id("tree")
        more = tree.get_by_role("button", name=re.compile("What follows")).first
        lines = tree.locator("li").count()
        more.click()
        expect(more).to_have_attribute("aria-expanded", "true")
        expect(tree.locator("li li").first).to_be_visible()
        assert tree.locator("li").count() > lines
        tree.locator("li li button.name").first.click()
        expect(page.get_by_test_id("said")).to_contain_text(", then ")


def test_two_releases_are_compared_with_the_errors_of_both(sites: Sites) -> None:
    with sites.opened(f"#{_slug('od')}?vs={_OTHER}") as page:
        _drawn(page)
        expect(page.get_by_test_id("comparison")).to_contain_text("with the errors of both")
        expect(page.get_by_test_id("versus")).to_have_value(_OTHER)
        expect(page.get_by_test_id("table")).to_contain_text(re.compile(r"[+\u2212]\d"))
        page.get_by_test_id("versus").select_option("")
        expect(page.get_by_test_id("comparison")).to_have_count(0)


def test_what_cannot_be_compared_is_not(sites: Sites, harmed: Callable[..., str]) -> None:
    address = harmed(_OTHER, lambda facts: facts.update(counted="cats"))
    with sites.opened(f"#{_slug('od')}?vs={_OTHER}", address) as page:
        expect(page.get_by_test_id("refusal")).to_contain_text("cannot be compared")
        _drawn(page)


def test_names_are_never_markup(sites: Sites, harmed: Callable[..., str]) -> None:
    def rename(facts: dict[str, Any]) -> None:
        facts["title"] = facts["guarantee"] = facts["publisher"] = facts["stamp"] = _MARKUP
        facts["places"]["names"] = [_MARKUP for _ in facts["places"]["names"]]
        facts["notes"] = [_MARKUP]

    address = harmed(_slug("od"), rename)
    with sites.opened(f"#{_slug('od')}?place=0", address) as page:
        _drawn(page)
        expect(page.get_by_role("heading", level=1)).to_have_text(_MARKUP)
        expect(page.locator("#chosen-title")).to_contain_text("<script>")
        assert page.locator("img").count() == 0
        assert page.title() == _MARKUP


def _endless(facts: dict[str, Any]) -> None:
    facts["flows"]["count"]["length"] = 2**40


def _far_away(facts: dict[str, Any]) -> None:
    facts["flows"]["count"]["at"] = 2**40


def _nowhere(facts: dict[str, Any]) -> None:
    facts["bounds"] = [None, None, None, None]


def _elsewhere(facts: dict[str, Any]) -> None:
    facts["downloads"][0]["path"] = "https://evil.example/"


@pytest.mark.parametrize("harm", often([_endless, _far_away, _nowhere, _elsewhere], first=2))
def test_a_hostile_atlas_is_one_clear_sentence(
    sites: Sites, harmed: Callable[..., str], harm: Callable[[dict[str, Any]], None]
) -> None:
    address = harmed(_slug("od"), harm)
    with sites.opened(f"#{_slug('od')}", address) as page:
        expect(page.get_by_test_id("problem")).to_be_visible()
        expect(page.get_by_test_id("problem")).not_to_be_empty()
        # The other releases are still there.
        page.get_by_role("link", name="Little density").click()
        _drawn(page)


def test_one_file_holds_everything(sites: Sites) -> None:
    with sites.opened(f"#{_slug('links')}", sites.one_file.as_uri()) as page:
        _drawn(page)
        expect(page.get_by_test_id("guarantee").get_by_role("link")).to_have_count(1)
        expect(page.get_by_test_id("downloads")).to_contain_text("came as a single file")
        page.get_by_test_id("release").select_option(_slug("sequences"))
        expect(page.get_by_role("heading", level=1)).to_have_text("Little sequences")
        _drawn(page)


def test_certificate_and_files_are_there(sites: Sites) -> None:
    with sites.opened(f"#{_slug('od')}") as page:
        # Links are listed below at once, so they must all be there.
        _drawn(page)
        home = sites.address.rsplit("/", 1)[0]
        links = [
            page.get_by_test_id("guarantee").get_by_role("link", name="Certificate"),
            *page.get_by_test_id("downloads").get_by_role("link").all(),
        ]
        assert len(links) == 1 + len(sites.atlas(_slug("od"))["downloads"])
        for link in links:
            path = link.get_attribute("href")
            assert page.request.get(f"{home}/{path}").ok, path


def test_nothing_moves_by_itself_for_those_who_asked_for_that(sites: Sites) -> None:
    with sites.opened(f"#{_slug('od')}", reduced_motion="reduce") as page:
        _drawn(page)
        expect(page.get_by_role("button", name="Period after")).to_be_visible()
        expect(page.get_by_role("button", name="Play")).to_have_count(0)
    with sites.opened(f"#{_slug('od')}?p=0") as page:
        expect(page.get_by_role("button", name="Play")).to_be_visible()
        shown = page.get_by_test_id("period").inner_text()
        page.get_by_role("button", name="Play").click()
        expect(page.get_by_test_id("period")).not_to_have_text(shown)
