"""Wrong counters that mutants are made with: each is the real one but for a single thing.

The functions make what `Product.counter` takes: rows, a stage and a source in, a counter out.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.product import Rows, exact_values, sparse
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.privacy.randomness import BitSource
from hushway.tables.layout import layout_of

_NO_LIMIT = 10**6


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


class _WrongBound(Wrapped):
    """A counter that states another bound than it enforces."""

    def __init__(self, counter: Counter, bound: Callable[[Query, Bound], Bound]) -> None:
        super().__init__(counter)
        self._bound = bound

    def bound(self, query: Query) -> Bound:
        """Returns the wrong bound."""
        return self._bound(query, super().bound(query))


class Otherwise(Wrapped):
    """A counter that states what the real one enforces, and counts what a wrong one counts.

    With `only`, questions about other cells are answered rightly.
    """

    def __init__(self, counter: Counter, wrong: Counter, only: type = object) -> None:
        super().__init__(counter)
        self.wrong = wrong
        self._only = only

    def count(self, query: Query) -> ExactCounts:
        """Returns the counts of the wrong counter."""
        return (self.wrong if isinstance(query.cells, self._only) else self._real).count(query)


class WrongAnswers(Wrapped):
    """A counter whose answers are changed, where they are about some kind of cells."""

    def __init__(
        self, counter: Counter, change: Callable[[Counter, Query], ExactCounts], only: type = object
    ) -> None:
        super().__init__(counter)
        self._change, self._only = change, only

    def count(self, query: Query) -> ExactCounts:
        """Returns counts with the mistake in them."""
        if not isinstance(query.cells, self._only):
            return super().count(query)
        return self._change(self._real, query)


Make = Callable[[Rows, Any, BitSource], Counter]
"""Makes a counter of rows on a stage."""


def wrong_bound(bound: Callable[[Query, Bound], Bound]) -> Make:
    """Makes counters that state a wrong bound, given the query and the right one."""
    return lambda rows, stage, source: _WrongBound(stage.count(rows, source), bound)


def only_one(_query: Query, _bound: Bound) -> Bound:
    """Returns the bound of somebody who has a single row, whatever is asked."""
    return Bound(cells=1, each=1, total=1)


def wrong_input(
    *,
    rows: Callable[[Rows, Any, BitSource], Rows] = lambda rows, _stage, _source: rows,
    stage: Callable[[Any], Any] = lambda stage: stage,
    only: type = object,
) -> Make:
    """Makes counters that state the right bound, and count other rows or on another stage."""

    def make(given: Rows, real: Any, source: BitSource) -> Otherwise:
        other = rows(given, real, source)
        right = real.count(given, source)
        return Otherwise(right, stage(real).count(other, source), only)

    return make


def unlimited(limit: str) -> Callable[[Any], Any]:
    """Returns how a stage becomes one that does not keep to a limit."""
    none: dict[str, Any] = {limit: _NO_LIMIT}
    return lambda stage: replace(stage, limits=replace(stage.limits, **none))


def without_limit(limit: str, only: type = object) -> Make:
    """Makes counters that state a limit and do not keep to it."""
    return wrong_input(stage=unlimited(limit), only=only)


def wrong_answers(change: Callable[[Counter, Query], ExactCounts], only: type = object) -> Make:
    """Makes counters that answer otherwise, where they are asked about some kind of cells."""
    return lambda rows, stage, source: WrongAnswers(stage.count(rows, source), change, only)


def wrong_values(change: Callable[[Query, IntArray], IntArray], only: type = object) -> Make:
    """Makes counters that change the values of all cells, where they are of some kind."""
    return wrong_answers(
        lambda counter, query: sparse(change(query, exact_values(counter, query))), only
    )


def large(exact: ExactCounts, least: int) -> ExactCounts:
    """Returns those exact counts that are large enough, so that the noise comes too late."""
    kept = exact.values >= least
    return ExactCounts(cells=exact.cells[kept], values=exact.values[kept])


def only_large(least: int) -> Make:
    """Makes counters that drop small exact counts."""
    return wrong_answers(lambda counter, query: large(counter.count(query), least))


class Summed:
    """Counters of several files, whose counts are added up.

    People whose rows lie in several files are cut to pieces, and each piece counts as a person.
    """

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
        return sparse(np.sum([exact_values(one, query) for one in self._counters], axis=0))


def file_by_file(engine: Callable[..., Counter], *, source: Any, **options: Any) -> Counter:
    """Returns a counter that bounds people in each file by itself."""
    files = layout_of(source).files.paths
    return Summed([engine(source=replace(source, path=path), **options) for path in files])
