"""Tries to match the trips of some people: what has no way, and how many items people have."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import IntArray
from hushway.families.links.matching.matcher import RoadMatcher
from hushway.families.links.matching.traces import Reason, Ways
from hushway.families.links.public.universe import LinkUniverse
from hushway.families.links.rows.part import items_of
from hushway.families.links.rows.rows import PeoplePositions, PeriodLookup
from hushway.families.links.rows.trips import Splitting, Trips, split_trips
from hushway.tables.found import Sizes

# Metres. Devices are seldom so wrong on a road.
FAR: Final = 100.0
_TRIPS_TRIED = 2_000
_REASONS = {
    Reason.TOO_SHORT: "trips_too_short",
    Reason.OFF_ROAD: "trips_off_road",
    Reason.NO_ROUTE: "trips_without_route",
    Reason.BROKEN: "trips_broken",
}


@dataclass(frozen=True, kw_only=True)
class Trial:
    """How trips are tried, as a release would match them.

    Attributes:
        universe: The public roads, periods and zones.
        matcher: Finds ways on the roads.
        lookup: The period of each second.
        splitting: How positions become trips.
    """

    universe: LinkUniverse
    matcher: RoadMatcher
    lookup: PeriodLookup
    splitting: Splitting

    def of(
        self, people: Iterable[PeoplePositions], threads: int | None
    ) -> tuple[dict[str, int], Sizes]:
        """Returns how many trips had no way, by reason, and how many items people have.

        Privacy:
            Exact, for the steward's own screen.

        Args:
            people: Some people with all their positions.
            threads: How many to use.
        """
        found = dict.fromkeys(("tried", "far_from_roads", *_REASONS.values()), 0)
        sizes = [np.zeros(0, dtype=np.int64)]
        for some in people:
            trips = split_trips(some, self.universe.roads.plane, self.splitting)
            first = trips.only(np.arange(min(len(trips.person), _TRIPS_TRIED - found["tried"])))
            ways = self.matcher.match(first.traces, threads=threads)
            near, _, _ = self.matcher.nearest_links(first.traces.x, first.traces.y, FAR)
            found["tried"] += len(first.person)
            found["far_from_roads"] += int((np.diff(near) == 0).sum())
            for reason, kind in _REASONS.items():
                found[kind] += int((ways.reason == reason).sum())
            sizes.append(self._items(ways, trips, first, some.salt))
        size, owners = np.unique(np.concatenate(sizes), return_counts=True)
        return found, Sizes.of({"size": size, "owners": owners})

    def _items(self, ways: Ways, trips: Trips, tried: Trips, salt: IntArray) -> IntArray:
        """Returns the number of distinct items of each person all of whose trips were tried."""
        items = items_of(ways, tried.person, salt, self.universe, self.lookup)
        owner = np.repeat(np.arange(len(salt)), np.diff(items.start))
        distinct = np.unique(np.stack([owner, items.code]), axis=1)[0]
        number = np.bincount(distinct, minlength=len(salt))
        whole = np.bincount(trips.person, minlength=len(salt)) == np.bincount(
            tried.person, minlength=len(salt)
        )
        return np.asarray(number[whole], dtype=np.int64)
