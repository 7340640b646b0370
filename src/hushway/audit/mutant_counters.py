"""Wrong counters that mutants are made with: each is the real one but for a single answer."""

from hushway.privacy.bound import Bound
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.privacy.unit import Unit


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
    """A counter that promises what the real one promises, and counts what a wrong one counts."""

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
