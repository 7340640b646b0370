"""Saves a reproduction of the CBDP paper: numbers, tables and the figure."""

import json
from dataclasses import asdict
from pathlib import Path

from hushway.families.od.study.reproduce import Reproduction
from hushway.families.od.study.tables import further_tables, headline_tables, ordering
from hushway.privacy.internal import Internal

NUMBERS = "numbers.json"
TABLES = "tables.md"
FIGURE = "figure-5.png"


def save_reproduction(found: Internal[Reproduction], folder: Path) -> None:
    """Writes numbers.json, tables.md and figure-5.png into a folder."""
    # Matplotlib takes longest of all to load.
    from hushway.families.od.study.picture import draw_figure_5

    value = found.value
    folder.mkdir(parents=True, exist_ok=True)
    facts = asdict(value) | {"ordering": ordering(value)}
    (folder / NUMBERS).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    tables = "\n".join(
        table.markdown() for table in (*headline_tables(value), *further_tables(value))
    )
    (folder / TABLES).write_text(tables, encoding="utf-8")
    draw_figure_5(value, folder / FIGURE)
