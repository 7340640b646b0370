"""The product under audit: the real parts of a release of links, put together as always.

A planted mutant is the same product with one part exchanged.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from hushway.arrays import IntArray
from hushway.audit.files import filled_purse, small_batches
from hushway.audit.harness import Sampler, as_many
from hushway.engine.key import BoundingKey
from hushway.families.links.audit.toy import DriveRows, Drives, Rings
from hushway.families.links.mechanism.catalogue import link_counts
from hushway.families.links.mechanism.counts import LinkCounts
from hushway.families.links.public.universe import LinkUniverse, MovementLimits
from hushway.families.links.rows.memory import ArrayMovements
from hushway.families.links.rows.movements import TraceMovements
from hushway.families.links.rows.noisy import NoisyTrips, RoadMatcher, noisy_trips
from hushway.families.links.rows.rows import TracesSource
from hushway.privacy.curator import Curator
from hushway.privacy.events import Budget
from hushway.privacy.loss import Loss
from hushway.privacy.query import Counter
from hushway.privacy.randomness import BitSource, os_source
from hushway.privacy.unit import Unit

# A person's rows lie in several of these.
_BATCH_ROWS = 20

Look = Callable[[Curator], IntArray]
"""Asks a curator and returns one whole number for every run that a release holds."""


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
    matcher: RoadMatcher,
    engine: Callable[..., Counter] = TraceMovements,
) -> Counter:
    """Returns the embedded engine, as plans use it, with a bounding key for every release."""
    return engine(
        source=files,
        universe=terms.universe,
        limits=terms.limits,
        key=BoundingKey.draw(source),
        settings=small_batches(_BATCH_ROWS),
        matcher=matcher,
    )


def as_planned(mechanism: LinkCounts) -> LinkCounts:
    """Returns a mechanism as the catalogue made it."""
    return mechanism


@dataclass(frozen=True, kw_only=True)
class LinkProduct:
    """The parts of a release.

    Attributes:
        counter: Makes the engine that bounds and counts the movements.
        files: Makes the engine that bounds and counts traces in files.
        curator: Makes the curator that adds the noise.
        budget: Makes the purse that the curator pays from.
        mechanism: Has the last word on a mechanism that the catalogue made.
        ends: Makes trips with noisy ends of positions, where a plan asks for it.
    """

    counter: Callable[[DriveRows, DriveTerms, BitSource], Counter] = movements_in_memory
    files: Callable[[TracesSource, DriveTerms, BitSource, RoadMatcher], Counter] = (
        movements_of_files
    )
    curator: Callable[[Counter, Budget, BitSource], Curator] = lambda counter, budget, source: (
        Curator(counter=counter, budget=budget, source=source)
    )
    budget: Callable[[Unit, Loss], Budget] = filled_purse
    mechanism: Callable[[LinkCounts], LinkCounts] = as_planned
    ends: NoisyTrips = noisy_trips

    def open(self, rows: DriveRows, terms: DriveTerms, spend: Loss) -> Curator:
        """Returns the curator of one release."""
        source = os_source()
        counter = self.counter(rows, terms, source)
        return self.curator(counter, self.budget(counter.unit, spend), source)

    def open_files(
        self, files: TracesSource, terms: DriveTerms, spend: Loss, matcher: RoadMatcher
    ) -> Curator:
        """Returns the curator of one release of traces in files."""
        source = os_source()
        counter = self.files(files, terms, source, matcher)
        return self.curator(counter, self.budget(counter.unit, spend), source)


REAL_LINKS = LinkProduct()


def plain(limits: MovementLimits, spend: Loss) -> LinkCounts:
    """Returns a mechanism that asks for links and ends of trips only, and fits nothing."""
    return link_counts(limits, budget=spend, classes=Fraction(0), expect=False, conserve=False)


@dataclass(frozen=True, kw_only=True)
class LinkStage:
    """Where an audit takes place.

    Attributes:
        product: What is audited.
        rings: The public universe and its corners.
        limits: How much of a person counts.
        spend: The price of a release.
        make: Makes the mechanism, as the catalogue of plans does.
    """

    product: LinkProduct
    rings: Rings
    limits: MovementLimits
    spend: Loss
    make: Callable[[MovementLimits, Loss], LinkCounts] = plain

    @property
    def terms(self) -> DriveTerms:
        """The public terms of every release."""
        return DriveTerms(universe=self.rings.universe, limits=self.limits)

    @cached_property
    def mechanism(self) -> LinkCounts:
        """The mechanism that every release uses, as the product under audit has it."""
        return self.product.mechanism(self.make(self.limits, self.spend))

    def opened(self, scene: Drives) -> Curator:
        """Returns the curator of one release."""
        return self.product.open(self.rings.play(scene), self.terms, self.spend)

    def sampler(self, scene: Drives, look: Look) -> Sampler:
        """Returns a way to run a scene: as many releases as it takes."""
        rows = self.rings.play(scene)
        return lambda runs: as_many(
            lambda: look(self.product.open(rows, self.terms, self.spend)), runs
        )
