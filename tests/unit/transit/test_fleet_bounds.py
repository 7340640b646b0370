"""Bounds on fleets against every way to serve a few legs."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

from hushway.transit.fleet_bounds import (
    FleetBound,
    LegWindows,
    fewest_for_load,
    fewest_paths,
    fewest_shuttles,
    legs_apart,
    on_one_seat,
    on_one_shuttle,
)
from hushway.transit.legs import ShuttleLegs
from hushway.transit.operations import ServiceRules

Scene = tuple[ShuttleLegs, np.ndarray, ServiceRules]
Solved = tuple[Scene, dict[frozenset[int], int]]
Stop = tuple[int, bool]  # a leg, and whether it is dropped there


def scene_of(seed: int, count: int = 5, places: int = 4) -> Scene:
    """Few legs at few places, with much or little slack."""
    rng = np.random.default_rng(seed)
    corner = rng.integers(0, 12, (places, 2))
    # Sums of differences obey the triangle inequality, and so does a stop on top.
    shuttle_s = np.abs(corner[:, None] - corner[None]).sum(axis=2) + 1
    np.fill_diagonal(shuttle_s, 0)
    pickup = rng.integers(0, places, count)
    legs = ShuttleLegs(
        request_s=np.sort(rng.integers(0, int(rng.integers(2, 50)), count)),
        pickup=pickup,
        dropoff=(pickup + rng.integers(1, places, count)) % places,
    )
    rules = ServiceRules(
        seats=int(rng.integers(1, 4)),
        most_wait_s=int(rng.integers(0, 14)),
        detour=float(rng.choice([1.0, 1.25, 1.5])),
        detour_s=int(rng.integers(0, 6)),
    )
    return legs, shuttle_s, rules


def times_exist(stops: tuple[Stop, ...], scene: Scene) -> bool:
    """Whether moments for stops in this order keep all promises.

    Every promise says that one moment is at least so long after another; they can all be kept
    unless going round in a circle asks a moment to be after itself.
    """
    legs, shuttle_s, rules = scene
    never = -(10**9)
    clock = len(stops)
    after = np.full((clock + 1, clock + 1), never)
    np.fill_diagonal(after, 0)
    at = {stop: number for number, stop in enumerate(stops)}
    place = [int((legs.dropoff if dropped else legs.pickup)[leg]) for leg, dropped in stops]
    for number, (one, other) in enumerate(pairwise(place)):
        after[number, number + 1] = shuttle_s[one, other]
    for (leg, dropped), number in at.items():
        if dropped:
            picked = at[leg, False]
            direct_s = shuttle_s[legs.pickup[leg], legs.dropoff[leg]]
            after[number, picked] = -int(direct_s * rules.detour) - rules.detour_s
        else:
            request_s = int(legs.request_s[leg])
            after[clock, number] = request_s
            after[number, clock] = -request_s - rules.most_wait_s
    for middle in range(clock + 1):
        after = np.maximum(after, after[:, middle, None] + after[None, middle])
    return bool((np.diag(after) <= 0).all())


def one_can_serve(group: tuple[int, ...], scene: Scene, stops: tuple[Stop, ...] = ()) -> bool:
    """Whether some order of pick-ups and drop-offs lets one shuttle serve a group."""
    if not times_exist(stops, scene):
        return False
    picked = {leg for leg, dropped in stops if not dropped}
    done = {leg for leg, dropped in stops if dropped}
    if len(done) == len(group):
        return True
    following: list[Stop] = [(leg, True) for leg in sorted(picked - done)]
    if len(picked) - len(done) < scene[2].seats:
        following += [(leg, False) for leg in group if leg not in picked]
    return any(one_can_serve(group, scene, (*stops, stop)) for stop in following)


def truly_fewest(scene: Scene) -> dict[frozenset[int], int]:
    """The fewest shuttles for every subset of the legs."""
    count = len(scene[0])
    subsets = [frozenset(c) for size in range(count + 1) for c in combinations(range(count), size)]
    alone: set[frozenset[int]] = set()
    for subset in subsets[1:]:
        # A group can be served only if it can be without any one of its legs.
        smaller = [subset - {leg} for leg in subset]
        if all(part in alone or not part for part in smaller) and one_can_serve(
            tuple(sorted(subset)), scene
        ):
            alone.add(subset)
    fewest: dict[frozenset[int], int] = {frozenset(): 0}
    for subset in subsets[1:]:
        fewest[subset] = 1 + min(fewest[subset - part] for part in alone if part <= subset)
    return fewest


@pytest.fixture(scope="module")
def solved() -> list[Solved]:
    """Scenes with the fewest shuttles for every subset of their legs."""
    scenes = [scene_of(seed) for seed in range(240)]
    return [(scene, truly_fewest(scene)) for scene in scenes]


def test_no_dispatching_needs_fewer_shuttles_than_any_bound_and_most_need_no_more(
    solved: list[Solved],
) -> None:
    bounds = [(fewest_shuttles(*scene).shuttles, max(fewest.values())) for scene, fewest in solved]
    assert all(0 < bound <= truth for bound, truth in bounds)
    hard = [(bound, truth) for bound, truth in bounds if truth > 1]
    assert sum(bound == truth for bound, truth in hard) > 0.8 * len(hard)


def test_two_legs_share_a_shuttle_exactly_if_some_order_of_stops_serves_both(
    solved: list[Solved],
) -> None:
    shared = 0
    for scene, _ in solved:
        windows = LegWindows.of(*scene)
        together = on_one_shuttle(windows)
        legs, shuttle_s, rules = scene
        alone = (legs, shuttle_s, ServiceRules(**{**vars(rules), "seats": 1}))
        in_turn = on_one_seat(windows)
        for pair in combinations(range(len(legs)), 2):
            assert together[pair] == together[pair[::-1]] == one_can_serve(pair, scene)
            assert in_turn[pair] == in_turn[pair[::-1]] == one_can_serve(pair, alone)
            shared += together[pair] and not in_turn[pair]
    assert shared > 50


def paths_by_trying(pairs: np.ndarray) -> int:
    """The fewest paths, by choosing any steps of which no two leave or enter the same leg."""
    steps = [(i, j) for i, j in combinations(range(len(pairs)), 2) if pairs[i, j]]
    for size in range(len(pairs) - 1, -1, -1):
        for chosen in combinations(steps, size):
            if len({i for i, _ in chosen}) == len({j for _, j in chosen}) == size:
                return len(pairs) - size
    raise AssertionError


def apart_by_trying(pairs: np.ndarray) -> int:
    every = range(len(pairs))
    return max(
        size
        for size in range(1, len(pairs) + 1)
        for legs in combinations(every, size)
        if not pairs[np.ix_(legs, legs)].any()
    )


@pytest.mark.parametrize("seed", range(60))
def test_paths_are_the_fewest_and_legs_apart_are_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = np.triu(rng.random((6, 6)) < rng.uniform(0.1, 0.7), k=1)
    pairs |= pairs.T
    assert fewest_paths(pairs) == paths_by_trying(pairs)
    assert 1 <= legs_apart(pairs) <= apart_by_trying(pairs)


@pytest.mark.parametrize("seed", range(20))
def test_paths_through_many_legs_leave_out_a_largest_matching(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = np.triu(rng.random((150, 150)) < rng.uniform(0.005, 0.05), k=1)
    partners = maximum_bipartite_matching(csr_matrix(pairs), perm_type="column")
    assert fewest_paths(pairs | pairs.T) == (partners < 0).sum()


def load_by_trying(windows: LegWindows) -> int:
    """The largest bound over all spans of whole seconds, second by second."""
    end = int(windows.request_s.max() + windows.most_wait_s + windows.direct_s.max())
    best = 0
    for start in range(end):
        for stop in range(start + 1, end + 1):
            parts = (
                min(
                    max(0, min(stop, begin + drive) - max(start, begin))
                    for begin in range(request, request + windows.most_wait_s + 1)
                )
                for request, drive in zip(
                    windows.request_s.tolist(), windows.direct_s.tolist(), strict=True
                )
            )
            best = max(best, -(-sum(parts) // (windows.seats * (stop - start))))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_load_is_that_of_the_fullest_span_tried_second_by_second(seed: int) -> None:
    legs, shuttle_s, rules = scene_of(1000 + seed)
    short = ServiceRules(**{**vars(rules), "seats": 1, "most_wait_s": seed % 4})
    windows = LegWindows.of(legs, shuttle_s, short)
    assert fewest_for_load(windows) == load_by_trying(windows)


def crowd(count: int) -> Scene:
    """Riders who all want the same ride at once."""
    same = np.zeros(count, dtype=np.int64)
    legs = ShuttleLegs(request_s=same, pickup=same, dropoff=same + 1)
    return legs, np.array([[0, 100], [100, 0]]), ServiceRules(seats=8, most_wait_s=60)


@pytest.mark.parametrize(("count", "shuttles"), [(1, 1), (8, 1), (9, 2), (16, 2), (81, 11)])
def test_a_crowd_needs_a_shuttle_for_every_eight(count: int, shuttles: int) -> None:
    bound = fewest_shuttles(*crowd(count))
    assert (bound.shuttles, bound.seats, bound.paths, bound.apart) == (shuttles, shuttles, 1, 1)


def test_riders_out_of_reach_of_each_other_need_a_shuttle_each() -> None:
    far = 1000 * (1 - np.eye(12, dtype=np.int64))
    legs = ShuttleLegs(
        request_s=np.zeros(6, dtype=np.int64), pickup=np.arange(6), dropoff=np.arange(6, 12)
    )
    bound = fewest_shuttles(legs, far, ServiceRules(most_wait_s=999))
    assert (bound.paths, bound.apart, bound.shuttles) == (6, 6, 6)


def test_a_zone_without_legs_needs_no_shuttle() -> None:
    none = np.zeros(0, dtype=np.int64)
    legs = ShuttleLegs(request_s=none, pickup=none, dropoff=none)
    bound = fewest_shuttles(legs, np.zeros((1, 1), dtype=np.int64), ServiceRules())
    assert bound == FleetBound(paths=0, apart=0, seats=0, load=0, least=0)


def test_the_busiest_part_of_a_long_day_decides() -> None:
    rush, shuttle_s, rules = crowd(200)
    quiet_s = np.arange(4000) * 1000
    request_s = np.concatenate([quiet_s, rush.request_s + 2_000_500])
    order = np.argsort(request_s, kind="stable")
    same = np.zeros(4200, dtype=np.int64)
    legs = ShuttleLegs(request_s=request_s[order], pickup=same, dropoff=same + 1)
    assert fewest_shuttles(legs, shuttle_s, rules).seats == 25
