"""Bounded counts of visits in arrays: for audits, which count again and again, and studies."""

import numpy as np

from hushway.arrays import IntArray
from hushway.engine.key import BoundingKey
from hushway.errors import DataError
from hushway.families.density.public.cells import DensityUniverse
from hushway.families.density.public.visits import VisitLimits
from hushway.families.density.rows.counts import (
    VisitRule,
    bounded_rows,
    refuse_other_visits,
    refuse_too_many_cells,
    visit_bound,
    visit_counts,
)
from hushway.families.density.rows.grouping import VisitRows
from hushway.privacy.bound import Bound
from hushway.privacy.query import ExactCounts, Query
from hushway.privacy.unit import Unit

__all__ = ["ArrayVisits"]


class ArrayVisits:
    """Counts visits given as arrays, each person bounded. A `hushway.privacy.query.Counter`.

    The same rule and the same arithmetic as for files: the same visits and the same key give the
    same counts.

    Privacy:
        At most one visit of a bin and `max_visits` in all count for each person; the choice reads
        that person's visits, that person's code and the key alone.

    Args:
        universe: The public areas, bins and sites.
        limits: How much of one person counts.
        key: Decides which visits are kept.
        person: Code of each event's person, a whole number of 64 bits.
        site: Index of the site of each event.
        bin: Index of its bin.

    Raises:
        DataError: The arrays do not fit each other or the universe.
    """

    def __init__(
        self,
        *,
        universe: DensityUniverse,
        limits: VisitLimits,
        key: BoundingKey,
        person: IntArray,
        site: IntArray,
        bin: IntArray,  # noqa: A002  what the column is called everywhere
    ) -> None:
        refuse_too_many_cells(universe)
        self._universe = universe
        self._limits = limits
        owner = _whole(person, len(np.asarray(person)))
        places = _below(site, len(owner), universe.site_count)
        code = _below(bin, len(owner), universe.bins) * universe.site_count + places
        rows = VisitRows(owner=owner, code=code.astype(np.int32))
        self._found = bounded_rows([rows], VisitRule.of(universe, limits, key))

    @property
    def unit(self) -> Unit:
        """Who is protected: a person."""
        return Unit.PERSON

    def bound(self, query: Query) -> Bound:
        """Returns the bound that `count` enforces for this query."""
        return visit_bound(refuse_other_visits(query, self._universe), self._limits)

    def count(self, query: Query) -> ExactCounts:
        """Returns the exact bounded counts."""
        return visit_counts(self._found, refuse_other_visits(query, self._universe))


def _below(column: IntArray, length: int, size: int) -> IntArray:
    values = _whole(column, length)
    if length and not 0 <= values.min() <= values.max() < size:
        raise DataError(
            "An event is not among the sites or the bins.",
            advice="Give indexes of the universe's sites and bins, from 0.",
        )
    return values


def _whole(column: IntArray, length: int) -> IntArray:
    values = np.asarray(column)
    if values.shape != (length,) or values.dtype.kind not in "iu" or values.dtype == np.uint64:
        raise DataError(
            "The arrays of events must be one-dimensional, of whole numbers and of one length.",
            advice="Give one array of integers of at most 64 signed bits for each column.",
        )
    return np.ascontiguousarray(values, dtype=np.int64)
