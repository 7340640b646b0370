"""The machine's own Chromium, for tests that look at pages as their readers do."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright


@contextmanager
def running_chromium(*arguments: str) -> Iterator[Browser]:
    """Starts the machine's Chromium.

    Where there is none, the test is skipped; where CI runs it, it fails.

    Args:
        arguments: What the browser is told beside what every browser is.
    """
    chromium = shutil.which("chromium")
    if chromium is None:
        reason = "no Chromium (chromium) on this machine"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()
