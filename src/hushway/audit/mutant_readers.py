"""Wrong readers of files: people whose rows lie in several files or batches are cut to pieces.

Each piece then counts as if it were a person of its own, so one person adds as much as there are
pieces. Tests of engines and audits through files must see it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hushway.privacy.bound import Bound
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.privacy.unit import Unit
from hushway.tables.layout import layout_of


class Summed:
    """Counters of several files, whose counts are added up."""

    def __init__(self, counters: Sequence[Counter]) -> None:
        self._counters = counters

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self._counters[0].unit

    def bound(self, query: Query) -> Bound:
        """Returns the bound that holds in each file, and not in all of them together."""
        return self._counters[0].bound(query)

    def count(self, query: Query) -> ExactCounts:
        """Returns the sums of the bounded counts."""
        found = [counter.count(query) for counter in self._counters]
        every = np.concatenate([exact.cells for exact in found])
        cells, inverse = np.unique(every, return_inverse=True)
        values = np.zeros(len(cells), dtype=np.int64)
        np.add.at(values, inverse, np.concatenate([exact.values for exact in found]))
        return ExactCounts(cells=cells, values=values)


def files_of(source: Any) -> list[Any]:
    """Returns a source for each of the files of a source."""
    return [replace(source, path=path) for path in layout_of(source).files.paths]
