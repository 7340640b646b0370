"""Wrong counters and readers of files that mutants are made with: each is wrong in one thing."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hushway.privacy.bound import Bound, Unit
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.tables.layout import layout_of


class Wrapped:
    """A counter, for a mutant to get one thing wrong about."""

    def __init__(self, counter: Counter) -> None:
        self._real = counter

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self._real.unit

    def bound(self, query: Query) -> Bound:
        """Returns the bound of the real counter."""
        return self._real.bound(query)

    def count(self, query: Query) -> ExactCounts:
        """Returns the counts of the real counter."""
        return self._real.count(query)


class Otherwise(Wrapped):
    """A counter that claims what the real one claims, and counts what a wrong one counts."""

    def __init__(self, counter: Counter, wrong: Counter) -> None:
        super().__init__(counter)
        self._wrong = wrong

    def count(self, query: Query) -> ExactCounts:
        """Returns the counts of the wrong counter."""
        return self._wrong.count(query)


class OnlyLarge(Wrapped):
    """A counter that drops small exact counts, so that the noise comes too late."""

    def __init__(self, counter: Counter, least: int) -> None:
        super().__init__(counter)
        self._least = least

    def count(self, query: Query) -> ExactCounts:
        """Returns the exact counts that are large enough."""
        exact = super().count(query)
        kept = exact.values >= self._least
        return ExactCounts(cells=exact.cells[kept], values=exact.values[kept])


# Wrong readers of files: people whose rows lie in several files or batches are cut to pieces.
#
# Each piece then counts as if it were a person of its own, so one person adds as much as there are
# pieces. Tests of engines and audits through files must see it.


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
