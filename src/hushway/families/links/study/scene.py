"""Drives on roads to try link counts on, and what each step of their fit gains."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.engine.key import BoundingKey
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.matching.traces import Ways
from hushway.families.links.mechanism.counts import LEFT_OUT, link_counts, smaller_noise
from hushway.families.links.mechanism.terms import LinksMechanism
from hushway.families.links.planning.invented_rows import Drives, random_drives
from hushway.families.links.public.roads import RoadNetwork, grid_zones
from hushway.families.links.public.universe import LinkUniverse, MovementCells, MovementLimits
from hushway.families.links.rows.bounding import ArrayMovements
from hushway.geography.periods import Periods
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Internal, Measured
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget
from hushway.release.mechanism import Measurements

# Metres. Wide enough for a zone to hold streets of all classes.
_ZONE_M = 2000.0
_DAY, _CLOCK = date(2019, 1, 29), "America/Los_Angeles"


def drives_of(ways: Ways, person: IntArray, roads: RoadNetwork) -> Drives:
    """Returns the links of trips, and the nodes at which they begin and end."""
    length = np.diff(ways.start)
    trips = np.flatnonzero(length)
    first, last = ways.link[ways.start[trips]], ways.link[ways.start[trips + 1] - 1]
    begins = roads.links + roads.tail[first]
    ends = roads.links + roads.nodes + roads.head[last]
    return Drives(
        person=np.concatenate([np.repeat(person, length), person[trips], person[trips]]),
        item=np.concatenate([ways.link, begins, ends]),
    )


def one_period(roads: RoadNetwork, *, hours: tuple[int, int] = (0, 24)) -> LinkUniverse:
    """Returns roads in zones that are squares, and a single period between two hours."""
    opens, closes = (60 * hour for hour in hours)
    square, squares = grid_zones(roads, _ZONE_M)
    return LinkUniverse(
        roads=roads,
        periods=Periods(
            zone=_CLOCK,
            first_day=_DAY,
            last_day=_DAY,
            opens=opens,
            closes=closes,
            minutes=closes - opens,
        ),
        zone=square,
        zones=squares,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LinkScene:
    """Where link counts are compared: nobody is cut down in the truth."""

    universe: LinkUniverse
    drives: Drives

    @cached_property
    def truth(self) -> FloatArray:
        """Exact persons on each link."""
        links, drives = self.universe.roads.links, self.drives
        on_link = drives.item < links
        _, who = np.unique(drives.person[on_link], return_inverse=True)
        persons = np.unique(who * links + drives.item[on_link]) % links
        return np.bincount(persons, minlength=links).astype(np.float64)

    def bounded(self, limits: MovementLimits, *, key_seed: int = 0) -> ArrayMovements:
        """Cuts every person down, as a release does; the choice follows the seed."""
        drives = self.drives
        return ArrayMovements(
            universe=self.universe,
            limits=limits,
            key=BoundingKey.draw(SeededSource(key_seed)),
            person=drives.person,
            period=np.zeros_like(drives.person),
            item=drives.item,
        )

    def measured(
        self, counter: ArrayMovements, mechanism: LinksMechanism, seed: int
    ) -> Measurements:
        """Asks all questions of a mechanism, as a release would; noise comes from the seed."""
        curator = Curator(counter=counter, budget=StudyBudget(), source=SeededSource(seed))
        return mechanism.measure(curator, self.universe)

    def published(
        self, counter: ArrayMovements, mechanism: LinksMechanism, seed: int
    ) -> FloatArray:
        """Returns what a release would say about each link; 0 where it says nothing."""
        measured = self.measured(counter, mechanism, seed)
        return dense_counts(mechanism.fit(measured, self.universe))


def dense_counts(table: LinkTable) -> FloatArray:
    """Returns a count for each link of the map, summed over periods; 0 where none is published."""
    counts = np.zeros(table.universe.roads.links)
    np.add.at(counts, table.link, table.counts)
    return counts


MAX_ITEMS: Final = 60

Fit = Callable[[LinkScene, ArrayMovements, Loss, int], FloatArray]


def measure_link_gains(
    roads: RoadNetwork, trips: int, *, epsilon: Fraction, delta: Fraction, runs: range, seed: int
) -> Internal[dict[str, list[float]]]:
    """Fits noisy counts in ever better ways.

    Every way costs the same; one that asks for sums by class has more noise on the links. Returns
    the root mean square error over all links of each run, by way to fit.
    """
    scene = LinkScene(universe=one_period(roads), drives=random_drives(roads, trips, seed))
    budget = smaller_noise(epsilon, delta, _LIMITS)
    counter = scene.bounded(_LIMITS)
    return Internal(
        {
            name: [
                float(np.sqrt(((fit(scene, counter, budget, run) - scene.truth) ** 2).mean()))
                for run in runs
            ]
            for name, fit in FITS.items()
        }
    )


def _noisy(scene: LinkScene, counter: ArrayMovements, budget: Loss, run: int) -> FloatArray:
    nothing = Fraction(0)
    mechanism = link_counts(_LIMITS, budget=budget, classes=nothing, left_out=nothing)
    measured = scene.measured(counter, mechanism, run)
    return _links(measured[0], scene.universe)


def _clamped(scene: LinkScene, counter: ArrayMovements, budget: Loss, run: int) -> FloatArray:
    return np.maximum(_noisy(scene, counter, budget, run), 0.0)


def _fitted(
    *, left_out: Fraction = Fraction(0), shrink_to_class: bool = False, conserve: bool = False
) -> Fit:
    def fit(scene: LinkScene, counter: ArrayMovements, budget: Loss, run: int) -> FloatArray:
        mechanism = link_counts(
            _LIMITS,
            budget=budget,
            left_out=left_out,
            publish_above_se=0.0,
            shrink_to_class=shrink_to_class,
            conserve=conserve,
        )
        measured = scene.measured(counter, mechanism, run)
        return dense_counts(mechanism.fit(measured, scene.universe))

    return fit


def _links(measured: object, universe: LinkUniverse) -> FloatArray:
    if not (isinstance(measured, Measured) and isinstance(measured.query.cells, MovementCells)):
        raise TypeError(type(measured))
    return measured.values[: universe.roads.links].astype(np.float64)


_LIMITS = MovementLimits(max_items=MAX_ITEMS)
FITS: Final[Mapping[str, Fit]] = {
    "plain noise": _noisy,
    "not negative": _clamped,
    "and sums by class and zone": _fitted(),
    "and the usual count of the class": _fitted(shrink_to_class=True),
    "and balanced nodes": _fitted(shrink_to_class=True, conserve=True),
    "and what the bound leaves out (the product)": _fitted(
        left_out=LEFT_OUT, shrink_to_class=True, conserve=True
    ),
}
