"""What an OD release must not give away where only cells above a threshold are published."""

from fractions import Fraction
from functools import partial

import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.cases import Case, Loses, cases_of, same_law
from hushway.auditing.mutant_counters import only_large
from hushway.auditing.mutant_curators import SEEN_CELLS_ONLY, ThresholdForEmptyCells
from hushway.auditing.suite import mutant
from hushway.families.od.audit.stage import (
    DENSE,
    Form,
    ODProduct,
    ODStage,
    Part,
    staged,
    toy_universe,
)
from hushway.families.od.mechanism.laplace import SparseLaplace
from hushway.families.od.public.cells import ODCells
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import expected_above, noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.measured import MeasuredSparse

_THRESHOLD = 2
# So many that one in as many is rarer than exp(-4).
_PERIODS = 80
# Two shown counts are packed into one number; larger ones are as good as this one.
_MOST = 63


def _publishing_from(threshold: int) -> Form:
    """Returns the mechanism whose own rule arrives at a threshold."""

    def make(cells: ODCells, spend: PureLoss) -> SparseLaplace:
        law = noise_for(spend, Bound(cells=1, each=1, total=1))
        false = expected_above(law, cells.size, threshold)
        return SparseLaplace(spend=spend, expected_false=false)

    return Form("sparse laplace", make)


# A sparse release takes milliseconds whatever its size, so its toy universe is large.
_corners = partial(staged, toy=toy_universe(places=45, periods=1))
_from_threshold = partial(_corners, form=_publishing_from(_THRESHOLD))
_two_periods = partial(staged, toy=toy_universe(places=45, periods=2))


def _published(stage: ODStage, curator: Curator) -> IntArray:
    """Returns the published count of a corner's cell, 0 if it has none."""
    table, counts = stage.table(curator), np.zeros(stage.universe.size, dtype=np.int64)
    counts[table.cells] = table.counts
    first: IntArray = stage.toy.by_corner(counts)[0]
    return first


def _at_all(stage: ODStage, curator: Curator) -> IntArray:
    return (_published(stage, curator) > 0).astype(np.int64)


def _two_cells(stage: ODStage, curator: Curator) -> IntArray:
    """Returns both counts of a corner that are at least 1, in one whole number.

    What is measured sparsely is looked at from the threshold and then below it.
    """
    (answer,) = stage.mechanism.measure(curator, stage.universe)
    counts = np.zeros(stage.universe.size, dtype=np.int64)
    if isinstance(answer, MeasuredSparse):
        answer.reveal()
        shown = answer.reveal(1)
        counts[shown.cells] = shown.values
    else:
        counts = answer.values
    first, second = stage.toy.by_corner(np.clip(counts, 0, _MOST))
    packed: IntArray = (_MOST + 1) * first + second
    return packed


# A cell that nobody visited must be published almost as often as one with a trip.
UNVISITED_CELL = Case(
    "a cell with one trip or an unvisited one",
    "whether the cell is published (1) or not (0)",
    stage=partial(_corners, form=_publishing_from(1)),
    look=_at_all,
    one=(Part(),),
    words=("the trip", "no trip"),
    claim=Loses(tight=True),
)
_CROWD = tuple(Part(person=i) for i in range(_THRESHOLD))
# One more person at a cell whose exact count then reaches the threshold.
AT_THE_THRESHOLD = Case(
    "one more person at the threshold",
    "the published count of the cell (0 if it is not published)",
    stage=_from_threshold,
    look=_published,
    one=_CROWD,
    other=_CROWD[1:],
    words=("the person", "one person fewer"),
    claim=Loses(tight=True),
)
BUSY_NEIGHBOURS = Case(
    "an empty cell among busy ones or among empty ones",
    "the published count of the cell (0 if it is not published)",
    stage=partial(_from_threshold, toy=toy_universe(places=25, periods=_PERIODS, minutes=10)),
    look=_published,
    one=tuple(Part(person=when, period=when) for when in range(1, _PERIODS)),
    words=("busy neighbours", "empty ones"),
    claim=same_law,
)
# The same law, so no loss.
SPARSE_OR_DENSE = Case(
    "sparse or dense",
    f"{_MOST + 1} times one shown count plus another",
    stage=partial(
        _two_periods,
        form=Form("sparse", lambda _, spend: SparseLaplace(spend=spend, expected_false=1)),
    ),
    other_stage=partial(_two_periods, form=DENSE),
    look=_two_cells,
    one=(Part(),),
    other=(Part(),),
    words=("sparse noise", "dense noise"),
    claim=Loses(share=Fraction(0)),
)

AUDITS = cases_of(globals())
MUTANTS = (
    mutant("universe taken from the data", ODProduct(curator=SEEN_CELLS_ONLY), UNVISITED_CELL),
    mutant("threshold before noise", ODProduct(counter=only_large(_THRESHOLD)), AT_THE_THRESHOLD),
    mutant(
        "a threshold for the cells that are empty",
        ODProduct(curator=ThresholdForEmptyCells),
        BUSY_NEIGHBOURS,
    ),
)
