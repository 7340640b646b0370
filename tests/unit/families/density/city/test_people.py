import numpy as np
import pytest

from hushway.families.density.city.ground import towers_of
from hushway.families.density.city.paris import visits_of_people
from hushway.families.density.city.people import GATHERINGS, TowerField, people_of, tower_field
from hushway.families.density.city.rhythms import SHARE_OF_KIND, Kind, Place, calling, places
from hushway.numerics.chance import generator


@pytest.fixture(scope="module")
def towers() -> TowerField:
    return tower_field(towers_of(200)[1], generator(3, 1))


def test_from_a_hundred_thousand_people_on_one_has_the_most_visits() -> None:
    visits = visits_of_people(100_000, generator(1, 0))
    assert visits.max() == 732
    assert (visits == 732).sum() == 1
    assert visits.sum() == 1_355_000
    assert abs(visits.std() - 18.33) < 0.05
    assert visits_of_people(99_999, generator(1, 0)).max() < 732


def test_numbers_of_visits_are_the_same_for_every_seed_but_not_who_has_them() -> None:
    one, other = (visits_of_people(10_000, generator(seed, 0)) for seed in (1, 2))
    assert np.abs(np.sort(one) - np.sort(other)).max() <= 1
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("kind", list(Kind))
def test_calling_and_places_are_shares_of_every_hour(kind: Kind) -> None:
    for heavy in (False, True):
        assert calling(kind, heavy=heavy).shape == (168,)
        assert calling(kind, heavy=heavy).min() > 0
        assert np.isclose(calling(kind, heavy=heavy).sum(), 1)
    assert places(kind).shape == (168, len(Place))
    assert places(kind).min() >= 0
    assert np.allclose(places(kind).sum(axis=1), 1)


def test_workers_are_at_work_by_day_and_night_workers_by_night() -> None:
    tuesday = 24
    by_day, by_night = tuesday + 11, tuesday + 2
    assert places(Kind.WORKER)[by_day, Place.WORK] > 0.6
    assert places(Kind.WORKER)[by_night, Place.WORK] < 0.05
    assert places(Kind.NIGHT_WORKER)[by_night, Place.WORK] > 0.6
    assert places(Kind.NIGHT_WORKER)[by_day, Place.WORK] < 0.05


def test_people_are_of_all_kinds_about_on_some_day_and_some_at_gatherings(
    towers: TowerField,
) -> None:
    people = people_of(visits_of_people(50_000, generator(3, 0)), towers, generator(3, 2))
    kinds = np.bincount(people.rhythm // 2, minlength=len(Kind)) / 50_000
    # Ten deviations of a share of 50,000 draws are below 0.023.
    assert np.abs(kinds - SHARE_OF_KIND).max() < 0.023
    assert people.about.min() >= 1
    assert people.gathering.min() == -1
    assert people.gathering.max() == len(GATHERINGS) - 1
    assert np.array_equal(people.rhythm % 2 == 1, people.visits > 40)


def test_towers_have_whims_of_about_an_eighth_and_some_fail(towers: TowerField) -> None:
    works = towers.whim > 0
    assert towers.whim.max() <= 1
    assert 0.08 < np.log(towers.whim[works]).std() < 0.15
    assert 0 < (~works).sum() < 50


def test_half_the_calls_from_a_place_go_to_the_nearest_tower(towers: TowerField) -> None:
    assert np.array_equal(towers.neighbours[:, 0], np.arange(200))
    assert 0.4 < np.median(towers.spread[:, 0]) < 0.7
    assert np.allclose(towers.spread[:, -1], 1)
