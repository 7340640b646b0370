"""Tables of all trips of people, of whom a limited number is counted in cells.

1. Measure how many people have how many trips, and choose limits from that
   (`hushway.release.contribution.limits`). With Gaussian noise, a limit of trips in one cell is
   chosen too: how many trips people have within each one is measured besides.
2. Measure cells and sums, as `learned` does, with as many trips of a person as the limit says.
3. Measure what the limit has left out: all of it, and in coarse sums by period, origin and
   destination.
4. Learn the table of what was counted, and complete it (`hushway.release.contribution.completion`).

Only the first three cost budget. The limits follow from the noisy answers of the first, which stand
on the certificate, so that anybody can choose them again.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, Final

from hushway.errors import PrivacyError
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.measuring import ODMechanism
from hushway.families.od.mechanism.shares import people_shares, spends_of, standing_out
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.feature_structure import (
    EXPECTED_FALSE,
    LEARNED,
    MOST_LEARNED,
)
from hushway.families.od.public.features import (
    Feature,
    destinations_feature,
    origins_feature,
    period_feature,
    total_feature,
)
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for, threshold_for
from hushway.privacy.contribution import RankedCells, UnitsByRecords, ladder_with
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss, ZCDPLoss, exact, loss_of
from hushway.privacy.measured import Measured
from hushway.privacy.query import PartitionQuery, Query
from hushway.release.contribution.crowd import Crowd, capped_crowd, crowd_of
from hushway.release.contribution.limits import (
    HISTOGRAM,
    WHOLE,
    Limits,
    chosen_crowd,
    chosen_limits,
)
from hushway.release.mechanism import Forecast, Measurements, Question
from hushway.release.others import (
    OtherStep,
    answers_of,
    certified_others,
    learnt_words,
    stated_others,
)
from hushway.release.terms import stated_measure

# Of the budget of what is left out: periods get this if ends of trips are asked for too.
_PERIODS: Final = Fraction(1, 5)
# Ends are asked for if what is left out of an average place is so many deviations of the noise.
_WORTH: Final = 1.0
# What cells get of the budget, about, while a limit is chosen.
_FOR_CELLS: Final = Fraction(7, 10)
# Limits of trips in one cell to choose from, and what it costs to measure what each keeps.
CAPS: Final = (1, 2, 4)
_FOR_A_CAP: Final = Fraction(1, 100)


def caps_for(budget: Loss) -> tuple[int, ...]:
    """Returns the limits of trips in one cell to choose from.

    Laplace noise is as large for a person's trips in one cell as in many, so a limit would only
    leave trips out.
    """
    return CAPS if isinstance(budget, ZCDPLoss) else ()


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedPeople(ODMechanism):
    """Publishes the best estimate of all trips of people.

    Attributes:
        features: The sums to measure besides the cells.
        budget: What all of it costs.
        limit: Most trips of a person in cells; None if it is chosen.
        caps: Limits of a person's trips in one cell to choose from, and none at all; if there is
            one, it is not chosen but given.
        people: The noisy number of people by their trips, then by those within each cap; None
            before it is measured.
        shares: How sums and, last, cells divide what is spent on trips within the limit; None if
            that follows from the rest.
        lazy: Whether only cells are looked at that stand out; a huge table has to be.
        others: Other steps of the series that the fit learns from.
    """

    universe: ODCells
    features: tuple[Feature, ...]
    budget: Loss
    limit: int | None
    caps: tuple[int, ...] = ()
    people: tuple[tuple[int, ...], ...] | None = None
    shares: tuple[Fraction, ...] | None = None
    lazy: bool = False
    others: tuple[OtherStep, ...] = ()
    name: str = LEARNED
    adaptive: ClassVar[bool] = True
    learns_errors: ClassVar[bool] = True
    zeros_left_out: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.features:
            raise PrivacyError(
                "Nothing can be learnt without sums, and there are none.",
                advice='Use mechanism "laplace", or give more places or periods.',
            )
        if any(feature.universe.digest != self.universe.digest for feature in self.features):
            raise PrivacyError(
                "A published total was made for another universe of cells.",
                advice="Build the published totals from the cells that are measured.",
            )
        sizes = [len(self.ladder)] * (1 + len(self.caps))
        if self.people is not None and [len(one) for one in self.people] != sizes:
            raise PrivacyError(
                "The people by their trips are not one number for every class.",
                advice="Give the answer to the question as it was.",
            )
        given = self.shares
        if given is not None and (len(given) != len(self.features) + 1 or sum(given) != 1):
            raise PrivacyError(
                "The shares are not one for each published total and for the cells.",
                advice="Give shares that add up to 1.",
            )
        if self.universe.size > MOST_LEARNED and not self.lazy:
            raise PrivacyError(
                f"A table of {self.universe.size:,} cells is too large to look at every one.",
                advice="Use the lazy form.",
            )

    @property
    def totals(self) -> tuple[Feature, ...]:
        """The public totals that are measured besides the cells."""
        return self.features

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        return {
            "form": "lazy" if self.lazy else "dense",
            "noise": self.budget.measure.noise,
            "published_totals": [
                {"title": f.title, "elements": f.size, "digest": f.digest} for f in self.features
            ],
            "budget": str(self.budget.amount),
            "limit": "auto" if self.limit is None else self.limit,
            "limits_in_a_cell": list(self.caps),
            "people_by_trips": None if self.people is None else [list(one) for one in self.people],
            "shares": None if self.shares is None else [str(share) for share in self.shares],
            **stated_others(self.others),
        }

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The price; how it is divided is decided by noisy answers."""
        return (self.budget,)

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does."""
        learnt = (
            "What to expect of every cell, and how far counts stray from it, was learnt from the "
            "noisy counts of the trips within the limit."
        )
        added = (
            "Counts estimate all trips: what the limit left out was added by noisy sums of it, and "
            "by the noisy number of people by their trips."
        )
        whole = (
            "Counts are made whole so that every sum keeps its fitted value, up or down by less "
            "than 1 where that is possible."
        )
        rest = (added, whole, "A cell without a row is published as 0.")
        return learnt, *learnt_words(self.others), *rest

    @cached_property
    def ladder(self) -> tuple[int, ...]:
        """The limits to choose from."""
        return ladder_with(self.limit)

    @property
    def cells_event(self) -> int:
        """Which of the events measures the cells: the one after all numbers of people."""
        return 1 + len(self.caps)

    @cached_property
    def crowd(self) -> Crowd:
        """How many trips people make: as measured, or as it is usual before that.

        Privacy:
            The cap is chosen by noisy numbers of people.
        """
        if self.people is None:
            spend = self._part(HISTOGRAM)
            return crowd_of(None, spend, self.ladder, self.limit)
        every, *within = (
            crowd_of(people, spend, self.ladder, self.limit)
            for people, (_, spend) in zip(self.people, self.histograms, strict=True)
        )
        capped = [capped_crowd(every, *one) for one in zip(self.caps, within, strict=True)]
        crowds = capped if len(capped) == 1 else [every, *capped]
        return chosen_crowd(crowds, self._cell_noise, self.limit)

    @cached_property
    def limits(self) -> Limits:
        """How many trips of a person count.

        Privacy:
            A function of the noisy number of people by their trips.
        """
        noise = partial(self._cell_noise, cap=self.crowd.cap)
        return chosen_limits(self.crowd, noise, self.limit, part=self._part)

    def _cell_noise(self, limit: int, cap: int | None) -> float:
        bound = self._cells(0, limit, cap).bound
        return float(noise_for(self._part(_FOR_CELLS), bound).variance)

    def _part(self, share: Fraction) -> Loss:
        return loss_of(self.budget.measure, self.budget.amount * share)

    @cached_property
    def histograms(self) -> tuple[Question, ...]:
        """The first questions: how many people have how many trips, in all and within each cap."""
        kinds: dict[int | None, Fraction] = {None: HISTOGRAM}
        kinds |= dict.fromkeys(self.caps, _FOR_A_CAP)
        every = (
            (UnitsByRecords(base=self.universe, ladder=self.ladder, cap=cap), share)
            for cap, share in kinds.items()
        )
        return tuple(
            (Query(name=cells.name.replace("records", "trips"), cells=cells), self._part(share))
            for cells, share in every
        )

    def counted(self) -> tuple[Question, ...]:
        """Cells, then sums, of trips within the limit."""
        base = self._ranked(0, self.limits.cells)
        bound = self.bound_of(base, Bound.of_records(1))
        shares = self.shares or people_shares(self.features, self.for_counted, bound)
        *margins, cells = spends_of(self.for_counted, shares)
        sums = (
            (PartitionQuery(name=feature.name, base=base, cells=feature), spend)
            for feature, spend in zip(self.features, margins, strict=True)
        )
        return ((base, cells), *sums)

    @property
    def for_counted(self) -> Loss:
        """What cells and sums of trips within the limit cost."""
        return self._part(1 - HISTOGRAM - len(self.caps) * _FOR_A_CAP - self.limits.share)

    def left_out(self) -> tuple[Question, ...]:
        """Sums of trips beyond the limit; the one of all of them comes first."""
        limits = self.limits
        if limits.whole is None:
            return ()
        whole = (total_feature(self.universe), WHOLE, limits.whole)
        parts = ((one, (1 - WHOLE) * share, limits.sums) for one, share in self._left_out_parts())
        return tuple(
            (
                PartitionQuery(
                    name=f"{feature.name}, beyond the limit",
                    base=self._ranked(limits.cells, last),
                    cells=feature,
                ),
                self._part(limits.share * share),
            )
            for feature, share, last in (whole, *parts)
        )

    def _ranked(self, first: int, last: int) -> Query:
        cells = self._cells(first, last, self.limits.cap)
        return Query(name=cells.name, cells=cells)

    def _cells(self, first: int, last: int, cap: int | None) -> RankedCells:
        return RankedCells(base=self.universe, first=first, last=last, cap=cap)

    def _left_out_parts(self) -> tuple[tuple[Feature, Fraction], ...]:
        """Returns what the left-out trips are asked by, and the share of each."""
        limits, each = self.limits, (1 - _PERIODS) / 2
        periods = period_feature(self.universe)
        bound = self._cells(limits.cells, limits.sums, limits.cap).bound
        noise = noise_for(self._part(limits.share * (1 - WHOLE) * each), bound)
        trips = self.crowd.left_out(limits.cells, limits.sums) / len(self.universe.locations)
        if trips < _WORTH * math.sqrt(noise.variance):
            return ((periods, Fraction(1)),)
        ends = (origins_feature(self.universe), destinations_feature(self.universe))
        return (
            (periods, _PERIODS),
            *(
                (replace(end, periods=None, title=f"{end.title} of all periods"), each)
                for end in ends
            ),
        )

    def questions(self, _geography: ODCells) -> tuple[Question, ...]:
        """All questions, in order; before the first is answered, those of a usual crowd."""
        return (*self.histograms, *self.counted(), *self.left_out())

    def bound_of(self, query: Query | PartitionQuery, _bound: Bound) -> Bound:
        """Returns how far a person moves the answer to a question: by the ranks it asks for."""
        if isinstance(query, PartitionQuery):
            return query.bound(self.bound_of(query.base, _bound))
        assert isinstance(query.cells, RankedCells | UnitsByRecords)  # noqa: S101  all that is asked
        return query.cells.bound

    def forecast(self, geography: ODCells, bound: Bound) -> tuple[Forecast, ...]:
        """Returns the noise of cells and sums; a fit makes errors smaller."""
        cell, *sums = self.events(geography, bound)[self.cells_event :]
        titles = [
            "all trips" if feature.size == 1 else f"one of {feature.title}"
            for feature in self.features
        ]
        return tuple(
            Forecast(
                figure=figure,
                standard_error=math.sqrt(noise_for(event.loss, event.bound).variance),
                bias=0.0,
            )
            for figure, event in zip(("one cell", *titles), (cell, *sums), strict=False)
        )

    def measure(self, curator: Curator, _geography: ODCells) -> Measurements:
        """Asks how many trips people have, then everything else with the limits that follow.

        Privacy:
            Spends the budget, whatever the first answers are: shares of what is left of it add up
            to that. A person is in one class of each first question, and moves each other one by
            no more than the counter's bound for its ranks.
        """
        first = tuple(curator.counts(*question) for question in self.histograms)
        settled = self.settled(first)
        (cells, spend), *others = (*settled.counted(), *settled.left_out())
        assert isinstance(cells, Query)  # noqa: S101  cells come first
        if settled.lazy:
            law = noise_for(spend, curator.bound(cells))
            threshold = threshold_for(law, self.universe.size, EXPECTED_FALSE)
            table: Any = curator.counts_above(cells, threshold, spend)
        else:
            table = curator.counts(cells, spend)
        return (*first, table, *(curator.counts(*question) for question in others))

    def settled(self, measured: Measurements) -> "LearnedPeople":
        """Returns the mechanism with what its first answers decide: limits, and which sums."""
        first = [one for one in measured[: self.cells_event] if isinstance(one, Measured)]
        people = tuple(tuple(int(value) for value in one.values) for one in first)
        found = replace(self, people=people)
        if found.shares is not None:
            return found
        most, trips = found.limits.cells, found.crowd.counted(found.limits.cells)
        features = standing_out(found.features, found.for_counted, Bound.of_records(most), trips)
        return replace(found, features=features)

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Learns, completes, reconciles and rounds."""
        from hushway.families.od.fit.learned import LeftOut, learned_table

        settled = self.settled(measured)
        features, answers = self.table_answers(measured)
        rest = measured[self.cells_event + len(answers) :]
        beyond = [one for one in rest if isinstance(one, Measured)]
        left = LeftOut(crowd=settled.crowd, limits=settled.limits, sums=tuple(beyond))
        steps = answers_of(self.others, geography, features)
        return learned_table(geography, features, answers, left, steps)

    def table_answers(self, measured: Measurements) -> tuple[tuple[Feature, ...], Measurements]:
        """Returns the totals that were measured, and the noisy cells before those of each."""
        features = self.settled(measured).features
        return features, measured[self.cells_event :][: 1 + len(features)]


def certified_people(
    parameters: Mapping[str, Any], cells: ODCells, features: Sequence[Feature]
) -> LearnedPeople:
    """Returns the mechanism of a certificate."""
    names = ("limit", "limits_in_a_cell", "people_by_trips", "shares")
    limit, caps, people, shares = (parameters[name] for name in names)
    numbers = [*caps, *(number for one in people for number in one)]
    numbers += [] if limit == "auto" else [limit]
    if not all(type(number) is int for number in numbers):
        raise TypeError
    return LearnedPeople(
        universe=cells,
        features=tuple(features),
        budget=loss_of(stated_measure(parameters), exact(str(parameters["budget"]))),
        limit=None if limit == "auto" else limit,
        caps=tuple(caps),
        people=tuple(map(tuple, people)),
        lazy=parameters["form"] == "lazy",
        shares=None if shares is None else tuple(exact(str(share)) for share in shares),
        others=certified_others(parameters),
    )
