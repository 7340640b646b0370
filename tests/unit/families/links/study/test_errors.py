import math

import numpy as np
import pytest
from scipy import stats

from hushway.arrays import FloatArray
from hushway.families.links.city.road_city import road_city
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.study.attacks import (
    Advantage,
    away_from,
    commuters,
    drives_of_person,
    guessed_home,
    most_advantage,
    traces_of,
)
from hushway.families.links.study.methods import (
    busiest,
    class_distance,
    counts_distance,
    link_errors,
    network_length,
)


@pytest.fixture(scope="module")
def roads() -> RoadNetwork:
    return road_city(3, links=1000)


@pytest.fixture(scope="module")
def truth(roads: RoadNetwork) -> FloatArray:
    return np.random.default_rng(1).poisson(0.7, roads.links).astype(np.float64)


def test_the_truth_has_no_errors(truth: FloatArray, roads: RoadNetwork) -> None:
    found = link_errors(truth, truth, roads).value
    assert (found.length_ratio, found.top_share, found.major_share) == (1.0, 1.0, 1.0)
    assert (found.counts_distance, found.class_distance) == (0.0, 0.0)
    assert (found.relative_error, found.rmse) == (0.0, 0.0)


def test_nothing_published_is_as_bad_as_it_gets(truth: FloatArray, roads: RoadNetwork) -> None:
    found = link_errors(truth, np.zeros_like(truth), roads).value
    assert (found.length_ratio, found.top_share, found.major_share) == (0.0, 0.0, 0.0)
    assert found.relative_error == 1.0
    assert found.counts_distance == pytest.approx(1.0)
    assert found.class_distance == 4.0


def test_distances_are_those_of_scipy(truth: FloatArray, roads: RoadNetwork) -> None:
    other = np.random.default_rng(2).poisson(1.1, roads.links).astype(np.float64)
    assert counts_distance(truth, other) == pytest.approx(stats.wasserstein_distance(truth, other))
    classes = [roads.road_class[counts > 0] for counts in (truth, other * (roads.road_class < 5))]
    expected = stats.wasserstein_distance(*classes)
    assert expected > 0
    shown = other * (roads.road_class < 5)
    assert class_distance(truth, shown, roads) == pytest.approx(expected)


def test_which_link_has_which_count_matters_only_to_the_other_errors(
    truth: FloatArray, roads: RoadNetwork
) -> None:
    mixed = np.random.default_rng(3).permutation(truth)
    found = link_errors(truth, mixed, roads).value
    assert found.counts_distance == 0.0
    assert found.relative_error > 0.5
    assert found.top_share < 0.5


def test_lengths_are_those_of_links_in_use(roads: RoadNetwork) -> None:
    counts = np.zeros(roads.links)
    counts[[3, 8]] = 1.0, 0.25
    assert network_length(counts, roads) == pytest.approx(roads.length[3] + roads.length[8])


def test_links_without_a_count_are_never_busy() -> None:
    assert busiest(np.array([0.0, 3.0, 1.0, 3.0]), 2).tolist() == [1, 3]
    assert busiest(np.array([0.0, 0.0, 2.0]), 2).tolist() == [2]


def test_major_routes_are_weighed_by_kilometres_and_never_beyond_the_truth(
    roads: RoadNetwork,
) -> None:
    truth, published = np.zeros(roads.links), np.zeros(roads.links)
    truth[[0, 1]] = 10.0, 5.0
    published[[0, 1]] = 40.0, 1.0
    found = link_errors(truth, published, roads).value
    length = roads.length
    expected = (10 * length[0] + 1 * length[1]) / (10 * length[0] + 5 * length[1])
    assert found.major_share == pytest.approx(expected)
    assert found.relative_error == pytest.approx(34 / 15)


def test_commuters_drive_from_home_to_work(roads: RoadNetwork) -> None:
    people = commuters(roads, 15, np.random.default_rng(1))
    assert len(people) == 15
    for person in people:
        assert roads.tail[person.route[0]] == person.home
        assert roads.head[person.route[-1]] == person.work
        assert (roads.head[person.route[:-1]] == roads.tail[person.route[1:]]).all()


def test_positions_lead_back_to_the_route(roads: RoadNetwork) -> None:
    rng = np.random.default_rng(1)
    people = commuters(roads, 15, rng)
    ways = Matcher(roads).match(traces_of(roads, [person.route for person in people], rng))
    shares = [
        np.isin(person.route, ways.link[ways.start[i] : ways.start[i + 1]]).mean()
        for i, person in enumerate(people)
    ]
    assert np.mean(shares) > 0.9


def test_a_person_has_every_link_and_both_ends(roads: RoadNetwork) -> None:
    person = commuters(roads, 1, np.random.default_rng(2))[0]
    drives = drives_of_person(person, roads)
    assert len(np.unique(drives.person)) == 1
    assert drives.item[-2:].tolist() == [
        roads.links + person.home,
        roads.links + roads.nodes + person.work,
    ]
    assert np.array_equal(drives.item[:-2], person.route)


def test_people_away_from_a_road_are_never_near_it(roads: RoadNetwork) -> None:
    people = commuters(roads, 20, np.random.default_rng(2))
    road = int(people[0].route[4])
    away = away_from(road, people, roads, 300.0)
    assert 0 < len(away) < 20
    nodes = roads.node_points
    for person in away:
        apart = nodes[roads.tail[person.route]] - nodes[roads.tail[road]]
        assert np.hypot(*apart.T).min() > 100
    assert all(person is not people[0] for person in away)


def test_a_guess_is_the_middle_of_all_homes(roads: RoadNetwork) -> None:
    person = commuters(roads, 1, np.random.default_rng(2))[0]
    assert guessed_home(person, np.array([person.home]), roads) == pytest.approx(0.0)
    assert guessed_home(person, np.arange(roads.nodes), roads) > 0


def test_the_largest_advantage_is_where_both_inequalities_meet() -> None:
    epsilon, delta = 0.7, 0.01
    # Chances p and q with p = e^eps q + delta and 1 - q = e^eps (1 - p) + delta.
    e = math.exp(epsilon)
    q = (1 - delta) / (1 + e)
    p = e * q + delta
    assert 1 - q == pytest.approx(e * (1 - p) + delta)
    assert most_advantage(epsilon, delta) == pytest.approx(p - q)


def test_advantage_is_what_is_seen_beyond_false_alarms() -> None:
    assert Advantage(seen=0.75, false_alarms=0.5).value == 0.25
