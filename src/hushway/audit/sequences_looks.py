"""What anyone can see of a prefix tree at each corner: its noisy answers, and what is published."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hushway.audit.bounds import IntArray
from hushway.audit.sequences_product import TreeStage
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event
from hushway.privacy.loss import PureLoss
from hushway.releases.sequences.answers import StepAnswer
from hushway.releases.sequences.table import SequenceTable

# Evidence is a real number; outcomes of runs are whole ones.
_THOUSAND = 1000
# Two numbers are packed into one; larger ones are as good as the largest.
_MOST = 63


@dataclass(frozen=True, kw_only=True, eq=False)
class Sight:
    """What one step of a tree says about one candidate at each corner.

    Attributes:
        corners: The corners where it was a candidate.
        values: Its noisy count at each of these; 0 where it did not reach the threshold.
        threshold: The threshold, at least 1.
        event: What the step cost.
    """

    corners: IntArray
    values: IntArray
    threshold: int
    event: Event


@dataclass(frozen=True, kw_only=True)
class TreeLook:
    """A tree on its stage."""

    stage: TreeStage

    def answers(self, curator: Curator) -> list[tuple[StepAnswer, Event]]:
        """Returns the noisy answers of all steps that are taken, and what each cost."""
        measured = self.stage.tree.measure(curator, self.stage.village.universe)
        return [(StepAnswer.of(answer), answer.event) for answer in measured]

    def along(
        self, answers: list[tuple[StepAnswer, Event]], path: tuple[int, ...]
    ) -> Iterator[Sight]:
        """Yields what each step says about a path, given by its places at a corner."""
        corners = np.arange(self.stage.village.corners)
        node = np.zeros_like(corners)
        for answer, event in answers:
            cells, shown = answer.cells, answer.shown
            place = self.stage.village.place(path[cells.stop])[corners]
            wanted = cells.cell(node, np.zeros_like(node), place)
            node, found = _found(shown.cells, wanted)
            values = np.zeros_like(node)
            values[found] = shown.values[node[found]]
            yield Sight(corners=corners, values=values, threshold=answer.threshold, event=event)
            corners, node = corners[found], node[found]


@dataclass(frozen=True, kw_only=True)
class PathEvidence(TreeLook):
    """All steps in one number: how much they speak for records of one person on a path.

    Attributes:
        path: The places of the path.
        records: How many records are looked for.
    """

    path: tuple[int, ...]
    records: int = 1

    def seen(self, curator: Curator) -> IntArray:
        """Returns the logarithm of the likelihood ratio of each corner, in thousandths."""
        total = np.zeros(self.stage.village.corners)
        for sight in self.along(self.answers(curator), self.path):
            total[sight.corners] += _evidence(sight, self.records)
        return np.rint(_THOUSAND * total).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class FirstStep(TreeLook):
    """What the first step says about two candidates of each corner.

    Attributes:
        places: A place of each candidate.
    """

    places: tuple[int, int]

    def first(self, curator: Curator) -> IntArray:
        """Returns the noisy count of the first candidate, 0 if it did not reach the threshold."""
        return self._values(curator)[0]

    def smaller(self, curator: Curator) -> IntArray:
        """Returns the smaller one of both noisy counts."""
        return np.minimum(*self._values(curator))

    def packed(self, curator: Curator) -> IntArray:
        """Returns both noisy counts in one number."""
        first, second = np.minimum(self._values(curator), _MOST)
        together: IntArray = (_MOST + 1) * first + second
        return together

    def _values(self, curator: Curator) -> tuple[IntArray, IntArray]:
        first_step = self.answers(curator)[:1]
        one, other = (next(self.along(first_step, (place,))).values for place in self.places)
        return one, other


@dataclass(frozen=True, kw_only=True)
class CornerTotal(TreeLook):
    """Everything that the steps show at each corner."""

    def seen(self, curator: Curator) -> IntArray:
        """Returns the sum of all noisy counts that reach the threshold."""
        total = np.zeros(self.stage.village.corners, dtype=np.int64)
        for answer, _ in self.answers(curator):
            corner = self.stage.village.corner_of(answer.cells)[answer.shown.cells]
            np.add.at(total, corner, answer.shown.values)
        return total


@dataclass(frozen=True, kw_only=True)
class PublishedPath(TreeLook):
    """The published tree along a path of each corner.

    Attributes:
        path: The places of the path.
    """

    path: tuple[int, ...]

    def seen(self, curator: Curator) -> IntArray:
        """Returns 1 plus the sum of the path's published counts; 0 if its end is not published."""
        return self._along_path(self.table(curator))

    def packed(self, curator: Curator) -> IntArray:
        """Returns the sum along the path and how many nodes the corner has, in one number."""
        table = self.table(curator)
        below = np.where(table.parent < 0, table.code // self.stage.village.groups, 0)
        for step in range(1, len(table.steps)):
            here = np.flatnonzero(table.step == step)
            below[here] = below[table.parent[here]]
        number = np.bincount(below, minlength=self.stage.village.corners)
        packed: IntArray = np.minimum(self._along_path(table), _MOST) + (_MOST + 1) * number
        return packed

    def table(self, curator: Curator) -> SequenceTable:
        """Returns the published tree."""
        tree, universe = self.stage.tree, self.stage.village.universe
        return tree.fit(tree.measure(curator, universe), universe)

    def _along_path(self, table: SequenceTable) -> IntArray:
        nodes, corners = self._nodes(table)
        total = np.zeros(self.stage.village.corners, dtype=np.int64)
        total[corners] = 1 + table.counts[nodes].sum(axis=0)
        return total

    def _nodes(self, table: SequenceTable) -> tuple[IntArray, IntArray]:
        """Returns the nodes of each whole path, a row for each step, and the corners of these."""
        village, taxonomy = self.stage.village, table.taxonomy
        corners = np.arange(village.corners)
        nodes = np.empty((0, village.corners), dtype=np.int64)
        above = np.full(village.corners, -1, dtype=np.int64)
        if len(table.steps) < self.stage.form.steps:
            return nodes[:, :0], corners[:0]
        for number, step in enumerate(table.steps):
            here = np.flatnonzero(table.step == number)
            size = taxonomy.size(step.grain)
            code = taxonomy.codes(step.grain)[village.place(self.path[step.stop])[corners]]
            at, found = _found(table.parent[here] * size + table.code[here], above * size + code)
            above = here[at[found]]
            nodes = np.vstack([nodes[:, found], above])
            corners = corners[found]
        return nodes, corners


def _found(ascending: IntArray, wanted: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
    """Returns where each wanted number stands in a list, and whether it is there at all."""
    at = np.searchsorted(ascending, wanted)
    if len(ascending) == 0:
        return at, np.zeros(len(wanted), dtype=np.bool_)
    return at, ascending[np.minimum(at, len(ascending) - 1)] == wanted


def _evidence(sight: Sight, records: int) -> NDArray[np.float64]:
    """Returns how much a candidate speaks for a person's records, shown or not."""
    loss = sight.event.loss
    assert isinstance(loss, PureLoss)  # noqa: S101  what these stages pay with
    rate = float(loss.epsilon / sight.event.bound.l1)
    shown = rate * (sight.values - np.abs(sight.values - records))
    hidden = math.log(
        _mass_below(sight.threshold - records, rate) / _mass_below(sight.threshold, rate)
    )
    return np.where(sight.values > 0, shown, hidden)


def _mass_below(value: int, rate: float) -> float:
    """Returns the chance that discrete Laplace noise is below a value."""
    ratio = math.exp(-rate)
    if value <= 0:
        return ratio ** (1 - value) / (1 + ratio)
    return 1 - ratio**value / (1 + ratio)
