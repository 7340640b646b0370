"""The parts of a density that are audited, and where."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from hushway.audit.files import small_batches
from hushway.audit.product import Product, Stage
from hushway.engine.key import BoundingKey
from hushway.families.density.audit.toy import District, Stay, StayRows, Stays
from hushway.families.density.mechanism.catalogue import naive_laplace
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.public.cells import DensityUniverse
from hushway.families.density.public.visits import VisitLimits
from hushway.families.density.rows.duckdb import DuckDBVisits
from hushway.families.density.rows.memory import ArrayVisits
from hushway.families.density.rows.rows import EventsSource
from hushway.privacy.loss import Loss, loss_of
from hushway.privacy.query import Counter
from hushway.privacy.randomness import BitSource

# A person's rows lie in several of these.
_BATCH_ROWS = 1000


@dataclass(frozen=True, kw_only=True)
class VisitTerms:
    """The public terms of a release: its universe and how much of a person counts."""

    universe: DensityUniverse
    limits: VisitLimits


def visits_in_memory(rows: StayRows, terms: VisitTerms, source: BitSource) -> Counter:
    """Returns the real counter, with a bounding key of its own for every release."""
    return ArrayVisits(
        universe=terms.universe,
        limits=terms.limits,
        key=BoundingKey.draw(source),
        person=rows.person,
        site=rows.site,
        bin=rows.bin,
    )


def visits_of_files(
    files: EventsSource,
    terms: VisitTerms,
    source: BitSource,
    engine: Callable[..., Counter] = DuckDBVisits,
) -> Counter:
    """Returns the embedded engine, as plans use it, with a bounding key for every release."""
    return engine(
        source=files,
        universe=terms.universe,
        limits=terms.limits,
        key=BoundingKey.draw(source),
        settings=small_batches(_BATCH_ROWS),
    )


@dataclass(frozen=True, kw_only=True)
class DensityProduct(Product[StayRows, EventsSource, VisitTerms, DensitySeries]):
    """The parts of a release."""

    counter: Callable[[StayRows, VisitTerms, BitSource], Counter] = visits_in_memory
    files: Callable[[EventsSource, VisitTerms, BitSource], Counter] = visits_of_files


REAL_DENSITY = DensityProduct()


def plain(limits: VisitLimits, spend: Loss) -> DensitySeries:
    """Returns a mechanism that asks for the series of every cell and for nothing else."""
    return naive_laplace(limits, budget=spend)


@dataclass(frozen=True, kw_only=True)
class DensityStage(Stage[Stay, StayRows, EventsSource, VisitTerms, DensitySeries]):
    """A district, in which `spend` is the price of one question if it is asked repeatedly.

    Attributes:
        district: The public universe and its corners.
        limits: How much of a person counts.
        make: Makes the mechanism, as the catalogue of plans does.
        repeats: How often a release asks the same question, each time for the whole spend.
    """

    district: District
    limits: VisitLimits
    make: Callable[[VisitLimits, Loss], DensitySeries] = plain
    repeats: int = 1

    @property
    def terms(self) -> VisitTerms:
        """The public terms of every release."""
        return VisitTerms(universe=self.district.universe, limits=self.limits)

    @property
    def reserved(self) -> Loss:
        """What the budget of a release is filled with."""
        return loss_of(self.spend.measure, self.spend.amount * self.repeats)

    @cached_property
    def mechanism(self) -> DensitySeries:
        """The mechanism that every release uses, as the product under audit has it."""
        return self.product.mechanism(self.make(self.limits, self.spend))

    def play(self, scene: Stays) -> StayRows:
        """Returns the events of a scene that plays at every corner."""
        return self.district.play(scene)
