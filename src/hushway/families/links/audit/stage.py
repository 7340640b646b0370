"""The small road networks where releases of links are audited."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.auditing.product import Product, Rows, Stage, microseconds, played, small_batches
from hushway.auditing.shift import rho_of
from hushway.engine.key import BoundingKey
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.mechanism.counts import LinkCounts, link_counts
from hushway.families.links.mechanism.terms import LinksMechanism
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
from hushway.families.links.rows.rows import TraceColumns, TracesSource
from hushway.geography.periods import Periods
from hushway.privacy.loss import Loss, PureLoss
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
        person: Who, counted from 0 at every corner.
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Rings:
    """A universe and its corners."""

    universe: LinkUniverse
    corners: int
    links: int

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


def _kind(drive: Drive) -> tuple[int, int]:
    numbers = enumerate((drive.link, drive.begin, drive.end))
    (found,) = ((kind, number) for kind, number in numbers if number is not None)
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
# In files, from the middle of one link to the middle of another, three positions a link.
_A_LINK = 3
_SECONDS_OF_A_LINK = 120
_SECONDS_BETWEEN = 3600
_SECOND_US = 1_000_000


@cache
def _matcher(universe: LinkUniverse) -> Matcher:
    return Matcher(universe.roads)


@dataclass(frozen=True, kw_only=True)
class LinkProduct(Product):
    """The parts of a release.

    Attributes:
        ends: Makes trips with noisy ends of positions, where a plan asks for it.
    """

    ends: NoisyTrips = noisy_trips


def asking(
    limits: MovementLimits,
    spend: Loss,
    *,
    classes: Fraction = Fraction(0),
    left_out: Fraction = Fraction(0),
    fitted: bool = False,
    **options: Any,
) -> LinkCounts:
    """Returns a mechanism that asks for links and ends of trips only, and fits nothing, or more."""
    return link_counts(
        limits,
        budget=spend,
        classes=classes,
        left_out=left_out,
        shrink_to_class=fitted,
        conserve=fitted,
        **options,
    )


@dataclass(frozen=True, kw_only=True)
class LinkStage(Stage[LinksMechanism]):
    """Ring roads."""

    rings: Rings
    limits: MovementLimits
    make: Callable[[MovementLimits, Loss], LinksMechanism] = asking

    @property
    def universe(self) -> LinkUniverse:
        """The public universe."""
        return self.rings.universe

    def made(self) -> LinksMechanism:
        """Returns the mechanism as the catalogue of plans makes it."""
        return self.make(self.limits, self.spend)

    def play(self, scene: Drives) -> Rows:
        """Returns one row for each item of a trip."""
        rings = self.rings

        def columns(drive: Drive, corner: IntArray) -> tuple[IntArray | int, ...]:
            kind, number = _kind(drive)
            item = (kind * rings.corners + corner) * rings.links + number
            return drive.period, item, drive.steps

        return played(scene, rings.corners, ("period", "item", "steps"), columns)

    def count(self, rows: Rows, source: BitSource) -> Counter:
        """Returns the real counter."""
        key = BoundingKey.draw(source)
        return ArrayMovements(universe=self.universe, limits=self.limits, key=key, **rows)

    def columns(self, scene: Drives) -> dict[str, Any]:
        """Returns positions of one person on each ring, who drives over the scene's links.

        There are as many trips along the same way as the scene has times.
        """
        roads, trips = self.universe.roads, max((drive.times for drive in scene), default=0)
        along = np.arange(_A_LINK * max(len(scene) - 1, 0) + 1) / _A_LINK + 0.5
        link = np.floor(along).astype(np.int64)
        sizes = (np.arange(self.rings.corners), np.arange(trips), np.arange(len(along)))
        corner, trip, step = (grid.ravel() for grid in np.meshgrid(*sizes, indexing="ij"))
        at, share = corner * self.rings.links + link[step], (along - link)[step]
        tail, head = roads.tail[at], roads.head[at]
        driven = np.rint(along[step] * _SECONDS_OF_A_LINK).astype(np.int64)
        since_us = (trip * _SECONDS_BETWEEN + driven) * _SECOND_US
        return {
            "person": corner,
            "time": microseconds(self.universe.periods.first_day, since_us),
            "lon": roads.node_lon[tail] * (1 - share) + roads.node_lon[head] * share,
            "lat": roads.node_lat[tail] * (1 - share) + roads.node_lat[head] * share,
        }

    def count_files(self, folder: Path, source: BitSource) -> Counter:
        """Returns the embedded engine, or what the product has instead."""
        return (self.product.engine or TraceMovements)(
            source=TracesSource(folder, TraceColumns()),
            universe=self.universe,
            limits=self.limits,
            key=BoundingKey.draw(source),
            settings=small_batches(_BATCH_ROWS),
            matcher=_matcher(self.universe),
        )


def staged(  # noqa: PLR0913  what a stage of these audits can have
    product: Product,
    epsilon: Fraction,
    *,
    most: int,
    corners: int = 1000,
    links: int = 10,
    periods: int = 1,
    laplace: bool = False,
    in_files: bool = False,
    **asked: Any,
) -> LinkStage:
    """Returns a stage that spends an epsilon, or the rho that a plan would spend for it."""
    return LinkStage(
        product=product,
        spend=PureLoss(epsilon) if laplace else rho_of(epsilon),
        rings=rings(corners=corners, links=links, periods=periods),
        limits=MovementLimits(max_items=most),
        make=partial(asking, **asked),
        in_files=in_files,
    )
