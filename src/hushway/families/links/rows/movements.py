"""The embedded engine for movements: traces in files, read by DuckDB and matched to roads."""

from collections.abc import Iterator
from functools import cached_property

import ibis.expr.types as ir
import numpy as np
from ibis.backends.duckdb import Backend

from hushway.arrays import BoolArray, IntArray
from hushway.engine.key import BoundingKey
from hushway.engine.session import EngineSettings, duckdb_session
from hushway.errors import PrivacyError
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.matching.traces import Ways
from hushway.families.links.public.universe import SPEED_STEP, LinkUniverse, MovementLimits
from hushway.families.links.rows.bounding import (
    BoundedMovements,
    PeopleItems,
    movement_bound,
    movement_counts,
    refuse_other_movements,
    refuse_too_many_cells,
    refuse_uncounted,
)
from hushway.families.links.rows.gpx import MdsTraces
from hushway.families.links.rows.noisy import (
    EndNoise,
    EndTreatment,
    MetricEnds,
    NoEnds,
    NoisyTrips,
    RoadMatcher,
    noisy_trips,
)
from hushway.families.links.rows.rows import (
    AnyTraces,
    PeoplePositions,
    PeriodLookup,
    countable,
    load_traces,
    people_at_a_time,
)
from hushway.families.links.rows.trips import Splitting, Trips, split_trips
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.query import ExactCounts, Query
from hushway.privacy.randomness import BitSource
from hushway.progress import ShareProgress

__all__ = ["TraceMovements"]


class TraceMovements:
    """Counts movements of traces in files, each person bounded. A `hushway.privacy.query.Counter`.

    The files are read, and matched to roads, at the first count; after that the bounded counts are
    in memory, and nothing of any single person.

    Privacy:
        Positions without a person, a time or a place, outside the window or far from the network
        are dropped one by one against public facts. A trip is split, cleaned and matched by looking
        at that person's positions and public facts. Of what comes out at most `max_items` distinct
        items count for each person, a uniform choice. Counting is the same for every order and
        split of the rows. Noise at the ends of trips, if asked for, is drawn once, at the first
        count; another counter draws, and spends, again. Trips are then told by ids and times alone,
        and cleaned between their ends.

    Args:
        source: Where the traces are.
        universe: The public roads, periods and zones.
        limits: How much of one person counts.
        unit: Who an id stands for; a device where the traces name devices.
        key: Decides which items are kept.
        settings: How much of this machine to use.
        progress: Told from 0 to 1 how far it is.
        ends: What is done to the ends of trips.
        bits: Random bits for noise at the ends; needed for that alone.
        splitting: How positions become trips.
        matcher: Finds ways on the roads; the usual one if not given.
        noisy: Makes trips with noisy ends; audits plant mistakes here.

    Raises:
        DataError: There are more cells than fit into memory.
        PrivacyError: Noise at the ends is asked for, and there are no random bits; or the traces do
            not name the unit.
    """

    def __init__(  # noqa: PLR0913  what counts, how, and how it is watched
        self,
        *,
        source: AnyTraces,
        universe: LinkUniverse,
        limits: MovementLimits,
        key: BoundingKey,
        unit: Unit = Unit.PERSON,
        settings: EngineSettings | None = None,
        progress: ShareProgress | None = None,
        ends: EndTreatment | None = None,
        bits: BitSource | None = None,
        splitting: Splitting | None = None,
        matcher: RoadMatcher | None = None,
        noisy: NoisyTrips = noisy_trips,
    ) -> None:
        refuse_too_many_cells(universe, limits)
        if isinstance(ends, MetricEnds) and bits is None:
            raise PrivacyError(
                "Noise at the ends of trips needs random bits.",
                advice="Hand in the source of bits of the release.",
            )
        if isinstance(source, MdsTraces) and unit is not Unit.DEVICE:
            raise PrivacyError(
                f"These traces name vehicles and not their riders, so a {unit} is not protected.",
                advice='Choose unit = "device".',
            )
        self._source = source
        self._universe = universe
        self._limits = limits
        self._unit = unit
        self._key = key
        self._settings = EngineSettings() if settings is None else settings
        self._progress = progress
        self._ends: EndTreatment = NoEnds() if ends is None else ends
        self._bits = bits
        self._splitting = Splitting() if splitting is None else splitting
        self._given_matcher = matcher
        self._noisy = noisy

    @property
    def unit(self) -> Unit:
        """Who is protected: whoever an id stands for."""
        return self._unit

    def bound(self, query: Query) -> Bound:
        """Returns the bound that `count` enforces for this query."""
        return movement_bound(refuse_other_movements(query, self._universe), self._limits)

    def count(self, query: Query) -> ExactCounts:
        """Returns the exact bounded counts.

        Raises:
            DataError: The traces cannot be read, or memory or disk ran out.
        """
        cells = refuse_other_movements(query, self._universe)
        refuse_uncounted(cells, self._limits)
        return movement_counts(self._found, cells)

    @cached_property
    def _found(self) -> BoundedMovements:
        found = BoundedMovements(self._universe, self._limits, self._key)
        lookup = PeriodLookup.of(self._universe.periods, self._source.clock)
        with duckdb_session(self._settings) as backend:
            rows = countable(load_traces(backend, self._source), self._universe.roads, lookup)
            for people in self._people(backend, rows):
                trips = self._trips(people)
                ways = self._matcher.match(trips.traces, threads=self._settings.threads)
                found.add(items_of(ways, trips.person, people.salt, self._universe, lookup))
        return found

    def _people(self, backend: Backend, rows: ir.Table) -> Iterator[PeoplePositions]:
        """Hands out whole people, however the engine cuts their rows into batches."""
        return people_at_a_time(backend, rows, self._settings.batch_rows, self._progress)

    def _trips(self, people: PeoplePositions) -> Trips:
        roads = self._universe.roads
        if not isinstance(self._ends, MetricEnds) or self._bits is None:
            return split_trips(people, roads.plane, self._splitting)
        noise = EndNoise(
            ends=self._ends,
            splitting=self._splitting,
            roads=roads,
            matcher=self._matcher,
            key=self._key,
            bits=self._bits,
        )
        return self._noisy(people, noise)

    @cached_property
    def _matcher(self) -> RoadMatcher:
        if self._given_matcher is not None:
            return self._given_matcher
        return Matcher(self._universe.roads)


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

    Args:
        ways: The ways of trips.
        person: Index of each trip's person, ascending.
        salt: A number for each person.
        universe: The public roads, periods and zones.
        lookup: The period of each second.
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
