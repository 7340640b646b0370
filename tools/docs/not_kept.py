"""Finds figures in the pages that no kept result stands behind, and the list of those we know.

`not_kept.toml` names page, heading and reason. A section with figures that is not in it is wrong,
and so is an entry for a section without any: the list can only shrink. Below `docs/results` it
names results of which nobody kept the command.
"""

import re
import tomllib
from pathlib import Path
from typing import Final

from tools.docs.figures import MARKED as GENERATED
from tools.docs.measured import MARKED as MEASURED
from tools.docs.pages import Table, checked_pages, sections, statements, without_tables
from tools.docs.results import RESULTS, read_result

LIST: Final = Path("tools/docs/not_kept.toml")
_UNIT = (
    r"%|percent|(?:micro|milli)?seconds?|minutes?|hours? on|ms|µs|s|[kMGT]B|bytes a|times|"
    r"(?:million |thousand )?(?:rows|positions|draws|cells|words|events)(?: a second|/s)|"
    r"(?:CPU|processor) seconds"
)
# A unit behind it, or more decimals than anybody chooses.
_MEASURED_LOOKING = re.compile(
    rf"(?<![\w.,^])[\d.,]*\d\+? ?(?:{_UNIT})(?!\w)|(?<![\w.])\d*\.\d{{3,}}(?!\w)"
)


def sections_with_figures(page: str) -> list[str]:
    """Returns the headings of a page below which figures stand outside of all markers."""
    for marked in (GENERATED, MEASURED):
        page = marked.sub("\n", page)
    return [heading for heading, text in sections(page).items() if _has_figures(text)]


def problems(listed: dict[str, dict[str, str]], pages: dict[str, str]) -> list[str]:
    """Returns what is wrong with the list, one sentence each.

    Args:
        listed: Reasons by page and heading.
        pages: The pages, by their place.
    """
    found = []
    for place, page in pages.items():
        there = set(sections_with_figures(page))
        known = set(listed.get(place, {}))
        found += [
            f"{place}, {heading!r} has figures without a kept result."
            for heading in sorted(there - known)
        ]
        found += [
            f"{place}, {heading!r} has no figures without a result: strike it off {LIST}."
            for heading in sorted(known - there)
        ]
    found += [f"{place} in {LIST} is no page." for place in sorted(set(listed) - set(pages))]
    return found


def list_problems() -> list[str]:
    """Returns what is wrong with the list beside the pages as they are."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))
    without = set(listed.pop(RESULTS.as_posix(), {}))
    names = {path.stem for path in RESULTS.iterdir()}
    unmade = {name for name in names if not read_result(name).made}
    wrong = [f"{RESULTS}, {name!r}: is its command kept, or not?" for name in unmade ^ without]
    pages = {page.as_posix(): page.read_text(encoding="utf-8") for page in checked_pages()}
    return [*sorted(wrong), *problems(listed, pages)]


def _has_figures(text: str) -> bool:
    plain, tables = without_tables(text)
    return any(map(_has_numbers, tables)) or bool(_MEASURED_LOOKING.search(statements(plain)))


def _has_numbers(table: Table) -> bool:
    # Words with a number among them are words.
    return any(
        re.match(r"[ *<>±+-]*\.?\d", statements(cell)) for row in table.rows for cell in row[1:]
    )
