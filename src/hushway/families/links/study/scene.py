"""Drives on roads to try link counts on: public roads, and people whose links are known."""

from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.engine.key import BoundingKey
from hushway.families.links.matching.traces import Ways
from hushway.families.links.mechanism.counts import LinkCounts
from hushway.families.links.mechanism.fit import LinkTable
from hushway.families.links.public.roads import RoadNetwork, grid_zones
from hushway.families.links.public.universe import LinkUniverse, MovementLimits
from hushway.families.links.rows.memory import ArrayMovements
from hushway.geography.periods import Periods
from hushway.privacy.curator import Curator
from hushway.privacy.randomness import SeededSource
from hushway.release.mechanism import Measurements
from hushway.study.study_table import StudyBudget

# Metres. Wide enough for a zone to hold streets of all classes.
_ZONE_M = 2000.0


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Drives:
    """What people did: a row for each item of a person, in any order, with repetitions.

    Attributes:
        person: Code of the person.
        item: The link; or links + node for a beginning; or links + nodes + node for an end.
    """

    person: IntArray
    item: IntArray


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


def one_period(
    roads: RoadNetwork,
    *,
    first_day: date = date(2019, 1, 29),
    zone: str = "America/Los_Angeles",
    hours: tuple[int, int] = (0, 24),
) -> LinkUniverse:
    """Returns roads in zones that are squares, and a single period between two hours."""
    opens, closes = (60 * hour for hour in hours)
    square, squares = grid_zones(roads, _ZONE_M)
    return LinkUniverse(
        roads=roads,
        periods=Periods(
            zone=zone,
            first_day=first_day,
            last_day=first_day,
            opens=opens,
            closes=closes,
            minutes=closes - opens,
        ),
        zone=square,
        zones=squares,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LinkScene:
    """Where link counts are compared: nobody is cut down in the truth.

    Attributes:
        universe: The public roads and zones, and one period.
        drives: What people did; all of it falls into the period.
    """

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

    def measured(self, counter: ArrayMovements, mechanism: LinkCounts, seed: int) -> Measurements:
        """Asks all questions of a mechanism, as a release would; noise comes from the seed."""
        curator = Curator(counter=counter, budget=StudyBudget(), source=SeededSource(seed))
        return mechanism.measure(curator, self.universe)

    def published(self, counter: ArrayMovements, mechanism: LinkCounts, seed: int) -> FloatArray:
        """Returns what a release would say about each link; 0 where it says nothing."""
        measured = self.measured(counter, mechanism, seed)
        return dense_counts(mechanism.fit(measured, self.universe))


def dense_counts(table: LinkTable) -> FloatArray:
    """Returns a count for each link of the map, summed over periods; 0 where none is published."""
    counts = np.zeros(table.universe.roads.links)
    np.add.at(counts, table.link, table.counts)
    return counts
