"""People on road links, with a limit on their items that nobody has to guess.

1. Measure how many people have how many items, and choose the limit from that
   (`hushway.release.contribution.limits`).
2. Measure everything else as link counts with this limit do
   (`hushway.families.links.mechanism.counts`), and fit it in the same way.

The limit follows from the noisy answer of the first question, which stands on the certificate, so
that anybody can choose it again.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final

from hushway.families.links.fit.missing_shares import expected_of
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.mechanism.counts import LinkCounts, Preparation, spends_of
from hushway.families.links.public.universe import (
    CHOICES,
    ITEM_LADDER,
    LinkUniverse,
    MovementLimits,
    people_by_items,
)
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss, loss_of
from hushway.privacy.measured import Measured
from hushway.privacy.query import PartitionQuery, Query
from hushway.release.contribution.crowd import Crowd, crowd_of
from hushway.release.contribution.limits import HISTOGRAM, Limits, chosen_limits
from hushway.release.mechanism import FixedQuestions, Forecast, Measurements, Question, noise_of

# Before anything is measured, people are taken to have up to so many items, and this limit to be
# chosen.
USUAL_ITEMS: Final = 64


@dataclass(frozen=True, kw_only=True)
class LinkPeople(FixedQuestions[LinkUniverse]):
    """Publishes link counts whose limit of items is chosen.

    Attributes:
        planned: The link counts, as if nothing were asked before them.
        people: The noisy number of people by their items; None before it is measured.
    """

    planned: LinkCounts
    people: tuple[int, ...] | None = None
    name: str = "link_counts"
    adaptive: ClassVar[bool] = True

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values; `spends` are before the first question's part."""
        people = None if self.people is None else list(self.people)
        return {**self.planned.parameters, "max_items": "auto", "people_by_items": people}

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The price; how it is divided is decided by noisy answers."""
        return (self._part(Fraction(1)),)

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does."""
        return self.chosen.post_processing

    @property
    def limits(self) -> MovementLimits:
        """How much of a person counts, for every limit that there is to choose from."""
        return self.planned.limits

    @property
    def preparation(self) -> Preparation:
        """How positions become trips."""
        return self.planned.preparation

    @cached_property
    def chosen(self) -> LinkCounts:
        """The link counts with the limit that is chosen; before the first answer, a usual one.

        Privacy:
            A function of the noisy number of people by their items.
        """
        chosen = self._chosen_limits
        left_out = self._share(self.planned.spends.left_out, self.planned.spends.left_out_sums)
        return replace(
            self.planned,
            # Where noise hides all people, the least limit has the least noise.
            limits=replace(self.limits, max_items=max(chosen.cells, CHOICES[0])),
            spends=spends_of(
                self._part(1 - HISTOGRAM),
                classes=self._share(self.planned.spends.classes),
                speeds=self._share(self.planned.spends.speeds),
                left_out=min(left_out, chosen.share),
            ),
        )

    @cached_property
    def crowd(self) -> Crowd:
        """How many items people have: as measured, or as it is usual before that."""
        return crowd_of(self.people, self._part(HISTOGRAM), ITEM_LADDER, USUAL_ITEMS)

    @property
    def _chosen_limits(self) -> Limits:
        # Noise grows with the root of a limit, so counts as large as its own noise are compared.
        each = self.crowd.records / max(float(self.crowd.people.sum()), 1.0)
        typical = self._variance(max(round(each), 1))
        return chosen_limits(self.crowd, self._noise, None, typical=typical)

    def _noise(self, limit: int) -> float:
        return self._variance(limit) if limit in CHOICES else math.inf

    def _variance(self, limit: int) -> float:
        bound = Bound(cells=limit, each=1, total=limit)
        return float(noise_for(self.planned.spends.links, bound).variance)

    def _part(self, share: Fraction) -> Loss:
        losses = self.planned.losses
        return loss_of(losses[0].measure, sum(loss.amount for loss in losses) * share)

    def _share(self, *spends: Loss | None) -> Fraction:
        asked = sum((spend.amount for spend in spends if spend is not None), Fraction(0))
        return asked / self._part(Fraction(1)).amount

    def questions(self, geography: LinkUniverse) -> tuple[Question, ...]:
        """What is asked: people by their items, then all that link counts ask."""
        cells = people_by_items(geography)
        name = cells.name.replace("records", "items")
        first = (Query(name=name, cells=cells), self._part(HISTOGRAM))
        return (first, *self.chosen.questions(geography))

    def bound_of(self, query: Query | PartitionQuery, bound: Bound) -> Bound:
        """Returns how far one person moves the answer to a question."""
        return self.chosen.bound_of(query, bound)

    def forecast(self, geography: LinkUniverse, bound: Bound) -> tuple[Forecast, ...]:
        """Returns the noise in what is measured; what is published carries less."""
        return self.chosen.forecast(geography, bound)

    def measure(self, curator: Curator, geography: LinkUniverse) -> Measurements:
        """Asks how many items people have, then everything else with the limit that follows.

        Privacy:
            Spends the budget, whatever the first answer is: a person is in one class of it, and
            moves each other answer by no more than the counter's bound for the limit.
        """
        first = curator.counts(*self.questions(geography)[0])
        settled = self.settled((first,))
        return (first, *settled.chosen.measure(curator, geography))

    def settled(self, measured: Measurements) -> "LinkPeople":
        """Returns the mechanism with what its first answer decides."""
        first = measured[0]
        assert isinstance(first, Measured)  # noqa: S101  the first question is asked of all classes
        return replace(self, people=tuple(int(value) for value in first.values))

    def fit(self, measured: Measurements, geography: LinkUniverse) -> LinkTable:
        """Turns noisy counts into plausible ones, and leaves out what does not stand out."""
        settled = self.settled(measured)
        expected = expected_of(settled.crowd, settled.chosen.limits.max_items)
        table = settled.chosen.fit_people(measured[1:], geography, expected)
        return replace(table, noise=noise_of(measured))
