"""The candidates of one step of a prefix tree: all children of the nodes that were kept so far.

A sequence is a list of stops; a stop is a location and, if times are kept, a period that is not
before that of the stop before. A tree grows stop by stop and, within a stop, from the coarsest
groups of the taxonomy to locations. Candidates are public given what was kept: they follow from the
taxonomy, the periods and earlier noisy answers.
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import ClassVar

import numpy as np

from hushway.arrays import IntArray
from hushway.families.sequences.public.taxonomy import LOCATION, Taxonomy
from hushway.geography.period_words import counted_text
from hushway.geography.periods import Periods
from hushway.privacy.public_facts import digest_of, public_facts


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class PrefixCells:
    """Candidate nodes, numbered through: those of the first kept node, of the second, and so on.

    At granularity 0 a node's candidates are (period, coarsest group), the group running faster, for
    every period from the node's own on. At finer granularities they are the children of its group.

    Attributes:
        periods: Number of public periods; 1 if times are not kept.
        stop: Which stop of the sequence this is, from 0.
        grain: Granularity, from 0 to taxonomy.grains - 1, the last being locations.
        above: The candidates one step before; None at the first step.
        kept: Ascending cells of `above` that became nodes; none at the first step, whose only node
            is the root.
        node_period: Period of each node's last stop; 0 for the root.
        node_group: Number of each node's group at granularity grain - 1; 0 at granularity 0.
    """

    taxonomy: Taxonomy
    periods: int
    stop: int
    grain: int
    above: "PrefixCells | None"
    kept: IntArray
    node_period: IntArray
    node_group: IntArray

    @property
    def name(self) -> str:
        """What one cell stands for."""
        levels = self.taxonomy.levels
        level = levels[self.grain].column if self.grain < len(levels) else LOCATION
        return f"records by prefix of {self.stop} stops and {level} of stop {self.stop + 1}"

    @property
    def nodes(self) -> int:
        """Number of nodes that have candidates here."""
        return len(self.node_period)

    @cached_property
    def start(self) -> IntArray:
        """Where each node's candidates begin; one entry more than nodes."""
        ends = np.cumsum(self._fan_out)
        return np.concatenate([np.zeros(1, dtype=np.int64), ends])

    @property
    def size(self) -> int:
        """Number of candidates."""
        return int(self.start[-1])

    @cached_property
    def digest(self) -> str:
        """A digest of the taxonomy and of everything that was kept on the way here."""
        found = sha256(self.taxonomy.digest.encode())
        found.update(f"{self.periods} {self.stop} {self.grain}".encode())
        if self.above is not None:
            found.update(self.above.digest.encode())
            found.update(self.kept.astype("<i8").tobytes())
        return found.hexdigest()

    def cell(self, node: IntArray, period: IntArray, location: IntArray) -> IntArray:
        """Returns the candidate that a record falls into, given its node and its next stop.

        Args:
            node: Position of the record's node among the nodes.
            period: Period of the stop; not before the node's.
            location: Index of the stop's location, inside the node's group.
        """
        code = self.taxonomy.codes(self.grain)[location]
        if self.grain == 0:
            code = code + (period - self.node_period[node]) * self.taxonomy.size(0)
        else:
            code = code - self.taxonomy.first_child(self.grain)[self.node_group[node]]
        return self.start[node] + code

    def describe(self, cells: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Returns the node, the period and the group number of each candidate."""
        node = np.searchsorted(self.start, cells, side="right") - 1
        code = cells - self.start[node]
        if self.grain > 0:
            first = self.taxonomy.first_child(self.grain)[self.node_group[node]]
            return node, self.node_period[node], first + code
        later, group = np.divmod(code, self.taxonomy.size(0))
        return node, self.node_period[node] + later, group

    def below(self, kept: IntArray) -> "PrefixCells":
        """Returns the candidates one step further, given the cells that became nodes here."""
        _, period, group = self.describe(kept)
        last = self.grain == self.taxonomy.grains - 1
        return PrefixCells(
            taxonomy=self.taxonomy,
            periods=self.periods,
            stop=self.stop + 1 if last else self.stop,
            grain=0 if last else self.grain + 1,
            above=self,
            kept=kept,
            node_period=period,
            node_group=np.zeros_like(group) if last else group,
        )

    @cached_property
    def _fan_out(self) -> IntArray:
        if self.grain == 0:
            return (self.periods - self.node_period) * self.taxonomy.size(0)
        first = self.taxonomy.first_child(self.grain)
        return first[self.node_group + 1] - first[self.node_group]


def first_prefixes(taxonomy: Taxonomy, *, periods: int = 1) -> PrefixCells:
    """Returns the candidates of the first step: the coarsest groups of the first stop."""
    root = np.zeros(1, dtype=np.int64)
    nobody = np.empty(0, dtype=np.int64)
    return PrefixCells(
        taxonomy=taxonomy,
        periods=periods,
        stop=0,
        grain=0,
        above=None,
        kept=nobody,
        node_period=root,
        node_group=root,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class SequenceUniverse:
    """All that is public about sequences before anything is measured."""

    taxonomy: Taxonomy
    periods: Periods | None = None
    name: ClassVar[str] = "records by prefix"

    @property
    def counted(self) -> str:
        """Which days a count is of, in words; nothing if times are not kept."""
        return "" if self.periods is None else counted_text(self.periods)

    @property
    def moments(self) -> int:
        """Number of periods; 1 if times are not kept."""
        return 1 if self.periods is None else len(self.periods)

    @property
    def size(self) -> int:
        """Number of different stops that a record can be made of: locations times periods."""
        return len(self.taxonomy.locations) * self.moments

    @cached_property
    def digest(self) -> str:
        """A digest of the taxonomy and of the periods."""
        periods = None if self.periods is None else self.periods.digest
        return digest_of({"taxonomy": self.taxonomy.digest, "periods": periods})

    def first_step(self) -> PrefixCells:
        """Returns the candidates that every tree starts with."""
        return first_prefixes(self.taxonomy, periods=self.moments)

    def below_one_prefix(self, stops: int) -> tuple[PrefixCells, ...]:
        """Returns all candidates that one prefix can have at each step, as if no group were left.

        How many candidates a step will have depends on what is kept before it; this much is known
        beforehand. At the very first step it is the whole truth.
        """
        steps = [self.first_step()]
        for number in range(1, stops * self.taxonomy.grains):
            # A stop ends with locations, of which one is kept: the prefix that goes on.
            is_new_stop = number % self.taxonomy.grains == 0
            kept = 1 if is_new_stop else steps[-1].size
            steps.append(steps[-1].below(np.arange(kept, dtype=np.int64)))
        return tuple(steps)
