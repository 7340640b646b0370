"""All visits of people, nobody cut down: for what only a steward may see."""

from dataclasses import dataclass
from typing import Final

import ibis.expr.types as ir
import numpy as np

from hushway.arrays import IntArray
from hushway.engine.embedded import EmbeddedSession
from hushway.engine.session import Sums
from hushway.families.density.public.visits import DensityUniverse
from hushway.families.density.rows.rows import AreaIndex, rows_by_number, rows_by_text
from hushway.privacy.query import ExactCounts
from hushway.progress import ShareProgress

_FOUND: Final = "found"


@dataclass(frozen=True, kw_only=True)
class EveryVisit:
    """Counts people by (bin, site), each once, however often. A `hushway.engine.session.Part`.

    Privacy:
        Nothing is bounded: for values that stay `Internal`.

    Attributes:
        universe: The public areas, bins and sites.
    """

    universe: DensityUniverse

    def count(
        self, session: EmbeddedSession, rows: ir.Table, progress: ShareProgress | None
    ) -> ExactCounts:
        """Returns how many people were seen in each; cell = bin * sites + site."""
        _, code = _distinct(session, rows, self.universe, progress)
        return _tally(code)

    def sums(self, counted: ExactCounts) -> Sums:
        """Returns what was counted."""
        return {_FOUND: counted}

    def counted(self, sums: Sums) -> ExactCounts:
        """Returns what was counted."""
        return sums[_FOUND]


@dataclass(frozen=True, kw_only=True)
class VisitsOfPeople(EveryVisit):
    """Counts people by how many visits they have. A `hushway.engine.session.Part`."""

    def count(
        self, session: EmbeddedSession, rows: ir.Table, progress: ShareProgress | None
    ) -> ExactCounts:
        """Returns how many people have so many visits; cell = number of visits."""
        owner, _ = _distinct(session, rows, self.universe, progress)
        return _tally(np.unique(owner, return_counts=True)[1])


def _distinct(
    session: EmbeddedSession,
    rows: ir.Table,
    universe: DensityUniverse,
    progress: ShareProgress | None,
) -> tuple[IntArray, IntArray]:
    """Returns whose each visit is, and its bin and site: rows that are alike are one visit."""
    areas = AreaIndex(universe.areas) if universe.sites is None else None
    if rows.person.type().is_integer():
        batches = list(rows_by_number(session, rows, areas, progress))
        owner = np.concatenate([np.zeros(0, np.int64), *(one.owner for one in batches)])
        code = np.concatenate([np.zeros(0, np.int32), *(one.code for one in batches)])
    else:
        people = rows_by_text(session, rows, areas, progress)
        owner = np.repeat(np.arange(len(people.salt)), np.diff(people.start))
        code = people.code
    order = np.lexsort((code, owner))
    owner, code = owner[order], code[order].astype(np.int64)
    # A row that is nowhere has the code -1.
    first = code >= 0
    first[1:] &= (owner[1:] != owner[:-1]) | (code[1:] != code[:-1])
    return owner[first], code[first]


def _tally(numbers: IntArray) -> ExactCounts:
    cells, values = np.unique(numbers, return_counts=True)
    return ExactCounts(cells=cells, values=values)
