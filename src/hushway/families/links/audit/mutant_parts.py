"""Wrong counters, curators and mechanisms of links that mutants are made of."""

from dataclasses import replace

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.mutant_counters import OnlyLarge, Otherwise, Wrapped
from hushway.audit.mutant_curators import WrongAnswers, dense
from hushway.families.links.audit.product import KINDS, DriveRows, DriveTerms, movements_in_memory
from hushway.families.links.mechanism.counts import LinkCounts, Spends
from hushway.families.links.public.universe import WEIGHTS, LeftOutCells, MovementCells
from hushway.privacy.bound import Bound
from hushway.privacy.loss import total
from hushway.privacy.query import ExactCounts, PartitionQuery, Query
from hushway.privacy.randomness import BitSource

_NO_LIMIT = 10**6
_THRESHOLD = 5


class WrongMovements(Otherwise):
    """The real counter, for a mutant to get one thing wrong about."""

    def __init__(self, rows: DriveRows, terms: DriveTerms, source: BitSource) -> None:
        other = self._other_rows(rows, terms, source), self._other_terms(terms)
        super().__init__(
            movements_in_memory(rows, terms, source), movements_in_memory(*other, source)
        )

    def _other_rows(self, rows: DriveRows, _terms: DriveTerms, _source: BitSource) -> DriveRows:
        return rows

    def _other_terms(self, terms: DriveTerms) -> DriveTerms:
        return terms


class NoCap(WrongMovements):
    """A counter that says m items and counts all of them."""

    def _other_terms(self, terms: DriveTerms) -> DriveTerms:
        return replace(terms, limits=replace(terms.limits, max_items=_NO_LIMIT))


class NoClip(WrongMovements):
    """A counter that says so many steps of speed and adds up all of them."""

    def _other_terms(self, terms: DriveTerms) -> DriveTerms:
        return replace(terms, limits=replace(terms.limits, speed_steps=_NO_LIMIT))


class TripsForPersons(WrongMovements):
    """A counter that bounds each trip by itself, as if trips had people of their own."""

    def _other_rows(self, rows: DriveRows, _terms: DriveTerms, _source: BitSource) -> DriveRows:
        return replace(rows, person=np.arange(len(rows.person), dtype=np.int64))


class SensitivityOfOne(WrongMovements):
    """A counter that keeps m items and says that a person has only one."""

    def bound(self, query: Query) -> Bound:
        """Returns the bound of a single item."""
        bound = super().bound(query)
        return Bound(cells=1, each=bound.each, total=bound.each)


class ThresholdBeforeNoise(OnlyLarge):
    """A counter that drops links that few use, so that the noise comes too late."""

    def __init__(self, rows: DriveRows, terms: DriveTerms, source: BitSource) -> None:
        super().__init__(movements_in_memory(rows, terms, source), _THRESHOLD)


class TwoCounts(WrongMovements):
    """The real counter, which also tells what it would have counted without a limit."""

    def count(self, query: Query) -> ExactCounts:
        """Returns the counts of the real counter."""
        return self._real.count(query)

    def everything(self, query: Query) -> ExactCounts:
        """Returns counts of all rows."""
        return self._wrong.count(query)

    def _other_terms(self, terms: DriveTerms) -> DriveTerms:
        return replace(terms, limits=replace(terms.limits, max_items=_NO_LIMIT))

    def _other_rows(self, rows: DriveRows, _terms: DriveTerms, _source: BitSource) -> DriveRows:
        return replace(rows, person=np.arange(len(rows.person), dtype=np.int64))


class AllLeftOut(NoCap):
    """A counter that counts m items of a person, and all others as left out."""

    def count(self, query: Query) -> ExactCounts:
        """Returns counts; only those of what is left out are wrong."""
        if not isinstance(query.cells, LeftOutCells):
            return self._real.count(query)
        cells = MovementCells(universe=query.cells.universe)
        items = Query(name=cells.name, cells=cells)
        counted, everything = (
            dense(counter.count(items), items) for counter in (self._real, self._wrong)
        )
        # The first weight comes first.
        left = everything - counted
        some = np.flatnonzero(left)
        return ExactCounts(cells=some, values=left[some])


class WeightedBeforeNoise(Wrapped):
    """A counter that adds up what is left out with its weights, and then adds noise for one."""

    def __init__(self, rows: DriveRows, terms: DriveTerms, source: BitSource) -> None:
        super().__init__(movements_in_memory(rows, terms, source))

    def count(self, query: Query) -> ExactCounts:
        """Returns counts; only those of what is left out are wrong."""
        exact = super().count(query)
        if not isinstance(query.cells, LeftOutCells):
            return exact
        weight = np.array(WEIGHTS)[exact.cells // query.cells.of_a_weight]
        return replace(exact, values=exact.values * weight)


class PaperEnds(NoCap):
    """A counter that does what the paper does: it moves the ends of trips to nodes nearby."""

    def _other_rows(self, rows: DriveRows, terms: DriveTerms, source: BitSource) -> DriveRows:
        nodes = terms.universe.roads.nodes
        kind, place = np.divmod(rows.item, nodes)
        assert int(kind.max(initial=0)) < KINDS  # noqa: S101  as many nodes as links
        # To the node before, to the next one or nowhere.
        step = (source.words(len(place)) % np.uint64(3)).astype(np.int64) - 1
        moved = np.where(kind > 0, (place + step) % nodes, place)
        return replace(rows, item=kind * nodes + moved)


class ExactAnswers(WrongAnswers):
    """Publishes exact counts."""

    def _changed(self, query: Query | PartitionQuery, _values: IntArray) -> IntArray:
        return self._exact_values(query)


class SharedByItems(WrongAnswers):
    """Gives all links and ends of trips the same noise."""

    def _changed(self, query: Query | PartitionQuery, values: IntArray) -> IntArray:
        if not isinstance(query.cells, MovementCells):
            return values
        exact = self._exact_values(query)
        return exact + (values - exact)[:1]


class UnboundedSums(WrongAnswers):
    """Adds up classes from all rows instead of those that count. Needs `TwoCounts`."""

    def _changed(self, query: Query | PartitionQuery, values: IntArray) -> IntArray:
        counter, _, _ = self._parts
        if not isinstance(query, PartitionQuery) or not isinstance(counter, TwoCounts):
            return values
        everything = dense(query.apply(counter.everything(query.base)), query)
        return values + everything - self._exact_values(query)


def unsplit(mechanism: LinkCounts) -> LinkCounts:
    """Gives the whole budget of a release to each of its questions."""
    whole, asked = total(mechanism.losses), mechanism.spends
    spends = Spends(
        links=whole,
        classes=asked.classes and whole,
        left_out=asked.left_out and whole,
        left_out_sums=asked.left_out_sums and whole,
        speeds=asked.speeds and whole,
    )
    return replace(mechanism, spends=spends)
