"""What learnt sequences learn from other steps of a series, and what they let go of."""

from dataclasses import replace

import numpy as np
import pytest

from hushway.families.sequences.files.learnt import begun_with
from hushway.families.sequences.fit.expectation import expect
from hushway.families.sequences.fit.laying import Overlay
from hushway.families.sequences.fit.past import learn_stray, learnt_again, learnt_answers
from hushway.families.sequences.fit.steps import LOOK, step_answers
from hushway.families.sequences.fit.table import RecordTable
from hushway.families.sequences.public.questions import Asked
from hushway.geography.locations import Locations
from support.sequence_months import (
    BUSIEST,
    HEIGHT,
    NEXT,
    PLACES,
    WAYS,
    Month,
    apart,
    asked,
    fitted,
    measured,
    month,
    told_by,
)


def off(table: RecordTable, one: Month, place: int = -1) -> float:
    firsts = np.array([asked().place[0]]) if place < 0 else np.array([place])
    found = apart(table, one)
    if place >= 0:
        found = found[(asked().place == firsts) & (asked().parent < 0)]
    return float(np.sqrt((found**2).mean()))


def test_a_month_is_more_exact_with_those_before_and_with_all_others() -> None:
    now = month(7)
    before = [told_by(month(7 - away), 10 + away, away) for away in range(1, 5)]
    after = [told_by(month(7 + away), 20 + away, -away) for away in range(1, 5)]
    alone, first, revised = (fitted(now, 1, some) for some in ((), before, before + after))
    assert off(first, now) < off(alone, now) / 1.1
    assert off(revised, now) < off(alone, now) / 1.2
    # The number of all records is this month's own.
    assert revised.counts.sum() == alone.counts.sum()
    true = begun_with(revised, *now.begun)
    held = np.abs(true - revised.prefix_counts) <= 1.96 * revised.prefix_errors
    assert len(held) > 60
    assert held.mean() > 0.92


@pytest.mark.parametrize(
    ("before", "now", "place"), [(NEXT, BUSIEST, BUSIEST), (NEXT, BUSIEST, NEXT)]
)
def test_a_place_that_closes_or_opens_follows_its_own_answers(
    before: int, now: int, place: int
) -> None:
    city = month(7, now)
    others = [told_by(month(7 - away, before), 10 + away, away) for away in range(1, 5)]
    alone = off(fitted(city, 1), city, place)
    assert off(fitted(city, 1, others), city, place) < 1.1 * alone + 5
    # So it does when one step since then is known, too.
    others[0] = told_by(month(6, now), 11, 1)
    assert off(fitted(city, 1, others), city, place) < 1.1 * alone + 5


def test_a_city_that_is_another_one_is_not_learnt_from() -> None:
    city, turned = month(7), np.random.default_rng(1).permutation(PLACES)
    others = [
        told_by(replace(one, stops=turned[one.stops]), 30 + away, away)
        for away, one in enumerate(map(month, range(1, 5)), 1)
    ]
    assert off(fitted(city, 1, others), city) < 1.05 * off(fitted(city, 1), city)


def test_what_is_combined_is_as_sure_as_it_says() -> None:
    own = step_answers(measured(month(7), 1))
    exact = step_answers(measured(month(7), 1, "250"))
    others = [(n, step_answers(measured(month(7 - n), 10 + n))) for n in range(1, 5)]
    found = learnt_answers(own, others)
    for question in (*Asked, *range(len(Asked), LOOK)):
        wrong = found[question].values - exact.answers[question].values
        if wrong.size > 60:
            assert 0.6 < (wrong**2 / found[question].variance).mean() < 1.5
            alone = own.answers[question].values - exact.answers[question].values
            assert (wrong**2).mean() < (alone**2).mean() / 1.5


def test_nothing_is_learnt_from_no_step() -> None:
    own = step_answers(measured(month(7), 1))
    assert learnt_answers(own, []) is own.answers
    assert np.array_equal(fitted(month(7), 1).counts, fitted(month(7), 1, []).counts)


def test_of_the_same_answers_the_same_is_expected_again() -> None:
    answers = measured(month(7), 1)
    own, tree = step_answers(answers), answers.found.tree
    least = float(tree.expected.min())
    again = learnt_again(own, [], HEIGHT, least)[2]
    for name in ("parent", "place", "depth", "turned"):
        assert np.array_equal(getattr(again, name), getattr(tree, name))
    assert again.expected == pytest.approx(tree.expected, rel=0.02, abs=0.5)
    assert again.ending == pytest.approx(tree.ending, rel=0.05, abs=0.5)
    assert expect.__module__.endswith("expectation")


def test_other_trees_tell_the_same_of_the_same_prefixes() -> None:
    """Without noise, what another tree says of a cell is what is in it."""
    one = month(7)
    fine = step_answers(measured(one, 1, "250"))
    rough = step_answers(measured(one, 2, "1"))
    same = np.ones(PLACES, dtype=np.bool_)
    # The tree of much budget holds all prefixes, so it tells every cell of the small one.
    *_, laid = Overlay(own=rough, other=fine).all(same)
    assert laid.known.mean() > 0.99
    noise = np.sqrt(rough.answers[LOOK].noise.variance)
    wrong = rough.answers[LOOK].values - laid.values * fine.records / rough.records
    assert np.std(wrong) == pytest.approx(noise, rel=0.1)
    # Of a place that changed nothing is told.
    same[BUSIEST] = False
    *_, laid = Overlay(own=rough, other=fine).all(same)
    begins = np.repeat(rough.look.place, 2) == BUSIEST
    assert not laid.known[begins].any()


def test_places_are_known_by_their_names() -> None:
    one = month(7)
    locations = WAYS.taxonomy.locations
    order = np.random.default_rng(2).permutation(PLACES)
    turned = replace(
        one,
        taxonomy=replace(
            WAYS.taxonomy,
            locations=Locations(tuple(locations.places[at] for at in order)),
            levels=(),
        ),
        stops=np.argsort(order)[one.stops],
    )
    own, other = (step_answers(measured(each, 3, "250")) for each in (one, turned))
    same = np.ones(PLACES, dtype=np.bool_)
    for answer, laid in zip(own.answers, Overlay(own=own, other=other).all(same), strict=True):
        values = answer.values.ravel()
        assert values[laid.known] == pytest.approx(laid.values[laid.known], abs=8, rel=0.05)


def test_the_further_a_step_is_the_less_it_says() -> None:
    near, far = told_by(month(6), 11, 1), told_by(month(4), 12, 3)
    counts = apart(fitted(month(7), 1, [near, far]), month(7))
    further = replace(far, stated={"steps_away": 9})
    assert not np.array_equal(apart(fitted(month(7), 1, [near, further]), month(7)), counts)


@pytest.mark.parametrize("change", [0.0, 0.1, 0.5])
def test_how_far_numbers_stray_is_learnt(change: float) -> None:
    random = np.random.default_rng(3)
    level, noise = random.uniform(0, 1000, 3000), np.full(3000, 400.0)
    strayed = level * change * random.normal(size=3000)
    stray = learn_stray(strayed + random.laplace(0, np.sqrt(200), 3000), noise, level)
    assert stray.of(np.array([800.0])) == pytest.approx((800 * change) ** 2, rel=0.5, abs=300)
