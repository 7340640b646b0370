"""The small public universes where OD releases are audited."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from enum import Enum, auto
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.product import Product, Rows, Stage, microseconds, played, small_batches
from hushway.auditing.shift import rho_of
from hushway.engine.key import BoundingKey
from hushway.families.od.mechanism.laplace import DenseLaplace
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.bounding import ArrayCounter
from hushway.families.od.rows.counter import EngineTrips
from hushway.families.od.rows.trips import TripColumns, TripsSource
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.bound import Unit
from hushway.privacy.loss import PureLoss
from hushway.privacy.query import Counter
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


@dataclass(frozen=True, kw_only=True)
class ToyUniverse:
    """A universe and its corners.

    Attributes:
        corners: How many of its (origin, destination) pairs, from the first, are looked at.
    """

    cells: ODCells
    corners: int

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


@dataclass(frozen=True)
class Form:
    """A mechanism as it is audited.

    Attributes:
        words: What it is called in findings.
        make: Makes it for some cells and a budget, as the catalogue of plans does.
    """

    words: str
    make: Callable[[ODCells, Any], Any]


DENSE = Form("laplace", lambda _cells, budget: DenseLaplace(spend=budget))


def equal_shares(spend: PureLoss, measurements: int) -> tuple[PureLoss, ...]:
    """Splits a spend evenly over several measurements."""
    return (PureLoss(spend.epsilon / measurements),) * measurements


@dataclass(frozen=True, kw_only=True)
class ODProduct(Product):
    """The parts of a release."""

    split: Callable[[PureLoss, int], tuple[PureLoss, ...]] = equal_shares


@dataclass(frozen=True, kw_only=True)
class ODStage(Stage[Any]):
    """A toy universe, the form of the mechanism, who is protected and the limit."""

    product: ODProduct
    toy: ToyUniverse
    form: Form = DENSE
    unit: Unit = Unit.PERSON
    max_trips: int = 1

    @property
    def universe(self) -> ODCells:
        """The public universe."""
        return self.toy.cells

    @property
    def limits(self) -> dict[str, Any]:
        """Limits that the mechanism may name besides."""
        return {"ladder": self.mechanism.ladder, "caps": self.mechanism.caps}

    def made(self) -> Any:
        """Returns the mechanism as the catalogue of plans makes it."""
        return self.form.make(self.universe, self.spend)

    @cached_property
    def made_again(self) -> Any:
        """The same mechanism, without anything that the first one may have kept."""
        return replace(self.mechanism)

    @cached_property
    def elements(self) -> list[IntArray]:
        """The element that holds each cell, feature by feature, and at last the cells."""
        every = np.arange(self.universe.size, dtype=np.int64)
        return [*(feature.of(every) for feature in self.mechanism.features), every]

    def play(self, scene: Scene) -> Rows:
        """Returns one row for each trip."""
        names = "since_us", "period", "origin", "destination"
        rows = played(scene, self.toy.corners, names, self._columns)
        # A second apart, as taps of one card may be: no two trips of a person are the same row.
        apart = [np.tile(np.arange(part.times), self.toy.corners) for part in scene]
        rows["since_us"] += _SECOND_US * np.concatenate([*apart, np.empty(0, dtype=np.int64)])
        for part, first in zip(scene, np.cumsum([0, *map(len, apart)]), strict=False):
            if part.twin:
                rows["person"][first : first + part.times * self.toy.corners] += _HIGH_BIT
        return rows

    def _columns(self, part: Part, corner: IntArray) -> tuple[IntArray | int, ...]:
        """Returns time, period, origin and destination of a part at every corner."""
        period, origin, destination = self.universe.decode(corner)
        period += part.period
        # Codes next to the valid ones, which would fall into other cells if nobody looked.
        if part.stray is Stray.UNKNOWN_ORIGIN:
            origin = np.full_like(origin, -1)
        elif part.stray is Stray.UNKNOWN_DESTINATION:
            destination = np.full_like(destination, len(self.universe.locations))
        elif part.stray is Stray.SAME_PLACE:
            destination = origin
        elif part.stray is Stray.OUTSIDE_HOURS:
            period = np.full_like(period, -1)
        time = part.period * self.universe.periods.minutes * _MINUTE_US
        return time, period, origin, destination

    def count(self, rows: Rows, source: BitSource) -> Counter:
        """Returns the real counter."""
        columns: dict[str, Any] = dict(rows)
        return ArrayCounter(
            cells=self.universe,
            unit=self.unit,
            max_trips=self.max_trips,
            **self.limits,
            key=BoundingKey.draw(source),
            **columns,
        )

    def columns(self, scene: Scene) -> dict[str, Any]:
        """Returns the trips in files."""
        rows, periods = self.play(scene), self.universe.periods
        ids = np.array(self.universe.locations.ids)
        return {
            "person": rows["person"],
            "origin": ids[rows["origin"]],
            "destination": ids[rows["destination"]],
            "time": microseconds(periods.first_day, periods.opens * _MINUTE_US + rows["since_us"]),
        }

    def count_files(self, folder: Path, source: BitSource) -> Counter:
        """Returns the embedded engine, or what the product has instead."""
        return (self.product.engine or EngineTrips)(
            source=TripsSource(folder, TripColumns(person="person")),
            cells=self.universe,
            unit=self.unit,
            max_trips=self.max_trips,
            **self.limits,
            key=BoundingKey.draw(source),
            settings=small_batches(1),
        )


def staged(
    product: ODProduct,
    epsilon: Fraction,
    *,
    gaussian: bool = False,
    kind: type[ODStage] = ODStage,
    **options: Any,
) -> ODStage:
    """Returns a stage that spends an epsilon, or the rho that a plan would spend for it."""
    spend = rho_of(epsilon) if gaussian else PureLoss(epsilon)
    return kind(product=product, spend=spend, **options)
