"""How busy people are, from noisy classes, and what the limits leave out."""

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from hushway.families.density.fit.activity import (
    PeopleByClass,
    VisitsInAll,
    known_activity,
    typical_visits,
)
from hushway.families.density.fit.places import known_places
from hushway.families.density.fit.scaling import all_visits
from hushway.families.density.fit.totals import Answers, Noisy
from hushway.families.density.public.visits import VisitLimits

LIMITS = VisitLimits(max_visits=30, max_visits_in_total=200)
BINS = 168


def classes(**people: float) -> np.ndarray:
    """People by class, given by how many visits they have."""
    found = np.zeros(len(LIMITS.activity))
    for visits, count in people.items():
        found[np.searchsorted(LIMITS.activity, int(visits[1:]), side="right") - 1] += count
    return found


def test_of_noise_alone_nothing_is_known() -> None:
    noise = np.random.default_rng(1).normal(0, 10, len(LIMITS.activity))
    assert known_activity(PeopleByClass(noise, 100.0), LIMITS, BINS) is None


def test_visits_are_counted_and_those_cut_off_are_added() -> None:
    activity = known_activity(PeopleByClass(classes(v4=10_000, v1024=500), 1.0), LIMITS, BINS)
    assert activity is not None
    busy = typical_visits()[np.searchsorted(LIMITS.activity, 1024)]
    assert activity.capped == pytest.approx(10_000 * np.sqrt(4 * 5) + 500 * 200, rel=0.01)
    assert activity.cut_off == pytest.approx(500 * (busy - 200), rel=0.01)
    # People of the first circle count whole, of the last with 30 visits.
    assert activity.counted[0] == pytest.approx(activity.visits[0], rel=0.03)
    busiest = LIMITS.circle[np.searchsorted(LIMITS.activity, 1024)]
    assert activity.counted[busiest] == 30
    assert activity.explained == pytest.approx(activity.capped, rel=0.01)


def test_a_class_that_does_not_stand_out_is_no_reason_to_add_visits() -> None:
    people = classes(v4=10_000)
    people[-1] = 20.0
    activity = known_activity(PeopleByClass(people, 100.0), LIMITS, BINS)
    assert activity is not None
    assert activity.cut_off == 0


def test_busy_people_for_whom_all_visits_have_no_room_were_made_by_noise() -> None:
    # Noise makes classes beyond the limit stand out in about one release of two hundred.
    people = classes(v4=2_000)
    people[-2:] = 60.0, 75.0
    visits = float(2_000 * np.sqrt(4 * 5))
    alone, room, full = (
        known_activity(PeopleByClass(people, 25.0**2), LIMITS, BINS, total)
        for total in (
            None,
            VisitsInAll(visits + 135 * 200, 5_000.0**2),
            VisitsInAll(visits, 5_000.0**2),
        )
    )
    assert alone is not None
    assert room is not None
    assert full is not None
    assert alone.cut_off > 100_000
    # Where all visits have room for them, they are believed.
    assert room.cut_off == alone.cut_off
    assert full.cut_off == 0
    assert not full.people[2:].any()


def test_busy_bins_are_counted_less_only_if_people_have_several_visits_in_them() -> None:
    share = np.full(BINS, 0.97 / (BINS - 1))
    share[0] = 0.03
    few = known_activity(PeopleByClass(classes(v1=10_000), 1.0), LIMITS, BINS)
    many = known_activity(PeopleByClass(classes(v48=10_000), 1.0), LIMITS, BINS)
    assert few is not None
    assert many is not None
    visits = typical_visits()[np.searchsorted(LIMITS.activity, 48)]
    seen = -np.expm1(-visits * share)
    found = many.unfolded(seen / seen.sum(), BINS)
    assert seen[0] / seen.sum() < 0.02
    assert found[0] == pytest.approx(0.03, rel=0.02)
    assert found.sum() == pytest.approx(1)
    assert few.unfolded(share, BINS)[0] == pytest.approx(0.03, rel=0.02)


def test_places_of_busy_people_are_scaled_by_more_than_others() -> None:
    activity = known_activity(PeopleByClass(classes(v4=10_000, v384=1_000), 1.0), LIMITS, BINS)
    assert activity is not None
    circles = np.zeros((LIMITS.circles, 10))
    circles[0] = 1_000
    circles[LIMITS.circle[np.searchsorted(LIMITS.activity, 384)], 0] = 1_000
    places = known_places(circles + 0.5, 4.0, activity)
    assert places.scale[0] > 5 * places.scale[1]
    alike = known_places(np.full((LIMITS.circles, 10), 100.0), 10_000.0, activity)
    assert np.ptp(alike.scale) < 0.01 * alike.scale[0]
    # What noise hides is in the error.
    assert (alike.scale_variance > 0.01).all()


def test_circles_that_do_not_stand_out_are_added_up_as_far_as_they_have_people() -> None:
    circles = np.zeros((LIMITS.circles, 10))
    circles[:2] = np.arange(1, 11) * 10.0
    together, alone = (known_places(some, 1.0, None) for some in (circles, circles[:1]))
    assert together.counted.sum() == pytest.approx(2 * alone.counted.sum(), rel=0.05)
    # The empty ones would add noise.
    assert together.variance.mean() < 3 * alone.variance.mean()


def test_of_visits_that_no_class_explains_a_third_again_was_cut_off() -> None:
    people = PeopleByClass(classes(v4=10_000), 1.0)
    activity = known_activity(people, LIMITS, BINS)
    assert activity is not None
    sure, unsure = (
        all_visits(answers(total=activity.explained + 9_000, variance=variance), activity)
        for variance in (100.0**2, 9_000.0**2)
    )
    assert sure is not None
    assert unsure is not None
    assert sure.value == pytest.approx(activity.explained + 4 / 3 * sure.hidden, rel=0.01)
    assert unsure.value == pytest.approx(activity.explained + unsure.hidden, rel=0.01)


def answers(*, total: float, variance: float) -> Answers:
    """Answers of which the number of all visits is all that matters."""
    every = Noisy(values=np.array([total]), variance=variance)
    return cast("Answers", SimpleNamespace(total=every))
