"""Saves a study: numbers as JSON, tables as Markdown, and pictures."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hushway.study.study_table import StudyTable

NUMBERS = "numbers.json"
TABLES = "tables.md"


def save_study(
    folder: Path,
    *,
    facts: Mapping[str, Any],
    tables: Iterable[StudyTable],
    pictures: Mapping[str, Callable[[Path], None]],
    statements: Sequence[str] = (),
    prefix: str = "",
) -> None:
    """Writes what a study found into a folder, which is made if there is none.

    Args:
        folder: Where it goes.
        facts: All numbers.
        tables: The tables, in order.
        pictures: What draws each picture, by the name of its file.
        statements: What a reader should know beside the tables.
        prefix: What the names of numbers and tables begin with.
    """
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(facts, indent=1, ensure_ascii=False)
    (folder / f"{prefix}{NUMBERS}").write_text(text + "\n", encoding="utf-8")
    parts = [table.markdown() for table in tables]
    if statements:
        parts.append("".join(f"- {line}\n" for line in statements))
    (folder / f"{prefix}{TABLES}").write_text("\n".join(parts), encoding="utf-8")
    for name, draw in pictures.items():
        draw(folder / name)
