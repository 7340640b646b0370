"""What the published tree must not give away, from arrays or files, and that all could be drawn."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.agreement import AlwaysSame, Asked, NoAnswerError, Replayed, SameLaw
from hushway.audit.bounds import runs_needed
from hushway.audit.harness import Examination, Sampler, Trial, World
from hushway.audit.mutant_counters import Wrapped
from hushway.audit.mutant_curators import dense
from hushway.audit.product import Look, microseconds
from hushway.families.sequences.audit.looks import FirstStep, PublishedPath, TreeLook
from hushway.families.sequences.audit.measured import MAX_RECORDS
from hushway.families.sequences.audit.product import (
    GROUPED,
    NO_WALKS,
    PAIRED,
    SMALL,
    SequenceProduct,
    TreeForm,
    TreeStage,
    Walk,
    WalkRows,
    Walks,
    days_of,
)
from hushway.families.sequences.public.prefixes import PrefixCells
from hushway.families.sequences.rows.sequences import TapColumns, TapsSource
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss, PureLoss
from hushway.privacy.measured import MeasuredSparse
from hushway.privacy.query import ExactCounts, Query

_COUNTS = "1 plus the published counts along its path (0 if it is not published)"
_BRIEF, _SLOW = Fraction(1, 4), Fraction(1, 20)


def unseen_prefix(form: TreeForm, product: SequenceProduct, epsilon: Fraction) -> Examination:
    """A prefix that one record took against one that nobody took: both must be published often."""
    stage = TreeStage(product=product, form=form, spend=PureLoss(epsilon))
    path = (0, 1)[: form.height]
    look = PublishedPath(stage=stage, path=path)
    return Trial(
        name=f"{form.words}, published: a prefix with one record or one that nobody took",
        statistic=_COUNTS,
        epsilon=epsilon,
        worlds=stage.worlds(
            look.seen, ("the record", (Walk(stops=path),)), ("no record", NO_WALKS)
        ),
        effort=Fraction(1) if form.height == 1 else _BRIEF,
    )


def many_records(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """Ten identical records of one person against none, in the published tree."""
    stage = TreeStage(
        product=product, form=GROUPED, spend=PureLoss(epsilon), max_records=MAX_RECORDS
    )
    look = PublishedPath(stage=stage, path=(0,))
    return Trial(
        name=f"{GROUPED.words}, published: ten records of one person or none",
        statistic=_COUNTS,
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", (Walk(stops=(0,), times=10),))),
    )


def one_step_enumerated(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One step, with empty candidates drawn together and one by one: the same law."""
    scene = (Walk(stops=(0,)), Walk(stops=(0,), person=1))

    def packed(stage: TreeStage) -> Look:
        return FirstStep(stage=stage, places=(0, PAIRED.toy.places)).packed

    return SameLaw(
        name="first step: candidates drawn together or one by one",
        statistic="the noisy counts of a group with two records and of an empty one",
        worlds=_both_ways(product, PAIRED, PureLoss(epsilon), scene, packed),
    )


def tree_enumerated(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """The published tree of two steps, drawn together and one by one: the same law."""
    scene = (Walk(stops=(0, 1)), Walk(stops=(0, 1), person=1), Walk(stops=(0,), person=2))

    def packed(stage: TreeStage) -> Look:
        return PublishedPath(stage=stage, path=(0, 1)).packed

    return SameLaw(
        name=f"{SMALL.words}, published: candidates drawn together or one by one",
        statistic="the number of nodes of a corner together with the counts along a path",
        worlds=_both_ways(product, SMALL, PureLoss(epsilon), scene, packed),
        effort=_BRIEF,
    )


def next_questions(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """The same noisy answers with and without records: the tree must ask the same next."""
    stage = TreeStage(product=product, form=SMALL, spend=PureLoss(epsilon))
    look = NextQuestions(stage=stage, others=NO_WALKS)
    return AlwaysSame(
        name=f"{SMALL.words}: the same answers, the same next questions",
        statistic="questions about the candidates of a corner, with records and without",
        epsilon=epsilon,
        sample=stage.sampler((Walk(stops=(0, 1)),), look.differ),
        effort=_SLOW,
    )


_LookAt = Callable[[TreeStage], Look]


def _both_ways(
    product: SequenceProduct, form: TreeForm, spend: Loss, scene: Walks, look: _LookAt
) -> tuple[World, World]:
    """Returns a scene with empty candidates drawn together, and with each drawn by itself."""
    stage, whole = (
        TreeStage(product=each, form=form, spend=spend) for each in (product, enumerated(product))
    )
    return (
        World(words="a shortcut", sample=stage.sampler(scene, look(stage))),
        World(words="enumeration", sample=whole.sampler(scene, look(whole))),
    )


def enumerated(product: SequenceProduct) -> SequenceProduct:
    """Returns a product that draws every candidate by itself, as theory has it."""
    return replace(
        product,
        counter=lambda rows, terms, source: EveryCandidate(product.counter(rows, terms, source)),
    )


class EveryCandidate(Wrapped):
    """A counter that names all candidates, so that no noise is drawn for several together."""

    def count(self, query: Query) -> ExactCounts:
        """Returns the counts of all candidates, 0 where there are no records."""
        values = dense(super().count(query), query)
        return ExactCounts(cells=np.arange(query.cells.size), values=values)


@dataclass(frozen=True, kw_only=True)
class NextQuestions(TreeLook):
    """What a tree asks, given the same noisy answers and other data."""

    others: Walks

    def differ(self, curator: Curator) -> IntArray:
        """Returns by how many candidates the questions about each corner differ."""
        stage = self.stage
        universe = stage.toy.universe
        answers = stage.mechanism.measure(curator, universe)
        again = Replayed(stage.opened(self.others), answers)
        with suppress(NoAnswerError):
            stage.mechanism.measure(again, universe)
        steps = max(len(answers), len(again.asked))
        first: list[Asked] = [
            (answer.query, answer.threshold, answer.event.loss)
            for answer in answers
            if isinstance(answer, MeasuredSparse)
        ]
        differences = np.zeros(stage.toy.corners, dtype=np.int64)
        for step in range(steps):
            one, other = first[step : step + 1], again.asked[step : step + 1]
            differences += np.abs(self._candidates(one) - self._candidates(other))
            same = [_public(asked) for asked in one] == [_public(asked) for asked in other]
            differences += not same
        return differences

    def _candidates(self, asked: Sequence[Asked]) -> IntArray:
        """Returns how many candidates below each corner are asked about, if any."""
        corners = [
            self.stage.toy.corner_of(query.cells)
            for query, _, _ in asked
            if isinstance(query.cells, PrefixCells)
        ]
        nobody = np.empty(0, dtype=np.int64)
        return np.bincount(np.concatenate([nobody, *corners]), minlength=self.stage.toy.corners)


def _public(asked: Asked) -> tuple[str, int | None, Loss]:
    query, threshold, spend = asked
    return query.cells.digest, threshold, spend


_DAYS = 10
_HOUR_US, _SECOND_US = 3_600_000_000, 1_000_000
_DAY_US = 24 * _HOUR_US


def many_days(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """Taps of one person on ten days, two in each of five files: three days count."""
    stage = FileTreeStage(
        product=product, form=GROUPED, spend=PureLoss(epsilon), max_records=MAX_RECORDS
    )
    look = FirstStep(stage=stage, places=(0, 1)).first
    share = epsilon / GROUPED.steps
    return Trial(
        name="files: ten days of one person in five files or none",
        statistic="the noisy count of the first group (0 if it is not kept)",
        epsilon=share,
        worlds=stage.worlds(look, ("the person", (Walk(stops=(0,), times=_DAYS),))),
        tight=True,
        effort=Fraction(runs_needed(share), runs_needed(epsilon)),
    )


@dataclass(frozen=True, kw_only=True)
class FileTreeStage(TreeStage):
    """A stage whose records are taps in files, each record on a day of its own."""

    def sampler(self, scene: Walks, look: Look) -> Sampler:
        """Returns a way to run a scene: it is written once, and read again for each release."""
        rows = self.toy.play(scene)
        record = np.repeat(np.arange(len(rows.person)), np.diff(rows.start))
        columns = {
            "person": rows.person[record],
            "location": rows.stops,
            "time": self._times(rows, record),
        }
        return self.sampler_of_files(columns, lambda folder: TapsSource(folder, TapColumns()), look)

    def _times(self, rows: WalkRows, record: IntArray) -> IntArray:
        """Returns when each tap was: a day for each record of a person, a second for each stop."""
        order = np.argsort(rows.person, kind="stable")
        first = np.searchsorted(rows.person[order], rows.person[order])
        day = np.empty_like(order)
        day[order] = np.arange(len(order)) - first
        stop = np.arange(len(record)) - rows.start[record]
        window = self.toy.universe.periods or days_of(1)
        since = day[record] * _DAY_US + stop * _SECOND_US + rows.periods * _HOUR_US
        return microseconds(window.first_day, since + window.opens * 60 * _SECOND_US)
