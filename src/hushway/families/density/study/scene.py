"""A city of visits to try densities on: public areas and sites, and visits whose truth is known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.engine.key import BoundingKey
from hushway.families.density.city.city import DensityCity
from hushway.families.density.planning.trial import BoundedCity, area_truth
from hushway.families.density.public.geometry import density_universe
from hushway.families.density.public.visits import DensityUniverse, VisitLimits
from hushway.families.density.rows.counts import PeopleVisits, VisitRule, ranked_people
from hushway.families.density.study.paper import BoundedMatrix
from hushway.geography.periods import Periods
from hushway.privacy.randomness import SeededSource

# Two cores are what a laptop has to spare.
_THREADS = 2


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PaperCity(BoundedCity):
    """Bounded visits, and what the paper counts besides."""

    first: IntArray

    @property
    def matrix(self) -> BoundedMatrix:
        """The same visits as the paper's own variants take them."""
        return BoundedMatrix(
            visits=np.ascontiguousarray(self.bounded.series.T),
            first=self.first,
            total=self.bounded.total,
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DensityScene:
    """Where densities are compared: nobody is cut down in the truth.

    Attributes:
        truth: Exact visits by (area, bin).
        site_truth: Exact visits by (site, bin).
        cities: The bounded visits, by the most visits of one person in the series.
    """

    universe: DensityUniverse
    truth: FloatArray
    site_truth: IntArray
    cities: dict[int, PaperCity]


def paris_scene(
    city: DensityCity, max_visits: Sequence[int], *, max_visits_in_total: int, key_seed: int = 0
) -> DensityScene:
    """Returns a synthetic city of calls.

    Args:
        max_visits: Most visits of one person in the series; a bounded city is made for each.
        max_visits_in_total: Most visits of one person in the total.
        key_seed: Chooses the visits that stay.
    """
    periods = Periods(
        zone=city.zone,
        first_day=city.first_day,
        last_day=city.last_day,
        opens=0,
        closes=1440,
        minutes=60,
        cycle="window",
    )
    universe = density_universe(city.areas, periods, city.towers)
    site = np.arange(len(city.towers)) if universe.sites is None else universe.sites.site
    visits = city.visits()
    where = site[visits.tower]
    people = PeopleVisits(
        start=np.searchsorted(visits.person, np.arange(city.people + 1)),
        code=(visits.hour.astype(np.int32) * universe.site_count + where).astype(np.int32),
        salt=np.arange(city.people),
    )
    exact = np.bincount(people.code, minlength=universe.bins * universe.site_count)
    site_truth = np.ascontiguousarray(exact.reshape(universe.bins, -1).T)
    return DensityScene(
        universe=universe,
        truth=area_truth(universe, site_truth),
        site_truth=site_truth,
        cities={
            most: _bounded(
                people,
                universe,
                VisitLimits(max_visits=most, max_visits_in_total=max_visits_in_total),
                key_seed,
            )
            for most in max_visits
        },
    )


def _bounded(
    people: PeopleVisits, universe: DensityUniverse, limits: VisitLimits, key_seed: int
) -> PaperCity:
    key = BoundingKey.draw(SeededSource(key_seed))
    found = ranked_people(people, VisitRule.of(universe, limits.ladder, key), _THREADS)
    start, end = people.start[:-1], people.start[1:]
    seen = start < end
    drawn = np.random.default_rng(key_seed).integers(start[seen], end[seen])
    sites = universe.site_count
    return PaperCity(
        universe=universe,
        limits=limits,
        found=found,
        first=np.bincount(people.code[drawn] % sites, minlength=sites),
    )
