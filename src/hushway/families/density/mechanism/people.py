"""Densities of all visits of people, of whom a limited number is counted in the series.

1. Measure how many people have how many visits, and choose limits from that
   (`hushway.release.contribution.limits`).
2. Measure everything else as a series with these limits does
   (`hushway.families.density.mechanism.series`): people by site, all visits, what the series leaves
   out by period of the day, and the series.
3. Fit it, as the series does.

The limits follow from the noisy answer of the first question, which stands on the certificate, so
that anybody can choose them again.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np

from hushway.families.density.fit.activity import PeopleByClass, known_activity, standing_out
from hushway.families.density.fit.table import Denoise, DensityTable
from hushway.families.density.mechanism.recommended import (
    ACTIVITY_SHARE,
    Shares,
    clearness,
    evident_shares,
    recommended_shares,
)
from hushway.families.density.mechanism.series import DensitySeries, density_series
from hushway.families.density.public.visits import (
    ACTIVITY,
    DensityUniverse,
    VisitLadder,
    VisitLimits,
)
from hushway.privacy.accounting import rho_for
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss, exact, loss_of
from hushway.privacy.measured import Measured
from hushway.release.contribution.crowd import Crowd, crowd_of
from hushway.release.contribution.limits import chosen_limits
from hushway.release.mechanism import Forecast, Measurements
from hushway.release.others import OtherStep, certified_others, stated_others
from hushway.release.terms import stated_measure

# Limits of the series to choose from: counters keep all sites and bins for each of them.
_LADDER: Final = tuple(limit for limit in ACTIVITY if limit <= 64)  # noqa: PLR2004


def quieter_budget(epsilon: Fraction, delta: Fraction | None, visits: int | None) -> Loss:
    """Returns the budget whose noise is smaller if so many visits of a person count.

    Where the number is to be chosen, Laplace noise is: few visits of a person are counted then, and
    what they leave out is completed. That was a tenth worse than Gaussian noise at most where
    people have many visits, and two to three times better where they have one
    (`benchmarks/density_people.py`).
    """
    pure = PureLoss(epsilon)
    if delta is None or visits is None:
        return pure
    rho = ZCDPLoss(rho_for(epsilon, delta))
    return pure if _series_noise(pure, visits) <= _series_noise(rho, visits) else rho


def _series_noise(budget: Loss, visits: int) -> float:
    """Returns the variance of the noise of a series if all were charged for it."""
    each = visits if isinstance(budget, PureLoss) else 1
    return float(noise_for(budget, Bound(cells=visits, each=each, total=visits)).variance)


@dataclass(frozen=True, kw_only=True)
class DensityPeople:
    """Publishes estimates of all visits of people, with limits that nobody has to guess.

    Attributes:
        budget: What all of it costs.
        max_visits: Most visits of a person in the series; None if it is chosen.
        max_visits_in_total: Most visits of a person in the total; None if it is chosen.
        night: Whether the small counts of the night are replaced by exponential curves.
        cluster_error: Noise that a cluster's series may have, as a share of its total; None to tell
            it from noisy totals.
        people: The noisy number of people by their visits; None before it is measured.
        others: Other steps of the series that the fit learns from.
    """

    budget: Loss
    max_visits: int | None
    max_visits_in_total: int | None
    denoise: Denoise = "patterns"
    clustering: bool = True
    night: bool = False
    cluster_error: float | None = None
    people: tuple[int, ...] | None = None
    others: tuple[OtherStep, ...] = ()
    name: str = "series"
    adaptive: ClassVar[bool] = True

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        return {
            "noise": self.budget.measure.noise,
            "budget": str(self.budget.amount),
            "max_visits": "auto" if self.max_visits is None else self.max_visits,
            "max_visits_in_total": "auto"
            if self.max_visits_in_total is None
            else self.max_visits_in_total,
            "people_by_visits": None if self.people is None else list(self.people),
            "clustering": self.clustering,
            "cluster_error": self.cluster_error,
            "denoise": self.denoise,
            "night": self.night,
            **stated_others(self.others),
        }

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The price; how it is divided is decided by noisy answers."""
        return (self.budget,)

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does."""
        return self._series(None).post_processing

    @property
    def ladder(self) -> VisitLadder:
        """The limits to choose from."""
        most, cut_off = self.max_visits, self.max_visits_in_total
        given = {limit for limit in (most, cut_off) if limit is not None}
        return VisitLadder(
            visits=_LADDER if most is None else (most,),
            in_total=tuple(sorted({*ACTIVITY, *given})) if cut_off is None else (cut_off,),
            one_in_a_bin=self._one_in_a_bin,
        )

    @property
    def _one_in_a_bin(self) -> bool:
        return isinstance(self.budget, ZCDPLoss)

    @cached_property
    def limits(self) -> VisitLimits:
        """How much of a person counts.

        Privacy:
            A function of the noisy number of people by their visits.
        """
        chosen = chosen_limits(self._crowd, self._noise, self.max_visits)
        # Some are busier than any class that stands out from noise.
        busier = next((step for step in ACTIVITY if step >= 2 * chosen.sums), ACTIVITY[-1])
        cut_off = busier if chosen.sums > 1 else 1
        return VisitLimits(
            max_visits=chosen.cells,
            max_visits_in_total=self.max_visits_in_total or cut_off,
            one_in_a_bin=self._one_in_a_bin,
        )

    @cached_property
    def _evident(self) -> tuple[int, ...] | None:
        """The noisy people of classes that stand out from noise; None if there are none.

        A class of busy people that noise made up would raise every limit.
        """
        if self.people is None:
            return None
        there = standing_out(self._by_class)
        return tuple(np.where(there, self.people, 0).tolist()) if there.any() else None

    @property
    def _by_class(self) -> PeopleByClass:
        values = np.array(self.people, dtype=np.float64)
        return PeopleByClass(values, self._usual.variance, self.budget.measure)

    @cached_property
    def _usual(self) -> Crowd:
        first = loss_of(self.budget.measure, self.budget.amount * ACTIVITY_SHARE)
        return crowd_of(None, first, ACTIVITY, self.max_visits)

    @property
    def _crowd(self) -> Crowd:
        """How many visits people have, as measured; as it is usual if nothing is known of it."""
        return replace(self._usual, noisy=self._evident or self._usual.noisy)

    def _noise(self, limit: int) -> float:
        return _series_noise(self.budget, limit) if limit in self.ladder.visits else math.inf

    def series_of(self, geography: DensityUniverse) -> DensitySeries:
        """Returns the mechanism that goes on with the limits, and what each question costs."""
        usual = recommended_shares(
            self.limits, scaling=True, clustering=self.clustering, cuts=self.denoise == "cuts"
        )
        if self._evident is None:
            return self._series(usual)
        shares = evident_shares(geography, self.limits, self.budget, self._crowd, usual)
        return replace(self._series(shares), by_circle=self._circles_stand_out(geography.bins))

    def _circles_stand_out(self, bins: int) -> bool:
        """Whether several circles of people do: each has noise of its own at every site."""
        activity = known_activity(self._by_class, self.limits, bins)
        return activity is not None and int((activity.people > 0).sum()) > 1

    def stands_out(self, geography: DensityUniverse) -> bool:
        """Whether a mean area stands out from noise, as far as the first answer tells."""
        if self._evident is None:
            return self.people is None
        counted = self._crowd.counted(self.limits.max_visits)
        return clearness(geography, self.limits, self.budget, counted) >= 1

    def _series(self, shares: Shares | None) -> DensitySeries:
        series = density_series(
            self.limits,
            budget=self.budget,
            shares=shares,
            denoise=self.denoise,
            clustering=self.clustering,
            night=self.night,
            cluster_error=self.cluster_error,
        )
        return replace(series, others=self.others)

    def events(self, geography: DensityUniverse, bound: Bound) -> tuple[Event, ...]:
        """What `measure` will do; before the first answer, what it does for a usual crowd."""
        return self.series_of(geography).events(geography, bound)

    def queries(self, geography: DensityUniverse, cluster: Any = None) -> tuple[Any, ...]:
        """What is asked, for some clusters; without them, as if every cell were one."""
        return self.series_of(geography).queries(geography, cluster)

    def forecast(self, geography: DensityUniverse, bound: Bound) -> tuple[Forecast, ...]:
        """Returns the noise in what is measured; what is published carries less."""
        return self.series_of(geography).forecast(geography, bound)

    def measure(self, curator: Curator, geography: DensityUniverse) -> Measurements:
        """Asks how many visits people have, then everything else with the limits that follow.

        Privacy:
            Spends the budget, whatever the first answer is: a person is in one class of it, and
            moves each other answer by no more than the counter's bound for the limits.
        """
        (question, spend), *_ = self.series_of(geography).before_clusters(geography)
        first = curator.counts(question, spend)
        series = self.settled((first,)).series_of(geography)
        _, *others = series.before_clusters(geography)
        return series.measured_after((first,), others, curator, geography)

    def settled(self, measured: Measurements) -> "DensityPeople":
        """Returns the mechanism with what its first answer decides."""
        first = measured[0]
        assert isinstance(first, Measured)  # noqa: S101  the first question is asked of all classes
        return replace(self, people=tuple(int(value) for value in first.values))

    def fit(self, measured: Measurements, geography: DensityUniverse) -> DensityTable:
        """Cleans the series, completes them and shares them among areas."""
        return self.settled(measured).series_of(geography).fit(measured, geography)


def certified_people(parameters: Mapping[str, Any]) -> DensityPeople:
    """Returns the mechanism of a certificate."""
    most, cut_off = parameters["max_visits"], parameters["max_visits_in_total"]
    people = parameters["people_by_visits"]
    given = [limit for limit in (most, cut_off) if limit != "auto"]
    if len(people) != len(ACTIVITY) or any(type(number) is not int for number in (*people, *given)):
        raise TypeError
    return DensityPeople(
        budget=loss_of(stated_measure(parameters), exact(str(parameters["budget"]))),
        max_visits=None if most == "auto" else most,
        max_visits_in_total=None if cut_off == "auto" else cut_off,
        denoise=parameters["denoise"],
        clustering=parameters["clustering"],
        night=parameters["night"],
        cluster_error=parameters["cluster_error"],
        people=tuple(people),
        others=certified_others(parameters),
    )
