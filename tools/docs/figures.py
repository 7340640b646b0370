"""Tables of figures in the pages, written from results that are kept beside them.

A page names the table between two comments, and what stands between them is written from
`docs/results`, where `tools.docs.keep` puts it. It ends at `<!-- end of figures -->`. It begins at

- `<!-- figures: NAME -->` for a table that is made here of numbers in a result;
- `<!-- figures: RESULT | TITLE -->` for the table with this title in a text, as it is.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from tools.docs import cluster_tables, sequence_tables
from tools.docs.pages import checked_pages
from tools.docs.results import RESULTS, names_command, read_result, waiting

MARKED: Final = re.compile(
    r"(<!-- figures: ([\w-]+)(?: \| ([^\n]+?))? -->\n)(.*?)(<!-- end of figures -->)", re.DOTALL
)
_KINDS: Final = ("5,000 flows", "100,000 flows", "130,000 links")


def pages_with_figures() -> dict[Path, str]:
    """Returns every page that has figures, as it should be."""
    texts = {page: page.read_text(encoding="utf-8") for page in checked_pages()}
    return {page: written(text) for page, text in texts.items() if MARKED.search(text)}


def written(text: str) -> str:
    """Returns a page whose tables are those of the results that are kept."""

    def table(found: re.Match[str]) -> str:
        begin, name, title, _, end = found.groups()
        result = name if title else TABLES[name].result
        if result in waiting() and not any(RESULTS.glob(f"{result}.*")):
            return found[0]
        rows = read_result(name).table(title) if title else TABLES[name].write()
        # A table begins and ends with an empty line.
        return f"{begin}\n{rows}\n{end}"

    return MARKED.sub(table, text)


def unnamed_commands(page: str) -> list[str]:
    """Returns what is wrong with the commands of a page's tables, one sentence each."""
    found = []
    for _, name, title, *_ in MARKED.findall(page):
        result = name if title else TABLES[name].result
        if result not in waiting():
            command = read_result(result).made["command"]
            if not names_command(page, command):
                found.append(f"The command of {result} is not named: {command}")
    return found


def result(name: str) -> Any:
    """Returns what a benchmark has saved."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def page_sizes() -> str:
    """The sizes of the pages."""
    found = result("workbench")
    pages = ("reader", "steward")
    return _table(
        ["", "readers' page", "stewards' page"],
        [
            ["as it is, kB", *(f"{found[f'{page}, kB']:.0f}" for page in pages)],
            ["gzipped, kB", *(f"{found[f'{page}, kB gzipped']:.0f}" for page in pages)],
        ],
    )


def page_frames() -> str:
    """How fluid the map is."""
    found = result("workbench")

    def row(title: str, *names: str, unit: float = 1.0, digits: int = 0) -> list[str]:
        values = (
            ", ".join(f"{found[f'{kind}: {name}'] / unit:.{digits}f}" for name in names)
            for kind in _KINDS
        )
        return [title, *values]

    rows = [row("ready, s", "ready, ms", unit=1000, digits=1)]
    for how in ("pan", "zoom"):
        frames = [f"{how}, ms a frame, {what}" for what in ("median", "95%", "longest")]
        rows.append(row(f"{how}, ms a frame: median, 95%, longest", *frames, digits=1))
        rows.append(row(f"sharp again after a {how}, ms", f"redraw after {how}, ms"))
        rows.append(row("longest frame meanwhile, ms", f"redraw after {how}, longest frame"))
    return _table(["", *_KINDS], rows)


def _written(of: Callable[[Any], Any], read: Callable[[str], Any], name: str) -> str:
    return _table(*of(read(name)))


@dataclass(frozen=True, kw_only=True)
class Written:
    """A table that is made here, and the result that it is made of."""

    result: str
    write: Callable[[], str]


TABLES: Final = {
    "page-sizes": Written(result="workbench", write=page_sizes),
    "page-frames": Written(result="workbench", write=page_frames),
    **{
        f"cluster-{name}": Written(result="cluster", write=partial(_written, of, result, "cluster"))
        for name, of in (
            ("rates", cluster_tables.rates),
            ("growth", cluster_tables.growth),
            ("memory", cluster_tables.memory),
            ("positions", cluster_tables.positions),
            ("divided", cluster_tables.divided),
        )
    },
    **{
        f"sequences-{name}": Written(
            result="sequence-judges",
            write=partial(_written, of, read_result, "sequence-judges"),
        )
        for name, of in (("won", sequence_tables.won), ("lost", sequence_tables.lost))
    },
}


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
