"""What the published tree must not give away, and that every public candidate was in the draw."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.agreement import AlwaysSame, SameLaw
from hushway.audit.harness import Examination, Trial, World
from hushway.audit.mutant_counters import Wrapped
from hushway.audit.mutant_curators import dense
from hushway.audit.replay import Asked, NoAnswerError, Replayed
from hushway.families.sequences.audit.looks import FirstStep, PublishedPath, TreeLook
from hushway.families.sequences.audit.measured import MAX_RECORDS
from hushway.families.sequences.audit.product import (
    GROUPED,
    PAIRED,
    SMALL,
    SequenceProduct,
    TreeForm,
    TreeStage,
)
from hushway.families.sequences.audit.toy import NO_WALKS, Walk, Walks
from hushway.families.sequences.public.prefixes import PrefixCells
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
    short = TreeStage(product=product, form=PAIRED, spend=PureLoss(epsilon))
    whole = TreeStage(product=enumerated(product), form=PAIRED, spend=PureLoss(epsilon))
    scene = (Walk(stops=(0,)), Walk(stops=(0,), person=1))
    places = 0, PAIRED.village.places
    return SameLaw(
        name="first step: candidates drawn together or one by one",
        statistic="the noisy counts of a group with two records and of an empty one",
        worlds=(
            World(
                words="a shortcut",
                sample=short.sampler(scene, FirstStep(stage=short, places=places).packed),
            ),
            World(
                words="enumeration",
                sample=whole.sampler(scene, FirstStep(stage=whole, places=places).packed),
            ),
        ),
    )


def tree_enumerated(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """The published tree of two steps, drawn together and one by one: the same law."""
    short = TreeStage(product=product, form=SMALL, spend=PureLoss(epsilon))
    whole = TreeStage(product=enumerated(product), form=SMALL, spend=PureLoss(epsilon))
    scene = (Walk(stops=(0, 1)), Walk(stops=(0, 1), person=1), Walk(stops=(0,), person=2))
    path = 0, 1
    return SameLaw(
        name=f"{SMALL.words}, published: candidates drawn together or one by one",
        statistic="the number of nodes of a corner together with the counts along a path",
        worlds=(
            World(
                words="a shortcut",
                sample=short.sampler(scene, PublishedPath(stage=short, path=path).packed),
            ),
            World(
                words="enumeration",
                sample=whole.sampler(scene, PublishedPath(stage=whole, path=path).packed),
            ),
        ),
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
    """What a tree asks, given the same noisy answers and other data.

    Attributes:
        others: The other data.
    """

    others: Walks

    def differ(self, curator: Curator) -> IntArray:
        """Returns by how many candidates the questions about each corner differ."""
        stage = self.stage
        universe = stage.village.universe
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
        differences = np.zeros(stage.village.corners, dtype=np.int64)
        for step in range(steps):
            one, other = first[step : step + 1], again.asked[step : step + 1]
            differences += np.abs(self._candidates(one) - self._candidates(other))
            same = [_public(asked) for asked in one] == [_public(asked) for asked in other]
            differences += not same
        return differences

    def _candidates(self, asked: Sequence[Asked]) -> IntArray:
        """Returns how many candidates below each corner are asked about, if any."""
        corners = [
            self.stage.village.corner_of(query.cells)
            for query, _, _ in asked
            if isinstance(query.cells, PrefixCells)
        ]
        nobody = np.empty(0, dtype=np.int64)
        return np.bincount(np.concatenate([nobody, *corners]), minlength=self.stage.village.corners)


def _public(asked: Asked) -> tuple[str, int | None, Loss]:
    query, threshold, spend = asked
    return query.cells.digest, threshold, spend
