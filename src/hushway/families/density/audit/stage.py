"""The small public districts where densities are audited."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import shapely

from hushway.arrays import IntArray
from hushway.auditing.product import Product, Rows, Stage, microseconds, played, small_batches
from hushway.auditing.shift import rho_of
from hushway.engine.key import BoundingKey
from hushway.families.density.mechanism.people import DensityPeople
from hushway.families.density.mechanism.series import DensitySeries, naive_laplace
from hushway.families.density.mechanism.terms import DensityMechanism
from hushway.families.density.public.cover import Cover, Pieces
from hushway.families.density.public.visits import DensityUniverse, Sites, VisitLadder, VisitLimits
from hushway.families.density.rows.counter import EngineVisits
from hushway.families.density.rows.counts import ArrayVisits
from hushway.families.density.rows.rows import EventColumns, EventsSource
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.loss import Loss, PureLoss, loss_of
from hushway.privacy.query import Counter
from hushway.privacy.randomness import BitSource

# Small public districts in which one scene of visits plays at many corners.
#
# A corner is a little ground of its own: twelve sites, four areas and four cells of the cover.
# Without clusters and without scaling, what a release says about a corner depends on the people of
# that corner alone, so one release holds a run for each corner. A district with a single corner
# gives one run a release.
#
# The ground of a corner: sites 0 to 7 lie in area 0, site 8 in area 1 and site 9 in area 2. Site 10
# is shared among these three areas by thirds, which are no whole number of parts. Site 11 covers
# area 3 and a strip of area 2, and is a cell of the cover itself; the other cells are areas 0, 1
# and 2.

SITES, AREAS, CELLS = 12, 4, 4
# The sites that lie in the first cell.
TOGETHER = tuple(range(8))
# A site that lies in one cell, for each cell.
LONE_SITES = (0, 8, 9, 11)
# The site that three cells share.
SHARED = 10

_PIECES = (
    *((site, 0, 0) for site in TOGETHER),
    (8, 1, 1),
    (9, 2, 2),
    *((SHARED, area, area) for area in range(3)),
    (11, 2, 3),
    (11, 3, 3),
)
_DAY = date(2024, 1, 1)
_STEP = 0.001
_HOUR_US = 3_600_000_000
# A person's rows lie in several of these.
_BATCH_ROWS = 1000


@dataclass(frozen=True, kw_only=True)
class Stay:
    """Events of one person at a corner.

    Attributes:
        site: Where, counted from the first site of the corner.
        person: Who, counted from 0 at every corner.
    """

    site: int
    bin: int
    person: int = 0
    times: int = 1


Stays = tuple[Stay, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class District:
    """A universe and its corners."""

    universe: DensityUniverse
    corners: int

    @property
    def every_cell(self) -> IntArray:
        """Clusters of one cell each."""
        return np.arange(self.corners * CELLS, dtype=np.int64)

    def series_by_corner(self, values: IntArray) -> IntArray:
        """Returns a series without clusters by (corner, cell, bin)."""
        return values.reshape(self.corners, CELLS, self.universe.bins)


@cache
def district(
    *, corners: int, bins: int, days: int = 1, cycle: Literal["window", "week"] = "window"
) -> District:
    """Returns a district whose bins are the first hours of some days; the same one every time."""
    piece = np.array(_PIECES, dtype=np.int64)
    corner = np.repeat(np.arange(corners, dtype=np.int64), len(piece))
    site, area, cell = (np.tile(column, corners) for column in piece.T)
    pieces = Pieces(
        sites=corners * SITES,
        areas=corners * AREAS,
        site=corner * SITES + site,
        area=corner * AREAS + area,
        size=np.ones(len(corner)),
    )
    of_corner = np.repeat(np.arange(corners, dtype=np.int64), CELLS)
    is_site = np.tile([False, False, False, True], corners)
    member = np.where(
        is_site,
        of_corner * SITES + SITES - 1,
        of_corner * AREAS + np.tile(np.arange(CELLS), corners),
    )
    # Corners lie far apart, the cells of one corner side by side.
    x = of_corner * 1e6 + np.tile(np.arange(CELLS) * 100.0, corners)
    cover = Cover(
        pieces=pieces,
        is_site=is_site,
        member=member,
        cell=corner * CELLS + cell,
        centres=np.column_stack([x, np.zeros_like(x)]),
    )
    universe = DensityUniverse(
        areas=_areas(corners * AREAS),
        periods=Periods(
            zone="UTC",
            first_day=_DAY,
            last_day=_DAY + timedelta(days=days - 1),
            opens=0,
            closes=60 * bins,
            minutes=60,
            cycle=cycle,
        ),
        sites=_sites(corners),
        cover=cover,
    )
    return District(universe=universe, corners=corners)


def _areas(number: int) -> Areas:
    return Areas(
        areas=tuple(
            Area(id=str(i), name=str(i), shape=shapely.box(i * _STEP, 0, (i + 1) * _STEP, _STEP))
            for i in range(number)
        )
    )


def _sites(corners: int) -> Sites:
    names = [str(site) for site in range(corners * SITES)]
    locations = Locations(
        tuple(Location(id=name, name=name, lon=0.0, lat=0.0, zone="district") for name in names)
    )
    return Sites(locations=locations, site=np.arange(len(names), dtype=np.int64))


def plain(limits: VisitLimits, spend: Loss) -> DensitySeries:
    """Returns a mechanism that asks for the series of every cell and for nothing else."""
    return naive_laplace(limits, budget=spend)


@dataclass(frozen=True, kw_only=True)
class DensityStage(Stage[Any]):
    """A district, in which `spend` is the price of one question if it is asked repeatedly.

    Attributes:
        repeats: How often a release asks the same question, each time for the whole spend.
    """

    district: District
    limits: VisitLimits
    make: Callable[[VisitLimits, Loss], DensityMechanism] = plain
    repeats: int = 1

    @property
    def universe(self) -> DensityUniverse:
        """The public universe."""
        return self.district.universe

    @property
    def reserved(self) -> Loss:
        """What the budget of a release is filled with."""
        return loss_of(self.spend.measure, self.spend.amount * self.repeats)

    def made(self) -> DensityMechanism:
        """Returns the mechanism as the catalogue of plans makes it."""
        return self.make(self.limits, self.spend)

    @property
    def ladder(self) -> VisitLadder | None:
        """The limits that a mechanism may choose from, if it does."""
        made = self.made()
        return made.ladder if isinstance(made, DensityPeople) else None

    def play(self, scene: Stays) -> Rows:
        """Returns one row for each event."""
        return played(
            scene,
            self.district.corners,
            ("site", "bin"),
            lambda stay, corner: (corner * SITES + stay.site, stay.bin),
        )

    def count(self, rows: Rows, source: BitSource) -> Counter:
        """Returns the real counter."""
        key, columns = BoundingKey.draw(source), dict[str, Any](rows)
        return ArrayVisits(
            universe=self.universe,
            limits=self.made().limits,
            ladder=self.ladder,
            key=key,
            **columns,
        )

    def columns(self, scene: Stays) -> Rows:
        """Returns the events in files; of a typical week, they happen in every week."""
        rows, periods = self.play(scene), self.universe.periods
        weeks = len(periods.days) // 7 if periods.cycle == "week" else 1
        day, part = np.divmod(rows["bin"], periods.parts)
        hour = np.concatenate([24 * (7 * week + day) + part for week in range(weeks)])
        return {
            "person": np.tile(rows["person"], weeks),
            "location": np.tile(rows["site"], weeks),
            "time": microseconds(periods.first_day, hour * _HOUR_US),
        }

    def count_files(self, folder: Path, source: BitSource) -> Counter:
        """Returns the embedded engine, or what the product has instead."""
        return (self.product.engine or EngineVisits)(
            source=EventsSource(folder, EventColumns()),
            universe=self.universe,
            limits=self.limits,
            ladder=self.ladder,
            key=BoundingKey.draw(source),
            settings=small_batches(_BATCH_ROWS),
        )


def staged(  # noqa: PLR0913  what a stage of these audits can have
    product: Product,
    epsilon: Fraction,
    *,
    corners: int,
    bins: int,
    most: int,
    in_total: int | None = None,
    days: int = 1,
    cycle: Literal["window", "week"] = "window",
    laplace: bool = False,
    **options: Any,
) -> DensityStage:
    """Returns a stage that spends an epsilon, or the rho that a plan would spend for it."""
    return DensityStage(
        product=product,
        spend=PureLoss(epsilon) if laplace else rho_of(epsilon),
        district=district(corners=corners, bins=bins, days=days, cycle=cycle),
        limits=VisitLimits(max_visits=most, max_visits_in_total=in_total or most),
        **options,
    )
