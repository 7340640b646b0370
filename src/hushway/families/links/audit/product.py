"""The parts of a release of links that are audited, and where."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

from hushway.audit.files import small_batches
from hushway.audit.product import Product, Stage
from hushway.engine.key import BoundingKey
from hushway.families.links.audit.toy import Drive, DriveRows, Drives, Rings
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.mechanism.catalogue import link_counts
from hushway.families.links.mechanism.counts import LinkCounts
from hushway.families.links.public.universe import LinkUniverse, MovementLimits
from hushway.families.links.rows.memory import ArrayMovements
from hushway.families.links.rows.movements import TraceMovements
from hushway.families.links.rows.noisy import NoisyTrips, noisy_trips
from hushway.families.links.rows.rows import TracesSource
from hushway.privacy.loss import Loss
from hushway.privacy.query import Counter
from hushway.privacy.randomness import BitSource

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
    return link_counts(limits, budget=spend, classes=Fraction(0), expect=False, conserve=False)


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
