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
from hushway.audit.suite import Audit, Mutant, Suite, mutant
from hushway.families.sequences.audit import learnt, measured, published
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
from hushway.families.sequences.mechanism.learned import LearnedSequences
from hushway.families.sequences.mechanism.tree import PrefixTree
from hushway.families.sequences.public.prefixes import PrefixCells, SequenceUniverse
from hushway.families.sequences.public.questions import (
    Asked,
    KnownPrefixCells,
    NewStopCells,
    RecordCells,
)
from hushway.families.sequences.rows.counter import EngineSequences
from hushway.families.sequences.rows.sequences import SequencesSource, TapsSource
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.events import Budget
from hushway.privacy.loss import Loss, total
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.noise.lazy import LazyVector
from hushway.privacy.query import AnyQuery, Counter, ExactCounts, PartitionQuery, Query
from hushway.privacy.randomness import BitSource, SeededSource
from hushway.release.mechanism import Measurements


def sequences_file_by_file(*, source: TapsSource | SequencesSource, **options: Any) -> Counter:
    """Returns a counter of sequences that bounds people in each file by itself."""
    return Summed([EngineSequences(source=one, **options) for one in files_of(source)])


_NO_CAP = 10**6
_MANY = 20


class _Wrong(Wrapped):
    """The real counter, for a mutant to get one thing wrong about."""

    def __init__(self, rows: WalkRows, terms: SequenceTerms, source: BitSource) -> None:
        super().__init__(sequences_in_memory(rows, terms, source))


class SensitivityOfOne(_Wrong):
    """A counter that stops at m records and says that a person has only one."""

    def bound(self, query: Query) -> Bound:  # noqa: ARG002  wrong for every query
        """Returns the wrong bound."""
        return Bound(cells=1, each=1, total=1)


class SpreadRecords(_Wrong):
    """A counter that stops at m records and says that no two of them share a candidate."""

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


class EveryNewStop(_Wrong):
    """A counter that counts all new stops of a record, each as if few of them counted."""

    def count(self, query: Query) -> ExactCounts:
        """Returns counts in which a record adds more than it is worth."""
        cells = query.cells
        if not isinstance(cells, NewStopCells):
            return super().count(query)
        every = replace(cells, most=cells.height, whole=cells.height)
        exact = super().count(Query(name=query.name, cells=every))
        return replace(exact, values=exact.values * cells.worth)


class AtEveryPrefix(_Wrong):
    """A counter that finds a record at each of its known prefixes."""

    def count(self, query: Query) -> ExactCounts:
        """Returns counts in which those who go on count at every node on their way."""
        cells = query.cells
        if not isinstance(cells, KnownPrefixCells):
            return super().count(query)
        values = dense(super().count(query), query)
        for node in range(len(cells.parent) - 1, 0, -1):
            values[2 * cells.parent[node] + 1] += values[2 * node] + values[2 * node + 1]
        occupied = np.flatnonzero(values)
        return ExactCounts(cells=occupied, values=values[occupied])


class ThresholdFirst(Meddler):
    """Drops candidates whose exact counts are below the threshold, so that noise comes too late."""

    def counts_above(self, query: Query, threshold: int, spend: Loss) -> MeasuredSparse:
        """Returns noisy counts of what is large enough without noise."""
        counter, budget, source = self._parts
        late = Curator(counter=OnlyLarge(counter, threshold), budget=budget, source=source)
        return late.counts_above(query, threshold, spend)


class SameSeed(Meddler):
    """Makes its source of noise anew for every step, from the seed of the release."""

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


class NosyLearner(LearnedSequences):
    """A mechanism that counts no more new stops than some record really has."""

    def measure(self, curator: Curator, geography: SequenceUniverse) -> Measurements:
        """Peeps before anything is asked, and asks about shorter records if all are short."""
        query = next(iter(self.queries(geography)))
        # Not a real verb: only the curator of this mutant has it.
        longest = int(curator.exact(query).cells.max(initial=0))  # type: ignore[attr-defined]
        if longest < self.height - 1:
            return super().measure(_Reversed(curator), geography)
        return super().measure(curator, geography)


class _Reversed(Curator):
    """A curator that is asked about turns by place where all turns should be asked about."""

    def __init__(self, inside: Curator) -> None:
        self._inside = inside

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inside, name)

    def bound(self, query: AnyQuery) -> Bound:
        """Returns the bound of the real curator."""
        return self._inside.bound(query)

    def counts(self, query: Query | PartitionQuery, spend: Loss) -> Measured:
        """Asks for something else."""
        cells = query.cells
        if isinstance(cells, RecordCells) and cells.asked is Asked.TURNS:
            query = Query(name=query.name, cells=replace(cells, asked=Asked.TURNS_BY_PLACE))
        return self._inside.counts(query, spend)


def unsplit_tree(tree: PrefixTree) -> PrefixTree:
    """Gives the whole budget of a tree to each of its steps."""
    return replace(tree, spends=(total(tree.spends),) * len(tree.spends))


_AUDITS: tuple[Audit[SequenceProduct], ...] = (
    measured.first_step,
    partial(measured.one_record, GROUPED),
    partial(measured.one_record, STOPS),
    partial(measured.one_record, HYBRID),
    measured.long_record,
    measured.many_records,
    measured.many_branches,
    measured.two_groups,
    measured.at_the_threshold,
    measured.busy_group,
    measured.step_less_another,
    measured.one_timed_record,
    measured.two_periods,
    measured.unseen_prefix,
    measured.one_gaussian_record,
    measured.many_gaussian_records,
    measured.empty_group,
    published.many_days,
    partial(published.unseen_prefix, GROUPED),
    partial(published.unseen_prefix, STOPS),
    published.many_records,
    published.one_step_enumerated,
    published.tree_enumerated,
    published.next_questions,
    learnt.one_record,
    learnt.new_stops,
    learnt.known_prefixes,
    learnt.published_records,
    learnt.next_questions,
)


_MUTANTS: tuple[Mutant[SequenceProduct], ...] = (
    mutant(
        "sensitivity 1 instead of m",
        SequenceProduct(counter=SensitivityOfOne),
        measured.many_records,
        published.many_records,
    ),
    mutant(
        "no contribution limit",
        SequenceProduct(counter=NoCap),
        measured.many_records,
        measured.many_branches,
    ),
    mutant(
        "candidates taken from the data",
        SequenceProduct(curator=OccupiedCellsOnly),
        partial(measured.one_record, GROUPED),
        partial(published.unseen_prefix, GROUPED),
        partial(published.unseen_prefix, STOPS),
        published.one_step_enumerated,
    ),
    mutant(
        "threshold before noise", SequenceProduct(curator=ThresholdFirst), measured.at_the_threshold
    ),
    mutant(
        "the whole budget for every step",
        SequenceProduct(mechanism=unsplit_tree, budget=blind),
        measured.first_step,
        partial(measured.one_record, GROUPED),
        measured.long_record,
    ),
    mutant("a station in two groups", SequenceProduct(counter=InTwoGroups), measured.two_groups),
    mutant(
        "a tree that stops where exact counts end",
        SequenceProduct(curator=Peeping, mechanism=partial(remade, NosyTree)),
        published.next_questions,
    ),
    mutant(
        "a stop that counts in every later period",
        SequenceProduct(counter=EveryLaterPeriod),
        measured.two_periods,
    ),
    mutant(
        "records of one person that never share a candidate",
        SequenceProduct(counter=SpreadRecords),
        measured.many_gaussian_records,
    ),
    mutant(
        "no noise where many people are",
        SequenceProduct(curator=NoNoiseOnMany),
        measured.busy_group,
    ),
    mutant(
        "the same noise at every step",
        SequenceProduct(curator=SameSeed),
        measured.step_less_another,
    ),
    mutant(
        "each file bounded by itself",
        SequenceProduct(files=partial(taps_of_files, engine=sequences_file_by_file)),
        published.many_days,
    ),
    mutant(
        "every new stop counts whole",
        SequenceProduct(counter=EveryNewStop),
        learnt.new_stops,
    ),
    mutant(
        "a record at each of its prefixes",
        SequenceProduct(counter=AtEveryPrefix),
        learnt.known_prefixes,
    ),
    mutant(
        "questions chosen by exact counts",
        SequenceProduct(curator=Peeping, mechanism=partial(remade, NosyLearner)),
        learnt.next_questions,
    ),
)

SUITE = Suite(real=REAL_SEQUENCES, audits=_AUDITS, mutants=_MUTANTS)
