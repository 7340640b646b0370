"""Counts in which columns learnt sequences are best, for pages that quote `sequence_judges.py`.

The benchmark saves a table for every scene and budget, with the best of each column in bold.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tools.docs.pages import without_tables
from tools.docs.results import Result

_TITLE = re.compile(r"^\*\*(.+), ε = (.+)\*\*$", re.MULTILINE)
_OURS = "learned"

Rows = list[list[str]]


@dataclass(frozen=True, kw_only=True)
class Column:
    """One judge of one scene and budget: what learnt records got, and the best release."""

    scene: str
    epsilon: str
    judge: str
    ours: str
    best: str
    best_release: str

    @property
    def is_won(self) -> bool:
        """Whether no release is better than learnt records."""
        return self.ours.startswith("**")


def columns(result: Result) -> Iterator[Column]:
    """Yields all columns of all tables."""
    for scene, epsilon in _TITLE.findall(result.text):
        _, (table,) = without_tables(result.table(f"{scene}, ε = {epsilon}"))
        ours = next(row for row in table.rows if row[0] == _OURS)
        for place, judge in enumerate(table.titles[1:], start=1):
            best = next(row for row in table.rows if row[place].startswith("**"))
            yield Column(
                scene=scene,
                epsilon=epsilon,
                judge=judge,
                ours=ours[place],
                best=best[place].strip("*"),
                best_release=best[0],
            )


def won(result: Result) -> tuple[list[str], Rows]:
    """Returns titles and rows: in how many columns learnt records are best, by scene and budget."""
    every = [*columns(result)]
    scenes = [*dict.fromkeys(one.scene for one in every)]
    budgets = [*dict.fromkeys(one.epsilon for one in every)]

    def counted(among: list[Column]) -> list[str]:
        parts = [[one for one in among if one.epsilon == budget] for budget in budgets]
        return [f"{sum(one.is_won for one in part)} of {len(part)}" for part in (*parts, among)]

    rows = [[scene, *counted([one for one in every if one.scene == scene])] for scene in scenes]
    return (
        ["scene", *(f"ε = {budget}" for budget in budgets), "all"],
        [*rows, ["all", *counted(every)]],
    )


def lost(result: Result) -> tuple[list[str], Rows]:
    """Returns titles and rows: all columns in which another release is better, and which."""
    found: dict[str, list[str]] = {}
    for one in columns(result):
        if not one.is_won:
            said = f"{one.judge} {one.ours} ({one.best} {one.best_release})"
            found.setdefault(f"{one.scene}, {one.epsilon}", []).append(said)
    rows = [[where, "; ".join(said)] for where, said in found.items()]
    return ["scene, ε", "learned (the best)"], rows
