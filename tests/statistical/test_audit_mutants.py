"""Every planted mistake is caught.

Misses: with n = 35,000 counted runs an outcome that never happens has a bound of 21/n, so it proves
ln(n/21) = 7.4. Shared noise and the universe taken from the data have such an outcome in one world
and a likely one in the other, and are always caught. The others double the loss or more: at epsilon
1 by an event of probability above 0.5 against one below 0.1, where epsilon 1 would need more than
0.19 (more than 50 standard deviations away); at epsilon 4 by one above 0.75 against one below 4e-4,
where epsilon 4 would need more than 0.01 (more than 300 runs where 12 are expected). Each miss has
probability far below 1e-6.

Mistakes in the fitted mechanisms are hunted with n = 15,000 counted runs, where an outcome that
never happens proves ln(n/21) = 6.5 if the other world always has it and more than 4 if it has it
one time in ten. Elements and lazy cells taken from the data, exact pruning, noise that is the same
for every feature and lazy cells that change have such outcomes. A budget that is not split and
noise for one trip instead of three lose more than twice the claim.

People who share a number lose nearly twice the claim too, and people in five pieces five times. A
threshold that follows from the rows changes a law so much that chance would do it less than once in
1e100 times. Exact totals have an outcome that never happens in 1,875 counted runs and always does
in the other world: ln(1,875/21) = 4.5.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hushway.audit.harness import Examination
from hushway.audit.suite import Mutant
from hushway.families.od.audit import dense as od_dense
from hushway.families.od.audit.product import Product, Terms, Trips
from hushway.families.od.audit.suite import FITTED_MUTANTS, PLAIN_MUTANTS
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.query import ExactCounts, Query
from hushway.privacy.randomness import BitSource

RUNS = 70_000
FEWER_RUNS = 30_000


def test_the_mistakes_are_all_planted() -> None:
    assert [mutant.name for mutant in PLAIN_MUTANTS] == [
        "sensitivity 1 instead of m",
        "shared noise",
        "missing budget split",
        "universe taken from the data",
        "threshold before noise",
        "no contribution limit",
        "people told apart by the low bits of their numbers",
        "a threshold for the cells that are empty",
        "each file bounded by itself",
    ]
    assert [mutant.name for mutant in FITTED_MUTANTS] == [
        "sensitivity 1 instead of m on published totals",
        "the whole budget for every published total",
        "the same noise for every published total",
        "elements taken from the data",
        "pruning by exact counts",
        "lazy cells taken from the data",
        "lazy cells drawn anew at every look",
        "lazy cells drawn as if nobody had looked",
        "no noise on the total",
        "counts made whole to the exact total",
        "learning from exact counts",
        "errors that are the true ones",
    ]


# Reading files is slow, so what is looked for there is looked for once.
PLAIN: list[Any] = [
    pytest.param(mutant, Fraction(epsilon), id=f"{mutant.name}, {epsilon}")
    for epsilon in (1, 4)
    for mutant in PLAIN_MUTANTS
    if epsilon > 1 or od_dense.many_trips_in_files not in mutant.audits
]


@pytest.mark.long
@pytest.mark.parametrize(("mutant", "epsilon"), PLAIN)
def test_a_planted_mistake_is_caught_by_every_audit_made_for_it(
    mutant: Mutant[Product], epsilon: Fraction
) -> None:
    assert convicting(mutant, epsilon, RUNS) == made_for(mutant, epsilon)


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(4)], ids=["1", "4"])
@pytest.mark.parametrize("mutant", FITTED_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mistake_in_a_fitted_mechanism_is_caught_by_every_audit_made_for_it(
    mutant: Mutant[Product], epsilon: Fraction
) -> None:
    assert convicting(mutant, epsilon, FEWER_RUNS) == made_for(mutant, epsilon)


def convicting(mutant: Mutant[Product], epsilon: Fraction, runs: int) -> list[str]:
    """The audits that prove more loss than is claimed; showing too little convicts nobody."""
    return mutant.hunt(epsilon, runs).by.split("; ")


def made_for(mutant: Mutant[Product], epsilon: Fraction) -> list[str]:
    return [audit(mutant.product, epsilon).name for audit in mutant.audits]


class Gullible:
    """A counter that never looks whether a trip has a cell."""

    unit = Unit.PERSON

    def __init__(self, trips: Trips, terms: Terms, _source: BitSource) -> None:
        self.cells = terms.cells.encode(trips.period, trips.origin, trips.destination)
        self.cells = self.cells[(self.cells >= 0) & (self.cells < terms.cells.size)]

    def bound(self, _query: Query) -> Bound:
        return Bound(cells=3, each=3, total=3)

    def count(self, _query: Query) -> ExactCounts:
        cells, values = np.unique(self.cells, return_counts=True)
        return ExactCounts(cells=cells, values=values)


def test_stray_trips_that_fall_into_other_cells_are_noticed() -> None:
    # A ninth of the corners gains 27 trips or more under noise of scale 3: always seen.
    examination: Examination = od_dense.stray_trips(Product(counter=Gullible), Fraction(1))
    assert not examination.examine(RUNS).passed
