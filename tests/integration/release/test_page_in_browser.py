"""The page of a certificate in a real browser, judged by axe: light and dark, narrow and wide."""

from fractions import Fraction
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from hushway.families.load import plan_from, prepare
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.privacy.randomness import SeededSource
from hushway.steward.publish import publish
from support.little_plans import FAMILIES, little_plan, write_little_files
from support.long import often

_HEIGHT = 900
# A phone, and a screen on a desk.
_LOOKS: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", 1200), ("dark", 390))
# A page with the red stamp of releases that protect nobody.
_STAMPED = "od, stamped"


@pytest.fixture(scope="module", params=[*FAMILIES, _STAMPED])
def certificate(
    request: pytest.FixtureRequest,
    browser: Browser,  # noqa: ARG001  nothing is published where nobody looks
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The page of a little release."""
    folder = tmp_path_factory.mktemp("page")
    write_little_files(folder)
    plan = little_plan(request.param.split(",")[0])
    job = prepare(plan_from(plan, folder=folder))
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.ZCDP, Fraction(1000)))
    source = SeededSource(1) if request.param == _STAMPED else None
    return publish(job, source=source).folder / "certificate.html"


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("scheme", "width"), often(_LOOKS))
def test_everybody_can_read_it_and_it_asks_nobody_for_anything(
    browser: Browser, certificate: Path, scheme: Literal["light", "dark"], width: int
) -> None:
    with browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": _HEIGHT}
    ) as context:
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(certificate.as_uri())
        # What is folded away is read too, by those who unfold it.
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert not _sideways(page)
        others = [url for url in asked if not url.startswith("data:")]
        assert others == [certificate.as_uri()]


def _sideways(page: Page) -> bool:
    """Says whether the page as a whole has to be moved sideways to be read."""
    wider: bool = page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )
    return wider


def test_axe_finds_what_is_wrong(browser: Browser) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.set_content('<p style="color: #ccc; background: #fff">Pale</p><img src="data:,">')
        found = {violation["id"] for violation in Axe().run(page).response["violations"]}
    assert {"color-contrast", "image-alt", "html-has-lang"} <= found
