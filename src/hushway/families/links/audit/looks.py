"""What anyone can see of links: the noisy answers at each corner, and the published table."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.audit.harness import evidence, in_thousandths
from hushway.audit.mutant_curators import dense
from hushway.families.links.audit.product import (
    KINDS,
    NO_DRIVES,
    Drive,
    Drives,
    LinkStage,
    movements_in_memory,
)
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.public.universe import ClassZones, LeftOutCells, SpeedSums
from hushway.privacy.curator import Curator
from hushway.privacy.measured import Measured
from hushway.privacy.query import Counter, PartitionQuery, Query
from hushway.privacy.randomness import os_source

_HUNDRED = 100


@dataclass(frozen=True, kw_only=True)
class StagedLook:
    """A mechanism on its stage."""

    stage: LinkStage

    def measured(self, curator: Curator) -> list[Measured]:
        """Returns all noisy answers of one release."""
        answers = self.stage.mechanism.measure(curator, self.stage.rings.universe)
        return [answer for answer in answers if isinstance(answer, Measured)]

    def table(self, curator: Curator) -> LinkTable:
        """Returns the published table of one release."""
        return self.stage.mechanism.fit(self.measured(curator), self.stage.rings.universe)


@dataclass(frozen=True, kw_only=True)
class Sums(StagedLook):
    """The noisy counts of each corner in one number.

    Attributes:
        weights: What is added up, and how often.
    """

    weights: Mapping[Drive, int]

    def seen(self, curator: Curator) -> IntArray:
        """Returns the weighted sum of noisy counts of items at each corner."""
        answer = self.measured(curator)[0]
        values = self.stage.rings.by_corner(answer.query.cells, answer.values)
        total = np.zeros(len(values), dtype=np.int64)
        for drive, weight in self.weights.items():
            total += weight * values[:, self.stage.rings.place(drive)]
        return total


@dataclass(frozen=True, kw_only=True)
class ClassSums(StagedLook):
    """The noisy sums by class at each corner."""

    def first_class(self, curator: Curator) -> IntArray:
        """Returns the noisy number of persons on links of the first class, in the first period."""
        (answer,) = (
            one for one in self.measured(curator) if isinstance(one.query.cells, ClassZones)
        )
        first: IntArray = self.stage.rings.by_corner(answer.query.cells, answer.values)[:, 0]
        return first


@dataclass(frozen=True, kw_only=True)
class SpeedTotal(StagedLook):
    """The noisy speeds of each corner in one number."""

    def seen(self, curator: Curator) -> IntArray:
        """Returns the noisy steps from the usual speeds, added up over all links."""
        (answer,) = (
            one for one in self.measured(curator) if isinstance(one.query.cells, SpeedSums)
        )
        steps = self.stage.rings.by_corner(answer.query.cells, answer.values)
        total: IntArray = steps.sum(axis=1)
        return total


@dataclass(frozen=True, kw_only=True)
class LeftOutTotal(StagedLook):
    """What was left out at each corner in one number."""

    def seen(self, curator: Curator) -> IntArray:
        """Returns the noisy counts of what was left out, added up over links and weights."""
        (answer,) = (
            one for one in self.measured(curator) if isinstance(one.query.cells, LeftOutCells)
        )
        counts = self.stage.rings.by_corner(answer.query.cells, answer.values)
        of_links = counts.reshape(len(counts), -1, KINDS, self.stage.rings.links)[:, :, 0]
        total: IntArray = of_links.sum(axis=(1, 2))
        return total


@dataclass(frozen=True, kw_only=True)
class Evidence(StagedLook):
    """All answers of a release in one number: how much they speak for a person, at each corner.

    Attributes:
        drives: What the person did; no more than the limits keep, so that none of it is chance.
        instead: What the person did in the other world.
    """

    drives: Drives
    instead: Drives = NO_DRIVES

    def seen(self, curator: Curator) -> IntArray:
        """Returns the weight of the evidence, in thousandths, up to a constant."""
        total = np.zeros(self.stage.rings.corners)
        for answer in self.measured(curator):
            total += self._evidence(answer)
        return in_thousandths(total)

    def _evidence(self, answer: Measured) -> FloatArray:
        values = self.stage.rings.by_corner(answer.query.cells, answer.values)
        one, other = (self._moved(counter, answer) for counter in self._alone)
        return np.asarray(evidence(values, answer.event, one, other).sum(axis=1))

    def _moved(self, counter: Counter, answer: Measured) -> IntArray:
        query = answer.query
        if isinstance(query, PartitionQuery):
            exact = query.apply(counter.count(query.base))
        else:
            assert isinstance(query, Query)  # noqa: S101  what links are asked
            exact = counter.count(query)
        return self.stage.rings.by_corner(query.cells, dense(exact, query))

    @cached_property
    def _alone(self) -> tuple[Counter, Counter]:
        """The counts of the person alone in both worlds, as the real counter has them."""
        rings, terms = self.stage.rings, self.stage.terms
        one, other = (
            movements_in_memory(rings.play(drives), terms, os_source())
            for drives in (self.drives, self.instead)
        )
        return one, other


@dataclass(frozen=True, kw_only=True)
class Published(StagedLook):
    """One link of each corner in the published table."""

    link: int

    def count(self, curator: Curator) -> IntArray:
        """Returns its published persons in the first period, in hundredths; 0 if not shown."""
        table, rings = self.table(curator), self.stage.rings
        counts = np.zeros(rings.universe.size)
        counts[table.period * rings.universe.roads.links + table.link] = table.counts
        own = counts[: rings.corners * rings.links].reshape(rings.corners, rings.links)
        return np.rint(_HUNDRED * own[:, self.link]).astype(np.int64)

    def shown(self, curator: Curator) -> IntArray:
        """Returns 1 where it is published and 0 where it is not."""
        return (self.count(curator) > 0).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class Refitted(StagedLook):
    """A release that is fitted twice."""

    def changes(self, curator: Curator) -> IntArray:
        """Returns how many links of each corner change if the table is fitted once more."""
        measured, rings = self.measured(curator), self.stage.rings
        # The same mechanism, without anything that the first one may have kept.
        again = replace(self.stage.mechanism)
        one, other = (
            self._dense(mechanism.fit(measured, rings.universe))
            for mechanism in (self.stage.mechanism, again)
        )
        by_corner = (one != other).reshape(-1, rings.corners, rings.links)
        changes: IntArray = by_corner.sum(axis=(0, 2))
        return changes

    @staticmethod
    def _dense(table: LinkTable) -> FloatArray:
        counts = np.zeros(table.universe.size)
        counts[table.period * table.universe.roads.links + table.link] = table.counts
        return counts
