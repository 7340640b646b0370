"""How a budget is split among the questions of a density."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.errors import PlanError
from hushway.families.density.mechanism.recommended import (
    Crowd,
    Shares,
    Spends,
    recommended_shares,
    shares_for,
    spends_of,
)
from hushway.families.density.public.visits import VisitLimits
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss, total

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


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("people", [1, 2_000, 2_000_000, 1e12])
def test_shares_for_a_crowd_are_paid_by_the_same_budget(
    towers_town: Any, budget: str, people: float
) -> None:
    usual = recommended_shares(LIMITS, scaling=True, clustering=True, cuts=False)
    crowd, paid = Crowd(people=people, visits=14), BUDGETS[budget]
    found = shares_for(towers_town.universe, LIMITS, paid, crowd, usual)
    assert total(spends_of(paid, found).losses) == paid
    assert min(found.histogram, found.activity, found.total, found.clusters) > 0
    without = recommended_shares(LIMITS, scaling=True, clustering=False, cuts=False)
    assert shares_for(towers_town.universe, LIMITS, paid, crowd, without).clusters == 0


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_larger_the_crowd_the_more_is_left_for_the_series(
    towers_town: Any, budget: str
) -> None:
    usual = recommended_shares(LIMITS, scaling=True, clustering=True, cuts=False)
    left = []
    for people in (100, 1_000, 10_000, 100_000, 10_000_000):
        crowd = Crowd(people=people, visits=14)
        found = shares_for(towers_town.universe, LIMITS, BUDGETS[budget], crowd, usual)
        left.append(1 - sum(vars(found).values(), start=Fraction(0)))
    assert left == sorted(left)
    # Shares without a guess suit small crowds; only a large one changes them.
    assert 0 <= left[0] - (1 - sum(vars(usual).values(), start=Fraction(0))) < Fraction(1, 100)
    assert left[-1] > Fraction(94, 100) - Fraction(1, 1000)


@pytest.mark.parametrize("most", [30, 1000])
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("people", [100, 10_000, 10_000_000])
def test_a_guess_gives_nothing_more_to_questions_other_than_the_series(
    towers_town: Any, budget: str, people: int, most: int
) -> None:
    limits = VisitLimits(max_visits=30, max_visits_in_total=most)
    usual = recommended_shares(limits, scaling=True, clustering=True, cuts=False)
    crowd = Crowd(people=people, visits=14)
    found = shares_for(towers_town.universe, limits, BUDGETS[budget], crowd, usual)
    assert all(share <= getattr(usual, name) for name, share in vars(found).items())


def test_the_share_for_all_visits_follows_the_cap_and_the_crowd(towers_town: Any) -> None:
    usual = recommended_shares(LIMITS, scaling=True, clustering=True, cuts=False)

    def share(people: int, most: int) -> Fraction:
        limits = VisitLimits(max_visits=30, max_visits_in_total=most)
        crowd = Crowd(people=people, visits=14)
        return shares_for(towers_town.universe, limits, BUDGETS["rho"], crowd, usual).total

    # The noise in the total is a fixed number of visits, set by the visits that count of a person.
    assert share(200_000, 100) < share(200_000, 1000)
    assert share(2_000_000, 1000) < share(200_000, 1000)


def test_people_of_whom_the_series_holds_little_get_more_for_the_histogram(
    towers_town: Any,
) -> None:
    usual = recommended_shares(LIMITS, scaling=True, clustering=True, cuts=False)
    once = VisitLimits(max_visits=30, max_visits_in_total=30)
    plain = recommended_shares(once, scaling=True, clustering=True, cuts=False)
    assert plain.histogram < usual.histogram

    def share(visits: float) -> Fraction:
        crowd = Crowd(people=20_000, visits=visits)
        return shares_for(towers_town.universe, LIMITS, BUDGETS["rho"], crowd, usual).histogram

    assert share(3000.0) > 2 * share(6.0)


def test_activity_without_a_histogram_is_refused() -> None:
    with pytest.raises(PlanError, match="of no use without a histogram"):
        Spends(series=BUDGETS["rho"], activity=BUDGETS["rho"])
