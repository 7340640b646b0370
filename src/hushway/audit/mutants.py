"""Planted mistakes. Each is the product with one part exchanged, and an audit must catch it.

An audit that passes proves little unless the same audit fails on code that is known to be wrong.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.audit import od_dense, od_laws, od_sparse
from hushway.audit.harness import Examination
from hushway.audit.od_sparse import THRESHOLD
from hushway.audit.product import Product, Terms, count_in_memory
from hushway.audit.town import Trips
from hushway.privacy.bound import Bound
from hushway.privacy.budget import Budget
from hushway.privacy.calibration import counting_event, noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event
from hushway.privacy.loss import Loss, PureLoss
from hushway.privacy.measured import MeasuredSparse
from hushway.privacy.noise.lazy import LazyVector
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.privacy.randomness import BitSource, WordArray, os_source
from hushway.privacy.unit import Unit

_NO_CAP = 10**6


class _Counter:
    """The real counter, for a mutant to get one thing wrong about."""

    def __init__(self, trips: Trips, terms: Terms, source: BitSource) -> None:
        self._real = count_in_memory(trips, terms, source)

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


class SensitivityOfOne(_Counter):
    """A counter that caps at m trips and says that a person has only one."""

    def bound(self, query: Query) -> Bound:  # noqa: ARG002  wrong for every query
        """Returns the wrong bound."""
        return Bound(cells=1, each=1, total=1)


class NoCap(_Counter):
    """A counter that says m trips and counts all of them."""

    def __init__(self, trips: Trips, terms: Terms, source: BitSource) -> None:
        super().__init__(trips, terms, source)
        uncapped = Terms(cells=terms.cells, unit=terms.unit, max_trips=_NO_CAP)
        self._uncapped = count_in_memory(trips, uncapped, source)

    def count(self, query: Query) -> ExactCounts:
        """Returns counts of all trips."""
        return self._uncapped.count(query)


class ThresholdBeforeNoise(_Counter):
    """A counter that drops small exact counts, so that the noise comes too late."""

    def count(self, query: Query) -> ExactCounts:
        """Returns the exact counts that reach the threshold."""
        exact = super().count(query)
        kept = exact.values >= THRESHOLD
        return ExactCounts(cells=exact.cells[kept], values=exact.values[kept])


class SharedNoise:
    """A source that begins again at every call, so that all measurements get the same noise."""

    name = "a source that repeats itself"
    private = False

    def __init__(self) -> None:
        self._words = np.empty(0, dtype=np.uint64)

    def words(self, count: int) -> WordArray:
        """Returns the same words as ever, and new ones only beyond them."""
        missing = count - len(self._words)
        if missing > 0:
            self._words = np.concatenate([self._words, os_source().words(missing)])
        return self._words[:count].copy()


class SeenCellsOnly(Curator):
    """A curator that takes the universe from the data: a cell that nobody visited never shows."""

    __slots__ = ("_parts",)

    def __init__(self, counter: Counter, budget: Budget, source: BitSource) -> None:
        super().__init__(counter=counter, budget=budget, source=source)
        self._parts = counter, budget, source

    def counts_above(self, query: Query, threshold: int, spend: Loss) -> MeasuredSparse:
        """Returns noisy counts of the cells that hold a trip."""
        counter, budget, source = self._parts
        bound = counter.bound(query)
        event = counting_event(query.name, query.cells.size, spend, bound)
        budget.charge(event)
        law, exact = noise_for(spend, bound), counter.count(query)
        seen = LazyVector(
            law=law, size=len(exact.cells), cells=exact.cells, counts=exact.values, source=source
        )
        return MeasuredSparse(
            query=query, threshold=threshold, variance=law.variance, event=event, vector=seen
        )


class BlindPurse:
    """A purse that agrees to everything: the real one would stop a missing split by itself."""

    def charge(self, event: Event) -> None:
        """Takes nothing."""


def no_split(spend: PureLoss, measurements: int) -> tuple[PureLoss, ...]:
    """Gives the whole spend to each of several measurements."""
    return (spend,) * measurements


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A mistake and the audits that must see it.

    Attributes:
        name: The mistake in words.
        product: The product with the mistake in it.
        audits: The audits that must fail.
    """

    name: str
    product: Product
    audits: tuple[Callable[[Product, Fraction], Examination], ...]


MUTANTS = (
    Mutant(
        name="sensitivity 1 instead of m",
        product=Product(counter=SensitivityOfOne),
        audits=(od_dense.many_trips,),
    ),
    Mutant(
        name="shared noise",
        product=Product(source=SharedNoise),
        audits=(od_dense.total_and_part, od_laws.fresh_noise),
    ),
    Mutant(
        name="missing budget split",
        product=Product(split=no_split, budget=lambda _terms, _spend: BlindPurse()),
        audits=(od_dense.measured_twice, od_laws.fresh_noise),
    ),
    Mutant(
        name="universe taken from the data",
        product=Product(curator=SeenCellsOnly),
        audits=(od_sparse.unvisited_cell,),
    ),
    Mutant(
        name="threshold before noise",
        product=Product(counter=ThresholdBeforeNoise),
        audits=(od_sparse.at_the_threshold,),
    ),
    Mutant(
        name="no cap",
        product=Product(counter=NoCap),
        audits=(od_dense.many_trips,),
    ),
)
