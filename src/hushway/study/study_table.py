"""A table of a study, for the screen and for a file, and how a whole study is saved."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hushway.arrays import FloatArray


@dataclass(frozen=True, kw_only=True)
class StudyTable:
    """A titled table of text; columns whose name starts with '#' hold numbers."""

    title: str
    columns: list[str]
    rows: list[list[str]]

    def markdown(self) -> str:
        """Returns the table as Markdown."""
        names = [column.lstrip("#") for column in self.columns]
        rule = ["---:" if column.startswith("#") else "---" for column in self.columns]
        lines = [names, rule, *self.rows]
        body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return f"### {self.title}\n\n{body}\n"


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A mean with a 95% interval of Student's law around it."""

    mean: float
    half_width: float

    def __str__(self) -> str:
        if math.isnan(self.half_width):
            return _short(self.mean, 3)
        # No ordinary spaces: a number and its interval stay on one line of a table.
        gap = "\N{NO-BREAK SPACE}"
        return f"{_short(self.mean, 3)}{gap}±{gap}{_short(self.half_width, 2)}"


def _short(number: float, digits: int) -> str:
    return f"{number:,.0f}" if abs(number) >= 10**digits else f"{number:.{digits}g}"


def interval_of(values: FloatArray) -> Interval:
    """Returns the mean of some runs; a single run has no interval."""
    from scipy import stats

    runs = len(values)
    if runs == 1:
        return Interval(mean=float(values[0]), half_width=float("nan"))
    spread = float(values.std(ddof=1)) / np.sqrt(runs)
    return Interval(
        mean=float(values.mean()), half_width=float(stats.t.ppf(0.975, runs - 1) * spread)
    )


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
