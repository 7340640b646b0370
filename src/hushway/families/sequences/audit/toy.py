"""Small public universes in which one scene of walks plays at many corners.

What a prefix tree says below a first stop depends on the records that begin there alone: noise,
candidates and fit of different first stops have nothing to do with each other. So a corner is a few
groups of first stops, with people of its own, and one release holds a run for each corner. Later
stops may lie anywhere.
"""

from dataclasses import dataclass
from datetime import date

import numpy as np

from hushway.arrays import IntArray
from hushway.families.sequences.public.prefixes import PrefixCells, SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.labels import labels_of_codes
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods

_FIRST_DAY, _LAST_DAY = date(2024, 1, 1), date(2024, 1, 20)
_FIRST_HOUR = 8 * 60


@dataclass(frozen=True, kw_only=True)
class Walk:
    """Records of one person at a corner.

    Attributes:
        stops: The places of a record, counted from the first one of the corner.
        person: Who, counted from 0 at every corner.
        times: How many identical records.
        periods: The period of each stop; the first one if none is given.
    """

    stops: tuple[int, ...]
    person: int = 0
    times: int = 1
    periods: tuple[int, ...] = ()


Walks = tuple[Walk, ...]
NO_WALKS: Walks = ()


@dataclass(frozen=True, kw_only=True)
class WalkRows:
    """Protected rows as an engine sees them: records one after another, and whose they are."""

    start: IntArray
    stops: IntArray
    periods: IntArray
    person: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Village:
    """A universe and its corners.

    Attributes:
        universe: The public universe.
        corners: How many corners it has.
        groups: Candidates of the first step at each corner.
        places: Locations of each of these.
    """

    universe: SequenceUniverse
    corners: int
    groups: int
    places: int

    def place(self, offset: int) -> IntArray:
        """Returns the location so many places from the first one of each corner, in a circle."""
        every = self.corners * self.groups * self.places
        return (np.arange(self.corners) * self.groups * self.places + offset) % every

    def play(self, scene: Walks) -> WalkRows:
        """Returns the rows of a scene that plays at every corner."""
        people = 1 + max((walk.person for walk in scene), default=0)
        corner = np.arange(self.corners, dtype=np.int64)
        nobody = np.empty(0, dtype=np.int64)
        stops, periods, lengths, person = [nobody], [nobody], [nobody], [nobody]
        for walk in scene:
            walked = np.stack([self.place(offset) for offset in walk.stops], axis=1)
            stops.append(np.repeat(walked, walk.times, axis=0).ravel())
            when = np.array(walk.periods or (0,) * len(walk.stops), dtype=np.int64)
            periods.append(np.tile(when, self.corners * walk.times))
            lengths.append(np.full(self.corners * walk.times, len(walk.stops), dtype=np.int64))
            person.append(np.repeat(corner * people + walk.person, walk.times))
        return WalkRows(
            start=np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate(lengths))]),
            stops=np.concatenate(stops),
            periods=np.concatenate(periods),
            person=np.concatenate(person),
        )

    def corner_of(self, cells: PrefixCells) -> IntArray:
        """Returns the corner that each candidate of a step lies below."""
        if cells.above is None:
            return np.arange(cells.size) // self.groups % self.corners
        corner_of_node = self.corner_of(cells.above)[cells.kept]
        return np.repeat(corner_of_node, np.diff(cells.start))


def village(*, corners: int, groups: int = 1, places: int = 1, periods: int = 1) -> Village:
    """Returns a village; with one place a group there are no groups, but locations only.

    With several periods, hours of the morning, stops keep their times.
    """
    number = corners * groups
    names = [str(place) for place in range(number * places)]
    locations = Locations(
        tuple(Location(id=name, name=name, lon=0.0, lat=0.0, zone="village") for name in names)
    )
    codes = np.repeat(np.arange(number, dtype=np.int32), places)
    level = labels_of_codes("group", codes, [str(group) for group in range(number)])
    taxonomy = Taxonomy(locations=locations, levels=(level,) if places > 1 else ())
    universe = SequenceUniverse(
        taxonomy=taxonomy, periods=days_of(periods) if periods > 1 else None
    )
    return Village(universe=universe, corners=corners, groups=groups, places=places)


def days_of(periods: int) -> Periods:
    """Returns twenty days with so many hours of service."""
    return Periods(
        zone="UTC",
        first_day=_FIRST_DAY,
        last_day=_LAST_DAY,
        opens=_FIRST_HOUR,
        closes=_FIRST_HOUR + 60 * periods,
        minutes=60,
    )
