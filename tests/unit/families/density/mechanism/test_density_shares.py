"""How a budget is split among the questions of a density."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.errors import PlanError
from hushway.families.density.mechanism.recommended import (
    Shares,
    evident_shares,
    recommended_shares,
    spends_of,
)
from hushway.families.density.public.visits import ACTIVITY, VisitLimits
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss, total
from hushway.release.contribution.crowd import Crowd

LIMITS = VisitLimits(max_visits=30, max_visits_in_total=1000)
BUDGETS: dict[str, Loss] = {
    "rho": ZCDPLoss(Fraction(273, 100_000)),
    "epsilon": PureLoss(Fraction(3, 10)),
}

parts = st.fractions(min_value=0, max_value=Fraction(24, 100), max_denominator=1000)


@settings(derandomize=True, deadline=None)
@given(histogram=parts, visits=parts, clusters=parts, cuts=parts)
def test_spends_add_up_to_the_budget_whatever_the_shares(
    histogram: Fraction, visits: Fraction, clusters: Fraction, cuts: Fraction
) -> None:
    scaled = histogram > 0 and visits > 0
    shares = Shares(
        histogram=histogram if scaled else Fraction(0),
        total=visits if scaled else Fraction(0),
        clusters=clusters,
        cuts=cuts,
    )
    spends = spends_of(BUDGETS["rho"], shares)
    assert total(spends.losses) == BUDGETS["rho"]
    assert spends.series.amount >= BUDGETS["rho"].amount * (
        1 - shares.histogram - shares.total - clusters - cuts
    )


@pytest.mark.parametrize("share", ["histogram", "activity", "total", "clusters", "cuts"])
def test_a_negative_share_or_nothing_for_the_series_is_refused(share: str) -> None:
    for wrong in (Fraction(-1, 100), Fraction(1), Fraction(3, 2)):
        with pytest.raises(PlanError, match="leave something for the series"):
            Shares(**{share: wrong})
    with pytest.raises(PlanError):
        Shares(histogram=Fraction(1, 2), total=Fraction(1, 2))


def test_only_questions_that_are_asked_are_recommended_a_share() -> None:
    everything = recommended_shares(LIMITS, scaling=True, clustering=True, cuts=True)
    assert all(share > 0 for share in vars(everything).values())
    nothing = recommended_shares(LIMITS, scaling=False, clustering=False, cuts=False)
    assert not any(vars(nothing).values())
    assert not recommended_shares(LIMITS, scaling=True, clustering=False, cuts=False).clusters


def crowd(people: int, visits: int = 12) -> Crowd:
    """People who all have so many visits."""
    return Crowd(
        ladder=ACTIVITY, noisy=[people * (step == visits) for step in ACTIVITY], variance=1
    )


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("people", [100, 1_000, 10_000_000])
def test_shares_for_a_crowd_are_paid_by_the_same_budget(
    towers_town: Any, budget: str, people: int
) -> None:
    usual = recommended_shares(LIMITS, scaling=True, clustering=True, cuts=False)
    paid, universe = BUDGETS[budget], towers_town.universe
    found = evident_shares(universe, LIMITS, paid, crowd(people), usual)
    assert total(spends_of(paid, found).losses) == paid
    assert min(found.histogram, found.activity, found.total, found.clusters) > 0
    without = recommended_shares(LIMITS, scaling=True, clustering=False, cuts=False)
    assert evident_shares(universe, LIMITS, paid, crowd(people), without).clusters == 0


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_larger_the_crowd_the_more_is_left_for_the_series(
    towers_town: Any, budget: str
) -> None:
    usual = recommended_shares(LIMITS, scaling=True, clustering=True, cuts=False)
    left = []
    for people in (100, 1_000, 10_000, 100_000, 10_000_000):
        found = evident_shares(towers_town.universe, LIMITS, BUDGETS[budget], crowd(people), usual)
        left.append(1 - sum(vars(found).values(), start=Fraction(0)))
    assert left == sorted(left)
    assert left[-1] > Fraction(90, 100)


def test_the_series_gets_all_if_people_have_one_visit_and_places_stand_out(
    towers_town: Any,
) -> None:
    once = VisitLimits(max_visits=1, max_visits_in_total=1)
    usual = recommended_shares(once, scaling=True, clustering=True, cuts=False)
    for people, alone in ((100, False), (1_000_000, True)):
        found = evident_shares(
            towers_town.universe, once, BUDGETS["epsilon"], crowd(people, 1), usual
        )
        assert (found == Shares(activity=usual.activity)) is alone
