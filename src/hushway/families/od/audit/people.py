"""What tables of people must not give away, and the mistakes that their audits must catch.

Limits are chosen by a noisy answer, and sums reach over the whole universe. So the toy universe is
a single corner, and a release is one run.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.cases import Case, Shifts, cases_of, never_differs
from hushway.auditing.harness import evidence, in_thousandths
from hushway.auditing.mutant_counters import wrong_answers
from hushway.auditing.mutant_curators import Meddler, exactly
from hushway.auditing.product import remade
from hushway.auditing.suite import mutant
from hushway.families.od.audit.fitted import PERIODS, all_counts
from hushway.families.od.audit.stage import Form, ODProduct, ODStage, Part, staged, toy_universe
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.people import CAPS, LearnedPeople
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import period_feature, total_feature
from hushway.privacy.contribution import RankedCells, UnitsByRecords
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.release.mechanism import Measurements

_TRIPS = 40
_ONE_CORNER = toy_universe(places=2, periods=PERIODS, corners=1)
_MANY_CORNERS = toy_universe(places=40, periods=PERIODS)


def _made(
    cells: ODCells, budget: Loss, caps: tuple[int, ...] = (), limit: int | None = None
) -> Any:
    features = (total_feature(cells), period_feature(cells))
    return LearnedPeople(universe=cells, features=features, budget=budget, limit=limit, caps=caps)


PEOPLE = Form("learned, of people", _made)
# A cap that is given, and one that is chosen.
CAPPED = Form("learned, of people with one trip in a cell", partial(_made, caps=(1,), limit=_TRIPS))
CHOSEN = Form("learned, of people with a chosen number in a cell", partial(_made, caps=CAPS))


@dataclass(frozen=True)
class Evidence:
    """How much all answers speak for a person with so many trips in the first cell."""

    trips: int

    def __call__(self, stage: ODStage, curator: Curator) -> IntArray:
        """Returns the logarithm of the likelihood ratio, in thousandths.

        Each answer is weighed by the law that it was drawn with, which earlier ones have chosen.
        """
        ratio = np.zeros(1)
        for answer in stage.mechanism.measure(curator, stage.universe):
            assert isinstance(answer, Measured)  # noqa: S101  a toy is never lazy
            cells, element = answer.query.cells, 0
            if isinstance(cells, UnitsByRecords):
                trips = min(self.trips, cells.cap or self.trips)
                element = int(np.searchsorted(cells.ladder, trips, side="right")) - 1
            noisy = answer.values[element : element + 1]
            ratio += evidence(noisy, answer.event, answer.event.bound.total)
        return in_thousandths(ratio)


def differences(stage: ODStage, curator: Curator) -> IntArray:
    """Returns which corners change if the same measurements are fitted once more."""
    answers = stage.mechanism.measure(curator, stage.universe)
    once, again = (
        all_counts(mechanism.fit(answers, stage.universe))
        for mechanism in (stage.mechanism, stage.made_again)
    )
    return np.asarray(stage.toy.by_corner((once != again).astype(np.int64)).sum(axis=0))


FORTY_TRIPS = Case(
    f"{PEOPLE.words}: forty trips of one person or none",
    "the evidence of all measurements together, in thousandths,",
    stage=partial(staged, toy=_ONE_CORNER, form=PEOPLE),
    look=Evidence(_TRIPS),
    one=(Part(times=_TRIPS),),
    effort=Fraction(1, 40),
)
CAPPED_TRIPS = Case(
    f"{CAPPED.words}: forty trips of one person in one cell or none",
    "the evidence of all measurements together, in thousandths,",
    stage=partial(staged, toy=_ONE_CORNER, form=CAPPED, gaussian=True),
    look=Evidence(_TRIPS),
    one=(Part(times=_TRIPS),),
    claim=Shifts(),
    effort=Fraction(1, 40),
)
SAME_TABLE = Case(
    f"{PEOPLE.words}, published: the same table from the same measurements",
    "tables fitted twice",
    stage=partial(staged, toy=_MANY_CORNERS, form=PEOPLE),
    look=differences,
    one=(Part(times=8),),
    claim=never_differs,
    effort=Fraction(1, 10),
)
SAME_CAPPED_TABLE = Case(
    f"{CHOSEN.words}, published: the same table from the same measurements",
    "tables fitted twice",
    stage=partial(staged, toy=_MANY_CORNERS, form=CHOSEN, gaussian=True),
    look=differences,
    one=(Part(times=8),),
    claim=never_differs,
    effort=Fraction(1, 10),
)

AUDITS = cases_of(globals())


class NosyChooser(LearnedPeople):
    """A table that is completed by how many trips people really make."""

    def measure(self, curator: Curator, geography: ODCells) -> Measurements:
        """Measures what is to be measured, and looks at the exact numbers of people."""
        measured = super().measure(curator, geography)
        peeped = tuple(exactly(curator, one) for one in measured[: self.cells_event])
        object.__setattr__(self, "_peeped", peeped)
        return measured

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Fits with limits and a crowd without noise."""
        first, others = measured[: self.cells_event], measured[self.cells_event :]
        return super().fit((*getattr(self, "_peeped", first), *others), geography)


def without_a_cap(counter: Counter, query: Query) -> ExactCounts:
    """Counts trips within the limit, however many of them are in one cell."""
    assert isinstance(query.cells, RankedCells)  # noqa: S101  the only answer that is changed
    return counter.count(replace(query, cells=replace(query.cells, cap=None)))


MUTANTS = (
    mutant(
        "a cap of trips in one cell that is not enforced",
        ODProduct(counter=wrong_answers(without_a_cap, only=RankedCells)),
        CAPPED_TRIPS,
    ),
    mutant(
        "limits chosen by exact counts",
        ODProduct(curator=Meddler, mechanism=remade(NosyChooser)),
        SAME_TABLE,
        SAME_CAPPED_TABLE,
    ),
)
