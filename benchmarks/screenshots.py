"""Draws workbench.png and site.png of docs/pictures from the demo, in the machine's own Chromium.

    make demo && .venv/bin/python benchmarks/screenshots.py demo

Needs the libraries of development (playwright) and `chromium`. Neither rows nor budget are touched.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

_DOCS = Path(__file__).parents[1] / "docs"
_SIZE = {"width": 1360, "height": 900}
_PATIENCE_MS = 300_000
# What the demo's city is said to have: a public guess, not a count.
_TRIPS, _PEOPLE = "20000", "9000"


def main(folder: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("Chromium (chromium) is not on this machine.")
    server = subprocess.Popen(
        [sys.executable, "-m", "hushway", "serve", str(folder), "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        _, entrance = (server.stdout.readline().strip() for _ in range(2))
        expect.set_options(timeout=_PATIENCE_MS)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium)
            draw(browser, entrance)
            browser.close()
    finally:
        server.terminate()
        server.wait()


def draw(browser: Browser, entrance: str) -> None:
    context = browser.new_context(viewport=_SIZE, device_scale_factor=1)
    context.set_default_timeout(_PATIENCE_MS)
    page = context.new_page()
    page.goto(entrance)
    draw_workbench(page)
    draw_site(page)


def draw_workbench(page: Page) -> None:
    """The step in which a budget is chosen, with curves and a stand-in."""
    chosen = page.get_by_test_id("plan").locator("option", has_text="plan.toml: Trips")
    page.get_by_test_id("plan").select_option(chosen.get_attribute("value"))
    page.get_by_test_id("step-price").click()
    page.get_by_test_id("trips").fill(_TRIPS)
    page.get_by_test_id("people").fill(_PEOPLE)
    expect(page.get_by_test_id("forecast")).to_be_enabled()
    page.get_by_test_id("forecast").click()
    page.get_by_test_id("preview").click()
    expect(page.get_by_test_id("standin-picture")).to_be_visible()
    expect(page.get_by_test_id("forecast")).to_be_enabled()
    page.evaluate("document.activeElement?.blur(); scrollTo(0, 0)")
    picture = page.get_by_test_id("standin-picture").bounding_box() or {"y": 0, "height": 0}
    shown = {"x": 0, "y": 0, "width": _SIZE["width"], "height": picture["y"] + picture["height"]}
    page.screenshot(path=_DOCS / "workbench.png", full_page=True, clip=shown, animations="disabled")


def draw_site(page: Page) -> None:
    """The release of trips as readers see it."""
    link = page.get_by_role("link", name="Read what is published")
    # It names the release as soon as readers are shown it.
    while "#" not in (reader := link.get_attribute("href") or ""):
        page.wait_for_timeout(200)
        page.reload()
    page.goto(reader)
    expect(page.get_by_test_id("map")).to_have_attribute("data-state", "drawn")
    page.screenshot(path=_DOCS / "site.png", animations="disabled")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo"))
