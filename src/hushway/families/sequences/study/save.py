"""Saves a reproduction of the prefix-tree paper: numbers, tables and figures."""

import json
from dataclasses import asdict
from pathlib import Path

from hushway.families.sequences.study.reproduce import Reproduction
from hushway.families.sequences.study.tables import headline_tables, statements
from hushway.privacy.internal import Internal

NUMBERS = "numbers.json"
TABLES = "tables.md"
FIGURES = "figures-3-5.png"


def save_reproduction(found: Internal[Reproduction], folder: Path) -> None:
    """Writes numbers.json, tables.md and figures-3-5.png into a folder."""
    # Matplotlib takes longest of all to load.
    from hushway.families.sequences.study.picture import draw_figures

    value = found.value
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NUMBERS).write_text(json.dumps(asdict(value), indent=1) + "\n", encoding="utf-8")
    tables = "\n".join(table.markdown() for table in headline_tables(value))
    notes = "\n".join(f"- {line}" for line in statements(value))
    (folder / TABLES).write_text(f"{tables}\n{notes}\n", encoding="utf-8")
    draw_figures(value, folder / FIGURES)
