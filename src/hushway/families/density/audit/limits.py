"""What limits that are chosen, and sums of what they leave out, must not give away."""

from fractions import Fraction
from functools import partial

import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.agreement import Replayed
from hushway.auditing.cases import Case, cases_of, never_differs
from hushway.families.density.audit.questions import answers
from hushway.families.density.audit.stage import LONE_SITES, SITES, DensityStage, Stay, staged
from hushway.families.density.mechanism.people import DensityPeople
from hushway.families.density.public.visits import LeftOutVisits, VisitLimits
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss


def _chosen(_limits: VisitLimits, spend: Loss) -> DensityPeople:
    # Other limits are other questions, and clusters would miss some of their answers.
    return DensityPeople(budget=spend, max_visits=None, max_visits_in_total=None, clustering=False)


def _left_out(stage: DensityStage, curator: Curator) -> IntArray:
    return np.concatenate(answers(stage, curator, LeftOutVisits(universe=stage.universe)))


def other_limits(stage: DensityStage, curator: Curator) -> IntArray:
    """Returns whether limits are others if the noisy people are the same, and nobody is there."""
    measured = stage.measured(curator)
    again = Replayed(stage.opened(()), measured)
    stage.mechanism.measure(again, stage.universe)
    one, other = measured[-1].query.cells, again.asked[-1][0].cells
    return np.array([getattr(one, "limits", None) != getattr(other, "limits", None)], np.int64)


# Twelve visits in one period, of which the series has one and the sums two.
LEFT_OUT_VISITS = Case(
    "left out: twelve visits of one person or none",
    "the noisy number of visits that the series leaves out",
    stage=partial(staged, corners=1, bins=1, most=1, in_total=3, laplace=True, repeats=500),
    look=_left_out,
    one=tuple(Stay(site=site, bin=0, times=4) for site in range(SITES)),
)
CHOSEN_LIMITS = Case(
    "limits: the same noisy people, the same limits",
    "limits that are others, with people and without",
    stage=partial(staged, corners=1, bins=6, most=4, laplace=True, make=_chosen),
    look=other_limits,
    one=tuple(
        Stay(site=LONE_SITES[person % 4], bin=when, person=person)
        for person in range(2_000)
        for when in range(6)
    ),
    claim=never_differs,
    # A release a run is slow.
    effort=Fraction(1, 20),
)

AUDITS = cases_of(globals())
