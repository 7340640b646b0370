"""Towns of roads small enough to know everything about."""

from dataclasses import dataclass
from datetime import date
from functools import cache

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import IntArray
from hushway.engine.key import BoundingKey
from hushway.families.links.city.road_city import road_city
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.matching.routing import shortest_routes
from hushway.families.links.mechanism.counts import LinkCounts
from hushway.families.links.public.roads import grid_zones
from hushway.families.links.public.universe import LinkUniverse
from hushway.families.links.rows.bounding import ArrayMovements
from hushway.geography.periods import Periods
from hushway.privacy.curator import Curator
from hushway.privacy.randomness import SeededSource
from hushway.release.mechanism import Measurements
from support.budgets import StudyBudget


@dataclass(frozen=True, kw_only=True, eq=False)
class Town:
    """Trips of persons on public roads, one trip a person."""

    universe: LinkUniverse
    person: IntArray
    period: IntArray
    item: IntArray
    steps: IntArray

    @property
    def truth(self) -> NDArray[np.float64]:
        """Persons by (period, link)."""
        links, items = self.universe.roads.links, self.universe.items
        counts = np.bincount(
            self.period * items + self.item, minlength=items * len(self.universe.periods)
        )
        return counts.reshape(-1, items)[:, :links].astype(np.float64)

    def measure(
        self, mechanism: LinkCounts, seed: int = 1
    ) -> tuple[Measurements, StudyBudget, Curator]:
        """Lets a mechanism measure the town, each person bounded."""
        budget = StudyBudget()
        counter = ArrayMovements(
            universe=self.universe,
            limits=mechanism.limits,
            key=BoundingKey.draw(SeededSource(seed + 1000)),
            person=self.person,
            period=self.period,
            item=self.item,
            steps=self.steps,
        )
        curator = Curator(counter=counter, budget=budget, source=SeededSource(seed))
        return mechanism.measure(curator, self.universe), budget, curator

    def release(self, mechanism: LinkCounts, seed: int = 1) -> LinkTable:
        """Returns what the mechanism would publish."""
        return mechanism.fit(self.measure(mechanism, seed)[0], self.universe)


@cache
def town_of(people: int, periods: int = 1) -> Town:
    """A town of about a thousand links; half of the trips lead to the same ten nodes."""
    roads = road_city(2, links=1000)
    random = np.random.default_rng(7)
    origin = random.integers(0, roads.nodes, people)
    busy = random.choice(roads.nodes, 10, replace=False)
    anywhere = random.integers(0, roads.nodes, people)
    destination = np.where(random.random(people) < 0.5, busy[anywhere % 10], anywhere)
    start, link = shortest_routes(roads, origin, destination, roads.length / roads.speed)
    length = np.diff(start)
    driven = np.flatnonzero(length)
    period = random.integers(0, periods, people)
    first, last = link[start[driven]], link[start[driven + 1] - 1]
    item = np.concatenate(
        [link, roads.links + roads.tail[first], roads.links + roads.nodes + roads.head[last]]
    )
    person = np.concatenate([np.repeat(np.arange(people), length), driven, driven])
    zone, zones = grid_zones(roads, 1000.0)
    day = date(2024, 1, 15)
    clock = Periods(
        zone="UTC", first_day=day, last_day=day, opens=0, closes=1440, minutes=1440 // periods
    )
    return Town(
        universe=LinkUniverse(roads=roads, periods=clock, zone=zone, zones=zones),
        person=person,
        period=period[person],
        item=item,
        # All are a step faster than usual.
        steps=np.ones_like(item),
    )
