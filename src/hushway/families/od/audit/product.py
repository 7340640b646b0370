"""The parts of an OD release that are audited, and the small public universes where."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum, auto
from typing import Generic, TypeVar

import numpy as np

from hushway.arrays import IntArray
from hushway.audit import product as audit
from hushway.audit.product import small_batches
from hushway.engine.key import BoundingKey
from hushway.families.od.mechanism.cbdp import CBDP
from hushway.families.od.mechanism.hierarchical import Hierarchical
from hushway.families.od.mechanism.learned import Learned
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.bounding import ArrayCounter
from hushway.families.od.rows.counter import EngineTrips
from hushway.families.od.rows.trips import TripsSource
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.bound import Unit
from hushway.privacy.loss import Loss, PureLoss
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.privacy.randomness import BitSource

# Small public universes in which one scene plays at many corners.
#
# Neighbours differ in one person, and what a release says about a corner depends on the people of
# that corner alone. So one release over a toy universe of n corners, each with people of its own,
# holds n independent runs of the same scene; the noise, the bounding and the budget are those of a
# real release. A toy universe with a single corner gives one run a release.

_FIRST_HOUR = 8 * 60
_DAY = date(2024, 1, 1)
_SECOND_US = 1_000_000
_MINUTE_US = 60 * _SECOND_US
_HIGH_BIT = 1 << 32


class Stray(Enum):
    """Trips that have no cell in the public universe."""

    UNKNOWN_ORIGIN = auto()
    UNKNOWN_DESTINATION = auto()
    SAME_PLACE = auto()
    OUTSIDE_HOURS = auto()


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one person does at a corner.

    Attributes:
        person: Who, counted from 0 at every corner.
        period: When.
        times: How many identical trips.
        stray: Why the trips have no cell, if they have none.
        twin: Whether it is somebody whose number differs from the person's in its high bits only.
    """

    person: int = 0
    period: int = 0
    times: int = 1
    stray: Stray | None = None
    twin: bool = False


Scene = tuple[Part, ...]
NOBODY: Scene = ()


@dataclass(frozen=True, kw_only=True)
class Trips:
    """Protected rows as an engine sees them, one entry a trip."""

    since_us: IntArray
    person: IntArray
    period: IntArray
    origin: IntArray
    destination: IntArray


@dataclass(frozen=True, kw_only=True)
class ToyUniverse:
    """A universe and its corners.

    Attributes:
        cells: The public universe.
        corners: How many of its (origin, destination) pairs, from the first, are looked at.
    """

    cells: ODCells
    corners: int

    def play(self, scene: Scene) -> Trips:
        """Returns the rows of a scene that plays at every corner."""
        people = 1 + max((part.person for part in scene), default=0)
        nothing = np.empty((5, 0), dtype=np.int64)
        columns = np.concatenate([nothing, *(self._rows(part, people) for part in scene)], axis=1)
        since_us, person, period, origin, destination = columns
        return Trips(
            since_us=since_us,
            person=person,
            period=period,
            origin=origin,
            destination=destination,
        )

    def _rows(self, part: Part, people: int) -> IntArray:
        """Returns time, person, period, origin and destination of a part at every corner."""
        corner = np.arange(self.corners, dtype=np.int64)
        period, origin, destination = self.cells.decode(corner)
        period += part.period
        # Codes next to the valid ones, which would fall into other cells if nobody looked.
        if part.stray is Stray.UNKNOWN_ORIGIN:
            origin = np.full_like(origin, -1)
        elif part.stray is Stray.UNKNOWN_DESTINATION:
            destination = np.full_like(destination, len(self.cells.locations))
        elif part.stray is Stray.SAME_PLACE:
            destination = origin
        elif part.stray is Stray.OUTSIDE_HOURS:
            period = np.full_like(period, -1)
        time = np.full_like(corner, part.period * self.cells.periods.minutes * _MINUTE_US)
        person = corner * people + part.person + (_HIGH_BIT if part.twin else 0)
        rows = np.stack([time, person, period, origin, destination])
        repeated = np.repeat(rows, part.times, axis=1)
        # A second apart, as taps of one card may be: no two trips of a person are the same row.
        repeated[0] += np.tile(np.arange(part.times) * _SECOND_US, self.corners)
        return repeated

    def by_corner(self, values: IntArray) -> IntArray:
        """Returns values of all cells as one row a period and one column a corner."""
        return values.reshape(-1, self.cells.pairs)[:, : self.corners]


def toy_universe(
    *, places: int, periods: int, corners: int | None = None, minutes: int = 60
) -> ToyUniverse:
    """Returns a toy universe; unless fewer are asked for, every pair of its places is a corner."""
    names = [f"place {i}" for i in range(places)]
    cells = ODCells(
        locations=Locations(
            tuple(Location(id=name, name=name, lon=0.0, lat=0.0, zone="toy") for name in names)
        ),
        periods=Periods(
            zone="UTC",
            first_day=_DAY,
            last_day=_DAY,
            opens=_FIRST_HOUR,
            closes=_FIRST_HOUR + minutes * periods,
            minutes=minutes,
        ),
    )
    return ToyUniverse(cells=cells, corners=cells.pairs if corners is None else corners)


Fitted = CBDP | Hierarchical | Learned
"""A mechanism that measures features beside the cells and makes them agree."""

Spend = TypeVar("Spend", bound=Loss)


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The public terms of a release: its universe, who is protected, and the limit."""

    cells: ODCells
    unit: Unit = Unit.PERSON
    max_trips: int = 1


class CountedOnce(ArrayCounter):
    """The real counter in memory; it bounds and counts once a release, as the embedded one does."""

    _counted: ExactCounts | None = None

    def count(self, query: Query) -> ExactCounts:
        """Returns the exact bounded counts."""
        self.bound(query)  # refuses a query over other cells
        if self._counted is None:
            self._counted = super().count(query)
        return self._counted


def count_in_memory(trips: Trips, terms: Terms, source: BitSource) -> Counter:
    """Returns the real counter, with a bounding key of its own for every release."""
    return CountedOnce(
        cells=terms.cells,
        unit=terms.unit,
        max_trips=terms.max_trips,
        key=BoundingKey.draw(source),
        person=trips.person,
        period=trips.period,
        origin=trips.origin,
        destination=trips.destination,
        since_us=trips.since_us,
    )


def count_files(
    files: TripsSource,
    terms: Terms,
    source: BitSource,
    engine: Callable[..., Counter] = EngineTrips,
) -> Counter:
    """Returns the embedded engine, as plans use it, with a bounding key for every release."""
    return engine(
        source=files,
        cells=terms.cells,
        unit=terms.unit,
        max_trips=terms.max_trips,
        key=BoundingKey.draw(source),
        settings=small_batches(1),
    )


def equal_shares(spend: PureLoss, measurements: int) -> tuple[PureLoss, ...]:
    """Splits a spend evenly over several measurements."""
    return (PureLoss(spend.epsilon / measurements),) * measurements


@dataclass(frozen=True, kw_only=True)
class Product(audit.Product[Trips, TripsSource, Terms, Fitted]):
    """The parts of a release.

    Attributes:
        split: Splits a spend over several measurements.
    """

    counter: Callable[[Trips, Terms, BitSource], Counter] = count_in_memory
    files: Callable[[TripsSource, Terms, BitSource], Counter] = count_files
    split: Callable[[PureLoss, int], tuple[PureLoss, ...]] = equal_shares


REAL = Product()


@dataclass(frozen=True, kw_only=True)
class Stage(audit.Stage[Part, Trips, TripsSource, Terms, Fitted], Generic[Spend]):
    """A toy universe and its limit."""

    product: Product
    spend: Spend
    toy: ToyUniverse
    unit: Unit = Unit.PERSON
    max_trips: int = 1

    @property
    def terms(self) -> Terms:
        """The public terms of every release."""
        return Terms(cells=self.toy.cells, unit=self.unit, max_trips=self.max_trips)

    def play(self, scene: Scene) -> Trips:
        """Returns the trips of a scene that plays at every corner."""
        return self.toy.play(scene)
