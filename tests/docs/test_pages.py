"""Pages that follow from the code say what it says, and the tools that build the site work."""

import json
import re
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import pytest
from tools.docs import figures
from tools.docs.gather import BESIDE, gather
from tools.docs.links import problems
from tools.docs.tutorials import SCRIPTS, cells, page_of
from tools.docs.write import pages, stale

from hushway.families.registry import FAMILIES

ROOT = Path(__file__).parents[2]


def test_reference_pages_follow_from_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert stale(pages()) == [], "run: make docs-write"


def test_a_page_that_says_something_else_is_stale(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("old")
    assert stale({page: "old", tmp_path / "missing.md": "new"}) == [tmp_path / "missing.md"]
    assert stale({page: "new"}) == [page]


def test_every_page_of_the_navigation_is_there_and_every_page_is_in_it() -> None:
    lines = re.findall(r'"([\w/{}*-]+\.md)"', (ROOT / "zensical.toml").read_text())
    there = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    there |= {str(place) for place in BESIDE.values()}
    there |= {f"tutorials/{script.stem}.md" for script in (ROOT / SCRIPTS).glob("*.py")}
    patterns = [line.replace("{family}", family) for line in lines for family in FAMILIES]
    named = {line for line in lines if "{" not in line}
    assert named | {page for page in there if any(map(partial(fnmatch, page), patterns))} == there
    assert named <= there


def test_a_tutorial_becomes_text_code_and_what_it_printed(tmp_path: Path) -> None:
    script = tmp_path / "little.py"
    script.write_text(
        "# %% [markdown]\n# # Title\n# words\n\n# %%\nnumber = 6\nprint(number * 7)\n"
    )
    assert [cell.is_text for cell in cells(script.read_text())] == [True, False]
    page = page_of(script, tmp_path / "pictures")
    assert (
        page
        == "# Title\nwords\n\n```python\nnumber = 6\nprint(number * 7)\n```\n\n```text\n42\n```\n"
    )


def test_a_picture_that_a_tutorial_shows_is_put_beside_its_page(tmp_path: Path) -> None:
    (tmp_path / "drawn").mkdir()
    picture = tmp_path / "drawn" / "map.png"
    picture.write_bytes(b"png")
    script = tmp_path / "little.py"
    script.write_text(f"# %%\nshow({str(picture)!r}, 'A map')\n")
    page = page_of(script, tmp_path / "pages")
    assert "![A map](little-drawn-map.png)" in page
    assert (tmp_path / "pages" / "little-drawn-map.png").read_bytes() == b"png"


def test_gathered_pages_lead_to_copies_and_else_to_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    gather(tmp_path / "docs", run_tutorials=False)
    threat = (tmp_path / "docs" / "threat-model.md").read_text()
    assert "](privacy/od.md)" in threat
    assert "](tutorials/epsilon.md)" in (tmp_path / "docs" / "index.md").read_text()
    assert "](../src" not in threat
    contributing = (tmp_path / "docs" / "contributing.md").read_text()
    assert "](researchers/architecture.md)" in contributing


def test_broken_links_missing_parts_and_foreign_scripts_are_found(tmp_path: Path) -> None:
    (tmp_path / "good.html").write_text('<h1 id="here">Good</h1>')
    (tmp_path / "page.html").write_text(
        '<a href="good.html#here">a</a><a href="good.html#gone">b</a><a href="gone.html">c</a>'
        '<script src="https://example.org/x.js"></script><a href="https://example.org">d</a>'
    )
    found = problems(tmp_path)
    assert len(found) == 3
    assert any("good.html#gone" in one for one in found)
    assert any("gone.html" in one for one in found)
    assert any("example.org/x.js" in one for one in found)


def test_figures_are_those_of_the_kept_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "RESULTS", tmp_path)
    facts = {"reader, kB": 181.6, "reader, kB gzipped": 67.7}
    facts |= {"steward, kB": 154.2, "steward, kB gzipped": 58.9}
    (tmp_path / "workbench.json").write_text(json.dumps(facts))
    page = "Before\n<!-- figures: page-sizes -->\n| 99 |\n<!-- end of figures -->\nafter\n"
    found = figures.written(page)
    assert "| gzipped, kB | 68 | 59 |" in found
    assert "99" not in found
    assert found.startswith("Before\n")
    assert found.endswith("<!-- end of figures -->\nafter\n")
    assert figures.written(found) == found
