"""Parts of a Markdown page: sections, tables, and the text without what is no statement."""

import re
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^ *```.*?^ *```[^\n]*$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`]*`")
_TARGET = re.compile(r"\]\([^)]*\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_RULE = re.compile(r"^ *\|?[ :|-]*---[ :|-]*$")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}:\d{2}\b")


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table: the titles of its columns, and its rows."""

    titles: list[str]
    rows: list[list[str]]


def checked_pages() -> list[Path]:
    """Returns the pages whose figures are looked at; those written from code have none."""
    reference = {"certificate", "commands", "python"}
    pages = [Path("README.md"), *sorted(Path("docs").rglob("*.md"))]
    pages += sorted(Path("src/hushway/families").glob("*/PRIVACY.md"))
    return [
        page
        for page in pages
        if not (
            page.parent.name == "reference"
            and (page.stem in reference or page.stem.startswith("plan-"))
        )
    ]


def sections(page: str) -> dict[str, str]:
    """Returns the text below each heading of a page; those of the same name together."""
    page = _FENCE.sub("", page)
    places = [*_HEADING.finditer(page)]
    found: dict[str, str] = {}
    for place, heading in enumerate(places):
        end = places[place + 1].start() if place + 1 < len(places) else len(page)
        found[heading[1]] = found.get(heading[1], "") + page[heading.end() : end]
    return found


def without_tables(text: str) -> tuple[str, list[Table]]:
    """Returns a text without its tables, and the tables."""
    lines = text.splitlines()
    kept: list[str] = []
    tables: list[Table] = []
    place = 0
    while place < len(lines):
        if place + 1 < len(lines) and "|" in lines[place] and _RULE.match(lines[place + 1]):
            rows = []
            row = place + 2
            while row < len(lines) and lines[row].lstrip().startswith("|"):
                rows.append(_cells(lines[row]))
                row += 1
            tables.append(Table(titles=_cells(lines[place]), rows=rows))
            place = row
        else:
            kept.append(lines[place])
            place += 1
    return "\n".join(kept), tables


def statements(text: str) -> str:
    """Returns a text without headings, code, targets of links, dates and times of day."""
    for what in (_FENCE, _HEADING, _CODE, _TARGET, _DATE):
        text = what.sub(" ", text)
    return text


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
