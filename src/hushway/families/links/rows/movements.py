"""Bounded counts of protected traces, by whatever engine reads and matches them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import ibis.expr.types as ir
import numpy as np

from hushway.arrays import BoolArray, IntArray
from hushway.engine.embedded import EmbeddedSession
from hushway.engine.key import BoundingKey
from hushway.engine.opening import open_session
from hushway.engine.session import Sums
from hushway.engine.settings import EngineSettings
from hushway.errors import PrivacyError
from hushway.families.links.matching.matcher import Matcher, RoadMatcher
from hushway.families.links.matching.traces import Ways
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import SPEED_STEP, LinkUniverse, MovementLimits
from hushway.families.links.rows.bounding import (
    BoundedMovements,
    MovementCounter,
    PeopleItems,
    refuse_too_many_cells,
)
from hushway.families.links.rows.noisy import (
    EndNoise,
    EndTreatment,
    MetricEnds,
    NoisyTrips,
    noisy_trips,
)
from hushway.families.links.rows.rows import (
    AnyTraces,
    MdsTraces,
    PeoplePositions,
    PeriodLookup,
    countable_read,
    people_at_a_time,
)
from hushway.families.links.rows.trips import Splitting, Trips, split_trips
from hushway.privacy.bound import Unit
from hushway.privacy.query import ExactCounts
from hushway.privacy.randomness import BitSource
from hushway.progress import ShareProgress

_COUNTED: Final = ("counts", "sums", "left", "people")


@dataclass(frozen=True, kw_only=True)
class MovementPart:
    """Matches, bounds and counts people's positions, all of each. A `hushway.engine.session.Part`.

    Privacy:
        Of each person of the part at most so many distinct items count as each limit says.
    """

    universe: LinkUniverse
    limits: MovementLimits
    key: BoundingKey
    lookup: PeriodLookup
    splitting: Splitting
    matcher: RoadMatcher | None = None

    def count(
        self, session: EmbeddedSession, rows: ir.Table, progress: ShareProgress | None
    ) -> BoundedMovements:
        """Returns the bounded movements, some whole people at a time."""
        found = BoundedMovements(self.universe, self.limits, self.key)
        for people in self.people(session, rows, progress):
            trips = self.trips(people)
            ways = self.roads_matcher.match(trips.traces, threads=session.settings.threads)
            found.add(items_of(ways, trips.person, people.salt, self.universe, self.lookup))
        return found

    def people(
        self, session: EmbeddedSession, rows: ir.Table, progress: ShareProgress | None
    ) -> Iterator[PeoplePositions]:
        """Hands out whole people, however the engine cuts their rows into batches."""
        return people_at_a_time(session, rows, progress)

    def trips(self, people: PeoplePositions) -> Trips:
        """Returns the trips of people."""
        return split_trips(people, self.universe.roads.plane, self.splitting)

    def sums(self, counted: BoundedMovements) -> Sums:
        """Returns what is not 0 of all that was counted."""
        return {name: ExactCounts.of_all(getattr(counted, name)) for name in _COUNTED}

    def counted(self, sums: Sums) -> BoundedMovements:
        """Returns all that was counted."""
        found = BoundedMovements(self.universe, self.limits, self.key)
        for name in _COUNTED:
            getattr(found, name)[sums[name].cells] = sums[name].values
        return found

    @property
    def roads_matcher(self) -> RoadMatcher:
        """Who finds ways on the roads."""
        return _usual_matcher(self.universe.roads) if self.matcher is None else self.matcher


@lru_cache(maxsize=1)
def _usual_matcher(roads: RoadNetwork) -> Matcher:
    # Made once for all parts that a process counts.
    return Matcher(roads)


_KMH = 3.6
# Far beyond any limit of steps, and far from where a float is no whole number of 64 bits.
_MOST_STEPS = 1e6


def items_of(
    ways: Ways, person: IntArray, salt: IntArray, universe: LinkUniverse, lookup: PeriodLookup
) -> PeopleItems:
    """Returns the items of trips: links, beginnings and ends, those outside of periods left out.

    A link that a stretch begins or ends with is driven on only in part, nobody knows how far, so
    it tells nothing about speeds.

    Privacy:
        Every item depends on one trip and public facts alone.
    """
    roads = universe.roads
    length = np.diff(ways.start)
    trips = np.flatnonzero(length)
    first, last = ways.start[trips], ways.start[trips + 1] - 1
    whole = _driven_whole(ways)
    nothing, never = np.zeros(2 * len(trips), np.int64), np.full(2 * len(trips), np.inf)
    owner = np.concatenate([np.repeat(person, length), person[trips], person[trips]])
    item = np.concatenate(
        [
            ways.link,
            roads.links + roads.tail[ways.link[first]],
            roads.links + roads.nodes + roads.head[ways.link[last]],
        ]
    )
    time = np.concatenate([ways.entered, ways.entered[first], ways.left[last]])
    when = np.concatenate([np.where(whole, ways.entered, np.inf), never])
    steps = np.concatenate([_steps(ways, whole, universe), nothing])
    period = lookup.at(time)
    kept = np.flatnonzero(period >= 0)
    kept = kept[np.argsort(owner[kept], kind="stable")]
    return PeopleItems(
        start=np.searchsorted(owner[kept], np.arange(len(salt) + 1)),
        code=period[kept] * universe.items + item[kept],
        when=when[kept],
        steps=steps[kept],
        salt=salt,
    )


def _driven_whole(ways: Ways) -> BoolArray:
    """Says which links are neither the first nor the last of a stretch, and took some time."""
    ends = np.ones(len(ways.link) + 1, dtype=np.bool_)
    ends[:-1] = ways.fresh
    ends[ways.start] = True
    return ~ends[:-1] & ~ends[1:] & (ways.left > ways.entered)


def _steps(ways: Ways, whole: BoolArray, universe: LinkUniverse) -> IntArray:
    """Returns how many steps the speed on each link is from the usual one; 0 if nobody knows."""
    roads = universe.roads
    took = np.where(whole, ways.left - ways.entered, 1.0)
    speed = roads.length[ways.link] / took * _KMH
    steps = np.rint((speed - roads.speed[ways.link]) / SPEED_STEP)
    return np.where(whole, np.clip(steps, -_MOST_STEPS, _MOST_STEPS), 0.0).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class NoisyPart(MovementPart):
    """Counts movements of trips whose ends have noise of their own: on this machine only."""

    ends: MetricEnds
    bits: BitSource
    noisy: NoisyTrips

    def trips(self, people: PeoplePositions) -> Trips:
        """Returns trips with noisy ends."""
        noise = EndNoise(
            ends=self.ends,
            splitting=self.splitting,
            roads=self.universe.roads,
            matcher=self.roads_matcher,
            key=self.key,
            bits=self.bits,
        )
        return self.noisy(people, noise)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TraceMovements(MovementCounter):
    """Counts movements of traces in files, each person bounded.

    The files are read, and matched to roads, when counts are first asked for; after that the
    bounded counts are in memory, and nothing of any single person.

    Privacy:
        Positions without a person, a time or a place, outside the window or far from the network
        are dropped one by one against public facts. A trip is split, cleaned and matched by looking
        at that person's positions and public facts. Of what comes out at most `max_items` distinct
        items count for each person, a uniform choice. Counting is the same for every order and
        split of the rows. Noise at the ends of trips, if asked for, is drawn once, when counts are
        first asked for; another counter draws, and spends, again. Trips are then told by ids and
        times alone, and cleaned between their ends.

    Attributes:
        unit: Who an id stands for; a device where the traces name devices.
        bits: Random bits for noise at the ends; needed for that alone.
        matcher: Finds ways on the roads; the usual one if None.
        noisy: Makes trips with noisy ends; audits plant mistakes here.
    """

    source: AnyTraces
    universe: LinkUniverse
    limits: MovementLimits
    key: BoundingKey
    unit: Unit = Unit.PERSON
    settings: EngineSettings | None = None
    progress: ShareProgress | None = None
    ends: EndTreatment | None = None
    bits: BitSource | None = None
    splitting: Splitting | None = None
    matcher: RoadMatcher | None = None
    noisy: NoisyTrips = noisy_trips

    def __post_init__(self) -> None:
        refuse_too_many_cells(self.universe, self.limits)
        if isinstance(self.ends, MetricEnds) and self.bits is None:
            raise PrivacyError(
                "Noise at the ends of trips needs random bits.",
                advice="Hand in the source of bits of the release.",
            )
        if isinstance(self.source, MdsTraces) and self.unit is not Unit.DEVICE:
            raise PrivacyError(
                "These traces name vehicles and not their riders, so a "
                f"{self.unit} is not protected.",
                advice='Choose unit = "device".',
            )

    @cached_property
    def found(self) -> BoundedMovements:  # type: ignore[override]  # worked out once
        """The bounded movements, read and matched when they are first needed."""
        lookup = PeriodLookup.of(self.universe.periods, self.source.clock)
        with open_session(self.settings or EngineSettings()) as session:
            reading = countable_read(session, self.source, self.universe.roads, lookup)
            return session.count(reading, self._part(lookup), self.progress)

    def _part(self, lookup: PeriodLookup) -> MovementPart:
        part = MovementPart(
            universe=self.universe,
            limits=self.limits,
            key=self.key,
            lookup=lookup,
            splitting=self.splitting or Splitting(),
            matcher=self.matcher,
        )
        if not isinstance(self.ends, MetricEnds) or self.bits is None:
            return part
        if self.settings is not None and self.settings.cluster is not None:
            raise PrivacyError(
                "Noise at the ends of trips is drawn where the release is made, so a cluster "
                "cannot read these traces.",
                advice='Leave the noise at the ends out, or set kind = "duckdb" in [engine].',
            )
        return NoisyPart(**vars(part), ends=self.ends, bits=self.bits, noisy=self.noisy)
