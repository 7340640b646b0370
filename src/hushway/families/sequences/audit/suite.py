"""The audits of the sequences family, and the proof that they can fail."""

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.mutant_counters import OnlyLarge, Otherwise, Summed, Wrapped, files_of
from hushway.audit.mutant_curators import Meddler, OccupiedCellsOnly, Peeping, WrongVector, dense
from hushway.audit.product import blind, remade
from hushway.audit.suite import Audit, Mutant, Suite
from hushway.families.sequences.audit import measured as sequences_measured
from hushway.families.sequences.audit import published as sequences_published
from hushway.families.sequences.audit.product import (
    GROUPED,
    HYBRID,
    REAL_SEQUENCES,
    STOPS,
    SequenceProduct,
    SequenceTerms,
    WalkRows,
    sequences_in_memory,
    taps_of_files,
)
from hushway.families.sequences.mechanism.tree import PrefixTree
from hushway.families.sequences.public.prefixes import PrefixCells, SequenceUniverse
from hushway.families.sequences.rows.duckdb import DuckDBSequences
from hushway.families.sequences.rows.sequences import SequencesSource, TapsSource
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.events import Budget
from hushway.privacy.loss import Loss, total
from hushway.privacy.measured import MeasuredSparse
from hushway.privacy.noise.lazy import LazyVector
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.privacy.randomness import BitSource, SeededSource
from hushway.release.mechanism import Measurements


def sequences_file_by_file(*, source: TapsSource | SequencesSource, **options: Any) -> Counter:
    """Returns a counter of sequences that bounds people in each file by itself."""
    return Summed([DuckDBSequences(source=one, **options) for one in files_of(source)])


_NO_CAP = 10**6
_MANY = 20


class _Wrong(Wrapped):
    """The real counter, for a mutant to get one thing wrong about."""

    def __init__(self, rows: WalkRows, terms: SequenceTerms, source: BitSource) -> None:
        super().__init__(sequences_in_memory(rows, terms, source))


class SensitivityOfOne(_Wrong):
    """A counter that caps at m records and says that a person has only one."""

    def bound(self, query: Query) -> Bound:  # noqa: ARG002  wrong for every query
        """Returns the wrong bound."""
        return Bound(cells=1, each=1, total=1)


class SpreadRecords(_Wrong):
    """A counter that caps at m records and says that no two of them share a candidate."""

    def bound(self, query: Query) -> Bound:
        """Returns a bound that is right for Laplace noise and wrong for Gaussian."""
        most = super().bound(query).total
        return Bound(cells=most, each=1, total=most)


class EveryLaterPeriod(_Wrong):
    """A counter that finds a stop in its own period and in all later ones."""

    def count(self, query: Query) -> ExactCounts:
        """Returns counts that add up over the periods of each node."""
        exact, cells = super().count(query), query.cells
        if not isinstance(cells, PrefixCells) or cells.grain > 0:
            return exact
        values = dense(exact, query)
        for begin, end in pairwise(cells.start.tolist()):
            by_period = values[begin:end].reshape(-1, cells.taxonomy.size(0))
            np.cumsum(by_period, axis=0, out=by_period)
        occupied = np.flatnonzero(values)
        return ExactCounts(cells=occupied, values=values[occupied])


class NoCap(Otherwise):
    """A counter that says m records and counts all of them."""

    def __init__(self, rows: WalkRows, terms: SequenceTerms, source: BitSource) -> None:
        uncapped = replace(terms, max_records=_NO_CAP)
        super().__init__(*(sequences_in_memory(rows, each, source) for each in (terms, uncapped)))


class InTwoGroups(_Wrong):
    """A counter that finds each first stop in its own group and in the neighbouring one."""

    def count(self, query: Query) -> ExactCounts:
        """Returns counts in which the first step has every record twice."""
        exact = super().count(query)
        if not isinstance(query.cells, PrefixCells) or query.cells.above is not None:
            return exact
        both = dense(exact, query)
        # Groups 0 and 1 are neighbours, and so are 2 and 3.
        both += both.reshape(-1, 2)[:, ::-1].ravel()
        cells = np.flatnonzero(both)
        return ExactCounts(cells=cells, values=both[cells])


class ThresholdFirst(Meddler):
    """Drops candidates whose exact counts are below the threshold, so that noise comes too late."""

    __slots__ = ()

    def counts_above(self, query: Query, threshold: int, spend: Loss) -> MeasuredSparse:
        """Returns noisy counts of what is large enough without noise."""
        counter, budget, source = self._parts
        late = Curator(counter=OnlyLarge(counter, threshold), budget=budget, source=source)
        return late.counts_above(query, threshold, spend)


class SameSeed(Meddler):
    """Makes its source of noise anew for every step, from the seed of the release."""

    __slots__ = ("_seed",)

    def __init__(self, counter: Counter, budget: Budget, source: BitSource) -> None:
        super().__init__(counter, budget, source)
        self._seed = int(source.words(1)[0])

    def counts_above(self, query: Query, threshold: int, spend: Loss) -> MeasuredSparse:
        """Returns noisy counts whose noise is that of every other step."""
        counter, budget, _ = self._parts
        again = Curator(counter=counter, budget=budget, source=SeededSource(self._seed))
        return again.counts_above(query, threshold, spend)


class _ExactWhereMany(LazyVector):
    """A lazy vector that adds no noise to large counts."""

    def __init__(self, *, cells: IntArray, counts: IntArray, **rest: Any) -> None:
        super().__init__(cells=cells, counts=counts, **rest)
        many = counts >= _MANY
        self._known.values[np.searchsorted(self._known.cells, cells[many])] = counts[many]


class NoNoiseOnMany(WrongVector):
    """Adds no noise where many people are: nobody stands out there."""

    __slots__ = ()
    vector = _ExactWhereMany


class NosyTree(PrefixTree):
    """A tree that stops as soon as no record is left, whatever the noise says."""

    def measure(self, curator: Curator, geography: SequenceUniverse) -> Measurements:
        """Counts step by step, and peeps before each step."""
        cells = geography.first_step()
        query = Query(name=cells.name, cells=cells)
        measured: list[MeasuredSparse] = []
        for step in self.steps(geography, curator.bound(query)):
            # Not a real verb: only the curator of this mutant has it.
            if measured and not len(curator.exact(query).cells):  # type: ignore[attr-defined]
                break
            answer = curator.counts_above(query, step.threshold, step.spend)
            measured.append(answer)
            kept = answer.reveal().cells
            if len(kept) == 0:
                break
            cells = cells.below(kept)
            query = Query(name=cells.name, cells=cells)
        return tuple(measured)


def unsplit_tree(tree: PrefixTree) -> PrefixTree:
    """Gives the whole budget of a tree to each of its steps."""
    return replace(tree, spends=(total(tree.spends),) * len(tree.spends))


_AUDITS: tuple[Audit[SequenceProduct], ...] = (
    sequences_measured.first_step,
    partial(sequences_measured.one_record, GROUPED),
    partial(sequences_measured.one_record, STOPS),
    partial(sequences_measured.one_record, HYBRID),
    sequences_measured.long_record,
    sequences_measured.many_records,
    sequences_measured.many_branches,
    sequences_measured.two_groups,
    sequences_measured.at_the_threshold,
    sequences_measured.busy_group,
    sequences_measured.step_less_another,
    sequences_measured.one_timed_record,
    sequences_measured.two_periods,
    sequences_measured.unseen_prefix,
    sequences_measured.one_gaussian_record,
    sequences_measured.many_gaussian_records,
    sequences_measured.empty_group,
    sequences_published.many_days,
    partial(sequences_published.unseen_prefix, GROUPED),
    partial(sequences_published.unseen_prefix, STOPS),
    sequences_published.many_records,
    sequences_published.one_step_enumerated,
    sequences_published.tree_enumerated,
    sequences_published.next_questions,
)


_MUTANTS: tuple[Mutant[SequenceProduct], ...] = (
    Mutant(
        name="sensitivity 1 instead of m",
        product=SequenceProduct(counter=SensitivityOfOne),
        audits=(sequences_measured.many_records, sequences_published.many_records),
    ),
    Mutant(
        name="no cap",
        product=SequenceProduct(counter=NoCap),
        audits=(sequences_measured.many_records, sequences_measured.many_branches),
    ),
    Mutant(
        name="candidates taken from the data",
        product=SequenceProduct(curator=OccupiedCellsOnly),
        audits=(
            partial(sequences_measured.one_record, GROUPED),
            partial(sequences_published.unseen_prefix, GROUPED),
            partial(sequences_published.unseen_prefix, STOPS),
            sequences_published.one_step_enumerated,
        ),
    ),
    Mutant(
        name="threshold before noise",
        product=SequenceProduct(curator=ThresholdFirst),
        audits=(sequences_measured.at_the_threshold,),
    ),
    Mutant(
        name="the whole budget for every step",
        product=SequenceProduct(mechanism=unsplit_tree, budget=blind),
        audits=(
            sequences_measured.first_step,
            partial(sequences_measured.one_record, GROUPED),
            sequences_measured.long_record,
        ),
    ),
    Mutant(
        name="a station in two groups",
        product=SequenceProduct(counter=InTwoGroups),
        audits=(sequences_measured.two_groups,),
    ),
    Mutant(
        name="a tree that stops where exact counts end",
        product=SequenceProduct(curator=Peeping, mechanism=partial(remade, NosyTree)),
        audits=(sequences_published.next_questions,),
    ),
    Mutant(
        name="a stop that counts in every later period",
        product=SequenceProduct(counter=EveryLaterPeriod),
        audits=(sequences_measured.two_periods,),
    ),
    Mutant(
        name="records of one person that never share a candidate",
        product=SequenceProduct(counter=SpreadRecords),
        audits=(sequences_measured.many_gaussian_records,),
    ),
    Mutant(
        name="no noise where many people are",
        product=SequenceProduct(curator=NoNoiseOnMany),
        audits=(sequences_measured.busy_group,),
    ),
    Mutant(
        name="the same noise at every step",
        product=SequenceProduct(curator=SameSeed),
        audits=(sequences_measured.step_less_another,),
    ),
    Mutant(
        name="each file bounded by itself",
        product=SequenceProduct(files=partial(taps_of_files, engine=sequences_file_by_file)),
        audits=(sequences_published.many_days,),
    ),
)

SUITE = Suite(real=REAL_SEQUENCES, audits=_AUDITS, mutants=_MUTANTS)
