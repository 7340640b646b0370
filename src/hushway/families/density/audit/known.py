"""What is left of noisy answers when all that an auditor knows is taken away: the noise alone.

The auditor knows everybody but one person. Nobody has more events than count, so nothing is left to
chance but the noise, and clusters that follow from it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.divergence import ORDERS, of_gaussians
from hushway.audit.harness import in_thousandths
from hushway.audit.law import gaussian
from hushway.audit.mutant_curators import dense
from hushway.audit.replay import Replayed
from hushway.families.density.audit.looks import StagedLook
from hushway.families.density.audit.product import CELLS, Stays, visits_in_memory
from hushway.families.density.public.visits import ClusterSeries
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.events import GaussianEvent
from hushway.privacy.measured import Measured
from hushway.privacy.query import Counter, Query
from hushway.privacy.randomness import os_source

# Evidence is a real number; outcomes of runs are whole ones.
_ANY = Bound(cells=1, each=1, total=1)


@dataclass(frozen=True, kw_only=True)
class Known(StagedLook):
    """Answers of a release, less what the auditor knows.

    Attributes:
        others: The events of everybody else.
    """

    others: Stays

    def unknown(self, answer: Measured) -> IntArray:
        """Returns an answer, less the exact counts of the others."""
        left: IntArray = answer.values - self._counted(self._crowd, answer)
        return left

    @cached_property
    def paid(self) -> dict[str, GaussianEvent]:
        """What a plan pays for each question, whatever the audited mechanism says that it does."""
        planned = self.stage.make(self.stage.limits, self.stage.spend)
        events = planned.events(self.stage.district.universe, _ANY)
        return {event.query: event for event in events if isinstance(event, GaussianEvent)}

    @staticmethod
    def _counted(people: Counter, answer: Measured) -> IntArray:
        assert isinstance(answer.query, Query)  # noqa: S101  what these stages ask
        return dense(people.count(answer.query), answer.query)

    def _people(self, stays: Stays) -> Counter:
        return visits_in_memory(self.stage.district.play(stays), self.stage.terms, os_source())

    @cached_property
    def _crowd(self) -> Counter:
        return self._people(self.others)


@dataclass(frozen=True, kw_only=True)
class Evidence(Known):
    """How much the answers of a release speak for one person.

    Attributes:
        stays: The person's events.
    """

    stays: Stays

    def seen(self, curator: Curator) -> IntArray:
        """Returns the evidence of each question and of all together, in thousandths: one run."""
        parts = [self._evidence(answer) for answer in self.measured(curator)]
        return in_thousandths([[*parts, sum(parts)]])

    def divergence(self, curator: Curator) -> dict[float, float]:
        """Returns how far all answers diverge without the person, given what each says of itself.

        Where an answer says nothing of Gaussian noise, nothing is certain but the worst.
        """
        found = dict.fromkeys(ORDERS, 0.0)
        for answer in self.measured(curator):
            moved = self._counted(self._alone, answer)
            for order in ORDERS:
                found[order] += (
                    of_gaussians(moved, answer.event.sigma_squared, order)
                    if isinstance(answer.event, GaussianEvent)
                    else np.inf
                )
        return found

    def _evidence(self, answer: Measured) -> float:
        moved = self._counted(self._alone, answer)
        sigma_squared = float(self.paid[answer.query.name].sigma_squared)
        return float(moved @ self.unknown(answer)) / sigma_squared

    @cached_property
    def _alone(self) -> Counter:
        return self._people(self.stays)


@dataclass(frozen=True, kw_only=True)
class Spread(Known):
    """How wide the noise of each question is."""

    def squares(self, curator: Curator) -> IntArray:
        """Returns the mean square of each question's noise, in thousandths of what it should be.

        One run has a column for each question.
        """
        found = [
            float(np.mean(self.unknown(answer).astype(np.float64) ** 2))
            / self._variance[answer.query.name]
            for answer in self.measured(curator)
        ]
        return in_thousandths([found])

    @cached_property
    def _variance(self) -> dict[str, float]:
        return {name: gaussian(event.sigma_squared).variance for name, event in self.paid.items()}


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
        again = Replayed(self.stage.opened(self.others), answers)
        self.stage.mechanism.measure(again, self.stage.district.universe)
        one, other = (_clusters(query) for query in (answers[-1].query, again.asked[-1][0]))
        differences: IntArray = (one != other).reshape(-1, CELLS).sum(axis=1)
        return differences


def _clusters(query: object) -> IntArray:
    assert isinstance(query, Query)  # noqa: S101  what a density asks
    assert isinstance(query.cells, ClusterSeries)  # noqa: S101  the last question
    return query.cells.cluster
