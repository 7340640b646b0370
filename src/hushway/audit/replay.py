"""The same noisy answers over other data: whatever is asked next must not depend on the data."""

from typing import Any

from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.query import AnyQuery, PartitionQuery, Query
from hushway.release.mechanism import Measurements

Asked = tuple[Query | PartitionQuery, int | None, Loss]
"""A question: about which cells, from which threshold on, and at what price."""


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

    def counts(self, query: Query | PartitionQuery, spend: Loss) -> Measured:
        """Returns the next answer of the other release.

        Raises:
            NoAnswerError: The other release was asked less.
        """
        answer = self._next((query, None, spend))
        assert isinstance(answer, Measured)  # noqa: S101  what the other release was asked
        return answer

    def counts_above(self, query: Query, threshold: int, spend: Loss) -> MeasuredSparse:
        """Returns the next answer of the other release.

        Raises:
            NoAnswerError: The other release was asked less.
        """
        answer = self._next((query, threshold, spend))
        assert isinstance(answer, MeasuredSparse)  # noqa: S101  what the other release was asked
        return answer

    def _next(self, asked: Asked) -> Measured | MeasuredSparse:
        self.asked.append(asked)
        if len(self.asked) > len(self._answers):
            raise NoAnswerError
        return self._answers[len(self.asked) - 1]


# A replayed curator never counts, pays or draws.
_NOTHING: Any = None
