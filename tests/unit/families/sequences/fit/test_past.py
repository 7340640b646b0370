"""What learnt sequences learn from other steps of a series, and what they let go of."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hushway.families.sequences.files.learnt import begun_with
from hushway.families.sequences.fit.changes import unchanged_places
from hushway.families.sequences.fit.laying import Overlay
from hushway.families.sequences.fit.past import learnt_again, learnt_answers
from hushway.families.sequences.fit.steps import LOOK, step_answers
from hushway.families.sequences.fit.stray import learn_stray
from hushway.families.sequences.mechanism.catalogue import LEARNED
from hushway.families.sequences.mechanism.people import PeopleSequences, certified_people
from hushway.families.sequences.public.questions import Asked
from hushway.geography.locations import Locations
from hushway.privacy.certificate import MechanismRecord
from hushway.release.others import OtherStep
from support.sequence_months import (
    BUSIEST,
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
    way,
)


def off(table: object, one: Month, place: int = -1) -> float:
    """Returns how far prefixes are off, or those of one stop at a place."""
    found = apart(table, one)
    if place >= 0:
        found = found[(asked().place == place) & (asked().parent < 0)]
    return float(np.sqrt((found**2).mean()))


def test_a_month_is_more_exact_with_those_before_and_with_all_others() -> None:
    now = month(7)
    before = [told_by(month(7 - away), 10 + away, away) for away in range(1, 5)]
    after = [told_by(month(7 + away), 20 + away, -away) for away in range(1, 5)]
    alone, first, revised = (fitted(now, 1, some) for some in ((), before, before + after))
    assert off(first, now) < off(alone, now) / 1.1
    assert off(revised, now) < off(alone, now) / 1.1
    # The number of all records is this month's own.
    assert revised.counts.sum() == alone.counts.sum()
    held = np.abs(begun_with(revised, *now.begun) - revised.prefix_counts)
    assert len(held) > 60
    assert (held <= 1.96 * revised.prefix_errors).mean() > 0.9


@pytest.mark.parametrize(("before", "now"), [(NEXT, BUSIEST), (-1, BUSIEST)])
def test_a_place_that_closes_or_opens_follows_its_own_answers(before: int, now: int) -> None:
    city = month(7, now)
    others = [told_by(month(7 - away, before), 10 + away, away) for away in range(1, 5)]
    learnt, alone = fitted(city, 1, others), fitted(city, 1)
    assert off(learnt, city) < 1.1 * off(alone, city)
    for place in (BUSIEST, NEXT):
        assert off(learnt, city, place) < 1.1 * off(alone, city, place) + 15
    # So it does when one step since then is known, too.
    others[0] = told_by(month(6, now), 11, 1)
    assert off(fitted(city, 1, others), city) < 1.1 * off(alone, city)


def test_places_that_changed_are_found() -> None:
    own = step_answers(measured(month(7, BUSIEST), 1))
    others = [step_answers(measured(month(7 - n, NEXT), 10 + n)) for n in range(1, 5)]
    same = unchanged_places([Overlay(own=own, other=one) for one in others], np.arange(1, 5))
    assert not same[:, [BUSIEST, NEXT]].any()
    assert same.mean() > 0.85


def test_a_city_that_is_another_one_is_not_learnt_from() -> None:
    city, turned = month(7), np.random.default_rng(1).permutation(PLACES)
    others = [
        told_by(replace(one, stops=turned[one.stops]), 30 + away, away)
        for away, one in enumerate(map(month, range(1, 5)), 1)
    ]
    assert off(fitted(city, 1, others), city) < 1.02 * off(fitted(city, 1), city)


def test_what_is_combined_is_nearer_and_as_sure_as_it_says() -> None:
    answers = measured(month(7), 1)
    own, exact = step_answers(answers), step_answers(measured(month(7), 1, "250"))
    others = [(n, step_answers(measured(month(7 - n), 10 + n))) for n in range(1, 5)]
    found = learnt_answers(own, answers.found, others)
    assert len(found) == LOOK
    for question in (Asked.TURNS, Asked.TURNS_BY_PLACE, Asked.FIRST_TWO):
        true = exact.answers[question].values
        wrong, alone = (one.values - true for one in (found[question], own.answers[question]))
        assert 0.5 < (wrong**2 / found[question].variance).mean() < 1.5
        assert (wrong**2).mean() < (alone**2).mean() / 2


def test_nothing_is_learnt_from_no_step() -> None:
    answers = measured(month(7), 1)
    own, tree = step_answers(answers), answers.found.tree
    assert learnt_answers(own, answers.found, []) == own.answers[:LOOK]
    least = way()._least(answers)
    again = learnt_again(own, answers.found, [], least).tree
    for name in ("parent", "place", "depth", "turned"):
        assert np.array_equal(getattr(again, name), getattr(tree, name))
    for name in ("expected", "ending", "leaving"):
        assert getattr(again, name) == pytest.approx(getattr(tree, name), abs=1e-6)


def test_places_are_known_by_their_names_and_may_be_new() -> None:
    one = month(7)
    locations, order = WAYS.taxonomy.locations, np.random.default_rng(2).permutation(PLACES)
    places = tuple(
        replace(locations.places[at], id="elsewhere") if at == NEXT else locations.places[at]
        for at in order
    )
    taxonomy = replace(WAYS.taxonomy, locations=Locations(places), levels=())
    turned = replace(one, taxonomy=taxonomy, stops=np.argsort(order)[one.stops])
    own, other = step_answers(measured(one, 3)), step_answers(measured(turned, 4))
    both = Overlay(own=own, other=other)
    for question, laid in enumerate(both.all(np.ones(PLACES, dtype=np.bool_))):
        mine, noise = own.answers[question].values.ravel(), own.answers[question].noise
        if question in (Asked.FIRSTS, Asked.TURNS_BY_PLACE, Asked.FIRST_TWO):
            assert not laid.known.all()
            off = (mine - laid.values)[laid.known] ** 2 / (noise.variance + laid.variance[0])
            assert off.mean() == pytest.approx(1, rel=0.4)
    same = unchanged_places([both], np.array([1]))
    assert same.mean() > 0.85


def test_the_further_a_step_is_the_less_it_says() -> None:
    near, far = told_by(month(6), 11, 1), told_by(month(4), 12, 3)
    further = replace(far, stated={"steps_away": 9})
    one, other = (fitted(month(7), 1, [near, some]) for some in (far, further))
    assert not np.array_equal(apart(one, month(7)), apart(other, month(7)))


@pytest.mark.parametrize("change", [0.0, 0.1, 0.5])
def test_how_far_numbers_stray_is_learnt(change: float) -> None:
    random = np.random.default_rng(3)
    level, noise = random.uniform(0, 1000, 3000), np.full(3000, 400.0)
    strayed = level * change * random.normal(size=3000)
    stray = learn_stray(strayed + random.laplace(0, np.sqrt(200), 3000), noise, level)
    assert stray.of(np.array([800.0])) == pytest.approx((800 * change) ** 2, rel=0.5, abs=1500)


def test_certificates_name_other_steps() -> None:
    assert "learnt_from" not in way().parameters
    named = {"release": "r", "seal": "s", "steps_away": 1}
    others = (OtherStep(stated=named),)
    learning = replace(way(), others=others)
    people = PeopleSequences(inner=way(), ladder=(1, 2, 3), limit=None, people=(9, 8, 7))
    for made in (learning, replace(people, others=others)):
        assert made.parameters["learnt_from"] == [named]
        assert any("1 other release" in words for words in made.post_processing)
    record = MechanismRecord(name="learned", parameters=learning.parameters)
    again = LEARNED.from_certificate(record.parameters, learning.universe)
    assert again.parameters == learning.parameters
    settled = replace(people, others=others).parameters
    assert certified_people(settled, way().universe).parameters == settled
    assert way().spends[0].amount == Fraction(3, 100)
