"""Cities small enough to know everything about: a little Paris, and towns of rectangles."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from hushway.arrays import IntArray
from hushway.engine.key import BoundingKey
from hushway.families.density.fit.table import Denoise, DensityTable
from hushway.families.density.mechanism.people import DensityPeople
from hushway.families.density.mechanism.recommended import Spends
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.mechanism.terms import DensityMechanism
from hushway.families.density.planning.trial import area_truth
from hushway.families.density.public.geometry import density_universe
from hushway.families.density.public.visits import DensityUniverse, VisitLimits
from hushway.families.density.rows.counts import ArrayVisits
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.accounting import rho_for
from hushway.privacy.calibration import loss_of_cuts
from hushway.privacy.curator import Curator
from hushway.privacy.loss import ZCDPLoss
from hushway.privacy.randomness import SeededSource
from hushway.release.mechanism import Measurements
from support.budgets import StudyBudget


def exact_visits(
    person: IntArray, site: IntArray, time_bin: IntArray, sites: int, bins: int
) -> IntArray:
    """How many distinct persons were seen, by (site, bin); each once wherever they were."""
    seen = np.unique(np.column_stack([person, site, time_bin]), axis=0)
    counts = np.zeros((sites, bins), dtype=np.int64)
    np.add.at(counts, (seen[:, 1], seen[:, 2]), 1)
    return counts


@dataclass(frozen=True, kw_only=True, eq=False)
class City:
    """Visits of persons at the sites of a universe."""

    universe: DensityUniverse
    person: IntArray
    site: IntArray
    bin: IntArray

    @property
    def truth(self) -> NDArray[np.float64]:
        """Exact visits by (area, bin)."""
        universe = self.universe
        visits = exact_visits(self.person, self.site, self.bin, universe.site_count, universe.bins)
        return area_truth(universe, visits)

    def measure(
        self, mechanism: DensityMechanism, seed: int = 1
    ) -> tuple[Measurements, StudyBudget, Curator]:
        """Lets a mechanism measure the city, each person bounded."""
        budget = StudyBudget()
        counter = ArrayVisits(
            universe=self.universe,
            limits=mechanism.limits,
            ladder=mechanism.ladder if isinstance(mechanism, DensityPeople) else None,
            key=BoundingKey.draw(SeededSource(seed + 1000)),
            person=self.person,
            site=self.site,
            bin=self.bin,
        )
        curator = Curator(counter=counter, budget=budget, source=SeededSource(seed))
        return mechanism.measure(curator, self.universe), budget, curator

    def release(self, mechanism: DensityMechanism, seed: int = 1) -> DensityTable:
        """Returns what the mechanism would publish."""
        measured, _, _ = self.measure(mechanism, seed)
        return mechanism.fit(measured, self.universe)


def bins_of(
    days: int = 7, minutes: int = 60, *, first: date = date(2007, 9, 10), closes: int = 1440
) -> Periods:
    return Periods(
        zone="Europe/Paris",
        first_day=first,
        last_day=first + timedelta(days=days - 1),
        opens=0,
        closes=closes,
        minutes=minutes,
        cycle="window",
    )


def rectangles(columns: int, rows: int) -> Areas:
    step = 0.01
    return Areas(
        areas=tuple(
            Area(
                id=f"a{i}-{j}",
                name=f"Quarter {i}-{j}",
                shape=shapely.box(
                    2.3 + i * step, 48.8 + j * step, 2.3 + (i + 1) * step, 48.8 + (j + 1) * step
                ),
            )
            for j in range(rows)
            for i in range(columns)
        )
    )


def town_of(
    columns: int = 4,
    rows: int = 3,
    *,
    towers: Sequence[tuple[float, float]] | None = None,
    periods: Periods | None = None,
    people: int = 2000,
    visits: int = 6,
    seed: int = 5,
) -> City:
    """A town whose people are at one site in a bin; without towers, they are seen in areas.

    Towers are given as parts of the town's width and height.
    """
    areas = rectangles(columns, rows)
    places = None
    if towers is not None:
        places = Locations(
            tuple(
                Location(
                    id=f"t{i}",
                    name="",
                    lon=2.3 + 0.01 * columns * x,
                    lat=48.8 + 0.01 * rows * y,
                    zone="",
                )
                for i, (x, y) in enumerate(towers)
            )
        )
    universe = density_universe(areas, bins_of() if periods is None else periods, places)
    return visited(universe, people=people, visits=visits, seed=seed)


def visited(universe: DensityUniverse, *, people: int, visits: int, seed: int) -> City:
    """People with some hours each, more of them by day and more at the first sites."""
    random = np.random.default_rng(seed)
    bins, sites = universe.bins, universe.site_count
    parts = universe.periods.parts
    rhythm = 1.3 - np.cos(2 * np.pi * (np.arange(bins) % parts + 0.5) / parts)
    popular = 1 / (1.0 + np.arange(sites))
    person = np.repeat(np.arange(people), visits)
    time = random.choice(bins, size=len(person), p=rhythm / rhythm.sum())
    # One visit in a bin: nobody is in two places at a time.
    _, first = np.unique(person * bins + time, return_index=True)
    place = random.choice(sites, size=len(first), p=popular / popular.sum())
    return City(universe=universe, person=person[first], site=place, bin=time[first])


def generous(
    limits: VisitLimits,
    denoise: Denoise = "none",
    *,
    scaling: bool = True,
    clustering: bool = False,
) -> DensitySeries:
    """A mechanism with hardly any noise: below a hundredth of a visit in a series."""
    visits = limits.max_visits
    return DensitySeries(
        limits=limits,
        spends=Spends(
            series=ZCDPLoss(Fraction(visits * 10**5)),
            histogram=ZCDPLoss(Fraction(50)) if scaling else None,
            total=ZCDPLoss(Fraction(2 * limits.max_visits_in_total**2)) if scaling else None,
            clusters=ZCDPLoss(Fraction(10 * visits**2)) if clustering else None,
            cuts=loss_of_cuts(Fraction(10**6)) if denoise == "cuts" else None,
        ),
        denoise=denoise,
    )


def rho_of(epsilon: Any) -> ZCDPLoss:
    """The rho that an epsilon is worth at delta 2e-6."""
    return ZCDPLoss(rho_for(Fraction(epsilon), Fraction(2, 10**6)))
