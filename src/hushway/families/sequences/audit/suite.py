"""The audits of sequences, and the mistakes planted in prefix trees."""

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.mutant_counters import (
    WrongAnswers,
    file_by_file,
    large,
    only_one,
    wrong_bound,
    wrong_input,
    wrong_values,
)
from hushway.auditing.mutant_curators import OCCUPIED_CELLS_ONLY, Meddler, WrongVector, exact
from hushway.auditing.product import Product, blind, remade, unsplit
from hushway.auditing.suite import Audit, Suite, mutant
from hushway.families.sequences.audit import learned, people, tree
from hushway.families.sequences.mechanism.tree import PrefixTree
from hushway.families.sequences.public.prefixes import PrefixCells, SequenceUniverse
from hushway.families.sequences.rows.counter import EngineSequences
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.events import Budget
from hushway.privacy.loss import Loss
from hushway.privacy.measured import MeasuredSparse
from hushway.privacy.noise.lazy import LazyVector
from hushway.privacy.query import Counter, Query
from hushway.privacy.randomness import BitSource, SeededSource
from hushway.release.mechanism import Measurements

_NO_LIMIT = 10**6
_MANY = 20

sequences_file_by_file = partial(file_by_file, EngineSequences)
"""Counts sequences, and bounds people in each file by itself."""


def spread_records(_query: Query, bound: Bound) -> Bound:
    """Says that no two records share a candidate: right for Laplace noise, wrong for Gaussian."""
    return Bound(cells=bound.total, each=1, total=bound.total)


def every_later_period(query: Query, values: IntArray) -> IntArray:
    """Finds a stop in its own period and in all later ones."""
    cells = query.cells
    assert isinstance(cells, PrefixCells)  # noqa: S101  the only answer that is changed
    if cells.grain == 0:
        for begin, end in pairwise(cells.start.tolist()):
            by_period = values[begin:end].reshape(-1, cells.taxonomy.size(0))
            np.cumsum(by_period, axis=0, out=by_period)
    return values


def in_two_groups(query: Query, values: IntArray) -> IntArray:
    """Finds each first stop in its own group and in the neighbouring one: 0 and 1, 2 and 3."""
    assert isinstance(query.cells, PrefixCells)  # noqa: S101  the only answer that is changed
    if query.cells.above is not None:
        return values
    return values + values.reshape(-1, 2)[:, ::-1].ravel()


class ThresholdFirst(Meddler):
    """Drops candidates whose exact counts are below the threshold, so that noise comes too late."""

    def counts_above(self, query: Query, threshold: int, spend: Loss) -> MeasuredSparse:
        """Returns noisy counts of what is large enough without noise."""
        counter, budget, source = self._parts
        late = Curator(
            counter=WrongAnswers(counter, lambda real, asked: large(real.count(asked), threshold)),
            budget=budget,
            source=source,
        )
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


class NosyTree(PrefixTree):
    """A tree that stops as soon as no record is left, whatever the noise says."""

    def measure(self, curator: Curator, geography: SequenceUniverse) -> Measurements:
        """Counts step by step, and looks at exact counts before each step."""
        cells = geography.first_step()
        query = Query(name=cells.name, cells=cells)
        measured: list[MeasuredSparse] = []
        for step in self.steps(geography, curator.bound(query)):
            if measured and not len(exact(curator, query).cells):
                break
            answer = curator.counts_above(query, step.threshold, step.spend)
            measured.append(answer)
            kept = answer.reveal().cells
            if len(kept) == 0:
                break
            cells = cells.below(kept)
            query = Query(name=cells.name, cells=cells)
        return tuple(measured)


MUTANTS = (
    mutant(
        "sensitivity 1 instead of m",
        Product(counter=wrong_bound(only_one)),
        tree.MANY_RECORDS,
        tree.PUBLISHED_RECORDS,
    ),
    mutant(
        "no contribution limit",
        Product(counter=wrong_input(stage=lambda stage: replace(stage, max_records=_NO_LIMIT))),
        tree.MANY_RECORDS,
        tree.MANY_BRANCHES,
    ),
    mutant(
        "candidates taken from the data",
        Product(curator=OCCUPIED_CELLS_ONLY),
        tree.ONE_RECORD,
        tree.UNSEEN_GROUP,
        tree.UNSEEN_STOPS,
        tree.ONE_STEP_ENUMERATED,
    ),
    mutant("threshold before noise", Product(curator=ThresholdFirst), tree.AT_THE_THRESHOLD),
    mutant(
        "the whole budget for every step",
        Product(mechanism=unsplit, budget=blind),
        tree.FIRST_STEP,
        tree.ONE_RECORD,
        tree.LONG_RECORD,
    ),
    mutant(
        "a station in two groups",
        Product(counter=wrong_values(in_two_groups, only=PrefixCells)),
        tree.TWO_GROUPS,
    ),
    mutant(
        "a tree that stops where exact counts end",
        Product(curator=Meddler, mechanism=remade(NosyTree)),
        tree.NEXT_QUESTIONS,
    ),
    mutant(
        "a stop that counts in every later period",
        Product(counter=wrong_values(every_later_period, only=PrefixCells)),
        tree.TWO_PERIODS,
    ),
    mutant(
        "records of one person that never share a candidate",
        Product(counter=wrong_bound(spread_records)),
        tree.MANY_GAUSSIAN_RECORDS,
    ),
    mutant(
        "no noise where many people are",
        Product(curator=partial(WrongVector, _ExactWhereMany)),
        tree.BUSY_GROUP,
    ),
    mutant("the same noise at every step", Product(curator=SameSeed), tree.STEP_LESS_ANOTHER),
    mutant("each file bounded by itself", Product(engine=sequences_file_by_file), tree.MANY_DAYS),
    *learned.MUTANTS,
    *people.MUTANTS,
)
AUDITS: tuple[Audit[Product], ...] = (*tree.AUDITS, *learned.AUDITS, *people.AUDITS)
SUITE = Suite(real=Product(), audits=AUDITS, mutants=MUTANTS)
