"""What an OD release must not give away where every cell is measured, from arrays or from files."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.harness import Examination, Sampler, Trial
from hushway.audit.product import Look, microseconds
from hushway.families.od.audit.product import (
    NOBODY,
    Part,
    Product,
    Scene,
    Spend,
    Stage,
    Stray,
    ToyUniverse,
    toy_universe,
)
from hushway.families.od.mechanism.laplace import DenseLaplace
from hushway.families.od.rows.trips import TripColumns, TripsSource
from hushway.privacy.bound import Unit
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.measured import Measured
from hushway.privacy.public_facts import digest_of, public_facts
from hushway.privacy.query import Query, WeightedQuery

MAX_TRIPS = 3
_MANY = 50
_ONE_CORNER = toy_universe(places=2, periods=1, corners=1)
_CORNERS = toy_universe(places=10, periods=1)
_TWO_PERIODS = toy_universe(places=10, periods=2)
_TWINS = toy_universe(places=30, periods=2)


def one_trip(product: Product, epsilon: Fraction) -> Examination:
    """One trip against none, one release a run: the loss of the whole path, nothing batched."""
    stage = Stage(product=product, toy=_ONE_CORNER, spend=PureLoss(epsilon))
    return Trial(
        name="one trip or none",
        statistic="the noisy count of the trip's cell",
        epsilon=epsilon,
        worlds=stage.worlds(Counts(stage).of_cell, ("the trip", (Part(),)), ("no trip", NOBODY)),
        tight=True,
    )


def many_trips(product: Product, epsilon: Fraction) -> Examination:
    """Fifty identical trips of one person against none: the limit, and noise that fits it."""
    stage = Stage(product=product, toy=_CORNERS, spend=PureLoss(epsilon), max_trips=MAX_TRIPS)
    commuter = (Part(times=_MANY),)
    return Trial(
        name="fifty trips of one person or none",
        statistic="the noisy count of their cell",
        epsilon=epsilon,
        worlds=stage.worlds(Counts(stage).of_cell, ("the person", commuter)),
        tight=True,
    )


def many_trips_spread(product: Product, epsilon: Fraction) -> Examination:
    """Trips of one person in two cells: the limit must hold over all cells together."""
    stage = Stage(product=product, toy=_TWO_PERIODS, spend=PureLoss(epsilon), max_trips=MAX_TRIPS)
    # The people of one release share its bounding key, whose choices for any two of them are as
    # good as independent; so counts over corners spread no wider than counts over releases.
    commuter = (Part(times=_MANY), Part(times=_MANY, period=1))
    return Trial(
        name="a hundred trips in two cells or none",
        statistic="the smaller noisy count of the two cells",
        epsilon=epsilon,
        worlds=stage.worlds(Counts(stage).smallest, ("the person", commuter)),
    )


def twins(product: Product, epsilon: Fraction) -> Examination:
    """Somebody whose number is like another's but for its high bits: the other's trips stay."""
    stage = Stage(product=product, toy=_TWINS, spend=PureLoss(epsilon), max_trips=MAX_TRIPS)
    other = (Part(times=MAX_TRIPS),)
    look = Counts(stage).second_for_first
    return Trial(
        name="fifty trips of somebody with a number like another's or none",
        statistic="how much two noisy counts speak for one person in the other's place",
        epsilon=epsilon,
        worlds=stage.worlds(
            look, ("both", (*other, Part(times=_MANY, period=1, twin=True))), ("the other", other)
        ),
    )


def one_more_trip(product: Product, epsilon: Fraction) -> Examination:
    """Where a trip is what is protected: five trips of one person against four."""
    stage = Stage(product=product, toy=_CORNERS, spend=PureLoss(epsilon), unit=Unit.TRIP)
    return Trial(
        name="five trips or four, where one trip is protected",
        statistic="the noisy count of their cell",
        epsilon=epsilon,
        worlds=stage.worlds(
            Counts(stage).of_cell, ("five", (Part(times=5),)), ("four", (Part(times=4),))
        ),
        tight=True,
    )


def stray_trips(product: Product, epsilon: Fraction) -> Examination:
    """Trips that have no cell, to an unknown place for one, must change nothing at all."""
    stage = Stage(product=product, toy=_CORNERS, spend=PureLoss(epsilon), max_trips=MAX_TRIPS)
    strays = tuple(Part(times=MAX_TRIPS, stray=stray) for stray in Stray)
    return Trial(
        name="trips outside the public universe or none",
        statistic="the noisy count of a cell",
        epsilon=Fraction(0),
        worlds=stage.worlds(Counts(stage).of_cell, ("the trips", strays), ("none", NOBODY)),
    )


def measured_twice(product: Product, epsilon: Fraction) -> Examination:
    """One cell measured twice: the two measurements together must cost epsilon, not each."""
    stage = Stage(product=product, toy=_CORNERS, spend=PureLoss(epsilon))
    return Trial(
        name="one cell measured twice",
        statistic="the smaller of the two noisy counts",
        epsilon=epsilon,
        worlds=stage.worlds(Repeated(stage).smaller, ("the trip", (Part(),)), ("no trip", NOBODY)),
    )


def total_and_part(product: Product, epsilon: Fraction) -> Examination:
    """A total less one of its two cells: exact if both were given the same noise."""
    stage = Stage(product=product, toy=_TWO_PERIODS, spend=PureLoss(epsilon))
    late = (Part(period=1),)
    return Trial(
        name="a total less its part",
        statistic="the noisy total less the noisy count of the cell without the trip",
        epsilon=epsilon,
        worlds=stage.worlds(Totals(stage).less_first, ("the trip", late), ("no trip", NOBODY)),
    )


@dataclass(frozen=True)
class Counts:
    """What the dense mechanism measures at each corner."""

    stage: Stage[PureLoss]

    def of_cell(self, curator: Curator) -> IntArray:
        """Returns the noisy count of a corner's first cell."""
        first: IntArray = self._by_corner(curator)[0]
        return first

    def smallest(self, curator: Curator) -> IntArray:
        """Returns the smallest noisy count of a corner's cells."""
        smallest: IntArray = self._by_corner(curator).min(axis=0)
        return smallest

    def second_for_first(self, curator: Curator) -> IntArray:
        """Returns how much nearer a corner is to a person in its second cell than in its first."""
        first, second = self._by_corner(curator)
        most = self.stage.max_trips
        nearer: IntArray = abs(second) - abs(second - most) + abs(first - most) - abs(first)
        return nearer

    def _by_corner(self, curator: Curator) -> IntArray:
        mechanism = DenseLaplace(spend=self.stage.spend)
        (answer,) = mechanism.measure(curator, self.stage.toy.cells)
        assert isinstance(answer, Measured)  # noqa: S101  what a dense mechanism returns
        return self.stage.toy.by_corner(answer.values)


@dataclass(frozen=True)
class Repeated:
    """The same cells measured twice, with the spend split over the two."""

    stage: Stage[PureLoss]

    def smaller(self, curator: Curator) -> IntArray:
        """Returns the smaller of a corner's two noisy counts."""
        return np.minimum(*self._both(curator))

    def difference(self, curator: Curator) -> IntArray:
        """Returns the difference of a corner's two noisy counts."""
        first, second = self._both(curator)
        return first - second

    def _both(self, curator: Curator) -> tuple[IntArray, IntArray]:
        query = _query(self.stage.toy)
        first, second = self.stage.product.split(self.stage.spend, 2)
        answers = curator.counts(query, first), curator.counts(query, second)
        return (
            self.stage.toy.by_corner(answers[0].values)[0],
            self.stage.toy.by_corner(answers[1].values)[0],
        )


@dataclass(frozen=True)
class Totals:
    """All cells and the total of each corner, with the spend split over the two measurements."""

    stage: Stage[PureLoss]

    def less_first(self, curator: Curator) -> IntArray:
        """Returns a corner's noisy total less the noisy count of its first cell."""
        query = _query(self.stage.toy)
        first, second = self.stage.product.split(self.stage.spend, 2)
        parts = self.stage.toy.by_corner(curator.counts(query, first).values)
        total = curator.weighted(self._totals(query), second).values
        rest: IntArray = total[: self.stage.toy.corners] - parts[0]
        return rest

    def _totals(self, query: Query) -> WeightedQuery:
        pairs = self.stage.toy.cells.pairs
        cells = np.arange(query.cells.size, dtype=np.int64)
        return WeightedQuery(
            name="trips by (origin, destination)",
            base=query,
            cells=_Pairs(size=pairs),
            rows=cells % pairs,
            columns=cells,
            weights=np.ones_like(cells),
        )


@public_facts
@dataclass(frozen=True, kw_only=True)
class _Pairs:
    """The public cells of a total over periods."""

    size: int
    name: str = "trips by (origin, destination)"

    @property
    def digest(self) -> str:
        """A digest of the number of pairs, all that is public about them."""
        return digest_of({"pairs": self.size})


def _query(place: ToyUniverse) -> Query:
    return Query(name=place.cells.name, cells=place.cells)


_MANY_IN_FILES = 20
_MINUTE_US = 60_000_000
# A release of files takes about as long for many corners as for few.
_FILE_CORNERS = toy_universe(places=100, periods=1)


def many_trips_in_files(product: Product, epsilon: Fraction) -> Examination:
    """Twenty trips of one person, four in each of five files, against none."""
    stage = FileStage(
        product=product, toy=_FILE_CORNERS, spend=PureLoss(epsilon), max_trips=MAX_TRIPS
    )
    look = Counts(stage).of_cell
    return Trial(
        name="files: twenty trips of one person in five files or none",
        statistic="the noisy count of their cell",
        epsilon=epsilon,
        worlds=stage.worlds(look, ("the person", (Part(times=_MANY_IN_FILES),))),
        tight=True,
    )


@dataclass(frozen=True, kw_only=True)
class FileStage(Stage[Spend]):
    """A stage whose trips are in files."""

    def sampler(self, scene: Scene, look: Look) -> Sampler:
        """Returns a way to run a scene: it is written once, and read again for each release."""
        trips, cells = self.toy.play(scene), self.toy.cells
        ids, opens_us = np.array(cells.locations.ids), cells.periods.opens * _MINUTE_US
        columns = {
            "person": trips.person,
            "origin": ids[trips.origin],
            "destination": ids[trips.destination],
            "time": microseconds(cells.periods.first_day, opens_us + trips.since_us),
        }
        return self.sampler_of_files(
            columns, lambda folder: TripsSource(folder, TripColumns(person="person")), look
        )
