"""The fitted OD mechanisms in toy universes: what is seen of them, and audits that all share."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import IntArray
from hushway.auditing.bounds import runs_needed
from hushway.auditing.cases import Accounted, Case, Loses, never_differs
from hushway.auditing.harness import evidence, in_thousandths
from hushway.families.od.audit.laplace import MAX_TRIPS
from hushway.families.od.audit.stage import Form, ODStage, Part, Scene, staged, toy_universe
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
from hushway.privacy.loss import Loss, PureLoss
from hushway.privacy.measured import MeasuredSparse
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


def halves(cells: ODCells) -> Feature:
    """Returns the trips of each corner in each half of the day."""
    return _by_corner(cells, "half", [period // (PERIODS // 2) for period in range(PERIODS)])


def both_features(cells: ODCells) -> tuple[Feature, Feature]:
    """Returns the two features of a toy universe: halves of the day, and even and odd periods."""
    return halves(cells), _by_corner(cells, "parity", [period % 2 for period in range(PERIODS)])


def _by_corner(cells: ODCells, title: str, classes: list[int]) -> Feature:
    return Feature(
        title=title,
        universe=cells,
        pairs=place_pair_labels(cells, "corner", cells.locations.ids),
        periods=Labels(
            column=title, codes=np.array(classes, dtype=np.int32), names=("first", "second")
        ),
    )


def _cbdp(cells: ODCells, budget: Loss, **options: Any) -> Any:
    # Counts made whole with regard to all sums depend on other corners by less than one trip; plain
    # rounding does not, so it is the one that corners are independent under.
    return od_cbdp(cells, both_features(cells), budget=budget, controlled=False, **options)


def _tree(cells: ODCells, budget: Loss) -> Any:
    return od_hierarchical(cells, both_features(cells), budget=budget)


def _learned(cells: ODCells, budget: Loss, *, lazy: bool) -> Any:
    return od_learned(cells, both_features(cells), budget=budget, lazy=lazy)


def _planned(cells: ODCells, budget: Loss) -> Any:
    return od_cbdp(cells, (total_feature(cells), period_feature(cells)), budget=budget)


FLAT = Form("cbdp", partial(_cbdp, lazy=False))
NESTED = Form("nested cbdp", partial(_cbdp, lazy=False, nest=True))
LAZY = Form("lazy cbdp", partial(_cbdp, lazy=True))
# As a plan has it, with sums over the whole toy universe: for universes that are a single corner.
PLANNED = Form("planned cbdp", _planned)
TREE = Form("hierarchical", _tree)
# What is learnt is learnt from all corners together. So of a release that learns, corners are runs
# of their own only as far as it is measured; of what it publishes it is shown that it follows from
# the measurements, and from nothing else.
LEARNED = Form("learned", partial(_learned, lazy=False))
LEARNED_LAZILY = Form("learned lazily", partial(_learned, lazy=True))

Moves = dict[int, int]
"""How many trips of a corner fall into which period."""

_EVERYTHING = int(np.iinfo(np.int64).min)
# Two numbers are packed into one; larger ones are as good as the largest.
_STEPS = 1000


def measured(stage: ODStage, curator: Curator) -> list[tuple[IntArray, Event]]:
    """Returns what each measurement says about the cells: one row a period, a column a corner.

    What a feature says about a cell is the noisy count of the element that holds it.
    """
    answers = stage.mechanism.measure(curator, stage.universe)
    # Some mechanisms list their features first, others the cells.
    answers = sorted(answers, key=lambda answer: isinstance(answer.query, Query))
    every = (
        answer.reveal(_EVERYTHING).values if isinstance(answer, MeasuredSparse) else answer.values
        for answer in answers
    )
    return [
        (stage.toy.by_corner(values[elements]), answer.event)
        for values, answer, elements in zip(every, answers, stage.elements, strict=True)
    ]


@dataclass(frozen=True)
class Evidence:
    """How much all measurements of a corner speak for a person's trips."""

    moves: Moves

    def __call__(self, stage: ODStage, curator: Curator) -> IntArray:
        """Returns the logarithm of the likelihood ratio of each corner, in thousandths."""
        ratio = np.zeros(stage.toy.corners)
        for (values, event), elements in zip(measured(stage, curator), stage.elements, strict=True):
            for period, moved in self._rows(stage.toy.by_corner(elements)[:, 0]).items():
                ratio += evidence(values[period], event, moved)
        return in_thousandths(ratio)

    def _rows(self, element: IntArray) -> Moves:
        """Returns one period of each element that trips fall into, and how many."""
        rows: Moves = {}
        for period, moved in self.moves.items():
            row = int(np.flatnonzero(element == element[period])[0])
            rows[row] = rows.get(row, 0) + moved
        return rows


def counts(stage: ODStage, curator: Curator) -> IntArray:
    """Returns the published counts of all cells: one row a period, a column a corner."""
    return stage.toy.by_corner(all_counts(stage.table(curator)))


def around_first(stage: ODStage, curator: Curator) -> IntArray:
    """Returns the count of the first cell plus the sums of both features that hold it."""
    found = counts(stage, curator)
    return np.asarray(found[0] + found[: PERIODS // 2].sum(axis=0) + found[::2].sum(axis=0))


def first_and_all(stage: ODStage, curator: Curator) -> IntArray:
    """Returns the count of the first cell and the sum of all, packed into one number."""
    found = counts(stage, curator)
    first, every = np.minimum([found[0], found.sum(axis=0)], _STEPS - 1)
    packed: IntArray = _STEPS * first + every
    return packed


def changes(stage: ODStage, curator: Curator) -> IntArray:
    """Returns how many figures change if the same measurements are fitted once more."""
    answers = stage.mechanism.measure(curator, stage.universe)
    once, again = (
        _figures(stage, mechanism.fit(answers, stage.universe))
        for mechanism in (stage.mechanism, stage.made_again)
    )
    differ = np.sum([one != other for one, other in zip(once, again, strict=True)], axis=0)
    return np.asarray(stage.toy.by_corner(differ).sum(axis=0))


def _figures(stage: ODStage, table: ODTable) -> list[NDArray[Any]]:
    """Returns all that is published of every cell: its count, its error, those of its sums."""
    errors = np.zeros(table.universe.size)
    errors[table.cells] = table.standard_errors
    return [
        all_counts(table),
        errors,
        *(
            margin.errors[elements]
            for margin, elements in zip(table.margins, stage.elements[:-1], strict=True)
            if margin.errors is not None
        ),
    ]


def all_counts(table: ODTable) -> IntArray:
    """Returns the published count of every cell."""
    found = np.zeros(table.universe.size, dtype=np.int64)
    found[table.cells] = table.counts
    return found


EVIDENCE = "the evidence of all measurements together, in thousandths,"
SUMS = "the published count of its cell plus the published sums that hold it"
NOTHING_OF_IT = ("the trip", "nothing of it")
# The limit is what matters here; fifty trips of one person are for the audits of plain tables,
# which are spared the many runs that several measurements need.
_TEN: Scene = (Part(times=10),)
on_measured = partial(staged, toy=MEASURED_TOY)
on_fitted = partial(staged, toy=FITTED_TOY)


def _effort(form: Form, most: int, epsilon: Fraction) -> Fraction:
    """Returns how many times the runs of one measurement several together need.

    All of epsilon shows only if every noisy count is at least what the trips make it; with the
    trips, each is so with probability 1/(1 + a), a = exp(-1/scale).
    """
    spends = form.make(MEASURED_TOY.cells, PureLoss(epsilon)).spends
    likely = math.prod(1 / (1 + math.exp(-spend.amount / most)) for spend in spends)
    return Fraction(math.ceil(runs_needed(epsilon, likely) / runs_needed(epsilon)))


def one_trip(form: Form) -> Case:
    """What features and cells give away of one trip must add up to epsilon, no more."""
    return Case(
        f"{form.words}: one trip or none",
        EVIDENCE,
        stage=partial(on_measured, form=form),
        look=Evidence({0: 1}),
        one=(Part(),),
        words=NOTHING_OF_IT,
        claim=Loses(tight=True),
        effort=partial(_effort, form, 1),
    )


def many_trips(form: Form) -> Case:
    """Every feature needs noise for the limit."""
    return Case(
        f"{form.words}: ten trips of one person or none",
        EVIDENCE,
        stage=partial(on_measured, form=form, max_trips=MAX_TRIPS),
        look=Evidence({0: MAX_TRIPS}),
        one=_TEN,
        words=("the person", "nothing of it"),
        claim=Loses(tight=True),
        effort=partial(_effort, form, MAX_TRIPS),
    )


def one_trip_gaussian(form: Form) -> Case:
    """The same with Gaussian noise."""
    return Case(
        f"Gaussian {form.words}: one trip or none",
        EVIDENCE,
        stage=partial(on_measured, form=form, gaussian=True),
        look=Evidence({0: 1}),
        one=(Part(),),
        words=NOTHING_OF_IT,
        claim=Accounted(MEASUREMENTS),
        # A modest multiple of what a single measurement needs, and still a matter of seconds.
        effort=Fraction(4),
    )


def published_trip(form: Form) -> Case:
    """Whatever shows with a trip to an unvisited cell must show without it."""
    return Case(
        f"{form.words}, published: a trip to an unvisited cell or none",
        SUMS,
        stage=partial(on_fitted, form=form),
        look=around_first,
        one=(Part(),),
        words=NOTHING_OF_IT,
    )


def published_trips(form: Form) -> Case:
    """Fifty identical trips of one person against none."""
    return Case(
        f"{form.words}, published: fifty trips of one person or none",
        SUMS,
        stage=partial(on_fitted, form=form, max_trips=MAX_TRIPS),
        look=around_first,
        one=(Part(times=50),),
        words=("the person", "nothing of it"),
    )


def same_table(form: Form) -> Case:
    """Chance or a look at the rows would make tables of the same measurements differ.

    A fit that draws, or looks at anything else, changes more than one corner in a thousand.
    """
    return Case(
        f"{form.words}, published: the same table from the same measurements",
        "tables fitted twice",
        stage=partial(on_fitted, form=form),
        look=changes,
        one=(Part(),),
        claim=never_differs,
        effort=Fraction(1, 10),
    )
