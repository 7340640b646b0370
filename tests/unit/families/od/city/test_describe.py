import runpy
import sys
from pathlib import Path

import pytest

from hushway.families.od.city.describe import table

PAGE = Path(__file__).parents[5] / "docs" / "researchers" / "cities.md"


def test_the_page_shows_what_the_command_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["describe"])
    monkeypatch.delitem(sys.modules, "hushway.families.od.city.describe")
    runpy.run_module("hushway.families.od.city.describe", run_name="__main__")
    printed = capsys.readouterr().out
    assert printed == table(1)
    assert printed in PAGE.read_text(encoding="utf-8")


def test_the_table_names_the_published_figures() -> None:
    text = table(9)
    for figure in ("37,714", "4,878", "67,600", "591", "130", "| 12 |"):
        assert figure in text
