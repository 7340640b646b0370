"""Finds figures in the pages that no kept result stands behind, and the list of those we know.

`not_kept.toml` names page, heading and reason. A section with figures that is not in it is wrong,
and so is an entry for a section without any: the list can only shrink. Below `results` it names
results that pages quote and that are not kept yet; when one is, its entry is wrong.
"""

import re
import tomllib

from tools.docs.figures import MARKED as GENERATED
from tools.docs.figures import TABLES
from tools.docs.measured import MARKED as MEASURED
from tools.docs.measured import blocks
from tools.docs.pages import Table, checked_pages, sections, statements, without_tables
from tools.docs.results import NOT_KEPT as LIST
from tools.docs.results import RESULTS, read_result, waiting

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


def result_problems(said: set[str], pages: list[str]) -> list[str]:
    """Returns what is wrong with the results that are said not to be kept, one sentence each.

    Args:
        said: Their names.
        pages: All pages.
    """
    quoted = {name for page in pages for name in _quoted(page)}
    there = {path.stem for path in RESULTS.iterdir()}
    made = {name for name in there if read_result(name).made}
    return [
        *(f"{name} is kept: strike it off {LIST}." for name in sorted(said & made)),
        *(f"{name} in {LIST} is quoted nowhere." for name in sorted(said - quoted)),
        *(f"Nobody kept which command made {name}." for name in sorted(there - made - said)),
        *(f"{name} is kept and quoted nowhere." for name in sorted(there - quoted)),
    ]


def list_problems() -> list[str]:
    """Returns what is wrong with the list beside the pages as they are."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))
    listed.pop("results", None)
    pages = {page.as_posix(): page.read_text(encoding="utf-8") for page in checked_pages()}
    return [*result_problems(set(waiting()), [*pages.values()]), *problems(listed, pages)]


def _quoted(page: str) -> set[str]:
    generated = {
        name if title else TABLES[name].result for _, name, title, *_ in GENERATED.findall(page)
    }
    return generated | {name for block in blocks(page) for name in block.names}


def _has_figures(text: str) -> bool:
    plain, tables = without_tables(text)
    return any(map(_has_numbers, tables)) or bool(_MEASURED_LOOKING.search(statements(plain)))


def _has_numbers(table: Table) -> bool:
    # Words with a number among them are words.
    return any(
        re.match(r"[ *<>±+-]*\.?\d", statements(cell)) for row in table.rows for cell in row[1:]
    )
