"""The README is true: its example runs and its links lead somewhere."""

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
# Where README shows pages, folders and pictures: package pages have no files beside them.
HOMES = (
    "https://github.com/hushway/hushway/blob/main/",
    "https://github.com/hushway/hushway/tree/main/",
    "https://raw.githubusercontent.com/hushway/hushway/main/",
)


def test_the_ten_lines_of_python_run_after_the_demo(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(demo, tmp_path / "demo")
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(example.strip().splitlines()) <= 11
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102  it is our own page
    assert "verified: True" in capsys.readouterr().out


def test_the_readme_leads_to_files_of_the_project_from_anywhere() -> None:
    targets = re.findall(r"\]\(([^)#\s]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert targets
    for target in targets:
        begin = next((begin for begin in HOMES if target.startswith(begin)), None)
        assert begin is not None, f"{target} is no address that a package page could follow"
        assert (ROOT / target.removeprefix(begin)).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_of_the_project_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target
