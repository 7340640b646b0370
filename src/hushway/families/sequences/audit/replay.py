"""Whether a tree asks about anything but what earlier noisy answers tell it to ask about."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.families.sequences.audit.looks import TreeLook
from hushway.families.sequences.audit.toy import Walks
from hushway.families.sequences.public.prefixes import PrefixCells
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import MeasuredSparse
from hushway.privacy.query import AnyQuery, Query
from hushway.release.mechanism import Measurements

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
