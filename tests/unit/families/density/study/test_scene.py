from datetime import date

import numpy as np
import pytest
import shapely

from hushway.engine.key import BoundingKey
from hushway.families.density.city.city import DensityCity
from hushway.families.density.city.paris import paris
from hushway.families.density.mechanism.series import density_series
from hushway.families.density.planning.trial import area_truth, budget_of
from hushway.families.density.public.cover import Cover, Pieces
from hushway.families.density.public.visits import (
    ClusterSeries,
    DensityUniverse,
    SiteHistogram,
    Sites,
    VisitTotal,
)
from hushway.families.density.rows.counts import ArrayVisits
from hushway.families.density.study.scene import DensityScene, paris_scene
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource

LIMITS = (5, 30)
MOST_COUNTED = 50


@pytest.fixture(scope="module")
def city() -> DensityCity:
    return paris(3, people=2000, towers=40, areas=20)


@pytest.fixture(scope="module")
def scene(city: DensityCity) -> DensityScene:
    return paris_scene(city, LIMITS, max_visits_in_total=MOST_COUNTED)


def test_the_truth_holds_every_visit(city: DensityCity, scene: DensityScene) -> None:
    assert scene.universe.sites is not None
    by_site = np.zeros_like(scene.site_truth)
    np.add.at(by_site, scene.universe.sites.site, city.counts)
    assert np.array_equal(scene.site_truth, by_site)
    assert scene.truth.sum() == pytest.approx(len(city.visits()))
    assert scene.truth.shape == (20, 168)


@pytest.mark.parametrize("most", LIMITS)
def test_counts_are_those_of_the_engine_for_arrays(
    city: DensityCity, scene: DensityScene, most: int
) -> None:
    bounded = scene.cities[most]
    universe = scene.universe
    assert universe.sites is not None
    engine = ArrayVisits(
        universe=universe,
        limits=bounded.limits,
        key=BoundingKey.draw(SeededSource(0)),
        person=city.person,
        site=universe.sites.site[city.tower],
        bin=city.second // 3600,
    )
    cluster = np.arange(len(universe.cover))
    for cells in (
        ClusterSeries(universe=universe, cluster=cluster, quanta=64),
        SiteHistogram(universe=universe),
        VisitTotal(universe=universe),
    ):
        query = Query(name=cells.name, cells=cells)
        ours, theirs = bounded.count(query), engine.count(query)
        assert np.array_equal(ours.cells, theirs.cells)
        assert np.array_equal(ours.values, theirs.values)
        assert bounded.bound(query) == engine.bound(query)
    assert bounded.unit == engine.unit


def test_the_paper_takes_the_same_bounded_visits(city: DensityCity, scene: DensityScene) -> None:
    for most, bounded in scene.cities.items():
        matrix = bounded.matrix
        visits = city.visits()
        each = np.bincount(visits.person)
        hours = np.unique(visits.person.astype(np.int64) * 168 + visits.hour) // 168
        kept = np.minimum(np.bincount(hours), most).sum()
        assert matrix.visits.sum() == kept
        assert (matrix.visits <= scene.site_truth).all()
        assert matrix.first.sum() == city.people
        assert matrix.total == np.minimum(each, MOST_COUNTED).sum()


def test_another_key_keeps_other_visits(city: DensityCity, scene: DensityScene) -> None:
    again = paris_scene(city, [5], max_visits_in_total=MOST_COUNTED, key_seed=1).cities[5]
    assert not np.array_equal(again.found.series, scene.cities[5].found.series)
    assert again.found.series.sum() == scene.cities[5].found.series.sum()


def test_measurements_follow_the_seed(scene: DensityScene) -> None:
    bounded = scene.cities[30]
    mechanism = density_series(bounded.limits, budget=budget_of("1", "0.000001"))
    one, same, other = (bounded.measured(mechanism, seed)[0].values for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


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


def test_a_visit_is_shared_by_the_ground_of_its_site() -> None:
    visits = np.array([[4, 0], [1, 10]])
    assert area_truth(two_by_two(), visits).tolist() == [[3.0, 0.0], [2.0, 10.0]]


def test_areas_hold_as_many_visits_as_sites() -> None:
    visits = np.random.default_rng(1).integers(0, 50, (2, 2))
    found = area_truth(two_by_two(), visits)
    assert found.sum(axis=0) == pytest.approx(visits.sum(axis=0))
