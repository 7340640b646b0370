"""Links near points, held against every segment of every link."""

import numpy as np
import pytest
import shapely

from hushway.errors import GeographyError
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.public.roads import RoadNetwork
from support.road_scenes import jittered_grid


def distances(roads: RoadNetwork, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    lines = np.array(
        [shapely.LineString(p) for p in np.split(roads.points, roads.start[1:-1])], dtype=object
    )
    return shapely.distance(shapely.points(x, y)[:, None], lines[None, :])


@pytest.mark.parametrize("radius", [30.0, 90.0, 700.0])
def test_nearest_links_are_all_links_within_the_radius(radius: float) -> None:
    roads = jittered_grid(9)
    x, y = np.random.default_rng(2).uniform(-700, 700, (2, 60))
    start, link, metres = Matcher(roads).nearest_links(x, y, radius)
    expected = distances(roads, x, y)
    for i in range(len(x)):
        here = slice(start[i], start[i + 1])
        assert sorted(link[here]) == np.flatnonzero(expected[i] <= radius).tolist()
        np.testing.assert_allclose(metres[here], expected[i][link[here]], atol=1e-6)
        assert (np.diff(metres[here]) >= 0).all()


def test_a_two_way_street_counts_once_within_radii() -> None:
    roads = jittered_grid(9)
    x, y = np.random.default_rng(3).uniform(-700, 700, (2, 80))
    radii = np.linspace(10, 400, 40)
    counts = Matcher(roads).links_within(x, y, radii, threads=2)
    of_street = np.full((len(x), int(roads.street.max()) + 1), np.inf)
    for link, metres in enumerate(distances(roads, x, y).T):
        column = roads.street[link]
        of_street[:, column] = np.minimum(of_street[:, column], metres)
    assert np.array_equal(counts, (of_street[:, :, None] <= radii).sum(axis=1))
    assert counts.max() > 20


def test_points_far_from_every_road_have_no_links() -> None:
    matcher = Matcher(jittered_grid(4))
    far = np.array([1e6, -1e6])
    start, link, _ = matcher.nearest_links(far, far, 100.0)
    assert start.tolist() == [0, 0, 0]
    assert len(link) == 0
    assert matcher.links_within(far, far, np.array([5.0, 50.0])).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("radii", [[], [20.0, 10.0], [-1.0, 4.0]])
def test_radii_that_do_not_ascend_are_refused(radii: list[float]) -> None:
    with pytest.raises(GeographyError, match="ascend"):
        Matcher(jittered_grid(3)).links_within(np.zeros(1), np.zeros(1), np.array(radii))
