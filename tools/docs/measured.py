"""Checks blocks of the pages that quote results: every number in them comes out of a kept result.

`<!-- measured: NAME -->` begins such a block and `<!-- end of measured -->` ends it, each on a line
of its own. Several results are named with commas. Their commands stand somewhere on the page. Not
measured, and not looked at, are

- the titles and the first column of a table, and columns titled `printed`, `published`, or by the
  sign of a parameter;
- numbers in code, headings, targets of links, dates and times of day;
- numbers behind the sign of a parameter (ε = 0.1 and 1), a seed, or a figure, table or section;
- numbers that the marker lists: `<!-- measured: NAME; given: 95, 1.96 -->`;
- blocks of results that are not kept yet, and listed as such.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tools.docs.numbers import KnownNumbers, Number, numbers_of
from tools.docs.pages import Table, statements, without_tables
from tools.docs.results import names_command, read_result, waiting

MARKED: Final = re.compile(
    r"^ *<!-- measured: ([\w, -]+?)(?:; given: ([^>]+?))? -->\n(.*?)^ *<!-- end of measured -->$",
    re.DOTALL | re.MULTILINE,
)
_SIGN = r"(?:[εδρ]'?|[khlm]|seeds?|[Ff]igures?|[Tt]ables?|[Ss]ections?|[Tt]heorems?|ranks?|top)"
_NUMBER = r"\d[\d.,·⁰-⁹⁻]*(?<![.,])"
_PARAMETER = re.compile(
    rf"(?<!\w){_SIGN}(?: =| of)? {_NUMBER}(?:(?:, | and | or | to |, and ){_NUMBER}(?! *%))*"
)
_GIVEN_TITLES: Final = {"ε", "δ", "k", "l", "h"}


@dataclass(frozen=True, kw_only=True)
class Block:
    """What stands between two markers."""

    names: list[str]
    given: list[str]
    text: str


def blocks(page: str) -> list[Block]:
    """Returns the blocks of a page."""
    return [
        Block(
            names=[name.strip() for name in names.split(",")],
            given=given.split(", ") if given else [],
            text=text,
        )
        for names, given, text in MARKED.findall(page)
    ]


def problems(page: str) -> list[str]:
    """Returns what is wrong with the blocks of a page, one sentence each."""
    found = []
    if page.count("<!-- measured:") != len(blocks(page)):
        found.append("A block of measured numbers has no end, or a marker shares its line.")
    for block in blocks(page):
        if waiting().keys() & set(block.names):
            continue
        try:
            results = [read_result(name) for name in block.names]
        except FileNotFoundError as error:
            found.append(f"{error}.")
            continue
        for result in results:
            command = result.made.get("command")
            if command is None:
                found.append(f"Nobody kept which command made {result.name}.")
            elif not names_command(page, command):
                found.append(f"The command of {result.name} is not named: {command}")
        known = KnownNumbers("\n".join(result.text for result in results))
        found += _wrong_numbers(block, known)
    return found


def _wrong_numbers(block: Block, known: KnownNumbers) -> Iterator[str]:
    names = ", ".join(block.names)
    unused = set(block.given)
    for line in _measured_lines(block.text):
        for number in numbers_of(line):
            if number.printed in block.given:
                unused.discard(number.printed)
            elif not known.hold(number, percent="%" in line):
                yield f"{number.printed} does not come out of {names}: {_around(line, number)}"
    for printed in sorted(unused):
        yield f"{printed} is listed as given and is not in the block of {names}."


def _measured_lines(text: str) -> Iterator[str]:
    """Returns what may hold measured numbers: paragraphs, and rows of tables."""
    plain, tables = without_tables(text)
    for table in tables:
        yield from _rows(table)
    for paragraph in re.split(r"\n\s*\n|\n(?= *[-*] )", statements(plain)):
        yield _PARAMETER.sub(" ", " ".join(paragraph.split()))


def _rows(table: Table) -> Iterator[str]:
    measured = [
        place
        for place, title in enumerate(table.titles)
        if place > 0
        and title not in _GIVEN_TITLES
        and not title.lower().startswith(("printed", "published"))
    ]
    for row in table.rows:
        yield statements(" | ".join(row[place] for place in measured if place < len(row)))


def _around(line: str, number: Number) -> str:
    place = line.find(number.printed)
    return f"…{line[max(0, place - 40) : place + 40].strip()}…"
