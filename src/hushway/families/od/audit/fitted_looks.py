"""What anyone can see of a fitted mechanism at each corner: its measurements, and its table."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import IntArray
from hushway.audit.harness import evidence, in_thousandths
from hushway.families.od.audit.product import Fitted, Spend, Stage, toy_universe
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.cbdp import od_cbdp
from hushway.families.od.mechanism.hierarchical import od_hierarchical
from hushway.families.od.mechanism.learned import od_learned
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    Feature,
    period_feature,
    place_pair_labels,
    total_feature,
)
from hushway.geography.locations import Labels
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.query import Query

# The fitted OD mechanisms in a toy universe: features that stay within a corner, and what is seen.
#
# A corner is a pair of places with eight periods. Two features cut it in halves, one by half of the
# day and one by parity of the period, so they cross; no element reaches beyond a corner. What a fit
# does at a corner then depends on that corner alone, and one release holds a run for each.

PERIODS = 8
# A period in the same half as period 0 but not of its parity, and one of its parity but not in its
# half.
SAME_HALF, SAME_PARITY = 1, 4
# Two features and the cells; all forms but the tree share the budget evenly between them.
MEASUREMENTS = 3
# Only measured: thousands of corners a release cost next to nothing.
MEASURED_TOY = toy_universe(places=60, periods=PERIODS)
# Fitted too: the time of a fit grows with the corners.
FITTED_TOY = toy_universe(places=40, periods=PERIODS)


@dataclass(frozen=True, kw_only=True)
class Form:
    """A form of the fitted mechanisms.

    Attributes:
        words: What it is called in findings.
        make: Makes it for some cells and a budget, as the catalogue of plans does.
    """

    words: str
    make: Callable[[ODCells, Loss], Fitted]


def halves(cells: ODCells) -> Feature:
    """Returns the trips of each corner in each half of the day."""
    return _by_corner(cells, "half", [period // (PERIODS // 2) for period in range(PERIODS)])


def parities(cells: ODCells) -> Feature:
    """Returns the trips of each corner in even and in odd periods."""
    return _by_corner(cells, "parity", [period % 2 for period in range(PERIODS)])


def both_features(cells: ODCells) -> tuple[Feature, Feature]:
    """Returns the two features of a toy universe."""
    return halves(cells), parities(cells)


# Counts made whole with regard to all sums depend on other corners by less than one trip; plain
# rounding does not, so it is the one that corners are independent under.
FLAT = Form(
    words="cbdp",
    make=lambda cells, budget: od_cbdp(
        cells, both_features(cells), budget=budget, controlled=False, lazy=False
    ),
)
NESTED = Form(
    words="nested cbdp",
    make=lambda cells, budget: od_cbdp(
        cells, both_features(cells), budget=budget, nest=True, controlled=False, lazy=False
    ),
)
LAZY = Form(
    words="lazy cbdp",
    make=lambda cells, budget: od_cbdp(
        cells, both_features(cells), budget=budget, controlled=False, lazy=True
    ),
)
TREE = Form(
    words="hierarchical",
    make=lambda cells, budget: od_hierarchical(cells, both_features(cells), budget=budget),
)
LEARNED = Form(
    words="learned",
    make=lambda cells, budget: od_learned(cells, both_features(cells), budget=budget, lazy=False),
)
LEARNED_LAZILY = Form(
    words="learned lazily",
    make=lambda cells, budget: od_learned(cells, both_features(cells), budget=budget, lazy=True),
)
# As a plan has it, with sums over the whole toy universe: for universes that are a single corner.
PLANNED = Form(
    words="planned cbdp",
    make=lambda cells, budget: od_cbdp(
        cells, (total_feature(cells), period_feature(cells)), budget=budget
    ),
)
# What is published at a corner depends on that corner alone, so each corner is a run of its own.
BY_CORNER = (FLAT, NESTED, LAZY, TREE)
# What is learnt is learnt from all corners together. So of a release that learns, corners are runs
# of their own only as far as it is measured; of what it publishes it is shown that it follows from
# the measurements, and from nothing else.
FORMS = (*BY_CORNER, LEARNED, LEARNED_LAZILY)


def _by_corner(cells: ODCells, title: str, classes: list[int]) -> Feature:
    return Feature(
        title=title,
        universe=cells,
        pairs=place_pair_labels(cells, "corner", cells.locations.ids),
        periods=Labels(
            column=title, codes=np.array(classes, dtype=np.int32), names=("first", "second")
        ),
    )


Moves = dict[int, int]
"""How many trips of a corner fall into which period."""

_EVERYTHING = int(np.iinfo(np.int64).min)
# Two numbers are packed into one; larger ones are as good as the largest.
_STEPS = 1000


@dataclass(frozen=True, kw_only=True)
class Look(Generic[Spend]):
    """A form of the fitted mechanisms on a stage.

    Attributes:
        stage: Where it is.
        form: Which one it is.
    """

    stage: Stage[Spend]
    form: Form

    @cached_property
    def mechanism(self) -> Fitted:
        """The mechanism that every release uses, as the product under audit has it."""
        return self.stage.product.mechanism(self.form.make(self.stage.toy.cells, self.stage.spend))

    def measured(self, curator: Curator) -> list[tuple[IntArray, Event]]:
        """Returns what each measurement says about the cells: one row a period, a column a corner.

        What a feature says about a cell is the noisy count of the element that holds it.
        """
        answers = self.mechanism.measure(curator, self.stage.toy.cells)
        # Some mechanisms list their features first, others the cells.
        answers = sorted(answers, key=lambda answer: isinstance(answer.query, Query))
        return [
            (self.stage.toy.by_corner(_all_values(answer)[elements]), answer.event)
            for answer, elements in zip(answers, self.elements, strict=True)
        ]

    @cached_property
    def elements(self) -> list[IntArray]:
        """The element that holds each cell, feature by feature, and at last the cells."""
        every = np.arange(self.stage.toy.cells.size, dtype=np.int64)
        return [*(feature.of(every) for feature in self.mechanism.features), every]


@dataclass(frozen=True, kw_only=True)
class Evidence(Look[Spend]):
    """All measurements of a corner in one number: how much they speak for a person's trips.

    Attributes:
        moves: The trips that are looked for.
    """

    moves: Moves

    def seen(self, curator: Curator) -> IntArray:
        """Returns the logarithm of the likelihood ratio of each corner, in thousandths."""
        total = np.zeros(self.stage.toy.corners)
        for (values, event), rows in zip(self.measured(curator), self._rows, strict=True):
            for period, moved in rows.items():
                total += evidence(values[period], event, moved)
        return in_thousandths(total)

    @cached_property
    def _rows(self) -> list[Moves]:
        """For each measurement, one period of each element that trips fall into, and how many."""
        return [self._rows_of(elements) for elements in self.elements]

    def _rows_of(self, elements: IntArray) -> Moves:
        element = self.stage.toy.by_corner(elements)[:, 0]
        rows: Moves = {}
        for period, moved in self.moves.items():
            row = int(np.flatnonzero(element == element[period])[0])
            rows[row] = rows.get(row, 0) + moved
        return rows


@dataclass(frozen=True, kw_only=True)
class FirstCell(Look[Spend]):
    """What the measurements say about the first cell of each corner."""

    def total(self, curator: Curator) -> IntArray:
        """Returns the sum of all noisy counts that the cell is part of."""
        total: IntArray = np.sum([values[0] for values, _ in self.measured(curator)], axis=0)
        return total

    def features_differ(self, curator: Curator) -> IntArray:
        """Returns the difference of the noisy counts of the cell's half and of its parity."""
        (half, _), (parity, _), _ = self.measured(curator)
        difference: IntArray = half[0] - parity[0]
        return difference

    def parity(self, curator: Curator) -> IntArray:
        """Returns 0 for an even noisy count of its half, 1 for an odd one, 2 if it is not whole."""
        values = self.measured(curator)[0][0][0]
        if values.dtype != np.int64:
            return np.full(len(values), 2, dtype=np.int64)
        parity: IntArray = values & 1
        return parity


@dataclass(frozen=True, kw_only=True)
class Published(Look[Spend]):
    """The published table of each corner, in one number."""

    def around_first(self, curator: Curator) -> IntArray:
        """Returns the count of the first cell plus the sums of both features that hold it."""
        counts = self.by_corner(curator)
        sums: IntArray = counts[0] + counts[: PERIODS // 2].sum(axis=0) + counts[::2].sum(axis=0)
        return sums

    def first_and_all(self, curator: Curator) -> IntArray:
        """Returns the count of the first cell and the sum of all, packed into one number."""
        counts = self.by_corner(curator)
        first, every = np.minimum([counts[0], counts.sum(axis=0)], _STEPS - 1)
        packed: IntArray = _STEPS * first + every
        return packed

    def changes(self, curator: Curator) -> IntArray:
        """Returns how many figures change if the same measurements are fitted once more."""
        cells = self.stage.toy.cells
        measured = self.mechanism.measure(curator, cells)
        once = self._figures(self.mechanism.fit(measured, cells))
        again = self._figures(self._made_again.fit(measured, cells))
        differ = np.sum([one != other for one, other in zip(once, again, strict=True)], axis=0)
        changes: IntArray = self.stage.toy.by_corner(differ).sum(axis=0)
        return changes

    def _figures(self, table: ODTable) -> list[NDArray[Any]]:
        """Returns all that is published of every cell: its count, its error, those of its sums."""
        errors = np.zeros(table.universe.size)
        errors[table.cells] = table.standard_errors
        return [
            _all_counts(table),
            errors,
            *(
                margin.errors[elements]
                for margin, elements in zip(table.margins, self.elements[:-1], strict=True)
                if margin.errors is not None
            ),
        ]

    def counts(self, curator: Curator) -> IntArray:
        """Returns the published count of every cell."""
        cells = self.stage.toy.cells
        return _all_counts(self.mechanism.fit(self.mechanism.measure(curator, cells), cells))

    def by_corner(self, curator: Curator) -> IntArray:
        """Returns the published count of every cell: one row a period, a column a corner."""
        return self.stage.toy.by_corner(self.counts(curator))

    @cached_property
    def _made_again(self) -> Fitted:
        """The same mechanism, without anything that the first one may have kept."""
        return replace(self.mechanism)


def _all_counts(table: ODTable) -> IntArray:
    counts = np.zeros(table.universe.size, dtype=np.int64)
    counts[table.cells] = table.counts
    return counts


def _all_values(answer: Measured | MeasuredSparse) -> IntArray:
    if isinstance(answer, MeasuredSparse):
        return answer.reveal(_EVERYTHING).values
    return answer.values
