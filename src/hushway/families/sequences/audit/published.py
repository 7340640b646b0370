"""What the published tree must not give away, and that every public candidate was in the draw."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.agreement import AlwaysSame, SameLaw
from hushway.audit.harness import Examination, Trial, World
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
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import MeasuredSparse
from hushway.privacy.query import AnyQuery, Counter, ExactCounts, Query
from hushway.privacy.unit import Unit
from hushway.release.mechanism import Measurements

_COUNTS = "1 plus the published counts along its path (0 if it is not published)"
_BRIEF, _SLOW = Fraction(1, 4), Fraction(1, 20)


def unseen_prefix(form: TreeForm, product: SequenceProduct, epsilon: Fraction) -> Examination:
    """A prefix that one record took against one that nobody took: both must be published often."""
    stage = TreeStage(product=product, form=form, epsilon=epsilon)
    path = (0, 1)[: form.height]
    look = PublishedPath(stage=stage, path=path)
    return Trial(
        name=f"{form.words}, published: a prefix with one record or one that nobody took",
        statistic=_COUNTS,
        epsilon=epsilon,
        worlds=(
            World(words="the record", sample=stage.sampler((Walk(stops=path),), look.seen)),
            World(words="no record", sample=stage.sampler(NO_WALKS, look.seen)),
        ),
        effort=Fraction(1) if form.height == 1 else _BRIEF,
    )


def many_records(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """Ten identical records of one person against none, in the published tree."""
    stage = TreeStage(product=product, form=GROUPED, epsilon=epsilon, max_records=MAX_RECORDS)
    look = PublishedPath(stage=stage, path=(0,))
    return Trial(
        name=f"{GROUPED.words}, published: ten records of one person or none",
        statistic=_COUNTS,
        epsilon=epsilon,
        worlds=(
            World(
                words="the person", sample=stage.sampler((Walk(stops=(0,), times=10),), look.seen)
            ),
            World(words="nobody", sample=stage.sampler(NO_WALKS, look.seen)),
        ),
    )


def one_step_enumerated(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One step, with empty candidates drawn together and one by one: the same law."""
    short = TreeStage(product=product, form=PAIRED, epsilon=epsilon)
    whole = TreeStage(product=enumerated(product), form=PAIRED, epsilon=epsilon)
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
    short = TreeStage(product=product, form=SMALL, epsilon=epsilon)
    whole = TreeStage(product=enumerated(product), form=SMALL, epsilon=epsilon)
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
    stage = TreeStage(product=product, form=SMALL, epsilon=epsilon)
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


class EveryCandidate:
    """A counter that names all candidates, so that no noise is drawn for several together."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self._counter.unit

    def bound(self, query: Query) -> Bound:
        """Returns the bound of the counter."""
        return self._counter.bound(query)

    def count(self, query: Query) -> ExactCounts:
        """Returns the counts of all candidates, 0 where there are no records."""
        exact = self._counter.count(query)
        values = np.zeros(query.cells.size, dtype=np.int64)
        values[exact.cells] = exact.values
        return ExactCounts(cells=np.arange(query.cells.size), values=values)


Asked = tuple[Query, int | None, Loss]
"""A question: about which candidates, from which threshold on, and at what price."""


class NoAnswerError(Exception):
    """More was asked than there are answers to repeat."""


class Replayed(Curator):
    """Gives the answers of another release, and keeps what it was asked.

    Whoever asks for more than noisy answers is told about the data at hand.
    """

    __slots__ = ("_answers", "_inside", "asked")

    def __init__(self, inside: Curator, answers: Measurements) -> None:
        super().__init__(counter=_NOTHING, budget=_NOTHING, source=_NOTHING)
        self._inside = inside
        self._answers = answers
        self.asked: list[Asked] = []

    def __getattr__(self, name: str) -> Any:  # whatever a mutant looks for
        return getattr(self._inside, name)

    def bound(self, query: AnyQuery) -> Bound:
        """Returns the bound of the data at hand, a public number."""
        return self._inside.bound(query)

    def counts_above(self, query: Query, threshold: int, spend: Loss) -> MeasuredSparse:
        """Returns the next answer of the other release.

        Raises:
            NoAnswerError: The other release was asked less.
        """
        self.asked.append((query, threshold, spend))
        if len(self.asked) > len(self._answers):
            raise NoAnswerError
        answer = self._answers[len(self.asked) - 1]
        assert isinstance(answer, MeasuredSparse)  # noqa: S101  what a tree measures
        return answer


# A replayed curator never counts, pays or draws.
_NOTHING: Any = None


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
        answers = stage.tree.measure(curator, universe)
        again = Replayed(stage.opened(stage.village.play(self.others)), answers)
        with suppress(NoAnswerError):
            stage.tree.measure(again, universe)
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
