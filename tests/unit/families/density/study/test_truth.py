from datetime import date

import numpy as np
import pytest
import shapely

from hushway.errors import DataError
from hushway.families.density.planning.trial import area_truth
from hushway.families.density.public.cover import Cover, Pieces
from hushway.families.density.public.visits import DensityUniverse, Sites
from hushway.families.density.study.scene import exact_visits
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods


def two_by_two() -> DensityUniverse:
    """Site 0 lies in area 0 to three quarters, the rest and all of site 1 in area 1."""
    shapes = (shapely.box(2.0, 48.0, 2.1, 48.1), shapely.box(2.1, 48.0, 2.2, 48.1))
    day = date(2007, 9, 10)
    places = tuple(Location(id=str(i), name="", lon=2.0, lat=48.0, zone="z") for i in range(2))
    pieces = Pieces(
        sites=2,
        areas=2,
        site=np.array([0, 0, 1]),
        area=np.array([0, 1, 1]),
        size=np.array([3.0, 1.0, 2.0]),
    )
    return DensityUniverse(
        areas=Areas(areas=tuple(Area(id=str(i), name="", shape=s) for i, s in enumerate(shapes))),
        periods=Periods(
            zone="Europe/Paris",
            first_day=day,
            last_day=day,
            opens=0,
            closes=1440,
            minutes=720,
            cycle="window",
        ),
        sites=Sites(locations=Locations(places), site=np.arange(2)),
        cover=Cover(
            pieces=pieces,
            is_site=np.array([True, False]),
            member=np.array([0, 1]),
            cell=np.array([0, 0, 1]),
            centres=np.zeros((2, 2)),
        ),
    )


def test_a_person_counts_once_at_each_site_in_each_bin() -> None:
    rows = np.array(
        [
            [0, 0, 0],
            [0, 0, 0],
            [0, 1, 0],
            [0, 0, 1],
            [1, 0, 0],
            [1, -1, 0],
            [1, 1, -1],
        ]
    )
    found = exact_visits(*rows.T, sites=2, bins=2)
    assert found.dtype == np.int64
    assert found.tolist() == [[2, 1], [1, 0]]


def test_many_rows_are_counted_like_a_set_of_triples() -> None:
    rng = np.random.default_rng(5)
    person, site, hour = (rng.integers(0, n, 20_000) for n in (300, 7, 24))
    expected = np.zeros((7, 24), dtype=np.int64)
    for _, s, t in set(zip(person.tolist(), site.tolist(), hour.tolist(), strict=True)):
        expected[s, t] += 1
    assert expected.sum() < 20_000
    assert np.array_equal(exact_visits(person, site, hour, 7, 24), expected)


def test_no_rows_give_no_visits() -> None:
    nobody = np.zeros(0, dtype=np.int64)
    assert exact_visits(nobody, nobody, nobody, 3, 2).tolist() == [[0, 0]] * 3


def test_small_integers_do_not_overflow() -> None:
    person = np.array([40_000, 40_000, 1], dtype=np.int32)
    site = np.array([1000, 1000, 1000], dtype=np.int16)
    hour = np.array([100, 100, 100], dtype=np.int8)
    assert exact_visits(person, site, hour, 1303, 168)[1000, 100] == 2


@pytest.mark.parametrize("person", [-1, 1 << 61])
def test_persons_that_are_not_numbered_are_refused(person: int) -> None:
    one = np.zeros(1, dtype=np.int64)
    with pytest.raises(DataError, match="numbered from 0"):
        exact_visits(np.array([person]), one, one, 4, 4)


@pytest.mark.parametrize(("site", "hour"), [(4, 0), (0, 4)])
def test_rows_beyond_the_last_site_or_bin_are_refused(site: int, hour: int) -> None:
    with pytest.raises(DataError, match="not in the list"):
        exact_visits(np.array([0]), np.array([site]), np.array([hour]), 4, 4)


def test_a_visit_is_shared_by_the_ground_of_its_site() -> None:
    visits = np.array([[4, 0], [1, 10]])
    assert area_truth(two_by_two(), visits).tolist() == [[3.0, 0.0], [2.0, 10.0]]


def test_areas_hold_as_many_visits_as_sites() -> None:
    visits = np.random.default_rng(1).integers(0, 50, (2, 2))
    found = area_truth(two_by_two(), visits)
    assert found.sum(axis=0) == pytest.approx(visits.sum(axis=0))
