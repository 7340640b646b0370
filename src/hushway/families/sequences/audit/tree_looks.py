"""What anyone can see of a prefix tree at each corner: its noisy answers, and what is published."""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.auditing.agreement import Asked, NoAnswerError, Replayed
from hushway.auditing.harness import in_thousandths
from hushway.auditing.law import gaussian_tail
from hushway.families.sequences.audit.stage import SequenceStage, TreeForm, Walks
from hushway.families.sequences.fit.table import SequenceTable
from hushway.families.sequences.mechanism.steps import StepAnswer
from hushway.families.sequences.public.prefixes import PrefixCells
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event, GaussianEvent, LaplaceEvent
from hushway.privacy.loss import Loss
from hushway.privacy.measured import MeasuredSparse

# Two numbers are packed into one; larger ones are as good as the largest.
_MOST = 63


@dataclass(frozen=True, kw_only=True, eq=False)
class Sight:
    """What one step of a tree says about one candidate at each corner.

    Attributes:
        corners: The corners where it was a candidate.
        values: Its noisy count at each of these; 0 where it did not reach the threshold.
        threshold: The threshold, at least 1.
    """

    corners: IntArray
    values: IntArray
    threshold: int
    event: Event


def answers(stage: SequenceStage, curator: Curator) -> list[tuple[StepAnswer, Event]]:
    """Returns the noisy answers of all steps that are taken, and what each cost."""
    measured = stage.mechanism.measure(curator, stage.universe)
    return [(StepAnswer.of(answer), answer.event) for answer in measured]


def along(
    stage: SequenceStage,
    answered: list[tuple[StepAnswer, Event]],
    path: tuple[int, ...],
    periods: tuple[int, ...] = (),
) -> Iterator[Sight]:
    """Yields what each step says about a path, given by its places, and times, at a corner."""
    corners = np.arange(stage.toy.corners)
    node = np.zeros_like(corners)
    for answer, event in answered:
        cells, shown = answer.cells, answer.shown
        place = stage.toy.place(path[cells.stop])[corners]
        when = np.full_like(node, periods[cells.stop] if periods else 0)
        node, found = _found(shown.cells, cells.cell(node, when, place))
        values = np.zeros_like(node)
        values[found] = shown.values[node[found]]
        yield Sight(corners=corners, values=values, threshold=answer.threshold, event=event)
        corners, node = corners[found], node[found]


@dataclass(frozen=True)
class PathEvidence:
    """How much all steps speak for records of one person on a path.

    Attributes:
        records: How many records are looked for.
        periods: The period of each place; the first one if none is given.
    """

    path: tuple[int, ...]
    records: int = 1
    periods: tuple[int, ...] = ()

    def __call__(self, stage: SequenceStage, curator: Curator) -> IntArray:
        """Returns the logarithm of the likelihood ratio of each corner, in thousandths."""
        total = np.zeros(stage.toy.corners)
        for sight in along(stage, answers(stage, curator), self.path, self.periods):
            total[sight.corners] += evidence_of(
                sight.values, sight.threshold, sight.event, self.records
            )
        return in_thousandths(total)


def lost_on_the_way(stage: SequenceStage, curator: Curator) -> IntArray:
    """Returns how much less the second stop counts than the first; 0 for one that is not kept."""
    first, *_, last = along(stage, answers(stage, curator), (0, 1))
    difference = first.values.copy()
    difference[last.corners] -= last.values
    return difference


@dataclass(frozen=True)
class FirstStep:
    """What the first step says about a candidate of each corner, and about another one.

    A candidate that did not reach the threshold has the noisy count 0.
    """

    places: tuple[int, int] = (0, 1)
    periods: tuple[int, int] = (0, 0)

    def first(self, stage: SequenceStage, curator: Curator) -> IntArray:
        """Returns the noisy count of the first candidate."""
        return self._values(stage, curator)[0]

    def smaller(self, stage: SequenceStage, curator: Curator) -> IntArray:
        """Returns the smaller one of both noisy counts."""
        return np.minimum(*self._values(stage, curator))

    def packed(self, stage: SequenceStage, curator: Curator) -> IntArray:
        """Returns both noisy counts in one number."""
        first, second = np.minimum(self._values(stage, curator), _MOST)
        together: IntArray = (_MOST + 1) * first + second
        return together

    def _values(self, stage: SequenceStage, curator: Curator) -> list[IntArray]:
        first_step = answers(stage, curator)[:1]
        return [
            next(along(stage, first_step, (place,), (when,))).values
            for place, when in zip(self.places, self.periods, strict=True)
        ]


def corner_total(stage: SequenceStage, curator: Curator) -> IntArray:
    """Returns the sum of all noisy counts of a corner that reach the threshold."""
    total = np.zeros(stage.toy.corners, dtype=np.int64)
    for answer, _ in answers(stage, curator):
        corner = stage.toy.corner_of(answer.cells)[answer.shown.cells]
        np.add.at(total, corner, answer.shown.values)
    return total


@dataclass(frozen=True)
class PublishedPath:
    """The published tree along a path of each corner.

    Attributes:
        periods: The period of each place; the first one if none is given.
    """

    path: tuple[int, ...]
    periods: tuple[int, ...] = ()

    def __call__(self, stage: SequenceStage, curator: Curator) -> IntArray:
        """Returns 1 plus the sum of the path's published counts; 0 if its end is not published."""
        return self._along_path(stage, stage.table(curator))

    def packed(self, stage: SequenceStage, curator: Curator) -> IntArray:
        """Returns the sum along the path and how many nodes the corner has, in one number."""
        table: SequenceTable = stage.table(curator)
        below = np.where(table.parent < 0, table.code // stage.toy.groups, 0)
        for step in range(1, len(table.steps)):
            here = np.flatnonzero(table.step == step)
            below[here] = below[table.parent[here]]
        number = np.bincount(below, minlength=stage.toy.corners)
        packed: IntArray = np.minimum(self._along_path(stage, table), _MOST) + (_MOST + 1) * number
        return packed

    def _along_path(self, stage: SequenceStage, table: SequenceTable) -> IntArray:
        nodes, corners = self._nodes(stage, table)
        total = np.zeros(stage.toy.corners, dtype=np.int64)
        total[corners] = 1 + table.counts[nodes].sum(axis=0)
        return total

    def _nodes(self, stage: SequenceStage, table: SequenceTable) -> tuple[IntArray, IntArray]:
        """Returns the nodes of each whole path, a row for each step, and the corners of these."""
        toy, taxonomy = stage.toy, table.taxonomy
        corners = np.arange(toy.corners)
        nodes = np.empty((0, toy.corners), dtype=np.int64)
        above = np.full(toy.corners, -1, dtype=np.int64)
        assert isinstance(stage.form, TreeForm)  # noqa: S101  a stage of trees
        if len(table.steps) < stage.form.steps:
            return nodes[:, :0], corners[:0]
        for number, step in enumerate(table.steps):
            here = np.flatnonzero(table.step == number)
            size, moments = taxonomy.size(step.grain), toy.universe.moments
            code = taxonomy.codes(step.grain)[toy.place(self.path[step.stop])[corners]]
            when = self.periods[step.stop] if self.periods else 0
            published = table.parent[here] * moments + table.period[here]
            at, found = _found(
                published * size + table.code[here], (above * moments + when) * size + code
            )
            above = here[at[found]]
            nodes = np.vstack([nodes[:, found], above])
            corners = corners[found]
        return nodes, corners


def other_questions(stage: SequenceStage, curator: Curator, others: Walks = ()) -> IntArray:
    """Returns by how many candidates of each corner the questions about other people differ.

    They are asked after the same noisy answers.
    """
    measured = stage.mechanism.measure(curator, stage.universe)
    again = Replayed(stage.opened(others), measured)
    with suppress(NoAnswerError):
        stage.mechanism.measure(again, stage.universe)
    first: list[Asked] = [
        (answer.query, answer.threshold, answer.event.loss)
        for answer in measured
        if isinstance(answer, MeasuredSparse)
    ]
    differences = np.zeros(stage.toy.corners, dtype=np.int64)
    for step in range(max(len(measured), len(again.asked))):
        one, other = first[step : step + 1], again.asked[step : step + 1]
        differences += np.abs(_candidates(stage, one) - _candidates(stage, other))
        differences += [_public(asked) for asked in one] != [_public(asked) for asked in other]
    return differences


def _candidates(stage: SequenceStage, asked: Sequence[Asked]) -> IntArray:
    """Returns how many candidates below each corner are asked about, if any."""
    corners = [
        stage.toy.corner_of(query.cells)
        for query, _, _ in asked
        if isinstance(query.cells, PrefixCells)
    ]
    nobody = np.empty(0, dtype=np.int64)
    return np.bincount(np.concatenate([nobody, *corners]), minlength=stage.toy.corners)


def _public(asked: Asked) -> tuple[str, int | None, Loss]:
    query, threshold, spend = asked
    return query.cells.digest, threshold, spend


def _found(ascending: IntArray, wanted: IntArray) -> tuple[IntArray, BoolArray]:
    """Returns where each wanted number stands in a list, and whether it is there at all."""
    at = np.searchsorted(ascending, wanted)
    if len(ascending) == 0:
        return at, np.zeros(len(wanted), dtype=np.bool_)
    return at, ascending[np.minimum(at, len(ascending) - 1)] == wanted


def evidence_of(values: IntArray, threshold: int, event: Event, records: int) -> FloatArray:
    """Returns the logarithm of the likelihood ratio of each noisy count.

    A candidate that was not kept speaks against the records by the odds of missing it.

    Args:
        values: Noisy counts; 0 for those that did not reach the threshold.
        threshold: The threshold, at least 1.
        records: How many records are looked for.
    """
    if isinstance(event, LaplaceEvent):
        rate = float(1 / event.scale)
        shown = rate * (values - np.abs(values - records))
        below = [_laplace_below(least, rate) for least in (threshold - records, threshold)]
    else:
        assert isinstance(event, GaussianEvent)  # noqa: S101  what trees spend with otherwise
        shown = records * (values - records / 2) / float(event.sigma_squared)
        below = [
            1 - gaussian_tail(event.sigma_squared, least)
            for least in (threshold - records, threshold)
        ]
    return np.where(values > 0, shown, math.log(below[0] / below[1]))


def _laplace_below(value: int, rate: float) -> float:
    """Returns the chance that discrete Laplace noise is below a value."""
    ratio = math.exp(-rate)
    if value <= 0:
        return ratio ** (1 - value) / (1 + ratio)
    return 1 - ratio**value / (1 + ratio)
