"""Limits on visits that a noisy histogram of people chooses."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hushway.families.density.files.atlas import known_words
from hushway.families.density.mechanism.people import (
    DensityPeople,
    certified_people,
    quieter_budget,
)
from hushway.families.density.mechanism.terms import density_terms
from hushway.families.density.public.visits import ACTIVITY
from hushway.privacy.bound import Unit
from hushway.privacy.loss import PureLoss, ZCDPLoss
from support.density_towns import town_of

ONE = PureLoss(Fraction(1))
DELTA = Fraction(1, 10**6)


def people(**visits: int) -> DensityPeople:
    """A mechanism that has found so many people with so many visits."""
    found = [visits.get(f"v{step}", 0) for step in ACTIVITY]
    return DensityPeople(budget=ONE, max_visits=None, max_visits_in_total=None, people=tuple(found))


def test_of_people_with_one_visit_one_counts_and_the_series_tells_all(towers_town: Any) -> None:
    chosen = people(v1=100_000)
    assert (chosen.limits.max_visits, chosen.limits.max_visits_in_total) == (1, 1)
    spends = chosen.series_of(towers_town.universe).spends
    assert spends.losses == (spends.activity, spends.series)


def test_people_of_whom_nothing_stands_out_are_taken_to_be_usual(towers_town: Any) -> None:
    hidden, unasked = people(v1=20, v8=20), replace(people(), people=None)
    assert hidden.limits == unasked.limits
    asked = [way.series_of(towers_town.universe).spends for way in (hidden, unasked)]
    assert asked[0] == asked[1]


def test_busy_people_raise_limits_and_noise_does_not() -> None:
    busy, noisy = people(v8=50_000, v64=5_000).limits, people(v8=50_000, v64=150).limits
    assert busy.max_visits_in_total > noisy.max_visits_in_total
    assert busy.max_visits <= 64 < busy.max_visits_in_total


def test_a_limit_that_is_given_stays() -> None:
    found = tuple(10_000 if step <= 16 else 0 for step in ACTIVITY)
    way = DensityPeople(budget=ONE, max_visits=5, max_visits_in_total=None, people=found)
    assert way.limits.max_visits == 5
    assert way.ladder.visits == (5,)
    way.ladder.check(way.limits)


def test_a_certificate_tells_all_that_limits_follow_from(towers_town: Any) -> None:
    chosen = people(v4=20_000, v24=3_000)
    again = certified_people(chosen.parameters)
    ways = [way.series_of(towers_town.universe) for way in (chosen, again)]
    assert ways[0] == ways[1]
    with pytest.raises(TypeError):
        certified_people({**chosen.parameters, "people_by_visits": [1.5] * len(ACTIVITY)})


def test_people_by_site_are_told_apart_only_where_several_circles_stand_out(
    towers_town: Any,
) -> None:
    universe = towers_town.universe
    asked = {few: people(v4=20_000, v64=few).series_of(universe).circles for few in (0, 50, 1_000)}
    assert asked[0] == asked[50] == 1 < asked[1_000]


def test_noise_is_whichever_is_smaller_for_a_limit() -> None:
    kinds = {most: type(quieter_budget(Fraction(1), DELTA, most)) for most in (1, 4, 30)}
    assert kinds == {1: PureLoss, 4: PureLoss, 30: ZCDPLoss}
    assert isinstance(quieter_budget(Fraction(1), DELTA, None), PureLoss)
    assert isinstance(quieter_budget(Fraction(1), None, 30), PureLoss)


def test_a_density_that_is_mostly_noise_is_not_called_a_map() -> None:
    counts = np.array([[100.0, 100.0], [1.0, 1.0]])
    assert "no map" not in known_words(counts, np.full((2, 2), 5.0))
    assert "no map of where people are" in known_words(counts, np.full((2, 2), 60.0))


def test_a_certificate_says_where_areas_do_not_stand_out() -> None:
    universe = town_of(6, 5, people=10).universe

    def error(way: DensityPeople) -> str:
        return density_terms(way, universe, unit=Unit.PERSON).error

    assert "no map of where people are" in error(people(v1=20))
    assert "no map of where people are" in error(people(v1=150))
    assert "no map" not in error(people(v8=500_000))
    # Nothing is said of a crowd before it is measured.
    assert "no map" not in error(replace(people(), people=None))
