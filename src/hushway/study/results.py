"""What a study finds: means over runs, tables beside the paper's figures, and files of both."""

import argparse
import json
import math
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hushway.arrays import FloatArray

NUMBERS = "numbers.json"
TABLES = "tables.md"


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


def grid(
    title: str,
    corner: str,
    names: Iterable[str],
    columns: Mapping[str, Any],
    cell: Callable[[str, Any], object],
) -> StudyTable:
    """Returns a table with a row for each name and a column of numbers for each label."""
    return StudyTable(
        title=title,
        columns=[corner, *(f"#{label}" for label in columns)],
        rows=[[name, *(str(cell(name, column)) for column in columns.values())] for name in names],
    )


def by_budget(
    title: str,
    corner: str,
    names: Iterable[str],
    epsilons: Iterable[str],
    cell: Callable[[str, str], object],
) -> StudyTable:
    """Returns a table with a row for each name and a column for each budget."""
    return grid(title, corner, names, {f"ε = {epsilon}": epsilon for epsilon in epsilons}, cell)


def beside_printed(labels: Iterable[str]) -> list[str]:
    """Returns the heads of columns that have the paper's number beside each of ours."""
    return [head for label in labels for head in (f"#{label}", "#printed")]


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


class Figures:
    """The numbers of a study by setting and name, each a mean over runs.

    A setting is a value for each of `parts`, such as a day, a budget and a mechanism.
    """

    def __init__(self, *parts: str) -> None:
        self._parts = parts
        self._found: dict[tuple[Hashable, ...], Interval] = {}
        self._deviations: dict[tuple[Hashable, ...], float] = {}

    def add(self, *setting: Hashable, rows: Sequence[Mapping[str, float]]) -> None:
        """Keeps the figures of all runs of a setting."""
        for figure in rows[0]:
            values = np.array([row[figure] for row in rows])
            self._found[*setting, figure] = interval_of(values)
            several = len(values) > 1
            deviation = float(np.std(values, ddof=1)) if several else float("nan")
            self._deviations[*setting, figure] = deviation

    def of(self, *key: Hashable) -> Interval:
        """Returns one figure, by its setting and its name."""
        return self._found[key]

    def get(self, *key: Hashable) -> Interval | None:
        """Returns one figure, if it was measured."""
        return self._found.get(key)

    def deviation(self, *key: Hashable) -> float:
        """Returns the standard deviation over runs; NaN for a single one."""
        return self._deviations[key]

    def tried(self, part: str) -> list[Any]:
        """Returns the values of a part of settings, or the names of figures, in order."""
        place = (*self._parts, "figure").index(part)
        return list(dict.fromkeys(key[place] for key in self._found))

    def facts(self, *, deviations: bool = False) -> list[dict[str, Any]]:
        """Returns all numbers as plain values."""
        names = (*self._parts, "figure")
        return [
            dict(zip(names, key, strict=True))
            | {"interval": asdict(interval)}
            | ({"deviation": self._deviations[key]} if deviations else {})
            for key, interval in self._found.items()
        ]


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a study found, for the screen and for its folder.

    Attributes:
        headlines: The tables that answer the paper's own, which are also printed.
        statements: What a reader should know beside the tables.
        remarks: What is printed but not saved.
        pictures: What draws each picture, by the name of its file.
    """

    facts: Mapping[str, Any]
    headlines: Sequence[StudyTable]
    further: Sequence[StudyTable] = ()
    statements: Sequence[str] = ()
    remarks: Sequence[str] = ()
    pictures: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)

    def save(self, folder: Path, *, prefix: str = "") -> None:
        """Writes numbers, tables and pictures into a folder, which is made if there is none."""
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.facts, indent=1, ensure_ascii=False)
        (folder / f"{prefix}{NUMBERS}").write_text(text + "\n", encoding="utf-8")
        parts = [table.markdown() for table in (*self.headlines, *self.further)]
        if self.statements:
            parts.append("".join(f"- {line}\n" for line in self.statements))
        (folder / f"{prefix}{TABLES}").write_text("\n".join(parts), encoding="utf-8")
        for name, draw in self.pictures.items():
            draw(folder / name)


def facts_table(columns: Mapping[str, Mapping[str, str]]) -> str:
    """Returns a Markdown table with a row for each fact and a column for each mapping of facts."""
    lines = [f"| | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    lines += [
        f"| {fact} | {' | '.join(facts[fact] for facts in columns.values())} |"
        for fact in next(iter(columns.values()))
    ]
    return "\n".join(lines) + "\n"


def matched_table(facts: Mapping[str, tuple[str, str]]) -> str:
    """Returns a Markdown table of published figures and those of the city."""
    return facts_table(
        {
            "published": {fact: published for fact, (published, _) in facts.items()},
            "made": {fact: made for fact, (_, made) in facts.items()},
        }
    )


def print_tables(of: str, tables: Callable[[int], str]) -> None:
    """Prints the tables of the city of a seed, which the command line may give."""
    parser = argparse.ArgumentParser(description=f"Figures of the synthetic {of}.")
    parser.add_argument("--seed", type=int, default=1)
    sys.stdout.write(tables(parser.parse_args().seed))
