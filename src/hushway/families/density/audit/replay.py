"""Whether clusters follow from anything but the noisy totals."""

from dataclasses import dataclass
from typing import Any

from hushway.arrays import IntArray
from hushway.families.density.audit.looks import StagedLook
from hushway.families.density.audit.toy import CELLS, Stays
from hushway.families.density.public.visits import ClusterSeries
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured
from hushway.privacy.query import PartitionQuery, Query


class Repeating(Curator):
    """Gives the answers of another release, whatever it is asked, and keeps the last question.

    Whoever asks for more than noisy answers is told about the data at hand.
    """

    __slots__ = ("_answers", "_inside", "asked")

    def __init__(self, inside: Curator, answers: list[Measured]) -> None:
        super().__init__(counter=_NOTHING, budget=_NOTHING, source=_NOTHING)
        self._inside = inside
        self._answers = iter(answers)
        self.asked: list[Query | PartitionQuery] = []

    def __getattr__(self, name: str) -> Any:  # whatever a mutant looks for
        return getattr(self._inside, name)

    def counts(self, query: Query | PartitionQuery, spend: Loss) -> Measured:  # noqa: ARG002
        """Returns the next answer of the other release."""
        self.asked.append(query)
        return next(self._answers)


# A repeating curator never counts, pays or draws.
_NOTHING: Any = None


@dataclass(frozen=True, kw_only=True)
class NextClusters(StagedLook):
    """The clusters that are asked about, given the same noisy totals and other data.

    Attributes:
        others: The other data.
    """

    others: Stays

    def differ(self, curator: Curator) -> IntArray:
        """Returns for each corner how many of its cells are in another cluster."""
        answers = self.measured(curator)
        again = Repeating(self.stage.opened(self.others), answers)
        self.stage.mechanism.measure(again, self.stage.district.universe)
        one, other = (_clusters(query) for query in (answers[-1].query, again.asked[-1]))
        differences: IntArray = (one != other).reshape(-1, CELLS).sum(axis=1)
        return differences


def _clusters(query: object) -> IntArray:
    assert isinstance(query, Query)  # noqa: S101  what a density asks
    assert isinstance(query.cells, ClusterSeries)  # noqa: S101  the last question
    return query.cells.cluster
