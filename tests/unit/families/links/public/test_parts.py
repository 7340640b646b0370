"""Parts and zones of a road network."""

import numpy as np
import pytest
import shapely
from pyproj import Geod

from hushway.errors import GeographyError
from hushway.families.links.public.cleaning import links_kept, roads_within, strongly_connected
from hushway.families.links.public.roads import (
    RoadNetwork,
    course_hashes,
    course_lengths,
    grid_zones,
    midpoints_in_degrees,
    midpoints_in_metres,
    segment_lengths,
    starts_of,
    taken_points,
    without_repeats,
    zones_of_areas,
)
from hushway.geography.areas import Area, Areas

STEP = 0.01


def chain(nodes: int) -> RoadNetwork:
    """Two-way streets from west to east along the equator, a hundredth of a degree each."""
    west = np.repeat(np.arange(nodes - 1), 2)
    back = np.tile([False, True], nodes - 1)
    tail, head = np.where(back, west + 1, west), np.where(back, west, west + 1)
    count = len(tail)
    return RoadNetwork(
        node_id=np.array([f"n{at}" for at in range(nodes)]),
        node_lon=np.arange(nodes) * STEP,
        node_lat=np.zeros(nodes),
        link_id=np.array([f"l{at}" for at in range(count)]),
        tail=tail,
        head=head,
        length=np.full(count, 1113.0),
        speed=np.full(count, 30.0),
        lanes=np.ones(count),
        road_class=np.full(count, 5),
        street=west,
        name=np.array([f"street {at}" for at in west]),
        start=np.arange(count + 1) * 2,
        lon=np.column_stack([tail, head]).ravel() * STEP,
        lat=np.zeros(2 * count),
    )


def square(key: str, west: float, east: float) -> Area:
    return Area(id=key, name=key, shape=shapely.box(west, -1, east, 1))


def test_kept_links_bring_their_nodes_courses_and_streets_along() -> None:
    keep = np.zeros(8, dtype=np.bool_)
    keep[[4, 5, 7]] = True
    part = links_kept(chain(5), keep)
    assert part.link_id.tolist() == ["l4", "l5", "l7"]
    assert part.node_id.tolist() == ["n2", "n3", "n4"]
    assert (part.tail.tolist(), part.head.tolist()) == ([0, 1, 2], [1, 0, 1])
    assert part.street.tolist() == [0, 0, 1]
    np.testing.assert_allclose(part.lon, [0.02, 0.03, 0.03, 0.02, 0.04, 0.03])


def test_parts_are_compared_by_links_and_the_first_of_equals_is_taken() -> None:
    tail = np.array([0, 1, 2, 3, 3, 4])
    head = np.array([1, 0, 3, 2, 4, 3])
    every = np.ones(6, dtype=np.bool_)
    assert strongly_connected(tail, head, 5, among=every).tolist() == [False] * 2 + [True] * 4
    assert (
        strongly_connected(tail[:4], head[:4], 5, among=every[:4]).tolist()
        == [True] * 2 + [False] * 2
    )
    assert not strongly_connected(tail, head, 5, among=~every).any()


def test_roads_within_a_box_or_areas_have_their_midpoints_there() -> None:
    roads = chain(6)
    box = roads_within(roads, (0.012, -1, 0.037, 1))
    assert box.node_id.tolist() == ["n1", "n2", "n3", "n4"]
    areas = Areas(areas=(square("w", -1, 0.012), square("e", 0.024, 0.026)))
    assert roads_within(roads, areas).node_id.tolist() == ["n0", "n1"]


def test_a_place_without_roads_is_refused() -> None:
    with pytest.raises(GeographyError, match="No roads"):
        roads_within(chain(3), (5.0, 5.0, 6.0, 6.0))


def test_midpoints_are_halfway_along_the_course_not_between_the_ends() -> None:
    roads = chain(3)
    lon, lat = midpoints_in_degrees(roads)
    np.testing.assert_allclose(lon, [0.005, 0.005, 0.015, 0.015])
    np.testing.assert_allclose(lat, 0)
    bent = RoadNetwork(
        **{
            **{name: getattr(roads, name)[:1] for name in roads.__dataclass_fields__},
            "node_id": roads.node_id,
            "node_lon": roads.node_lon,
            "node_lat": roads.node_lat,
            "start": np.array([0, 3]),
            "lon": np.array([0.0, 0.01, 0.01]),
            "lat": np.array([0.0, 0.0, 0.001]),
        }
    )
    assert midpoints_in_degrees(bent)[0][0] == pytest.approx(0.0055, abs=1e-5)


def test_squares_hold_midpoints_and_are_numbered_without_gaps() -> None:
    roads = chain(7)
    zone, names = grid_zones(roads, 2000)
    expected = np.floor(midpoints_in_metres(roads)[:, 0] / 2000).astype(int)
    assert [names[at].split(",")[0] for at in zone] == [str(east) for east in expected]
    assert sorted(set(zone.tolist())) == list(range(len(names)))
    assert len(names) == 4


def test_both_directions_of_a_street_lie_in_one_zone_even_on_a_border() -> None:
    # The middle of the network is the middle of the middle street, and a corner of squares.
    roads = chain(4)
    zone, _ = grid_zones(roads, 500)
    assert zone[0::2].tolist() == zone[1::2].tolist()


@pytest.mark.parametrize("metres", [0, -5, float("nan"), float("inf")])
def test_squares_need_a_size(metres: float) -> None:
    with pytest.raises(GeographyError, match="above 0"):
        grid_zones(chain(3), metres)


def test_areas_are_zones_and_links_outside_share_one() -> None:
    roads = chain(5)
    border = float(midpoints_in_degrees(roads)[0][2])
    west, middle = square("west", -1, border), square("mid", border, 0.03)
    areas = Areas(areas=(square("far", 5, 6), west, middle))
    zone, names = zones_of_areas(roads, areas)
    assert names == ("west", "mid", "outside")
    # The midpoint of the second street lies on a border: the first area has it.
    assert zone.tolist() == [0, 0, 0, 0, 1, 1, 2, 2]


def test_an_area_may_not_be_called_outside() -> None:
    with pytest.raises(GeographyError, match="'outside'"):
        zones_of_areas(chain(3), Areas(areas=(square("outside", -1, 1),)))


def test_a_network_inside_all_areas_has_no_zone_outside() -> None:
    zone, names = zones_of_areas(chain(3), Areas(areas=(square("all", -1, 1),)))
    assert names == ("all",)
    assert not zone.any()


@pytest.mark.parametrize("lat", [0.0, 41.15, -33.9, 69.6])
def test_lengths_are_those_on_the_ellipsoid(lat: float) -> None:
    draw = np.random.default_rng(7)
    lon = 10 + np.cumsum(draw.normal(0, 0.003, 200))
    lats = lat + np.cumsum(draw.normal(0, 0.003, 200))
    _, _, exact = Geod(ellps="WGS84").inv(lon[:-1], lats[:-1], lon[1:], lats[1:])
    np.testing.assert_allclose(segment_lengths(lon, lats), exact, rtol=1e-6)


def test_a_course_does_not_run_on_into_the_next_one() -> None:
    start = np.array([0, 2, 5])
    lon = np.array([0.0, 0.001, 5.0, 5.001, 5.002])
    lat = np.zeros(5)
    one = float(segment_lengths(lon[:2], lat[:2])[0])
    np.testing.assert_allclose(course_lengths(start, lon, lat), [one, 2 * one], rtol=1e-9)


def test_courses_are_taken_in_any_order_and_turned() -> None:
    start = np.array([0, 2, 5, 9])
    points = taken_points(start, np.array([2, 0, 1]), np.array([True, False, True]))
    assert points.tolist() == [8, 7, 6, 5, 0, 1, 4, 3, 2]
    assert starts_of(np.array([4, 2, 3])).tolist() == [0, 4, 6, 9]


def test_a_course_and_its_reverse_agree_in_points_but_not_in_order() -> None:
    lon = np.array([1.0, 1.1, 1.3, 1.3, 1.1, 1.0, 1.0, 1.1, 1.3])
    start = np.array([0, 3, 6, 9])
    ordered, points = course_hashes(start, lon, lon / 2)
    assert points[0] == points[1] == points[2]
    assert ordered[0] == ordered[2] != ordered[1]


def test_courses_that_differ_by_a_centimetre_have_other_hashes() -> None:
    lon = np.array([1.0, 1.1, 1.0, 1.1000001])
    ordered, points = course_hashes(np.array([0, 2, 4]), lon, np.zeros(4))
    assert ordered[0] != ordered[1]
    assert points[0] != points[1]


def test_points_that_stand_still_are_marked_but_never_a_beginning() -> None:
    lon = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 2.0])
    keep = without_repeats(np.array([0, 3, 6]), lon, np.zeros(6))
    assert keep.tolist() == [True, False, True, True, False, True]
