import numpy as np
import pytest
from scipy import integrate
from scipy.special import lambertw

from hushway.errors import PlanError
from hushway.families.links.city.road_city import road_city
from hushway.families.links.matching.traces import Traces, Ways
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.study.attacks import commuters, traces_of
from hushway.families.links.study.paper import (
    PaperLinksPlan,
    Study,
    move_ends,
    paper_links,
    planar_radius,
    study_of,
    trip_counts,
    without_rare_ends,
)
from hushway.families.links.study.paper_range import RangePlan, above_threshold, ranges


@pytest.fixture(scope="module")
def roads() -> RoadNetwork:
    return road_city(3, links=1000)


@pytest.fixture(scope="module")
def study(roads: RoadNetwork) -> Study:
    rng = np.random.default_rng(1)
    return study_of(roads, traces_of(roads, [p.route for p in commuters(roads, 60, rng)], rng))


def ways_of(*routes: list[int]) -> Ways:
    link = np.concatenate(routes)
    start = np.concatenate([[0], np.cumsum([len(route) for route in routes])])
    nothing = np.zeros(len(link))
    return Ways(
        start=start,
        link=link,
        entered=nothing,
        left=nothing,
        fresh=np.isin(np.arange(len(link)), start),
        reason=np.zeros(len(routes), dtype=np.int64),
        point_link=np.zeros(0, dtype=np.int64),
    )


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_the_distance_of_noise_inverts_its_distribution(epsilon: float) -> None:
    for p in (0.01, 0.5, 0.99):
        distance = float(planar_radius(np.array([p]), epsilon)[0])
        mass, _ = integrate.quad(lambda r: epsilon**2 * r * np.exp(-epsilon * r), 0.0, distance)
        assert mass == pytest.approx(p, abs=1e-6)


def test_the_printed_formula_has_no_distance_at_a_small_budget() -> None:
    # Its argument is below -1/e, where Lambert's function is not real.
    assert abs(lambertw((0.5 - 1) / 0.1, -1).imag) > 0.1


def test_without_noise_the_first_count_above_the_threshold_is_taken() -> None:
    counts = np.array([[1, 24, 25, 90], [30, 40, 50, 60], [0, 1, 2, 3]])
    found = above_threshold(counts, 25, 1e9, np.random.default_rng(0))
    assert found.tolist() == [2, 0, 3]


def test_noise_for_the_threshold_has_the_printed_scale() -> None:
    rng = np.random.default_rng(4)
    one = above_threshold(np.full((200_000, 2), 25), 25, 0.5, rng)
    # Symmetric noise: the first count passes half of the time, to five standard errors.
    assert (one == 0).mean() == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(200_000))
    far = above_threshold(np.full((200_000, 2), 25 + 16), 25, 0.5, np.random.default_rng(5))
    # A gap of 16 against Laplace scales 8 (threshold) and 16 (count).
    beyond = (16**2 * np.exp(-16 / 16) - 8**2 * np.exp(-16 / 8)) / (2 * (16**2 - 8**2))
    assert (far == 1).mean() == pytest.approx(beyond, abs=5 * 0.5 / np.sqrt(200_000))


def test_fix_takes_the_smallest_radius_with_enough_streets_and_max_the_largest_of_these(
    study: Study,
) -> None:
    first, _ = study.ends
    where, rng = (first.x, first.y), np.random.default_rng(0)
    fix = ranges(RangePlan(rule="fix", epsilon=1.0), study.matcher, where, rng)
    for radius, x, y in zip(fix, *where, strict=True):
        here = np.array([x]), np.array([y])
        streets = study.matcher.links_within(*here, np.array([radius - 10, radius]))[0]
        assert streets[1] >= 25
        assert streets[0] < 25 or radius == 60
    most = ranges(RangePlan(rule="max", epsilon=1.0), study.matcher, where, rng)
    assert (most == fix.max()).all()
    assert len(np.unique(fix)) > 1


def test_ends_stay_in_their_circle_and_on_their_class_whatever_the_noise(
    study: Study, roads: RoadNetwork
) -> None:
    first, _ = study.ends
    radius = np.full(len(first), 150.0)
    for epsilon in (0.01, 1.0):
        moved = move_ends(first, radius, epsilon, study.matcher, roads, np.random.default_rng(2))
        assert (roads.road_class[moved.link] == roads.road_class[first.link]).all()
        start, link, _ = study.matcher.nearest_links(first.x, first.y, 150.0)
        for i in np.flatnonzero(~moved.widened):
            assert moved.link[i] in link[start[i] : start[i + 1]]
        assert (moved.link != first.link).any()


def test_a_circle_without_a_link_of_the_class_is_widened_and_counted(
    study: Study, roads: RoadNetwork
) -> None:
    first, _ = study.ends
    tiny = np.full(len(first), 0.001)
    moved = move_ends(first, tiny, 1.0, study.matcher, roads, np.random.default_rng(2))
    assert moved.widened.mean() > 0.9
    assert (roads.road_class[moved.link] == roads.road_class[first.link]).all()


def test_with_hardly_any_noise_ends_go_to_the_nearest_link_of_their_class(
    study: Study, roads: RoadNetwork
) -> None:
    first, _ = study.ends
    radius = np.full(len(first), 150.0)
    moved = move_ends(first, radius, 1e9, study.matcher, roads, np.random.default_rng(2))
    start, link, metres = study.matcher.nearest_links(first.x, first.y, 150.0)
    for i in range(len(first)):
        near = slice(start[i], start[i + 1])
        same = roads.road_class[link[near]] == roads.road_class[first.link[i]]
        chosen = metres[near][link[near] == moved.link[i]]
        assert chosen == pytest.approx(metres[near][same].min(), abs=1e-3)
        apart = np.hypot(moved.x[i] - first.x[i], moved.y[i] - first.y[i])
        assert apart == pytest.approx(chosen[0], abs=1e-3)


def test_noisy_trips_begin_and_end_on_the_chosen_links(study: Study) -> None:
    plan = PaperLinksPlan(rule="adaptive", epsilon=1.0)
    found = paper_links(plan, study, np.random.default_rng(3)).value
    whole = np.flatnonzero(found.ways.reason == 0)
    assert len(whole) > 0.9 * len(study.ways)
    assert (found.ways.link[found.ways.start[whole]] == found.first.link[whole]).all()
    assert (found.ways.link[found.ways.start[whole + 1] - 1] == found.last.link[whole]).all()
    assert plan.claimed == 4.0


def test_less_budget_moves_more_ends_of_a_fixed_circle(study: Study) -> None:
    def moved(epsilon: float) -> float:
        plan = PaperLinksPlan(rule="fix", epsilon=epsilon)
        return paper_links(plan, study, np.random.default_rng(3)).value.moved

    assert moved(0.1) > moved(3.0) > moved(100.0)


def test_the_middle_of_a_trip_is_published_as_it_is(study: Study) -> None:
    plan = PaperLinksPlan(rule="adaptive", epsilon=0.1)
    counts = paper_links(plan, study, np.random.default_rng(3)).value.counts
    middle = study.ways.link[(study.ways.start[:-1] + study.ways.start[1:]) // 2]
    assert (counts[middle] > 0).mean() > 0.9


def test_a_trip_counts_once_on_a_link() -> None:
    ways = ways_of([0, 1, 0], [1, 2])
    assert trip_counts(ways, 4).tolist() == [1, 2, 1, 0]


def test_rare_links_are_removed_from_both_ends_up_to_the_first_common_one() -> None:
    ways = ways_of([0, 1, 2, 3, 4], [1, 5, 3], [6, 7])
    # Link 2 and link 5 are as rare, but lie between common links.
    assert without_rare_ends(ways, 8).tolist() == [0, 2, 1, 2, 0, 1, 0, 0]


def test_trips_that_are_on_no_road_are_left_out(study: Study, roads: RoadNetwork) -> None:
    traces = study.traces
    far = Traces(
        start=np.array([0, 3, 3 + traces.start[1]]),
        x=np.concatenate([[1e5, 1e5 + 50, 1e5 + 99], traces.x[: traces.start[1]]]),
        y=np.concatenate([[1e5, 1e5 + 50, 1e5 + 99], traces.y[: traces.start[1]]]),
        seconds=np.concatenate([[0.0, 9.0, 18.0], traces.seconds[: traces.start[1]]]),
    )
    found = study_of(roads, far)
    assert found.kept.tolist() == [1]
    assert np.array_equal(found.ways.link, study.ways.link[: study.ways.start[1]])


def test_other_variants_and_budgets_are_refused() -> None:
    with pytest.raises(PlanError, match="no variant"):
        RangePlan(rule="odd", epsilon=1.0)
    with pytest.raises(PlanError, match="above 0"):
        RangePlan(rule="fix", epsilon=0.0)
