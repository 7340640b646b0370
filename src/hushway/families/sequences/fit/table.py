"""What the sequences family publishes: a consistent tree of prefixes, or learnt records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.sequences.public.prefixes import PrefixCells
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.periods import Periods
from hushway.privacy.noise.lazy import Shown


@dataclass(frozen=True, kw_only=True, eq=False)
class StepSummary:
    """What is public about one step of the tree: a stop at one granularity.

    Attributes:
        stop: Which stop, from 0.
        grain: Which granularity, the last being locations.
        threshold: Candidates measured at or above it were kept.
        kept: How many were.
        standard_error: Standard deviation of the noise in each measurement.
    """

    stop: int
    grain: int
    candidates: int
    threshold: int
    kept: int
    standard_error: float


@dataclass(frozen=True, kw_only=True, eq=False)
class SequenceTable:
    """A published tree. Safe for anyone to see.

    Nodes are ordered step by step, so a parent stands before its children. A node of the finest
    granularity stands for a prefix of stops; one of a coarser granularity for such a prefix and the
    group of the next stop.

    Attributes:
        periods: The public periods, if times are kept.
        parent: The node above each node; -1 under the root.
        step: The step of each node, an index into `steps`.
        period: Index of the period of the node's last stop; 0 if times are not kept.
        code: Number of the node's group or location at its granularity (`Taxonomy.codes`).
        counts: The published count: whole, never negative, never below the sum of the children's.
        ends: How many published sequences end at each node; 0 for groups.
        diagnostics: How well the fit was solved, as plain JSON values.
    """

    taxonomy: Taxonomy
    periods: Periods | None
    parent: IntArray
    step: IntArray
    period: IntArray
    code: IntArray
    measured: IntArray
    counts: IntArray
    ends: IntArray
    steps: tuple[StepSummary, ...]
    diagnostics: Mapping[str, Any] = field(default_factory=dict)

    @property
    def grains(self) -> IntArray:
        """The granularity of each node."""
        of_step = np.array([step.grain for step in self.steps], dtype=np.int64)
        return of_step[self.step]

    def sequences(self) -> tuple[IntArray, IntArray, IntArray]:
        """Returns the distinct published sequences as a ragged array, with their counts.

        Returns:
            Where each sequence begins (one entry more than sequences), the location index of every
            stop of all of them in a row, and the count of each sequence.
        """
        nodes, start, places = self.paths()
        return start, self.taxonomy.location_of(self.code[places]), self.ends[nodes]

    def paths(self) -> tuple[IntArray, IntArray, IntArray]:
        """Returns the nodes at which sequences end, and the stops on the way to each as nodes."""
        nodes = np.flatnonzero(self.ends > 0)
        stops = np.array([step.stop for step in self.steps], dtype=np.int64)[self.step[nodes]] + 1
        start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(stops)])
        places = np.empty(start[-1], dtype=np.int64)
        at, left = nodes.copy(), stops.copy()
        finest = self.taxonomy.grains - 1
        grains = self.grains
        while len(at):
            here = grains[at] == finest
            owner = np.flatnonzero(left > 0)
            places[start[owner[here]] + left[owner[here]] - 1] = at[here]
            left[owner[here]] -= 1
            at = self.parent[at]
            at = at[left[owner] > 0]
        return nodes, start, places


@dataclass(frozen=True, kw_only=True, eq=False)
class Nodes:
    """All nodes that were kept, as in `SequenceTable`; `is_prefix` tells stops from groups."""

    parent: IntArray
    step: IntArray
    period: IntArray
    code: IntArray
    measured: IntArray
    is_prefix: BoolArray


def nodes_of(kept: Sequence[tuple[PrefixCells, Shown]]) -> Nodes:
    """Returns the nodes of consecutive steps, given the candidates of each and those it kept."""
    columns: list[tuple[IntArray, ...]] = []
    first_above = -1
    for number, (cells, shown) in enumerate(kept):
        node, period, code = cells.describe(shown.cells)
        # The nodes that have candidates here are those of the step before, in their order.
        parent = np.full_like(node, -1) if number == 0 else first_above + node
        first_above = 0 if number == 0 else first_above + cells.nodes
        whole = cells.grain == cells.taxonomy.grains - 1
        columns.append(
            (
                parent,
                np.full_like(node, number),
                period,
                code,
                shown.values,
                np.full(len(node), whole, dtype=np.bool_),
            )
        )
    together = [np.concatenate(column) for column in zip(*columns, strict=True)]
    parent, step, period, code, measured, is_prefix = together
    return Nodes(
        parent=parent,
        step=step,
        period=period,
        code=code,
        measured=measured,
        is_prefix=is_prefix.astype(np.bool_),
    )


def ends_of(parent: IntArray, is_prefix: BoolArray, counts: IntArray) -> IntArray:
    """Returns how many records end at each prefix of whole stops, given consistent counts.

    Records that a group has beyond its kept locations end at the prefix before the group: where
    they went next is not known well enough to publish.
    """
    before = prefix_before(parent, is_prefix)
    continued = np.zeros(len(parent), dtype=np.int64)
    inner = is_prefix & (before >= 0)
    np.add.at(continued, before[inner], counts[inner])
    return np.where(is_prefix, counts - continued, 0)


def prefix_before(parent: IntArray, is_prefix: BoolArray) -> IntArray:
    """Returns the closest node above each node that is a prefix of whole stops, or -1."""
    before = parent.copy()
    on_the_way = np.flatnonzero(before >= 0)
    while len(on_the_way):
        on_the_way = on_the_way[~is_prefix[before[on_the_way]]]
        before[on_the_way] = parent[before[on_the_way]]
        on_the_way = on_the_way[before[on_the_way] >= 0]
    return before


@dataclass(frozen=True, kw_only=True, eq=False)
class QuestionSummary:
    """What is public about one question.

    Attributes:
        worth: What one count adds to the answer; more than 1 where a record is shared out.
        standard_error: Standard deviation of the noise in one count.
    """

    name: str
    cells: int
    worth: int
    standard_error: float


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordTable:
    """Published records. Safe for anyone to see.

    Attributes:
        start: Where each distinct sequence begins; one entry more than sequences.
        stops: The location index of every stop of all of them in a row.
        counts: How many records each sequence stands for, all above 0.
        parent: For each prefix the prefix before its last stop, which stands before it; -1 where
            it has one stop.
        place: The location index of its last stop.
        prefix_counts: How many of the published records begin with it.
        prefix_errors: The standard error of that, for the true number.
    """

    taxonomy: Taxonomy
    height: int
    start: IntArray
    stops: IntArray
    counts: IntArray
    parent: IntArray
    place: IntArray
    prefix_counts: IntArray
    prefix_errors: FloatArray
    questions: tuple[QuestionSummary, ...]
    diagnostics: Mapping[str, Any] = field(default_factory=dict)

    def sequences(self) -> tuple[IntArray, IntArray, IntArray]:
        """Returns the distinct published sequences as a ragged array, with their counts."""
        return self.start, self.stops, self.counts
