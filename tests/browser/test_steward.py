"""The steward's way in a real browser: from sources to ledger, refusals and interruptions included.

One server serves a city with a plan for each test; publishes of it wait where a test says so.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from hushway.families.load import load_plan, prepare
from hushway.families.verify import verify
from hushway.steward.publish import publish
from support import held_child
from support.chromium import running_chromium
from support.little_bench import HEAD, open_account, spent, wait_for, write_plan
from support.messy_files import MESSY, Messy, write_messy
from support.monthly import plan_with, publish_months
from support.other_port import another_port
from support.pictures import apart

# Each task is a process that loads large libraries; a busy machine takes its time.
_PATIENCE_MS = 120_000
_WIDE, _PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 800}
_STEPS = ("sources", "plan", "price", "publish", "certificate", "ledger")
# A name that strangers have given the number of this machine.
_REBOUND = "rebound.example"
_EVIL = "http://evil.example/"
_ALIKE = 0.1
# The budget of a first plan, where it is not 1.
_EPSILONS = {"calls.csv": "0.3", "phones.csv": "0.3"}
_PLANS = ("way", "stopped", "tabs", "seen", "keys", "nothing")


@dataclass(frozen=True, kw_only=True)
class City:
    """A running workbench.

    Attributes:
        folder: Where its plans lie, each in a folder of its own.
        held: By which its publishes wait.
        origin: Where it is.
        browser: The browser.
        kept: What the browser kept when it came in.
        entrance: The address that was used for that.
    """

    folder: Path
    held: Path
    origin: str
    browser: Browser
    kept: Any
    entrance: str

    def plan(self, name: str) -> Path:
        """Returns a plan's file."""
        return self.folder / name / "plan.toml"

    def let_go(self, *, go: bool) -> None:
        """Lets publishes go on, or wait."""
        (self.held / held_child.WAITS).unlink(missing_ok=True)
        if go:
            (self.held / held_child.GO).touch()
        else:
            (self.held / held_child.GO).unlink(missing_ok=True)

    def come_in(self, **options: Any) -> BrowserContext:
        """Returns a window of the browser that has come in."""
        context = self.browser.new_context(
            **{"viewport": _WIDE, "storage_state": self.kept, **options}
        )
        context.set_default_timeout(_PATIENCE_MS)
        return context

    def open(self, context: BrowserContext, name: str, step: str = "sources") -> Page:
        """Opens a step of a plan."""
        page = context.new_page()
        page.goto(f"{self.origin}/")
        plan = page.get_by_test_id("plan").locator("option", has_text=f"{name}/plan.toml")
        page.goto(f"{self.origin}/#/{plan.get_attribute('value')}/{step}")
        return page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium that takes the name of strangers for this machine."""
    with running_chromium(f"--host-resolver-rules=MAP {_REBOUND} 127.0.0.1") as started:
        expect.set_options(timeout=_PATIENCE_MS)
        yield started


@pytest.fixture(scope="module")
def city(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[City]:
    """A workbench with a plan for each test, one of them published already."""
    root = tmp_path_factory.mktemp("steward")
    folder, held = root / "city", root / "held"
    held.mkdir()
    for name in _PLANS:
        (folder / name).mkdir(parents=True)
        plan = write_plan(folder / name)
        if name not in {"way", "keys"}:
            open_account(plan)
    publish(prepare(load_plan(folder / "seen" / "plan.toml")))
    _publish_months(folder / "months")
    paths = os.pathsep.join(path for path in sys.path if path)
    server = subprocess.Popen(
        [sys.executable, "-m", "support.held_server", str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths, held_child.FOLDER: str(held)},
    )
    assert server.stdout is not None
    try:
        entrance = server.stdout.readline().strip()
        with browser.new_context() as context:
            page = context.new_page()
            page.goto(entrance, timeout=_PATIENCE_MS)
            expect(page.get_by_test_id("plan")).to_be_visible()
            # The token is gone from the address.
            assert page.url.startswith(f"{entrance.partition('#')[0]}#/") or "#" not in page.url
            kept = context.storage_state()
        yield City(
            folder=folder,
            held=held,
            origin=entrance.partition("/#")[0],
            browser=browser,
            kept=kept,
            entrance=entrance,
        )
    finally:
        server.terminate()
        server.wait(60)
        server.stdout.close()


def _publish_months(folder: Path) -> None:
    """Publishes four months, and leaves the rows of a fifth."""
    folder.mkdir()
    learned = {'name = "laplace"': 'name = "learned"'}
    publish_months(folder, plan_with(learned))
    rows = (folder / "trips-2026-04.csv").read_text(encoding="utf-8")
    (folder / "trips-2026-05.csv").write_text(rows.replace("2026-04", "2026-05"), encoding="utf-8")
    plan = plan_with(learned | {"[series]": '[series]\nthis = "2026-04"'})
    (folder / "plan.toml").write_text(plan, encoding="utf-8")


def test_the_whole_way_from_sources_to_ledger(city: City) -> None:
    city.let_go(go=True)
    with city.come_in() as context:
        asked, complaints = _watched(context)
        page = city.open(context, "way")
        _sources(page)
        _plan(page, city.plan("way"))
        _price(page)
        _publish(page)
        page.get_by_test_id("step-certificate").click()
        expect(page.get_by_test_id("certificate")).to_contain_text("ε = 2 per person")
        frame = page.frame_locator("iframe")
        expect(frame.locator("body")).to_contain_text("A little release")
        _ask(page)
        page.get_by_test_id("step-ledger").click()
        expect(page.get_by_test_id("left")).to_have_text("2")
        expect(page.get_by_test_id("statement")).to_contain_text("published")
    assert verify(city.folder / "way" / "release").intact
    assert spent(city.plan("way")) == 2
    assert {url for url in asked if not url.startswith((city.origin, "data:", "blob:"))} == set()
    assert complaints == []


def _sources(page: Page) -> None:
    page.get_by_test_id("check").click()
    expect(page.get_by_test_id("check-result")).to_contain_text("The data can be used")
    expect(page.get_by_test_id("exact")).to_contain_text("For this screen only")


def _plan(page: Page, file: Path) -> None:
    page.get_by_test_id("step-plan").click()
    page.locator("#field-privacy-epsilon").fill("2")
    page.locator("#field-privacy-epsilon").press("Tab")
    expect(page.get_by_test_id("plan-text")).to_have_value(_containing('epsilon = "2"'))
    assert 'epsilon = "1"' in file.read_text("utf-8")
    page.get_by_test_id("save").click()
    expect(page.get_by_test_id("save")).to_be_disabled()
    assert file.read_text("utf-8").startswith(HEAD)
    assert 'epsilon = "2"' in file.read_text("utf-8")


def _price(page: Page) -> None:
    page.get_by_test_id("step-price").click()
    page.get_by_test_id("trips").fill("2000")
    expect(page.get_by_test_id("forecast")).to_be_enabled()
    page.get_by_test_id("forecast").click()
    expect(page.get_by_test_id("errors")).to_contain_text("one cell")
    page.get_by_test_id("preview").click()
    picture = page.get_by_test_id("preview-picture")
    expect(picture).to_be_visible()
    shown = picture if picture.evaluate("one => one.tagName") == "IMG" else picture.locator("img")
    assert shown.evaluate("one => one.decode().then(() => one.naturalWidth)") > 500


def _publish(page: Page) -> None:
    page.get_by_test_id("step-publish").click()
    page.get_by_test_id("account-limit").fill("4")
    page.get_by_test_id("open-account").click()
    expect(page.get_by_test_id("cost")).to_contain_text("4")
    page.get_by_test_id("confirm").fill("1")
    expect(page.get_by_test_id("publish")).to_be_disabled()
    page.get_by_test_id("confirm").fill("2")
    page.get_by_test_id("publish").click()
    expect(page.get_by_test_id("published")).to_contain_text("ε = 2 per person")


def _ask(page: Page) -> None:
    page.get_by_test_id("ask-origins").fill("nowhere")
    page.get_by_test_id("ask").click()
    expect(page.get_by_role("alert")).to_contain_text("nowhere")
    page.get_by_test_id("ask-origins").fill("a,b")
    page.get_by_test_id("ask").click()
    expect(page.get_by_test_id("answer-of-release")).to_contain_text("with 95% confidence between")


@pytest.mark.long
def test_an_interrupted_publish_tells_what_is_spent(city: City) -> None:
    city.let_go(go=False)
    with city.come_in() as context:
        page = city.open(context, "stopped", "publish")
        page.get_by_test_id("confirm").fill("1")
        page.get_by_test_id("publish").click()
        wait_for(city.held / held_child.WAITS)
        page.get_by_test_id("interrupt").click()
        expect(page.get_by_role("alert")).to_contain_text("Interrupted.")
        expect(page.get_by_role("alert")).to_contain_text("nothing was published")
        page.get_by_test_id("step-ledger").click()
        expect(page.get_by_test_id("statement")).to_contain_text("abandoned")
        expect(page.get_by_test_id("left")).to_have_text("3")
    assert spent(city.plan("stopped")) == 1
    assert not (city.folder / "stopped" / "release").exists()


# The server's own tests do this too, without a browser.
@pytest.mark.long
def test_of_two_tabs_that_spend_at_once_one_publishes(city: City) -> None:
    city.let_go(go=False)
    with city.come_in() as context:
        one, other = (city.open(context, "tabs", "publish") for _ in range(2))
        for page in (one, other):
            page.get_by_test_id("confirm").fill("1")
            expect(page.get_by_test_id("publish")).to_be_enabled()
        one.get_by_test_id("publish").click()
        wait_for(city.held / held_child.WAITS)
        other.get_by_test_id("publish").click()
        expect(other.get_by_role("alert")).to_contain_text("publish")
        city.let_go(go=True)
        expect(one.get_by_test_id("published")).to_be_visible()
        other.get_by_test_id("step-ledger").click()
        expect(other.get_by_test_id("left")).to_have_text("3")
    assert spent(city.plan("tabs")) == 1


@pytest.mark.parametrize(
    ("scheme", "viewport"),
    [
        pytest.param("light", _WIDE, id="desk", marks=pytest.mark.long),
        pytest.param("dark", _PHONE, id="phone-and-dark"),
    ],
)
def test_everybody_can_read_every_step(
    city: City, scheme: Literal["light", "dark"], viewport: dict[str, int]
) -> None:
    with city.come_in(color_scheme=scheme, viewport=viewport) as context:
        page = city.open(context, "seen")
        for step in _STEPS:
            page.get_by_test_id(f"step-{step}").click()
            expect(page.locator("h1")).to_have_text(step.capitalize())
            _wait_for_step(page, step)
            found = Axe().run(page)
            assert found.violations_count == 0, f"{step}: {found.generate_report()}"
            wider = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
            assert not page.evaluate(wider), step


def _wait_for_step(page: Page, step: str) -> None:
    seen = {
        "plan": "plan-text",
        "price": "errors",
        "publish": "cost",
        "certificate": "certificate",
        "ledger": "statement",
    }
    if step in seen:
        expect(page.get_by_test_id(seen[step])).to_be_visible()


@pytest.mark.long
def test_everything_can_be_done_by_keys_alone(city: City) -> None:
    with city.come_in() as context:
        page = city.open(context, "keys")
        _reach(page, "check")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("check-result")).to_be_visible()
        _reach(page, "step-publish")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("account-limit")).to_be_visible()
        _reach(page, "account-limit")
        page.keyboard.press("Control+A")
        page.keyboard.type("3")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("cost")).to_contain_text("3")
        _reach(page, "confirm")
        page.keyboard.type("1")
        expect(page.get_by_test_id("publish")).to_be_enabled()
        _reach(page, "publish")


def _reach(page: Page, name: str) -> None:
    """Goes from one thing to the next until it is reached."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement?.dataset.testid ?? ''") == name:
            return
    pytest.fail(f"{name} cannot be reached by the keyboard")


def test_a_browser_that_has_not_come_in_is_refused(city: City) -> None:
    with city.browser.new_context() as context:
        page = context.new_page()
        answer = page.goto(f"{city.origin}/api/state")
        assert answer is not None
        assert answer.status == 401
        page.goto(f"{city.origin}/")
        expect(page.get_by_role("alert")).to_contain_text("is not logged in")
        page.goto("about:blank")
        page.goto(city.entrance)
        expect(page.get_by_role("alert")).to_contain_text("was used already")
        assert page.get_by_test_id("plan").count() == 0
        assert context.storage_state() == {"cookies": [], "origins": []}


def test_a_session_lasts_through_reloads_further_tabs_and_used_addresses(city: City) -> None:
    with city.come_in() as context:
        first, second = context.new_page(), context.new_page()
        first.goto(f"{city.origin}/")
        expect(first.get_by_test_id("plan")).to_be_visible()
        first.reload()
        expect(first.get_by_test_id("plan")).to_be_visible()
        first.close()
        second.goto(city.entrance)
        expect(second.get_by_test_id("plan")).to_be_visible()
        assert "token" not in second.url


def test_another_port_of_this_machine_receives_nothing_to_come_in_with(city: City) -> None:
    """A server of somebody else gets what the browser sends, and replays it to the workbench."""
    with city.come_in() as context, another_port() as other:
        page = city.open(context, "seen")
        for origin in (other.url, other.url.replace("127.0.0.1", "localhost")):
            page.goto(origin)
            stolen = page.evaluate("JSON.stringify([document.cookie, {...localStorage}])")
            assert stolen == '["",{}]'
            assert page.evaluate(_STEAL, [f"{city.origin}/api/state", "GET", "cors"]) == ""
        assert len(other.heard) >= 2
        for status, text in other.replayed(city.origin):
            assert status in {401, 403}
            assert "plans" not in text
        expect(city.open(context, "seen").get_by_test_id("check")).to_be_visible()


def test_a_name_that_strangers_point_here_is_refused(city: City) -> None:
    with city.come_in() as context:
        page = context.new_page()
        answer = page.goto(f"{city.origin.replace('127.0.0.1', _REBOUND)}/api/state")
        assert answer is not None
        assert answer.status == 421


def test_another_page_can_neither_change_nor_frame_nor_read_anything(city: City) -> None:
    with city.come_in() as context:
        statuses: list[int] = []
        context.on(
            "response",
            lambda one: statuses.append(one.status) if one.url.startswith(city.origin) else None,
        )
        html = f"<title>evil</title><iframe src='{city.origin}/'></iframe>"
        context.route(_EVIL, lambda route: route.fulfill(body=html, content_type="text/html"))
        page = context.new_page()
        page.goto(_EVIL)
        for method in ("GET", "POST"):
            for mode in ("cors", "no-cors"):
                assert page.evaluate(_STEAL, [f"{city.origin}/api/plans", method, mode]) == ""
        assert "workbench" not in "".join(frame.content() for frame in page.frames)
        # What came through at all was refused.
        assert set(statuses) <= {401, 403}


_STEAL = """async ([url, method, mode]) => {
  try {
    const answer = await fetch(url, { method, mode, credentials: "include" });
    return await answer.text();
  } catch { return ""; }
}"""


def test_readers_are_another_site_with_a_secret_address(city: City) -> None:
    with city.come_in() as context:
        page = city.open(context, "seen")
        link = page.get_by_role("link", name="Read what is published")
        expect(link).to_be_visible()
        reader = str(link.get_attribute("href")).partition("#")[0]
        assert not reader.startswith(city.origin)
        for _ in range(600):
            page.goto(reader)
            page.get_by_test_id("guarantee").or_(page.get_by_test_id("problem")).wait_for()
            # Until the reader has verified its releases there are none.
            if page.get_by_test_id("guarantee").count():
                break
            page.wait_for_timeout(100)
        answer = page.goto(reader)
        assert answer is not None
        assert answer.status == 200
        sent = answer.request.all_headers()
        assert {"cookie", "authorization", "referer"}.isdisjoint(sent)
        expect(page.get_by_test_id("guarantee")).to_be_visible()
        assert page.evaluate(_STEAL, [f"{city.origin}/api/state", "GET", "cors"]) == ""
        bare = page.goto(reader.rsplit("/", 2)[0] + "/site.json")
        assert bare is not None
        assert bare.status == 401


def test_it_looks_as_it_did(city: City, tmp_path: Path) -> None:
    """Compared from afar; HUSHWAY_NEW_PICTURES=1 keeps how it looks now."""
    kept = Path(__file__).parent / "steward.png"
    now, another = tmp_path / "now.png", tmp_path / "another.png"
    with city.come_in() as context:
        page = city.open(context, "seen")
        expect(page.get_by_test_id("check")).to_be_visible()
        page.screenshot(path=another, animations="disabled")
        page.get_by_test_id("step-plan").click()
        expect(page.locator("#field-privacy-epsilon")).to_be_attached()
        page.screenshot(path=now, animations="disabled")
    if os.environ.get("HUSHWAY_NEW_PICTURES") == "1":
        shutil.copyfile(now, kept)
    assert apart(now, kept) < _ALIKE
    # Another step is told from it.
    assert apart(another, kept) > 2 * _ALIKE


def _watched(context: BrowserContext) -> tuple[list[str], list[str]]:
    """Returns what a window asks for, and what it complains of, from now on."""
    asked: list[str] = []
    complaints: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    context.on(
        "console",
        lambda said: complaints.append(said.text) if said.type == "error" else None,
    )
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    return asked, complaints


def _containing(text: str) -> Any:
    import re

    return re.compile(f".*{re.escape(text)}.*", re.DOTALL)


def test_a_release_of_which_nothing_would_be_known_is_asked_for_twice(city: City) -> None:
    city.let_go(go=True)
    (city.held / held_child.DEMANDING).touch()
    with city.come_in() as context:
        page = city.open(context, "nothing", "publish")
        page.get_by_test_id("confirm").fill("1")
        page.get_by_test_id("publish").click()
        expect(page.get_by_role("alert")).to_contain_text("Next to nothing would be known")
        expect(page.get_by_role("alert")).to_contain_text("About 0% of the trips")
        assert spent(city.plan("nothing")) == 0
        page.get_by_test_id("anyway").check()
        page.get_by_test_id("confirm").fill("1")
        page.get_by_test_id("publish").click()
        expect(page.get_by_test_id("published")).to_be_visible()
    (city.held / held_child.DEMANDING).unlink()
    assert spent(city.plan("nothing")) == 1


def test_of_a_series_the_next_month_is_published_from_the_page(city: City) -> None:
    city.let_go(go=True)
    folder = city.folder / "months"
    with city.come_in() as context:
        page = city.open(context, "months", "certificate")
        expect(page.get_by_test_id("series-step")).to_have_value("2026-04")
        expect(page.get_by_test_id("certificate")).to_contain_text("ε = 8 per person")
        page.get_by_test_id("series-step").fill("2026-05")
        page.get_by_test_id("go-to-step").click()
        expect(page.get_by_test_id("go-to-step")).to_be_disabled()
        page.get_by_test_id("step-publish").click()
        expect(page.get_by_test_id("cost")).to_contain_text("monthly")
        page.get_by_test_id("confirm").fill("8")
        page.get_by_test_id("publish").click()
        expect(page.get_by_test_id("published")).to_contain_text("2026-05")
        page.get_by_test_id("step-certificate").click()
        page.get_by_test_id("verify").click()
        expect(page.get_by_test_id("verified")).to_contain_text("It adds up.")
        expect(page.get_by_test_id("verified")).to_contain_text("the same to the last byte")
        page.get_by_test_id("final").check()
        page.get_by_test_id("revise").click()
        expect(page.get_by_test_id("revised")).to_contain_text("revised/2026-05-final")
    assert 'this = "2026-05"' in (folder / "plan.toml").read_text(encoding="utf-8")
    assert verify(folder / "releases" / "2026-05").intact


def test_dropped_files_become_a_plan_by_questions_back_and_forth(
    city: City, tmp_path: Path
) -> None:
    rows = tmp_path / "underground.csv"
    rows.write_text("Card Ref,From,To,Start\nc1,a,b,02/03/2026 07:45\n", encoding="utf-8")
    answers = (
        *("Start", "device", "16/11/2009 07:45", "places.csv", "Europe/Lisbon"),
        *("2026-03-02", "2026-03-02"),
        *("City of Example", "Planning of lines", "A. Person"),
    )
    with city.come_in() as context:
        page = city.open(context, "way")
        page.get_by_role("button", name="Start from a file").click()
        page.get_by_test_id("take").set_input_files([rows, city.folder / "way" / "places.csv"])
        expect(page.get_by_test_id("files")).to_contain_text("Card Ref (person)")
        page.get_by_role("button", name="Make a plan for underground.csv").click()
        for number, answer in enumerate(answers):
            expect(page.get_by_role("main")).to_contain_text(f"Question {number + 1}.")
            _answer(page, answer)
            if number == 2:
                _turn_back(page, answer)
            page.get_by_test_id("next").click()
        expect(page.get_by_test_id("plan-text")).to_have_value(_containing('"%d/%m/%Y %H:%M"'))
        expect(page.get_by_test_id("problems")).to_have_count(0)
    assert 'unit = "device"' in (city.folder / "plan.toml").read_text("utf-8")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("messy", MESSY, ids=lambda one: one.name)
def test_a_messy_file_becomes_a_verified_release_by_clicks(
    city: City, tmp_path: Path, messy: Messy
) -> None:
    city.let_go(go=True)
    there = {file.name for file in city.folder.iterdir()}
    files = [file for file in write_messy(tmp_path, messy) if file.name not in there]
    with city.come_in() as context:
        page = city.open(context, "seen")
        page.get_by_role("button", name="Start from a file").click()
        page.get_by_test_id("take").set_input_files(files)
        page.get_by_role("button", name=f"Make a plan for {messy.name}").click()
        for number, answer in enumerate(messy.answers):
            expect(page.get_by_role("main")).to_contain_text(f"Question {number + 1}.")
            _answer(page, answer)
            page.get_by_test_id("next").click()
        expect(page.get_by_test_id("plan-text")).to_be_visible()
        if messy.aliases:
            _name_places(page)
        page.get_by_test_id("step-publish").click()
        page.get_by_test_id("open-account").click()
        expect(page.get_by_test_id("cost")).to_contain_text("4")
        page.get_by_test_id("confirm").fill(_EPSILONS.get(messy.name, "1"))
        page.get_by_test_id("publish").click()
        expect(page.get_by_test_id("published")).to_be_visible()
    (release,) = {file.name for file in city.folder.glob("release*")} - there
    assert verify(city.folder / release).intact


def _name_places(page: Page) -> None:
    page.get_by_test_id("step-sources").click()
    page.get_by_test_id("check").click()
    page.get_by_test_id("aliases").click()
    expect(page.get_by_test_id("check-result")).to_contain_text("The data can be used")


def _answer(page: Page, answer: str) -> None:
    question = page.get_by_test_id("question")
    if question.get_by_role("radio").count() > 0:
        question.get_by_role("radio", name=answer, exact=True).check()
    else:
        page.get_by_test_id("answer").fill(answer)


def _turn_back(page: Page, answer: str) -> None:
    """Goes back and comes again: nothing that was said is lost."""
    page.get_by_test_id("back").click()
    expect(page.get_by_role("radio", name="device")).to_be_checked()
    page.get_by_test_id("next").click()
    expect(page.get_by_test_id("answer")).to_have_value(answer)
