"""How a budget is split among the questions of a density."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.errors import PlanError
from hushway.families.density.mechanism import recommended
from hushway.families.density.mechanism.recommended import (
    Crowd,
    Shares,
    optimised_shares,
    recommended_shares,
    spends_of,
)
from hushway.families.density.public.visits import VisitLimits
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss, total

LIMITS = VisitLimits(max_visits=30, most_counted=1000)
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


@pytest.mark.parametrize("share", ["histogram", "total", "clusters", "cuts"])
def test_a_negative_share_or_nothing_for_the_series_is_refused(share: str) -> None:
    for wrong in (Fraction(-1, 100), Fraction(1), Fraction(3, 2)):
        with pytest.raises(PlanError, match="leave something for the series"):
            Shares(**{share: wrong})
    with pytest.raises(PlanError):
        Shares(histogram=Fraction(1, 2), total=Fraction(1, 2))


def test_only_questions_that_are_asked_are_recommended_a_share() -> None:
    everything = recommended_shares(scaling=True, clustering=True, cuts=True)
    assert all(share > 0 for share in vars(everything).values())
    nothing = recommended_shares(scaling=False, clustering=False, cuts=False)
    assert not any(vars(nothing).values())
    assert not recommended_shares(scaling=True, clustering=False, cuts=False).clusters


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("people", [2_000, 200_000, 2_000_000])
def test_optimised_shares_promise_no_larger_error_than_recommended_ones(
    towers_town: Any, budget: str, people: int
) -> None:
    usual = recommended_shares(scaling=True, clustering=True, cuts=False)
    crowd = Crowd(people=people, visits=14)
    paid = BUDGETS[budget]
    found = optimised_shares(towers_town.universe, LIMITS, paid, crowd, usual)
    error: Callable[[float, float], float] = recommended._error(
        towers_town.universe, LIMITS, paid, crowd, float(usual.clusters)
    )
    best = error(float(found.histogram), float(found.total))
    # Shares are written in thousandths, which may cost a trifle.
    assert best <= error(float(usual.histogram), float(usual.total)) * 1.0001
    assert found.clusters == usual.clusters
    assert total(spends_of(paid, found).losses) == paid
    for nearby in (0.5, 2.0):
        assert best <= error(nearby * float(found.histogram), float(found.total)) * 1.001
        assert best <= error(float(found.histogram), nearby * float(found.total)) * 1.001


def test_the_share_for_all_visits_follows_the_cap_and_hardly_the_crowd(
    towers_town: Any,
) -> None:
    usual = recommended_shares(scaling=True, clustering=True, cuts=False)

    def share(people: int, most: int) -> Fraction:
        limits = VisitLimits(max_visits=30, most_counted=most)
        crowd = Crowd(people=people, visits=14)
        return optimised_shares(towers_town.universe, limits, BUDGETS["rho"], crowd, usual).total

    # The noise in the total is a fixed number of visits, set by the visits that count of a person.
    assert share(20_000, 100) < share(20_000, 1000)
    # Relative to all visits, that noise and the noise in a series fall alike with the crowd.
    assert abs(share(2_000_000, 1000) - share(20_000, 1000)) < Fraction(5, 100)
