from fractions import Fraction

import numpy as np
import pytest

from hushway.families.links.city.road_city import road_city
from hushway.families.links.matching.traces import Ways
from hushway.families.links.mechanism.counts import link_counts, smaller_noise
from hushway.families.links.planning.invented_rows import Drives, random_drives
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import MovementCells, MovementLimits
from hushway.families.links.study.scene import (
    FITS,
    LinkScene,
    dense_counts,
    drives_of,
    measure_link_gains,
    one_period,
)
from hushway.privacy.query import Query

LIMITS = MovementLimits(max_items=30)
DELTA = Fraction(1, 10**6)


@pytest.fixture(scope="module")
def roads() -> RoadNetwork:
    return road_city(3, links=1000)


@pytest.fixture(scope="module")
def scene(roads: RoadNetwork) -> LinkScene:
    return LinkScene(universe=one_period(roads), drives=random_drives(roads, 500, 1))


def test_drives_are_links_and_both_ends_of_every_trip(roads: RoadNetwork) -> None:
    link = np.array([4, 5, 6, 9])
    nothing = np.zeros(4)
    ways = Ways(
        start=np.array([0, 3, 3, 4]),
        link=link,
        entered=nothing,
        left=nothing,
        fresh=np.array([True, False, False, True]),
        reason=np.zeros(3, dtype=np.int64),
        point_link=np.zeros(0, dtype=np.int64),
    )
    found = drives_of(ways, np.array([7, 8, 9]), roads)
    begins, ends = roads.links, roads.links + roads.nodes
    expected = {
        *((7, i) for i in (4, 5, 6)),
        (7, begins + roads.tail[4]),
        (7, ends + roads.head[6]),
        (9, 9),
        (9, begins + roads.tail[9]),
        (9, ends + roads.head[9]),
    }
    assert set(zip(found.person.tolist(), found.item.tolist(), strict=True)) == expected


def test_a_person_counts_once_on_a_link(roads: RoadNetwork) -> None:
    drives = Drives(
        person=np.array([5, 5, 5, -3]), item=np.array([2, 2, roads.links + 1, 2], dtype=np.int64)
    )
    truth = LinkScene(universe=one_period(roads), drives=drives).truth
    assert truth[2] == 2
    assert truth.sum() == 2


def test_without_a_cap_the_engine_counts_the_truth(scene: LinkScene) -> None:
    counter = scene.bounded(MovementLimits(max_items=10_000))
    cells = MovementCells(universe=scene.universe)
    exact = counter.count(Query(name=cells.name, cells=cells))
    counts = np.zeros(cells.size)
    counts[exact.cells] = exact.values
    assert np.array_equal(counts[: scene.universe.roads.links], scene.truth)
    # Everybody begins and ends once, but for those who stay where they are.
    people = len(np.unique(scene.drives.person))
    assert counts[scene.universe.roads.links :].sum() == 2 * people


def test_what_is_published_follows_the_seed(scene: LinkScene) -> None:
    mechanism = link_counts(LIMITS, budget=smaller_noise(Fraction(20), DELTA, LIMITS))
    counter = scene.bounded(LIMITS)
    one, same, other = (scene.published(counter, mechanism, seed) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    assert one.shape == scene.truth.shape
    assert np.corrcoef(one, scene.truth)[0, 1] > 0.8


def test_published_rows_become_counts_of_all_links(scene: LinkScene) -> None:
    mechanism = link_counts(LIMITS, budget=smaller_noise(Fraction(5), DELTA, LIMITS))
    table = mechanism.fit(scene.measured(scene.bounded(LIMITS), mechanism, 3), scene.universe)
    counts = dense_counts(table)
    assert len(table.link) > 0
    assert np.array_equal(counts[table.link], table.counts)
    assert (counts > 0).sum() == len(table.link)


def test_every_step_of_the_fit_gains(roads: RoadNetwork) -> None:
    found = measure_link_gains(
        roads, 500, epsilon=Fraction(1), delta=DELTA, runs=range(2), seed=1
    ).value
    assert list(found) == list(FITS)
    errors = [float(np.mean(values)) for values in found.values()]
    plain, clamped, _, expected, balanced, whole = errors
    # Sums by class alone cost about what they gain on so few links.
    assert plain > clamped > expected > balanced
    # Nobody has more items than count here, so that asking for what is left out only costs.
    assert balanced < whole < 1.2 * balanced
    # Gaussian noise for 60 items at epsilon 1: the square root of 60 times 4.53.
    assert errors[0] == pytest.approx(35.1, rel=0.1)
