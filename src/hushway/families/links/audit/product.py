"""The parts of a release of links that are audited, and the small road networks where."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache, cached_property

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.audit.product import Product, Stage, small_batches
from hushway.engine.key import BoundingKey
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.mechanism.counts import LinkCounts, link_counts
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import (
    ClassZones,
    LeftOutCells,
    LinkUniverse,
    MovementCells,
    MovementLimits,
    SpeedSums,
)
from hushway.families.links.rows.bounding import ArrayMovements
from hushway.families.links.rows.movements import TraceMovements
from hushway.families.links.rows.noisy import NoisyTrips, noisy_trips
from hushway.families.links.rows.rows import TracesSource
from hushway.geography.periods import Periods
from hushway.privacy.loss import Loss
from hushway.privacy.query import Cells, Counter
from hushway.privacy.randomness import BitSource

# Small public road networks in which one scene of drives plays at many corners.
#
# A corner is a ring road of its own, driven one way round: link i leads from node i to node i + 1.
# Links have classes 1 to 5 in turn, and every corner is a zone. Without conservation and without
# expectation, what a release says about a corner depends on the people of that corner alone, so one
# release holds a run for each corner. A network with a single corner gives one run a release.
#
# Rings of ten links are five kilometres wide.

KINDS = 3
CLASSES = 5

_DAY = date(2024, 1, 1)
_LENGTH = 1600.0
_SPEED = 50.0
_METRES_OF_A_DEGREE = 111_000.0
_MINUTES_OF_A_DAY = 1440


@dataclass(frozen=True, kw_only=True)
class Drive:
    """Something that one person did at a corner: was on a link, began a trip or ended one.

    Attributes:
        link: Which link, if it is one.
        begin: At which node a trip began, if it is that.
        end: At which node a trip ended, if it is that.
        period: When.
        person: Who, counted from 0 at every corner.
        times: How often.
        steps: Steps of the speed from the usual one.
    """

    link: int | None = None
    begin: int | None = None
    end: int | None = None
    period: int = 0
    person: int = 0
    times: int = 1
    steps: int = 0


Drives = tuple[Drive, ...]
NO_DRIVES: Drives = ()


@dataclass(frozen=True, kw_only=True)
class DriveRows:
    """Protected rows as an engine sees them, one entry an item of a trip."""

    person: IntArray
    period: IntArray
    item: IntArray
    steps: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Rings:
    """A universe and its corners.

    Attributes:
        universe: The public universe.
        corners: How many corners it has.
        links: Links of each, and as many nodes.
    """

    universe: LinkUniverse
    corners: int
    links: int

    def play(self, scene: Drives) -> DriveRows:
        """Returns the rows of a scene that plays at every corner."""
        people = 1 + max((drive.person for drive in scene), default=0)
        corner = np.arange(self.corners, dtype=np.int64)
        columns = [np.empty((4, 0), dtype=np.int64)]
        for drive in scene:
            item = self._first_item(drive) + corner * self.links
            when, steps = np.full_like(corner, drive.period), np.full_like(corner, drive.steps)
            rows = np.stack([corner * people + drive.person, when, item, steps])
            columns.append(np.repeat(rows, drive.times, axis=1))
        person, period, item, steps = np.concatenate(columns, axis=1)
        return DriveRows(person=person, period=period, item=item, steps=steps)

    def by_corner(self, cells: Cells, values: IntArray) -> IntArray:
        """Returns values of all cells as one row a corner.

        By (period, item), (weight, period, item), (period, link) or (period, class). Sums over all
        beginnings and all ends belong to no corner and are left out.
        """
        periods = len(self.universe.periods)
        if isinstance(cells, MovementCells | LeftOutCells):
            items = values.reshape(-1, KINDS, self.corners, self.links)
            return items.transpose(2, 0, 1, 3).reshape(self.corners, -1)
        if isinstance(cells, SpeedSums):
            shaped = values.reshape(periods, self.corners, self.links)
        else:
            assert isinstance(cells, ClassZones)  # noqa: S101  all that links are asked about
            of_links = values.reshape(periods, cells.groups)[:, :-2]
            shaped = of_links.reshape(periods, self.corners, CLASSES)
        return shaped.transpose(1, 0, 2).reshape(self.corners, -1)

    def place(self, drive: Drive) -> int:
        """Returns where an item stands in the row of a corner."""
        kind, number = _kind(drive)
        return (drive.period * KINDS + kind) * self.links + number

    def _first_item(self, drive: Drive) -> int:
        kind, number = _kind(drive)
        return kind * self.corners * self.links + number


def _kind(drive: Drive) -> tuple[int, int]:
    given = [
        (kind, number)
        for kind, number in enumerate((drive.link, drive.begin, drive.end))
        if number is not None
    ]
    (found,) = given
    return found


@cache
def rings(*, corners: int, links: int = 10, periods: int = 1) -> Rings:
    """Returns rings whose periods are equal parts of a day; the same ones every time."""
    count = corners * links
    number = np.arange(count, dtype=np.int64)
    corner, place = np.divmod(number, links)
    head = corner * links + (place + 1) % links
    lon, lat = _circle(corner, place, links)
    names = number.astype(str)
    roads = RoadNetwork(
        node_id=names,
        node_lon=lon,
        node_lat=lat,
        link_id=names.copy(),
        tail=number,
        head=head,
        length=np.full(count, _LENGTH),
        speed=np.full(count, _SPEED),
        lanes=np.ones(count),
        road_class=1 + place % CLASSES,
        street=number.copy(),
        name=np.full(count, ""),
        start=2 * np.arange(count + 1, dtype=np.int64),
        lon=np.column_stack([lon, lon[head]]).ravel(),
        lat=np.column_stack([lat, lat[head]]).ravel(),
    )
    universe = LinkUniverse(
        roads=roads,
        periods=Periods(
            zone="UTC",
            first_day=_DAY,
            last_day=_DAY,
            opens=0,
            closes=_MINUTES_OF_A_DAY,
            minutes=_MINUTES_OF_A_DAY // periods,
            cycle="window",
        ),
        zone=corner,
        zones=tuple(str(one) for one in range(corners)),
    )
    return Rings(universe=universe, corners=corners, links=links)


def _circle(corner: IntArray, place: IntArray, links: int) -> tuple[FloatArray, FloatArray]:
    # On the equator, where degrees are alike; corners lie in a row.
    radius = _LENGTH / (2 * np.sin(np.pi / links)) / _METRES_OF_A_DEGREE
    angle = 2 * np.pi * place / links
    return corner * 0.1 + radius * np.cos(angle), radius * np.sin(angle)


# A person's rows lie in several of these.
_BATCH_ROWS = 20


@dataclass(frozen=True, kw_only=True)
class DriveTerms:
    """The public terms of a release: its universe and how much of a person counts."""

    universe: LinkUniverse
    limits: MovementLimits


def movements_in_memory(rows: DriveRows, terms: DriveTerms, source: BitSource) -> Counter:
    """Returns the real counter, with a bounding key of its own for every release."""
    return ArrayMovements(
        universe=terms.universe,
        limits=terms.limits,
        key=BoundingKey.draw(source),
        person=rows.person,
        period=rows.period,
        item=rows.item,
        steps=rows.steps,
    )


def movements_of_files(
    files: TracesSource,
    terms: DriveTerms,
    source: BitSource,
    engine: Callable[..., Counter] = TraceMovements,
) -> Counter:
    """Returns the embedded engine, as plans use it, with a bounding key for every release."""
    return engine(
        source=files,
        universe=terms.universe,
        limits=terms.limits,
        key=BoundingKey.draw(source),
        settings=small_batches(_BATCH_ROWS),
        matcher=_matcher(terms.universe),
    )


@cache
def _matcher(universe: LinkUniverse) -> Matcher:
    return Matcher(universe.roads)


@dataclass(frozen=True, kw_only=True)
class LinkProduct(Product[DriveRows, TracesSource, DriveTerms, LinkCounts]):
    """The parts of a release.

    Attributes:
        ends: Makes trips with noisy ends of positions, where a plan asks for it.
    """

    counter: Callable[[DriveRows, DriveTerms, BitSource], Counter] = movements_in_memory
    files: Callable[[TracesSource, DriveTerms, BitSource], Counter] = movements_of_files
    ends: NoisyTrips = noisy_trips


REAL_LINKS = LinkProduct()


def plain(limits: MovementLimits, spend: Loss) -> LinkCounts:
    """Returns a mechanism that asks for links and ends of trips only, and fits nothing."""
    return link_counts(
        limits,
        budget=spend,
        classes=Fraction(0),
        left_out=Fraction(0),
        shrink_to_class=False,
        conserve=False,
    )


@dataclass(frozen=True, kw_only=True)
class LinkStage(Stage[Drive, DriveRows, TracesSource, DriveTerms, LinkCounts]):
    """Ring roads.

    Attributes:
        rings: The public universe and its corners.
        limits: How much of a person counts.
        make: Makes the mechanism, as the catalogue of plans does.
    """

    rings: Rings
    limits: MovementLimits
    make: Callable[[MovementLimits, Loss], LinkCounts] = plain

    @property
    def terms(self) -> DriveTerms:
        """The public terms of every release."""
        return DriveTerms(universe=self.rings.universe, limits=self.limits)

    @cached_property
    def mechanism(self) -> LinkCounts:
        """The mechanism that every release uses, as the product under audit has it."""
        return self.product.mechanism(self.make(self.limits, self.spend))

    def play(self, scene: Drives) -> DriveRows:
        """Returns the rows of a scene that plays at every corner."""
        return self.rings.play(scene)
