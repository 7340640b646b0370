"""Tables of figures in the pages, written from results that are kept beside them.

A page names the table between two comments, `<!-- figures: NAME -->` and `<!-- end of figures -->`;
what stands between them is written from `docs/results`. `python -m tools.docs.keep NAME` puts there
what `python benchmarks/run.py NAME` has saved.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

RESULTS: Final = Path("docs/results")
PAGES: Final = Path("docs")
_MARKED = re.compile(r"(<!-- figures: ([\w-]+) -->\n)(.*?)(<!-- end of figures -->)", re.DOTALL)
_KINDS: Final = ("5,000 flows", "100,000 flows", "130,000 links")


def pages_with_figures() -> dict[Path, str]:
    """Returns every page that has figures, as it should be."""
    texts = {page: page.read_text(encoding="utf-8") for page in sorted(PAGES.rglob("*.md"))}
    return {page: written(text) for page, text in texts.items() if _MARKED.search(text)}


def written(text: str) -> str:
    """Returns a page whose tables are those of the results that are kept."""

    def table(found: re.Match[str]) -> str:
        begin, name, _, end = found.groups()
        # A table begins and ends with an empty line.
        return f"{begin}\n{TABLES[name]()}\n{end}"

    return _MARKED.sub(table, text)


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


def cluster_rates() -> str:
    """Rows per second of one machine and of a cluster."""
    rows = []
    for events, measured in result("cluster").items():
        if "same" not in measured:  # traces
            continue
        for name, seconds in measured["seconds"].items():
            engine = name.partition(",")[0]
            bare = measured["seconds"][f"{engine}, bare by person"]
            rate = float(events.partition(" ")[0]) / seconds
            rows.append([events, name, f"{seconds:.1f}", f"{rate:.2f}", f"{seconds / bare:.1f}"])
    head = ["events", "engine and work", "seconds", "million rows/s", "over the bare group-by"]
    return _table(head, rows)


TABLES: Final[dict[str, Callable[[], str]]] = {
    "page-sizes": page_sizes,
    "page-frames": page_frames,
    "cluster-rates": cluster_rates,
}


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
