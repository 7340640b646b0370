"""Bounded counts of protected traces, by whatever engine reads and matches them."""

from dataclasses import dataclass, fields
from functools import cached_property

from hushway.engine.key import BoundingKey
from hushway.engine.opening import open_session
from hushway.engine.settings import EngineSettings
from hushway.errors import PrivacyError
from hushway.families.links.matching.matcher import RoadMatcher
from hushway.families.links.public.universe import LinkUniverse, MovementLimits
from hushway.families.links.rows.bounding import (
    BoundedMovements,
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
    noisy_trips,
)
from hushway.families.links.rows.part import MovementPart
from hushway.families.links.rows.rows import (
    AnyTraces,
    PeoplePositions,
    PeriodLookup,
    countable_read,
)
from hushway.families.links.rows.trips import Splitting, Trips
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
        lookup = PeriodLookup.of(self._universe.periods, self._source.clock)
        with open_session(self._settings) as session:
            reading = countable_read(session, self._source, self._universe.roads, lookup)
            return session.count(reading, self._part(lookup), self._progress)

    def _part(self, lookup: PeriodLookup) -> MovementPart:
        part = MovementPart(
            universe=self._universe,
            limits=self._limits,
            key=self._key,
            lookup=lookup,
            splitting=self._splitting,
            matcher=self._given_matcher,
        )
        if not isinstance(self._ends, MetricEnds) or self._bits is None:
            return part
        if self._settings.cluster is not None:
            raise PrivacyError(
                "Noise at the ends of trips is drawn where the release is made, so a cluster "
                "cannot read these traces.",
                advice='Leave the noise at the ends out, or set kind = "duckdb" in [engine].',
            )
        return NoisyPart(
            **{one.name: getattr(part, one.name) for one in fields(part)},
            ends=self._ends,
            bits=self._bits,
            noisy=self._noisy,
        )


@dataclass(frozen=True, kw_only=True)
class NoisyPart(MovementPart):
    """Counts movements of trips whose ends have noise of their own: on this machine only.

    Attributes:
        ends: What is done to the ends of trips.
        bits: Random bits of the release.
        noisy: Makes trips with noisy ends.
    """

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
