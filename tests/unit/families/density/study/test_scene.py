import numpy as np
import pytest

from hushway.engine.key import BoundingKey
from hushway.families.density.city.city import DensityCity
from hushway.families.density.city.paris import paris
from hushway.families.density.mechanism.series import density_series
from hushway.families.density.planning.trial import budget_of
from hushway.families.density.public.visits import ClusterSeries, SiteHistogram, VisitTotal
from hushway.families.density.rows.counts import ArrayVisits
from hushway.families.density.study.scene import DensityScene, paris_scene
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
