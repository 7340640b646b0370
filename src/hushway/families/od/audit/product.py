"""The parts of an OD release that are audited, and where."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from hushway.audit import product as audit
from hushway.audit.files import small_batches
from hushway.engine.key import BoundingKey
from hushway.families.od.audit.toy import Part, Scene, Town, Trips
from hushway.families.od.mechanism.cbdp import CBDP
from hushway.families.od.mechanism.hierarchical import Hierarchical
from hushway.families.od.mechanism.learned import Learned
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.duckdb import DuckDBTrips, TripsSource
from hushway.families.od.rows.memory import ArrayCounter
from hushway.privacy.loss import Loss, PureLoss
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.privacy.randomness import BitSource
from hushway.privacy.unit import Unit

Fitted = CBDP | Hierarchical | Learned
"""A mechanism that measures features beside the cells and makes them agree."""

Spend = TypeVar("Spend", bound=Loss)


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
    """A town and its cap."""

    product: Product
    spend: Spend
    town: Town
    unit: Unit = Unit.PERSON
    max_trips: int = 1

    @property
    def terms(self) -> Terms:
        """The public terms of every release."""
        return Terms(cells=self.town.cells, unit=self.unit, max_trips=self.max_trips)

    def play(self, scene: Scene) -> Trips:
        """Returns the trips of a scene that plays at every corner."""
        return self.town.play(scene)
