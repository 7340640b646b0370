"""What tables of people must not give away, and the mistakes that their audits must catch.

Limits are chosen by a noisy answer, and sums reach over the whole universe. So the toy universe is
a single corner, and a release is one run.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.cases import Case, cases_of, never_differs
from hushway.auditing.harness import evidence, in_thousandths
from hushway.auditing.mutant_curators import Meddler, exactly
from hushway.auditing.product import remade
from hushway.auditing.suite import mutant
from hushway.families.od.audit.fitted import PERIODS, all_counts
from hushway.families.od.audit.stage import Form, ODProduct, ODStage, Part, staged, toy_universe
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.people import LearnedPeople
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import period_feature, total_feature
from hushway.privacy.contribution import UnitsByRecords
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured
from hushway.release.mechanism import Measurements

_TRIPS = 40
_ONE_CORNER = toy_universe(places=2, periods=PERIODS, corners=1)
_MANY_CORNERS = toy_universe(places=40, periods=PERIODS)


def _made(cells: ODCells, budget: Loss) -> Any:
    features = (total_feature(cells), period_feature(cells))
    return LearnedPeople(universe=cells, features=features, budget=budget, limit=None)


PEOPLE = Form("learned, of people", _made)


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
                element = int(np.searchsorted(cells.ladder, self.trips, side="right")) - 1
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
SAME_TABLE = Case(
    f"{PEOPLE.words}, published: the same table from the same measurements",
    "tables fitted twice",
    stage=partial(staged, toy=_MANY_CORNERS, form=PEOPLE),
    look=differences,
    one=(Part(times=8),),
    claim=never_differs,
    effort=Fraction(1, 10),
)

AUDITS = cases_of(globals())


class NosyChooser(LearnedPeople):
    """A table that is completed by how many trips people really make."""

    def measure(self, curator: Curator, geography: ODCells) -> Measurements:
        """Measures what is to be measured, and looks at the exact number of people."""
        measured = super().measure(curator, geography)
        object.__setattr__(self, "_peeped", exactly(curator, measured[0]))
        return measured

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Fits with limits and a crowd without noise."""
        first, *others = measured
        return super().fit((getattr(self, "_peeped", first), *others), geography)


def nosy_chooser(mechanism: Any) -> Any:
    """Returns the same mechanism, made to choose by exact counts."""
    return remade(NosyChooser, mechanism) if isinstance(mechanism, LearnedPeople) else mechanism


MUTANTS = (
    mutant(
        "limits chosen by exact counts",
        ODProduct(curator=Meddler, mechanism=nosy_chooser),
        SAME_TABLE,
    ),
)
