"""Noisy answers that are kept, and a curator without rows that gives them again.

Everything published is a function of noisy answers and of public facts. Whoever has both can
compute it again: the mechanism asks the same questions in the same order, and is answered from what
was kept.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event, cutting_event, noise_for, selecting_event
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event
from hushway.privacy.loss import Loss
from hushway.privacy.measured import KeptAnswer, Measured, MeasuredSparse
from hushway.privacy.noise.grouped import Grouping, Layout, OneGroup
from hushway.privacy.noise.lazy import LazyVector
from hushway.privacy.query import AnyQuery, CutQuery, PartitionQuery, Query, WeightedQuery


@dataclass(frozen=True, kw_only=True)
class Announced:
    """An event of a certificate, and the answer that was kept of it."""

    event: Event
    answer: KeptAnswer


class Replaying(Curator):
    """A curator that has no rows: it hands out the answers of a release, in their order.

    Privacy:
        It holds neither a counter nor a budget nor random bits, so that nothing it says can have
        seen a row. A question that is not the next one of the certificate is refused.
    """

    __slots__ = ("_announced",)

    def __init__(self, events: Sequence[Event], answers: Sequence[KeptAnswer]) -> None:
        if len(events) != len(answers):
            raise _not_these("there are not as many answers as measurements on the certificate")
        self._events = []
        self._announced = [
            Announced(event=event, answer=answer)
            for event, answer in zip(events, answers, strict=True)
        ]

    def bound(self, query: AnyQuery) -> Bound:
        """Returns how far one unit can move a query, as the certificate says."""
        asked = (query.name, query.cells.size)
        for one in self._announced:
            if (one.event.query, one.event.cells) == asked:
                return one.event.bound
        raise _not_these(f"no measurement is called {query.name!r}")

    def counts(self, query: Query | PartitionQuery, spend: Loss) -> Measured:
        """Returns the noisy counts that were kept."""
        return self._dense(query, spend)

    def weighted(self, query: WeightedQuery, spend: Loss) -> Measured:
        """Returns the noisy sums that were kept."""
        return self._dense(query, spend)

    def counts_above(self, query: Query, threshold: int, spend: Loss) -> MeasuredSparse:
        """Returns the noisy counts that were shown."""
        return self._shown(query, spend, threshold=threshold)

    def counts_lazily(self, query: Query, groups: Grouping, spend: Loss) -> MeasuredSparse:
        """Returns the noisy counts that were looked at, group by group."""
        return self._shown(query, spend, groups=groups)

    def select(self, scores: Query | WeightedQuery, spend: Loss) -> int:
        """Returns the cell that was chosen."""
        size = scores.cells.size
        found = self._next(lambda bound: selecting_event(scores.name, size, spend, bound))
        return int(_every(found.answer, 1)[0])

    def cuts(self, query: CutQuery, spend: Loss) -> Measured:
        """Returns how many coefficients were kept."""
        size = query.cells.size
        found = self._next(lambda bound: cutting_event(query.name, size, spend, bound))
        values = _every(found.answer, query.base.cells.size // query.length)
        return Measured(query=query, values=values, variance=Fraction(0), event=found.event)

    def finish(self) -> tuple[Event, ...]:
        """Returns what was asked, once every answer was given.

        Raises:
            ReleaseError: An answer was kept that nobody asked for.
        """
        if len(self._events) < len(self._announced):
            raise _not_these("some of them answer no question")
        return self.events

    def _dense(self, query: AnyQuery, spend: Loss) -> Measured:
        found = self._counted(query, spend)
        variance = noise_for(spend, found.event.bound).variance
        values = _every(found.answer, query.cells.size)
        return Measured(query=query, values=values, variance=variance, event=found.event)

    def _shown(
        self,
        query: Query,
        spend: Loss,
        *,
        threshold: int | None = None,
        groups: Grouping | None = None,
    ) -> MeasuredSparse:
        found, size = self._counted(query, spend), query.cells.size
        layout = Layout(OneGroup(size) if groups is None else groups, size)
        kept = found.answer
        if kept.cells is None or kept.thresholds is None or len(kept.thresholds) != layout.count:
            raise _not_these("they do not say from which values on cells were shown")
        return MeasuredSparse(
            query=query,
            threshold=threshold,
            groups=groups,
            variance=noise_for(spend, found.event.bound).variance,
            event=found.event,
            vector=LazyVector.of_shown(layout, kept.cells, kept.values, kept.thresholds),
        )

    def _counted(self, query: AnyQuery, spend: Loss) -> Announced:
        size = query.cells.size
        return self._next(lambda bound: counting_event(query.name, size, spend, bound))

    def _next(self, event_for: Callable[[Bound], Event]) -> Announced:
        """Returns the next answer, if the question is the one that was announced."""
        place = len(self._events)
        if place == len(self._announced):
            raise _not_these("more was asked than was answered")
        found = self._announced[place]
        if event_for(found.event.bound) != found.event:
            raise _not_these(f"measurement {place + 1} was another one")
        self._events.append(found.event)
        return found

    def __reduce__(self) -> NoReturn:
        raise _not_these("a curator cannot be copied")


def _every(answer: KeptAnswer, size: int) -> IntArray:
    """Returns the values of an answer that has one for each of so many cells."""
    if answer.thresholds is not None or answer.cells is not None or len(answer.values) != size:
        raise _not_these("one of them is not a value for every cell")
    return answer.values.copy()


def _not_these(why: str) -> ReleaseError:
    return ReleaseError(
        f"The release cannot be fitted again: its noisy answers are not those of its certificate; "
        f"{why}.",
        advice="Do not trust this release; ask its publisher for one that adds up.",
    )
