"""Saves a reproduction of the DP-ANI paper: numbers, tables and figures."""

import json
from dataclasses import asdict
from pathlib import Path

from hushway.families.links.study.numbers import Reproduction
from hushway.families.links.study.statements import statements
from hushway.families.links.study.tables import further_tables, headline_tables
from hushway.privacy.internal import Internal

NUMBERS = "numbers.json"
TABLES = "tables.md"
FIGURES = "figures-4-8.png"


def save_reproduction(found: Internal[Reproduction], folder: Path) -> None:
    """Writes numbers.json, tables.md and figures-4-8.png into a folder."""
    # Matplotlib takes longest of all to load.
    from hushway.families.links.study.picture import draw_figures

    value = found.value
    folder.mkdir(parents=True, exist_ok=True)
    facts = asdict(value)
    # The pictures show them; as numbers they would be most of the file.
    del facts["drawn"]
    (folder / NUMBERS).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    tables = "\n".join(
        table.markdown() for table in (*headline_tables(value), *further_tables(value))
    )
    notes = "\n".join(f"- {line}" for line in statements(value))
    (folder / TABLES).write_text(f"{tables}\n{notes}\n", encoding="utf-8")
    draw_figures(value, folder / FIGURES)
