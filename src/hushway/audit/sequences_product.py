"""The product under audit: the real parts of a release of sequences, put together as always.

A planted mutant is the same product with one part exchanged.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from hushway.audit.bounds import IntArray
from hushway.audit.harness import Sampler
from hushway.audit.purse import filled_purse
from hushway.audit.sequences_village import Village, WalkRows, Walks
from hushway.engine.key import BoundingKey
from hushway.engine.sequences_memory import ArraySequences
from hushway.geography.sequences import SequenceUniverse
from hushway.privacy.bound import Bound
from hushway.privacy.budget import Budget
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss, PureLoss
from hushway.privacy.query import Counter
from hushway.privacy.randomness import BitSource, os_source
from hushway.privacy.unit import Unit
from hushway.releases.sequences.catalogue import prefix_tree
from hushway.releases.sequences.prefix_tree import PrefixTree
from hushway.releases.sequences.shares import uniform_shares
from hushway.releases.sequences.thresholds import StepShape

Look = Callable[[Curator], IntArray]
"""Asks a curator and returns one whole number for every corner."""


@dataclass(frozen=True, kw_only=True)
class SequenceTerms:
    """The public terms of a release: its universe, who is protected, and both caps."""

    universe: SequenceUniverse
    max_stops: int
    max_records: int
    unit: Unit = Unit.PERSON


def sequences_in_memory(rows: WalkRows, terms: SequenceTerms, source: BitSource) -> Counter:
    """Returns the real counter, with a bounding key of its own for every release."""
    return ArraySequences(
        taxonomy=terms.universe.taxonomy,
        unit=terms.unit,
        max_records=terms.max_records,
        max_stops=terms.max_stops,
        key=BoundingKey.draw(source),
        start=rows.start,
        stops=rows.stops,
        person=rows.person,
    )


def as_planned(tree: PrefixTree) -> PrefixTree:
    """Returns a tree as the catalogue made it."""
    return tree


@dataclass(frozen=True, kw_only=True)
class SequenceProduct:
    """The parts of a release.

    Attributes:
        counter: Makes the engine that bounds and counts the records.
        curator: Makes the curator that adds the noise.
        budget: Makes the purse that the curator pays from.
        source: Gives the random bits.
        mechanism: Has the last word on a tree that the catalogue made.
    """

    counter: Callable[[WalkRows, SequenceTerms, BitSource], Counter] = sequences_in_memory
    curator: Callable[[Counter, Budget, BitSource], Curator] = lambda counter, budget, source: (
        Curator(counter=counter, budget=budget, source=source)
    )
    budget: Callable[[Unit, Loss], Budget] = filled_purse
    source: Callable[[], BitSource] = os_source
    mechanism: Callable[[PrefixTree], PrefixTree] = as_planned

    def open(self, rows: WalkRows, terms: SequenceTerms, spend: Loss) -> Curator:
        """Returns the curator of one release."""
        source = self.source()
        counter = self.counter(rows, terms, source)
        return self.curator(counter, self.budget(terms.unit, spend), source)


REAL_SEQUENCES = SequenceProduct()


@dataclass(frozen=True, kw_only=True)
class FixedThreshold:
    """The same threshold at every step: a low one shows what the noise alone would hide.

    Attributes:
        at: The threshold.
    """

    at: int

    @property
    def parameters(self) -> dict[str, Any]:
        """The rule as plain values."""
        return {"rule": "fixed", "at": self.at}

    def threshold(self, _shape: StepShape, _spend: Loss, _bound: Bound) -> int:
        """Returns the threshold."""
        return self.at


@dataclass(frozen=True, kw_only=True)
class TreeForm:
    """A tree in a village; all of its steps cost the same.

    Attributes:
        words: What it is called in findings.
        village: Where it grows.
        height: The most stops of a published sequence.
        threshold: From which noisy count on a candidate becomes a node.
    """

    words: str
    village: Village
    height: int
    threshold: int = 1

    @property
    def steps(self) -> int:
        """How many steps the tree has."""
        return self.height * self.village.universe.taxonomy.grains

    def make(self, epsilon: Fraction) -> PrefixTree:
        """Returns the mechanism, as the catalogue of plans makes it."""
        universe = self.village.universe
        return prefix_tree(
            universe,
            budget=PureLoss(epsilon),
            height=self.height,
            level_shares=uniform_shares(self.height),
            grain_shares=uniform_shares(universe.taxonomy.grains),
            thresholds=FixedThreshold(at=self.threshold),
            # At such thresholds false nodes multiply; a tree of two stops has no time for it.
            supercritical=True,
        )


@dataclass(frozen=True, kw_only=True)
class TreeStage:
    """Where an audit takes place: a product, a tree, its price and the cap on records."""

    product: SequenceProduct
    form: TreeForm
    epsilon: Fraction
    max_records: int = 1

    @property
    def village(self) -> Village:
        """Where the tree grows."""
        return self.form.village

    @cached_property
    def tree(self) -> PrefixTree:
        """The mechanism that every release uses, as the product under audit has it."""
        return self.product.mechanism(self.form.make(self.epsilon))

    def opened(self, rows: WalkRows) -> Curator:
        """Returns the curator of one release."""
        terms = SequenceTerms(
            universe=self.village.universe,
            max_stops=self.form.height,
            max_records=self.max_records,
        )
        return self.product.open(rows, terms, PureLoss(self.epsilon))

    def sampler(self, scene: Walks, look: Look) -> Sampler:
        """Returns a way to run a scene: as many releases as it takes, one run a corner."""
        rows = self.village.play(scene)

        def sample(runs: int) -> IntArray:
            releases = -(-runs // self.village.corners)
            return np.concatenate([look(self.opened(rows)) for _ in range(releases)])[:runs]

        return sample
