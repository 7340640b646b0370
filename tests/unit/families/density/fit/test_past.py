"""What densities learn from other steps of a series, and what they let go of."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from hushway.families.density.files.others import noisy_answers
from hushway.families.density.fit.steps import hours_of_week, tells_of
from hushway.families.density.fit.table import DensityTable
from hushway.families.density.mechanism.people import DensityPeople
from hushway.families.density.mechanism.series import DensitySeries, density_series
from hushway.families.density.public.visits import DensityUniverse, VisitLimits
from hushway.privacy.loss import PureLoss
from hushway.release.others import OtherStep
from support.density_towns import City, bins_of, town_of

LIMITS = VisitLimits(max_visits=4, max_visits_in_total=8, one_in_a_bin=False)
WAY = density_series(LIMITS, budget=PureLoss(Fraction(1, 4)))
PEOPLE = 16_000


@cache
def month(number: int, closed: int = -1) -> City:
    """Returns a town in which areas differ in size and hours, with other people every month."""
    random = np.random.default_rng(number)
    town = town_of(periods=bins_of(minutes=120), people=1)
    areas, bins = len(town.universe.areas), town.universe.bins
    size = np.where(np.arange(areas) == closed, 0.0, 1.0 + np.arange(areas) % 4)
    turn = 2 * np.pi * np.arange(bins) / town.universe.periods.parts
    rhythm = 1.2 + np.sin(turn + np.arange(areas)[:, None] % 3)
    # What no pattern knows of a place stays the same from month to month.
    whim = np.random.default_rng(99).lognormal(0, 0.5, rhythm.shape)
    share = (size[:, None] * rhythm * whim).ravel()
    person = np.repeat(np.arange(PEOPLE), 4)
    where = random.choice(share.size, len(person), p=share / share.sum())
    seen = np.unique(np.column_stack([person, *np.divmod(where, bins)]), axis=0)
    return City(universe=town.universe, person=seen[:, 0], site=seen[:, 1], bin=seen[:, 2])


@cache
def measured(city: City, seed: int, way: Any = WAY) -> Any:
    return city.measure(way, seed)[0]


def told_by(city: City, seed: int, away: int) -> OtherStep:
    answers = measured(city, seed)

    def read(universe: DensityUniverse) -> Any:
        return noisy_answers(WAY, answers, city.universe, universe)

    return OtherStep(stated={"steps_away": away}, answers=read)


def fitted(city: City, seed: int, others: Sequence[OtherStep] = ()) -> DensityTable:
    return replace(WAY, others=tuple(others)).fit(measured(city, seed), city.universe)


def off(table: DensityTable, city: City, areas: Any = slice(None)) -> float:
    return float(np.sqrt(((table.counts - city.truth)[areas] ** 2).mean()))


def held(table: DensityTable, city: City) -> float:
    return float((np.abs(table.counts - city.truth) <= 1.96 * table.standard_error).mean())


def test_a_month_is_more_exact_with_those_before_and_with_all_others() -> None:
    now = month(7)
    before = [told_by(month(7 - away), 10 + away, away) for away in range(1, 5)]
    after = [told_by(month(7 + away), 20 + away, -away) for away in range(1, 5)]
    alone, first, revised = (fitted(now, 1, some) for some in ((), before, before + after))
    assert off(first, now) < off(alone, now) / 1.1
    assert off(revised, now) < off(first, now)
    assert held(revised, now) > held(alone, now) - 0.05
    # The number of all visits is this month's own.
    assert revised.counts.sum() == pytest.approx(alone.counts.sum(), rel=1e-4)


@pytest.mark.parametrize(("before", "now"), [(-1, 7), (7, -1)])
def test_a_place_that_closes_or_opens_follows_its_own_answers(before: int, now: int) -> None:
    city, place = month(7, now), slice(7, 8)
    others = [told_by(month(7 - away, before), 10 + away, away) for away in range(1, 5)]
    assert off(fitted(city, 1, others), city, place) < 1.1 * off(fitted(city, 1), city, place) + 1
    # So it does when one step since then is known, too.
    others[0] = told_by(month(6, now), 11, 1)
    assert off(fitted(city, 1, others), city, place) < 1.1 * off(fitted(city, 1), city, place) + 1


def test_a_city_that_is_another_one_is_not_learnt_from() -> None:
    city = month(7)
    strange = replace(
        city, site=(city.site * 5) % len(city.universe.areas), bin=city.universe.bins - 1 - city.bin
    )
    others = [told_by(strange, 30 + away, away) for away in range(1, 5)]
    assert off(fitted(city, 1, others), city) < 1.02 * off(fitted(city, 1), city)


def test_the_order_of_steps_says_nothing_but_how_far_they_are_does() -> None:
    city = month(7)
    near, far = told_by(month(6), 11, 1), told_by(month(4), 12, 3)
    counts = fitted(city, 1, [near, far]).counts
    assert np.array_equal(counts, fitted(city, 1, [near, far]).counts)
    assert counts == pytest.approx(fitted(city, 1, [far, near]).counts, abs=0.011)
    further = replace(far, stated={"steps_away": 9})
    assert not np.array_equal(counts, fitted(city, 1, [near, further]).counts)


def test_limits_that_are_chosen_learn_as_well() -> None:
    city = month(7)
    way = DensityPeople(budget=PureLoss(Fraction(1, 4)), max_visits=4, max_visits_in_total=8)
    answers = measured(city, 1, way)
    others = tuple(told_by(month(7 - away), 10 + away, away) for away in range(1, 5))
    learnt = replace(way, others=others)
    alone, first = (one.fit(answers, city.universe) for one in (way, learnt))
    assert off(first, city) < off(alone, city) / 1.1


def test_weekdays_are_laid_over_each_other_whatever_the_month_begins_with() -> None:
    universe = town_of().universe
    first, second, short = (
        replace(universe, periods=bins_of(days, first=date(2026, month, 1)))
        for days, month in ((28, 1), (28, 2), (1, 1))
    )
    hours = hours_of_week(first)
    parts = first.periods.parts
    assert hours[0] == 3 * parts, "a Thursday"
    assert hours[parts * 7] == hours[0]
    assert sorted(set(hours.tolist())) == sorted(set(hours_of_week(second).tolist()))
    assert tells_of(first, second)
    assert tells_of(first, short), "it has the weekday"
    assert not tells_of(short, first), "it lacks six of them"


def test_a_month_learns_from_one_that_begins_on_another_weekday() -> None:
    city = month(7)
    bins, day = city.universe.bins, city.universe.periods.parts

    def others(first: int) -> list[OtherStep]:
        """Returns months whose windows begin on another day, with the same weeks."""
        periods = bins_of(minutes=120, first=city.universe.periods.first_day + timedelta(first))
        universe = replace(city.universe, periods=periods)
        moved = [
            replace(one, universe=universe, bin=(one.bin - 2 * day) % bins)
            for one in map(month, range(1, 5))
        ]
        return [told_by(one, 11 + away, away) for away, one in enumerate(moved, 1)]

    alone, right, wrong = (fitted(city, 1, some) for some in ((), others(2), others(0)))
    assert off(right, city) < off(alone, city) / 1.1
    assert off(right, city) < off(wrong, city)


def test_a_mechanism_without_others_says_nothing_of_them() -> None:
    assert "learnt_from" not in WAY.parameters
    named = {"release": "r", "seal": "s", "steps_away": 1}
    learning = replace(WAY, others=(OtherStep(stated=named),))
    assert isinstance(learning, DensitySeries)
    assert learning.parameters["learnt_from"] == [named]
    assert any("1 other release" in words for words in learning.post_processing)
