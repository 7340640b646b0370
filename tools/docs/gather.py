"""Gathers what the site is built from: pages, tutorials as they ran, notes beside the code."""

import re
import shutil
import sys
from pathlib import Path

from hushway.families.registry import FAMILIES
from tools.docs.tutorials import write_pages

DOCS = Path("docs")
SOURCE = "https://github.com/hushway/hushway/blob/main/"
# Pages of the repository that readers of the site want, by their place in it.
BESIDE = {
    **{
        Path(f"src/hushway/families/{name}/PRIVACY.md"): Path(f"privacy/{name}.md")
        for name in FAMILIES
        if Path(f"src/hushway/families/{name}").is_dir()
    },
    Path("CHANGELOG.md"): Path("changelog.md"),
    Path("CONTRIBUTING.md"): Path("contributing.md"),
    Path("SECURITY.md"): Path("security.md"),
}
CONFIG = Path("zensical.toml")
# A line of the navigation that stands for pages of every family: "guides/{family}.md".
_OF_FAMILIES = re.compile(r'^( *)"([^"]*)\{family\}([^"]*)",$', re.MULTILINE)
_LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?(\))")


def gather(target: Path, *, run_tutorials: bool) -> None:
    """Writes all that the site is built from into a folder, which is made anew.

    Args:
        target: The folder.
        run_tutorials: Whether tutorials are run; else their pages are missing.
    """
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(DOCS, target, ignore=shutil.ignore_patterns("*.py"))
    for page, place in BESIDE.items():
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, target / place)
    if run_tutorials:
        write_pages(target / "tutorials")
    homes = {target / page.relative_to(DOCS): page for page in DOCS.rglob("*.md")}
    homes |= {target / place: page for page, place in BESIDE.items()}
    for copy, page in homes.items():
        copy.write_text(_relinked(copy, page, target), encoding="utf-8")
    configured = _OF_FAMILIES.sub(
        lambda line: _pages_of_families(line, target), CONFIG.read_text("utf-8")
    )
    (target.parent / CONFIG).write_text(configured, encoding="utf-8")


def _pages_of_families(line: re.Match[str], target: Path) -> str:
    """Returns a line for each page that a family has; their titles are those in the pages."""
    indent, before, after = line.groups()
    pages = [page for name in FAMILIES for page in sorted(target.glob(f"{before}{name}{after}"))]
    return "\n".join(f'{indent}"{page.relative_to(target).as_posix()}",' for page in pages)


def _relinked(copy: Path, page: Path, target: Path) -> str:
    """Returns a page whose links lead to copies, or to the repository where there is none."""

    def lead(found: re.Match[str]) -> str:
        begin, link, part, end = found.groups()
        if "://" in link or link.startswith("mailto:"):
            return found.group(0)
        meant = Path(*_plain((page.parent / link).parts))
        if meant in BESIDE:
            place = target / BESIDE[meant]
        elif meant.is_relative_to(DOCS):
            place = target / meant.relative_to(DOCS)
            # In the repository a tutorial is its script.
            place = place.with_suffix(".md") if place.suffix == ".py" else place
        else:
            return f"{begin}{SOURCE}{meant.as_posix()}{part or ''}{end}"
        up = Path(*[".."] * len(copy.parent.relative_to(target).parts))
        return f"{begin}{(up / place.relative_to(target)).as_posix()}{part or ''}{end}"

    return _LINK.sub(lead, copy.read_text(encoding="utf-8"))


def _plain(parts: tuple[str, ...]) -> list[str]:
    """Returns the parts of a path without steps upwards."""
    kept: list[str] = []
    for part in parts:
        if part == ".." and kept:
            kept.pop()
        elif part != ".":
            kept.append(part)
    return kept


if __name__ == "__main__":
    gather(Path(sys.argv[1]), run_tutorials="--no-tutorials" not in sys.argv)
