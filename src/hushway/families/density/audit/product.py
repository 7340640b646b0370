"""The product under audit: the real parts of a density, put together as always.

A planted mutant is the same product with one part exchanged.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from hushway.arrays import IntArray
from hushway.audit.files import filled_purse, small_batches
from hushway.audit.harness import Sampler, as_many
from hushway.engine.key import BoundingKey
from hushway.families.density.audit.toy import District, StayRows, Stays
from hushway.families.density.mechanism.catalogue import naive_laplace
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.public.cells import DensityUniverse
from hushway.families.density.public.visits import VisitLimits
from hushway.families.density.rows.duckdb import DuckDBVisits
from hushway.families.density.rows.memory import ArrayVisits
from hushway.families.density.rows.rows import EventsSource
from hushway.privacy.curator import Curator
from hushway.privacy.events import Budget
from hushway.privacy.loss import Loss, loss_of
from hushway.privacy.query import Counter
from hushway.privacy.randomness import BitSource, os_source
from hushway.privacy.unit import Unit

# A person's rows lie in several of these.
_BATCH_ROWS = 1000

Look = Callable[[Curator], IntArray]
"""Asks a curator and returns one whole number for every run that a release holds."""


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


def as_planned(mechanism: DensitySeries) -> DensitySeries:
    """Returns a mechanism as the catalogue made it."""
    return mechanism


@dataclass(frozen=True, kw_only=True)
class DensityProduct:
    """The parts of a release.

    Attributes:
        counter: Makes the engine that bounds and counts the visits.
        files: Makes the engine that bounds and counts events in files.
        curator: Makes the curator that adds the noise.
        budget: Makes the purse that the curator pays from.
        mechanism: Has the last word on a mechanism that the catalogue made.
    """

    counter: Callable[[StayRows, VisitTerms, BitSource], Counter] = visits_in_memory
    files: Callable[[EventsSource, VisitTerms, BitSource], Counter] = visits_of_files
    curator: Callable[[Counter, Budget, BitSource], Curator] = lambda counter, budget, source: (
        Curator(counter=counter, budget=budget, source=source)
    )
    budget: Callable[[Unit, Loss], Budget] = filled_purse
    mechanism: Callable[[DensitySeries], DensitySeries] = as_planned

    def open(self, rows: StayRows, terms: VisitTerms, spend: Loss) -> Curator:
        """Returns the curator of one release."""
        source = os_source()
        counter = self.counter(rows, terms, source)
        return self.curator(counter, self.budget(counter.unit, spend), source)

    def open_files(self, files: EventsSource, terms: VisitTerms, spend: Loss) -> Curator:
        """Returns the curator of one release of events in files."""
        source = os_source()
        counter = self.files(files, terms, source)
        return self.curator(counter, self.budget(counter.unit, spend), source)


REAL_DENSITY = DensityProduct()


def plain(limits: VisitLimits, spend: Loss) -> DensitySeries:
    """Returns a mechanism that asks for the series of every cell and for nothing else."""
    return naive_laplace(limits, budget=spend)


@dataclass(frozen=True, kw_only=True)
class DensityStage:
    """Where an audit takes place.

    Attributes:
        product: What is audited.
        district: The public universe and its corners.
        limits: How much of a person counts.
        spend: The price of a release, or of one question if it is asked repeatedly.
        make: Makes the mechanism, as the catalogue of plans does.
        repeats: How often a release asks the same question, each time for the whole spend.
    """

    product: DensityProduct
    district: District
    limits: VisitLimits
    spend: Loss
    make: Callable[[VisitLimits, Loss], DensitySeries] = plain
    repeats: int = 1

    @property
    def terms(self) -> VisitTerms:
        """The public terms of every release."""
        return VisitTerms(universe=self.district.universe, limits=self.limits)

    @cached_property
    def mechanism(self) -> DensitySeries:
        """The mechanism that every release uses, as the product under audit has it."""
        return self.product.mechanism(self.make(self.limits, self.spend))

    def opened(self, scene: Stays) -> Curator:
        """Returns the curator of one release."""
        return self._open(self.district.play(scene))

    def sampler(self, scene: Stays, look: Look) -> Sampler:
        """Returns a way to run a scene: as many releases as it takes."""
        rows = self.district.play(scene)
        return lambda runs: as_many(lambda: look(self._open(rows)), runs)

    def _open(self, rows: StayRows) -> Curator:
        purse = loss_of(self.spend.measure, self.spend.amount * self.repeats)
        return self.product.open(rows, self.terms, purse)
