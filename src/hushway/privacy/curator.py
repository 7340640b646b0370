"""The only holder of rows, noise and budget. What it hands out may be seen by anyone."""

import operator
import os
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn
from weakref import ref

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PrivacyError
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event, cutting_event, noise_for, selecting_event
from hushway.privacy.events import Budget, Event
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss
from hushway.privacy.measured import KeptAnswer, Measured, MeasuredSparse
from hushway.privacy.noise.exponential import exponential_choice
from hushway.privacy.noise.grouped import Grouping, Layout
from hushway.privacy.noise.lazy import LazyVector, check_drawable, check_showable
from hushway.privacy.public_facts import refuse_undeclared
from hushway.privacy.query import (
    AnyQuery,
    Counter,
    CutQuery,
    ExactCounts,
    PartitionQuery,
    Query,
    WeightedQuery,
)
from hushway.privacy.randomness import BitSource

# A vector of this many cells takes 1 GiB; beyond it the sparse form is the right one anyway.
MOST_DENSE_CELLS = 1 << 27
MOST_CELLS = 10**12
# Answers of more cells are not kept: the copy would take too much memory.
_MOST_KEPT = 1 << 24


@dataclass(frozen=True, kw_only=True)
class _Vault:
    counter: Counter
    budget: Budget
    source: BitSource
    process: int


# Kept here and not on the curator: no attribute of a curator leads to a row or to an exact count.
# (A WeakKeyDictionary would hang on the callback of the curator's weak reference.) That guards
# against accidents and careless code; nothing inside one Python process guards against malice.
_VAULTS: "dict[ref[Curator], _Vault]" = {}


def _forget(gone: "ref[Curator]") -> None:
    _VAULTS.pop(gone, None)


def _opened(curator: "Curator") -> _Vault:
    """Returns what a curator holds, to the process that made it.

    A forked copy would draw noise for the same rows with the same budget once more.
    """
    vault = _VAULTS[ref(curator)]
    if vault.process != os.getpid():
        raise PrivacyError(
            "A curator cannot be used in a copy of its process.",
            advice="Measure in the process that made it, then pass on what was measured.",
        )
    return vault


class Curator:
    """Counts, adds exact noise and hands out the sum, after the budget has agreed.

    Privacy:
        Every verb charges the budget with the event before it touches a row; if the charge is
        refused nothing is counted and nothing is spent. The noise is calibrated to the bound that
        the counter itself enforces. Before all that a verb refuses what is not exactly one of its
        queries, made of classes that were declared public; `hushway.privacy.public_facts` says what
        that guards against. A curator belongs to the process that made it.
    """

    __slots__ = ("__weakref__", "_events", "_kept")

    def __init__(self, *, counter: Counter, budget: Budget, source: BitSource) -> None:
        self._events: list[Event] = []
        self._kept: list[KeptAnswer | MeasuredSparse | None] = []
        _VAULTS[ref(self, _forget)] = _Vault(
            counter=counter, budget=budget, source=source, process=os.getpid()
        )

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that was charged so far, in order."""
        return tuple(self._events)

    @property
    def kept_answers(self) -> tuple[KeptAnswer, ...] | None:
        """Every noisy answer as far as it was looked at; None if there is too much of them.

        Privacy:
            What was charged for and handed out, and nothing else.
        """
        kept = [one.kept() if isinstance(one, MeasuredSparse) else one for one in self._kept]
        found = tuple(one for one in kept if one is not None)
        return found if len(found) == len(kept) else None

    def bound(self, query: AnyQuery) -> Bound:
        """Returns how far one unit can move a query: a public number that noise depends on."""
        admit(query, Query, PartitionQuery, WeightedQuery)
        return bound_of(_opened(self).counter, query)

    def counts(self, query: Query | PartitionQuery, spend: Loss) -> Measured:
        """Returns a noisy count for every cell, or for every element of a partition of the cells.

        Privacy:
            Costs `spend`: discrete Laplace noise for an epsilon, discrete Gaussian for a rho.
            Elements without any record get noise like all others.
        """
        admit(query, Query, PartitionQuery, spend=spend)
        return self._dense(query, spend)

    def weighted(self, query: WeightedQuery, spend: Loss) -> Measured:
        """Returns a noisy value for every weighted sum.

        Privacy:
            Costs `spend`; the bound follows from the base's bound and the public weights.
        """
        admit(query, WeightedQuery, spend=spend)
        return self._dense(query, spend)

    def counts_above(self, query: Query, threshold: int, spend: Loss) -> MeasuredSparse:
        """Returns the noisy counts of a huge universe, shown at and above a threshold.

        Privacy:
            Costs `spend`, as a dense measurement of all cells would; empty cells are drawn by their
            law.
        """
        admit(query, Query, spend=spend)
        threshold = operator.index(threshold)
        size = _checked_size(query, MOST_CELLS)
        bound = bound_of(_opened(self).counter, query)
        check_showable(noise_for(spend, bound), size, threshold)
        return self._sparse(query, bound, spend, threshold=threshold)

    def counts_lazily(self, query: Query, groups: Grouping, spend: Loss) -> MeasuredSparse:
        """Returns the noisy counts of a huge universe, to be looked at group by group.

        Privacy:
            Costs `spend`, as a dense measurement of all cells would; empty cells are drawn by their
            law, as far as they are looked at.
        """
        admit(query, Query, spend=spend, groups=groups)
        size = _checked_size(query, MOST_CELLS)
        bound = bound_of(_opened(self).counter, query)
        check_drawable(noise_for(spend, bound))
        Layout(groups, size)  # refuses groups of another universe before anything is charged
        return self._sparse(query, bound, spend, groups=groups)

    def select(self, scores: Query | WeightedQuery, spend: Loss) -> int:
        """Returns the cell chosen by the exponential mechanism; low scores are likely.

        Privacy:
            Costs `spend`. The score of a cell is its exact count, which one unit moves by at most
            `bound.each`.
        """
        admit(scores, Query, WeightedQuery, spend=spend)
        vault = _opened(self)
        size = _checked_size(scores, MOST_DENSE_CELLS)
        event = selecting_event(scores.name, size, spend, bound_of(vault.counter, scores))
        self._charge(event)
        exact = _spread(_exact(vault.counter, scores), size)
        chosen = exponential_choice(vault.source, exact, event.rate)
        self._keep(np.array([chosen], dtype=np.int64))
        return chosen

    def cuts(self, query: CutQuery, spend: Loss) -> Measured:
        """Returns how many first coefficients of every series are worth keeping.

        Privacy:
            Costs `spend` for all series together: one exponential mechanism each, with a rate that
            follows from the bound of the counts.
        """
        admit(query, CutQuery, spend=spend)
        vault = _opened(self)
        size = _checked_size(query.base, MOST_DENSE_CELLS)
        bound = bound_of(vault.counter, query)
        event = cutting_event(query.name, query.cells.size, spend, bound)
        self._charge(event)
        exact = _spread(_exact(vault.counter, query.base), size)
        chosen = [
            query.kept(exponential_choice(vault.source, scores, event.rate))
            for scores in query.scores(exact)
        ]
        values = np.array(chosen, dtype=np.int64)
        self._keep(values)
        return Measured(query=query, values=values, variance=Fraction(0), event=event)

    def _sparse(
        self,
        query: Query,
        bound: Bound,
        spend: Loss,
        *,
        threshold: int | None = None,
        groups: Grouping | None = None,
    ) -> MeasuredSparse:
        vault = _opened(self)
        law, size = noise_for(spend, bound), query.cells.size
        event = counting_event(query.name, size, spend, bound)
        self._charge(event)
        exact = _exact(vault.counter, query)
        vector = LazyVector(
            law=law,
            size=size,
            cells=exact.cells,
            counts=exact.values,
            source=vault.source,
            groups=groups,
        )
        answer = MeasuredSparse(
            query=query,
            threshold=threshold,
            groups=groups,
            variance=law.variance,
            event=event,
            vector=vector,
        )
        self._kept.append(answer)
        return answer

    def _dense(self, query: AnyQuery, spend: Loss) -> Measured:
        vault = _opened(self)
        size = _checked_size(query, MOST_DENSE_CELLS)
        bound = bound_of(vault.counter, query)
        law = noise_for(spend, bound)
        event = counting_event(query.name, size, spend, bound)
        self._charge(event)
        values = law.draw(vault.source, size)
        exact = _exact(vault.counter, query)
        values[exact.cells] += exact.values
        self._keep(values)
        return Measured(query=query, values=values, variance=law.variance, event=event)

    def _keep(self, values: IntArray) -> None:
        """Keeps a copy of an answer: a fit may work on what it is given."""
        fits = len(values) <= _MOST_KEPT
        self._kept.append(KeptAnswer(values=values.copy()) if fits else None)

    def _charge(self, event: Event) -> None:
        _opened(self).budget.charge(event)
        self._events.append(event)

    def __reduce__(self) -> NoReturn:
        raise PrivacyError(
            "A curator cannot be copied to another process.",
            advice="Measure in the process that holds the data, then pass on what was measured.",
        )


def bound_of(counter: Counter, query: AnyQuery | CutQuery) -> Bound:
    """Returns how far one unit can move a query, by what its counter states and enforces."""
    if isinstance(query, CutQuery):
        return counter.bound(query.base)
    if isinstance(query, PartitionQuery | WeightedQuery):
        return query.bound(counter.bound(query.base))
    return counter.bound(query)


def _exact(counter: Counter, query: AnyQuery) -> ExactCounts:
    """Returns exact values, refusing any that an engine places outside the public cells."""
    if isinstance(query, PartitionQuery | WeightedQuery):
        return query.apply(_exact(counter, query.base))
    exact = counter.count(query)
    if not _fits(exact, query.cells.size):
        raise PrivacyError(
            "An engine counted cells that are not in the public list.",
            advice="Report this as a bug of the engine; nothing was published.",
        )
    return exact


def _fits(exact: ExactCounts, size: int) -> bool:
    cells, values = exact.cells, exact.values
    whole = cells.dtype == values.dtype == np.int64 and cells.shape == values.shape == (len(cells),)
    if not whole or len(cells) == 0:
        return whole
    return bool(cells[0] >= 0 and cells[-1] < size and (np.diff(cells) > 0).all())


def _spread(exact: ExactCounts, size: int) -> IntArray:
    values = np.zeros(size, dtype=np.int64)
    values[exact.cells] = exact.values
    return values


def _checked_size(query: AnyQuery, most: int) -> int:
    """Refuses a universe that is too large, before anything is charged."""
    size = query.cells.size
    if not 1 <= size <= most:
        raise PrivacyError(
            f"{query.name} has {size:,} cells; this measurement takes 1 to {most:,}.",
            advice="Use the sparse form, fewer periods or coarser places.",
        )
    return size


def admit(question: object, *kinds: type, spend: object = None, groups: object = None) -> None:
    """Refuses whatever is not exactly of a kind; asked before anything is charged or counted.

    Privacy:
        Exact counts meet the code of the question on their way. So a look-alike, a subclass, an
        object with methods of its own, or cells that nobody declared public are turned away.
    """
    kind: Any = type(question)
    if kind not in kinds:
        taken = " or ".join(each.__name__ for each in kinds)
        raise PrivacyError(
            f"This verb of a curator takes {taken}, and was given {kind.__name__}.",
            advice="Ask with one of these; a class that only looks like one is refused.",
        )
    refuse_undeclared(question)
    if kind is not Query and type(getattr(question, "base", None)) is not Query:
        raise PrivacyError(
            f"The base of a {kind.__name__} is not a Query.", advice="Build it from a Query."
        )
    if spend is not None and type(spend) not in {PureLoss, ZCDPLoss}:
        raise PrivacyError(
            f"A spend is a PureLoss or a ZCDPLoss, not {type(spend).__name__}.",
            advice="Give one of these.",
        )
    if groups is not None:
        refuse_undeclared(groups)
