"""The product under audit: the real parts of a release, put together as `publish` does.

A planted mutant is the same product with one part exchanged.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from hushway.arrays import IntArray
from hushway.audit.files import filled_purse, small_batches
from hushway.audit.harness import Sampler, as_many
from hushway.engine.key import BoundingKey
from hushway.families.od.audit.toy import Scene, Town, Trips
from hushway.families.od.mechanism.cbdp import CBDP
from hushway.families.od.mechanism.hierarchical import Hierarchical
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.duckdb import DuckDBTrips, TripsSource
from hushway.families.od.rows.memory import ArrayCounter
from hushway.privacy.curator import Curator
from hushway.privacy.events import Budget
from hushway.privacy.loss import Loss, PureLoss
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.privacy.randomness import BitSource, os_source
from hushway.privacy.unit import Unit

Fitted = CBDP | Hierarchical
"""A mechanism that measures features beside the cells and makes them agree."""

Spend = TypeVar("Spend", bound=Loss)

Look = Callable[[Curator], IntArray]
"""Asks a curator and returns one whole number for every corner."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The public terms of a release: its universe, who is protected, and the cap."""

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
    engine: Callable[..., Counter] = DuckDBTrips,
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


def reserve(terms: Terms, spend: Loss) -> Budget:
    """Returns the real purse of a release."""
    return filled_purse(terms.unit, spend)


def equal_shares(spend: PureLoss, measurements: int) -> tuple[PureLoss, ...]:
    """Splits a spend evenly over several measurements."""
    return (PureLoss(spend.epsilon / measurements),) * measurements


def as_made(mechanism: Fitted) -> Fitted:
    """Returns a mechanism as the catalogue made it."""
    return mechanism


@dataclass(frozen=True, kw_only=True)
class Product:
    """The parts of a release.

    Attributes:
        counter: Makes the engine that bounds and counts the rows.
        files: Makes the engine that bounds and counts rows of files.
        curator: Makes the curator that adds the noise.
        budget: Makes the purse that the curator pays from.
        source: Gives the random bits.
        split: Splits a spend over several measurements.
        mechanism: Has the last word on a mechanism that the catalogue made.
    """

    counter: Callable[[Trips, Terms, BitSource], Counter] = count_in_memory
    files: Callable[[TripsSource, Terms, BitSource], Counter] = count_files
    curator: Callable[[Counter, Budget, BitSource], Curator] = lambda counter, budget, source: (
        Curator(counter=counter, budget=budget, source=source)
    )
    budget: Callable[[Terms, Loss], Budget] = reserve
    source: Callable[[], BitSource] = os_source
    split: Callable[[PureLoss, int], tuple[PureLoss, ...]] = equal_shares
    mechanism: Callable[[Fitted], Fitted] = as_made

    def open(self, trips: Trips, terms: Terms, spend: Loss) -> Curator:
        """Returns the curator of one release."""
        source = self.source()
        counter = self.counter(trips, terms, source)
        return self.curator(counter, self.budget(terms, spend), source)

    def open_files(self, files: TripsSource, terms: Terms, spend: Loss) -> Curator:
        """Returns the curator of one release of trips in files."""
        source = self.source()
        counter = self.files(files, terms, source)
        return self.curator(counter, self.budget(terms, spend), source)


REAL = Product()


@dataclass(frozen=True, kw_only=True)
class Stage(Generic[Spend]):
    """Where an audit takes place: a product, a town, the terms and the price of each release."""

    product: Product
    town: Town
    spend: Spend
    unit: Unit = Unit.PERSON
    max_trips: int = 1

    @property
    def terms(self) -> Terms:
        """The public terms of every release."""
        return Terms(cells=self.town.cells, unit=self.unit, max_trips=self.max_trips)

    def sampler(self, scene: Scene, look: Look) -> Sampler:
        """Returns a way to run a scene: as many releases as it takes, one run a corner."""
        trips, terms = self.town.play(scene), self.terms
        return lambda runs: as_many(lambda: look(self.product.open(trips, terms, self.spend)), runs)
